//! Usage: `GET /v1/usage`. Isolates count requests in memory and write the counts in one background
//! statement.

use connector_vault::catalog::action::unit::Units;
use connector_vault::http::{Config, Service};
use connector_vault::jobs;
use connector_vault::terms::{EndpointGroup, Environment, Scope};
use connector_vault::usage::counts::UsageDimensions;
use connector_vault::usage::flush;
use connector_vault::usage::statements::{MAX_GROUPS, MAX_ROWS_PER_DAY};
use serde_json::{Value, json};

use crate::call;
use crate::connect;
use crate::support::{Api, HOME, as_key, body, config, with_header};
use crate::vault::{CONNECTIONS, minimal};

const USAGE: &str = "/v1/usage";
const CONNECTORS: &str = "/v1/available-connectors";
const DAY_MS: u64 = 86_400_000;

/// Writes all counts. Returns the usage of the key's tenant.
fn usage(api: &Api, query: &str) -> Value {
    api.flush_usage();
    let response = api.get(&format!("{USAGE}{query}"));
    assert_eq!(response.status, 200, "{}", body(&response));
    body(&response)
}

/// The rows, each without members that are null or false.
fn rows(api: &Api, query: &str) -> Vec<Value> {
    let mut rows = usage(api, query)["rows"].as_array().unwrap().clone();
    for row in &mut rows {
        row.as_object_mut().unwrap().retain(|_, value| !value.is_null() && *value != json!(false));
    }
    rows
}

fn row_count(api: &Api) -> u64 {
    let sql = "SELECT count(*) FROM usage";
    let rows: i64 = api.env.database.query_row(sql, [], |row| row.get(0)).unwrap();
    u64::try_from(rows).unwrap()
}

/// Inserts a row of counts on a day.
fn insert(api: &Api, day: u64, identity: &str, requests: u64) {
    let id = format!("{day:05} calls 2xx github {identity}");
    let sql = "INSERT INTO usage (account, environment, id, day, endpoint, status, platform, identity, requests) VALUES ('acme', 'test', ?1, ?2, 'calls', '2xx', 'github', ?3, ?4)";
    api.env
        .database
        .execute(sql, (id, day.cast_signed(), identity, requests.cast_signed()))
        .unwrap();
}

fn today(api: &Api) -> u64 {
    api.env.now.get() / DAY_MS
}

#[test]
fn requests_are_counted_by_day_endpoint_and_status() {
    let api = Api::with_catalog();
    let id = api.create(&minimal("ann"))["id"].as_str().unwrap().to_owned();
    for path in
        [CONNECTIONS, CONNECTORS, CONNECTORS, "/v1/whoami", "/v1/available-connectors/alpha"]
    {
        assert_eq!(api.get(path).status, 200, "{path}");
    }
    assert_eq!(api.get(&format!("{CONNECTIONS}?x=1")).status, 400);
    assert_eq!(api.get("/v1/available-connectors/none").status, 404);
    assert_eq!(api.get("/v1/nothing").status, 404);
    assert_eq!(api.get(&format!("{CONNECTIONS}/{id}")).status, 200);
    let expected = [
        json!({"endpoint": "catalog", "status": "2xx", "requests": 2}),
        json!({"endpoint": "catalog", "status": "2xx", "platform": "alpha", "requests": 1}),
        json!({"endpoint": "catalog", "status": "4xx", "requests": 1}),
        json!({"endpoint": "connections", "status": "2xx", "requests": 3}),
        json!({"endpoint": "connections", "status": "4xx", "requests": 1}),
        json!({"endpoint": "keys", "status": "2xx", "requests": 1}),
    ];
    let mut found = rows(&api, "?groupBy=endpoint,platform,status");
    found.sort_by_key(|row| {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        (text("endpoint"), text("status"), text("platform"))
    });
    assert_eq!(found, expected);
    // Requests to the usage endpoint are counted as well. Without `groupBy`, each day has one row.
    api.env.wait(DAY_MS);
    let all = usage(&api, "");
    let day = |day: &str, requests: u64| {
        json!({"day": day, "endpoint": null, "platform": null, "identity": null, "status": null,
            "other": false, "requests": requests})
    };
    assert_eq!(
        all,
        json!({"from": "2026-12-18", "to": "2027-01-16", "requests": 10, "rows": [day("2027-01-15", 10)]})
    );
    let all = usage(&api, "?from=2027-01-16&to=2027-01-16");
    assert_eq!(all["rows"], json!([day("2027-01-16", 1)]));
}

