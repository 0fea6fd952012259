//! Pending approvals, while keys are rotated and accounts move.

use connector_vault::credentials::VaultKeys;
use connector_vault::credentials::reencrypt::reencrypt;
use connector_vault::http::Service;

use super::approvals::{approval_fixture, approval_fixture_with};
use super::*;
use crate::agents::{self, Agent};
use crate::support::ORIGIN;

const NEW: &str = "two:QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=";

#[test]
fn a_pending_call_survives_key_rotation() {
    let mut approval_fixture = approval_fixture();
    let (id, url) = approval_fixture.start_pending_call();
    let (browser, page) = approval_fixture.open_as(&url, "ann");
    let service = |keys: &str| {
        Service::new(config(&[
            ("VAULT_KEYS", keys),
            ("SESSION_SECRET", "0123456789abcdef0123456789abcdef"),
            ("BASE_URL", ORIGIN),
        ]))
    };
    let both = format!("{NEW},{KEYS}");
    approval_fixture.api.service = service(&both);
    let done = pollster::block_on(reencrypt(
        &approval_fixture.api.env,
        &VaultKeys::parse(&both).unwrap(),
        99,
    ));
    assert!(done.unwrap().is_done);
    let sealed = "SELECT DISTINCT sealed_key AS row FROM agent_approvals";
    assert_eq!(approval_fixture.api.env.texts(sealed), ["two"]);
    // The old key was removed. The page that the user opened earlier still decides about the same
    // call.
    approval_fixture.api.service = service(NEW);
    let approved = approval_fixture.decide(&browser, &page, "approve");
    assert_eq!(approved.status, 200, "{}", text(&approved));
    assert_eq!(sent(&approval_fixture.api).len(), 1);
    assert_eq!(approval_fixture.outcome(&id)["status"], 201);
    // After a rotation back to the first key, the agent can still read the response.
    approval_fixture.api.service = service(&format!("{KEYS},{NEW}"));
    let back = format!("{KEYS},{NEW}");
    pollster::block_on(reencrypt(&approval_fixture.api.env, &VaultKeys::parse(&back).unwrap(), 99))
        .unwrap();
    approval_fixture.api.service = service(KEYS);
    assert_eq!(approval_fixture.outcome(&id)["status"], 201);
}

#[test]
fn a_call_of_an_agent_and_a_request_for_tokens_each_cost_one_batch() {
    let approval_fixture = approval_fixture_with(&[]);
    let api = &approval_fixture.api;
    let batches = |work: &dyn Fn() -> Response| {
        let before = api.env.db_calls.get();
        let response = work();
        assert_eq!(response.status, 200, "{}", text(&response));
        api.env.db_calls.get() - before
    };
    let calls = [
        ("search_actions", json!({"query": "thing"})),
        ("describe_action", json!({"platform": "acme", "key": "getThing"})),
        ("list_connections", json!({})),
        ("run_action", json!({"connection": approval_fixture.connection(), "key": "ping"})),
        ("call_platform", json!({"connection": approval_fixture.connection(), "path": "/x"})),
    ];
    for (tool, arguments) in &calls {
        // The first call also reads the catalog, but not from the database.
        assert_eq!(
            batches(&|| approval_fixture.agent.call(api, &approval_fixture.id, tool, arguments)),
            1,
            "{tool}"
        );
    }
    let client = agents::register(api, &approval_fixture.id);
    let code = agents::consent_code(api, &approval_fixture.id, &client, &agents::ALL);
    assert_eq!(batches(&|| agents::exchange(api, &approval_fixture.id, &client, &code)), 1);
    let Agent { client, refresh, .. } = &approval_fixture.agent;
    assert_eq!(batches(&|| agents::refresh(api, &approval_fixture.id, client, refresh)), 1);
}
