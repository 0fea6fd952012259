//! Which headers of a call are passed on, in both directions.

use crate::ports::user_agent;

/// The address of the platform's server that a call is for, when it is not the first one.
pub const SERVER: &str = "x-vault-server";
/// Who answers: `platform` or `vault`.
pub const SOURCE: &str = "x-vault-source";

/// Headers that concern one connection only (RFC 9110, section 7.6.1), and so are never passed on.
const OF_A_CONNECTION: [&str; 9] = [
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

/// Headers of a request that are not for the platform: of the way to this service, of the page that calls, and what only
/// the vault sends.
const OF_A_REQUEST: [&str; 13] = [
    "authorization",
    "cdn-loop",
    "content-length",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "origin",
    "referer",
    "true-client-ip",
    "upgrade-insecure-requests",
    "via",
    "x-real-ip",
];

/// Beginnings of the names of such headers.
const FAMILIES_OF_A_REQUEST: [&str; 5] =
    ["access-control-", "cf-", "sec-", "x-forwarded-", "x-vault-"];

/// Headers of an answer that would speak for this service: to browsers about its origin, to caches about its callers.
const OF_AN_ANSWER: [&str; 23] = [
    "accept-ch",
    "age",
    "alt-svc",
    "cache-control",
    "clear-site-data",
    "content-security-policy",
    "content-security-policy-report-only",
    "critical-ch",
    "expires",
    "nel",
    "origin-agent-cluster",
    "pragma",
    "refresh",
    "report-to",
    "reporting-endpoints",
    "server-timing",
    "service-worker-allowed",
    "set-cookie",
    "set-cookie2",
    "sourcemap",
    "strict-transport-security",
    "vary",
    "x-content-type-options",
];

/// Beginnings of the names of such headers.
const FAMILIES_OF_AN_ANSWER: [&str; 3] = ["access-control-", "cf-", "x-vault-"];

fn is_one_of(name: &str, names: &[&str], families: &[&str]) -> bool {
    names.contains(&name) || families.iter().any(|family| name.starts_with(family))
}

/// The names that a message's header `Connection` adds to those of one connection.
fn named_by_connection(headers: &[(String, String)]) -> Vec<String> {
    let lists = headers.iter().filter(|(name, _)| name == "connection");
    let names = lists.flat_map(|(_, value)| value.split(','));
    names.map(|name| name.trim().to_ascii_lowercase()).collect()
}

/// The headers of a caller's request that the platform gets; `secrets` are those that carry the caller's key. Names are in
/// lower case.
#[must_use]
pub fn to_platform(sent: &[(String, String)], secrets: &[String]) -> Vec<(String, String)> {
    let own = named_by_connection(sent);
    let passes = |name: &String| {
        !OF_A_CONNECTION.contains(&name.as_str())
            && !is_one_of(name, &OF_A_REQUEST, &FAMILIES_OF_A_REQUEST)
            && !secrets.contains(name)
            && !own.contains(name)
    };
    let mut headers: Vec<_> = sent.iter().filter(|(name, _)| passes(name)).cloned().collect();
    if !headers.iter().any(|(name, _)| name == "user-agent") {
        headers.push(user_agent());
    }
    headers
}

/// The headers of a platform's answer that the caller gets. `x-request-id` is this service's, so that the platform's gets
/// another name.
#[must_use]
pub fn to_caller(answered: Vec<(String, String)>) -> Vec<(String, String)> {
    let own = named_by_connection(&answered);
    let passes = |name: &String| {
        !OF_A_CONNECTION.contains(&name.as_str())
            && !is_one_of(name, &OF_AN_ANSWER, &FAMILIES_OF_AN_ANSWER)
            && !own.contains(name)
    };
    let renamed = |(name, value): (String, String)| match name.as_str() {
        "x-request-id" => ("x-platform-request-id".to_owned(), value),
        _ => (name, value),
    };
    answered.into_iter().filter(|(name, _)| passes(name)).map(renamed).collect()
}

#[cfg(test)]
mod tests {
    use super::{to_caller, to_platform};

    fn pairs(names: &[&str]) -> Vec<(String, String)> {
        names.iter().map(|name| ((*name).to_owned(), "v".to_owned())).collect()
    }

    fn names(headers: &[(String, String)]) -> Vec<&str> {
        headers.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn a_platform_gets_what_is_meant_for_it() {
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
        ];
        let secrets = ["x-service-secret".to_owned(), "x-own-key".to_owned()];
        let sent = [pairs(&kept), pairs(&dropped)].concat();
        assert_eq!(names(&to_platform(&sent, &secrets)), kept);
        // What `Connection` names goes no further; a request without a name gets one.
        let sent = [
            ("connection".to_owned(), "close, X-Own".to_owned()),
            ("x-own".to_owned(), "v".to_owned()),
        ];
        let agent = ("user-agent".to_owned(), "connector-vault".to_owned());
        assert_eq!(to_platform(&sent, &secrets), [agent]);
        for (sent, passed) in
            [(&["accept"][..], &["accept", "user-agent"][..]), (&["user-agent"], &["user-agent"])]
        {
            assert_eq!(names(&to_platform(&pairs(sent), &secrets)), passed);
        }
    }

    #[test]
    fn a_caller_gets_what_describes_the_answer() {
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
            "www-authenticate",
            "x-ratelimit-remaining",
            "date",
            "content-disposition",
            "allow",
        ];
        let dropped = [
            "set-cookie",
            "set-cookie2",
            "strict-transport-security",
            "clear-site-data",
            "content-security-policy",
            "access-control-allow-origin",
            "access-control-allow-credentials",
            "cache-control",
            "expires",
            "age",
            "vary",
            "alt-svc",
            "nel",
            "report-to",
            "cf-ray",
            "cf-cache-status",
            "connection",
            "keep-alive",
            "transfer-encoding",
            "trailer",
            "upgrade",
            "proxy-authenticate",
            "server-timing",
            "x-vault-source",
            "service-worker-allowed",
            "refresh",
            "x-content-type-options",
        ];
        let answered = [pairs(&kept), pairs(&dropped)].concat();
        assert_eq!(names(&to_caller(answered)), kept);
        assert_eq!(names(&to_caller(pairs(&["x-request-id"]))), ["x-platform-request-id"]);
        let own = ("connection".to_owned(), "close, X-Own".to_owned());
        let answered = [vec![own], pairs(&["x-own", "etag"])].concat();
        assert_eq!(names(&to_caller(answered)), ["etag"]);
    }
}
