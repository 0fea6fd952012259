//! Renewing an access token: one request at a time, wherever the requests come from.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::catalog::detail::{AuthMethod, Grant, Kind as MethodKind, OAuth2, Server};
use crate::connect::client::OauthClient;
use crate::connect::endpoints::{decrypt_error, encrypt_error, hash, platform};
use crate::connect::resolved_oauth::{ResolvedOAuth, apply_platform_values};
use crate::connect::revocations::enqueue;
use crate::credentials::Sealed;
use crate::credentials::endpoints::read::failed;
use crate::credentials::held::Held;
use crate::credentials::lifecycle::machine::{Failure, PROBE_MS, after_failure};
use crate::credentials::lifecycle::renewal::{
    DEADLINE_MS, LEASE_MS, WAIT_MS, is_valid, next_check,
};
use crate::credentials::lifecycle::row::HeldRow;
use crate::credentials::lifecycle::statements::{Breaker, Renewed, RowOf, Suspicion, Why};
use crate::http::config::Config;
use crate::http::problem::{Code, Problem};
use crate::oauth::token::TokenEndpoint;
use crate::oauth::{TokenError, TokenErrorKind, Tokens};
use crate::ports::{
    Clock, Db, Patterns, Ports, Random, ResultSet, Statement, StorageError, first_row,
};
use crate::storage::metering::Metered;
use crate::terms::{Environment, State};
use crate::util::json;

/// Milliseconds between two looks at a row that somebody else renews.
const PAUSE_MS: u32 = 250;
/// The longest pause before new tokens are written once more, in milliseconds; all together stay within the lease.
const LAST_PAUSE_MS: u32 = 2000;

/// Why a renewal is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// Somebody uses the token, which is about to expire.
    Use,
    /// Somebody asks for a new token, though the old one may have time left.
    Asked,
    /// It is time to see whether the connection still works. Nobody waits for the token.
    Check,
}

/// What a renewal needs besides the row.
pub struct Renewal<'a> {
    /// The operator's settings.
    pub config: &'a Config,
    /// The account.
    pub account: &'a str,
    /// Its environment.
    pub environment: Environment,
    /// The connection's id.
    pub connection: &'a str,
    /// The id of the request.
    pub request: &'a str,
    /// The method of the catalog.
    pub method: &'a AuthMethod,
    /// The base addresses of the API.
    pub servers: &'a [Server],
    /// The account's client at the platform.
    pub client: Option<OauthClient>,
    /// Why it is wanted.
    pub occasion: Occasion,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

