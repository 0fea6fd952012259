//! The SQL of attempts to connect.

use super::statement;
use crate::auth::statements::Guard;
use crate::connect::attempt::{Attempt, MAX_OF_ACCOUNT, MAX_OF_IDENTITY};
use crate::connections::model::ConnectionId;
use crate::connections::statements::limits::{account_has_place, identity_has_place};
use crate::connections::statements::sql::{COLUMNS, Sql};
use crate::ports::{Param, Statement};
use crate::terms::AttemptStatus;
use crate::util::case_fold::fold;

/// The number of open attempts of an identity, and of an account, each in its environment and up to its limit. The parameters are placeholders;
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
        count("connect_attempts_by_account", " AND a.environment = ?3", MAX_OF_ACCOUNT),
    ]
}

/// Counts the open attempts of an attempt's identity, and says whether the attempt is one of them.
#[must_use]
pub fn count_attempts(new: &Attempt, now: u64) -> Statement {
    let [of_identity, _] = open_attempts("?4", "?5");
    let sql = format!(
        "SELECT {of_identity} AS of_identity, EXISTS (SELECT 1 FROM connect_attempts WHERE id = ?1) AS is_stored"
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

/// The condition that there may be one more connection, if an attempt creates one. Adds what it needs to the parameters, of
/// which the second is the account and the third its environment.
fn place(new: &Attempt, is_by_token: bool, params: &mut Vec<Param>) -> String {
    if new.reconnects == 1 {
        return "true".to_owned();
    }
    let of_account = account_has_place("?2", "?3");
    if !is_by_token {
        return of_account;
    }
    let mut bind = |text: &str| {
        params.push(Param::text(text));
        format!("?{}", params.len())
    };
    let (folded, identity) = (bind(&fold(&new.identity)), bind(&new.identity));
    format!("{of_account} AND {}", identity_has_place("?2", "?3", [&folded, &identity]))
}

/// Says whether there may be one more connection, for an attempt that was not stored.
#[must_use]
pub fn has_place(new: &Attempt, is_by_token: bool) -> Statement {
    let texts = [&new.id, &new.account, new.environment.as_str()];
    let mut params = texts.map(Param::text).to_vec();
    let place = place(new, is_by_token, &mut params);
    Statement { sql: format!("SELECT {place} AS has_place, ?1 AS id").into(), params }
}

/// Stores an attempt, unless its identity or account has too many open ones, or as many connections as it may have.
#[must_use]
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
    ];
    let place = place(new, is_by_token, &mut params);
    let sql = format!(
        "INSERT INTO connect_attempts (id, account, environment, key_id, status, connection_id, reconnects, allow_other_account, platform, platform_version, description, auth_method, identity, identity_type, label, name, tags, scopes, return_url, link_hash, state_hash, browser_hash, sealed, created_at, expires_at) SELECT ?1, ?2, ?3, ?4, 'pending', ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24 WHERE {of_identity} < {MAX_OF_IDENTITY} AND {of_account} < {MAX_OF_ACCOUNT} AND {place} ON CONFLICT DO NOTHING"
    );
    Statement { sql: sql.into(), params }
}

/// Deletes a few attempts that ended long ago. Every new attempt is followed by this, so that they never pile up.
#[must_use]
pub fn prune_attempts(before: u64) -> Statement {
    statement(
        "DELETE FROM connect_attempts WHERE id IN (SELECT id FROM connect_attempts INDEXED BY connect_attempts_by_age WHERE expires_at < ?1 AND account NOT IN (SELECT account FROM away) ORDER BY expires_at LIMIT 5)",
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
        sql.of_ids("c.connection_id", own.connections.as_ref());
    }
    sql.finish()
}

/// Which attempts are listed.
#[derive(Debug)]
pub struct AskedAttempts<'a> {
    /// Only those of this identity.
    pub identity: Option<&'a str>,
    /// Only those with one of these statuses; any, if there are none.
    pub statuses: &'a [AttemptStatus],
    /// Only those older than the attempt with this id.
    pub before: Option<&'a ConnectionId>,
}

