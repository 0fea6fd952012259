//! Errors in the query parameters of the catalog's lists.

use serde_json::{Value, json};

use crate::support::{Api, body};

const CONNECTORS: &str = "/v1/available-connectors";
const ACTIONS: &str = "/v1/available-actions/alpha";

/// The status and the problem's code, then each error as `parameter` or `parameter>suggestion`.
fn faults(api: &Api, path: &str) -> (u16, String, Vec<String>) {
    let response = api.get(path);
    let document = body(&response);
    let errors = document["errors"].as_array().cloned().unwrap_or_default();
    let name = |error: &Value| {
        assert!(error["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{error}");
        let suggestion = error["suggestion"].as_str().map(|suggestion| format!(">{suggestion}"));
        format!("{}{}", error["parameter"].as_str().unwrap(), suggestion.unwrap_or_default())
    };
    (
        response.status,
        document["code"].as_str().unwrap_or_default().into(),
        errors.iter().map(name).collect(),
    )
}

#[test]
fn reports_invalid_parameters() {
    let api = Api::with_catalog();
    let x100 = "x".repeat(100);
    let x101 = "x".repeat(101);
    for (query, code, errors) in [
        // Unknown parameters
        ("plattform=x", "unknown_parameter", vec!["plattform>platform"]),
        ("Platform=x", "unknown_parameter", vec!["Platform>platform"]),
        ("per_page=5", "unknown_parameter", vec!["per_page>page"]),
        ("title=x", "unknown_parameter", vec!["title"]),
        ("=x", "unknown_parameter", vec![""]),
        ("a=1&a=2", "unknown_parameter", vec!["a"]),
        ("page%00=1", "unknown_parameter", vec!["page\0>page"]),
        ("%zz=1", "unknown_parameter", vec!["%zz"]),
        // Repeated parameters
        ("key=a&key=b", "repeated_parameter", vec!["key"]),
        ("key=a&k%65y=a&key=c", "repeated_parameter", vec!["key"]),
        // Empty values
        ("key=", "invalid_parameter", vec!["key"]),
        ("key", "invalid_parameter", vec!["key"]),
        ("limit=", "invalid_parameter", vec!["limit"]),
        ("authkit=", "invalid_parameter", vec!["authkit"]),
        // Invalid values of `limit` and `page`
        ("limit=0", "invalid_parameter", vec!["limit"]),
        ("limit=501", "invalid_parameter", vec!["limit"]),
        ("limit=-1", "invalid_parameter", vec!["limit"]),
        ("limit=%2B1", "invalid_parameter", vec!["limit"]),
        ("limit=1.0", "invalid_parameter", vec!["limit"]),
        ("limit=1e2", "invalid_parameter", vec!["limit"]),
        ("limit=0x10", "invalid_parameter", vec!["limit"]),
        ("limit=+1", "invalid_parameter", vec!["limit"]),
        ("limit=%D9%A1", "invalid_parameter", vec!["limit"]),
        ("limit=18446744073709551617", "invalid_parameter", vec!["limit"]),
        ("page=0", "invalid_parameter", vec!["page"]),
        ("page=1000000001", "invalid_parameter", vec!["page"]),
        ("page=99999999999999999999999999", "invalid_parameter", vec!["page"]),
        // Invalid booleans
        ("authkit=1", "invalid_parameter", vec!["authkit"]),
        ("authkit=True", "invalid_parameter", vec!["authkit"]),
        ("authkit=true%20", "invalid_parameter", vec!["authkit"]),
        // Invalid percent-encoding
        ("name=%zz", "invalid_parameter", vec!["name"]),
        ("name=%ff", "invalid_parameter", vec!["name"]),
        ("name=%", "invalid_parameter", vec!["name"]),
        // Invalid values of `q`
        ("q=%20%20", "invalid_parameter", vec!["q"]),
        (&format!("q={x101}"), "invalid_parameter", vec!["q"]),
        // Values that no connector or action can have
        (&format!("name={}", "x".repeat(257)), "invalid_parameter", vec!["name"]),
        (&format!("key={}", "x".repeat(257)), "invalid_parameter", vec!["key"]),
        (&format!("platform={}", "x".repeat(65)), "invalid_parameter", vec!["platform"]),
        // Several errors are listed in the order of the query. The first one determines the
        // problem's code.
        (
            "limit=x&foo=1&page=0&authkit=no&key=a&key=b",
            "unknown_parameter",
            vec!["foo", "key", "authkit", "limit", "page"],
        ),
    ] {
        let (status, got_code, mut got) = faults(&api, &format!("{CONNECTORS}?{query}"));
        let mut expected: Vec<String> = errors.iter().map(ToString::to_string).collect();
        got.sort();
        expected.sort();
        assert_eq!((status, got_code.as_str(), got), (400, code, expected), "{query}");
    }
    for query in [
        "",
        "&",
        "&&limit=5&",
        "limit=0005",
        "limit=500",
        "page=1000000000",
        "authkit=false",
        "name=%25_*%27%22%5C",
        "name=a+b",
        "key=%00",
        &format!("q={x100}"),
        "q=%C3%89",
    ] {
        assert_eq!(api.get(&format!("{CONNECTORS}?{query}")).status, 200, "{query}");
    }
    assert_eq!(
        faults(&api, &format!("{ACTIONS}?category=x&platform=alpha")),
        (400, "unknown_parameter".into(), vec!["category".into(), "platform".into()])
    );
}

#[test]
fn pages_past_the_end_are_empty_with_an_exact_total() {
    let api = Api::with_catalog();
    for (query, rows, pages, page) in [
        ("limit=2", 2, 3, 1),
        ("limit=2&page=3", 2, 3, 3),
        ("limit=2&page=4", 0, 3, 4),
        ("limit=4&page=2", 2, 2, 2),
        ("limit=500&page=1000000000", 0, 1, 1_000_000_000_u64),
        ("page=1000000000&limit=1", 0, 6, 1_000_000_000),
        ("", 6, 1, 1),
    ] {
        let document = body(&api.get(&format!("{ACTIONS}?{query}")));
        let counted = document["rows"].as_array().map(Vec::len);
        assert_eq!(
            (counted, &document["total"], &document["pages"], &document["page"]),
            (Some(rows), &json!(6), &json!(pages), &json!(page)),
            "{query}"
        );
    }
    let none = api.get("/v1/available-actions/empty");
    assert_eq!(
        String::from_utf8(none.body).unwrap(),
        r#"{"rows":[],"total":0,"pages":0,"page":1}"#
    );
    let none = api.get(&format!("{CONNECTORS}?platform=unknown&page=7"));
    assert_eq!(
        String::from_utf8(none.body).unwrap(),
        r#"{"rows":[],"total":0,"pages":0,"page":7}"#
    );
}

#[test]
fn a_hostile_query_is_cheap() {
    let api = Api::with_catalog();
    let query: Vec<String> = (0..100_000).map(|at| format!("{at}=x")).collect();
    let (status, code, errors) = faults(&api, &format!("{CONNECTORS}?{}&limit=0", query.join("&")));
    assert_eq!((status, code.as_str(), errors.len()), (400, "unknown_parameter", 101));
    assert_eq!(
        errors.last().map(String::as_str),
        Some("limit"),
        "known parameters are checked all the same"
    );
}
