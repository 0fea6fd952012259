//! The operator's configuration of a deployment.

use serde::{Deserialize, Deserializer};

use crate::auth::token::SessionSecrets;
use crate::branding::rules;
use crate::catalog::cache::DEFAULT_SEGMENT_BYTES;
use crate::credentials::VaultKeys;
use crate::targets::{self, Targets};
use crate::traces::collector::Collector;

/// The header for the API key.
pub const SECRET_HEADER: &str = "x-service-secret";

/// Settings of the service, from the Worker's variables and secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Headers that may contain the API key, in lower case; [`SECRET_HEADER`] first.
    pub secret_headers: Vec<String>,
    /// Origins whose pages may call the API.
    pub allowed_origins: AllowedOrigins,
    /// The size of an isolate's segment cache, in bytes.
    pub segment_bytes: usize,
    /// The secrets that sign tokens. Without a secret, no tokens can be created.
    pub sessions: SessionSecrets,
    /// The maximum number of rows that a list of connections may read. A list that would read more is rejected before it runs.
    pub max_rows_read: u64,
    /// The maximum size of a D1 database on the operator's plan, in bytes.
    pub max_database_bytes: u64,
    /// Contacts for vulnerability reports: URIs, the preferred one first.
    pub security_contacts: Vec<String>,
    /// The keys that encrypt credentials; without them, the vault stores no credentials.
    pub vault_keys: VaultKeys,
    /// The retention of events, in milliseconds.
    pub event_retention_ms: u64,
    /// The retention of audit entries, in milliseconds.
    pub audit_retention_ms: u64,
    /// The retention of usage, in days; 0 disables counting.
    pub usage_days: u64,
    /// The calls to platforms that are recorded as events.
    pub call_events: CallEvents,
    /// The maximum number of call events per tenant and day.
    pub call_events_per_day: u64,
    /// Whether names of accounts at platforms are stored and shown.
    pub account_names: bool,
    /// The interval between checks of unused credentials, in milliseconds.
    pub check_interval_ms: u64,
    /// Whether the service may call addresses of this machine, also over plain HTTP. For
    /// development only.
    pub local_targets: bool,
    /// The name of the operator's app, as end users know it.
    pub app_name: Option<String>,
    /// The app's logo: an `https:` URL, or a path of this service.
    pub app_logo_url: Option<String>,
    /// The app's accent colour: `#` and six hexadecimal digits, in lower case.
    pub app_color: Option<String>,
    /// The URL of the operator's app.
    pub app_url: Option<String>,
    /// The service's own URL, without a path or trailing slash. Agents can't sign in without it.
    pub base_url: Option<String>,
    /// The lifetime of an agent's access token, in milliseconds.
    pub agent_token_ms: u64,
    /// The OpenTelemetry collector that receives the spans of platform calls; `None` to record
    /// none.
    pub collector: Option<Collector>,
    /// Invalid variables, for the log. They are treated as absent.
    pub faults: Vec<String>,
}

