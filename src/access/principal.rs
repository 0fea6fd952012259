//! On whose behalf a request runs, and what it may do.

use std::fmt;
use std::str::FromStr;

use super::token::Token;

/// The two worlds of an account: a key sees the connections of its own only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Environment {
    /// For trying things out.
    Test,
    /// For real.
    Live,
}

impl Environment {
    /// Both environments.
    pub const ALL: [Self; 2] = [Self::Test, Self::Live];

    /// `test` or `live`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Live => "live",
        }
    }
}

/// Something that a key may be allowed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Read connectors and actions.
    CatalogRead,
    /// Read connections.
    ConnectionsRead,
    /// Create, change and delete connections.
    ConnectionsWrite,
    /// Make tokens; no token may.
    SessionsCreate,
}

impl Scope {
    /// All scopes, in the order in which they are shown.
    pub const ALL: [Self; 4] =
        [Self::CatalogRead, Self::ConnectionsRead, Self::ConnectionsWrite, Self::SessionsCreate];
    /// The scopes that a token may have.
    pub const OF_TOKENS: [Self; 3] =
        [Self::CatalogRead, Self::ConnectionsRead, Self::ConnectionsWrite];

    /// The scope's name, for example `catalog:read`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CatalogRead => "catalog:read",
            Self::ConnectionsRead => "connections:read",
            Self::ConnectionsWrite => "connections:write",
            Self::SessionsCreate => "sessions:create",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::CatalogRead => 1,
            Self::ConnectionsRead => 2,
            Self::ConnectionsWrite => 4,
            Self::SessionsCreate => 8,
        }
    }
}

/// The text is none of the names of a kind of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownNameError;

impl fmt::Display for UnknownNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown name")
    }
}

impl std::error::Error for UnknownNameError {}

impl FromStr for Environment {
    type Err = UnknownNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|environment| environment.as_str() == text)
            .ok_or(UnknownNameError)
    }
}

impl FromStr for Scope {
    type Err = UnknownNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(UnknownNameError)
    }
}

/// A set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(u8);

impl Scopes {
    /// Whether the set holds `scope`.
    #[must_use]
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// The scopes that are in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The set as a number, by which a token tells it.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set that a token's number tells, whatever it is: no token makes others.
    #[must_use]
    pub fn of_token(bits: u64) -> Self {
        let all = Scope::OF_TOKENS.into_iter().collect::<Self>();
        Self(u8::try_from(bits).unwrap_or(0)).and(all)
    }

    /// The scopes of the set, in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl fmt::Display for Scopes {
    /// Space-separated, as in the `scopes` column.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = self.iter().map(Scope::as_str);
        f.write_str(names.next().unwrap_or_default())?;
        names.try_for_each(|name| write!(f, " {name}"))
    }
}

impl FromStr for Scopes {
    type Err = UnknownNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split_whitespace().map(Scope::from_str).collect()
    }
}

/// On whose behalf a caller asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The id of the key.
    pub key_id: String,
    /// Whose connections the key opens; none where storage was not asked.
    pub account: Option<String>,
    /// Which of the account's two worlds.
    pub environment: Environment,
    /// What the caller may do.
    pub scopes: Scopes,
    /// When the caller's secret stops being valid, in milliseconds since 1970-01-01 UTC.
    pub expires_at: Option<u64>,
}

impl Principal {
    /// What a token tells of itself.
    #[must_use]
    pub fn of_token(token: &Token) -> Self {
        Self {
            key_id: token.key_id.clone(),
            account: None,
            environment: token.environment,
            scopes: token.scopes,
            expires_at: Some(token.expires_at),
        }
    }
}
