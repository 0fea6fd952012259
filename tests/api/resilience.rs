//! Lost connections to the database: each write takes effect once, each response is correct, and no
//! internal detail is revealed.

use connector_vault::http::{Request, Response};
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::support::{Api, DbFault, as_key, body, with_body, with_header};
use crate::vault::{
    CONNECTIONS, SUMMARY, UNKNOWN_ID, at, code, minimal, name, patch_as, post_as, state as state_of,
};

/// Faults of the first attempts, after which the last attempt succeeds.
const TOLERATED_FAULTS: [&[DbFault]; 6] = [
    &[DbFault::Before],
    &[DbFault::After],
    &[DbFault::Before, DbFault::Before],
    &[DbFault::After, DbFault::After],
    &[DbFault::Before, DbFault::After],
    &[DbFault::After, DbFault::Before],
];

/// Sends a request while the connection to the database is lost. Each fault causes one more
/// attempt.
fn send_with_faults(api: &Api, db_faults: &[DbFault], request: &Request) -> Response {
    *api.env.db_faults.borrow_mut() = db_faults.iter().copied().collect();
    api.env.pauses.borrow_mut().clear();
    let calls = api.env.db_calls.get();
    let response = api.send(request);
    let call_count = (api.env.db_calls.get() - calls) as usize;
    assert_eq!(call_count, db_faults.len() + 1, "{db_faults:?}");
    assert!(
        response
            .header("server-timing")
            .unwrap()
            .starts_with(&format!("d1;desc=\"calls={call_count} "))
    );
    let pauses = api.env.pauses.borrow();
    assert_eq!(pauses.len(), db_faults.len());
    // Each pause is in its own range, above the range of the previous one.
    for (index, waited) in pauses.iter().enumerate() {
        let min = 20 << (index + 1);
        assert!((min..min + 256).contains(waited), "{pauses:?}");
    }
    response
}

fn create_tagged(api: &Api, identity: &str) -> String {
    let mut document = minimal(identity);
    document["tags"] = json!(["old"]);
    api.create(&document)["id"].as_str().unwrap().to_owned()
}

/// The contents of the tables whose rows do not depend on random numbers.
fn state(api: &Api) -> (Vec<String>, Vec<String>) {
    let counts = "SELECT account || environment || active || dimension || value || n FROM connection_counts ORDER BY 1";
    let rows = "SELECT environment || identity || tags || version FROM connections ORDER BY 1";
    (api.env.texts(counts), api.env.texts(rows))
}

#[test]
fn a_retried_create_happens_once() {
    for db_faults in TOLERATED_FAULTS {
        let (api, baseline) = (Api::with_catalog(), Api::with_catalog());
        let expected = baseline.create(&minimal("ann"));
        let response = send_with_faults(&api, db_faults, &post_as(&api.key, &minimal("ann")));
        assert_eq!(
            (response.status, &body(&response)["version"]),
            (201, &json!("1")),
            "{db_faults:?}"
        );
        assert_eq!(body(&response)["key"], expected["key"]);
        assert_eq!(state(&api), state(&baseline), "{db_faults:?}");
        let id = body(&response)["id"].as_str().unwrap().to_owned();
        assert_eq!(body(&api.get(&at(&id))), body(&response));
        // If the key already existed before the request, the response reports it.
        let before = api.env.dump();
        let response = send_with_faults(&api, db_faults, &post_as(&api.key, &minimal("ann")));
        assert_eq!(
            (response.status, &body(&response)["connectionId"]),
            (409, &json!(id)),
            "{db_faults:?}"
        );
        assert_eq!(api.env.dump(), before);
    }
}

