//! What a request is made with: an API key, or a token that one has made.

use super::Environment;
use super::authenticate::AuthenticationError;
use super::key::{ApiKey, KeyHash};
use super::token::{SessionSecrets, TOKEN_PREFIX, Token};
use crate::names::Names;
use crate::vault::confinement::Confinement;

/// The secret of a request. Of a key no more is known than that it is well-formed, of a token that it was signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// An API key.
    Key(ApiKey),
    /// A token.
    Token(Token),
}

impl Caller {
    /// The one secret among `secrets`, the values of the request's key headers.
    ///
    /// # Errors
    /// When there is not exactly one, or it is none: no storage is needed to say no.
    pub fn of(secrets: &[&str], sessions: &SessionSecrets) -> Result<Self, AuthenticationError> {
        match secrets {
            [] => Err(AuthenticationError::Missing),
            [token] if token.starts_with(TOKEN_PREFIX) => {
                sessions.verify(token).map(Self::Token).ok_or(AuthenticationError::BadToken)
            }
            [key] => ApiKey::parse(key).map(Self::Key).map_err(|_| AuthenticationError::Malformed),
            _ => Err(AuthenticationError::Several),
        }
    }

    /// The environment that its prefix states.
    #[must_use]
    pub const fn environment(&self) -> Environment {
        match self {
            Self::Key(key) => key.environment(),
            Self::Token(token) => token.environment,
        }
    }

    /// The token, if it is one.
    #[must_use]
    pub const fn token(&self) -> Option<&Token> {
        if let Self::Token(token) = self { Some(token) } else { None }
    }

    /// What it is confined to; none for a key, which sees all of its account and environment.
    #[must_use]
    pub fn confinement(&self) -> Option<&Confinement> {
        self.token().map(|token| &token.confinement)
    }

    /// The platforms of the catalog that it may see; none for all of them.
    #[must_use]
    pub fn platforms(&self) -> Option<&Names> {
        self.confinement()?.platforms.as_ref()
    }

    /// What its requests are counted by.
    #[must_use]
    pub fn rate_key(&self) -> KeyHash {
        match self {
            Self::Key(key) => key.hash(),
            Self::Token(token) => token.rate_key(),
        }
    }

    /// The secrets of its cursors; the first one signs.
    #[must_use]
    pub fn cursor_secrets(&self, sessions: &SessionSecrets) -> Vec<KeyHash> {
        match self {
            Self::Key(key) => vec![key.hash()],
            Self::Token(token) => sessions.cursor_secrets(&token.key_id),
        }
    }

    /// Why it is refused once storage was asked: one answer for all reasons, so that it tells nothing.
    #[must_use]
    pub const fn refused(&self) -> AuthenticationError {
        match self {
            Self::Key(_) => AuthenticationError::Refused,
            Self::Token(_) => AuthenticationError::BadToken,
        }
    }

    /// What people call it.
    #[must_use]
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Key(_) => "API key",
            Self::Token(_) => "token",
        }
    }
}
