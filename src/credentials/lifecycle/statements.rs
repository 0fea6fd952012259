//! The SQL of refreshes and checks. Each write names the lease and the version that the request has read.

use super::machine::{FailureOutcome, PROBE_INTERVAL_MS, STATE_AFTER_SUCCESS};
use super::row::CredentialsRow;
use super::timing::LEASE_MS;
use crate::credentials::Sealed;
use crate::ports::{Param, Statement};
use crate::terms::Environment;

const MINUTE_MS: u64 = 60_000;

/// The key of a row of credentials.
#[derive(Debug, Clone, Copy)]
pub struct CredentialsKey<'a> {
    pub account: &'a str,
    pub environment: Environment,
    /// The connection's id.
    pub connection: &'a str,
}

impl CredentialsKey<'_> {
    fn params(&self, more: impl IntoIterator<Item = Param>) -> Vec<Param> {
        let key_params = [
            Param::text(self.account),
            Param::text(self.environment.as_str()),
            Param::text(self.connection),
        ];
        key_params.into_iter().chain(more).collect()
    }

    /// Selects the row of the credentials.
    pub fn select(&self) -> Statement {
        Statement {
            sql: "SELECT h.* \
                FROM credentials h \
                WHERE h.account = ?1 AND h.environment = ?2 AND h.connection_id = ?3"
                .into(),
            params: self.params([]),
        }
    }

    /// Acquires the lease of a row, unless another request has it, or has refreshed or tried to refresh since the row was
    /// read.
    pub fn acquire_lease(&self, row: &CredentialsRow, request: &str, now: u64) -> Statement {
        let until = now.saturating_add(LEASE_MS);
        Statement {
            sql: "UPDATE credentials \
                SET lease = ?5, lease_until = ?7 \
                WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 \
                AND attempts = ?8 AND (lease IS NULL OR lease = ?5 OR lease_until <= ?6)"
                .into(),
            params: self.params([
                Param::integer(row.version),
                Param::text(request),
                Param::integer(now),
                Param::integer(until),
                Param::integer(row.attempts),
            ]),
        }
    }

    /// Stores refreshed credentials, if the request still has the lease at the version that it has
    /// read.
    pub fn record_refresh(&self, new: &RefreshedCredentials<'_>) -> Statement {
        Statement {
            sql: "UPDATE credentials \
                SET sealed = ?6, version = version + 1, issued_at = ?7, expires_at = ?8, refreshable = ?9, \
                scopes = ?10, missing_scopes = ?11, refreshed_at = ?7, reason_code = NULL, \
                reason_detail = NULL, reason_status = NULL, attempts = 0, failing_since = NULL, \
                refused_since = NULL, next_attempt_at = NULL, check_at = ?12, handed_until = NULL, \
                lease = NULL, lease_until = NULL, written_by = ?5 \
                WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 AND lease = ?5".into(),
            params: self.params([
                Param::integer(new.version),
                Param::text(new.request),
                Param::text(new.sealed.as_str()),
                Param::integer(new.now),
                Param::optional_integer(new.expires_at),
                Param::Integer(new.is_refreshable.into()),
                Param::text(new.scopes),
                Param::text(new.missing_scopes),
                Param::integer(new.check_at),
            ]),
        }
    }

    /// Marks the connection as operational after a refresh or a check by this request.
    pub fn mark_recovered(&self, request: &str, now: u64) -> Statement {
        Statement {
            sql: "UPDATE connections \
                SET state = ?6, state_reason = NULL, state_since = ?5, version = version + 1, written_by = ?4 \
                WHERE account = ?1 AND environment = ?2 AND id = ?3 AND state <> ?6 AND state <> 'failed' \
                AND EXISTS (SELECT 1 FROM credentials h WHERE h.account = ?1 AND h.environment = ?2 \
                AND h.connection_id = ?3 AND h.written_by = ?4)".into(),
            params: self.params([
                Param::text(request),
                Param::integer(now),
                Param::text(STATE_AFTER_SUCCESS.as_str()),
            ]),
        }
    }

    /// Stores the account at the platform, if this request has refreshed the credentials and the
    /// account has changed: some platforms return it only on a refresh. A stored name is kept if
    /// the platform does not send it again, unless names must not be stored.
    pub fn record_platform_account(
        &self,
        request: &str,
        (id, name): (&str, Option<&str>),
        names: bool,
    ) -> Statement {
        const NAME: &str = "iif(?7, coalesce(?6, iif(platform_account_id = ?5, platform_account_name, NULL)), NULL)";
        Statement {
            sql: format!("UPDATE connections \
                SET platform_account_id = ?5, platform_account_name = {NAME} \
                WHERE account = ?1 AND environment = ?2 AND id = ?3 AND (platform_account_id IS NOT ?5 \
                OR platform_account_name IS NOT {NAME}) AND EXISTS (SELECT 1 FROM credentials h \
                WHERE h.account = ?1 AND h.environment = ?2 AND h.connection_id = ?3 AND h.written_by = ?4)").into(),
            params: self.params([
                Param::text(request),
                Param::text(id),
                Param::optional_text(name),
                Param::Integer(names.into()),
            ]),
        }
    }

    /// Stores a failure, if the request still has the lease at the version that it has read.
    ///
    /// Of the two times for the next attempt, the statement chooses the time in whose minute fewer
    /// attempts are due. With few attempts per minute, random times alone would put many into the
    /// same minute. The statement counts at most twelve, because random times spread larger numbers
    /// evenly enough.
    pub fn record_failure(
        &self,
        version: u64,
        request: &str,
        after: &FailureOutcome,
        status_and_detail: &FailureReason<'_>,
    ) -> Statement {
        Statement {
            sql: "UPDATE credentials \
                SET reason_code = ?6, reason_detail = ?7, reason_status = ?8, attempts = ?9, \
                failing_since = ?10, next_attempt_at = iif((SELECT count(*) FROM (SELECT 1 \
                FROM credentials INDEXED BY credentials_by_due WHERE due_at > ?15 AND due_at <= ?15 + 60000 \
                LIMIT 12)) < (SELECT count(*) FROM (SELECT 1 FROM credentials INDEXED BY credentials_by_due \
                WHERE due_at > ?14 AND due_at <= ?14 + 60000 \
                LIMIT 12)), ?13, ?11), refused_since = ?12, retry_at = ?16, \
                check_at = iif(?11 IS NULL, NULL, check_at), handed_until = NULL, lease = NULL, lease_until = NULL, written_by = ?5 \
                WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 AND lease = ?5".into(),
            params: self.params([
                Param::integer(version),
                Param::text(request),
                Param::text(after.code),
                Param::optional_text(status_and_detail.detail),
                Param::optional_integer(status_and_detail.status.map(u64::from)),
                Param::integer(after.attempts),
                Param::optional_integer(after.failing_since),
                Param::optional_integer(after.next_attempt_at),
                Param::optional_integer(after.refused_since),
                Param::optional_integer(after.alternative_at),
                Param::optional_integer(after.next_attempt_at.map(start_of_minute)),
                Param::optional_integer(after.alternative_at.map(start_of_minute)),
                Param::integer(after.retry_at),
            ]),
        }
    }

    /// Records that a check succeeded, if the request still has the lease at the version that it
    /// has read.
    pub fn record_success(&self, version: u64, request: &str, check_at: u64) -> Statement {
        Statement {
            sql: "UPDATE credentials \
                SET reason_code = NULL, reason_detail = NULL, reason_status = NULL, attempts = 0, \
                failing_since = NULL, refused_since = NULL, next_attempt_at = NULL, check_at = ?6, \
                handed_until = NULL, lease = NULL, lease_until = NULL, written_by = ?5 \
                WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 AND lease = ?5".into(),
            params: self.params([Param::integer(version), Param::text(request), Param::integer(check_at)]),
        }
    }

    /// Releases the lease after an inconclusive check. `check_at` is the next check; `waiting` reschedules the attempt
    /// after an earlier failure.
    pub fn release_lease(
        &self,
        version: u64,
        request: &str,
        check_at: u64,
        waiting: Option<&FailureOutcome>,
    ) -> Statement {
        Statement {
            sql: "UPDATE credentials \
                SET next_attempt_at = ?7, attempts = ifnull(?8, attempts), check_at = ?6, \
                handed_until = NULL, lease = NULL, lease_until = NULL \
                WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4 AND lease = ?5".into(),
            params: self.params([
                Param::integer(version),
                Param::text(request),
                Param::integer(check_at),
                Param::optional_integer(waiting.and_then(|after| after.next_attempt_at)),
                Param::optional_integer(waiting.map(|after| after.attempts)),
            ]),
        }
    }

    /// Sets the time of the next check; `None` disables checks.
    pub fn reschedule(&self, version: u64, check_at: Option<u64>) -> Statement {
        Statement {
            sql: "UPDATE credentials \
                SET next_attempt_at = NULL, check_at = ?5, handed_until = NULL \
                WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND version = ?4"
                .into(),
            params: self.params([Param::integer(version), Param::optional_integer(check_at)]),
        }
    }

    /// Selects the connection, unless its account has moved to another database.
    pub fn select_connection(&self) -> Statement {
        Statement {
            sql: "SELECT c.platform, c.state \
                FROM connections c INDEXED BY connections_by_id \
                WHERE c.account = ?1 AND c.environment = ?2 AND c.id = ?3 \
                AND c.account NOT IN (SELECT account FROM away)"
                .into(),
            params: self.params([]),
        }
    }

    /// Selects the OAuth client of the credentials.
    pub fn select_client(&self) -> Statement {
        Statement {
            sql: "SELECT o.* \
                FROM connections c INDEXED BY connections_by_id \
                CROSS JOIN credentials h ON h.account = c.account AND h.environment = c.environment \
                AND h.connection_id = c.id \
                CROSS JOIN oauth_clients o ON o.account = c.account AND o.environment = c.environment \
                AND o.platform = c.platform AND o.name = h.client \
                WHERE c.account = ?1 AND c.environment = ?2 AND c.id = ?3".into(),
            params: self.params([]),
        }
    }

    /// Sets the connection's state after a failure that this request has recorded.
    pub fn mark_degraded(&self, request: &str, after: &FailureOutcome, now: u64) -> Statement {
        Statement {
            sql: "UPDATE connections \
                SET state = ?5, active = iif(?5 = 'failed', 0, active), state_reason = ?6, state_since = ?7, \
                version = version + 1, written_by = ?4 \
                WHERE account = ?1 AND environment = ?2 AND id = ?3 AND state <> ?5 AND state <> 'failed' \
                AND EXISTS (SELECT 1 FROM credentials h WHERE h.account = ?1 AND h.environment = ?2 \
                AND h.connection_id = ?3 AND h.written_by = ?4 AND h.reason_code IS NOT NULL)".into(),
            params: self.params([
                Param::text(request),
                Param::text(after.state.as_str()),
                Param::text(after.code),
                Param::integer(now),
            ]),
        }
    }
}

