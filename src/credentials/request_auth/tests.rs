use std::collections::BTreeMap;

use base64ct::{Base64, Encoding as _};
use serde_json::{Value, json};

use super::{AuthPlacement, AuthValue, RequestAuth, Secrecy, unsendable_reason};
use crate::catalog::detail::{AuthMethod, Parameters};
use crate::credentials::model::Credentials;
use crate::oauth::Client;

fn shown(values: &BTreeMap<String, AuthValue>) -> Value {
    values.iter().map(|(name, value)| (name.clone(), json!(value.text))).collect()
}

fn place(
    common: &Value,
    method: &AuthMethod,
    credentials: &Credentials,
    client: Option<&Client>,
) -> RequestAuth {
    let common: Parameters = serde_json::from_value(common.clone()).unwrap();
    AuthPlacement { common: &common, method, credentials, client }.place()
}

#[test]
fn cookies_of_a_request_follow_those_of_the_credentials() {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let auth = |name: &str, text: &str| {
        let text = text.to_owned();
        let value = AuthValue { text, secrecy: Secrecy::User };
        RequestAuth { headers: [(name.to_owned(), value)].into(), ..RequestAuth::default() }
    };
    let request_headers = vec![header("cookie", "sid=theirs; a=1; sid=x; b=2"), header("x", "1")];
    let merged_headers = auth("cookie", "sid=ours").apply_to(request_headers.clone());
    assert_eq!(merged_headers, [header("x", "1"), header("cookie", "sid=ours; a=1; b=2")]);
    let other = auth("x", "ours").apply_to(request_headers);
    assert_eq!(other, [header("cookie", "sid=theirs; a=1; sid=x; b=2"), header("x", "ours")]);
}

#[test]
fn rejects_values_that_a_header_cannot_contain() {
    let key = |place: &str| json!({"id": "k", "type": "api_key", "in": place, "name": "k", "prefix": "", "fields": []});
    let basic =
        json!({"id": "b", "type": "basic", "usernameLabel": "", "passwordLabel": "", "fields": []});
    let bearer = json!({"id": "t", "type": "bearer", "prefix": "Bearer", "fields": []});
    let amazon =
        json!({"id": "a", "type": "aws_sigv4", "service": "s3", "regions": [], "fields": []});
    for (method, field, value, is_sendable) in [
        (key("header"), "apiKey", "k-1", true),
        (key("header"), "apiKey", "token=\"a b\", more", true),
        (key("header"), "apiKey", "ключ", false),
        (key("header"), "apiKey", "k\u{200b}", false),
        (key("header"), "apiKey", "“k”", false),
        (key("header"), "apiKey", " k", false),
        (key("header"), "apiKey", "k ", false),
        (key("header"), "apiKey", " ", false),
        // Values in the query, in cookies and in URLs are encoded.
        (key("query"), "apiKey", " ключ ", true),
        (key("cookie"), "apiKey", "ключ;", true),
        (key("header"), "region", "ключ", true),
        (basic.clone(), "username", "ann", true),
        (basic.clone(), "username", "änn b", true),
        (basic.clone(), "username", "ann:x", false),
        (basic, "password", " pä:ss ", true),
        (bearer.clone(), "token", "t.1", true),
        (bearer, "token", "t\u{a0}", false),
        (amazon.clone(), "accessKeyId", "AKIAé", false),
        (amazon.clone(), "sessionToken", "a\u{2011}b", false),
        (amazon, "secretAccessKey", "a+b/é", true),
    ] {
        let method: AuthMethod = serde_json::from_value(method).unwrap();
        let common = Parameters::new();
        let fault_message = unsendable_reason(&common, &method, field, value);
        assert_eq!(fault_message.is_none(), is_sendable, "{field}: {value}");
    }
}

