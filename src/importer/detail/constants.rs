//! Headers that almost every action needs with the same value, such as the version of the API.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::catalog::action::constant::only_value;
use crate::catalog::action::stored::{Parameter, Place};
use crate::catalog::detail::{Parameters, variables};
use crate::importer::server;

/// How many of ten actions need a header that becomes one of the connector.
const ALMOST_ALL: usize = 8;

/// The headers that at least eight of ten actions require, and of which they allow the same single value. `actions` are the
/// parameters of each action.
#[must_use]
pub fn of<'a>(actions: impl Iterator<Item = &'a [Parameter<Box<RawValue>>]>) -> Parameters {
    let mut count = 0_usize;
    // By the name in lower case: the name as it was first written, and how many actions need each value.
    let mut found: BTreeMap<String, (&str, BTreeMap<String, usize>)> = BTreeMap::new();
    for parameters in actions {
        count = count.saturating_add(1);
        for one in parameters.iter().filter(|one| one.required && one.r#in == Place::Header) {
            let Some(value) = only_value(&one.schema).filter(|value| is_sendable(value)) else {
                continue;
            };
            let lower = one.name.to_ascii_lowercase();
            let (_, values) = found.entry(lower).or_insert_with(|| (&one.name, BTreeMap::new()));
            let times = values.entry(value).or_default();
            *times = times.saturating_add(1);
        }
    }
    let mut headers = Parameters::new();
    for (name, values) in found.into_values() {
        let most = values.into_iter().max_by_key(|(_, times)| *times);
        if let Some((value, times)) = most
            && times.saturating_mul(10) >= count.saturating_mul(ALMOST_ALL)
        {
            headers.insert(name.to_owned(), value);
        }
    }
    headers
}

/// Whether a value can be sent in a header as it is, and has nothing that a template would replace.
fn is_sendable(value: &str) -> bool {
    value.trim() == value
        && (1..=1000).contains(&value.len())
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !variables(value).any(server::is_name)
}
