//! The part of the catalog that a token can read.

use connector_vault::http::{Response, Service};
use serde_json::json;

use super::{CONNECTORS, FREE, SECRET, api};
use crate::support::{as_secret, body, column, config, with_header};
use crate::vault::code;

#[test]
fn the_catalog_shows_a_tokens_platforms_only() {
    let api = api();
    let all = api.token(&json!({"identity": "ann"}));
    let input = json!({"identity": "ann", "platforms": ["zeta", "alpha", "nothing"]});
    let limited_token = api.token_with_removed_platforms(&["nothing"], &input);
    let get = |token: &str, query: &str| api.get_as(token, &format!("{CONNECTORS}{query}"));
    let platforms = |response: &Response| {
        let total = body(response)["total"].as_u64().unwrap();
        (column(response, "platform"), total)
    };
    for (query, expected, total) in [
        ("", vec!["alpha", "zeta"], 2),
        ("?limit=1", vec!["alpha"], 2),
        ("?limit=1&page=2", vec!["zeta"], 2),
        ("?limit=1&page=3", vec![], 2),
        ("?platform=zeta", vec!["zeta"], 1),
        ("?platform=ZETA", vec!["zeta"], 1),
        ("?platform=epsilon", vec![], 0),
        ("?key=api::epsilon::v1", vec![], 0),
        ("?key=api::alpha::v1", vec!["alpha"], 1),
        ("?category=developer%20tools", vec!["alpha"], 1),
        ("?authkit=true", vec!["zeta"], 1),
        ("?name=alpha%20api", vec!["alpha"], 1),
        ("?q=what", vec!["alpha", "zeta"], 2),
        ("?q=alpha", vec!["alpha"], 1),
        ("?q=milia", vec![], 0),
    ] {
        for _ in 0..2 {
            assert_eq!(
                platforms(&get(&limited_token, query)),
                (expected.iter().map(|name| (*name).to_owned()).collect(), total),
                "{query}"
            );
            // A response that is cached for one caller is not returned to another.
            assert_eq!(
                get(&all, query).body,
                api.get(&format!("{CONNECTORS}{query}")).body,
                "{query}"
            );
        }
    }
    assert_eq!(platforms(&get(&all, "")).1, 5);
    let actions = |token: &str, platform: &str| {
        api.get_as(token, &format!("/v1/available-actions/{platform}"))
    };
    assert_eq!(actions(&limited_token, "ALPHA").body, api.get("/v1/available-actions/alpha").body);
    for (platform, expected) in
        [("alpha-two", Some(json!(["alpha"]))), ("epsilon", None), ("zta", Some(json!(["zeta"])))]
    {
        let response = actions(&limited_token, platform);
        assert_eq!((response.status, code(&response).as_str()), (404, "platform_not_found"));
        assert_eq!(body(&response).get("suggestions").cloned(), expected, "{platform}");
    }
    let none = api.token_with_removed_platforms(
        &["nothing"],
        &json!({"identity": "ann", "platforms": ["nothing"]}),
    );
    assert_eq!(platforms(&get(&none, "")), (vec![], 0));
    let response = actions(&none, "nothing");
    assert_eq!((response.status, body(&response).get("suggestions")), (404, None));
}

#[test]
fn catalog_requests_with_a_token_need_no_storage() {
    let mut api = api();
    let tokens = [json!({"identity": "ann"}), json!({"identity": "bob", "platforms": ["alpha"]})]
        .map(|input| api.token(&input));
    // This isolate has cached neither the token nor its key.
    api.service = Service::new(config(&[("SESSION_SECRET", SECRET)]));
    let calls = api.env.db_calls.get();
    for path in [CONNECTORS, "/v1/available-actions/alpha", "/v1/nothing"] {
        for token in &tokens {
            let cold = api.get_as(token, path);
            assert!(cold.header("server-timing").unwrap().starts_with("d1;desc=\"calls=0 "));
            let warm = api.get_as(token, path);
            assert_eq!(warm.header("server-timing"), Some(FREE));
            assert_eq!(cold.body.len(), warm.body.len());
        }
    }
    assert_eq!(api.env.db_calls.get(), calls);
}

#[test]
fn entity_tags_of_the_catalog_differ_with_the_platforms() {
    let api = api();
    let inputs = [
        json!({"identity": "ann"}),
        json!({"identity": "ann", "platforms": ["alpha"]}),
        json!({"identity": "ann", "platforms": ["zeta"]}),
        json!({"identity": "ann", "platforms": ["alpha", "zeta"]}),
        json!({"identity": "ann", "platforms": ["alpha-two"]}),
    ];
    let tokens = inputs.map(|input| api.token(&input));
    for query in ["", "?platform=alpha", "?q=alpha", "?limit=1"] {
        let path = format!("{CONNECTORS}{query}");
        let tags = tokens
            .each_ref()
            .map(|token| api.get_as(token, &path).header("etag").unwrap().to_owned());
        assert_eq!(Some(tags[0].as_str()), api.get(&path).header("etag"));
        for (index, token) in tokens.iter().enumerate() {
            for (other, tag) in tags.iter().enumerate() {
                let request = with_header(as_secret(token, "GET", &path), "if-none-match", tag);
                let expected = if index == other { 304 } else { 200 };
                assert_eq!(api.send(&request).status, expected, "{query} {index} {other}");
            }
            let refreshed = api.token(
                &json!({"identity": "bob", "platforms": ["alpha", "zeta"], "ttlSeconds": 60}),
            );
            let request =
                with_header(as_secret(&refreshed, "GET", &path), "if-none-match", &tags[3]);
            assert_eq!((index, api.send(&request).status), (index, 304));
        }
    }
}
