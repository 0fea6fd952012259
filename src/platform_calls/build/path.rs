//! Writes path parameters in the styles `simple`, `label` and `matrix`.

use serde_json::Value;

use super::texts::{Encoder, joined, simple, texts};
use crate::catalog::action::stored::Parameter;
use crate::util::percent::encode;

/// Writes a path parameter, percent-encoded.
pub(super) fn encode_path_parameter<S>(parameter: &Parameter<S>, value: &Value) -> String {
    let Parameter { name, explode, .. } = parameter;
    if parameter.content_type.is_some() {
        return encode(&value.to_string());
    }
    let encoder: Encoder<'_> = &encode;
    match parameter.style.as_str() {
        "label" => {
            format!(".{}", joined(value, *explode, if *explode { "." } else { "," }, encoder))
        }
        "matrix" if *explode => {
            let name = encode(name);
            let pairs = texts(value, encoder).into_iter();
            let pairs = pairs.map(|(member, text)| {
                let name = if value.is_object() { &member } else { &name };
                format!(";{name}={text}")
            });
            pairs.collect()
        }
        "matrix" => format!(";{}={}", encode(name), simple(value, false, encoder)),
        _ => simple(value, *explode, encoder),
    }
}
