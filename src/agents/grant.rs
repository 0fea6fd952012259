//! Grants: the access that a user gave to an agent.

use serde::{Deserialize, Serialize};

use super::{Access, Confirm};
use crate::auth::Shard;
use crate::auth::limits::Limits;
use crate::auth::restriction::TokenRestriction;
use crate::auth::token::{Grant as TokenGrant, Token};
use crate::terms::{Environment, IdentityType};
use crate::util::name_set::Names;
use crate::util::rfc3339::rfc3339;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The app has authenticated the user.
    Authenticated,
    /// The consent page was shown.
    Opened,
    /// The user has agreed, but the code has not been exchanged.
    Consented,
    Active,
}

/// A row of `agent_grants`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Grant {
    /// A UUID.
    pub id: String,
    pub account: String,
    pub environment: Environment,
    pub endpoint: String,
    /// The id of the key on whose behalf the agent acts.
    pub key_id: String,
    pub state: State,
    /// The identity whose connections the agent may use.
    pub identity: String,
    pub identity_type: Option<IdentityType>,
    /// Comma-separated; `None` for all platforms.
    pub platforms: Option<String>,
    pub access: Access,
    /// The access that the client requested.
    pub requested: Access,
    /// The allowed actions, comma-separated; `None` for all.
    pub actions: Option<String>,
    /// The ids of the allowed connections, comma-separated; `None` for all.
    pub connections: Option<String>,
    /// Which calls need approval; `None` if no call does.
    pub confirm: Option<Confirm>,
    /// The URL of the client's metadata document, if it has one.
    pub client_url: Option<String>,
    /// The unverified name of the client.
    pub client_name: Option<String>,
    pub redirect_uri: String,
    pub client_state: Option<String>,
    /// SHA-256 of the browser's cookie.
    pub browser_hash: String,
    /// The id of the request that made the last change.
    pub claimed_by: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub last_used_at: Option<u64>,
    /// Milliseconds since 1970-01-01 UTC.
    pub expires_at: u64,
}

/// The JSON representation of a grant.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GrantView<'a> {
    id: &'a str,
    identity: &'a str,
    identity_type: Option<IdentityType>,
    platforms: Option<Names>,
    access: Access,
    actions: Option<Names>,
    connections: Option<Names>,
    confirm: Option<Confirm>,
    client: ClientView<'a>,
    created_at: Option<String>,
    last_used_at: Option<String>,
    expires_at: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClientView<'a> {
    name: Option<&'a str>,
    url: Option<&'a str>,
    redirect_uri: &'a str,
}

impl Grant {
    pub fn platforms(&self) -> Option<Names> {
        self.platforms.clone().map(Names::from_string)
    }

    /// Whether the grant covers this access. `None` means the access that was granted.
    pub fn allows(&self, access: Option<Access>) -> bool {
        self.access == Access::Write || access != Some(Access::Write)
    }

    pub fn actions(&self) -> Option<Names> {
        self.actions.clone().map(Names::from_string)
    }

    pub fn connections(&self) -> Option<Names> {
        self.connections.clone().map(Names::from_string)
    }

    /// Creates an access token.
    pub fn token(&self, shard: Shard, expires_at: u64) -> Token {
        Token {
            environment: self.environment,
            shard,
            key_id: self.key_id.clone(),
            restriction: TokenRestriction {
                identity: self.identity.clone(),
                identity_type: self.identity_type,
                platforms: self.platforms(),
                connections: self.connections(),
                client: None,
            },
            limits: Limits { access: self.access, actions: self.actions(), confirm: self.confirm },
            presets: Box::default(),
            scopes: self.access.scopes(),
            origins: None,
            expires_at,
            grant: Some(TokenGrant {
                id: self.id.clone(),
                endpoint: self.endpoint.clone(),
                can_request_more: self.access == Access::Write || self.requested == Access::Read,
            }),
        }
    }

    /// The grant as JSON. `confirm` is the current setting of the sign-in.
    pub fn to_json(&self, confirm: Option<Confirm>) -> Vec<u8> {
        let Self { client_name, client_url, redirect_uri, .. } = self;
        crate::util::json::bytes(&GrantView {
            id: &self.id,
            identity: &self.identity,
            identity_type: self.identity_type,
            platforms: self.platforms(),
            access: self.access,
            actions: self.actions(),
            connections: self.connections(),
            confirm: Confirm::stricter(self.confirm, confirm),
            client: ClientView {
                name: client_name.as_deref(),
                url: client_url.as_deref(),
                redirect_uri,
            },
            created_at: rfc3339(self.created_at),
            last_used_at: self.last_used_at.and_then(rfc3339),
            expires_at: rfc3339(self.expires_at),
        })
    }
}
