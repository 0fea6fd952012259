//! The secret that a request carries: an API key, or a token created with one.

use super::error::AuthenticationError;
use super::key::{ApiKey, KeyHash, shard_digits};
use super::limits::Limits;
use super::shard::Shard;
use super::token::{ACCESS_PREFIX, CODE_PREFIX, Grant, SessionSecrets, TOKEN_PREFIX, Token};
use crate::auth::restriction::Confinement;
use crate::terms::Environment;
use crate::util::name_set::Names;

/// The secret of a request. A key is only known to be well-formed; a token is known to be signed here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// An API key.
    Key(ApiKey),
    /// A token.
    Token(Token),
}

/// Whether a header's value holds several secrets. A header that was sent twice arrives as one value joined by a comma,
/// which no secret contains.
#[must_use]
pub fn holds_several(value: &str) -> bool {
    value.split(',').filter(|part| !part.trim().is_empty()).count() > 1
}

/// The database that a key or a token states, whether or not it is a good one.
#[must_use]
pub fn shard_of(secret: &str) -> Shard {
    let digits = if [TOKEN_PREFIX, CODE_PREFIX, ACCESS_PREFIX]
        .iter()
        .any(|prefix| secret.starts_with(prefix))
    {
        let mut parts = secret.rsplit('.').skip(1);
        // What comes before the digits is the token's claims.
        parts.next().filter(|_| parts.next().is_some())
    } else {
        shard_digits(secret)
    };
    digits.and_then(Shard::of_digits).unwrap_or_default()
}

impl Caller {
    /// Reads the only secret in `secrets`, the non-empty values of the request's secret headers. Asks no storage.
    ///
    /// # Errors
    /// When there is not exactly one, or it is neither a well-formed key nor a token signed here.
    pub fn of(secrets: &[&str], sessions: &SessionSecrets) -> Result<Self, AuthenticationError> {
        match secrets {
            [] => Err(AuthenticationError::Missing),
            [joined] if holds_several(joined) => Err(AuthenticationError::Several),
            [token] if token.starts_with(TOKEN_PREFIX) => {
                sessions.verify(token).map(Self::Token).ok_or(AuthenticationError::BadToken)
            }
            [token] if token.starts_with(ACCESS_PREFIX) => {
                sessions.verify_access(token).map(Self::Token).ok_or(AuthenticationError::BadToken)
            }
            [key] => ApiKey::parse(key).map(Self::Key).map_err(|_| AuthenticationError::Malformed),
            _ => Err(AuthenticationError::Several),
        }
    }

    /// The environment that the secret's prefix states.
    #[must_use]
    pub const fn environment(&self) -> Environment {
        match self {
            Self::Key(key) => key.environment(),
            Self::Token(token) => token.environment,
        }
    }

    /// The database that the secret states.
    #[must_use]
    pub const fn shard(&self) -> Shard {
        match self {
            Self::Key(key) => key.shard(),
            Self::Token(token) => token.shard,
        }
    }

    /// The token. Returns `None` for a key.
    #[must_use]
    pub const fn token(&self) -> Option<&Token> {
        if let Self::Token(token) = self { Some(token) } else { None }
    }

    /// What a user granted to the agent that asks. Returns `None` for every other caller.
    #[must_use]
    pub fn grant(&self) -> Option<&Grant> {
        self.token()?.grant.as_ref()
    }

    /// What the caller is confined to. Returns `None` for a key, which sees all of its account and environment.
    #[must_use]
    pub fn confinement(&self) -> Option<&Confinement> {
        self.token().map(|token| &token.confinement)
    }

    /// The platforms that the caller may see. Returns `None` when it may see all.
    #[must_use]
    pub fn platforms(&self) -> Option<&Names> {
        self.confinement()?.platforms.as_ref()
    }

    /// What the caller may do at platforms.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.token().map_or(Limits::NONE, |token| &token.limits)
    }

    /// The name under which the caller's requests are counted.
    #[must_use]
    pub fn rate_key(&self) -> KeyHash {
        match self {
            Self::Key(key) => key.hash(),
            Self::Token(token) => token.rate_key(),
        }
    }

    /// The secrets that may have signed the caller's cursors; the first one signs new ones.
    #[must_use]
    pub fn cursor_secrets(&self, sessions: &SessionSecrets) -> Vec<KeyHash> {
        match self {
            Self::Key(key) => vec![key.hash()],
            Self::Token(token) => sessions.cursor_secrets(&token.key_id),
        }
    }

    /// The error for a caller whom storage refuses. All reasons get the same one, so that it reveals nothing.
    #[must_use]
    pub const fn refused(&self) -> AuthenticationError {
        match self {
            Self::Key(_) => AuthenticationError::Refused,
            Self::Token(_) => AuthenticationError::BadToken,
        }
    }

    /// The caller's secret in words.
    #[must_use]
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Key(_) => "API key",
            Self::Token(_) => "token",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_can_be_asked_for_its_shard() {
        let key =
            ApiKey::generate(Environment::Live, Shard::new(10).unwrap(), |bytes| bytes.fill(1));
        assert_eq!(shard_of(key.reveal()), key.shard());
        for text in ["", "st_", "st_test_a", "st_test_a.b", "st_01.b", ".", "..", "sk_test_", "é"]
        {
            assert_eq!(shard_of(text), Shard::FIRST, "{text}");
        }
        assert_eq!(shard_of("st_test_a.0A.b"), Shard::new(10).unwrap());
        assert_eq!(shard_of("st_test_a.b.0A.b"), Shard::new(10).unwrap());
    }
}