/// The Worker's variables and secrets. A variable that is absent, or neither a string nor a whole number, becomes an
/// empty string.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE", default)]
pub struct Variables {
    /// Further headers for the API key, separated by commas.
    #[serde(deserialize_with = "text")]
    pub secret_headers: String,
    /// Origins whose pages may call the API, separated by commas, or `*`.
    #[serde(deserialize_with = "text")]
    pub allowed_origins: String,
    /// The size of an isolate's segment cache, in bytes.
    #[serde(deserialize_with = "text")]
    pub segment_cache_bytes: String,
    /// The secret that signs tokens. Ignored when it has less than 32 characters.
    #[serde(deserialize_with = "text")]
    pub session_secret: String,
    /// The previous secret, whose tokens stay valid. Also at least 32 characters.
    #[serde(deserialize_with = "text")]
    pub session_secret_previous: String,
    /// The maximum number of rows that a list may read: a whole number from 1 to 1,000,000,000. Anything else selects the
    /// default.
    #[serde(deserialize_with = "text")]
    pub max_rows_read: String,
    /// The maximum size of a database in bytes: a whole number from 1 to 10^15. Anything else selects the default.
    #[serde(deserialize_with = "text")]
    pub max_database_bytes: String,
    /// Contacts for vulnerability reports: e-mail addresses or URIs (`https:`, `mailto:`, `tel:`), separated by commas.
    #[serde(deserialize_with = "text")]
    pub security_contact: String,
    /// The keys that encrypt credentials, in the format of [`VaultKeys::parse`]. One invalid entry
    /// invalidates all.
    #[serde(deserialize_with = "text")]
    pub vault_keys: String,
    /// The retention of events in days: a whole number from 1 to 365. Anything else selects the default.
    #[serde(deserialize_with = "text")]
    pub event_days: String,
    /// The retention of audit entries in days: a whole number from 1 to 3650. Anything else selects the default.
    #[serde(deserialize_with = "text")]
    pub audit_days: String,
    /// The retention of usage in days: a whole number from 0 to 365; 0 disables counting. Anything
    /// else selects the default.
    #[serde(deserialize_with = "text")]
    pub usage_days: String,
    /// The calls to platforms that are recorded as events: `all`, `writes` or `none`. Anything else
    /// selects the default.
    #[serde(deserialize_with = "text")]
    pub call_events: String,
    /// The maximum number of call events per account, environment and day: a whole number from 1 to 1,000,000. Anything
    /// else selects the default.
    #[serde(deserialize_with = "text")]
    pub call_events_per_day: String,
    /// `off` to store no names of accounts at platforms, only their ids.
    #[serde(deserialize_with = "text")]
    pub account_names: String,
    /// The interval between checks of credentials in hours: a whole number from 1 to 720. Anything else selects the default.
    #[serde(deserialize_with = "text")]
    pub check_hours: String,
    /// `allow` to call this machine's own addresses.
    #[serde(deserialize_with = "text")]
    pub local_targets: String,
    /// The name of the operator's app: 1–60 visible characters.
    #[serde(deserialize_with = "text")]
    pub app_name: String,
    /// The app's logo: an `https:` URL, or a path that begins with one slash.
    #[serde(deserialize_with = "text")]
    pub app_logo_url: String,
    /// The app's accent colour: `#rrggbb`.
    #[serde(deserialize_with = "text")]
    pub app_color: String,
    /// The app's URL: `https:`, or `http:` on this machine.
    #[serde(deserialize_with = "text")]
    pub app_url: String,
    /// The service's own URL, such as `https://vault.example`.
    #[serde(deserialize_with = "text")]
    pub base_url: String,
    /// The lifetime of an agent's access token in seconds: a whole number from 60 to 86,400. Anything else selects the default.
    #[serde(deserialize_with = "text")]
    pub agent_token_seconds: String,
    /// The base URL of an OTLP collector: an `https:` URL, or an `http:` URL on this machine.
    #[serde(deserialize_with = "text")]
    pub otlp_url: String,
    /// Headers of requests to the collector: `name=value` pairs, separated by commas.
    #[serde(deserialize_with = "text")]
    pub otlp_headers: String,
}

/// Deserializes a variable as a string; empty when it is neither a string nor a whole number.
#[expect(clippy::unnecessary_wraps, reason = "serde wants a result")]
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Variable {
        Text(String),
        Number(u64),
    }
    // One invalid variable must not invalidate the others.
    Ok(match Variable::deserialize(deserializer) {
        Ok(Variable::Text(text)) => text,
        Ok(Variable::Number(number)) => number.to_string(),
        Err(_) => String::new(),
    })
}

/// The default of `MAX_ROWS_READ`.
pub const DEFAULT_MAX_ROWS_READ: u64 = 100_000;

/// The default of `MAX_DATABASE_BYTES`: D1's limit on the paid plan.
pub const DEFAULT_MAX_DATABASE_BYTES: u64 = 10_000_000_000;

const HOUR_MS: u64 = 60 * 60 * 1000;
const DEFAULT_EVENT_DAYS: u64 = 30;
const DEFAULT_CALL_EVENTS_PER_DAY: u64 = 20_000;
const DEFAULT_AUDIT_DAYS: u64 = 90;
const DEFAULT_USAGE_DAYS: u64 = 90;
const DEFAULT_CHECK_HOURS: u64 = 24;
const DEFAULT_AGENT_TOKEN_SECONDS: u64 = 3600;

/// Parses a whole number from 1 to `max`. Returns `None` for anything else.
fn parse_up_to(max: u64, text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|number| (1..=max).contains(number))
}

fn usage_days(text: &str) -> u64 {
    if text.trim() == "0" { 0 } else { parse_up_to(365, text).unwrap_or(DEFAULT_USAGE_DAYS) }
}

