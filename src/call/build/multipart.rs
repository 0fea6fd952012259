//! A form in parts (RFC 7578).

use base64ct::{Base64, Encoding as _};
use serde_json::Value;

use super::texts::plain;

/// What a file must be, as the end of a sentence.
pub(super) const NOT_BASE64: &str = "must be bytes in base64, with padding";

/// Whether a schema is that of a file, which is a string in base64.
pub(super) fn is_binary(schema: Option<&Value>) -> bool {
    let format = schema.and_then(|schema| schema.get("format")).and_then(Value::as_str);
    format == Some("binary")
}

/// Adds a part of a form. Returns `None` for bytes that are not in base64.
pub(super) fn part(
    form: &mut Vec<u8>,
    name: &str,
    value: &Value,
    is_file: bool,
    boundary: &str,
) -> Option<()> {
    let name = name.replace('"', "%22").replace(['\r', '\n'], " ");
    let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"");
    let bytes = match value {
        Value::String(text) if is_file => {
            head.push_str("; filename=\"file\"\r\nContent-Type: application/octet-stream");
            Base64::decode_vec(text).ok()?
        }
        Value::Object(_) | Value::Array(_) => {
            head.push_str("\r\nContent-Type: application/json");
            value.to_string().into_bytes()
        }
        value => plain(value).into_bytes(),
    };
    form.extend(head.bytes());
    form.extend(b"\r\n\r\n");
    form.extend(bytes);
    form.extend(b"\r\n");
    Some(())
}
