//! Selects the headers to forward to a platform and back to the caller.

use crate::credentials::request_auth::{is_same_header, normalize_header_name};
use crate::http::message::CONNECT_CODE;
use crate::ports::user_agent;

/// The URL of the server to call, if it is not the platform's first server.
pub const SERVER: &str = "x-vault-server";
/// Marks a request that the service itself sends for an agent, whose clients write values as
/// strings. The name is not a valid header name (RFC 9110, section 5.6.2), so no client can send
/// it.
pub const AGENT: &str = ":agent";
/// The value of [`AGENT`] when the caller wants the platform's response as a file.
pub const DOWNLOAD: &str = "download";
/// The number of retries when the platform temporarily rejects the request.
pub const RETRIES: &str = "x-vault-retries";
/// The time at which the platform accepts a retry, in milliseconds since 1970-01-01 UTC.
pub const RETRY_AT: &str = "x-vault-retry-at";
/// The path and query of the next page.
pub const NEXT: &str = "x-vault-next";
/// The source of the response: `platform` or `vault`.
pub const SOURCE: &str = "x-vault-source";

/// Hop-by-hop headers (RFC 9110, section 7.6.1), which are never forwarded.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Request headers that are not forwarded: set by proxies before this service or by the calling
/// page, meant for this service, set only by the vault, or used by some servers instead of the path
/// or the host (`X-Original-URL`, `X-Rewrite-URL`, `X-Host`), which would lead outside the
/// connector's servers.
const DROPPED_REQUEST_HEADERS: [&str; 22] = [
    CONNECT_CODE,
    "authorization",
    "cdn-loop",
    "content-length",
    "cookie",
    "expect",
    "fastly-client-ip",
    "forwarded",
    "host",
    "origin",
    "referer",
    "true-client-ip",
    "upgrade-insecure-requests",
    "via",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-forwarded",
    "x-host",
    "x-original-host",
    "x-original-url",
    "x-real-ip",
    "x-rewrite-url",
];

/// Prefixes of further request headers that are not forwarded.
const DROPPED_REQUEST_PREFIXES: [&str; 5] =
    ["access-control-", "cf-", "sec-", "x-forwarded-", "x-vault-"];

/// Response headers that describe the response, and keep their names. Browsers and caches might
/// interpret any other header, now or in a later version, as if this service had sent it.
const PASSED_RESPONSE_HEADERS: [&str; 25] = [
    "accept-patch",
    "accept-post",
    "accept-ranges",
    "allow",
    "content-digest",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-md5",
    "content-range",
    "content-type",
    "date",
    "deprecation",
    "digest",
    "etag",
    "last-modified",
    "link",
    "location",
    "preference-applied",
    "repr-digest",
    "retry-after",
    "sunset",
    "traceparent",
];

/// Cookies belong to the platform's origin, so they are dropped.
const COOKIES: [&str; 2] = ["set-cookie", "set-cookie2"];

/// `x-` headers that browsers and proxies interpret.
const INTERPRETED_HEADERS: [&str; 10] = [
    "x-content-type-options",
    "x-dns-prefetch-control",
    "x-download-options",
    "x-frame-options",
    "x-permitted-cross-domain-policies",
    "x-robots-tag",
    "x-sendfile",
    "x-sourcemap",
    "x-ua-compatible",
    "x-xss-protection",
];

/// Prefixes of further headers that browsers and proxies interpret.
const INTERPRETED_PREFIXES: [&str; 4] = ["x-accel-", "x-lighttpd-", "x-litespeed-", "x-vault-"];

/// The prefix for all other response headers.
const RENAMED_PREFIX: &str = "x-platform-";

/// Whether a header is hop-by-hop or describes the request's framing and target. Its value can't be
/// a credential.
pub fn is_transport_header(name: &str) -> bool {
    HOP_BY_HOP.contains(&name) || matches!(name, "host" | "content-length" | "expect")
}

