//! OAuth clients of agents. A client is identified by the URL of its metadata document. Otherwise
//! it registers (RFC 7591), and its client ID is the signed registration. Clients are not stored.

use std::net::Ipv6Addr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::display_name::display_name;
use crate::auth::key::hash;
use crate::auth::token::SessionSecrets;
use crate::targets::host::Host;
use crate::util::json;

const PREFIX: &str = "mc_";
/// The maximum length of a metadata document, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 5 << 10;
/// The maximum number of redirect URIs.
const MAX_REDIRECT_URIS: usize = 10;
/// The maximum length of a redirect URI, in characters.
const MAX_REDIRECT_URI_LENGTH: usize = 512;
/// The maximum length of a signed registration, in characters.
const MAX_CLIENT_ID_LENGTH: usize = 4096;
/// The maximum length of the URL of a metadata document, in characters.
const MAX_DOCUMENT_URL: usize = 512;

/// Schemes that browsers or operating systems handle themselves, so an authorization code would
/// never reach the user's program. Some of them start system programs with the URL as an argument:
/// `ms-msdt:` could run commands (CVE-2022-30190).
const FORBIDDEN_SCHEMES: [&str; 29] = [
    "about",
    "blob",
    "chrome",
    "chrome-extension",
    "data",
    "file",
    "filesystem",
    "ftp",
    "intent",
    "jar",
    "javascript",
    "ldap",
    "mailto",
    "moz-extension",
    "nfs",
    "res",
    "resource",
    "search-ms",
    "sftp",
    "shell",
    "sms",
    "smb",
    "ssh",
    "tel",
    "telnet",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];
/// The prefix of schemes that Windows handles.
const WINDOWS_SCHEMES: &str = "ms-";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// SHA-256 of the client ID. The token endpoint compares it.
    pub hash: String,
    /// The URL of the client's metadata document; `None` for a registered client.
    pub url: Option<String>,
    /// The unverified name from the metadata.
    pub name: Option<String>,
    redirect_uris: Vec<String>,
}

/// The claims in the client ID of a registered client.
#[derive(Debug, Serialize, Deserialize)]
struct Registration {
    #[serde(rename = "e")]
    endpoint: String,
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(rename = "r")]
    redirect_uris: Vec<String>,
    #[serde(rename = "t")]
    issued_at: u64,
}

/// The members of client metadata (RFC 7591, section 2) that the service uses.
#[derive(Debug, Deserialize)]
struct Metadata {
    client_id: Option<String>,
    client_name: Option<Value>,
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: Option<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
}

/// An error in client metadata: a code of RFC 7591, section 3.2.2, and a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataError {
    pub code: &'static str,
    pub message: &'static str,
}

const fn invalid(message: &'static str) -> MetadataError {
    MetadataError { code: "invalid_client_metadata", message }
}

const fn invalid_uri(message: &'static str) -> MetadataError {
    MetadataError { code: "invalid_redirect_uri", message }
}

impl Metadata {
    fn parse(document: &[u8]) -> Result<Self, MetadataError> {
        let metadata: Self = json::from_bytes(document)
            .map_err(|_| invalid("The metadata must be a JSON object with `redirect_uris`."))?;
        if metadata.redirect_uris.is_empty() || metadata.redirect_uris.len() > MAX_REDIRECT_URIS {
            return Err(invalid_uri("`redirect_uris` must have 1 to 10 items."));
        }
        if let Some(message) = metadata.redirect_uris.iter().find_map(|uri| redirect_uri(uri)) {
            return Err(invalid_uri(message));
        }
        let has = |list: &Option<Vec<String>>, name: &str| {
            list.as_ref().is_none_or(|list| list.iter().any(|item| item == name))
        };
        if !has(&metadata.grant_types, "authorization_code") {
            return Err(invalid("`grant_types` must contain `authorization_code`."));
        }
        if !has(&metadata.response_types, "code") {
            return Err(invalid("`response_types` must contain `code`."));
        }
        Ok(metadata)
    }

    /// The display name. Returns `None` if no visible characters remain.
    fn name(&self) -> Option<String> {
        let name = self.client_name.as_ref().and_then(Value::as_str)?;
        Some(display_name(name)).filter(|shown| !shown.is_empty())
    }
}

