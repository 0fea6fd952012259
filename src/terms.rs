//! The contract's vocabulary: words shared by requests, rows and answers. Every module may use it; it uses none of
//! them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The text is not one of the enum's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownNameError;

impl fmt::Display for UnknownNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown name")
    }
}

impl std::error::Error for UnknownNameError {}

/// Defines an enum whose variants have names: the list of all variants, their names, and the conversions between both.
macro_rules! named {
    ($(#[$about:meta])* $kind:ident: $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $kind {
            $($(#[$doc])* $variant),+
        }

        impl $kind {
            /// All variants, in the order in which they are shown.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];
            /// Their names, in the same order.
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// The variant's name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl FromStr for $kind {
            type Err = UnknownNameError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.into_iter().find(|known| known.as_str() == text).ok_or(UnknownNameError)
            }
        }

        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = Cow::<str>::deserialize(deserializer)?;
                name.parse().map_err(D::Error::custom)
            }
        }
    };
}

named! {
    /// One of the two separate worlds of an account. A key sees only the connections of its own environment.
    Environment:
    /// For development.
    Test = "test",
    /// For production.
    Live = "live",
}

named! {
    /// Something that a key may be allowed to do.
    Scope:
    /// Read connectors and actions.
    CatalogRead = "catalog:read",
    /// Read connections.
    ConnectionsRead = "connections:read",
    /// Create, change and delete connections.
    ConnectionsWrite = "connections:write",
    /// Create session tokens. A token can't have this scope.
    SessionsCreate = "sessions:create",
    /// Connect accounts.
    ConnectionsConnect = "connections:connect",
    /// Read the credentials of connections. A token can't have this scope, and a key only if it is asked for.
    CredentialsRead = "credentials:read",
    /// Store credentials that another service holds. A token can't have this scope.
    CredentialsWrite = "credentials:write",
    /// Read OAuth clients. A token can't have this scope.
    ClientsRead = "clients:read",
    /// Set and delete OAuth clients. A token can't have this scope.
    ClientsWrite = "clients:write",
    /// Call platforms as the connected users.
    ConnectionsCall = "connections:call",
    /// Read events. A token can't have this scope.
    EventsRead = "events:read",
    /// Read webhooks and their deliveries. A token can't have this scope.
    WebhooksRead = "webhooks:read",
    /// Create, change, test and delete webhooks. A token can't have this scope.
    WebhooksWrite = "webhooks:write",
    /// Read API keys, without their secrets. A token can't have this scope.
    KeysRead = "keys:read",
    /// Create, rotate and revoke API keys. A token can't have this scope, and a key only if it is asked for.
    KeysWrite = "keys:write",
    /// Read how agents sign in, and what users granted them. A token can't have this scope.
    AgentsRead = "agents:read",
    /// Configure how agents sign in, and create and end grants. A token can't have this scope.
    AgentsWrite = "agents:write",
    /// Read the audit. A token can't have this scope.
    AuditRead = "audit:read",
}

named! {
    /// What an entry of the audit says was done.
    AuditAction:
    /// An API key was created.
    KeyCreated = "key.created",
    /// It was replaced by another one.
    KeyRotated = "key.rotated",
    /// It was revoked.
    KeyRevoked = "key.revoked",
    /// An OAuth client was set for the first time.
    ClientCreated = "oauth_client.created",
    /// It was replaced.
    ClientUpdated = "oauth_client.updated",
    /// It was deleted.
    ClientDeleted = "oauth_client.deleted",
    /// A webhook was created.
    WebhookCreated = "webhook.created",
    /// It was changed.
    WebhookUpdated = "webhook.updated",
    /// It got another secret.
    WebhookRotated = "webhook.rotated",
    /// The service has disabled it.
    WebhookDisabled = "webhook.disabled",
    /// It was deleted.
    WebhookDeleted = "webhook.deleted",
    /// The sign-in for agents was configured.
    SignInUpdated = "agent_sign_in.updated",
    /// It was switched off.
    SignInDeleted = "agent_sign_in.deleted",
    /// A user has signed in, for an agent.
    GrantRequested = "agent_grant.requested",
    /// The user has agreed.
    GrantCreated = "agent_grant.created",
    /// The user has declined, or never decided.
    GrantDeclined = "agent_grant.declined",
    /// The grant was ended.
    GrantRevoked = "agent_grant.revoked",
    /// A connection was created.
    ConnectionCreated = "connection.created",
    /// Its account was connected, or its credentials were replaced.
    ConnectionConnected = "connection.connected",
    /// Its name or its tags were changed.
    ConnectionUpdated = "connection.updated",
    /// Its state was changed.
    ConnectionStateChanged = "connection.state_changed",
    /// It was deleted.
    ConnectionDeleted = "connection.deleted",
    /// Its credentials were read.
    CredentialsRead = "credentials.read",
}

named! {
    /// Who did what an entry of the audit says.
    ActorType:
    /// The holder of an API key.
    Key = "key",
    /// The holder of a session token.
    Token = "token",
    /// A user with a browser, on a page of the service.
    Person = "person",
    /// An agent, by what its user granted.
    Grant = "grant",
    /// The operator, on the command line.
    Operator = "operator",
    /// The service itself, without a request that asks for it.
    Service = "service",
}

named! {
    /// Whether an API key can be used.
    KeyState:
    /// It can.
    Active = "active",
    /// Its time is over.
    Expired = "expired",
    /// Somebody has ended it.
    Revoked = "revoked",
}

