//! Codes, access tokens and refresh tokens.

use connector_vault::auth::Shard;
use serde_json::json;

use super::{
    ALL, Agent, CALLBACK, VERIFIER, app, consent_code, error, exchange, form, refresh, register,
    request_token, with_form,
};
use crate::connect::text;
use crate::support::{Api, HOME, ORIGIN, anonymous, body};

fn invalid_grant() -> (u16, String) {
    (400, "invalid_grant".to_owned())
}

fn count(api: &Api) -> usize {
    api.env.texts("SELECT id FROM agent_grants").len()
}

#[test]
fn a_code_is_exchanged_by_its_client_with_its_verifier() {
    let (api, id) = app();
    let client = register(&api, &id);
    let other = {
        let metadata = json!({"client_name": "Other", "redirect_uris": [CALLBACK]});
        let request = anonymous("POST", &format!("/mcp/{id}/register"));
        let created_response = api.send(&crate::support::with_body(request, &metadata.to_string()));
        body(&created_response)["client_id"].as_str().unwrap().to_owned()
    };
    let code = consent_code(&api, &id, &client, &ALL);
    let valid_fields = [
        ("grant_type", "authorization_code"),
        ("client_id", client.as_str()),
        ("code", code.as_str()),
        ("code_verifier", VERIFIER),
        ("redirect_uri", CALLBACK),
    ];
    let with = |name: &str, value: &str| {
        let fields = valid_fields.map(|(known, own)| {
            (known, if known == name { value.to_owned() } else { own.to_owned() })
        });
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        error(&request_token(&api, &id, &fields))
    };
    let stolen = "x".repeat(43);
    for (name, value, expected) in [
        ("code_verifier", stolen.as_str(), "invalid_grant"),
        ("code_verifier", "short", "invalid_request"),
        ("code_verifier", "", "invalid_request"),
        ("client_id", &other, "invalid_grant"),
        ("client_id", "unknown", "invalid_client"),
        ("client_id", "", "invalid_request"),
        ("redirect_uri", "http://localhost:1/oauth/callback", "invalid_grant"),
        ("code", "", "invalid_request"),
        ("code", "' OR 1=1 --", "invalid_grant"),
        ("code", &stolen, "invalid_grant"),
        ("grant_type", "password", "unsupported_grant_type"),
        ("grant_type", "", "invalid_request"),
    ] {
        assert_eq!(with(name, value), (400, expected.to_owned()), "{name} {value}");
    }
    let resource = [&valid_fields[..], &[("resource", "https://evil.example")]].concat();
    assert_eq!(error(&request_token(&api, &id, &resource)), (400, "invalid_target".to_owned()));
    let json = crate::support::with_body(anonymous("POST", &format!("/mcp/{id}/token")), "{}");
    assert_eq!(error(&api.send(&json)), (400, "invalid_request".to_owned()));
    let twice = format!("{}&code={code}", form(&valid_fields));
    let twice = with_form(anonymous("POST", &format!("/mcp/{id}/token")), &twice);
    assert_eq!(error(&api.send(&twice)), (400, "invalid_request".to_owned()));

    let right = format!("{ORIGIN}/mcp/{id}");
    let response = request_token(&api, &id, &[&valid_fields[..], &[("resource", &right)]].concat());
    assert_eq!(response.status, 200, "{}", text(&response));
    assert_eq!(response.header("cache-control"), Some("private, no-store"));
    let tokens = body(&response);
    assert_eq!((&tokens["token_type"], &tokens["expires_in"]), (&json!("Bearer"), &json!(3600)));
}

#[test]
fn codes_work_once_and_a_replay_revokes_the_grant() {
    let (api, id) = app();
    let client = register(&api, &id);
    let code = consent_code(&api, &id, &client, &ALL);
    api.env.wait(60_000);
    assert_eq!(error(&exchange(&api, &id, &client, &code)), invalid_grant());

    let code = consent_code(&api, &id, &client, &ALL);
    let first = exchange(&api, &id, &client, &code);
    assert_eq!(first.status, 200);
    let tokens = body(&first);
    let [access, refresh_token] =
        ["access_token", "refresh_token"].map(|name| tokens[name].as_str().unwrap().to_owned());
    let agent = Agent { client, access, refresh: refresh_token };
    assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 200);
    assert_eq!(error(&exchange(&api, &id, &agent.client, &code)), invalid_grant());
    assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 401);
    assert_eq!(error(&refresh(&api, &id, &agent.client, &agent.refresh)), invalid_grant());
}

