//! Reads query parameters. Reports all faults at once, and never guesses a value.

use std::borrow::Cow;
use std::str::FromStr;

use super::body::Rule;
use super::doc::{DefaultValue, Doc};
use super::problem::{Code, Fault, Location, MAX_FAULTS, Problem};
use crate::util::nearest::shown;
use crate::util::percent::decode_form;

/// A query parameter of an endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    pub name: &'static str,
    pub check: Check,
    pub is_required: bool,
    pub doc: Doc,
}

impl Parameter {
    /// An optional parameter.
    pub const fn new(name: &'static str, check: Check, about: &'static str) -> Self {
        Self { name, check, is_required: false, doc: Doc::new(about) }
    }

    /// Documents the value that applies if the parameter is omitted.
    pub const fn default(self, value: DefaultValue) -> Self {
        Self { doc: self.doc.default(value), ..self }
    }
}

/// The values that a parameter accepts. An empty value is always invalid.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// Exactly `true` or `false`.
    Boolean,
    /// A whole number in decimal digits, within these bounds.
    Integer(u64, u64),
    /// Must be one of these names.
    OneOf(&'static [&'static str]),
    /// Comma-separated items: the maximum number, and the maximum length of each in characters.
    Items(usize, usize),
    /// A string of at most this many characters.
    Length(usize),
    /// Like [`Self::Length`], with at least one character that is not whitespace.
    Words(usize),
    /// A string that the rule accepts.
    Rule(Rule),
}

impl Check {
    /// The error for a value, which completes a sentence that begins with the parameter's name.
    /// Returns `None` when the value is valid.
    fn validation_error(self, text: &str) -> Option<Cow<'static, str>> {
        let is_longer = |text: &str, max: usize| text.chars().nth(max).is_some();
        Some(match self {
            Self::Boolean if !matches!(text, "true" | "false") => {
                "must be `true` or `false`".into()
            }
            Self::Integer(min, max) if !integer(text).is_some_and(|n| min <= n && n <= max) => {
                format!("must be a whole number from {min} to {max}").into()
            }
            Self::Items(..) if text.split(',').any(str::is_empty) => {
                "contains an empty item".into()
            }
            Self::Items(max, _) if text.split(',').take(max.saturating_add(1)).count() > max => {
                format!("can have at most {max} items").into()
            }
            Self::Items(_, max) if text.split(',').any(|item| is_longer(item, max)) => {
                format!("has an item of more than {max} characters").into()
            }
            Self::Length(max) if is_longer(text, max) => {
                format!("must have 1 to {max} characters").into()
            }
            Self::Words(max) if is_longer(text, max) || text.chars().all(char::is_whitespace) => {
                let requirement = "characters and at least one that is not white space";
                format!("must have 1 to {max} {requirement}").into()
            }
            Self::Rule(rule) => rule(text)?.into(),
            _ => return None,
        })
    }
}

/// Parses decimal digits. Returns `None` for anything else, including a sign.
fn integer(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads a query string and checks it against an endpoint's parameters, collecting all faults.
#[derive(Debug)]
pub struct QueryReader<'a> {
    values: Vec<(&'static str, Cow<'a, str>)>,
    faults: Vec<Fault>,
}

