//! The SQL of the console's sign-ins and sessions.
//!
//! Browsers that sign in have no API key. Their statements find rows by the sign-in's id and by
//! secrets. They have no effect if the key that configured the sign-in is invalid.

use super::session::Session;
use super::sign_in::SignInType;
use super::{CODE_LIFETIME_MS, IDLE_TIMEOUT_MS, LIFETIME_MS};
use crate::auth::Principal;
use crate::auth::statements::{Guard, key_is_valid};
use crate::connections::statements::sql::Sql;
use crate::credentials::Sealed;
use crate::ports::{Param, Statement};
use crate::terms::Scopes;

fn statement(sql: impl Into<std::borrow::Cow<'static, str>>, params: Vec<Param>) -> Statement {
    Statement { sql: sql.into(), params }
}

/// Selects a sign-in for a browser that has no API key.
pub fn select_sign_in(id: &str, now: u64) -> Statement {
    let sql = format!(
        "SELECT *, {} AS has_valid_key FROM console_sign_ins WHERE id = ?1",
        key_is_valid("?2")
    );
    statement(sql, vec![Param::text(id), Param::integer(now)])
}

pub fn select_for_caller(guard: &Guard<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT s.* FROM api_keys k CROSS JOIN console_sign_ins s ON s.account = k.account AND s.environment = k.environment WHERE ").guard();
    sql.finish()
}

/// Like [`select_for_caller`], for a request that has already been authenticated.
pub fn select_by_principal(principal: &Principal) -> Statement {
    statement(
        "SELECT * FROM console_sign_ins WHERE account = ?1 AND environment = ?2",
        vec![Param::text(&principal.account), Param::text(principal.environment.as_str())],
    )
}

/// A sign-in to be stored.
#[derive(Debug)]
pub struct NewSignIn<'a> {
    /// The id for a new sign-in. An existing sign-in keeps its id.
    pub id: &'a str,
    pub kind: SignInType,
    pub issuer: &'a str,
    pub client_id: &'a str,
    pub sealed: Option<&'a Sealed>,
    /// Whether to keep the stored client secret. Then `sealed` is ignored.
    pub keeps_stored_secret: bool,
    pub claim: &'a str,
    /// The output of [`super::sign_in::serialize_roles`].
    pub roles: &'a str,
    pub scopes: Option<&'a str>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// Configures the sign-in, and ends the sessions that the previous configuration allowed. Like all
/// statements with a guard, has no effect and returns no row if the caller lost the permission
/// while the service waited for the provider.
pub fn put_sign_in(guard: &Guard<'_>, new: &NewSignIn<'_>) -> [Statement; 2] {
    let mut put = Sql::new(guard);
    put.push("INSERT INTO console_sign_ins (account, environment, id, type, key_id, issuer, client_id, sealed, claim, roles, scopes, created_at, updated_at) SELECT k.account, k.environment, ");
    put.text(new.id).push(", ").text(new.kind.as_str()).push(", k.id, ");
    put.text(new.issuer).push(", ").text(new.client_id).push(", ");
    put.bind(Param::optional_text(new.sealed.map(Sealed::as_str))).push(", ");
    put.text(new.claim).push(", ").text(new.roles).push(", ");
    put.bind(Param::optional_text(new.scopes)).push(", ");
    put.integer(new.now).push(", ").integer(new.now);
    put.push(" FROM api_keys k WHERE ").guard();
    // The stored secret is kept only if the provider and the client are unchanged.
    let sealed = if new.keeps_stored_secret {
        "iif(issuer = excluded.issuer AND client_id = excluded.client_id, sealed, NULL)"
    } else {
        "excluded.sealed"
    };
    put.push(" ON CONFLICT (account, environment) DO UPDATE SET type = excluded.type, key_id = excluded.key_id, issuer = excluded.issuer, client_id = excluded.client_id, sealed = ").push(sealed);
    put.push(", claim = excluded.claim, roles = excluded.roles, scopes = excluded.scopes, updated_at = excluded.updated_at RETURNING id");
    // The sessions must be deleted last: if a person makes this request, the guards of both
    // statements require the person's session.
    [put.finish(), delete_own(guard, "console_sessions", "")]
}

/// Deletes the sign-in and all of its sessions.
pub fn delete_sign_in(guard: &Guard<'_>) -> [Statement; 2] {
    // The sessions must be deleted last, because the guards of both statements may require the
    // caller's own session.
    [
        delete_own(guard, "console_sign_ins", " RETURNING id"),
        delete_own(guard, "console_sessions", ""),
    ]
}

/// Deletes the rows of the caller's tenant.
fn delete_own(guard: &Guard<'_>, table: &str, end: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("DELETE FROM ").push(table);
    sql.push(
        " WHERE (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ",
    );
    sql.guard().push(")").push(end);
    sql.finish()
}

