//! A database that is nearly full refuses additions and accepts everything else.

use connector_vault::auth::Shard;
use connector_vault::http::Request;
use connector_vault::http::endpoint::{Endpoint, Keyed};
use connector_vault::jobs;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::connect::{self, KEYS, as_token, script, token};
use crate::sessions::SECRET;
use crate::support::{Api, as_key, body, config, with_body};
use crate::vault::{CONNECTIONS, at, code, name, patch_as, post_as, state};

const LIMIT: u64 = 1_000_000;
const FULL: u64 = 950_000;

/// Returns a service whose databases can hold [`LIMIT`] bytes.
fn api() -> Api {
    connect::api_with(&[
        ("VAULT_KEYS", KEYS),
        ("SESSION_SECRET", SECRET),
        ("MAX_DATABASE_BYTES", "1000000"),
    ])
}

/// Makes the database report this size, and sends a request so that the isolate reads it.
fn report_size(api: &Api, bytes: u64) {
    api.env.size.set(bytes);
    assert_eq!(api.get("/v1/whoami").status, 200);
}

fn json_request(api: &Api, method: &str, path: &str, document: &Value) -> Request {
    with_body(api.request(method, path), &document.to_string())
}

fn minimal(identity: &str) -> Value {
    json!({"platform": "acme", "identity": identity, "identityType": "user"})
}

fn connect_body(identity: &str, fields: &Value) -> Value {
    json!({"platform": "keyed", "identity": identity, "identityType": "user", "fields": fields})
}

#[test]
fn refuses_additions_and_allows_everything_else() {
    let api = api();
    let change =
        |method: &str, path: &str, document: &Value| json_request(&api, method, path, document);
    let key = json!({"apiKey": "k"});
    let id = api.create(&minimal("ann"))["id"].as_str().unwrap().to_owned();
    let others: Vec<String> = (0..2)
        .map(|index| api.create(&minimal(&format!("user {index}"))))
        .map(|row| row["id"].as_str().unwrap().into())
        .collect();
    let hook = json!({"url": "https://hooks.example/vault", "types": ["connection.created"]});
    let hook_id = body(&api.send(&change("POST", "/v1/webhooks", &hook)))["id"].clone();
    let hook_at = format!("/v1/webhooks/{}", hook_id.as_str().unwrap());
    script(&api, &[(200, json!({})), (200, json!({"id": "u-1"}))]);
    let kept = body(&api.send(&change("POST", "/v1/vault/connect", &connect_body("kept", &key))));
    let kept = kept["id"].as_str().unwrap().to_owned();

    let oauth = json!({"clientId": "an id", "clientSecret": "a:secret"});
    assert_eq!(api.send(&change("PUT", "/v1/oauth-clients/acme", &oauth)).status, 201);
    let credentials = |id: &str| format!("{}/credentials", at(id));
    let scopes = ["connections:write"];
    let session_token = token(&api, &json!({"identity": "ann", "scopes": scopes}));
    let adding = || {
        [
            post_as(&api.key, &minimal("eve")),
            patch_as(&api.key, &id, &json!({"tags": ["new"]})),
            change("PUT", &name(&id), &json!({"name": "Ann"})),
            change("POST", "/v1/webhooks", &hook),
            change("POST", &format!("{hook_at}/replay"), &json!({"from": "evt_0000000000001"})),
            change("POST", "/v1/keys", &json!({"scopes": ["catalog:read"]})),
            change("POST", "/v1/vault/connect", &connect_body("eve", &key)),
            change("POST", "/v1/vault/connect", &json!({"connection": kept, "fields": key})),
            as_token(&session_token, "PUT", &state(&id), &json!({"state": "degraded"})),
            change("PUT", "/v1/oauth-clients/acme?name=new", &oauth),
            change("PUT", &credentials(&kept), &json!({"type": "api_key", "apiKey": "n"})),
        ]
    };
    // With one byte less, additions are accepted.
    report_size(&api, FULL - 1);
    api.create(&minimal("just"));
    report_size(&api, FULL);
    let before = api.env.dump();
    for request in adding() {
        let calls = api.env.db_calls.get();
        let response = api.send(&request);
        let (method, path) = (&request.method, &request.path);
        assert_eq!(
            (response.status, code(&response)),
            (507, "vault_full".into()),
            "{method} {path}"
        );
        assert_eq!(response.header("retry-after"), None);
        // Only the insert shows whether the OAuth client already exists.
        let batches = if path.starts_with("/v1/oauth-clients") { 2 } else { 1 };
        assert_eq!(api.env.db_calls.get(), calls + batches, "{method} {path}");
        assert!(response.log.unwrap().contains("950000 of 1000000 bytes (95 %)"));
        assert_eq!(api.env.dump(), before, "{method} {path}");
    }
    // These cases cover all endpoints that add rows.
    let added: Vec<Keyed> = Endpoint::ALL
        .iter()
        .filter_map(|endpoint| match endpoint {
            Endpoint::Keyed(keyed) if keyed.adds_rows() => Some(*keyed),
            _ => None,
        })
        .collect();
    assert_eq!(added.len() + 5, adding().len());
    // A reconnection that repairs the connection without adding rows is accepted.
    let fail = || {
        let sql = "UPDATE connections SET state = 'failed' WHERE id = ?1";
        api.env.current_database().execute(sql, [&kept]).unwrap();
    };
    fail();
    let tagged_body = json!({"connection": kept, "fields": key, "tags": ["new"]});
    let refusal = api.send(&change("POST", "/v1/vault/connect", &tagged_body));
    assert_eq!((refusal.status, code(&refusal)), (507, "vault_full".into()));

    for (request, status, responses) in [
        (api.request("GET", CONNECTIONS), 200, 0),
        (api.request("GET", &at(&id)), 200, 0),
        (change("PUT", &state(&id), &json!({"state": "degraded"})), 200, 0),
        (change("PUT", "/v1/oauth-clients/acme", &oauth), 200, 0),
        (change("POST", "/v1/vault/connect", &json!({"connection": kept, "fields": key})), 200, 2),
        (change("PUT", &credentials(&kept), &json!({"type": "api_key", "apiKey": "n"})), 204, 2),
        (api.request("GET", &credentials(&kept)), 200, 0),
        (change("PATCH", &hook_at, &json!({"active": false})), 200, 0),
        (api.request("DELETE", &at(&others[0])), 204, 0),
        (api.request("DELETE", &hook_at), 204, 0),
    ] {
        if responses > 0 {
            fail();
        }
        script(&api, &[(200, json!({})), (200, json!({"id": "u-1"}))][..responses]);
        let response = api.send(&request);
        let text = String::from_utf8_lossy(&response.body);
        assert_eq!(response.status, status, "{} {}: {text}", request.method, request.path);
    }
}

