//! Problems, as JavaScript gets them: plain objects, which `npm/src` makes errors of.

use js_sys::{Array, Object, Reflect};
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
    fn from(Failure(problem): Failure) -> Self {
        let (status, code) = problem.code.named();
        let errors: Array = problem.errors.iter().map(fault).collect();
        object(&[
            ("status", Some(status.into())),
            ("code", Some(code.into())),
            ("detail", Some((*problem.detail).into())),
            ("errors", Some(errors.into())),
        ])
    }
}

fn fault(fault: &Fault) -> JsValue {
    let (kind, place) = match &fault.place {
        Place::Parameter(name) => ("parameter", name),
        Place::Pointer(pointer) => ("pointer", pointer),
    };
    object(&[
        (kind, Some(place.into())),
        ("detail", Some((&fault.detail).into())),
        ("suggestion", fault.suggestion.as_ref().map(JsValue::from)),
    ])
}

/// A plain object of the members that there are.
fn object(members: &[(&str, Option<JsValue>)]) -> JsValue {
    let object = Object::new();
    for (name, value) in members {
        if let Some(value) = value {
            // A new object takes whatever it is given.
            let _taken = Reflect::set(&object, &(*name).into(), value);
        }
    }
    object.into()
}