/// The start of the minute that contains `at`. The job at the end of a minute processes the work
/// that is due in it, so a time on the boundary belongs to the minute before.
fn start_of_minute(at: u64) -> u64 {
    at.saturating_sub(1).saturating_div(MINUTE_MS).saturating_mul(MINUTE_MS)
}

/// Claims up to `limit` connections that are due, the longest overdue first. They are not claimed again before
/// `until`.
pub fn claim_due(now: u64, until: u64, limit: usize) -> Statement {
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    Statement {
        sql: "UPDATE credentials \
            SET handed_until = ?2 \
            WHERE (account, environment, connection_id) IN (SELECT account, environment, connection_id \
            FROM credentials INDEXED BY credentials_by_due WHERE due_at <= ?1 \
            AND account NOT IN (SELECT account FROM away) ORDER BY due_at LIMIT ?3) \
            RETURNING account, environment, connection_id AS connection".into(),
        params: vec![Param::integer(now), Param::integer(until), Param::integer(limit)],
    }
}

/// The circuit breaker of an OAuth client: while the platform rejects the client, one refresh an
/// hour probes whether the platform accepts it again.
#[derive(Debug, Clone, Copy)]
pub struct CircuitBreaker<'a> {
    pub account: &'a str,
    pub environment: Environment,
    pub platform: &'a str,
    /// The client's name.
    pub name: &'a str,
    /// The client's id at the platform. A replaced client has a breaker of its own.
    pub client_id: &'a str,
}