#[test]
fn calls_are_counted_for_the_platform_and_the_identity() {
    let api = call::api_with_platforms(&[], Units::default());
    call::platform(&api, |request| {
        let status = if request.url.ends_with("/gone") { 404 } else { 200 };
        Ok(call::platform_response(status, &[], ""))
    });
    let token = json!({"type": "bearer", "token": "t"});
    let [ann, bob] =
        ["ann", "bob"].map(|identity| call::connection_of(&api, "bearer", identity, &token));
    let _ = rows(&api, "");
    api.env.database.execute_batch("DELETE FROM usage").unwrap();
    for path in [format!("{ann}/proxy/x"), format!("{ann}/proxy/gone"), format!("{bob}/proxy/x")] {
        assert!(api.get(&path).status < 500);
    }
    assert_eq!(api.get(&format!("{ann}/credentials")).status, 200);
    let session = json!({"identity": "ann", "scopes": ["connections:read", "connections:call"]});
    let created = connect::send(&api, "POST", "/v1/sessions", &session);
    let token = body(&created)["token"].as_str().unwrap().to_owned();
    let mut request = api.request("GET", CONNECTIONS);
    request.headers.retain(|(name, _)| name != "x-service-secret");
    assert_eq!(api.send(&with_header(request, "x-service-secret", &token)).status, 200);
    let found = rows(&api, "?groupBy=identity,endpoint,platform,status&platform=bearer");
    let expected = |endpoint: &str, identity: &str, status: &str| json!({"endpoint": endpoint, "platform": "bearer", "identity": identity, "status": status, "requests": 1});
    assert_eq!(found.len(), 4);
    for row in [
        expected("calls", "ann", "2xx"),
        expected("calls", "ann", "4xx"),
        expected("calls", "bob", "2xx"),
        expected("credentials", "ann", "2xx"),
    ] {
        assert!(found.contains(&row), "{row} {found:?}");
    }
    assert_eq!(rows(&api, "?groupBy=identity&identity=ann")[0]["requests"], 4);
}

#[test]
fn a_request_writes_no_count_and_needs_no_further_statement() {
    let api = Api::with_catalog();
    let off = Api { service: Service::new(config(&[("USAGE_DAYS", "0")])), ..Api::with_catalog() };
    for path in [CONNECTORS, CONNECTIONS, CONNECTORS, CONNECTIONS] {
        let statements = |api: &Api| {
            api.env.statements.borrow_mut().clear();
            api.env.db_calls.set(0);
            assert_eq!(api.get(path).status, 200);
            (
                api.env.db_calls.get(),
                api.env.statements.borrow().len(),
                api.env.background_writes.get(),
            )
        };
        assert_eq!(statements(&api), statements(&off), "{path}");
    }
    assert_eq!(
        (row_count(&api), api.service.usage().due_flush(HOME.number(), 0)),
        (0, Some(20_000))
    );
    // One statement writes the counts of all callers.
    let other = api.env.key("other", Environment::Live, &Scope::ALL, None);
    assert_eq!(api.send(&as_key(&other, "GET", CONNECTIONS)).status, 200);
    api.env.db_calls.set(0);
    api.flush_usage();
    assert_eq!((api.env.db_calls.get(), api.env.statements.borrow().len()), (1, 1));
    api.flush_usage();
    assert_eq!(api.env.db_calls.get(), 1, "nothing to write");
    off.flush_usage();
    assert_eq!((row_count(&api), row_count(&off)), (3, 0));
}

