//! The base URLs of an API: `servers`, or `host`, `basePath` and `schemes` of Swagger 2.0.
//! [`entry`] deserializes `servers`, and [`base`] makes paths relative to another base URL.

pub mod base;
pub mod entry;

use std::collections::BTreeMap;

use super::document::Document;
use super::scalar::FirstText;
use super::text;
use crate::catalog::detail::{Field, Server, variables};
use crate::targets::Targets;
use crate::targets::fill::FillError;
use crate::targets::host::Host;
use entry::{Entry, Servers, Variable};

/// The maximum number of values of a variable.
const MAX_VALUES: usize = 200;
/// The maximum length of a URL, in bytes.
const MAX_URL: usize = 2048;
/// The maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 200;

/// The servers of a document, and the fields for their variables.
#[derive(Debug, Default)]
pub struct ResolvedServers {
    /// Absolute URLs: only `https` URLs if there are any, otherwise all.
    pub servers: Vec<Server>,
    /// A field for each variable.
    pub fields: Vec<Field>,
    /// Skipped URLs, which are not absolute.
    pub skipped_parts: Vec<String>,
}

/// Resolves the servers of a document.
pub fn resolve<F>(document: &Document<F>) -> ResolvedServers {
    let mut resolved = ResolvedServers::default();
    let declared = document.servers.iter().flat_map(|servers| &servers.list);
    let swagger2_servers = swagger2_entries(document);
    let mut fields: BTreeMap<&str, Field> = BTreeMap::new();
    for entry in declared.chain(&swagger2_servers) {
        let Some(url) = absolute(&normalized_url(entry)) else {
            let url = entry.url.non_blank().filter(|url| url.contains(['/', ':']));
            resolved.skipped_parts.extend(url.map(|url| text::verbatim(url, 200)));
            continue;
        };
        if resolved.servers.iter().any(|known| known.url == url) {
            continue;
        }
        let host = url.split_once("://").and_then(|(_, rest)| rest.split(['/', ':']).next());
        for name in variables(entry.url.as_str()) {
            let is_host = host == Some(format!("{{{name}}}").as_str());
            fields.entry(name).or_insert_with(|| field(name, entry.variable(name), is_host));
        }
        let description = text::line(entry.description.as_str(), MAX_DESCRIPTION);
        let description = Some(description).filter(|description| !description.is_empty());
        resolved.servers.push(Server { url, description });
    }
    if resolved.servers.iter().any(is_secure) {
        resolved.servers.retain(is_secure);
    }
    let is_used = |name: &str| {
        resolved.servers.iter().any(|server| variables(&server.url).any(|used| used == name))
    };
    resolved.fields = fields.into_values().filter(|field| is_used(&field.name)).collect();
    resolved
}

/// The URL of a server with a scheme. Replaces each variable whose default is a path: documents put
/// such variables directly after the host, where a user's value could extend the host name.
fn normalized_url(entry: &Entry) -> String {
    let mut url = with_scheme(entry);
    for (name, variable) in entry.variables.get().iter().flat_map(|variables| &variables.0) {
        let default = variable.get().map(|variable| variable.default.as_str()).unwrap_or_default();
        if default.starts_with('/') {
            let placeholder = format!("{{{name}}}");
            url = url.replace(&format!("/{placeholder}"), default).replace(&placeholder, default);
        }
    }
    url
}

