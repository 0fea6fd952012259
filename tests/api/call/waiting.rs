//! Calls that wait for approval, while keys are rotated and accounts move.

use connector_vault::credentials::VaultKeys;
use connector_vault::credentials::reencrypt::reencrypt;
use connector_vault::http::Service;

use super::approvals::{story, story_with};
use super::*;
use crate::agents::{self, Agent};
use crate::support::ORIGIN;

const NEW: &str = "two:QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=";

#[test]
fn a_call_that_waits_survives_the_rotation_of_keys() {
    let mut story = story();
    let (id, url) = story.waiting();
    let (browser, page) = story.opened_by(&url, "ann");
    let service = |keys: &str| {
        Service::new(config(&[
            ("VAULT_KEYS", keys),
            ("SESSION_SECRET", "0123456789abcdef0123456789abcdef"),
            ("BASE_URL", ORIGIN),
        ]))
    };
    let both = format!("{NEW},{KEYS}");
    story.api.service = service(&both);
    let done =
        pollster::block_on(reencrypt(&story.api.world, &VaultKeys::parse(&both).unwrap(), 99));
    assert!(done.unwrap().is_done);
    let sealed = "SELECT DISTINCT sealed_key AS row FROM agent_approvals";
    assert_eq!(story.api.world.texts(sealed), ["two"]);
    // The old key is gone. The page that the user has open still decides about the same call.
    story.api.service = service(NEW);
    let approved = story.decide(&browser, &page, "approve");
    assert_eq!(approved.status, 200, "{}", text(&approved));
    assert_eq!(sent(&story.api).len(), 1);
    assert_eq!(story.outcome(&id)["status"], 201);
    // So does the response that it waits for.
    story.api.service = service(&format!("{KEYS},{NEW}"));
    let back = format!("{KEYS},{NEW}");
    pollster::block_on(reencrypt(&story.api.world, &VaultKeys::parse(&back).unwrap(), 99)).unwrap();
    story.api.service = service(KEYS);
    assert_eq!(story.outcome(&id)["status"], 201);
}

#[test]
fn a_call_of_an_agent_and_a_request_for_tokens_each_cost_one_batch() {
    let story = story_with(&[]);
    let api = &story.api;
    let batches = |work: &dyn Fn() -> Response| {
        let before = api.world.db_calls.get();
        let response = work();
        assert_eq!(response.status, 200, "{}", text(&response));
        api.world.db_calls.get() - before
    };
    let calls = [
        ("search_actions", json!({"query": "thing"})),
        ("describe_action", json!({"platform": "acme", "key": "getThing"})),
        ("list_connections", json!({})),
        ("run_action", json!({"connection": story.connection(), "key": "ping"})),
        ("call_platform", json!({"connection": story.connection(), "path": "/x"})),
    ];
    for (tool, arguments) in &calls {
        // The first call also reads the catalog, but not from the database.
        assert_eq!(batches(&|| story.agent.call(api, &story.id, tool, arguments)), 1, "{tool}");
    }
    let client = agents::register(api, &story.id);
    let code = agents::agreed(api, &story.id, &client, &agents::ALL);
    assert_eq!(batches(&|| agents::exchange(api, &story.id, &client, &code)), 1);
    let Agent { client, refresh, .. } = &story.agent;
    assert_eq!(batches(&|| agents::refresh(api, &story.id, client, refresh)), 1);
}
