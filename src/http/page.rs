//! The 404 page for browsers, instead of a JSON problem.

use super::message::{NO_STORE, Request, Response};

/// Self-contained except for the style sheets and the script, which the pages about problems also
/// use.
const PAGE: &str = include_str!("not_found.html");
/// The content security policy of all pages of the site; `www/public/_headers` sets it for static files.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The source of the app's logo for a content security policy: its origin, after a space. Empty when the logo is on this host.
pub fn csp_source(logo_url: Option<&str>) -> String {
    let absolute = logo_url.filter(|url| url.starts_with("https://"));
    absolute.map(|url| format!(" {}", crate::connect::rules::origin(url))).unwrap_or_default()
}

/// The 404 page, for browsers. Returns `None` for programs, which get the problem as JSON.
pub(crate) fn not_found(request: &Request) -> Option<Response> {
    if !is_from_browser(request) {
        return None;
    }
    let mut response = Response { body: PAGE.into(), ..Response::empty(404) };
    response.add("content-type", "text/html; charset=utf-8");
    response.add("cache-control", NO_STORE);
    response.add("content-security-policy", CONTENT_SECURITY_POLICY);
    response.add("referrer-policy", "no-referrer");
    Some(response)
}

/// Whether the request comes from a browser that displays the response.
pub(crate) fn is_from_browser(request: &Request) -> bool {
    let is_read = matches!(request.method.as_str(), "GET" | "HEAD");
    is_read && request.header("accept").is_some_and(prefers_html)
}

/// Whether an `Accept` header (RFC 9110, section 12.5.1) names HTML and does not prefer JSON. `*/*` does not count:
/// programs send it.
fn prefers_html(accept: &str) -> bool {
    let weight = |names: &[&str]| {
        let ranges = accept.split(',').filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let name = parts.next()?;
            let is_requested = names.iter().any(|names| names.eq_ignore_ascii_case(name));
            let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(1000, parse_weight);
            is_requested.then_some(weight)
        });
        ranges.max().unwrap_or(0)
    };
    let html = weight(&["text/html", "application/xhtml+xml"]);
    html > 0 && html >= weight(&["application/json", "application/problem+json"])
}

/// Parses a weight from 0 to 1 with at most three decimals, in thousandths. Returns 0 for an
/// invalid weight.
pub(crate) fn parse_weight(text: &str) -> u16 {
    let (integer, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    match (integer, format!("{decimals:0<3}").parse()) {
        ("0", Ok(thousandths)) => thousandths,
        ("1", Ok(0)) => 1000,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::prefers_html;

    #[test]
    fn browsers_get_html_and_programs_get_json() {
        for (accept, expected) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("text/html", true),
            ("TEXT/HTML ; q=0.5", true),
            ("application/json;q=0.5, text/html", true),
            ("text/html;q=0.5, application/json", false),
            ("text/html;q=0", false),
            ("text/html;q=2", false),
            ("text/html;q=1.001", false),
            ("text/html;q=0.1234", false),
            ("text/html, application/json", true),
            ("text/html;q=1.000", true),
            ("text/html;q=0.01", true),
            ("text/html;q=0.8, application/json;q=0.85", false),
            ("text/html;q=0.+5", false),
            ("text/html;q=NaN", false),
            ("application/problem+json", false),
            ("*/*", false),
            ("text/*", false),
            ("", false),
            (",;,", false),
        ] {
            assert_eq!(prefers_html(accept), expected, "{accept}");
        }
    }
}
