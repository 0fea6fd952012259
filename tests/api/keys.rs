//! Authentication with API keys.

use connector_vault::terms::{Environment, Scope};
use serde_json::json;

use crate::support::{Api, anonymous, body, config, with_header};

const CONNECTORS: &str = "/v1/available-connectors";
const WHOAMI: &str = "/v1/whoami";

fn outcome(api: &Api, secrets: &[(&str, &str)], path: &str) -> (u16, String) {
    let request = secrets
        .iter()
        .fold(anonymous("GET", path), |request, (name, value)| with_header(request, name, value));
    let response = api.send(&request);
    let code = body(&response)["code"].as_str().unwrap_or_default().to_owned();
    assert_eq!(response.header("www-authenticate"), (response.status == 401).then_some("ApiKey"));
    (response.status, code)
}

#[test]
fn malformed_keys_never_reach_storage() {
    let api = Api::with_catalog();
    let valid_secret = api.key.reveal().to_owned();
    let (head, last) = valid_secret.split_at(valid_secret.len() - 1);
    let wrong_checksum = format!("{head}{}", if last == "0" { "1" } else { "0" });
    let (live, spaced, doubled) = (
        valid_secret.replace("sk_test_", "sk_live_"),
        format!("{valid_secret} "),
        format!("{valid_secret}, {valid_secret}"),
    );
    for secret in [
        wrong_checksum.as_str(),
        &live,
        &spaced,
        &doubled,
        head,
        "x",
        "sk_test_",
        "sk_test_é",
        &valid_secret.to_uppercase(),
        "null",
    ] {
        assert_eq!(
            outcome(&api, &[("x-service-secret", secret)], CONNECTORS),
            (401, "invalid_key".into()),
            "{secret}"
        );
    }
    assert_eq!(outcome(&api, &[], CONNECTORS), (401, "missing_key".into()));
    assert_eq!(outcome(&api, &[("x-service-secret", "")], CONNECTORS), (401, "missing_key".into()));
    assert_eq!(
        outcome(&api, &[("authorization", &valid_secret)], CONNECTORS),
        (401, "missing_key".into())
    );
    assert_eq!(api.env.db_calls.get(), 0);
}

#[test]
fn unknown_revoked_and_expired_keys_get_the_same_response() {
    let api = Api::with_catalog();
    let unknown = api.env.unknown_key(Environment::Live);
    let revoked = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    api.env.revoke(&revoked);
    let expired = api.env.key("acme", Environment::Test, &Scope::ALL, Some(api.env.now.get()));
    let mut responses = [unknown, revoked, expired].map(|key| {
        let response =
            api.send(&with_header(anonymous("GET", WHOAMI), "x-service-secret", key.reveal()));
        let mut document = body(&response);
        document["requestId"] = json!(null);
        (response.status, document)
    });
    assert_eq!((responses[0].0, &responses[0].1["code"]), (401, &json!("invalid_key")));
    responses.sort_by_key(|(_, document)| document.to_string());
    assert_eq!(responses[0], responses[2]);
}

#[test]
fn revocation_and_expiry_take_effect_within_a_minute() {
    let api = Api::with_catalog();
    let key = api.env.key("acme", Environment::Live, &Scope::ALL, Some(api.env.now.get() + 50_000));
    let send_request = |path| outcome(&api, &[("x-service-secret", key.reveal())], path).0;
    assert_eq!((send_request(CONNECTORS), send_request(WHOAMI)), (200, 200));
    // Detecting the expiry needs no query.
    api.env.wait(49_999);
    assert_eq!((send_request(CONNECTORS), send_request(WHOAMI)), (200, 200));
    api.env.wait(1);
    assert_eq!((send_request(CONNECTORS), send_request(WHOAMI)), (401, 401));

    let key = &api.key;
    let send_request = |path| outcome(&api, &[("x-service-secret", key.reveal())], path).0;
    assert_eq!(send_request(CONNECTORS), 200);
    api.env.revoke(key);
    api.env.wait(59_999);
    assert_eq!(send_request(CONNECTORS), 401, "within 60 s on catalog reads");

    let key = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let send_request = |path| outcome(&api, &[("x-service-secret", key.reveal())], path).0;
    assert_eq!(send_request(CONNECTORS), 200);
    api.env.revoke(&key);
    assert_eq!(send_request(CONNECTORS), 200, "trusted for a short while");
    assert_eq!(send_request(WHOAMI), 401, "at once elsewhere");
    assert_eq!(send_request(CONNECTORS), 401, "and from then on everywhere in this isolate");
}

