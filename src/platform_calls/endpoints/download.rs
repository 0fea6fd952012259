//! Links to files that agents' calls return, and `GET /download/{secret}`. For the security of
//! these links, see [`crate::agents::download`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::action_response::is_text;
use crate::agents::approval::seal_context;
use crate::agents::download::{LIFETIME_MS, NewDownload, select};
use crate::auth::endpoints::session::new::no_session_secret;
use crate::auth::key::hash;
use crate::auth::limits::{Access, Limits};
use crate::auth::restriction::TokenRestriction;
use crate::auth::token::Token;
use crate::auth::{Caller, Principal, Shard};
use crate::branding::statements::select_by_account;
use crate::connect::endpoints::pages::Page;
use crate::connect::endpoints::{decrypt_error, encrypt_error, missing_vault_keys};
use crate::connections::model::Connection;
use crate::credentials::minted::Purpose;
use crate::credentials::{SealContext, Sealed};
use crate::http::config::SECRET_HEADER;
use crate::http::context::Context;
use crate::http::handle::handle;
use crate::http::message::{Body, NO_STORE, ProxiedResponse, Request, Response};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::platform_calls::client::PlatformResponse;
use crate::platform_calls::headers::{AGENT, DOWNLOAD, SOURCE, forwarded_response_headers};
use crate::ports::{Clock as _, Db as _, Ports, Random as _, RateLimit as _, first_row};
use crate::storage::metering::Metered;
use crate::texts::language::Language;
use crate::texts::{Text, Values, Wording, download as texts};
use crate::util::json;
use crate::util::media_type::essence;
use crate::util::percent;
use crate::util::rfc3339::rfc3339;

/// The path of links that contain a secret, for agents without a grant.
const PREFIX: &str = "/download/";
/// The platform's headers that a browser needs for a file. All others are removed, because the
/// browser would attribute them to this host.
const FILE_HEADERS: [&str; 4] =
    ["content-encoding", "content-length", "content-type", "last-modified"];
/// The headers of this service to keep in the response.
const OWN_HEADERS: [&str; 5] =
    ["cache-control", "content-disposition", "content-security-policy", "referrer-policy", SOURCE];
/// The maximum length of a file's name, in characters.
const MAX_NAME: usize = 100;

pub fn shard_of_download(path: &str) -> Option<Shard> {
    path.strip_prefix(PREFIX).map(Shard::from_secret)
}

/// The request that a link repeats.
#[derive(Serialize, Deserialize)]
struct StoredRequest {
    token: String,
    /// The MCP endpoint that accepts the token, if the token belongs to a grant.
    endpoint: Option<String>,
    method: String,
    path: String,
    query: String,
    body: String,
}

/// The JSON that an agent gets instead of a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLink {
    content_type: String,
    /// The size in bytes; null if the platform did not send it.
    size: Option<u64>,
    url: String,
    expires_at: Option<String>,
    hint: &'static str,
}

const HINT: &str = "This is a file. Give the user this link, which downloads it until it expires.";
/// The hint for text, such as JSON, that is too large to be returned.
const TOO_LARGE: &str = "The body is larger than 8 MiB, so `select` and `maxBytes` can't shorten it. Ask for fewer items with the action's own parameters. If the user wants the whole body, give them this link, which downloads it until it expires.";

