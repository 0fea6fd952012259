//! The time to compare a secret reveals nothing about it: a value whose first character is wrong is
//! rejected as slowly as one whose last character is wrong.
//!
//! The method is that of dudect (Reparaz, Balasch, Verbauwhede: "Dude, is my code constant time?",
//! 2017): both classes are measured in random order, the slowest measurements are dropped at
//! several thresholds, and Welch's t-test compares the means at each threshold. A |t| above 4.5 in
//! three rounds means that the times differ. To prove that the measurement is precise enough, it
//! must also detect a comparison that stops at the first difference.

use std::hint::black_box;
use std::time::Instant;

use connector_vault::auth::key::{ApiKey, KeyHash};
use connector_vault::connections::cursor::Cursor;
use connector_vault::http::Request;
use connector_vault::util::crc32::crc32;

use crate::connect::{self, Browser, ann_connect_body, set_client, start_attempt, value_of};
use crate::support::{Api, as_secret};

/// The number of measurements of each class per round.
const MEASUREMENTS: usize = 10_000;
/// A difference must occur in this many rounds to count.
const ROUNDS: usize = 3;
const LIMIT: f64 = 4.5;

/// The mean, the variance, and the number of measurements.
fn moments(times: &[f64]) -> (f64, f64, f64) {
    #[expect(clippy::cast_precision_loss, reason = "some ten thousand")]
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, variance, count)
}

/// The t statistic of Welch's t-test.
fn welch_t(one: &[f64], other: &[f64]) -> f64 {
    let ((mean_1, variance_1, count_1), (mean_2, variance_2, count_2)) =
        (moments(one), moments(other));
    (mean_1 - mean_2) / (variance_1 / count_1 + variance_2 / count_2).sqrt()
}

/// The maximum |t| of one round, over all thresholds.
fn round(random: &mut u64, measured: &mut [&mut dyn FnMut(); 2]) -> f64 {
    let mut times = [Vec::with_capacity(MEASUREMENTS), Vec::with_capacity(MEASUREMENTS)];
    for _ in 0..2 * MEASUREMENTS {
        *random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let class = usize::from(*random >> 63 == 1);
        let began = Instant::now();
        measured[class]();
        times[class].push(began.elapsed().as_secs_f64() * 1e9);
    }
    let mut all: Vec<f64> = times.concat();
    all.sort_by(f64::total_cmp);
    let t = |hundredth: usize| {
        let limit = all[(all.len() - 1) * hundredth / 100];
        let [one, other] = times
            .each_ref()
            .map(|times| times.iter().copied().filter(|time| *time <= limit).collect::<Vec<_>>());
        welch_t(&one, &other).abs()
    };
    [50, 75, 90, 95, 99].map(t).into_iter().fold(0.0, f64::max)
}

/// The minimum, over all rounds, of the maximum |t| of a round. Above [`LIMIT`], the times differ.
fn difference(name: &str, mut first: impl FnMut(), mut last: impl FnMut()) -> f64 {
    let mut random = 1;
    // The first round warms the caches.
    round(&mut random, &mut [&mut first, &mut last]);
    let found = [(); ROUNDS].map(|()| round(&mut random, &mut [&mut first, &mut last]));
    let smallest = found.into_iter().fold(f64::INFINITY, f64::min);
    println!("{name}: |t| = {smallest:.2}");
    smallest
}

/// Returns two copies of a string: one has another letter at the first of these positions, the
/// other one at the last.
fn with_changed_letter(text: &str, from: usize) -> [String; 2] {
    with_changed_letters_at(text, [from, text.len() - 1])
}

fn with_changed_letters_at(text: &str, places: [usize; 2]) -> [String; 2] {
    places.map(|at| {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'a' { b'b' } else { b'a' };
        String::from_utf8(bytes).unwrap()
    })
}