named! {
    /// What an event says has happened.
    EventType:
    /// A connection was created.
    Created = "connection.created",
    /// Its tags, its name or the like were changed, or its state in a way that no other type stands for.
    Updated = "connection.updated",
    /// It was deleted.
    Deleted = "connection.deleted",
    /// Its account was connected for the first time.
    Connected = "connection.connected",
    /// Its account was connected once more, or its credentials were replaced.
    Reconnected = "connection.reconnected",
    /// It does not work for now, or somebody must mend the OAuth client.
    Degraded = "connection.degraded",
    /// It works again without having been reconnected.
    Recovered = "connection.recovered",
    /// It works no more until its user reconnects it.
    Failed = "connection.failed",
    /// The platform grants it other scopes than before.
    ScopesChanged = "connection.scopes_changed",
    /// Its platform was called through the vault.
    Called = "connection.called",
    /// The user of an agent has approved a call.
    CallApproved = "call.approved",
    /// The user of an agent has declined a call.
    CallDeclined = "call.declined",
    /// A platform rejects the account's OAuth client.
    ClientRejected = "oauth_client.rejected",
    /// A platform has ended the grant of a deleted connection, or of an account that was not connected in the end.
    GrantRevoked = "grant.revoked",
    /// A platform has not ended it: it refuses to, or could not be asked for 7 days.
    RevocationFailed = "grant.revocation_failed",
    /// The service has disabled a webhook, because its receiver is gone or does not answer.
    WebhookDisabled = "webhook.disabled",
}

named! {
    /// The kind of identity that a connection belongs to (specification, part 2.4).
    IdentityType:
    /// One person.
    User = "user",
    /// Several people.
    Team = "team",
    /// A company or a similar body.
    Organization = "organization",
    /// Something that people work on together.
    Project = "project",
}

named! {
    /// The health of a connection (specification, part 3.1).
    State:
    /// Healthy.
    Operational = "operational",
    /// A token refresh failed; a retry is pending.
    Degraded = "degraded",
    /// Inactive until somebody reconnects it.
    Failed = "failed",
    /// Not determined.
    Unknown = "unknown",
}

named! {
    /// What became of an event at a webhook.
    DeliveryState:
    /// It is to be sent, for the first time or once more.
    Pending = "pending",
    /// The receiver has accepted it.
    Delivered = "delivered",
    /// It is not sent again, unless it is replayed.
    Failed = "failed",
}

named! {
    /// What has become of an attempt to connect.
    AttemptStatus:
    /// It may still succeed.
    Pending = "pending",
    /// The connection exists.
    Succeeded = "succeeded",
    /// It ended without one.
    Failed = "failed",
    /// The user did not come back in time.
    Expired = "expired",
}

named! {
    /// A kind of credentials.
    CredentialType:
    /// Tokens of OAuth 2.0 (RFC 6749).
    OAuth2 = "oauth2",
    /// A key in a header, the query or a cookie.
    ApiKey = "api_key",
    /// A user name and a password (RFC 7617).
    Basic = "basic",
    /// A token in the header `Authorization` (RFC 6750).
    Bearer = "bearer",
    /// Keys that sign requests with AWS Signature Version 4.
    AwsSigv4 = "aws_sigv4",
}

named! {
    /// An HTTP method: of an action, or of an endpoint.
    Method:
    /// Reads.
    Get = "GET",
    /// Creates, or does something.
    Post = "POST",
    /// Replaces.
    Put = "PUT",
    /// Changes.
    Patch = "PATCH",
    /// Deletes.
    Delete = "DELETE",
}

impl Scope {
    /// The scopes that a token may have.
    pub const OF_TOKENS: [Self; 5] = [
        Self::CatalogRead,
        Self::ConnectionsRead,
        Self::ConnectionsWrite,
        Self::ConnectionsConnect,
        Self::ConnectionsCall,
    ];

    /// Whether a key has the scope when nobody says which scopes it has: whoever reads credentials acts as the user, and
    /// whoever creates keys can have more of them than their owner knows.
    #[must_use]
    pub const fn is_default(self) -> bool {
        !matches!(self, Self::CredentialsRead | Self::KeysWrite)
    }

    /// Tokens carry the bits, so that they never change.
    const fn bit(self) -> u32 {
        match self {
            Self::CatalogRead => 1,
            Self::ConnectionsRead => 2,
            Self::ConnectionsWrite => 4,
            Self::SessionsCreate => 8,
            Self::ConnectionsConnect => 16,
            Self::CredentialsRead => 32,
            Self::CredentialsWrite => 64,
            Self::ClientsRead => 128,
            Self::ClientsWrite => 256,
            Self::ConnectionsCall => 4096,
            Self::EventsRead => 512,
            Self::WebhooksRead => 1024,
            Self::WebhooksWrite => 2048,
            Self::KeysRead => 8192,
            Self::KeysWrite => 16384,
            Self::AgentsRead => 32768,
            Self::AgentsWrite => 65536,
            Self::AuditRead => 131_072,
        }
    }
}

/// A set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(u32);

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

    /// The set as a bit mask, the form in which a token carries it.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Reads the bit mask that a token carries. Bits of scopes that no token may have are ignored.
    #[must_use]
    pub fn of_token(bits: u64) -> Self {
        let all = Scope::OF_TOKENS.into_iter().collect::<Self>();
        Self(u32::try_from(bits).unwrap_or(0)).and(all)
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

impl Serialize for Scopes {
    /// The names, in the order of [`Scope::ALL`].
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl FromStr for Scopes {
    type Err = UnknownNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split_whitespace().map(Scope::from_str).collect()
    }
}
