//! The query plans of lists whose cost must not grow: they use an index, don't sort, and never scan
//! all connections.

use connector_vault::ports::Statement;

use crate::support::{Api, TestEnv, to_sqlite};
use crate::vault::{CONNECTIONS, SUMMARY, at, cursor, fixture, patch_as};

/// The steps of a statement's plan.
pub fn plan(env: &TestEnv, statement: &Statement) -> Vec<String> {
    let sql = format!("EXPLAIN QUERY PLAN {}", statement.sql);
    let mut prepared = env.database.prepare(&sql).unwrap();
    let params = rusqlite::params_from_iter(statement.params.iter().map(to_sqlite));
    prepared
        .query_map(params, |row| row.get("detail"))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap()
}

/// The plans of the last request's statements, starting with the statement for the key.
fn plans(env: &TestEnv) -> Vec<Vec<String>> {
    env.statements.borrow().iter().map(|statement| plan(env, statement)).collect()
}

fn assert_no_scan(plan: &[String], context: &str) {
    for step in plan {
        let scan = step.starts_with("SCAN ");
        // `account_moves` has one row for each account that an operator is moving, so it is usually
        // empty.
        let harmless = [
            "json_each",
            "CONSTANT ROW",
            " j ",
            " j",
            "(subquery",
            " m",
            "VALUES",
            "account_moves",
        ]
        .iter()
        .any(|name| step.contains(name));
        assert!(!scan || harmless, "{context}: {plan:#?}");
        assert!(!step.contains("AUTOMATIC"), "{context}: {plan:#?}");
    }
}

/// Filters for which several indexes can be used, with the number of those indexes.
const AMBIGUOUS_FILTERS: [(&str, usize); 3] =
    [("tags=red&platform=epsilon", 3), ("tags=red,green", 2), ("tags=red,blue&tagsMatch=any", 1)];

#[test]
fn lists_read_an_index_in_list_order() {
    let api = Api::with_catalog();
    fixture(&api);
    for (filter, index) in [
        ("", "connections_by_age (account=? AND environment=? AND active=?"),
        ("active=false", "connections_by_age (account=? AND environment=? AND active=?"),
        (
            "platform=epsilon",
            "connections_by_platform (account=? AND environment=? AND active=? AND platform=?",
        ),
        (
            "platform=epsilon&platformVersion=v1",
            "connections_by_platform_and_version (account=? AND environment=? AND active=? AND platform=? AND platform_version=?",
        ),
        (
            "platformVersion=v1",
            "connections_by_platform_version (account=? AND environment=? AND active=? AND platform_version=?",
        ),
        (
            "identityType=user",
            "connections_by_identity_type (account=? AND environment=? AND active=? AND identity_type=?",
        ),
        (
            "platform=epsilon&identityType=user",
            "connections_by_platform_and_identity_type (account=? AND environment=? AND active=? AND platform=? AND identity_type=?",
        ),
        (
            "platform=epsilon&identityType=user&platformVersion=v1",
            "connections_by_platform_version_type_and_state (account=? AND environment=? AND active=? AND platform=? AND platform_version=? AND identity_type=? AND state=?",
        ),
        (
            "platformVersion=v1&identityType=user",
            "connections_by_version_type_and_state (account=? AND environment=? AND active=? AND platform_version=? AND identity_type=? AND state=?",
        ),
        (
            "state=failed",
            "connections_by_type_and_state (account=? AND environment=? AND active=? AND identity_type=? AND state=?",
        ),
        (
            "platform=epsilon&state=failed",
            "connections_by_platform_type_and_state (account=? AND environment=? AND active=? AND platform=? AND identity_type=? AND state=?",
        ),
        (
            "platformVersion=v1&state=failed&identityType=user",
            "connections_by_version_type_and_state (account=? AND environment=? AND active=? AND platform_version=? AND identity_type=? AND state=?",
        ),
        (
            "tags=red,blue&tagsMatch=any",
            "t USING PRIMARY KEY (account=? AND environment=? AND active=? AND tag=?",
        ),
        (
            "identity=ann",
            "connections_by_identity (account=? AND environment=? AND active=? AND identity_folded=? AND identity=?",
        ),
        (
            "account=7",
            "connections_by_platform_account (account=? AND environment=? AND active=? AND platform_account_id=?",
        ),
        ("tags=red", "t USING PRIMARY KEY (account=? AND environment=? AND active=? AND tag=?"),
        (
            "tags=red&tagsMatch=any",
            "t USING PRIMARY KEY (account=? AND environment=? AND active=? AND tag=?",
        ),
        (
            "tags=red,green",
            "t USING PRIMARY KEY (account=? AND environment=? AND active=? AND tag=?",
        ),
        (
            "tags=red&platform=epsilon",
            "t USING PRIMARY KEY (account=? AND environment=? AND active=? AND tag=?",
        ),
    ] {
        let after = cursor(&api.get(&format!("{CONNECTIONS}?limit=1&{filter}")));
        let places = [String::new(), "&page=2".to_owned()];
        let cursors = after.map(|after| format!("&after={after}"));
        for place in places.into_iter().chain(cursors) {
            let path = format!("{CONNECTIONS}?limit=1&{filter}{place}");
            assert_eq!(api.get(&path).status, 200);
            let plans = plans(&api.env);
            // Only the database can estimate which plan is cheapest, so the batch contains all of
            // them.
            let alternatives = AMBIGUOUS_FILTERS.iter().find(|(ambiguous, _)| *ambiguous == filter);
            let statements = alternatives.map_or(3, |(_, alternatives)| 2 + 2 * alternatives);
            assert_eq!(plans.len(), statements, "the key, and a total and a page for each plan");
            for plan in &plans {
                assert_no_scan(plan, &path);
                let sorts = plan.iter().any(|step| step.contains("TEMP B-TREE"));
                assert!(!sorts, "{path}: {plan:#?}");
            }
            let page = plans[2..].concat().join("\n");
            assert!(page.contains(index), "{path}: {page}");
            // A cursor must be a position in the index, not a condition on its rows.
            if place.contains("after") {
                let ordered =
                    page.contains("AND created_at<?") || page.contains("AND (created_at,id)<(?,?)");
                assert!(ordered, "{path}: {page}");
            }
        }
    }
}

