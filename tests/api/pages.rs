//! Pages of the list of connections: limits, page numbers, cursors, and invalid parameters.

use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::support::{Api, ORIGIN, as_key, body, column};
use crate::vault::{
    CONNECTIONS, SUMMARY, at, code, cursor, encode, faults, fixture, minimal, next,
};

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn reports_invalid_parameters() {
    let api = Api::with_catalog();
    api.mark_key_used(&api.key);
    let before = api.env.dump();
    let hundred = vec!["k"; 100].join(",");
    let (keys, twenty) = (format!("key={hundred},k"), vec!["t"; 20].join(","));
    let (tags, long) = (format!("tags={twenty},t"), "x".repeat(101));
    let cut = "x".repeat(64) + "…";
    for (query, code_, errors) in [
        // Unknown parameters
        ("environment=test", "unknown_parameter", vec!["environment"]),
        ("State=failed", "unknown_parameter", vec!["State>state"]),
        ("Platform=x", "unknown_parameter", vec!["Platform>platform"]),
        ("tag=x", "unknown_parameter", vec!["tag>tags"]),
        ("offset=3", "unknown_parameter", vec!["offset"]),
        ("id=x", "unknown_parameter", vec!["id"]),
        ("authkit=true", "unknown_parameter", vec!["authkit"]),
        // Repeated parameters
        ("key=a&key=b", "repeated_parameter", vec!["key"]),
        ("tags=a&tags=b", "repeated_parameter", vec!["tags"]),
        ("active=all", "invalid_parameter", vec!["active"]),
        ("active=true&activ%65=true&active=false", "repeated_parameter", vec!["active"]),
        // Empty values
        ("key=", "invalid_parameter", vec!["key"]),
        ("platformVersion", "invalid_parameter", vec!["platformVersion"]),
        ("name=", "invalid_parameter", vec!["name"]),
        ("identityType=", "invalid_parameter", vec!["identityType"]),
        ("identity=", "invalid_parameter", vec!["identity"]),
        ("platform=", "invalid_parameter", vec!["platform"]),
        ("tags=", "invalid_parameter", vec!["tags"]),
        ("q=", "invalid_parameter", vec!["q"]),
        ("active=", "invalid_parameter", vec!["active"]),
        ("after=", "invalid_parameter", vec!["after"]),
        // Lists with an empty item
        ("key=,", "invalid_parameter", vec!["key"]),
        ("key=a,,b", "invalid_parameter", vec!["key"]),
        ("key=a,", "invalid_parameter", vec!["key"]),
        ("tags=,", "invalid_parameter", vec!["tags"]),
        ("tags=a,,b", "invalid_parameter", vec!["tags"]),
        ("tags=,a", "invalid_parameter", vec!["tags"]),
        // Lists with too many items
        (&keys, "invalid_parameter", vec!["key"]),
        (&tags, "invalid_parameter", vec!["tags"]),
        (&format!("q={long}"), "invalid_parameter", vec!["q"]),
        // Values of the wrong format
        ("active=1", "invalid_parameter", vec!["active"]),
        ("active=True", "invalid_parameter", vec!["active"]),
        ("active=all", "invalid_parameter", vec!["active"]),
        ("identityType=User", "invalid_parameter", vec!["identityType>user"]),
        ("identityType=organisation", "invalid_parameter", vec!["identityType>organization"]),
        ("state=", "invalid_parameter", vec!["state"]),
        ("state=Failed", "invalid_parameter", vec!["state>failed"]),
        ("state=fail", "invalid_parameter", vec!["state>failed"]),
        ("tagsMatch=any", "invalid_parameter", vec!["tagsMatch"]),
        ("tags=a&tagsMatch=Any", "invalid_parameter", vec!["tagsMatch>any"]),
        ("limit=0", "invalid_parameter", vec!["limit"]),
        ("limit=501", "invalid_parameter", vec!["limit"]),
        ("limit=-1", "invalid_parameter", vec!["limit"]),
        ("limit=1.5", "invalid_parameter", vec!["limit"]),
        ("limit=%2B1", "invalid_parameter", vec!["limit"]),
        ("limit=18446744073709551617", "invalid_parameter", vec!["limit"]),
        ("page=0", "invalid_parameter", vec!["page"]),
        ("page=1000000001", "invalid_parameter", vec!["page"]),
        ("name=%zz", "invalid_parameter", vec!["name"]),
        ("identity=%ff", "invalid_parameter", vec!["identity"]),
        // Values that no connection can have
        ("platformVersion=aaa", "invalid_parameter", vec!["platformVersion"]),
        ("platformVersion=V1", "invalid_parameter", vec!["platformVersion"]),
        ("platformVersion=v", "invalid_parameter", vec!["platformVersion"]),
        ("platformVersion=v1%25", "invalid_parameter", vec!["platformVersion"]),
        (&format!("identity={}", encode(&"é".repeat(257))), "invalid_parameter", vec!["identity"]),
        (&format!("name={}", "x".repeat(129)), "invalid_parameter", vec!["name"]),
        (&format!("platform={}", "x".repeat(65)), "invalid_parameter", vec!["platform"]),
        (&format!("tags=a,{}", "x".repeat(129)), "invalid_parameter", vec!["tags"]),
        (&format!("key=a,{}", "x".repeat(395)), "invalid_parameter", vec!["key"]),
        (&format!("{}=1", "x".repeat(10_000)), "unknown_parameter", vec![cut.as_str()]),
        ("after=x", "invalid_parameter", vec!["after"]),
        ("after=%00", "invalid_parameter", vec!["after"]),
        ("after=x&page=1", "invalid_parameter", vec!["after", "after"]),
        // Errors of several types
        (
            "limit=x&foo=1&page=0&active=no&key=a&key=b&tags=,&identityType=x&q=",
            "unknown_parameter",
            vec!["active", "foo", "identityType", "key", "limit", "page", "q", "tags"],
        ),
    ] {
        let calls = api.env.db_calls.get();
        let response = api.get(&format!("{CONNECTIONS}?{query}"));
        let got: Vec<String> = faults(&response);
        let expected: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            (response.status, code(&response).as_str(), got),
            (400, code_, expected),
            "{query}"
        );
        assert_eq!(api.env.db_calls.get() - calls, 1, "{query}");
    }
    for query in [
        "&&",
        "limit=0005",
        "limit=500",
        "page=1000000000",
        "active=false",
        "q=%20",
        "tags=+",
        &format!("key={hundred}"),
        &format!("tags={twenty}"),
        &format!("q={}", encode(&"é".repeat(100))),
        "name=%00",
        "identity=%00",
        "platform=x%00",
        "key=%00,%00",
        "page=1000000000&limit=500&tags=a,b&tagsMatch=any",
        &format!("identity={}", encode(&"é".repeat(256))),
        &format!("name={}", "x".repeat(128)),
        &format!("platform={}", "x".repeat(64)),
        &format!("tags={}", "x".repeat(128)),
        &format!("key={}", "x".repeat(394)),
        "page=1000000000&q=a",
        "page=1000000000&key=test::a::b::c",
    ] {
        let response = api.get(&format!("{CONNECTIONS}?{query}"));
        assert_eq!((response.status, &body(&response)["total"]), (200, &json!(0)), "{query}");
    }
    for path in [SUMMARY.to_owned(), at(crate::vault::UNKNOWN_ID)] {
        let response = api.get(&format!("{path}?active=true&limit=1&active=x"));
        assert_eq!(
            (response.status, code(&response).as_str()),
            (400, "unknown_parameter"),
            "{path}"
        );
        assert_eq!(faults(&response).len(), 2, "{path}");
    }
    assert_eq!(api.env.dump(), before);
}

