//! OAuth clients of agents: registered clients, and clients with a metadata document.

use connector_vault::ports::{HttpError, HttpResponse};
use serde_json::{Value, json};

use super::{
    Browser, CALLBACK, app, authorization_query, error, open_consent_page, redirect_target,
    register,
};
use crate::connect::{response, text, value_of};
use crate::support::{Api, anonymous, body, with_body, with_header};

const CLIENT: &str = "https://agent.example/client.json";

/// Makes the server of metadata documents return this response.
fn serve(api: &Api, status: u16, document: &Value) {
    let document = document.clone();
    *api.env.platform.borrow_mut() = Box::new(move |_| response(status, &document));
}

fn document() -> Value {
    json!({
        "client_id": CLIENT, "client_name": "Example Agent", "redirect_uris": [CALLBACK],
        "token_endpoint_auth_method": "none",
    })
}

#[test]
fn a_registration_writes_no_row() {
    let (api, id) = app();
    let before = api.env.dump();
    register(&api, &id);
    assert_eq!(api.env.dump(), before);
}

#[test]
fn invalid_registrations_get_the_errors_of_rfc_7591() {
    let (api, id) = app();
    let path = format!("/mcp/{id}/register");
    for (sent, code) in [
        (json!({"redirect_uris": ["http://evil.example/cb"]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": ["javascript:alert(1)"]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": []}), "invalid_redirect_uri"),
        (json!({"redirect_uris": vec![CALLBACK; 11]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": "x"}), "invalid_client_metadata"),
        (json!({}), "invalid_client_metadata"),
        (json!([]), "invalid_client_metadata"),
    ] {
        let response = api.send(&with_body(anonymous("POST", &path), &sent.to_string()));
        assert_eq!(error(&response), (400, code.to_owned()), "{sent}");
    }
    let plain = with_header(anonymous("POST", &path), "content-type", "text/plain");
    assert_eq!(error(&api.send(&plain)), (400, "invalid_client_metadata".to_owned()));
    // A client that requests a secret is registered without one, and the response contains `none`.
    let sent =
        json!({"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "client_secret_post"});
    let response = api.send(&with_body(anonymous("POST", &path), &sent.to_string()));
    assert_eq!(response.status, 201);
    assert_eq!(body(&response)["token_endpoint_auth_method"], "none");
    assert_eq!(body(&response)["client_secret"], Value::Null);
}

#[test]
fn unknown_clients_and_redirect_uris_are_not_redirected() {
    let (api, id) = app();
    let client = register(&api, &id);
    let browser = Browser::default();
    let other = client.replacen("mc_", "mc_A", 1);
    for query in [
        authorization_query("", &[]),
        authorization_query("unknown", &[]),
        authorization_query(&other, &[]),
        authorization_query(&client, &[("redirect_uri", "")]),
        authorization_query(&client, &[("redirect_uri", "https://evil.example/cb")]),
        authorization_query(&client, &[("redirect_uri", "http://localhost:3334/other")]),
        authorization_query(
            &client,
            &[("redirect_uri", "http://localhost:1@evil.example/oauth/callback")],
        ),
        format!("{}&redirect_uri=https://evil.example", authorization_query(&client, &[])),
    ] {
        let response = browser.authorize(&api, &id, &query);
        assert_eq!((response.status, response.header("location")), (400, None), "{query}");
        assert_eq!(response.header("set-cookie"), None, "{query}");
    }
    // Only the port may differ from the registered redirect URI.
    let moved =
        authorization_query(&client, &[("redirect_uri", "http://localhost:1/oauth/callback")]);
    assert_eq!(browser.authorize(&api, &id, &moved).status, 303);
}

#[test]
fn other_errors_are_redirected_with_the_issuer() {
    let (api, id) = app();
    let client = register(&api, &id);
    let plain = [("code_challenge_method", "plain")];
    for (extra, code) in [
        (&[("response_type", "token")][..], "unsupported_response_type"),
        (&[("response_type", "")], "unsupported_response_type"),
        (&[("code_challenge", "")], "invalid_request"),
        (&[("code_challenge", "short")], "invalid_request"),
        (&plain, "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("scope", "admin")], "invalid_scope"),
        (&[("resource", "https://evil.example/mcp/x")], "invalid_target"),
        (&[("state", &"s".repeat(1025))], "invalid_request"),
    ] {
        let response =
            Browser::default().authorize(&api, &id, &authorization_query(&client, extra));
        let (address, back) = redirect_target(&response);
        assert_eq!(address, CALLBACK);
        assert_eq!(value_of(&back, "error").as_deref(), Some(code), "{extra:?}");
        assert!(
            value_of(&back, "iss").unwrap().ends_with(&id) && value_of(&back, "state").is_some()
        );
        assert_eq!(response.header("set-cookie"), None);
    }
}

#[test]
fn a_client_of_another_endpoint_is_unknown() {
    let (api, id) = app();
    let client = register(&api, &id);
    let other = crate::connect::api_with(&super::settings());
    let sent = json!({"type": "app", "url": "https://app.example/agents"});
    let made = crate::connect::send(&other, "PUT", "/v1/agent-sign-in", &sent);
    let other_id = super::id_of(&body(&made));
    // Both test services generate the same random ids, so make this id different.
    let other_id = if other_id == id {
        other
            .env
            .database
            .execute("UPDATE agent_endpoints SET id = replace(id, substr(id, 1, 1), 'Z')", [])
            .unwrap();
        other.env.texts("SELECT id FROM agent_endpoints").remove(0)
    } else {
        other_id
    };
    assert_eq!(
        Browser::default().authorize(&other, &other_id, &authorization_query(&client, &[])).status,
        400
    );
}

#[test]
fn metadata_documents_are_cached_and_shown_by_host() {
    let (api, id) = app();
    serve(&api, 200, &document());
    let (_, page) = open_consent_page(&api, &id, CLIENT, &json!({}));
    for shown in [
        "“Example Agent” (this name is not verified)",
        "<dt>Published by</dt><dd>agent.example</dd>",
    ] {
        assert!(text(&page).contains(shown), "{}", text(&page));
    }
    open_consent_page(&api, &id, CLIENT, &json!({}));
    let sent = api.env.sent.borrow();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0].url, CLIENT);
    assert!(sent[0].headers.iter().all(|(name, _)| name == "accept" || name == "user-agent"));
}

#[test]
fn refuses_a_document_of_another_client() {
    for (status, document) in [
        (302, document()),
        (404, document()),
        (
            200,
            json!({"client_id": "https://other.example/client.json", "redirect_uris": [CALLBACK]}),
        ),
        (200, json!({"client_id": CLIENT, "redirect_uris": ["http://localhost:3334/other"]})),
        (
            200,
            json!({"client_id": CLIENT, "redirect_uris": [CALLBACK], "client_name": "x".repeat(6000)}),
        ),
        (
            200,
            json!({"client_id": CLIENT, "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "client_secret_post"}),
        ),
        (200, json!("not an object")),
    ] {
        let (api, id) = app();
        serve(&api, status, &document);
        let response = Browser::default().authorize(&api, &id, &authorization_query(CLIENT, &[]));
        assert_eq!((response.status, response.header("location")), (400, None), "{document}");
        assert_eq!(api.env.sent.borrow().len(), 1);
    }
}

#[test]
fn documents_are_not_fetched_from_private_networks() {
    let (api, id) = app();
    for client in [
        "https://localhost/client.json",
        "https://127.0.0.1/client.json",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/client.json",
        "https://2130706433/client.json",
        "https://printer.local/client.json",
        "https://metadata.google.internal/x",
        "https://agent.example:8443/client.json",
        "https://user@agent.example/client.json",
        "https://agent.example/../client.json",
        "https://agent.example",
        "http://agent.example/client.json",
    ] {
        let response = Browser::default().authorize(&api, &id, &authorization_query(client, &[]));
        assert_eq!((response.status, response.header("location")), (400, None), "{client}");
    }
    assert_eq!(api.env.sent.borrow().len(), 0);
}

#[test]
fn failed_documents_are_fetched_again() {
    let (api, id) = app();
    *api.env.platform.borrow_mut() = Box::new(|_| Err::<HttpResponse, _>(HttpError::Unreachable));
    let browser = Browser::default();
    assert_eq!(browser.authorize(&api, &id, &authorization_query(CLIENT, &[])).status, 502);
    serve(&api, 200, &document());
    assert_eq!(browser.authorize(&api, &id, &authorization_query(CLIENT, &[])).status, 303);
}

#[test]
fn client_names_are_escaped_and_visible() {
    let (api, id) = app();
    let name = "<script>alert(1)</script>\u{202e}\u{200b}「Claude\"'&»”」";
    let metadata = json!({"client_name": name, "redirect_uris": [CALLBACK]});
    let request = anonymous("POST", &format!("/mcp/{id}/register"));
    let registered = body(&api.send(&with_body(request, &metadata.to_string())));
    let (_, page) =
        open_consent_page(&api, &id, registered["client_id"].as_str().unwrap(), &json!({}));
    let html = text(&page);
    assert!(!html.contains("<script>alert") && !html.contains('\u{202e}'), "{html}");
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;Claude&amp;"), "{html}");
    assert!(html.contains("this name is not verified"), "{html}");
    assert!(html.contains("Warning: any program on this computer"), "{html}");
}