#[test]
fn totals_are_read_from_one_counter() {
    let api = Api::with_catalog();
    fixture(&api);
    for filter in [
        "",
        "active=false",
        "platform=alpha",
        "platform=alpha&platformVersion=v1",
        "platformVersion=v1",
        "identityType=user",
        "platform=alpha&identityType=user",
        "state=failed",
        "platform=alpha&state=failed",
        "platformVersion=v1&identityType=user",
        "platform=alpha&platformVersion=v1&identityType=user&state=failed",
        "tags=red",
        "tags=red,red",
        "tags=red&tagsMatch=any",
    ] {
        assert_eq!(api.get(&format!("{CONNECTIONS}?{filter}")).status, 200);
        let total = &plans(&api.env)[1];
        assert_eq!(total.len(), 2, "{filter}: {total:#?}");
        assert!(
            total[0].starts_with("SEARCH k USING PRIMARY KEY (hash=?)"),
            "{filter}: {total:#?}"
        );
        assert!(total[1].starts_with("SEARCH n USING PRIMARY KEY (account=? AND environment=? AND active=? AND dimension=? AND value=?)"), "{filter}: {total:#?}");
    }
}

#[test]
fn searches_read_their_matches() {
    let api = Api::with_catalog();
    let rows = fixture(&api);
    for (query, needed) in [
        (
            "q=ann",
            vec![
                "connections_by_name (account=? AND environment=? AND active=? AND name_overlap=? AND name_folded>? AND name_folded<?)",
                "connections_by_identity (account=? AND environment=? AND active=? AND identity_folded>? AND identity_folded<?)",
            ],
        ),
        (
            "q=%F4%8F%BF%BF",
            vec![
                "connections_by_name (account=? AND environment=? AND active=? AND name_overlap=? AND name_folded>? AND name_folded<?)",
            ],
        ),
        (
            "name=ann",
            vec![
                "connections_by_name (account=? AND environment=? AND active=? AND name_overlap=? AND name_folded=?)",
            ],
        ),
        (
            "name=ann&tags=red",
            vec![
                "connections_by_name (account=? AND environment=? AND active=? AND name_overlap=? AND name_folded=?)",
            ],
        ),
        (
            "key=test::alpha::c1::ann",
            vec![
                "connections_by_key (account=? AND environment=? AND platform=? AND label=? AND identity=?)",
            ],
        ),
        (
            "tags=red,blue&tagsMatch=any",
            vec![
                "t USING PRIMARY KEY (account=? AND environment=? AND active=? AND tag=?)",
                "c USING INTEGER PRIMARY KEY (rowid=?)",
            ],
        ),
    ] {
        assert_eq!(api.get(&format!("{CONNECTIONS}?{query}")).status, 200);
        let plans = plans(&api.env);
        for plan in &plans {
            assert_no_scan(plan, query);
        }
        for needed in needed {
            assert!(
                plans.last().unwrap().iter().any(|step| step.contains(needed)),
                "{query}: {plans:#?}"
            );
        }
    }
    // One connection is read by its id within the tenant, and a create looks up its key.
    let id = rows[0]["id"].as_str().unwrap();
    for request in [
        api.request("GET", &at(id)),
        patch_as(&api.key, id, &serde_json::json!({"tags": ["x"]})),
        api.request("DELETE", &at(id)),
        crate::vault::post_as(&api.key, &crate::vault::minimal("new")),
    ] {
        assert!(api.send(&request).status < 300);
        for plan in plans(&api.env) {
            assert_no_scan(&plan, &request.method);
            assert!(!plan.iter().any(|step| step.contains("B-TREE")), "{plan:#?}");
        }
    }
    assert_eq!(api.get(SUMMARY).status, 200);
    for plan in plans(&api.env) {
        assert_no_scan(&plan, SUMMARY);
        assert!(!plan.iter().any(|step| step.contains("B-TREE FOR ORDER BY")), "{plan:#?}");
    }
}

