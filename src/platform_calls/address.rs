//! URLs below a platform's server, and the targets of its redirects.

use std::borrow::Cow;

use crate::targets::origin;
use crate::targets::path::leaves_server;
use crate::util::percent::decode_form;

/// Appends a caller's path and query, both percent-encoded as sent, to a server's URL. Returns
/// `None` when the path would leave the server's path.
pub fn url_on_server(server: &str, path: &str, query: &str) -> Option<String> {
    if leaves_server(path) {
        return None;
    }
    let mut url = server.strip_suffix('/').unwrap_or(server).to_owned();
    url.push('/');
    push_encoded(&mut url, path, "");
    if !query.is_empty() {
        url.push('?');
        push_encoded(&mut url, query, "'");
    }
    Some(url)
}

/// Appends a string that is already percent-encoded. Also encodes every character that URL parsers
/// would encode or interpret, and those in `more`.
fn push_encoded(url: &mut String, text: &str, more: &str) {
    for byte in text.bytes() {
        let is_unsafe = b"\"#<>\\^`{|}".contains(&byte) || more.as_bytes().contains(&byte);
        if byte.is_ascii_graphic() && !is_unsafe {
            url.push(char::from(byte));
        } else {
            push_escape(url, byte);
        }
    }
}

fn push_escape(url: &mut String, byte: u8) {
    url.push('%');
    let digits = [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
    url.extend(digits.into_iter().flatten().map(|digit| digit.to_ascii_uppercase()));
}

/// Decodes the names and values of a query or a form. Also splits at `;`, as Rack does before
/// version 3.
pub fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    query.split(['&', ';']).map(decode_pair)
}

fn decode_pair(pair: &str) -> (Cow<'_, str>, Cow<'_, str>) {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    (decode_form(name).unwrap_or(Cow::Borrowed(name)), decode_form(value).unwrap_or_default())
}

/// Removes the query parameters that `is_removed` selects. The service sends credentials in such
/// parameters: a caller's value for them must not be sent too, and a redirect must not reveal the
/// credential.
pub fn without_parameters(url: &str, is_removed: impl Fn(&str, &str) -> bool) -> String {
    let Some((address, query)) = url.split_once('?') else { return url.to_owned() };
    let mut remaining_url = address.to_owned();
    let mut is_first = true;
    let separators = ["&"].into_iter().chain(query.matches(['&', ';']));
    for (pair, separator) in query.split(['&', ';']).zip(separators) {
        let (name, value) = decode_pair(pair);
        if !is_removed(&name, &value) {
            remaining_url.push_str(if is_first { "?" } else { separator });
            remaining_url.push_str(pair);
            is_first = false;
        }
    }
    remaining_url
}

