//! A row of `agent_grants`: what a user lets an agent do.

use serde::{Deserialize, Serialize};

use super::{Access, Confirm};
use crate::auth::Shard;
use crate::auth::limits::Limits;
use crate::auth::restriction::Confinement;
use crate::auth::token::{Grant as OfGrant, Token};
use crate::terms::{Environment, IdentityType};
use crate::util::name_set::Names;
use crate::util::rfc3339::rfc3339;

/// How far a grant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The app has authenticated the user.
    Authenticated,
    /// The user was shown the consent page.
    Opened,
    /// The user has agreed, and the code is not exchanged.
    Consented,
    /// The agent has tokens.
    Active,
}

/// A grant.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Grant {
    /// Lower-case hyphenated UUID.
    pub id: String,
    /// The account.
    pub account: String,
    /// Its environment.
    pub environment: Environment,
    /// The id of the endpoint.
    pub endpoint: String,
    /// The key as which the agent acts.
    pub key_id: String,
    /// How far it is.
    pub state: State,
    /// Whose connections the agent may use.
    pub identity: String,
    /// What kind of identity that is.
    pub identity_type: Option<IdentityType>,
    /// Names between commas; `None` for all platforms.
    pub platforms: Option<String>,
    /// How much it may do.
    pub access: Access,
    /// The only actions that it may run, between commas; `None` for all.
    pub actions: Option<String>,
    /// The ids of the only connections that it may use, between commas; `None` for all.
    pub connections: Option<String>,
    /// Which calls the user is asked about; `None` for none.
    pub confirm: Option<Confirm>,
    /// The client's ID, if it is the URL of a metadata document.
    pub client_url: Option<String>,
    /// What the client calls itself.
    pub client_name: Option<String>,
    /// Where the code is sent.
    pub redirect_uri: String,
    /// The client's `state`.
    pub client_state: Option<String>,
    /// SHA-256 of the browser's cookie.
    pub browser_hash: String,
    /// The request that took the last step.
    pub claimed_by: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub last_used_at: Option<u64>,
    /// Milliseconds since 1970-01-01 UTC.
    pub expires_at: u64,
}

/// The document of a grant.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: &'a str,
    identity: &'a str,
    identity_type: Option<IdentityType>,
    platforms: Option<Names>,
    access: Access,
    actions: Option<Names>,
    connections: Option<Names>,
    confirm: Option<Confirm>,
    client: ShownClient<'a>,
    created_at: Option<String>,
    last_used_at: Option<String>,
    expires_at: Option<String>,
}

/// What is shown of a client.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownClient<'a> {
    name: Option<&'a str>,
    /// The URL of its metadata document.
    url: Option<&'a str>,
    redirect_uri: &'a str,
}

impl Grant {
    /// The platforms to which it is restricted. Returns `None` when it is restricted to none.
    #[must_use]
    pub fn platforms(&self) -> Option<Names> {
        self.platforms.clone().map(Names::of_text)
    }

    /// Whether a token may have this access. `None` asks for what was granted.
    #[must_use]
    pub fn allows(&self, access: Option<Access>) -> bool {
        self.access == Access::Write || access != Some(Access::Write)
    }

    /// The actions to which it is limited. Returns `None` when it is limited to none.
    #[must_use]
    pub fn actions(&self) -> Option<Names> {
        self.actions.clone().map(Names::of_text)
    }

    /// The ids of the connections to which it is restricted. Returns `None` when it is restricted to none.
    #[must_use]
    pub fn connections(&self) -> Option<Names> {
        self.connections.clone().map(Names::of_text)
    }

    /// An access token. `expires_at` is in milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn token(&self, shard: Shard, expires_at: u64) -> Token {
        Token {
            environment: self.environment,
            shard,
            key_id: self.key_id.clone(),
            confinement: Confinement {
                identity: self.identity.clone(),
                identity_type: self.identity_type,
                platforms: self.platforms(),
                connections: self.connections(),
            },
            limits: Limits { access: self.access, actions: self.actions(), confirm: self.confirm },
            scopes: self.access.scopes(),
            origins: None,
            expires_at,
            grant: Some(OfGrant { id: self.id.clone(), endpoint: self.endpoint.clone() }),
        }
    }

    /// The document that the API shows.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let Self { client_name, client_url, redirect_uri, .. } = self;
        crate::util::json::bytes(&Shown {
            id: &self.id,
            identity: &self.identity,
            identity_type: self.identity_type,
            platforms: self.platforms(),
            access: self.access,
            actions: self.actions(),
            connections: self.connections(),
            confirm: self.confirm,
            client: ShownClient {
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
