//! The fuzz targets: parsers of untrusted bytes. A target must not panic for any input, and asserts
//! the parser's documented properties.

use std::rc::Rc;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use connector_vault::auth::Shard;
use connector_vault::auth::caller::shard_of;
use connector_vault::auth::key::{ApiKey, KeyHash};
use connector_vault::auth::mac::mac;
use connector_vault::auth::token::SessionSecrets;
use connector_vault::catalog::action::unit::{self, Unit, UnitTable};
use connector_vault::catalog::action_search::index::Platforms;
use connector_vault::catalog::detail::{ConnectorDetail, OAuth2};
use connector_vault::catalog::format::current::Current;
use connector_vault::catalog::format::layout::StringTable;
use connector_vault::catalog::format::list::ListRef;
use connector_vault::catalog::format::pack::{self, NameEntry};
use connector_vault::catalog::format::section::{Section, SectionRef};
use connector_vault::catalog::format::stored::SegmentId;
use connector_vault::connections::cursor::Cursor;
use connector_vault::credentials::{Kind as Sealing, SealContext, Sealed, VaultKeys};
use connector_vault::http::endpoint::{Endpoint, Keyed};
use connector_vault::http::route::Route;
use connector_vault::importer::overrides::Overrides;
use connector_vault::importer::providers::Providers;
use connector_vault::importer::read;
use connector_vault::oauth::{callback, response as token_response};
use connector_vault::platform_calls::{address, headers};
use connector_vault::ports::{Blob, HttpResponse};
use connector_vault::terms::Environment;
use connector_vault::util::crc32::crc32;
use connector_vault::util::percent;

use super::service;

/// A fuzz target: a function that must handle any bytes.
pub type Target = fn(&[u8]);

/// All targets, by name.
pub const TARGETS: [(&str, Target); 17] = [
    ("path", path),
    ("query", query),
    ("body", request_body),
    ("key", key),
    ("token", token),
    ("cursor", cursor),
    ("state", state),
    ("sealed", sealed),
    ("answer", response),
    ("current", current),
    ("section", section),
    ("unit", action_unit),
    ("import", import),
    ("providers", providers),
    ("proxy", proxy),
    ("mcp", mcp),
    ("percent", percent_decoding),
];

fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// Splits the input into its first byte and the rest.
fn split(data: &[u8]) -> Option<(usize, &[u8])> {
    let (first, rest) = data.split_first()?;
    Some((usize::from(*first), rest))
}

pub fn path(data: &[u8]) {
    // Skip inputs without a leading slash, which the path of every URL has.
    let Some(text) = text(data).filter(|text| text.starts_with('/')) else { return };
    if let Route::Resource(resource) = Route::parse(text) {
        // The proxied part of a path is not decoded.
        let is_decoded = !resource.has(Keyed::is_proxy);
        assert!(
            !is_decoded || resource.arguments().iter().all(|argument| !argument.contains('\0'))
        );
    }
    service::send(&service::request("GET", text, "", &[]));
}

/// Input: the number of an endpoint, and a query.
pub fn query(data: &[u8]) {
    let Some((index, rest)) = split(data) else { return };
    let Some(query) = text(rest) else { return };
    let keyed = keyed(index);
    if keyed.spec().body.is_some() || keyed.is_proxy() {
        return;
    }
    let (method, path) = (keyed.spec().method.as_str(), service::path(keyed));
    service::send(&service::request(method, &path, query, &[]));
}

fn keyed(index: usize) -> Keyed {
    let all = Endpoint::ALL.iter().filter_map(|endpoint| match endpoint {
        Endpoint::Keyed(keyed) => Some(*keyed),
        Endpoint::Open(_) => None,
    });
    let all: Vec<Keyed> = all.collect();
    all[index % all.len()]
}

/// Input: the number of an endpoint with a body, and a body.
pub fn request_body(data: &[u8]) {
    let Some((index, rest)) = split(data) else { return };
    let all = (0..Endpoint::ALL.len()).map(keyed);
    let with_body: Vec<Keyed> = all.filter(|keyed| keyed.spec().body.is_some()).collect();
    let keyed = with_body[index % with_body.len()];
    let (method, path) = (keyed.spec().method.as_str(), service::path(keyed));
    service::send(&service::request(method, &path, "", rest));
}

pub fn key(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let _ = shard_of(text);
    if let Ok(key) = ApiKey::parse(text) {
        assert_eq!(key.reveal(), text);
        assert!(!format!("{key:?}").contains(text));
    }
}

