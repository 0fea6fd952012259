//! The SQL that writes a connected account.

use super::attempts::CLEAR_ENDED_ATTEMPT;
use super::statement;
use crate::connect::attempt::EXCHANGE_TIMEOUT_MS;
use crate::connections::draft::NewConnection;
use crate::connections::statements::limits::{account_has_capacity, identity_has_capacity};
use crate::connections::statements::sql::COLUMNS;
use crate::credentials::Sealed;
use crate::credentials::lifecycle::machine::{REASON_NOT_CHECKED, REASON_NOT_CHECKED_DETAIL};
use crate::ports::{Param, Statement};
use crate::terms::{CredentialType, State};
use crate::util::case_fold::fold;

/// The condition that the request still has its claim on the attempt.
const STILL_CLAIMED: &str = "SELECT 1 FROM connect_attempts a WHERE a.id = ?A AND a.claimed_by = ?R AND a.status = 'exchanging' AND a.claimed_at > ?T";

/// Credentials to store.
#[derive(Debug)]
pub struct NewCredentials<'a> {
    pub connection_id: &'a str,
    pub auth_method: &'a str,
    /// The name of the OAuth client; `None` for the connection's client.
    pub client: Option<&'a str>,
    pub kind: CredentialType,
    pub sealed: &'a Sealed,
    /// When the access token was issued, in milliseconds since 1970-01-01 UTC.
    pub issued_at: Option<u64>,
    pub expires_at: Option<u64>,
    /// Whether the credentials can be refreshed.
    pub is_refreshable: bool,
    /// Whether the platform has a revocation endpoint.
    pub is_revocable: bool,
    /// A JSON array of strings: the granted scopes.
    pub scopes: &'a str,
    /// A JSON array of strings: the requested scopes that were not granted.
    pub missing_scopes: &'a str,
    /// Set if a check was inconclusive, to the HTTP status of the platform's response, if the
    /// platform responded.
    pub unchecked: Option<Option<u16>>,
    /// Whether another service still refreshes the credentials.
    pub awaits_cut_over: bool,
}

#[derive(Debug)]
pub struct AccountWrite<'a> {
    pub account: &'a str,
    pub environment: &'a str,
    pub request: &'a str,
    /// The claimed attempt, if any.
    pub attempt: Option<&'a str>,
    pub credentials: NewCredentials<'a>,
    /// The new state of the connection.
    pub state: State,
    /// The id and the name of the account at the platform, if known.
    pub platform_account: (Option<&'a str>, Option<&'a str>),
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// Collects numbered parameters.
struct Params(Vec<Param>);

impl Params {
    fn bind(&mut self, param: Param) -> String {
        self.0.push(param);
        format!("?{}", self.0.len())
    }
}

