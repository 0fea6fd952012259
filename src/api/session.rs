//! `POST /v1/sessions`: a token for one identity, which a browser may hold.

use super::body::{BodyReader, Field, FieldCheck, OwnCheck};
use super::handle::lacks;
use super::message::{NO_STORE, Request, Response};
use super::problem::Problem;
use super::query::no_parameters;
use crate::access::token::{MAX_TOKEN, SessionSecrets, Token};
use crate::access::{Principal, Scope, Scopes};
use crate::catalog::key::platform;
use crate::json::{Object, array};
use crate::names::Names;
use crate::rfc3339::rfc3339;
use crate::vault::confinement::Confinement;
use crate::vault::model::IdentityType;
use crate::vault::rules;

/// Seconds for which a token is good at least.
pub const MIN_TTL: u64 = 60;
/// Seconds for which a token is good at most.
pub const MAX_TTL: u64 = 3600;
/// Seconds for which a token is good when the request does not say.
pub const DEFAULT_TTL: u64 = 900;
/// Most platforms of a token.
pub const MAX_PLATFORMS: usize = 20;
/// Most origins of a token.
pub const MAX_ORIGINS: usize = 10;
/// Longest origin, in characters.
pub const MAX_ORIGIN: usize = 253;

/// The fields of the body. Whether the key has the scopes is looked up apart.
pub const SESSION_FIELDS: [Field; 6] = [
    Field { name: "identity", check: FieldCheck::Text(rules::identity), required: true },
    optional("identityType", FieldCheck::OneOf(&IdentityType::NAMES)),
    own("scopes", |body, name, value| body.check_set(name, value, Scope::OF_TOKENS.len(), scope)),
    own("platforms", |body, name, value| body.check_set(name, value, MAX_PLATFORMS, platform)),
    own("origins", |body, name, value| body.check_set(name, value, MAX_ORIGINS, origin)),
    own("ttlSeconds", |body, name, value| body.check_integer(name, value, MIN_TTL, MAX_TTL)),
];

const fn own(name: &'static str, check: OwnCheck) -> Field {
    optional(name, FieldCheck::Own(check))
}

const fn optional(name: &'static str, check: FieldCheck) -> Field {
    Field { name, check, required: false }
}

fn scope(text: &str) -> Option<&'static str> {
    let known = Scope::OF_TOKENS.into_iter().any(|scope| scope.as_str() == text);
    (!known).then_some("must be one of catalog:read, connections:read, connections:write")
}

/// A web origin as browsers send it: a scheme, a host in lower case, and a port unless it is the scheme's own. Without
/// encryption on the same machine only.
fn origin(text: &str) -> Option<&'static str> {
    let (host, own_port) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(host), _) => (host, "443"),
        (None, Some(host)) => (host, "80"),
        (None, None) => ("", ""),
    };
    let (host, port) = host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port)));
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let good_host = host.split('.').all(|label| !label.is_empty() && label.bytes().all(letter));
    let good_port = port.is_none_or(|port| {
        let number = port.parse::<u64>().unwrap_or(u64::MAX);
        port != own_port && number <= 65_535 && number.to_string() == port
    });
    let is_here = own_port != "80" || host == "localhost" || host == "127.0.0.1";
    let good = good_host && good_port && is_here && text.len() <= MAX_ORIGIN;
    (!good).then_some(
        "must be a web origin as browsers send it, such as https://app.example or http://localhost:5173",
    )
}

