//! All SQL of connecting: OAuth clients, attempts, and the rows that a connected account leaves.
//!
//! Statements that a request's key guards join its row, as everywhere. The others serve browsers, which come without a
//! key: they find an attempt by the hash of a secret, and write only for the account of that attempt.

use crate::access::Principal;
use crate::access::statements::Guard;
use crate::credentials::Sealed;
use crate::fold::fold;
use crate::ports::{Param, Statement};
use crate::terms::{CredentialType, State};
use crate::vault::draft::NewConnection;
use crate::vault::model::ConnectionId;
use crate::vault::statements::sql::{COLUMNS, Sql};

use super::attempt::{Attempt, EXCHANGE_MS, MAX_OF_ACCOUNT, MAX_OF_IDENTITY};

fn statement(sql: &'static str, params: Vec<Param>) -> Statement {
    Statement { sql: sql.into(), params }
}

/// Selects the OAuth client for a platform.
#[must_use]
pub fn select_client(guard: &Guard<'_>, platform: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT o.* FROM api_keys k CROSS JOIN oauth_clients o ON o.account = k.account AND o.environment = k.environment AND o.platform = ");
    sql.text(platform).push(" WHERE ").guard();
    sql.finish()
}

/// Selects a page of the OAuth clients, in the order of their platforms.
#[must_use]
pub fn select_clients(guard: &Guard<'_>, limit: u64, offset: u64) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT o.* FROM api_keys k CROSS JOIN oauth_clients o ON o.account = k.account AND o.environment = k.environment WHERE ");
    sql.guard().push(" ORDER BY o.platform LIMIT ").integer(limit).push(" OFFSET ").integer(offset);
    sql.finish()
}

/// Counts the OAuth clients.
#[must_use]
pub fn count_clients(guard: &Guard<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT count(*) AS total FROM api_keys k CROSS JOIN oauth_clients o ON o.account = k.account AND o.environment = k.environment WHERE ").guard();
    sql.finish()
}

/// An OAuth client to be stored.
#[derive(Debug)]
pub struct NewClient<'a> {
    /// The platform's identifier.
    pub platform: &'a str,
    /// The id of the connector's method.
    pub auth_method: Option<&'a str>,
    /// The `client_id`.
    pub client_id: &'a str,
    /// The secret.
    pub secret: NewSecret<'a>,
    /// A JSON array of strings.
    pub scopes: &'a str,
    /// A JSON object of strings.
    pub authorization_parameters: &'a str,
    /// A JSON object of strings.
    pub variables: &'a str,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// What becomes of a client's secret.
#[derive(Debug, Clone, Copy)]
pub enum NewSecret<'a> {
    /// The stored one stays, as long as the client's id does.
    Keep,
    /// There is none.
    None,
    /// This one, sealed.
    Sealed(&'a Sealed),
}

/// Stores an OAuth client in place of the platform's former one.
#[must_use]
pub fn put_client(principal: &Principal, new: &NewClient<'_>) -> Statement {
    let (keeps, sealed) = match new.secret {
        NewSecret::Keep => (1, Param::Null),
        NewSecret::None => (0, Param::Null),
        NewSecret::Sealed(sealed) => (0, Param::text(sealed.as_str())),
    };
    statement(
        "INSERT INTO oauth_clients (account, environment, platform, auth_method, client_id, sealed, scopes, authorization_parameters, variables, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10) ON CONFLICT (account, environment, platform) DO UPDATE SET auth_method = excluded.auth_method, sealed = iif(?11 = 1 AND client_id = excluded.client_id, sealed, excluded.sealed), client_id = excluded.client_id, scopes = excluded.scopes, authorization_parameters = excluded.authorization_parameters, variables = excluded.variables, updated_at = excluded.updated_at",
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
            Param::Integer(keeps),
        ],
    )
}

