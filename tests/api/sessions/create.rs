//! Creating tokens: `POST /v1/sessions`.

use connector_vault::auth::Shard;
use connector_vault::auth::token::MAX_TOKEN;
use connector_vault::http::Request;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use super::{CONNECTORS, OTHER, SESSIONS, WHOAMI, api, token_request};
use crate::support::{Api, HOME, anonymous, as_key, as_secret, body, with_body, with_header};
use crate::vault::{code, faults};

#[test]
fn a_key_creates_a_token() {
    let api = api();
    let response = api.send(&token_request(&api.key, &json!({"identity": "ann"})));
    assert_eq!(response.status, 201);
    assert_eq!(response.header("cache-control"), Some("private, no-store"));
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(api.env.db_calls.get(), 1);
    let mut document = body(&response);
    let token = document["token"].take();
    let token = token.as_str().unwrap();
    assert!(token.starts_with("st_test_") && token.len() < 300, "{token}");
    let expected = json!({
        "token": null, "expiresAt": "2027-01-15T08:15:00.000Z", "environment": "test", "identity": "ann", "identityType": null,
        "scopes": ["catalog:read", "connections:read"], "platforms": null, "access": "write", "actions": null,
        "connections": null, "confirm": null, "client": null, "origins": null, "fields": null, "fixedFields": null, "lang": null,
    });
    assert_eq!(document, expected);
    let text = String::from_utf8(response.body).unwrap();
    let members = ["token", "expiresAt", "environment", "identity", "identityType", "scopes"];
    let places: Vec<_> = members.iter().map(|name| text.find(&format!("\"{name}\":"))).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{text}");

    let live = api.env.key("acme", Environment::Live, &Scope::ALL, None);
    let input = json!({
        "identity": "Größe ::\"x\"", "identityType": "team", "scopes": ["connections:write", "connections:read"],
        "platforms": ["ZETA", "alpha-two", "Zeta"], "origins": ["https://a.example", "http://localhost:5173"], "ttlSeconds": 60.0,
    });
    let response = api.send(&token_request(&live, &input));
    let mut document = body(&response);
    assert!(document["token"].take().as_str().unwrap().starts_with("st_live_"));
    let expected = json!({
        "token": null, "expiresAt": "2027-01-15T08:01:00.000Z", "environment": "live", "identity": "Größe ::\"x\"", "identityType": "team",
        "scopes": ["connections:read", "connections:write"], "platforms": ["zeta", "alpha-two"], "access": "write", "actions": null, "connections": null, "confirm": null, "client": null,
        "origins": ["https://a.example", "http://localhost:5173"], "fields": null, "fixedFields": null, "lang": null,
    });
    assert_eq!((response.status, document), (201, expected));
}

#[test]
fn a_token_expires_no_later_than_its_key() {
    let api = api();
    for (left, ends) in [(59_999, 59_999), (900_000, 900_000), (900_001, 900_000)] {
        let end = Some(api.env.now.get() + left);
        let key = api.env.key("acme", Environment::Test, &Scope::ALL, end);
        let created = body(&api.send(&token_request(&key, &json!({"identity": "ann"}))));
        let expected = connector_vault::util::rfc3339::rfc3339(api.env.now.get() + ends).unwrap();
        assert_eq!(created["expiresAt"], json!(expected), "{left}");
    }
}

#[test]
fn reports_errors_of_the_body() {
    let api = api();
    let long = format!("https://{}", "a".repeat(246));
    let names: Vec<String> = (0..21).map(|index| format!("p{index}")).collect();
    let mut many: Vec<String> = (0..20).map(|index| format!("/platforms/{index}")).collect();
    many.push("/platforms".into());
    many.sort();
    for (input, expected) in [
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
        let response = api.send(&token_request(&api.key, &input));
        assert_eq!((response.status, code(&response).as_str()), (400, "invalid_body"), "{input}");
        assert_eq!(faults(&response), expected, "{input} {}", body(&response));
    }
    let request = token_request(&api.key, &json!({"identity": "ann"}));
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
    api.env.limited.set(true);
    assert_eq!(api.send(&with_body(as_key(&api.key, "POST", SESSIONS), "[]")).status, 429);
}