#[test]
fn a_retried_patch_happens_once() {
    for db_faults in TOLERATED_FAULTS {
        let api = Api::with_catalog();
        let id = create_tagged(&api, "ann");
        let patch = |tags: Value| patch_as(&api.key, &id, &json!({"tags": tags}));
        let reply = |response: Response| {
            let version = (response.status < 300).then(|| body(&response)["version"].clone());
            (response.status, version, response.header("etag").map(str::to_owned))
        };
        let done = |version: u32| {
            (200, Some(json!(version.to_string())), Some(format!("\"{id}-{version}\"")))
        };
        assert_eq!(
            reply(send_with_faults(&api, db_faults, &patch(json!(["new"])))),
            done(2),
            "{db_faults:?}"
        );
        let guarded = with_header(patch(json!(["newer"])), "if-match", &format!("\"{id}-2\""));
        assert_eq!(
            reply(send_with_faults(&api, db_faults, &guarded)),
            done(3),
            "{db_faults:?}: its own write does not stand in its way"
        );
        let any = with_header(patch(json!(["newest"])), "if-match", "*");
        assert_eq!(reply(send_with_faults(&api, db_faults, &any)), done(4), "{db_faults:?}");
        assert_eq!(
            reply(send_with_faults(&api, db_faults, &patch(json!(["newest"])))),
            done(4),
            "{db_faults:?}"
        );
        let before = api.env.dump();
        let stale = with_header(patch(json!(["late"])), "if-match", &format!("\"{id}-3\""));
        assert_eq!(
            reply(send_with_faults(&api, db_faults, &stale)),
            (412, None, None),
            "{db_faults:?}"
        );
        let unknown = patch_as(&api.key, UNKNOWN_ID, &json!({"tags": []}));
        assert_eq!(
            reply(send_with_faults(&api, db_faults, &unknown)),
            (404, None, None),
            "{db_faults:?}"
        );
        assert_eq!(api.env.dump(), before);
    }
}

#[test]
fn a_retried_state_or_name_change_happens_once() {
    for db_faults in TOLERATED_FAULTS {
        let api = Api::with_catalog();
        let id = create_tagged(&api, "ann");
        let put = |path: &str, document: Value, if_match: Option<u32>| {
            let request = with_body(api.request("PUT", path), &document.to_string());
            let response = match if_match {
                None => send_with_faults(&api, db_faults, &request),
                Some(version) => {
                    let tag = format!("\"{id}-{version}\"");
                    send_with_faults(&api, db_faults, &with_header(request, "if-match", &tag))
                }
            };
            let version = (response.status < 300).then(|| body(&response)["version"].clone());
            (response.status, version)
        };
        let done = |version: u32| (200, Some(json!(version.to_string())));
        let failed = || json!({"state": "failed", "active": false, "reason": "revoked"});
        assert_eq!(put(&state_of(&id), failed(), None), done(2), "{db_faults:?}");
        assert_eq!(put(&state_of(&id), failed(), None), done(2), "{db_faults:?}");
        assert_eq!(put(&state_of(&id), json!({"state": "operational"}), Some(2)), done(3));
        assert_eq!(put(&name(&id), json!({"name": "Ann"}), Some(3)), done(4), "{db_faults:?}");
        assert_eq!(put(&name(&id), json!({"name": null}), None), done(5), "{db_faults:?}");
        let before = api.env.dump();
        assert_eq!(put(&name(&id), json!({"name": "late"}), Some(4)), (412, None), "{db_faults:?}");
        assert_eq!(put(&state_of(&id), failed(), Some(4)), (412, None), "{db_faults:?}");
        assert_eq!(put(&state_of(UNKNOWN_ID), failed(), None), (404, None), "{db_faults:?}");
        assert_eq!(api.env.dump(), before);
    }
}