#[test]
fn credentials_are_placed_as_the_method_defines() {
    let oauth = json!({
        "id": "o", "type": "oauth2", "fields": [], "grant": "authorization_code", "tokenUrl": "https://a.example",
        "issuer": null, "authorizationUrl": null, "refreshUrl": null, "revocationUrl": null, "scopes": [],
        "scopeSeparator": " ", "pkce": "none", "tokenAuth": "none", "authorizationParameters": {},
        "tokenParameters": {}, "tokenBody": "form", "tokenPointer": null, "tokenMembers": [],
    });
    let tokens = json!({"access": "t", "kind": "Bearer"});
    for (method, credentials, headers, url) in [
        (
            json!({"id": "k", "type": "api_key", "in": "header", "name": "X-Key", "prefix": "", "fields": []}),
            json!({"type": "api_key", "fields": {"apiKey": "s"}}),
            json!({"x-key": "s"}),
            "https://a.example/?b",
        ),
        (
            json!({"id": "k", "type": "api_key", "in": "header", "name": "Authorization", "prefix": "Key", "fields": []}),
            json!({"type": "api_key", "fields": {"apiKey": "s"}}),
            json!({"authorization": "Key s"}),
            "https://a.example/?b",
        ),
        (
            json!({"id": "k", "type": "api_key", "in": "query", "name": "k y", "prefix": "", "fields": []}),
            json!({"type": "api_key", "fields": {"apiKey": "a&b"}}),
            json!({}),
            "https://a.example/?b&k%20y=a%26b",
        ),
        (
            json!({"id": "k", "type": "api_key", "in": "cookie", "name": "sid", "prefix": "", "fields": []}),
            json!({"type": "api_key", "fields": {"apiKey": "a;b"}}),
            json!({"cookie": "sid=a%3Bb"}),
            "https://a.example/?b",
        ),
        (
            json!({"id": "b", "type": "basic", "usernameLabel": "", "passwordLabel": "", "fields": []}),
            json!({"type": "basic", "fields": {"username": "Aladdin", "password": "open sesame"}}),
            json!({"authorization": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}),
            "https://a.example/?b",
        ),
        (
            json!({"id": "t", "type": "bearer", "prefix": "Bearer", "fields": []}),
            json!({"type": "bearer", "fields": {"token": "s"}}),
            json!({"authorization": "Bearer s"}),
            "https://a.example/?b",
        ),
        (
            oauth,
            json!({"type": "oauth2", "tokens": tokens}),
            json!({"authorization": "Bearer t"}),
            "https://a.example/?b",
        ),
    ] {
        let method: AuthMethod = serde_json::from_value(method).unwrap();
        let credentials: Credentials = serde_json::from_value(credentials).unwrap();
        let auth = place(&json!({}), &method, &credentials, None);
        assert_eq!(shown(&auth.headers), headers);
        assert_eq!(auth.url("https://a.example/?b"), url);
    }
}

/// A method with these members and an id.
fn method(more: &Value) -> AuthMethod {
    let mut method = json!({"id": "m", "fields": []});
    for (name, value) in more.as_object().unwrap() {
        method[name] = value.clone();
    }
    serde_json::from_value(method).unwrap()
}

fn oauth(headers: &Value) -> AuthMethod {
    method(&json!({
        "type": "oauth2", "grant": "authorization_code", "tokenUrl": "https://a.example", "scopeSeparator": " ",
        "headers": headers,
    }))
}

#[test]
fn a_prefix_ends_with_a_space_if_it_ends_with_a_word() {
    for (prefix, expected) in [
        ("Token", "Token k"),
        ("GenieKey", "GenieKey k"),
        ("Api-Key1", "Api-Key1 k"),
        ("Token token=", "Token token=k"),
        ("key:", "key:k"),
        ("Key ", "Key k"),
        ("sso-key \"", "sso-key \"k"),
        ("", "k"),
    ] {
        let key =
            json!({"type": "api_key", "in": "header", "name": "Authorization", "prefix": prefix});
        let credentials = json!({"type": "api_key", "fields": {"apiKey": "k"}});
        let credentials: Credentials = serde_json::from_value(credentials).unwrap();
        let auth = place(&json!({}), &method(&key), &credentials, None);
        assert_eq!(shown(&auth.headers), json!({"authorization": expected}));
    }
}

