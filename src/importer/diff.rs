//! Compares two catalogs: what would change if the new catalog were published in place of the old
//! one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use serde_json::Value;

use super::check::{ConnectorEntry, Details, OpenCatalog, StoredPlatform};
use super::report::format_count;
use crate::catalog::model::Action;

/// The maximum number of keys of actions that are listed per platform.
const MAX_SHOWN: usize = 5;
/// Fields that are derived from other fields.
const DERIVED_FIELDS: [&str; 3] = ["id", "key", "tools"];

/// Formats a line for each platform that differs, sorted by name, and a summary. Formats a single
/// line if nothing differs.
pub fn diff(old: &OpenCatalog<'_>, new: &OpenCatalog<'_>) -> Result<String> {
    let (old_rows, new_rows) = (by_platform(old)?, by_platform(new)?);
    let (mut old_details, mut new_details) = (old.details()?, new.details()?);
    let mut text = String::new();
    let (mut added, mut removed, mut changed) = (0_usize, 0_usize, 0_usize);
    let mut names: Vec<&String> = old_rows.keys().chain(new_rows.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let line = match (old_rows.get(name), new_rows.get(name)) {
            (Some(_), None) => {
                removed = removed.saturating_add(1);
                match new_details.platform(name) {
                    Some(now) => format!("- {name}: it is called {now} now"),
                    None => format!("- {name}"),
                }
            }
            (None, Some(entry)) => {
                added = added.saturating_add(1);
                let actions = usize::try_from(entry.connector.tools).unwrap_or(usize::MAX);
                format!("+ {name}: {}", format_count(actions, "action"))
            }
            (Some(one), Some(other)) => {
                let mut differences = fields(one, other);
                differences.extend(details(name, &mut old_details, &mut new_details));
                let (one, other) = (old.actions(name)?, new.actions(name)?);
                differences.extend(actions(&one, &other));
                if differences.is_empty() {
                    continue;
                }
                changed = changed.saturating_add(1);
                format!("~ {name}: {}", differences.join("; "))
            }
            (None, None) => continue,
        };
        let _ = writeln!(text, "{line}");
    }
    let summary = match (added, removed, changed) {
        (0, 0, 0) => "The catalogs are the same.".to_owned(),
        _ => format!(
            "{} added, {removed} removed, {changed} changed.",
            format_count(added, "platform")
        ),
    };
    Ok(text + &summary + "\n")
}

fn by_platform(opened: &OpenCatalog<'_>) -> Result<BTreeMap<String, ConnectorEntry>> {
    let entries = opened.connectors()?.into_iter();
    Ok(entries.map(|entry| (entry.connector.platform.clone(), entry)).collect())
}

/// The differences between the fields of two connector rows, with the values if they are short.
fn fields(old: &ConnectorEntry, new: &ConnectorEntry) -> Vec<String> {
    let members = |entry: &ConnectorEntry| match serde_json::to_value(&entry.connector) {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    let (one, other) = (members(old), members(new));
    let mut changes = Vec::new();
    for (name, old_value) in &one {
        let new_value = other.get(name).unwrap_or(&Value::Null);
        if old_value == new_value || DERIVED_FIELDS.contains(&name.as_str()) {
            continue;
        }
        changes.push(match (old_value, new_value) {
            (Value::String(old_value), Value::String(new_value))
                if old_value.len().max(new_value.len()) <= 60 =>
            {
                format!("{name} {old_value} → {new_value}")
            }
            (Value::Bool(_), Value::Bool(_)) => format!("{name} {old_value} → {new_value}"),
            _ => name.clone(),
        });
    }
    if old.authkit != new.authkit {
        changes.push(format!("authkit {} → {}", old.authkit, new.authkit));
    }
    changes
}

/// The differences outside the rows: auth methods, servers, headers, former names and details of
/// actions.
fn details(name: &str, old: &mut Details, new: &mut Details) -> Vec<String> {
    let (mut one, mut other) = (old.take(name), new.take(name));
    let mut changes = Vec::new();
    if one.detail.auth_methods != other.detail.auth_methods {
        changes.push("how users connect".to_owned());
    }
    if one.detail.servers != other.detail.servers {
        changes.push("servers".to_owned());
    }
    if one.detail.headers != other.detail.headers {
        changes.push("headers of every request".to_owned());
    }
    one.aliases.sort();
    other.aliases.sort();
    if one.aliases != other.aliases {
        changes.push("former names".to_owned());
    }
    let units = |known: &StoredPlatform| -> Vec<(String, u32)> {
        known.units.units.iter().map(|unit| (unit.first.clone(), unit.crc)).collect()
    };
    if units(&one) != units(&other) {
        changes.push("inputs or responses of actions".to_owned());
    }
    changes
}

/// Formats the added, removed and changed actions.
fn actions(old: &[Action], new: &[Action]) -> Vec<String> {
    let by_key = |rows: &[Action]| -> BTreeMap<String, Action> {
        rows.iter().map(|row| (row.key.clone(), row.clone())).collect()
    };
    let (old, new) = (by_key(old), by_key(new));
    let removed = old.keys().filter(|key| !new.contains_key(*key));
    let added = new.keys().filter(|key| !old.contains_key(*key));
    let other = new.iter().filter(|(key, row)| old.get(*key).is_some_and(|was| was != *row));
    let differences = |what: &str, keys: Vec<&String>| {
        let count = keys.len();
        let listed_keys: Vec<&str> = keys.into_iter().take(MAX_SHOWN).map(String::as_str).collect();
        let more = if count > MAX_SHOWN { ", …" } else { "" };
        (count > 0).then(|| {
            format!("{} {what} ({}{more})", format_count(count, "action"), listed_keys.join(", "))
        })
    };
    [
        differences("added", added.collect()),
        differences("removed", removed.collect()),
        differences("changed", other.map(|(key, _)| key).collect()),
    ]
    .into_iter()
    .flatten()
    .collect()
}