#[test]
fn warm_catalog_reads_need_no_storage() {
    let api = Api::with_catalog();
    for _ in 0..10 {
        assert_eq!(api.get(CONNECTORS).status, 200);
    }
    assert_eq!((api.env.db_calls.get(), api.env.blob_reads.borrow().len()), (1, 2));
}

#[test]
fn accepts_exactly_one_key_in_one_header() {
    let mut api = Api::new(config(&[("SECRET_HEADERS", "X-Pica-Secret,x-key")]));
    api.env.publish(crate::support::small_catalog());
    let second = api.env.key("beta", Environment::Test, &Scope::ALL, None);
    api.key = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let (a, b) = (api.key.reveal().to_owned(), second.reveal().to_owned());
    for (secrets, expected) in [
        (vec![("x-service-secret", &a)], (200, "")),
        (vec![("x-pica-secret", &a)], (200, "")),
        (vec![("x-key", &b)], (200, "")),
        (vec![("x-service-secret", &a), ("x-pica-secret", &a)], (401, "invalid_key")),
        (vec![("x-service-secret", &a), ("x-key", &b)], (401, "invalid_key")),
        (vec![("x-other", &a)], (401, "missing_key")),
    ] {
        let secrets: Vec<_> = secrets.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(
            outcome(&api, &secrets, CONNECTORS),
            (expected.0, expected.1.into()),
            "{secrets:?}"
        );
    }
}

#[test]
fn each_endpoint_requires_its_scope() {
    let api = Api::with_catalog();
    for (scopes, status) in [
        (vec![Scope::CatalogRead], 200),
        (Scope::ALL.to_vec(), 200),
        (vec![Scope::ConnectionsRead, Scope::ConnectionsWrite], 403),
        (vec![], 403),
    ] {
        let key = api.env.key("acme", Environment::Test, &scopes, None);
        for path in [CONNECTORS, "/v1/available-actions/alpha"] {
            let response =
                api.send(&with_header(anonymous("GET", path), "x-service-secret", key.reveal()));
            assert_eq!(response.status, status, "{scopes:?}");
            if status == 403 {
                assert_eq!(body(&response)["code"], "insufficient_scope");
                assert_eq!(
                    body(&response)["detail"],
                    "This API key lacks the scope `catalog:read`."
                );
            }
        }
        let names: Vec<_> = scopes.iter().map(|scope| scope.as_str()).collect();
        let response =
            api.send(&with_header(anonymous("GET", WHOAMI), "x-service-secret", key.reveal()));
        let expected =
            json!({"account": "acme", "environment": "test", "scopes": names, "expiresAt": null});
        assert_eq!((response.status, body(&response)), (200, expected));
    }
}

#[test]
fn whoami_shows_everything_but_the_key() {
    let api = Api::with_catalog();
    let key = api.env.key(
        "Größe.Inc",
        Environment::Live,
        &[Scope::ConnectionsWrite, Scope::CatalogRead],
        Some(1_893_456_000_123),
    );
    let response =
        api.send(&with_header(anonymous("GET", WHOAMI), "x-service-secret", key.reveal()));
    let text = String::from_utf8(response.body).unwrap();
    assert_eq!(
        text,
        r#"{"account":"Größe.Inc","environment":"live","scopes":["catalog:read","connections:write"],"expiresAt":"2030-01-01T00:00:00.123Z"}"#
    );
    let response = api.get("/v1/whoami?verbose=true");
    assert_eq!((response.status, &body(&response)["code"]), (400, &json!("unknown_parameter")));
}

#[test]
fn keys_are_never_shown() {
    let api = Api::with_catalog();
    for path in [CONNECTORS, WHOAMI, "/v1/nope", "/v1/available-connectors?x=1"] {
        for fails in [false, true] {
            api.env.db_fails.set(fails);
            let shown =
                format!("{:?} {:?} {:?}", api.request("GET", path), api.get(path), api.service);
            assert!(!shown.contains(api.key.reveal().trim_start_matches("sk_test_")), "{path}");
        }
    }
}
