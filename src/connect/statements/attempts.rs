//! The SQL of connect attempts.

use super::statement;
use crate::auth::statements::{Guard, key_is_valid};
use crate::branding::statements as branding;
use crate::connect::attempt::{
    Attempt, EXCHANGE_TIMEOUT_MS, MAX_OPEN_PER_ACCOUNT, MAX_OPEN_PER_IDENTITY,
    MAX_STARTED_PER_IDENTITY,
};
use crate::connections::model::ConnectionId;
use crate::connections::statements::limits::{account_has_capacity, identity_has_capacity};
use crate::connections::statements::sql::{COLUMNS, Sql};
use crate::ports::{Param, Statement};
use crate::terms::AttemptStatus;
use crate::util::case_fold::fold;

/// The number of open attempts of an identity and of an account in an environment, each counted up
/// to its limit. The arguments are SQL expressions; `?2` is the account, `?3` the environment.
fn open_attempts(identity: &str, now: &str) -> [String; 2] {
    let count = |index: &str, more: &str, limit: u64| {
        format!(
            "(SELECT count(*) FROM (SELECT 1 FROM connect_attempts a INDEXED BY {index} WHERE a.account = ?2{more} AND a.status = 'pending' AND a.expires_at > {now} LIMIT {limit}))"
        )
    };
    let of_identity = format!(" AND a.environment = ?3 AND a.identity = {identity}");
    [
        count("connect_attempts_by_identity", &of_identity, MAX_OPEN_PER_IDENTITY),
        count("connect_attempts_by_account", " AND a.environment = ?3", MAX_OPEN_PER_ACCOUNT),
    ]
}

/// The number of attempts that an identity has started within their lifetime, open or ended,
/// counted up to the limit. Takes the same arguments as [`open_attempts`].
fn started_attempts(identity: &str, now: &str) -> String {
    format!(
        "(SELECT count(*) FROM (SELECT 1 FROM connect_attempts a INDEXED BY connect_attempts_of_identity WHERE a.account = ?2 AND a.environment = ?3 AND a.identity = {identity} AND a.expires_at > {now} LIMIT {MAX_STARTED_PER_IDENTITY}))"
    )
}

/// The assignments that clear the secrets and the details of an ended attempt, whose row is kept
/// for a day. The pages that show the result still need the language.
pub const CLEAR_ENDED_ATTEMPT: &str = "sealed = NULL, tags = NULL, presets = iif(presets ->> 'l' IS NULL, NULL, json_object('l', presets ->> 'l'))";

/// Clears the secrets and the details of up to 100 attempts that expired or were interrupted.
pub fn clear_expired_attempts(now: u64) -> Statement {
    // SQLite uses the index because the condition in parentheses repeats the index's condition.
    statement(
        format!(
            "UPDATE connect_attempts SET {CLEAR_ENDED_ATTEMPT} WHERE id IN (SELECT id FROM connect_attempts INDEXED BY connect_attempts_to_empty WHERE expires_at < ?1 AND (sealed IS NOT NULL OR tags IS NOT NULL OR presets ->> 'f' IS NOT NULL OR presets ->> 'x' IS NOT NULL) AND account NOT IN (SELECT account FROM away) ORDER BY expires_at LIMIT 100)"
        ),
        vec![Param::integer(now.saturating_sub(EXCHANGE_TIMEOUT_MS))],
    )
}

