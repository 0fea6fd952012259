//! Problems, as JavaScript gets them: plain objects, which `npm/src` makes errors of.

use serde::Serialize;
use serde::ser::Serializer;
use wasm_bindgen::JsValue;

use crate::api::problem::{Code, Fault, Place, Problem};

/// What the service would answer, found without asking it.
#[derive(Debug, Clone)]
pub struct Failure(Problem);

impl Failure {
    /// An argument that can't be used: the sentence says why.
    #[must_use]
    pub fn argument(name: &str, detail: String) -> Self {
        let place = Place::Parameter(name.to_owned());
        let code = Code::InvalidParameter;
        Self(Problem::of_fault(Fault { code, place, detail, suggestion: None }))
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        // Objects of texts and numbers: nothing to fail on.
        to_js(&failure).unwrap_or_default()
    }
}

/// A value as JSON would have it: objects, not `Map`s.
///
/// # Errors
/// As its serialization does.
pub fn to_js(value: &impl Serialize) -> Result<JsValue, serde_wasm_bindgen::Error> {
    value.serialize(&serde_wasm_bindgen::Serializer::json_compatible())
}

// Maps, not structures: for the names of a structure's fields the serializer would keep a hash table.
impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (status, code, _) = self.0.code.facts();
        let members = [
            ("status", Member::Number(status)),
            ("code", Member::Text(code)),
            ("detail", Member::Text(&self.0.detail)),
            ("errors", Member::Faults(&self.0.errors)),
        ];
        serializer.collect_map(members)
    }
}

/// A member of a problem, or of one of its faults.
enum Member<'a> {
    Number(u16),
    Text(&'a str),
    Faults(&'a [Fault]),
    Fault(&'a Fault),
}

impl Serialize for Member<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u16(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Faults(faults) => serializer.collect_seq(faults.iter().map(Member::Fault)),
            Self::Fault(fault) => {
                let (kind, place) = match &fault.place {
                    Place::Parameter(name) => ("parameter", name),
                    Place::Pointer(pointer) => ("pointer", pointer),
                };
                let suggestion = fault.suggestion.as_deref();
                let members = [(kind, place.as_str()), ("detail", &fault.detail)];
                let members =
                    members.into_iter().chain(suggestion.map(|name| ("suggestion", name)));
                serializer.collect_map(members.map(|(name, text)| (name, Member::Text(text))))
            }
        }
    }
}
