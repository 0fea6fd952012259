//! Writes the connection, its credentials and the end of the attempt in one transaction.

use crate::catalog::detail::AuthMethod;
use crate::connect::endpoints::encrypt_error;
use crate::connect::endpoints::platform::CheckOutcome;
use crate::connect::statements::{
    AccountWrite, NewCredentials, fail, select_connection, select_connection_by_key,
};
use crate::connections::draft::NewConnection;
use crate::connections::model::Connection;
use crate::credentials::VaultKeys;
use crate::credentials::model::Credentials;
use crate::http::problem::Problem;
use crate::oauth::scopes::missing;
use crate::ports::{Db, Random, StorageError, first_row};
use crate::terms::{Environment, State};
use crate::util::json;

/// A connected account, ready to be stored.
#[derive(Debug)]
pub struct ConnectedAccount<'a> {
    pub account: &'a str,
    pub environment: Environment,
    pub request: &'a str,
    /// The claimed attempt, if any.
    pub attempt: Option<&'a str>,
    pub method: &'a AuthMethod,
    /// The name of the OAuth client; `None` for the connection's client.
    pub client: Option<&'a str>,
    pub credentials: &'a Credentials,
    /// When the access token expires, in milliseconds since 1970-01-01 UTC.
    pub expires_at: Option<u64>,
    pub requested_scopes: &'a [String],
    /// The granted scopes; `None` if the platform does not return them, which means all.
    pub granted_scopes: Option<&'a [String]>,
    /// The new state of the connection.
    pub state: State,
    /// Set if a check of the credentials was inconclusive.
    pub unchecked: Option<InconclusiveCheck>,
    /// Whether another service still refreshes the credentials.
    pub awaits_cut_over: bool,
    /// Whether names of accounts at platforms are stored.
    pub names: bool,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// A check of new credentials without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InconclusiveCheck {
    /// The HTTP status of the platform's response, if the platform responded.
    pub status: Option<u16>,
}

impl InconclusiveCheck {
    /// Returns `None` if the check had a result, or if nothing was checked.
    pub const fn from_outcome(outcome: CheckOutcome) -> Option<Self> {
        match outcome {
            CheckOutcome::NoResult(status) => Some(Self { status }),
            CheckOutcome::Accepted | CheckOutcome::NotChecked => None,
        }
    }
}

/// The connection to write.
#[derive(Debug)]
pub enum StoreTarget<'a> {
    New {
        new: &'a NewConnection,
        /// Whether a token creates it. The number of connections per identity is then limited.
        is_by_token: bool,
    },
    Existing {
        id: &'a str,
        /// `None` keeps the name.
        name: Option<&'a str>,
        /// A JSON array; `None` keeps the tags.
        tags: Option<&'a str>,
        /// The version that the connection must still have; `None` for any.
        version: Option<u64>,
    },
}

/// The outcome of [`store`].
#[derive(Debug)]
pub enum StoreOutcome {
    /// The connection was stored.
    Done(Connection),
    /// Nothing was written, because this other connection has the key.
    KeyTaken(Connection),
    /// Nothing was written: the connection no longer exists or has another version, or the attempt is no longer claimed.
    NothingWritten,
}

/// Stores a connected account: writes all rows, or none.
pub async fn store<P: Db + Random>(
    ports: &P,
    keys: &VaultKeys,
    account: &ConnectedAccount<'_>,
    target: StoreTarget<'_>,
) -> Result<StoreOutcome, Problem> {
    let id = match &target {
        StoreTarget::New { new, .. } => new.id.as_str(),
        StoreTarget::Existing { id, .. } => id,
    };
    let tenant = (account.account, account.environment);
    let sealed = account.credentials.seal(keys, tenant, id, ports).map_err(encrypt_error)?;
    let tokens = account.credentials.tokens.as_ref();
    let requested = account.requested_scopes;
    let granted = account.granted_scopes.unwrap_or(requested);
    let missing_scopes = missing(requested, granted);
    let environment = account.environment.as_str();
    let connected = AccountWrite {
        account: account.account,
        environment,
        request: account.request,
        attempt: account.attempt,
        credentials: NewCredentials {
            connection_id: id,
            auth_method: &account.method.id,
            client: account.client,
            kind: account.credentials.kind,
            sealed: &sealed,
            issued_at: tokens.map(|_| account.now),
            expires_at: account.expires_at,
            is_refreshable: account.credentials.is_refreshable(account.method),
            // Deleting the connection must not end a grant that another service still uses.
            is_revocable: !account.awaits_cut_over
                && account.method.oauth2().is_some_and(|oauth| oauth.revocation_url.is_some()),
            scopes: &json::text(&granted),
            missing_scopes: &json::text(&missing_scopes),
            unchecked: account.unchecked.map(|unchecked| unchecked.status),
            awaits_cut_over: account.awaits_cut_over,
        },
        state: account.state,
        platform_account: account.credentials.account_to_store(account.names),
        now: account.now,
    };
    let mut batch = vec![match &target {
        StoreTarget::New { new, is_by_token } => connected.insert(new, *is_by_token),
        StoreTarget::Existing { name, tags, version, .. } => {
            connected.update(*name, *tags, *version)
        }
    }];
    batch.push(connected.upsert_credentials());
    if let Some(attempt) = account.attempt {
        batch.push(connected.succeed(attempt));
    }
    batch.push(connected.mark_window_attempts_succeeded());
    let holder_index = batch.len();
    batch.push(match &target {
        StoreTarget::New { new, .. } => select_connection_by_key(account.account, environment, new),
        StoreTarget::Existing { id, .. } => select_connection(account.account, environment, id),
    });
    let sets = ports.batch(batch).await?;
    let Some(connection) = first_row::<Connection>(&sets, holder_index)? else {
        return Ok(StoreOutcome::NothingWritten);
    };
    Ok(if connection.id != id {
        StoreOutcome::KeyTaken(connection)
    } else if connection.written_by == account.request {
        StoreOutcome::Done(connection)
    } else {
        StoreOutcome::NothingWritten
    })
}

/// Ends an attempt as failed.
pub async fn end<P: Db>(
    ports: &P,
    attempt: &str,
    request: &str,
    code: &str,
    detail: &str,
) -> Result<(), StorageError> {
    ports.batch(vec![fail(attempt, request, code, detail)]).await.map(drop)
}