/// Counts the open attempts of an attempt's identity, and whether the attempt was stored.
pub fn count_attempts(new: &Attempt, now: u64) -> Statement {
    let [of_identity, _] = open_attempts("?4", "?5");
    let started = started_attempts("?4", "?5");
    let sql = format!(
        "SELECT {of_identity} AS of_identity, {started} AS started, EXISTS (SELECT 1 FROM connect_attempts WHERE id = ?1) AS is_stored"
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

/// The condition that the account and the identity may have another connection; `true` for an
/// attempt that reconnects. Appends its parameters to `params`. The second must be the account, the
/// third the environment.
fn capacity_condition(new: &Attempt, is_by_token: bool, params: &mut Vec<Param>) -> String {
    if new.reconnects == 1 {
        return "true".to_owned();
    }
    let account_capacity = account_has_capacity("?2", "?3");
    if !is_by_token {
        return account_capacity;
    }
    let mut bind = |text: &str| {
        params.push(Param::text(text));
        format!("?{}", params.len())
    };
    let (folded, identity) = (bind(&fold(&new.identity)), bind(&new.identity));
    format!("{account_capacity} AND {}", identity_has_capacity("?2", "?3", [&folded, &identity]))
}

/// Selects whether another connection is allowed, for an attempt that was not stored.
pub fn select_has_capacity(new: &Attempt, is_by_token: bool) -> Statement {
    let texts = [&new.id, &new.account, new.environment.as_str()];
    let mut params = texts.map(Param::text).to_vec();
    let has_capacity = capacity_condition(new, is_by_token, &mut params);
    Statement { sql: format!("SELECT {has_capacity} AS has_capacity, ?1 AS id").into(), params }
}

/// Inserts an attempt, unless its identity or account has too many open attempts or connections, or a token has started too
/// many.
pub fn insert_attempt(
    new: &Attempt,
    [link_hash, state_hash]: [&str; 2],
    is_by_token: bool,
    now: u64,
) -> Statement {
    let [of_identity, of_account] = open_attempts("?12", "?23");
    let mut params = vec![
        Param::text(&new.id),
        Param::text(&new.account),
        Param::text(new.environment.as_str()),
        Param::text(&new.key_id),
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
        Param::text(&new.client),
        Param::optional_text(new.presets.as_deref()),
    ];
    let mut has_capacity = capacity_condition(new, is_by_token, &mut params);
    if is_by_token {
        // Ended attempts do not count as open, so also limit the number of started attempts.
        let started = started_attempts("?12", "?23");
        has_capacity = format!("{has_capacity} AND {started} < {MAX_STARTED_PER_IDENTITY}");
    }
    let sql = format!(
        "INSERT INTO connect_attempts (id, account, environment, key_id, status, connection_id, reconnects, allow_other_account, platform, platform_version, description, auth_method, identity, identity_type, label, name, tags, scopes, return_url, link_hash, state_hash, browser_hash, sealed, created_at, expires_at, client, presets) SELECT ?1, ?2, ?3, ?4, 'pending', ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26 WHERE {of_identity} < {MAX_OPEN_PER_IDENTITY} AND {of_account} < {MAX_OPEN_PER_ACCOUNT} AND {has_capacity} ON CONFLICT DO NOTHING"
    );
    Statement { sql: sql.into(), params }
}

/// Deletes a few old attempts. Runs after every new attempt, so that they do not accumulate.
pub fn delete_old_attempts(before: u64) -> Statement {
    statement(
        "DELETE FROM connect_attempts WHERE id IN (SELECT id FROM connect_attempts INDEXED BY connect_attempts_by_age WHERE expires_at < ?1 AND account NOT IN (SELECT account FROM away) ORDER BY expires_at LIMIT 5)",
        vec![Param::integer(before)],
    )
}

/// Selects an attempt that the caller can see.
pub fn select_attempt(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT c.* FROM api_keys k CROSS JOIN connect_attempts c ON c.account = k.account AND c.environment = k.environment AND c.id = ");
    sql.text(id.as_str()).push(" WHERE ");
    guard_attempt(&mut sql, guard);
    sql.finish()
}

/// Adds the guard, and the condition that a token may see the attempt `c`.
fn guard_attempt(sql: &mut Sql<'_>, guard: &Guard<'_>) {
    sql.guard();
    if let Some(restriction) = guard.restriction {
        sql.push(" AND c.identity = ").text(&restriction.identity);
        sql.where_identity_type(restriction.identity_type)
            .where_platforms(restriction.platforms.as_ref());
        sql.where_ids("c.connection_id", restriction.connections.as_ref());
    }
}

/// The filters of the list of attempts.
#[derive(Debug)]
pub struct AttemptFilter<'a> {
    pub identity: Option<&'a str>,
    /// Empty for all statuses.
    pub statuses: &'a [AttemptStatus],
    /// Only attempts older than the attempt with this id.
    pub before: Option<&'a ConnectionId>,
}

impl AttemptFilter<'_> {
    /// Whether all rows have the same identity. The query then uses the index by identity.
    pub fn has_one_identity(&self, guard: &Guard<'_>) -> bool {
        self.identity.is_some() || guard.restriction.is_some()
    }

    /// The SQL conditions for the requested statuses. `?3` of the guard is the current time.
    fn status_conditions(&self) -> Vec<&'static str> {
        use AttemptStatus::{Expired, Failed, Pending, Succeeded};
        let includes = |status| self.statuses.is_empty() || self.statuses.contains(&status);
        let pending = match (includes(Pending), includes(Expired)) {
            (true, true) => Some("c.status = 'pending'"),
            (true, false) => Some("c.status = 'pending' AND c.expires_at > ?3"),
            (false, true) => Some("c.status = 'pending' AND c.expires_at <= ?3"),
            (false, false) => None,
        };
        // An exchanging attempt counts as pending, or as failed if it was interrupted. Few rows are
        // exchanging, so the list endpoint filters them by time.
        let exchanging = includes(Pending) || includes(Failed);
        let other_conditions = [
            exchanging.then_some("c.status = 'exchanging'"),
            includes(Succeeded).then_some("c.status = 'succeeded'"),
            includes(Failed).then_some("c.status = 'failed'"),
        ];
        [pending].into_iter().chain(other_conditions).flatten().collect()
    }
}

