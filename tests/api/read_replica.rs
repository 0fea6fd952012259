//! Read replicas: the guarantees that hold despite their lag, and those that don't.
//! `docs/scaling.md` has the table.

use connector_vault::auth::Shard;
use connector_vault::http::endpoint::{Access, Endpoint, Keyed};
use connector_vault::http::handle::handle;
use connector_vault::http::{Request, Response, Service};
use connector_vault::terms::{Environment, Method, Scope};
use serde_json::{Value, json};

use crate::connect;
use crate::support::{Api, DbFault, HOME, as_key, body, column, config, with_body, with_header};
use crate::vault::{CONNECTIONS, next};

const BOOKMARK: &str = "x-vault-bookmark";
const ANY_REPLICA: &str = "first-unconstrained";
const UNKNOWN_ID: &str = "00000000-0000-4000-8000-000000000000";

fn other_shard() -> Shard {
    Shard::new(if *HOME == Shard::FIRST { 62 } else { 0 }).unwrap()
}

/// Returns a service with connections of these identities, and a replica of the database.
fn api(identities: &[&str]) -> Api {
    let mut api = connect::api();
    for identity in identities {
        create(&api, identity, None);
    }
    api.env.update_replicas();
    api
}

fn request_since(api: &Api, method: &str, path: &str, since: Option<&str>) -> Request {
    let request = api.request(method, path);
    match since {
        Some(since) => with_header(request, BOOKMARK, since),
        None => request,
    }
}

fn get(api: &Api, path: &str, since: Option<&str>) -> Response {
    api.send(&request_since(api, "GET", path, since))
}

fn create(api: &Api, identity: &str, since: Option<&str>) -> Response {
    let payload = json!({"platform": "acme", "identity": identity, "identityType": "user"});
    let created =
        api.send(&with_body(request_since(api, "POST", CONNECTIONS, since), &payload.to_string()));
    assert_eq!(created.status, 201, "{}", body(&created));
    created
}

fn bookmark(response: &Response) -> String {
    response.header(BOOKMARK).unwrap().to_owned()
}

/// The identities in a list. Checks that `total` matches their number.
fn listed_identities(response: &Response) -> Vec<String> {
    assert_eq!(response.status, 200, "{}", body(response));
    let mut identities = column(response, "identity");
    assert_eq!(body(response)["total"], json!(identities.len()));
    identities.sort();
    identities
}

/// The number of batches that replicas have executed so far.
fn replica_batches(api: &Api) -> usize {
    api.env.replica_reads.borrow().len()
}

#[test]
fn without_a_bookmark_reads_go_to_the_primary() {
    let api = api(&["ann"]);
    create(&api, "bob", None);
    let list = get(&api, CONNECTIONS, None);
    assert_eq!(listed_identities(&list), ["ann", "bob"]);
    assert_eq!((list.header(BOOKMARK), replica_batches(&api)), (None, 0));
}

#[test]
fn a_bookmark_guarantees_read_your_own_writes() {
    let mut api = api(&["ann"]);
    let written = bookmark(&create(&api, "bob", Some(ANY_REPLICA)));
    // With any replica accepted, the change is missing, but the total matches the rows.
    assert_eq!(listed_identities(&get(&api, CONNECTIONS, Some(ANY_REPLICA))), ["ann"]);
    assert_eq!(replica_batches(&api), 1);
    // The bookmark requires a replica that contains the change, and this one is too old.
    let list = get(&api, CONNECTIONS, Some(&written));
    assert_eq!((listed_identities(&list).len(), replica_batches(&api)), (2, 1));
    // Now the replica contains the change.
    api.env.update_replicas();
    let list = get(&api, CONNECTIONS, Some(&written));
    assert_eq!((listed_identities(&list).len(), replica_batches(&api)), (2, 2));
    assert_eq!(bookmark(&list), written);
    assert_eq!(listed_identities(&get(&api, CONNECTIONS, Some("first-primary"))).len(), 2);
    assert_eq!(replica_batches(&api), 2);
}

