//! Refreshes access tokens, with one token request at a time for each connection, across all isolates.
//!
//! # Why a lease
//!
//! Many platforms rotate refresh tokens: each token request spends the refresh token and returns its successor. If two
//! requests spend the same one, the platform refuses the second, and some platforms treat the reuse as theft and end
//! the whole grant. The user would have to reconnect. A Worker has no lock for this, because it runs in many isolates that
//! share nothing but the database. So the lock is a lease in the row of the credentials: `lease` is the id of the request
//! that refreshes, `lease_until` is when the lease expires.
//!
//! # Why a version
//!
//! A lease alone is not enough: a request may have read the row before another one refreshed it, and take the lease after
//! that one released it. It would spend a refresh token that already has a successor. So the lease is taken at the
//! version that the request has read. If the version has moved on, another request has refreshed, and the request uses the
//! result. Each write names the version and the lease too. A request whose lease has expired, because its isolate was
//! paused, can therefore not overwrite newer tokens.
//!
//! # The steps
//!
//! 1. Take the lease at the version that was read, and read the row in the same batch.
//! 2. If another request has the lease: use the old token if it is still valid; a check gives up, because the other
//!    request has the same result; everything else polls the row until the version changes.
//! 3. With the lease: send one token request. It is sent only if its timeout ends before the lease does. Otherwise the
//!    storage was so slow that another request might begin while this one still waits for the platform.
//! 4. Store the new tokens in one statement before anything uses them. This write is retried until the lease expires,
//!    because the old refresh token may be spent: losing the response would lose the grant.
//! 5. If the token request failed, record the failure, and use the old token if it is still valid. While that token works,
//!    a failed refresh is an error only for a caller that asked for a new token with `refresh=true`.
//!
//! After a crash between the token request and step 4, the new tokens are unknown. The lease expires after half a
//! minute, and the next request tries the old refresh token again. Many platforms accept that for a short time, for this
//! very reason.
//!
//! # Late tokens
//!
//! While the token request runs, the connection may be deleted, or its user may reconnect it with another account. Then the
//! write in step 4 changes no row, and no user could see or revoke the new tokens, so the revocation job revokes them.
//! They are not revoked if the connection may still belong to the same account at the platform, because that would end the
//! grant that the connection uses now.
//!
//! # The circuit breaker
//!
//! If the platform rejects the OAuth client itself, every connection of that client fails the same way. The client's row
//! then opens a [`CircuitBreaker`]: one refresh an hour probes the platform, and all others fail without a request. Some errors
//! may concern the client or only one account, such as `unauthorized_client` from a tenant that has blocked the app. The
//! breaker opens for these only when two different accounts have received the same error, and no refresh has succeeded in
//! between.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::token_request::request_tokens;
use crate::auth::key::hash;
use crate::catalog::detail::{AuthMethod, Kind as MethodKind, Server};
use crate::connect::client::OauthClient;
use crate::connect::endpoints::{decrypt_error, encrypt_error};
use crate::connect::resolved_oauth::apply_platform_values;
use crate::connect::revocations::enqueue;
use crate::credentials::Sealed;
use crate::credentials::endpoints::read::{awaiting_cut_over, failed, refresh_failed};
use crate::credentials::lifecycle::machine::{HealthFailure, PROBE_INTERVAL_MS, after_failure};
use crate::credentials::lifecycle::row::CredentialsRow;
use crate::credentials::lifecycle::statements::{
    CircuitBreaker, ClientError, CredentialsKey, FailureReason, RefreshedCredentials,
};
use crate::credentials::lifecycle::timing::{LEASE_MS, TIMEOUT_MS, WAIT_MS, is_valid, next_check};
use crate::credentials::model::Credentials;
use crate::http::config::Config;
use crate::http::problem::{Code, Problem};
use crate::http::wait::Wait;
use crate::oauth::{TokenError, TokenErrorKind, Tokens};
use crate::ports::{
    Clock, Db, Patterns, Ports, Random, ResultSet, Statement, StorageError, first_row,
};
use crate::storage::metering::Metered;
use crate::terms::{Environment, State};
use crate::util::json;

