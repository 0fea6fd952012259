//! Combines security schemes that operations require together into one auth method with all of
//! their secrets.

use super::templates::check;
use super::{MAX_DESCRIPTION, default_fields, fields, is_same_except_scopes, rank, slug};
use crate::catalog::detail::{ApiKey, ApiKeyLocation, AuthMethod, Field, Kind, Parameters};
use crate::credentials::request_auth::{CLIENT_ID, with_prefix};
use crate::importer::scalar::FirstText;
use crate::importer::server::{self, ResolvedServers};
use crate::importer::text;

/// A security scheme of a document, converted to auth methods.
pub struct InterpretedScheme<'d> {
    pub name: &'d str,
    pub description: &'d FirstText,
    /// The auth methods that the scheme stands for. Empty for an unusable scheme.
    pub kinds: Vec<Kind>,
}

impl InterpretedScheme<'_> {
    fn is_same(&self, other: &Self) -> bool {
        self.kinds.len() == other.kinds.len()
            && self
                .kinds
                .iter()
                .zip(&other.kinds)
                .all(|(one, other)| is_same_except_scopes(one, other))
    }
}

/// Removes equivalent schemes from an alternative, such as two flows of one authorization server.
pub fn distinct_schemes<'m, 'd>(
    schemes: &'m [InterpretedScheme<'d>],
    names: &[String],
) -> Vec<&'m InterpretedScheme<'d>> {
    let mut distinct: Vec<&InterpretedScheme<'_>> = Vec::new();
    for name in names {
        let Some(scheme) = schemes.iter().find(|scheme| scheme.name == name) else { continue };
        if scheme.kinds.is_empty() || !distinct.iter().any(|known| known.is_same(scheme)) {
            distinct.push(scheme);
        }
    }
    distinct
}