#[test]
fn a_retried_delete_happens_once() {
    for db_faults in TOLERATED_FAULTS {
        let api = Api::with_catalog();
        let kept = create_tagged(&api, "kept");
        let before = api.env.dump_without_events();
        for guarded in [false, true] {
            let id = create_tagged(&api, "ann");
            let mut request = api.request("DELETE", &at(&id));
            if guarded {
                request = with_header(request, "if-match", &format!("\"{id}-1\""));
            }
            let response = send_with_faults(&api, db_faults, &request);
            assert_eq!((response.status, response.body.len()), (204, 0), "{db_faults:?}");
            assert_eq!(api.env.dump_without_events(), before, "{db_faults:?}");
            let deleted =
                "SELECT type FROM events WHERE type = 'connection.deleted' AND connection_id = ";
            assert_eq!(api.env.texts(&format!("{deleted}'{id}'")).len(), 1, "{db_faults:?}");
        }
        let stale = with_header(api.request("DELETE", &at(&kept)), "if-match", "\"x\"");
        assert_eq!(send_with_faults(&api, db_faults, &stale).status, 412, "{db_faults:?}");
        assert_eq!(api.env.dump_without_events(), before, "{db_faults:?}");
        // Another tenant's connection is unchanged in each case.
        let other_key = api.env.key("beta", Environment::Test, &Scope::ALL, None);
        api.mark_key_used(&other_key);
        let before = api.env.dump();
        let foreign = send_with_faults(&api, db_faults, &as_key(&other_key, "DELETE", &at(&kept)));
        let unknown =
            send_with_faults(&api, db_faults, &as_key(&other_key, "DELETE", &at(UNKNOWN_ID)));
        assert_eq!((foreign.status, &foreign.body), (unknown.status, &unknown.body));
        assert_eq!(api.env.dump(), before, "{db_faults:?}");
    }
}

#[test]
fn reads_are_retried() {
    let api = Api::with_catalog();
    let id = create_tagged(&api, "ann");
    create_tagged(&api, "bob");
    for path in [
        CONNECTIONS.to_owned(),
        format!("{CONNECTIONS}?limit=1"),
        format!("{CONNECTIONS}?q=a"),
        at(&id),
        SUMMARY.to_owned(),
    ] {
        let baseline = api.get(&path);
        for db_faults in TOLERATED_FAULTS {
            let response = send_with_faults(&api, db_faults, &api.request("GET", &path));
            assert_eq!((response.status, &response.body), (200, &baseline.body), "{path}");
            for name in ["etag", "link"] {
                assert_eq!(response.header(name), baseline.header(name));
            }
        }
    }
}

