//! Downloads: if a `GET` call returns a file, the agent gets a link to the file.
//!
//! Only the encrypted request is stored, not the file: opening the link repeats the request. It
//! runs with a stored token that is more restricted than the agent's and expires with the link.
//! This token is verified like any other, so revoking the agent's grant, key or token also ends the
//! download. With a grant, the link opens only after the grant's identity has signed in. Keys and
//! session tokens have no sign-in, so their links contain a secret, and only the secret's hash is
//! stored.

use serde::Deserialize;

use super::approval::seal_context;
use crate::auth::Principal;
use crate::auth::token::Grant;
use crate::credentials::{SealContext, Sealed};
use crate::ports::{Param, Statement};
use crate::terms::{Environment, IdentityType};

/// The lifetime of a link, in milliseconds.
pub const LIFETIME_MS: u64 = 10 * 60 * 1000;
/// The maximum number of unexpired downloads per key and identity.
const MAX_OPEN: u64 = 100;

/// A new row of `agent_approvals` in the state `download`.
pub struct NewDownload<'a> {
    /// A UUID or, for a link with a secret, the secret's hash.
    pub id: &'a str,
    /// The agent's grant, if it has one.
    pub grant: Option<&'a Grant>,
    pub principal: &'a Principal,
    /// The identity that may download the file.
    pub identity: &'a str,
    pub identity_type: Option<IdentityType>,
    pub connection_id: &'a str,
    /// The encrypted request.
    pub sealed: &'a Sealed,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
    pub expires_at: u64,
}

impl NewDownload<'_> {
    /// Inserts the row and returns its id, unless too many links are open.
    pub fn insert(&self) -> Statement {
        let Self { grant, principal, .. } = self;
        Statement {
            sql: format!(
                "INSERT INTO agent_approvals (id, account, environment, endpoint, grant_id, key_id, identity, identity_type, connection_id, action, title, method, state, sealed, created_at, expires_at) SELECT ?1, k.account, k.environment, ?2, ?3, k.id, ?4, ?5, ?6, '', '', 'GET', 'download', ?7, ?8, ?9 FROM api_keys k WHERE k.id = ?10 AND (SELECT count(*) FROM agent_approvals a WHERE a.key_id = ?10 AND a.identity = ?4 AND a.state = 'download' AND a.expires_at > ?8 AND a.id <> ?1) < {MAX_OPEN} ON CONFLICT (id) DO UPDATE SET state = state RETURNING id"
            )
            .into(),
            params: vec![
                Param::text(self.id),
                Param::optional_text(grant.map(|grant| grant.endpoint.as_str())),
                Param::optional_text(grant.map(|grant| grant.id.as_str())),
                Param::text(self.identity),
                Param::optional_text(self.identity_type.map(IdentityType::as_str)),
                Param::text(self.connection_id),
                Param::text(self.sealed.as_str()),
                Param::integer(self.now),
                Param::integer(self.expires_at),
                Param::text(&principal.key_id),
            ],
        }
    }
}

/// A download whose link contains a secret.
#[derive(Debug, Deserialize)]
pub struct Download {
    id: String,
    account: String,
    environment: Environment,
    pub sealed: Sealed,
}

impl Download {
    pub fn seal_context(&self) -> SealContext<'_> {
        seal_context(&self.account, self.environment, &self.id)
    }
}

/// Selects the unexpired download with this secret.
pub fn select(secret_hash: &str, now: u64) -> Statement {
    Statement {
        sql: "SELECT id, account, environment, sealed FROM agent_approvals WHERE id = ?1 AND state = 'download' AND endpoint IS NULL AND expires_at > ?2".into(),
        params: vec![Param::text(secret_hash), Param::integer(now)],
    }
}