const SECRET: &str = "an example of a secret that signs";

/// Input: the claims of a token. Also tests a token with these claims and a valid signature.
pub fn token(data: &[u8]) {
    let secrets = SessionSecrets::new(SECRET, "");
    let Some(text) = text(data) else { return };
    assert!(secrets.verify(text).is_none(), "it was not signed");
    for prefix in ["st_test_", "st_live_", ""] {
        for claims in [Base64UrlUnpadded::encode_string(data), text.to_owned()] {
            let signed = format!("{prefix}{claims}");
            let signature = mac(SECRET.as_bytes(), &[signed.as_bytes()]);
            let signature = Base64UrlUnpadded::encode_string(&signature);
            if let Some(token) = secrets.verify(&format!("{signed}.{signature}")) {
                let _ = token.is_valid(1, Some("https://app.example"), "https://vault.example");
                let _ = token.rate_key();
            }
        }
    }
}

pub fn cursor(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let key = KeyHash([7; 32]);
    assert!(Cursor::verify(text, &key, "").is_err(), "it was not signed");
    let signature = mac(&key.0, &[data]);
    let half = format!("{:032x}", u128::from_be_bytes(*signature.first_chunk().unwrap()));
    if let Ok(cursor) = Cursor::verify(&format!("{text}{half}"), &key, "") {
        assert_eq!(cursor.sign(&key, ""), format!("{text}{half}"));
    }
}

/// Input: the query of a platform's redirect to the callback.
pub fn state(data: &[u8]) {
    let Some(text) = text(data) else { return };
    if let Ok(read) = callback::read(text) {
        assert!(read.state.as_ref().is_none_or(|state| !state.is_empty()));
        let _ = Shard::from_secret(read.state.as_deref().unwrap_or_default());
        let _ = read.outcome("auth_code");
        let _ = callback::check_issuer(read.iss.as_deref(), None, &["https://id.example/token"]);
    }
}

pub fn sealed(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let keys = VaultKeys::parse("one:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=").unwrap();
    let context = SealContext {
        account: "acme",
        environment: Environment::Test,
        kind: Sealing::Connection,
        id: "a",
    };
    assert!(keys.open(&context, &Sealed::from(text.to_owned())).is_err());
    assert!(keys.open(&context, &Sealed::from(format!("one.{text}"))).is_err());
    let _ = VaultKeys::parse(text);
}

/// Input: a status, the length of a header, the value of the header, and a body.
pub fn response(data: &[u8]) {
    let Some((kind, rest)) = split(data) else { return };
    let Some((length, rest)) = split(rest) else { return };
    let (header, body) = rest.split_at(length.min(rest.len()));
    let Some(header) = text(header) else { return };
    let statuses = [200, 201, 204, 302, 400, 401, 403, 429, 500, 503];
    let response = Ok(HttpResponse {
        status: statuses[kind % statuses.len()],
        headers: vec![("retry-after".into(), header.into())],
        body: body.to_vec(),
    });
    if let Ok(tokens) = token_response::read(&oauth(), &response, 1_800_000_000_000) {
        assert!(!tokens.access_token.is_empty());
    }
}

/// An auth method with every member that affects token responses.
fn oauth() -> OAuth2 {
    serde_json::from_value(serde_json::json!({
        "grant": "authorization_code", "issuer": null, "authorizationUrl": "https://id.example/authorize",
        "tokenUrl": "https://id.example/token", "refreshUrl": null, "revocationUrl": null, "scopes": [],
        "scopeSeparator": ",", "pkce": "S256", "tokenAuth": "client_secret_basic", "clientIdParameter": "client_id",
        "authorizationParameters": {}, "tokenParameters": {}, "tokenBody": "form", "tokenPointer": "/authed_user",
        "tokenMembers": ["realmId"],
    }))
    .unwrap()
}

/// Input: the record `current`, without a valid checksum, which the target adds.
pub fn current(data: &[u8]) {
    let _ = Current::open(data.to_vec());
    let mut bytes = [b"CVAULT\x02\0".as_slice(), &crc32(data).to_le_bytes(), data].concat();
    bytes[6] = u8::try_from(connector_vault::catalog::format::stored::FORMAT).unwrap();
    if let Ok(current) = Current::open(bytes) {
        let _ = (current.list(""), current.list("a"), current.connectors(), current.names());
        let _ = (current.pack("github"), current.packs().count());
    }
    if let Some(list) = ListRef::read(data) {
        let _ = ListRef::read(&list.write()).unwrap();
        let _ = list.parts_for_rows([0, 1, usize::MAX]);
        let _ = (list.parts_for_title("a"), list.parts_for_key("a"), list.parts_for_scan(true));
        let _ = list.parts_for_words(["a", "z"].into_iter());
    }
}

