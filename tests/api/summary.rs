//! The summary of a vault: `GET /v1/vault/summary`.

use connector_vault::http::Config;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::support::{Api, action, as_key, body, connector};
use crate::vault::{SUMMARY, at, fixture, minimal};

#[test]
fn an_empty_vault_has_an_empty_summary() {
    let api = Api::with_catalog();
    let response = api.get(SUMMARY);
    assert_eq!(
        String::from_utf8(response.body.clone()).unwrap(),
        r#"{"total":0,"active":{"true":0,"false":0},"state":{"operational":0,"degraded":0,"failed":0,"unknown":0},"identityType":{"user":0,"team":0,"organization":0,"project":0},"platforms":[],"otherPlatforms":0}"#
    );
    assert_eq!(
        (response.status, response.header("cache-control")),
        (200, Some("private, no-store"))
    );
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!((api.env.db_calls.get(), api.env.blob_reads.borrow().len()), (1, 0));
}

#[test]
fn the_summary_counts_only_visible_connections() {
    let api = Api::with_catalog();
    let rows = fixture(&api);
    let mut failed = minimal("failed");
    failed["state"] = json!("failed");
    let failed = api.create(&failed);
    for (account, environment) in [("acme", Environment::Live), ("beta", Environment::Test)] {
        let other_key = api.env.key(account, environment, &Scope::ALL, None);
        api.create_as(&other_key, &minimal("ann"));
        assert_eq!(body(&api.send(&as_key(&other_key, "GET", SUMMARY)))["total"], 1);
    }
    let mut expected = json!({
        "total": 12,
        "active": {"true": 10, "false": 2},
        "state": {"operational": 0, "degraded": 0, "failed": 1, "unknown": 11},
        "identityType": {"user": 8, "team": 1, "organization": 1, "project": 2},
        "platforms": [
            {"platform": "alpha", "total": 4}, {"platform": "zeta", "total": 4}, {"platform": "epsilon", "total": 3}, {"platform": "alpha-two", "total": 1}
        ],
        "otherPlatforms": 0,
    });
    assert_eq!(body(&api.get(SUMMARY)), expected);
    // The summary does not count tags.
    assert_eq!(api.patch(failed["id"].as_str().unwrap(), &json!({"tags": ["a", "b"]})).status, 200);
    assert_eq!(body(&api.get(SUMMARY)), expected);
    assert_eq!(api.on("DELETE", failed["id"].as_str().unwrap(), None).status, 204);
    expected["total"] = json!(11);
    expected["active"]["true"] = json!(9);
    expected["state"]["failed"] = json!(0);
    expected["identityType"]["user"] = json!(7);
    expected["platforms"] = json!([
        {"platform": "zeta", "total": 4}, {"platform": "alpha", "total": 3}, {"platform": "epsilon", "total": 3}, {"platform": "alpha-two", "total": 1}
    ]);
    assert_eq!(body(&api.get(SUMMARY)), expected);
    for row in &rows {
        assert_eq!(api.on("DELETE", row["id"].as_str().unwrap(), None).status, 204);
    }
    assert_eq!(body(&api.get(SUMMARY))["platforms"], json!([]));
    assert_eq!(api.get(&at(rows[0]["id"].as_str().unwrap())).status, 404);
}

#[test]
fn the_largest_fifty_platforms_are_named() {
    let api = Api::new(Config::default());
    let platforms: Vec<String> = (0..60).map(|index| format!("p{index:02}")).collect();
    let rows = platforms.iter().map(|platform| {
        let ping = action(platform, "Ping", "ping", connector_vault::terms::Method::Get);
        (connector(platform, platform, "Other", 1), false, vec![ping])
    });
    api.env.publish(rows.collect());
    // Each platform has one to three connections. The first one is active.
    let size = |index: usize| {
        if index.is_multiple_of(6) {
            3
        } else if index % 12 == 11 {
            1
        } else {
            2
        }
    };
    let mut sizes: Vec<(usize, &str)> = Vec::new();
    for (index, platform) in platforms.iter().enumerate() {
        for one in 0..size(index) {
            let document = json!({"platform": platform, "identity": one.to_string(), "identityType": "user", "active": one == 0});
            api.create(&document);
        }
        sizes.push((size(index), platform));
        if [50, 51].contains(&(index + 1)) {
            let summary = body(&api.get(SUMMARY));
            let smallest = *sizes.iter().map(|(size, _)| size).min().unwrap();
            assert_eq!(summary["otherPlatforms"], if index == 49 { 0 } else { smallest });
            assert_eq!(summary["platforms"].as_array().unwrap().len(), 50);
        }
    }
    sizes.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let total: usize = sizes.iter().map(|(size, _)| size).sum();
    let others: usize = sizes[50..].iter().map(|(size, _)| size).sum();
    let named: Vec<Value> = sizes[..50]
        .iter()
        .map(|(size, platform)| json!({"platform": platform, "total": size}))
        .collect();
    let summary = body(&api.get(SUMMARY));
    assert_eq!((&summary["total"], &summary["otherPlatforms"]), (&json!(total), &json!(others)));
    assert_eq!(summary["platforms"], json!(named));
    assert_eq!(summary["active"], json!({"true": 60, "false": total - 60}));
}
