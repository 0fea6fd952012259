//! The list of connect attempts: order, filters and pages.

use connector_vault::terms::{Environment, Scope};

use super::*;
use crate::support::as_key;
use crate::vault::code;

const LIST: &str = "/v1/vault/connect";
const MINUTE_MS: u64 = 60_000;

fn connect_body(platform: &str, identity: &str) -> Value {
    json!({"platform": platform, "identity": identity, "identityType": "user"})
}

/// The identities and statuses of a page, in order, and the number of rows that it read.
fn page(api: &Api, query: &str) -> (Vec<String>, Value, i64) {
    let response = api.get(&format!("{LIST}{query}"));
    let found = body(&response);
    assert_eq!(response.status, 200, "{query}: {found}");
    let show = |row: &Value| format!("{} {}", row["identity"], row["status"]).replace('"', "");
    let rows = found["rows"].as_array().unwrap().iter().map(show).collect();
    let timing = response.header("server-timing").unwrap();
    let read = timing.split("rows_read=").nth(1).unwrap().split(' ').next().unwrap();
    (rows, found["next"].clone(), read.parse().unwrap())
}

fn listed(api: &Api, query: &str) -> Vec<String> {
    page(api, query).0
}

/// Returns a service with one attempt for each outcome. They start a second apart, in alphabetical
/// order of identities.
fn fixture() -> Api {
    let api = api();
    set_client(&api, "acme");
    set_client(&api, "plain");
    let start = |platform: &str, identity: &str| {
        api.env.wait(1000);
        start_attempt(&api, &connect_body(platform, identity))
    };
    start("acme", "ann");
    api.env.wait(10 * MINUTE_MS);
    let (_, denied) = start("acme", "bob");
    decline_at_platform(&api, &denied, "access_denied");
    let (_, rejected) = start("acme", "cy");
    decline_at_platform(&api, &rejected, "unauthorized_client");
    let (_, agreed) = start("acme", "dee");
    consent_at_platform(&api, &agreed, &json!({"access_token": "a-token", "token_type": "bearer"}));
    let (interrupted, _) = start("acme", "eve");
    let claim = "UPDATE connect_attempts SET status = 'exchanging', claimed_at = ?2 WHERE id = ?1";
    let claim = |id: &str, at: u64| {
        let at = i64::try_from(at).unwrap();
        api.env.database.execute(claim, (id, at)).unwrap();
    };
    claim(&interrupted, api.env.now.get() - 2 * MINUTE_MS);
    let (exchanging, _) = start("acme", "fay");
    claim(&exchanging, api.env.now.get());
    api.env.wait(1000);
    let payload = json!({"platform": "plain", "authMethod": "sign-in", "identity": "gus", "identityType": "user"});
    start_attempt(&api, &payload);
    api
}

#[test]
fn filters_attempts_by_status_platform_and_identity() {
    let api = fixture();
    let all = [
        "gus pending",
        "fay pending",
        "eve failed",
        "dee succeeded",
        "cy failed",
        "bob failed",
        "ann expired",
    ];
    for (query, expected) in [
        ("", &all[..]),
        ("?status=pending", &all[..2]),
        ("?status=failed", &[all[2], all[4], all[5]]),
        ("?status=succeeded", &all[3..4]),
        ("?status=expired", &all[6..]),
        ("?status=expired,failed", &[all[2], all[4], all[5], all[6]]),
        ("?status=pending,expired", &[all[0], all[1], all[6]]),
        ("?platform=PLAIN", &all[..1]),
        ("?platform=acme&status=pending", &all[1..2]),
        ("?identity=cy", &all[4..5]),
        ("?identity=cy&status=pending", &[]),
        ("?identity=Cy", &[]),
    ] {
        assert_eq!(listed(&api, query), expected, "{query}");
    }
}

#[test]
fn rows_show_the_outcome_and_no_secret() {
    let api = fixture();
    let response = body(&api.get(&format!("{LIST}?identity=cy")));
    let row = &response["rows"][0];
    let started = row["createdAt"].as_str().unwrap();
    assert_eq!(
        *row,
        json!({
            "id": row["id"], "platform": "acme", "authMethod": "oauth", "client": "default", "identity": "cy", "identityType": "user",
            "status": "failed", "connection": null,
            "error": {"code": "client_rejected", "detail": row["error"]["detail"]},
            "createdAt": started, "expiresAt": row["expiresAt"],
        })
    );
    let created =
        body(&api.get(&format!("{LIST}?status=succeeded")))["rows"][0]["connection"].clone();
    assert_eq!(
        api.get(&format!("/v1/vault/connections/{}", created.as_str().unwrap())).status,
        200
    );
    // A reconnected connection exists before the attempt succeeds.
    let reconnect_body = json!({"connection": created});
    api.env.wait(1000);
    start_attempt(&api, &reconnect_body);
    assert_eq!(body(&api.get(&format!("{LIST}?limit=1")))["rows"][0]["connection"], created);
}

