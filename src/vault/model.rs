//! A connection: as the database gives it, and as the API shows it.

use std::str::FromStr;

use super::key::ConnectionKey;
use crate::access::Environment;
use crate::access::principal::UnknownNameError;
use crate::json::{Object, Value};

/// What kind of identity a connection belongs to (specification, part 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdentityType {
    /// One person.
    User,
    /// Several persons.
    Team,
    /// A company or the like.
    Organization,
    /// Something that is worked on.
    Project,
}

impl IdentityType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::User, Self::Team, Self::Organization, Self::Project];
    /// Their names.
    pub const NAMES: [&'static str; 4] = [
        Self::User.as_str(),
        Self::Team.as_str(),
        Self::Organization.as_str(),
        Self::Project.as_str(),
    ];

    /// The name, for example `user`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Team => "team",
            Self::Organization => "organization",
            Self::Project => "project",
        }
    }
}

/// How a connection is doing (specification, part 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Healthy.
    Operational,
    /// A token refresh failed; a retry is pending.
    Degraded,
    /// Inactive until somebody reconnects it.
    Failed,
    /// Could not be determined.
    Unknown,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Operational, Self::Degraded, Self::Failed, Self::Unknown];
    /// Their names.
    pub const NAMES: [&'static str; 4] = [
        Self::Operational.as_str(),
        Self::Degraded.as_str(),
        Self::Failed.as_str(),
        Self::Unknown.as_str(),
    ];

    /// The name, for example `operational`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operational => "operational",
            Self::Degraded => "degraded",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

impl FromStr for IdentityType {
    type Err = UnknownNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|known| known.as_str() == text).ok_or(UnknownNameError)
    }
}

impl FromStr for State {
    type Err = UnknownNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|known| known.as_str() == text).ok_or(UnknownNameError)
    }
}

/// A row of `connections`, in the columns that [`super::statements`] selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Lower-case hyphenated UUID.
    pub id: String,
    /// `v` and a number.
    pub platform_version: String,
    /// What people call it.
    pub name: Option<String>,
    /// Which of the account's two worlds.
    pub environment: Environment,
    /// The platform's identifier.
    pub platform: String,
    /// Tells connections of one identity to one platform apart.
    pub label: String,
    /// Whose connection it is.
    pub identity: String,
    /// What kind of identity that is.
    pub identity_type: IdentityType,
    /// Of the platform.
    pub description: String,
    /// How it is doing.
    pub state: State,
    /// A JSON array of texts, exactly as it was sent.
    pub tags: String,
    /// 1 when created, one more with every change.
    pub version: u64,
    /// Whether it is active.
    pub active: bool,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// The request that wrote this version.
    pub written_by: String,
}

impl Connection {
    /// The connection's key.
    #[must_use]
    pub fn key(&self) -> ConnectionKey<'_> {
        ConnectionKey {
            environment: self.environment,
            platform: &self.platform,
            label: &self.label,
            identity: &self.identity,
        }
    }

    /// Its place in the list: the greatest one comes first.
    #[must_use]
    pub fn place(&self) -> (u64, &str) {
        (self.created_at, &self.id)
    }

    /// Reads a row of the columns that [`super::statements`] selects; none when it has another shape.
    #[must_use]
    pub fn read(mut row: Value) -> Option<Self> {
        Some(Self {
            name: match row.take("name")? {
                Value::Null => None,
                name => Some(name.into_text()?),
            },
            environment: row.take_text("environment")?.parse().ok()?,
            identity_type: row.take_text("identity_type")?.parse().ok()?,
            state: row.take_text("state")?.parse().ok()?,
            version: row.take_integer("version")?,
            // The database has no booleans.
            active: row.take_integer("active")? == 1,
            created_at: row.take_integer("created_at")?,
            id: row.take_text("id")?,
            platform_version: row.take_text("platform_version")?,
            platform: row.take_text("platform")?,
            label: row.take_text("label")?,
            identity: row.take_text("identity")?,
            description: row.take_text("description")?,
            tags: row.take_text("tags")?,
            written_by: row.take_text("written_by")?,
        })
    }

    /// The JSON document that the API shows: exactly the fields of the specification, part 2.4, in its order.
    #[must_use]
    pub fn to_json(&self) -> String {
        let created_at = crate::rfc3339::rfc3339(self.created_at).unwrap_or_default();
        Object::default()
            .text("id", &self.id)
            .text("platformVersion", &self.platform_version)
            .text_or_null("name", self.name.as_deref())
            .text("type", "api")
            .text("key", &self.key().to_string())
            .text("environment", self.environment.as_str())
            .text("platform", &self.platform)
            .text("identity", &self.identity)
            .text("identityType", self.identity_type.as_str())
            .text("description", &self.description)
            .text("state", self.state.as_str())
            .json("tags", &self.tags)
            .text("version", &self.version.to_string())
            .json("active", if self.active { "true" } else { "false" })
            .text("createdAt", &created_at)
            .finish()
    }
}
