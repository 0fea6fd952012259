//! Writes multipart forms (RFC 7578).

use base64ct::{Base64, Encoding as _};
use serde_json::{Map, Value};

use super::texts::plain;
use crate::catalog::action::stored::Encoding;
use crate::util::media_type::{essence, extension, from_extension, is_json};

/// The error for a file that is not base64, as the end of a sentence.
pub(super) const NOT_BASE64: &str = "must be bytes in base64, with padding";
/// The media type of arbitrary bytes (RFC 2046, section 4.5.1).
pub(super) const BYTES: &str = "application/octet-stream";

/// Whether a schema describes a file: a base64 string, or an object that contains one.
pub(super) fn is_binary(schema: Option<&Value>) -> bool {
    let is_bytes = |schema: &Value| schema.get("format").and_then(Value::as_str) == Some("binary");
    let Some(schema) = schema else { return false };
    let mut either = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    is_bytes(schema) || either.any(is_bytes)
}

/// A part of a multipart form.
pub(super) struct Part<'p> {
    pub name: &'p str,
    pub is_file: bool,
    pub encoding: Option<&'p Encoding>,
    pub boundary: &'p str,
}

impl Part<'_> {
    /// Adds the part to a form.
    pub(super) fn write(&self, form: &mut Vec<u8>, value: &Value) -> Result<(), String> {
        let quoted = quoted(self.name);
        let mut head =
            format!("--{}\r\nContent-Disposition: form-data; name=\"{quoted}\"", self.boundary);
        let accepted = self.encoding.and_then(|encoding| encoding.content_type.as_deref());
        let bytes = match value {
            Value::String(content) if self.is_file => {
                self.push_file_head(&mut head, &Map::new())?;
                Base64::decode_vec(content).map_err(|_| NOT_BASE64.to_owned())?
            }
            Value::Object(file) if self.is_file => {
                self.push_file_head(&mut head, file)?;
                let content = file.get("content").and_then(Value::as_str).unwrap_or_default();
                Base64::decode_vec(content).map_err(|_| format!("`content` {NOT_BASE64}"))?
            }
            Value::Object(_) | Value::Array(_) => {
                let json = accepted
                    .and_then(|all| specific_types(all).find(|media| is_json(&essence(media))));
                head.push_str("\r\nContent-Type: ");
                head.push_str(json.unwrap_or("application/json"));
                value.to_string().into_bytes()
            }
            value => {
                if let Some(media) = accepted.and_then(|all| specific_types(all).next()) {
                    head.push_str("\r\nContent-Type: ");
                    head.push_str(media);
                }
                plain(value).into_bytes()
            }
        };
        form.extend(head.bytes());
        form.extend(b"\r\n\r\n");
        form.extend(bytes);
        form.extend(b"\r\n");
        Ok(())
    }

    /// Adds a file's name, its media type and its headers.
    fn push_file_head(&self, head: &mut String, file: &Map<String, Value>) -> Result<(), String> {
        let text = |name: &str| file.get(name).and_then(Value::as_str);
        let accepted = self.encoding.and_then(|encoding| encoding.content_type.as_deref());
        let media = match text("contentType") {
            Some(media) if !is_media_type(media) => {
                return Err("`contentType` must be a media type, such as `image/png`".to_owned());
            }
            Some(media) => media,
            None => media(accepted.unwrap_or_default(), text("filename")),
        };
        // Some platforms look only at the file extension.
        let default_name = || {
            extension(&essence(media)).map_or("file".to_owned(), |ending| format!("file.{ending}"))
        };
        let name = text("filename").map_or_else(default_name, quoted);
        for piece in ["; filename=\"", &name, "\"\r\nContent-Type: ", media] {
            head.push_str(piece);
        }
        for (name, value) in file.get("headers").and_then(Value::as_object).into_iter().flatten() {
            let value = plain(value);
            if value.contains(char::is_control) {
                return Err(format!("`headers` must not contain control characters: `{name}`"));
            }
            for piece in ["\r\n", name, ": ", &value] {
                head.push_str(piece);
            }
        }
        Ok(())
    }
}

/// Escapes a name within quotes like browsers.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// Whether a string is a valid media type.
fn is_media_type(media: &str) -> bool {
    let is_valid_media_byte = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    let essence = essence(media);
    let has_both =
        essence.split_once('/').is_some_and(|(kind, name)| !kind.is_empty() && !name.is_empty());
    has_both && !essence.contains([' ', '*', ',']) && media.bytes().all(is_valid_media_byte)
}

/// The valid media types of a list, which excludes wildcards.
fn specific_types(accepted: &str) -> impl Iterator<Item = &str> {
    accepted.split(',').map(str::trim).filter(|media| is_media_type(media))
}

/// The media type of a file: derived from its extension if the platform accepts that type, or else
/// the first media type that the platform accepts.
fn media<'m>(accepted: &'m str, filename: Option<&str>) -> &'m str {
    let by_extension = filename.and_then(|name| from_extension(name.rsplit_once('.')?.1));
    let accepts = |media: &str| {
        let mut ranges = accepted.split(',').map(|range| essence(range.trim()));
        accepted.is_empty()
            || ranges.any(|range| match range.strip_suffix('*') {
                Some("*/") => true,
                Some(start) => media.starts_with(start),
                None => media == range,
            })
    };
    let fitting = by_extension.filter(|media| accepts(media));
    fitting.or_else(|| specific_types(accepted).next()).or(by_extension).unwrap_or(BYTES)
}
