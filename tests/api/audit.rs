//! The audit records every change and every read of credentials with the right actor, and contains
//! no secret.

mod random;

use connector_vault::auth::key::ApiKey;
use connector_vault::http::endpoint::{Endpoint, Keyed};
use connector_vault::http::{Request, Response};
use connector_vault::jobs;
use connector_vault::terms::{ActorType, AuditAction, Environment, Scope};
use serde_json::{Value, json};

use crate::agents;
use crate::connect::{
    self, ann_connect_body, connected, consent_at_platform, script, send, set_client, start_attempt,
};
use crate::openapi::fixture::{Fixture, audit_actions};
use crate::support::{Api, DbFault, anonymous, as_key, body, column, with_body};
use crate::vault::{CONNECTIONS, UNKNOWN_ID, at, minimal};

const AUDIT: &str = "/v1/audit";

fn id_of(api: &Api, key: &ApiKey) -> String {
    api.env.texts(&format!("SELECT id FROM api_keys WHERE hash = '{}'", key.hash())).remove(0)
}

/// The audit entries of the request with this response: action, type of actor, actor and target.
fn entries_of(api: &Api, response: &Response) -> Vec<String> {
    let request = response.header("x-request-id").unwrap();
    api.env.texts(&format!(
        "SELECT concat_ws(' ', action, actor_type, actor, target) FROM audit WHERE request_id = '{request}' ORDER BY seq"
    ))
}

/// The action, actor type and actor of all entries, oldest first.
fn all_entries(api: &Api) -> Vec<String> {
    api.env.texts("SELECT concat_ws(' ', action, actor_type, actor) FROM audit ORDER BY seq")
}

#[test]
fn every_endpoint_that_changes_something_writes_an_entry() {
    for endpoint in Endpoint::ALL {
        let Endpoint::Keyed(endpoint) = *endpoint else { continue };
        let fixture = Fixture::new();
        let request = fixture.request(endpoint);
        let response = fixture.api.send(&request);
        assert!(response.status < 300, "{endpoint:?}");
        let actor = match endpoint {
            Keyed::SignOut => "person ann@example.com".to_owned(),
            _ => format!("key {}", id_of(&fixture.api, &fixture.api.key)),
        };
        let entries = entries_of(&fixture.api, &response);
        let by_actor = |entry: &String| entry.contains(&format!(" {actor} "));
        assert!(entries.iter().all(by_actor), "{endpoint:?}: {entries:?}");
        let mut actions: Vec<&str> =
            entries.iter().map(|entry| entry.split(' ').next().unwrap()).collect();
        actions.sort_unstable();
        let expected = audit_actions(endpoint).unwrap_or_default();
        assert_eq!(actions, expected, "{endpoint:?}");
        let left = fixture.api.env.texts("SELECT request_id FROM audit_context");
        assert_eq!(left, [""; 0], "{endpoint:?}");
    }
}

#[test]
fn a_request_that_changes_nothing_writes_no_entry() {
    for endpoint in Endpoint::ALL {
        let Endpoint::Keyed(endpoint) = *endpoint else { continue };
        if audit_actions(endpoint).is_err() {
            continue;
        }
        let fixture = Fixture::new();
        let request = fixture.request(endpoint);
        let none = fixture.api.env.key("acme", Environment::Test, &[], None);
        let other = fixture.api.env.key("other", Environment::Test, &Scope::ALL, None);
        let revoked = fixture.api.env.key("acme", Environment::Test, &Scope::ALL, None);
        fixture.api.env.revoke(&revoked);
        let before = all_entries(&fixture.api);
        for key in [&none, &revoked] {
            let headers = as_key(key, "GET", "/").headers;
            let mut refused = Request { ..request.clone() };
            refused.headers.retain(|(name, _)| name != "x-service-secret");
            refused.headers.extend(headers);
            assert!(fixture.api.send(&refused).status >= 400, "{endpoint:?}");
        }
        assert_eq!(all_entries(&fixture.api), before, "{endpoint:?}");
        // Entries of another account are not listed.
        let other_entries = as_key(&other, "GET", AUDIT);
        let other_entries = column(&fixture.api.send(&other_entries), "action");
        assert_eq!(other_entries, ["key.created"], "{endpoint:?}");
    }
}