/// Answers `POST /v1/sessions`: a token that opens what the key of `principal` opens, or less; `now` in milliseconds since
/// 1970-01-01 UTC.
///
/// # Errors
/// With all faults of the request; `insufficient_scope` for a scope that the key lacks; `unavailable` when the service has
/// no secret to sign with.
pub fn create(
    secrets: &SessionSecrets,
    principal: &Principal,
    request: &Request,
    now: u64,
) -> Result<Response, Problem> {
    if !secrets.can_sign() {
        return Err(no_secret());
    }
    no_parameters(&request.query)?;
    let mut body = BodyReader::new(request, &SESSION_FIELDS)?;
    body.finish()?;
    let seconds = body.integer("ttlSeconds").unwrap_or(DEFAULT_TTL);
    let ends = now.saturating_add(seconds.saturating_mul(1000));
    let token = Token {
        environment: principal.environment,
        key_id: principal.key_id.clone(),
        scopes: scopes(principal, body.texts("scopes"))?,
        confinement: Confinement {
            identity: body.text("identity").unwrap_or_default(),
            identity_type: body.text("identityType").and_then(|text| text.parse().ok()),
            platforms: names_of(&mut body, "platforms"),
        },
        origins: names_of(&mut body, "origins"),
        expires_at: principal.expires_at.map_or(ends, |at| ends.min(at)),
    };
    let text = secrets.sign(&token).ok_or_else(no_secret)?;
    if text.len() > MAX_TOKEN {
        let what = format!("make a token of more than {MAX_TOKEN} characters: name fewer");
        body.invalid(&["origins"], &what);
        body.finish()?;
    }
    let document = Object::default()
        .text("token", &text)
        .text_or_null("expiresAt", rfc3339(token.expires_at).as_deref())
        .text("environment", token.environment.as_str());
    let document = confined(document, &token, Some(token.scopes));
    let mut response = Response::json(document.finish().into_bytes(), NO_STORE);
    response.status = 201;
    Ok(response)
}

fn names_of(body: &mut BodyReader, field: &str) -> Option<Names> {
    body.texts(field).map(|names| Names::new(&names))
}

/// Adds what a token is confined to: `identity`, `identityType`, perhaps `scopes`, `platforms`, `origins`.
pub(super) fn confined(document: Object, token: &Token, scopes: Option<Scopes>) -> Object {
    let Confinement { identity, identity_type, platforms } = &token.confinement;
    let mut document = document
        .text("identity", identity)
        .text_or_null("identityType", identity_type.map(IdentityType::as_str));
    if let Some(scopes) = scopes {
        document = document.json("scopes", &names(scopes));
    }
    for (name, names) in [("platforms", platforms), ("origins", &token.origins)] {
        let json = names.as_ref().map(Names::to_json);
        document = document.json(name, json.as_deref().unwrap_or("null"));
    }
    document
}

/// The names of scopes, as a JSON array.
pub(super) fn names(scopes: Scopes) -> String {
    array(&scopes.iter().map(Scope::as_str).collect::<Vec<_>>())
}

/// The scopes asked for; those that read, when none are.
fn scopes(principal: &Principal, asked: Option<Vec<String>>) -> Result<Scopes, Problem> {
    let Some(asked) = asked else {
        let reads = [Scope::CatalogRead, Scope::ConnectionsRead];
        return Ok(reads.into_iter().collect::<Scopes>().and(principal.scopes));
    };
    let asked: Scopes = asked.iter().filter_map(|name| name.parse().ok()).collect();
    match asked.iter().find(|scope| !principal.scopes.contains(*scope)) {
        Some(scope) => Err(lacks("API key", scope)),
        None => Ok(asked),
    }
}

fn no_secret() -> Problem {
    let detail = "The service has no `SESSION_SECRET` to sign tokens with: its operator has to set one of at least 32 characters.";
    let problem = Problem::unavailable("`SESSION_SECRET` is missing or too short");
    Problem { detail: detail.into(), ..problem }
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn origins_are_what_browsers_send() {
        for text in [
            "https://app.example",
            "https://a-1.b.example:8443",
            "https://xn--bcher-kva.example",
            "https://localhost",
            "http://localhost",
            "http://localhost:5173",
            "http://127.0.0.1:443",
            "https://app.example:80",
        ] {
            assert_eq!(origin(text), None, "{text}");
        }
        for text in [
            "",
            "*",
            "null",
            "app.example",
            "//app.example",
            "https://",
            "https://App.example",
            "HTTPS://app.example",
            "https://app.example/",
            "https://app.example/path",
            "https://app.example?x",
            "https://app.example#x",
            "https://*.example",
            "https://app..example",
            "https://app.example.",
            "https://user@app.example",
            "https://app.example:",
            "https://app.example:443",
            "https://app.example:0443",
            "https://app.example:+1",
            "https://app.example:65536",
            "https://a:1:2",
            "http://app.example",
            "http://localhost:80",
            "http://localhost.example",
            "ftp://app.example",
            "https://bücher.example",
            " https://app.example",
            &format!("https://{}", "a".repeat(246)),
        ] {
            assert!(origin(text).is_some(), "{text}");
        }
    }
}
