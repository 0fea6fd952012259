//! The SQL of OAuth clients.

use super::statement;
use crate::auth::Principal;
use crate::auth::statements::Guard;
use crate::connect::client::DEFAULT_CLIENT;
use crate::connections::model::ConnectionId;
use crate::connections::statements::sql::Sql;
use crate::credentials::Sealed;
use crate::ports::{Param, Statement};

/// The start of a query for the caller's OAuth clients at a platform. Push the platform next.
const SELECT_AT_PLATFORM: &str = "SELECT o.* FROM api_keys k CROSS JOIN oauth_clients o ON o.account = k.account AND o.environment = k.environment AND o.platform = ";

pub fn select_client(guard: &Guard<'_>, platform: &str, name: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push(SELECT_AT_PLATFORM)
        .text(platform)
        .push(" AND o.name = ")
        .text(name)
        .push(" WHERE ")
        .guard();
    sql.finish()
}

/// Selects the OAuth client with the chosen name. Without a name, selects the client of the
/// connection with this key, or else the default client.
pub fn select_client_by_key(
    guard: &Guard<'_>,
    [platform, label, identity]: [&str; 3],
    chosen: Option<&str>,
) -> Statement {
    if let Some(name) = chosen {
        return select_client(guard, platform, name);
    }
    let mut sql = Sql::new(guard);
    sql.push(SELECT_AT_PLATFORM).text(platform);
    sql.push(" AND o.name = ifnull((SELECT h.client FROM connections c INDEXED BY connections_by_key CROSS JOIN credentials h ON h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id WHERE c.account = k.account AND c.environment = k.environment AND c.platform = ");
    sql.text(platform).push(" AND c.label = ").text(label).push(" AND c.identity = ");
    sql.text(identity).push("), ").text(DEFAULT_CLIENT).push(") WHERE ").guard();
    sql.finish()
}

/// Selects the platforms with an OAuth client that the caller can use.
pub fn select_platforms_with_client(guard: &Guard<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT DISTINCT o.platform FROM api_keys k CROSS JOIN oauth_clients o ON o.account = k.account AND o.environment = k.environment WHERE ");
    sql.guard();
    if let Some(restriction) = guard.restriction {
        sql.push(" AND o.name = ").text(restriction.client.as_deref().unwrap_or(DEFAULT_CLIENT));
    }
    sql.push(" ORDER BY o.platform");
    sql.finish()
}

/// Selects a page of OAuth clients, ordered by platform and name, without their encrypted secrets, which can be long.
pub fn select_clients(guard: &Guard<'_>, limit: u64, offset: u64) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT o.account, o.environment, o.platform, o.name, o.auth_method, o.client_id, iif(o.sealed IS NULL, NULL, '') AS sealed, o.scopes, o.authorization_parameters, o.variables, o.start_url, o.pkce, o.rejected_since, o.created_at, o.updated_at FROM api_keys k CROSS JOIN oauth_clients o ON o.account = k.account AND o.environment = k.environment WHERE ");
    sql.guard()
        .push(" ORDER BY o.platform, o.name LIMIT ")
        .integer(limit)
        .push(" OFFSET ")
        .integer(offset);
    sql.finish()
}

pub fn count_clients(guard: &Guard<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT count(*) AS total FROM api_keys k CROSS JOIN oauth_clients o ON o.account = k.account AND o.environment = k.environment WHERE ").guard();
    sql.finish()
}

/// A new or updated OAuth client.
#[derive(Debug)]
pub struct NewClient<'a> {
    pub platform: &'a str,
    pub name: &'a str,
    pub auth_method: Option<&'a str>,
    pub client_id: &'a str,
    pub secret: NewSecret<'a>,
    /// A JSON array of strings.
    pub scopes: &'a str,
    /// A JSON object of strings.
    pub authorization_parameters: &'a str,
    /// A JSON object of strings.
    pub variables: &'a str,
    pub start_url: Option<&'a str>,
    pub pkce: Option<&'a str>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// The change to the stored secret.
#[derive(Debug, Clone, Copy)]
pub enum NewSecret<'a> {
    /// Keeps the secret if the client id does not change.
    Keep,
    /// Removes the secret.
    None,
    /// Replaces the secret with this encrypted secret.
    Sealed(&'a Sealed),
}

