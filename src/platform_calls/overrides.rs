//! Headers and parameters by which frameworks and platforms treat a request as one by another method. The service sends
//! none: the method that limits are checked against is the one that counts.
//!
//! Rails, Laravel, Symfony, Slim and Express read `X-HTTP-Method-Override` or `_method`, ASP.NET and `SharePoint`
//! `X-HTTP-Method`, Salesforce `_HttpMethod`, and the Graph API of Facebook `method`.

/// The names, without case and everything but letters.
const NAMES: [&str; 6] = [
    "httpmethod",
    "httpmethodoverride",
    "methodoverride",
    "xhttpmethod",
    "xhttpmethodoverride",
    "xmethodoverride",
];

/// Methods that change something at some platform.
const METHODS: [&str; 11] =
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "MERGE", "OPTIONS", "TRACE", "COPY", "MOVE"];

fn letters(name: &str) -> String {
    let letters = name.bytes().filter(u8::is_ascii_alphabetic);
    letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

/// Whether a header overrides the method.
#[must_use]
pub fn is_header(name: &str) -> bool {
    NAMES.contains(&letters(name).as_str())
}

/// Whether a parameter of a query or a form overrides the method. Some platforms have a parameter `method` of their own,
/// which is no method of HTTP.
#[must_use]
pub fn is_parameter(name: &str, value: &str) -> bool {
    let letters = letters(name);
    let is_method = || METHODS.iter().any(|method| method.eq_ignore_ascii_case(value.trim()));
    match letters.as_str() {
        "method" => !name.starts_with(|first: char| first.is_ascii_alphabetic()) || is_method(),
        "httpmethod" => name.starts_with('_') || is_method(),
        other => NAMES.contains(&other),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_header, is_parameter};

    #[test]
    fn every_spelling_of_an_override_is_known() {
        for name in [
            "x-http-method-override",
            "X-HTTP-Method",
            "x-method-override",
            "x_http_method_override",
            "http-method-override",
        ] {
            assert!(is_header(name) && is_parameter(name, "anything"), "{name}");
        }
        for name in ["x-restli-method", "method", "x-amz-method", "content-type", "accept"] {
            assert!(!is_header(name), "{name}");
        }
        for (name, value) in [
            ("_method", "DELETE"),
            ("_METHOD", "put"),
            ("__method", "x"),
            ("$method", ""),
            ("_HttpMethod", "PATCH"),
            ("httpMethod", "delete"),
            ("method", "DELETE"),
            ("Method", " post "),
            ("_method_override", "DELETE"),
        ] {
            assert!(is_parameter(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("method", "flickr.photos.search"),
            ("method", ""),
            ("httpMethod", "any"),
            ("payment_method", "DELETE"),
            ("methods", "DELETE"),
            ("page", "DELETE"),
        ] {
            assert!(!is_parameter(name, value), "{name}={value}");
        }
    }
}
