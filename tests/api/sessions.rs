//! `POST /v1/sessions`, and what tokens may do.

use base64ct::{Base64UrlUnpadded, Encoding as _};
use connector_vault::access::key::ApiKey;
use connector_vault::access::token::MAX_TOKEN;
use connector_vault::api::{Request, Response, Service};
use connector_vault::catalog::cache::CURRENT_MS;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::support::{
    Api, ORIGIN, anonymous, as_key, as_secret, body, column, config, connector, small_catalog,
    with_body, with_header,
};
use crate::vault::{
    CONNECTIONS, SUMMARY, UNKNOWN_ID, at, code, comparable, cursor, faults, minimal, next,
};

pub const SESSIONS: &str = "/v1/sessions";
const CONNECTORS: &str = "/v1/available-connectors";
const WHOAMI: &str = "/v1/whoami";
pub const SECRET: &str = "a secret of thirty-two characters";
const OTHER: &str = "another secret, and a longer one than that";
/// The cost of a request that asks no storage.
const FREE: &str = "d1;desc=\"calls=0 rows_read=0 rows_written=0\", kv;desc=\"reads=0\"";

fn api() -> Api {
    Api::with_sessions(SECRET, "")
}

/// A request for a token.
pub fn asking(key: &ApiKey, document: &Value) -> Request {
    with_body(as_key(key, "POST", SESSIONS), &document.to_string())
}

impl Api {
    /// Publishes the small catalog with these additional platforms, visible at once.
    fn publish_with<T: AsRef<str>>(&self, more: &[T]) {
        let more = more.iter().map(|platform| {
            let platform = platform.as_ref();
            (connector(platform, platform, "Other", 0), false, Vec::new())
        });
        self.world.publish(small_catalog().into_iter().chain(more).collect());
        self.world.wait(CURRENT_MS + 1);
    }

    /// A token that names platforms which the catalog no longer has.
    fn token_of_gone(&self, gone: &[&str], wish: &Value) -> String {
        self.publish_with(gone);
        let token = self.token(wish);
        self.publish_with::<&str>(&[]);
        token
    }

    /// The answer to a request for a token.
    pub fn session(&self, document: &Value) -> Value {
        let response = self.send(&asking(&self.key, document));
        assert_eq!(response.status, 201, "{document} {}", body(&response));
        body(&response)
    }

    /// A token.
    pub fn token(&self, document: &Value) -> String {
        self.session(document)["token"].as_str().unwrap().to_owned()
    }

    fn get_as(&self, secret: &str, path: &str) -> Response {
        self.send(&as_secret(secret, "GET", path))
    }

    /// The status, the code and the number of database calls of a request.
    fn cost(&self, request: &Request) -> (u16, String, u32) {
        let calls = self.world.db_calls.get();
        let response = self.send(request);
        (response.status, code(&response), self.world.db_calls.get() - calls)
    }
}

#[test]
fn a_token_is_made_from_a_key() {
    let api = api();
    let response = api.send(&asking(&api.key, &json!({"identity": "ann"})));
    assert_eq!(response.status, 201);
    assert_eq!(response.header("cache-control"), Some("private, no-store"));
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(api.world.db_calls.get(), 1);
    let mut document = body(&response);
    let token = document["token"].take();
    let token = token.as_str().unwrap();
    assert!(token.starts_with("st_test_") && token.len() < 300, "{token}");
    let expected = json!({
        "token": null, "expiresAt": "2027-01-15T08:15:00.000Z", "environment": "test", "identity": "ann", "identityType": null,
        "scopes": ["catalog:read", "connections:read"], "platforms": null, "origins": null,
    });
    assert_eq!(document, expected);
    let text = String::from_utf8(response.body).unwrap();
    let members = ["token", "expiresAt", "environment", "identity", "identityType", "scopes"];
    let places: Vec<_> = members.iter().map(|name| text.find(&format!("\"{name}\":"))).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{text}");

    let live = api.world.key("acme", Environment::Live, &Scope::ALL, None);
    let wish = json!({
        "identity": "Größe ::\"x\"", "identityType": "team", "scopes": ["connections:write", "connections:read"],
        "platforms": ["ZETA", "alpha-two", "Zeta"], "origins": ["https://a.example", "http://localhost:5173"], "ttlSeconds": 60.0,
    });
    let response = api.send(&asking(&live, &wish));
    let mut document = body(&response);
    assert!(document["token"].take().as_str().unwrap().starts_with("st_live_"));
    let expected = json!({
        "token": null, "expiresAt": "2027-01-15T08:01:00.000Z", "environment": "live", "identity": "Größe ::\"x\"", "identityType": "team",
        "scopes": ["connections:read", "connections:write"], "platforms": ["zeta", "alpha-two"],
        "origins": ["https://a.example", "http://localhost:5173"],
    });
    assert_eq!((response.status, document), (201, expected));
}

#[test]
fn a_token_ends_with_its_key_at_the_latest() {
    let api = api();
    for (left, ends) in [(59_999, 59_999), (900_000, 900_000), (900_001, 900_000)] {
        let end = Some(api.world.now.get() + left);
        let key = api.world.key("acme", Environment::Test, &Scope::ALL, end);
        let made = body(&api.send(&asking(&key, &json!({"identity": "ann"}))));
        let expected = connector_vault::rfc3339::rfc3339(api.world.now.get() + ends).unwrap();
        assert_eq!(made["expiresAt"], json!(expected), "{left}");
    }
}