/// The URL of a server with values for the variables of its scheme, preferably `https`. Also adds a
/// scheme if a variable is the whole URL, or the host of a URL without a scheme.
fn with_scheme(entry: &Entry) -> String {
    let url = entry.url.as_str().trim();
    if let Some((scheme, rest)) = url.split_once("://") {
        let names: Vec<&str> = variables(scheme).collect();
        let (Some(name), true) = (names.first(), names.len() <= 1) else { return url.to_owned() };
        let placeholder = format!("{{{name}}}");
        let fill = |value: &str| scheme.replace(&placeholder, value).to_ascii_lowercase();
        let variable = entry.variable(name);
        let declared = variable.map(|variable| variable.r#enum.0.as_slice()).unwrap_or_default();
        let default = variable.and_then(|variable| variable.default.0.as_deref()).map(fill);
        let is_local =
            Host::parse(rest.split(['/', ':']).next().unwrap_or_default()) == Host::Loopback;
        let is_free = declared.is_empty() && !(is_local && default.as_deref() == Some("http"));
        let allows_https = is_free || declared.iter().any(|value| fill(value) == "https");
        let scheme = default.filter(|_| !allows_https).unwrap_or_else(|| "https".to_owned());
        return format!("{scheme}://{rest}");
    }
    let Some(name) = url.strip_prefix('{').and_then(|rest| Some(rest.split_once('}')?.0)) else {
        return url.to_owned();
    };
    let default =
        entry.variable(name).map(|variable| variable.default.as_str()).unwrap_or_default();
    let placeholder = format!("{{{name}}}");
    let lower = name.to_ascii_lowercase();
    if default.contains("//") {
        url.replacen(&placeholder, default.trim_end_matches('/'), 1)
    } else if is_usable_host(default) && default.contains('.')
        || !default.starts_with('/') && ["host", "domain"].iter().any(|word| lower.contains(word))
    {
        format!("https://{url}")
    } else {
        // The variable is part of a relative path.
        url.to_owned()
    }
}

/// Whether the service may call this host by default.
fn is_usable_host(host: &str) -> bool {
    matches!(Host::parse(host), Host::Public | Host::Loopback)
}

/// The first absolute URL without variables. `https` URLs take precedence.
pub fn first(servers: &Servers) -> Option<String> {
    let urls = servers.list.iter().filter_map(|entry| absolute(&normalized_url(entry)));
    let mut urls = urls.filter(|url| variables(url).next().is_none());
    let first = urls.next()?;
    let is_secure = |url: &String| url.starts_with("https://");
    if is_secure(&first) { Some(first) } else { urls.find(is_secure).or(Some(first)) }
}

/// Whether requests to a server are encrypted.
pub fn is_secure(server: &Server) -> bool {
    server.url.starts_with("https://")
}

/// A warning that explains why the service would refuse to call each of these servers. Returns
/// `None` if it would call at least one, or if the list is empty.
pub fn refusal_warning(servers: &[Server]) -> Option<String> {
    // Users choose the values of variables, so fill in a placeholder.
    let why = |server: &Server, local| match (Targets { local }).fill(&server.url, &|_| Some("1")) {
        Err(FillError::Target(error)) => Some(error),
        _ => None,
    };
    let first = servers.first()?;
    let error = why(first, false)?;
    if servers.iter().any(|server| why(server, false).is_none()) {
        return None;
    }
    let url = &first.url;
    Some(if servers.iter().any(|server| why(server, true).is_none()) {
        format!("calls reach no server without `LOCAL_TARGETS=allow`: `{url}` {error}")
    } else {
        format!("calls reach no server: `{url}` {error}")
    })
}

/// A server for each protocol of a Swagger 2.0 document.
fn swagger2_entries<F>(document: &Document<F>) -> Vec<Entry> {
    let Some(host) = document.host.as_ref().and_then(FirstText::non_blank) else {
        return Vec::new();
    };
    let path = document.base_path.as_ref().map(FirstText::as_str).unwrap_or_default();
    let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
    let protocols = document.protocols.as_ref().map_or(&[][..], |protocols| &protocols.0);
    let protocols = if protocols.is_empty() { &["https".to_owned()][..] } else { protocols };
    let address = |protocol: &String| Entry::at(format!("{protocol}://{host}{slash}{path}"));
    protocols.iter().map(address).collect()
}

/// Normalizes an absolute URL: removes its trailing slash. Returns `None` for a relative URL, or a
/// URL with white space.
pub fn absolute(url: &str) -> Option<String> {
    let url = url.trim().split(['?', '#']).next()?.trim_end_matches('/');
    // A URL without a scheme (`//host`) gets `https`.
    let url =
        url.strip_prefix("//").map_or_else(|| url.to_owned(), |rest| format!("https://{rest}"));
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let host = rest.split('/').next()?;
    let is_clean =
        |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '\\' | '`' | '@');
    let is_valid = matches!(scheme.as_str(), "http" | "https")
        && !host.is_empty()
        && rest.chars().all(is_clean)
        && rest.matches('{').count() == rest.matches('}').count()
        && variables(rest).all(is_name)
        && url.len() <= MAX_URL;
    is_valid.then(|| format!("{scheme}://{rest}"))
}

/// Whether the text is a valid field name.
pub fn is_name(name: &str) -> bool {
    let is_clean = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(is_clean)
}

fn field(name: &str, variable: Option<&Variable>, is_host: bool) -> Field {
    let one_line = |text: &FirstText| {
        let line = text::line(text.as_str(), MAX_DESCRIPTION);
        Some(line).filter(|line| !line.is_empty())
    };
    let default = variable.and_then(|variable| variable.default.non_blank());
    // A placeholder such as `HOSTNAME` is not a real host.
    let default = default.filter(|default| !is_host || is_usable_host(default));
    let values: Vec<String> = variable
        .map(|variable| variable.r#enum.0.iter().take(MAX_VALUES).cloned().collect())
        .unwrap_or_default();
    Field {
        description: variable.and_then(|variable| one_line(&variable.description)),
        required: default.is_none(),
        default: default.map(|text| text::verbatim(text, MAX_DESCRIPTION)),
        r#enum: Some(values).filter(|values| !values.is_empty()),
        ..Field::required(name, &label(name))
    }
}

/// Converts the name of a variable to a label: `subDomain` → `Sub domain`.
pub fn label(name: &str) -> String {
    let words = text::words(name).join(" ").to_lowercase();
    let mut letters = words.chars();
    letters
        .next()
        .map_or_else(|| name.to_owned(), |first| first.to_uppercase().chain(letters).collect())
}