#[test]
fn following_cursors_with_the_bookmark_returns_each_connection_once() {
    let api = api(&["ann", "bob", "cy", "dan"]);
    let page = |path: &str, since: &str| {
        let page = get(&api, path, Some(since));
        (column(&page, "identity"), next(&page), bookmark(&page))
    };
    let (mut seen, mut follows, mut since) = page("/v1/vault/connections?limit=1", "first-primary");
    create(&api, "eve", None);
    while let Some(path) = follows {
        let (extra, then, at) = page(&path, &since);
        seen.extend(extra);
        (follows, since) = (then, at);
    }
    seen.sort();
    assert_eq!(seen, ["ann", "bob", "cy", "dan"]);
}

#[test]
fn a_revoked_key_can_only_read_from_stale_replicas() {
    let mut api = api(&["ann"]);
    api.env.revoke(&api.key);
    assert_eq!(listed_identities(&get(&api, CONNECTIONS, Some(ANY_REPLICA))), ["ann"]);
    // A key's row from a replica is not cached for requests to the primary.
    for (method, path) in
        [("GET", CONNECTIONS), ("GET", "/v1/available-connectors"), ("POST", "/v1/sessions")]
    {
        assert_eq!(
            api.send(&request_since(&api, method, path, None)).status,
            401,
            "{method} {path}"
        );
    }
    // Credentials and writes always use the primary, whatever the caller requests.
    let credentials = format!("{CONNECTIONS}/{UNKNOWN_ID}/credentials");
    assert_eq!(get(&api, &credentials, Some(ANY_REPLICA)).status, 401);
    let payload =
        json!({"platform": "acme", "identity": "eve", "identityType": "user"}).to_string();
    let refusal =
        api.send(&with_body(request_since(&api, "POST", CONNECTIONS, Some(ANY_REPLICA)), &payload));
    assert_eq!((refusal.status, refusal.header(BOOKMARK)), (401, None));
    api.env.update_replicas();
    assert_eq!(get(&api, CONNECTIONS, Some(ANY_REPLICA)).status, 401);
}

#[test]
fn a_stale_replica_serves_a_moved_account_from_its_old_database() {
    let mut api = api(&["ann"]);
    let hash = api.key.hash().to_string();
    let database = &api.env.database;
    let forward = "INSERT INTO forwards (name, account, shard, is_key) VALUES (?1, 'acme', 7, 1)";
    database.execute(forward, [&hash]).unwrap();
    database.execute("DELETE FROM api_keys WHERE hash = ?1", [&hash]).unwrap();
    let moved_to = |api: &Api, since| {
        let request = request_since(api, "GET", CONNECTIONS, since);
        let response = || pollster::block_on(handle(&api.service, &api.env, &request));
        api.env.within(*HOME, response).moved_to
    };
    assert_eq!(
        (
            moved_to(&api, Some(ANY_REPLICA)),
            moved_to(&api, Some("first-primary")),
            moved_to(&api, None)
        ),
        (None, Shard::new(7), Shard::new(7))
    );
    api.env.update_replicas();
    let written = api.env.background_writes.get();
    // A new isolate has not cached that the key was used today, and this database no longer stores
    // that.
    let api = Api { service: Service::new(config(&connect::SETTINGS)), ..api };
    assert_eq!(moved_to(&api, Some(ANY_REPLICA)), Shard::new(7));
    assert_eq!(api.env.background_writes.get(), written);
}

#[test]
fn a_new_key_works_despite_a_stale_replica() {
    let api = api(&["ann"]);
    let key = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let request = with_header(as_key(&key, "GET", CONNECTIONS), BOOKMARK, ANY_REPLICA);
    assert_eq!(listed_identities(&api.send(&request)), ["ann"]);
    // The replica does not contain the key, so the primary is queried. There is no third request.
    assert_eq!((replica_batches(&api), api.env.pauses.borrow().len()), (1, 0));
}