#[test]
fn faults_of_the_body_are_named() {
    let api = api();
    let long = format!("https://{}", "a".repeat(246));
    let names: Vec<String> = (0..21).map(|nth| format!("p{nth}")).collect();
    let mut many: Vec<String> = (0..20).map(|nth| format!("/platforms/{nth}")).collect();
    many.push("/platforms".into());
    many.sort();
    for (wish, expected) in [
        (json!({}), vec!["/identity"]),
        (json!({"identity": ""}), vec!["/identity"]),
        (
            json!({"identity": "a,b", "identityType": "User"}),
            vec!["/identity", "/identityType>user"],
        ),
        (json!({"identity": 7, "ttlSeconds": 59}), vec!["/identity", "/ttlSeconds"]),
        (json!({"identity": "ann", "ttl": 60}), vec!["/ttl>ttlSeconds"]),
        (json!({"identity": "ann", "ttlSeconds": 3601}), vec!["/ttlSeconds"]),
        (json!({"identity": "ann", "ttlSeconds": "900"}), vec!["/ttlSeconds"]),
        (json!({"identity": "ann", "ttlSeconds": 900.5}), vec!["/ttlSeconds"]),
        (json!({"identity": "ann", "ttlSeconds": 3601.0}), vec!["/ttlSeconds"]),
        (json!({"identity": " ann"}), vec!["/identity"]),
        (json!({"identity": "\u{202e}nna"}), vec!["/identity"]),
        (json!({"identity": "ann", "ttlSeconds": -900}), vec!["/ttlSeconds"]),
        (json!({"identity": "ann", "ttlSeconds": null}), vec!["/ttlSeconds"]),
        (json!({"identity": "ann", "identityType": null}), vec!["/identityType"]),
        (json!({"identity": "ann", "scopes": "catalog:read"}), vec!["/scopes"]),
        (json!({"identity": "ann", "scopes": []}), vec!["/scopes"]),
        (json!({"identity": "ann", "scopes": ["sessions:create"]}), vec!["/scopes/0"]),
        (
            json!({"identity": "ann", "scopes": ["catalog:read", "x", "catalog:read"]}),
            vec!["/scopes/1", "/scopes/2"],
        ),
        (json!({"identity": "ann", "platforms": []}), vec!["/platforms"]),
        (json!({"identity": "ann", "platforms": null}), vec!["/platforms"]),
        (
            json!({"identity": "ann", "platforms": ["alpha", "a b", 1, "alhpa", "stripe", "Zta"], "ttl": 1}),
            vec![
                "/platforms/1",
                "/platforms/2",
                "/platforms/3>alpha",
                "/platforms/4",
                "/platforms/5>zeta",
                "/ttl>ttlSeconds",
            ],
        ),
        (json!({"identity": "ann", "platforms": ["alpha", "zeta", "alpha"]}), vec!["/platforms/2"]),
        (json!({"identity": "ann", "platforms": names}), many.iter().map(String::as_str).collect()),
        (json!({"identity": "ann", "origins": []}), vec!["/origins"]),
        (
            json!({"identity": "ann", "origins": ["*", "https://a.example/", "null", long]}),
            vec!["/origins/0", "/origins/1", "/origins/2", "/origins/3"],
        ),
        (
            json!({"identity": "ann", "origins": ["https://a.example", "https://a.example"]}),
            vec!["/origins/1"],
        ),
    ] {
        let response = api.send(&asking(&api.key, &wish));
        assert_eq!((response.status, code(&response).as_str()), (400, "invalid_body"), "{wish}");
        assert_eq!(faults(&response), expected, "{wish} {}", body(&response));
    }
    let request = asking(&api.key, &json!({"identity": "ann"}));
    for (request, status, expected) in [
        (Request { query: "ttlSeconds=60".into(), ..request.clone() }, 400, "unknown_parameter"),
        (as_key(&api.key, "POST", SESSIONS), 415, "unsupported_media_type"),
        (with_body(as_key(&api.key, "POST", SESSIONS), "[]"), 400, "invalid_body"),
        (
            with_body(as_key(&api.key, "POST", SESSIONS), r#"{"identity":"a","identity":"b"}"#),
            400,
            "invalid_body",
        ),
        (with_body(anonymous("POST", SESSIONS), "{}"), 401, "missing_key"),
    ] {
        let response = api.send(&request);
        assert_eq!((response.status, code(&response).as_str()), (status, expected));
    }
    // The rate limit is checked before the body.
    api.world.limited.set(true);
    assert_eq!(api.send(&with_body(as_key(&api.key, "POST", SESSIONS), "[]")).status, 429);
}

#[test]
fn methods() {
    let api = api();
    for method in ["GET", "HEAD", "PUT", "PATCH", "DELETE", "post", "QUERY"] {
        let response = api.send(&as_key(&api.key, method, SESSIONS));
        assert_eq!((response.status, response.header("allow")), (405, Some("POST, OPTIONS")));
    }
    let preflight = api.send(&anonymous("OPTIONS", SESSIONS));
    assert_eq!((preflight.status, preflight.header("allow")), (204, Some("POST, OPTIONS")));
}

#[test]
fn the_longest_token_fits_a_header() {
    let api = api();
    let platforms: Vec<String> = (0..20).map(|nth| format!("{nth:064}")).collect();
    api.publish_with(&platforms);
    let origins = |count: usize, length: usize| -> Vec<String> {
        (0..count).map(|nth| format!("https://{nth:0>0$}", length - 8)).collect()
    };
    let mut wish = json!({
        "identity": "\u{10ffff}".repeat(256), "identityType": "organization", "platforms": platforms, "ttlSeconds": 3600,
        "scopes": Scope::OF_TOKENS.map(Scope::as_str),
    });
    assert!(api.token(&wish).len() < MAX_TOKEN);
    wish["identity"] = json!("\"\\".repeat(128));
    wish["origins"] = json!(origins(10, 60));
    let token = api.token(&wish);
    assert!(token.len() < MAX_TOKEN, "{}", token.len());
    let sent = with_header(as_secret(&token, "GET", WHOAMI), "origin", &origins(10, 60)[9]);
    assert_eq!(body(&api.send(&sent))["platforms"], json!(platforms));
    wish["origins"] = json!(origins(10, 253));
    let response = api.send(&asking(&api.key, &wish));
    assert_eq!((response.status, faults(&response)), (400, vec!["/origins".to_owned()]));
    let mut longest = 0;
    for length in 60..253 {
        wish["origins"] = json!(origins(10, length));
        let response = api.send(&asking(&api.key, &wish));
        if response.status == 201 {
            longest = body(&response)["token"].as_str().unwrap().len();
        }
    }
    assert!((MAX_TOKEN - 20..=MAX_TOKEN).contains(&longest), "{longest}");
}

#[test]
fn scopes_are_some_of_the_keys() {
    let api = api();
    let ask = |scopes: &[Scope], wish: &Value| {
        let key = api.world.key("acme", Environment::Test, scopes, None);
        api.send(&asking(&key, wish))
    };
    let (read, write, catalog, create) = (
        Scope::ConnectionsRead,
        Scope::ConnectionsWrite,
        Scope::CatalogRead,
        Scope::SessionsCreate,
    );
    for (scopes, wanted, given) in [
        (vec![create], None, vec![]),
        (vec![create, write], None, vec![]),
        (vec![create, read, write], None, vec!["connections:read"]),
        (vec![create, catalog], None, vec!["catalog:read"]),
        (vec![create, write], Some(vec!["connections:write"]), vec!["connections:write"]),
        (
            Scope::ALL.to_vec(),
            Some(vec!["connections:write", "catalog:read"]),
            vec!["catalog:read", "connections:write"],
        ),
    ] {
        let mut wish = json!({"identity": "ann"});
        if let Some(wanted) = wanted {
            wish["scopes"] = json!(wanted);
        }
        let response = ask(&scopes, &wish);
        assert_eq!((response.status, &body(&response)["scopes"]), (201, &json!(given)));
    }
    for (scopes, wanted, lacking) in [
        (vec![create, read], vec!["connections:read", "connections:write"], "connections:write"),
        (vec![create], vec!["connections:write", "catalog:read"], "catalog:read"),
        (vec![read, write, catalog], vec!["catalog:read"], "sessions:create"),
    ] {
        let response = ask(&scopes, &json!({"identity": "ann", "scopes": wanted}));
        assert_eq!((response.status, code(&response).as_str()), (403, "insufficient_scope"));
        let detail = format!("This API key lacks the scope `{lacking}`.");
        assert_eq!(body(&response)["detail"], json!(detail));
    }
}

#[test]
fn without_a_secret_there_are_no_tokens() {
    let token = api().token(&json!({"identity": "ann"}));
    let short = "x".repeat(31);
    for (current, previous) in
        [("", ""), (short.as_str(), short.as_str()), (&*format!(" {short}\n"), ""), ("", OTHER)]
    {
        let api = Api::with_sessions(current, previous);
        let response = api.send(&asking(&api.key, &json!({"identity": "ann"})));
        assert_eq!((response.status, code(&response).as_str()), (503, "unavailable"));
        let document = body(&response);
        assert!(document["detail"].as_str().unwrap().contains("`SESSION_SECRET`"), "{document}");
        assert!(response.log.unwrap().contains("SESSION_SECRET"));
        assert_eq!(api.cost(&as_secret(&token, "GET", CONNECTORS)), (401, "invalid_key".into(), 0));
        // No other caller learns of it.
        let lacking = api.world.key("acme", Environment::Test, &[], None);
        assert_eq!(api.send(&asking(&lacking, &json!({}))).status, 403);
    }
}

#[test]
fn secrets_are_changed_without_a_gap() {
    let mut api = api();
    let service = |current: &str, previous: &str| {
        let secrets = [("SESSION_SECRET", current), ("SESSION_SECRET_PREVIOUS", previous)];
        Service::new(config(&secrets))
    };
    let old = api.token(&json!({"identity": "ann"}));
    let status = |api: &Api, token: &str| api.get_as(token, WHOAMI).status;
    assert_eq!(status(&api, &old), 200);
    api.service = service(OTHER, SECRET);
    let new = api.token(&json!({"identity": "ann"}));
    assert_ne!(old, new);
    assert_eq!((status(&api, &old), status(&api, &new)), (200, 200));
    // White space around a secret comes from pasting it.
    api.service = service(&format!("  {OTHER}\n"), "");
    assert_eq!((status(&api, &old), status(&api, &new)), (401, 200));
    api.service = service(SECRET, OTHER);
    assert_eq!((status(&api, &old), status(&api, &new)), (200, 200));
    api.service = service(SECRET, "");
    assert_eq!((status(&api, &old), status(&api, &new)), (200, 401));
}

#[test]
fn every_flipped_bit_is_refused() {
    let api = api();
    let wish = json!({
        "identity": "ann", "identityType": "user", "platforms": ["alpha"], "scopes": Scope::OF_TOKENS.map(Scope::as_str),
    });
    let token = api.token(&wish);
    assert_eq!(api.get_as(&token, WHOAMI).status, 200);
    let calls = api.world.db_calls.get();
    let mut refused = 0;
    let mut refuse = |secret: &[u8]| {
        // Headers are text, so anything else can't be sent.
        let Ok(secret) = std::str::from_utf8(secret) else { return };
        for path in [WHOAMI, CONNECTORS, CONNECTIONS] {
            let response = api.get_as(secret, path);
            assert_eq!((response.status, code(&response)), (401, "invalid_key".into()), "{secret}");
            assert_eq!(response.header("server-timing"), Some(FREE), "{secret}");
        }
        refused += 1;
    };
    for at in 0..token.len() {
        for bit in 0..8 {
            let mut bytes = token.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            refuse(&bytes);
        }
        // Every other letter, where several texts encode the same signature bytes.
        for letter in *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/. " {
            let mut bytes = token.clone().into_bytes();
            if std::mem::replace(&mut bytes[at], letter) != letter
                && (at + 3 > token.len() || at % 16 == 0)
            {
                refuse(&bytes);
            }
        }
        let mut shorter = token.clone();
        shorter.remove(at);
        refuse(shorter.as_bytes());
    }
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let claims = signed.strip_prefix("st_test_").unwrap();
    for secret in [
        format!("{token}="),
        format!("{token}."),
        format!("{token}A"),
        format!("{token} "),
        format!("{token},{token}"),
        format!(" {token}"),
        format!("st_live_{claims}.{signature}"),
        format!("st_{claims}.{signature}"),
        format!("{signed}.{signature}.{signature}"),
        format!("{signed}."),
        signed.to_owned(),
        format!("st_test_.{signature}"),
        "st_test_".to_owned(),
        "st_test_.".to_owned(),
        "st_".to_owned(),
        "st_test_é.é".to_owned(),
        token.to_uppercase(),
        format!("st_test_{}.{signature}", "A".repeat(100_000)),
    ] {
        refuse(secret.as_bytes());
    }
    assert!(refused > 8 * token.len(), "{refused}");
    assert_eq!(api.world.db_calls.get(), calls);
    assert_eq!(api.get_as(&token, WHOAMI).status, 200);
}

