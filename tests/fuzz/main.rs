//! Replays the inputs that fuzzing has found, on the stable toolchain. `lab/fuzz/corpus` has a file
//! for each target, with a base64-encoded input on each line.
#![cfg(feature = "cli")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests fail by panicking"
)]

mod service;
mod targets;

use std::collections::BTreeSet;
use std::fs;

use base64ct::{Base64, Encoding as _};
use targets::TARGETS;

const CORPUS: &str = "lab/fuzz/corpus";

#[test]
fn corpus_inputs_do_not_panic() {
    for (name, target) in TARGETS {
        let path = format!("{CORPUS}/{name}.txt");
        let inputs = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(!inputs.is_empty(), "{path} has no inputs");
        for line in inputs.lines() {
            println!("{name}: {line}");
            target(&Base64::decode_vec(line).unwrap());
        }
    }
}

#[test]
fn each_corpus_has_a_target() {
    let files = fs::read_dir(CORPUS).unwrap().map(|file| file.unwrap().file_name());
    let corpora: BTreeSet<String> = files.map(|name| name.into_string().unwrap()).collect();
    assert_eq!(corpora, TARGETS.iter().map(|(name, _)| format!("{name}.txt")).collect());
}