/// Creates the link to a file that an agent's call returns, or to a body that is too large. Returns `None` if the caller is not an
/// agent, the service can't sign tokens, or too many links are open.
pub async fn link<P: Ports>(
    context: &Context<'_>,
    principal: &Principal,
    connection: &Connection,
    (content_type, size, is_too_large): (String, Option<u64>, bool),
    ports: &Metered<'_, P>,
) -> Result<Option<FileLink>, Problem> {
    let (config, request) = (context.config(), context.request);
    let Body::Whole(body) = &request.body else { return Ok(None) };
    if request.header(AGENT).is_none()
        || context.capacity_error.is_some()
        || !config.sessions.can_sign()
    {
        return Ok(None);
    }
    let shard = Shard::new(ports.number()).unwrap_or_default();
    let token = download_token(context, principal, connection, shard);
    let grant = context.caller.grant();
    let stored = StoredRequest {
        token: config.sessions.sign(&token).ok_or_else(no_session_secret)?,
        endpoint: grant.map(|grant| grant.endpoint.clone()),
        method: request.method.clone(),
        path: request.path.clone(),
        query: request.query.clone(),
        body: String::from_utf8_lossy(body).into_owned(),
    };
    let base = config.base_url.as_deref().unwrap_or(&request.origin);
    let (id, url) = if let Some(grant) = grant {
        let id = ports.uuid();
        let url = format!("{base}/mcp/{}/download?id={id}", grant.endpoint);
        (id, url)
    } else {
        let secret =
            config.vault_keys.mint(Purpose::Download, ports).ok_or_else(missing_vault_keys)?;
        let secret = shard.mark(secret);
        (hash(&secret), format!("{base}{PREFIX}{secret}"))
    };
    let seal_context = seal_context(&principal.account, principal.environment, &id);
    let sealed = config.vault_keys.seal(&seal_context, &json::bytes(&stored), ports);
    let new = NewDownload {
        id: &id,
        grant,
        principal,
        identity: &token.restriction.identity,
        identity_type: token.restriction.identity_type,
        connection_id: &connection.id,
        sealed: &sealed.map_err(encrypt_error)?,
        now: context.now,
        expires_at: token.expires_at,
    };
    let is_stored = ports.batch(vec![new.insert()]).await?;
    if first_row::<serde_json::Value>(&is_stored, 0)?.is_none() {
        return Ok(None);
    }
    let expires_at = rfc3339(token.expires_at);
    let hint = if is_too_large && is_text(&essence(&content_type)) { TOO_LARGE } else { HINT };
    Ok(Some(FileLink { content_type, size, url, expires_at, hint }))
}

/// The token for the call that a link repeats: the caller's token, restricted to reads from this
/// connection.
fn download_token(
    context: &Context<'_>,
    principal: &Principal,
    connection: &Connection,
    shard: Shard,
) -> Token {
    let expires_at = context.now.saturating_add(LIFETIME_MS);
    let token = match context.caller {
        Caller::Token(token) => token.clone(),
        Caller::Key(_) | Caller::Person(_) => Token {
            environment: principal.environment,
            shard,
            key_id: principal.key_id.clone(),
            restriction: TokenRestriction {
                identity: connection.identity.clone(),
                identity_type: Some(connection.identity_type),
                ..TokenRestriction::default()
            },
            scopes: principal.scopes,
            limits: Limits::default(),
            presets: Box::default(),
            origins: None,
            expires_at,
            grant: None,
        },
    };
    token.for_call(&connection.id, Access::Read, expires_at)
}

/// Whether a request repeats a call to download its file.
pub fn is_download(request: &Request) -> bool {
    request.header(AGENT) == Some(DOWNLOAD)
}

/// Forwards the platform's response, with the headers of a file.
pub fn file(platform_response: PlatformResponse) -> Result<Response, Problem> {
    let disposition = platform_response.incoming.header("content-disposition").unwrap_or_default();
    let mut response = Response::empty(platform_response.status()?);
    response.add("content-disposition", attachment(disposition, &platform_response.url));
    response.add("content-security-policy", "default-src 'none'; sandbox");
    response.add("cache-control", NO_STORE);
    response.add("referrer-policy", "no-referrer");
    response.add(SOURCE, "platform");
    let mut headers = forwarded_response_headers(platform_response.incoming.headers);
    headers.retain(|(name, _)| FILE_HEADERS.contains(&name.as_str()));
    response.proxied = Some(ProxiedResponse { headers, body: platform_response.incoming.body });
    Ok(response)
}