#[test]
fn a_token_request_and_a_call_cost_one_batch_each() {
    let (api, id) = app();
    let client = register(&api, &id);
    let code = consent_code(&api, &id, &client, &ALL);
    let calls = |work: &dyn Fn()| {
        let before = api.env.db_calls.get();
        work();
        api.env.db_calls.get() - before
    };
    assert_eq!(calls(&|| assert_eq!(exchange(&api, &id, &client, &code).status, 200)), 1);
    let agent = Agent::new(&api, &id, &ALL);
    assert_eq!(
        calls(&|| assert_eq!(refresh(&api, &id, &agent.client, &agent.refresh).status, 200)),
        1
    );
    let list = || assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 200);
    assert_eq!(calls(&list), 1);
    let search = || {
        let response = agent.call(&api, &id, "search_actions", &json!({"query": "send"}));
        assert_eq!(response.status, 200, "{}", text(&response));
    };
    assert_eq!(calls(&search), 1);
    // Tokens that were not signed here are refused before storage is queried.
    assert_eq!(
        calls(&|| assert_eq!(error(&refresh(&api, &id, &agent.client, "rt_x.y")), invalid_grant())),
        0
    );
}

/// The refresh token in a response.
fn new_refresh_token(response: &connector_vault::http::Response) -> String {
    assert_eq!(response.status, 200, "{}", text(response));
    body(response)["refresh_token"].as_str().unwrap().to_owned()
}

#[test]
fn concurrent_and_retried_refreshes_return_the_same_refresh_token() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &ALL);
    let request_token = |token: &str| refresh(&api, &id, &agent.client, token);
    let second = new_refresh_token(&request_token(&agent.refresh));
    assert_eq!(new_refresh_token(&request_token(&agent.refresh)), second);
    // The predecessor stays valid until the successor is first used, even a day later.
    api.env.wait(24 * 3_600_000);
    assert_eq!(new_refresh_token(&request_token(&agent.refresh)), second);
    let third = new_refresh_token(&request_token(&second));
    // Then the predecessor stays valid for another minute.
    api.env.wait(59_999);
    assert_eq!(new_refresh_token(&request_token(&agent.refresh)), second);
    assert_eq!(new_refresh_token(&request_token(&second)), third);
    let fourth = new_refresh_token(&request_token(&third));
    assert_eq!(new_refresh_token(&request_token(&second)), third);
    assert_ne!(fourth, third);
    assert_eq!(count(&api), 1);
}

#[test]
fn a_replayed_refresh_token_revokes_the_grant() {
    let (api, id) = app();
    for (wait, uses) in [(60_000, 2), (0, 3)] {
        let agent = Agent::new(&api, &id, &ALL);
        let mut token = agent.refresh.clone();
        for _ in 0..uses {
            token = new_refresh_token(&refresh(&api, &id, &agent.client, &token));
        }
        assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 200);
        api.env.wait(wait);
        assert_eq!(error(&refresh(&api, &id, &agent.client, &agent.refresh)), invalid_grant());
        assert_eq!(count(&api), 0);
        assert_eq!(error(&refresh(&api, &id, &agent.client, &token)), invalid_grant());
        assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 401);
    }
}

#[test]
fn a_refresh_token_works_only_for_its_client_endpoint_and_scopes() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &[("access", "read"), ("accounts", "all")]);
    let other = "https://agent.example/client.json";
    assert_eq!(error(&refresh(&api, &id, other, &agent.refresh)), invalid_grant());
    let fields = |scope| {
        [
            ("grant_type", "refresh_token"),
            ("client_id", agent.client.as_str()),
            ("refresh_token", agent.refresh.as_str()),
            ("scope", scope),
        ]
    };
    assert_eq!(
        error(&request_token(&api, &id, &fields("read write"))),
        (400, "invalid_scope".to_owned())
    );
    assert_eq!(body(&request_token(&api, &id, &fields("read")))["scope"], "read");
    // An access token is not accepted as a refresh token, or a refresh token as an access token.
    assert_eq!(error(&refresh(&api, &id, &agent.client, &agent.access)), invalid_grant());
    let swapped = Agent { access: agent.refresh.clone(), ..agent };
    assert_eq!(swapped.call(&api, &id, "list_connections", &json!({})).status, 401);
}