impl Client {
    /// Registers a client at an endpoint. Returns the registration response (RFC 7591, section 3.2.1), or `None` without a
    /// signing secret.
    pub fn register(
        secrets: &SessionSecrets,
        endpoint: &str,
        document: &[u8],
        now: u64,
    ) -> Result<Option<Value>, MetadataError> {
        let metadata = Metadata::parse(document)?;
        let issued_at = now.checked_div(1000).unwrap_or_default();
        let (name, redirect_uris) = (metadata.name(), metadata.redirect_uris);
        let registered =
            Registration { endpoint: endpoint.to_owned(), name, redirect_uris, issued_at };
        let Some(id) = secrets.sign_text(PREFIX, &registered) else { return Ok(None) };
        if id.len() > MAX_CLIENT_ID_LENGTH {
            return Err(invalid_uri("The redirect URIs are too long in total."));
        }
        // Clients get no secret. RFC 7591 lets the server replace the authentication method that a
        // client requested.
        let mut response = serde_json::json!({
            "client_id": id,
            "client_id_issued_at": issued_at,
            "redirect_uris": registered.redirect_uris,
            "token_endpoint_auth_method": "none",
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
        });
        if let (Some(name), Some(response)) = (registered.name, response.as_object_mut()) {
            response.insert("client_name".to_owned(), name.into());
        }
        Ok(Some(response))
    }

    /// Verifies the client ID of a client that registered at this endpoint.
    pub fn from_registration(secrets: &SessionSecrets, endpoint: &str, id: &str) -> Option<Self> {
        let registered: Registration = secrets.verify_text(PREFIX, id)?;
        let Registration { name, redirect_uris, .. } = registered;
        (registered.endpoint == endpoint).then(|| Self {
            hash: hash(id),
            url: None,
            name,
            redirect_uris,
        })
    }

    /// Parses the metadata document at `url`.
    pub fn from_document(url: &str, document: &[u8]) -> Result<Self, MetadataError> {
        let metadata = Metadata::parse(document)?;
        if metadata.client_id.as_deref() != Some(url) {
            return Err(invalid("The `client_id` of the document is not the document's URL."));
        }
        if metadata.token_endpoint_auth_method.as_deref().is_some_and(|method| method != "none") {
            return Err(invalid("`token_endpoint_auth_method` must be `none`."));
        }
        let name = metadata.name();
        let redirect_uris = metadata.redirect_uris;
        Ok(Self { hash: hash(url), url: Some(url.to_owned()), name, redirect_uris })
    }

    /// Whether a client ID is the URL of a metadata document. Such a URL must have a path.
    pub fn is_document_url(id: &str) -> bool {
        let path = id.strip_prefix("https://").and_then(|rest| rest.split_once('/'));
        // URL parsers also treat `%2e` as a dot.
        let plain = |segment: &str| segment.to_ascii_lowercase().replace("%2e", ".");
        let is_dotted = |path: &str| {
            path.split('/').any(|segment| matches!(plain(segment).as_str(), "." | ".."))
        };
        id.len() <= MAX_DOCUMENT_URL
            && path.is_some_and(|(_, path)| {
                !path.is_empty() && !path.contains(['?', '#']) && !is_dotted(path)
            })
    }

    /// Whether a client may use a redirect URI. The port of a loopback address may differ (RFC
    /// 8252, section 7.3).
    pub fn may_redirect_to(&self, uri: &str) -> bool {
        self.redirect_uris.iter().any(|known| {
            known == uri || matches!((loopback(known), loopback(uri)), (Some(known), Some(requested)) if known == requested)
        })
    }
}

/// The host and the path of a loopback redirect URI, without the port. Returns `None` for other
/// URIs.
fn loopback(uri: &str) -> Option<(&str, &str)> {
    let rest = uri.strip_prefix("http://")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end)?;
    let colon = authority.rfind(':').filter(|at| authority.rfind(']').is_none_or(|end| end < *at));
    let (host, port) = authority.split_at_checked(colon.unwrap_or(authority.len()))?;
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    let is_valid_port = port.strip_prefix(':').is_none_or(is_port);
    (is_loopback(host) && is_valid_port).then_some((host, path))
}

fn is_loopback(host: &str) -> bool {
    let ip = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    ip.map_or(host == "localhost" || host == "127.0.0.1", |ip| {
        ip.parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback())
    })
}

/// The target of a redirect URI, as the consent page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A website: the host of an `https` URL.
    Site(String),
    /// A program on the user's machine that listens on a loopback port.
    Machine,
    /// A program on the user's machine that has registered this scheme.
    Scheme(String),
}

