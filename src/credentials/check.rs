//! Checks of credentials that nobody uses, so that a broken connection is found before its user finds it.

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
use crate::credentials::held::Held;
use crate::credentials::lifecycle::machine::{After, Failure, after_failure};
use crate::credentials::lifecycle::renewal::{is_valid, is_young, next_check};
use crate::credentials::lifecycle::row::HeldRow;
use crate::credentials::lifecycle::statements::{RowOf, Why};
use crate::credentials::refresh::{Occasion, Renewal, renew};
use crate::http::config::Config;
use crate::http::problem::Problem;
use crate::ports::{Clock, Db, Ports, Random, first_row};
use crate::storage::metering::Metered;
use crate::terms::{CredentialType, Environment, State};

/// How long nobody else gets a connection that was handed over, in milliseconds. Longer than any check takes.
pub const CLAIM_MS: u64 = 10 * 60 * 1000;
/// How many connections one run checks: with their statements, catalog reads and requests to platforms it stays below the
/// 50 subrequests of Cloudflare's free plan.
pub const BATCH_SIZE: usize = 8;
/// When a check is repeated that this service itself could not make, in milliseconds.
const LATER_MS: u64 = 60 * 60 * 1000;

/// A connection that is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    /// The account.
    pub account: String,
    /// Its environment.
    pub environment: Environment,
    /// The connection's id.
    pub connection: String,
}

/// What a connection's row says.
#[derive(Deserialize)]
struct ConnectionRow {
    platform: String,
    state: State,
}

