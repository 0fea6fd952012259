//! What the operator sets for a deployment.

use serde::{Deserialize, Deserializer};

use crate::auth::token::SessionSecrets;
use crate::catalog::cache::DEFAULT_SEGMENT_BYTES;
use crate::connect::rules::return_url;
use crate::credentials::VaultKeys;
use crate::targets::{self, Targets};
use crate::util::invisible::visible;

/// The header that carries the API key (specification, part 5).
pub const SECRET_HEADER: &str = "x-service-secret";

/// Settings of the service, from the Worker's variables and secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The headers that may carry the API key, in lower case; [`SECRET_HEADER`] first.
    pub secret_headers: Vec<String>,
    /// Which origins' pages may call the API.
    pub allowed_origins: AllowedOrigins,
    /// How many bytes of segments an isolate caches.
    pub segment_bytes: usize,
    /// The secrets that sign tokens; without them, none can be created.
    pub sessions: SessionSecrets,
    /// The most rows that a list of connections may read. A list that would read more is refused before it runs.
    pub max_rows_read: u64,
    /// The most bytes of a database, as the platform's plan has it.
    pub max_database_bytes: u64,
    /// Where to report vulnerabilities: URIs, the preferred one first.
    pub security_contacts: Vec<String>,
    /// The keys that seal credentials; without any, there are none.
    pub vault_keys: VaultKeys,
    /// How long events are kept, in milliseconds.
    pub event_ms: u64,
    /// How long entries of the audit are kept, in milliseconds.
    pub audit_ms: u64,
    /// Which calls to platforms write an event.
    pub call_events: CallEvents,
    /// Whether names of accounts at platforms are stored and shown.
    pub account_names: bool,
    /// How often credentials are checked although nobody uses them, in milliseconds.
    pub check_ms: u64,
    /// Whether the service may call the machine's own addresses, and by plain HTTP: for development only.
    pub local_targets: bool,
    /// The name of the operator's app, as end users know it.
    pub app_name: Option<String>,
    /// The app's logo: an `https:` URL, or a path of this service.
    pub app_logo_url: Option<String>,
    /// The app's accent colour: `#` and six hexadecimal digits, in lower case.
    pub app_color: Option<String>,
    /// The address of the operator's app.
    pub app_url: Option<String>,
    /// The service's own address, without a path and a slash at its end; without it, agents can't sign in.
    pub base_url: Option<String>,
    /// How long an agent's access token lives, in milliseconds.
    pub agent_token_ms: u64,
    /// What is wrong with the variables, for the log. Each of them counts as absent.
    pub faults: Vec<String>,
}

/// The Worker's variables and secrets. One that is neither a text nor a whole number counts as absent, which is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE", default)]
pub struct Variables {
    /// Further headers that carry the secret, separated by commas.
    #[serde(deserialize_with = "text")]
    pub secret_headers: String,
    /// Origins whose pages may call the API, separated by commas, or `*`.
    #[serde(deserialize_with = "text")]
    pub allowed_origins: String,
    /// How many bytes of segments an isolate caches.
    #[serde(deserialize_with = "text")]
    pub segment_cache_bytes: String,
    /// The secret that signs tokens. Ignored when it has less than 32 characters.
    #[serde(deserialize_with = "text")]
    pub session_secret: String,
    /// The secret that signed tokens before; those tokens stay valid. Also of at least 32 characters.
    #[serde(deserialize_with = "text")]
    pub session_secret_previous: String,
    /// The most rows that a list may read: a whole number from 1 to 1,000,000,000. Anything else leaves the default.
    #[serde(deserialize_with = "text")]
    pub max_rows_read: String,
    /// The most bytes of a database: a whole number from 1 to 10^15. Anything else leaves the default.
    #[serde(deserialize_with = "text")]
    pub max_database_bytes: String,
    /// Where to report vulnerabilities: e-mail addresses or URIs (`https:`, `mailto:`, `tel:`), separated by commas.
    #[serde(deserialize_with = "text")]
    pub security_contact: String,
    /// The keys that seal credentials, as [`VaultKeys::parse`] reads them. With a wrong entry, there are none.
    #[serde(deserialize_with = "text")]
    pub vault_keys: String,
    /// How many days events are kept: a whole number from 1 to 365. Anything else leaves the default.
    #[serde(deserialize_with = "text")]
    pub event_days: String,
    /// How many days entries of the audit are kept: a whole number from 1 to 3650. Anything else leaves the default.
    #[serde(deserialize_with = "text")]
    pub audit_days: String,
    /// Which calls to platforms write an event: `all`, `writes` or `none`. Anything else leaves the default.
    #[serde(deserialize_with = "text")]
    pub call_events: String,
    /// `off` for no names of accounts at platforms, only their ids.
    #[serde(deserialize_with = "text")]
    pub account_names: String,
    /// Every how many hours credentials are checked: a whole number from 1 to 720. Anything else leaves the default.
    #[serde(deserialize_with = "text")]
    pub check_hours: String,
    /// `allow` for calls to the machine's own addresses.
    #[serde(deserialize_with = "text")]
    pub local_targets: String,
    /// The name of the operator's app: 1–60 visible characters.
    #[serde(deserialize_with = "text")]
    pub app_name: String,
    /// Its logo: an `https:` URL, or a path that begins with one slash.
    #[serde(deserialize_with = "text")]
    pub app_logo_url: String,
    /// Its accent colour: `#rrggbb`.
    #[serde(deserialize_with = "text")]
    pub app_color: String,
    /// Its address: an `https:` URL, or an `http:` one of this machine.
    #[serde(deserialize_with = "text")]
    pub app_url: String,
    /// The service's own address: `https://vault.example`.
    #[serde(deserialize_with = "text")]
    pub base_url: String,
    /// How many seconds an agent's access token lives: a whole number from 60 to 86,400. Anything else leaves the default.
    #[serde(deserialize_with = "text")]
    pub agent_token_seconds: String,
}

