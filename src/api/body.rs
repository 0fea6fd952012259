//! JSON bodies: every fault of a body is found and named, nothing is guessed away.

use super::message::{Body, MAX_BODY, Request};
use super::problem::{Code, Fault, MAX_FAULTS, Place, Problem};
use crate::json::{self, Value};

/// The media type of a request's body must be JSON's.
///
/// # Errors
/// `unsupported_media_type` when it is not.
fn require_json(request: &Request) -> Result<(), Problem> {
    let media_type = request.header("content-type").and_then(|value| value.split(';').next());
    if media_type
        .is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
    {
        return Ok(());
    }
    let detail = "The body must be JSON: send it with `Content-Type: application/json`.";
    Err(Problem::new(Code::UnsupportedMediaType, detail))
}

/// Gives none for a good text, else what a good one is like.
pub type Rule = fn(&str) -> Option<&'static str>;

/// Reads one JSON object against the fields that an endpoint has, collecting all faults.
#[derive(Debug)]
pub struct BodyReader {
    fields: Vec<(&'static str, Value)>,
    faults: Vec<Fault>,
}

impl BodyReader {
    /// Takes the body of `request` apart; `known` lists the endpoint's fields.
    ///
    /// # Errors
    /// When the body is not declared as JSON, too large, or no JSON object.
    pub fn new(request: &Request, known: &[&'static str]) -> Result<Self, Problem> {
        require_json(request)?;
        let Body::Whole(bytes) = &request.body else { return Err(too_large()) };
        Self::of(parse(bytes).map_err(whole)?, known)
    }

    /// Takes a body apart that has been parsed.
    ///
    /// # Errors
    /// When it is no object.
    pub fn of(body: Value, known: &[&'static str]) -> Result<Self, Problem> {
        let Value::Object(members) = body else {
            return Err(whole("The body must be a JSON object.".into()));
        };
        let mut reader = Self { fields: Vec::new(), faults: Vec::new() };
        for (name, value) in members {
            reader.take(&name, value, known);
        }
        Ok(reader)
    }

    fn take(&mut self, name: &str, value: Value, known: &[&'static str]) {
        let Some(field) = known.iter().find(|known| **known == name) else {
            let (code, what) = (Code::InvalidBody, "a field of this body");
            return self.note(&[name], |place| Fault::unknown(code, place, name, what, known));
        };
        if self.has(field) {
            return self.invalid(&[field], "is given more than once");
        }
        self.fields.push((field, value));
    }

    /// Notes a fault, unless there are too many already.
    fn note(&mut self, path: &[&str], fault: impl FnOnce(Place) -> Fault) {
        if self.faults.len() < MAX_FAULTS {
            let fault = fault(Place::Pointer(pointer(path)));
            self.faults.push(fault);
        }
    }

    /// Notes that the value at `path` can't be used; `what` completes a sentence that begins with its name.
    #[inline(never)]
    pub fn invalid(&mut self, path: &[&str], what: &str) {
        self.invalid_like(path, what, None);
    }

    /// As [`Self::invalid`], with what may have been meant.
    pub fn invalid_like(&mut self, path: &[&str], what: &str, suggestion: Option<String>) {
        self.note(path, |place| {
            let detail = format!("`{}` {what}", path.join("/"));
            Fault { code: Code::InvalidBody, place, detail, suggestion }
        });
    }

    #[inline(never)]
    fn value(&mut self, field: &str) -> Option<Value> {
        let at = self.fields.iter().position(|(name, _)| *name == field)?;
        Some(self.fields.swap_remove(at).1)
    }

    /// Whether a field was sent.
    #[must_use]
    pub fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|(name, _)| *name == field)
    }

    /// A text field for which `rule` has no objection; none when it is absent or faulty.
    #[inline(never)]
    pub fn text(&mut self, field: &str, rule: Rule) -> Option<String> {
        match self.value(field)? {
            Value::Text(text) => match rule(&text) {
                None => return Some(text),
                Some(what) => self.invalid(&[field], what),
            },
            _ => self.invalid(&[field], "must be a string"),
        }
        None
    }

    /// A text field that may be null, which is the same as absent.
    pub fn text_or_null(&mut self, field: &str, rule: Rule) -> Option<String> {
        let is_null = |value: &Value| matches!(value, Value::Null);
        if self.fields.iter().any(|(name, value)| *name == field && is_null(value)) {
            return None;
        }
        self.text(field, rule)
    }

    /// A boolean field; none when it is absent or faulty.
    pub fn boolean(&mut self, field: &str) -> Option<bool> {
        match self.value(field)? {
            Value::Boolean(value) => return Some(value),
            _ => self.invalid(&[field], "must be true or false"),
        }
        None
    }

    /// A field that is one of some names; none when it is absent or faulty.
    pub fn one_of<T: Copy>(
        &mut self,
        field: &str,
        all: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        all.get(self.position(field, &names)?).copied()
    }

    /// Which of `names` a field is.
    #[inline(never)]
    fn position(&mut self, field: &str, names: &[&str]) -> Option<usize> {
        let text = self.value(field)?.into_text();
        let at = names.iter().position(|name| text.as_deref() == Some(name));
        if at.is_none() {
            let (code, text) = (Code::InvalidBody, text.as_deref());
            self.note(&[field], |place| Fault::none_of(code, place, field, text, names));
        }
        at
    }

    /// A field that is a list of at most `max` texts, for each of which `rule` has no objection; none when it is absent
    /// or faulty.
    #[inline(never)]
    pub fn texts(&mut self, field: &str, max: usize, rule: Rule) -> Option<Vec<String>> {
        let Value::Array(items) = self.value(field)? else {
            self.invalid(&[field], "must be an array of strings");
            return None;
        };
        if items.len() > max {
            self.invalid(&[field], &format!("has {} items, but may have {max}", items.len()));
        }
        let mut texts = Vec::with_capacity(items.len());
        for (nth, item) in items.into_iter().enumerate() {
            match item {
                Value::Text(text) => match rule(&text) {
                    None => texts.push(text),
                    Some(what) => self.invalid(&[field, &nth.to_string()], what),
                },
                _ => self.invalid(&[field, &nth.to_string()], "must be a string"),
            }
        }
        Some(texts)
    }

    /// Notes that a field is needed, unless it was sent.
    pub fn require(&mut self, field: &'static str) {
        if !self.has(field) {
            self.invalid(&[field], "is required");
        }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// With all faults that were found.
    pub fn finish(self) -> Result<(), Problem> {
        Problem::of_faults(self.faults).map_or(Ok(()), Err)
    }
}

/// A body of more than [`MAX_BODY`] bytes.
#[must_use]
pub fn too_large() -> Problem {
    Problem::new(Code::BodyTooLarge, format!("The body may have at most {} KiB.", MAX_BODY >> 10))
}

/// A fault of the body as a whole.
fn whole(detail: String) -> Problem {
    let place = Place::Pointer(String::new());
    let fault = Fault { code: Code::InvalidBody, place, detail: detail.clone(), suggestion: None };
    Problem { errors: vec![fault], ..Problem::new(Code::InvalidBody, detail) }
}

/// The JSON pointer of a path (RFC 6901).
fn pointer(path: &[&str]) -> String {
    path.iter()
        .flat_map(|step| ["/".to_owned(), step.replace('~', "~0").replace('/', "~1")])
        .collect()
}

/// The value that is the whole body; in words what is wrong when there is none.
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
mod tests {
    use super::{parse, pointer};

    #[test]
    fn what_is_no_json_is_told_in_words() {
        for (bytes, said) in [
            (b"".as_slice(), "is empty"),
            (b"\xef\xbb\xbf{}", "byte order mark"),
            (b"{\"tags\":[\"\xff\"]}", "not UTF-8 from byte 10"),
            (b"{\n x", "line 2, column 2"),
        ] {
            assert!(parse(bytes).unwrap_err().contains(said), "{said}");
        }
    }

    #[test]
    fn pointers_are_escaped() {
        assert_eq!(pointer(&["tags", "0"]), "/tags/0");
        assert_eq!(pointer(&["a/b~c"]), "/a~1b~0c");
        assert_eq!(pointer(&[""]), "/");
    }
}