/// The `Content-Disposition` of a file. The name comes from the platform, or else from the last
/// segment of the URL, without characters that have a meaning in a header, a path or a shell.
/// Letters that are not ASCII are in `filename*` (RFC 6266).
fn attachment(disposition: &str, url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    let sanitize = |text: &str, is_letter: fn(char) -> bool| {
        let letter =
            |letter: char| if is_letter(letter) || "._-".contains(letter) { letter } else { '_' };
        let name: String = text.chars().map(letter).take(MAX_NAME).collect();
        Some(name.trim_start_matches(['.', '_']).to_owned()).filter(|name| !name.is_empty())
    };
    let ascii = |letter: char| letter.is_ascii_alphanumeric();
    let stated_name = extended_name(disposition).or_else(|| plain_name(disposition));
    let resolved_name = stated_name.as_ref().and_then(|name| sanitize(name, char::is_alphanumeric));
    let extended = resolved_name.filter(|name| !name.is_ascii());
    // Programs that don't support `filename*` use the platform's plain name.
    let plain = plain_name(disposition).filter(|_| extended.is_some()).or(stated_name);
    let name = plain
        .and_then(|name| sanitize(&name, ascii))
        .or_else(|| sanitize(last, ascii))
        .unwrap_or_else(|| "download".to_owned());
    let extended = extended
        .map(|name| format!("; filename*=UTF-8''{}", percent::encode(&name)))
        .unwrap_or_default();
    format!("attachment; filename=\"{name}\"{extended}")
}

/// The `filename*` of a `Content-Disposition` header in UTF-8 (RFC 8187), which takes precedence (RFC 6266).
fn extended_name(disposition: &str) -> Option<String> {
    let at = disposition.to_ascii_lowercase().find("filename*=utf-8'")?;
    let value = disposition.get(at..)?.split('\'').nth(2)?;
    percent::decode(value.split(';').next()?.trim()).map(Cow::into_owned)
}

/// The `filename` of a `Content-Disposition` header, which is a token or a quoted string.
fn plain_name(disposition: &str) -> Option<String> {
    let (_, value) = disposition.split_once("filename=")?;
    let Some(quoted) = value.strip_prefix('"') else {
        return value.split(';').next().map(|token| token.trim().to_owned());
    };
    let mut letters = quoted.chars();
    let mut name = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => name.extend(letters.next()),
            _ => name.push(letter),
        }
    }
    Some(name)
}

/// Handles the link of an agent without a grant, which contains a secret.
pub(crate) async fn respond<P: Ports>(
    service: &Service,
    ports: &Metered<'_, P>,
    request: &Request,
    secret: &str,
) -> Result<Response, Problem> {
    let config = service.config();
    let wording = Wording::new(config, Language::for_user(None, request));
    if !config.vault_keys.has_minted(Purpose::Download, secret) {
        return Ok(unavailable_page(&wording));
    }
    let id = hash(secret);
    let allowed = ports.allow(&format!("download {id}")).await;
    allowed.map_err(|wait| Problem::rate_limited("link", wait))?;
    let sets = ports.batch(vec![select(&id, ports.now())]).await?;
    let found = first_row::<crate::agents::download::Download>(&sets, 0)?;
    match found {
        // Do not call the platform for `HEAD`, which link scanners send.
        Some(_) if request.method == "HEAD" => {
            let mut response = Response::empty(200);
            response.add("cache-control", NO_STORE);
            Ok(response)
        }
        Some(found) => {
            let seal_context = found.seal_context();
            let select = select_by_account(seal_context.account, seal_context.environment);
            let branding = first_row(&ports.batch(vec![select]).await?, 0)?.unwrap_or_default();
            let call = (&seal_context, &found.sealed);
            repeat_call(service, ports, &request.origin, call, &wording.for_account(&branding))
                .await
        }
        None => Ok(unavailable_page(&wording)),
    }
}

