//! What happens when storage is out of order, and what an isolate remembers.

use connector_vault::api::Config;
use connector_vault::catalog::stored::CURRENT_KEY;
use serde_json::json;

use crate::support::{Api, body, small_catalog};

const CONNECTORS: &str = "/v1/available-connectors";
const ACTIONS: &str = "/v1/available-actions/alpha";

/// The response is a 503 that tells nothing; the log names `culprit`.
fn assert_unavailable(api: &Api, path: &str, culprit: &str) {
    let response = api.get(path);
    assert_eq!(
        (response.status, &body(&response)["code"]),
        (503, &json!("unavailable")),
        "{culprit}"
    );
    assert_eq!(response.header("retry-after"), Some("5"));
    assert_eq!(response.header("etag"), None);
    let text = String::from_utf8(response.body).unwrap();
    assert!(
        !text.contains("secret") && !text.contains("segment:") && !text.contains("SQL"),
        "{text}"
    );
    let log = response.log.unwrap();
    assert!(log.contains(culprit), "{log}");
    assert!(!log.contains(api.key.reveal()), "{log}");
}

#[test]
fn a_missing_or_damaged_segment_is_named_and_recovers() {
    let api = Api::with_catalog();
    assert_eq!(api.get(CONNECTORS).status, 200);
    let actions = api.world.store_segment(connector_vault::catalog::segment::write_actions(
        small_catalog()[1].2.clone(),
    ));
    let key = actions.key();
    let whole = api.world.blobs.borrow()[&key].clone();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        Some(bytes)
    };
    let length = whole.len();
    let mut damaged = vec![
        None,
        Some(Vec::new()),
        Some(whole[..length - 1].to_vec()),
        Some(whole[..10].to_vec()),
        Some(b"<html>".to_vec()),
    ];
    damaged.extend((0..length).step_by(7).map(flipped));
    for bytes in damaged {
        match bytes {
            Some(bytes) => api.world.blobs.borrow_mut().insert(key.clone(), bytes),
            None => api.world.blobs.borrow_mut().remove(&key),
        };
        assert_unavailable(&api, ACTIONS, &key);
        assert_eq!(api.get(CONNECTORS).status, 200, "the rest goes on");
    }
    api.world.blobs.borrow_mut().insert(key.clone(), whole);
    assert_eq!(api.get(ACTIONS).status, 200, "recovers at once");
    // Another kind of list under the right name.
    let api = Api::with_catalog();
    let connectors = api
        .world
        .blobs
        .borrow()
        .iter()
        .find(|(_, bytes)| bytes.get(7) == Some(&1))
        .map(|(_, bytes)| bytes.clone())
        .unwrap();
    api.world.blobs.borrow_mut().insert(key.clone(), connectors);
    assert_unavailable(&api, ACTIONS, &key);
}

#[test]
fn a_missing_or_damaged_current_record() {
    let api = Api::with_catalog();
    let good = api.world.blobs.borrow()[CURRENT_KEY].clone();
    for bytes in [
        None,
        Some("{}".to_owned()),
        Some("null".into()),
        Some(String::from_utf8(good.clone()).unwrap().replace("\"format\":1", "\"format\":2")),
        Some(r#"{"format":1,"connectors":"../etc"}"#.into()),
    ] {
        match bytes {
            Some(text) => {
                api.world.blobs.borrow_mut().insert(CURRENT_KEY.into(), text.into_bytes())
            }
            None => api.world.blobs.borrow_mut().remove(CURRENT_KEY),
        };
        for path in [CONNECTORS, ACTIONS] {
            assert_unavailable(&api, path, CURRENT_KEY);
        }
    }
    api.world.blobs.borrow_mut().insert(CURRENT_KEY.into(), good);
    assert_eq!(api.get(CONNECTORS).status, 200);
}

#[test]
fn the_current_record_is_trusted_for_at_most_30_seconds() {
    let api = Api::with_catalog();
    let total = |api: &Api| body(&api.get(CONNECTORS))["total"].clone();
    assert_eq!(total(&api), 5);
    api.world.publish(small_catalog().into_iter().take(2).collect());
    api.world.wait(29_999);
    assert_eq!(total(&api), 5);
    api.world.wait(1);
    assert_eq!(total(&api), 2);
}

#[test]
fn storage_out_of_reach() {
    let api = Api::with_catalog();
    api.world.db_fails.set(true);
    assert_unavailable(&api, CONNECTORS, "D1_ERROR");
    assert_unavailable(&api, "/v1/whoami", "D1_ERROR");
    api.world.db_fails.set(false);
    api.world.blob_failures.set(2);
    assert_eq!(api.get(CONNECTORS).status, 200, "two failures of a read are tried again");
    api.world.blob_failures.set(3);
    assert_unavailable(&api, ACTIONS, "KV GET failed");
    assert_eq!(api.get(ACTIONS).status, 200);
}

#[test]
fn segments_are_held_under_the_budget() {
    let reads = |budget: &str, asked: &[&str]| {
        let api = Api::new(Config::from_variables(None, None, Some(budget)));
        api.world.publish(small_catalog());
        for platform in asked {
            assert_eq!(api.get(&format!("/v1/available-actions/{platform}")).status, 200);
        }
        api.world.blob_reads.borrow().len()
    };
    let asked = ["alpha", "zeta", "alpha", "zeta", "alpha"];
    assert_eq!(reads("33554432", &asked), 4, "current, connectors, and each action segment once");
    assert_eq!(reads("0", &asked), 1 + 2 * asked.len(), "nothing fits: still served");
}
