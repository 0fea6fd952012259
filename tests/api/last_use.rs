//! The day of a key's last use is written once a day, together with a request, and a failed write
//! never fails the request.

use connector_vault::auth::key::ApiKey;
use connector_vault::http::{Config, Request, Response, Service};
use connector_vault::terms::{Environment, Scope};
use serde_json::json;

use crate::support::{Api, DbFault, TestEnv, as_key, body};
use crate::vault::{CONNECTIONS, SUMMARY, UNKNOWN_ID, at, minimal, patch_as, post_as};

const CONNECTORS: &str = "/v1/available-connectors";
const WHOAMI: &str = "/v1/whoami";
const DAY_MS: u64 = 86_400_000;

/// The stored day of a key's last use.
fn last_used(env: &TestEnv, key: &ApiKey) -> Option<u64> {
    let sql = "SELECT last_used_day FROM api_keys WHERE hash = ?1";
    let day: Option<i64> =
        env.database.query_row(sql, [key.hash().to_string()], |row| row.get(0)).unwrap();
    day.map(|day| u64::try_from(day).unwrap())
}

fn today(env: &TestEnv) -> u64 {
    env.now.get() / DAY_MS
}

/// The number of database calls and of written rows.
fn cost(response: &Response) -> (u32, u32) {
    let timing = response.header("server-timing").unwrap();
    let number = |name: &str| {
        let (_, rest) = timing.split_once(name).unwrap();
        rest.split([' ', '"']).next().unwrap().parse().unwrap()
    };
    (number("calls="), number("rows_written="))
}

/// Sends a request, which must succeed. Returns its cost.
fn send_request(api: &Api, request: &Request) -> (u32, u32) {
    let response = api.send(request);
    assert!(response.status < 300, "{} {request:?}", response.status);
    cost(&response)
}

/// Returns another isolate of the same service, with empty caches.
fn another_isolate(api: Api) -> Api {
    Api { service: Service::new(Config::default()), ..api }
}

fn key_with_wrong_environment(api: &Api) -> ApiKey {
    let key = api.env.key("acme", Environment::Live, &Scope::ALL, None);
    let sql = "UPDATE api_keys SET environment = 'test' WHERE hash = ?1";
    api.env.database.execute(sql, [key.hash().to_string()]).unwrap();
    key
}

#[test]
fn a_use_is_written_once_a_day() {
    let api = Api::with_catalog();
    let get = |path: &str| send_request(&api, &api.request("GET", path));
    assert_eq!(last_used(&api.env, &api.key), None);
    for day in 0..3 {
        let until_midnight = DAY_MS - api.env.now.get() % DAY_MS;
        assert_eq!(get(CONNECTIONS), (1, 1), "the first request of day {day}");
        assert_eq!(last_used(&api.env, &api.key), Some(today(&api.env)));
        assert_eq!((get(CONNECTIONS), get(SUMMARY), get(WHOAMI)), ((1, 0), (1, 0), (1, 0)));
        // The other requests only read, so their batches need no write access.
        let statements = api.env.statements.borrow();
        assert!(
            statements.iter().all(|statement| statement.sql.starts_with("SELECT")),
            "{statements:?}"
        );
        drop(statements);
        api.env.wait(until_midnight - 1);
        assert_eq!(get(CONNECTIONS), (1, 0), "the last millisecond of day {day}");
        api.env.wait(1);
    }
}

#[test]
fn every_kind_of_request_counts_as_a_use() {
    let api = Api::with_catalog();
    let id = api.create(&minimal("ann"))["id"].as_str().unwrap().to_owned();
    let key = |scopes: &[Scope]| api.env.key("acme", Environment::Test, scopes, None);
    let full = || key(&Scope::ALL);
    let patch = json!({"tags": ["x"]});
    for (key, status, request) in [
        (full(), 200, ("GET", CONNECTORS.to_owned())),
        (full(), 200, ("HEAD", CONNECTIONS.into())),
        (full(), 200, ("GET", at(&id))),
        (full(), 404, ("GET", at(UNKNOWN_ID))),
        (full(), 404, ("GET", "/v1/nothing".into())),
        (full(), 405, ("PUT", CONNECTIONS.into())),
        (full(), 400, ("GET", format!("{CONNECTIONS}?x=1"))),
        (key(&[]), 403, ("GET", CONNECTIONS.into())),
        (key(&[]), 200, ("GET", WHOAMI.into())),
    ] {
        let response = api.send(&as_key(&key, request.0, &request.1));
        assert_eq!((response.status, cost(&response)), (status, (1, 1)), "{request:?}");
        assert_eq!(last_used(&api.env, &key), Some(today(&api.env)), "{request:?}");
    }
    // A deletion writes its actor first and erases the actor at the end, even if the connection
    // does not exist.
    let key = full();
    let unknown = api.send(&as_key(&key, "DELETE", &at(UNKNOWN_ID)));
    assert_eq!((unknown.status, cost(&unknown)), (404, (1, 3)));
    assert_eq!(last_used(&api.env, &key), Some(today(&api.env)));
    // A change also writes the connection and its actor.
    for make in [
        |key: &ApiKey, _: &str| post_as(key, &minimal("new")),
        |key: &ApiKey, id: &str| patch_as(key, id, &json!({"tags": ["y"]})),
    ] {
        let key = full();
        assert_eq!(send_request(&api, &make(&key, &id)), (1, 4));
        assert_eq!(last_used(&api.env, &key), Some(today(&api.env)));
    }
    assert_eq!(send_request(&api, &patch_as(&full(), &id, &patch)), (1, 4));
}