#[test]
fn entries_are_shown_with_actor_target_request_and_time() {
    let api = connect::api();
    let key = id_of(&api, &api.key);
    let response = send(&api, "POST", CONNECTIONS, &ann_connect_body("acme"));
    let id = body(&response)["id"].clone();
    let page = body(&api.get(&format!("{AUDIT}?limit=1")));
    let entry = &page["rows"][0];
    let digits = entry["id"].as_str().unwrap().strip_prefix("aud_").unwrap();
    assert_eq!(digits.len(), 25, "{entry}");
    let expected = json!({
        "id": entry["id"], "at": "2027-01-15T08:00:00.000Z", "action": "connection.created",
        "actor": {"type": "key", "id": key, "keyId": key},
        "target": {"type": "connection", "id": id},
        "requestId": response.header("x-request-id").unwrap(), "count": 1,
    });
    assert_eq!(entry, &expected);
    assert_eq!(page["next"], entry["id"]);
}

#[test]
fn reads_of_credentials_are_counted_by_key_connection_and_minute() {
    let api = connect::api();
    let [one, two] = ["ann", "bob"].map(|identity| {
        let mut payload = ann_connect_body("keyed");
        payload["identity"] = json!(identity);
        payload["fields"] = json!({"apiKey": format!("secret of {identity}")});
        script(&api, &[(200, json!({})), (200, json!({"id": identity}))]);
        let response = connect::connect(&api, &payload);
        body(&response)["id"].as_str().unwrap_or_else(|| panic!("{}", body(&response))).to_owned()
    });
    let other = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let read = |key: &ApiKey, id: &str| {
        let response = api.send(&as_key(key, "GET", &format!("{}/credentials", at(id))));
        assert_eq!(response.status, 200, "{}", body(&response));
        response.header("x-request-id").unwrap().to_owned()
    };
    let to_minute = 60_000 - api.env.now.get() % 60_000;
    for _ in 0..3 {
        read(&api.key, &one);
    }
    let last = read(&api.key, &one);
    read(&api.key, &two);
    read(&other, &one);
    api.env.wait(to_minute);
    read(&api.key, &one);
    let page = body(&api.get(&format!("{AUDIT}?actions=credentials.read")));
    let rows: Vec<(&str, &str, u64)> = page["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let (actor, target) = (row["actor"]["id"].as_str(), row["target"]["id"].as_str());
            (actor.unwrap(), target.unwrap(), row["count"].as_u64().unwrap())
        })
        .collect();
    let (own, others) = (id_of(&api, &api.key), id_of(&api, &other));
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0], (own.as_str(), one.as_str(), 1));
    for expected in [
        (own.as_str(), one.as_str(), 4),
        (own.as_str(), two.as_str(), 1),
        (others.as_str(), one.as_str(), 1),
    ] {
        assert!(rows.contains(&expected), "{expected:?} {rows:?}");
    }
    let counted = page["rows"].as_array().unwrap().iter().find(|row| row["count"] == 4).unwrap();
    assert_eq!(counted["requestId"], last.as_str());
    // Reading the credentials of an unknown connection is not recorded.
    let missing = api.get(&format!("{}/credentials", at(UNKNOWN_ID)));
    assert_eq!((missing.status, entries_of(&api, &missing).len()), (404, 0));
}

