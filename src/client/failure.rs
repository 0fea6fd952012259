//! Problems as JavaScript receives them: plain objects, from which `npm/src` creates errors.

use serde::Serialize;
use wasm_bindgen::JsValue;

use crate::http::problem::{Code, Fault, Location, Problem};

/// The problem that the service would answer with, found without asking it.
#[derive(Debug, Clone)]
pub struct Failure(Problem);

/// The object that JavaScript gets.
#[derive(Serialize)]
struct Document<'a> {
    status: u16,
    code: &'a str,
    detail: &'a str,
    errors: &'a [Fault],
}

impl Failure {
    /// An argument that can't be used; `detail` says why.
    #[must_use]
    pub fn argument(name: &str, detail: String) -> Self {
        let location = Location::Parameter(name.to_owned());
        let code = Code::InvalidParameter;
        Self(Problem::of_fault(Fault { code, location, detail, suggestion: None }))
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<Failure> for JsValue {
    fn from(Failure(problem): Failure) -> Self {
        let (status, code) = problem.code.status_and_name();
        let (detail, errors) = (&*problem.detail, problem.errors.as_slice());
        object(&Document { status, code, detail, errors })
    }
}

/// A value as a plain object.
pub(super) fn object(value: &impl Serialize) -> JsValue {
    // A fault's place is a member among others, which makes it a map for serde: JavaScript is to see an object.
    let serializer = serde_wasm_bindgen::Serializer::new().serialize_maps_as_objects(true);
    // An object takes whatever members it is given.
    value.serialize(&serializer).unwrap_or(JsValue::UNDEFINED)
}
