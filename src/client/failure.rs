//! Problems as JavaScript receives them: plain objects, from which `npm/src` creates errors.

use serde::Serialize;
use wasm_bindgen::JsValue;

use crate::http::problem::{Code, Fault, Location, Problem};

/// The problem that the service would respond with, found without a request.
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
    /// An invalid argument; `detail` says why.
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
    // A fault's location is a flattened member, which serde serializes as a map. JavaScript must get an object.
    let serializer = serde_wasm_bindgen::Serializer::new().serialize_maps_as_objects(true);
    // Setting members of an object cannot fail.
    value.serialize(&serializer).unwrap_or(JsValue::UNDEFINED)
}
