//! Attacks on the MCP endpoint and on the API of the app.

use super::*;

pub(super) fn calls(fixture: &Fixture) -> Vec<(&'static str, Request, Rejection)> {
    let own = format!("/mcp/{}", fixture.id);
    let access = &fixture.agent.access;
    let mut parts: Vec<&str> = access.split('.').collect();
    parts[1] = "AAAA";
    let changed = parts.join(".");
    vec![
        ("an access token at the plain address", tool_request("/mcp", access), Problem(401)),
        ("an access token at another endpoint", tool_request("/mcp/other", access), Problem(401)),
        ("an access token with another signature", tool_request(&own, &changed), Problem(401)),
        (
            "a refresh token as access token",
            tool_request(&own, &fixture.agent.refresh),
            Problem(401),
        ),
        ("a code as access token", tool_request(&own, &fixture.code), Problem(401)),
        ("an API key at an endpoint", tool_request(&own, fixture.api.key.reveal()), Problem(401)),
        (
            "an access token at the API",
            as_secret(access, "GET", "/v1/vault/connections"),
            Problem(401),
        ),
        (
            "an access token at another account's endpoint",
            tool_request(&format!("/mcp/{}", fixture.other_endpoint), access),
            Problem(401),
        ),
        (
            "the access token of a client with a metadata document, elsewhere",
            tool_request(&format!("/mcp/{}", fixture.other_endpoint), &fixture.published.access),
            Problem(401),
        ),
        (
            "an access token that is called from a page",
            with_header(tool_request(&own, access), "origin", "https://evil.example"),
            Problem(403),
        ),
        (
            "more than an agent may that only reads",
            call_request(
                &own,
                &fixture.reader.access,
                "start_connect",
                &json!({"platform": "acme"}),
            ),
            Tool("insufficient_scope"),
        ),
        (
            "an access token that reads what was granted",
            as_secret(access, "GET", "/v1/agent-grants"),
            Problem(401),
        ),
        (
            "an access token that creates tokens",
            with_body(as_secret(access, "POST", "/v1/sessions"), "{\"identity\":\"bob\"}"),
            Problem(401),
        ),
    ]
}

/// Requests that an app, or the holder of another key or token, must not be able to make.
pub(super) fn app_attacks(fixture: &Fixture) -> Vec<(&'static str, Request, Rejection)> {
    let path = "/v1/agent-grants";
    let payload = json!({"request": fixture.attacker_request, "identity": "ann"}).to_string();
    let active = fixture.api.env.texts("SELECT id FROM agent_grants WHERE state = 'active'");
    let one = format!("{path}/{}", active.first().unwrap());
    let changed = payload.replacen("ar_", "ar_A", 1);
    let token = payload.replacen(&fixture.attacker_request, &fixture.agent.refresh, 1);
    let key = &fixture.foreign_key;
    vec![
        ("another account's app", with_body(as_key(key, "POST", path), &payload), Problem(400)),
        (
            "a request with another signature",
            with_body(fixture.api.request("POST", path), &changed),
            Problem(400),
        ),
        (
            "a refresh token as a request",
            with_body(fixture.api.request("POST", path), &token),
            Problem(400),
        ),
        (
            "an anonymous caller as an app",
            with_body(anonymous("POST", path), &payload),
            Problem(401),
        ),
        (
            "an agent as an app",
            with_body(as_secret(&fixture.agent.access, "POST", path), &payload),
            Problem(401),
        ),
        ("ending another account's grant", as_key(key, "DELETE", &one), Problem(404)),
        ("another account's grants", as_key(key, "GET", &one), Problem(405)),
    ]
}