impl Renewal<'_> {
    /// Stores whose account it is, if the platform told.
    fn told(&self, place: RowOf<'_>, held: &Held) -> Option<Statement> {
        let names = self.config.account_names;
        let (id, name) = held.told_account(names);
        Some(place.told(self.request, (id?, name), names))
    }

    /// What a row of the connection holds.
    fn open(&self, row: &HeldRow) -> Result<Held, Problem> {
        let (keys, tenant) = (&self.config.vault_keys, (self.account, self.environment));
        let held = Held::open(keys, tenant, self.connection, &row.sealed).map_err(decrypt_error)?;
        Ok(held.completed(self.method, &self.variables()))
    }

    /// The variables of the client.
    fn variables(&self) -> BTreeMap<String, String> {
        OauthClient::variables_for(self.client.as_ref(), &self.method.id)
    }

    /// Whether the old token will do for now.
    fn can_use(&self, row: &HeldRow, now: u64) -> bool {
        self.occasion == Occasion::Use && is_valid(row.expires_at, now)
    }

    /// The breaker of the client.
    fn breaker(&self) -> Option<Breaker<'_>> {
        let OauthClient { platform, client_id, .. } = self.client.as_ref()?;
        let (account, environment) = (self.account, self.environment);
        Some(Breaker { account, environment, platform, client_id })
    }

    /// Whether the last renewal failed for a client that has been mended since.
    fn is_mended(&self, row: &HeldRow) -> bool {
        row.waits_for_client()
            && self.client.as_ref().is_some_and(|client| client.rejected_since.is_none())
    }

    /// Whether the connection still holds what was renewed, or other credentials of what may be the same account: revoking
    /// the new tokens would end those, too.
    fn is_of_same_account(
        &self,
        found: Option<&HeldRow>,
        sealed: &Sealed,
        renewed: &Held,
    ) -> Result<bool, Problem> {
        let Some(found) = found else { return Ok(false) };
        if found.sealed == sealed.as_str() {
            return Ok(true);
        }
        if found.auth_method != self.method.id {
            return Ok(false);
        }
        Ok(!self.open(found)?.is_of_other_account(renewed))
    }

    /// Has the schedule ask the platform to revoke tokens that came after the connection was deleted, or got other
    /// credentials. They are kept under the id of the request, as the connection's own may be waiting to be revoked, too.
    async fn revoke_unless_held<P: Ports>(
        &self,
        found: Option<&HeldRow>,
        sealed: &Sealed,
        held: &Held,
        ports: &Metered<'_, P>,
    ) -> Result<(), Problem> {
        if self.is_of_same_account(found, sealed, held)? {
            return Ok(());
        }
        let can_revoke = self.method.oauth2().is_some_and(|oauth| oauth.revocation_url.is_some());
        let Some(client) = self.client.as_ref().filter(|_| can_revoke) else { return Ok(()) };
        let (keys, tenant) = (&self.config.vault_keys, (self.account, self.environment));
        let sealed = held.seal(keys, tenant, self.request, ports).map_err(encrypt_error)?;
        let place = (self.account, self.environment.as_str(), self.request);
        let platform = &client.platform;
        let stored = enqueue(place, platform, &self.method.id, sealed.as_str(), ports.now());
        ports.batch(vec![stored]).await?;
        Ok(())
    }

    /// What is held after a renewal. The platform may also say where the account is now.
    fn renewed(&self, held: Held, tokens: Tokens, patterns: &impl Patterns) -> Held {
        let told = tokens.field_values.clone();
        let mut held = held.renewed(tokens);
        if let MethodKind::OAuth2(oauth) = &self.method.kind {
            let place = (self.method, oauth.as_ref(), self.servers);
            apply_platform_values(&mut held.fields, place, &self.variables(), told, patterns);
        }
        held
    }

    /// What an error means for the OAuth client, if it comes from the platform, and not from the breaker or for want of a
    /// client.
    fn blame(
        &self,
        failure: Failure,
        error: &TokenError,
        held: &Held,
        now: u64,
    ) -> Option<Statement> {
        let (status, breaker) = (error.http_status?, self.breaker()?);
        match failure {
            Failure::ClientRejected => Some(breaker.open(now)),
            Failure::Unauthorized => {
                let status = status.to_string();
                let code = error.code.as_deref().unwrap_or(&status);
                let account = hash(&self.party(error, held));
                Some(breaker.suspect(&Suspicion { error: code, account: &account }, now))
            }
            _ => None,
        }
    }

    /// Whom an error is about that may not be the client's: the tenant that it names, or else the account at the platform. A
    /// connection whose account is not known stands for itself.
    fn party(&self, error: &TokenError, held: &Held) -> String {
        match (&error.tenant, &held.account) {
            (Some(tenant), _) => format!("tenant {tenant}"),
            (None, Some(account)) => format!("account {account}"),
            (None, None) => format!("connection {}", self.connection),
        }
    }

    /// How long nobody may be asked, in milliseconds, because the platform rejects the client. Returns `None` when it does
    /// not, or when this request finds out whether it still does.
    async fn blocked<P: Ports>(&self, ports: &Metered<'_, P>) -> Result<Option<u64>, Problem> {
        let is_rejected = |client: &&OauthClient| client.rejected_since.is_some();
        let Some(client) = self.client.as_ref().filter(is_rejected) else { return Ok(None) };
        let Some(breaker) = self.breaker() else { return Ok(None) };
        let left = client.probe_at.map_or(0, |at| at.saturating_sub(self.now));
        if left > 0 {
            return Ok(Some(left));
        }
        let sets = ports.batch(vec![breaker.probe(self.now)]).await?;
        Ok(first_row::<Map<String, Value>>(&sets, 0)?.is_none().then_some(PROBE_MS))
    }
}

