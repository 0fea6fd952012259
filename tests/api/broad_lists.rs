//! Lists that would read too many rows are refused before any row is read. The problem names the
//! cause and a remedy.

use connector_vault::http::Service;
use serde_json::{Value, json};

use crate::support::{Api, as_key, as_secret, body, config, to_sqlite};
use crate::vault::{CONNECTIONS, code, minimal, next};

/// Returns a service with 60 connections, whose lists may read this many rows.
fn vault(max_rows_read: &str) -> Api {
    let api = Api::with_sessions(crate::sessions::SECRET, "");
    for index in 0..60 {
        api.env.wait(1);
        let mut document = minimal(&format!("ann-{}", index % 20));
        document["label"] = json!(format!("l{index}"));
        document["tags"] = if index == 7 { json!(["all", "rare"]) } else { json!(["all", "most"]) };
        document["name"] = json!("Ann");
        api.create(&document);
    }
    with_max_rows_read(api, max_rows_read)
}

fn with_max_rows_read(api: Api, max_rows_read: &str) -> Api {
    let variables = [("SESSION_SECRET", crate::sessions::SECRET), ("MAX_ROWS_READ", max_rows_read)];
    Api { service: Service::new(config(&variables)), ..api }
}

/// The detail of a refused list, and the parameter and detail of each error.
fn refusal(api: &Api, query: &str) -> (String, Vec<(String, String)>) {
    let response = api.get(&format!("{CONNECTIONS}?{query}"));
    assert_eq!((response.status, code(&response).as_str()), (400, "query_too_broad"), "{query}");
    let document = body(&response);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let errors = document["errors"].as_array().unwrap();
    let errors = errors.iter().map(|error| (text(&error["parameter"]), text(&error["detail"])));
    (text(&document["detail"]), errors.collect())
}

#[test]
fn a_broad_list_is_rejected_with_estimate_causes_and_advice() {
    let api = vault("50");
    let rows = "Narrow it with `identity`, `name`, `key` or a rarer tag, or ask for one tag alone.";
    for (query, estimate, cure, errors) in [
        (
            "tags=all,most&tagsMatch=any",
            "about 119",
            rows,
            vec![("tags", "`tags` have 119 connections together")],
        ),
        (
            "tags=all,most",
            "about 238",
            rows,
            vec![("tags", "`tags` have 59 connections each, or more")],
        ),
        (
            "tags=all&platform=alpha&identityType=user",
            "about 240",
            rows,
            vec![
                ("tags", "`tags` has 60 connections"),
                (
                    "platform",
                    "`platform` matches, together with the other filters except `tags`, 60 connections",
                ),
                (
                    "identityType",
                    "`identityType` matches, together with the other filters except `tags`, 60 connections",
                ),
            ],
        ),
        (
            "tags=all,most&tagsMatch=any&state=unknown",
            "about 2520",
            rows,
            vec![
                ("tags", "`tags` have 119 connections together"),
                ("state", "`state` matches 60 connections"),
            ],
        ),
        (
            "q=a",
            "more than 50",
            "Give `q` more characters, or ask by `identity`.",
            vec![("q", "`q` begins the name or the identity of more than 16 connections")],
        ),
        (
            "name=ann",
            "more than 50",
            "Ask by `identity` or `key` instead.",
            vec![("name", "`name` has more than 16 connections")],
        ),
    ] {
        let errors: Vec<_> =
            errors.into_iter().map(|(name, what)| (name.to_owned(), what.to_owned())).collect();
        let detail =
            format!("This list would read {estimate} rows, but a list may read at most 50. {cure}");
        assert_eq!(refusal(&api, query), (detail, errors), "{query}");
    }
    let api = with_max_rows_read(api, "118");
    refusal(&api, "tags=all,most&tagsMatch=any");
    let api = with_max_rows_read(api, "119");
    assert_eq!(api.get(&format!("{CONNECTIONS}?tags=all,most&tagsMatch=any")).status, 200);
    let api = with_max_rows_read(api, "20");
    let cure = "Follow the `Link` header from an earlier page, which costs the same on every page, or narrow the list with a filter.";
    let page = "`page` skips 29 connections, which are read one by one";
    assert_eq!(
        refusal(&api, "page=31&limit=1"),
        (
            format!("This list would read about 28 rows, but a list may read at most 20. {cure}"),
            vec![("page".to_owned(), page.replace("29", "28"))]
        )
    );
}