/// The columns of an [`Attempt`] that the list needs.
const LIST_COLUMNS: &str = "c.id AS id, c.account, c.environment, c.status, c.connection_id, c.reconnects, c.allow_other_account, c.platform, c.platform_version, c.description, c.auth_method, c.client, c.identity, c.identity_type, c.label, c.scopes, c.claimed_at, c.error_code, c.error_detail, c.created_at, c.expires_at AS expires_at";

/// Selects up to `limit` attempts that the caller can see, newest first. Does not filter by status
/// if all rows have the same identity.
pub fn select_attempts(guard: &Guard<'_>, filter: &AttemptFilter<'_>, limit: u64) -> Statement {
    let mut sql = Sql::new(guard);
    let by_identity = filter.has_one_identity(guard);
    let parts = if by_identity { vec!["TRUE"] } else { filter.status_conditions() };
    let index = if by_identity { "of_identity" } else { "by_status" };
    for (position, part) in parts.into_iter().enumerate() {
        sql.push(if position > 0 { " UNION ALL SELECT " } else { "SELECT " }).push(LIST_COLUMNS);
        sql.push(" FROM api_keys k CROSS JOIN connect_attempts c INDEXED BY connect_attempts_");
        sql.push(index).push(" ON c.account = k.account AND c.environment = k.environment AND ");
        sql.push(part).push(" WHERE ");
        guard_attempt(&mut sql, guard);
        if let Some(identity) = filter.identity {
            sql.push(" AND c.identity = ").text(identity);
        }
        if let Some(before) = filter.before {
            sql.push(" AND (c.expires_at, c.id) < (SELECT b.expires_at, b.id FROM connect_attempts b WHERE b.account = k.account AND b.environment = k.environment AND b.id = ");
            sql.text(before.as_str()).push(")");
        }
    }
    sql.push(" ORDER BY expires_at DESC, id DESC LIMIT ").integer(limit);
    sql.finish()
}

/// Selects the connection of a successful attempt.
pub fn select_connected(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ").push(COLUMNS).push(" FROM api_keys k CROSS JOIN connect_attempts a ON a.account = k.account AND a.environment = k.environment AND a.status = 'succeeded' AND a.id = ");
    sql.text(id.as_str()).push(" CROSS JOIN connections c ON c.account = a.account AND c.environment = a.environment AND c.id = a.connection_id WHERE ");
    sql.guard_connection();
    sql.finish()
}

/// Selects the attempt of a link, while the key that started it is valid.
pub fn select_by_link(link_hash: &str, now: u64) -> Statement {
    let sql = format!(
        "SELECT a.*, {} FROM connect_attempts a WHERE link_hash = ?1 AND {}",
        branding::column("a"),
        key_is_valid("?2")
    );
    statement(sql, vec![Param::text(link_hash), Param::integer(now)])
}

/// Binds an open attempt to a browser, unless it is already bound.
pub fn bind(link_hash: &str, browser_hash: &str, now: u64) -> Statement {
    let sql = format!(
        "UPDATE connect_attempts SET browser_hash = ?2 WHERE link_hash = ?1 AND status = 'pending' AND expires_at > ?3 AND browser_hash IS NULL AND {}",
        key_is_valid("?3")
    );
    statement(sql, vec![Param::text(link_hash), Param::text(browser_hash), Param::integer(now)])
}

/// Claims the attempt with this state for one request: once, before it expires, only from the bound
/// browser, and while the key that started it is valid.
pub fn claim(state_hash: &str, browser_hash: &str, request: &str, now: u64) -> Statement {
    let sql = format!(
        "UPDATE connect_attempts SET status = 'exchanging', claimed_by = ?3, claimed_at = ?4 WHERE state_hash = ?1 AND browser_hash = ?2 AND status = 'pending' AND expires_at > ?4 AND {}",
        key_is_valid("?4")
    );
    statement(
        sql,
        vec![
            Param::text(state_hash),
            Param::text(browser_hash),
            Param::text(request),
            Param::integer(now),
        ],
    )
}

pub fn select_by_state(state_hash: &str) -> Statement {
    let branding = branding::column("a");
    let sql = format!("SELECT a.*, {branding} FROM connect_attempts a WHERE state_hash = ?1");
    statement(sql, vec![Param::text(state_hash)])
}

/// Marks a claimed attempt as failed.
pub fn fail(id: &str, request: &str, code: &str, detail: &str) -> Statement {
    statement(
        format!(
            "UPDATE connect_attempts SET status = 'failed', {CLEAR_ENDED_ATTEMPT}, error_code = ?3, error_detail = ?4 WHERE id = ?1 AND claimed_by = ?2 AND status = 'exchanging'"
        ),
        vec![Param::text(id), Param::text(request), Param::text(code), Param::text(detail)],
    )
}