#[test]
fn templates_add_headers_and_parameters() {
    let fields = json!([
        {"name": "apiKey", "label": "K", "secret": true, "required": true},
        {"name": "appKey", "label": "A", "secret": true, "required": true},
        {"name": "site", "label": "S"},
    ]);
    let credentials = json!({"type": "api_key", "fields": {"apiKey": "k", "appKey": "a;b"}});
    let credentials: Credentials = serde_json::from_value(credentials).unwrap();
    for (common, more, headers, query) in [
        // The method has two secrets. Its header overrides the connector's.
        (
            json!({"Version": "1", "X-Kind": "json"}),
            json!({"headers": {"version": "2", "X-App": "{appKey}"}}),
            json!({"version": "2", "x-kind": "json", "x-app": "a;b", "x-key": "k"}),
            json!({}),
        ),
        (
            json!({}),
            json!({"query": {"app": "{appKey}", "v": "1"}}),
            json!({"x-key": "k"}),
            json!({"app": "a;b", "v": "1"}),
        ),
        // A field that a template names is only sent there.
        (json!({}), json!({"query": {"key": "{apiKey}"}}), json!({}), json!({"key": "k"})),
        (
            json!({}),
            json!({"headers": {"Authorization": "Key {apiKey}:{appKey}"}}),
            json!({"authorization": "Key k:a;b"}),
            json!({}),
        ),
        // Templates of empty fields are omitted.
        (json!({}), json!({"headers": {"X-Site": "{site}"}}), json!({"x-key": "k"}), json!({})),
        // Braces without a name are literal; values of cookies are encoded.
        (
            json!({"X-Json": "{\"a\": 1}"}),
            json!({"headers": {"Cookie": "one={apiKey}; two={appKey}"}}),
            json!({"x-json": "{\"a\": 1}", "cookie": "one=k; two=a%3Bb"}),
            json!({}),
        ),
    ] {
        let mut method_json =
            json!({"type": "api_key", "in": "header", "name": "X-Key", "fields": fields});
        for (name, value) in more.as_object().unwrap() {
            method_json[name] = value.clone();
        }
        let auth = place(&common, &method(&method_json), &credentials, None);
        assert_eq!((shown(&auth.headers), shown(&auth.query)), (headers, query));
    }
}

#[test]
fn templates_place_the_oauth_token_and_the_client_data() {
    let credentials = json!({"type": "oauth2", "tokens": {"access": "t", "kind": "Bearer", "members": {"cloudId": "c"}}});
    let credentials: Credentials = serde_json::from_value(credentials).unwrap();
    let client = |secret: Option<&str>| Client::new("id".into(), secret.map(Into::into));
    for (headers, client, expected, lacks_client) in [
        (json!({}), None, json!({"authorization": "Bearer t"}), false),
        (json!({"X-Token": "{accessToken}"}), None, json!({"x-token": "t"}), false),
        (
            json!({"Client-Id": "{clientId}", "Cloud": "{cloudId}"}),
            Some(client(None)),
            json!({"authorization": "Bearer t", "client-id": "id", "cloud": "c"}),
            false,
        ),
        (
            json!({"X-Api-Key": "{clientId}:{clientSecret}"}),
            Some(client(Some("s"))),
            json!({"authorization": "Bearer t", "x-api-key": "id:s"}),
            false,
        ),
        (
            json!({"X-Api-Key": "{clientId}:{clientSecret}"}),
            Some(client(None)),
            json!({"authorization": "Bearer t"}),
            true,
        ),
        (json!({"Client-Id": "{clientId}"}), None, json!({"authorization": "Bearer t"}), true),
    ] {
        let auth = place(&json!({}), &oauth(&headers), &credentials, client.as_ref());
        assert_eq!((shown(&auth.headers), auth.lacks_client), (expected, lacks_client));
    }
    let merged_headers =
        oauth(&json!({"A": "{clientId}", "B": "{clientSecret}", "C": "{accessToken}", "D": "1"}));
    let client = client(Some("s"));
    let auth = place(&json!({}), &merged_headers, &credentials, Some(&client));
    let secrecy: Vec<Secrecy> = auth.headers.values().map(|value| value.secrecy).collect();
    let expected = [Secrecy::Public, Secrecy::Client, Secrecy::User, Secrecy::Public];
    assert_eq!(secrecy, expected);
}

