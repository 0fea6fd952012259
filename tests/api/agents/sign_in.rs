//! The configuration of agents' sign-in: `PUT`, `GET` and `DELETE /v1/agent-sign-in`.

use serde_json::{Value, json};

use super::provider::{ISSUER, oidc, serve};
use super::{app, settings};
use crate::connect::{self, api_with, send};
use crate::support::{Api, ORIGIN, body};

const PATH: &str = "/v1/agent-sign-in";

fn put(api: &Api, payload: &Value) -> (u16, Value) {
    let response = send(api, "PUT", PATH, payload);
    (response.status, body(&response))
}

#[test]
fn a_sign_in_keeps_its_endpoint_when_replaced() {
    let (api, id) = app();
    let shown = body(&api.get(PATH));
    assert_eq!(
        shown,
        json!({
            "endpoint": format!("{ORIGIN}/mcp/{id}"), "type": "app", "issuer": null, "clientId": null, "hasSecret": false,
            "identityClaim": null, "identityType": null, "confirm": null, "url": "https://app.example/agents",
            "redirectUri": format!("{ORIGIN}/mcp/{id}/callback"),
            "keyId": shown["keyId"], "keyState": "active",
            "createdAt": shown["createdAt"], "updatedAt": shown["updatedAt"],
        })
    );
    serve(&api);
    let payload = json!({"type": "oidc", "issuer": ISSUER, "clientId": "vault", "clientSecret": "s3cret", "identityClaim": "email", "identityType": "user"});
    let (status, oidc) = put(&api, &payload);
    assert_eq!((status, &oidc["endpoint"]), (200, &shown["endpoint"]), "{oidc}");
    assert_eq!(oidc["redirectUri"], format!("{ORIGIN}/mcp/{id}/callback"));
    assert_eq!((&oidc["hasSecret"], &oidc["url"]), (&json!(true), &Value::Null));
    assert!(!oidc.to_string().contains("s3cret"));
    assert!(!api.env.dump().concat().contains("s3cret"));
    // The secret is kept only for the same issuer and client.
    for (client, secret, has) in [("vault", None, true), ("other", None, false)] {
        let mut payload = json!({"type": "oidc", "issuer": ISSUER, "clientId": client});
        if let Some(secret) = secret {
            payload["clientSecret"] = secret;
        }
        let (status, shown) = put(&api, &payload);
        assert_eq!((status, &shown["hasSecret"]), (200, &json!(has)), "{client}");
        assert_eq!(shown["identityClaim"], "sub");
    }
    let none = json!({"type": "oidc", "issuer": ISSUER, "clientId": "other", "clientSecret": null});
    assert_eq!(put(&api, &none).1["hasSecret"], false);
}

#[test]
fn the_redirect_uri_is_known_before_a_sign_in_is_configured() {
    let api = api_with(&settings());
    let missing = body(&api.get(PATH));
    assert_eq!(missing["code"], "agent_sign_in_not_found");
    let uri = missing["redirectUri"].as_str().unwrap().to_owned();
    assert!(uri.starts_with(&format!("{ORIGIN}/mcp/")) && uri.ends_with("/callback"), "{uri}");
    assert!(api.env.texts("SELECT id FROM agent_endpoints").is_empty(), "a read stores nothing");
    serve(&api);
    let (status, shown) = put(&api, &json!({"type": "oidc", "issuer": ISSUER, "clientId": "c"}));
    assert_eq!((status, &shown["redirectUri"]), (201, &json!(uri)), "{shown}");
    assert_eq!(send(&api, "DELETE", PATH, &json!({})).status, 204);
    assert_eq!(body(&api.get(PATH))["redirectUri"], uri, "it stays after a deletion");
}