/// Returns one request of each type about a connection.
fn requests_about(api: &Api, id: &str) -> Vec<Request> {
    vec![
        api.request("GET", CONNECTIONS),
        api.request("GET", &at(id)),
        api.request("GET", SUMMARY),
        post_as(&api.key, &minimal("new")),
        patch_as(&api.key, id, &json!({"tags": ["new"]})),
        with_body(api.request("PUT", &state_of(id)), r#"{"state":"failed","active":false}"#),
        with_body(api.request("PUT", &name(id)), r#"{"name":"new"}"#),
        api.request("DELETE", &at(id)),
    ]
}

fn assert_unavailable(api: &Api, response: &Response) {
    assert_eq!((response.status, code(response).as_str()), (503, "unavailable"));
    assert_eq!(response.header("retry-after"), Some("5"));
    assert_eq!(response.header("cache-control"), Some("private, no-store"));
    for name in ["etag", "link", "location"] {
        assert_eq!(response.header(name), None);
    }
    let text = String::from_utf8_lossy(&response.body).into_owned();
    for inside in ["secret", "D1", "SQL", "lost", "table", "api_keys", "connections"] {
        assert!(!text.contains(inside), "{text}");
    }
    let log = response.log.as_ref().unwrap();
    assert!(log.contains("D1_ERROR") && log.contains(response.header("x-request-id").unwrap()));
    assert!(!log.contains(api.key.reveal()));
}

#[test]
fn three_lost_responses_are_reported() {
    for index in 0..8 {
        for db_fault in [DbFault::Before, DbFault::After] {
            let api = Api::with_catalog();
            let id = create_tagged(&api, "ann");
            let (before, calls) = (api.env.dump(), api.env.db_calls.get());
            *api.env.db_faults.borrow_mut() = [db_fault; 3].into();
            let response = api.send(&requests_about(&api, &id)[index]);
            assert_unavailable(&api, &response);
            assert_eq!((api.env.db_calls.get() - calls, api.env.pauses.borrow().len()), (3, 2));
            if db_fault == DbFault::Before {
                assert_eq!(api.env.dump(), before);
            }
            assert!(api.env.db_faults.borrow().is_empty());
            // The outage is reported before all errors except a missing key.
            assert_eq!(api.send(&crate::support::anonymous("GET", CONNECTIONS)).status, 401);
        }
    }
}

#[test]
fn a_busy_database_is_retried() {
    let api = Api::with_catalog();
    let id = create_tagged(&api, "ann");
    for request in requests_about(&api, &id) {
        let before = api.env.dump();
        *api.env.db_faults.borrow_mut() = [DbFault::Busy; 8].into();
        api.env.pauses.borrow_mut().clear();
        assert_unavailable(&api, &api.send(&request));
        assert_eq!(api.env.dump(), before, "{request:?}");
        let waited: u32 = api.env.pauses.borrow().iter().sum();
        assert!((5000..7000).contains(&waited), "{waited} ms");
    }
    let response = send_with_faults(&api, &[DbFault::Busy; 7], &post_as(&api.key, &minimal("bob")));
    assert_eq!((response.status, &body(&response)["version"]), (201, &json!("1")));
}

#[test]
fn other_failures_are_not_retried() {
    let api = Api::with_catalog();
    let id = create_tagged(&api, "ann");
    let before = api.env.dump();
    for request in requests_about(&api, &id) {
        api.env.db_fails.set(true);
        let calls = api.env.db_calls.get();
        assert_unavailable(&api, &api.send(&request));
        assert_eq!(
            (api.env.db_calls.get() - calls, api.env.pauses.borrow().len()),
            (1, 0),
            "{request:?}"
        );
        api.env.db_fails.set(false);
        assert_eq!(api.env.dump(), before, "{request:?}");
    }
    // A lost connection is still retried.
    *api.env.db_faults.borrow_mut() = [DbFault::Before].into();
    assert_eq!(api.get(CONNECTIONS).status, 200);
}

#[test]
fn a_failed_batch_is_rolled_back() {
    let api = Api::with_catalog();
    let id = create_tagged(&api, "ann");
    let before = api.env.dump();
    // Fails the batch partway through: after the connection's row is inserted, when its tags are
    // written.
    api.env.database.execute_batch("CREATE TEMP TRIGGER broken AFTER INSERT ON main.connection_tags BEGIN SELECT RAISE(ABORT, 'D1_ERROR broken at /secret/path'); END").unwrap();
    let mut document = minimal("new");
    document["tags"] = json!(["x"]);
    for request in [post_as(&api.key, &document), patch_as(&api.key, &id, &json!({"tags": ["x"]}))]
    {
        assert_unavailable(&api, &api.send(&request));
        assert_eq!(api.env.dump(), before, "{request:?}");
    }
}

#[test]
fn a_damaged_row_is_reported_and_never_returned() {
    let api = Api::with_catalog();
    let id = create_tagged(&api, "ann");
    create_tagged(&api, "bob");
    api.env.database.execute_batch("PRAGMA ignore_check_constraints = ON; UPDATE connections SET state = 'D1_ERROR' WHERE identity = 'ann'").unwrap();
    for path in [CONNECTIONS.to_owned(), at(&id), format!("{CONNECTIONS}?limit=2")] {
        let response = api.get(&path);
        assert_eq!((response.status, code(&response).as_str()), (503, "unavailable"), "{path}");
        assert!(!String::from_utf8_lossy(&response.body).contains("D1_ERROR"));
    }
}
