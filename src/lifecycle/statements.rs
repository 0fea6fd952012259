//! The SQL of renewals. A renewal is fenced: one request holds the lease of a row, and what it writes names that lease and
//! the version that it read.

use super::renewal::{After, LEASE_MS};
use crate::credentials::Sealed;
use crate::ports::{Param, Statement};
use crate::terms::Environment;

/// The row of a connection's credentials.
#[derive(Debug, Clone, Copy)]
pub struct RowOf<'a> {
    /// The account.
    pub account: &'a str,
    /// Its environment.
    pub environment: Environment,
    /// The connection's id.
    pub connection: &'a str,
}

impl RowOf<'_> {
    fn params(&self, more: impl IntoIterator<Item = Param>) -> Vec<Param> {
        let own = [
            Param::text(self.account),
            Param::text(self.environment.as_str()),
            Param::text(self.connection),
        ];
        own.into_iter().chain(more).collect()
    }

    /// Selects the row.
    #[must_use]
    pub fn select(&self) -> Statement {
        Statement {
            sql: "SELECT h.* FROM credentials h WHERE h.account = ?1 AND h.environment = ?2 AND h.connection_id = ?3".into(),
            params: self.params([]),
        }
    }

    /// Takes the lease of the row at a version, unless somebody else holds it.
    #[must_use]
    pub fn take_lease(&self, version: u64, request: &str, now: u64) -> Statement {
        let until = now.saturating_add(LEASE_MS);
        Statement {
            sql: "UPDATE credentials SET lease = ?5, lease_until = ?7 WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 AND (lease IS NULL OR lease = ?5 OR lease_until <= ?6)".into(),
            params: self.params([Param::integer(version), Param::text(request), Param::integer(now), Param::integer(until)]),
        }
    }

    /// Writes renewed credentials, if the request still holds the lease of the version that it read.
    #[must_use]
    pub fn renewed(&self, new: &Renewed<'_>) -> Statement {
        Statement {
            sql: "UPDATE credentials SET sealed = ?6, version = version + 1, issued_at = ?7, expires_at = ?8, renewable = ?9, scopes = ?10, refreshed_at = ?7, reason_code = NULL, reason_detail = NULL, reason_status = NULL, attempts = 0, failing_since = NULL, refused_since = NULL, next_attempt_at = NULL, lease = NULL, lease_until = NULL, written_by = ?5 WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 AND lease = ?5".into(),
            params: self.params([
                Param::integer(new.version),
                Param::text(new.request),
                Param::text(new.sealed.as_str()),
                Param::integer(new.now),
                Param::optional_integer(new.expires_at),
                Param::Integer(new.is_renewable.into()),
                Param::text(new.scopes),
            ]),
        }
    }

    /// Makes the connection operational whose credentials the request has renewed.
    #[must_use]
    pub fn recovered(&self, request: &str, now: u64) -> Statement {
        Statement {
            sql: "UPDATE connections SET state = 'operational', state_reason = NULL, state_since = ?5, version = version + 1, written_by = ?4 WHERE account = ?1 AND environment = ?2 AND id = ?3 AND state <> 'operational' AND state <> 'failed' AND EXISTS (SELECT 1 FROM credentials h WHERE h.account = ?1 AND h.environment = ?2 AND h.connection_id = ?3 AND h.written_by = ?4)".into(),
            params: self.params([Param::text(request), Param::integer(now)]),
        }
    }

    /// Writes what a failed renewal means, if the request still holds the lease of the version that it read.
    #[must_use]
    pub fn not_renewed(
        &self,
        version: u64,
        request: &str,
        after: &After,
        why: &Why<'_>,
    ) -> Statement {
        Statement {
            sql: "UPDATE credentials SET reason_code = ?6, reason_detail = ?7, reason_status = ?8, attempts = ?9, failing_since = ?10, next_attempt_at = ?11, refused_since = ?12, lease = NULL, lease_until = NULL, written_by = ?5 WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 AND lease = ?5".into(),
            params: self.params([
                Param::integer(version),
                Param::text(request),
                Param::text(after.code),
                Param::optional_text(why.detail),
                Param::optional_integer(why.status.map(u64::from)),
                Param::integer(after.attempts),
                Param::integer(after.failing_since),
                Param::optional_integer(after.next_attempt_at),
                Param::optional_integer(after.refused_since),
            ]),
        }
    }

    /// Gives the connection the state that follows from the failed renewal which the request has written.
    #[must_use]
    pub fn worsened(&self, request: &str, after: &After, now: u64) -> Statement {
        Statement {
            sql: "UPDATE connections SET state = ?5, active = iif(?5 = 'failed', 0, active), state_reason = ?6, state_since = ?7, version = version + 1, written_by = ?4 WHERE account = ?1 AND environment = ?2 AND id = ?3 AND state <> ?5 AND state <> 'failed' AND EXISTS (SELECT 1 FROM credentials h WHERE h.account = ?1 AND h.environment = ?2 AND h.connection_id = ?3 AND h.written_by = ?4 AND h.reason_code IS NOT NULL)".into(),
            params: self.params([
                Param::text(request),
                Param::text(after.state.as_str()),
                Param::text(after.code),
                Param::integer(now),
            ]),
        }
    }
}

/// Renewed credentials.
#[derive(Debug)]
pub struct Renewed<'a> {
    /// The version that was read.
    pub version: u64,
    /// The request that holds the lease.
    pub request: &'a str,
    /// What is held, sealed.
    pub sealed: &'a Sealed,
    /// When the access token expires, in milliseconds since 1970-01-01 UTC.
    pub expires_at: Option<u64>,
    /// Whether it can be renewed again.
    pub is_renewable: bool,
    /// A JSON array of strings.
    pub scopes: &'a str,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// What the platform said of a failed renewal.
#[derive(Debug, Clone, Copy)]
pub struct Why<'a> {
    /// For people.
    pub detail: Option<&'a str>,
    /// The HTTP status of its answer.
    pub status: Option<u16>,
}