/// A text; empty when the variable is something else.
#[expect(clippy::unnecessary_wraps, reason = "serde wants a result")]
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Variable {
        Text(String),
        Number(u64),
    }
    // Whatever else a variable may be, it must not take the others with it.
    Ok(match Variable::deserialize(deserializer) {
        Ok(Variable::Text(text)) => text,
        Ok(Variable::Number(number)) => number.to_string(),
        Err(_) => String::new(),
    })
}

/// [`Config::max_rows_read`] when `MAX_ROWS_READ` does not say otherwise.
pub const DEFAULT_MAX_ROWS_READ: u64 = 100_000;

/// [`Config::max_database_bytes`] when `MAX_DATABASE_BYTES` does not say otherwise: what D1 allows on the paid plan.
pub const DEFAULT_MAX_DATABASE_BYTES: u64 = 10_000_000_000;

/// An hour, in milliseconds.
const HOUR_MS: u64 = 60 * 60 * 1000;
/// Days for which events are kept when `EVENT_DAYS` does not say otherwise.
const DEFAULT_EVENT_DAYS: u64 = 30;
/// Days for which entries of the audit are kept when `AUDIT_DAYS` does not say otherwise.
const DEFAULT_AUDIT_DAYS: u64 = 90;
/// Hours between two checks when `CHECK_HOURS` does not say otherwise.
const DEFAULT_CHECK_HOURS: u64 = 24;
/// Seconds for which an agent's access token lives when `AGENT_TOKEN_SECONDS` does not say otherwise.
const DEFAULT_AGENT_TOKEN_SECONDS: u64 = 3600;

/// A whole number from 1 to `most`. Returns `None` for anything else.
fn up_to(most: u64, text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|number| (1..=most).contains(number))
}

/// Which calls to platforms write an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallEvents {
    /// All.
    All,
    /// Those by other methods than `GET` and `HEAD`.
    #[default]
    Writes,
    /// None.
    None,
}

impl CallEvents {
    fn parse(text: &str) -> Self {
        match text.trim() {
            "all" => Self::All,
            "none" => Self::None,
            _ => Self::Writes,
        }
    }

    /// Whether a call by this method writes one.
    #[must_use]
    pub fn has(self, method: &str) -> bool {
        match self {
            Self::All => true,
            Self::Writes => !matches!(method, "GET" | "HEAD"),
            Self::None => false,
        }
    }
}

/// The origins whose pages may call the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedOrigins {
    /// All origins.
    Any,
    /// Only these, perhaps none.
    These(Vec<String>),
}

impl Default for Config {
    fn default() -> Self {
        Self::from(&Variables::default())
    }
}