#[test]
fn a_dataset_receives_the_counts_with_the_accounts_of_their_callers() {
    let api = Api::new(config(&[]));
    let off = Api::new(config(&[("USAGE_DAYS", "0")]));
    for (api, rows) in [(&api, 2), (&off, 0)] {
        *api.env.points.borrow_mut() = Some(Vec::new());
        let other = api.env.key("other", Environment::Live, &Scope::ALL, None);
        for _ in 0..2 {
            assert_eq!(api.get(CONNECTIONS).status, 200);
        }
        assert_eq!(api.send(&as_key(&other, "GET", CONNECTIONS)).status, 200);
        api.flush_usage();
        // The account with more requests is listed first. With `USAGE_DAYS=0`, counts are written
        // only to the dataset.
        let expected = [
            json!(["acme", ["acme", "test", "connections", "2xx", "", ""], 2]),
            json!(["other", ["other", "live", "connections", "2xx", "", ""], 1]),
        ];
        assert_eq!(api.env.points.borrow().as_ref().unwrap(), &expected);
        assert_eq!(row_count(api), rows);
    }
}

#[test]
fn accounts_and_environments_are_separate() {
    let api = Api::with_catalog();
    let live = api.env.key("acme", Environment::Live, &Scope::ALL, None);
    let other = api.env.key("other", Environment::Test, &Scope::ALL, None);
    for (key, times) in [(&live, 2), (&other, 3)] {
        for _ in 0..times {
            assert_eq!(api.send(&as_key(key, "GET", CONNECTIONS)).status, 200);
        }
    }
    assert_eq!(rows(&api, ""), Vec::<Value>::new());
    for (key, expected) in [(&live, 2), (&other, 3)] {
        let found = body(&api.send(&as_key(key, "GET", USAGE)));
        assert_eq!(found["requests"], expected);
    }
}

#[test]
fn a_caller_that_is_not_authenticated_is_not_counted() {
    let api = Api::with_catalog();
    let unknown = api.env.unknown_key(Environment::Test);
    assert_eq!(api.send(&as_key(&unknown, "GET", CONNECTIONS)).status, 401);
    assert_eq!(api.service.usage().due_flush(HOME.number(), 0), None);
    // While storage fails, unknown keys can't be recognized, so their requests are counted. The
    // statement later drops these counts.
    api.env.db_fails.set(true);
    assert_eq!(api.send(&as_key(&unknown, "GET", CONNECTIONS)).status, 503);
    assert_eq!(api.get(CONNECTIONS).status, 503);
    api.env.db_fails.set(false);
    assert_eq!(rows(&api, "?groupBy=status"), [json!({"status": "5xx", "requests": 1})]);
    let reader = api.env.key("acme", Environment::Test, &[Scope::ConnectionsRead], None);
    let refusal = api.send(&as_key(&reader, "GET", USAGE));
    assert_eq!((refusal.status, &body(&refusal)["code"]), (403, &json!("insufficient_scope")));
}

