//! Failures of storage, and the caches of isolates.

use connector_vault::catalog::format::stored::{CURRENT_KEY, FORMAT};
use connector_vault::catalog::write::Sizes;
use connector_vault::http::Config;
use serde_json::{Value, json};

use crate::rng::repetitions;
use crate::support::{Api, body, config, small_catalog};

const CONNECTORS: &str = "/v1/available-connectors";
const ACTIONS: &str = "/v1/available-actions/alpha";

/// Asserts that the response is a 503 that reveals nothing, and that the log names `culprit`.
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

/// Paths whose responses together contain every byte of every segment.
fn covering_paths() -> Vec<String> {
    let connectors = ["", "?category=other", "?name=alpha+api&q=alpha", "?q=what+nothing"];
    let mut paths: Vec<String> =
        connectors.iter().map(|query| format!("{CONNECTORS}{query}")).collect();
    for platform in ["alpha", "alpha-two", "zeta", "epsilon", "empty", "unknown"] {
        paths.push(format!("{CONNECTORS}?platform={platform}"));
        for query in ["", "?key=ping", "?key=usersCreate", "?title=ping", "?method=get&q=l"] {
            paths.push(format!("/v1/available-actions/{platform}{query}"));
        }
    }
    for words in [
        "list+users",
        "create+user",
        "delete+alpha",
        "update",
        "ping+zeta",
        "ping+epsilon",
        "uberweisung",
    ] {
        paths.push(format!("/v1/available-actions?q={words}"));
    }
    for key in ["usersList", "usersListAgain", "usersDelete", "usersUpdate", "Ueberweisung"] {
        paths.push(format!("{ACTIONS}?key={key}"));
    }
    paths
}

/// An isolate with empty caches, over the same storage.
fn fresh_isolate(api: &Api) -> Api {
    let fresh = Api::new(Config::default());
    fresh.env.blobs.borrow_mut().clone_from(&api.env.blobs.borrow());
    fresh
}

/// The responses to [`covering_paths`], without the parts that differ between runs. `None` stands
/// for a 503.
fn responses(api: &Api) -> Vec<Option<Value>> {
    let reply = |path: &String| {
        let response = api.get(path);
        let mut document = body(&response);
        document.as_object_mut().unwrap().remove("requestId");
        assert!(matches!(response.status, 200 | 404 | 503), "{path}: {}", response.status);
        (response.status != 503).then_some(document)
    };
    covering_paths().iter().map(reply).collect()
}

/// Layouts that use each type of part: lists with their own parts, lists in packs, and at most one
/// pack per platform.
const LAYOUTS: [Sizes; 2] = [
    Sizes { packed: 4000, whole: 4000, group: 300, ..Sizes::PUBLISHED },
    Sizes {
        packs: 2,
        packed: 300,
        whole: 200,
        group: 150,
        rows: 500,
        bucket: 200,
        part: 400,
        block: 16,
        units: 100,
        unit_groups: 1,
        all_actions_group: 300,
        all_actions_part: 1000,
        words: 200,
        vocabulary: 1000,
    },
];

#[test]
fn damaged_values_are_detected_and_never_returned() {
    for sizes in LAYOUTS {
        let api = Api::new(Config::default());
        let segments = api.env.publish_in(sizes, &small_catalog());
        let undamaged = responses(&fresh_isolate(&api));
        assert!(undamaged.iter().all(Option::is_some));
        for id in &segments {
            let bytes = api.env.blobs.borrow()[&id.key()].clone();
            let mut found = 0;
            let step = repetitions(37 * 40, 37);
            for at in (0..bytes.len()).step_by(step).chain([bytes.len() - 1]) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 16;
                api.env.blobs.borrow_mut().insert(id.key(), damaged);
                let isolate = fresh_isolate(&api);
                for (got, expected) in responses(&isolate).iter().zip(&undamaged) {
                    assert!(got.is_none() || got == expected, "{id} at {at}");
                    found += usize::from(got.is_none());
                }
                // The stored value is repaired. The isolate reads it again when it detects the
                // damage in its cached copy.
                isolate.env.blobs.borrow_mut().insert(id.key(), bytes.clone());
                responses(&isolate);
                assert!(responses(&isolate) == undamaged, "{id} at {at}");
            }
            assert!(found > 0, "{id} is not needed");
            api.env.blobs.borrow_mut().insert(id.key(), bytes);
        }
    }
}

#[test]
fn a_valid_value_under_the_wrong_name_is_detected() {
    for sizes in LAYOUTS {
        let api = Api::new(Config::default());
        let segments = api.env.publish_in(sizes, &small_catalog());
        let undamaged = responses(&fresh_isolate(&api));
        for id in &segments {
            let bytes = api.env.blobs.borrow()[&id.key()].clone();
            let other = segments.iter().find(|other| *other != id).unwrap();
            let other = api.env.blobs.borrow()[&other.key()].clone();
            for (value, is_needed) in [
                (None, true),
                (Some(Vec::new()), true),
                (Some(other), true),
                (Some(b"<html>".to_vec()), true),
                (Some(bytes[..3].to_vec()), true),
                (Some(bytes[..bytes.len() / 2].to_vec()), false),
                (Some(bytes[..bytes.len() - 1].to_vec()), false),
            ] {
                match &value {
                    Some(value) => api.env.blobs.borrow_mut().insert(id.key(), value.clone()),
                    None => api.env.blobs.borrow_mut().remove(&id.key()),
                };
                let got = responses(&fresh_isolate(&api));
                assert!(got.contains(&None) || !is_needed, "{id}");
                for (got, expected) in got.iter().zip(&undamaged) {
                    assert!(got.is_none() || got == expected, "{id}");
                }
            }
            api.env.blobs.borrow_mut().insert(id.key(), bytes);
        }
    }
}