fn is_one_of(name: &str, names: &[&str], prefixes: &[&str]) -> bool {
    names.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// The hop-by-hop headers that are listed in the header `Connection`.
fn named_by_connection(headers: &[(String, String)]) -> Vec<String> {
    let lists = headers.iter().filter(|(name, _)| name == "connection");
    let names = lists.flat_map(|(_, value)| value.split(','));
    names.map(|name| name.trim().to_ascii_lowercase()).collect()
}

/// Whether a request to a platform may have a header with this lower-case name: a token (RFC 9110,
/// section 5.6.2) that is neither hop-by-hop nor reserved for the vault. Ignores punctuation,
/// because CGI replaces it with underscores.
pub fn may_be_sent(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let cgi_name = normalize_header_name(name);
    // The prefixes end with a hyphen, so trailing punctuation is kept to compare with them.
    let cgi_name = cgi_name.trim_start_matches('-');
    let trimmed = cgi_name.trim_end_matches('-');
    !name.is_empty()
        && name.bytes().all(is_token)
        && !HOP_BY_HOP.contains(&trimmed)
        && !is_one_of(trimmed, &DROPPED_REQUEST_HEADERS, &[])
        && !is_one_of(cgi_name, &[], &DROPPED_REQUEST_PREFIXES)
}

/// The headers of a caller's request to forward; `secrets` are the names of headers for the
/// caller's key. Names are in lower case.
pub fn forwarded_request_headers(
    sent: &[(String, String)],
    secrets: &[String],
) -> Vec<(String, String)> {
    let own = named_by_connection(sent);
    let is_secret = |name: &str| secrets.iter().any(|secret| is_same_header(secret, name));
    let passes = |name: &String| may_be_sent(name) && !is_secret(name) && !own.contains(name);
    let mut headers: Vec<_> = sent.iter().filter(|(name, _)| passes(name)).cloned().collect();
    if !headers.iter().any(|(name, _)| name == "user-agent") {
        headers.push(user_agent());
    }
    headers
}

/// Whether a response header keeps its name. Platforms return limits and ids in headers with many
/// names.
fn keeps_name(name: &str) -> bool {
    if is_one_of(name, &INTERPRETED_HEADERS, &INTERPRETED_PREFIXES)
        || is_one_of(name, &[], &DROPPED_REQUEST_PREFIXES)
    {
        return false;
    }
    let is_custom = name.starts_with("x-");
    let is_limit = name.contains("ratelimit") || name.contains("rate-limit");
    let is_id = name.ends_with("request-id") || name.ends_with("requestid");
    PASSED_RESPONSE_HEADERS.contains(&name) || is_custom || is_limit || is_id
}

/// The headers of a platform's response to forward. Those that describe the response keep their
/// names. All others are renamed to `x-platform-…`, which no browser or cache interprets. So is
/// `x-request-id`, because this service sets its own.
pub fn forwarded_response_headers(received: Vec<(String, String)>) -> Vec<(String, String)> {
    let own = named_by_connection(&received);
    let passes = |name: &String| {
        !HOP_BY_HOP.contains(&name.as_str())
            && !COOKIES.contains(&name.as_str())
            && !own.contains(name)
    };
    let renamed = |(name, value): (String, String)| match name.as_str() {
        "x-request-id" => ("x-platform-request-id".to_owned(), value),
        other if keeps_name(other) => (name, value),
        other => (format!("{RENAMED_PREFIX}{}", other.strip_prefix("x-").unwrap_or(other)), value),
    };
    received.into_iter().filter(|(name, _)| passes(name)).map(renamed).collect()
}

/// Renames the `Location` of a redirect to `x-platform-location`. HTTP clients would follow
/// `Location` and repeat the request with the caller's secret, at any host or at another endpoint
/// of this service.
pub fn rename_redirect(status: u16, headers: &mut [(String, String)]) {
    if (300..400).contains(&status) {
        for (name, _) in headers.iter_mut().filter(|(name, _)| name == "location") {
            *name = format!("{RENAMED_PREFIX}location");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{forwarded_request_headers, forwarded_response_headers, rename_redirect};

    fn pairs(names: &[&str]) -> Vec<(String, String)> {
        names.iter().map(|name| ((*name).to_owned(), "v".to_owned())).collect()
    }

    fn names(headers: &[(String, String)]) -> Vec<&str> {
        headers.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn only_allowed_request_headers_are_forwarded() {
        let kept = [
            "accept",
            "accept-encoding",
            "accept-language",
            "content-encoding",
            "content-type",
            "idempotency-key",
            "if-match",
            "if-none-match",
            "if-modified-since",
            "prefer",
            "range",
            "user-agent",
            "x-github-api-version",
            "x-amz-acl",
            "x-request-id",
            "x_request_id",
            "traceparent",
        ];
        let dropped = [
            "x-service-secret",
            "x-own-key",
            "authorization",
            "cookie",
            "host",
            "content-length",
            "origin",
            "referer",
            "cf-connecting-ip",
            "cf-ray",
            "cf-worker",
            "cdn-loop",
            "x-forwarded-for",
            "x-forwarded-proto",
            "x-real-ip",
            "true-client-ip",
            "forwarded",
            "via",
            "connection",
            "keep-alive",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "proxy-authorization",
            "proxy-connection",
            "expect",
            "sec-fetch-site",
            "sec-ch-ua",
            "access-control-request-method",
            "x-vault-server",
            "x-connect-code",
            "x-client-ip",
            "x-cluster-client-ip",
            "fastly-client-ip",
            "x-forwarded",
            "x-host",
            "x-original-host",
            "x-original-url",
            "x-rewrite-url",
            "x_service_secret",
            "x.service~secret_",
            "x-vault-",
            "_sec-",
            "x_forwarded_for",
            "x_real-ip",
            "x_original_url",
            "x.forwarded.for",
            "authorization_",
            "x~real|ip",
            "cf_connecting_ip",
            "x_vault_server",
            "content_length",
            "transfer_encoding",
        ];
        let secrets = ["x-service-secret".to_owned(), "x-own-key".to_owned()];
        let sent = [pairs(&kept), pairs(&dropped)].concat();
        assert_eq!(names(&forwarded_request_headers(&sent, &secrets)), kept);
        // Headers listed in `Connection` are dropped. A request without `User-Agent` gets one.
        let sent = [
            ("connection".to_owned(), "close, X-Own".to_owned()),
            ("x-own".to_owned(), "v".to_owned()),
        ];
        let agent = ("user-agent".to_owned(), "connector-vault".to_owned());
        assert_eq!(forwarded_request_headers(&sent, &secrets), [agent]);
        for (sent, passed) in
            [(&["accept"][..], &["accept", "user-agent"][..]), (&["user-agent"], &["user-agent"])]
        {
            assert_eq!(names(&forwarded_request_headers(&pairs(sent), &secrets)), passed);
        }
    }

    #[test]
    fn only_descriptive_response_headers_keep_their_names() {
        let kept = [
            "content-type",
            "content-encoding",
            "content-length",
            "content-range",
            "accept-ranges",
            "etag",
            "last-modified",
            "link",
            "location",
            "retry-after",
            "x-ratelimit-remaining",
            "ratelimit",
            "anthropic-ratelimit-tokens-remaining",
            "sforce-rate-limit",
            "request-id",
            "x-amz-request-id",
            "apigw-requestid",
            "date",
            "content-disposition",
            "allow",
        ];
        let dropped = [
            "set-cookie",
            "set-cookie2",
            "connection",
            "keep-alive",
            "transfer-encoding",
            "trailer",
            "upgrade",
            "proxy-authenticate",
        ];
        let received = [pairs(&kept), pairs(&dropped)].concat();
        assert_eq!(names(&forwarded_response_headers(received)), kept);
        for name in [
            "www-authenticate",
            "authentication-info",
            "strict-transport-security",
            "clear-site-data",
            "content-security-policy",
            "cross-origin-opener-policy",
            "cross-origin-resource-policy",
            "permissions-policy",
            "referrer-policy",
            "set-login",
            "sec-websocket-accept",
            "access-control-allow-origin",
            "cache-control",
            "cdn-cache-control",
            "cloudflare-cdn-cache-control",
            "surrogate-control",
            "expires",
            "age",
            "vary",
            "alt-svc",
            "nel",
            "report-to",
            "cf-ray",
            "server-timing",
            "timing-allow-origin",
            "service-worker-allowed",
            "refresh",
            "stripe-version",
        ] {
            let renamed = format!("x-platform-{name}");
            assert_eq!(names(&forwarded_response_headers(pairs(&[name]))), [renamed.as_str()]);
        }
        for (name, renamed) in [
            ("x-accel-redirect", "x-platform-accel-redirect"),
            ("x-content-type-options", "x-platform-content-type-options"),
            ("x-frame-options", "x-platform-frame-options"),
            ("x-vault-source", "x-platform-vault-source"),
            ("x-vault-request-id", "x-platform-vault-request-id"),
            ("cf-request-id", "x-platform-cf-request-id"),
            ("x-request-id", "x-platform-request-id"),
        ] {
            assert_eq!(names(&forwarded_response_headers(pairs(&[name]))), [renamed]);
        }
        let own = ("connection".to_owned(), "close, X-Own".to_owned());
        let received = [vec![own], pairs(&["x-own", "etag"])].concat();
        assert_eq!(names(&forwarded_response_headers(received)), ["etag"]);
    }

    #[test]
    fn redirects_are_renamed_so_that_no_client_follows_them() {
        for (status, expected) in [
            (200, "location"),
            (201, "location"),
            (202, "location"),
            (300, "x-platform-location"),
            (304, "x-platform-location"),
            (308, "x-platform-location"),
            (399, "x-platform-location"),
            (400, "location"),
        ] {
            let mut headers = pairs(&["location", "link"]);
            rename_redirect(status, &mut headers);
            assert_eq!(names(&headers), [expected, "link"], "{status}");
        }
    }
}
