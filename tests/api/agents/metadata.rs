//! The metadata documents, and the challenge that points clients to them.

use serde_json::json;

use super::{ALL, Agent, Browser, app, authorization_query, call, register};
use crate::connect;
use crate::support::{ORIGIN, anonymous, as_key, body, with_body, with_header};

#[test]
fn a_401_names_the_metadata_of_the_endpoint() {
    let (api, id) = app();
    let issuer = format!("{ORIGIN}/mcp/{id}");
    let request = with_body(anonymous("POST", &format!("/mcp/{id}")), "{}");
    let response = api.send(&request);
    assert_eq!(response.status, 401);
    let resource = format!("{ORIGIN}/.well-known/oauth-protected-resource/mcp/{id}");
    let challenge = format!("Bearer resource_metadata=\"{resource}\", scope=\"read write\"");
    assert_eq!(response.header("www-authenticate"), Some(challenge.as_str()));

    let response = api.send(&anonymous("GET", resource.strip_prefix(ORIGIN).unwrap()));
    assert_eq!(response.status, 200);
    assert_eq!(
        body(&response),
        json!({
            "resource": issuer, "authorization_servers": [issuer], "scopes_supported": ["read", "write"],
            "bearer_methods_supported": ["header"], "resource_name": "Sample App",
        })
    );
    let path = format!("/.well-known/oauth-authorization-server/mcp/{id}");
    let response = api.send(&anonymous("GET", &path));
    assert_eq!(response.status, 200);
    let server = body(&response);
    for (name, value) in [
        ("issuer", json!(issuer)),
        ("authorization_endpoint", json!(format!("{issuer}/authorize"))),
        ("token_endpoint", json!(format!("{issuer}/token"))),
        ("registration_endpoint", json!(format!("{issuer}/register"))),
        ("revocation_endpoint", json!(format!("{issuer}/revoke"))),
        ("code_challenge_methods_supported", json!(["S256"])),
        ("token_endpoint_auth_methods_supported", json!(["none"])),
        ("authorization_response_iss_parameter_supported", json!(true)),
        ("client_id_metadata_document_supported", json!(true)),
        ("response_types_supported", json!(["code"])),
    ] {
        assert_eq!(server[name], value, "{name}");
    }
}

#[test]
fn urls_use_the_configured_base_url() {
    let (api, id) = app();
    let path = format!("/.well-known/oauth-authorization-server/mcp/{id}");
    let mut request = anonymous("GET", &path);
    request.origin = "https://evil.example".into();
    assert_eq!(body(&api.send(&request))["issuer"], format!("{ORIGIN}/mcp/{id}"));
    let mut request = with_body(anonymous("POST", &format!("/mcp/{id}")), "{}");
    request.origin = "https://evil.example".into();
    let challenge = api.send(&request);
    assert!(challenge.header("www-authenticate").unwrap().contains(ORIGIN));
}

#[test]
fn endpoints_need_a_base_url_and_a_sign_in() {
    let paths = |id: &str| {
        [
            ("GET", format!("/.well-known/oauth-protected-resource/mcp/{id}")),
            ("GET", format!("/.well-known/oauth-authorization-server/mcp/{id}")),
            ("GET", format!("/mcp/{id}/authorize?{}", authorization_query("c", &[]))),
        ]
    };
    let (api, id) = app();
    for (method, path) in paths(&id) {
        assert_ne!(api.send(&anonymous(method, &path)).status, 404, "{path}");
    }
    let unknown = "A".repeat(43);
    for other in [unknown.as_str(), "x", "%00", "..", "é"] {
        for (method, path) in paths(other) {
            assert_eq!(api.send(&anonymous(method, &path)).status, 404, "{path}");
        }
    }
    assert_eq!(api.send(&api.request("DELETE", "/v1/agent-sign-in")).status, 204);
    for (method, path) in paths(&id) {
        assert_eq!(api.send(&anonymous(method, &path)).status, 404, "{path}");
    }
    let plain = connect::api();
    for (method, path) in paths(&id) {
        assert_eq!(plain.send(&anonymous(method, &path)).status, 404, "{path}");
    }
    let mcp = with_body(anonymous("POST", &format!("/mcp/{id}")), "{}");
    assert_eq!(plain.send(&mcp).status, 404);
}

#[test]
fn access_tokens_work_only_at_their_endpoint() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &ALL);
    let path = format!("/mcp/{id}");
    let listed = agent.call(&api, &id, "list_connections", &json!({}));
    assert_eq!(listed.status, 200, "{}", body(&listed));
    let session = connect::send(&api, "POST", "/v1/sessions", &json!({"identity": "ann"}));
    let session = body(&session)["token"].as_str().unwrap().to_owned();
    let other = format!("/mcp/{}", "B".repeat(43));
    for (path, token) in [
        (path.as_str(), api.key.reveal()),
        (&path, &session),
        (&path, &format!("{}x", agent.access)),
        (&other, &agent.access),
        ("/mcp", &agent.access),
    ] {
        let response = call(&api, path, token, "list_connections", &json!({}));
        assert_eq!(response.status, 401, "{path} {token}");
        if path != "/mcp" {
            let challenge = response.header("www-authenticate").unwrap();
            assert!(challenge.starts_with("Bearer error=\"invalid_token\", "), "{challenge}");
        }
    }
    let whoami = with_header(anonymous("GET", "/v1/whoami"), "x-service-secret", &agent.access);
    assert_eq!(api.send(&whoami).status, 401);
    assert_eq!(call(&api, "/mcp", api.key.reveal(), "list_connections", &json!({})).status, 200);
    assert_eq!(call(&api, "/mcp", &session, "list_connections", &json!({})).status, 200);
    // The agents' endpoint does not accept an API key in the header for API keys.
    let keyed = with_body(as_key(&api.key, "POST", &path), "{}");
    assert_eq!(api.send(&keyed).status, 401);
}

#[test]
fn refuses_calls_from_other_origins() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &ALL);
    let request = with_body(anonymous("POST", &format!("/mcp/{id}")), "{}");
    let request = with_header(request, "authorization", &format!("Bearer {}", agent.access));
    assert_eq!(api.send(&with_header(request, "origin", "https://evil.example")).status, 403);
}

#[test]
fn sign_in_pages_cannot_be_framed() {
    let (api, id) = app();
    let client = register(&api, &id);
    let (_, consent) = super::open_consent_page(&api, &id, &client, &json!({}));
    let error = Browser::default().authorize(&api, &id, &authorization_query("unknown", &[]));
    for page in [consent, error] {
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(policy.contains("script-src 'self'"), "{policy}");
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert_eq!(page.header("cache-control"), Some("private, no-store"));
    }
}