/// Compares the times of two requests that are rejected in the same way.
fn compare_refusals(name: &str, api: &Api, [first, last]: [Request; 2]) -> f64 {
    let reply = |request: &Request| {
        let response = api.send(request);
        assert!(response.status >= 400, "{name}: {}", response.status);
        response.status
    };
    assert_eq!(reply(&first), reply(&last));
    difference(
        name,
        || _ = black_box(api.send(black_box(&first))),
        || _ = black_box(api.send(black_box(&last))),
    )
}

/// The last six characters of a key.
fn checksum(body: &str) -> String {
    let mut left = crc32(body.as_bytes());
    let mut digits = [0; 6];
    for to in digits.iter_mut().rev() {
        *to =
            b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[(left % 62) as usize];
        left /= 62;
    }
    String::from_utf8(digits.to_vec()).unwrap()
}

#[test]
#[ignore = "statistics, which a busy machine may disturb"]
fn comparison_time_is_independent_of_the_first_difference() {
    let mut found = Vec::new();
    let mut compare = |t: f64, name: &str| {
        if t > LIMIT {
            found.push(format!("{name}: {t}"));
        }
    };
    let api = Api::with_sessions(&"a secret of the operator ".repeat(2), "");

    // Compare signatures of cursors and of tokens.
    let key = KeyHash([7; 32]);
    let cursor =
        Cursor { page: 2, created_at: 1, id: "0b9af7c6-7a0b-4f60-a3ad-60a2a9b5b3a1".into() };
    let text = cursor.sign(&key, "");
    let [first, last] = with_changed_letter(&text, text.len() - 32);
    let verify =
        |text: &str| assert!(black_box(Cursor::verify(black_box(text), &key, "")).is_err());
    compare(difference("cursor", || verify(&first), || verify(&last)), "cursor");
    let token =
        connect::token(&api, &serde_json::json!({"identity": "ann", "scopes": ["catalog:read"]}));
    let dot = token.rfind('.').unwrap();
    // The last letter contains bits that are ignored, so it is not changed.
    let texts = with_changed_letters_at(&token, [dot + 1, token.len() - 2]);
    let requests = texts.map(|text| as_secret(&text, "GET", "/v1/available-connectors"));
    compare(compare_refusals("token", &api, requests), "token");

    // Compare keys with a wrong checksum, and keys with a valid checksum whose hash is not stored.
    let valid_secret = api.key.reveal();
    let (body, _) = valid_secret.split_at(valid_secret.len() - 6);
    let start = "sk_test_".len();
    let requests =
        with_changed_letter(valid_secret, start).map(|text| as_secret(&text, "GET", "/v1/whoami"));
    compare(compare_refusals("key with a wrong checksum", &api, requests), "checksum");
    let requests = with_changed_letter(body, start).map(|text| {
        let text = format!("{text}{}", checksum(&text));
        assert!(ApiKey::parse(&text).is_ok());
        as_secret(&text, "GET", "/v1/whoami")
    });
    compare(compare_refusals("key that is unknown", &api, requests), "key");

    // Compare values of `state`, which are looked up by their hash.
    let api = connect::api();
    set_client(&api, "acme");
    let (_, link) = start_attempt(&api, &ann_connect_body("acme"));
    let browser = Browser::default();
    let state = value_of(&browser.follow(&api, &link).1, "state").unwrap();
    let requests = with_changed_letter(&state, 0)
        .map(|state| browser.request("GET", &format!("/connect/callback?code=c&state={state}")));
    compare(compare_refusals("state", &api, requests), "state");
    assert!(found.is_empty(), "{found:?}");
}

/// The measurement must detect a comparison that stops at the first difference.
#[test]
#[ignore = "statistics, which a busy machine may disturb"]
fn the_timing_test_detects_an_early_exit() {
    let secret = [7_u8; 32];
    let compare =
        |other: &[u8; 32]| black_box(secret).iter().zip(black_box(other)).all(|(a, b)| a == b);
    let (mut first, mut last) = (secret, secret);
    (first[0], last[31]) = (0, 0);
    let t = difference(
        "a naive comparison",
        || _ = black_box(compare(&first)),
        || _ = black_box(compare(&last)),
    );
    assert!(t > LIMIT, "{t}");
}