/// The target of a redirect from `url`, if it has the same origin. Returns `None` for another
/// origin, or a URL that parsers may interpret differently.
pub fn redirect_target(url: &str, location: &str) -> Option<String> {
    let location = location.split('#').next().unwrap_or_default();
    let own_origin = origin(url)?;
    if location.is_empty() {
        return None;
    }
    let scheme = url.split_once(':').map(|(scheme, _)| scheme)?;
    // The URL without its query, relative to its origin.
    let address = url.split('?').next().unwrap_or_default();
    let path_at = address.find("://")?.checked_add(3)?;
    let path_at = address.get(path_at..)?.find('/').and_then(|at| at.checked_add(path_at));
    let (base, path) = address.split_at_checked(path_at.unwrap_or(address.len()))?;
    let has_scheme = location.split(['/', '?']).next().is_some_and(|first| first.contains(':'));
    let target = if has_scheme {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{base}{location}")
    } else if location.starts_with('?') {
        format!("{address}{location}")
    } else {
        let folder = path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or("/");
        format!("{base}{folder}{location}")
    };
    // A URL with an unsafe character has no origin.
    (origin(&target).as_deref() == Some(own_origin.as_str())).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::{redirect_target, url_on_server, without_parameters};

    #[test]
    fn a_path_stays_below_its_server() {
        for (path, query, expected) in [
            ("", "", "https://a.example/v2/"),
            ("users", "", "https://a.example/v2/users"),
            ("users/", "a=b&c", "https://a.example/v2/users/?a=b&c"),
            ("a%2Fb/%20", "q=%20+x", "https://a.example/v2/a%2Fb/%20?q=%20+x"),
            ("/evil.example/x", "", "https://a.example/v2//evil.example/x"),
            ("//evil.example", "", "https://a.example/v2///evil.example"),
            ("\\evil.example", "", "https://a.example/v2/%5Cevil.example"),
            ("@evil.example", "", "https://a.example/v2/@evil.example"),
            (":443/x", "", "https://a.example/v2/:443/x"),
            ("http://evil.example/", "", "https://a.example/v2/http://evil.example/"),
            ("a#b", "c#d|{}", "https://a.example/v2/a%23b?c%23d%7C%7B%7D"),
            ("a b\u{e9}'", "a='", "https://a.example/v2/a%20b%C3%A9'?a=%27"),
            ("a..b/...", "x=../..", "https://a.example/v2/a..b/...?x=../.."),
            (".well-known/..x", "", "https://a.example/v2/.well-known/..x"),
            ("100%", "", "https://a.example/v2/100%"),
        ] {
            let url = url_on_server("https://a.example/v2", path, query);
            assert_eq!(url.as_deref(), Some(expected), "{path}?{query}");
        }
        for path in [
            "..",
            "../x",
            "a/../../x",
            "a/..",
            ".",
            "./x",
            "%2e%2e/x",
            "%2E./x",
            ".%2e/x",
            "a%2f..%2f..",
            "..%2fx",
            "..%5cx",
            "..\\x",
            "a\\..\\x",
            "%252e%252e%252fx",
            "%25252e%25252e/x",
            "..;/x",
            "..;a=b/x",
            "%2e%2e%3bx/y",
            "x%2f%2e%2e%2f",
            "%2e%2e%2f%ff",
            "%ff/%2e%2e/x",
            "%/%2e%2e/x",
        ] {
            assert_eq!(url_on_server("https://a.example/v2", path, ""), None, "{path}");
        }
    }

    #[test]
    fn parameters_of_credentials_are_removed() {
        for (url, expected) in [
            ("https://a.example/x", "https://a.example/x"),
            ("https://a.example/x?key=1", "https://a.example/x"),
            ("https://a.example/x?a=1&k%65y=2&b&key", "https://a.example/x?a=1&b"),
            ("/x?a=1&key=s", "/x?a=1"),
            ("/x?a=1;key=s", "/x?a=1"),
            ("/x?key=s;a=1;;b&key=s;c&", "/x?a=1;;b;c&"),
        ] {
            assert_eq!(without_parameters(url, |name, _| name == "key"), expected);
        }
        for url in ["/x?a=1", "/x?", "/x?a;b=%3B&;c&"] {
            assert_eq!(without_parameters(url, |_, _| false), url);
        }
    }

    #[test]
    fn only_redirects_within_an_origin_are_followed() {
        let url = "https://a.example/v2/users/1?x=/y/z";
        for (location, expected) in [
            ("/v3", Some("https://a.example/v3")),
            ("https://a.example/v3?q#f", Some("https://a.example/v3?q")),
            ("https://A.example:443/v3", Some("https://A.example:443/v3")),
            ("//a.example/v3", Some("https://a.example/v3")),
            ("2", Some("https://a.example/v2/users/2")),
            ("../2", Some("https://a.example/v2/users/../2")),
            ("?y=1", Some("https://a.example/v2/users/1?y=1")),
            ("", None),
            ("#x", None),
            ("http://a.example/v3", None),
            ("https://b.example/", None),
            ("https://a.example.evil.example/", None),
            ("https://a.example@evil.example/", None),
            ("https://a.example:8443/", None),
            ("//evil.example/", None),
            ("/\\evil.example/", None),
            ("\\\\evil.example", None),
            ("https:/evil.example", None),
            ("https:evil.example", None),
            ("javascript:alert(1)", None),
            ("data:,x", None),
            ("/a b", None),
            ("/a\r\nb: c", None),
            ("/a\\b", None),
            ("/\u{e9}", None),
        ] {
            assert_eq!(redirect_target(url, location).as_deref(), expected, "{location}");
        }
        assert_eq!(
            redirect_target("http://localhost:1", "/x").as_deref(),
            Some("http://localhost:1/x")
        );
    }
}
