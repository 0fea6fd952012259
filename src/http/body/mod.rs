//! Reads JSON request bodies. Reports all faults at once, and never guesses a value.

pub mod budget;

use std::collections::BTreeMap;

use self::budget::budget_exhausted;
use super::doc::Doc;
use super::message::{Body, Request};
use super::problem::{Code, Fault, Location, MAX_FAULTS, Problem, joined};
use crate::util::json::{self, Value};
use crate::util::nearest::{nearest, shown};

/// Fails unless the request declares its body as JSON.
pub(crate) fn require_json(request: &Request) -> Result<(), Problem> {
    let media_type = request.header("content-type").and_then(|value| value.split(';').next());
    if media_type
        .is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
    {
        return Ok(());
    }
    let detail = "The body must be JSON: send it with `Content-Type: application/json`.";
    Err(Problem::new(Code::UnsupportedMediaType, detail))
}

/// A field of a request body.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub check: FieldCheck,
    pub required: bool,
    pub doc: Doc,
}

impl Field {
    pub const fn required(name: &'static str, check: FieldCheck, about: &'static str) -> Self {
        Self { name, check, required: true, doc: Doc::new(about) }
    }

    pub const fn optional(name: &'static str, check: FieldCheck, about: &'static str) -> Self {
        Self { name, check, required: false, doc: Doc::new(about) }
    }
}

/// Checks a string. Returns `None` when it is valid, otherwise an error that completes a sentence beginning with the field's
/// name.
pub type Rule = fn(&str) -> Option<&'static str>;

/// The values that a field accepts.
#[derive(Debug, Clone, Copy)]
pub enum FieldCheck {
    /// A string that the rule accepts.
    Text(Rule),
    /// Like [`Self::Text`], but also accepts null, which is treated as absent.
    TextOrNull(Rule),
    Boolean,
    /// Must be one of these names.
    OneOf(&'static [&'static str]),
    /// An array of at most this many strings, each accepted by the rule.
    Texts(usize, Rule),
    /// An array of these names, with at most as many items as there are names.
    Names(&'static [&'static str]),
    /// Values checked by the function. Rare checks are functions instead of variants, so that
    /// builds without their bodies do not contain them.
    Custom(CustomCheck),
}

/// Checks a field's value and adds its faults.
pub type CustomCheck = fn(&mut BodyReader, &'static str, &Value);

/// A hint for an unknown field, which ends an error message. `known` lists the body's fields.
fn unknown_field_hint(name: &str, known: &[&str]) -> &'static str {
    match (known, name) {
        // The body of `PATCH /v1/vault/connections/{id}`.
        (["tags"], "name") => ": change it with `PUT /v1/vault/connections/{id}/name`",
        (["tags"], "state" | "active") => ": change it with `PUT /v1/vault/connections/{id}/state`",
        // The body that runs an action.
        _ if known.starts_with(&["path", "query"]) => {
            ": send what the action takes in `path`, `query`, `header` or `body`"
        }
        _ => "",
    }
}

/// The maximum number of members of an object of strings.
pub const MAX_MEMBERS: usize = 50;

/// Reads a JSON object and checks it against an endpoint's fields, collecting all faults.
#[derive(Debug)]
pub struct BodyReader {
    /// The values of the request, by field; `None` once taken.
    fields: Vec<(&'static str, Option<Value>)>,
    faults: Vec<Fault>,
}

impl BodyReader {
    /// Parses the body of `request` and checks each field; `known` lists the endpoint's fields. Fails when the body is not
    /// declared as JSON, has more than `max` bytes, or is not a JSON object. [`Self::finish`] reports faults of fields.
    pub fn new(request: &Request, known: &[Field], max: usize) -> Result<Self, Problem> {
        require_json(request)?;
        let Body::Whole(bytes) = &request.body else { return Err(unread_body(&request.body, max)) };
        if bytes.len() > max {
            return Err(too_large(max));
        }
        Self::from_value(parse(bytes).map_err(invalid_body)?, known)
    }

    /// Like [`Self::new`], for a parsed body.
    pub fn from_value(body: Value, known: &[Field]) -> Result<Self, Problem> {
        let Value::Object(members) = body else {
            return Err(invalid_body("The body must be a JSON object.".into()));
        };
        let mut reader = Self { fields: Vec::new(), faults: Vec::new() };
        for (name, value) in members {
            reader.read_member(&name, value, known);
        }
        for Field { name, .. } in known.iter().filter(|field| field.required) {
            if !reader.has(name) {
                reader.invalid(&[name], "is required");
            }
        }
        let fields = std::mem::take(&mut reader.fields);
        for field in known {
            if let Some((_, Some(value))) = fields.iter().find(|(name, _)| *name == field.name) {
                reader.check(field, value);
            }
        }
        reader.fields = fields;
        Ok(reader)
    }