impl From<&Variables> for Config {
    fn from(variables: &Variables) -> Self {
        let (current, previous) = (&variables.session_secret, &variables.session_secret_previous);
        let segment_bytes = variables.segment_cache_bytes.trim().parse();
        let rows = up_to(1_000_000_000, &variables.max_rows_read);
        let database = up_to(1_000_000_000_000_000, &variables.max_database_bytes);
        let days = up_to(365, &variables.event_days).unwrap_or(DEFAULT_EVENT_DAYS);
        let audit = up_to(3650, &variables.audit_days).unwrap_or(DEFAULT_AUDIT_DAYS);
        let hours = up_to(720, &variables.check_hours).unwrap_or(DEFAULT_CHECK_HOURS);
        let token = up_to(86_400, &variables.agent_token_seconds).filter(|seconds| *seconds >= 60);
        let mut faults = Vec::new();
        let vault_keys = VaultKeys::parse(&variables.vault_keys).unwrap_or_else(|error| {
            faults.push(format!("VAULT_KEYS is ignored: {error}"));
            VaultKeys::default()
        });
        let mut app = |name: &str, text: &str, read: fn(&str) -> Option<String>, form: &str| {
            let read = Some(text.trim()).filter(|text| !text.is_empty()).map(read)?;
            if read.is_none() {
                faults.push(format!("{name} is ignored: it must be {form}"));
            }
            read
        };
        Self {
            app_name: app("APP_NAME", &variables.app_name, app_name, "1–60 visible characters"),
            app_logo_url: app(
                "APP_LOGO_URL",
                &variables.app_logo_url,
                logo_url,
                "an https: URL, or a path such as /logo.svg",
            ),
            app_color: app("APP_COLOR", &variables.app_color, color, "like #1a2b3c"),
            app_url: app("APP_URL", &variables.app_url, app_url, "an https: URL"),
            base_url: app(
                "BASE_URL",
                &variables.base_url,
                base_url,
                "the service's address without a path, such as https://vault.example",
            ),
            agent_token_ms: token.unwrap_or(DEFAULT_AGENT_TOKEN_SECONDS).saturating_mul(1000),
            local_targets: variables.local_targets.trim() == "allow",
            event_ms: days.saturating_mul(24).saturating_mul(HOUR_MS),
            audit_ms: audit.saturating_mul(24).saturating_mul(HOUR_MS),
            call_events: CallEvents::parse(&variables.call_events),
            account_names: !variables.account_names.trim().eq_ignore_ascii_case("off"),
            check_ms: hours.saturating_mul(HOUR_MS),
            vault_keys,
            secret_headers: secret_headers(&variables.secret_headers),
            allowed_origins: allowed_origins(&variables.allowed_origins),
            segment_bytes: segment_bytes.unwrap_or(DEFAULT_SEGMENT_BYTES),
            sessions: SessionSecrets::new(current, previous),
            max_rows_read: rows.unwrap_or(DEFAULT_MAX_ROWS_READ),
            max_database_bytes: database.unwrap_or(DEFAULT_MAX_DATABASE_BYTES),
            security_contacts: items(&variables.security_contact).filter_map(contact).collect(),
            faults,
        }
    }
}

fn secret_headers(names: &str) -> Vec<String> {
    let mut headers = vec![SECRET_HEADER.to_owned()];
    for name in items(names).map(str::to_ascii_lowercase) {
        // No request can carry an invalid header name, and the platform throws when asked for one.
        if is_token(&name) && !headers.contains(&name) {
            headers.push(name);
        }
    }
    headers
}

fn allowed_origins(origins: &str) -> AllowedOrigins {
    if items(origins).any(|origin| origin == "*") {
        return AllowedOrigins::Any;
    }
    let plain = |origin: &str| origin.trim_end_matches('/').to_ascii_lowercase();
    AllowedOrigins::These(items(origins).map(plain).collect())
}

/// The URI of a contact: an e-mail address or a URI (`https:`, `mailto:`, `tel:`). Returns `None` for anything else.
fn contact(text: &str) -> Option<String> {
    let is_uri = ["https://", "mailto:", "tel:"].iter().any(|scheme| text.starts_with(scheme));
    let is_one_word = text.bytes().all(|byte| byte.is_ascii_graphic());
    match (is_one_word, is_uri, text.contains('@')) {
        (true, true, _) => Some(text.to_owned()),
        (true, false, true) => Some(format!("mailto:{text}")),
        _ => None,
    }
}

/// The longest name of an app, in characters.
const MAX_APP_NAME: usize = 60;

fn app_name(text: &str) -> Option<String> {
    let is_shown = visible(text).eq(text.chars()) && !text.chars().any(char::is_control);
    (is_shown && text.chars().count() <= MAX_APP_NAME).then(|| text.to_owned())
}

fn logo_url(text: &str) -> Option<String> {
    // Browsers read a backslash as a slash: a path that begins with two of either names another host.
    let is_path = text.starts_with('/') && !text.starts_with("//");
    let is_url = text
        .strip_prefix("https://")
        .is_some_and(|rest| rest.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric()));
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"'<>\\`".contains(&byte);
    ((is_path || is_url) && text.bytes().all(is_plain)).then(|| text.to_owned())
}