/// The first pause before the row is read again, while another request refreshes it or storage fails, in milliseconds.
const FIRST_PAUSE_MS: u32 = 250;
/// The longest pause between two attempts to store new tokens, in milliseconds.
const MAX_STORE_PAUSE_MS: u32 = 2000;

/// The reason for a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshTrigger {
    /// The token is used, and is about to expire.
    Expiring,
    /// The caller asked for a new token, even if the old one is still valid. After a failure, it is tried again before the
    /// next attempt is due, but not before the platform's `Retry-After`.
    Requested,
    /// The platform has rejected the token in a call, whose caller may have caused that.
    Rejected,
    /// The health check: nothing waits for the token.
    Check,
}

/// A refresh of the credentials of one connection.
pub struct Refresh<'a> {
    pub(crate) config: &'a Config,
    pub(crate) account: &'a str,
    pub(crate) environment: Environment,
    pub(crate) connection: &'a str,
    /// The id of the request, which names the lease.
    pub(crate) request: &'a str,
    pub(crate) method: &'a AuthMethod,
    /// The connector's base URLs.
    pub(crate) servers: &'a [Server],
    /// The account's OAuth client for this method, if any.
    pub(crate) client: Option<OauthClient>,
    pub(crate) trigger: RefreshTrigger,
    /// Milliseconds since the Unix epoch.
    pub(crate) now: u64,
}

/// The row, and the decrypted credentials in it.
type OpenedRow = (CredentialsRow, Credentials);