#[test]
fn the_day_of_a_keys_use_is_written_in_the_background() {
    let mut api = connect::api();
    let key = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let day = |api: &Api| -> Option<i64> {
        let sql = "SELECT last_used_day FROM api_keys WHERE hash = ?1";
        api.env.database.query_row(sql, [key.hash().to_string()], |row| row.get(0)).unwrap()
    };
    api.env.update_replicas();
    let send_request = || with_header(as_key(&key, "GET", CONNECTIONS), BOOKMARK, ANY_REPLICA);
    assert_eq!((day(&api), api.send(&send_request()).status), (None, 200));
    assert_eq!((replica_batches(&api), api.env.background_writes.get()), (1, 1));
    assert_eq!(day(&api), Some((api.env.now.get() / 86_400_000).cast_signed()));
    assert_eq!(api.send(&send_request()).status, 200);
    assert_eq!((replica_batches(&api), api.env.background_writes.get()), (2, 1));
}

#[test]
fn a_key_that_a_replica_rejects_counts_as_unused() {
    let mut api = connect::api();
    let key = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    api.env.revoke(&key);
    api.env.update_replicas();
    let refusal = api.send(&with_header(as_key(&key, "GET", CONNECTIONS), BOOKMARK, ANY_REPLICA));
    assert_eq!((refusal.status, api.env.background_writes.get()), (401, 0));
}

#[test]
fn if_match_prevents_lost_updates() {
    let api = api(&[]);
    let created = create(&api, "ann", None);
    let path = format!("{CONNECTIONS}/{}", body(&created)["id"].as_str().unwrap());
    let change = |tag: &str, label: &str| {
        let request =
            with_header(request_since(&api, "PATCH", &path, Some(ANY_REPLICA)), "if-match", tag);
        api.send(&with_body(request, &json!({"tags": [label]}).to_string()))
    };
    let tag = created.header("etag").unwrap().to_owned();
    let changed = change(&tag, "one");
    assert_eq!(changed.status, 200, "{}", body(&changed));
    assert_eq!(change(&tag, "two").status, 412);
    assert_eq!(body(&get(&api, &path, None))["tags"], json!(["one"]));
}

#[test]
fn replicas_serve_only_reads_of_the_vault() {
    let api = api(&["ann"]);
    let mut near = Vec::new();
    for endpoint in Endpoint::ALL {
        let Endpoint::Keyed(keyed) = *endpoint else { continue };
        let (facts, before) = (keyed.spec(), replica_batches(&api));
        let arguments =
            if facts.path.contains("{path}") { vec![UNKNOWN_ID, "x"] } else { vec![UNKNOWN_ID; 2] };
        let mut request = request_since(
            &api,
            facts.method.as_str(),
            &keyed.address(&arguments),
            Some(ANY_REPLICA),
        );
        if facts.body.is_some() {
            request = with_body(request, "{}");
        }
        let response = api.send(&request);
        assert_ne!(response.status, 503, "{endpoint:?}");
        if replica_batches(&api) > before {
            assert!(
                facts.method == Method::Get && keyed.access() != Access::Catalog,
                "{endpoint:?}"
            );
            assert!(response.header(BOOKMARK).is_some(), "{endpoint:?}");
            near.push(keyed);
        }
        assert_eq!(replica_batches(&api) > before, keyed.allows_replica(), "{endpoint:?}");
    }
    let acts = [Keyed::GetCredentials, Keyed::ProxyGet];
    assert!(near.len() > 10 && acts.iter().all(|keyed| !near.contains(keyed)), "{near:?}");
}

#[test]
fn the_catalog_and_calls_have_no_bookmark() {
    let api = api(&["ann"]);
    for path in ["/v1/available-connectors", "/v1/available-actions/acme", "/health", "/v1/nothing"]
    {
        let response = get(&api, path, Some("anything at all"));
        assert!([200, 404].contains(&response.status), "{path} {}", response.status);
        assert_eq!(response.header(BOOKMARK), None, "{path}");
    }
}