impl<'a> QueryReader<'a> {
    /// Parses `query` (without the `?`) and checks each value; `known` lists the endpoint's parameters.
    pub fn new(query: &'a str, known: &[Parameter]) -> Self {
        let mut reader = Self { values: Vec::new(), faults: Vec::new() };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            reader.read_pair(name, value, known);
        }
        let values = std::mem::take(&mut reader.values);
        for parameter in known {
            if let Some((_, value)) = values.iter().find(|(name, _)| *name == parameter.name) {
                reader.check(parameter, value);
            } else if parameter.is_required {
                reader.invalid(parameter.name, "is required");
            }
        }
        reader.values = values;
        reader
    }

    fn read_pair(&mut self, raw_name: &str, raw_value: &'a str, known: &[Parameter]) {
        let name = decode_form(raw_name).unwrap_or(Cow::Borrowed(raw_name));
        let Some(parameter) = known.iter().find(|one| one.name == name) else {
            let shown_name = shown(&name);
            if self.faults.len() < MAX_FAULTS
                && !self.has_fault(Code::UnknownParameter, &shown_name)
            {
                let location = Location::Parameter(shown_name);
                let noun = "a parameter of this endpoint";
                let code = Code::UnknownParameter;
                let known: Vec<&str> = known.iter().map(|one| one.name).collect();
                self.faults.push(Fault::unknown(code, location, &name, noun, &known));
            }
            return;
        };
        let name = parameter.name;
        if self.has(name) {
            if !self.has_fault(Code::RepeatedParameter, name) {
                let detail = format!("`{name}` is given more than once");
                self.fault(Code::RepeatedParameter, name, detail);
            }
            return;
        }
        let value = decode_form(raw_value).unwrap_or_else(|| {
            self.invalid(name, "is not valid percent-encoded UTF-8");
            Cow::Borrowed("")
        });
        if raw_value.is_empty() {
            self.invalid(name, "is empty: give it a value, or leave it out");
        }
        self.values.push((name, value));
    }

    /// Checks a value, unless it is empty and therefore already has a fault.
    fn check(&mut self, parameter: &Parameter, text: &str) {
        let name = parameter.name;
        if text.is_empty() {
            return;
        }
        if let Check::OneOf(names) = parameter.check {
            if !names.contains(&text) {
                let location = Location::Parameter(name.to_owned());
                let code = Code::InvalidParameter;
                self.faults.push(Fault::unknown_value(code, location, name, Some(text), names));
            }
        } else if let Some(message) = parameter.check.validation_error(text) {
            let is_both = name == "active" && text == "all";
            let hint = "must be `true` or `false`; for both, send two requests";
            self.invalid(name, if is_both { hint } else { &message });
        }
    }

    fn has_fault(&self, code: Code, parameter: &str) -> bool {
        self.faults.iter().any(|fault| {
            fault.code == code
                && matches!(&fault.location, Location::Parameter(name) if name == parameter)
        })
    }

    fn fault(&mut self, code: Code, parameter: &str, detail: String) {
        let location = Location::Parameter(parameter.to_owned());
        self.faults.push(Fault { code, location, detail, suggestion: None });
    }

    /// Adds a fault for `parameter`; `message` completes a sentence that begins with its name.
    pub fn invalid(&mut self, parameter: &str, message: &str) {
        self.fault(Code::InvalidParameter, parameter, format!("`{parameter}` {message}"));
    }

    /// A parameter's value. Returns `None` when it is absent or empty.
    pub fn text(&self, parameter: &str) -> Option<String> {
        let (_, value) = self.values.iter().find(|(name, _)| *name == parameter)?;
        (!value.is_empty()).then(|| value.clone().into_owned())
    }

    /// Whether a parameter was sent.
    pub fn has(&self, parameter: &str) -> bool {
        self.values.iter().any(|(name, _)| *name == parameter)
    }

    /// A parameter's comma-separated items. Returns `None` when it is absent or empty.
    pub fn items(&self, parameter: &str) -> Option<Vec<String>> {
        Some(self.text(parameter)?.split(',').map(str::to_owned).collect())
    }

    /// A parameter's comma-separated items, each one of the `known` names; empty when it is absent. Adds a fault for every
    /// other item.
    pub fn names<T: FromStr>(&mut self, parameter: &str, known: &[&str]) -> Vec<T> {
        let mut names = Vec::new();
        for name in self.items(parameter).unwrap_or_default() {
            match name.parse() {
                Ok(name) => names.push(name),
                // An empty item already has a fault.
                Err(_) if name.is_empty() => {}
                Err(_) => {
                    let known = known.join("`, `");
                    self.invalid(parameter, &format!("has an item that is none of `{known}`"));
                    break;
                }
            }
        }
        names
    }

    /// A boolean parameter. Returns `None` when it is absent or empty.
    pub fn boolean(&self, parameter: &str) -> Option<bool> {
        Some(self.text(parameter)? == "true")
    }

    /// A whole-number parameter. Returns `None` when it is absent or not a whole number.
    pub fn integer(&self, parameter: &str) -> Option<u64> {
        integer(&self.text(parameter)?)
    }

    /// Fails if there are faults, and reports all of them. After `Ok`, every value is valid.
    pub fn finish(&mut self) -> Result<(), Problem> {
        Problem::from_faults(std::mem::take(&mut self.faults)).map_or(Ok(()), Err)
    }
}
