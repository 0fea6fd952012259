//! Web origins in requests: the pages that may use a token.

/// The maximum length of an origin, in characters.
pub const MAX_ORIGIN_LENGTH: usize = 253;

/// Checks a web origin in the form that browsers send: a scheme, a lower-case host, and a port unless it is the
/// scheme's default. `http` is accepted for the local machine only.
pub fn check_origin(text: &str) -> Option<&'static str> {
    let (host, default_port) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(host), _) => (host, "443"),
        (None, Some(host)) => (host, "80"),
        (None, None) => ("", ""),
    };
    let (host, port) = host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port)));
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_valid_host =
        host.split('.').all(|label| !label.is_empty() && label.bytes().all(is_allowed));
    let is_valid_port = port.is_none_or(|port| {
        let number = port.parse::<u64>().unwrap_or(u64::MAX);
        port != default_port && number <= 65_535 && number.to_string() == port
    });
    let is_secure = default_port != "80" || host == "localhost" || host == "127.0.0.1";
    let is_valid = is_valid_host && is_valid_port && is_secure && text.len() <= MAX_ORIGIN_LENGTH;
    (!is_valid).then_some(
        "must be a web origin as browsers send it, such as https://app.example or http://localhost:5173",
    )
}

#[cfg(test)]
mod tests {
    use super::check_origin;

    #[test]
    fn accepts_origins_as_browsers_send_them() {
        for text in [
            "https://app.example",
            "https://a-1.b.example:8443",
            "https://xn--bcher-kva.example",
            "https://localhost",
            "http://localhost",
            "http://localhost:5173",
            "http://127.0.0.1:443",
            "https://app.example:80",
            "https://app.example:65535",
        ] {
            assert_eq!(check_origin(text), None, "{text}");
        }
        for text in [
            "",
            "*",
            "null",
            "app.example",
            "//app.example",
            "https://",
            "https://App.example",
            "HTTPS://app.example",
            "https://app.example/",
            "https://app.example/path",
            "https://app.example?x",
            "https://app.example#x",
            "https://*.example",
            "https://app..example",
            "https://app.example.",
            "https://user@app.example",
            "https://app.example:",
            "https://app.example:443",
            "https://app.example:0443",
            "https://app.example:+1",
            "https://app.example:65536",
            "https://a:1:2",
            "http://app.example",
            "http://localhost:80",
            "http://localhost.example",
            "ftp://app.example",
            "https://bücher.example",
            " https://app.example",
            &format!("https://{}", "a".repeat(246)),
        ] {
            assert!(check_origin(text).is_some(), "{text}");
        }
    }
}
