//! Media types (RFC 9110, section 8.3.1).

pub const FORM: &str = "application/x-www-form-urlencoded";
/// The media type of forms with files (RFC 7578).
pub const MULTIPART: &str = "multipart/form-data";

/// A media type in lower case, without its parameters.
pub fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a media type is JSON. `essence` is the output of [`essence()`].
pub fn is_json(essence: &str) -> bool {
    essence == "application/json" || essence.ends_with("+json") || essence.ends_with("/json")
}

/// Whether a body of this media type is serialized from a JSON value: JSON, forms, and the
/// wildcard. Other bodies are strings.
pub fn is_serialized(essence: &str) -> bool {
    is_json(essence) || matches!(essence, FORM | MULTIPART | "*/*")
}

/// File extensions and their media types. If several extensions have the same type, the most common
/// one comes first.
const EXTENSIONS: [(&str, &str); 36] = [
    ("aac", "audio/aac"),
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("heic", "image/heic"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("ics", "text/calendar"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("m4a", "audio/mp4"),
    ("md", "text/markdown"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ogg", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("svg", "image/svg+xml"),
    ("tiff", "image/tiff"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];

pub fn extension(essence: &str) -> Option<&'static str> {
    EXTENSIONS.iter().find(|(_, media)| *media == essence).map(|(extension, _)| *extension)
}

pub fn from_extension(extension: &str) -> Option<&'static str> {
    let mut all = EXTENSIONS.iter();
    all.find(|(known, _)| known.eq_ignore_ascii_case(extension)).map(|(_, media)| *media)
}
