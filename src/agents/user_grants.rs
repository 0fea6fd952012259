//! Lets end users see and revoke their own grants. The signed-in user is a signed string, so no
//! session is stored.

use serde::{Deserialize, Serialize};

use super::statements::statement;
use crate::auth::token::SessionSecrets;
use crate::ports::{Param, Statement};
use crate::terms::{Environment, IdentityType};

/// The maximum number of grants on a page, which is also the maximum that a user can revoke at
/// once.
pub const MAX_GRANTS: usize = 20;

const PREFIX: &str = "ag_";

/// A signed-in user who can see their own grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedInUser {
    #[serde(rename = "e")]
    pub endpoint: String,
    #[serde(rename = "i")]
    pub identity: String,
    #[serde(rename = "y", default, skip_serializing_if = "Option::is_none")]
    pub identity_type: Option<IdentityType>,
    /// SHA-256 of the browser's cookie.
    #[serde(rename = "b")]
    pub browser_hash: String,
    /// When the sign-in was last configured. A later change invalidates the signed string.
    #[serde(rename = "c")]
    pub configured_at: u64,
    /// Milliseconds since 1970-01-01 UTC.
    #[serde(rename = "t")]
    pub expires_at: u64,
}

impl SignedInUser {
    /// Creates the parameter `grant` of `continueUrl`. Returns `None` without a signing secret.
    pub fn sign(&self, secrets: &SessionSecrets) -> Option<String> {
        secrets.sign_text(PREFIX, self)
    }

    /// Whether a string has the prefix of [`Self::sign`]. Does not check the signature.
    pub fn is_signed(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// Verifies a signed user and its expiry.
    pub fn verify(secrets: &SessionSecrets, text: &str, now: u64) -> Option<Self> {
        secrets.verify_text(PREFIX, text).filter(|user: &Self| now < user.expires_at)
    }
}

/// The user who owns grants.
#[derive(Debug, Clone, Copy)]
pub struct GrantOwner<'a> {
    pub account: &'a str,
    pub environment: Environment,
    pub identity: &'a str,
    pub identity_type: Option<IdentityType>,
}

impl GrantOwner<'_> {
    /// The owner as the parameters `?1` to `?4`, then `more` as `?5`.
    fn params(&self, more: Param) -> Vec<Param> {
        vec![
            Param::text(self.account),
            Param::text(self.environment.as_str()),
            Param::text(self.identity),
            Param::optional_text(self.identity_type.map(IdentityType::as_str)),
            more,
        ]
    }
}

/// The SQL condition that the grant's users sign in at an OpenID provider. Its claim alone identifies
/// a person: the identity type is a setting of the sign-in, which may have changed since the grant.
pub const IS_FROM_PROVIDER: &str = "EXISTS (SELECT 1 FROM agent_endpoints e WHERE e.id = agent_grants.endpoint AND e.type = 'oidc')";

/// Deletes grants of the signed-in user, unless the sign-in has changed since `configured_at`.
pub fn delete_own_grants(
    owner: GrantOwner<'_>,
    (endpoint, configured_at): (&str, u64),
    grant_ids: &[String],
) -> Statement {
    let mut params = owner.params(Param::Text(crate::util::json::text(&grant_ids)));
    params.extend([Param::text(endpoint), Param::integer(configured_at)]);
    statement(
        format!(
            "DELETE FROM agent_grants WHERE state = 'active' AND id IN (SELECT value FROM json_each(?5)) AND account = ?1 AND environment = ?2 AND identity = ?3 AND (identity_type IS ?4 OR {IS_FROM_PROVIDER}) AND EXISTS (SELECT 1 FROM agent_endpoints e WHERE e.id = ?6 AND e.updated_at = ?7 AND e.type IS NOT NULL)"
        ),
        params,
    )
}

/// Selects a user's grants, newest first.
pub fn select_grants_by_owner(owner: GrantOwner<'_>, now: u64) -> Statement {
    statement(
        format!(
            "SELECT * FROM agent_grants INDEXED BY agent_grants_of_identity WHERE account = ?1 AND environment = ?2 AND identity = ?3 AND (identity_type IS ?4 OR {IS_FROM_PROVIDER}) AND state = 'active' AND expires_at > ?5 ORDER BY created_at DESC, id DESC LIMIT {MAX_GRANTS}"
        ),
        owner.params(Param::integer(now)),
    )
}
