//! Problems for JavaScript, as plain objects. `npm/src` creates errors from them.

use serde::Serialize;
use wasm_bindgen::JsValue;

use crate::http::problem::{Code, Fault, Location, Problem};

/// A problem that the service would return, detected before sending the request.
#[derive(Debug, Clone)]
pub struct Failure(Problem);

#[derive(Serialize)]
struct Document<'a> {
    status: u16,
    code: &'a str,
    detail: &'a str,
    errors: &'a [Fault],
}

impl Failure {
    /// Reports an invalid argument. `detail` is the reason.
    pub fn argument(name: &str, detail: String) -> Self {
        let location = Location::Parameter(name.to_owned());
        let code = Code::InvalidParameter;
        Self(Problem::from_fault(Fault { code, location, detail, suggestion: None }))
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

pub(super) fn object(value: &impl Serialize) -> JsValue {
    // A fault's location is a flattened member, which serde serializes as a map. Converts it to an
    // object instead of a `Map`.
    let serializer = serde_wasm_bindgen::Serializer::new().serialize_maps_as_objects(true);
    // Setting members of a plain object cannot fail.
    value.serialize(&serializer).unwrap_or(JsValue::UNDEFINED)
}
