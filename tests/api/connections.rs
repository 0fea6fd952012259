//! The list of connections: filters and rows.

use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::support::{Api, body, column};
use crate::vault::{CONNECTIONS, encode, fixture, minimal};

#[test]
fn row_has_exactly_the_documented_fields() {
    let api = Api::with_catalog();
    let created = api.create(&json!({
        "platform": "epsilon", "platformVersion": "v2", "identity": "Zoë::1", "identityType": "team", "label": "l-1",
        "name": "a \"b\"", "tags": ["z", "a", "z"], "state": "degraded", "active": true,
    }));
    let id = created["id"].as_str().unwrap();
    let row = format!(
        r#"{{"id":"{id}","platformVersion":"v2","name":"a \"b\"","type":"api","key":"test::epsilon::l-1::Zoë::1","environment":"test","platform":"epsilon","identity":"Zoë::1","identityType":"team","description":"What Émile & Co does.","state":"degraded","tags":["z","a","z"],"version":"1","active":true,"createdAt":"2027-01-15T08:00:00.000Z"}}"#
    );
    let text = |path: &str| String::from_utf8(api.get(path).body).unwrap();
    assert_eq!(text(CONNECTIONS), format!(r#"{{"rows":[{row}],"total":1,"pages":1,"page":1}}"#));
    assert_eq!(text(&format!("{CONNECTIONS}/{id}")), row);
    assert_eq!(created.to_string(), serde_json::from_str::<Value>(&row).unwrap().to_string());
}

const ALL: &str = "c1 c2 c4 c5 c6 c7 c8 c9 c11";

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn filters_match_exactly_and_combine_with_and() {
    let api = Api::with_catalog();
    let rows = fixture(&api);
    let label = |row: &Value| row["key"].as_str().unwrap().split("::").nth(2).unwrap().to_owned();
    for (query, labels) in [
        ("", ALL),
        ("active=true", ALL),
        ("active=false", "c3 c10"),
        // `platform` matches exactly, ignoring case.
        ("platform=alpha", "c1 c2"),
        ("platform=ALPHA", "c1 c2"),
        ("platform=alpha-two", "c4"),
        ("platform=alph", ""),
        ("platform=alpha%25", ""),
        ("platform=alpha::", ""),
        ("platform=unknown", ""),
        // `platformVersion` matches exactly.
        ("platformVersion=v1", "c1 c4 c5 c6 c7 c9 c11"),
        ("platformVersion=v10", "c8"),
        ("platformVersion=v3", ""),
        // `name` matches exactly, ignoring case.
        ("name=ann", "c1 c2 c11"),
        ("name=aNN", "c1 c2 c11"),
        ("name=an", ""),
        ("name=an_", ""),
        ("name={é}", "c7"),
        ("name={ÉCOLE}", "c8"),
        ("name={100%}", "c5"),
        ("name={ann's 100%_*\"\\}", "c4"),
        ("name={日本}", "c9"),
        ("name=null", ""),
        ("name=*", ""),
        ("name=%25", ""),
        // `identity` matches exactly, including its case.
        ("identity=ann", "c1"),
        ("identity=Ann", "c2"),
        ("identity=ANN", ""),
        ("identity=ann::x", "c4"),
        ("identity={100%}", "c5"),
        ("identity=a_b", "c7"),
        ("identity={x'y\"z\\*}", "c9"),
        ("identity={É}", "c11"),
        ("identity={é}", ""),
        ("identity=bob", ""),
        ("identity=%25", ""),
        ("identity=_", ""),
        // `identityType` matches exactly.
        ("identityType=user", "c1 c7 c8 c9 c11"),
        ("identityType=team", "c2"),
        ("identityType=organization", "c4"),
        ("identityType=project", "c5 c6"),
        // `tags` matches connections with all of the tags, exactly.
        ("tags=red", "c1 c2 c7 c11"),
        ("tags=Red", "c4"),
        ("tags=re", "c8"),
        ("tags=red,red", "c1 c2 c7 c11"),
        ("tags=red,green", "c7 c11"),
        ("tags=green,red,green", "c7 c11"),
        ("tags=red,blue", "c1"),
        ("tags=red,Red", ""),
        ("tags=red,none", ""),
        ("tags={100%}", "c5"),
        ("tags={100%},_", "c5"),
        ("tags=_", "c5"),
        ("tags=%25", ""),
        ("tags=*", "c9"),
        ("tags={it's},{\"q\"},{\\}", "c9"),
        ("tags=+red", ""),
        ("tags=red&tagsMatch=all", "c1 c2 c7 c11"),
        ("tags=red,green&tagsMatch=all", "c7 c11"),
        ("tags=red&tagsMatch=any", "c1 c2 c7 c11"),
        ("tags=red,green&tagsMatch=any", "c1 c2 c7 c11"),
        ("tags=blue,Red,none&tagsMatch=any", "c1 c4"),
        ("tags=none,nothing&tagsMatch=any", ""),
        // More tags than one statement merges in D1, with and without other filters.
        ("tags=1,2,3,4,5,6", ""),
        ("tags=1,2,3,4,5&platform=alpha", ""),
        ("tags=1,2,3,4,5,6&platform=alpha&identityType=user", ""),
        ("tags=1,2,3,4,5,red&tagsMatch=any", "c1 c2 c7 c11"),
        ("tags=1,2,3,4,5,6,7,8,9,10,red,blue&tagsMatch=any&platform=alpha", "c1 c2"),
        ("tags=blue,Red&tagsMatch=any&active=false", "c3"),
        // `q` matches a prefix of the name or the identity, ignoring case.
        ("q=ann", "c1 c2 c4 c11"),
        ("q=ANN", "c1 c2 c4 c11"),
        ("q=nn", ""),
        ("q=a", "c1 c2 c4 c7 c8 c11"),
        ("q=100", "c5 c6"),
        ("q={100%}", "c5"),
        ("q={é}", "c7 c8 c11"),
        ("q={É}", "c7 c8 c11"),
        ("q={日}", "c9"),
        ("q={x'y\"}", "c9"),
        ("q=a_", "c7"),
        ("q=_", ""),
        ("q=%25", ""),
        ("q=*", ""),
        ("q=ann::", "c4"),
        ("q=zoe", ""),
        ("q=zoe&active=false", "c10"),
        ("q=annabel&active=false", "c10"),
        ("q=%F4%8F%BF%BF", ""),
        // `key` matches one of several keys exactly.
        ("key=test::alpha::c1::ann", "c1"),
        ("key=test::alpha::c1::Ann", ""),
        ("key=test::ALPHA::c1::ann", ""),
        ("key=test::alpha::c1::ann,test::alpha-two::c4::ann::x", "c1 c4"),
        ("key=test::alpha::c1::ann,test::alpha::c1::ann", "c1"),
        ("key=test::alpha::c3::bob", ""),
        ("key=test::alpha::c3::bob&active=false", "c3"),
        ("key=live::alpha::c1::ann", ""),
        ("key=alpha::c1::ann", ""),
        ("key=test::alpha::c1", ""),
        ("key=x,test::alpha::c2::Ann,%25,test::%25::%25::%25", "c2"),
        ("key=test::alpha::c1::ann%20", ""),
        ("key={test::zeta::c5::100%}", "c5"),
        ("key={test::epsilon::c9::x'y\"z\\*}", "c9"),
        // Filters are combined with "and".
        ("platform=alpha&platformVersion=v1", "c1"),
        ("platform=alpha&platformVersion=v1&active=false", "c3"),
        ("platform=zeta&identityType=user", "c7 c8"),
        ("platform=zeta&identityType=user&platformVersion=v10", "c8"),
        ("platformVersion=v1&identityType=project", "c5 c6"),
        ("tags=red&platform=zeta", "c7"),
        ("tags=red&platform=zeta&identityType=team", ""),
        ("tags=red,blue&tagsMatch=any&platform=alpha&platformVersion=v2", "c2"),
        ("tags=red&name=ann", "c1 c2 c11"),
        ("tags=red,green&name=ann", "c11"),
        ("tags=blue,green&tagsMatch=any&name=ann", "c1 c11"),
        ("tags=red&identity=ann", "c1"),
        ("tags=red&q=ann", "c1 c2 c11"),
        ("tags=green,Red&tagsMatch=any&q=an", "c4 c11"),
        ("q=ann&name=ann&platform=epsilon", "c11"),
        ("q=ann&identity=ann::x", "c4"),
        ("q=bob&identity=ann", ""),
        ("q=ann&identityType=team&platformVersion=v2", "c2"),
        ("name=ann&identity=ann", "c1"),
        ("name=ann&identity=bob", ""),
        ("key=test::alpha::c1::ann,test::alpha::c2::Ann&identityType=team", "c2"),
        ("key=test::alpha::c1::ann,test::alpha::c2::Ann&tags=blue", "c1"),
        ("key=test::alpha::c1::ann,test::alpha::c2::Ann&tags=blue,red&tagsMatch=any", "c1 c2"),
        (
            "key=test::alpha::c1::ann&q=an&name=ANN&identity=ann&platform=alpha&platformVersion=v1&identityType=user&tags=red,blue&active=true",
            "c1",
        ),
        (
            "key=test::alpha::c1::ann&q=an&name=ANN&identity=ann&platform=alpha&platformVersion=v1&identityType=user&tags=red,blue&active=false",
            "",
        ),
    ] {
        // Text in braces is percent-encoded in this loop.
        let encoded = query.split('{').map(|part| match part.split_once('}') {
            Some((raw, rest)) => encode(raw) + rest,
            None => part.to_owned(),
        });
        let encoded = encoded.collect::<String>();
        let requested: Vec<&str> = labels.split_whitespace().collect();
        let expected: Vec<Value> =
            rows.iter().filter(|row| requested.contains(&label(row).as_str())).cloned().collect();
        assert_eq!(expected.len(), requested.len());
        let response = api.get(&format!("{CONNECTIONS}?{encoded}"));
        let got = body(&response);
        let shown: Vec<String> = got["rows"].as_array().into_iter().flatten().map(label).collect();
        assert_eq!(
            (response.status, shown.join(" ")),
            (200, expected.iter().map(label).collect::<Vec<_>>().join(" ")),
            "{query}"
        );
        let pages = u64::from(!expected.is_empty());
        let total = expected.len();
        assert_eq!(
            got,
            json!({"rows": expected, "total": total, "pages": pages, "page": 1}),
            "{query}"
        );
        assert_eq!(response.header("link"), None, "{query}");
        // The pages together equal the full list.
        let pages: Vec<Value> = (1..=total + 1)
            .flat_map(|page| {
                body(&api.get(&format!("{CONNECTIONS}?{encoded}&limit=1&page={page}")))["rows"]
                    .as_array()
                    .unwrap()
                    .clone()
            })
            .collect();
        assert_eq!(pages, expected, "{query}");
    }
}

#[test]
fn q_returns_a_connection_once_if_name_and_identity_match() {
    let api = Api::with_catalog();
    let mut document = minimal("abcdefghi-1");
    document["name"] = json!("Abcdefghi x");
    api.create(&document);
    for length in 1..=9 {
        let q: String = "abcdefghi".chars().take(length).collect();
        let found = body(&api.get(&format!("{CONNECTIONS}?q={q}")));
        let count = found["rows"].as_array().unwrap().len();
        assert_eq!((&found["total"], count), (&json!(1), 1), "{q}");
    }
}

#[test]
fn every_list_sends_one_batch() {
    let api = Api::with_catalog();
    fixture(&api);
    for query in [
        "",
        "q=ann",
        "key=test::alpha::c1::ann",
        "tags=red",
        "tags=red,blue&tagsMatch=any",
        "limit=2&page=3",
    ] {
        let before = api.env.db_calls.get();
        let response = api.get(&format!("{CONNECTIONS}?{query}"));
        assert_eq!((response.status, api.env.db_calls.get() - before), (200, 1), "{query}");
        let cost = response.header("server-timing").unwrap();
        assert!(
            cost.starts_with("d1;desc=\"calls=1 ") && cost.ends_with("kv;desc=\"reads=0\""),
            "{cost}"
        );
        assert_eq!(response.header("cache-control"), Some("private, no-store"));
        assert_eq!(response.header("etag"), None);
    }
}

#[test]
fn accepts_up_to_a_hundred_keys_and_twenty_tags() {
    let api = Api::with_catalog();
    let many: Vec<Value> = (0..120)
        .map(|index| {
            let tags: Vec<String> = (0..=index % 25).map(|tag| format!("t{tag}")).collect();
            let mut document = minimal(&format!("id-{index}"));
            document["tags"] = json!(tags);
            api.create(&document)
        })
        .collect();
    let keys: Vec<&str> = many.iter().take(100).map(|row| row["key"].as_str().unwrap()).collect();
    let response = api.get(&format!("{CONNECTIONS}?limit=500&key={}", keys.join(",")));
    let mut got = column(&response, "key");
    got.sort();
    let mut expected = keys.clone();
    expected.sort_unstable();
    assert_eq!(got, expected);
    // A value longer than D1's longest pattern, and more values than a statement may have
    // parameters.
    let too_long_keys = vec![format!("test::alpha::default::{}", "x".repeat(256)); 100].join(",");
    assert_eq!(body(&api.get(&format!("{CONNECTIONS}?key={too_long_keys}")))["total"], 0);
    let tags: Vec<String> = (0..20).map(|tag| format!("t{tag}")).collect();
    for (mode, total) in [("all", 25), ("any", 120)] {
        let page =
            api.get(&format!("{CONNECTIONS}?tags={}&tagsMatch={mode}&limit=7", tags.join(",")));
        assert_eq!((body(&page)["total"].clone(), column(&page, "id").len()), (json!(total), 7));
    }
    let all = "key=test::alpha::default::id-24&q=id-&name=x&identity=id-24&platform=alpha&platformVersion=v1&identityType=user&active=true";
    for q in [
        all,
        "q=id-&platform=alpha&platformVersion=v1&identityType=user",
        "platform=alpha&platformVersion=v1&identityType=user",
        "name=x&platform=alpha&platformVersion=v1&identityType=user",
    ] {
        for mode in ["all", "any"] {
            let path = format!("{CONNECTIONS}?{q}&tags={}&tagsMatch={mode}&page=2", tags.join(","));
            assert_eq!(
                api.get(&path).status,
                200,
                "the maximum number of parameters of a statement"
            );
        }
    }
}

#[test]
fn a_list_contains_only_its_account_and_environment() {
    let api = Api::with_catalog();
    let rows = fixture(&api);
    let others = [
        api.env.key("acme", Environment::Live, &Scope::ALL, None),
        api.env.key("beta", Environment::Test, &Scope::ALL, None),
    ];
    for (index, key) in others.iter().enumerate() {
        let path = format!("{CONNECTIONS}?limit=500");
        let list = || body(&api.send(&crate::support::as_key(key, "GET", &path)));
        assert_eq!(list()["total"], 0);
        let connection = api.create_as(key, &minimal("ann"));
        assert_eq!(connection["environment"], if index == 0 { "live" } else { "test" });
        assert_eq!(list(), json!({"rows": [connection], "total": 1, "pages": 1, "page": 1}));
    }
    assert_eq!(body(&api.get(CONNECTIONS))["total"], rows.len() - 2);
}