/// The calls to platforms that are recorded as events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallEvents {
    All,
    /// Calls with methods other than `GET` and `HEAD`.
    #[default]
    Writes,
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

    /// Whether a call with this method is recorded as an event.
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
    Any,
    /// Only these origins; may be empty.
    Listed(Vec<String>),
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
        let rows = parse_up_to(1_000_000_000, &variables.max_rows_read);
        let database = parse_up_to(1_000_000_000_000_000, &variables.max_database_bytes);
        let days = parse_up_to(365, &variables.event_days).unwrap_or(DEFAULT_EVENT_DAYS);
        let audit = parse_up_to(3650, &variables.audit_days).unwrap_or(DEFAULT_AUDIT_DAYS);
        let hours = parse_up_to(720, &variables.check_hours).unwrap_or(DEFAULT_CHECK_HOURS);
        let token =
            parse_up_to(86_400, &variables.agent_token_seconds).filter(|seconds| *seconds >= 60);
        let mut faults = Vec::new();
        let vault_keys = VaultKeys::parse(&variables.vault_keys).unwrap_or_else(|error| {
            faults.push(format!("VAULT_KEYS is ignored: {error}"));
            VaultKeys::default()
        });
        let collector = Some(variables.otlp_url.trim()).filter(|url| !url.is_empty());
        let collector = collector.map(|url| Collector::new(url, &variables.otlp_headers));
        let collector = collector.transpose().unwrap_or_else(|fault| {
            faults.push(fault.to_owned());
            None
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
            event_retention_ms: days.saturating_mul(24).saturating_mul(HOUR_MS),
            audit_retention_ms: audit.saturating_mul(24).saturating_mul(HOUR_MS),
            usage_days: usage_days(&variables.usage_days),
            call_events: CallEvents::parse(&variables.call_events),
            call_events_per_day: parse_up_to(1_000_000, &variables.call_events_per_day)
                .unwrap_or(DEFAULT_CALL_EVENTS_PER_DAY),
            account_names: !variables.account_names.trim().eq_ignore_ascii_case("off"),
            check_interval_ms: hours.saturating_mul(HOUR_MS),
            vault_keys,
            collector,
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
        // No request can contain a header with an invalid name, and the platform throws when such a
        // header is read.
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
    let normalize = |origin: &str| origin.trim_end_matches('/').to_ascii_lowercase();
    AllowedOrigins::Listed(items(origins).map(normalize).collect())
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

fn app_name(text: &str) -> Option<String> {
    rules::name(text).is_none().then(|| text.to_owned())
}

fn logo_url(text: &str) -> Option<String> {
    // Browsers treat a backslash as a slash, and a path that begins with two slashes names another
    // host.
    let is_path = text.starts_with('/') && !text.starts_with("//");
    let is_url = text
        .strip_prefix("https://")
        .is_some_and(|rest| rest.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric()));
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"'<>\\`".contains(&byte);
    ((is_path || is_url) && text.bytes().all(is_plain)).then(|| text.to_owned())
}

fn app_url(text: &str) -> Option<String> {
    rules::url(text).is_none().then(|| text.to_owned())
}

/// The origin of an `https` URL, or of an `http` URL on this machine.
fn base_url(text: &str) -> Option<String> {
    let url = text.strip_suffix('/').unwrap_or(text);
    let host = url.strip_prefix("http://").map(|rest| rest.split(':').next().unwrap_or_default());
    let is_safe = host.is_none_or(|host| matches!(host, "localhost" | "127.0.0.1"));
    targets::origin(url).filter(|origin| is_safe && origin.eq_ignore_ascii_case(url))
}

fn color(text: &str) -> Option<String> {
    rules::color(text).is_none().then(|| text.to_ascii_lowercase())
}

impl Config {
    /// The rule for the URLs that may receive credentials and users.
    pub const fn targets(&self) -> Targets {
        Targets { local: self.local_targets }
    }

    /// Whether pages of `origin` may call the API.
    pub fn allows(&self, origin: &str) -> bool {
        match &self.allowed_origins {
            AllowedOrigins::Any => true,
            AllowedOrigins::Listed(origins) => {
                origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
            }
        }
    }
}

/// Whether a string is a valid header name (RFC 9110, section 5.6.2).
fn is_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// The non-empty items of a comma-separated list.
fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests;