#[test]
fn a_caller_cannot_fill_the_database() {
    let api = Api::new(Config::default());
    let limit = MAX_ROWS_PER_DAY;
    for number in 0..limit - 2 {
        insert(&api, today(&api), &format!("user-{number}"), 1);
    }
    let counted = |identity: &str| UsageDimensions {
        caller: api.key.hash().to_string(),
        endpoint: EndpointGroup::Calls,
        platform_in_path: None,
        platform: Some("github".into()),
        identity: Some(identity.into()),
    };
    let add = |identity: &str, times: u32| {
        for _ in 0..times {
            api.service.usage().add(HOME.number(), counted(identity), 200, api.env.now.get());
        }
    };
    // The two new identities with the most requests get the remaining rows, and a known identity
    // keeps its row.
    for (identity, times) in [("a", 1), ("b", 3), ("c", 2), ("d", 1), ("user-0", 4)] {
        add(identity, times);
    }
    api.flush_usage();
    assert_eq!(row_count(&api), limit + 1);
    let request_count = |identity: &str| {
        usage(&api, &format!("?groupBy=identity&identity={identity}"))["requests"].clone()
    };
    assert_eq!(
        ["a", "b", "c", "d", "user-0"].map(request_count),
        [json!(0), json!(3), json!(2), json!(0), json!(5)]
    );
    for number in 0..2000 {
        add(&format!("new-{number}"), 1);
    }
    api.flush_usage();
    let endpoints = "SELECT endpoint FROM usage WHERE identity = ','";
    assert_eq!(api.env.texts(endpoints), ["calls", "usage"]);
    let all = usage(&api, "?groupBy=identity&platform=github");
    let found = all["rows"].as_array().unwrap();
    assert_eq!(u64::try_from(found.len()).unwrap(), MAX_GROUPS);
    let all = usage(&api, "?groupBy=day,identity");
    let last = all["rows"].as_array().unwrap().iter().filter(|row| row["other"] == json!(true));
    assert!(last.map(|row| row["requests"].as_u64().unwrap()).sum::<u64>() > 2000);
    let sum: u64 =
        all["rows"].as_array().unwrap().iter().map(|row| row["requests"].as_u64().unwrap()).sum();
    assert_eq!(json!(sum), all["requests"]);
}

#[test]
fn a_failed_write_is_not_repeated() {
    let api = Api::with_catalog();
    assert_eq!(api.get(CONNECTIONS).status, 200);
    api.env.db_fails.set(true);
    let write = || pollster::block_on(flush(&api.service, &api.env, 0));
    assert!(api.env.within(*HOME, write).is_err());
    api.env.db_fails.set(false);
    assert_eq!(rows(&api, ""), Vec::<Value>::new());
}

#[test]
fn old_rows_are_pruned() {
    let api = Api::new(config(&[("USAGE_DAYS", "7")]));
    let today = today(&api);
    for age in [0, 6, 7, 8, 100] {
        insert(&api, today - age, "ann", 1);
    }
    let run = || pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
    api.env.within(*HOME, run);
    let days = api.env.texts("SELECT cast(day AS TEXT) FROM usage ORDER BY day");
    assert_eq!(days, [7, 6, 0].map(|age| (today - age).to_string()));
}

#[test]
fn rejects_invalid_parameters() {
    let api = Api::new(Config::default());
    for (query, parameter, code) in [
        ("from=2027-13-01", "from", "invalid_parameter"),
        ("from=2027-02-30", "from", "invalid_parameter"),
        ("to=today", "to", "invalid_parameter"),
        ("to=2027-01-15T00:00:00Z", "to", "invalid_parameter"),
        ("from=2027-01-02&to=2027-01-01", "from", "invalid_parameter"),
        ("groupBy=day,account", "groupBy", "invalid_parameter"),
        ("groupBy=", "groupBy", "invalid_parameter"),
        ("platform=", "platform", "invalid_parameter"),
        ("day=2027-01-01", "day", "unknown_parameter"),
        ("to=2027-01-01&to=2027-01-01", "to", "repeated_parameter"),
    ] {
        let response = api.get(&format!("{USAGE}?{query}"));
        let problem = body(&response);
        let error = &problem["errors"][0];
        let got = (response.status, &problem["code"], &error["parameter"]);
        assert_eq!(got, (400, &json!(code), &json!(parameter)), "{query} {problem}");
    }
    for query in ["groupBy=day,day", "from=2027-01-01", "to=1999-01-01", "identity=%2C"] {
        assert_eq!(api.get(&format!("{USAGE}?{query}")).status, 200, "{query}");
    }
}
