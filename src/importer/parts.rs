//! Joins documents that are split into several files, by resolving their references to other files.
//!
//! If the importer needs a value in place, such as a path item, the value replaces the reference.
//! All other values are moved below [`PARTS`] and referenced there, which preserves recursion. Only
//! files in the imported folder are read.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::action::percent_decoded;
use super::source::{self, MAX_BYTES, Source};
use super::{read, text};

/// The member of a merged document that contains the parts from other files. Each part has a
/// number, a name and a value.
pub const PARTS: &str = "x-connector-vault-parts";

/// The maximum number of references that are followed where the importer needs a value in place.
const MAX_CHAIN: u32 = 16;
/// The maximum number of visited values, far more than real documents have.
const MAX_VISITS: usize = 50_000_000;
/// The maximum number of faults that are reported.
const MAX_FAULTS: usize = 20;

/// A document with its parts from other files.
#[derive(Debug)]
pub struct MergedDocument {
    pub document: Value,
    /// The files that were merged into the document.
    pub files: BTreeSet<PathBuf>,
    /// A line for each dangling reference to a file.
    pub faults: Vec<String>,
}

/// Whether a document may refer to another file, because it contains a `$ref` that does not begin
/// with `#`.
pub fn may_have_references(text: &str) -> bool {
    text.match_indices("$ref").any(|(at, resolved_target)| {
        let rest = text.get(at.saturating_add(resolved_target.len())..).unwrap_or_default();
        let target = rest.trim_start_matches(['"', '\'']).trim_start().strip_prefix(':');
        let target = target.map(|target| target.trim_start().trim_start_matches(['"', '\'']));
        target.is_some_and(|target| !target.starts_with('#'))
    })
}

/// Merges the referenced parts of other files into a document. Returns `None` if the document
/// refers to no file, or if the text is not a document.
pub fn merge(source: &Source, text: &str) -> Option<MergedDocument> {
    let document = read::value(text).ok()?;
    let map = document.as_object()?;
    if !map.contains_key("openapi") && !map.contains_key("swagger") {
        return None;
    }
    let main = source.path.canonicalize().ok()?;
    let root = source.root.canonicalize().ok()?;
    let mut parts = Parts { root, main, ..Parts::default() };
    let mut document = document;
    let main = parts.main.clone();
    parts.visit(&mut document, &mut Place { file: &main, steps: Vec::new() }, Position::Top, 0);
    if parts.files.is_empty() && parts.faults.is_empty() {
        return None;
    }
    let numbered_parts = parts.collect_parts();
    document.as_object_mut()?.insert(PARTS.to_owned(), Value::Object(numbered_parts));
    let faults = parts.faults.iter().take(MAX_FAULTS).cloned();
    let more = parts.faults.len().saturating_sub(MAX_FAULTS);
    let more = (more > 0).then(|| format!("… and {more} more dangling references"));
    Some(MergedDocument {
        document,
        files: parts.files.into_keys().collect(),
        faults: faults.chain(more).collect(),
    })
}

/// The kind of value that the importer expects at a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// The top level of the document.
    Top,
    Components,
    /// A map whose keys are names, and whose values may be references.
    Names,
    Paths,
    PathItem,
    Schemes,
    /// Any other value that must not be a reference.
    Plain,
    /// Any value that may be a reference.
    Free,
    /// A value that contains no references.
    Data,
}

impl Position {
    fn child(self, key: &str) -> Self {
        match (self, key) {
            // References in extensions, such as code samples, are only relevant to other tools.
            (
                Self::Top
                | Self::Components
                | Self::Paths
                | Self::PathItem
                | Self::Plain
                | Self::Free,
                key,
            ) if key.starts_with("x-") => Self::Data,
            (Self::Top, "components") => Self::Components,
            (Self::Top, "paths") | (Self::Components, "pathItems") => Self::Paths,
            (Self::Top, "securityDefinitions") | (Self::Components, "securitySchemes") => {
                Self::Schemes
            }
            (Self::Top, "definitions" | "parameters" | "responses") | (Self::Components, _) => {
                Self::Names
            }
            (Self::Paths, _) => Self::PathItem,
            (Self::Top, "info" | "servers" | "externalDocs")
            | (Self::Schemes, _)
            | (Self::PathItem, "get" | "put" | "post" | "patch" | "delete" | "servers") => {
                Self::Plain
            }
            (Self::Top | Self::Data, _) => Self::Data,
            (Self::Free | Self::Plain, key) if NO_SCHEMAS.contains(&key) => Self::Data,
            (Self::Free | Self::Plain, key) if NAMES.contains(&key) => Self::Names,
            _ => Self::Free,
        }
    }
}

/// Members of operations and schemas without relevant references.
const NO_SCHEMAS: [&str; 8] =
    ["example", "examples", "default", "enum", "const", "callbacks", "links", "headers"];
/// Members of operations and schemas that map names to values that may be references.
const NAMES: [&str; 5] =
    ["properties", "patternProperties", "dependentSchemas", "responses", "content"];

/// The location of a value in a file.
struct Place<'a> {
    file: &'a Path,
    /// The steps of a JSON Pointer.
    steps: Vec<String>,
}

/// The target of a reference: a file, and a JSON Pointer into the file.
type Target = (PathBuf, String);

#[derive(Debug, Default)]
struct Parts {
    root: PathBuf,
    main: PathBuf,
    files: HashMap<PathBuf, Value>,
    bytes: u64,
    visits: usize,
    numbers: HashMap<Target, String>,
    waiting: VecDeque<(Target, String)>,
    faults: Vec<String>,
}