    fn read_member(&mut self, name: &str, value: Value, known: &[Field]) {
        let Some(field) = known.iter().find(|field| field.name == name) else {
            let (code, noun) = (Code::InvalidBody, "a field of this body");
            let known: Vec<&str> = known.iter().map(|field| field.name).collect();
            return self.add_fault(&[name], |location| {
                let mut fault = Fault::unknown(code, location, name, noun, &known);
                if fault.suggestion.is_none() {
                    fault.detail.push_str(unknown_field_hint(name, &known));
                }
                fault
            });
        };
        if self.has(name) {
            return self.invalid(&[name], "is given more than once");
        }
        self.fields.push((field.name, Some(value)));
    }

    /// Whether a field was sent, even if its value has been taken.
    pub fn was_sent(&self, field: &str) -> bool {
        self.fields.iter().any(|(name, _)| *name == field)
    }

    /// Whether a field was sent and its value has not been taken.
    pub fn has(&self, field: &str) -> bool {
        self.get(field).is_some()
    }

    fn get(&self, field: &str) -> Option<&Value> {
        self.fields.iter().find(|(name, _)| *name == field)?.1.as_ref()
    }

    fn check(&mut self, field: &Field, value: &Value) {
        let (name, text) = (field.name, value.as_text());
        let validation_error = match field.check {
            FieldCheck::TextOrNull(_) if matches!(value, Value::Null) => None,
            FieldCheck::Text(rule) | FieldCheck::TextOrNull(rule) => {
                text.map_or(Some("must be a string"), rule)
            }
            FieldCheck::Boolean => {
                (!matches!(value, Value::Boolean(_))).then_some("must be true or false")
            }
            FieldCheck::OneOf(names) => {
                if !text.is_some_and(|text| names.contains(&text)) {
                    let code = Code::InvalidBody;
                    self.add_fault(&[name], |location| {
                        Fault::unknown_value(code, location, name, text, names)
                    });
                }
                None
            }
            FieldCheck::Texts(max, rule) => self.check_items(name, value, max, rule),
            FieldCheck::Names(names) => {
                let validation_error = self.check_items(name, value, names.len(), |_| None);
                self.check_names(name, value, names);
                validation_error
            }
            FieldCheck::Custom(check) => {
                check(self, name, value);
                None
            }
        };
        if let Some(message) = validation_error {
            self.invalid(&[name], message);
        }
    }

    fn check_items(
        &mut self,
        field: &str,
        value: &Value,
        max: usize,
        rule: Rule,
    ) -> Option<&'static str> {
        let Value::Array(items) = value else { return Some("must be an array of strings") };
        if items.len() > max {
            self.invalid(
                &[field],
                &format!("has {} items, but at most {max} are allowed", items.len()),
            );
        }
        for (index, item) in items.iter().enumerate() {
            if let Some(message) = item.as_text().map_or(Some("must be a string"), rule) {
                self.invalid(&[field, &format!("{index}")], message);
            }
        }
        None
    }

    /// Checks a set: an array of one to `max` distinct strings, each accepted by the rule.
    pub fn check_set(&mut self, field: &str, value: &Value, max: usize, rule: Rule) {
        let items = if let Value::Array(items) = value { items.as_slice() } else { &[] };
        let validation_error = self.check_items(field, value, max, rule);
        let none = items.is_empty().then_some("must have at least one item, or be left out");
        if let Some(message) = validation_error.or(none) {
            self.invalid(&[field], message);
        }
        for (index, item) in items.iter().enumerate() {
            // An array that is too long already has its fault, and comparing all items would be slow.
            if items.iter().take(index.min(max)).any(|other| other == item) {
                self.invalid(&[field, &format!("{index}")], "is a duplicate");
            }
        }
    }

    /// Checks a set of names. Adds a suggestion for each unknown item.
    pub fn check_set_of(&mut self, field: &str, value: &Value, names: &[&str]) {
        self.check_set(field, value, names.len(), |_| None);
        self.check_names(field, value, names);
    }

