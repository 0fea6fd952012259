//! Reported sign-ins of agents' clients.

use connector_vault::ports::HttpRequest;
use serde_json::json;

use super::{Browser, app, authorization_query};
use crate::connect::response;
use crate::support::{ORIGIN, anonymous, body, with_body};

/// Claude Code listens on a port that the system chooses; its metadata document names none.
#[test]
fn a_metadata_document_need_not_name_the_port_of_the_machine() {
    let report = "https://github.com/getsentry/sentry-mcp/issues/1190";
    let client = "https://claude.ai/oauth/claude-code-client-metadata";
    for uri in [
        "http://localhost:57470/callback",
        "http://127.0.0.1:3118/callback",
        "http://localhost/callback",
    ] {
        let (api, id) = app();
        let document = json!({
            "client_id": client, "client_name": "Claude Code", "client_uri": "https://claude.ai",
            "redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        });
        *api.env.platform.borrow_mut() = Box::new(move |_: &HttpRequest| response(200, &document));
        let query = authorization_query(client, &[("redirect_uri", uri)]);
        let answer = Browser::default().authorize(&api, &id, &query);
        assert_eq!(answer.status, 303, "{report}: {uri}");
    }
}

/// A user types the address with a slash at its end. Clients compare it with the metadata's `resource`.
#[test]
fn an_address_with_a_slash_at_its_end_leads_to_matching_metadata() {
    let report = "https://github.com/microsoft/vscode/issues/259251";
    let (api, id) = app();
    let typed = format!("/mcp/{id}/");
    let refused = api.send(&with_body(anonymous("POST", &typed), "{}"));
    if refused.status == 308 {
        let location = refused.header("location").unwrap();
        assert_eq!(
            location.strip_prefix(ORIGIN).unwrap_or(location),
            format!("/mcp/{id}"),
            "{report}"
        );
        return;
    }
    assert_eq!(refused.status, 401, "{report}");
    let challenge = refused.header("www-authenticate").unwrap();
    let metadata = challenge.split('"').nth(1).unwrap();
    let document = body(&api.send(&anonymous("GET", metadata.strip_prefix(ORIGIN).unwrap())));
    assert_eq!(document["resource"], format!("{ORIGIN}{typed}"), "{report}: {document}");
}