#[test]
fn capacity_is_checked_last() {
    let api = api();
    report_size(&api, FULL);
    let narrow = api.env.key("acme", Environment::Test, &[Scope::ConnectionsRead], None);
    let unknown = api.env.unknown_key(Environment::Test);
    let invalid_body = json!({"platform": "acme", "identity": "", "identityType": "user"});
    for (request, expected) in [
        (post_as(&unknown, &minimal("eve")), 401),
        (post_as(&narrow, &minimal("eve")), 403),
        (post_as(&api.key, &invalid_body), 400),
        (
            post_as(
                &api.key,
                &json!({"platform": "none", "identity": "a", "identityType": "user"}),
            ),
            400,
        ),
        (post_as(&api.key, &minimal("eve")), 507),
    ] {
        assert_eq!(api.send(&request).status, expected);
    }
    api.env.limited.set(true);
    assert_eq!(api.send(&post_as(&api.key, &minimal("eve"))).status, 429);
}

#[test]
fn a_refused_request_detects_freed_space() {
    let api = api();
    report_size(&api, LIMIT);
    api.env.size.set(FULL - 1);
    assert_eq!(api.send(&post_as(&api.key, &minimal("ann"))).status, 507);
    assert_eq!(api.send(&post_as(&api.key, &minimal("ann"))).status, 201);
}

#[test]
fn a_full_database_does_not_affect_another() {
    let mut api = api();
    let other = Shard::new(7).unwrap();
    api.env.add(other);
    let zoo = api.env.key_in(other, "zoo", Environment::Test, &Scope::ALL, None);
    report_size(&api, FULL);
    api.env.size.set(1);
    assert_eq!(api.send(&as_key(&zoo, "GET", CONNECTIONS)).status, 200);
    assert_eq!(api.send(&post_as(&zoo, &minimal("ann"))).status, 201);
    assert_eq!(api.send(&post_as(&api.key, &minimal("ann"))).status, 507);
}

#[test]
fn a_database_of_unknown_size_is_not_full() {
    let api = Api::new(config(&[("MAX_DATABASE_BYTES", "1")]));
    assert_eq!(api.get("/v1/whoami").status, 200);
    assert_eq!(api.send(&json_request(&api, "POST", "/v1/webhooks", &json!({}))).status, 400);
}

#[test]
fn the_schedule_warns_once_an_hour() {
    let api = api();
    let minute = || {
        api.env.wait(60_000);
        pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap()
    };
    api.env.size.set(800_000 - 1);
    assert!(minute().is_empty());
    api.env.size.set(800_000);
    let faults = minute();
    assert_eq!(faults.len(), 1);
    assert!(
        faults[0].starts_with("the database has 800000 of 1000000 bytes (80 %), "),
        "{faults:?}"
    );
    for _ in 0..59 {
        assert!(minute().is_empty());
    }
    api.env.size.set(990_000);
    assert!(minute()[0].contains("(99 %)"));
}
