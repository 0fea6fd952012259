//! Headers and query parameters that a method adds to every request.

use super::*;

const PROVIDERS: &str = r#"
[platforms.versioned]
name = "Versioned"
servers = ["https://api.versioned.example"]
headers = { "Api-Version" = "2022-06-28" }
verify = "GET /me"
account = { request = "GET /me", id = "/id" }

[[platforms.versioned.auth]]
id = "token"
type = "bearer"
source = "https://versioned.example/docs"
read = "2026-11-27"

[[platforms.versioned.auth]]
id = "oauth2"
type = "oauth2"
grant = "authorization_code"
authorizationUrl = "https://versioned.example/authorize"
tokenUrl = "https://versioned.example/token"
headers = { "api-version" = "2025-01-01", "Client-Id" = "{clientId}" }
source = "https://versioned.example/docs"
read = "2026-11-27"

[platforms.twokeys]
name = "Two keys"
servers = ["https://api.twokeys.example"]
verify = "GET /me"

[[platforms.twokeys.auth]]
id = "keys"
type = "api_key"
in = "query"
name = "key"
query = { token = "{token}", format = "json" }
fields = [
    { name = "apiKey", label = "API key" },
    { name = "token", label = "Token", secret = true },
]
source = "https://twokeys.example/docs"
read = "2026-11-27"

[[platforms.twokeys.auth]]
id = "headers"
type = "api_key"
in = "header"
name = "X-Api-Key"
headers = { "X-App-Key" = "{appKey}", "X-Org" = "{organization}" }
fields = [
    { name = "appKey", label = "Application key", secret = true },
    { name = "organization", label = "Organization", required = false },
]
source = "https://twokeys.example/docs"
read = "2026-11-27"

[platforms.etsyish]
name = "Etsyish"
servers = ["https://api.etsyish.example"]
verify = "GET /me"

[[platforms.etsyish.auth]]
id = "oauth2"
type = "oauth2"
grant = "authorization_code"
authorizationUrl = "https://etsyish.example/authorize"
tokenUrl = "https://etsyish.example/token"
headers = { "x-api-key" = "{clientId}:{clientSecret}" }
source = "https://etsyish.example/docs"
read = "2026-11-27"

[platforms.shop]
name = "Shop"
servers = ["https://{shop}.myshop.example"]

[[platforms.shop.auth]]
id = "oauth2"
type = "oauth2"
grant = "authorization_code"
authorizationUrl = "https://{shop}.myshop.example/authorize"
tokenUrl = "https://{shop}.myshop.example/token"
headers = { "X-Shop-Access-Token" = "{accessToken}" }
source = "https://shop.example/docs"
read = "2026-11-27"

[platforms.duty]
name = "Duty"
servers = ["https://api.duty.example"]

[[platforms.duty.auth]]
id = "key"
type = "api_key"
in = "header"
name = "Authorization"
prefix = "Token token="
source = "https://duty.example/docs"
read = "2026-11-27"

[platforms.pairs]
name = "Pairs"
servers = ["https://api.pairs.example"]

[[platforms.pairs.auth]]
id = "user"
type = "basic"
username = "{apiKey}"
password = ""
fields = [{ name = "apiKey", label = "API key", secret = true }]
source = "https://pairs.example/docs"
read = "2026-11-27"

[[platforms.pairs.auth]]
id = "x"
type = "basic"
username = "{apiKey}"
password = "x"
fields = [{ name = "apiKey", label = "API key", secret = true }]
source = "https://pairs.example/docs"
read = "2026-11-27"

[[platforms.pairs.auth]]
id = "password"
type = "basic"
username = "api"
password = "{apiKey}"
fields = [{ name = "apiKey", label = "API key", secret = true }]
source = "https://pairs.example/docs"
read = "2026-11-27"

[[platforms.pairs.auth]]
id = "email"
type = "basic"
username = "{email}/token"
fields = [{ name = "email", label = "Email" }]
source = "https://pairs.example/docs"
read = "2026-11-27"

[[platforms.pairs.auth]]
id = "both"
type = "basic"
source = "https://pairs.example/docs"
read = "2026-11-27"
"#;

fn api(name: &str) -> Api {
    import_catalog(name, &[], PROVIDERS)
}

fn credentials(api: &Api, path: &str) -> Value {
    let response = api.get(&format!("{path}/credentials"));
    assert_eq!(response.status, 200, "{}", text(&response));
    body(&response)
}

