//! The SQL of the keys that a key sees, creates and ends: those of its own account and environment.

use super::{MAX_KEYS, OVERLAP_MS};
use crate::auth::key::ApiKey;
use crate::auth::statements::Guard;
use crate::connections::statements::sql::Sql;
use crate::ports::{Param, Statement};
use crate::terms::Scopes;

/// The columns of [`super::Key`].
const COLUMNS: &str = "o.id, o.name, o.scopes, o.created_at, o.expires_at, o.revoked_at, o.last_used_day, o.replaced_by, o.created_by";

/// The caller's key, and the keys of its account and environment.
const OF_KEY: &str = "FROM api_keys k CROSS JOIN api_keys o ON o.account = k.account AND o.environment = k.environment";

/// With [`END`], the condition that the caller's key `k` has each of some scopes, a space-separated list that stands between
/// the two. What it lacks includes scopes that this release does not know.
const HAS_ALL: &str = " AND NOT EXISTS (SELECT 1 FROM json_each('[\"' || replace(";
const END: &str =
    ", ' ', '\",\"') || '\"]') s WHERE instr(' ' || k.scopes || ' ', ' ' || s.value || ' ') = 0)";

/// Selects `most` keys, the newest first: those that were created before the key with the id `before`, if given.
#[must_use]
pub fn select_page(guard: &Guard<'_>, before: Option<&str>, most: u64) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ").push(COLUMNS).push(" ").push(OF_KEY).push(" WHERE ").guard();
    if let Some(before) = before {
        sql.push(" AND (o.created_at, o.id) < (SELECT b.created_at, b.id FROM api_keys b WHERE b.account = k.account AND b.environment = k.environment AND b.id = ").text(before);
        sql.push(")");
    }
    sql.push(" ORDER BY o.created_at DESC, o.id DESC LIMIT ").integer(most);
    sql.finish()
}

/// Selects a key.
#[must_use]
pub fn select(guard: &Guard<'_>, id: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ").push(COLUMNS).push(" ").push(OF_KEY).push(" AND o.id = ").text(id);
    sql.push(" WHERE ").guard();
    sql.finish()
}

/// A key to be stored.
#[derive(Debug)]
pub struct NewKey<'a> {
    /// Its id.
    pub id: &'a str,
    /// The key itself, of which the hash is stored.
    pub key: &'a ApiKey,
    /// What it is for.
    pub name: Option<&'a str>,
    /// What it may do.
    pub scopes: Scopes,
    /// When it expires, in milliseconds since 1970-01-01 UTC; `None` for when the caller's key does.
    pub expires_at: Option<u64>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// Stores a key, unless the caller's key lacks one of its scopes, expires before it, or there are [`MAX_KEYS`] valid keys
/// already.
#[must_use]
pub fn insert(guard: &Guard<'_>, new: &NewKey<'_>) -> Statement {
    let scopes = new.scopes.to_string();
    let mut sql = Sql::new(guard);
    sql.push("INSERT INTO api_keys (hash, id, name, account, environment, scopes, created_at, expires_at, created_by) SELECT ");
    sql.text(&new.key.hash().to_string()).push(", ").text(new.id).push(", ");
    sql.bind(Param::optional_text(new.name)).push(", k.account, k.environment, ").text(&scopes);
    sql.push(", ").integer(new.now).push(", ");
    match new.expires_at {
        Some(at) => sql.integer(at),
        None => sql.push("k.expires_at"),
    };
    sql.push(", k.id FROM api_keys k WHERE ").guard();
    if let Some(at) = new.expires_at {
        sql.push(" AND (k.expires_at IS NULL OR k.expires_at >= ").integer(at).push(")");
    }
    sql.push(HAS_ALL).text(&scopes).push(END);
    sql.push(" AND (SELECT count(*) FROM api_keys o WHERE o.account = k.account AND o.environment = k.environment AND o.revoked_at IS NULL AND (o.expires_at IS NULL OR o.expires_at > ").integer(new.now);
    sql.push(")) < ").integer(MAX_KEYS).push(" ON CONFLICT DO NOTHING");
    sql.finish()
}

/// Replaces the key `old` by one with the same scopes, which expires no later than the old one and the caller's key. The
/// old one ends after [`OVERLAP_MS`]. Nothing happens if it is not valid, was replaced already, or has a scope that the
/// caller's key lacks.
#[must_use]
pub fn replace(
    guard: &Guard<'_>,
    old: &str,
    (id, key): (&str, &ApiKey),
    now: u64,
) -> [Statement; 2] {
    let mut insert = Sql::new(guard);
    insert.push("INSERT INTO api_keys (hash, id, name, account, environment, scopes, created_at, expires_at, created_by) SELECT ");
    insert.text(&key.hash().to_string()).push(", ").text(id);
    insert.push(", o.name, o.account, o.environment, o.scopes, ").integer(now);
    // In SQLite, the smaller of a number and NULL is NULL.
    insert.push(", min(ifnull(o.expires_at, k.expires_at), ifnull(k.expires_at, o.expires_at)), ");
    // A key that the old one created stays below what the old one was below: otherwise the two would own each other, and
    // no revocation above them would reach them.
    insert.push("iif(o.id IN (WITH RECURSIVE own (id) AS (SELECT k.id UNION SELECT a.created_by FROM own CROSS JOIN api_keys a ON a.id = own.id) SELECT id FROM own), o.created_by, k.id) ");
    insert.push(OF_KEY).push(" AND o.id = ").text(old).push(" WHERE ").guard();
    insert.push(" AND o.replaced_by IS NULL AND o.revoked_at IS NULL AND (o.expires_at IS NULL OR o.expires_at > ");
    insert.integer(now).push(")");
    insert.push(HAS_ALL).push("o.scopes").push(END);
    insert.push(" ON CONFLICT DO NOTHING");

    let mut update = Sql::new(guard);
    let end = now.saturating_add(OVERLAP_MS);
    update.push("UPDATE api_keys SET replaced_by = ").text(id);
    update.push(", expires_at = min(ifnull(expires_at, ").integer(end).push("), ").integer(end);
    update.push(") WHERE id = ").text(old).push(" AND replaced_by IS NULL");
    update.push(
        " AND (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ",
    );
    update.guard().push(") AND EXISTS (SELECT 1 FROM api_keys WHERE id = ").text(id).push(")");
    [insert.finish(), update.finish()]
}

/// Revokes a key, unless it was revoked before. A trigger revokes what was created with it.
#[must_use]
pub fn revoke(guard: &Guard<'_>, id: &str, now: u64) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("UPDATE api_keys SET revoked_at = ").integer(now).push(" WHERE id = ").text(id);
    sql.push(" AND revoked_at IS NULL AND (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ");
    sql.guard().push(")");
    sql.finish()
}