#[test]
fn a_batch_that_runs_twice_writes_one_entry() {
    let api = connect::api();
    set_client(&api, "acme");
    let id = connected(
        &api,
        &ann_connect_body("acme"),
        &json!({"access_token": "at", "expires_in": 3600}),
    );
    let webhook = body(&send(&api, "POST", "/v1/webhooks", &json!({"url": "https://a.example/"})));
    let webhook = format!("/v1/webhooks/{}", webhook["id"].as_str().unwrap());
    let client = json!({"clientId": "other", "clientSecret": null, "scopes": ["read"]});
    for (method, path, payload, expected) in [
        ("PUT", "/v1/oauth-clients/acme", client, "oauth_client.updated"),
        ("PATCH", &webhook, json!({"description": "x"}), "webhook.updated"),
        ("PATCH", &at(&id), json!({"tags": ["x"]}), "connection.updated"),
        ("GET", &format!("{}/credentials", at(&id)), Value::Null, "credentials.read"),
        ("DELETE", &at(&id), Value::Null, "connection.deleted"),
    ] {
        *api.env.db_faults.borrow_mut() = [DbFault::After].into();
        let request = api.request(method, path);
        let request =
            if payload.is_null() { request } else { with_body(request, &payload.to_string()) };
        let response = api.send(&request);
        assert!(response.status < 300, "{method} {path}: {}", body(&response));
        let entries = entries_of(&api, &response);
        assert_eq!(entries.len(), 1, "{method} {path}: {entries:?}");
        assert!(entries[0].starts_with(expected), "{entries:?}");
        assert!(api.env.db_faults.borrow().is_empty());
    }
    let counts = api.env.texts("SELECT action FROM audit WHERE count <> 1");
    assert_eq!(counts, [""; 0]);
}

#[test]
fn people_tokens_and_agents_are_recorded_as_actors() {
    let (api, endpoint) = agents::app();
    let key = id_of(&api, &api.key);
    set_client(&api, "acme");
    // A user connects an account in a browser.
    let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
    consent_at_platform(&api, &link, &json!({"access_token": "at"}));
    // The holder of a token changes the connection.
    let session = json!({"identity": "ann", "scopes": ["connections:read", "connections:write"]});
    let token = connect::token(&api, &session);
    let id = api.env.texts("SELECT id FROM connections").remove(0);
    let patch = connect::as_token(&token, "PATCH", &at(&id), &json!({"tags": ["x"]}));
    assert_eq!(api.send(&patch).status, 200);
    // A user consents to an agent, which then revokes its own token.
    let agent = agents::Agent::new(&api, &endpoint, &agents::ALL);
    let grant = api.env.texts("SELECT id FROM agent_grants").remove(0);
    let revoke = anonymous("POST", &format!("/mcp/{endpoint}/revoke"));
    let revoke = agents::with_form(revoke, &agents::form(&[("token", &agent.refresh)]));
    assert_eq!(api.send(&revoke).status, 200);
    // A user declines to give an agent access.
    let client = agents::register(&api, &endpoint);
    let (browser, page) = agents::open_consent_page(&api, &endpoint, &client, &json!({}));
    let declined = agents::hidden_field(&page, "grant");
    browser.decide(&api, &endpoint, &[("grant", &declined), ("decision", "decline")]);
    let expected = [
        "key.created service".to_owned(),
        format!("agent_sign_in.updated key {key}"),
        format!("oauth_client.created key {key}"),
        "connection.created person ann".into(),
        "connection.updated token ann".into(),
        format!("agent_grant.requested key {key}"),
        "agent_grant.created person ann".into(),
        format!("agent_grant.revoked grant {grant}"),
        format!("agent_grant.requested key {key}"),
        "agent_grant.declined person ann".into(),
    ];
    assert_eq!(all_entries(&api), expected);
    // All of these actors act through the key, which the entries also name. A filter by actor finds the entries of each.
    let keys = api.env.texts("SELECT DISTINCT key_id FROM audit WHERE key_id IS NOT NULL");
    assert_eq!(keys, [key.as_str()]);
    for (actor, count) in [("ann", 4), (grant.as_str(), 1), (key.as_str(), 4)] {
        let found = column(&api.get(&format!("{AUDIT}?actor={actor}")), "id");
        assert_eq!(found.len(), count, "{actor}");
    }
}

#[test]
fn each_key_revoked_with_its_creator_has_an_entry() {
    let api = connect::api();
    let create = |key: &ApiKey| {
        let payload = json!({"scopes": ["catalog:read", "keys:read", "keys:write"]});
        let request = with_body(as_key(key, "POST", "/v1/keys"), &payload.to_string());
        let created = body(&api.send(&request));
        let secret = ApiKey::parse(created["secret"].as_str().unwrap()).unwrap();
        (created["id"].as_str().unwrap().to_owned(), secret)
    };
    let (first, secret) = create(&api.key);
    let (second, _) = create(&secret);
    let response = api.send(&api.request("DELETE", &format!("/v1/keys/{first}")));
    let own = id_of(&api, &api.key);
    let mut expected = [first, second].map(|id| format!("key.revoked key {own} {id}"));
    expected.sort();
    let mut entries = entries_of(&api, &response);
    entries.sort();
    assert_eq!(entries, expected);
}