impl AccountWrite<'_> {
    /// The condition that the request still has its claim; `1` without an attempt.
    fn condition(&self, params: &mut Params) -> String {
        let Some(attempt) = self.attempt else { return "1".to_owned() };
        let min_claimed_at = self.now.saturating_sub(EXCHANGE_TIMEOUT_MS);
        let (attempt, request) =
            (params.bind(Param::text(attempt)), params.bind(Param::text(self.request)));
        let min_claimed_at = params.bind(Param::integer(min_claimed_at));
        let condition = STILL_CLAIMED.replace("?A", &attempt).replace("?R", &request);
        format!("EXISTS ({})", condition.replace("?T", &min_claimed_at))
    }

    /// Inserts the connection, unless another connection has its key or a limit is reached.
    /// Idempotent.
    pub fn insert(&self, new: &NewConnection, is_by_token: bool) -> Statement {
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
            Param::optional_text(self.platform_account.0),
            Param::optional_text(self.platform_account.1),
        ];
        let values: Vec<String> = values.into_iter().map(|value| params.bind(value)).collect();
        let condition = self.condition(&mut params);
        let id = params.bind(Param::text(&new.id));
        let mut has_capacity = account_has_capacity("?1", "?2");
        if is_by_token {
            let of_identity = identity_has_capacity("?1", "?2", ["?8", "?7"]);
            has_capacity = format!("{has_capacity} AND {of_identity}");
        }
        let sql = format!(
            "INSERT INTO connections (account, environment, id, platform, platform_version, label, identity, identity_folded, identity_type, name, name_folded, description, state, tags, created_at, written_by, platform_account_id, platform_account_name, connected_by, active, version) SELECT {}, ?16, 1, 1 WHERE {condition} AND {has_capacity} AND NOT EXISTS (SELECT 1 FROM connections c WHERE c.account = ?1 AND c.environment = ?2 AND c.id = {id}) ON CONFLICT (account, environment, platform, label, identity) DO NOTHING",
            values.join(", "),
        );
        Statement { sql: sql.into(), params: params.0 }
    }

    /// Updates the state of the connection, and optionally its name and tags. With a version,
    /// changes only a connection that still has this version. Idempotent.
    pub fn update(
        &self,
        name: Option<&str>,
        tags: Option<&str>,
        version: Option<u64>,
    ) -> Statement {
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
        let (platform_account_id, platform_account_name) = (
            params.bind(Param::optional_text(self.platform_account.0)),
            params.bind(Param::optional_text(self.platform_account.1)),
        );
        let condition = self.condition(&mut params);
        let version = params.bind(Param::optional_integer(version));
        let sql = format!(
            "UPDATE connections SET version = version + 1, written_by = {request}, connected_by = {request}, state_since = iif(state = {state}, state_since, {now}), state = {state}, state_reason = NULL, active = 1, name = coalesce({name}, name), name_folded = coalesce({folded}, name_folded), tags = coalesce({tags}, tags), platform_account_id = {platform_account_id}, platform_account_name = {platform_account_name} WHERE account = {account} AND environment = {environment} AND id = {id} AND written_by <> {request} AND version = coalesce({version}, version) AND {condition}"
        );
        Statement { sql: sql.into(), params: params.0 }
    }

    /// Inserts or replaces the credentials of the connection that this request has written. Idempotent.
    pub fn upsert_credentials(&self) -> Statement {
        let credentials = &self.credentials;
        statement(
            "INSERT INTO credentials (account, environment, connection_id, auth_method, type, sealed, version, issued_at, expires_at, refreshable, revocable, scopes, missing_scopes, refreshed_at, written_by, reason_code, reason_detail, reason_status, awaits_cut_over, client) SELECT c.account, c.environment, c.id, ?4, ?5, ?6, 1, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ifnull(?19, 'default') FROM connections c WHERE c.account = ?1 AND c.environment = ?2 AND c.id = ?3 AND c.written_by = ?14 ON CONFLICT (account, environment, connection_id) DO UPDATE SET auth_method = excluded.auth_method, client = ifnull(?19, credentials.client), type = excluded.type, sealed = excluded.sealed, version = credentials.version + 1, issued_at = excluded.issued_at, expires_at = excluded.expires_at, refreshable = excluded.refreshable, revocable = excluded.revocable, scopes = excluded.scopes, missing_scopes = excluded.missing_scopes, refreshed_at = excluded.refreshed_at, reason_code = excluded.reason_code, reason_detail = excluded.reason_detail, reason_status = excluded.reason_status, awaits_cut_over = excluded.awaits_cut_over, attempts = 0, failing_since = NULL, refused_since = NULL, next_attempt_at = NULL, lease = NULL, lease_until = NULL, written_by = excluded.written_by WHERE credentials.written_by <> excluded.written_by",
            vec![
                Param::text(self.account),
                Param::text(self.environment),
                Param::text(credentials.connection_id),
                Param::text(credentials.auth_method),
                Param::text(credentials.kind.as_str()),
                Param::text(credentials.sealed.as_str()),
                Param::optional_integer(credentials.issued_at),
                Param::optional_integer(credentials.expires_at),
                Param::Integer(credentials.is_refreshable.into()),
                Param::Integer(credentials.is_revocable.into()),
                Param::text(credentials.scopes),
                Param::text(credentials.missing_scopes),
                Param::integer(self.now),
                Param::text(self.request),
                Param::optional_text(credentials.unchecked.map(|_| REASON_NOT_CHECKED)),
                Param::optional_text(credentials.unchecked.map(|_| REASON_NOT_CHECKED_DETAIL)),
                Param::optional_integer(credentials.unchecked.flatten().map(u64::from)),
                Param::Integer(credentials.awaits_cut_over.into()),
                Param::optional_text(credentials.client),
            ],
        )
    }

    /// Marks the attempt as successful if this request stored the credentials.
    pub fn succeed(&self, attempt: &str) -> Statement {
        statement(
            format!(
                "UPDATE connect_attempts SET status = 'succeeded', {CLEAR_ENDED_ATTEMPT} WHERE id = ?1 AND claimed_by = ?2 AND status = 'exchanging' AND EXISTS (SELECT 1 FROM credentials h WHERE h.account = ?3 AND h.environment = ?4 AND h.connection_id = ?5 AND h.written_by = ?2)"
            ),
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

impl AccountWrite<'_> {
    /// Marks attempts whose links lead to the connect window as successful, if this request stored the credentials of their
    /// connection. Idempotent.
    pub fn mark_window_attempts_succeeded(&self) -> Statement {
        statement(
            format!(
                "UPDATE connect_attempts SET status = 'succeeded', connection_id = ?3, auth_method = ?5, {CLEAR_ENDED_ATTEMPT} WHERE id IN (SELECT a.id FROM credentials h CROSS JOIN connections c ON c.account = h.account AND c.environment = h.environment AND c.id = h.connection_id CROSS JOIN connect_attempts a INDEXED BY connect_attempts_by_identity ON a.account = c.account AND a.environment = c.environment AND a.identity = c.identity AND a.status = 'pending' AND a.expires_at > ?6 AND a.sealed IS NULL AND a.platform = c.platform AND a.label = c.label AND a.client = h.client WHERE h.account = ?1 AND h.environment = ?2 AND h.connection_id = ?3 AND h.written_by = ?4)"
            ),
            vec![
                Param::text(self.account),
                Param::text(self.environment),
                Param::text(self.credentials.connection_id),
                Param::text(self.request),
                Param::text(self.credentials.auth_method),
                Param::integer(self.now),
            ],
        )
    }
}

/// Selects a connection by id, for an authenticated request.
pub fn select_connection(account: &str, environment: &str, id: &str) -> Statement {
    let sql = format!(
        "SELECT {COLUMNS} FROM connections c INDEXED BY connections_by_id WHERE c.account = ?1 AND c.environment = ?2 AND c.id = ?3"
    );
    Statement {
        sql: sql.into(),
        params: vec![Param::text(account), Param::text(environment), Param::text(id)],
    }
}

/// Like [`select_connection`], by platform, label and identity.
pub fn select_connection_by_key(
    account: &str,
    environment: &str,
    new: &NewConnection,
) -> Statement {
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
