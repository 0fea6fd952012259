//! The SQL of renewals. A renewal is fenced: one request holds the lease of a row, and what it writes names that lease and
//! the version that it read.

use super::machine::{After, PROBE_MS, WORKS};
use super::renewal::LEASE_MS;
use crate::credentials::Sealed;
use crate::ports::{Param, Statement};
use crate::terms::Environment;

const MINUTE_MS: u64 = 60_000;

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
            sql: "UPDATE credentials SET sealed = ?6, version = version + 1, issued_at = ?7, expires_at = ?8, renewable = ?9, scopes = ?10, missing_scopes = ?11, refreshed_at = ?7, reason_code = NULL, reason_detail = NULL, reason_status = NULL, attempts = 0, failing_since = NULL, refused_since = NULL, next_attempt_at = NULL, check_at = ?12, handed_until = NULL, lease = NULL, lease_until = NULL, written_by = ?5 WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 AND lease = ?5".into(),
            params: self.params([
                Param::integer(new.version),
                Param::text(new.request),
                Param::text(new.sealed.as_str()),
                Param::integer(new.now),
                Param::optional_integer(new.expires_at),
                Param::Integer(new.is_renewable.into()),
                Param::text(new.scopes),
                Param::text(new.missing_scopes),
                Param::integer(new.check_at),
            ]),
        }
    }

    /// Makes the connection work whose credentials the request has renewed, or found good.
    #[must_use]
    pub fn recovered(&self, request: &str, now: u64) -> Statement {
        Statement {
            sql: "UPDATE connections SET state = ?6, state_reason = NULL, state_since = ?5, version = version + 1, written_by = ?4 WHERE account = ?1 AND environment = ?2 AND id = ?3 AND state <> ?6 AND state <> 'failed' AND EXISTS (SELECT 1 FROM credentials h WHERE h.account = ?1 AND h.environment = ?2 AND h.connection_id = ?3 AND h.written_by = ?4)".into(),
            params: self.params([
                Param::text(request),
                Param::integer(now),
                Param::text(WORKS.as_str()),
            ]),
        }
    }

    /// Stores whose account the connection leads to, if the request has refreshed its credentials and it has
    /// changed: some platforms report it only on a refresh. The name stays while the platform does not report it again,
    /// unless names are not stored.
    #[must_use]
    pub fn told(&self, request: &str, (id, name): (&str, Option<&str>), names: bool) -> Statement {
        const NAME: &str = "iif(?7, coalesce(?6, iif(platform_account_id = ?5, platform_account_name, NULL)), NULL)";
        Statement {
            sql: format!("UPDATE connections SET platform_account_id = ?5, platform_account_name = {NAME} WHERE account = ?1 AND environment = ?2 AND id = ?3 AND (platform_account_id IS NOT ?5 OR platform_account_name IS NOT {NAME}) AND EXISTS (SELECT 1 FROM credentials h WHERE h.account = ?1 AND h.environment = ?2 AND h.connection_id = ?3 AND h.written_by = ?4)").into(),
            params: self.params([
                Param::text(request),
                Param::text(id),
                Param::optional_text(name),
                Param::Integer(names.into()),
            ]),
        }
    }

    /// Writes what a failed renewal means, if the request still holds the lease of the version that it read. Of the two
    /// moments for the next attempt, it takes the one in whose minute less is due: of a few attempts a minute, chance alone
    /// would put many into one. Twelve are counted at most, since among many attempts chance is even enough.
    #[must_use]
    pub fn not_renewed(
        &self,
        version: u64,
        request: &str,
        after: &After,
        why: &Why<'_>,
    ) -> Statement {
        Statement {
            sql: "UPDATE credentials SET reason_code = ?6, reason_detail = ?7, reason_status = ?8, attempts = ?9, failing_since = ?10, next_attempt_at = iif((SELECT count(*) FROM (SELECT 1 FROM credentials INDEXED BY credentials_by_due WHERE due_at > ?15 AND due_at <= ?15 + 60000 LIMIT 12)) < (SELECT count(*) FROM (SELECT 1 FROM credentials INDEXED BY credentials_by_due WHERE due_at > ?14 AND due_at <= ?14 + 60000 LIMIT 12)), ?13, ?11), refused_since = ?12, check_at = iif(?11 IS NULL, NULL, check_at), handed_until = NULL, lease = NULL, lease_until = NULL, written_by = ?5 WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 AND lease = ?5".into(),
            params: self.params([
                Param::integer(version),
                Param::text(request),
                Param::text(after.code),
                Param::optional_text(why.detail),
                Param::optional_integer(why.status.map(u64::from)),
                Param::integer(after.attempts),
                Param::optional_integer(after.failing_since),
                Param::optional_integer(after.next_attempt_at),
                Param::optional_integer(after.refused_since),
                Param::optional_integer(after.or_at),
                Param::optional_integer(after.next_attempt_at.map(minute_of)),
                Param::optional_integer(after.or_at.map(minute_of)),
            ]),
        }
    }

    /// Writes that the credentials were found good, if the request still holds the lease of the version that it read.
    #[must_use]
    pub fn verified(&self, version: u64, request: &str, check_at: u64) -> Statement {
        Statement {
            sql: "UPDATE credentials SET reason_code = NULL, reason_detail = NULL, reason_status = NULL, attempts = 0, failing_since = NULL, refused_since = NULL, next_attempt_at = NULL, check_at = ?6, handed_until = NULL, lease = NULL, lease_until = NULL, written_by = ?5 WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 AND lease = ?5".into(),
            params: self.params([Param::integer(version), Param::text(request), Param::integer(check_at)]),
        }
    }

    /// Gives the lease back: nothing was found out. The next check is due at `check_at`, or after a failure the next attempt
    /// when `waiting` says.
    #[must_use]
    pub fn released(
        &self,
        version: u64,
        request: &str,
        check_at: u64,
        waiting: Option<&After>,
    ) -> Statement {
        Statement {
            sql: "UPDATE credentials SET next_attempt_at = ?7, attempts = ifnull(?8, attempts), check_at = ?6, handed_until = NULL, lease = NULL, lease_until = NULL WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 AND lease = ?5".into(),
            params: self.params([
                Param::integer(version),
                Param::text(request),
                Param::integer(check_at),
                Param::optional_integer(waiting.and_then(|after| after.next_attempt_at)),
                Param::optional_integer(waiting.map(|after| after.attempts)),
            ]),
        }
    }

    /// Puts the next check off, whatever else is due; for ever when there is nothing to be checked any more.
    #[must_use]
    pub fn put_off(&self, version: u64, check_at: Option<u64>) -> Statement {
        Statement {
            sql: "UPDATE credentials SET next_attempt_at = NULL, check_at = ?5, handed_until = NULL WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4".into(),
            params: self.params([Param::integer(version), Param::optional_integer(check_at)]),
        }
    }

    /// Selects the connection, unless its account is in another database by now.
    #[must_use]
    pub fn select_connection(&self) -> Statement {
        Statement {
            sql: "SELECT c.platform, c.state FROM connections c INDEXED BY connections_by_id WHERE c.account = ?1 AND c.environment = ?2 AND c.id = ?3 AND c.account NOT IN (SELECT account FROM away)".into(),
            params: self.params([]),
        }
    }

    /// Selects the OAuth client for the connection's platform.
    #[must_use]
    pub fn select_client(&self) -> Statement {
        Statement {
            sql: "SELECT o.* FROM connections c INDEXED BY connections_by_id CROSS JOIN oauth_clients o ON o.account = c.account AND o.environment = c.environment AND o.platform = c.platform WHERE c.account = ?1 AND c.environment = ?2 AND c.id = ?3".into(),
            params: self.params([]),
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

/// When the minute began whose run finds what is due at this time.
fn minute_of(at: u64) -> u64 {
    at.saturating_sub(1).saturating_div(MINUTE_MS).saturating_mul(MINUTE_MS)
}

/// Hands what is due to somebody, the longest due first: until `until`, nobody else gets it. Returns at most so many rows.
#[must_use]
pub fn claim_due(now: u64, until: u64, most: usize) -> Statement {
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    Statement {
        sql: "UPDATE credentials SET handed_until = ?2 WHERE (account, environment, connection_id) IN (SELECT account, environment, connection_id FROM credentials INDEXED BY credentials_by_due WHERE due_at <= ?1 AND account NOT IN (SELECT account FROM away) ORDER BY due_at LIMIT ?3) RETURNING account, environment, connection_id AS connection".into(),
        params: vec![Param::integer(now), Param::integer(until), Param::integer(most)],
    }
}

/// The statements of the breaker: while a platform rejects an OAuth client, one renewal an hour finds out whether it still
/// does.
#[derive(Debug, Clone, Copy)]
pub struct Breaker<'a> {
    /// The account.
    pub account: &'a str,
    /// Its environment.
    pub environment: Environment,
    /// The platform.
    pub platform: &'a str,
    /// The id of the client. Another one under the same platform is another client.
    pub client_id: &'a str,
}

impl Breaker<'_> {
    fn statement(&self, sql: &'static str, more: impl IntoIterator<Item = Param>) -> Statement {
        let own = [
            Param::text(self.account),
            Param::text(self.environment.as_str()),
            Param::text(self.platform),
            Param::text(self.client_id),
        ];
        Statement { sql: sql.into(), params: own.into_iter().chain(more).collect() }
    }

    /// Takes the hour's probe. Returns a row if nobody else has.
    #[must_use]
    pub fn probe(&self, now: u64) -> Statement {
        let next = Param::integer(now.saturating_add(PROBE_MS));
        self.statement("UPDATE oauth_clients SET probe_at = ?6 WHERE account = ?1 AND environment = ?2 AND platform = ?3 AND client_id = ?4 AND rejected_since IS NOT NULL AND probe_at <= ?5 RETURNING client_id", [Param::integer(now), next])
    }

    /// Opens: the platform has rejected the client.
    #[must_use]
    pub fn open(&self, now: u64) -> Statement {
        let next = Param::integer(now.saturating_add(PROBE_MS));
        self.statement("UPDATE oauth_clients SET rejected_since = coalesce(rejected_since, ?5), probe_at = ?6 WHERE account = ?1 AND environment = ?2 AND platform = ?3 AND client_id = ?4", [Param::integer(now), next])
    }

    /// Notes an error that may be of the client or of one account at the platform only. Opens when another account got
    /// the same one, and no renewal has succeeded since.
    #[must_use]
    pub fn suspect(&self, suspicion: &Suspicion<'_>, now: u64) -> Statement {
        let next = Param::integer(now.saturating_add(PROBE_MS));
        self.statement("UPDATE oauth_clients SET rejected_since = iif(suspect_error = ?5 AND suspect_account <> ?6, coalesce(rejected_since, ?7), rejected_since), probe_at = iif(suspect_error = ?5 AND suspect_account <> ?6, ?8, probe_at), suspect_error = ?5, suspect_account = ?6 WHERE account = ?1 AND environment = ?2 AND platform = ?3 AND client_id = ?4", [
            Param::text(suspicion.error),
            Param::text(suspicion.account),
            Param::integer(now),
            next,
        ])
    }

    /// Closes: the platform accepts the client again.
    #[must_use]
    pub fn close(&self) -> Statement {
        self.statement("UPDATE oauth_clients SET rejected_since = NULL, probe_at = NULL, suspect_error = NULL, suspect_account = NULL WHERE account = ?1 AND environment = ?2 AND platform = ?3 AND client_id = ?4 AND (rejected_since IS NOT NULL OR suspect_error IS NOT NULL)", [])
    }
}