#[test]
fn every_request_carries_the_connectors_headers() {
    let api = api("constant");
    // A platform that refuses requests without a version, as Notion does.
    platform(&api, |request| {
        let is_expected = header(request, "api-version") == Some("2022-06-28");
        Ok(platform_response(if is_expected { 200 } else { 400 }, &[], r#"{"id": "a-1"}"#))
    });
    let mut requested = ann_connect_body("versioned");
    requested["authMethod"] = json!("token");
    requested["fields"] = json!({"token": "t"});
    let response = connect(&api, &requested);
    assert_eq!((response.status, &body(&response)["state"]), (201, &json!("operational")));
    let sent_requests = sent(&api);
    assert_eq!(sent_requests.len(), 2, "`verify` and `account`");
    assert!(
        sent_requests.iter().all(|request| header(request, "api-version") == Some("2022-06-28"))
    );
    let path = at(body(&response)["id"].as_str().unwrap());
    let (reply, sent_requests) = requests(&api, &format!("{path}/proxy/users"), &[]);
    assert_eq!(reply.status, 200);
    assert_eq!(header(&sent_requests[0], "api-version"), Some("2022-06-28"));
    assert_eq!(header(&sent_requests[0], "authorization"), Some("Bearer t"));
    // The caller's version replaces the connector's.
    let own = [("api-version", "2021-01-01")];
    let (reply, sent_requests) = requests(&api, &format!("{path}/proxy/users"), &own);
    assert_eq!(reply.status, 400, "the platform's own response");
    assert_eq!(header(&sent_requests[0], "api-version"), Some("2021-01-01"));
    let expected = json!({"api-version": "2022-06-28", "authorization": "Bearer t"});
    assert_eq!(credentials(&api, &path)["headers"], expected);
    let detail = detail(&api, "versioned");
    assert_eq!(detail["headers"], json!({"Api-Version": "2022-06-28"}));
    assert_eq!(detail["authMethods"][0]["headers"], json!({}));
}

#[test]
fn a_method_adds_to_the_connectors_headers_and_has_data_of_the_oauth_client() {
    let api = api("client");
    set_client(&api, "versioned");
    let tokens = json!({"type": "oauth2", "accessToken": "at"});
    let path = connection_with(&api, "versioned", &tokens);
    let (_, sent_requests) = requests(&api, &format!("{path}/proxy/users"), &[]);
    for (name, value) in
        [("api-version", "2025-01-01"), ("client-id", "an id"), ("authorization", "Bearer at")]
    {
        assert_eq!(header(&sent_requests[0], name), Some(value));
    }
    assert_eq!(credentials(&api, &path)["headers"]["client-id"], "an id");
    // Without the OAuth client, calls fail with the name of the missing client, but the stored
    // credentials can be read.
    assert_eq!(api.send(&api.request("DELETE", "/v1/oauth-clients/versioned")).status, 204);
    let (response, sent_requests) = requests(&api, &format!("{path}/proxy/users"), &[]);
    assert_eq!((response.status, code(&response).as_str()), (409, "oauth_client_missing"));
    assert!(sent_requests.is_empty());
    let left = credentials(&api, &path)["headers"].clone();
    assert_eq!(left, json!({"api-version": "2025-01-01", "authorization": "Bearer at"}));
}

#[test]
fn the_secret_of_an_oauth_client_is_sent_and_never_returned() {
    let api = api("secret");
    set_client(&api, "etsyish");
    let path = connection_with(&api, "etsyish", &json!({"type": "oauth2", "accessToken": "at"}));
    let (_, sent_requests) = requests(&api, &format!("{path}/proxy/users"), &[]);
    assert_eq!(header(&sent_requests[0], "x-api-key"), Some("an id:a:secret"));
    let credentials = credentials(&api, &path);
    assert_eq!(credentials["headers"], json!({"authorization": "Bearer at"}));
    assert!(!credentials.to_string().contains("a:secret"));
    // The caller can't supply the client's secret either.
    let (response, sent_requests) =
        requests(&api, &format!("{path}/proxy/users"), &[("x-api-key", "mine")]);
    assert_eq!((response.status, code(&response).as_str()), (400, "invalid_parameter"));
    assert!(
        sent_requests.is_empty() && !text(&response).contains("a:secret"),
        "{}",
        text(&response)
    );
    // A public client has no secret to send.
    let public = json!({"clientId": "an id", "clientSecret": null});
    assert_eq!(send(&api, "PUT", "/v1/oauth-clients/etsyish", &public).status, 200);
    let (response, _) = requests(&api, &format!("{path}/proxy/users"), &[]);
    assert_eq!((response.status, code(&response).as_str()), (409, "oauth_client_missing"));
    // Connecting fails, because the connection would not work without a secret.
    let bob = json!({"platform": "etsyish", "identity": "bob", "identityType": "user"});
    let refusal = connect(&api, &bob);
    assert_eq!((refusal.status, code(&refusal).as_str()), (409, "oauth_client_missing"));
}

#[test]
fn a_check_carries_the_data_of_the_oauth_client() {
    let api = api("check");
    set_client(&api, "etsyish");
    let path = connection_with(&api, "etsyish", &json!({"type": "oauth2", "accessToken": "at"}));
    platform(&api, |request| {
        let is_expected = header(request, "x-api-key") == Some("an id:a:secret");
        Ok(platform_response(if is_expected { 200 } else { 401 }, &[], "{}"))
    });
    let checked = api.send(&api.request("POST", &format!("{path}/check")));
    assert_eq!((checked.status, &body(&checked)["state"]), (200, &json!("operational")));
}

#[test]
fn the_oauth_token_is_sent_where_the_platform_expects_it() {
    let api = api("token");
    set_client(&api, "shop");
    let tokens = json!({"type": "oauth2", "accessToken": "at", "fields": {"shop": "a"}});
    let path = connection_with(&api, "shop", &tokens);
    let (_, sent_requests) = requests(&api, &format!("{path}/proxy/shop.json"), &[]);
    assert_eq!(sent_requests[0].url, "https://a.myshop.example/shop.json");
    assert_eq!(header(&sent_requests[0], "x-shop-access-token"), Some("at"));
    assert_eq!(header(&sent_requests[0], "authorization"), None);
    assert_eq!(credentials(&api, &path)["headers"], json!({"x-shop-access-token": "at"}));
}

#[test]
fn a_method_has_several_secrets() {
    let api = api("several");
    let fields = json!({"apiKey": "k", "token": "t&1"});
    let path = connected(&api, "twokeys", Some("keys"), &fields);
    let (_, sent_requests) =
        requests(&api, &format!("{path}/proxy/boards?token=mine&format=xml"), &[]);
    // A secret replaces the caller's value, and the caller's value replaces a constant.
    let expected = "https://api.twokeys.example/boards?format=xml&key=k&token=t%261";
    assert_eq!(sent_requests[0].url, expected);
    let found = credentials(&api, &path);
    assert_eq!(found["query"], json!({"key": "k", "token": "t&1", "format": "json"}));
    assert_eq!((&found["apiKey"], &found["fields"]), (&json!("k"), &json!({"token": "t&1"})));
    // All secrets are encrypted.
    assert!(!api.env.dump().join("\n").contains("t&1"));
    let other = json!({"platform": "twokeys", "identity": "bob", "identityType": "user",
        "authMethod": "headers", "fields": {"apiKey": "k"}});
    let refusal = connect(&api, &other);
    assert_eq!(refusal.status, 400);
    assert_eq!(body(&refusal)["errors"][0]["pointer"], "/fields/appKey");
    let mut complete = other;
    complete["fields"]["appKey"] = json!("a");
    let response = connect(&api, &complete);
    assert_eq!(response.status, 201, "{}", text(&response));
    let bobs = at(body(&response)["id"].as_str().unwrap());
    sent(&api);
    let (_, sent_requests) = requests(&api, &format!("{bobs}/proxy/me"), &[]);
    assert_eq!(header(&sent_requests[0], "x-api-key"), Some("k"));
    assert_eq!(header(&sent_requests[0], "x-app-key"), Some("a"));
    assert_eq!(header(&sent_requests[0], "x-org"), None, "it was left empty");
    let (reply, _) = requests(&api, &format!("{bobs}/proxy/me"), &[("x-app-key", "mine")]);
    assert_eq!(reply.status, 400, "{}", text(&reply));
    let mut unfit = complete;
    unfit["identity"] = json!("eve");
    unfit["fields"]["appKey"] = json!("ключ");
    assert_eq!(body(&connect(&api, &unfit))["errors"][0]["pointer"], "/fields/appKey");
}

#[test]
fn a_prefix_that_is_not_a_word_has_no_space_after_it() {
    let api = api("prefix");
    let path = connected(&api, "duty", None, &json!({"apiKey": "KEY"}));
    let (_, sent_requests) = requests(&api, &format!("{path}/proxy/me"), &[]);
    assert_eq!(header(&sent_requests[0], "authorization"), Some("Token token=KEY"));
}

#[test]
fn basic_authentication_sends_the_platforms_user_name_and_password() {
    use base64ct::{Base64, Encoding as _};
    let key = json!({"apiKey": "k"});
    for (method, fields, pair) in [
        ("user", key.clone(), "k:"),
        ("x", key.clone(), "k:x"),
        ("password", key, "api:k"),
        ("email", json!({"email": "a@b.example", "password": "p"}), "a@b.example/token:p"),
        ("both", json!({"username": "u", "password": "p"}), "u:p"),
    ] {
        let api = api(&format!("basic-{method}"));
        let path = connected(&api, "pairs", Some(method), &fields);
        let (_, sent_requests) = requests(&api, &format!("{path}/proxy/me"), &[]);
        let value = format!("Basic {}", Base64::encode_string(pair.as_bytes()));
        assert_eq!(header(&sent_requests[0], "authorization"), Some(value.as_str()), "{method}");
        let (user, password) = pair.split_once(':').unwrap();
        let shown = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
        let found = credentials(&api, &path);
        assert_eq!(
            (&found["username"], &found["password"]),
            (&shown(user), &shown(password)),
            "{method}"
        );
    }
}

#[test]
fn the_import_reports_errors_in_templates() {
    let parsed = |platform: &str, method: &str| {
        let toml = format!(
            "[platforms.a]\nname = 'A'\nservers = ['https://a.example']\n{platform}\n[[platforms.a.auth]]\nid = 'm'\nsource = 's'\nread = '2026-11-27'\n{method}\n"
        );
        Providers::parse("p.toml", &toml).map(drop).map_err(|error| error.to_string())
    };
    let oauth = "type = 'oauth2'\ngrant = 'client_credentials'\ntokenUrl = 'https://a.example/t'\n";
    let with = |extra: &str| format!("{oauth}{extra}");
    for (platform, method, fault) in [
        ("", "type = 'bearer'\nheaders = { X = '{y}' }".to_owned(), "no field for `{y}` in `{y}`"),
        (
            "",
            "type = 'bearer'\nheaders = { X = '{accessToken}' }".to_owned(),
            "no field for `{accessToken}`",
        ),
        (
            "",
            "type = 'bearer'\nheaders = { 'X Y' = 'z' }".to_owned(),
            "`X Y` cannot be the name of a header",
        ),
        (
            "",
            "type = 'bearer'\nheaders = { Host = 'z' }".to_owned(),
            "the header `Host` is never sent",
        ),
        ("", "type = 'bearer'\nheaders = { X = '1', x = '2' }".to_owned(), "twice"),
        ("", "type = 'bearer'\nquery = { '' = '1' }".to_owned(), "has no name"),
        (
            "",
            "type = 'bearer'\nfields = [{ name = 'z' }]".to_owned(),
            "the field `z` is used in no URL and no template",
        ),
        ("", with("query = { s = '{clientSecret}' }"), "`{clientSecret}` must be in a header"),
        (
            "",
            with("headers = { S = '{clientId}' }\nfields = [{ name = 'clientId' }]"),
            "`clientId` cannot be the name of a field",
        ),
        ("", "type = 'basic'\nusername = '{k}'".to_owned(), "no field for `{k}`"),
        ("headers = { X = '{y}' }", "type = 'bearer'".to_owned(), "no field for `{y}` in `{y}`"),
        (
            "headers = { 'X-Vault-Server' = 'y' }",
            "type = 'bearer'".to_owned(),
            "is never sent to a platform",
        ),
        ("rejected = [401]", "type = 'bearer'".to_owned(), "need a `verify`"),
        (
            "verify = 'GET /me'\nrejectedWhen = { pointer = 'ok', value = false }",
            "type = 'bearer'".to_owned(),
            "is a JSON Pointer",
        ),
    ] {
        let found = parsed(platform, &method).unwrap_err();
        assert!(found.contains(fault), "{platform} {method}\n{found}");
    }
    for (platform, method) in [
        ("headers = { X = '{token}' }", "type = 'bearer'".to_owned()),
        ("headers = { X = 'a {\"b\": 1}' }", "type = 'bearer'".to_owned()),
        (
            "",
            with(
                "headers = { A = '{clientId}', B = '{clientSecret}', C = '{accessToken}', D = '{team}' }\ntokenMembers = ['team']",
            ),
        ),
    ] {
        assert_eq!(parsed(platform, &method), Ok(()), "{platform} {method}");
    }
}
