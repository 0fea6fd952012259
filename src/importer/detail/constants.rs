//! Finds headers that almost every action requires with the same value, such as an API version.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::definitions::Definitions;
use super::units::Draft;
use crate::catalog::action::constant::constant_value;
use crate::catalog::action::stored::ParameterLocation;
use crate::catalog::detail::{Parameters, variables};
use crate::importer::server;

/// The minimum share of the actions, in tenths, that must require a header for it to become a
/// header of the connector.
const MIN_TENTHS: usize = 8;

/// The maximum number of references that are followed.
const MAX_CHAIN: usize = 5;

/// The headers that at least [`MIN_TENTHS`] of the actions require with the same single value.
pub fn find<F>(drafts: &[Draft], definitions: &Definitions<'_, F>) -> Parameters {
    // Maps the lower-case name to the name as first written and the number of actions per value.
    let mut header_values: BTreeMap<String, (&str, BTreeMap<String, usize>)> = BTreeMap::new();
    for draft in drafts {
        let parameters = draft.action.parameters.iter();
        for one in parameters.filter(|one| one.required && one.r#in == ParameterLocation::Header) {
            let value = constant_value(&resolved(&one.schema, draft, definitions));
            let Some(value) = value.filter(|value| is_valid_header_value(value)) else { continue };
            let lower = one.name.to_ascii_lowercase();
            let (_, values) =
                header_values.entry(lower).or_insert_with(|| (&one.name, BTreeMap::new()));
            let times = values.entry(value).or_default();
            *times = times.saturating_add(1);
        }
    }
    let mut headers = Parameters::new();
    for (name, values) in header_values.into_values() {
        let max = values.into_iter().max_by_key(|(_, times)| *times);
        if let Some((value, times)) = max
            && times.saturating_mul(10) >= drafts.len().saturating_mul(MIN_TENTHS)
        {
            headers.insert(name.to_owned(), value);
        }
    }
    headers
}

/// Parses a schema, and resolves it if it is a reference to a definition.
fn resolved<F>(schema: &RawValue, draft: &Draft, definitions: &Definitions<'_, F>) -> Value {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let mut value = parsed(schema.get());
    for _ in 0..MAX_CHAIN {
        let name = value.get("$ref").and_then(Value::as_str);
        let Some(name) = name.and_then(|name| name.strip_prefix("#/$defs/")) else { break };
        let mut reached = draft.input.roots.iter().filter_map(|number| definitions.get(*number));
        let Some(header_values) = reached.find(|header_values| header_values.name == name) else {
            break;
        };
        value = parsed(&header_values.schema);
    }
    value
}

/// Whether a value is valid in a header and contains no template variable.
fn is_valid_header_value(value: &str) -> bool {
    value.trim() == value
        && (1..=1000).contains(&value.len())
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !variables(value).any(server::is_name)
}
