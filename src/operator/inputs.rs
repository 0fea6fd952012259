//! `check-inputs`: validates action inputs with the service's code, to compare it with other
//! validators.

use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;

use super::ports::NativePatterns;
use crate::platform_calls::schema::faults;

/// A line of standard input.
#[derive(Deserialize)]
struct InputBatch {
    schema: Value,
    values: Vec<Value>,
}

/// Reads lines with a JSON object of a `schema` and `values`. For each line, prints an array with
/// the number of faults of each value.
pub fn check() -> Result<ExitCode> {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let InputBatch { schema, values } =
            serde_json::from_str(&line?).context("a line of standard input")?;
        let counts: Vec<usize> =
            values.iter().map(|value| faults(&schema, value, &NativePatterns).len()).collect();
        writeln!(out, "{}", serde_json::to_string(&counts)?)?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}