/// Input: the length of a head, and a section, to which the target adds a valid checksum.
pub fn section(data: &[u8]) {
    let Some((head, rest)) = split(data) else { return };
    let segment = SegmentId([0; 16]);
    let head = head.min(rest.len());
    let place = SectionRef { segment, base: 0, head, crc: crc32(&rest[..head]) };
    let blob: Rc<dyn Blob> = Rc::new(rest.to_vec());
    let Ok(section) = Section::open(&blob, place) else { return };
    for index in 0..section.len().min(8) {
        let _ = section.block(index);
    }
    let _ = pack::find(&section, segment, "a");
    if let Ok(names) = pack::names(&section) {
        for index in 0..names.len().min(4) {
            if let Ok(NameEntry::Platform(packed)) = pack::get(&section, segment, index) {
                let _ = (packed.detail().map(<[u8]>::len), packed.units().is_ok());
            }
        }
    }
    if let Ok(platforms) = Platforms::open(&section, 9) {
        for (index, platform) in platforms.all().iter().enumerate().take(4) {
            let _ = (platform.end, platforms.features(index).is_ok());
        }
    }
}

/// Input: a unit of actions, compressed or uncompressed.
pub fn action_unit(data: &[u8]) {
    let inflated = unit::inflate(data);
    for bytes in [Some(data), inflated.as_deref()].into_iter().flatten() {
        if let Some(unit) = Unit::open(bytes) {
            for index in 0..unit.keys.len().min(4) {
                let key = String::from_utf8_lossy(unit.keys.get(index)).into_owned();
                let _ = unit.action(&key);
            }
            let _ = (unit.definition(0), unit.definition(u32::MAX));
        }
        if let Some(texts) = StringTable::open(bytes) {
            assert_eq!(
                (0..texts.len()).map(|index| texts.get(index).len()).max().is_some(),
                !texts.is_empty()
            );
        }
    }
    let _ = serde_json::from_slice::<UnitTable>(data);
    let _ = serde_json::from_slice::<ConnectorDetail>(data);
}

/// Input: a document to import.
pub fn import(data: &[u8]) {
    if let Ok(text) = read::text(data) {
        let _ = read::value(text);
        let _ = read::read(text);
    }
}

/// Input: a `providers.toml` or a `catalog.toml`.
pub fn providers(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let _ = Providers::parse("providers.toml", text);
    let _ = Overrides::parse("catalog.toml", text);
}

/// Input: a path, a query, and headers, on separate lines.
pub fn proxy(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let mut lines = text.lines();
    let (path, query) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    if let Some(url) = address::url_on_server("https://api.example/v1", path, query) {
        assert!(url.starts_with("https://api.example/v1/"), "{url}");
        assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{url}");
        let _ = address::without_parameters(&url, |name, _| name == "key");
        if let Some(next) = address::redirect_target(&url, query) {
            assert!(
                next.starts_with("https://api.example/") || next == "https://api.example",
                "{next}"
            );
        }
    }
    let pairs = lines.filter_map(|line| line.split_once(':'));
    let sent: Vec<_> =
        pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    for (name, _) in headers::forwarded_request_headers(&sent, &["x-service-secret".to_owned()]) {
        assert!(
            !["x-service-secret", "cookie", "host", "connection", "transfer-encoding"]
                .contains(&name.as_str())
        );
    }
    for (name, _) in headers::forwarded_response_headers(sent) {
        assert!(
            !["set-cookie", "x-request-id", "connection", "transfer-encoding"]
                .contains(&name.as_str())
        );
    }
    let path = format!("{}/{path}", service::path(Keyed::ProxyGet));
    service::send(&service::request("GET", &path, query, &[]));
}

pub fn mcp(data: &[u8]) {
    service::send(&service::request("POST", "/mcp", "", data));
}

pub fn percent_decoding(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let _ = (percent::decode(text), percent::decode_form(text));
    assert_eq!(percent::decode(&percent::encode(text)).as_deref(), Some(text));
}