/// Renews an access token, or waits for whoever does:
///
/// 1. Take the lease of the row, at the version that was read.
/// 2. Without it: use the old token while it is valid, else wait until the row has moved on.
/// 3. With it: ask the platform, once.
/// 4. Write the new tokens in one statement, before anybody uses them.
/// 5. Or write why there are none, and use the old token while it is valid.
///
/// Returns the row and what is held after that.
///
/// # Errors
/// `connection_failed` when the grant has ended; `unavailable` when there is no valid token for now.
pub async fn renew<P: Ports>(
    renewal: &Renewal<'_>,
    row: HeldRow,
    held: Held,
    ports: &Metered<'_, P>,
) -> Result<(HeldRow, Held), Problem> {
    let Renewal { account, environment, connection, request, now, .. } = *renewal;
    let place = RowOf { account, environment, connection };
    let is_early = row.next_attempt_at.is_some_and(|next| now < next) && !renewal.is_mended(&row);
    if is_early && renewal.occasion != Occasion::Asked {
        if is_valid(row.expires_at, now) {
            return Ok((row, held));
        }
        return Err(not_renewed(row.reason_code.as_deref(), row.next_attempt_at, now));
    }

    // 1. Take the lease. It counts from now: what the request has waited for before is not part of it.
    let taken_at = ports.now();
    let lease_end = taken_at.saturating_add(LEASE_MS);
    let lease = place.take_lease(row.version, request, taken_at);
    let sets = ports.batch(vec![lease, place.select()]).await?;
    let Some(found) = first_row::<HeldRow>(&sets, 1)? else { return Err(Problem::no_connection()) };
    if found.version != row.version {
        // Somebody else has renewed since it was read.
        let held = renewal.open(&found)?;
        return Ok((found, held));
    }

    // 2. Somebody else renews.
    if found.lease.as_deref() != Some(request) {
        if renewal.can_use(&row, ports.now()) || renewal.occasion == Occasion::Check {
            return Ok((row, held));
        }
        return wait(renewal, place, &row, ports).await;
    }

    // 3. Ask the platform.
    let blocked = renewal.blocked(ports).await?;
    let answer = match blocked {
        Some(left) => {
            let error = TokenError::from_kind(TokenErrorKind::ClientRejected, None);
            Err(TokenError { retry_after_ms: Some(left), ..error })
        }
        None if ports.now().saturating_add(DEADLINE_MS.into()) > lease_end => {
            // Storage was so slow that somebody else could begin while the platform is still asked.
            if renewal.can_use(&row, ports.now()) {
                return Ok((row, held));
            }
            return Err(Problem::unavailable("too little is left of the lease to renew"));
        }
        None => ask(renewal, &row, &held, ports).await?,
    };
    let now = ports.now();
    let chance = ports.byte();
    match answer {
        // 4. Write the new tokens.
        Ok(tokens) => {
            let scopes = tokens.scopes.clone().unwrap_or_else(|| row.scopes());
            let expires_at = tokens.expires_at;
            let held = renewal.renewed(held, tokens, ports);
            let keys = &renewal.config.vault_keys;
            let sealed = held
                .seal(keys, (account, environment), connection, ports)
                .map_err(encrypt_error)?;
            let new = Renewed {
                version: row.version,
                request,
                sealed: &sealed,
                expires_at,
                is_renewable: held.is_renewable(renewal.method),
                scopes: &json::text(&scopes),
                missing_scopes: &json::text(&row.missing_without(&scopes)),
                check_at: next_check(now, renewal.config.check_ms, chance),
                now,
            };
            let mut batch =
                vec![place.renewed(&new), place.recovered(request, now), place.select()];
            batch.extend(renewal.told(place, &held));
            if renewal.client.as_ref().is_some_and(OauthClient::is_doubted) {
                batch.extend(renewal.breaker().map(|breaker| breaker.close()));
            }
            let sets = insist(ports, batch, lease_end).await?;
            let found = first_row::<HeldRow>(&sets, 2)?;
            renewal.revoke_unless_held(found.as_ref(), &sealed, &held, ports).await?;
            let found = found.ok_or_else(Problem::no_connection)?;
            let held = renewal.open(&found)?;
            Ok((found, held))
        }
        // 5. Write why there are none.
        Err(error) => {
            let failure = Failure::from(error.kind);
            let wait = error.retry_after_ms;
            let after = after_failure(row.before(), failure, wait, now, chance);
            let detail = error.description.as_deref().or(error.code.as_deref());
            let why = Why { detail, status: error.http_status };
            let mut batch = vec![
                place.not_renewed(row.version, request, &after, &why),
                place.worsened(request, &after, now),
                place.select(),
            ];
            batch.extend(renewal.blame(failure, &error, &held, now));
            let found = first_row(&ports.batch(batch).await?, 2)?;
            let found: HeldRow = found.ok_or_else(Problem::no_connection)?;
            if found.version != row.version {
                // An `invalid_grant` may only say that somebody else was faster.
                let held = renewal.open(&found)?;
                return Ok((found, held));
            }
            if after.state == State::Failed {
                return Err(failed(&found));
            }
            if renewal.can_use(&row, now) {
                return Ok((found, held));
            }
            Err(not_renewed(Some(after.code), found.next_attempt_at, now))
        }
    }
}

