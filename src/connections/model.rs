//! A connection as the database returns it, and its JSON in the API.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::key::ConnectionKey;
use crate::auth::restriction::TokenRestriction;
use crate::terms::{Environment, IdentityType, State};
use crate::util::rfc3339::rfc3339;

/// The id of a connection: a UUID in lower case with hyphens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionId(String);

impl ConnectionId {
    /// Parses a hyphenated UUID, ignoring case.
    pub fn parse(text: &str) -> Option<Self> {
        // Of the formats that the library parses, only the hyphenated one has this length.
        let id =
            Some(text).filter(|text| text.len() == 36).and_then(|text| Uuid::try_parse(text).ok());
        id.map(|id| Self(id.to_string()))
    }

    /// The id as a string, in the stored form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ConnectionId {
    /// The nil UUID, which no connection has. Invalid ids are looked up as this id, so that all
    /// requests for unknown connections cost the same.
    fn default() -> Self {
        Self(Uuid::nil().to_string())
    }
}

/// A row of `connections`, in the columns that [`super::statements`] selects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Connection {
    /// A lower-case hyphenated UUID.
    pub id: String,
    /// The version in the catalog: `v` followed by a number.
    pub platform_version: String,
    /// The display name.
    pub name: Option<String>,
    /// The account's environment.
    pub environment: Environment,
    /// The platform's identifier.
    pub platform: String,
    /// Distinguishes several connections of an identity to a platform.
    pub label: String,
    /// The identity that the connection belongs to.
    pub identity: String,
    pub identity_type: IdentityType,
    /// The platform's description.
    pub description: String,
    /// The connection's health.
    pub state: State,
    /// A JSON array of strings, as it was sent.
    pub tags: String,
    /// The version: 1 when created, incremented by every change.
    pub version: u64,
    #[serde(deserialize_with = "deserialize_flag")]
    pub active: bool,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// The id of the request that wrote this version.
    pub written_by: String,
    /// The id of the account at the platform, if it is known and was selected.
    #[serde(default)]
    pub platform_account_id: Option<String>,
    /// The name of the account at the platform, if it is known and was selected.
    #[serde(default)]
    pub platform_account_name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PlatformAccount<'a> {
    pub id: &'a str,
    /// The account's name, if it is known and may be shown.
    pub name: Option<&'a str>,
}

impl<'a> PlatformAccount<'a> {
    /// Creates the account from the columns of a row. Returns `None` when the account is not known.
    /// `shows_names` is whether to include its name.
    pub fn from_columns(
        id: Option<&'a String>,
        name: Option<&'a String>,
        shows_names: bool,
    ) -> Option<Self> {
        let name = name.filter(|_| shows_names).map(String::as_str);
        id.map(|id| Self { id, name })
    }
}

impl Connection {
    /// The account at the platform. `shows_names` is whether to include its name.
    pub fn account(&self, shows_names: bool) -> Option<PlatformAccount<'_>> {
        let (id, name) = (&self.platform_account_id, &self.platform_account_name);
        PlatformAccount::from_columns(id.as_ref(), name.as_ref(), shows_names)
    }

    pub fn key(&self) -> ConnectionKey<'_> {
        ConnectionKey {
            environment: self.environment,
            platform: &self.platform,
            label: &self.label,
            identity: &self.identity,
        }
    }

    /// Whether a token with this restriction may see the connection.
    pub fn is_visible_to(&self, restriction: &TokenRestriction) -> bool {
        self.identity == restriction.identity
            && restriction.identity_type.is_none_or(|required| self.identity_type == required)
            && restriction.has_platform(&self.platform)
            && restriction.has_connection(&self.id)
    }

    /// The connection's position in a list: its creation time and id.
    pub fn position(&self) -> (u64, &str) {
        (self.created_at, &self.id)
    }

    /// Renders the JSON of the connection in the API.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&ConnectionDocument {
            id: &self.id,
            platform_version: &self.platform_version,
            name: self.name.as_deref(),
            kind: "api",
            key: self.key().to_string(),
            environment: self.environment,
            platform: &self.platform,
            identity: &self.identity,
            identity_type: self.identity_type,
            description: &self.description,
            state: self.state,
            tags: serde_json::from_str(&self.tags)?,
            version: self.version.to_string(),
            active: self.active,
            created_at: rfc3339(self.created_at).unwrap_or_default(),
        })
    }
}

/// The JSON document of a connection.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConnectionDocument<'a> {
    id: &'a str,
    platform_version: &'a str,
    name: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'a str,
    key: String,
    environment: Environment,
    platform: &'a str,
    identity: &'a str,
    identity_type: IdentityType,
    description: &'a str,
    state: State,
    tags: &'a RawValue,
    version: String,
    active: bool,
    created_at: String,
}

/// Deserializes 1 or 0, because the database has no booleans.
fn deserialize_flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(u8::deserialize(deserializer)? == 1)
}

#[cfg(test)]
mod tests {
    use super::Connection;
    use crate::auth::restriction::TokenRestriction;
    use crate::terms::{Environment, IdentityType, State};
    use crate::util::name_set::Names;

    #[test]
    fn a_token_sees_connections_of_its_identity_type_and_platforms() {
        let connection = Connection {
            id: "018f0000-0000-7000-8000-000000000000".into(),
            platform_version: "v1".into(),
            name: None,
            environment: Environment::Test,
            platform: "alpha".into(),
            label: "default".into(),
            identity: "ann".into(),
            identity_type: IdentityType::User,
            description: String::new(),
            state: State::Operational,
            tags: "[]".into(),
            version: 1,
            active: true,
            created_at: 0,
            written_by: String::new(),
            platform_account_id: None,
            platform_account_name: None,
        };
        for (identity, identity_type, platforms, is_visible_to) in [
            ("ann", None, None, true),
            ("ann", Some(IdentityType::User), Some("beta,alpha"), true),
            ("Ann", None, None, false),
            ("bob", Some(IdentityType::User), Some("alpha"), false),
            ("ann", Some(IdentityType::Team), None, false),
            ("ann", None, Some("alpha-two,beta"), false),
        ] {
            let restriction = TokenRestriction {
                identity: identity.into(),
                identity_type,
                platforms: platforms.map(|names: &str| Names::from_string(names.into())),
                connections: None,
                client: None,
            };
            assert_eq!(connection.is_visible_to(&restriction), is_visible_to, "{restriction:?}");
        }
    }
}
