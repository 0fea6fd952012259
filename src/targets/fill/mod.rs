//! Fills the catalog's URL templates, in which `{name}` is replaced with the value of a field. A
//! value can't change the URL outside its variable's position.

use std::fmt;

use super::host::is_name;
use super::path::leaves_server;
use super::{Address, MAX_URL, TargetError};
use crate::util::percent::encode;

/// Why a template could not be filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FillError {
    /// The template is malformed.
    Template,
    /// The field has no value.
    Missing(String),
    /// The value is not valid at the position of its variable.
    Invalid {
        field: String,
        /// The rule that the value breaks.
        rule: Rule,
    },
    /// The resulting URL is not an allowed target.
    Target(TargetError),
}

/// The rule for a value, which depends on the position of its variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A complete host.
    Host,
    /// A part of the authority whose value determines whether the host is public.
    Public,
    /// One or more labels of a host.
    Labels,
    /// A part of a label.
    Label,
    Port,
    /// A part of a path or a query.
    Path,
    /// A part of a string that is not a URL.
    Text,
}

impl Rule {
    /// The rule, as an error message that completes a sentence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "must be a host name, such as `example.com`, without a port",
            Self::Public => "must lead to a public host name and the usual port",
            Self::Labels => "must be letters, digits and hyphens, with single dots between them",
            Self::Label => "must be letters, digits and hyphens",
            Self::Port => "must be a port: 1–65535",
            Self::Path => {
                "must be text without control characters, and must not have `.` or `..` as a part of a path"
            }
            Self::Text => "must be text without control characters",
        }
    }

    fn allows(self, value: &str) -> bool {
        let is_clean = !value.is_empty() && !value.contains(char::is_control);
        match self {
            Self::Host | Self::Public | Self::Labels => is_name(value),
            Self::Label => {
                is_clean && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            }
            // Check the digits, because `parse` also accepts a plus sign.
            Self::Port => {
                value.bytes().all(|byte| byte.is_ascii_digit())
                    && value.parse::<u16>().is_ok_and(|port| port > 0)
            }
            Self::Path => is_clean && !leaves_server(value),
            Self::Text => is_clean,
        }
    }
}

impl FillError {
    /// The name of the field whose value is missing or invalid.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Missing(field) | Self::Invalid { field, .. } => Some(field),
            Self::Template | Self::Target(_) => None,
        }
    }

    fn invalid(field: &str, rule: Rule) -> Self {
        Self::Invalid { field: field.to_owned(), rule }
    }
}

impl fmt::Display for FillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Template => f.write_str("the template of the address is broken"),
            Self::Missing(field) => write!(f, "`{field}` is missing"),
            Self::Invalid { field, rule } => write!(f, "`{field}` {}", rule.as_str()),
            Self::Target(error) => write!(f, "the address {error}"),
        }
    }
}

impl std::error::Error for FillError {}

/// A function that returns the value of a field.
pub type Values<'f, 'v> = &'f dyn Fn(&str) -> Option<&'v str>;

/// Fills a template: an absolute URL, or a path and query. A variable between dots of the host takes one or more
/// labels; a variable that is the whole host takes a complete name. In the path and query, values are percent-encoded.
pub fn fill(template: &str, values: Values<'_, '_>) -> Result<String, FillError> {
    let (start, host, rest) = split(template).ok_or(FillError::Template)?;
    let url = match host {
        None => fill_rest(rest, values)?,
        Some((host, port)) => {
            let filled = fill_host(host, values)?;
            let port = port.map(|port| fill_port(port, values)).transpose()?.unwrap_or_default();
            let url = format!("{start}{filled}{port}{}", fill_rest(rest, values)?);
            // Defence in depth: for all values, the result must have the template's domain.
            let address = Address::parse(&url).map_err(FillError::Target)?;
            let end = literal_end(host).to_ascii_lowercase();
            if address.host != filled || !filled.ends_with(&end) {
                return Err(FillError::Target(TargetError::Host));
            }
            url
        }
    };
    if url.len() > MAX_URL { Err(FillError::Target(TargetError::TooLong)) } else { Ok(url) }
}

/// Fills the value of a parameter or the name of a scope. Fills a URL with [`fill`], and any other
/// string without encoding. Braces that don't enclose a name are preserved.
pub fn fill_text(template: &str, values: Values<'_, '_>) -> Result<String, FillError> {
    let pieces = pieces(template);
    let is_address = template.starts_with("https://") || template.starts_with("http://");
    if is_address && pieces.iter().any(|piece| piece.variable().is_some()) {
        return fill(template, values);
    }
    let mut text = String::with_capacity(template.len());
    for piece in pieces {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Variable(name) => text.push_str(value(name, Rule::Text, values)?),
        }
    }
    Ok(text)
}

