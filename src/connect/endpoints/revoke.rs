//! Token revocation (RFC 7009): of what a deleted connection held, and of tokens that became no connection.

use serde::Deserialize;

use super::{connector, sealing};
use crate::catalog::cache::CatalogCache;
use crate::catalog::detail::Kind as MethodKind;
use crate::catalog::reader::Catalog;
use crate::connect::client::OauthClient;
use crate::connect::filled::Filled;
use crate::connect::revocations::{claim_due, hold, prune, settle};
use crate::connect::statements::select_client_of;
use crate::credentials::held::Held;
use crate::http::config::Config;
use crate::http::problem::Problem;
use crate::oauth::revocation::{Outcome, is_done, revocation};
use crate::ports::{Clock, Db, Http, HttpRequest, Ports, StorageError, all_rows, first_row};
use crate::storage::metering::Metered;
use crate::terms::Environment;

/// How long a platform may take to answer, in milliseconds: whoever deletes a connection waits for it.
const DEADLINE_MS: u32 = 5_000;

/// A row of `revocations`.
#[derive(Debug, Clone, Deserialize)]
pub struct Revocation {
    /// The account of the vault.
    pub account: String,
    /// Its environment.
    pub environment: Environment,
    /// The id of the connection that held the credentials, or of the attempt that brought them.
    pub connection_id: String,
    /// The platform's identifier.
    pub platform: String,
    auth_method: String,
    sealed: String,
}

/// Asks platforms once more to revoke what they could not be asked to revoke before: up to `limit` of what is due. Whatever
/// this takes on is due again after a pause, so that nothing is forgotten when it is interrupted. Returns what became of
/// each.
///
/// # Errors
/// When storage can't answer.
pub async fn revoke_due<P: Ports>(
    config: &Config,
    cache: &CatalogCache,
    ports: &Metered<'_, P>,
    limit: u64,
) -> Result<Vec<(Revocation, Outcome)>, StorageError> {
    let now = ports.now();
    let batch = prune(now).into_iter().chain([claim_due(now, limit)]).collect();
    let sets = ports.batch(batch).await?;
    let rows: Vec<Revocation> = all_rows(&sets, 2)?;
    let mut done = Vec::new();
    for row in rows {
        let select = select_client_of(&row.account, row.environment.as_str(), &row.platform);
        let client: Option<OauthClient> = first_row(&ports.batch(vec![select]).await?, 0)?;
        let outcome = revoke(config, cache, ports, &row, client.as_ref()).await;
        done.push((row, outcome));
    }
    Ok(done)
}

/// Has the platform revoke tokens that became no connection, because nobody can use them and nobody else would end them.
///
/// # Errors
/// When they can't be kept until the platform has answered.
pub async fn revoke_unused<P: Ports>(
    config: &Config,
    cache: &CatalogCache,
    ports: &Metered<'_, P>,
    (attempt, platform, auth_method): (&str, &str, &str),
    tenant: (&str, Environment),
    held: &Held,
    client: &OauthClient,
) -> Result<(), Problem> {
    let sealed = sealing(held.seal(&config.vault_keys, tenant, attempt, ports))?;
    let row = Revocation {
        account: tenant.0.to_owned(),
        environment: tenant.1,
        connection_id: attempt.to_owned(),
        platform: platform.to_owned(),
        auth_method: auth_method.to_owned(),
        sealed: sealed.into_string(),
    };
    let place = (tenant.0, tenant.1.as_str(), attempt);
    ports.batch(vec![hold(place, platform, auth_method, &row.sealed, ports.now())]).await?;
    revoke(config, cache, ports, &row, Some(client)).await;
    Ok(())
}

/// Asks the platform to revoke what it granted, and forgets the credentials once it has answered. What can't be asked now
/// stays, sealed, for a later try.
pub async fn revoke<P: Ports>(
    config: &Config,
    cache: &CatalogCache,
    ports: &Metered<'_, P>,
    row: &Revocation,
    client: Option<&OauthClient>,
) -> Outcome {
    let Some(request) = request(config, cache, ports, row, client).await else {
        return Outcome::TryAgain;
    };
    let answer = ports.send(request, DEADLINE_MS).await;
    let outcome = is_done(&answer, ports.now());
    if outcome != Outcome::TryAgain {
        let is_revoked = outcome == Outcome::Revoked;
        let environment = row.environment.as_str();
        let settled = settle(&row.account, environment, &row.connection_id, is_revoked);
        // When this fails, the platform is asked once more, which does no harm.
        let _ = ports.batch(settled.into()).await;
    }
    outcome
}

/// The request. Returns `None` when the catalog, the client or the keys do not allow one at the moment.
async fn request<P: Ports>(
    config: &Config,
    cache: &CatalogCache,
    ports: &Metered<'_, P>,
    row: &Revocation,
    client: Option<&OauthClient>,
) -> Option<HttpRequest> {
    let tenant = (row.account.as_str(), row.environment);
    let held = Held::open(&config.vault_keys, tenant, &row.connection_id, &row.sealed).ok()?;
    let client = client.filter(|client| client.is_for(&row.auth_method))?;
    let variables = client.variables();
    let client = client.open(&config.vault_keys).ok()?;
    let catalog = Catalog::open(cache, ports).await.ok()?;
    let connector = connector(&catalog, &row.platform).await.ok()??;
    let method = connector.find_method(&row.auth_method)?;
    let MethodKind::OAuth2(oauth) = &method.kind else { return None };
    let held = held.completed(method, &variables);
    let tokens = held.tokens.as_ref()?;
    let stored = |name: &str| held.variable(name);
    let filled =
        Filled::for_client(oauth, &method.fields, config.targets(), &variables, stored).ok()?;
    let url = filled.revocation_url?;
    let client = client.proving(filled.oauth.token_auth, &url, ports).await;
    Some(revocation(&filled.oauth, &url, &client, tokens.refresh.as_deref(), &tokens.access))
}