#[test]
fn pages_contain_each_attempt_once() {
    let api = fixture();
    for filter in ["", "&status=failed,expired", "&platform=acme", "&status=pending&platform=acme"]
    {
        let (all_rows, next, _) = page(&api, &format!("?limit=500{filter}"));
        assert_eq!(next, Value::Null, "{filter}");
        let (mut walked, mut place) = (Vec::new(), String::new());
        loop {
            let (rows, next, _) = page(&api, &format!("?limit=1{filter}{place}"));
            walked.extend(rows);
            let Some(next) = next.as_str() else { break };
            place = format!("&before={next}");
        }
        assert_eq!(walked, all_rows, "{filter}");
    }
    // A cursor of a deleted attempt, or of another account's, returns an empty page.
    let first = body(&api.get(LIST))["rows"][0]["id"].clone();
    let stranger = api.env.key("other", Environment::Test, &Scope::ALL, None);
    let path = format!("{LIST}?before={}", first.as_str().unwrap());
    assert_eq!(body(&api.send(&as_key(&stranger, "GET", &path)))["rows"], json!([]));
}

#[test]
fn pages_are_full_despite_newer_rows_of_others() {
    let api = api();
    set_client(&api, "acme");
    set_client(&api, "plain");
    let mut payload = connect_body("plain", "ann");
    payload["authMethod"] = "sign-in".into();
    let (_, link) = start_attempt(&api, &payload);
    decline_at_platform(&api, &link, "access_denied");
    for _ in 0..3 {
        api.env.wait(1000);
        start_attempt(&api, &connect_body("acme", "ann"));
    }
    for query in ["?identity=ann&status=failed&limit=1", "?platform=plain&limit=1"] {
        assert_eq!(listed(&api, query), ["ann failed"], "{query}");
    }
}

#[test]
fn the_list_reads_only_the_rows_that_it_shows() {
    let api = fixture();
    // Many attempts of the account that don't match any filter.
    let copy = "INSERT INTO connect_attempts SELECT printf('%08d', n) || substr(id, 9), account, environment, key_id, status, connection_id, reconnects, allow_other_account, platform, platform_version, description, auth_method, 'other-' || (n % 2), identity_type, label, name, tags, scopes, return_url, link_hash || n, state_hash || n, browser_hash, sealed, claimed_by, claimed_at, error_code, error_detail, created_at + 10000 + n, expires_at + 10000 + n FROM connect_attempts, (WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 2000) SELECT n FROM counter) WHERE identity = 'dee'";
    let columns = "id, account, environment, key_id, status, connection_id, reconnects, allow_other_account, platform, platform_version, description, auth_method, identity, identity_type, label, name, tags, scopes, return_url, link_hash, state_hash, browser_hash, sealed, claimed_by, claimed_at, error_code, error_detail, created_at, expires_at";
    let copy = copy.replacen("connect_attempts", &format!("connect_attempts ({columns})"), 1);
    assert_eq!(api.env.database.execute(&copy, []).unwrap(), 2000);
    for (query, rows, max) in [
        ("?status=failed", 3, 12),
        ("?status=expired", 1, 12),
        ("?status=pending", 2, 12),
        ("?status=succeeded&limit=10", 10, 20),
        ("?limit=10", 10, 20),
        ("?identity=bob", 1, 8),
        ("?identity=other-1&limit=10", 10, 20),
        ("?platform=plain", 0, 1010),
    ] {
        let (found, _, read) = page(&api, query);
        assert_eq!(found.len(), rows, "{query}");
        assert!(read <= max, "{query}: {read} rows");
    }
}

#[test]
fn the_identity_filter_uses_its_index() {
    let api = fixture();
    let input = json!({"identity": "bob", "scopes": ["connections:read"], "ttlSeconds": 600});
    let bob = token(&api, &input);
    for request in [
        api.request("GET", &format!("{LIST}?identity=bob")),
        api.request("GET", &format!("{LIST}?identity=bob&status=failed")),
        as_secret(&bob, "GET", &format!("{LIST}?status=failed")),
    ] {
        assert_eq!(api.send(&request).status, 200);
        let statements = api.env.statements.borrow();
        let plans: Vec<_> =
            statements.iter().flat_map(|one| crate::plans::plan(&api.env, one)).collect();
        let steps = plans.iter().filter(|step| step.contains("connect_attempts"));
        for step in steps {
            assert!(step.contains("connect_attempts_of_identity"), "{request:?}: {plans:#?}");
        }
        assert!(plans.iter().any(|step| step.contains("connect_attempts")), "{plans:#?}");
    }
}

#[test]
fn a_token_lists_only_attempts_of_its_identity() {
    let api = fixture();
    let input = json!({"identity": "bob", "identityType": "user", "scopes": ["connections:read"], "ttlSeconds": 600});
    let bob = token(&api, &input);
    let see = |query: &str| {
        let found = body(&api.send(&as_secret(&bob, "GET", &format!("{LIST}{query}"))));
        let rows = found["rows"].as_array().unwrap().clone();
        rows.iter().map(|row| row["identity"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(see(""), ["bob"]);
    assert_eq!(see("?status=failed"), ["bob"]);
    assert_eq!(see("?identity=cy"), [""; 0]);
    let others = json!({"identity": "bob", "platforms": ["plain"], "scopes": ["connections:read"], "ttlSeconds": 600});
    let other = token(&api, &others);
    assert_eq!(body(&api.send(&as_secret(&other, "GET", LIST)))["rows"], json!([]));
}

#[test]
fn reports_errors_of_the_query() {
    let api = api();
    for query in [
        "status=refused",
        "status=",
        "status=failed,",
        "before=yesterday",
        "limit=501",
        "page=2",
        "identity=",
    ] {
        let response = api.get(&format!("{LIST}?{query}"));
        assert_eq!(response.status, 400, "{query}: {}", code(&response));
    }
}
