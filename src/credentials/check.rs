//! Health checks of credentials that are not in use, so that the service finds a broken connection
//! before its user does.
//!
//! A connection is due for a check once a day, or earlier after a failure. The check depends on the
//! credentials. Refreshable credentials are refreshed. Others are sent in the connector's `verify`
//! request. If there is no such request, an access token fails the check once it has expired. A
//! check with a `verify` request takes the lease of the row like a refresh (see
//! [`crate::credentials::refresh`]), so two checks never run at once, and a check never overwrites
//! the result of a refresh.
//!
//! An inconclusive check changes no state. It only schedules the next one.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use serde::{Deserialize, Serialize};

use crate::catalog::cache::CatalogCache;
use crate::catalog::reader::Catalog;
use crate::connect::client::OauthClient;
use crate::connect::endpoints::connector;
use crate::connect::endpoints::platform::{self, PlatformAuth, Verdict};
use crate::connect::method::Connector;
use crate::credentials::lifecycle::machine::{FailureOutcome, HealthFailure, after_failure};
use crate::credentials::lifecycle::row::CredentialsRow;
use crate::credentials::lifecycle::statements::{CredentialsKey, FailureReason};
use crate::credentials::lifecycle::timing::{is_recently_issued, is_valid, next_check};
use crate::credentials::model::Credentials;
use crate::credentials::refresh::{Refresh, RefreshTrigger};
use crate::http::config::Config;
use crate::http::problem::Problem;
use crate::ports::{Clock, Db, Ports, Random, first_row};
use crate::storage::metering::Metered;
use crate::terms::{CredentialType, Environment, State};

/// The time to reserve a claimed connection for its check, in milliseconds. Longer than any check
/// takes.
pub const CLAIM_MS: u64 = 10 * 60 * 1000;
/// The number of connections that one run checks. With their statements, catalog reads and requests to platforms, a
/// run stays below the 50 subrequests of Cloudflare's free plan.
pub const BATCH_SIZE: usize = 8;
/// The delay before repeating a check that failed because of this service, in milliseconds.
const RETRY_MS: u64 = 60 * 60 * 1000;

/// A connection that is due for a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueConnection {
    pub account: String,
    pub environment: Environment,
    /// The connection's id.
    pub connection: String,
}

#[derive(Deserialize)]
struct ConnectionRow {
    platform: String,
    state: State,
}

/// Checks connections concurrently. Returns the errors of this service, for the log. A check that was not finished is
/// due again when its claim expires.
pub async fn check_all<P: Ports>(
    config: &Config,
    cache: &CatalogCache,
    ports: &Metered<'_, P>,
    due: &[DueConnection],
) -> Result<Vec<String>, Problem> {
    if due.is_empty() {
        return Ok(Vec::new());
    }
    let statements = due.iter().flat_map(|due| {
        let key = due.key();
        [key.select_connection(), key.select(), key.select_client()]
    });
    let sets = ports.batch(statements.collect()).await?;
    let (faults, mut checks) = (RefCell::new(Vec::new()), Vec::new());
    for (due, sets) in due.iter().zip(sets.chunks(3)) {
        let (Some(connection), Some(row)) =
            (first_row::<ConnectionRow>(sets, 0)?, first_row::<CredentialsRow>(sets, 1)?)
        else {
            continue;
        };
        let client = first_row::<OauthClient>(sets, 2)?;
        let request = ports.uuid();
        let faults = &faults;
        checks.push(Box::pin(async move {
            let check = Check { config, due, request: &request, now: ports.now() };
            if let Err(problem) = check.run(cache, ports, connection, row, client).await
                && let Some(cause) = problem.cause
            {
                faults.borrow_mut().push(format!("check of {}: {cause}", due.connection));
            }
        }));
    }
    join_all(checks).await;
    Ok(faults.into_inner())
}

