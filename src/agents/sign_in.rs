//! MCP endpoints, one for each account and environment, and the configuration of their users'
//! sign-in.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Confirm;
use crate::credentials::{Kind, OpenError, SealContext, Sealed, VaultKeys};
use crate::terms::{Environment, IdentityType, KeyState, named};
use crate::util::rfc3339::rfc3339;

/// A row of `agent_endpoints`. `Debug` prints only the id.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct Endpoint {
    pub id: String,
    pub account: String,
    pub environment: Environment,
    /// `None` while the sign-in is disabled.
    pub r#type: Option<SignInType>,
    pub issuer: Option<String>,
    /// The service's `client_id` at the OpenID provider.
    pub client_id: Option<String>,
    /// The encrypted client secret.
    pub sealed: Option<String>,
    pub identity_claim: Option<String>,
    pub identity_type: Option<IdentityType>,
    /// Which calls need approval in grants made through an OpenID provider.
    pub confirm: Option<Confirm>,
    /// The URL of the account's own app.
    pub url: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// The id of the key that configured the sign-in.
    pub key_id: String,
    /// The state of that key. Only set in queries for the API.
    pub key_state: Option<KeyState>,
    /// Milliseconds since 1970-01-01 UTC.
    pub updated_at: u64,
}

named! {
    /// How users are authenticated.
    SignInType:
    Oidc = "oidc",
    App = "app",
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({})", self.id)
    }
}

/// The JSON representation of an endpoint.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SignInView<'a> {
    endpoint: &'a str,
    r#type: SignInType,
    issuer: Option<&'a str>,
    client_id: Option<&'a str>,
    has_secret: bool,
    identity_claim: Option<&'a str>,
    identity_type: Option<IdentityType>,
    confirm: Option<Confirm>,
    redirect_uri: String,
    url: Option<&'a str>,
    key_id: &'a str,
    key_state: KeyState,
    created_at: Option<String>,
    updated_at: Option<String>,
}

/// The encryption context of an endpoint's client secret.
pub fn seal_context<'a>(
    account: &'a str,
    environment: Environment,
    id: &'a str,
) -> SealContext<'a> {
    SealContext { account, environment, kind: Kind::AgentSignIn, id }
}

/// The URL of an endpoint.
pub fn endpoint_url(base: &str, id: &str) -> String {
    format!("{base}/mcp/{id}")
}

/// The redirect URI to register at the OpenID provider.
pub fn redirect_uri(base: &str, id: &str) -> String {
    endpoint_url(base, id) + "/callback"
}

impl Endpoint {
    /// Decrypts the client secret.
    pub fn secret(&self, keys: &VaultKeys) -> Result<Option<String>, OpenError> {
        let Some(sealed) = &self.sealed else { return Ok(None) };
        let seal_context = seal_context(&self.account, self.environment, &self.id);
        let plain = keys.open(&seal_context, &Sealed::from(sealed.clone()))?;
        String::from_utf8(plain.to_vec()).map(Some).map_err(|_| OpenError::Damaged)
    }

    /// The endpoint as JSON. Returns `None` while the sign-in is disabled.
    pub fn to_json(&self, base: &str) -> Option<Vec<u8>> {
        let kind = self.r#type?;
        Some(crate::util::json::bytes(&SignInView {
            endpoint: &endpoint_url(base, &self.id),
            r#type: kind,
            issuer: self.issuer.as_deref(),
            client_id: self.client_id.as_deref(),
            has_secret: self.sealed.is_some(),
            identity_claim: self.identity_claim.as_deref(),
            identity_type: self.identity_type,
            confirm: self.confirm,
            redirect_uri: redirect_uri(base, &self.id),
            url: self.url.as_deref(),
            key_id: &self.key_id,
            key_state: self.key_state.unwrap_or(KeyState::Revoked),
            created_at: rfc3339(self.created_at),
            updated_at: rfc3339(self.updated_at),
        }))
    }
}
