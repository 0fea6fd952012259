//! Resolves the references in a document, and collects the definitions that the catalog needs.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::catalog::action::stored::DefinitionRefs;
use crate::importer::action::percent_decoded;
use crate::importer::document::Document;
use crate::importer::parts::PARTS;
use crate::importer::paths::PathItem;
use crate::terms::Method;

/// The maximum number of references that are followed.
const MAX_CHAIN: usize = 16;
/// The maximum number of bytes that are parsed to follow references, far more than the largest
/// known document needs. Without a limit, many references to a large value could delay the import
/// for hours.
const MAX_PARSED: usize = 2 << 30;
/// The maximum length of a name, in characters.
const MAX_NAME: usize = 120;

type RawValues<'d> = HashMap<String, &'d RawValue>;

/// The values of a document that references can point to.
pub struct Sources<'d, F> {
    kinds: HashMap<&'static str, RawValues<'d>>,
    paths: HashMap<&'d str, &'d PathItem<F>>,
    parsed: Cell<usize>,
}

impl<'d, F> Sources<'d, F> {
    pub fn new(document: &'d Document<F>) -> Self {
        let named = |raw: Option<&'d RawValue>| -> RawValues<'d> {
            raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
        };
        let shared = document.components();
        let kinds = HashMap::from([
            ("components/schemas", named(shared.and_then(|shared| shared.schemas.get()))),
            ("components/parameters", named(shared.and_then(|shared| shared.parameters.get()))),
            ("components/requestBodies", named(shared.and_then(|all| all.request_bodies.get()))),
            ("components/mediaTypes", named(shared.and_then(|shared| shared.media_types.get()))),
            ("components/responses", named(shared.and_then(|shared| shared.responses.get()))),
            ("definitions", named(document.definitions.get())),
            ("parameters", named(document.parameters.get())),
            ("responses", named(document.responses.get())),
            (PARTS, named(document.parts.get())),
        ]);
        let paths = document.paths.iter().flat_map(|paths| &paths.0);
        let paths = paths.map(|(path, item)| (path.as_str(), item)).collect();
        Self { kinds, paths, parsed: Cell::new(0) }
    }

    /// The target of a reference. Returns `None` if the target is not among the retained parts of
    /// the document.
    pub fn value(&self, reference: &str) -> Option<Value> {
        let steps = steps(reference)?;
        let (raw, rest) = self.find(&steps)?;
        self.parsed.set(self.parsed.get().saturating_add(raw.get().len()));
        if self.parsed.get() > MAX_PARSED {
            return None;
        }
        let value: Value = serde_json::from_str(raw.get()).ok()?;
        rest.iter().try_fold(value, |value, step| match value {
            Value::Object(mut map) => map.remove(step),
            Value::Array(mut list) => {
                let at = step.parse::<usize>().ok().filter(|at| *at < list.len())?;
                Some(list.swap_remove(at))
            }
            _ => None,
        })
    }

    /// The retained value that contains the target of a path, and the remaining steps to the
    /// target.
    fn find<'s>(&self, steps: &'s [String]) -> Option<(&'d RawValue, &'s [String])> {
        let text = |index: usize| steps.get(index).map(String::as_str).unwrap_or_default();
        match text(0) {
            "components" => {
                let kind = format!("components/{}", text(1));
                Some((*self.kinds.get(kind.as_str())?.get(text(2))?, steps.get(3..)?))
            }
            "paths" => {
                let item = self.paths.get(text(1))?;
                if text(2) == "parameters" {
                    return Some((item.parameters.get()?, steps.get(3..)?));
                }
                let mut methods = Method::ALL.into_iter();
                let method = methods.find(|one| one.as_str().eq_ignore_ascii_case(text(2)))?;
                let (_, operation) = item.operations.iter().find(|(one, _)| *one == method)?;
                let raw = match text(3) {
                    "parameters" => &operation.parameters,
                    "requestBody" => &operation.request_body,
                    "responses" => &operation.responses,
                    _ => return None,
                };
                Some((raw.get()?, steps.get(4..)?))
            }
            kind => Some((*self.kinds.get(kind)?.get(text(1))?, steps.get(2..)?)),
        }
    }

    /// Follows the references of a value to an object. Returns `None` if the target is not an
    /// object.
    pub fn resolved(&self, mut value: Value) -> Option<Map<String, Value>> {
        for _ in 0..MAX_CHAIN {
            let Value::Object(map) = value else { return None };
            match map.get("$ref").and_then(Value::as_str) {
                Some(reference) => value = self.value(reference)?,
                None => return Some(map),
            }
        }
        None
    }
}

/// Splits a reference into steps: `#/a/b~1c` → `["a", "b/c"]`. Returns `None` for a reference to
/// another file.
fn steps(reference: &str) -> Option<Vec<String>> {
    let pointer = reference.strip_prefix("#/")?;
    let step = |step: &str| percent_decoded(step).replace("~1", "/").replace("~0", "~");
    Some(pointer.split('/').map(step).collect())
}