/// Makes the connections of a platform due at once whose renewals failed because the platform rejected the OAuth client:
/// whoever stores a client has mended it.
#[must_use]
pub fn retry_rejected(principal: &Principal, platform: &str, now: u64) -> Statement {
    statement(
        "UPDATE credentials INDEXED BY credentials_rejected SET next_attempt_at = ?4 WHERE account = ?1 AND environment = ?2 AND reason_code = 'client_rejected' AND next_attempt_at > ?4 AND EXISTS (SELECT 1 FROM connections c WHERE c.account = ?1 AND c.environment = ?2 AND c.id = connection_id AND c.platform = ?3)",
        vec![
            Param::text(&principal.account),
            Param::text(principal.environment.as_str()),
            Param::text(platform),
            Param::integer(now),
        ],
    )
}

/// Selects an OAuth client after it was stored.
#[must_use]
pub fn select_client_of(account: &str, environment: &str, platform: &str) -> Statement {
    statement(
        "SELECT * FROM oauth_clients WHERE account = ?1 AND environment = ?2 AND platform = ?3",
        vec![Param::text(account), Param::text(environment), Param::text(platform)],
    )
}

/// Deletes the OAuth client for a platform. Returns its row.
#[must_use]
pub fn delete_client(guard: &Guard<'_>, platform: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("DELETE FROM oauth_clients WHERE platform = ").text(platform);
    sql.push(
        " AND (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ",
    );
    sql.guard().push(") RETURNING *");
    sql.finish()
}

/// The number of open attempts of an identity, and of an account, each up to its limit. The parameters are placeholders;
/// `?2` is the account, `?3` its environment.
fn open_attempts(identity: &str, now: &str) -> [String; 2] {
    let count = |index: &str, more: &str, most: u64| {
        format!(
            "(SELECT count(*) FROM (SELECT 1 FROM connect_attempts a INDEXED BY {index} WHERE a.account = ?2{more} AND a.status = 'pending' AND a.expires_at > {now} LIMIT {most}))"
        )
    };
    let of_identity = format!(" AND a.environment = ?3 AND a.identity = {identity}");
    [
        count("connect_attempts_by_identity", &of_identity, MAX_OF_IDENTITY),
        count("connect_attempts_by_account", "", MAX_OF_ACCOUNT),
    ]
}

/// Counts the open attempts of an attempt's identity and account, and says whether the attempt is one of them.
#[must_use]
pub fn count_attempts(new: &Attempt, now: u64) -> Statement {
    let [of_identity, of_account] = open_attempts("?4", "?5");
    let sql = format!(
        "SELECT {of_identity} AS of_identity, {of_account} AS of_account, EXISTS (SELECT 1 FROM connect_attempts WHERE id = ?1) AS is_stored"
    );
    let params = vec![
        Param::text(&new.id),
        Param::text(&new.account),
        Param::text(new.environment.as_str()),
        Param::text(&new.identity),
        Param::integer(now),
    ];
    Statement { sql: sql.into(), params }
}

/// Selects what the vault holds of the connection with an id.
#[must_use]
pub fn select_held(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT h.* FROM api_keys k CROSS JOIN connections c INDEXED BY connections_by_id ON c.account = k.account AND c.environment = k.environment AND c.id = ");
    sql.text(id.as_str()).push(HELD).push(" WHERE ").guard_connection();
    sql.finish()
}

/// Selects the state of the connection with an id.
#[must_use]
pub fn select_state(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT c.state, c.state_reason, coalesce(c.state_since, c.created_at) AS since FROM api_keys k CROSS JOIN connections c INDEXED BY connections_by_id ON c.account = k.account AND c.environment = k.environment AND c.id = ");
    sql.text(id.as_str()).push(" WHERE ").guard_connection();
    sql.finish()
}

/// Joins what the vault holds of the connection `c`.
const HELD: &str = " CROSS JOIN credentials h ON h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id";

/// As [`select_held`], by the connection's key in parts.
#[must_use]
pub fn select_held_by_key(
    guard: &Guard<'_>,
    platform: &str,
    label: &str,
    identity: &str,
) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT h.* FROM api_keys k CROSS JOIN connections c INDEXED BY connections_by_key ON c.account = k.account AND c.environment = k.environment AND c.platform = ");
    sql.text(platform)
        .push(" AND c.label = ")
        .text(label)
        .push(" AND c.identity = ")
        .text(identity);
    sql.push(HELD).push(" WHERE ").guard_connection();
    sql.finish()
}