/// The rule that the value of a field breaks in a template, regardless of other fields.
pub fn broken_rule(template: &str, field: &str, value: &str) -> Option<Rule> {
    // `1` is a valid value in every position.
    let filled = fill(template, &|name| Some(if name == field { value } else { "1" }));
    match filled {
        Err(FillError::Invalid { field: broken, rule }) if broken == field => Some(rule),
        _ => None,
    }
}

/// Extracts the value of a field from a string that matches a template: `acme` from
/// `https://acme.pipedrive.com/` for `https://{company}.pipedrive.com`. The scheme and a trailing
/// slash are optional. Returns `None` if the string does not match. Without a template, returns the
/// string.
pub fn extract_field<'t>(template: Option<&str>, field: &str, text: &'t str) -> Option<&'t str> {
    let Some(template) = template else { return Some(text).filter(|text| !text.is_empty()) };
    let without_scheme =
        |text: &'t str| text.strip_prefix("https://").unwrap_or(text).trim_end_matches('/');
    let (before, after) = template.split_once(&format!("{{{field}}}"))?;
    let before = before.strip_prefix("https://").unwrap_or(before);
    let after = after.trim_end_matches('/');
    let text = without_scheme(text);
    let (start, rest) = text.split_at_checked(before.len())?;
    let (value, end) = rest.split_at_checked(rest.len().checked_sub(after.len())?)?;
    let is_described = start.eq_ignore_ascii_case(before) && end.eq_ignore_ascii_case(after);
    (is_described && !value.is_empty()).then_some(value)
}

/// Second-level labels of country domains under which domains can be registered, as in `co.uk` and
/// `com.au`: the most common ones of the Public Suffix List (<https://publicsuffix.org>), which is
/// too large for the Worker.
const SECOND_LEVEL_LABELS: [&str; 24] = [
    "ac", "biz", "co", "com", "edu", "firm", "gen", "go", "gob", "gov", "gv", "id", "in", "info",
    "ltd", "me", "ne", "net", "nom", "or", "org", "plc", "sch", "web",
];

/// The variables whose values determine the owner of the host, and so the recipient of the data:
/// all variables of a host whose registrable domain is not literal in the template.
pub fn host_variables(template: &str) -> Vec<&str> {
    let Some((_, Some((host, _)), _)) = split(template) else { return Vec::new() };
    if has_own_domain(host) {
        return Vec::new();
    }
    pieces(host).into_iter().filter_map(Piece::variable).collect()
}

/// Whether the host of a template ends with a dot and this variable, and all allowed values are
/// registrable domains.
pub fn ends_with_listed_domain(template: &str, variable: &str, allowed_values: &[String]) -> bool {
    let Some((_, Some((host, _)), _)) = split(template) else { return false };
    host.ends_with(&format!(".{{{variable}}}"))
        && !allowed_values.is_empty()
        && allowed_values.iter().all(|domain| has_own_domain(&format!(".{domain}")))
}

/// Whether the template of a host ends with a literal registrable domain.
fn has_own_domain(host: &str) -> bool {
    let mut labels = literal_end(host).rsplit('.');
    let (last, second) = (labels.next().unwrap_or_default(), labels.next().unwrap_or_default());
    let is_second_level =
        last.len() == 2 && SECOND_LEVEL_LABELS.contains(&second.to_ascii_lowercase().as_str());
    // The label before the first dot does not count, because it continues the value of a variable.
    labels.count() > usize::from(is_second_level)
}

/// The error for a filled template whose URL is rejected. If a field determines the host or the
/// port, the error refers to the field.
pub(super) fn rejection(template: &str, error: TargetError) -> FillError {
    use TargetError::{Host, IpAddress, Port, PrivateName};
    let rest = split(template).map(|(.., rest)| rest).unwrap_or_default();
    let authority = template.strip_suffix(rest).unwrap_or_default();
    match pieces(authority).into_iter().rev().find_map(Piece::variable) {
        Some(field) if matches!(error, Host | IpAddress | Port | PrivateName) => {
            FillError::invalid(field, Rule::Public)
        }
        _ => FillError::Target(error),
    }
}

/// The literal port of a template.
pub(super) fn literal_port(template: &str) -> Option<u16> {
    let (_, host, _) = split(template)?;
    super::read_port(host?.1?)
}

/// A variable or a literal of a template.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Text(&'a str),
    Variable(&'a str),
}

impl<'a> Piece<'a> {
    const fn variable(self) -> Option<&'a str> {
        match self {
            Self::Variable(name) => Some(name),
            Self::Text(_) => None,
        }
    }
}

/// The host and the port of a template. The port includes its colon.
type HostAndPort<'a> = (&'a str, Option<&'a str>);