/// An error that may be of the OAuth client or of one account at the platform only.
#[derive(Debug, Clone, Copy)]
pub struct Suspicion<'a> {
    /// The platform's code, or its status.
    pub error: &'a str,
    /// Whom it is about: a hash of the tenant that the error names, or of the account at the platform.
    pub account: &'a str,
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
    /// A JSON array of strings: what the platform grants.
    pub scopes: &'a str,
    /// A JSON array of strings: what it does not grant any more, or still not.
    pub missing_scopes: &'a str,
    /// When they are checked next.
    pub check_at: u64,
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

/// Makes the credentials of a connection due for their check at once: the platform has refused a call with them. Those that
/// are due, or wait for another attempt, stay as they are.
#[must_use]
pub fn check_soon(account: &str, environment: Environment, id: &str, now: u64) -> Statement {
    Statement {
        sql: "UPDATE credentials SET check_at = ?4 WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND check_at > ?4".into(),
        params: vec![
            Param::text(account),
            Param::text(environment.as_str()),
            Param::text(id),
            Param::integer(now),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::{MINUTE_MS, minute_of};

    #[test]
    fn what_is_due_with_a_minute_is_found_by_the_run_before() {
        for (at, minute) in [
            (0, 0),
            (1, 0),
            (MINUTE_MS, 0),
            (MINUTE_MS + 1, MINUTE_MS),
            (5 * MINUTE_MS, 4 * MINUTE_MS),
        ] {
            assert_eq!(minute_of(at), minute, "{at}");
        }
    }
}