/// Selects the OAuth client for the platform of the connection with an id.
#[must_use]
pub fn select_client_for(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT o.* FROM api_keys k CROSS JOIN connections c INDEXED BY connections_by_id ON c.account = k.account AND c.environment = k.environment AND c.id = ");
    sql.text(id.as_str()).push(" CROSS JOIN oauth_clients o ON o.account = c.account AND o.environment = c.environment AND o.platform = c.platform WHERE ");
    sql.guard_connection();
    sql.finish()
}

/// Stores an attempt, unless its identity or account has too many open ones.
#[must_use]
pub fn insert_attempt(
    new: &Attempt,
    key_id: &str,
    link_hash: &str,
    state_hash: &str,
    now: u64,
) -> Statement {
    let [of_identity, of_account] = open_attempts("?12", "?23");
    let sql = format!(
        "INSERT INTO connect_attempts (id, account, environment, key_id, status, connection_id, reconnects, allow_other_account, platform, platform_version, description, auth_method, identity, identity_type, label, name, tags, scopes, return_url, link_hash, state_hash, browser_hash, sealed, created_at, expires_at) SELECT ?1, ?2, ?3, ?4, 'pending', ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24 WHERE {of_identity} < {MAX_OF_IDENTITY} AND {of_account} < {MAX_OF_ACCOUNT} ON CONFLICT DO NOTHING"
    );
    let params = vec![
        Param::text(&new.id),
        Param::text(&new.account),
        Param::text(new.environment.as_str()),
        Param::text(key_id),
        Param::text(&new.connection_id),
        Param::Integer(new.reconnects.into()),
        Param::Integer(new.allow_other_account.into()),
        Param::text(&new.platform),
        Param::text(&new.platform_version),
        Param::text(&new.description),
        Param::text(&new.auth_method),
        Param::text(&new.identity),
        Param::text(new.identity_type.as_str()),
        Param::text(&new.label),
        Param::optional_text(new.name.as_deref()),
        Param::optional_text(new.tags.as_deref()),
        Param::text(&new.scopes),
        Param::optional_text(new.return_url.as_deref()),
        Param::text(link_hash),
        Param::text(state_hash),
        Param::optional_text(new.browser_hash.as_deref()),
        Param::optional_text(new.sealed.as_deref()),
        Param::integer(now),
        Param::integer(new.expires_at),
    ];
    Statement { sql: sql.into(), params }
}

/// Deletes a few attempts that ended long ago. Every new attempt is followed by this, so that they never pile up.
#[must_use]
pub fn prune_attempts(before: u64) -> Statement {
    statement(
        "DELETE FROM connect_attempts WHERE id IN (SELECT id FROM connect_attempts INDEXED BY connect_attempts_by_age WHERE expires_at < ?1 ORDER BY expires_at LIMIT 5)",
        vec![Param::integer(before)],
    )
}

/// Selects an attempt of the caller's account, and for a token of its own identity and platforms.
#[must_use]
pub fn select_attempt(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT c.* FROM api_keys k CROSS JOIN connect_attempts c ON c.account = k.account AND c.environment = k.environment AND c.id = ");
    sql.text(id.as_str()).push(" WHERE ").guard();
    if let Some(own) = guard.confinement {
        sql.push(" AND c.identity = ").text(&own.identity);
        sql.of_identity_type(own.identity_type).of_platforms(own.platforms.as_ref());
    }
    sql.finish()
}

/// Selects the connection of an attempt that has succeeded.
#[must_use]
pub fn select_connected(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ").push(COLUMNS).push(" FROM api_keys k CROSS JOIN connect_attempts a ON a.account = k.account AND a.environment = k.environment AND a.status = 'succeeded' AND a.id = ");
    sql.text(id.as_str()).push(" CROSS JOIN connections c ON c.account = a.account AND c.environment = a.environment AND c.id = a.connection_id WHERE ");
    sql.guard_connection();
    sql.finish()
}

/// Selects the attempt that a link leads to.
#[must_use]
pub fn select_by_link(link_hash: &str) -> Statement {
    statement("SELECT * FROM connect_attempts WHERE link_hash = ?1", vec![Param::text(link_hash)])
}

