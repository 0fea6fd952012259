//! A row of `agent_endpoints`: the MCP address of an account and environment, and who authenticates its users.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::credentials::{Kind, OpenError, Place, Sealed, VaultKeys};
use crate::terms::{Environment, IdentityType};
use crate::util::rfc3339::rfc3339;

/// An endpoint. `Debug` shows its id only.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct Endpoint {
    /// The last segment of its address.
    pub id: String,
    /// The account.
    pub account: String,
    /// Its environment.
    pub environment: Environment,
    /// Who authenticates users. `None` while sign-in is switched off.
    pub r#type: Option<SignInType>,
    /// The issuer of the OpenID provider.
    pub issuer: Option<String>,
    /// The `client_id` there.
    pub client_id: Option<String>,
    /// The sealed client secret.
    pub sealed: Option<String>,
    /// The claim that is the identity.
    pub identity_claim: Option<String>,
    /// What kind of identity users are.
    pub identity_type: Option<IdentityType>,
    /// The address of the account's own app.
    pub url: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// The id of the key that configured it.
    pub key_id: String,
    /// Milliseconds since 1970-01-01 UTC.
    pub updated_at: u64,
}

/// Who authenticates users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignInType {
    /// An OpenID provider.
    Oidc,
    /// The account's own app.
    App,
}

impl SignInType {
    /// The names of both.
    pub const NAMES: [&str; 2] = ["oidc", "app"];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Oidc => "oidc",
            Self::App => "app",
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({})", self.id)
    }
}

/// The document of an endpoint.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    endpoint: &'a str,
    r#type: SignInType,
    issuer: Option<&'a str>,
    client_id: Option<&'a str>,
    has_secret: bool,
    identity_claim: Option<&'a str>,
    identity_type: Option<IdentityType>,
    redirect_uri: Option<String>,
    url: Option<&'a str>,
    created_at: Option<String>,
    updated_at: Option<String>,
}

/// Where the client secret of an endpoint belongs.
#[must_use]
pub fn place<'a>(account: &'a str, environment: Environment, id: &'a str) -> Place<'a> {
    Place { account, environment, kind: Kind::AgentSignIn, id }
}

/// The address of an endpoint.
#[must_use]
pub fn address(base: &str, id: &str) -> String {
    format!("{base}/mcp/{id}")
}

/// Where an OpenID provider sends users back to.
#[must_use]
pub fn redirect_uri(base: &str, id: &str) -> String {
    address(base, id) + "/callback"
}

impl Endpoint {
    /// The secret of the client at the OpenID provider.
    ///
    /// # Errors
    /// When no key opens it.
    pub fn secret(&self, keys: &VaultKeys) -> Result<Option<String>, OpenError> {
        let Some(sealed) = &self.sealed else { return Ok(None) };
        let place = place(&self.account, self.environment, &self.id);
        let plain = keys.open(&place, &Sealed::from(sealed.clone()))?;
        String::from_utf8(plain.to_vec()).map(Some).map_err(|_| OpenError::Damaged)
    }

    /// The document that the API shows. Returns `None` while sign-in is switched off.
    #[must_use]
    pub fn to_json(&self, base: &str) -> Option<Vec<u8>> {
        let kind = self.r#type?;
        Some(crate::util::json::bytes(&Shown {
            endpoint: &address(base, &self.id),
            r#type: kind,
            issuer: self.issuer.as_deref(),
            client_id: self.client_id.as_deref(),
            has_secret: self.sealed.is_some(),
            identity_claim: self.identity_claim.as_deref(),
            identity_type: self.identity_type,
            redirect_uri: (kind == SignInType::Oidc).then(|| redirect_uri(base, &self.id)),
            url: self.url.as_deref(),
            created_at: rfc3339(self.created_at),
            updated_at: rfc3339(self.updated_at),
        }))
    }
}
