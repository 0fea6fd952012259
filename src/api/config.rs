//! What the operator sets for a deployment.

use serde::{Deserialize, Deserializer};

use crate::access::token::SessionSecrets;
use crate::catalog::cache::DEFAULT_SEGMENT_BYTES;

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
    /// Where to report vulnerabilities: URIs, the preferred one first.
    pub security_contacts: Vec<String>,
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
    /// Where to report vulnerabilities: e-mail addresses or URIs (`https:`, `mailto:`, `tel:`), separated by commas.
    #[serde(deserialize_with = "text")]
    pub security_contact: String,
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
        let rows = variables.max_rows_read.trim().parse().ok();
        let rows = rows.filter(|rows| (1..=1_000_000_000).contains(rows));
        Self {
            secret_headers: secret_headers(&variables.secret_headers),
            allowed_origins: allowed_origins(&variables.allowed_origins),
            segment_bytes: segment_bytes.unwrap_or(DEFAULT_SEGMENT_BYTES),
            sessions: SessionSecrets::new(current, previous),
            max_rows_read: rows.unwrap_or(DEFAULT_MAX_ROWS_READ),
            security_contacts: items(&variables.security_contact).filter_map(contact).collect(),
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

impl Config {
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
    }
}
