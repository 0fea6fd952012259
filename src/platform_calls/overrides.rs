//! Detects headers, parameters and members that override the HTTP method. Limits are checked
//! against the actual method, so the service sends only overrides that an action declares, and
//! checks their values too. The body of a proxied request is not read.
//!
//! Rails, Laravel, Symfony, Slim and Express read `X-HTTP-Method-Override` or `_method`, ASP.NET
//! and `SharePoint` `X-HTTP-Method`, Salesforce `_HttpMethod`, and Facebook's Graph API `method`.

/// The names of headers and parameters that override the method: only their letters, in lower case.
const NAMES: [&str; 6] = [
    "httpmethod",
    "httpmethodoverride",
    "methodoverride",
    "xhttpmethod",
    "xhttpmethodoverride",
    "xmethodoverride",
];

/// Names that only headers have, also in lower-case letters. Some of these headers override the
/// path.
const HEADERS: [&str; 8] = [
    "xaccelredirect",
    "xhttpverb",
    "xmethod",
    "xoriginalmethod",
    "xoriginaluri",
    "xoverrideurl",
    "xproxyurl",
    "xrequestmethod",
];

/// The methods that an override can name at any platform.
const METHODS: [&str; 11] =
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "MERGE", "OPTIONS", "TRACE", "COPY", "MOVE"];

fn letters(name: &str) -> String {
    let letters = name.bytes().filter(u8::is_ascii_alphabetic);
    letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

/// Whether a header overrides the method or the path.
pub fn is_header(name: &str) -> bool {
    let letters = letters(name);
    let is_method = letters == "method" && name.starts_with('_');
    is_method || NAMES.iter().chain(&HEADERS).any(|known| *known == letters)
}

/// Whether a parameter with this name overrides the method for at least some values.
pub fn is_name(name: &str) -> bool {
    is_parameter(name, "GET")
}

/// Whether a query or form parameter overrides the method. Some platforms have a parameter `method`
/// that is not an HTTP method, so the value matters too.
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
    fn detects_every_spelling_of_a_method_override() {
        for name in [
            "x-http-method-override",
            "X-HTTP-Method",
            "x-method-override",
            "x_http_method_override",
            "http-method-override",
        ] {
            assert!(is_header(name) && is_parameter(name, "anything"), "{name}");
        }
        for name in [
            "_method",
            "x-method",
            "x-http-verb",
            "x-request-method",
            "x-original-method",
            "x-override-url",
            "x-proxy-url",
            "x-original-uri",
            "x_accel_redirect",
        ] {
            assert!(is_header(name), "{name}");
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
