//! Downloads: an agent gets a link instead of the file that a `GET` call returns.
//!
//! No file is stored, only the request, encrypted: opening the link sends it again. The stored token is narrower than the
//! agent's, expires with the link, and is checked like any other, so a download ends with the grant, the key or the token of
//! the agent. The link of a grant opens nothing before the grant's identity has signed in. A key or a session token has no
//! sign-in, so its link contains a secret, of which only the hash is stored.

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
    /// A UUID, or the hash of the link's secret.
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
    /// Inserts the row, unless too many links are open. Returns its id.
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

/// A download whose link is a secret.
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

/// Selects the download of a secret, unless it has expired.
pub fn select(secret_hash: &str, now: u64) -> Statement {
    Statement {
        sql: "SELECT id, account, environment, sealed FROM agent_approvals WHERE id = ?1 AND state = 'download' AND endpoint IS NULL AND expires_at > ?2".into(),
        params: vec![Param::text(secret_hash), Param::integer(now)],
    }
}
