//! What the operator sets for a deployment.

use crate::access::token::SessionSecrets;
use crate::catalog::cache::DEFAULT_SEGMENT_BYTES;

/// The header that carries the API key (specification, part 5).
pub const SECRET_HEADER: &str = "x-service-secret";

/// Settings of the service, from the Worker's variables and secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The headers that carry the API key, in lower case; [`SECRET_HEADER`] first.
    pub secret_headers: Vec<String>,
    /// Whose pages may call the API.
    pub allowed_origins: AllowedOrigins,
    /// Bytes of segments that an isolate holds.
    pub segment_bytes: usize,
    /// What signs tokens; none are made without it.
    pub sessions: SessionSecrets,
}

/// The origins whose pages may call the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedOrigins {
    /// All.
    Any,
    /// These only, perhaps none.
    These(Vec<String>),
}

impl Default for Config {
    fn default() -> Self {
        Self::from_variables(None, None, None)
    }
}

impl Config {
    /// From the texts of `SECRET_HEADERS`, `ALLOWED_ORIGINS` and `SEGMENT_CACHE_BYTES`.
    #[must_use]
    pub fn from_variables(
        secret_headers: Option<&str>,
        allowed_origins: Option<&str>,
        segment_bytes: Option<&str>,
    ) -> Self {
        let mut headers = vec![SECRET_HEADER.to_owned()];
        for name in items(secret_headers).map(str::to_ascii_lowercase) {
            // What is no header name could not be sent; asked for, the platform would refuse it.
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
        let sessions = SessionSecrets::default();
        Self { secret_headers: headers, allowed_origins, segment_bytes, sessions }
    }

    /// With the texts of `SESSION_SECRET` and `SESSION_SECRET_PREVIOUS`; one of less than 32 characters is none.
    #[must_use]
    pub fn with_sessions(self, current: Option<&str>, previous: Option<&str>) -> Self {
        Self { sessions: SessionSecrets::new(current, previous), ..self }
    }

    /// Whether a page of `origin` may call the API.
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

/// Whether the text can be a header's name (RFC 9110, part 5.6.2).
fn is_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// The items of a comma-separated text, without empty ones.
fn items(text: Option<&str>) -> impl Iterator<Item = &str> {
    text.unwrap_or_default().split(',').map(str::trim).filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{AllowedOrigins, Config};

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
        assert_eq!(Config::default().allowed_origins, AllowedOrigins::These(Vec::new()));
        assert_eq!(Config::from_variables(None, None, Some("lots")).segment_bytes, 32 << 20);
    }
}