#[test]
fn invalid_sign_ins_are_reported_and_not_stored() {
    let api = api_with(&settings());
    let before = api.env.dump();
    for (payload, pointers) in [
        (json!({}), &["/type"][..]),
        (json!({"type": "saml"}), &["/type"]),
        (json!({"type": "app"}), &["/url"]),
        (json!({"type": "oidc"}), &["/issuer", "/clientId"]),
        (json!({"type": "app", "url": "https://app.example", "issuer": ISSUER}), &["/issuer"]),
        (
            json!({"type": "oidc", "issuer": ISSUER, "clientId": "c", "url": "https://app.example"}),
            &["/url"],
        ),
        (json!({"type": "app", "url": "http://app.example"}), &["/url"]),
        (json!({"type": "app", "url": "https://10.0.0.1"}), &["/url"]),
        (json!({"type": "app", "url": "https://localhost"}), &["/url"]),
        (json!({"type": "app", "url": "https://app.example/#x"}), &["/url"]),
        (json!({"type": "oidc", "issuer": "https://id.example/?x", "clientId": "c"}), &["/issuer"]),
        (json!({"type": "oidc", "issuer": ORIGIN, "clientId": "c"}), &["/issuer"]),
        (json!({"type": "app", "url": "https://app.example", "extra": 1}), &["/extra"]),
    ] {
        let (status, problem) = put(&api, &payload);
        let found: Vec<_> = problem["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fault| fault["pointer"].as_str().unwrap())
            .collect();
        assert_eq!((status, found.as_slice()), (400, pointers), "{payload}");
    }
    let rows = |all: Vec<String>| {
        all.into_iter().filter(|row| row.starts_with("agent")).collect::<Vec<_>>()
    };
    assert_eq!(rows(api.env.dump()), rows(before));
}

#[test]
fn an_issuer_must_be_an_openid_provider() {
    let api = api_with(&settings());
    let payload = json!({"type": "oidc", "issuer": ISSUER, "clientId": "vault"});
    let other = json!({"issuer": "https://other.example", "authorization_endpoint": "https://id.example/a", "token_endpoint": "https://id.example/t", "jwks_uri": "https://id.example/k"});
    let local = json!({"issuer": ISSUER, "authorization_endpoint": "https://id.example/a", "token_endpoint": "https://169.254.169.254/t", "jwks_uri": "https://id.example/k"});
    for (status, document) in
        [(404, json!({})), (302, json!({})), (200, json!({})), (200, other), (200, local)]
    {
        let answered = document.clone();
        *api.env.platform.borrow_mut() = Box::new(move |_| connect::response(status, &answered));
        let (status, problem) = put(&api, &payload);
        assert_eq!(
            (status, &problem["errors"][0]["pointer"]),
            (400, &json!("/issuer")),
            "{document}"
        );
    }
}

#[test]
fn reports_missing_configuration() {
    let without = |name: &str| {
        let all: Vec<_> = settings().into_iter().filter(|(known, _)| *known != name).collect();
        api_with(&all)
    };
    let app = json!({"type": "app", "url": "https://app.example"});
    for (name, payload) in [
        ("BASE_URL", app.clone()),
        ("SESSION_SECRET", app),
        (
            "VAULT_KEYS",
            json!({"type": "oidc", "issuer": ISSUER, "clientId": "c", "clientSecret": "s"}),
        ),
    ] {
        let (status, problem) = put(&without(name), &payload);
        assert_eq!(status, 503, "{name}");
        assert!(problem["detail"].as_str().unwrap().contains(name), "{problem}");
    }
    for (text, expected) in [
        ("https://vault.example", Some("https://vault.example")),
        ("https://vault.example/", Some("https://vault.example")),
        ("http://localhost:8787", Some("http://localhost:8787")),
        ("http://vault.example", None),
        ("https://vault.example/mcp", None),
        ("vault.example", None),
    ] {
        let config = crate::support::config(&[("BASE_URL", text)]);
        assert_eq!(
            (config.base_url.as_deref(), config.faults.len()),
            (expected, usize::from(expected.is_none())),
            "{text}"
        );
    }
}

/// Makes the provider of [`ISSUER`] run `change` on the database while it responds.
fn change_meanwhile(api: &mut Api, name: &str, change: &'static str) {
    // Wait until the provider's cached metadata has expired.
    api.env.wait(60 * 60_000);
    serve(api);
    api.change_while(name, "https://id.example/.well-known/openid-configuration", change);
}

#[test]
fn a_key_that_ended_while_the_provider_responded_configures_nothing() {
    for (at, change) in [
        "UPDATE api_keys SET revoked_at = 1",
        "UPDATE api_keys SET scopes = 'agents:read'",
        "DELETE FROM api_keys",
    ]
    .into_iter()
    .enumerate()
    {
        for exists in [true, false] {
            let (mut api, _) = if exists { app() } else { (api_with(&settings()), String::new()) };
            change_meanwhile(&mut api, &format!("agent-sign-in-{at}-{exists}"), change);
            let changed = |api: &Api| {
                let entries = api
                    .env
                    .texts("SELECT actor_type FROM audit WHERE action LIKE 'agent_sign_in.%'");
                let rows = api
                    .env
                    .texts("SELECT json_array(id, type, key_id, updated_at) FROM agent_endpoints");
                (entries, rows)
            };
            let before = changed(&api);
            let payload = json!({"type": "oidc", "issuer": ISSUER, "clientId": "evil"});
            let (status, problem) = put(&api, &payload);
            assert_eq!(status, 401, "{change}: {problem}");
            assert_eq!(changed(&api), before, "{change}");
        }
    }
}

#[test]
fn a_secret_that_another_request_stored_meanwhile_is_kept() {
    let (mut api, _) = oidc(&json!({}));
    let change = "UPDATE agent_endpoints SET sealed = 'tests.rotated'";
    change_meanwhile(&mut api, "agent-sign-in-secret", change);
    let payload = json!({"type": "oidc", "issuer": ISSUER, "clientId": "vault"});
    assert_eq!(put(&api, &payload).0, 200);
    assert_eq!(api.env.texts("SELECT sealed FROM agent_endpoints"), ["tests.rotated"]);
}
