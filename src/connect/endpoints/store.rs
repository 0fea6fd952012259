//! Writing a connected account: the connection, its credentials and the end of the attempt in one transaction.

use crate::catalog::detail::AuthMethod;
use crate::connect::endpoints::platform::Checked;
use crate::connect::endpoints::sealing;
use crate::connect::statements::{
    Connected, NewCredentials, fail, select_connection, select_holder,
};
use crate::connections::draft::NewConnection;
use crate::connections::model::Connection;
use crate::credentials::VaultKeys;
use crate::credentials::held::Held;
use crate::http::problem::Problem;
use crate::oauth::scopes::missing;
use crate::ports::{Db, Random, StorageError, first_row};
use crate::terms::{Environment, State};
use crate::util::json;

/// A connected account.
#[derive(Debug)]
pub struct Account<'a> {
    /// The account of the vault.
    pub account: &'a str,
    /// Its environment.
    pub environment: Environment,
    /// The id of the request.
    pub request: &'a str,
    /// The attempt that the request has claimed.
    pub attempt: Option<&'a str>,
    /// The connector's method.
    pub method: &'a AuthMethod,
    /// What is held.
    pub held: &'a Held,
    /// When the access token expires, in milliseconds since 1970-01-01 UTC.
    pub expires_at: Option<u64>,
    /// What the platform was asked for.
    pub asked_scopes: &'a [String],
    /// What it granted; `None` when it does not say, and so granted all.
    pub granted_scopes: Option<&'a [String]>,
    /// The state that the connection has now.
    pub state: State,
    /// That a check of the credentials had no result; `None` when it had one, or there was none.
    pub unchecked: Option<Unchecked>,
    /// Whether the account's name is stored.
    pub names: bool,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// A check of new credentials had no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unchecked {
    /// The HTTP status of the platform's response; `None` when there was none.
    pub status: Option<u16>,
}

impl Unchecked {
    /// Returns `None` when the check had a result, or there was none.
    #[must_use]
    pub const fn of(checked: Checked) -> Option<Self> {
        match checked {
            Checked::Not(status) => Some(Self { status }),
            Checked::Accepted | Checked::Unasked => None,
        }
    }
}

/// Which connection the account becomes.
#[derive(Debug)]
pub enum Target<'a> {
    /// A new one.
    New {
        /// The connection.
        new: &'a NewConnection,
        /// Whether a token creates it, whose identity may have a limited number of connections.
        is_by_token: bool,
    },
    /// One that exists.
    Existing {
        /// Its id.
        id: &'a str,
        /// Its new name, if any.
        name: Option<&'a str>,
        /// Its new tags as a JSON array, if any.
        tags: Option<&'a str>,
    },
}

/// What became of writing.
#[derive(Debug)]
pub enum Written {
    /// The connection, as it is now.
    Done(Connection),
    /// Another connection has the key. Nothing was written.
    Taken(Connection),
    /// The connection that was to be reconnected is gone, or the attempt was taken away. Nothing was written.
    Gone,
}

/// Writes everything at once, or nothing.
///
/// # Errors
/// When it can't be sealed, or storage can't answer.
pub async fn store<P: Db + Random>(
    ports: &P,
    keys: &VaultKeys,
    account: &Account<'_>,
    target: Target<'_>,
) -> Result<Written, Problem> {
    let id = match &target {
        Target::New { new, .. } => new.id.as_str(),
        Target::Existing { id, .. } => id,
    };
    let tenant = (account.account, account.environment);
    let sealed = sealing(account.held.seal(keys, tenant, id, ports))?;
    let tokens = account.held.tokens.as_ref();
    let asked = account.asked_scopes;
    let granted = account.granted_scopes.unwrap_or(asked);
    let missing = missing(asked, granted);
    let environment = account.environment.as_str();
    let connected = Connected {
        account: account.account,
        environment,
        request: account.request,
        attempt: account.attempt,
        credentials: NewCredentials {
            connection_id: id,
            auth_method: &account.method.id,
            kind: account.held.kind,
            sealed: &sealed,
            issued_at: tokens.map(|_| account.now),
            expires_at: account.expires_at,
            is_renewable: account.held.is_renewable(account.method),
            is_revocable: account.method.oauth2().is_some_and(|it| it.revocation_url.is_some()),
            scopes: &json::text(&granted),
            missing_scopes: &json::text(&missing),
            unchecked: account.unchecked.map(|unchecked| unchecked.status),
        },
        state: account.state,
        of: account.held.told_account(account.names),
        now: account.now,
    };
    let mut batch = vec![match &target {
        Target::New { new, is_by_token } => connected.insert(new, *is_by_token),
        Target::Existing { name, tags, .. } => connected.update(*name, *tags),
    }];
    batch.push(connected.put_credentials());
    if let Some(attempt) = account.attempt {
        batch.push(connected.succeed(attempt));
    }
    batch.push(connected.succeed_in_window());
    let found = batch.len();
    batch.push(match &target {
        Target::New { new, .. } => select_holder(account.account, environment, new),
        Target::Existing { id, .. } => select_connection(account.account, environment, id),
    });
    let sets = ports.batch(batch).await?;
    let Some(connection) = first_row::<Connection>(&sets, found)? else {
        return Ok(Written::Gone);
    };
    Ok(if connection.id != id {
        Written::Taken(connection)
    } else if connection.written_by == account.request {
        Written::Done(connection)
    } else {
        Written::Gone
    })
}

/// Ends an attempt without a connection.
///
/// # Errors
/// When storage can't answer.
pub async fn end<P: Db>(
    ports: &P,
    attempt: &str,
    request: &str,
    code: &str,
    detail: &str,
) -> Result<(), StorageError> {
    ports.batch(vec![fail(attempt, request, code, detail)]).await.map(drop)
}