/// A converted definition.
#[derive(Debug, Default)]
pub struct Definition {
    /// The name, unique within the document.
    pub name: String,
    /// The JSON Schema (2020-12).
    pub schema: String,
    /// The numbers of the definitions that the schema refers to.
    pub reaches: Vec<u32>,
}

/// The definitions that a document's actions need.
pub struct Definitions<'d, F> {
    pub sources: Sources<'d, F>,
    numbers: HashMap<String, Option<u32>>,
    names: HashSet<String>,
    /// The number of requests for each name, which is appended to make names unique.
    request_counts: HashMap<String, u32>,
    waiting: VecDeque<Value>,
    list: Vec<Definition>,
    pub dangling: Vec<String>,
    /// Skipped features of `OpenAPI` 3.2.
    pub skipped: BTreeSet<&'static str>,
    /// The total size of inline schemas, in bytes.
    pub written: usize,
}

impl<'d, F> Definitions<'d, F> {
    pub fn new(sources: Sources<'d, F>) -> Self {
        Self {
            sources,
            numbers: HashMap::new(),
            names: HashSet::new(),
            request_counts: HashMap::new(),
            waiting: VecDeque::new(),
            list: Vec::new(),
            dangling: Vec::new(),
            skipped: BTreeSet::new(),
            written: 0,
        }
    }

    /// The number of the definition that a reference points to. Returns `None` for a dangling
    /// reference.
    pub fn number(&mut self, reference: &str) -> Option<u32> {
        if let Some(known) = self.numbers.get(reference) {
            return *known;
        }
        let value = self.sources.value(reference);
        let number = u32::try_from(self.list.len()).ok();
        let number = value.and_then(|value| {
            let name = self.name(reference);
            self.list.push(Definition { name, ..Definition::default() });
            self.waiting.push_back(value);
            number
        });
        if number.is_none() {
            self.dangling.push(reference.to_owned());
        }
        self.numbers.insert(reference.to_owned(), number);
        number
    }

    /// Follows the references of a value to an object, and records dangling references. Returns
    /// `None` if the target is not an object.
    pub fn resolved(&mut self, value: Value) -> Option<Map<String, Value>> {
        let reference = value.get("$ref").and_then(Value::as_str).map(str::to_owned);
        let resolved = self.sources.resolved(value);
        if resolved.is_none() {
            self.dangling.extend(reference);
        }
        resolved
    }

    /// Creates the name of a definition: the last step of its reference, reduced to letters, digits
    /// and `._-`, and made unique.
    fn name(&mut self, reference: &str) -> String {
        let last = steps(reference).and_then(|steps| steps.into_iter().next_back());
        let clean = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let cleaned: String = last.unwrap_or_default().chars().map(clean).take(MAX_NAME).collect();
        let count = self.request_counts.entry(cleaned.clone()).or_default();
        loop {
            *count = count.saturating_add(1);
            let name = if *count == 1 { cleaned.clone() } else { format!("{cleaned}_{count}") };
            if self.names.insert(name.clone()) {
                return name;
            }
        }
    }

    pub fn get(&self, number: u32) -> Option<&Definition> {
        self.list.get(usize::try_from(number).ok()?)
    }

    /// Converts all referenced definitions, transitively. `convert` returns the schema and the numbers of the
    /// definitions that it refers to.
    pub fn convert(&mut self, convert: fn(&Value, &mut Self) -> (String, Vec<u32>)) {
        let mut next = self.list.len().saturating_sub(self.waiting.len());
        while let Some(value) = self.waiting.pop_front() {
            let (schema, reaches) = convert(&value, self);
            if let Some(definition) = self.list.get_mut(next) {
                definition.schema = schema;
                definition.reaches = reaches;
            }
            next = next.saturating_add(1);
        }
    }

    /// The definitions reachable from `roots`, nearest first, up to a total size of `max` bytes.
    pub fn reach(&self, roots: &[u32], max: usize) -> DefinitionRefs {
        let mut reached = DefinitionRefs::default();
        let mut seen: HashSet<u32> = HashSet::new();
        let mut queue: VecDeque<u32> =
            roots.iter().copied().filter(|root| seen.insert(*root)).collect();
        let mut bytes = 0_usize;
        while let Some(number) = queue.pop_front() {
            let Some(definition) = self.get(number) else { continue };
            let size = definition.name.len().saturating_add(definition.schema.len());
            let size = bytes.saturating_add(size);
            if size > max {
                reached.cut.push(number);
                continue;
            }
            bytes = size;
            reached.whole.push(number);
            queue.extend(definition.reaches.iter().copied().filter(|next| seen.insert(*next)));
        }
        reached
    }
}