#[test]
fn an_invalid_bookmark_is_rejected_with_an_explanation() {
    let api = api(&["ann"]);
    let long = "0".repeat(201);
    for payload in ["", " ", "a b", "a.b.c", "zz1.0", ".0", "0z.", "é", "0'--\"", "a,b", &long] {
        let refusal = get(&api, CONNECTIONS, Some(payload));
        assert_eq!(refusal.status, 400, "{payload}");
        let problem = body(&refusal);
        assert_eq!(problem["code"], "invalid_parameter");
        let detail = "`x-vault-bookmark` must be `first-unconstrained`, `first-primary`, or the value of this header in an earlier response";
        assert_eq!(problem["errors"], json!([{"parameter": BOOKMARK, "detail": detail}]));
    }
    // Callers without a valid key get a 401 regardless of the bookmark.
    let stranger = api.env.unknown_key(Environment::Test);
    let request = with_header(as_key(&stranger, "GET", CONNECTIONS), BOOKMARK, "a b");
    assert_eq!(api.send(&request).status, 401);
}

#[test]
fn an_unknown_bookmark_leads_to_the_primary() {
    let api = api(&["ann"]);
    let known_bookmark = bookmark(&get(&api, CONNECTIONS, Some("first-primary")));
    let prefix =
        known_bookmark.split_once('.').map_or(String::new(), |(digits, _)| format!("{digits}."));
    let list = get(&api, CONNECTIONS, Some(&format!("{prefix}ffffffff-00000000")));
    assert_eq!((listed_identities(&list).len(), bookmark(&list)), (1, known_bookmark));
}

#[test]
fn other_errors_are_not_mistaken_for_an_unknown_bookmark() {
    let api = connect::api();
    let since = bookmark(&get(&api, CONNECTIONS, Some("first-primary")));
    // If the connection to the database is lost, the same batch is retried after a pause.
    api.env.db_faults.borrow_mut().push_back(DbFault::Before);
    assert_eq!(get(&api, CONNECTIONS, Some(&since)).status, 200);
    assert_eq!(api.env.pauses.borrow().len(), 1);
    // If the database fails for requests without a bookmark, the primary does not get the batch
    // again.
    api.env.db_fails.set(true);
    for since in [ANY_REPLICA, "first-primary"] {
        let calls = api.env.db_calls.get();
        assert_eq!(get(&api, CONNECTIONS, Some(since)).status, 503);
        assert_eq!(api.env.db_calls.get() - calls, 1, "{since}");
    }
}

#[test]
fn a_bookmark_of_another_database_leads_to_the_primary() {
    let mut api = api(&[]);
    api.env.add(other_shard());
    let key = api.env.key_in(other_shard(), "zoo", Environment::Test, &Scope::ALL, None);
    let of_home = bookmark(&get(&api, CONNECTIONS, Some(ANY_REPLICA)));
    api.env.update_replicas();
    let send_request =
        |since: &str| api.send(&with_header(as_key(&key, "GET", CONNECTIONS), BOOKMARK, since));
    let before = replica_batches(&api);
    let from_primary = send_request(&of_home);
    assert_eq!((from_primary.status, replica_batches(&api)), (200, before));
    // A bookmark whose prefix names no shard also leads to the primary.
    assert_eq!((send_request("zz.0").status, replica_batches(&api)), (200, before));
    assert_eq!(bookmark(&from_primary).contains('.'), other_shard() != Shard::FIRST);
    assert_ne!(bookmark(&from_primary), of_home);
    assert_eq!(
        (send_request(&bookmark(&from_primary)).status, replica_batches(&api)),
        (200, before + 1)
    );
    let empty: Vec<Value> = Vec::new();
    assert_eq!(body(&from_primary)["rows"], json!(empty));
}
