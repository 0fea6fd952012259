//! Enumerations and flags that requests, rows and responses share. Depends on no other module.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownNameError;

impl fmt::Display for UnknownNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown name")
    }
}

impl std::error::Error for UnknownNameError {}

/// Defines an enum whose variants have names, with constants for all variants and names, and
/// conversions between them. Enums of a single feature are defined in the module of the feature.
macro_rules! named {
    ($(#[$about:meta])* $kind:ident: $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $kind {
            $($(#[$doc])* $variant),+
        }

        impl $kind {
            /// All variants, in display order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];
            /// The names of all variants, in the order of [`Self::ALL`].
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl std::str::FromStr for $kind {
            type Err = $crate::terms::UnknownNameError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let mut all = Self::ALL.into_iter();
                all.find(|known| known.as_str() == text).ok_or($crate::terms::UnknownNameError)
            }
        }

        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $kind {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'_, str> as serde::Deserialize>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use named;

named! {
    /// One of the two separate parts of an account. A key has access only to the connections of its
    /// environment.
    Environment:
    Test = "test",
    Live = "live",
}

named! {
    /// A permission of a key or a token.
    Scope:
    CatalogRead = "catalog:read",
    ConnectionsRead = "connections:read",
    ConnectionsWrite = "connections:write",
    /// Create session tokens. A token can't have this scope.
    SessionsCreate = "sessions:create",
    /// Connect accounts.
    ConnectionsConnect = "connections:connect",
    /// Read the credentials of connections. A token can't have this scope; a key has it only on
    /// request.
    CredentialsRead = "credentials:read",
    /// Import credentials from another service. A token can't have this scope.
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
    /// Create, rotate and revoke API keys. A token can't have this scope; a key has it only on
    /// request.
    KeysWrite = "keys:write",
    /// Read the sign-in configuration for agents, and grants. A token can't have this scope.
    AgentsRead = "agents:read",
    /// Configure the sign-in for agents, and create and delete grants. A token can't have this
    /// scope.
    AgentsWrite = "agents:write",
    /// Read the audit log. A token can't have this scope.
    AuditRead = "audit:read",
    /// Read the usage of the API by keys and tokens. A token can't have this scope.
    UsageRead = "usage:read",
    /// Read the sign-in configuration of the console, and console sessions. A token can't have this
    /// scope.
    ConsoleRead = "console:read",
    /// Configure the sign-in to the console, and end console sessions. A token can't have this
    /// scope; a key has it only on request.
    ConsoleWrite = "console:write",
}

named! {
    /// The action in an entry of the audit log.
    AuditAction:
    KeyCreated = "key.created",
    /// A new key replaced the key.
    KeyRotated = "key.rotated",
    KeyRevoked = "key.revoked",
    /// The client was set for the first time.
    ClientCreated = "oauth_client.created",
    /// The client was replaced.
    ClientUpdated = "oauth_client.updated",
    ClientDeleted = "oauth_client.deleted",
    WebhookCreated = "webhook.created",
    WebhookUpdated = "webhook.updated",
    /// The secret of the webhook was replaced.
    WebhookRotated = "webhook.rotated",
    /// The service disabled the webhook.
    WebhookDisabled = "webhook.disabled",
    WebhookDeleted = "webhook.deleted",
    /// The sign-in was configured.
    SignInUpdated = "agent_sign_in.updated",
    /// The sign-in was disabled.
    SignInDeleted = "agent_sign_in.deleted",
    /// A user signed in for an agent, which requests a grant.
    GrantRequested = "agent_grant.requested",
    /// The user consented to the grant.
    GrantCreated = "agent_grant.created",
    /// The user declined the grant, or the request expired without a decision.
    GrantDeclined = "agent_grant.declined",
    GrantRevoked = "agent_grant.revoked",
    /// The sign-in was configured.
    ConsoleSignInUpdated = "console_sign_in.updated",
    /// The sign-in was disabled.
    ConsoleSignInDeleted = "console_sign_in.deleted",
    /// A user signed in to the console.
    ConsoleSessionCreated = "console_session.created",
    /// The console session was ended before it expired.
    ConsoleSessionEnded = "console_session.ended",
    /// The branding was replaced.
    BrandingUpdated = "branding.updated",
    ConnectionCreated = "connection.created",
    /// The account was connected, or its credentials were replaced.
    ConnectionConnected = "connection.connected",
    /// The connection's name or tags were changed.
    ConnectionUpdated = "connection.updated",
    ConnectionStateChanged = "connection.state_changed",
    ConnectionDeleted = "connection.deleted",
    CredentialsRead = "credentials.read",
}

named! {
    /// A group of endpoints whose requests are counted together in usage.
    EndpointGroup:
    Catalog = "catalog",
    Connections = "connections",
    Connect = "connect",
    Credentials = "credentials",
    /// `run_action` and the proxy.
    Calls = "calls",
    Sessions = "sessions",
    /// OAuth clients.
    Clients = "clients",
    Events = "events",
    Webhooks = "webhooks",
    /// API keys, and `whoami`.
    Keys = "keys",
    Agents = "agents",
    Audit = "audit",
    Usage = "usage",
    /// The sign-in to the console, and console sessions.
    Console = "console",
}

named! {
    /// A column by which usage can be grouped.
    UsageGroup:
    Day = "day",
    Endpoint = "endpoint",
    Platform = "platform",
    Identity = "identity",
    Status = "status",
}

named! {
    /// The kind of actor in an entry of the audit log.
    ActorType:
    /// The holder of an API key.
    Key = "key",
    /// The holder of a session token.
    Token = "token",
    /// A person in a browser, on a page of the service.
    Person = "person",
    /// An agent, under a grant of its user.
    Grant = "grant",
    /// The operator, on the command line.
    Operator = "operator",
    /// The service, without a request.
    Service = "service",
}

named! {
    KeyState:
    Active = "active",
    Expired = "expired",
    Revoked = "revoked",
}

named! {
    EventType:
    Created = "connection.created",
    /// The connection's tags, name or similar members were changed, or its state changed in a way
    /// that no other type covers.
    Updated = "connection.updated",
    Deleted = "connection.deleted",
    /// The account was connected for the first time.
    Connected = "connection.connected",
    /// The account was connected again, or its credentials were replaced.
    Reconnected = "connection.reconnected",
    /// The connection temporarily does not work, or its OAuth client must be fixed.
    Degraded = "connection.degraded",
    /// The connection works again without a reconnection.
    Recovered = "connection.recovered",
    /// The connection does not work until its user reconnects it.
    Failed = "connection.failed",
    /// The platform granted different scopes than before.
    ScopesChanged = "connection.scopes_changed",
    /// The connection's platform was called through the vault.
    Called = "connection.called",
    CallApproved = "call.approved",
    CallDeclined = "call.declined",
    /// A platform rejects the account's OAuth client.
    ClientRejected = "oauth_client.rejected",
    /// The platform revoked the grant of a deleted connection or of a failed attempt.
    GrantRevoked = "grant.revoked",
    /// The platform did not revoke the grant: it refused, or was unreachable for 7 days.
    RevocationFailed = "grant.revocation_failed",
    /// The service disabled the webhook because its receiver returned 410 or does not respond.
    WebhookDisabled = "webhook.disabled",
}

named! {
    /// The kind of identity that owns a connection.
    IdentityType:
    User = "user",
    Team = "team",
    /// A company or a similar organization.
    Organization = "organization",
    /// A project that people work on together.
    Project = "project",
}

named! {
    /// The health of a connection.
    State:
    Operational = "operational",
    /// A token refresh failed; a retry is pending.
    Degraded = "degraded",
    /// The connection is inactive until a user reconnects it.
    Failed = "failed",
    /// The state has not been determined.
    Unknown = "unknown",
}

impl State {
    /// Whether the connection does not work, and new credentials would fix it.
    pub const fn is_broken(self) -> bool {
        matches!(self, Self::Degraded | Self::Failed)
    }
}

named! {
    /// The state of an event's delivery to a webhook.
    DeliveryState:
    /// The delivery is due to be sent, for the first time or as a retry.
    Pending = "pending",
    /// The receiver accepted the delivery.
    Delivered = "delivered",
    /// The delivery failed. It is not retried, unless the event is replayed.
    Failed = "failed",
}

named! {
    AttemptStatus:
    /// The attempt has not ended.
    Pending = "pending",
    /// The attempt created or reconnected a connection.
    Succeeded = "succeeded",
    /// The attempt ended without a connection.
    Failed = "failed",
    /// The user did not return in time.
    Expired = "expired",
}

named! {
    CredentialType:
    /// Tokens of OAuth 2.0 (RFC 6749).
    OAuth2 = "oauth2",
    /// A key in a header, the query or a cookie.
    ApiKey = "api_key",
    /// A user name and a password (RFC 7617).
    Basic = "basic",
    /// A token in the `Authorization` header (RFC 6750).
    Bearer = "bearer",
    /// Keys that sign requests with AWS Signature Version 4.
    AwsSigv4 = "aws_sigv4",
}

named! {
    /// The HTTP method of an action or an endpoint.
    Method:
    Get = "GET",
    Post = "POST",
    Put = "PUT",
    Patch = "PATCH",
    Delete = "DELETE",
}

impl Scope {
    /// The scopes that a token may have.
    pub const TOKEN_SCOPES: [Self; 5] = [
        Self::CatalogRead,
        Self::ConnectionsRead,
        Self::ConnectionsWrite,
        Self::ConnectionsConnect,
        Self::ConnectionsCall,
    ];

    /// Whether a key has the scope by default. Some scopes must be requested explicitly: reading
    /// credentials allows acting as the user, and creating keys or configuring sign-ins gives
    /// access to people other than the key's owner.
    pub const fn is_default(self) -> bool {
        !matches!(self, Self::CredentialsRead | Self::KeysWrite | Self::ConsoleWrite)
    }

    /// The bit of the scope in tokens. It must never change.
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
            Self::UsageRead => 262_144,
            Self::ConsoleRead => 524_288,
            Self::ConsoleWrite => 1_048_576,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(u32);

impl Scopes {
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// The scopes that are in both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The scopes as a bit mask, as stored in tokens.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Converts the bit mask of a token. Ignores scopes that tokens can't have.
    pub fn from_token(bits: u64) -> Self {
        let all = Scope::TOKEN_SCOPES.into_iter().collect::<Self>();
        Self(u32::try_from(bits).unwrap_or(0)).and(all)
    }

    /// Converts a bit mask with any scopes.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits).and(Scope::ALL.into_iter().collect())
    }

    /// The scopes, in the order of [`Scope::ALL`].
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
    /// Formats the names, space-separated, as in the `scopes` column.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = self.iter().map(Scope::as_str);
        f.write_str(names.next().unwrap_or_default())?;
        names.try_for_each(|name| write!(f, " {name}"))
    }
}

impl Serialize for Scopes {
    /// Serializes the names, in the order of [`Scope::ALL`].
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