    /// Adds a fault for each string of an array that is not one of the names.
    fn check_names(&mut self, field: &str, value: &Value, names: &[&str]) {
        let Value::Array(items) = value else { return };
        for (index, item) in items.iter().enumerate() {
            let text = item.as_text().filter(|text| !names.contains(text));
            // Computing suggestions for many strings would be slow, so stop once no more faults are
            // reported.
            if let Some(text) = text.filter(|_| self.faults.len() < MAX_FAULTS) {
                let message = format!("must be one of {}", joined(names, ", "));
                let suggestion = nearest(text, names.iter().copied(), 1).pop();
                self.invalid_with_suggestion(&[field, &format!("{index}")], &message, suggestion);
            }
        }
    }

    /// Checks an object of strings. `rule` receives the name and the value of each member.
    pub fn check_texts(
        &mut self,
        field: &str,
        value: &Value,
        rule: fn(&str, &str) -> Option<&'static str>,
    ) {
        let Value::Object(members) = value else {
            return self.invalid(&[field], "must be an object whose values are strings");
        };
        if members.len() > MAX_MEMBERS {
            let message =
                format!("has {} members, but at most {MAX_MEMBERS} are allowed", members.len());
            return self.invalid(&[field], &message);
        }
        for (index, (name, value)) in members.iter().enumerate() {
            let validation_error = match value.as_text() {
                None => Some("must be a string"),
                Some(_) if members.iter().take(index).any(|(other, _)| other == name) => {
                    Some("is given more than once")
                }
                Some(text) => rule(name, text),
            };
            if let Some(message) = validation_error {
                self.invalid(&[field, name], message);
            }
        }
    }

    /// Adds a fault for each duplicate member in the value, at any depth: parsers disagree on which
    /// duplicate counts.
    pub fn check_duplicates(&mut self, path: &[&str], value: &Value) {
        value.for_each_duplicate(path, &mut |location| {
            self.invalid(location, "is given more than once");
        });
    }

    /// Checks that the value is a whole number from `min` to `max`.
    pub fn check_integer(&mut self, field: &str, value: &Value, min: u64, max: u64) {
        if !value.as_integer().is_some_and(|number| min <= number && number <= max) {
            self.invalid(&[field], &format!("must be a whole number from {min} to {max}"));
        }
    }

    /// Adds a fault unless there are already [`MAX_FAULTS`].
    fn add_fault(&mut self, path: &[&str], fault: impl FnOnce(Location) -> Fault) {
        if self.faults.len() < MAX_FAULTS {
            let fault = fault(Location::Pointer(pointer(path)));
            self.faults.push(fault);
        }
    }

    /// Adds a fault for the value at `path`; `message` completes a sentence that begins with the
    /// field's name.
    pub fn invalid(&mut self, path: &[&str], message: &str) {
        self.invalid_with_suggestion(path, message, None);
    }