#[test]
fn background_jobs_have_no_actor() {
    let api = connect::maintenance::api_at_current_time();
    set_client(&api, "acme");
    let tokens = json!({"access_token": "at", "refresh_token": "rt", "expires_in": 1});
    let id = connected(&api, &ann_connect_body("acme"), &tokens);
    api.env.wait(10_000);
    script(
        &api,
        &[(400, json!({"error": "invalid_grant"})), (400, json!({"error": "invalid_grant"}))],
    );
    // The caller is the actor of the read, but not of the failure: the platform ended the grant.
    for _ in 0..2 {
        api.get(&format!("{}/credentials", at(&id)));
        api.env.wait(120_000);
    }
    let changes: Vec<String> = all_entries(&api)
        .into_iter()
        .filter(|entry| entry.starts_with("connection.state_changed"))
        .collect();
    assert!(!changes.is_empty());
    assert!(changes.iter().all(|entry| entry == "connection.state_changed service"), "{changes:?}");
}

#[test]
fn filters_combine_with_paging() {
    let api = Api::with_catalog();
    let other = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let live_key = api.env.key("acme", Environment::Live, &Scope::ALL, None);
    let (own, others) = (id_of(&api, &api.key), id_of(&api, &other));
    let mut ids = Vec::new();
    for index in 0..30 {
        api.env.wait(1000);
        let key = if index % 3 == 0 { &other } else { &api.key };
        let created = api.send(&crate::vault::post_as(key, &minimal(&format!("id-{index}"))));
        ids.push(body(&created)["id"].as_str().unwrap().to_owned());
        if index % 5 == 0 {
            let patch = crate::vault::patch_as(key, &ids[index], &json!({"tags": ["x"]}));
            assert_eq!(api.send(&patch).status, 200);
        }
    }
    let walk = |query: &str| {
        let (mut actions, mut before) = (Vec::new(), String::new());
        loop {
            let page = body(&api.get(&format!("{AUDIT}?limit=4{query}{before}")));
            let rows = page["rows"].as_array().unwrap_or_else(|| panic!("{page}")).clone();
            assert!(rows.len() <= 4);
            actions.extend(rows);
            let Some(next) = page["next"].as_str() else { break };
            before = format!("&before={next}");
        }
        actions
    };
    let rows = walk("");
    // The audit also contains the creation of this environment's two keys.
    assert_eq!(rows.len(), 30 + 6 + 2);
    let sorted: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert!(sorted.windows(2).all(|pair| pair[0] > pair[1]));
    for (query, count) in [
        (format!("&actor={own}"), 20 + 4),
        (format!("&actor={others}"), 10 + 2),
        (format!("&actor={others}&actions=connection.updated"), 2),
        ("&actions=connection.updated".into(), 6),
        ("&actions=connection.updated,connection.created".into(), 36),
        (format!("&connection={}", ids[0]), 2),
        (format!("&target={}", ids[1]), 1),
        (format!("&target={}&connection={}", ids[0], ids[0]), 2),
        (format!("&target={}&connection={}", ids[1], ids[0]), 0),
        (format!("&connection={}&actor={own}", ids[0]), 0),
        (format!("&connection={}&actor={others}&actions=connection.updated", ids[0]), 1),
        (format!("&connection={UNKNOWN_ID}"), 0),
        ("&from=2027-01-15T08:00:30Z".into(), 1),
        ("&from=2027-01-15T08:00:29Z&to=2027-01-15T08:00:30Z".into(), 1),
        ("&to=2027-01-15T08:00:02Z".into(), 4),
        ("&from=2027-01-15T09:00:00Z".into(), 0),
    ] {
        assert_eq!(walk(&query).len(), count, "{query}");
    }
    let other_entries = column(&api.send(&as_key(&live_key, "GET", AUDIT)), "action");
    assert_eq!(other_entries, ["key.created"]);
}