impl Refresh<'_> {
    /// Refreshes the access token, or waits for the request that does. Returns the row and the credentials that are stored
    /// afterwards.
    pub async fn run<P: Ports>(
        &self,
        row: CredentialsRow,
        credentials: Credentials,
        ports: &Metered<'_, P>,
    ) -> Result<OpenedRow, Problem> {
        let (request, now) = (self.request, self.now);
        let refusal = if row.awaits_cut_over() {
            Some(awaiting_cut_over(&row, now))
        } else {
            let next = self.waits_until(&row);
            next.map(|next| refresh_failed(row.reason_code.as_deref(), Some(next), now))
        };
        if let Some(problem) = refusal {
            let keeps = self.can_use(&row, now) || self.trigger == RefreshTrigger::Check;
            return if keeps { Ok((row, credentials)) } else { Err(problem) };
        }

        // The lease begins now, not with the request, which may have waited for storage since.
        let taken_at = ports.now();
        let lease_end = taken_at.saturating_add(LEASE_MS);
        let key = self.key();
        let lease = key.acquire_lease(&row, request, taken_at);
        let sets = ports.batch(vec![lease, key.select()]).await?;
        let Some(latest_row) = first_row::<CredentialsRow>(&sets, 1)? else {
            return Err(Problem::connection_not_found());
        };
        if latest_row.version != row.version {
            return self.open_row(latest_row);
        }
        if latest_row.lease.as_deref() != Some(request) {
            if self.can_use(&row, ports.now()) || self.trigger == RefreshTrigger::Check {
                return Ok((row, credentials));
            }
            if latest_row.attempts != row.attempts {
                let (code, next) = (latest_row.reason_code.as_deref(), latest_row.next_attempt_at);
                return Err(refresh_failed(code, next, now));
            }
            return self.wait(&row, ports).await;
        }

        let response = match self.blocked_for_ms(ports).await? {
            Some(left) => {
                let error = TokenError::from_kind(TokenErrorKind::ClientRejected, None);
                Err(TokenError { retry_after_ms: Some(left), ..error })
            }
            None if ports.now().saturating_add(TIMEOUT_MS.into()) > lease_end => {
                if self.can_use(&row, ports.now()) {
                    return Ok((row, credentials));
                }
                return Err(Problem::unavailable("too little is left of the lease to refresh"));
            }
            None => request_tokens(self, &row, &credentials, ports).await?,
        };
        match response {
            Ok(tokens) => self.store_tokens(&row, credentials, tokens, lease_end, ports).await,
            Err(error) => self.record_error(&row, credentials, &error, ports).await,
        }
    }

    async fn store_tokens<P: Ports>(
        &self,
        row: &CredentialsRow,
        credentials: Credentials,
        tokens: Tokens,
        lease_end: u64,
        ports: &Metered<'_, P>,
    ) -> Result<OpenedRow, Problem> {
        let (key, request, now) = (self.key(), self.request, ports.now());
        let jitter = ports.byte();
        let scopes = tokens.scopes.clone().unwrap_or_else(|| row.scopes());
        let expires_at = tokens.expires_at;
        let credentials = self.with_tokens(credentials, tokens, ports);
        let sealed = self.seal(&credentials, self.connection, ports)?;
        let new = RefreshedCredentials {
            version: row.version,
            request,
            sealed: &sealed,
            expires_at,
            is_refreshable: credentials.is_refreshable(self.method),
            scopes: &json::text(&scopes),
            missing_scopes: &json::text(&row.missing_scopes_after(&scopes)),
            check_at: next_check(now, self.config.check_interval_ms, jitter),
            now,
        };
        let mut batch =
            vec![key.record_refresh(&new), key.mark_recovered(request, now), key.select()];
        batch.extend(self.platform_account(&credentials));
        if self.client.as_ref().is_some_and(OauthClient::is_suspect) {
            batch.extend(self.breaker().map(|breaker| breaker.close()));
        }
        let sets = batch_until(ports, batch, lease_end).await?;
        let latest_row = first_row::<CredentialsRow>(&sets, 2)?;
        self.revoke_unless_stored(latest_row.as_ref(), &sealed, &credentials, ports).await?;
        self.open_row(latest_row.ok_or_else(Problem::connection_not_found)?)
    }

    async fn record_error<P: Ports>(
        &self,
        row: &CredentialsRow,
        credentials: Credentials,
        error: &TokenError,
        ports: &Metered<'_, P>,
    ) -> Result<OpenedRow, Problem> {
        let (key, request, now) = (self.key(), self.request, ports.now());
        let failure = HealthFailure::from(error.kind);
        let after =
            after_failure(row.failure_history(), failure, error.retry_after_ms, now, ports.byte());
        let detail = error.description.as_deref().or(error.code.as_deref());
        let reason = FailureReason { detail, status: error.http_status };
        let mut batch = vec![
            key.record_failure(row.version, request, &after, &reason),
            key.mark_degraded(request, &after, now),
            key.select(),
        ];
        batch.extend(self.breaker_update(failure, error, &credentials, now));
        let latest_row = first_row(&ports.batch(batch).await?, 2)?;
        let latest_row: CredentialsRow = latest_row.ok_or_else(Problem::connection_not_found)?;
        if latest_row.version != row.version {
            // `invalid_grant` may only mean that another request has spent the refresh token first.
            return self.open_row(latest_row);
        }
        if after.state == State::Failed {
            return Err(failed(&latest_row));
        }
        if self.can_use(row, now) {
            return Ok((latest_row, credentials));
        }
        Err(refresh_failed(Some(after.code), latest_row.next_attempt_at, now))
    }

    /// Polls the row until the request with the lease has written it, or has released the lease.
    async fn wait<P: Ports>(
        &self,
        row: &CredentialsRow,
        ports: &Metered<'_, P>,
    ) -> Result<OpenedRow, Problem> {
        let until = ports.now().saturating_add(WAIT_MS.into());
        let mut wait = Wait::new(FIRST_PAUSE_MS, WAIT_MS);
        while ports.now() < until && wait.pause(ports).await {
            let sets = ports.batch(vec![self.key().select()]).await?;
            let latest_row =
                first_row::<CredentialsRow>(&sets, 0)?.ok_or_else(Problem::connection_not_found)?;
            if latest_row.version != row.version {
                return self.open_row(latest_row);
            }
            if latest_row.lease.is_none() {
                break;
            }
        }
        let detail = "The access token is being refreshed by another request. Try again shortly.";
        let problem = Problem::new(Code::Unavailable, detail);
        Err(Problem { retry_after: Some(5), ..problem })
    }

    const fn key(&self) -> CredentialsKey<'_> {
        let Self { account, environment, connection, .. } = *self;
        CredentialsKey { account, environment, connection }
    }

    /// The variables of the OAuth client.
    pub(super) fn variables(&self) -> BTreeMap<String, String> {
        OauthClient::variables_for(self.client.as_ref(), &self.method.id)
    }

    fn open(&self, row: &CredentialsRow) -> Result<Credentials, Problem> {
        let (keys, tenant) = (&self.config.vault_keys, (self.account, self.environment));
        let credentials =
            Credentials::open(keys, tenant, self.connection, &row.sealed).map_err(decrypt_error)?;
        Ok(credentials.with_missing_fields(self.method, &self.variables()))
    }

    fn open_row(&self, row: CredentialsRow) -> Result<OpenedRow, Problem> {
        let credentials = self.open(&row)?;
        Ok((row, credentials))
    }

    fn seal<P: Ports>(
        &self,
        credentials: &Credentials,
        id: &str,
        ports: &Metered<'_, P>,
    ) -> Result<Sealed, Problem> {
        let (keys, tenant) = (&self.config.vault_keys, (self.account, self.environment));
        credentials.seal(keys, tenant, id, ports).map_err(encrypt_error)
    }

    /// Whether the old token can be used instead of a new one.
    fn can_use(&self, row: &CredentialsRow, now: u64) -> bool {
        self.trigger == RefreshTrigger::Expiring && is_valid(row.expires_at, now)
    }

    /// The time until which no attempt is made after a failure; `None` if it may be made now.
    fn waits_until(&self, row: &CredentialsRow) -> Option<u64> {
        let next = match self.trigger {
            RefreshTrigger::Requested => row.next_attempt_at.min(row.retry_at),
            _ => row.next_attempt_at,
        };
        next.filter(|next| self.now < *next && !self.is_client_accepted_again(row))
    }

    /// Whether the last refresh failed because of the client, and it is accepted again.
    fn is_client_accepted_again(&self, row: &CredentialsRow) -> bool {
        row.waits_for_client()
            && self.client.as_ref().is_some_and(|client| client.rejected_since.is_none())
    }

    /// The credentials with the new tokens. The token response may also name the host of the account.
    fn with_tokens(
        &self,
        credentials: Credentials,
        tokens: Tokens,
        patterns: &impl Patterns,
    ) -> Credentials {
        let new_values = tokens.field_values.clone();
        let mut credentials = credentials.with_tokens(tokens);
        if let MethodKind::OAuth2(oauth) = &self.method.kind {
            let method = (self.method, oauth.as_ref(), self.servers);
            apply_platform_values(
                &mut credentials.fields,
                method,
                &self.variables(),
                new_values,
                patterns,
            );
        }
        credentials
    }

    /// Stores the account at the platform, if the token response named it.
    fn platform_account(&self, credentials: &Credentials) -> Option<Statement> {
        let names = self.config.account_names;
        let (id, name) = credentials.account_to_store(names);
        Some(self.key().record_platform_account(self.request, (id?, name), names))
    }

    /// Whether the connection still has these tokens, or others that may belong to the same account.
    fn may_be_same_account(
        &self,
        latest_row: Option<&CredentialsRow>,
        sealed: &Sealed,
        refreshed: &Credentials,
    ) -> Result<bool, Problem> {
        let Some(latest_row) = latest_row else { return Ok(false) };
        if latest_row.sealed == sealed.as_str() {
            return Ok(true);
        }
        if latest_row.auth_method != self.method.id {
            return Ok(false);
        }
        Ok(!self.open(latest_row)?.belongs_to_other_account(refreshed))
    }

    /// Enqueues the revocation of late tokens. They are stored under the id of the request, because the connection's own
    /// tokens may be waiting for their revocation under its id.
    async fn revoke_unless_stored<P: Ports>(
        &self,
        latest_row: Option<&CredentialsRow>,
        sealed: &Sealed,
        credentials: &Credentials,
        ports: &Metered<'_, P>,
    ) -> Result<(), Problem> {
        if self.may_be_same_account(latest_row, sealed, credentials)? {
            return Ok(());
        }
        let can_revoke = self.method.oauth2().is_some_and(|oauth| oauth.revocation_url.is_some());
        let Some(client) = self.client.as_ref().filter(|_| can_revoke) else { return Ok(()) };
        let sealed = self.seal(credentials, self.request, ports)?;
        let row = (self.account, self.environment.as_str(), self.request);
        let issued_by = (client.platform.as_str(), self.method.id.as_str(), client.name.as_str());
        let stored = enqueue(row, issued_by, sealed.as_str(), ports.now());
        ports.batch(vec![stored]).await?;
        Ok(())
    }

    fn breaker(&self) -> Option<CircuitBreaker<'_>> {
        let OauthClient { platform, name, client_id, .. } = self.client.as_ref()?;
        let (account, environment) = (self.account, self.environment);
        Some(CircuitBreaker { account, environment, platform, name, client_id })
    }

    /// How long the breaker blocks token requests, in milliseconds. Returns `None` if it is closed, or if this request is
    /// the hour's probe.
    async fn blocked_for_ms<P: Ports>(
        &self,
        ports: &Metered<'_, P>,
    ) -> Result<Option<u64>, Problem> {
        let is_rejected = |client: &&OauthClient| client.rejected_since.is_some();
        let Some(client) = self.client.as_ref().filter(is_rejected) else { return Ok(None) };
        let Some(breaker) = self.breaker() else { return Ok(None) };
        let left = client.probe_at.map_or(0, |at| at.saturating_sub(self.now));
        if left > 0 {
            return Ok(Some(left));
        }
        let sets = ports.batch(vec![breaker.probe(self.now)]).await?;
        Ok(first_row::<Map<String, Value>>(&sets, 0)?.is_none().then_some(PROBE_INTERVAL_MS))
    }

    /// The update of the breaker after an error that the platform has sent, if any.
    fn breaker_update(
        &self,
        failure: HealthFailure,
        error: &TokenError,
        credentials: &Credentials,
        now: u64,
    ) -> Option<Statement> {
        let (status, breaker) = (error.http_status?, self.breaker()?);
        match failure {
            HealthFailure::ClientRejected => Some(breaker.open(now)),
            HealthFailure::Unauthorized => {
                let status = status.to_string();
                let code = error.code.as_deref().unwrap_or(&status);
                let account = hash(&self.error_party(error, credentials));
                Some(breaker.record_suspicion(&ClientError { error: code, account: &account }, now))
            }
            _ => None,
        }
    }

    /// The party that the error may concern instead of the OAuth client: the tenant that the error names, or else the
    /// account at the platform, or else the connection.
    fn error_party(&self, error: &TokenError, credentials: &Credentials) -> String {
        match (&error.tenant, &credentials.account) {
            (Some(tenant), _) => format!("tenant {tenant}"),
            (None, Some(account)) => format!("account {account}"),
            (None, None) => format!("connection {}", self.connection),
        }
    }
}

/// Runs a batch, and retries it until `lease_end` while storage fails. A retry of an applied batch
/// changes nothing, because its statements name the version.
async fn batch_until<P: Ports>(
    ports: &Metered<'_, P>,
    statements: Vec<Statement>,
    lease_end: u64,
) -> Result<Vec<ResultSet>, StorageError> {
    let mut pause = FIRST_PAUSE_MS;
    loop {
        match ports.batch(statements.clone()).await {
            Err(_)
                if pause <= MAX_STORE_PAUSE_MS
                    && ports.now().saturating_add(pause.into()) < lease_end =>
            {
                ports.sleep(pause).await;
            }
            result => return result,
        }
        pause = pause.saturating_mul(2);
    }
}
