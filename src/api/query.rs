//! Query parameters: every fault of a query is found and named, none is guessed away.

use std::borrow::Cow;

use super::body::Rule;
use super::percent::decode_form;
use super::problem::{Code, Fault, MAX_FAULTS, Place, Problem};

/// A parameter of an endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub check: Check,
}

/// What a parameter may be. None may be empty.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// Any text.
    Text,
    /// Exactly `true` or `false`.
    Boolean,
    /// A whole number in decimal digits, from the first to the second.
    Integer(u64, u64),
    /// One of these names.
    OneOf(&'static [&'static str]),
    /// As many items at most, parted by commas.
    Items(usize),
    /// A text of as many characters at most.
    Length(usize),
    /// The same, with at least one that is not white space.
    Words(usize),
    /// A text for which the rule has no objection.
    Rule(Rule),
}

impl Check {
    /// What is wrong with a text, as the end of a sentence that begins with the parameter's name.
    fn objection(self, text: &str) -> Option<Cow<'static, str>> {
        let is_longer = |most: usize| text.chars().take(most.saturating_add(1)).count() > most;
        Some(match self {
            Self::Boolean if !matches!(text, "true" | "false") => {
                "must be `true` or `false`".into()
            }
            Self::Integer(least, most)
                if !integer(text).is_some_and(|n| least <= n && n <= most) =>
            {
                format!("must be a whole number from {least} to {most}").into()
            }
            Self::Items(_) if text.split(',').any(str::is_empty) => {
                "has an empty item between its commas".into()
            }
            Self::Items(most) if text.split(',').take(most.saturating_add(1)).count() > most => {
                format!("may name {most} at most").into()
            }
            Self::Length(most) if is_longer(most) => {
                format!("must have 1 to {most} characters").into()
            }
            Self::Words(most) if is_longer(most) || text.chars().all(char::is_whitespace) => {
                let what = "characters and at least one that is not white space";
                format!("must have 1 to {most} {what}").into()
            }
            Self::Rule(rule) => rule(text)?.into(),
            _ => return None,
        })
    }
}

/// The number that decimal digits write.
fn integer(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads a query string against the parameters that an endpoint has, collecting all faults.
#[derive(Debug)]
pub struct QueryReader<'a> {
    values: Vec<(&'static str, Cow<'a, str>)>,
    faults: Vec<Fault>,
}

impl<'a> QueryReader<'a> {
    /// Takes `query` (without the `?`) apart and checks each value; `known` lists the endpoint's parameters.
    #[must_use]
    pub fn new(query: &'a str, known: &[Parameter]) -> Self {
        let mut reader = Self { values: Vec::new(), faults: Vec::new() };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            reader.take(name, value, known);
        }
        let values = std::mem::take(&mut reader.values);
        for parameter in known {
            if let Some((_, value)) = values.iter().find(|(name, _)| *name == parameter.name) {
                reader.check(parameter, value);
            }
        }
        reader.values = values;
        reader
    }

    fn take(&mut self, raw_name: &str, raw_value: &'a str, known: &[Parameter]) {
        let name = decode_form(raw_name).unwrap_or(Cow::Borrowed(raw_name));
        let Some(parameter) = known.iter().find(|one| one.name == name) else {
            if self.faults.len() < MAX_FAULTS && !self.is_noted(Code::UnknownParameter, &name) {
                let place = Place::Parameter(name.clone().into_owned());
                let what = "a parameter of this endpoint";
                let code = Code::UnknownParameter;
                let known: Vec<&str> = known.iter().map(|one| one.name).collect();
                self.faults.push(Fault::unknown(code, place, &name, what, &known));
            }
            return;
        };
        let name = parameter.name;
        if self.has(name) {
            if !self.is_noted(Code::RepeatedParameter, name) {
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

    /// Checks a value, unless it is empty and so faulty already.
    fn check(&mut self, parameter: &Parameter, text: &str) {
        let name = parameter.name;
        if text.is_empty() {
            return;
        }
        if let Check::OneOf(names) = parameter.check {
            if !names.contains(&text) {
                let place = Place::Parameter(name.to_owned());
                let code = Code::InvalidParameter;
                self.faults.push(Fault::none_of(code, place, name, Some(text), names));
            }
        } else if let Some(what) = parameter.check.objection(text) {
            self.invalid(name, &what);
        }
    }

    fn is_noted(&self, code: Code, parameter: &str) -> bool {
        self.faults.iter().any(|fault| {
            fault.code == code
                && matches!(&fault.place, Place::Parameter(name) if name == parameter)
        })
    }

    fn fault(&mut self, code: Code, parameter: &str, detail: String) {
        let place = Place::Parameter(parameter.to_owned());
        self.faults.push(Fault { code, place, detail, suggestion: None });
    }

    /// Notes that `parameter`'s value can't be used; `what` completes the sentence.
    #[inline(never)]
    pub fn invalid(&mut self, parameter: &str, what: &str) {
        self.fault(Code::InvalidParameter, parameter, format!("`{parameter}` {what}"));
    }

    /// The text of a parameter; none when it is absent or empty.
    #[inline(never)]
    #[must_use]
    pub fn text(&self, parameter: &str) -> Option<String> {
        let (_, value) = self.values.iter().find(|(name, _)| *name == parameter)?;
        (!value.is_empty()).then(|| value.clone().into_owned())
    }

    /// Whether a parameter was sent.
    #[must_use]
    pub fn has(&self, parameter: &str) -> bool {
        self.values.iter().any(|(name, _)| *name == parameter)
    }

    /// The items of a parameter.
    #[must_use]
    pub fn items(&self, parameter: &str) -> Option<Vec<String>> {
        Some(self.text(parameter)?.split(',').map(str::to_owned).collect())
    }

    /// A parameter that is `true` or `false`.
    #[must_use]
    pub fn boolean(&self, parameter: &str) -> Option<bool> {
        Some(self.text(parameter)? == "true")
    }

    /// A parameter that is a whole number.
    #[must_use]
    pub fn integer(&self, parameter: &str) -> Option<u64> {
        integer(&self.text(parameter)?)
    }

    /// Ends the checking; what is read after it is as it should be.
    ///
    /// # Errors
    /// With all faults that were found.
    pub fn finish(&mut self) -> Result<(), Problem> {
        Problem::of_faults(std::mem::take(&mut self.faults)).map_or(Ok(()), Err)
    }
}

/// Reads the query of an endpoint that has no parameters.
///
/// # Errors
/// With all faults of the query.
pub fn no_parameters(query: &str) -> Result<(), Problem> {
    QueryReader::new(query, &[]).finish()
}
