//! Makes the paths of a document relative to the known base URL of its platform. Some documents
//! have a path such as `/v2` in their base URL, others in each of their paths, so both must be
//! compared.

use crate::catalog::detail::variables;

/// The base URLs of a platform and of its document.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct BaseUrls {
    /// The origin of the platform's URL, such as `https://api.example.com`.
    origin: String,
    /// The path of the platform's URL, such as `/v2`.
    known: String,
    /// The path of the document's URL, such as `/v2`. `None` if the document has no URL.
    document_path: Option<String>,
}

impl BaseUrls {
    /// `known` is the platform's base URL; `document` is the first base URL of the document, which
    /// may be relative.
    pub fn new(known: &str, document: Option<&str>) -> Self {
        let (origin, known) = split(known);
        let document_path = document.map(|url| split(url).1.to_owned());
        Self { origin: origin.to_owned(), known: known.to_owned(), document_path }
    }

    /// The path of an operation relative to the platform's base URL. For an operation outside that
    /// URL, also returns its server.
    pub fn place(&self, path: &str) -> (String, Option<String>) {
        let full_path = format!("{}{path}", self.document_path.as_deref().unwrap_or_default());
        let rest = full_path.strip_prefix(&self.known);
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']));
        let has_variable = variables(&self.origin).next().is_some();
        match rest {
            Some(rest) if rest.starts_with('/') => (rest.to_owned(), None),
            Some(rest) => (format!("/{rest}"), None),
            // Without a base URL in the document, assume that paths are relative to the platform's
            // base URL.
            None if self.document_path.is_none() || has_variable => (path.to_owned(), None),
            None => (full_path, Some(self.origin.clone())),
        }
    }
}

/// The path of a document's base URL, if the paths of operations repeat it. In Ticketmaster's
/// document, the base URL ends in `/discovery/v2`, and a path is `/discovery/v2/events`. A single
/// segment, such as `/api`, counts only if all paths repeat it.
pub fn repeated_base_path<'a>(
    server: &'a str,
    mut paths: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let (_, base) = split(server);
    let is_repeated = |path: &str| strip_base_path(path, base).is_some();
    let is_found = match base.matches('/').count() {
        0 => false,
        1 => paths.all(is_repeated),
        _ => paths.any(is_repeated),
    };
    is_found.then_some(base)
}

/// Removes the base path from the path of an operation that begins with it.
pub fn strip_base_path<'a>(path: &'a str, base: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(base)?;
    if rest.is_empty() { Some("/") } else { Some(rest).filter(|rest| rest.starts_with('/')) }
}

/// Splits a URL into its origin and the rest.
pub fn split_origin(url: &str) -> (&str, &str) {
    let start = url.find("://").map_or(0, |at| at.saturating_add(3));
    let path = url.get(start..).and_then(|rest| rest.find('/'));
    let at = path.map_or(url.len(), |at| start.saturating_add(at));
    url.split_at_checked(at).unwrap_or((url, ""))
}

/// Splits a URL into its origin, and its path without a trailing slash.
fn split(url: &str) -> (&str, &str) {
    let (origin, path) = split_origin(url);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    (origin, path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_can_repeat_the_base_url() {
        for (server, paths, expected) in [
            ("https://a.com/discovery/v2", &["/discovery/v2/events", "/discovery/v2"][..], true),
            ("https://a.com/api/v1", &["/sites", "/api/v1/sites/{id}/env"], true),
            ("https://a.com/api", &["/api", "/api/projects"], true),
            ("https://a.com/api", &["/api/plugins", "/plugins"], false),
            ("https://a.com/api/v1", &["/v1/x", "/api/v10/x"], false),
            ("https://a.com", &["/a"], false),
        ] {
            let found = repeated_base_path(server, paths.iter().copied());
            assert_eq!(found.is_some(), expected, "{server} {paths:?}");
        }
        assert_eq!(strip_base_path("/api/v1/x", "/api/v1"), Some("/x"));
        assert_eq!(strip_base_path("/api/v1", "/api/v1"), Some("/"));
        assert_eq!(strip_base_path("/api/v10", "/api/v1"), None);
    }

    #[test]
    fn path_is_relative_to_the_platforms_base_url() {
        let host = Some("https://a.com".to_owned());
        for (known, document, path, placed, server) in [
            // Both base URLs are equal.
            ("https://a.com/v1", Some("https://a.com/v1/"), "/x", "/x", None),
            ("https://{dc}.a.com/3.0", Some("https://server.a.com/3.0"), "/x", "/x", None),
            // The paths of the document contain the version.
            ("https://a.com/v1", Some("https://a.com"), "/v1/x", "/x", None),
            ("https://a.com/v1", Some("https://a.com"), "/v1", "/", None),
            ("https://{host}/v2", Some("https://b.com"), "/v2/x", "/x", None),
            ("https://a.com/api/v2", Some("https://a.com/api"), "/v2/{id}", "/{id}", None),
            ("https://a.com/{account}", None, "/{account}/x", "/x", None),
            // The document's base URL contains the version.
            ("https://a.com/api", Some("https://a.com/api/v10"), "/x", "/v10/x", None),
            ("https://a.com", Some("https://a.com/api/v10"), "/x", "/api/v10/x", None),
            ("https://a.com/api", Some("/api"), "/x", "/x", None),
            // The path is on the same host, but not below the platform's base URL.
            ("https://a.com/v1", Some("https://a.com"), "/v2/x", "/v2/x", host.clone()),
            ("https://a.com/v1", Some("https://a.com"), "/v10/x", "/v10/x", host),
            ("https://{host}/v1", Some("https://a.com"), "/v2/x", "/v2/x", None),
            // The document has no base URL.
            ("https://a.com/v1", None, "/x", "/x", None),
            ("https://a.com", None, "/x", "/x", None),
        ] {
            let base = BaseUrls::new(known, document);
            assert_eq!(
                base.place(path),
                (placed.to_owned(), server),
                "{known} {document:?} {path}"
            );
        }
    }
}