/// Writes what the platform gave and will not give again: the old refresh token may be spent by now. Storage that is in
/// trouble is asked again, for a few seconds, or, if it hangs, until the lease ends. What was written already is not
/// written twice, since it names the version.
async fn insist<P: Ports>(
    ports: &Metered<'_, P>,
    statements: Vec<Statement>,
    lease_end: u64,
) -> Result<Vec<ResultSet>, StorageError> {
    let mut pause = PAUSE_MS;
    loop {
        match ports.batch(statements.clone()).await {
            Err(_)
                if pause <= LAST_PAUSE_MS
                    && ports.now().saturating_add(pause.into()) < lease_end =>
            {
                ports.sleep(pause).await;
            }
            result => return result,
        }
        pause = pause.saturating_mul(2);
    }
}

/// Waits for whoever renews the row.
async fn wait<P: Ports>(
    renewal: &Renewal<'_>,
    place: RowOf<'_>,
    row: &HeldRow,
    ports: &Metered<'_, P>,
) -> Result<(HeldRow, Held), Problem> {
    let (mut left, until) = (WAIT_MS, ports.now().saturating_add(WAIT_MS));
    while left > 0 && ports.now() < until {
        ports.sleep(PAUSE_MS).await;
        left = left.saturating_sub(u64::from(PAUSE_MS));
        let found = first_row::<HeldRow>(&ports.batch(vec![place.select()]).await?, 0)?;
        let found = found.ok_or_else(Problem::no_connection)?;
        if found.version != row.version {
            let held = renewal.open(&found)?;
            return Ok((found, held));
        }
        let is_over = found.lease.is_none();
        if is_over {
            break;
        }
    }
    let detail = "The access token is being renewed by another request. Try again shortly.";
    let problem = Problem::new(Code::Unavailable, detail);
    Err(Problem { retry_after: Some(5), ..problem })
}

