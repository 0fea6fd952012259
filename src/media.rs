//! Media types (RFC 9110, section 8.3.1).

/// A form in a query's syntax.
pub const FORM: &str = "application/x-www-form-urlencoded";
/// A form in parts (RFC 7578).
pub const MULTIPART: &str = "multipart/form-data";

/// The media type without its parameters, in lower case.
#[must_use]
pub fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a media type is JSON; `essence` is what [`essence()`] makes of it.
#[must_use]
pub fn is_json(essence: &str) -> bool {
    essence == "application/json" || essence.ends_with("+json") || essence.ends_with("/json")
}

/// Whether a body of this media type is written from a JSON value: JSON, a form, or anything. Others are strings.
#[must_use]
pub fn is_written(essence: &str) -> bool {
    is_json(essence) || matches!(essence, FORM | MULTIPART | "*/*")
}