#[test]
fn a_warm_catalog_read_makes_no_query() {
    let api = Api::with_catalog();
    let get = || send_request(&api, &api.request("GET", CONNECTORS));
    assert_eq!((get(), get()), ((1, 1), (0, 0)));
    let until_midnight = DAY_MS - api.env.now.get() % DAY_MS;
    api.env.wait(until_midnight - 1);
    assert_eq!((get(), get()), ((1, 0), (0, 0)));
    // The key is still cached after midnight; the next request that queries the database writes the
    // day.
    api.env.wait(1);
    let yesterday = today(&api.env) - 1;
    assert_eq!((get(), last_used(&api.env, &api.key)), ((0, 0), Some(yesterday)));
    api.env.wait(30_000);
    assert_eq!((get(), last_used(&api.env, &api.key)), ((1, 1), Some(yesterday + 1)));
}

#[test]
fn an_invalid_key_is_not_marked_as_used() {
    let api = Api::with_catalog();
    let end = api.env.now.get() + 1000;
    let expiring = api.env.key("acme", Environment::Test, &Scope::ALL, Some(end));
    let revoked = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    api.mark_key_used(&expiring);
    api.mark_key_used(&revoked);
    let used = Some(today(&api.env));
    api.env.revoke(&revoked);
    api.env.wait(DAY_MS);
    let unknown = api.env.unknown_key(Environment::Test);
    let misfiled = key_with_wrong_environment(&api);
    let before = api.env.dump();
    let responses = [&unknown, &revoked, &expiring, &misfiled].map(|key| {
        let again = [CONNECTIONS, WHOAMI, CONNECTORS, CONNECTIONS].map(|path| {
            let response = api.send(&as_key(key, "GET", path));
            let statements = api.env.statements.borrow().len();
            (response.status, response.header("server-timing").map(str::to_owned), statements)
        });
        assert!(again.iter().all(|(status, ..)| *status == 401));
        again
    });
    // Neither the response nor its cost reveals why the key is invalid, at the first request or
    // later.
    assert!(responses.iter().all(|reply| *reply == responses[0]), "{responses:?}");
    assert_eq!(api.env.dump(), before);
    assert_eq!((last_used(&api.env, &expiring), last_used(&api.env, &revoked)), (used, used));
}

#[test]
fn a_key_counts_as_used_until_its_last_millisecond() {
    let api = Api::with_catalog();
    let midnight = (today(&api.env) + 1) * DAY_MS;
    let key = api.env.key("acme", Environment::Test, &Scope::ALL, Some(midnight + 1));
    api.mark_key_used(&key);
    api.env.now.set(midnight);
    assert_eq!(send_request(&api, &as_key(&key, "GET", CONNECTIONS)), (1, 1));
    let used = last_used(&api.env, &key);
    assert_eq!(used, Some(today(&api.env)));
    api.env.wait(DAY_MS);
    assert_eq!(api.send(&as_key(&key, "GET", CONNECTIONS)).status, 401);
    assert_eq!(last_used(&api.env, &key), used);
}

#[test]
fn isolates_write_the_use_of_a_key_once() {
    let mut api = Api::with_catalog();
    let other = api.env.key("beta", Environment::Test, &Scope::ALL, None);
    for index in 0..3 {
        let written = u32::from(index == 0);
        for key in [api.key.clone(), other.clone()] {
            assert_eq!(
                send_request(&api, &as_key(&key, "GET", CONNECTIONS)),
                (1, written),
                "{index}"
            );
            assert_eq!(send_request(&api, &as_key(&key, "GET", CONNECTIONS)), (1, 0), "{index}");
            assert_eq!(api.env.statements.borrow().last().unwrap().sql.get(..6), Some("SELECT"));
        }
        api = another_isolate(api);
    }
    // An isolate whose clock is behind does not set the day back.
    let used = last_used(&api.env, &api.key);
    api.env.now.set(api.env.now.get() - DAY_MS);
    assert_eq!(send_request(&api, &api.request("GET", CONNECTIONS)), (1, 0));
    assert_eq!(last_used(&api.env, &api.key), used);
}