/// Binds an open attempt to a browser, unless it is bound to another one.
#[must_use]
pub fn bind(link_hash: &str, browser_hash: &str, now: u64) -> Statement {
    statement(
        "UPDATE connect_attempts SET browser_hash = ?2 WHERE link_hash = ?1 AND status = 'pending' AND expires_at > ?3 AND browser_hash IS NULL",
        vec![Param::text(link_hash), Param::text(browser_hash), Param::integer(now)],
    )
}

/// Selects the OAuth client of the attempt with this link or state.
#[must_use]
pub fn select_client_of_attempt(hash: &str) -> Statement {
    statement(
        "SELECT o.* FROM connect_attempts a CROSS JOIN oauth_clients o ON o.account = a.account AND o.environment = a.environment AND o.platform = a.platform WHERE a.link_hash = ?1 OR a.state_hash = ?1",
        vec![Param::text(hash)],
    )
}

/// Claims the attempt with this state for one request: only the browser that it is bound to can, once, in time, and as
/// long as the key that began it is valid.
#[must_use]
pub fn claim(state_hash: &str, browser_hash: &str, request: &str, now: u64) -> Statement {
    statement(
        "UPDATE connect_attempts SET status = 'exchanging', claimed_by = ?3, claimed_at = ?4 WHERE state_hash = ?1 AND browser_hash = ?2 AND status = 'pending' AND expires_at > ?4 AND EXISTS (SELECT 1 FROM api_keys k WHERE k.id = key_id AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?4))",
        vec![
            Param::text(state_hash),
            Param::text(browser_hash),
            Param::text(request),
            Param::integer(now),
        ],
    )
}

/// Selects the attempt with this state.
#[must_use]
pub fn select_by_state(state_hash: &str) -> Statement {
    statement("SELECT * FROM connect_attempts WHERE state_hash = ?1", vec![Param::text(state_hash)])
}

/// Selects the credentials of the connection that the attempt with this state reconnects.
#[must_use]
pub fn select_former(state_hash: &str) -> Statement {
    statement(
        "SELECT h.* FROM connect_attempts a CROSS JOIN credentials h ON h.account = a.account AND h.environment = a.environment AND h.connection_id = a.connection_id WHERE a.state_hash = ?1 AND a.reconnects = 1",
        vec![Param::text(state_hash)],
    )
}

/// Selects what the vault holds of the connections that an attempt's identity has at the same platform.
#[must_use]
pub fn select_held_of_identity(attempt: &Attempt) -> Statement {
    statement(
        "SELECT h.connection_id, h.auth_method, h.sealed FROM connections c INDEXED BY connections_by_identity CROSS JOIN credentials h ON h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id WHERE c.account = ?1 AND c.environment = ?2 AND c.active IN (0, 1) AND c.identity_folded = ?3 AND c.identity = ?4 AND c.platform = ?5",
        vec![
            Param::text(&attempt.account),
            Param::text(attempt.environment.as_str()),
            Param::text(&fold(&attempt.identity)),
            Param::text(&attempt.identity),
            Param::text(&attempt.platform),
        ],
    )
}

/// Ends an attempt without a connection, unless it has ended already.
#[must_use]
pub fn fail(id: &str, request: &str, code: &str, detail: &str) -> Statement {
    statement(
        "UPDATE connect_attempts SET status = 'failed', sealed = NULL, error_code = ?3, error_detail = ?4 WHERE id = ?1 AND claimed_by = ?2 AND status = 'exchanging'",
        vec![Param::text(id), Param::text(request), Param::text(code), Param::text(detail)],
    )
}

/// The condition under which a claimed attempt may still write: the request that claimed it is not too late.
const STILL_CLAIMED: &str = "SELECT 1 FROM connect_attempts a WHERE a.id = ?A AND a.claimed_by = ?R AND a.status = 'exchanging' AND a.claimed_at > ?T";

/// Credentials to be stored.
#[derive(Debug)]
pub struct NewCredentials<'a> {
    /// The connection's id.
    pub connection_id: &'a str,
    /// The id of the connector's method.
    pub auth_method: &'a str,
    /// Their type.
    pub kind: CredentialType,
    /// What is held, sealed.
    pub sealed: &'a Sealed,
    /// When the access token was issued, in milliseconds since 1970-01-01 UTC.
    pub issued_at: Option<u64>,
    /// When it expires.
    pub expires_at: Option<u64>,
    /// Whether they can be renewed.
    pub is_renewable: bool,
    /// Whether the platform revokes them when it is asked.
    pub is_revocable: bool,
    /// A JSON array of strings: what the platform granted.
    pub scopes: &'a str,
    /// A JSON array of strings: what it did not grant of what was asked for.
    pub missing_scopes: &'a str,
}