    /// Like [`Self::invalid`], with a suggestion.
    pub fn invalid_with_suggestion(
        &mut self,
        path: &[&str],
        message: &str,
        suggestion: Option<String>,
    ) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(invalid(path, message, suggestion));
        }
    }

    /// Whether a fault was added for the value at `path`.
    pub fn has_fault(&self, path: &[&str]) -> bool {
        let pointer = pointer(path);
        let is_at_path =
            |fault: &Fault| matches!(&fault.location, Location::Pointer(text) if *text == pointer);
        self.faults.iter().any(is_at_path)
    }

    /// Takes a field's value. Returns `None` when it was not sent.
    pub fn value(&mut self, field: &str) -> Option<Value> {
        self.fields.iter_mut().find(|(name, _)| *name == field)?.1.take()
    }

    /// Takes a string. Returns `None` when it was not sent or is null.
    pub fn text(&mut self, field: &str) -> Option<String> {
        self.value(field)?.into_string()
    }

    /// Borrows a string without taking it. Returns `None` when it was not sent or is something else.
    pub fn peek(&self, field: &str) -> Option<&str> {
        self.get(field)?.as_text()
    }

    /// Takes a boolean. Returns `None` when it was not sent.
    pub fn boolean(&mut self, field: &str) -> Option<bool> {
        if let Value::Boolean(value) = self.value(field)? { Some(value) } else { None }
    }

    /// Takes an array of strings. Returns `None` when it was not sent.
    pub fn texts(&mut self, field: &str) -> Option<Vec<String>> {
        let Value::Array(items) = self.value(field)? else { return None };
        Some(items.into_iter().filter_map(Value::into_string).collect())
    }

    /// Takes an array. Returns `None` when it was not sent.
    pub fn array(&mut self, field: &str) -> Option<Vec<Value>> {
        if let Value::Array(items) = self.value(field)? { Some(items) } else { None }
    }

    /// The strings in an array, each with its index. Does not take the field.
    pub fn indexed_texts(&self, field: &str) -> Vec<(usize, String)> {
        let Some(Value::Array(items)) = self.get(field) else { return Vec::new() };
        let text = |(at, item): (usize, &Value)| Some((at, item.as_text()?.to_owned()));
        items.iter().enumerate().filter_map(text).collect()
    }

    /// Takes an object of strings. Returns `None` when it was not sent.
    pub fn text_members(&mut self, field: &str) -> Option<BTreeMap<String, String>> {
        let Value::Object(members) = self.value(field)? else { return None };
        // `collect` would add sorting code to the Worker's module.
        let mut texts = BTreeMap::new();
        for (name, value) in members {
            if let Some(text) = value.into_string() {
                texts.insert(name, text);
            }
        }
        Some(texts)
    }

    /// Whether a field was sent as null.
    pub fn is_null(&self, field: &str) -> bool {
        self.get(field) == Some(&Value::Null)
    }

    /// Takes a whole number. Returns `None` when it was not sent.
    pub fn integer(&mut self, field: &str) -> Option<u64> {
        self.value(field)?.as_integer()
    }

    /// Returns the problem with all faults so far, and one more at `path`.
    pub fn refuse(self, path: &[&str], message: &str, suggestion: Option<String>) -> Problem {
        let last = invalid(path, message, suggestion);
        let mut faults = self.faults;
        if faults.len() < MAX_FAULTS {
            faults.push(last.clone());
        }
        Problem::from_faults(faults).unwrap_or_else(|| Problem::from_fault(last))
    }

    /// Fails if there are faults, and reports all of them. After `Ok`, every taken value is valid.
    pub fn finish(&mut self) -> Result<(), Problem> {
        Problem::from_faults(std::mem::take(&mut self.faults)).map_or(Ok(()), Err)
    }
}

/// The problem for a body of more than `max` bytes.
pub fn too_large(max: usize) -> Problem {
    Problem::new(Code::BodyTooLarge, format!("The body may have at most {} KiB.", max >> 10))
}

/// The problem for a body that was not read; `max` is the endpoint's limit in bytes.
pub fn unread_body(body: &Body, max: usize) -> Problem {
    match body {
        Body::TimedOut => invalid_body("The body did not arrive within 30 seconds.".to_owned()),
        Body::Refused => budget_exhausted(),
        Body::TooLarge | Body::Stream | Body::Whole(_) => too_large(max),
    }
}

/// The problem for a body that is invalid as a whole.
fn invalid_body(detail: String) -> Problem {
    let location = Location::Pointer(String::new());
    Problem::from_fault(Fault { code: Code::InvalidBody, location, detail, suggestion: None })
}

/// The problem for a body with one fault at `path`.
pub fn refusal(path: &[&str], message: &str) -> Problem {
    Problem::from_fault(invalid(path, message, None))
}

/// The fault for the value at `path`; `message` completes a sentence that begins with the field's
/// name.
fn invalid(path: &[&str], message: &str, suggestion: Option<String>) -> Fault {
    let location = Location::Pointer(pointer(path));
    let detail = format!("`{}` {message}", joined(path, "/"));
    Fault { code: Code::InvalidBody, location, detail, suggestion }
}

/// The JSON pointer of a path (RFC 6901). Long field names are truncated.
fn pointer(path: &[&str]) -> String {
    let mut pointer = String::new();
    for step in path {
        pointer.push('/');
        for letter in shown(step).chars() {
            match letter {
                '~' => pointer.push_str("~0"),
                '/' => pointer.push_str("~1"),
                other => pointer.push(other),
            }
        }
    }
    pointer
}

/// Parses a body. The error is a message for the caller.
fn parse(bytes: &[u8]) -> Result<Value, String> {
    if bytes.is_empty() {
        return Err("The body is empty: send a JSON object.".into());
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err("The body begins with a byte order mark: send JSON without one.".into());
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("The body is not UTF-8 from byte {} on.", error.valid_up_to()))?;
    json::parse(text)
        .map_err(|error| format!("The body is not valid JSON, or nested too deeply: {error}."))
}

#[cfg(test)]
mod tests;