#[test]
fn the_use_of_an_evicted_key_is_written_again() {
    let api = Api::with_catalog();
    let keys: Vec<ApiKey> =
        (0..1100).map(|_| api.env.key("acme", Environment::Test, &Scope::ALL, None)).collect();
    for written in [1, 0] {
        for key in &keys {
            assert_eq!(send_request(&api, &as_key(key, "GET", WHOAMI)), (1, written));
        }
    }
}

#[test]
fn a_use_survives_lost_connections() {
    for db_fault in [DbFault::Before, DbFault::After] {
        for lost in 1..=2 {
            let api = Api::with_catalog();
            *api.env.db_faults.borrow_mut() = vec![db_fault; lost].into();
            let (calls, _) = send_request(&api, &api.request("GET", CONNECTIONS));
            assert_eq!((calls as usize, api.env.pauses.borrow().len()), (lost + 1, lost));
            assert_eq!(last_used(&api.env, &api.key), Some(today(&api.env)));
            assert_eq!(send_request(&api, &api.request("GET", CONNECTIONS)), (1, 0));
        }
    }
    // After a failed request, the next one writes the use.
    let api = Api::with_catalog();
    *api.env.db_faults.borrow_mut() = [DbFault::Before; 3].into();
    assert_eq!(api.get(CONNECTIONS).status, 503);
    assert_eq!(last_used(&api.env, &api.key), None);
    assert_eq!(send_request(&api, &api.request("GET", CONNECTIONS)), (1, 1));
}

#[test]
fn a_failed_write_of_a_use_does_not_fail_the_request() {
    let api = Api::with_catalog();
    let id = api.create(&minimal("ann"))["id"].as_str().unwrap().to_owned();
    let baseline = [CONNECTIONS.to_owned(), at(&id), SUMMARY.into(), WHOAMI.into()];
    let baseline = baseline.map(|path| (body(&api.get(&path)), path));
    // The write fails, as if the database were full or lacked the column.
    api.env.database.execute_batch("CREATE TEMP TRIGGER full BEFORE UPDATE OF last_used_day ON main.api_keys BEGIN SELECT RAISE(ABORT, 'D1_ERROR: full at /secret/path'); END").unwrap();
    for (expected, path) in &baseline {
        let api = &api;
        let key = api.env.key("acme", Environment::Test, &Scope::ALL, None);
        let response = api.send(&as_key(&key, "GET", path));
        assert_eq!((response.status, cost(&response)), (200, (2, 0)), "{path}");
        assert_eq!(&body(&response), expected);
        // The write is not retried on this day.
        assert_eq!(send_request(api, &as_key(&key, "GET", path)), (1, 0));
        assert_eq!(last_used(&api.env, &key), None);
    }
    // The retried batch writes once, and an unknown connection is not mistaken for one that the
    // first batch deleted.
    let key = || api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let unknown = api.send(&as_key(&key(), "DELETE", &at(UNKNOWN_ID)));
    // A deletion writes its actor first and erases the actor at the end, even if the connection
    // does not exist.
    assert_eq!((unknown.status, cost(&unknown)), (404, (2, 2)));
    let patched = api.send(&patch_as(&key(), &id, &json!({"tags": ["x"]})));
    assert_eq!((patched.status, &body(&patched)["version"]), (200, &json!("2")));
    assert_eq!(api.send(&post_as(&key(), &minimal("bob"))).status, 201);
    assert_eq!(api.send(&as_key(&key(), "DELETE", &at(&id))).status, 204);
    // The database is read-only.
    let reader = key();
    api.env.database.execute_batch("PRAGMA query_only = ON").unwrap();
    assert_eq!(send_request(&api, &as_key(&reader, "GET", CONNECTIONS)), (2, 0));
    assert_eq!(send_request(&api, &as_key(&reader, "GET", CONNECTIONS)), (1, 0));
    let unknown = api.env.unknown_key(Environment::Test);
    assert_eq!(api.send(&as_key(&unknown, "GET", CONNECTIONS)).status, 401);
}

#[test]
fn an_unreachable_database_is_reported_as_unavailable() {
    let api = Api::with_catalog();
    api.env.db_fails.set(true);
    let response = api.get(CONNECTIONS);
    assert_eq!((response.status, cost(&response)), (503, (2, 0)));
    assert_eq!(
        cost(&api.get(CONNECTIONS)),
        (1, 0),
        "an unavailable database is not queried a second time"
    );
}
