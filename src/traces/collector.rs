//! The collector to which spans are sent. It is configured with `OTLP_URL` and `OTLP_HEADERS`.

use std::fmt;

use crate::connect::rules::return_url;
use crate::ports::{HttpRequest, user_agent};
use crate::terms::Method;
use crate::util::percent::decode;

/// The path for traces, relative to the collector's URL
/// (<https://opentelemetry.io/docs/specs/otlp/#otlphttp-request>).
const PATH: &str = "/v1/traces";

/// The collector of spans. `Debug` prints no header values, because they are secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct Collector {
    url: String,
    headers: Vec<(String, String)>,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        write!(f, "{} {names:?}", self.url)
    }
}

impl Collector {
    /// Creates a collector from its base URL. `headers` are comma-separated pairs `name=value` with
    /// percent-encoded values, as in `OTEL_EXPORTER_OTLP_HEADERS`. Fails with a message that
    /// describes the expected format.
    pub fn new(url: &str, headers: &str) -> Result<Self, &'static str> {
        let is_valid = return_url(url).is_none() && !url.contains(['?', '#']);
        if !is_valid {
            return Err("OTLP_URL is ignored: it must be an https: URL without a query");
        }
        let items = headers.split(',').map(str::trim).filter(|item| !item.is_empty());
        let headers = items.map(header).collect::<Option<_>>().ok_or(
            "OTLP_URL is ignored: OTLP_HEADERS must be name=value pairs, separated by commas",
        )?;
        Ok(Self { url: format!("{}{PATH}", url.trim_end_matches('/')), headers })
    }

    /// Builds the request that sends a JSON document.
    pub fn request(&self, body: Vec<u8>) -> HttpRequest {
        let mut headers = self.headers.clone();
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        headers.push(user_agent());
        HttpRequest { method: Method::Post, url: self.url.clone(), headers, body }
    }
}

fn header(item: &str) -> Option<(String, String)> {
    let (name, value) = item.split_once('=')?;
    let (name, value) = (name.trim().to_ascii_lowercase(), decode(value.trim())?.into_owned());
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = !name.is_empty() && name.bytes().all(is_token);
    let is_value = !value.is_empty() && value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    (is_name && is_value).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::Collector;

    #[test]
    fn collector_url_must_be_https_or_loopback() {
        for (url, expected) in [
            ("https://otlp.example", Some("https://otlp.example/v1/traces")),
            ("https://otlp.example/otlp/", Some("https://otlp.example/otlp/v1/traces")),
            ("http://localhost:4318", Some("http://localhost:4318/v1/traces")),
            ("http://127.0.0.1:4318", Some("http://127.0.0.1:4318/v1/traces")),
            ("http://otlp.example", None),
            ("http://localhost.example", None),
            ("https://user:word@otlp.example", None),
            ("https://otlp.example/?key=1", None),
            ("https://otlp.example/#a", None),
            ("otlp.example", None),
        ] {
            let collector = Collector::new(url, "").ok();
            let sent = collector.map(|collector| collector.request(Vec::new()).url);
            assert_eq!(sent.as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn headers_are_decoded_and_debug_hides_their_values() {
        let url = "https://otlp.example";
        let collector =
            Collector::new(url, "Authorization=Basic%20c2VjcmV0, x-tenant=a=b ,").unwrap();
        let sent = collector.request(Vec::new()).headers;
        assert_eq!(sent[0], ("authorization".into(), "Basic c2VjcmV0".into()));
        assert_eq!(sent[1], ("x-tenant".into(), "a=b".into()));
        let shown = format!("{collector:?}");
        assert_eq!(shown, "https://otlp.example/v1/traces [\"authorization\", \"x-tenant\"]");
        for wrong in ["authorization", "=a", "a=", "a b=c", "a=%0d%0ax: y", "a=%ff"] {
            let error = Collector::new(url, wrong).unwrap_err();
            assert!(error.contains("OTLP_HEADERS"), "{wrong}: {error}");
        }
    }
}
