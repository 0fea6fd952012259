//! Decides whether a document describes the platform of an entry in `providers.toml`, by the hosts
//! of their servers. The document's name is not enough: directories assign documents to sites that
//! only host them.

use std::net::IpAddr;

use crate::catalog::detail::Server;

/// Hosts of mock servers and of examples.
const PLACEHOLDER_HOSTS: [&str; 6] = [
    "apiblueprint.org",
    "apiary-mock.com",
    "swaggerhub.com",
    "example.com",
    "example.org",
    "example.net",
];
/// Top-level labels that can't be registered (RFC 6761, RFC 6762).
const RESERVED_TLDS: [&str; 6] = ["local", "localhost", "example", "test", "invalid", "internal"];

/// The first server of a document on a host that the entry does not have. Returns `None` if
/// document and entry have a common host, or if either does not identify its host.
pub fn foreign_server<'a>(document: &'a [Server], entry: &[Server]) -> Option<&'a str> {
    if entry.iter().any(|server| !identifies_owner(&server.url)) {
        return None;
    }
    let known: Vec<String> = entry.iter().filter_map(|server| host(&server.url)).collect();
    let servers = document.iter().filter(|server| identifies_owner(&server.url));
    let servers: Vec<(&str, String)> =
        servers.filter_map(|server| Some((server.url.as_str(), host(&server.url)?))).collect();
    let is_own = servers.iter().any(|(_, one)| known.iter().any(|other| is_same(one, other)));
    if is_own || known.is_empty() {
        return None;
    }
    servers.first().map(|(url, _)| *url)
}

/// The host of a URL, in lower case, with each variable replaced by `{`.
fn host(url: &str) -> Option<String> {
    let rest = url.split_once("//")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.to_lowercase();
    let mut plain = String::new();
    let mut is_variable = false;
    for letter in host.chars() {
        match letter {
            '{' => {
                is_variable = true;
                plain.push('{');
            }
            '}' => is_variable = false,
            ':' if !is_variable => break,
            _ if is_variable => {}
            other => plain.push(other),
        }
    }
    (!plain.is_empty()).then_some(plain)
}

/// Whether the host of a URL identifies its owner.
fn identifies_owner(url: &str) -> bool {
    let Some(host) = host(url) else { return false };
    let is_below = |domain: &&str| {
        host.strip_suffix(*domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    host.contains('.')
        && host.parse::<IpAddr>().is_err()
        && !PLACEHOLDER_HOSTS.iter().any(is_below)
        && !RESERVED_TLDS.iter().any(|label| host.ends_with(&format!(".{label}")))
}

/// Whether two hosts may be equal, or one is a subdomain of the other.
fn is_same(one: &str, other: &str) -> bool {
    let is_above = |above: &str, below: &str| {
        below.strip_suffix(above).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if !one.contains('{') && !other.contains('{') {
        return is_above(one, other) || is_above(other, one);
    }
    // The text before the first variable, and the text after the last variable.
    let ends = |host: &str| {
        let first = host.split('{').next().unwrap_or_default().to_owned();
        let last = host.rsplit('{').next().unwrap_or_default().to_owned();
        if host.contains('{') { (first, last) } else { (host.to_owned(), host.to_owned()) }
    };
    let ((before, after), (other_before, other_after)) = (ends(one), ends(other));
    let may_match = |one: &str, other: &str, is_end: fn(&str, &str) -> bool| {
        is_end(one, other) || is_end(other, one)
    };
    may_match(&before, &other_before, |whole, part| whole.starts_with(part))
        && may_match(&after, &other_after, |whole, part| whole.ends_with(part))
}

#[cfg(test)]
mod tests {
    use super::foreign_server;
    use crate::catalog::detail::Server;

    #[test]
    fn matches_documents_by_host() {
        let servers = |urls: &[&str]| -> Vec<Server> {
            urls.iter().map(|url| Server { url: (*url).to_owned(), description: None }).collect()
        };
        for (document, entry, is_own) in [
            (&["https://api.github.com"][..], "https://api.github.com", true),
            (&["https://raw.github.com/x/y.png"], "https://api.github.com", false),
            (
                &["https://raw.github.com/x", "https://api.github.com/v3"],
                "https://api.github.com",
                true,
            ),
            // The host is a subdomain of the other host.
            (&["https://trello.com/1"], "https://api.trello.com/1", true),
            (&["https://nottrello.com/1"], "https://trello.com/1", false),
            // The platform has a host per customer.
            (&["https://www.docusign.net/restapi"], "https://{server}.docusign.net/restapi", true),
            (&["https://your-domain.atlassian.net"], "https://{subdomain}.atlassian.net", true),
            (&["https://connect.squareup.com"], "https://connect.{domain}", true),
            (&["https://demo.netbox.dev/api"], "https://{host:url}/api", true),
            (&["https://{shop}.myshopify.com"], "https://{store}.myshopify.com", true),
            (&["https://a.other.net"], "https://{server}.docusign.net", false),
            // The server does not identify its owner.
            (&["https://polls.apiblueprint.org"], "https://api.clickup.com/api/v2", true),
            (
                &["http://okta.local", "/", "http://localhost:80"],
                "https://{subdomain}.okta.com",
                true,
            ),
            (&["http://127.0.0.1/x", "https://example.com"], "https://api.acme.example", true),
            // The hosts are equal in a different notation.
            (&["//API.postmarkapp.com:443/x"], "https://api.postmarkapp.com", true),
            // The document has no server.
            (&[], "https://api.svix.com", true),
        ] {
            let foreign = foreign_server(&servers(document), &servers(&[entry])).map(str::to_owned);
            assert_eq!(foreign.is_none(), is_own, "{document:?} {entry}");
        }
        assert_eq!(foreign_server(&servers(&["https://a.com"]), &[]), None);
    }
}