/// Splits a template into scheme, host with port, and the rest. Returns `None` for a malformed
/// template.
fn split(template: &str) -> Option<(&str, Option<HostAndPort<'_>>, &str)> {
    let is_literal = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => !text.contains(['{', '}', '#']),
        Piece::Variable(_) => true,
    };
    if !pieces(template).iter().all(is_literal) {
        return None;
    }
    if template.starts_with('/') {
        // A path must not begin with two slashes, which start a host.
        return (!template.starts_with("//")).then_some(("", None, template));
    }
    let start = ["https://", "http://"].into_iter().find(|start| template.starts_with(start))?;
    let after = template.strip_prefix(start)?;
    // The names of variables contain neither `/` nor `?`.
    let end = after.find(['/', '?']).unwrap_or(after.len());
    let (authority, rest) = after.split_at_checked(end)?;
    let host = Some(authority).filter(|authority| !authority.is_empty()).map(super::split_port)?;
    Some((start, Some(host), rest))
}

/// Splits a template into variables and literals. Braces that don't enclose a name are literals.
fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    // The text from the start of the current literal.
    let mut text = template;
    while let Some((_, after)) = rest.split_once('{') {
        if let Some((name, next)) = after.split_once('}')
            && is_field(name)
        {
            let length = text.len().saturating_sub(after.len()).saturating_sub(1);
            if let Some(before) = text.get(..length).filter(|before| !before.is_empty()) {
                pieces.push(Piece::Text(before));
            }
            pieces.push(Piece::Variable(name));
            text = next;
            rest = next;
        } else {
            rest = after;
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// Whether a string is a valid field name.
fn is_field(name: &str) -> bool {
    let is_clean = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(is_clean)
}

/// The value of a field. Returns an error if the value breaks the rule.
fn value<'v>(name: &str, rule: Rule, values: Values<'_, 'v>) -> Result<&'v str, FillError> {
    let value = values(name).ok_or_else(|| FillError::Missing(name.to_owned()))?;
    if rule.allows(value) { Ok(value) } else { Err(FillError::invalid(name, rule)) }
}

/// The literal after the last variable of a host's template.
fn literal_end(host: &str) -> &str {
    host.rsplit('}').next().unwrap_or_default()
}

fn fill_host(template: &str, values: Values<'_, '_>) -> Result<String, FillError> {
    let pieces = pieces(template);
    let mut host = String::new();
    let mut rest = pieces.iter().peekable();
    let mut last_field = None;
    while let Some(piece) = rest.next() {
        match *piece {
            Piece::Text(text) => host.push_str(text),
            Piece::Variable(name) => {
                let starts_label = host.is_empty() || host.ends_with('.');
                // A value could extend the template's domain to another one: `ebay.com{path}` to
                // `ebay.company`.
                if !starts_label && !has_own_domain(template) {
                    return Err(FillError::Template);
                }
                let ends_label = match rest.peek() {
                    None => true,
                    Some(Piece::Text(text)) => text.starts_with('.'),
                    Some(Piece::Variable(_)) => false,
                };
                let rule = match (pieces.len(), starts_label && ends_label) {
                    (1, _) => Rule::Host,
                    (_, true) => Rule::Labels,
                    (_, false) => Rule::Label,
                };
                host.push_str(value(name, rule, values)?);
                last_field = Some((name, rule));
            }
        }
    }
    match last_field {
        // Valid parts can form an invalid label, which is too long or ends with a hyphen.
        Some((name, rule)) if !is_name(&host) => Err(FillError::invalid(name, rule)),
        _ => Ok(host.to_ascii_lowercase()),
    }
}

fn fill_port(template: &str, values: Values<'_, '_>) -> Result<String, FillError> {
    let mut port = String::new();
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => port.push_str(text),
            Piece::Variable(name) => port.push_str(value(name, Rule::Port, values)?),
        }
    }
    Ok(port)
}

fn fill_rest(template: &str, values: Values<'_, '_>) -> Result<String, FillError> {
    let mut filled = String::with_capacity(template.len());
    for segment in template.split_inclusive(['/', '?']) {
        let mut field = None;
        let start = filled.len();
        for piece in pieces(segment) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Variable(name) => {
                    filled.push_str(&encode(value(name, Rule::Path, values)?));
                    field = Some(name);
                }
            }
        }
        // Values and literals together must not form a segment that refers to the parent.
        let segment = filled.get(start..).unwrap_or_default().trim_end_matches(['/', '?']);
        let segment = segment.to_ascii_lowercase().replace("%2e", ".");
        if let Some(field) = field
            && matches!(segment.as_str(), "." | "..")
        {
            return Err(FillError::invalid(field, Rule::Path));
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests;