fn app_url(text: &str) -> Option<String> {
    return_url(text).is_none().then(|| text.to_owned())
}

/// The origin of an `https` address, or of an `http` one of this machine.
fn base_url(text: &str) -> Option<String> {
    let url = text.strip_suffix('/').unwrap_or(text);
    let host = url.strip_prefix("http://").map(|rest| rest.split(':').next().unwrap_or_default());
    let is_safe = host.is_none_or(|host| matches!(host, "localhost" | "127.0.0.1"));
    targets::origin(url).filter(|origin| is_safe && origin.eq_ignore_ascii_case(url))
}

fn color(text: &str) -> Option<String> {
    let digits = text.strip_prefix('#')?;
    let is_color = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_color.then(|| text.to_ascii_lowercase())
}

impl Config {
    /// Which addresses the service may send credentials and users to.
    #[must_use]
    pub const fn targets(&self) -> Targets {
        Targets { local: self.local_targets }
    }

    /// Whether pages of `origin` may call the API.
    #[must_use]
    pub fn allows(&self, origin: &str) -> bool {
        match &self.allowed_origins {
            AllowedOrigins::Any => true,
            AllowedOrigins::These(origins) => {
                origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
            }
        }
    }
}

/// Whether the text can be a header's name (RFC 9110, section 5.6.2).
fn is_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// The non-empty items of a comma-separated text.
fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{AllowedOrigins, Config, Variables};

    #[test]
    fn a_variable_that_is_not_a_text_is_absent() {
        let given = r#"{"ALLOWED_ORIGINS":"https://a.example","MAX_ROWS_READ":[7],"SEGMENT_CACHE_BYTES":7,"SESSION_SECRET":{"a":[1]},"VAULT":{}}"#;
        let variables: Variables = serde_json::from_str(given).unwrap();
        let expected = Variables {
            allowed_origins: "https://a.example".into(),
            segment_cache_bytes: "7".into(),
            ..Variables::default()
        };
        assert_eq!(variables, expected);
        assert!(Config::from(&variables).allows("https://a.example"));
    }

    #[test]
    fn variables_are_read() {
        let contacts = "security@a.example, https://a.example/report,mailto:b@a.example, nobody,a b@c, x@y\nEvil: 1,";
        let config = Config::from(&Variables {
            secret_headers:
                " X-Pica-Secret , x-service-secret,, x-key, two words, x-pica-secret, é".into(),
            allowed_origins: "https://A.example/, http://localhost:5173".into(),
            segment_cache_bytes: "1024".into(),
            security_contact: contacts.into(),
            ..Variables::default()
        });
        assert_eq!(config.secret_headers, ["x-service-secret", "x-pica-secret", "x-key"]);
        assert_eq!(config.segment_bytes, 1024);
        for (origin, allowed) in [
            ("https://a.example", true),
            ("http://localhost:5173", true),
            ("https://a.example.evil", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(config.allows(origin), allowed, "{origin}");
        }
        assert_eq!(
            config.security_contacts,
            ["mailto:security@a.example", "https://a.example/report", "mailto:b@a.example"]
        );
        assert_eq!(Config::default().allowed_origins, AllowedOrigins::These(Vec::new()));
        assert!(Config::default().security_contacts.is_empty());
        let any =
            Variables { allowed_origins: "https://a.example, *".into(), ..Variables::default() };
        assert!(Config::from(&any).allows("https://any.example"));
        let wrong = Variables { segment_cache_bytes: "lots".into(), ..Variables::default() };
        assert_eq!(Config::from(&wrong).segment_bytes, 32 << 20);
        for (text, rows) in [
            ("", 100_000),
            (" 5000 ", 5000),
            ("1", 1),
            ("0", 100_000),
            ("-1", 100_000),
            ("1000000001", 100_000),
            ("many", 100_000),
        ] {
            let variables = Variables { max_rows_read: text.into(), ..Variables::default() };
            assert_eq!(Config::from(&variables).max_rows_read, rows, "{text:?}");
        }
        for (text, bytes) in [
            ("", 10_000_000_000),
            ("500000000", 500_000_000),
            ("0", 10_000_000_000),
            ("10 GB", 10_000_000_000),
        ] {
            let variables = Variables { max_database_bytes: text.into(), ..Variables::default() };
            assert_eq!(Config::from(&variables).max_database_bytes, bytes, "{text:?}");
        }
    }

    #[test]
    fn keys_are_read_or_missing() {
        let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        let config = |keys: &str| {
            Config::from(&Variables { vault_keys: keys.into(), ..Variables::default() })
        };
        let read = config(&format!("new:{key},old:{key}"));
        assert_eq!(read.vault_keys.ids().collect::<Vec<_>>(), ["new", "old"]);
        assert!(read.faults.is_empty());
        assert!(Config::default().vault_keys.is_empty() && Config::default().faults.is_empty());
        let wrong = config(&format!("new:{key},old:{key}."));
        assert!(wrong.vault_keys.is_empty());
        assert_eq!(
            wrong.faults,
            ["VAULT_KEYS is ignored: entry 2 has a key that is not standard base64"]
        );
        assert!(!format!("{read:?} {wrong:?}").contains("AAECAw"));
    }

    #[test]
    fn calls_that_write_events_are_chosen_by_a_word() {
        for (text, all, writes) in [
            ("", false, true),
            ("writes", false, true),
            (" all ", true, true),
            ("none", false, false),
            ("None", false, true),
        ] {
            let variables = Variables { call_events: text.into(), ..Variables::default() };
            let chosen = Config::from(&variables).call_events;
            assert_eq!((chosen.has("GET"), chosen.has("HEAD")), (all, all), "{text:?}");
            assert_eq!((chosen.has("POST"), chosen.has("DELETE")), (writes, writes), "{text:?}");
        }
    }

    #[test]
    fn local_targets_are_allowed_by_one_word_only() {
        for (text, allowed) in
            [("", false), ("allow", true), (" allow\n", true), ("Allow", false), ("true", false)]
        {
            let variables = Variables { local_targets: text.into(), ..Variables::default() };
            assert_eq!(Config::from(&variables).local_targets, allowed, "{text:?}");
        }
    }

    #[test]
    fn what_an_app_shows_is_checked() {
        type Read = fn(&Config) -> Option<&str>;
        let name: Read = |config| config.app_name.as_deref();
        let logo: Read = |config| config.app_logo_url.as_deref();
        let color: Read = |config| config.app_color.as_deref();
        let url: Read = |config| config.app_url.as_deref();
        let longest = "é".repeat(60);
        for (variable, text, read, expected) in [
            ("APP_NAME", " Acme ✨ ", name, Some("Acme ✨")),
            ("APP_NAME", &longest, name, Some(longest.as_str())),
            ("APP_NAME", &format!("{longest}a"), name, None),
            ("APP_NAME", "Ac\u{202e}me", name, None),
            ("APP_NAME", "Ac\nme", name, None),
            (
                "APP_LOGO_URL",
                "https://a.example/l.svg?v=1",
                logo,
                Some("https://a.example/l.svg?v=1"),
            ),
            ("APP_LOGO_URL", "/logo.svg", logo, Some("/logo.svg")),
            ("APP_LOGO_URL", "//evil.example/l.svg", logo, None),
            ("APP_LOGO_URL", "/\\evil.example/l.svg", logo, None),
            ("APP_LOGO_URL", "http://a.example/l.svg", logo, None),
            ("APP_LOGO_URL", "https://", logo, None),
            ("APP_LOGO_URL", "https:///a", logo, None),
            ("APP_LOGO_URL", "data:image/svg+xml,a", logo, None),
            ("APP_LOGO_URL", "https://a.example/\"a", logo, None),
            ("APP_LOGO_URL", "/a b.svg", logo, None),
            ("APP_LOGO_URL", "logo.svg", logo, None),
            ("APP_URL", "https://a.example/app", url, Some("https://a.example/app")),
            ("APP_URL", "http://localhost:3000", url, Some("http://localhost:3000")),
            ("APP_URL", "http://a.example/", url, None),
            ("APP_URL", "javascript:alert(1)", url, None),
            ("APP_URL", "https://u@a.example/", url, None),
            ("APP_COLOR", "#1A2b3C", color, Some("#1a2b3c")),
            ("APP_COLOR", "#abc", color, None),
            ("APP_COLOR", "1a2b3c", color, None),
            ("APP_COLOR", "#1a2b3g", color, None),
            ("APP_COLOR", "red;", color, None),
        ] {
            let variables = serde_json::json!({ variable: text });
            let config = Config::from(&serde_json::from_value::<Variables>(variables).unwrap());
            assert_eq!(read(&config), expected, "{variable} {text:?}");
            let told = config.faults.iter().any(|fault| fault.starts_with(variable));
            assert_eq!(told, expected.is_none(), "{variable} {text:?}: {:?}", config.faults);
        }
        for absent in ["", "  "] {
            let variables = Variables { app_name: absent.into(), ..Variables::default() };
            assert_eq!(Config::from(&variables), Config::default());
        }
    }
}