#[test]
fn rejects_unsupported_methods() {
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
    let platforms: Vec<String> = (0..20).map(|index| format!("{index:064}")).collect();
    api.publish_with(&platforms);
    let origins = |count: usize, length: usize| -> Vec<String> {
        (0..count).map(|index| format!("https://{index:0>0$}", length - 8)).collect()
    };
    let mut input = json!({
        "identity": "\u{10ffff}".repeat(256), "identityType": "organization", "platforms": platforms, "ttlSeconds": 3600,
        "scopes": Scope::TOKEN_SCOPES.map(Scope::as_str),
    });
    assert!(api.token(&input).len() < MAX_TOKEN);
    input["identity"] = json!("\"\\".repeat(128));
    input["origins"] = json!(origins(10, 60));
    let token = api.token(&input);
    assert!(token.len() < MAX_TOKEN, "{}", token.len());
    let sent = with_header(as_secret(&token, "GET", WHOAMI), "origin", &origins(10, 60)[9]);
    assert_eq!(body(&api.send(&sent))["platforms"], json!(platforms));
    // The token allows one action of each platform, so that it stays restricted to all of these
    // platforms.
    let actions = platforms.iter().map(|platform| format!("{platform}/{}", "a".repeat(80)));
    input["actions"] = json!(actions.collect::<Vec<_>>());
    input["origins"] = json!(origins(10, 253));
    let response = api.send(&token_request(&api.key, &input));
    assert_eq!((response.status, faults(&response)), (400, vec!["/actions".to_owned()]));
    let (mut longest, mut fits) = (0, 0);
    for length in 60..253 {
        input["origins"] = json!(origins(10, length));
        let response = api.send(&token_request(&api.key, &input));
        if response.status == 201 {
            (longest, fits) = (body(&response)["token"].as_str().unwrap().len(), length);
        }
    }
    assert!((MAX_TOKEN - 20..=MAX_TOKEN).contains(&longest), "{longest}");
    // Tokens of exactly the maximum length can be created and used. With shard digits in front,
    // base64 can't have that length, so the limit is one character shorter.
    let greatest = MAX_TOKEN - usize::from(*HOME != Shard::FIRST);
    let origins = origins(10, fits + 1);
    input["origins"] = json!(origins);
    let exact = (200..=512).find_map(|bytes| {
        // In JSON, a quote takes two bytes.
        input["identity"] = json!("\"".repeat(bytes / 2) + &"a".repeat(bytes % 2));
        let response = api.send(&token_request(&api.key, &input));
        let session = body(&response);
        let text = |name: &str| session[name].as_str().map(str::to_owned);
        let token = text("token").filter(|token| token.len() == greatest)?;
        Some((token, text("connectUrl")?))
    });
    let (token, connect_url) = exact.unwrap();
    let code = connect_url.split_once("#code=").unwrap().1;
    assert_eq!(api.send(&crate::connect::exchange(code)).status, 200, "its code is longer");
    let sent = as_secret(&token, "GET", WHOAMI);
    let sent = with_header(sent, "origin", &origins[9]);
    assert_eq!(api.send(&sent).status, 200);
}

#[test]
fn scopes_are_a_subset_of_the_keys_scopes() {
    let api = api();
    let send_request = |scopes: &[Scope], input: &Value| {
        let key = api.env.key("acme", Environment::Test, scopes, None);
        api.send(&token_request(&key, input))
    };
    let (read, write, catalog, create) = (
        Scope::ConnectionsRead,
        Scope::ConnectionsWrite,
        Scope::CatalogRead,
        Scope::SessionsCreate,
    );
    for (scopes, expected, given) in [
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
        let mut input = json!({"identity": "ann"});
        if let Some(expected) = expected {
            input["scopes"] = json!(expected);
        }
        let response = send_request(&scopes, &input);
        assert_eq!((response.status, &body(&response)["scopes"]), (201, &json!(given)));
    }
    for (scopes, expected, lacking) in [
        (vec![create, read], vec!["connections:read", "connections:write"], "connections:write"),
        (vec![create], vec!["connections:write", "catalog:read"], "catalog:read"),
        (vec![read, write, catalog], vec!["catalog:read"], "sessions:create"),
    ] {
        let response = send_request(&scopes, &json!({"identity": "ann", "scopes": expected}));
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
        let response = api.send(&token_request(&api.key, &json!({"identity": "ann"})));
        assert_eq!((response.status, code(&response).as_str()), (503, "unavailable"));
        let document = body(&response);
        assert!(document["detail"].as_str().unwrap().contains("`SESSION_SECRET`"), "{document}");
        assert!(response.log.unwrap().contains("SESSION_SECRET"));
        assert_eq!(api.cost(&as_secret(&token, "GET", CONNECTORS)), (401, "invalid_key".into(), 0));
        // Callers without the scope get a 403 even while storage fails.
        let lacking = api.env.key("acme", Environment::Test, &[], None);
        assert_eq!(api.send(&token_request(&lacking, &json!({}))).status, 403);
    }
}
