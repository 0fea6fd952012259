//! The SQL of API keys.

use super::{MAX_KEYS, MAX_ROTATED_KEYS, OVERLAP_MS};
use crate::auth::key::ApiKey;
use crate::auth::statements::Guard;
use crate::connections::statements::sql::Sql;
use crate::ports::{Param, Statement};
use crate::terms::Scopes;

/// The columns of [`super::Key`].
const COLUMNS: &str = "o.id, o.name, o.scopes, o.created_at, o.expires_at, o.revoked_at, o.last_used_day, o.replaced_by, o.created_by";

/// Joins the caller's key `k` with the keys `o` of its tenant.
const FROM_KEYS_OF_CALLER: &str = "FROM api_keys k CROSS JOIN api_keys o ON o.account = k.account AND o.environment = k.environment";

/// Adds the condition that the caller has every scope in a space-separated list, including scopes
/// that this release does not know. For a token, both the token and its key must have them.
/// `push_list` adds the list.
fn push_has_all_scopes(sql: &mut Sql<'_>, guard: &Guard<'_>, push_list: impl Fn(&mut Sql<'_>)) {
    let scope_sources = [None].into_iter().chain(guard.signed_scopes.map(Some));
    for token_scopes in scope_sources {
        sql.push(" AND NOT EXISTS (SELECT 1 FROM json_each('[\"' || replace(");
        push_list(sql);
        sql.push(", ' ', '\",\"') || '\"]') s WHERE instr(' ' || ");
        match token_scopes {
            None => sql.push("k.scopes"),
            Some(scopes) => sql.text(&scopes.to_string()),
        };
        sql.push(" || ' ', ' ' || s.value || ' ') = 0)");
    }
}

/// Selects a page of keys, newest first, that follow the key `before`.
pub fn select_page(guard: &Guard<'_>, before: Option<&str>, limit: u64) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ").push(COLUMNS).push(" ").push(FROM_KEYS_OF_CALLER).push(" WHERE ").guard();
    if let Some(before) = before {
        sql.push(" AND (o.created_at, o.id) < (SELECT b.created_at, b.id FROM api_keys b WHERE b.account = k.account AND b.environment = k.environment AND b.id = ").text(before);
        sql.push(")");
    }
    sql.push(" ORDER BY o.created_at DESC, o.id DESC LIMIT ").integer(limit);
    sql.finish()
}

pub fn select(guard: &Guard<'_>, id: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ")
        .push(COLUMNS)
        .push(" ")
        .push(FROM_KEYS_OF_CALLER)
        .push(" AND o.id = ")
        .text(id);
    sql.push(" WHERE ").guard();
    sql.finish()
}

#[derive(Debug)]
pub struct NewKey<'a> {
    pub id: &'a str,
    /// The key itself. Only its hash is stored.
    pub key: &'a ApiKey,
    pub name: Option<&'a str>,
    pub scopes: Scopes,
    /// Milliseconds since 1970-01-01 UTC; `None` for the expiry of the caller's key.
    pub expires_at: Option<u64>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// Inserts a key. Inserts nothing if the caller's key lacks one of the scopes or expires earlier,
/// or if [`MAX_KEYS`] valid keys exist.
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
    push_has_all_scopes(&mut sql, guard, |sql| {
        sql.text(&scopes);
    });
    push_fewer_valid_keys(&mut sql, MAX_KEYS, new.now);
    sql.push(" ON CONFLICT DO NOTHING");
    sql.finish()
}

/// Adds the condition that the caller's tenant has fewer than `limit` valid keys.
fn push_fewer_valid_keys(sql: &mut Sql<'_>, limit: u64, now: u64) {
    sql.push(" AND (SELECT count(*) FROM api_keys v WHERE v.account = k.account AND v.environment = k.environment AND v.revoked_at IS NULL AND (v.expires_at IS NULL OR v.expires_at > ").integer(now);
    sql.push(")) < ").integer(limit);
}

/// Replaces the key `old` with a key that has the same scopes. The new key expires when the old key
/// or the caller's key does, whichever is first. The old key expires after [`OVERLAP_MS`]. Changes
/// nothing if the old key is invalid or already replaced, or has a scope that the caller's key
/// lacks, or if [`MAX_ROTATED_KEYS`] valid keys exist.
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
    // In SQLite, `min` of a number and NULL is NULL.
    insert.push(", min(ifnull(o.expires_at, k.expires_at), ifnull(k.expires_at, o.expires_at)), ");
    // If the old key created the caller's key, directly or indirectly, the new key gets the old
    // key's parent. Otherwise the two keys would be each other's parents, and revoking their common
    // ancestor would not reach them.
    insert.push("iif(o.id IN (WITH RECURSIVE own (id) AS (SELECT k.id UNION SELECT a.created_by FROM own CROSS JOIN api_keys a ON a.id = own.id) SELECT id FROM own), o.created_by, k.id) ");
    insert.push(FROM_KEYS_OF_CALLER).push(" AND o.id = ").text(old).push(" WHERE ").guard();
    insert.push(" AND o.replaced_by IS NULL AND o.revoked_at IS NULL AND (o.expires_at IS NULL OR o.expires_at > ");
    insert.integer(now).push(")");
    push_has_all_scopes(&mut insert, guard, |sql| {
        sql.push("o.scopes");
    });
    push_fewer_valid_keys(&mut insert, MAX_ROTATED_KEYS, now);
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

/// Revokes a key. A trigger also revokes the keys and grants that the key created.
pub fn revoke(guard: &Guard<'_>, id: &str, now: u64) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("UPDATE api_keys SET revoked_at = ").integer(now).push(" WHERE id = ").text(id);
    sql.push(" AND revoked_at IS NULL AND (account, environment) IN (SELECT k.account, k.environment FROM api_keys k WHERE ");
    sql.guard().push(")");
    sql.finish()
}
