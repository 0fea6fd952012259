//! Fuzzes the target that the environment variable `TARGET` names.
#![no_main]

#[path = "../../../tests/fuzz/service.rs"]
mod service;
#[path = "../../../tests/fuzz/targets.rs"]
mod targets;

use std::env;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let wanted = env::var("TARGET").expect("TARGET names a target");
    let found = targets::TARGETS.iter().find(|(name, _)| *name == wanted);
    found.expect("TARGET names one of those in tests/fuzz/targets.rs").1
});

fuzz_target!(|data: &[u8]| TARGET(data));
