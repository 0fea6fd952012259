//! Which tokens are valid: signatures, expiry, keys and origins.

use base64ct::{Base64UrlUnpadded, Encoding as _};
use connector_vault::http::{Response, Service};
use connector_vault::terms::{Environment, Scope};
use serde_json::json;

use super::{CONNECTORS, FREE, OTHER, SECRET, SESSIONS, WHOAMI, api};
use crate::support::{
    Api, ORIGIN, anonymous, as_secret, config, small_catalog, with_body, with_header,
};
use crate::vault::{CONNECTIONS, SUMMARY, at, code, comparable, minimal};

#[test]
fn session_secrets_can_be_rotated() {
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
    // Pasted secrets often have white space around them.
    api.service = service(&format!("  {OTHER}\n"), "");
    assert_eq!((status(&api, &old), status(&api, &new)), (401, 200));
    api.service = service(SECRET, OTHER);
    assert_eq!((status(&api, &old), status(&api, &new)), (200, 200));
    api.service = service(SECRET, "");
    assert_eq!((status(&api, &old), status(&api, &new)), (200, 401));
}

#[test]
fn refuses_every_flipped_bit() {
    let api = api();
    let input = json!({
        "identity": "ann", "identityType": "user", "platforms": ["alpha"], "scopes": Scope::TOKEN_SCOPES.map(Scope::as_str),
    });
    let token = api.token(&input);
    assert_eq!(api.get_as(&token, WHOAMI).status, 200);
    let calls = api.env.db_calls.get();
    let mut refused = 0;
    let mut refuse = |secret: &[u8]| {
        // Headers are strings, so invalid UTF-8 can't be sent.
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
        // Several last characters decode to the same signature bytes, so try each one.
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
    assert_eq!(api.env.db_calls.get(), calls);
    assert_eq!(api.get_as(&token, WHOAMI).status, 200);
}

#[test]
fn refuses_malformed_claims() {
    // Tokens with a valid signature and wrong claims.
    let api = api();
    let good = json!({"v": 1, "k": "key-1", "s": 7, "e": api.env.now.get() + 1, "i": "ann"});
    let sign = |claims: &str| {
        let text = format!("st_test_{}", Base64UrlUnpadded::encode_string(claims.as_bytes()));
        let signature = connector_vault::auth::mac::mac(SECRET.as_bytes(), &[text.as_bytes()]);
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
    // No value of the scope claim gives a token the scope to create tokens.
    let mut claims = good.clone();
    claims["s"] = json!(255);
    claims["k"] = json!(api.env.texts("SELECT id FROM api_keys")[0]);
    let request =
        with_body(as_secret(&sign(&claims.to_string()), "POST", SESSIONS), r#"{"identity":"ann"}"#);
    let response = api.send(&request);
    assert_eq!((response.status, code(&response).as_str()), (403, "insufficient_scope"));
}

#[test]
fn tokens_are_valid_until_they_expire() {
    let api = api();
    let token = api.token(&json!({"identity": "ann", "ttlSeconds": 60}));
    let statuses = || [CONNECTORS, WHOAMI, CONNECTIONS].map(|path| api.get_as(&token, path).status);
    assert_eq!(statuses(), [200; 3]);
    api.env.wait(59_999);
    assert_eq!(statuses(), [200; 3]);
    let calls = api.env.db_calls.get();
    for _ in 0..3 {
        api.env.wait(1);
        assert_eq!(statuses(), [401; 3]);
    }
    assert_eq!(api.env.db_calls.get(), calls, "a rejection does not query storage");
}

#[test]
fn tokens_end_with_their_key() {
    for spoil in [
        "UPDATE api_keys SET revoked_at = 2",
        "UPDATE api_keys SET expires_at = 1800000000000",
        "UPDATE api_keys SET environment = 'live'",
        "DELETE FROM api_keys",
    ] {
        let api = api();
        let token = api
            .token(&json!({"identity": "ann", "scopes": Scope::TOKEN_SCOPES.map(Scope::as_str)}));
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
        api.env.database.execute(spoil, []).unwrap();
        let before = api.env.dump();
        let responses: Vec<_> = requests().iter().map(|request| api.cost(request)).collect();
        assert_eq!(responses, vec![(401, "invalid_key".to_owned(), 1); 7], "{spoil}");
        // The refused token is reported before errors of the request.
        assert_eq!(api.get_as(&token, &format!("{CONNECTIONS}?limit=0")).status, 401, "{spoil}");
        assert_eq!(api.env.dump(), before);
        // The catalog is the same for all keys, so it accepts a token until it expires.
        assert_eq!(api.cost(&as_secret(&token, "GET", CONNECTORS)), (200, String::new(), 0));
    }
}

#[test]
fn all_refused_tokens_get_the_same_response() {
    let api = api();
    let input = json!({"identity": "ann", "origins": ["https://a.example"], "ttlSeconds": 60});
    let token = api.token(&input);
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
    api.env.revoke(&api.key);
    let revoked = plain(api.send(&good()));
    api.env.wait(60_000);
    let expired = plain(api.send(&good()));
    assert!([altered, revoked, expired].iter().all(|reply| *reply == elsewhere));
    assert!(elsewhere.1.contains("\"detail\":\"The token is invalid: "), "{}", elsewhere.1);
}

#[test]
fn accepts_exactly_one_secret_in_one_header() {
    let mut api = Api::new(config(&[("SECRET_HEADERS", "x-key"), ("SESSION_SECRET", SECRET)]));
    api.env.publish(small_catalog());
    let (a, b) = (api.token(&json!({"identity": "ann"})), api.token(&json!({"identity": "bob"})));
    let key = api.key.reveal().to_owned();
    api.key = api.env.key("beta", Environment::Test, &Scope::ALL, None);
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
fn tokens_are_valid_only_for_their_origins() {
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
        // The connect window is a page of the service.
        (Some(ORIGIN), Some("same-origin"), [200, 200, 200]),
        (None, Some("same-origin"), [200, 200, 200]),
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
    // CORS does not depend on the token's origins: `ALLOWED_ORIGINS` applies, and a preflight carries no secret.
    let response =
        api.send(&with_header(as_secret(&token, "GET", WHOAMI), "origin", "https://a.example"));
    assert_eq!(response.header("access-control-allow-origin"), None);
    assert_eq!(
        api.send(&with_header(anonymous("OPTIONS", WHOAMI), "origin", "https://b.example")).status,
        204
    );
}