impl Parts {
    /// Rewrites every reference in a value to point into the merged document.
    fn visit(&mut self, value: &mut Value, place: &mut Place<'_>, position: Position, chain: u32) {
        self.visits = self.visits.saturating_add(1);
        if position == Position::Data || self.visits > MAX_VISITS {
            return;
        }
        match value {
            Value::Array(list) => {
                for (index, value) in list.iter_mut().enumerate() {
                    self.visit_child(value, place, index.to_string(), position.child(""));
                }
            }
            Value::Object(map) => {
                let reference = map.get("$ref").and_then(Value::as_str).map(str::to_owned);
                let target = reference.and_then(|reference| self.target(&reference, place));
                for (key, value) in map.iter_mut() {
                    self.visit_child(value, place, key.clone(), position.child(key));
                }
                match target {
                    Some(target) if position == Position::Free => {
                        let reference = Value::String(self.reference(target));
                        map.insert("$ref".to_owned(), reference);
                    }
                    Some(target) if chain < MAX_CHAIN => {
                        let part = self.part(&target, position, chain.saturating_add(1));
                        replace_reference(value, part);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn visit_child(
        &mut self,
        value: &mut Value,
        place: &mut Place<'_>,
        step: String,
        position: Position,
    ) {
        place.steps.push(step);
        self.visit(value, place, position, 0);
        place.steps.pop();
    }

    /// The value at the target of a reference, with its references rewritten.
    fn part(&mut self, target: &Target, position: Position, chain: u32) -> Value {
        let mut value = self.value(target).cloned().unwrap_or_default();
        let mut place = Place { file: &target.0, steps: steps(&target.1) };
        self.visit(&mut value, &mut place, position, chain);
        value
    }

    /// Collects the referenced parts, transitively.
    fn collect_parts(&mut self) -> Map<String, Value> {
        let mut numbered_parts = Map::new();
        while let Some((target, name)) = self.waiting.pop_front() {
            let value = self.part(&target, Position::Free, 0);
            numbered_parts.insert(
                numbered_parts.len().to_string(),
                Value::Object(Map::from_iter([(name, value)])),
            );
        }
        numbered_parts
    }

    /// The reference to a part within the merged document.
    fn reference(&mut self, target: Target) -> String {
        if target.0 == self.main {
            return format!("#{}", target.1.replace('%', "%25"));
        }
        let number = self.numbers.len();
        match self.numbers.entry(target) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                let (file, pointer) = new.key();
                let stem = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let name = steps(pointer).pop().unwrap_or_else(stem);
                let part = name.replace('~', "~0").replace('/', "~1").replace('%', "%25");
                self.waiting.push_back((new.key().clone(), name));
                new.insert(format!("#/{PARTS}/{number}/{part}")).clone()
            }
        }
    }

    /// The target of a reference. Returns `None` if the target is in the same document or on
    /// another host, or if the reference is dangling, which adds a fault.
    fn target(&mut self, reference: &str, place: &Place<'_>) -> Option<Target> {
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if (file.is_empty() && place.file == self.main)
            || file.contains("://")
            || file.starts_with("//")
        {
            return None;
        }
        let resolved_target = self.find(file, fragment, place);
        if let Err(why) = &resolved_target {
            let file = place.file.strip_prefix(&self.root).unwrap_or(place.file).display();
            let shown = text::verbatim(reference, 200);
            let at = text::verbatim(&pointer(&place.steps), 200);
            self.faults.push(format!("{file}#{at}: the reference to `{shown}` is dangling: {why}"));
        }
        resolved_target.ok()
    }

    fn find(&mut self, file: &str, fragment: &str, place: &Place<'_>) -> Result<Target, String> {
        let path = if file.is_empty() {
            place.file.to_owned()
        } else {
            let folder = place.file.parent().unwrap_or(&self.root);
            let path = folder.join(percent_decoded(file));
            path.canonicalize().map_err(|e| e.to_string())?
        };
        if !path.starts_with(&self.root) {
            return Err("it lies outside of the imported folder".to_owned());
        }
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return Err("the part after `#` is not a JSON Pointer".to_owned());
        }
        if path != self.main && !self.files.contains_key(&path) {
            let value = self.load(&path)?;
            self.files.insert(path.clone(), value);
        }
        let target = (path, percent_decoded(fragment));
        if target.0 != self.main && self.value(&target).is_none() {
            return Err("the file has no value at this position".to_owned());
        }
        Ok(target)
    }

    fn load(&mut self, path: &Path) -> Result<Value, String> {
        let bytes = source::bytes(path).map_err(|e| e.to_string())?;
        self.bytes = self.bytes.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if self.bytes > MAX_BYTES {
            return Err(format!("the document has more than {} MiB", MAX_BYTES >> 20));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| "the file is not UTF-8".to_owned())?;
        read::value(text).map_err(|fault| fault.to_string())
    }

    fn value(&self, (file, pointer): &Target) -> Option<&Value> {
        self.files.get(file)?.pointer(pointer)
    }
}

/// Replaces a reference with a part. Members next to the reference stay.
fn replace_reference(value: &mut Value, part: Value) {
    let Value::Object(map) = value else { return };
    map.shift_remove("$ref");
    match part {
        Value::Object(part) => {
            for (key, value) in part {
                map.entry(key).or_insert(value);
            }
        }
        other => *value = other,
    }
}

fn steps(pointer: &str) -> Vec<String> {
    let step = |step: &str| step.replace("~1", "/").replace("~0", "~");
    pointer.split('/').skip(1).map(step).collect()
}

fn pointer(steps: &[String]) -> String {
    let step = |step: &String| format!("/{}", step.replace('~', "~0").replace('/', "~1"));
    steps.iter().map(step).collect()
}