/// A new session of a person who has signed in.
#[derive(Debug)]
pub struct NewSession<'a> {
    /// A UUID.
    pub id: &'a str,
    pub sign_in: &'a str,
    /// The `updated_at` of the sign-in when the person signed in.
    pub updated_at: u64,
    pub person: &'a str,
    pub scopes: Scopes,
    pub browser_hash: &'a str,
    pub code_hash: &'a str,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

impl NewSession<'_> {
    /// Inserts the session, unless the sign-in has changed since or its key is invalid. Until the
    /// code is exchanged, the session expires with the code, so that abandoned sign-ins do not
    /// accumulate.
    pub fn insert(&self) -> Statement {
        let sql = format!(
            "INSERT INTO console_sessions (id, account, environment, sign_in, key_id, person, scopes, browser_hash, code_hash, created_at, used_at, expires_at) SELECT ?1, account, environment, id, key_id, ?4, ?5, ?6, ?7, ?8, ?8, ?9 FROM console_sign_ins WHERE id = ?2 AND updated_at = ?3 AND {} ON CONFLICT DO NOTHING",
            key_is_valid("?8")
        );
        statement(
            sql,
            vec![
                Param::text(self.id),
                Param::text(self.sign_in),
                Param::integer(self.updated_at),
                Param::text(self.person),
                Param::text(&self.scopes.to_string()),
                Param::text(self.browser_hash),
                Param::text(self.code_hash),
                Param::integer(self.now),
                Param::integer(self.now.saturating_add(CODE_LIFETIME_MS)),
            ],
        )
    }
}

pub fn select_session(sign_in: &str, id: &str) -> Statement {
    statement(
        "SELECT * FROM console_sessions WHERE id = ?2 AND sign_in = ?1",
        vec![Param::text(sign_in), Param::text(id)],
    )
}

/// Exchanges a code, once, in the browser in which the sign-in started, and selects its session.
pub fn exchange(
    sign_in: &str,
    (id, code_hash): (&str, &str),
    browser_hash: &str,
    request: &str,
    now: u64,
) -> [Statement; 2] {
    let sql = format!(
        "UPDATE console_sessions SET code_hash = NULL, claimed_by = ?5, used_at = ?6, expires_at = created_at + {LIFETIME_MS} WHERE id = ?1 AND sign_in = ?2 AND code_hash = ?3 AND browser_hash = ?4 AND created_at > ?7 AND {}",
        key_is_valid("?6")
    );
    let claim = statement(
        sql,
        vec![
            Param::text(id),
            Param::text(sign_in),
            Param::text(code_hash),
            Param::text(browser_hash),
            Param::text(request),
            Param::integer(now),
            Param::integer(now.saturating_sub(CODE_LIFETIME_MS)),
        ],
    );
    [claim, select_session(sign_in, id)]
}

/// Selects a page of active sessions, newest first, that follow the session `before`.
pub fn select_sessions(guard: &Guard<'_>, before: Option<&str>, limit: u64, now: u64) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT s.* FROM api_keys k CROSS JOIN console_sessions s INDEXED BY console_sessions_listed ON s.account = k.account AND s.environment = k.environment WHERE ").guard();
    sql.push(" AND s.code_hash IS NULL AND s.expires_at > ").integer(now);
    sql.push(" AND s.used_at > ").integer(now.saturating_sub(IDLE_TIMEOUT_MS));
    if let Some(before) = before {
        sql.push(" AND (s.created_at, s.id) < (SELECT b.created_at, b.id FROM console_sessions b WHERE b.account = k.account AND b.environment = k.environment AND b.id = ").text(before);
        sql.push(")");
    }
    sql.push(" ORDER BY s.created_at DESC, s.id DESC LIMIT ").integer(limit);
    sql.finish()
}

pub fn delete_session(guard: &Guard<'_>, id: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("DELETE FROM console_sessions WHERE id = ").text(id);
    sql.push(
        " AND (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ",
    );
    sql.guard().push(") RETURNING id");
    sql.finish()
}

/// Deletes a batch of expired sessions.
pub fn prune(now: u64) -> Statement {
    statement(
        "DELETE FROM console_sessions WHERE id IN (SELECT id FROM console_sessions INDEXED BY console_sessions_by_age WHERE expires_at <= ?1 AND account NOT IN (SELECT account FROM away) ORDER BY expires_at LIMIT 5)",
        vec![Param::integer(now)],
    )
}

/// Whether this request exchanged the session's code, including an earlier try whose response was
/// lost.
pub fn has_claimed(session: &Session, request: &str) -> bool {
    session.claimed_by.as_deref() == Some(request)
}
