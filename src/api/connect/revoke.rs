//! Token revocation (RFC 7009) for a connection that was deleted.

use serde::Deserialize;

use super::connector;
use crate::api::config::Config;
use crate::api::cost::Metered;
use crate::catalog::cache::CatalogCache;
use crate::catalog::detail::Kind as MethodKind;
use crate::catalog::reader::Catalog;
use crate::connect::client::OauthClient;
use crate::connect::filled::Filled;
use crate::connect::statements::delete_revocation;
use crate::credentials::held::Held;
use crate::oauth::revocation::{Outcome, is_done, revocation};
use crate::ports::{Clock, Db, Http, HttpRequest, Ports};
use crate::terms::Environment;

/// How long whoever deletes a connection waits for the platform, in milliseconds.
const DEADLINE_MS: u32 = 5_000;

/// A row of `revocations`.
#[derive(Debug, Clone, Deserialize)]
pub struct Revocation {
    connection_id: String,
    platform: String,
    auth_method: String,
    sealed: String,
}

/// Asks the platform to revoke what it granted, and forgets the credentials once it has answered. What can't be asked now
/// stays, sealed, for a later try.
pub async fn revoke<P: Ports>(
    config: &Config,
    cache: &CatalogCache,
    ports: &Metered<'_, P>,
    tenant: (&str, Environment),
    row: &Revocation,
    client: Option<&OauthClient>,
) {
    let Some(request) = request(config, cache, ports, tenant, row, client).await else { return };
    let answer = ports.send(request, DEADLINE_MS).await;
    if is_done(&answer, ports.now()) != Outcome::TryAgain {
        let (account, environment) = tenant;
        let forget = delete_revocation(account, environment.as_str(), &row.connection_id);
        // When this fails, the platform is asked once more, which does no harm.
        let _ = ports.batch(vec![forget]).await;
    }
}

/// The request. Returns `None` when the catalog, the client or the keys do not allow one at the moment.
async fn request<P: Ports>(
    config: &Config,
    cache: &CatalogCache,
    ports: &Metered<'_, P>,
    tenant: (&str, Environment),
    row: &Revocation,
    client: Option<&OauthClient>,
) -> Option<HttpRequest> {
    let held = Held::open(&config.vault_keys, tenant, &row.connection_id, &row.sealed).ok()?;
    let tokens = held.tokens.as_ref()?;
    let client = client?.open(&config.vault_keys).ok()?;
    let catalog = Catalog::open(cache, ports).await.ok()?;
    let connector = connector(&catalog, &row.platform).await.ok()??;
    let method = connector.find_method(&row.auth_method)?;
    let MethodKind::OAuth2(oauth) = &method.kind else { return None };
    let filled = Filled::new(oauth, config.targets(), |name: &str| held.variable(name)).ok()?;
    let url = filled.revocation_url?;
    Some(revocation(&filled.oauth, &url, &client, tokens.refresh.as_deref(), &tokens.access))
}
