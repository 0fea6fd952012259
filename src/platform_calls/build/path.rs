//! Parameters of the path: the styles `simple`, `label` and `matrix`.

use serde_json::Value;

use super::texts::{Encoder, joined, simple, texts};
use crate::catalog::action::stored::Parameter;
use crate::util::percent::encode;

/// Writes a path parameter, percent-encoded.
pub(super) fn in_path<S>(parameter: &Parameter<S>, value: &Value) -> String {
    let Parameter { name, explode, .. } = parameter;
    if parameter.content_type.is_some() {
        return encode(&value.to_string());
    }
    let written: Encoder<'_> = &encode;
    match parameter.style.as_str() {
        "label" => {
            format!(".{}", joined(value, *explode, if *explode { "." } else { "," }, written))
        }
        "matrix" if *explode => {
            let name = encode(name);
            let each = texts(value, written).into_iter();
            let each = each.map(|(member, text)| {
                let name = if value.is_object() { &member } else { &name };
                format!(";{name}={text}")
            });
            each.collect()
        }
        "matrix" => format!(";{}={}", encode(name), simple(value, false, written)),
        _ => simple(value, *explode, written),
    }
}