#[test]
fn a_caller_can_replace_values_without_secrets() {
    let method_json = json!({
        "type": "bearer", "prefix": "Bearer",
        "fields": [{"name": "token", "label": "T", "secret": true}, {"name": "org", "label": "O"}],
        "headers": {"Version": "1", "Org": "{org}", "Key": "{token}", "Accept": "application/x", "User-Agent": "a"},
        "query": {"v": "1", "k": "{token}"},
    });
    let credentials = json!({"type": "bearer", "fields": {"token": "t", "org": "o"}});
    let credentials: Credentials = serde_json::from_value(credentials).unwrap();
    let auth = place(&json!({}), &method(&method_json), &credentials, None);
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    };
    assert_eq!(auth.reserved_header(&pairs(&[("version", "2"), ("org", "x")])), None);
    assert_eq!(auth.reserved_header(&pairs(&[("version", "2"), ("key", "x")])), Some("key"));
    for [own, spelled] in [["x-api-key", "x_api_key"], ["api_key", "api-key"], ["a-b_c", "a_b-c"]] {
        let method_json = json!({
            "type": "bearer", "prefix": "Bearer", "headers": {own: "{token}"},
            "fields": [{"name": "token", "label": "T", "secret": true}],
        });
        let auth = place(&json!({}), &method(&method_json), &credentials, None);
        assert_eq!(auth.reserved_header(&pairs(&[(spelled, "x")])), Some(spelled));
        assert_eq!(auth.apply_to(pairs(&[(spelled, "x")])), pairs(&[(own, "t")]));
    }
    let sent = pairs(&[("version", "2"), ("accept", "*/*"), ("user-agent", "connector-vault")]);
    let mut merged = auth.clone().apply_to(sent);
    merged.sort();
    let expected = [
        ("accept", "application/x"),
        ("key", "t"),
        ("org", "o"),
        ("user-agent", "a"),
        ("version", "2"),
    ];
    assert_eq!(merged, pairs(&expected));
    let sent = pairs(&[("accept", "text/csv"), ("user-agent", "theirs")]);
    let merged = auth.clone().apply_to(sent);
    assert!(
        pairs(&[("accept", "text/csv"), ("user-agent", "theirs")])
            .iter()
            .all(|name| merged.contains(name))
    );
    assert_eq!(auth.url("https://a.example/?v=2"), "https://a.example/?v=2&k=t");
    assert_eq!(auth.url("https://a.example/"), "https://a.example/?k=t&v=1");
    assert!(auth.has_secret("k") && !auth.has_secret("v"));
}

#[test]
fn templates_determine_the_basic_authentication_pair() {
    let fields = json!({"apiKey": "k", "email": "e@x", "password": "p", "username": "u"});
    for (username, password, expected) in [
        (None, None, "u:p"),
        (Some("{apiKey}"), Some(""), "k:"),
        (Some("{apiKey}"), Some("x"), "k:x"),
        (Some("api"), Some("{apiKey}"), "api:k"),
        (Some("{email}/token"), Some("{apiKey}"), "e@x/token:k"),
    ] {
        let basic = method(&json!({
            "type": "basic", "usernameLabel": "", "passwordLabel": "", "username": username, "password": password,
        }));
        let credentials = json!({"type": "basic", "fields": fields});
        let credentials: Credentials = serde_json::from_value(credentials).unwrap();
        let auth = place(&json!({}), &basic, &credentials, None);
        let value = format!("Basic {}", Base64::encode_string(expected.as_bytes()));
        assert_eq!(shown(&auth.headers), json!({"authorization": value}));
        let has_colon = unsendable_reason(&Parameters::new(), &basic, "email", "a:b");
        assert_eq!(has_colon.is_some(), username == Some("{email}/token"));
    }
}

#[test]
fn rejects_values_that_a_header_template_cannot_contain() {
    let method_json = json!({
        "type": "api_key", "in": "query", "name": "k", "headers": {"X-A": "{a}", "Cookie": "c={c}"}, "query": {"q": "{b}"},
    });
    let (method, common) = (method(&method_json), [("X-D".to_owned(), "{d}".to_owned())].into());
    for (field, is_sendable) in
        [("a", false), ("b", true), ("c", true), ("d", false), ("apiKey", true)]
    {
        assert_eq!(
            unsendable_reason(&common, &method, field, "ключ").is_none(),
            is_sendable,
            "{field}"
        );
    }
}