/// Updates an OAuth client, or inserts it, unless the environment already has `max` clients.
/// Changes nothing if the secret would be kept although the hosts that receive it change: the
/// permission to set clients does not include reading their secrets.
pub fn upsert_client(principal: &Principal, new: &NewClient<'_>, max: u64) -> Statement {
    let (keeps_secret, sealed) = match new.secret {
        NewSecret::Keep => (1, Param::Null),
        NewSecret::None => (0, Param::Null),
        NewSecret::Sealed(sealed) => (0, Param::text(sealed.as_str())),
    };
    statement(
        "INSERT INTO oauth_clients (account, environment, platform, auth_method, client_id, sealed, scopes, authorization_parameters, variables, start_url, pkce, created_at, updated_at, name) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?12, ?13, ?10, ?10, ?14 WHERE EXISTS (SELECT 1 FROM oauth_clients WHERE account = ?1 AND environment = ?2 AND platform = ?3 AND name = ?14) OR (SELECT count(*) FROM oauth_clients WHERE account = ?1 AND environment = ?2) < ?15 ON CONFLICT (account, environment, platform, name) DO UPDATE SET auth_method = excluded.auth_method, sealed = iif(?11 = 1 AND client_id = excluded.client_id, sealed, excluded.sealed), client_id = excluded.client_id, scopes = excluded.scopes, authorization_parameters = excluded.authorization_parameters, variables = excluded.variables, start_url = excluded.start_url, pkce = excluded.pkce, rejected_since = NULL, probe_at = NULL, suspect_error = NULL, suspect_account = NULL, updated_at = excluded.updated_at WHERE NOT (?11 = 1 AND sealed IS NOT NULL AND client_id = excluded.client_id AND (variables IS NOT excluded.variables OR auth_method IS NOT excluded.auth_method))",
        vec![
            Param::text(&principal.account),
            Param::text(principal.environment.as_str()),
            Param::text(new.platform),
            Param::optional_text(new.auth_method),
            Param::text(new.client_id),
            sealed,
            Param::text(new.scopes),
            Param::text(new.authorization_parameters),
            Param::text(new.variables),
            Param::integer(new.now),
            Param::Integer(keeps_secret),
            Param::optional_text(new.start_url),
            Param::optional_text(new.pkce),
            Param::text(new.name),
            Param::integer(max),
        ],
    )
}

pub const MAX_START_URLS: u64 = 20;

/// Selects the start URLs of all accounts, because a visit that starts at a platform names no
/// account.
pub fn select_start_urls() -> Statement {
    let sql = format!(
        "SELECT account, platform, start_url AS url FROM oauth_clients INDEXED BY oauth_clients_with_start WHERE start_url IS NOT NULL AND account NOT IN (SELECT account FROM away) ORDER BY account, platform LIMIT {MAX_START_URLS}"
    );
    Statement { sql: sql.into(), params: Vec::new() }
}

/// The period over which connections are refreshed again after their OAuth client has changed, in
/// milliseconds.
const RETRY_SPREAD_MS: u64 = 10 * 60 * 1000;

/// After a change of the OAuth client, schedules the connections whose refresh failed because the platform rejected it.
/// Each becomes due at a random time, to spread the requests to the platform. A connection that is used before then is
/// refreshed at once.
pub fn retry_rejected(principal: &Principal, platform: &str, name: &str, now: u64) -> Statement {
    statement(
        "UPDATE credentials INDEXED BY credentials_rejected SET next_attempt_at = min(next_attempt_at, ?4 + abs(random() % ?5)), failing_since = NULL WHERE account = ?1 AND environment = ?2 AND reason_code = 'client_rejected' AND next_attempt_at > ?4 AND client = ?6 AND EXISTS (SELECT 1 FROM connections c WHERE c.account = ?1 AND c.environment = ?2 AND c.id = connection_id AND c.platform = ?3)",
        vec![
            Param::text(&principal.account),
            Param::text(principal.environment.as_str()),
            Param::text(platform),
            Param::integer(now),
            Param::integer(RETRY_SPREAD_MS),
            Param::text(name),
        ],
    )
}

/// Like [`select_client`], for an authenticated request.
pub fn select_client_of(
    (account, environment): (&str, &str),
    platform: &str,
    name: &str,
) -> Statement {
    statement(
        "SELECT * FROM oauth_clients WHERE account = ?1 AND environment = ?2 AND platform = ?3 AND name = ?4",
        [account, environment, platform, name].map(Param::text).into(),
    )
}

/// Deletes an OAuth client of a platform, and returns its row.
pub fn delete_client(guard: &Guard<'_>, platform: &str, name: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("DELETE FROM oauth_clients WHERE platform = ")
        .text(platform)
        .push(" AND name = ")
        .text(name);
    sql.push(
        " AND (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ",
    );
    sql.guard().push(") RETURNING *");
    sql.finish()
}

/// Selects the OAuth client of a connection: the client that it was connected with, or else the
/// default client.
pub fn select_client_for(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT o.*").push_connection(id, " LEFT JOIN credentials h ON h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id CROSS JOIN oauth_clients o ON o.account = c.account AND o.environment = c.environment AND o.platform = c.platform AND o.name = ifnull(h.client, 'default')");
    sql.finish()
}

/// Selects the OAuth client with the chosen name. Without a name, works like [`select_client_for`].
pub fn select_chosen_client_for(
    guard: &Guard<'_>,
    id: &ConnectionId,
    chosen: Option<&str>,
) -> Statement {
    let Some(name) = chosen else { return select_client_for(guard, id) };
    let mut sql = Sql::new(guard);
    sql.push("SELECT o.*").push_connection(id, " CROSS JOIN oauth_clients o ON o.account = c.account AND o.environment = c.environment AND o.platform = c.platform");
    sql.push(" AND o.name = ").text(name);
    sql.finish()
}

/// Selects the OAuth client of an attempt, by the hash of its link or state.
pub fn select_client_of_attempt(hash: &str) -> Statement {
    statement(
        "SELECT o.* FROM connect_attempts a CROSS JOIN oauth_clients o ON o.account = a.account AND o.environment = a.environment AND o.platform = a.platform AND o.name = a.client WHERE a.link_hash = ?1 OR a.state_hash = ?1",
        vec![Param::text(hash)],
    )
}