#[test]
fn selective_filters_scan_a_bounded_number_of_entries() {
    let api = Api::with_catalog();
    let insert = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2500) INSERT INTO audit (account, environment, id, at, action, actor_type, target_type, target) SELECT 'acme', 'test', printf('aud_%011x%014x', 1800000000000, n), 1800000000000, iif(n = 1, 'key.revoked', 'key.created'), 'operator', 'key', 'k' FROM n";
    api.env.database.execute_batch(insert).unwrap();
    let (mut pages, mut before, mut found) = (0, String::new(), 0);
    loop {
        let response = api.get(&format!("{AUDIT}?actions=key.revoked{before}"));
        pages += 1;
        let page = body(&response);
        found += page["rows"].as_array().unwrap().len();
        let Some(next) = page["next"].as_str() else { break };
        before = format!("&before={next}");
    }
    assert_eq!((pages, found), (3, 1));
}

#[test]
fn reports_errors_of_a_query() {
    let api = Api::with_catalog();
    for query in [
        "actions=key.made",
        "connection=x",
        "from=yesterday",
        "to=2027",
        "before=evt_0000000000001",
        "before=aud_",
        "limit=0",
        "limit=501",
        "actor=",
        "since=x",
    ] {
        let response = api.get(&format!("{AUDIT}?{query}"));
        assert_eq!(response.status, 400, "{query}");
    }
    let none = api.env.key("acme", Environment::Test, &[Scope::EventsRead], None);
    assert_eq!(api.send(&as_key(&none, "GET", AUDIT)).status, 403);
}

#[test]
fn old_entries_are_hidden_and_then_deleted_in_bounded_steps() {
    let api = Api::with_catalog();
    let insert = "DELETE FROM audit; WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 4500) INSERT INTO audit (account, environment, id, at, action, actor_type, target_type, target) SELECT 'acme', 'test', printf('aud_%011x%014x', 1800000000000, n), 1800000000000, 'key.created', 'operator', 'key', 'k' FROM n";
    api.env.database.execute_batch(insert).unwrap();
    let left = || api.env.texts("SELECT concat(count(*)) FROM audit").remove(0);
    let day = 24 * 60 * 60 * 1000;
    let run = || pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
    api.env.wait(89 * day);
    run();
    assert_eq!((left().as_str(), column(&api.get(AUDIT), "id").len()), ("4500", 20));
    api.env.wait(day + 1);
    assert_eq!((left().as_str(), column(&api.get(AUDIT), "id").len()), ("4500", 0));
    for expected in ["2500", "500", "0", "0"] {
        run();
        assert_eq!(left(), expected);
    }
}

#[test]
fn the_old_copy_of_a_moved_account_does_not_delay_the_deletion() {
    let api = Api::with_catalog();
    let insert = |account: &str, count: u32| {
        format!(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {count}) INSERT INTO audit (account, environment, id, at, action, actor_type, target_type, target) SELECT '{account}', 'test', printf('aud_%011x%014x', 1800000000000, n), 1800000000000, 'key.created', 'operator', 'key', 'k' FROM n;"
        )
    };
    let sql = format!(
        "DELETE FROM audit; {} {} INSERT INTO account_moves (account, step, other, began_at, left_at) VALUES ('gone', 'left', 1, 0, 0)",
        insert("gone", 2001),
        insert("acme", 50)
    );
    api.env.database.execute_batch(&sql).unwrap();
    api.env.wait(91 * 24 * 60 * 60 * 1000);
    pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
    let left = api.env.texts("SELECT concat(account, ' ', count(*)) FROM audit GROUP BY account");
    assert_eq!(left, ["gone 2001"]);
}

#[test]
fn trigger_names_match_the_code() {
    let schema = std::fs::read_to_string("schema/0001_init.sql").unwrap();
    for action in AuditAction::NAMES.iter().filter(|name| **name != "credentials.read") {
        assert!(schema.contains(&format!("'{action}'")), "{action}");
    }
    for actor in ActorType::NAMES {
        assert!(schema.contains(&format!("'{actor}'")), "{actor}");
    }
}