impl AskedAttempts<'_> {
    /// Whether they are all of one identity, so that they are not found by their status.
    #[must_use]
    pub fn is_of_identity(&self, guard: &Guard<'_>) -> bool {
        self.identity.is_some() || guard.confinement.is_some()
    }

    /// The conditions on what is stored that lead to the statuses. `?3` of the guard is the present.
    fn stored(&self) -> Vec<&'static str> {
        use AttemptStatus::{Expired, Failed, Pending, Succeeded};
        let asks = |status| self.statuses.is_empty() || self.statuses.contains(&status);
        let pending = match (asks(Pending), asks(Expired)) {
            (true, true) => Some("c.status = 'pending'"),
            (true, false) => Some("c.status = 'pending' AND c.expires_at > ?3"),
            (false, true) => Some("c.status = 'pending' AND c.expires_at <= ?3"),
            (false, false) => None,
        };
        // An exchange is pending, or has been interrupted. There are few.
        let exchanging = asks(Pending) || asks(Failed);
        let others = [
            exchanging.then_some("c.status = 'exchanging'"),
            asks(Succeeded).then_some("c.status = 'succeeded'"),
            asks(Failed).then_some("c.status = 'failed'"),
        ];
        [pending].into_iter().chain(others).flatten().collect()
    }
}

/// The columns of an [`Attempt`] that are told.
const TOLD: &str = "c.id AS id, c.account, c.environment, c.status, c.connection_id, c.reconnects, c.allow_other_account, c.platform, c.platform_version, c.description, c.auth_method, c.identity, c.identity_type, c.label, c.scopes, c.claimed_at, c.error_code, c.error_detail, c.created_at, c.expires_at AS expires_at";

/// Selects at most so many attempts of the caller's account, and for a token of its own identity and platforms, the newest
/// first. Those of one identity may have any status.
#[must_use]
pub fn select_attempts(guard: &Guard<'_>, asked: &AskedAttempts<'_>, most: u64) -> Statement {
    let mut sql = Sql::new(guard);
    let by_identity = asked.is_of_identity(guard);
    let parts = if by_identity { vec!["TRUE"] } else { asked.stored() };
    let index = if by_identity { "of_identity" } else { "by_status" };
    for (nth, part) in parts.into_iter().enumerate() {
        sql.push(if nth > 0 { " UNION ALL SELECT " } else { "SELECT " }).push(TOLD);
        sql.push(" FROM api_keys k CROSS JOIN connect_attempts c INDEXED BY connect_attempts_");
        sql.push(index).push(" ON c.account = k.account AND c.environment = k.environment AND ");
        sql.push(part).push(" WHERE ").guard();
        if let Some(identity) = asked.identity {
            sql.push(" AND c.identity = ").text(identity);
        }
        if let Some(own) = guard.confinement {
            sql.push(" AND c.identity = ").text(&own.identity);
            sql.of_identity_type(own.identity_type).of_platforms(own.platforms.as_ref());
            sql.of_ids("c.connection_id", own.connections.as_ref());
        }
        if let Some(before) = asked.before {
            sql.push(" AND (c.expires_at, c.id) < (SELECT b.expires_at, b.id FROM connect_attempts b WHERE b.account = k.account AND b.environment = k.environment AND b.id = ");
            sql.text(before.as_str()).push(")");
        }
    }
    sql.push(" ORDER BY expires_at DESC, id DESC LIMIT ").integer(most);
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

/// Ends an attempt without a connection, unless it has ended already.
#[must_use]
pub fn fail(id: &str, request: &str, code: &str, detail: &str) -> Statement {
    statement(
        "UPDATE connect_attempts SET status = 'failed', sealed = NULL, error_code = ?3, error_detail = ?4 WHERE id = ?1 AND claimed_by = ?2 AND status = 'exchanging'",
        vec![Param::text(id), Param::text(request), Param::text(code), Param::text(detail)],
    )
}