#[test]
fn a_missing_or_damaged_segment_is_named() {
    let api = Api::with_catalog();
    let segments: Vec<String> = api.env.blobs.borrow().keys().cloned().collect();
    for key in segments.iter().filter(|key| key.starts_with("segment:")) {
        let bytes = api.env.blobs.borrow_mut().remove(key).unwrap();
        let isolate = fresh_isolate(&api);
        let path = covering_paths().into_iter().find(|path| isolate.get(path).status == 503);
        assert_unavailable(&isolate, &path.unwrap(), key);
        api.env.blobs.borrow_mut().insert(key.clone(), bytes);
    }
}

#[test]
fn a_missing_or_damaged_current_record_is_reported() {
    let api = Api::with_catalog();
    let good = api.env.blobs.borrow()[CURRENT_KEY].clone();
    let altered = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let mut damaged: Vec<Vec<u8>> = (0..good.len()).step_by(7).map(altered).collect();
    damaged.extend((0..good.len()).step_by(97).map(|end| good[..end].to_vec()));
    damaged.extend(["{}", "null"].map(|text| text.as_bytes().to_vec()));
    api.env.blobs.borrow_mut().remove(CURRENT_KEY);
    assert_unavailable(&api, ACTIONS, "no catalog is published");
    for bytes in damaged {
        api.env.blobs.borrow_mut().insert(CURRENT_KEY.into(), bytes);
        for path in [CONNECTORS, ACTIONS] {
            assert_unavailable(&api, path, "`current` is damaged");
        }
    }
    api.env.blobs.borrow_mut().insert(CURRENT_KEY.into(), good);
    assert_eq!(api.get(CONNECTORS).status, 200);
}

#[test]
fn a_catalog_of_another_format_is_refused() {
    let api = Api::with_catalog();
    let good = api.env.blobs.borrow()[CURRENT_KEY].clone();
    assert_eq!(u32::from(good[6]), FORMAT);
    for format in [0, 1, good[6] - 1, good[6] + 1, u8::MAX] {
        let other = [&good[..6], &[format], &good[7..]].concat();
        api.env.blobs.borrow_mut().insert(CURRENT_KEY.into(), other);
        let culprit = format!(
            "the catalog has format {format}, but this service reads format {FORMAT}: import and publish it again"
        );
        for path in [CONNECTORS, ACTIONS, "/v1/available-actions?q=user"] {
            assert_unavailable(&api, path, &culprit);
        }
    }
    api.env.blobs.borrow_mut().insert(CURRENT_KEY.into(), good);
    assert_eq!(api.get(CONNECTORS).status, 200);
}

#[test]
fn the_current_record_is_trusted_for_at_most_30_seconds() {
    let api = Api::with_catalog();
    let total = |api: &Api| body(&api.get(CONNECTORS))["total"].clone();
    assert_eq!(total(&api), 5);
    api.env.publish(small_catalog().into_iter().take(2).collect());
    api.env.wait(29_999);
    assert_eq!(total(&api), 5);
    api.env.wait(1);
    assert_eq!(total(&api), 2);
}

#[test]
fn a_cached_page_is_returned_without_reading_its_segments() {
    let api = Api::with_catalog();
    let first = api.get(ACTIONS);
    assert_eq!(first.status, 200);
    // The segments were deleted, but the body of this page is cached for this catalog.
    api.env.blobs.borrow_mut().retain(|key, _| key == CURRENT_KEY);
    let again = api.get(ACTIONS);
    assert_eq!((again.body, again.status), (first.body.clone(), 200));
    assert_eq!(
        body(&api.get(&format!("{ACTIONS}?limit=1")))["rows"].as_array().map(Vec::len),
        Some(1)
    );
    api.env.publish(small_catalog().into_iter().skip(2).collect());
    api.env.wait(30_000);
    assert_eq!(api.get(ACTIONS).status, 404, "the next catalog does not have the platform");
}

#[test]
fn unreachable_storage_is_reported_after_retries() {
    let api = Api::with_catalog();
    api.env.db_fails.set(true);
    assert_unavailable(&api, CONNECTORS, "D1_ERROR");
    assert_unavailable(&api, "/v1/whoami", "D1_ERROR");
    api.env.db_fails.set(false);
    api.env.blob_failures.set(2);
    assert_eq!(api.get(CONNECTORS).status, 200, "two failures of a read are tried again");
    api.env.blob_failures.set(3);
    assert_unavailable(&api, ACTIONS, "KV GET failed");
    assert_eq!(api.get(ACTIONS).status, 200);
}

#[test]
fn cached_segments_stay_within_the_budget() {
    let reads = |budget: &str, requested: &[&str]| {
        let api = Api::new(config(&[("SEGMENT_CACHE_BYTES", budget)]));
        api.env.publish(small_catalog());
        for (index, platform) in requested.iter().enumerate() {
            // Each request is for another page, because a repeated one would get the cached
            // response.
            let path = format!("/v1/available-actions/{platform}?limit={}", index + 1);
            assert_eq!(api.get(&path).status, 200);
        }
        api.env.blob_reads.borrow().len()
    };
    let requested = ["alpha", "zeta", "alpha", "zeta", "alpha"];
    assert_eq!(reads("33554432", &requested), 3, "`current`, and each pack once");
    assert_eq!(reads("0", &requested), 1 + 2 * requested.len(), "nothing fits: still served");
}
