//! The secret of a request: an API key, or a token that was created with one.

use super::error::AuthenticationError;
use super::key::{ApiKey, KeyHash, shard_digits};
use super::limits::Limits;
use super::shard::Shard;
use super::token::{
    ACCESS_PREFIX, CODE_PREFIX, CONSOLE_PREFIX, Grant, SessionSecrets, TOKEN_PREFIX, Token,
};
use crate::auth::restriction::TokenRestriction;
use crate::terms::{Environment, Scopes};
use crate::util::name_set::Names;

/// The secret of a request. A key was only checked for its form, and storage must confirm it. The signature of a token was
/// verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// An API key.
    Key(ApiKey),
    /// A session token, or the access token of an agent.
    Token(Token),
    /// The token of a person who has signed in to the console. Like a key, it reaches all connections of its account and
    /// environment.
    Person(Token),
}

/// Whether the value of a header has several secrets. The runtime joins repeated headers with commas, which no secret contains.
pub fn has_several_secrets(value: &str) -> bool {
    value.split(',').filter(|part| !part.trim().is_empty()).count() > 1
}

/// The shard that a key or a token names. Does not check the secret.
pub fn shard_of(secret: &str) -> Shard {
    let digits = if [TOKEN_PREFIX, CODE_PREFIX, ACCESS_PREFIX, CONSOLE_PREFIX]
        .iter()
        .any(|prefix| secret.starts_with(prefix))
    {
        let mut parts = secret.rsplit('.').skip(1);
        // The claims come before the digits, so a token with fewer parts has no digits.
        parts.next().filter(|_| parts.next().is_some())
    } else {
        shard_digits(secret)
    };
    digits.and_then(Shard::from_digits).unwrap_or_default()
}

impl Caller {
    /// Parses the non-empty values of the secret headers, which must contain exactly one secret. Does not use storage.
    pub fn parse(secrets: &[&str], sessions: &SessionSecrets) -> Result<Self, AuthenticationError> {
        match secrets {
            [] => Err(AuthenticationError::Missing),
            [joined] if has_several_secrets(joined) => Err(AuthenticationError::Several),
            [token] if token.starts_with(TOKEN_PREFIX) => {
                sessions.verify(token).map(Self::Token).ok_or(AuthenticationError::BadToken)
            }
            [token] if token.starts_with(ACCESS_PREFIX) => {
                sessions.verify_access(token).map(Self::Token).ok_or(AuthenticationError::BadToken)
            }
            [token] if token.starts_with(CONSOLE_PREFIX) => sessions
                .verify_console(token)
                .map(Self::Person)
                .ok_or(AuthenticationError::BadToken),
            [key] => ApiKey::parse(key).map(Self::Key).map_err(|_| AuthenticationError::Malformed),
            _ => Err(AuthenticationError::Several),
        }
    }

    pub const fn environment(&self) -> Environment {
        match self {
            Self::Key(key) => key.environment(),
            Self::Token(token) | Self::Person(token) => token.environment,
        }
    }

    pub const fn shard(&self) -> Shard {
        match self {
            Self::Key(key) => key.shard(),
            Self::Token(token) | Self::Person(token) => token.shard,
        }
    }

    /// The token of an end user or an agent. Returns `None` for a key and a person, who are not restricted to an identity.
    pub const fn token(&self) -> Option<&Token> {
        if let Self::Token(token) = self { Some(token) } else { None }
    }

    /// The token of a person in the console.
    pub const fn person(&self) -> Option<&Token> {
        if let Self::Person(token) = self { Some(token) } else { None }
    }

    /// The scopes that a token names. A scope has no effect unless the key has it too. Returns `None` for a key.
    pub const fn signed_scopes(&self) -> Option<Scopes> {
        match self {
            Self::Key(_) => None,
            Self::Token(token) | Self::Person(token) => Some(token.scopes),
        }
    }

    /// Whether a row other than the key's can end the caller's access at any time, so that nothing cached authorizes it.
    pub const fn has_revocable_row(&self) -> bool {
        match self {
            Self::Key(_) => false,
            Self::Token(token) | Self::Person(token) => token.grant.is_some(),
        }
    }

    /// The grant of an agent. Returns `None` for every other caller.
    pub fn grant(&self) -> Option<&Grant> {
        self.token()?.grant.as_ref()
    }

    /// Returns `None` for a key, which reaches all connections of its account and environment.
    pub fn restriction(&self) -> Option<&TokenRestriction> {
        self.token().map(|token| &token.restriction)
    }

    /// The platforms that the caller can reach; `None` for all.
    pub fn platforms(&self) -> Option<&Names> {
        self.restriction()?.platforms.as_ref()
    }

    /// The limits of platform calls.
    pub fn limits(&self) -> &Limits {
        self.token().map_or(Limits::NONE, |token| &token.limits)
    }

    /// The key of the caller's rate limit.
    pub fn rate_key(&self) -> KeyHash {
        match self {
            Self::Key(key) => key.hash(),
            Self::Token(token) | Self::Person(token) => token.rate_key(),
        }
    }

    /// The secrets that verify the caller's cursors. The first one signs new cursors.
    pub fn cursor_secrets(&self, sessions: &SessionSecrets) -> Vec<KeyHash> {
        match self {
            Self::Key(key) => vec![key.hash()],
            Self::Token(token) | Self::Person(token) => sessions.cursor_secrets(&token.key_id),
        }
    }

    /// The error if storage does not know the caller, or the key is no longer valid. It does not reveal the reason.
    pub const fn rejection(&self) -> AuthenticationError {
        match self {
            Self::Key(_) => AuthenticationError::Refused,
            Self::Token(_) | Self::Person(_) => AuthenticationError::BadToken,
        }
    }

    /// The kind of secret, for error messages.
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Key(_) => "API key",
            Self::Token(_) => "token",
            Self::Person(_) => "sign-in",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_of_a_malformed_secret_is_the_first() {
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
