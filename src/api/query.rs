//! Query parameters: every fault of a query is found and named, none is guessed away.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::percent::decode_form;
use super::problem::{Code, Fault, MAX_FAULTS, Place, Problem};
use crate::fold::Fold;

/// Reads a query string against the parameters that an endpoint has, collecting all faults.
#[derive(Debug)]
pub struct QueryReader<'a> {
    values: Vec<(&'static str, Cow<'a, str>)>,
    faults: Vec<Fault>,
    fold: Fold,
}

impl<'a> QueryReader<'a> {
    /// Takes `query` (without the `?`) apart; `known` lists the endpoint's parameters, and `fold` folds those of which
    /// the case is ignored.
    #[must_use]
    pub fn new(query: &'a str, known: &[&'static str], fold: Fold) -> Self {
        let mut reader = Self { values: Vec::new(), faults: Vec::new(), fold };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            reader.take(name, value, known);
        }
        reader
    }

    fn take(&mut self, raw_name: &str, raw_value: &'a str, known: &[&'static str]) {
        let name = decode_form(raw_name).unwrap_or(Cow::Borrowed(raw_name));
        let Some(parameter) = known.iter().find(|known| **known == name) else {
            if self.faults.len() < MAX_FAULTS && !self.is_noted(Code::UnknownParameter, &name) {
                let place = Place::Parameter(name.clone().into_owned());
                let what = "a parameter of this endpoint";
                let code = Code::UnknownParameter;
                self.faults.push(Fault::unknown(code, place, &name, what, known));
            }
            return;
        };
        if self.has(parameter) {
            if !self.is_noted(Code::RepeatedParameter, parameter) {
                let detail = format!("`{parameter}` is given more than once");
                self.fault(Code::RepeatedParameter, parameter, detail);
            }
            return;
        }
        let value = decode_form(raw_value).unwrap_or_else(|| {
            self.invalid(parameter, "is not valid percent-encoded UTF-8");
            Cow::Borrowed("")
        });
        if raw_value.is_empty() {
            self.invalid(parameter, "is empty: give it a value, or leave it out");
        }
        self.values.push((parameter, value));
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

    /// The text of a parameter; none when it is absent or already found faulty.
    #[inline(never)]
    pub fn text(&mut self, parameter: &str) -> Option<String> {
        let at = self.values.iter().position(|(name, _)| *name == parameter)?;
        let (_, value) = self.values.get(at)?;
        (!value.is_empty()).then(|| value.clone().into_owned())
    }

    /// A text as [`Self::text`], folded.
    #[inline(never)]
    pub fn folded(&mut self, parameter: &str) -> Option<String> {
        self.text(parameter).map(|text| (self.fold)(&text))
    }

    /// What folds.
    #[must_use]
    pub const fn fold(&self) -> Fold {
        self.fold
    }

    /// Whether a parameter was sent.
    #[must_use]
    pub fn has(&self, parameter: &str) -> bool {
        self.values.iter().any(|(name, _)| *name == parameter)
    }

    /// A parameter that is one of some names; none when it is absent or faulty.
    pub fn one_of<T: Copy>(
        &mut self,
        parameter: &str,
        all: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        all.get(self.position(parameter, &names)?).copied()
    }

    /// Which of `names` a parameter is.
    #[inline(never)]
    fn position(&mut self, parameter: &str, names: &[&str]) -> Option<usize> {
        let text = self.text(parameter)?;
        let at = names.iter().position(|name| text == *name);
        if at.is_none() {
            let place = Place::Parameter(parameter.to_owned());
            let code = Code::InvalidParameter;
            self.faults.push(Fault::none_of(code, place, parameter, Some(&text), names));
        }
        at
    }

    /// A parameter of 1 to `max` items, separated by commas; none when it is absent or faulty.
    pub fn items(&mut self, parameter: &str, max: usize) -> Option<Vec<String>> {
        let text = self.text(parameter)?;
        let items: Vec<String> =
            text.split(',').take(max.saturating_add(1)).map(str::to_owned).collect();
        if items.iter().any(String::is_empty) {
            self.invalid(parameter, "has an empty item between its commas");
        } else if items.len() > max {
            self.invalid(parameter, &format!("may name {max} at most"));
        } else {
            return Some(items);
        }
        None
    }

    /// A parameter that is exactly `true` or `false`.
    #[inline(never)]
    pub fn boolean(&mut self, parameter: &str) -> Option<bool> {
        match self.text(parameter)?.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.invalid(parameter, "must be `true` or `false`");
                None
            }
        }
    }

    /// A parameter of decimal digits within `range`.
    #[inline(never)]
    pub fn integer(&mut self, parameter: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let text = self.text(parameter)?;
        let digits_only = text.bytes().all(|byte| byte.is_ascii_digit());
        let value = text.parse().ok().filter(|value| digits_only && range.contains(value));
        if value.is_none() {
            self.invalid(
                parameter,
                &format!("must be a whole number from {} to {}", range.start(), range.end()),
            );
        }
        value
    }

    /// Reads the query of an endpoint that has no parameters.
    ///
    /// # Errors
    /// With all faults of the query.
    pub fn none(query: &'a str) -> Result<(), Problem> {
        Self::new(query, &[], str::to_owned).finish()
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// With all faults that were found.
    pub fn finish(self) -> Result<(), Problem> {
        Problem::of_faults(self.faults).map_or(Ok(()), Err)
    }
}
