//! Token revocation (RFC 7009) for deleted connections, and for tokens that were never stored.

use serde::Deserialize;

use super::{connector, encrypt_error};
use crate::catalog::cache::CatalogCache;
use crate::catalog::detail::Kind as MethodKind;
use crate::catalog::reader::Catalog;
use crate::connect::client::OauthClient;
use crate::connect::resolved_oauth::ResolvedOAuth;
use crate::connect::revocations::{claim_due, complete, enqueue, prune};
use crate::connect::statements::select_client_of;
use crate::credentials::model::Credentials;
use crate::http::config::Config;
use crate::http::problem::Problem;
use crate::oauth::revocation::{Outcome, outcome, revocation};
use crate::ports::{Clock, Db, Http, HttpRequest, Ports, StorageError, all_rows, first_row};
use crate::storage::metering::Metered;
use crate::terms::Environment;

/// The timeout of a revocation, in milliseconds. Short, because deleting a connection waits for it.
const TIMEOUT_MS: u32 = 5_000;

/// A row of `revocations`.
#[derive(Debug, Clone, Deserialize)]
pub struct Revocation {
    pub account: String,
    pub environment: Environment,
    /// The id of the connection, or of the attempt or request that obtained the tokens.
    pub connection_id: String,
    pub platform: String,
    auth_method: String,
    /// The name of the OAuth client.
    client: String,
    sealed: String,
}

/// Retries up to `limit` due revocations. Claimed rows become due again after a pause, so that an interrupted run loses none.
/// Returns the outcome of each.
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
    let mut outcomes = Vec::new();
    for row in rows {
        let Revocation { account, environment, platform, client, .. } = &row;
        let select = select_client_of((account, environment.as_str()), platform, client);
        let client: Option<OauthClient> = first_row(&ports.batch(vec![select]).await?, 0)?;
        let outcome = revoke(config, cache, ports, &row, client.as_ref()).await;
        outcomes.push((row, outcome));
    }
    Ok(outcomes)
}

/// Revokes tokens that are not stored in a connection, which nothing else would revoke.
pub async fn revoke_unused<P: Ports>(
    config: &Config,
    cache: &CatalogCache,
    ports: &Metered<'_, P>,
    (attempt, platform, auth_method): (&str, &str, &str),
    tenant: (&str, Environment),
    credentials: &Credentials,
    client: &OauthClient,
) -> Result<(), Problem> {
    let sealed =
        credentials.seal(&config.vault_keys, tenant, attempt, ports).map_err(encrypt_error)?;
    let row = Revocation {
        account: tenant.0.to_owned(),
        environment: tenant.1,
        connection_id: attempt.to_owned(),
        platform: platform.to_owned(),
        auth_method: auth_method.to_owned(),
        client: client.name.clone(),
        sealed: sealed.into_string(),
    };
    let row_key = (tenant.0, tenant.1.as_str(), attempt);
    let issued_by = (platform, auth_method, client.name.as_str());
    ports.batch(vec![enqueue(row_key, issued_by, &row.sealed, ports.now())]).await?;
    revoke(config, cache, ports, &row, Some(client)).await;
    Ok(())
}

/// Revokes the grant at the platform, and deletes the row if the outcome is final. Otherwise the row is kept for a retry.
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
    let response = ports.send(request, TIMEOUT_MS).await;
    let outcome = outcome(&response, ports.now());
    if outcome != Outcome::TryAgain {
        let is_revoked = outcome == Outcome::Revoked;
        let environment = row.environment.as_str();
        let statements = complete(&row.account, environment, &row.connection_id, is_revoked);
        // If this fails, the revocation is repeated, which does no harm.
        let _ = ports.batch(statements.into()).await;
    }
    outcome
}

/// Builds the revocation request. Returns `None` if the catalog, the OAuth client or the keys do
/// not allow the request at the moment.
async fn request<P: Ports>(
    config: &Config,
    cache: &CatalogCache,
    ports: &Metered<'_, P>,
    row: &Revocation,
    client: Option<&OauthClient>,
) -> Option<HttpRequest> {
    let tenant = (row.account.as_str(), row.environment);
    let credentials =
        Credentials::open(&config.vault_keys, tenant, &row.connection_id, &row.sealed).ok()?;
    let client = client.filter(|client| client.is_for(&row.auth_method))?;
    let variables = client.variables();
    let client = client.open(&config.vault_keys).ok()?;
    let catalog = Catalog::open(cache, ports).await.ok()?;
    let connector = connector(&catalog, &row.platform).await.ok()??;
    let method = connector.find_method(&row.auth_method)?;
    let MethodKind::OAuth2(oauth) = &method.kind else { return None };
    let credentials = credentials.with_missing_fields(method, &variables);
    let tokens = credentials.tokens.as_ref()?;
    let stored = |name: &str| credentials.variable(name);
    let resolved =
        ResolvedOAuth::for_client(oauth, &method.fields, config.targets(), &variables, &stored)
            .ok()?;
    let url = resolved.revocation_url?;
    let client = client.with_assertion(&resolved.oauth, &url, ports).await;
    Some(revocation(&resolved.oauth, &url, &client, tokens.refresh.as_deref(), &tokens.access))
}
