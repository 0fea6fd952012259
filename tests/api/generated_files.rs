//! Checks files in the repository that are derived from the code.

use std::fmt::Write as _;
use std::{env, fs};

/// Compares a file with the code's current output. If the environment variable `write` is set, the
/// file is written instead. `test` is the calling test's filter.
pub fn assert_up_to_date(path: &str, now: &str, write: &str, test: &str) {
    if env::var_os(write).is_some() {
        fs::write(path, now).unwrap();
        return;
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    let differ: Vec<_> = written.lines().zip(now.lines()).filter(|(old, new)| old != new).collect();
    let shown = differ.iter().take(20).fold(String::new(), |mut text, (old, new)| {
        write!(text, "\n- {old}\n+ {new}").unwrap();
        text
    });
    assert!(
        written == now,
        "{path} is out of date; {} lines differ:{shown}\n\
         If that is meant, run `{write}=1 cargo test --features cli --test api {test}` and review the diff.",
        differ.len()
    );
}