#[test]
fn a_rejected_list_reads_no_rows() {
    let mut api = vault("50");
    for (max, query, cause) in [
        ("50", "tags=all,most&tagsMatch=any", "tags"),
        ("50", "tags=all,most", "tags"),
        ("50", "tags=all&state=unknown", "tags"),
        ("20", "page=31&limit=1", "page"),
    ] {
        api = with_max_rows_read(api, max);
        assert_eq!(refusal(&api, query).1[0].0, cause, "{query}");
        // No statement after those for the key and the estimate returns totals or rows.
        for statement in api.env.statements.borrow().iter().skip(2) {
            if !statement.sql.starts_with("SELECT") {
                continue;
            }
            let sql = format!("SELECT count(*) FROM ({})", statement.sql);
            let params = statement.params.iter().map(to_sqlite);
            let rows: i64 = api
                .env
                .database
                .query_row(&sql, rusqlite::params_from_iter(params), |row| row.get(0))
                .unwrap();
            assert!(rows <= 1, "{query}: {}", statement.sql);
        }
    }
}

#[test]
fn a_selective_list_is_returned() {
    let api = vault("50");
    for (query, total) in [
        ("", 60),
        ("tags=all", 60),
        ("tags=all,rare", 1),
        ("tags=all,rare&platform=alpha", 1),
        ("tags=rare,nobody&tagsMatch=any", 1),
        ("tags=all,nobody", 0),
        ("state=unknown", 60),
        ("platform=alpha&platformVersion=v1&identityType=user&state=unknown", 60),
        ("identity=ann-3", 3),
        ("q=ann-3", 3),
        ("name=nobody", 0),
        ("page=1000000000", 60),
        ("tags=all&page=1000", 60),
    ] {
        let response = api.get(&format!("{CONNECTIONS}?{query}"));
        assert_eq!((response.status, &body(&response)["total"]), (200, &json!(total)), "{query}");
    }
}

/// A page near the end is read from the end of the index, regardless of its number.
#[test]
fn the_last_pages_can_be_requested_by_number() {
    let api = vault("20");
    for filter in
        ["", "tags=all", "platform=alpha", "state=unknown", "platformVersion=v1&identityType=user"]
    {
        let all_rows = body(&api.get(&format!("{CONNECTIONS}?limit=500&{filter}")))["rows"].clone();
        let all_rows = all_rows.as_array().unwrap();
        for limit in [1, 7, 20] {
            for page in 1..=70 {
                let response =
                    api.get(&format!("{CONNECTIONS}?{filter}&limit={limit}&page={page}"));
                let offset = limit * (page - 1);
                let rows_from_end = (60_usize.saturating_sub(offset)).saturating_sub(limit + 1);
                let what = format!("{filter} {limit} {page}");
                if offset > 20 && offset < 60 && rows_from_end > 20 {
                    assert_eq!(code(&response), "query_too_broad", "{what}");
                    continue;
                }
                let rows: Vec<_> = all_rows.iter().skip(offset).take(limit).cloned().collect();
                let document = body(&response);
                assert_eq!(
                    (&document["rows"], &document["total"]),
                    (&json!(rows), &json!(60)),
                    "{what}"
                );
                assert_eq!(next(&response).is_some(), offset + limit < 60, "{what}");
            }
        }
    }
}

#[test]
fn a_token_gets_no_counts_in_a_rejected_list() {
    let api = vault("10");
    let ask = |api: &Api, input: &Value, query: &str| {
        let token = api.token(input);
        api.send(&as_secret(&token, "GET", &format!("{CONNECTIONS}?{query}")))
    };
    let input = json!({"identity": "ann-3"});
    let response = ask(&api, &input, "");
    assert_eq!((response.status, &body(&response)["total"]), (200, &json!(3)));
    // The token's identity has more connections than a list may read.
    let api = with_max_rows_read(api, "6");
    let response = ask(&api, &input, "");
    assert_eq!((response.status, code(&response).as_str()), (400, "query_too_broad"));
    let errors = json!([{"parameter": "identity", "detail": "`identity` has more connections than a list may read"}]);
    assert_eq!(body(&response)["errors"], errors);
    assert!(response.header("server-timing").unwrap().contains("rows_read=0 "));
}

#[test]
fn checks_run_in_the_documented_order() {
    let api = vault("50");
    let broad_path = format!("{CONNECTIONS}?tags=all,most");
    let unknown = format!("{broad_path}&limit=0");
    assert_eq!(code(&api.get(&unknown)), "invalid_parameter");
    let no_scope = api.env.key("acme", connector_vault::terms::Environment::Test, &[], None);
    let response = api.send(&as_key(&no_scope, "GET", &broad_path));
    assert_eq!(code(&response), "insufficient_scope");
    api.env.revoke(&no_scope);
    let response = api.send(&as_key(&no_scope, "GET", &broad_path));
    assert_eq!(code(&response), "invalid_key");
    api.env.limited.set(true);
    assert_eq!(code(&api.get(&broad_path)), "too_many_requests");
}