/// Repeats the call of a link, with all of its checks, and returns the file.
pub(crate) async fn repeat_call<P: Ports>(
    service: &Service,
    ports: &Metered<'_, P>,
    origin: &str,
    (seal_context, sealed): (&SealContext<'_>, &Sealed),
    wording: &Wording<'_>,
) -> Result<Response, Problem> {
    let config = service.config();
    let plain = config.vault_keys.open(seal_context, sealed).map_err(decrypt_error)?;
    let stored: StoredRequest = json::from_bytes(&plain)
        .map_err(|_| Problem::unavailable("a stored request is damaged"))?;
    let headers = [
        (SECRET_HEADER, stored.token.as_str()),
        (AGENT, DOWNLOAD),
        ("content-type", "application/json"),
    ];
    let request = Request {
        method: stored.method,
        origin: origin.to_owned(),
        path: stored.path,
        query: stored.query,
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        body: Body::Whole(stored.body.into_bytes()),
        endpoint: stored.endpoint,
    };
    let response = Box::pin(handle(service, ports.inner(), &request)).await;
    let mut headers = response.headers;
    Ok(match (response.status, response.proxied) {
        (200..=299, Some(proxied)) => {
            headers.retain(|(name, _)| OWN_HEADERS.contains(name));
            Response { headers, proxied: Some(proxied), ..Response::empty(200) }
        }
        (status, Some(_)) => {
            let (status, paragraphs) = (status.to_string(), [&texts::STATUS]);
            page(wording, 502, &paragraphs, &[("status", &status)])
        }
        (502 | 504, None) => page(wording, 502, &[&texts::NO_RESPONSE], &[]),
        // The failure is temporary, so the link stays valid.
        (status @ (429 | 500..), None) => {
            let error_headers = ["content-type", "cache-control", "retry-after"];
            headers.retain(|(name, _)| error_headers.contains(name));
            Response { headers, body: response.body, log: response.log, ..Response::empty(status) }
        }
        _ => unavailable_page(wording),
    })
}

/// The page for a link that is unknown, has expired, or can no longer be used.
fn unavailable_page(wording: &Wording<'_>) -> Response {
    page(wording, 410, &[&texts::GONE_WHY], &[])
}

fn page(wording: &Wording<'_>, status: u16, paragraphs: &[&Text], values: Values<'_>) -> Response {
    let heading = if status == 410 { texts::GONE } else { texts::CAN_NOT };
    Page::new(wording, status, &heading, paragraphs, values).response()
}

#[cfg(test)]
mod tests {
    use super::attachment;

    #[test]
    fn file_names_are_sanitized() {
        for (disposition, url, name) in [
            ("", "https://a.example/v2/files/report.pdf?x=1", "report.pdf"),
            ("attachment; filename=\"my photo.png\"", "https://a.example/x", "my_photo.png"),
            ("inline; filename=a.png; size=3", "https://a.example/x", "a.png"),
            ("attachment; filename=\"../../etc/passwd\"", "https://a.example/x", "etc_passwd"),
            ("attachment; filename=\"a\\\"; b\"", "https://a.example/x", "a___b"),
            (
                "attachment; filename=\"Q3; final.pdf\"; size=3",
                "https://a.example/x",
                "Q3__final.pdf",
            ),
            ("attachment; filename=\".bashrc\"", "https://a.example/x", "bashrc"),
            ("attachment; filename=\"\"", "https://a.example/x", "x"),
            ("", "https://a.example/", "download"),
            (
                "attachment; filename=a.pdf; filename*=UTF-8''b%20c.pdf",
                "https://a.example/",
                "b_c.pdf",
            ),
            ("attachment; filename*=utf-8'en'..%2Fx%22.pdf", "https://a.example/", "x_.pdf"),
            ("attachment; filename*=UTF-8''%zz; filename=a", "https://a.example/", "a"),
            ("attachment; filename*=ISO-8859-1''%e4; filename=a", "https://a.example/", "a"),
        ] {
            let expected = format!("attachment; filename=\"{name}\"");
            assert_eq!(attachment(disposition, url), expected, "{disposition} {url}");
        }
        for (disposition, expected) in [
            ("attachment; filename=\"ä\"", "filename=\"x\"; filename*=UTF-8''%C3%A4"),
            (
                "attachment; filename=\"Ubersicht.pdf\"; filename*=UTF-8''%C3%9Cbersicht.pdf",
                "filename=\"Ubersicht.pdf\"; filename*=UTF-8''%C3%9Cbersicht.pdf",
            ),
            // Removes invisible characters, which could reverse the text.
            (
                "attachment; filename*=UTF-8''%E2%80%AEfdp.exe%C3%BC",
                "filename=\"fdp.exe_\"; filename*=UTF-8''fdp.exe%C3%BC",
            ),
        ] {
            let expected = format!("attachment; {expected}");
            assert_eq!(attachment(disposition, "https://a.example/x"), expected);
        }
        let long = attachment("", &format!("https://a.example/{}", "a".repeat(300)));
        assert_eq!(long, format!("attachment; filename=\"{}\"", "a".repeat(100)));
    }
}
