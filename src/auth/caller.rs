//! Parses the secret of a request: an API key, or a token that was created with one.

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

/// The secret of a request. The format of a key and the signature of a token have been checked;
/// whether the key is valid has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    Key(ApiKey),
    /// A session token, or the access token of an agent.
    Token(Token),
    /// The token of a person who has signed in to the console. Like a key, it has access to all
    /// connections of its tenant.
    Person(Token),
}

/// Whether a header's value contains several secrets. The runtime joins repeated headers with
/// commas, and secrets contain no commas.
pub fn has_several_secrets(value: &str) -> bool {
    value.split(',').filter(|part| !part.trim().is_empty()).count() > 1
}

/// The shard number in a key or token. Does not verify the secret.
pub fn shard_of(secret: &str) -> Shard {
    let digits = if [TOKEN_PREFIX, CODE_PREFIX, ACCESS_PREFIX, CONSOLE_PREFIX]
        .iter()
        .any(|prefix| secret.starts_with(prefix))
    {
        let mut parts = secret.rsplit('.').skip(1);
        // The shard digits follow the claims. A token without them has one part less.
        parts.next().filter(|_| parts.next().is_some())
    } else {
        shard_digits(secret)
    };
    digits.and_then(Shard::from_digits).unwrap_or_default()
}

impl Caller {
    /// Parses the non-empty values of the secret headers. There must be exactly one. Does not query
    /// storage.
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

    /// The token of an end user or an agent. Returns `None` for a key and for a person, because
    /// they are not restricted to an identity.
    pub const fn token(&self) -> Option<&Token> {
        if let Self::Token(token) = self { Some(token) } else { None }
    }

    /// The token of a person in the console. Returns `None` for other callers.
    pub const fn person(&self) -> Option<&Token> {
        if let Self::Person(token) = self { Some(token) } else { None }
    }

    /// The scopes in a token. The key must have a scope, too, for it to be effective. Returns
    /// `None` for a key.
    pub const fn signed_scopes(&self) -> Option<Scopes> {
        match self {
            Self::Key(_) => None,
            Self::Token(token) | Self::Person(token) => Some(token.scopes),
        }
    }

    /// Whether the caller has a grant or session that can be revoked at any time, so that cached
    /// keys can't authorize it.
    pub const fn has_revocable_row(&self) -> bool {
        match self {
            Self::Key(_) => false,
            Self::Token(token) | Self::Person(token) => token.grant.is_some(),
        }
    }

    /// The grant of an agent. Returns `None` for other callers.
    pub fn grant(&self) -> Option<&Grant> {
        self.token()?.grant.as_ref()
    }

    /// The token's restriction. Returns `None` for a key or a person, because they can access all
    /// connections of the tenant.
    pub fn restriction(&self) -> Option<&TokenRestriction> {
        self.token().map(|token| &token.restriction)
    }

    /// The platforms to which the caller is restricted; `None` for all.
    pub fn platforms(&self) -> Option<&Names> {
        self.restriction()?.platforms.as_ref()
    }

    /// The limits of the caller's platform calls.
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

    /// The secrets for verifying the caller's cursors. New cursors are signed with the first one.
    pub fn cursor_secrets(&self, sessions: &SessionSecrets) -> Vec<KeyHash> {
        match self {
            Self::Key(key) => vec![key.hash()],
            Self::Token(token) | Self::Person(token) => sessions.cursor_secrets(&token.key_id),
        }
    }

    /// The error for a caller that is unknown or whose key is no longer valid. Does not reveal the
    /// reason.
    pub const fn rejection(&self) -> AuthenticationError {
        match self {
            Self::Key(_) => AuthenticationError::Refused,
            Self::Token(_) | Self::Person(_) => AuthenticationError::BadToken,
        }
    }

    /// The type of the secret, for error messages.
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
    fn malformed_secrets_belong_to_the_first_shard() {
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
