//! Converts the operations of a document into rows of actions.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::document::Document;
use super::paths::{Operation, PathFilter, PathItem};
use super::title::distinct::{TitledAction, distinguish};
use super::title::{TitleSource, title};
use super::{hash, text};
use crate::catalog::model::Action;
use crate::terms::Method;

/// The maximum length of a key, in characters. A longer key is truncated and ends in a hash of the
/// full key.
pub const MAX_KEY: usize = 256;
/// The maximum length of a model name, in characters.
pub const MAX_MODEL: usize = 100;
/// The maximum number of references that are followed from a path.
const MAX_REFERENCES: usize = 16;

/// The maximum number of skipped operations in a warning.
const MAX_SKIPPED_SHOWN: usize = 3;

pub struct Actions<'a, F> {
    /// The rows, without a platform, which is assigned later.
    pub rows: Vec<Action>,
    /// The operations, at the same indexes as `rows`.
    pub operations: Vec<LocatedOperation<'a, F>>,
    /// A warning for each dangling reference, and a single warning for all skipped operations.
    pub warnings: Vec<String>,
}

/// An operation and its location.
pub struct LocatedOperation<'a, F> {
    /// The path, unchanged from the document.
    pub path: &'a str,
    pub method: Method,
    pub operation: &'a Operation<F>,
    /// The path item, with the members that all operations of the path share.
    pub item: &'a PathItem<F>,
}

/// Collects the actions of a document on the selected paths.
pub fn collect<'a, F>(document: &'a Document<F>, paths: &PathFilter) -> Actions<'a, F> {
    let mut warnings = Vec::new();
    let mut operations = operations(document, &mut warnings);
    operations.retain(|found| paths.allows(found.path));
    operations.sort_by_key(|found| (found.path, found.method));
    remove_duplicates(&mut operations);
    let keys = operations.iter().map(|found| key(found.method, found.path, found.operation));
    let keys = make_unique(keys.collect());
    let mut titled: Vec<TitledAction<'_>> = operations.iter().map(to_titled_action).collect();
    distinguish(&mut titled);
    let row =
        |((found, titled), key): ((&LocatedOperation<'_, F>, TitledAction<'_>), String)| Action {
            title: titled.title,
            key,
            method: found.method,
            platform: String::new(),
            model_name: model_name(found.path, found.operation),
        };
    let rows = operations.iter().zip(titled).zip(keys).map(row).collect();
    Actions { rows, operations, warnings }
}

fn to_titled_action<'a, F>(found: &LocatedOperation<'a, F>) -> TitledAction<'a> {
    let LocatedOperation { path, method, operation, .. } = *found;
    let id = bare_id(path, operation);
    let source = TitleSource {
        method,
        path,
        summary: operation.summary.as_str(),
        description: operation.description.as_str(),
        id,
    };
    TitledAction { title: title(source), method, path, id }
}

/// Whether the path belongs to Amazon's query protocol. Such paths differ only in the fragment,
/// which contains the operation's name.
fn is_query_protocol(path: &str) -> bool {
    path.starts_with("/#Action=")
}

/// Removes duplicate operations of Amazon's query protocol, whose documents describe each operation
/// for `GET` and for `POST`. Keeps `POST`, which accepts input of any length.
fn remove_duplicates<F>(operations: &mut Vec<LocatedOperation<'_, F>>) {
    let post_paths: HashSet<&str> = operations
        .iter()
        .filter(|found| found.method == Method::Post && is_query_protocol(found.path))
        .map(|found| found.path)
        .collect();
    operations.retain(|found| found.method != Method::Get || !post_paths.contains(found.path));
}

/// The operation's id, without the method prefix of Amazon's query protocol.
fn bare_id<'a, F>(path: &str, operation: &'a Operation<F>) -> &'a str {
    let id = operation.id.as_str();
    let without_prefix = id.strip_prefix("POST_").or_else(|| id.strip_prefix("GET_"));
    without_prefix.filter(|_| is_query_protocol(path)).unwrap_or(id)
}

fn operations<'a, F>(
    document: &'a Document<F>,
    warnings: &mut Vec<String>,
) -> Vec<LocatedOperation<'a, F>> {
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
    let mut found: Vec<LocatedOperation<'a, F>> = Vec::new();
    let mut skipped: Vec<String> = Vec::new();
    for (path, item) in paths {
        let mut declared_methods: Vec<Method> = Vec::new();
        let mut next = Some(item);
        for _ in 0..MAX_REFERENCES {
            let Some(item) = next.take() else { break };
            for (method, operation) in &item.operations {
                if !declared_methods.contains(method) {
                    declared_methods.push(*method);
                    found.push(LocatedOperation { path, method: *method, operation, item });
                }
            }
            skipped.extend(item.skipped.iter().map(|method| format!("{method} {path}")));
            if let Some(reference) = &item.reference {
                next = target(reference)
                    .and_then(|(shared, name)| targets.get(&(shared, name.as_str())).copied());
                if next.is_none() {
                    let (path, reference) =
                        (text::verbatim(path, 100), text::verbatim(reference, 200));
                    warnings.push(format!(
                        "the reference from {path} to {reference} leads out of the document's paths"
                    ));
                }
            }
        }
        if next.is_some() {
            warnings.push(format!(
                "the reference from {} leads back to itself",
                text::verbatim(path, 100)
            ));
        }
    }
    if !skipped.is_empty() {
        let names = text::format_list(skipped.iter().map(String::as_str), MAX_SKIPPED_SHOWN);
        warnings
            .push(format!("operations with a method that no action can have are skipped: {names}"));
    }
    found
}

/// Parses a reference: `#/components/pathItems/Name` → `(true, "Name")`, `#/paths/~1pets` → `(false, "/pets")`. Returns
/// `None` for any other reference.
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

pub fn percent_decoded(text: &str) -> String {
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

/// The key of an operation: its id in camel case, or its method and path.
fn key<F>(method: Method, path: &str, operation: &Operation<F>) -> String {
    // The paths of GraphQL operations end in the key, as in `/graphql#query.issues`.
    if let Some((_, field)) = path.split_once('#').filter(|_| operation.graphql.get().is_some()) {
        return field.to_owned();
    }
    let id = text::camel_case(bare_id(path, operation));
    let key = if id.is_empty() { path_key(method, path) } else { id };
    if key.chars().nth(MAX_KEY).is_none() {
        return key;
    }
    let prefix: String = key.chars().take(MAX_KEY.saturating_sub(7)).collect();
    format!("{prefix}_{}", hash::short(key.as_bytes()))
}

/// Derives a key from a method and a path: `GET /users/{id}/repos` → `getUsersByIdRepos`.
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

/// The model name of an operation: its first tag, or the last literal segment of its path.
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

/// Makes keys unique by appending numbers to duplicates: `listPets`, `listPets2`.
fn make_unique(keys: Vec<String>) -> Vec<String> {
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
