//! What tokens may do, and the rate limit of their requests.

use connector_vault::terms::{Environment, Scope};
use serde_json::json;

use super::{CONNECTORS, SECRET, SESSIONS, WHOAMI, api};
use crate::support::{Api, as_secret, body, config, with_body, with_header};
use crate::vault::{CONNECTIONS, at, code, minimal};

#[test]
fn whoami_shows_the_token_restriction() {
    let api = api();
    let token = api.token(&json!({
        "identity": "ann", "identityType": "user", "platforms": ["zeta", "alpha"], "ttlSeconds": 60,
        "scopes": ["connections:write", "connections:read"],
    }));
    let response = api.get_as(&token, WHOAMI);
    assert_eq!(
        String::from_utf8(response.body).unwrap(),
        r#"{"account":"acme","environment":"test","scopes":["connections:read","connections:write"],"expiresAt":"2027-01-15T08:01:00.000Z","identity":"ann","identityType":"user","platforms":["zeta","alpha"],"access":"write","actions":null,"connections":null,"confirm":null,"client":null,"origins":null,"fields":null,"fixedFields":null,"lang":null}"#
    );
    assert_eq!(response.headers[1].1, "private, no-store");
    assert_eq!(api.cost(&as_secret(&token, "GET", WHOAMI)), (200, String::new(), 1));
    assert_eq!(api.get_as(&token, "/v1/whoami?x=1").status, 400);
    // A token loses a scope when its key does.
    api.env.database.execute("UPDATE api_keys SET scopes = 'connections:read'", []).unwrap();
    assert_eq!(body(&api.get_as(&token, WHOAMI))["scopes"], json!(["connections:read"]));
}

#[test]
fn tokens_cannot_create_tokens_and_paths_stay_hidden() {
    let api = api();
    let token =
        api.token(&json!({"identity": "ann", "scopes": Scope::TOKEN_SCOPES.map(Scope::as_str)}));
    let response =
        api.send(&with_body(as_secret(&token, "POST", SESSIONS), r#"{"identity":"bob"}"#));
    assert_eq!((response.status, code(&response).as_str()), (403, "insufficient_scope"));
    assert_eq!(body(&response)["detail"], "This token lacks the scope `sessions:create`.");
    assert_eq!(api.get_as(&token, "/v1/nothing").status, 404);
    assert_eq!(api.send(&as_secret(&token, "PUT", CONNECTORS)).status, 405);
    assert_eq!(api.send(&as_secret(&token, "PUT", CONNECTIONS)).status, 405);
}

#[test]
fn a_missing_token_scope_needs_no_storage() {
    let api = api();
    let id = api.create(&minimal("ann"))["id"].as_str().unwrap().to_owned();
    for (scopes, expected) in [
        (vec!["catalog:read"], vec!["GET", "PATCH"]),
        (vec!["catalog:read", "connections:read"], vec!["PATCH", "DELETE"]),
        (vec!["connections:write"], vec!["GET"]),
    ] {
        let token = api.token(&json!({"identity": "ann", "scopes": scopes}));
        for method in expected {
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
    // The batch of the request detects that the key has lost a scope.
    api.env
        .database
        .execute("UPDATE api_keys SET scopes = 'catalog:read sessions:create'", [])
        .unwrap();
    assert_eq!(
        api.cost(&as_secret(&token, "GET", CONNECTIONS)),
        (403, "insufficient_scope".into(), 1)
    );
}

#[test]
fn token_rate_limits_are_per_key_and_identity() {
    let mut api = api();
    let counted = |api: &Api, secret: &str, path: &str| {
        api.env.counted_by.take();
        api.get_as(secret, path);
        api.env.counted_by.take().unwrap()
    };
    let [ann, again, typed, bob] = [
        json!({"identity": "ann"}),
        json!({"identity": "ann", "ttlSeconds": 60}),
        json!({"identity": "ann", "platforms": ["zeta"], "identityType": "user"}),
        json!({"identity": "bob"}),
    ]
    .map(|input| api.token(&input));
    let counted_name = counted(&api, &ann, CONNECTORS);
    for path in [CONNECTORS, CONNECTIONS, WHOAMI] {
        for token in [&again, &typed] {
            assert_eq!(counted(&api, token, path), counted_name);
        }
        assert_ne!(counted(&api, &bob, path), counted_name);
        assert_eq!(counted(&api, api.key.reveal(), path), api.key.hash().to_string());
    }
    api.key = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let other = api.token(&json!({"identity": "ann"}));
    assert_ne!(counted(&api, &other, CONNECTORS), counted_name);
    api.env.limited.set(true);
    for path in [CONNECTORS, CONNECTIONS, WHOAMI] {
        assert_eq!(api.get_as(&ann, path).status, 429);
    }
}

#[test]
fn tokens_and_secrets_are_never_shown() {
    let api = api();
    let token = api.token(&json!({"identity": "ann", "origins": ["https://a.example"]}));
    for path in [CONNECTORS, WHOAMI, CONNECTIONS, "/v1/nope"] {
        for origin in ["https://a.example", "https://b.example"] {
            for fails in [false, true] {
                api.env.db_fails.set(fails);
                let request = with_header(as_secret(&token, "GET", path), "origin", origin);
                let shown = format!("{request:?} {:?} {:?}", api.send(&request), api.service);
                assert!(!shown.contains(token.trim_start_matches("st_test_")), "{path}");
                assert!(!shown.contains(SECRET), "{path}");
            }
        }
    }
    assert!(format!("{:?}", config(&[("SESSION_SECRET", SECRET)])).contains("SessionSecrets(…)"));
}
