//! Converts a security scheme to the kinds of auth methods that it stands for, or explains why the
//! scheme is unusable.

use super::scheme::{Flow, Flows, Scheme};
use super::{KnownServers, MAX_DESCRIPTION, MAX_SCOPES};
use crate::catalog::detail::{ApiKey, ApiKeyLocation, Grant, Kind, OAuth2, Scope, variables};
use crate::importer::entries::Entries;
use crate::importer::scalar::{FirstText, OptionalMap};
use crate::importer::{server, text};
use crate::platform_calls::headers::is_transport_header;

/// The maximum length of a name, in characters.
const MAX_NAME: usize = 200;
/// The maximum length of a URL, in bytes.
const MAX_URL: usize = 2048;

/// The kinds of auth methods that a scheme stands for. The error explains why the scheme is
/// unusable.
pub(super) fn kinds(scheme: &Scheme, known: KnownServers<'_>) -> Result<Vec<Kind>, String> {
    let kind = scheme.r#type.as_str().trim().to_lowercase();
    match kind.as_str() {
        "apikey" => api_key(scheme).map(|kind| vec![kind]),
        "basic" => Ok(vec![basic()]),
        "http" => http(scheme).map(|kind| vec![kind]),
        "oauth2" => oauth2(scheme, known),
        "openidconnect" => Err("its endpoints are in a file on its server".to_owned()),
        "" => Err("it has no `type`".to_owned()),
        other => Err(format!("its type `{}` is not supported", text::verbatim(other, 40))),
    }
}

fn basic() -> Kind {
    Kind::Basic {
        username_label: "User name".to_owned(),
        password_label: "Password".to_owned(),
        username: None,
        password: None,
    }
}

fn http(scheme: &Scheme) -> Result<Kind, String> {
    match scheme.scheme.as_str().trim().to_lowercase().as_str() {
        "basic" => Ok(basic()),
        "bearer" => Ok(Kind::Bearer { prefix: "Bearer".to_owned() }),
        other => Err(format!("its scheme `{}` is not supported", text::verbatim(other, 40))),
    }
}