/// Runs futures concurrently until all are done.
pub(crate) async fn join_all<F: Future<Output = ()>>(mut running: Vec<Pin<Box<F>>>) {
    poll_fn(|context| {
        running.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

impl DueConnection {
    fn key(&self) -> CredentialsKey<'_> {
        let Self { account, environment, connection } = self;
        CredentialsKey { account, environment: *environment, connection }
    }
}

/// Whether a check can determine if the credentials work.
pub(super) fn is_checkable(connector: &Connector, row: &CredentialsRow, now: u64) -> bool {
    let Some(method) = connector.find_method(&row.auth_method) else { return false };
    let is_oauth2 = row.kind == CredentialType::OAuth2;
    row.refreshable == 1
        || is_oauth2 && !is_valid(row.expires_at, now)
        || connector.verify.is_some() && platform::is_sendable(method)
}

struct Check<'a> {
    config: &'a Config,
    due: &'a DueConnection,
    request: &'a str,
    now: u64,
}

enum CheckFinding {
    Good,
    Bad(FailureOutcome, Option<u16>),
    /// The platform's response does not depend on the credentials.
    Unknown,
}

impl Check<'_> {
    async fn run<P: Ports>(
        &self,
        cache: &CatalogCache,
        ports: &Metered<'_, P>,
        connection: ConnectionRow,
        row: CredentialsRow,
        client: Option<OauthClient>,
    ) -> Result<(), Problem> {
        let DueConnection { account, environment, connection: id } = self.due;
        let reschedule = |at| self.due.key().reschedule(row.version, at);
        if connection.state == State::Failed || row.awaits_cut_over() {
            // Only the user can repair a failed connection, by reconnecting. Before the cut-over, another service still
            // refreshes the connection.
            ports.batch(vec![reschedule(None)]).await?;
            return Ok(());
        }
        let catalog = Catalog::open(cache, ports).await?;
        let found = connector(&catalog, &connection.platform).await?;
        let method = found.as_ref().and_then(|connector| connector.find_method(&row.auth_method));
        let credentials =
            Credentials::open(&self.config.vault_keys, (account, *environment), id, &row.sealed);
        let (Some(connector), Some(method), Ok(credentials)) = (&found, method, credentials) else {
            let reason = if method.is_some() {
                "no key decrypts it"
            } else {
                "the catalog lacks its method"
            };
            ports.batch(vec![reschedule(Some(self.now.saturating_add(RETRY_MS)))]).await?;
            return Err(Problem::unavailable(reason));
        };
        let credentials = credentials
            .with_missing_fields(method, &OauthClient::variables_for(client.as_ref(), &method.id));
        // Platforms refuse to extend an access token that was issued recently.
        let is_too_recent = credentials.refreshes_by_access_token(method)
            && is_recently_issued(row.issued_at, row.expires_at, self.now);
        if row.refreshable == 1 && !is_too_recent {
            let refresh = Refresh {
                config: self.config,
                account,
                environment: *environment,
                connection: id,
                request: self.request,
                method,
                servers: &connector.servers,
                client: client.filter(|client| client.is_for(&method.id)),
                trigger: RefreshTrigger::Check,
                now: self.now,
            };
            return refresh.run(row, credentials, ports).await.map(drop);
        }
        let platform_auth = PlatformAuth {
            config: self.config,
            connector,
            method,
            credentials: &credentials,
            client: client.as_ref(),
        };
        self.verify(platform_auth, row, ports).await
    }

    /// Verifies credentials that can't be refreshed, and stores the result.
    async fn verify<P: Ports>(
        &self,
        platform_auth: PlatformAuth<'_>,
        row: CredentialsRow,
        ports: &Metered<'_, P>,
    ) -> Result<(), Problem> {
        let (key, request) = (self.due.key(), self.request);
        let lease = key.acquire_lease(&row, request, ports.now());
        let sets = ports.batch(vec![lease, key.select()]).await?;
        // Another request has the lease, or the version has changed since it was read.
        let found = first_row::<CredentialsRow>(&sets, 1)?;
        let Some(row) = found.filter(|found| found.lease.as_deref() == Some(request)) else {
            return Ok(());
        };
        let jitter = ports.byte();
        let finding = self.examine(platform_auth, &row, jitter, ports).await;
        let now = ports.now();
        let check_at = next_check(now, self.config.check_interval_ms, jitter);
        let batch = match finding {
            CheckFinding::Unknown => {
                // An earlier failure is not resolved by an inconclusive check, so the next attempt stays scheduled.
                let earlier_failures = row.failure_history();
                let next =
                    after_failure(earlier_failures, HealthFailure::Unavailable, None, now, jitter);
                let waiting = Some(next).filter(|_| earlier_failures.attempts > 0);
                vec![key.release_lease(row.version, request, check_at, waiting.as_ref())]
            }
            CheckFinding::Good => {
                vec![
                    key.record_success(row.version, request, check_at),
                    key.mark_recovered(request, now),
                ]
            }
            CheckFinding::Bad(after, status) => vec![
                key.record_failure(
                    row.version,
                    request,
                    &after,
                    &FailureReason { detail: None, status },
                ),
                key.mark_degraded(request, &after, now),
            ],
        };
        ports.batch(batch).await?;
        Ok(())
    }

    async fn examine<P: Ports>(
        &self,
        platform_auth: PlatformAuth<'_>,
        row: &CredentialsRow,
        jitter: u8,
        ports: &Metered<'_, P>,
    ) -> CheckFinding {
        let failed_finding = |failure, status, wait| {
            let after = after_failure(row.failure_history(), failure, wait, ports.now(), jitter);
            CheckFinding::Bad(after, status)
        };
        if row.kind == CredentialType::OAuth2 && !is_valid(row.expires_at, self.now) {
            // The token has expired, and there is no refresh token.
            return failed_finding(HealthFailure::GrantRejected, None, None);
        }
        match platform::verify(ports, platform_auth).await {
            Verdict::Accepted => CheckFinding::Good,
            Verdict::Rejected(status) => {
                failed_finding(HealthFailure::CredentialsRejected, Some(status), None)
            }
            // The response concerns the request, not the credentials.
            Verdict::Inconclusive(_) | Verdict::NotChecked => CheckFinding::Unknown,
            Verdict::Unavailable { status, retry_after_ms } => {
                failed_finding(HealthFailure::Unavailable, status, retry_after_ms)
            }
        }
    }
}
