//! Parses the `Link` header (RFC 8288), to find the next page of a list.

use super::address::redirect_target;
use crate::targets::origin;
use crate::targets::path::leaves_server;

/// A link, split around its URL.
struct Link<'h> {
    /// The header up to and including the `<`.
    before: &'h str,
    address: &'h str,
    /// The parameters, including the `>` before them.
    parameters: &'h str,
}

/// The links of a header. Invalid text at the end is ignored.
fn links(header: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    let mut rest = header;
    while let Some((before, address, after)) = rest.find('<').and_then(|at| {
        let (before, inside) = rest.split_at_checked(at.checked_add(1)?)?;
        let (address, _) = inside.split_once('>')?;
        Some((before, address, inside.get(address.len()..)?))
    }) {
        let end = end_of_parameters(after);
        let Some((parameters, next)) = after.split_at_checked(end) else { break };
        links.push(Link { before, address, parameters });
        rest = next;
    }
    links
}

/// The offset at which the parameters of a link end: at a comma outside quotes.
fn end_of_parameters(text: &str) -> usize {
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => return at,
            _ => {}
        }
    }
    text.len()
}

impl Link<'_> {
    /// Whether the link leads from this page to the next page.
    fn is_next(&self) -> bool {
        let mut is_next = false;
        for parameter in self.parameters.split(';').skip(1) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let mut relations = value.trim().trim_matches('"').split_whitespace();
            match name.trim().to_ascii_lowercase().as_str() {
                "rel" => is_next |= relations.any(|relation| relation.eq_ignore_ascii_case("next")),
                // The link belongs to another page.
                "anchor" => return false,
                _ => {}
            }
        }
        is_next
    }
}

/// Applies `change` to each URL of the header.
pub fn map_urls(header: &str, change: impl Fn(&str) -> String) -> String {
    let mut rewritten = String::with_capacity(header.len());
    for Link { before, address, parameters } in links(header) {
        rewritten.push_str(before);
        rewritten.push_str(&change(address));
        rewritten.push_str(parameters);
    }
    rewritten
}

/// The URL of the next page.
pub fn next(header: &str) -> Option<&str> {
    links(header).into_iter().find(Link::is_next).map(|link| link.address)
}

/// The path and query, below `server`, of a URL in the response to `url`. Returns `None` for URLs
/// outside the server.
pub fn path_below(server: &str, url: &str, address: &str) -> Option<String> {
    let url = redirect_target(url, address)?;
    if origin(&url)? != origin(server)? {
        return None;
    }
    let path = path_and_query(&url)?.strip_prefix(path_and_query(server)?.trim_end_matches('/'))?;
    let relative =
        if path.is_empty() || path.starts_with('?') { path } else { path.strip_prefix('/')? };
    (!leaves_server(relative.split('?').next().unwrap_or_default())).then(|| relative.to_owned())
}

/// The part of a URL after its host and port.
fn path_and_query(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.get(rest.find(['/', '?']).unwrap_or(rest.len())..)
}

#[cfg(test)]
mod tests {
    use super::{map_urls, next, path_below};

    #[test]
    fn the_next_page_is_the_link_with_that_relation() {
        for (header, expected) in [
            ("<https://a.example/x?page=2>; rel=\"next\"", Some("https://a.example/x?page=2")),
            ("</x?page=2>; rel=next", Some("/x?page=2")),
            ("</1>; rel=\"prev\", </3>; rel=\"next\", </9>; rel=\"last\"", Some("/3")),
            ("</3>;title=\"a, b; rel=no\";REL=\"last Next\"", Some("/3")),
            ("</a,b>; rel=\"prev\",</3,4>; rel=\"next\"", Some("/3,4")),
            ("</3>; rel=\"next\"; anchor=\"#x\"", None),
            ("</3>; rel=\"nexts\"", None),
            ("</3>; rev=\"next\"", None),
            ("</3; rel=\"next\"", None),
            ("", None),
        ] {
            assert_eq!(next(header), expected, "{header}");
        }
    }

    #[test]
    fn each_address_of_a_header_is_changed() {
        let header = "<a?k=s&p=1>; rel=\"next\", <b?k=s>; title=\"x, <y>\"; rel=last";
        let rewritten = map_urls(header, |address| address.replace("k=s", "k="));
        assert_eq!(rewritten, "<a?k=&p=1>; rel=\"next\", <b?k=>; title=\"x, <y>\"; rel=last");
        assert_eq!(map_urls("no link", str::to_owned), "");
    }

    #[test]
    fn only_pages_of_the_same_server_are_next() {
        let (server, url) =
            ("https://a.example/v2/99", "https://a.example/v2/99/list/items?page=1");
        for (address, expected) in [
            ("https://a.example/v2/99/list?page=2", Some("list?page=2")),
            ("https://A.example:443/v2/99/list", Some("list")),
            ("/v2/99/list/a%2Fb?x=%20#f", Some("list/a%2Fb?x=%20")),
            ("items?page=2", Some("list/items?page=2")),
            ("?page=2", Some("list/items?page=2")),
            ("https://a.example/v2/99?page=2", Some("?page=2")),
            ("https://a.example/v2/99", Some("")),
            ("https://a.example/v2/991/list", None),
            ("https://a.example/v3/list", None),
            ("../../98/list", None),
            ("https://b.example/v2/99/list", None),
            ("http://a.example/v2/99/list", None),
            ("https://a.example:8443/v2/99/list", None),
            ("https://a.example/v2/99/../98", None),
            ("https://a.example/v2/99/%2e%2e/98", None),
        ] {
            assert_eq!(path_below(server, url, address).as_deref(), expected, "{address}");
        }
        let root = path_below("https://a.example/", "https://a.example/x", "/y?page=2");
        assert_eq!(root.as_deref(), Some("y?page=2"));
    }
}