/// A connected account to be written: whose it is, and which request writes it.
#[derive(Debug)]
pub struct Connected<'a> {
    /// The account.
    pub account: &'a str,
    /// Its environment.
    pub environment: &'a str,
    /// The id of the request.
    pub request: &'a str,
    /// The attempt that the request has claimed; `None` when it needs none.
    pub attempt: Option<&'a str>,
    /// The credentials.
    pub credentials: NewCredentials<'a>,
    /// The state that the connection has now.
    pub state: State,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// Numbered parameters under construction.
struct Params(Vec<Param>);

impl Params {
    fn bind(&mut self, param: Param) -> String {
        self.0.push(param);
        format!("?{}", self.0.len())
    }
}

impl Connected<'_> {
    /// The condition that the request still holds its attempt; `1` when it has none.
    fn condition(&self, params: &mut Params) -> String {
        let Some(attempt) = self.attempt else { return "1".to_owned() };
        let late = self.now.saturating_sub(EXCHANGE_MS);
        let (attempt, request) =
            (params.bind(Param::text(attempt)), params.bind(Param::text(self.request)));
        let late = params.bind(Param::integer(late));
        let condition = STILL_CLAIMED.replace("?A", &attempt).replace("?R", &request);
        format!("EXISTS ({})", condition.replace("?T", &late))
    }

    /// Inserts the connection, unless another one has its key. Run twice, it does nothing the second time.
    #[must_use]
    pub fn insert(&self, new: &NewConnection) -> Statement {
        let mut params = Params(Vec::new());
        let name = new.name.as_deref();
        let values = [
            Param::text(self.account),
            Param::text(self.environment),
            Param::text(&new.id),
            Param::text(&new.platform),
            Param::text(&new.platform_version),
            Param::text(&new.label),
            Param::text(&new.identity),
            Param::text(&fold(&new.identity)),
            Param::text(new.identity_type.as_str()),
            Param::optional_text(name),
            Param::optional_text(name.map(fold).as_deref()),
            Param::text(&new.description),
            Param::text(self.state.as_str()),
            Param::text(&new.tags),
            Param::integer(self.now),
            Param::text(self.request),
        ];
        let values: Vec<String> = values.into_iter().map(|value| params.bind(value)).collect();
        let condition = self.condition(&mut params);
        let id = params.bind(Param::text(&new.id));
        let sql = format!(
            "INSERT INTO connections (account, environment, id, platform, platform_version, label, identity, identity_folded, identity_type, name, name_folded, description, state, tags, created_at, written_by, active, version) SELECT {}, 1, 1 WHERE {condition} AND NOT EXISTS (SELECT 1 FROM connections c WHERE c.account = ?1 AND c.environment = ?2 AND c.id = {id}) ON CONFLICT (account, environment, platform, label, identity) DO NOTHING",
            values.join(", "),
        );
        Statement { sql: sql.into(), params: params.0 }
    }

    /// Gives the connection its state, and a name and tags if they are given. Run twice, it does nothing the second time.
    #[must_use]
    pub fn update(&self, name: Option<&str>, tags: Option<&str>) -> Statement {
        let mut params = Params(Vec::new());
        let (account, environment) =
            (params.bind(Param::text(self.account)), params.bind(Param::text(self.environment)));
        let id = params.bind(Param::text(self.credentials.connection_id));
        let request = params.bind(Param::text(self.request));
        let (state, now) =
            (params.bind(Param::text(self.state.as_str())), params.bind(Param::integer(self.now)));
        let (folded, name) = (
            params.bind(Param::optional_text(name.map(fold).as_deref())),
            params.bind(Param::optional_text(name)),
        );
        let tags = params.bind(Param::optional_text(tags));
        let condition = self.condition(&mut params);
        let sql = format!(
            "UPDATE connections SET version = version + 1, written_by = {request}, state_since = iif(state = {state}, state_since, {now}), state = {state}, state_reason = NULL, active = 1, name = coalesce({name}, name), name_folded = coalesce({folded}, name_folded), tags = coalesce({tags}, tags) WHERE account = {account} AND environment = {environment} AND id = {id} AND written_by <> {request} AND {condition}"
        );
        Statement { sql: sql.into(), params: params.0 }
    }

    /// Stores the credentials of the connection that this request has written, in place of its former ones. Run twice, it
    /// does nothing the second time.
    #[must_use]
    pub fn put_credentials(&self) -> Statement {
        let held = &self.credentials;
        statement(
            "INSERT INTO credentials (account, environment, connection_id, auth_method, type, sealed, version, issued_at, expires_at, renewable, revocable, scopes, missing_scopes, refreshed_at, written_by) SELECT c.account, c.environment, c.id, ?4, ?5, ?6, 1, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 FROM connections c WHERE c.account = ?1 AND c.environment = ?2 AND c.id = ?3 AND c.written_by = ?14 ON CONFLICT (account, environment, connection_id) DO UPDATE SET auth_method = excluded.auth_method, type = excluded.type, sealed = excluded.sealed, version = credentials.version + 1, issued_at = excluded.issued_at, expires_at = excluded.expires_at, renewable = excluded.renewable, revocable = excluded.revocable, scopes = excluded.scopes, missing_scopes = excluded.missing_scopes, refreshed_at = excluded.refreshed_at, reason_code = NULL, reason_detail = NULL, reason_status = NULL, attempts = 0, failing_since = NULL, refused_since = NULL, next_attempt_at = NULL, lease = NULL, lease_until = NULL, written_by = excluded.written_by WHERE credentials.written_by <> excluded.written_by",
            vec![
                Param::text(self.account),
                Param::text(self.environment),
                Param::text(held.connection_id),
                Param::text(held.auth_method),
                Param::text(held.kind.as_str()),
                Param::text(held.sealed.as_str()),
                Param::optional_integer(held.issued_at),
                Param::optional_integer(held.expires_at),
                Param::Integer(held.is_renewable.into()),
                Param::Integer(held.is_revocable.into()),
                Param::text(held.scopes),
                Param::text(held.missing_scopes),
                Param::integer(self.now),
                Param::text(self.request),
            ],
        )
    }

    /// Ends the attempt: it has succeeded when this request stored the credentials.
    #[must_use]
    pub fn succeed(&self, attempt: &str) -> Statement {
        statement(
            "UPDATE connect_attempts SET status = 'succeeded', sealed = NULL WHERE id = ?1 AND claimed_by = ?2 AND status = 'exchanging' AND EXISTS (SELECT 1 FROM credentials h WHERE h.account = ?3 AND h.environment = ?4 AND h.connection_id = ?5 AND h.written_by = ?2)",
            vec![
                Param::text(attempt),
                Param::text(self.request),
                Param::text(self.account),
                Param::text(self.environment),
                Param::text(self.credentials.connection_id),
            ],
        )
    }
}

/// Selects the connection with an id, for a request that has been let in already.
#[must_use]
pub fn select_connection(account: &str, environment: &str, id: &str) -> Statement {
    let sql = format!(
        "SELECT {COLUMNS} FROM connections c INDEXED BY connections_by_id WHERE c.account = ?1 AND c.environment = ?2 AND c.id = ?3"
    );
    Statement {
        sql: sql.into(),
        params: vec![Param::text(account), Param::text(environment), Param::text(id)],
    }
}

/// As [`select_connection`], by the key in parts.
#[must_use]
pub fn select_holder(account: &str, environment: &str, new: &NewConnection) -> Statement {
    let sql = format!(
        "SELECT {COLUMNS} FROM connections c INDEXED BY connections_by_key WHERE c.account = ?1 AND c.environment = ?2 AND c.platform = ?3 AND c.label = ?4 AND c.identity = ?5"
    );
    let params = vec![
        Param::text(account),
        Param::text(environment),
        Param::text(&new.platform),
        Param::text(&new.label),
        Param::text(&new.identity),
    ];
    Statement { sql: sql.into(), params }
}