#[test]
fn pages_have_exact_totals_and_the_last_one_has_no_link() {
    let api = Api::with_catalog();
    for index in 0..7 {
        let mut document = minimal(&format!("id-{index}"));
        document["name"] = json!("Same");
        document["tags"] = json!(["a", format!("t{index}")]);
        api.env.wait(u64::from(index % 3 == 0));
        api.create(&document);
    }
    let keys: Vec<String> =
        (0..7).map(|index| format!("test::alpha::default::id-{index}")).collect();
    let keys = format!("key={}", keys.join(","));
    for filter in [
        "",
        "platform=alpha",
        "tags=a",
        "tags=a,t1,t2,t3,t4,t5,t6,t0&tagsMatch=any",
        "q=same",
        "name=same",
        &keys,
    ] {
        for (place, rows, pages, page, extra) in [
            ("", 7, 1, 1, false),
            ("limit=7", 7, 1, 1, false),
            ("limit=6", 6, 2, 1, true),
            ("limit=3", 3, 3, 1, true),
            ("limit=3&page=2", 3, 3, 2, true),
            ("limit=3&page=3", 1, 3, 3, false),
            ("limit=3&page=4", 0, 3, 4, false),
            ("limit=1&page=7", 1, 7, 7, false),
            ("limit=500&page=1000000000", 0, 1, 1_000_000_000_u64, false),
            ("page=1000000000&limit=1", 0, 7, 1_000_000_000, false),
        ] {
            let response = api.get(&format!("{CONNECTIONS}?{filter}&{place}"));
            let document = body(&response);
            let counted = document["rows"].as_array().map(Vec::len);
            assert_eq!(
                (
                    counted,
                    &document["total"],
                    &document["pages"],
                    &document["page"],
                    response.header("link").is_some()
                ),
                (Some(rows), &json!(7), &json!(pages), &json!(page), extra),
                "{filter} {place}"
            );
        }
    }
    let none = api.get(&format!("{CONNECTIONS}?platform=unknown&page=7"));
    assert_eq!(
        String::from_utf8(none.body).unwrap(),
        r#"{"rows":[],"total":0,"pages":0,"page":7}"#
    );
}