#[test]
fn a_token_of_another_shape_of_claims_is_refused() {
    // Signed with the right secret, but with the wrong claims.
    let api = api();
    let good = json!({"v": 1, "k": "key-1", "s": 7, "e": api.world.now.get() + 1, "i": "ann"});
    let sign = |claims: &str| {
        let text = format!("st_test_{}", Base64UrlUnpadded::encode_string(claims.as_bytes()));
        let signature = connector_vault::access::mac::mac(SECRET.as_bytes(), &[text.as_bytes()]);
        format!("{text}.{}", Base64UrlUnpadded::encode_string(&signature))
    };
    assert_eq!(api.get_as(&sign(&good.to_string()), CONNECTORS).status, 200);
    for member in ["v", "k", "s", "e", "i"] {
        for value in [json!(null), json!([]), json!({}), json!(2.5), json!(-1)] {
            let mut claims = good.clone();
            claims[member] = value;
            assert_eq!(api.get_as(&sign(&claims.to_string()), CONNECTORS).status, 401, "{claims}");
        }
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(member);
        assert_eq!(api.get_as(&sign(&claims.to_string()), CONNECTORS).status, 401, "{claims}");
    }
    for claims in ["", "{}", "[]", "null", "{", "\u{feff}{}"] {
        assert_eq!(api.get_as(&sign(claims), CONNECTORS).status, 401, "{claims}");
    }
    for (member, value) in [("v", json!(2)), ("t", json!("nobody")), ("e", json!(0))] {
        let mut claims = good.clone();
        claims[member] = value;
        assert_eq!(api.get_as(&sign(&claims.to_string()), CONNECTORS).status, 401, "{claims}");
    }
    // No bit mask gives a token the scope to create others.
    let mut claims = good.clone();
    claims["s"] = json!(255);
    claims["k"] = json!(api.world.texts("SELECT id FROM api_keys")[0]);
    let request =
        with_body(as_secret(&sign(&claims.to_string()), "POST", SESSIONS), r#"{"identity":"ann"}"#);
    let response = api.send(&request);
    assert_eq!((response.status, code(&response).as_str()), (403, "insufficient_scope"));
}

#[test]
fn a_token_is_good_until_it_expires() {
    let api = api();
    let token = api.token(&json!({"identity": "ann", "ttlSeconds": 60}));
    let statuses = || [CONNECTORS, WHOAMI, CONNECTIONS].map(|path| api.get_as(&token, path).status);
    assert_eq!(statuses(), [200; 3]);
    api.world.wait(59_999);
    assert_eq!(statuses(), [200; 3]);
    let calls = api.world.db_calls.get();
    for _ in 0..3 {
        api.world.wait(1);
        assert_eq!(statuses(), [401; 3]);
    }
    assert_eq!(api.world.db_calls.get(), calls, "no storage is needed to say no");
}

#[test]
fn a_token_ends_with_its_key() {
    for spoil in [
        "UPDATE api_keys SET revoked_at = 2",
        "UPDATE api_keys SET expires_at = 1800000000000",
        "UPDATE api_keys SET environment = 'live'",
        "DELETE FROM api_keys",
    ] {
        let api = api();
        let token =
            api.token(&json!({"identity": "ann", "scopes": Scope::OF_TOKENS.map(Scope::as_str)}));
        let id = api.create(&minimal("ann"))["id"].as_str().unwrap().to_owned();
        let requests = || {
            vec![
                as_secret(&token, "GET", WHOAMI),
                as_secret(&token, "GET", CONNECTIONS),
                as_secret(&token, "GET", SUMMARY),
                as_secret(&token, "GET", &at(&id)),
                with_body(as_secret(&token, "PATCH", &at(&id)), r#"{"tags":["new"]}"#),
                with_body(
                    as_secret(&token, "POST", CONNECTIONS),
                    &json!({"platform": "zeta", "identity": "ann", "identityType": "user"})
                        .to_string(),
                ),
                as_secret(&token, "DELETE", &at(&id)),
            ]
        };
        assert!(requests().iter().all(|request| api.send(request).status < 300));
        api.create(&minimal("ann"));
        api.world.database.execute(spoil, []).unwrap();
        let before = api.world.dump();
        let answers: Vec<_> = requests().iter().map(|request| api.cost(request)).collect();
        assert_eq!(answers, vec![(401, "invalid_key".to_owned(), 1); 7], "{spoil}");
        assert_eq!(api.world.dump(), before);
        // The catalog does not belong to the key, so there a token is trusted until it expires.
        assert_eq!(api.cost(&as_secret(&token, "GET", CONNECTORS)), (200, String::new(), 0));
    }
}

#[test]
fn every_way_to_be_refused_is_told_alike() {
    let api = api();
    let wish = json!({"identity": "ann", "origins": ["https://a.example"], "ttlSeconds": 60});
    let token = api.token(&wish);
    let good = || with_header(as_secret(&token, "GET", WHOAMI), "origin", "https://a.example");
    assert_eq!(api.send(&good()).status, 200);
    let plain = |response: Response| {
        assert_eq!(response.status, 401);
        assert_eq!(response.header("www-authenticate"), Some("ApiKey"));
        let (_, headers, text) = comparable(&response);
        let timing = |(name, _): &(&str, String)| *name != "server-timing";
        (headers.into_iter().filter(timing).collect::<Vec<_>>(), text)
    };
    let elsewhere = plain(api.send(&as_secret(&token, "GET", WHOAMI)));
    let altered = plain(api.send(&as_secret(&format!("{token}x"), "GET", WHOAMI)));
    api.world.revoke(&api.key);
    let revoked = plain(api.send(&good()));
    api.world.wait(60_000);
    let expired = plain(api.send(&good()));
    assert!([altered, revoked, expired].iter().all(|answer| *answer == elsewhere));
    assert!(elsewhere.1.contains("\"detail\":\"The token is invalid: "), "{}", elsewhere.1);
}

#[test]
fn one_secret_in_one_header() {
    let mut api = Api::new(config(&[("SECRET_HEADERS", "x-key"), ("SESSION_SECRET", SECRET)]));
    api.world.publish(small_catalog());
    let (a, b) = (api.token(&json!({"identity": "ann"})), api.token(&json!({"identity": "bob"})));
    let key = api.key.reveal().to_owned();
    api.key = api.world.key("beta", Environment::Test, &Scope::ALL, None);
    for (secrets, status) in [
        (vec![("x-key", &a)], 200),
        (vec![("x-service-secret", &a), ("x-key", &b)], 401),
        (vec![("x-service-secret", &a), ("x-key", &a)], 401),
        (vec![("x-service-secret", &key), ("x-key", &a)], 401),
        (vec![("x-service-secret", &a), ("x-key", &key)], 401),
        (vec![("authorization", &a)], 401),
    ] {
        let request = secrets.iter().fold(anonymous("GET", WHOAMI), |request, (name, value)| {
            with_header(request, name, value)
        });
        assert_eq!(api.send(&request).status, status, "{}", secrets.len());
    }
    // A header that is sent twice arrives joined.
    assert_eq!(api.get_as(&format!("{a}, {b}"), WHOAMI).status, 401);
}

#[test]
fn origins() {
    let api = api();
    let token = api.token(
        &json!({"identity": "ann", "origins": ["https://a.example", "http://localhost:5173"]}),
    );
    let own = api.token(&json!({"identity": "ann", "origins": [ORIGIN]}));
    let free = api.token(&json!({"identity": "ann"}));
    for (origin, site, expected) in [
        (Some("https://a.example"), None, [200, 401, 200]),
        (Some("http://localhost:5173"), Some("cross-site"), [200, 401, 200]),
        (Some("https://a.example"), Some("same-origin"), [200, 401, 200]),
        (Some(ORIGIN), Some("same-origin"), [401, 200, 200]),
        (None, Some("same-origin"), [401, 200, 200]),
        (None, Some("same-site"), [401, 401, 200]),
        (None, Some("none"), [401, 401, 200]),
        (None, None, [401, 401, 200]),
        (Some(""), None, [401, 401, 200]),
        (Some("null"), None, [401, 401, 200]),
        (Some("https://b.example"), Some("same-origin"), [401, 401, 200]),
        (Some("https://a.example:8443"), None, [401, 401, 200]),
        (Some("https://a.example,http://localhost:5173"), None, [401, 401, 200]),
        (Some("http://a.example"), None, [401, 401, 200]),
    ] {
        for path in [CONNECTORS, WHOAMI, CONNECTIONS, "/v1/nothing"] {
            let statuses = [&token, &own, &free].map(|token| {
                let mut request = as_secret(token, "GET", path);
                for (name, value) in [("origin", origin), ("sec-fetch-site", site)] {
                    if let Some(value) = value {
                        request = with_header(request, name, value);
                    }
                }
                api.send(&request).status
            });
            let found = if path == "/v1/nothing" { 404 } else { 200 };
            let expected = expected.map(|status| if status == 200 { found } else { status });
            assert_eq!(statuses, expected, "{origin:?} {site:?} {path}");
        }
    }
    // Which pages may read an answer is a separate matter, and a preflight carries no secret.
    let response =
        api.send(&with_header(as_secret(&token, "GET", WHOAMI), "origin", "https://a.example"));
    assert_eq!(response.header("access-control-allow-origin"), None);
    assert_eq!(
        api.send(&with_header(anonymous("OPTIONS", WHOAMI), "origin", "https://b.example")).status,
        204
    );
}

#[test]
fn whoami_tells_what_a_token_is_confined_to() {
    let api = api();
    let token = api.token(&json!({
        "identity": "ann", "identityType": "user", "platforms": ["zeta", "alpha"], "ttlSeconds": 60,
        "scopes": ["connections:write", "connections:read"],
    }));
    let response = api.get_as(&token, WHOAMI);
    assert_eq!(
        String::from_utf8(response.body).unwrap(),
        r#"{"account":"acme","environment":"test","scopes":["connections:read","connections:write"],"expiresAt":"2027-01-15T08:01:00.000Z","identity":"ann","identityType":"user","platforms":["zeta","alpha"],"origins":null}"#
    );
    assert_eq!(response.headers[1].1, "private, no-store");
    assert_eq!(api.cost(&as_secret(&token, "GET", WHOAMI)), (200, String::new(), 1));
    assert_eq!(api.get_as(&token, "/v1/whoami?x=1").status, 400);
    // A token loses a scope together with its key.
    api.world.database.execute("UPDATE api_keys SET scopes = 'connections:read'", []).unwrap();
    assert_eq!(body(&api.get_as(&token, WHOAMI))["scopes"], json!(["connections:read"]));
}

#[test]
fn a_token_makes_no_tokens_and_finds_no_paths() {
    let api = api();
    let token =
        api.token(&json!({"identity": "ann", "scopes": Scope::OF_TOKENS.map(Scope::as_str)}));
    let response =
        api.send(&with_body(as_secret(&token, "POST", SESSIONS), r#"{"identity":"bob"}"#));
    assert_eq!((response.status, code(&response).as_str()), (403, "insufficient_scope"));
    assert_eq!(body(&response)["detail"], "This token lacks the scope `sessions:create`.");
    assert_eq!(api.get_as(&token, "/v1/nothing").status, 404);
    assert_eq!(api.send(&as_secret(&token, "PUT", CONNECTORS)).status, 405);
    assert_eq!(api.send(&as_secret(&token, "PUT", CONNECTIONS)).status, 405);
}

#[test]
fn a_token_without_the_scope_asks_no_storage() {
    let api = api();
    let id = api.create(&minimal("ann"))["id"].as_str().unwrap().to_owned();
    for (scopes, wanted) in [
        (vec!["catalog:read"], vec!["GET", "PATCH"]),
        (vec!["catalog:read", "connections:read"], vec!["PATCH", "DELETE"]),
        (vec!["connections:write"], vec!["GET"]),
    ] {
        let token = api.token(&json!({"identity": "ann", "scopes": scopes}));
        for method in wanted {
            let request = with_body(as_secret(&token, method, &at(&id)), "{}");
            assert_eq!(api.cost(&request), (403, "insufficient_scope".into(), 0));
            let scope = if method == "GET" { "read" } else { "write" };
            let detail = format!("This token lacks the scope `connections:{scope}`.");
            assert_eq!(body(&api.send(&request))["detail"], json!(detail));
        }
    }
    let token = api.token(&json!({"identity": "ann", "scopes": ["connections:read"]}));
    assert_eq!(
        api.cost(&as_secret(&token, "GET", CONNECTORS)),
        (403, "insufficient_scope".into(), 0)
    );
    // A scope that its key has lost is noticed in the batch.
    api.world
        .database
        .execute("UPDATE api_keys SET scopes = 'catalog:read sessions:create'", [])
        .unwrap();
    assert_eq!(
        api.cost(&as_secret(&token, "GET", CONNECTIONS)),
        (403, "insufficient_scope".into(), 1)
    );
}

#[test]
fn the_catalog_shows_a_tokens_platforms_only() {
    let api = api();
    let all = api.token(&json!({"identity": "ann"}));
    let wish = json!({"identity": "ann", "platforms": ["zeta", "alpha", "nothing"]});
    let some = api.token_of_gone(&["nothing"], &wish);
    let get = |token: &str, query: &str| api.get_as(token, &format!("{CONNECTORS}{query}"));
    let platforms = |response: &Response| {
        let total = body(response)["total"].as_u64().unwrap();
        (column(response, "platform"), total)
    };
    for (query, expected, total) in [
        ("", vec!["alpha", "zeta"], 2),
        ("?limit=1", vec!["alpha"], 2),
        ("?limit=1&page=2", vec!["zeta"], 2),
        ("?limit=1&page=3", vec![], 2),
        ("?platform=zeta", vec!["zeta"], 1),
        ("?platform=ZETA", vec!["zeta"], 1),
        ("?platform=epsilon", vec![], 0),
        ("?key=api::epsilon::v1", vec![], 0),
        ("?key=api::alpha::v1", vec!["alpha"], 1),
        ("?category=developer%20tools", vec!["alpha"], 1),
        ("?authkit=true", vec!["zeta"], 1),
        ("?name=alpha%20api", vec!["alpha"], 1),
        ("?q=what", vec!["alpha", "zeta"], 2),
        ("?q=alpha", vec!["alpha"], 1),
        ("?q=milia", vec![], 0),
    ] {
        for _ in 0..2 {
            assert_eq!(
                platforms(&get(&some, query)),
                (expected.iter().map(|name| (*name).to_owned()).collect(), total),
                "{query}"
            );
            // What is cached for one caller is not shown to another.
            assert_eq!(
                get(&all, query).body,
                api.get(&format!("{CONNECTORS}{query}")).body,
                "{query}"
            );
        }
    }
    assert_eq!(platforms(&get(&all, "")).1, 5);
    let actions = |token: &str, platform: &str| {
        api.get_as(token, &format!("/v1/available-actions/{platform}"))
    };
    assert_eq!(actions(&some, "ALPHA").body, api.get("/v1/available-actions/alpha").body);
    for (platform, expected) in
        [("alpha-two", Some(json!(["alpha"]))), ("epsilon", None), ("zta", Some(json!(["zeta"])))]
    {
        let response = actions(&some, platform);
        assert_eq!((response.status, code(&response).as_str()), (404, "platform_not_found"));
        assert_eq!(body(&response).get("suggestions").cloned(), expected, "{platform}");
    }
    let none =
        api.token_of_gone(&["nothing"], &json!({"identity": "ann", "platforms": ["nothing"]}));
    assert_eq!(platforms(&get(&none, "")), (vec![], 0));
    let response = actions(&none, "nothing");
    assert_eq!((response.status, body(&response).get("suggestions")), (404, None));
}

#[test]
fn the_catalog_asks_no_storage_about_a_token() {
    let mut api = api();
    let tokens = [json!({"identity": "ann"}), json!({"identity": "bob", "platforms": ["alpha"]})]
        .map(|wish| api.token(&wish));
    // An isolate that has seen neither the token nor its key.
    api.service = Service::new(config(&[("SESSION_SECRET", SECRET)]));
    let calls = api.world.db_calls.get();
    for path in [CONNECTORS, "/v1/available-actions/alpha", "/v1/nothing"] {
        for token in &tokens {
            let cold = api.get_as(token, path);
            assert!(cold.header("server-timing").unwrap().starts_with("d1;desc=\"calls=0 "));
            let warm = api.get_as(token, path);
            assert_eq!(warm.header("server-timing"), Some(FREE));
            assert_eq!(cold.body.len(), warm.body.len());
        }
    }
    assert_eq!(api.world.db_calls.get(), calls);
}

#[test]
fn entity_tags_of_the_catalog_differ_with_the_platforms() {
    let api = api();
    let wishes = [
        json!({"identity": "ann"}),
        json!({"identity": "ann", "platforms": ["alpha"]}),
        json!({"identity": "ann", "platforms": ["zeta"]}),
        json!({"identity": "ann", "platforms": ["alpha", "zeta"]}),
        json!({"identity": "ann", "platforms": ["alpha-two"]}),
    ];
    let tokens = wishes.map(|wish| api.token(&wish));
    for query in ["", "?platform=alpha", "?q=alpha", "?limit=1"] {
        let path = format!("{CONNECTORS}{query}");
        let tags = tokens
            .each_ref()
            .map(|token| api.get_as(token, &path).header("etag").unwrap().to_owned());
        assert_eq!(Some(tags[0].as_str()), api.get(&path).header("etag"));
        for (nth, token) in tokens.iter().enumerate() {
            for (other, tag) in tags.iter().enumerate() {
                let request = with_header(as_secret(token, "GET", &path), "if-none-match", tag);
                let expected = if nth == other { 304 } else { 200 };
                assert_eq!(api.send(&request).status, expected, "{query} {nth} {other}");
            }
            let renewed = api.token(
                &json!({"identity": "bob", "platforms": ["alpha", "zeta"], "ttlSeconds": 60}),
            );
            let request = with_header(as_secret(&renewed, "GET", &path), "if-none-match", &tags[3]);
            assert_eq!((nth, api.send(&request).status), (nth, 304));
        }
    }
}

/// Connections of two identities, each to three platforms and of two types.
fn vault(api: &Api) -> Vec<Value> {
    let mut rows = Vec::new();
    for identity in ["ann", "Ann", "bob"] {
        for (platform, kind, tags) in [
            ("alpha", "user", ["red", "x"]),
            ("zeta", "team", ["red", "y"]),
            ("epsilon", "user", ["blue", "x"]),
        ] {
            api.world.wait(1);
            rows.push(api.create(&json!({
                "platform": platform, "identity": identity, "identityType": kind, "tags": tags, "name": "Common",
            })));
        }
    }
    rows.reverse();
    rows
}

#[test]
fn lists_show_what_a_token_may_see() {
    let api = api();
    let rows = vault(&api);
    let tokens = [
        (json!({"identity": "ann"}), vec!["epsilon", "zeta", "alpha"]),
        (json!({"identity": "ann", "identityType": "user"}), vec!["epsilon", "alpha"]),
        (json!({"identity": "ann", "platforms": ["alpha", "zeta"]}), vec!["zeta", "alpha"]),
        (json!({"identity": "ann", "identityType": "team", "platforms": ["alpha"]}), vec![]),
        (json!({"identity": "nobody"}), vec![]),
    ];
    for (wish, seen) in &tokens {
        let token = api.token(wish);
        let own: Vec<&Value> = rows
            .iter()
            .filter(|row| {
                row["identity"] == wish["identity"]
                    && seen.iter().any(|name| row["platform"] == *name)
            })
            .collect();
        let holds = |row: &Value, query: &str| {
            query.split('&').filter(|pair| !pair.is_empty()).all(|pair| {
                let (name, value) = pair.split_once('=').unwrap();
                match name {
                    "tags" => row["tags"].as_array().unwrap().contains(&json!(value)),
                    "q" => {
                        row["name"].as_str().unwrap().to_lowercase().starts_with(value)
                            || row["identity"].as_str().unwrap().to_lowercase().starts_with(value)
                    }
                    "name" => row["name"] == "Common",
                    "key" => value.split(',').any(|key| row["key"] == key),
                    _ => row[name] == value,
                }
            })
        };
        let everybodys: Vec<String> =
            rows.iter().map(|row| row["key"].as_str().unwrap().to_owned()).collect();
        for query in [
            "",
            "identity=ann",
            "identity=Ann",
            "identity=bob",
            "platform=alpha",
            "platform=epsilon",
            "platform=gone",
            "identityType=user",
            "identityType=team",
            "identityType=project",
            "tags=red",
            "tags=blue",
            "q=an",
            "q=bob",
            "q=common",
            "name=common",
            "platform=zeta&identityType=team",
            "platformVersion=v1",
            "tags=red&platform=alpha",
            &format!("key={}", everybodys.join(",")),
            &format!("key={}", everybodys[0]),
            &format!("key={}&platform=alpha", everybodys.join(",")),
        ] {
            let expected: Vec<&Value> =
                own.iter().copied().filter(|row| holds(row, query)).collect();
            let request = as_secret(&token, "GET", &format!("{CONNECTIONS}?{query}"));
            assert_eq!(api.cost(&request), (200, String::new(), 1), "{query}");
            let response = api.send(&request);
            let document = body(&response);
            assert_eq!(
                (document["rows"].clone(), &document["total"]),
                (json!(expected), &json!(expected.len())),
                "{wish} {query}"
            );
            assert!(
                response
                    .header("server-timing")
                    .unwrap()
                    .starts_with("d1;desc=\"calls=1 rows_read=0 ")
            );
        }
        assert_eq!(api.get_as(&token, &format!("{CONNECTIONS}?identty=ann")).status, 400);
    }
}

#[test]
fn single_connections_of_others_are_like_unknown_ones() {
    let api = api();
    let rows = vault(&api);
    for wish in [
        json!({"identity": "ann"}),
        json!({"identity": "ann", "identityType": "user"}),
        json!({"identity": "ann", "platforms": ["zeta"]}),
    ] {
        let mut wish = wish.clone();
        wish["scopes"] = json!(["connections:read", "connections:write"]);
        let token = api.token(&wish);
        for row in &rows {
            let id = row["id"].as_str().unwrap();
            let sees = row["identity"] == wish["identity"]
                && (wish["identityType"].is_null() || row["identityType"] == wish["identityType"])
                && wish["platforms"].as_array().is_none_or(|all| all.contains(&row["platform"]));
            for (method, part, sent) in [
                ("GET", "", ""),
                ("HEAD", "", ""),
                ("PATCH", "", r#"{"tags":["red","x"]}"#),
                ("PATCH", "", "{}"),
                ("PATCH", "", r#"{"tags":["new"]}"#),
                ("PUT", "/state", r#"{"state":"failed","active":false,"reason":"gone"}"#),
                ("PUT", "/state", r#"{"state":"unknown"}"#),
                ("PUT", "/name", r#"{"name":"Ann"}"#),
                ("PUT", "/name", r#"{"name":null}"#),
                ("DELETE", "", ""),
            ] {
                for (name, value) in [
                    ("x-nothing", "*".to_owned()),
                    ("if-match", "*".to_owned()),
                    ("if-match", format!("\"{id}-1\"")),
                    ("if-none-match", "*".to_owned()),
                ] {
                    let ask = |id: &str| {
                        let path = at(id) + part;
                        with_header(with_body(as_secret(&token, method, &path), sent), name, &value)
                    };
                    if sees {
                        if method == "GET" && name == "x-nothing" {
                            assert_eq!(body(&api.send(&ask(id))), *row);
                        }
                        continue;
                    }
                    let before = api.world.dump();
                    assert_eq!(api.cost(&ask(id)).2, 1);
                    let (there, unknown) =
                        (comparable(&api.send(&ask(id))), comparable(&api.send(&ask(UNKNOWN_ID))));
                    assert_eq!((there.0, &there), (404, &unknown), "{method} {wish}");
                    assert_eq!(api.world.dump(), before);
                }
            }
        }
        let own = rows
            .iter()
            .find(|row| row["identity"] == "ann" && row["identityType"] == "team")
            .unwrap();
        let tagged = with_body(
            as_secret(&token, "PATCH", &at(own["id"].as_str().unwrap())),
            r#"{"tags":["red","y"]}"#,
        );
        assert_eq!(
            api.send(&tagged).status,
            if wish["identityType"] == "user" { 404 } else { 200 }
        );
    }
    let token = api.token(&json!({"identity": "bob", "scopes": ["connections:write"]}));
    let bobs = rows.iter().find(|row| row["identity"] == "bob").unwrap()["id"].as_str().unwrap();
    assert_eq!(api.send(&as_secret(&token, "DELETE", &at(bobs))).status, 204);
    assert_eq!(api.send(&as_secret(&token, "DELETE", &at(bobs))).status, 404);
}

#[test]
fn a_token_creates_for_its_identity_only() {
    let api = api();
    let token = api.token_of_gone(&["gone"], &json!({
        "identity": "ann", "identityType": "user", "platforms": ["alpha", "gone"], "scopes": ["connections:write"],
    }));
    let post = |document: &Value| {
        api.send(&with_body(as_secret(&token, "POST", CONNECTIONS), &document.to_string()))
    };
    let before = api.world.dump();
    for (change, what) in [
        (json!({"identity": "bob"}), "identity"),
        (json!({"identity": "Ann"}), "identity"),
        (json!({"identityType": "team"}), "identityType"),
        (json!({"platform": "zeta"}), "platform"),
        // Whether the catalog has the platform is not revealed either.
        (json!({"platform": "nothing"}), "platform"),
        (json!({"platform": "Not a platform"}), "platform"),
    ] {
        let mut document = minimal("ann");
        for (name, value) in change.as_object().unwrap() {
            document[name] = value.clone();
        }
        let response = post(&document);
        assert_eq!(
            (response.status, code(&response).as_str()),
            (403, "insufficient_scope"),
            "{change}"
        );
        let detail = format!("This token is restricted to another `{what}`: see `GET /v1/whoami`.");
        assert_eq!(body(&response)["detail"], json!(detail));
        assert_eq!(api.world.dump(), before);
    }
    // Only platforms that the token may see are suggested.
    let response = post(&json!({"platform": "gone", "identity": "ann", "identityType": "user"}));
    assert_eq!((response.status, faults(&response)), (400, vec!["/platform".to_owned()]));
    assert_eq!(faults(&post(&json!({"platform": "zeta", "identity": "bob"}))), ["/identityType"]);
    let response = post(&minimal("ann"));
    assert_eq!(response.status, 201);
    let created = body(&response);
    assert_eq!(api.get(&at(created["id"].as_str().unwrap())).status, 200);
    // The connection that has the key is named only if the token may see it.
    let response = post(&minimal("ann"));
    assert_eq!((response.status, &body(&response)["connectionId"]), (409, &created["id"]));
    let team = api.create(
        &json!({"platform": "alpha", "identity": "ann", "identityType": "team", "label": "other"}),
    );
    let mut document = minimal("ann");
    document["label"] = json!("other");
    let response = post(&document);
    let text = String::from_utf8(response.body.clone()).unwrap();
    assert_eq!((response.status, body(&response).get("connectionId")), (409, None));
    assert!(!text.contains(team["id"].as_str().unwrap()) && !text.contains("team"), "{text}");
    let whole = api.token(&json!({"identity": "ann", "scopes": ["connections:write"]}));
    let request = with_body(as_secret(&whole, "POST", CONNECTIONS), &document.to_string());
    assert_eq!(body(&api.send(&request))["connectionId"], team["id"]);
}

#[test]
fn a_summary_counts_what_a_token_may_see() {
    let api = api();
    vault(&api);
    api.create(&json!({"platform": "alpha", "identity": "ann", "identityType": "project", "label": "old", "active": false, "state": "failed"}));
    let summary = |wish: Value| {
        let token = api.token(&wish);
        assert_eq!(api.cost(&as_secret(&token, "GET", SUMMARY)), (200, String::new(), 1));
        body(&api.get_as(&token, SUMMARY))
    };
    assert_eq!(
        summary(json!({"identity": "ann"})),
        json!({
            "total": 4, "active": {"true": 3, "false": 1}, "state": {"operational": 0, "degraded": 0, "failed": 1, "unknown": 3},
            "identityType": {"user": 2, "team": 1, "organization": 0, "project": 1},
            "platforms": [{"platform": "alpha", "total": 2}, {"platform": "epsilon", "total": 1}, {"platform": "zeta", "total": 1}],
            "otherPlatforms": 0,
        })
    );
    let typed =
        summary(json!({"identity": "ann", "identityType": "user", "platforms": ["alpha", "zeta"]}));
    assert_eq!(
        (&typed["total"], &typed["platforms"]),
        (&json!(1), &json!([{"platform": "alpha", "total": 1}]))
    );
    assert_eq!(summary(json!({"identity": "nobody"})), body(&Api::with_catalog().get(SUMMARY)));
}

#[test]
fn a_walk_goes_on_with_the_next_token_and_with_no_other() {
    let mut api = api();
    for nth in 0..7 {
        api.world.wait(1);
        for identity in ["ann", "bob"] {
            let mut document = minimal(identity);
            document["label"] = json!(format!("c{nth}"));
            api.create(&document);
        }
    }
    let ann = json!({"identity": "ann", "ttlSeconds": 60});
    let mut token = api.token(&ann);
    let mut path = Some(format!("{CONNECTIONS}?limit=2"));
    let mut seen = Vec::new();
    let mut page = 0;
    while let Some(at) = path {
        page += 1;
        let response = api.get_as(&token, &at);
        assert_eq!(
            (response.status, &body(&response)["page"], &body(&response)["total"]),
            (200, &json!(page), &json!(7))
        );
        seen.extend(column(&response, "key"));
        path = next(&response);
        // Each page uses another token; halfway, the secret changes too.
        api.world.wait(60_000);
        assert_eq!(api.get_as(&token, WHOAMI).status, 401);
        if page == 2 {
            api.service = Service::new(config(&[
                ("SESSION_SECRET", OTHER),
                ("SESSION_SECRET_PREVIOUS", SECRET),
            ]));
        }
        token = api.token(&ann);
    }
    let expected: Vec<String> =
        (0..7).rev().map(|nth| format!("test::alpha::c{nth}::ann")).collect();
    assert_eq!((seen, page), (expected, 4));

    let after = cursor(&api.get_as(&token, &format!("{CONNECTIONS}?limit=2"))).unwrap();
    let keys = cursor(&api.get(&format!("{CONNECTIONS}?limit=2&identity=ann"))).unwrap();
    let asked_of = |api: &Api, secret: &str, query: &str| {
        api.get_as(secret, &format!("{CONNECTIONS}?{query}")).status
    };
    let asked = |secret: &str, query: &str| asked_of(&api, secret, query);
    let tokens = [
        json!({"identity": "bob"}),
        json!({"identity": "ann", "identityType": "user"}),
        json!({"identity": "ann", "platforms": ["alpha"]}),
    ];
    for wish in &tokens {
        let other = api.token(wish);
        assert_eq!(asked(&other, "limit=2"), 200);
        assert_eq!(asked(&other, &format!("limit=2&after={after}")), 400, "{wish}");
        assert_eq!(asked(&other, &format!("limit=2&after={after}&identity=ann")), 400, "{wish}");
    }
    // Filters that state what the token implies give the same list.
    assert_eq!(asked(&token, &format!("limit=2&identity=ann&after={after}")), 200);
    assert_eq!(asked(&token, &format!("limit=2&identity=bob&after={after}")), 400);
    assert_eq!(asked(&token, &format!("limit=3&after={after}")), 400);
    for query in [format!("limit=2&after={keys}"), format!("limit=2&identity=ann&after={keys}")] {
        assert_eq!(asked(&token, &query), 400);
    }
    let key = api.key.reveal().to_owned();
    assert_eq!(asked(&key, &format!("limit=2&identity=ann&after={keys}")), 200);
    assert_eq!(asked(&key, &format!("limit=2&identity=ann&after={after}")), 400);
    // Cursors are not shared with a token of another key of the same account.
    api.key = api.world.key("acme", Environment::Test, &Scope::ALL, None);
    let other = api.token(&ann);
    assert_eq!(asked_of(&api, &other, "limit=2"), 200);
    assert_eq!(asked_of(&api, &other, &format!("limit=2&after={after}")), 400);
}

#[test]
fn a_token_is_counted_by_its_key_and_its_identity() {
    let mut api = api();
    let counted = |api: &Api, secret: &str, path: &str| {
        api.world.counted_by.take();
        api.get_as(secret, path);
        api.world.counted_by.take().unwrap()
    };
    let [ann, again, typed, bob] = [
        json!({"identity": "ann"}),
        json!({"identity": "ann", "ttlSeconds": 60}),
        json!({"identity": "ann", "platforms": ["zeta"], "identityType": "user"}),
        json!({"identity": "bob"}),
    ]
    .map(|wish| api.token(&wish));
    let of = counted(&api, &ann, CONNECTORS);
    for path in [CONNECTORS, CONNECTIONS, WHOAMI] {
        for token in [&again, &typed] {
            assert_eq!(counted(&api, token, path), of);
        }
        assert_ne!(counted(&api, &bob, path), of);
        assert_eq!(counted(&api, api.key.reveal(), path), api.key.hash().to_string());
    }
    api.key = api.world.key("acme", Environment::Test, &Scope::ALL, None);
    let other = api.token(&json!({"identity": "ann"}));
    assert_ne!(counted(&api, &other, CONNECTORS), of);
    api.world.limited.set(true);
    for path in [CONNECTORS, CONNECTIONS, WHOAMI] {
        assert_eq!(api.get_as(&ann, path).status, 429);
    }
}

#[test]
fn tokens_and_secrets_show_up_nowhere() {
    let api = api();
    let token = api.token(&json!({"identity": "ann", "origins": ["https://a.example"]}));
    for path in [CONNECTORS, WHOAMI, CONNECTIONS, "/v1/nope"] {
        for origin in ["https://a.example", "https://b.example"] {
            for fails in [false, true] {
                api.world.db_fails.set(fails);
                let request = with_header(as_secret(&token, "GET", path), "origin", origin);
                let shown = format!("{request:?} {:?} {:?}", api.send(&request), api.service);
                assert!(!shown.contains(token.trim_start_matches("st_test_")), "{path}");
                assert!(!shown.contains(SECRET), "{path}");
            }
        }
    }
    assert!(format!("{:?}", config(&[("SESSION_SECRET", SECRET)])).contains("SessionSecrets(…)"));
}
