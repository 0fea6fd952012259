//! Calls with a session token that wait for the user's approval.

use serde_json::{Value, json};

use super::approvals::{ApprovalFixture, approval_fixture};
use super::*;
use crate::agents;
use crate::support::{ORIGIN, as_secret, with_body};

/// Calls `run_action` at `/mcp` with a session token. Returns the tool's result.
fn call_with(fixture: &ApprovalFixture, token: &str, extra: &Value) -> Value {
    let mut arguments = json!({"connection": fixture.connection(), "key": "createThing"});
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let response = agents::call(&fixture.api, "/mcp", token, "run_action", &arguments);
    assert_eq!(response.status, 200, "{}", text(&response));
    let returned = body(&response)["result"]["content"][0]["text"].clone();
    serde_json::from_str(returned.as_str().unwrap()).unwrap_or(returned)
}

/// Creates a token, valid for a minute, for an identity that must approve each change.
fn session_token(fixture: &ApprovalFixture, identity: &str) -> String {
    let scopes = json!(["catalog:read", "connections:read", "connections:call"]);
    let request =
        json!({"identity": identity, "scopes": scopes, "confirm": "write", "ttlSeconds": 60});
    crate::connect::token(&fixture.api, &request)
}

fn session_input() -> Value {
    json!({"path": {"owner": "bob"}, "body": {"name": "n", "size": 3}})
}

/// Starts a call with a session token that waits for approval. Returns the call's id and link.
fn start_session_call(fixture: &ApprovalFixture, token: &str) -> (String, String) {
    let result = call_with(fixture, token, &json!({"input": session_input()}));
    let field = |name: &str| result["approval"][name].as_str().unwrap_or_default().to_owned();
    assert_eq!(field("status"), "pending", "{result}");
    (field("id"), field("url"))
}

#[test]
fn a_call_of_a_session_token_waits_for_its_user() {
    let fixture = approval_fixture();
    let token = session_token(&fixture, "ann");
    let (id, url) = start_session_call(&fixture, &token);
    let link = format!("{ORIGIN}/mcp/{}/approval?id={id}", fixture.id);
    assert_eq!((url.as_str(), sent(&fixture.api).len()), (link.as_str(), 0));
    // Other users get neither the page nor the result.
    assert!(text(&fixture.open_as(&url, "bob").1).contains("This link does not work"));
    let asks = json!({"approval": id});
    let other = crate::connect::token(
        &fixture.api,
        &json!({"identity": "ann", "identityType": "user", "scopes": ["connections:call"]}),
    );
    for (token, status) in [(&token, "pending"), (&other, "")] {
        let outcome = call_with(&fixture, token, &asks);
        assert_eq!(outcome["approval"]["status"].as_str().unwrap_or_default(), status);
    }
    let (browser, page) = fixture.open_as(&url, "ann");
    let html = text(&page).clone();
    assert!(
        html.contains("&quot;owner&quot;: &quot;bob&quot;") && !html.contains("st_test_"),
        "{html}"
    );
    let approved = fixture.decide(&browser, &page, "approve");
    assert!(
        text(&approved).contains("the platform responded with status 201"),
        "{}",
        text(&approved)
    );
    assert_eq!(fixture.decide(&browser, &page, "approve").status, 410);
    assert_eq!(sent(&fixture.api).len(), 1);
    // The next token of the same key and identity gets the result.
    let outcome = call_with(&fixture, &session_token(&fixture, "ann"), &asks);
    assert_eq!((&outcome["status"], &outcome["body"]), (&json!(201), &json!({"id": 7})));
}

#[test]
fn an_approved_call_does_not_run_after_its_session_token_expired() {
    let fixture = approval_fixture();
    let (_, url) = start_session_call(&fixture, &session_token(&fixture, "ann"));
    let (browser, page) = fixture.open_as(&url, "ann");
    fixture.api.env.wait(60_000);
    assert_eq!(fixture.decide(&browser, &page, "approve").status, 410);
    // An approved call does not run after the token's key was revoked either.
    let (_, url) = start_session_call(&fixture, &session_token(&fixture, "ann"));
    let (browser, page) = fixture.open_as(&url, "ann");
    fixture.api.env.revoke(&fixture.api.key);
    assert_eq!(fixture.decide(&browser, &page, "approve").status, 410);
    assert_eq!(sent(&fixture.api).len(), 0);
}

#[test]
fn a_call_that_needs_approval_fails_outside_mcp() {
    let fixture = approval_fixture();
    let token = session_token(&fixture, "ann");
    let whoami = fixture.api.send(&as_secret(&token, "GET", "/v1/whoami"));
    assert_eq!(body(&whoami)["confirm"], "write");
    let request = as_secret(&token, "POST", &format!("{}/actions/createThing", fixture.path));
    let response = fixture.api.send(&with_body(request, &session_input().to_string()));
    assert_eq!((response.status, sent(&fixture.api).len()), (403, 0), "{}", text(&response));
}

#[test]
fn a_token_with_confirm_needs_the_sign_in() {
    let fixture = approval_fixture();
    let token = session_token(&fixture, "ann");
    let (_, url) = start_session_call(&fixture, &token);
    let (browser, page) = fixture.open_as(&url, "ann");
    assert_eq!(fixture.api.send(&fixture.api.request("DELETE", "/v1/agent-sign-in")).status, 204);
    assert_eq!(fixture.decide(&browser, &page, "approve").status, 410);
    let refusal = call_with(&fixture, &token, &json!({"input": session_input()}));
    assert!(refusal.to_string().contains("the sign-in for agents is disabled"), "{refusal}");
    assert_eq!(sent(&fixture.api).len(), 0);
    let request = json!({"identity": "ann", "confirm": "write"});
    let refusal = send(&fixture.api, "POST", "/v1/sessions", &request);
    assert_eq!(
        (refusal.status, &body(&refusal)["errors"][0]["pointer"]),
        (400, &json!("/confirm"))
    );
}