/// Follows the `next` links of a list. Returns the rows of each page.
fn walk(api: &Api, path: &str) -> Vec<Vec<Value>> {
    let (mut pages, mut path) = (Vec::new(), Some(path.to_owned()));
    while let Some(at) = path {
        let response = api.get(&at);
        let document = body(&response);
        assert_eq!((response.status, &document["page"]), (200, &json!(pages.len() + 1)), "{at}");
        pages.push(document["rows"].as_array().unwrap().clone());
        path = next(&response);
    }
    pages
}

#[test]
fn link_headers_walk_every_list() {
    let api = Api::with_catalog();
    let rows = fixture(&api);
    for query in [
        "",
        "active=false",
        "platform=zeta",
        "platformVersion=v1",
        "platform=zeta&platformVersion=v1",
        "identityType=user",
        "platform=epsilon&identityType=user",
        "platformVersion=v1&identityType=user",
        "tags=red",
        "tags=red,green",
        "tags=red,blue,Red&tagsMatch=any",
        "q=a",
        "q=AN&active=true",
        "name=aNN",
        "name=%61nn&tags=red",
        "key=test::alpha::c1::ann,test::alpha::c2::Ann,test::zeta::c7::a_b",
        "identity=ann",
    ] {
        let all_rows = body(&api.get(&format!("{CONNECTIONS}?{query}&limit=500")))["rows"]
            .as_array()
            .unwrap()
            .clone();
        for limit in 1..=4 {
            let pages = walk(&api, &format!("{CONNECTIONS}?limit={limit}&{query}"));
            assert!(pages.iter().rev().skip(1).all(|page| page.len() == limit), "{query}");
            assert_eq!(pages.concat(), all_rows, "{query} by {limit}");
            assert_eq!(
                pages.len(),
                all_rows.len().div_ceil(limit).max(1),
                "{query}: no empty page at the end"
            );
        }
    }
    // The first request may name any page.
    let response = api.get(&format!("{CONNECTIONS}?limit=2&page=3"));
    let rest = api.get(&next(&response).unwrap());
    assert_eq!(body(&rest)["page"], 4);
    let active: Vec<&Value> = rows.iter().filter(|row| row["active"] == true).collect();
    assert_eq!(body(&rest)["rows"], json!(&active[6..8]));
}