/// The auth methods that satisfy all of these schemes: the methods of the strongest scheme,
/// extended to send the keys of the other schemes.
pub fn methods(
    all: &[&InterpretedScheme<'_>],
    servers: &ResolvedServers,
) -> Result<Vec<AuthMethod>, String> {
    let main = all.iter().min_by_key(|scheme| strength(scheme)).ok_or("it is empty")?;
    let mut keys = Vec::new();
    for scheme in all.iter().filter(|scheme| scheme.name != main.name) {
        match scheme.kinds.as_slice() {
            [Kind::ApiKey(key)] => keys.push((key, *scheme)),
            [] => return Err(format!("`{}` cannot be used", text::verbatim(scheme.name, 100))),
            _ => return Err("both use the `Authorization` header".to_owned()),
        }
    }
    if main.kinds.is_empty() {
        return Err(format!("`{}` cannot be used", text::verbatim(main.name, 100)));
    }
    let id = slug(&all.iter().map(|scheme| scheme.name).collect::<Vec<_>>().join(" "));
    let method = |kind: &Kind| method(&id, kind, main, &keys, servers);
    main.kinds.iter().map(method).collect()
}

/// A sort key that is least for the strongest scheme, whose kind becomes the kind of the method.
/// Among keys, a name with `apikey` is the strongest.
fn strength(scheme: &InterpretedScheme<'_>) -> (u8, bool) {
    let kind = scheme.kinds.iter().map(rank).min().unwrap_or(u8::MAX);
    let is_api_key =
        |kind: &Kind| matches!(kind, Kind::ApiKey(key) if letters(&key.name).contains("apikey"));
    (kind, !scheme.kinds.iter().any(is_api_key))
}

fn method(
    id: &str,
    kind: &Kind,
    main: &InterpretedScheme<'_>,
    keys: &[(&ApiKey, &InterpretedScheme<'_>)],
    servers: &ResolvedServers,
) -> Result<AuthMethod, String> {
    let mut method = AuthMethod {
        id: id.to_owned(),
        kind: kind.clone(),
        fields: default_fields(kind),
        headers: Parameters::new(),
        query: Parameters::new(),
    };
    if let (Kind::ApiKey(key), [field]) = (kind, method.fields.as_mut_slice()) {
        field.label = label(&key.name);
    }
    if let Some(field) = method.fields.iter_mut().find(|field| field.secret) {
        field.description = help(main);
    }
    let mut cookies = match kind {
        Kind::ApiKey(key) if key.r#in == ApiKeyLocation::Cookie => {
            vec![format!("{}={{apiKey}}", key.name)]
        }
        _ => Vec::new(),
    };
    let is_taken = |key: &ApiKey| match kind {
        Kind::ApiKey(cookie_names) => {
            cookie_names.r#in == key.r#in && cookie_names.name.eq_ignore_ascii_case(&key.name)
        }
        _ => key.r#in == ApiKeyLocation::Header && key.name.eq_ignore_ascii_case("authorization"),
    };
    for (key, scheme) in keys {
        // The client id is already known from the OAuth client.
        let variable = if method.is_oauth2() && letters(&key.name).ends_with("clientid") {
            CLIENT_ID.to_owned()
        } else {
            let name = unique_name(&field_name(&key.name), &method.fields);
            let field = Field::secret(&name, &label(&key.name));
            method.fields.push(Field { description: help(scheme), ..field });
            name
        };
        let template = with_prefix(&key.prefix, &format!("{{{variable}}}"));
        let former = match key.r#in {
            ApiKeyLocation::Header => method.headers.insert(key.name.clone(), template),
            ApiKeyLocation::Query => method.query.insert(key.name.clone(), template),
            ApiKeyLocation::Cookie => {
                cookies.push(format!("{}={template}", key.name));
                None
            }
        };
        if former.is_some() || is_taken(key) {
            return Err(format!("both are called `{}`", text::verbatim(&key.name, 100)));
        }
    }
    if cookies.len() > 1
        || (!cookies.is_empty()
            && !matches!(kind, Kind::ApiKey(key) if key.r#in == ApiKeyLocation::Cookie))
    {
        method.headers.insert("Cookie".to_owned(), cookies.join("; "));
    }
    // Add the fields for the variables of URLs.
    for field in fields(kind, None, servers) {
        if !method.fields.iter().any(|known| known.name == field.name) {
            method.fields.push(field);
        }
    }
    check(&method)?;
    Ok(method)
}

fn help(scheme: &InterpretedScheme<'_>) -> Option<String> {
    let help = text::line(scheme.description.as_str(), MAX_DESCRIPTION);
    Some(help).filter(|help| !help.is_empty())
}

/// The letters and digits of a name, in lower case.
fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// The words of a header name, without the prefix `X-`.
fn words(name: &str) -> Vec<String> {
    let without_prefix =
        name.strip_prefix("X-").or_else(|| name.strip_prefix("x-")).unwrap_or(name);
    text::words(without_prefix)
}

/// Converts a header name to a label: `X-App-Id` → `App ID`.
fn label(name: &str) -> String {
    let word = |word: &String| match word.to_ascii_lowercase().as_str() {
        acronym @ ("id" | "api" | "url") => acronym.to_ascii_uppercase(),
        word => word.to_owned(),
    };
    let label = words(name).iter().map(word).collect::<Vec<_>>().join(" ");
    let mut letters = label.chars();
    let first = letters.next().map(|first| first.to_uppercase().chain(letters).collect());
    first.unwrap_or_else(|| name.to_owned())
}

/// Converts a header name to a field name: `X-App-Id` → `appId`.
fn field_name(name: &str) -> String {
    let words = words(name);
    let words = words.iter().map(|word| word.to_ascii_lowercase());
    let camel = words.enumerate().map(|(index, word)| {
        let mut letters = word.chars();
        let first = letters.next().filter(|_| index > 0).map(|first| first.to_ascii_uppercase());
        first.map_or_else(|| word.clone(), |first| format!("{first}{}", letters.as_str()))
    });
    let name: String = camel.collect::<String>().chars().filter(char::is_ascii).take(60).collect();
    if server::is_name(&name) { name } else { "key".to_owned() }
}

/// The preferred name, with a number appended if another field has the same name.
fn unique_name(preferred: &str, fields: &[Field]) -> String {
    let numbered = (2_u32..).map(|number| format!("{preferred}{number}"));
    let mut names = std::iter::once(preferred.to_owned()).chain(numbered);
    let taken = |name: &String| fields.iter().any(|field| field.name == *name);
    names.find(|name| !taken(name)).unwrap_or_default()
}

/// Whether requests with this method, including the `common` headers, contain the API key.
pub fn sends_key(method: &AuthMethod, common: &Parameters, key: &ApiKey) -> bool {
    let header = |name: &String| name.eq_ignore_ascii_case(&key.name);
    match key.r#in {
        ApiKeyLocation::Header => method.headers.keys().chain(common.keys()).any(header),
        ApiKeyLocation::Query => method.query.contains_key(&key.name),
        ApiKeyLocation::Cookie => {
            let mut headers = method.headers.iter().chain(common);
            headers.any(|(name, cookies)| {
                let cookie_names =
                    cookies.split("; ").filter_map(|cookie| cookie.split('=').next());
                name.eq_ignore_ascii_case("cookie")
                    && cookie_names.into_iter().any(|cookie_names| cookie_names == key.name)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{field_name, label};

    #[test]
    fn a_header_name_becomes_a_label_and_a_field() {
        for (name, expected, field) in [
            ("X-App-Id", "App ID", "appId"),
            ("DD-APPLICATION-KEY", "Dd application key", "ddApplicationKey"),
            ("token", "Token", "token"),
            ("api_key", "API key", "apiKey"),
            ("---", "---", "key"),
        ] {
            assert_eq!((label(name).as_str(), field_name(name).as_str()), (expected, field));
        }
    }
}
