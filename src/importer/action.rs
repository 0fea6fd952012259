//! Operations → action rows.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::document::Document;
use super::paths::{Operation, PathItem};
use super::{hash, text};
use crate::catalog::model::{Action, Method};

/// Characters of a title; whole words.
pub const MAX_TITLE: usize = 200;
/// Characters of a key; a longer one ends in a hash of it all.
pub const MAX_KEY: usize = 256;
/// Characters of a model's name.
pub const MAX_MODEL: usize = 100;
/// How many references a path may go through.
const MAX_REFERENCES: usize = 16;

/// The action rows of a document, without their platform, and the references that lead nowhere.
#[must_use]
pub fn of<F>(document: &Document<F>) -> (Vec<Action>, Vec<String>) {
    let mut unresolved = Vec::new();
    let mut operations = operations(document, &mut unresolved);
    operations.sort_by_key(|(path, method, _)| (*path, *method));
    let keys = unique(
        operations.iter().map(|(path, method, operation)| key(*method, path, operation)).collect(),
    );
    let row = |((path, method, operation), key): ((&str, Method, &Operation<F>), String)| Action {
        title: title(method, path, operation),
        key,
        method,
        platform: String::new(),
        model_name: model_name(path, operation),
    };
    (operations.into_iter().zip(keys).map(row).collect(), unresolved)
}

type Found<'a, F> = (&'a str, Method, &'a Operation<F>);

fn operations<'a, F>(document: &'a Document<F>, unresolved: &mut Vec<String>) -> Vec<Found<'a, F>> {
    let paths = document.paths.as_ref().map(|paths| paths.0.as_slice()).unwrap_or_default();
    let mut targets: HashMap<(bool, &str), &PathItem<F>> = HashMap::new();
    if paths.iter().any(|(_, item)| item.reference.is_some()) {
        let shared = document.components().and_then(|components| components.path_items.as_ref());
        targets.extend(
            shared
                .iter()
                .flat_map(|items| &items.0)
                .map(|(name, item)| ((true, name.as_str()), item)),
        );
        targets.extend(paths.iter().map(|(path, item)| ((false, path.as_str()), item)));
    }
    let mut found: Vec<Found<'a, F>> = Vec::new();
    for (path, item) in paths {
        let mut given: Vec<Method> = Vec::new();
        let mut next = Some(item);
        for _ in 0..MAX_REFERENCES {
            let Some(item) = next.take() else { break };
            for (method, operation) in &item.operations {
                if !given.contains(method) {
                    given.push(*method);
                    found.push((path, *method, operation));
                }
            }
            if let Some(reference) = &item.reference {
                next = target(reference)
                    .and_then(|(shared, name)| targets.get(&(shared, name.as_str())).copied());
                if next.is_none() {
                    let (path, reference) =
                        (text::verbatim(path, 100), text::verbatim(reference, 200));
                    unresolved.push(format!(
                        "the reference from {path} to {reference} leads out of the document's paths"
                    ));
                }
            }
        }
        if next.is_some() {
            unresolved.push(format!(
                "the reference from {} leads back to itself",
                text::verbatim(path, 100)
            ));
        }
    }
    found
}

/// `#/components/pathItems/Name` → `(true, "Name")`, `#/paths/~1pets` → `(false, "/pets")`.
fn target(reference: &str) -> Option<(bool, String)> {
    let (shared, pointer) = match reference.strip_prefix("#/components/pathItems/") {
        Some(name) => (true, name),
        None => (false, reference.strip_prefix("#/paths/")?),
    };
    if pointer.contains('/') {
        return None;
    }
    Some((shared, percent_decoded(pointer).replace("~1", "/").replace("~0", "~")))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        if let Some(byte) = part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            bytes.extend_from_slice(part.get(2..).unwrap_or_default().as_bytes());
        } else {
            bytes.push(b'%');
            bytes.extend_from_slice(part.as_bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// From the summary, else the words of the operation's id, else method and path.
fn title<F>(method: Method, path: &str, operation: &Operation<F>) -> String {
    let summary = text::line(text::head(operation.summary.as_str(), 2048), MAX_TITLE);
    let summary = summary
        .strip_suffix('.')
        .filter(|title| !title.ends_with('.'))
        .map_or(summary.as_str(), str::trim_end);
    if !summary.is_empty() {
        return summary.to_owned();
    }
    let words = text::verbatim(&text::sentence(text::head(operation.id.as_str(), 2048)), MAX_TITLE);
    if words.is_empty() {
        text::verbatim(&format!("{} {path}", method.as_str()), MAX_TITLE)
    } else {
        words
    }
}

/// The operation's id in camel case, else method and path.
fn key<F>(method: Method, path: &str, operation: &Operation<F>) -> String {
    let id = text::camel_case(operation.id.as_str());
    let key = if id.is_empty() { path_key(method, path) } else { id };
    if key.chars().nth(MAX_KEY).is_none() {
        return key;
    }
    let kept: String = key.chars().take(MAX_KEY.saturating_sub(7)).collect();
    format!("{kept}_{}", hash::short(key.as_bytes()))
}

/// `GET /users/{id}/repos` → `getUsersByIdRepos`
fn path_key(method: Method, path: &str) -> String {
    let mut key = method.as_str().to_ascii_lowercase();
    for part in path.split('{') {
        let (parameter, literal) = part.split_once('}').unwrap_or(("", part));
        if !parameter.is_empty() {
            key.push_str("By");
            key.push_str(&text::pascal_case(parameter));
        }
        key.push_str(&text::pascal_case(literal));
    }
    key
}

/// The first tag, else the last literal part of the path.
fn model_name<F>(path: &str, operation: &Operation<F>) -> String {
    let tag = operation.tags.0.as_deref().map(text::pascal_case).unwrap_or_default();
    let name = if tag.is_empty() {
        let path = path.split(['#', '?']).next().unwrap_or_default();
        let literal = path
            .rsplit('/')
            .find(|part| !part.contains('{') && part.chars().any(char::is_alphanumeric));
        literal.map(text::pascal_case).unwrap_or_default()
    } else {
        tag
    };
    name.chars().take(MAX_MODEL).collect()
}

/// Gives every key but the first of its kind a number: `listPets`, `listPets2`.
fn unique(keys: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = keys.iter().cloned().collect();
    let mut seen: HashMap<String, u64> = HashMap::with_capacity(keys.len());
    let mut unique = Vec::with_capacity(keys.len());
    for key in keys {
        let count = seen.entry(key.clone()).or_insert(0);
        *count = count.saturating_add(1);
        let mut name = key.clone();
        while *count > 1 {
            name.clone_from(&key);
            let _ = write!(name, "{count}");
            if taken.insert(name.clone()) {
                break;
            }
            *count = count.saturating_add(1);
        }
        unique.push(name);
    }
    unique
}