/// Asks the platform for a new access token. The outer error is one of this service; the inner one is the platform's.
async fn ask<P: Ports>(
    renewal: &Renewal<'_>,
    row: &HeldRow,
    held: &Held,
    ports: &Metered<'_, P>,
) -> Result<Result<Tokens, TokenError>, Problem> {
    let rejected = || Ok(Err(TokenError::from_kind(TokenErrorKind::ClientRejected, None)));
    let (MethodKind::OAuth2(oauth), Some(client)) = (&renewal.method.kind, &renewal.client) else {
        // Without a client there is nobody to ask for: the account must set one.
        return rejected();
    };
    let Some(resolved) = resolve(oauth, renewal, client, held) else { return rejected() };
    let client = client.open(&renewal.config.vault_keys).map_err(decrypt_error)?;
    let refresh = held.tokens.as_ref().and_then(|tokens| tokens.refresh.as_deref());
    let refreshes = oauth.grant == Grant::AuthorizationCode && refresh.is_some();
    let address = if refreshes { &resolved.refresh_url } else { &resolved.token_url };
    let client = client.with_assertion(oauth.token_auth, address, ports).await;
    let request = match (oauth.grant, refresh) {
        (Grant::ClientCredentials | Grant::AccountCredentials, _) => {
            let endpoint =
                TokenEndpoint { oauth: &resolved.oauth, url: &resolved.token_url, client: &client };
            let scopes = [row.scopes(), row.missing_scopes()].concat();
            endpoint.client_credentials(&scopes)
        }
        (Grant::AuthorizationCode, Some(refresh)) => {
            let endpoint = TokenEndpoint {
                oauth: &resolved.oauth,
                url: &resolved.refresh_url,
                client: &client,
            };
            endpoint.refresh(refresh, &[])
        }
        (Grant::AuthorizationCode, None) => {
            let endpoint =
                TokenEndpoint { oauth: &resolved.oauth, url: &resolved.token_url, client: &client };
            let tokens =
                held.tokens.as_ref().filter(|_| held.renews_by_access_token(renewal.method));
            let asked = oauth.access_token_refresh.as_ref().zip(tokens);
            let request =
                asked.and_then(|(asked, it)| endpoint.with_access_token(asked, &it.access));
            let Some(request) = request else {
                return Ok(Err(TokenError::from_kind(TokenErrorKind::GrantRejected, None)));
            };
            request
        }
    };
    Ok(platform::tokens(ports, &resolved.oauth, request).await)
}

fn resolve(
    oauth: &OAuth2,
    renewal: &Renewal<'_>,
    client: &OauthClient,
    held: &Held,
) -> Option<ResolvedOAuth> {
    let (fields, targets) = (&renewal.method.fields, renewal.config.targets());
    let stored = |name: &str| held.variable(name);
    ResolvedOAuth::for_client(oauth, fields, targets, &client.variables(), stored).ok()
}

/// There is no valid token for now.
fn not_renewed(code: Option<&str>, next: Option<u64>, now: u64) -> Problem {
    let whose = match code {
        Some("client_rejected") => {
            "The platform rejects the OAuth client, or there is none. Set it again with `PUT /v1/oauth-clients/{platform}`."
        }
        Some("request_rejected") => {
            "The platform rejects the token request. Check the OAuth client, and the scopes that it asks for."
        }
        _ => "The platform gave no new access token; the service tries again.",
    };
    let wait = next.map_or(60, |next| next.saturating_sub(now).div_ceil(1000)).min(3600);
    let problem = Problem::new(Code::RefreshFailed, whose);
    Problem { retry_after: Some(u32::try_from(wait.max(1)).unwrap_or(60)), ..problem }
}

#[cfg(test)]
mod tests {
    use super::not_renewed;

    #[test]
    fn a_refusal_says_who_must_act_and_when_to_ask_again() {
        for (code, next, said, wait) in [
            (Some("client_rejected"), None, "PUT /v1/oauth-clients/{platform}", 60),
            (Some("request_rejected"), Some(1_000), "Check the OAuth client", 1),
            (Some("platform_unavailable"), Some(2_500), "the service tries again", 2),
            (None, Some(0), "the service tries again", 1),
            (None, Some(9_000_000), "the service tries again", 3600),
        ] {
            let problem = not_renewed(code, next, 1_000);
            assert!(problem.detail.contains(said), "{}", problem.detail);
            assert_eq!(problem.retry_after, Some(wait), "{next:?}");
        }
    }
}