impl Destination {
    pub fn from_redirect_uri(uri: &str) -> Self {
        if loopback(uri).is_some() {
            return Self::Machine;
        }
        match uri.strip_prefix("https://") {
            Some(rest) => {
                Self::Site(rest.split(['/', '?']).next().unwrap_or_default().to_ascii_lowercase())
            }
            None => Self::Scheme(uri.split(':').next().unwrap_or_default().to_ascii_lowercase()),
        }
    }
}

/// Checks a redirect URI: `https`, `http` with a loopback address, or a native app's private-use scheme (RFC 8252).
fn redirect_uri(uri: &str) -> Option<&'static str> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"'<>\\^`{|}".contains(&byte);
    if !(1..=MAX_REDIRECT_URI_LENGTH).contains(&uri.len()) || !uri.bytes().all(is_plain) {
        return Some("A redirect URI must have 1 to 512 characters that a URI may contain.");
    }
    if uri.contains('#') {
        return Some("A redirect URI must not have a fragment.");
    }
    let scheme = uri.split(':').next().unwrap_or_default();
    let has_path = |rest: &str| rest.starts_with('/') && rest.len() > 1;
    match uri.get(scheme.len()..).and_then(|rest| rest.strip_prefix(':')) {
        Some(rest) if scheme == "https" => {
            let authority = rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?']).next());
            let authority = authority.unwrap_or_default();
            let (host, port) = authority.split_once(':').unwrap_or((authority, "443"));
            let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
            (Host::parse(host) != Host::Public || !is_port).then_some(
                "An https redirect URI must have a public host name, without a user name or an IP address.",
            )
        }
        Some(_) if scheme == "http" => loopback(uri)
            .is_none()
            .then_some("An http redirect URI must lead to localhost, 127.0.0.1 or [::1]."),
        Some(rest) => {
            let is_scheme_character = |byte: u8| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte)
            };
            let is_scheme = scheme.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
                && scheme.bytes().all(is_scheme_character)
                && !scheme.starts_with(WINDOWS_SCHEMES)
                && !FORBIDDEN_SCHEMES.contains(&scheme);
            (!is_scheme || !has_path(rest)).then_some(
                "A redirect URI must begin with `https://`, with `http://` and a loopback address, or with the scheme of a program, in lower case.",
            )
        }
        None => Some("A redirect URI must be absolute."),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::display_name::MAX_NAME;
    use super::{Client, Destination, redirect_uri};
    use crate::auth::token::SessionSecrets;

    #[test]
    fn accepts_https_loopback_and_private_use_redirect_uris() {
        for uri in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://app.example:8443/cb?x=1",
            "http://localhost:3334/oauth/callback",
            "http://127.0.0.1/",
            "http://127.0.0.1:33418",
            "http://[::1]:9/cb",
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "com.example.app:/oauth",
        ] {
            assert_eq!(redirect_uri(uri), None, "{uri}");
        }
        for uri in [
            "",
            "/cb",
            "app.example/cb",
            "https://",
            "https:///cb",
            "https:app.example/cb",
            "https://user@app.example/cb",
            "https://app.example:0/cb",
            "https://app.example:x/cb",
            "https://10.0.0.1/cb",
            "https://localhost/cb",
            "https://printer.local/cb",
            "https://app.example/cb#x",
            "https://app.example/a b",
            "https://app.example/\"",
            "http://app.example/cb",
            "http://localhost.evil.example/cb",
            "http://localhost@evil.example/cb",
            "http://localhost:0/cb",
            "http://localhost:99999/cb",
            "http://127.0.0.2/cb",
            "HTTPS://app.example/cb",
            "JavaScript://x/%0aalert(1)",
            "javascript:alert(1)",
            "javascript://x/%0aalert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "blob:https://app.example/x",
            "ms-msdt:/id",
            "search-ms://x/query",
            "view-source:/x",
            "cursor:x",
            "1a://x",
            &format!("https://app.example/{}", "a".repeat(512)),
        ] {
            assert!(redirect_uri(uri).is_some(), "{uri}");
        }
    }

    #[test]
    fn loopback_redirect_uris_may_differ_in_port() {
        let document = json!({"client_id": "https://app.example/c", "redirect_uris": [
            "https://app.example/cb", "http://localhost:1/cb", "http://[::1]/cb", "cursor://a/cb",
        ]});
        let client =
            Client::from_document("https://app.example/c", document.to_string().as_bytes())
                .unwrap();
        for (uri, is_allowed) in [
            ("https://app.example/cb", true),
            ("https://app.example:443/cb", false),
            ("https://app.example/cb/", false),
            ("https://app.example/cb?x", false),
            ("https://APP.example/cb", false),
            ("http://localhost:1/cb", true),
            ("http://localhost:2/cb", true),
            ("http://localhost/cb", true),
            ("http://localhost:2/other", false),
            ("http://localhost:2/cb?x", false),
            ("http://127.0.0.1:1/cb", false),
            ("http://localhost:2@evil.example/cb", false),
            ("http://[::1]:7/cb", true),
            ("cursor://a/cb", true),
            ("cursor://a:1/cb", false),
        ] {
            assert_eq!(client.may_redirect_to(uri), is_allowed, "{uri}");
        }
        for (uri, destination) in [
            ("https://App.example:8443/cb?x", Destination::Site("app.example:8443".into())),
            ("http://[::1]:7/cb", Destination::Machine),
            ("cursor://a/cb", Destination::Scheme("cursor".into())),
        ] {
            assert_eq!(Destination::from_redirect_uri(uri), destination);
        }
    }

    #[test]
    fn metadata_document_must_contain_its_url() {
        let url = "https://app.example/client.json";
        let parse = |document: serde_json::Value| {
            Client::from_document(url, document.to_string().as_bytes())
        };
        let uris = json!(["https://app.example/cb"]);
        let valid_document = json!({"client_id": url, "client_name": "App", "redirect_uris": uris, "token_endpoint_auth_method": "none"});
        assert_eq!(parse(valid_document).unwrap().name.as_deref(), Some("App"));
        for invalid_document in [
            json!({"redirect_uris": uris}),
            json!({"client_id": "https://app.example/other.json", "redirect_uris": uris}),
            json!({"client_id": url, "redirect_uris": []}),
            json!({"client_id": url, "redirect_uris": ["javascript:alert(1)"]}),
            json!({"client_id": url}),
            json!({"client_id": url, "redirect_uris": uris, "token_endpoint_auth_method": "client_secret_basic"}),
            json!({"client_id": url, "redirect_uris": uris, "grant_types": ["client_credentials"]}),
            json!({"client_id": url, "redirect_uris": uris, "response_types": ["token"]}),
            json!([]),
        ] {
            assert!(parse(invalid_document.clone()).is_err(), "{invalid_document}");
        }
        for (id, is_document_url) in [
            (url, true),
            ("https://app.example", false),
            ("https://app.example/", false),
            ("https://app.example/a/../b", false),
            ("https://app.example/c?x", false),
            ("https://app.example/c#x", false),
            ("http://app.example/c", false),
            ("mc_x", false),
        ] {
            assert_eq!(Client::is_document_url(id), is_document_url, "{id}");
        }
    }

    #[test]
    fn registrations_are_signed_and_bound_to_their_endpoint() {
        let secrets = SessionSecrets::new(&"s".repeat(32), "");
        let name = format!("\u{202e}App\u{0}\u{200b} {}", "x".repeat(100));
        let document = json!({"client_name": name, "redirect_uris": ["http://localhost:1/cb"]});
        let register = |secrets: &SessionSecrets| {
            Client::register(secrets, "e", document.to_string().as_bytes(), 5000).unwrap()
        };
        let response = register(&secrets).unwrap();
        let id = response["client_id"].as_str().unwrap();
        let client = Client::from_registration(&secrets, "e", id).unwrap();
        assert!(client.may_redirect_to("http://localhost:2/cb"));
        let shown = client.name.unwrap();
        assert!(shown.starts_with("App x") && shown.chars().count() <= MAX_NAME, "{shown}");
        assert_eq!(response["client_name"], shown);
        assert_eq!(response["client_id_issued_at"], 5);
        let other = SessionSecrets::new(&"o".repeat(32), "");
        assert!(Client::from_registration(&secrets, "f", id).is_none());
        assert!(Client::from_registration(&other, "e", id).is_none());
        assert!(Client::from_registration(&secrets, "e", &id.replacen("mc_", "ar_", 1)).is_none());
        assert!(register(&SessionSecrets::default()).is_none());
    }
}