#[test]
fn access_tokens_last_an_hour_and_idle_grants_thirty_days() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &ALL);
    api.env.wait(3_599_999);
    assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 200);
    api.env.wait(1);
    assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 401);
    let month = 30 * 24 * 3_600_000;
    api.env.wait(month - 3_600_000 - 1);
    let second = new_refresh_token(&refresh(&api, &id, &agent.client, &agent.refresh));
    api.env.wait(month - 1);
    let third = new_refresh_token(&refresh(&api, &id, &agent.client, &second));
    api.env.wait(month);
    assert_eq!(error(&refresh(&api, &id, &agent.client, &third)), invalid_grant());
    // The next grant deletes the expired one.
    Agent::new(&api, &id, &ALL);
    assert_eq!(count(&api), 1);
}

#[test]
fn the_lifetime_of_access_tokens_is_configured() {
    for (seconds, expected) in
        [("60", 60), ("59", 3600), ("86400", 86_400), ("86401", 3600), ("x", 3600)]
    {
        let settings = [&super::settings()[..], &[("AGENT_TOKEN_SECONDS", seconds)]].concat();
        assert_eq!(crate::support::config(&settings).agent_token_ms, expected * 1000, "{seconds}");
    }
}

#[test]
fn a_grant_ends_with_its_key() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &ALL);
    let client = register(&api, &id);
    let code = consent_code(&api, &id, &client, &ALL);
    api.env.revoke(&api.key);
    assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 401);
    assert_eq!(agent.call(&api, &id, "search_actions", &json!({"query": "send"})).status, 401);
    assert_eq!(error(&refresh(&api, &id, &agent.client, &agent.refresh)), invalid_grant());
    assert_eq!(error(&exchange(&api, &id, &client, &code)), invalid_grant());
}

#[test]
fn an_agent_that_requested_only_reads_gets_insufficient_scope() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &ALL);
    let read = [
        ("grant_type", "refresh_token"),
        ("client_id", agent.client.as_str()),
        ("refresh_token", agent.refresh.as_str()),
        ("scope", "read"),
    ];
    let tokens = body(&request_token(&api, &id, &read));
    let agent = Agent { access: tokens["access_token"].as_str().unwrap().to_owned(), ..agent };
    let response = agent.call(&api, &id, "start_connect", &json!({"platform": "acme"}));
    assert_eq!(response.status, 403, "{}", text(&response));
    let challenge = response.header("www-authenticate").unwrap();
    let metadata = format!("{ORIGIN}/.well-known/oauth-protected-resource/mcp/{id}");
    let expected = format!(
        "Bearer error=\"insufficient_scope\", resource_metadata=\"{metadata}\", scope=\"read write\""
    );
    assert_eq!(challenge, expected);
    assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 200);
}

#[test]
fn an_agent_whose_user_allowed_only_reads_gets_a_tool_error() {
    let (api, id) = app();
    let agent = Agent::new(&api, &id, &[("access", "read"), ("accounts", "all")]);
    let response = agent.call(&api, &id, "start_connect", &json!({"platform": "acme"}));
    assert_eq!((response.status, response.header("www-authenticate")), (200, None));
    let result = &body(&response)["result"];
    assert_eq!(result["isError"], true);
    let problem = result["content"][0]["text"].as_str().unwrap();
    assert!(problem.contains("insufficient_scope"), "{problem}");
    assert!(problem.contains(&format!("{ORIGIN}/mcp/{id}/grants")), "{problem}");
    assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 200);
}

#[test]
fn clients_can_revoke_their_grant() {
    let (api, id) = app();
    let revoke = |token: &str| {
        let request = anonymous("POST", &format!("/mcp/{id}/revoke"));
        api.send(&with_form(request, &form(&[("token", token)])))
    };
    for of_refresh in [true, false] {
        let agent = Agent::new(&api, &id, &ALL);
        let token = if of_refresh { &agent.refresh } else { &agent.access };
        assert_eq!(revoke("unknown").status, 200);
        assert_eq!(count(&api), 1);
        assert_eq!(revoke(token).status, 200);
        assert_eq!(revoke(token).status, 200);
        assert_eq!(count(&api), 0);
        assert_eq!(agent.call(&api, &id, "list_connections", &json!({})).status, 401);
        assert_eq!(error(&refresh(&api, &id, &agent.client, &agent.refresh)), invalid_grant());
    }
    assert_eq!(error(&revoke("")), (400, "invalid_request".to_owned()));
}

#[test]
fn ids_codes_and_tokens_name_the_shard() {
    let (api, id) = app();
    assert_eq!(Shard::from_secret(&id), *HOME);
    let client = register(&api, &id);
    assert_eq!(Shard::from_secret(&consent_code(&api, &id, &client, &ALL)), *HOME);
    let agent = Agent::new(&api, &id, &ALL);
    assert_eq!(connector_vault::auth::caller::shard_of(&agent.access), *HOME);
}