/// Checks connections, all at the same time. Returns what went wrong in this service, for the log; what it did not finish is
/// due again by itself.
///
/// # Errors
/// When storage can't answer.
pub async fn check_all<P: Ports>(
    config: &Config,
    cache: &CatalogCache,
    ports: &Metered<'_, P>,
    due: &[Due],
) -> Result<Vec<String>, Problem> {
    if due.is_empty() {
        return Ok(Vec::new());
    }
    let statements = due.iter().flat_map(|due| {
        let place = due.place();
        [place.select_connection(), place.select(), place.select_client()]
    });
    let sets = ports.batch(statements.collect()).await?;
    let (faults, mut checks) = (RefCell::new(Vec::new()), Vec::new());
    for (due, sets) in due.iter().zip(sets.chunks(3)) {
        let (Some(connection), Some(row)) =
            (first_row::<ConnectionRow>(sets, 0)?, first_row::<HeldRow>(sets, 1)?)
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
    all(checks).await;
    Ok(faults.into_inner())
}

/// Waits for all of them, which run at the same time.
pub(crate) async fn all<F: Future<Output = ()>>(mut running: Vec<Pin<Box<F>>>) {
    poll_fn(|context| {
        running.retain_mut(|one| one.as_mut().poll(context).is_pending());
        if running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

impl Due {
    fn place(&self) -> RowOf<'_> {
        let Self { account, environment, connection } = self;
        RowOf { account, environment: *environment, connection }
    }
}

/// Whether a check of credentials can find anything out.
pub(super) fn is_checkable(connector: &Connector, row: &HeldRow, now: u64) -> bool {
    let Some(method) = connector.find_method(&row.auth_method) else { return false };
    let is_oauth2 = row.kind == CredentialType::OAuth2;
    row.renewable == 1
        || is_oauth2 && !is_valid(row.expires_at, now)
        || connector.verify.is_some() && platform::is_sendable(method)
}

/// One check.
struct Check<'a> {
    config: &'a Config,
    due: &'a Due,
    request: &'a str,
    now: u64,
}

/// What a check found.
enum Finding {
    /// The credentials work.
    Good,
    /// They do not.
    Bad(After, Option<u16>),
    /// There is no way to find out.
    Unknown,
}

impl Check<'_> {
    async fn run<P: Ports>(
        &self,
        cache: &CatalogCache,
        ports: &Metered<'_, P>,
        connection: ConnectionRow,
        row: HeldRow,
        client: Option<OauthClient>,
    ) -> Result<(), Problem> {
        let Due { account, environment, connection: id } = self.due;
        let put_off = |at| self.due.place().put_off(row.version, at);
        if connection.state == State::Failed {
            // Nothing but its user can mend it.
            ports.batch(vec![put_off(None)]).await?;
            return Ok(());
        }
        let catalog = Catalog::open(cache, ports).await?;
        let found = connector(&catalog, &connection.platform).await?;
        let method = found.as_ref().and_then(|it| it.find_method(&row.auth_method));
        let held = Held::open(&self.config.vault_keys, (account, *environment), id, &row.sealed);
        let (Some(connector), Some(method), Ok(held)) = (&found, method, held) else {
            let why =
                if method.is_some() { "no key opens it" } else { "the catalog lacks its method" };
            ports.batch(vec![put_off(Some(self.now.saturating_add(LATER_MS)))]).await?;
            return Err(Problem::unavailable(why));
        };
        let held = held.completed(method, &OauthClient::variables_for(client.as_ref(), &method.id));
        // Platforms refuse to renew a young token by itself.
        let waits = held.renews_by_access_token(method)
            && is_young(row.issued_at, row.expires_at, self.now);
        if row.renewable == 1 && !waits {
            let renewal = Renewal {
                config: self.config,
                account,
                environment: *environment,
                connection: id,
                request: self.request,
                method,
                servers: &connector.servers,
                client: client.filter(|client| client.is_for(&method.id)),
                occasion: Occasion::Check,
                now: self.now,
            };
            return renew(&renewal, row, held, ports).await.map(drop);
        }
        let auth = PlatformAuth {
            config: self.config,
            connector,
            method,
            held: &held,
            client: client.as_ref(),
        };
        self.verify(auth, row, ports).await
    }

    /// Asks the platform whether it accepts credentials that can't be renewed, and writes what it says. The lease keeps
    /// others from doing the same.
    async fn verify<P: Ports>(
        &self,
        auth: PlatformAuth<'_>,
        row: HeldRow,
        ports: &Metered<'_, P>,
    ) -> Result<(), Problem> {
        let (place, request) = (self.due.place(), self.request);
        let lease = place.take_lease(row.version, request, ports.now());
        let sets = ports.batch(vec![lease, place.select()]).await?;
        // The lease is given at the version that was read, or not at all.
        let found = first_row::<HeldRow>(&sets, 1)?;
        let Some(row) = found.filter(|found| found.lease.as_deref() == Some(request)) else {
            return Ok(());
        };
        let chance = ports.byte();
        let finding = self.find(auth, &row, chance, ports).await;
        let now = ports.now();
        let check_at = next_check(now, self.config.check_ms, chance);
        let batch = match finding {
            Finding::Unknown => {
                // Whoever waits for the next attempt goes on waiting: nothing was found out.
                let before = row.before();
                let next = after_failure(before, Failure::Unavailable, None, now, chance);
                let waiting = Some(next).filter(|_| before.attempts > 0);
                vec![place.released(row.version, request, check_at, waiting.as_ref())]
            }
            Finding::Good => {
                vec![place.verified(row.version, request, check_at), place.recovered(request, now)]
            }
            Finding::Bad(after, status) => vec![
                place.not_renewed(row.version, request, &after, &Why { detail: None, status }),
                place.worsened(request, &after, now),
            ],
        };
        ports.batch(batch).await?;
        Ok(())
    }

    async fn find<P: Ports>(
        &self,
        auth: PlatformAuth<'_>,
        row: &HeldRow,
        chance: u8,
        ports: &Metered<'_, P>,
    ) -> Finding {
        let bad = |failure, status, wait| {
            let after = after_failure(row.before(), failure, wait, ports.now(), chance);
            Finding::Bad(after, status)
        };
        if row.kind == CredentialType::OAuth2 && !is_valid(row.expires_at, self.now) {
            // It has expired, and nothing renews it.
            return bad(Failure::GrantRejected, None, None);
        }
        match platform::verify(ports, auth).await {
            Verdict::Accepted => Finding::Good,
            Verdict::Rejected(status) => bad(Failure::CredentialsRejected, Some(status), None),
            // It says something of the request, not of the credentials.
            Verdict::Inconclusive(_) | Verdict::NotChecked => Finding::Unknown,
            Verdict::Unavailable { status, retry_after_ms } => {
                bad(Failure::Unavailable, status, retry_after_ms)
            }
        }
    }
}