fn api_key(scheme: &Scheme) -> Result<Kind, String> {
    let r#in = match scheme.r#in.as_str().trim().to_lowercase().as_str() {
        "header" => ApiKeyLocation::Header,
        "query" => ApiKeyLocation::Query,
        "cookie" => ApiKeyLocation::Cookie,
        other => return Err(format!("`in: {}` is not supported", text::verbatim(other, 40))),
    };
    let name = caller_key(r#in, text::verbatim(scheme.name.as_str(), MAX_NAME))?;
    if r#in == ApiKeyLocation::Header && is_transport_header(&name.to_ascii_lowercase()) {
        return Err(format!("no credential can be sent in the header `{name}`"));
    }
    if r#in == ApiKeyLocation::Header
        && name.eq_ignore_ascii_case("authorization")
        && let Some(prefix) = prefix(scheme.description.as_str())
    {
        return Ok(if prefix == "Bearer" {
            Kind::Bearer { prefix }
        } else {
            Kind::ApiKey(ApiKey { r#in, name, prefix })
        });
    }
    Ok(Kind::ApiKey(ApiKey { r#in, name, prefix: String::new() }))
}

/// Validates the name of the header, parameter or cookie that contains a key.
pub fn caller_key(r#in: ApiKeyLocation, name: String) -> Result<String, String> {
    if name.is_empty() || (r#in != ApiKeyLocation::Query && !name.chars().all(is_token)) {
        return Err("its `name` cannot be that of a header or parameter".to_owned());
    }
    Ok(name)
}

/// Whether a character is allowed in a header name (RFC 9110, section 5.6.2).
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// The prefix of the key in requests, such as `Token`, if the description contains an example.
fn prefix(description: &str) -> Option<String> {
    let words = ["Bearer", "Token", "ApiKey", "Api-Key", "Key"];
    let mentions = |word: &str| {
        let starts = [" ", "\"", "'", "`", ": ", ":"].map(|before| format!("{before}{word} "));
        let description = format!(" {description}");
        starts.iter().any(|start| {
            description.split(start.as_str()).skip(1).any(|rest| {
                rest.starts_with(['{', '<', '[', '$', '`'])
                    || rest.to_lowercase().starts_with("your")
            })
        })
    };
    words.into_iter().find(|word| mentions(word)).map(str::to_owned)
}

/// OAuth 2.0 with the refresh URL and the scopes of a flow.
fn oauth(grant: Grant, flow: &Flow, token_url: String) -> OAuth2 {
    OAuth2 {
        refresh_url: url(&flow.refresh_url),
        scopes: scopes(&flow.scopes),
        ..OAuth2::standard(grant, None, token_url)
    }
}

fn oauth2(scheme: &Scheme, known: KnownServers<'_>) -> Result<Vec<Kind>, String> {
    let swagger2_flows = convert_swagger2_flows(scheme);
    let flows = scheme.flows.get().unwrap_or(&swagger2_flows);
    let mut kinds = Vec::new();
    let mut why = "it has no flow that can be used".to_owned();
    for flow in
        [&flows.authorization_code, &flows.implicit].into_iter().filter_map(OptionalMap::get)
    {
        match authorization_code(flow, flows, known) {
            Ok(oauth) => {
                kinds.push(Kind::OAuth2(Box::new(oauth)));
                break;
            }
            Err(reason) => why = reason,
        }
    }
    if let Some(flow) = flows.client_credentials.get() {
        match url(&flow.token_url) {
            Some(token_url) => {
                let oauth = oauth(Grant::ClientCredentials, flow, token_url);
                kinds.push(Kind::OAuth2(Box::new(oauth)));
            }
            None if kinds.is_empty() => "its token URL is not absolute".clone_into(&mut why),
            None => {}
        }
    }
    if kinds.is_empty() { Err(why) } else { Ok(kinds) }
}

/// The authorization code grant for a flow. An implicit flow is converted if its token URL is known
/// from another source.
fn authorization_code(
    flow: &Flow,
    flows: &Flows,
    known: KnownServers<'_>,
) -> Result<OAuth2, String> {
    let authorization_url =
        url(&flow.authorization_url).ok_or("its authorization URL is not absolute")?;
    let other_token_url = flows.client_credentials.get().and_then(|flow| url(&flow.token_url));
    if let Some(oauth) = known(&authorization_url) {
        return Ok(OAuth2 { scopes: scopes(&flow.scopes), ..oauth });
    }
    let token_url = url(&flow.token_url).or(other_token_url);
    let token_url =
        token_url.ok_or("its token URL is not known, and the implicit flow is unsafe")?;
    let oauth = oauth(Grant::AuthorizationCode, flow, token_url);
    Ok(OAuth2 { authorization_url: Some(authorization_url), ..oauth })
}

/// Converts the flow of a Swagger 2 scheme to OpenAPI 3.
fn convert_swagger2_flows(scheme: &Scheme) -> Flows {
    let text = |text: &FirstText| FirstText(text.0.clone());
    let scopes = scheme.scopes.get().map(|scopes| {
        Entries(scopes.0.iter().map(|(name, about)| (name.clone(), text(about))).collect())
    });
    let flow = OptionalMap::Given(Flow {
        authorization_url: text(&scheme.authorization_url),
        token_url: text(&scheme.token_url),
        refresh_url: FirstText::default(),
        scopes: scopes.map_or(OptionalMap::Absent, OptionalMap::Given),
    });
    match scheme.flow.as_str().trim() {
        "accessCode" => Flows { authorization_code: flow, ..Flows::default() },
        "implicit" => Flows { implicit: flow, ..Flows::default() },
        "application" => Flows { client_credentials: flow, ..Flows::default() },
        _ => Flows::default(),
    }
}

/// The absolute URL of an endpoint of an authorization server. Returns `None` for other text.
fn url(text: &FirstText) -> Option<String> {
    let url = text.as_str().trim();
    is_url(url).then(|| url.to_owned())
}

/// Whether the text is an absolute URL without white space.
pub fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    matches!(scheme, "https" | "http")
        && !rest.is_empty()
        && rest.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '\\' | '`'))
        && variables(rest).all(server::is_name)
        && text.len() <= MAX_URL
}

/// The scopes of a flow, with their descriptions.
pub fn scopes(declared_scopes: &OptionalMap<Entries<FirstText>>) -> Vec<Scope> {
    let entries = declared_scopes.get().map_or(&[][..], |entries| &entries.0);
    let is_scope = |name: &str| {
        (1..=MAX_NAME).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\\'))
    };
    let entries = entries.iter().filter(|(name, _)| is_scope(name)).take(MAX_SCOPES);
    let scope = |(name, about): &(String, FirstText)| Scope {
        name: name.clone(),
        description: text::line(about.as_str(), MAX_DESCRIPTION),
    };
    entries.map(scope).collect()
}