impl CircuitBreaker<'_> {
    fn statement(&self, sql: &'static str, more: impl IntoIterator<Item = Param>) -> Statement {
        let client_params = [
            Param::text(self.account),
            Param::text(self.environment.as_str()),
            Param::text(self.platform),
            Param::text(self.client_id),
            Param::text(self.name),
        ];
        Statement { sql: sql.into(), params: client_params.into_iter().chain(more).collect() }
    }

    /// Claims this hour's probe. Returns a row if this request may send it.
    pub fn probe(&self, now: u64) -> Statement {
        let next = Param::integer(now.saturating_add(PROBE_INTERVAL_MS));
        self.statement(
            "UPDATE oauth_clients \
            SET probe_at = ?7 \
            WHERE account = ?1 AND environment = ?2 AND platform = ?3 AND name = ?5 AND client_id = ?4 \
            AND rejected_since IS NOT NULL AND probe_at <= ?6 \
            RETURNING client_id",
            [Param::integer(now), next],
        )
    }

    pub fn open(&self, now: u64) -> Statement {
        let next = Param::integer(now.saturating_add(PROBE_INTERVAL_MS));
        self.statement(
            "UPDATE oauth_clients \
            SET rejected_since = coalesce(rejected_since, ?6), probe_at = ?7 \
            WHERE account = ?1 AND environment = ?2 AND platform = ?3 AND name = ?5 AND client_id = ?4",
            [Param::integer(now), next],
        )
    }

    /// Records an error that may be caused by the client or only by one account. Opens the breaker
    /// if another account had the same error, and no refresh has succeeded since.
    pub fn record_suspicion(&self, suspicion: &ClientError<'_>, now: u64) -> Statement {
        let next = Param::integer(now.saturating_add(PROBE_INTERVAL_MS));
        self.statement("UPDATE oauth_clients \
            SET rejected_since = iif(suspect_error = ?6 AND suspect_account <> ?7, coalesce(rejected_since, \
            ?8), rejected_since), probe_at = iif(suspect_error = ?6 \
            AND suspect_account <> ?7, ?9, probe_at), suspect_error = ?6, suspect_account = ?7 \
            WHERE account = ?1 AND environment = ?2 AND platform = ?3 AND name = ?5 AND client_id = ?4", [
            Param::text(suspicion.error),
            Param::text(suspicion.account),
            Param::integer(now),
            next,
        ])
    }

    pub fn close(&self) -> Statement {
        self.statement("UPDATE oauth_clients \
            SET rejected_since = NULL, probe_at = NULL, suspect_error = NULL, suspect_account = NULL \
            WHERE account = ?1 AND environment = ?2 AND platform = ?3 AND name = ?5 AND client_id = ?4 \
            AND (rejected_since IS NOT NULL OR suspect_error IS NOT NULL)", [])
    }
}