#[test]
fn tokens_read_only_their_identitys_connections() {
    let api = Api::with_sessions(crate::sessions::SECRET, "");
    let rows = fixture(&api);
    for input in [
        serde_json::json!({"identity": "ann"}),
        serde_json::json!({"identity": "ann", "identityType": "user", "platforms": ["alpha", "zeta"]}),
    ] {
        let token = api.token(&input);
        let send_request = |path: &str| {
            let request = crate::support::as_secret(&token, "GET", path);
            assert_eq!(api.send(&request).status, 200, "{path}");
            plans(&api.env)
        };
        let index = "connections_by_identity (account=? AND environment=? AND active=? AND identity_folded=? AND identity=?";
        for query in [
            "",
            "tags=red",
            "tags=red,blue&tagsMatch=any",
            "q=ann",
            "name=ann",
            "account=7",
            "platform=alpha",
            "platformVersion=v1&identityType=user",
            "active=false&page=7",
        ] {
            let plans = send_request(&format!("{CONNECTIONS}?{query}"));
            assert_eq!(plans.len(), 3, "{query}");
            for plan in &plans {
                assert_no_scan(plan, query);
                assert!(!plan.iter().any(|step| step.contains("B-TREE")), "{query}: {plan:#?}");
                assert!(plan.iter().any(|step| step.contains("(id=?)")), "{query}: {plan:#?}");
            }
            for plan in &plans[1..] {
                assert!(plan.iter().any(|step| step.contains(index)), "{query}: {plan:#?}");
            }
        }
        // If the counters show that nothing matches, the batch has no search.
        assert_eq!(send_request(&format!("{CONNECTIONS}?identity=bob")).len(), 1);
        let keyed =
            send_request(&format!("{CONNECTIONS}?key=test::alpha::c1::ann,test::alpha::c3::bob"));
        for plan in &keyed {
            assert_no_scan(plan, "key");
        }
        for plan in send_request(SUMMARY) {
            assert_no_scan(&plan, SUMMARY);
        }
        let own = rows.iter().find(|row| row["identity"] == "ann").unwrap();
        for plan in send_request(&at(own["id"].as_str().unwrap())) {
            assert_no_scan(&plan, "one");
            assert!(!plan.iter().any(|step| step.contains("B-TREE")), "{plan:#?}");
        }
    }
}