#[test]
fn link_repeats_the_request_with_another_position() {
    let api = Api::with_catalog();
    fixture(&api);
    for (query, kept) in [
        ("limit=1", "limit=1"),
        ("page=2&limit=1&platformVersion=v1", "limit=1&platformVersion=v1"),
        ("&limit=1&&pag%65=1&q=a%6En&", "limit=1&q=a%6En"),
        ("tags=%72ed&limit=1", "tags=%72ed&limit=1"),
    ] {
        let response = api.get(&format!("{CONNECTIONS}?{query}"));
        let link = response.header("link").unwrap();
        let after = cursor(&response).unwrap();
        assert_eq!(link, format!("<{ORIGIN}{CONNECTIONS}?{kept}&after={after}>; rel=\"next\""));
        assert!(after.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{after}");
        // A request with the cursor may repeat the filters in another order and encoding.
        let reordered: Vec<&str> = kept.split('&').rev().collect();
        let reordered = reordered.join("&").replace("%6E", "n").replace("limit", "li%6dit");
        let pages = [format!("after={after}&{reordered}"), format!("{kept}&after={after}")];
        let pages = pages.map(|query| body(&api.get(&format!("{CONNECTIONS}?{query}"))));
        assert_eq!(pages[0], pages[1]);
        assert_eq!(pages[0]["rows"].as_array().unwrap().len(), 1);
    }
    // The link repeats the path of the request unchanged.
    let response = api.get("/v1/vault/%63onnections?limit=1");
    assert!(response.header("link").unwrap().contains("/v1/vault/%63onnections?limit=1&after="));
}

#[test]
fn cursor_is_valid_only_for_its_list_and_key() {
    let api = Api::with_catalog();
    fixture(&api);
    let second = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let live_key = api.env.key("acme", Environment::Live, &Scope::ALL, None);
    let other = api.env.key("beta", Environment::Test, &Scope::ALL, None);
    let list = "limit=1&name=ann&tags=red";
    let after = cursor(&api.get(&format!("{CONNECTIONS}?{list}"))).unwrap();
    let send_request = |key, query: &str, after: &str| {
        let response =
            api.send(&as_key(key, "GET", &format!("{CONNECTIONS}?{query}&after={after}")));
        let errors = if response.status == 400 { faults(&response) } else { Vec::new() };
        (response.status, code(&response), errors)
    };
    let refused = (400, "invalid_parameter".to_owned(), vec!["after".to_owned()]);
    assert_eq!(send_request(&api.key, list, &after).0, 200);
    for key in [&second, &live_key, &other] {
        assert_eq!(send_request(key, list, &after), refused);
    }
    for query in [
        "",
        "limit=1",
        "limit=1&name=ann",
        "limit=1&tags=red",
        "limit=2&name=ann&tags=red",
        "limit=1&name=ann&tags=red&tagsMatch=any",
        "limit=1&name=ann&tags=red&active=false",
        "limit=1&name=ann&tags=red,blue",
        "limit=1&name=ann&tags=Red",
        "limit=1&name=ann&tags=red&q=a",
        "limit=1&name=ann%0Atags=red",
        "limit=1&name=red&tags=ann",
        // A line break followed by `limit=1` is part of this value, not another parameter.
        "limit=1&tags=red%0Alimit=1&name=ann",
    ] {
        assert_eq!(send_request(&api.key, query, &after), refused, "{query}");
    }
    // The same list with the parameters in another order or encoding.
    for query in [
        "tags=red&name=ann&limit=1",
        "limit=01&name=ANN&tags=r%65d",
        "limit=1&name=ann&tags=red,red&tagsMatch=all&active=true",
    ] {
        assert_eq!(send_request(&api.key, query, &after).0, 200, "{query}");
    }
    for index in 0..after.len() {
        let mut altered = after.clone();
        let digit = if altered.as_bytes()[index] == b'0' { "1" } else { "0" };
        altered.replace_range(index..=index, digit);
        assert_eq!(send_request(&api.key, list, &altered), refused, "{index}");
        // Errors of other parameters are reported in the same response.
        let both = send_request(&api.key, "limit=0", &altered);
        assert_eq!(both, (400, refused.1.clone(), vec!["after".into(), "limit".into()]), "{index}");
    }
    for altered in [
        after.to_uppercase(),
        format!("{after}0"),
        format!("{after}%00"),
        after.chars().skip(1).collect(),
        after.repeat(2),
        "0".repeat(84),
        encode("é".repeat(42).as_str()),
    ] {
        assert_eq!(send_request(&api.key, list, &altered), refused, "{altered}");
    }
    let with_page = api.get(&format!("{CONNECTIONS}?{list}&after={after}&page=1"));
    assert_eq!((with_page.status, faults(&with_page)), (400, vec!["after".to_owned()]));
}

#[test]
fn rejects_a_value_that_imitates_two_parameters() {
    let api = Api::with_catalog();
    fixture(&api);
    let keys = "test::alpha::c1::ann,test::alpha::c2::Ann,test::alpha-two::c4::ann::x";
    for (list, other) in [
        (format!("key={keys}&q=an"), format!("key={keys}%0Aq=an")),
        (
            format!("key={keys}&platformVersion=v1&name=ann"),
            format!("key={keys},x%0AplatformVersion=v1&name=ann"),
        ),
        ("tags=red,blue&tagsMatch=any".to_owned(), "tags=red,blue%0AtagsMatch=any".to_owned()),
    ] {
        let Some(after) = cursor(&api.get(&format!("{CONNECTIONS}?limit=1&{list}"))) else {
            continue;
        };
        let response = api.get(&format!("{CONNECTIONS}?limit=1&{other}&after={after}"));
        assert_eq!(
            (response.status, faults(&response)),
            (400, vec!["after".to_owned()]),
            "{other}"
        );
    }
}

#[test]
fn cursor_survives_deletion_of_its_connection() {
    let api = Api::with_catalog();
    let rows = fixture(&api);
    let active: Vec<&str> = rows
        .iter()
        .filter(|row| row["active"] == true)
        .map(|row| row["id"].as_str().unwrap())
        .collect();
    let first = api.get(&format!("{CONNECTIONS}?limit=3"));
    let ids = column(&first, "id");
    assert_eq!(ids, active[..3]);
    assert_eq!(api.on("DELETE", &ids[2], None).status, 204);
    assert_eq!(api.on("DELETE", active[4], None).status, 204);
    let second = api.get(&next(&first).unwrap());
    assert_eq!(column(&second, "id"), [active[3], active[5], active[6]]);
    assert_eq!((&body(&second)["page"], &body(&second)["total"]), (&json!(2), &json!(7)));
}