/// An error that may be caused by the OAuth client, or only by one account at the platform.
#[derive(Debug, Clone, Copy)]
pub struct ClientError<'a> {
    /// The platform's error code, or else the HTTP status.
    pub error: &'a str,
    /// A hash of the tenant that the error names, or else of the account at the platform.
    pub account: &'a str,
}

/// The values that a refresh stores.
#[derive(Debug)]
pub struct RefreshedCredentials<'a> {
    /// The version that was read.
    pub version: u64,
    /// The request that has the lease.
    pub request: &'a str,
    /// The encrypted credentials.
    pub sealed: &'a Sealed,
    /// When the access token expires, in milliseconds since 1970-01-01 UTC.
    pub expires_at: Option<u64>,
    /// Whether the access token can be refreshed again.
    pub is_refreshable: bool,
    /// The granted scopes, a JSON array of strings.
    pub scopes: &'a str,
    /// The scopes that are missing, a JSON array of strings.
    pub missing_scopes: &'a str,
    /// The time of the next check.
    pub check_at: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// The platform's explanation of a failure.
#[derive(Debug, Clone, Copy)]
pub struct FailureReason<'a> {
    /// The platform's description of the failure.
    pub detail: Option<&'a str>,
    /// The HTTP status.
    pub status: Option<u16>,
}

/// Makes the check of a connection due now, because the platform has refused a call. Credentials that are already due,
/// or wait for another attempt, are not changed.
pub fn schedule_check(account: &str, environment: Environment, id: &str, now: u64) -> Statement {
    Statement {
        sql: "UPDATE credentials \
            SET check_at = ?4 \
            WHERE account = ?1 AND environment = ?2 AND connection_id = ?3 AND check_at > ?4"
            .into(),
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
    use super::{MINUTE_MS, start_of_minute};

    #[test]
    fn a_minute_ends_with_its_last_millisecond() {
        for (at, minute) in [
            (0, 0),
            (1, 0),
            (MINUTE_MS, 0),
            (MINUTE_MS + 1, MINUTE_MS),
            (5 * MINUTE_MS, 4 * MINUTE_MS),
        ] {
            assert_eq!(start_of_minute(at), minute, "{at}");
        }
    }
}
