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

/// The Worker's variables and secrets. One that is neither a text nor a whole number counts as absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE", default)]
pub struct Variables {
    /// Further headers that carry the secret, separated by commas.
    #[serde(deserialize_with = "text")]
    pub secret_headers: Option<String>,
    /// Origins whose pages may call the API, separated by commas, or `*`.
    #[serde(deserialize_with = "text")]
    pub allowed_origins: Option<String>,
    /// Bytes of segments that an isolate holds.
    #[serde(deserialize_with = "text")]
    pub segment_cache_bytes: Option<String>,
    /// What signs tokens.
    #[serde(deserialize_with = "text")]
    pub session_secret: Option<String>,
    /// What signed tokens before.
    #[serde(deserialize_with = "text")]
    pub session_secret_previous: Option<String>,
    /// Most rows that a list may read.
    #[serde(deserialize_with = "text")]
    pub max_rows_read: Option<String>,
    /// Whom to tell of a weakness, separated by commas.
    #[serde(deserialize_with = "text")]
    pub security_contact: Option<String>,
}

/// A text, or nothing.
#[expect(clippy::unnecessary_wraps, reason = "serde wants a result")]
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Variable {
        Text(String),
        Number(u64),
    }
    // Whatever else a variable may be, it must not take the others with it.
    Ok(match Variable::deserialize(deserializer) {
        Ok(Variable::Text(text)) => Some(text),
        Ok(Variable::Number(number)) => Some(number.to_string()),
        Err(_) => None,
    })
}

impl From<&Variables> for Config {
    fn from(variables: &Variables) -> Self {
        Self::from_variables(
            variables.secret_headers.as_deref(),
            variables.allowed_origins.as_deref(),
            variables.segment_cache_bytes.as_deref(),
        )
        .with_sessions(
            variables.session_secret.as_deref(),
            variables.session_secret_previous.as_deref(),
        )
        .with_max_rows_read(variables.max_rows_read.as_deref())
        .with_security_contacts(variables.security_contact.as_deref())
    }
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
        Self::from_variables(None, None, None)
    }
}

impl Config {
    /// Reads the values of `SECRET_HEADERS`, `ALLOWED_ORIGINS` and `SEGMENT_CACHE_BYTES`.
    #[must_use]
    pub fn from_variables(
        secret_headers: Option<&str>,
        allowed_origins: Option<&str>,
        segment_bytes: Option<&str>,
    ) -> Self {
        let mut headers = vec![SECRET_HEADER.to_owned()];
        for name in items(secret_headers).map(str::to_ascii_lowercase) {
            // No request can carry an invalid header name, and the platform throws when asked for one.
            if is_token(&name) && !headers.contains(&name) {
                headers.push(name);
            }
        }
        let allowed_origins = if items(allowed_origins).any(|origin| origin == "*") {
            AllowedOrigins::Any
        } else {
            AllowedOrigins::These(
                items(allowed_origins)
                    .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase())
                    .collect(),
            )
        };
        let segment_bytes = segment_bytes
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(DEFAULT_SEGMENT_BYTES);
        Self {
            secret_headers: headers,
            allowed_origins,
            segment_bytes,
            sessions: SessionSecrets::default(),
            max_rows_read: DEFAULT_MAX_ROWS_READ,
            security_contacts: Vec::new(),
        }
    }

    /// Reads the value of `MAX_ROWS_READ`. Anything but a whole number from 1 to 1,000,000,000 leaves the default.
    #[must_use]
    pub fn with_max_rows_read(self, text: Option<&str>) -> Self {
        let rows = text.and_then(|text| text.trim().parse().ok());
        let rows = rows.filter(|rows| (1..=1_000_000_000).contains(rows));
        Self { max_rows_read: rows.unwrap_or(DEFAULT_MAX_ROWS_READ), ..self }
    }

    /// Reads the value of `SECURITY_CONTACT`: comma-separated e-mail addresses or URIs (`https:`, `mailto:`, `tel:`).
    /// Anything else is left out.
    #[must_use]
    pub fn with_security_contacts(self, contacts: Option<&str>) -> Self {
        let address = |text: &str| {
            let is_uri =
                ["https://", "mailto:", "tel:"].iter().any(|scheme| text.starts_with(scheme));
            let is_one_word = text.bytes().all(|byte| byte.is_ascii_graphic());
            match (is_one_word, is_uri, text.contains('@')) {
                (true, true, _) => Some(text.to_owned()),
                (true, false, true) => Some(format!("mailto:{text}")),
                _ => None,
            }
        };
        Self { security_contacts: items(contacts).filter_map(address).collect(), ..self }
    }

    /// Reads the values of `SESSION_SECRET` and `SESSION_SECRET_PREVIOUS`. A secret of less than 32 characters is
    /// ignored.
    #[must_use]
    pub fn with_sessions(self, current: Option<&str>, previous: Option<&str>) -> Self {
        Self { sessions: SessionSecrets::new(current, previous), ..self }
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
fn items(text: Option<&str>) -> impl Iterator<Item = &str> {
    text.unwrap_or_default().split(',').map(str::trim).filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{AllowedOrigins, Config, Variables};

    #[test]
    fn a_variable_that_is_not_a_text_is_absent() {
        let given = r#"{"ALLOWED_ORIGINS":"https://a.example","MAX_ROWS_READ":[7],"SEGMENT_CACHE_BYTES":7,"SESSION_SECRET":{"a":[1]},"VAULT":{}}"#;
        let variables: Variables = serde_json::from_str(given).unwrap();
        let expected = Variables {
            allowed_origins: Some("https://a.example".into()),
            segment_cache_bytes: Some("7".into()),
            ..Variables::default()
        };
        assert_eq!(variables, expected);
        assert_eq!(Config::from(&Variables::default()), Config::default());
        assert!(Config::from(&variables).allows("https://a.example"));
    }

    #[test]
    fn variables_are_read() {
        let config = Config::from_variables(
            Some(" X-Pica-Secret , x-service-secret,, x-key, two words, x-pica-secret, é"),
            Some("https://A.example/, http://localhost:5173"),
            Some("1024"),
        );
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
        assert!(
            Config::from_variables(None, Some("https://a.example, *"), None)
                .allows("https://any.example")
        );
        let config = Config::default().with_security_contacts(Some(
            "security@a.example, https://a.example/report,mailto:b@a.example, nobody,a b@c, x@y\nEvil: 1,",
        ));
        assert_eq!(
            config.security_contacts,
            ["mailto:security@a.example", "https://a.example/report", "mailto:b@a.example"]
        );
        assert_eq!(Config::default().with_security_contacts(None), Config::default());
        assert_eq!(Config::default().allowed_origins, AllowedOrigins::These(Vec::new()));
        assert_eq!(Config::from_variables(None, None, Some("lots")).segment_bytes, 32 << 20);
        for (text, rows) in [
            (None, 100_000),
            (Some(" 5000 "), 5000),
            (Some("1"), 1),
            (Some("0"), 100_000),
            (Some("-1"), 100_000),
            (Some("1000000001"), 100_000),
            (Some("many"), 100_000),
        ] {
            assert_eq!(Config::default().with_max_rows_read(text).max_rows_read, rows, "{text:?}");
        }
    }
}
