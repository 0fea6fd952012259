//! The SQL of the commands for API keys.

use std::collections::BTreeSet;

use anyhow::Result;
use serde::Deserialize;

use crate::operator::d1::Database;
use crate::operator::shards::Shards;
use crate::operator::sql::{Number, StringLiteral};
use crate::operator::time::Moment;

/// A row of `api_keys`, without the hash.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Row {
    /// A UUID.
    pub id: String,
    pub account: String,
    /// `test` or `live`.
    pub environment: String,
    /// Separated by spaces.
    pub scopes: String,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: i64,
    /// Milliseconds since 1970-01-01 UTC; `None`: never.
    pub expires_at: Option<i64>,
    /// Milliseconds since 1970-01-01 UTC; `None`: not revoked.
    pub revoked_at: Option<i64>,
}

const COLUMNS: &str = "id, account, environment, scopes, created_at, expires_at, revoked_at";

impl Row {
    /// `active`, `revoked` or `expired`.
    pub fn state(&self, now: Moment) -> &'static str {
        if self.revoked_at.is_some() {
            "revoked"
        } else if self.expires_at.is_some_and(|expiry| expiry <= now.millis()) {
            "expired"
        } else {
            "active"
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeyWithUsage {
    #[serde(flatten)]
    pub row: Row,
    /// Days since 1970-01-01 UTC; `None`: no recorded use.
    pub last_used_day: Option<i64>,
    /// The id of the key that replaced this one in a rotation.
    pub replaced_by: Option<String>,
    /// Whether the key's secret contains the number of a database that the account has left.
    #[serde(skip)]
    pub is_forwarded: bool,
}

const USAGE_COLUMNS: &str = "last_used_day, replaced_by";

fn insert(row: &Row, hash: &str) -> String {
    format!(
        "INSERT INTO api_keys (hash, {COLUMNS}) VALUES ({}, {}, {}, {}, {}, {}, {}, NULL)",
        StringLiteral(hash),
        StringLiteral(&row.id),
        StringLiteral(&row.account),
        StringLiteral(&row.environment),
        StringLiteral(&row.scopes),
        row.created_at,
        Number(row.expires_at),
    )
}

/// The SQL that selects keys, oldest first.
fn select(account: Option<&str>) -> String {
    let filter = account
        .map(|account| format!(" AND account = {}", StringLiteral(account)))
        .unwrap_or_default();
    format!(
        "SELECT {COLUMNS}, {USAGE_COLUMNS} FROM api_keys WHERE account NOT IN (SELECT account FROM account_moves WHERE step IN ('left', 'arriving')){filter} ORDER BY created_at, id"
    )
}

fn find(id: &str) -> String {
    format!("SELECT {COLUMNS}, {USAGE_COLUMNS} FROM api_keys WHERE id = {}", StringLiteral(id))
}

/// The SQL that replaces a key if it has not changed since it was read. The first statement returns
/// the new row, the second the old one. D1 runs both in one transaction; if the first changes
/// nothing, neither does the second.
fn replace(replacement: &Replacement<'_>) -> [String; 2] {
    let Replacement { old, new, hash, old_key_expires_at } = *replacement;
    let (id, new_id, now) = (StringLiteral(&old.id), StringLiteral(&new.id), new.created_at);
    let expiry = Number(old.expires_at);
    let end = match old_key_expires_at {
        Some(end) => format!("expires_at = {}", end.millis()),
        None => format!("revoked_at = {now}"),
    };
    let valid = format!(
        "id = {id} AND revoked_at IS NULL AND replaced_by IS NULL AND expires_at IS {expiry} AND (expires_at IS NULL OR expires_at > {now})"
    );
    [
        format!(
            "INSERT INTO api_keys (hash, {COLUMNS}) SELECT {}, {new_id}, account, environment, scopes, {now}, {}, NULL FROM api_keys WHERE {valid} RETURNING {COLUMNS}",
            StringLiteral(hash),
            Number(new.expires_at),
        ),
        format!(
            "UPDATE api_keys SET {end}, replaced_by = {new_id} WHERE {valid} AND EXISTS (SELECT 1 FROM api_keys WHERE id = {new_id}) RETURNING {COLUMNS}"
        ),
    ]
}

#[derive(Debug, Clone, Copy)]
pub struct Replacement<'a> {
    /// The row of the old key as it was read.
    pub old: &'a Row,
    /// The row of the new key, which must have the account, environment and scopes of the old key.
    pub new: &'a Row,
    /// The SHA-256 of the new key's secret, in hexadecimal.
    pub hash: &'a str,
    /// When the old key expires; `None` to revoke it immediately.
    pub old_key_expires_at: Option<Moment>,
}

/// The SQL that revokes a key. The first statement returns the row only if it has revoked the key;
/// the second always returns the row.
fn revoke(id: &str, now: Moment) -> [String; 2] {
    let id = StringLiteral(id);
    let now = now.millis();
    [
        format!(
            "UPDATE api_keys SET revoked_at = {now} WHERE id = {id} AND revoked_at IS NULL RETURNING {COLUMNS}"
        ),
        format!("SELECT {COLUMNS} FROM api_keys WHERE id = {id}"),
    ]
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revoked {
    /// The key was active and is now revoked.
    Now(Row),
    /// The key had already been revoked.
    Before(Row),
    /// No key has this id.
    Unknown,
}

#[derive(Debug)]
pub struct KeyTable(pub Database);

impl KeyTable {
    /// Inserts a key. `hash` is the SHA-256 of its secret, in hexadecimal.
    pub fn insert(&self, row: &Row, hash: &str) -> Result<()> {
        self.0.change(&[insert(row, hash)]).map(drop)
    }

    /// Lists the keys of all databases, or of one account, oldest first.
    pub fn list(shards: &Shards, account: Option<&str>) -> Result<Vec<KeyWithUsage>> {
        #[derive(Deserialize)]
        struct Forward {
            name: String,
        }
        let mut keys: Vec<KeyWithUsage> = shards.rows(&select(account))?;
        let forwards: Vec<Forward> = shards.rows("SELECT name FROM forwards WHERE is_key = 1")?;
        let forwarded: BTreeSet<String> = forwards.into_iter().map(|row| row.name).collect();
        for key in &mut keys {
            key.is_forwarded = forwarded.contains(&key.row.id);
        }
        keys.sort_by(|a, b| (a.row.created_at, &a.row.id).cmp(&(b.row.created_at, &b.row.id)));
        Ok(keys)
    }

    /// Finds a key by its id. Also returns its table.
    pub fn find(shards: &Shards, id: &str) -> Result<Option<(Self, KeyWithUsage)>> {
        for database in &shards.0 {
            if let Some(key) = database.query(&[find(id)])?.rows(0)?.pop() {
                return Ok(Some((Self(database.clone()), key)));
            }
        }
        Ok(None)
    }

    /// Replaces a key and returns the new and the old row. Changes nothing and returns `None` if
    /// the old key has changed since it was read.
    pub fn replace(&self, replacement: &Replacement<'_>) -> Result<Option<(Row, Row)>> {
        let results = self.0.change(&replace(replacement))?;
        Ok(results.rows(0)?.pop().zip(results.rows(1)?.pop()))
    }

    /// Revokes a key in the database that contains it.
    pub fn revoke(shards: &Shards, id: &str, now: Moment) -> Result<Revoked> {
        for database in &shards.0 {
            let results = database.change(&revoke(id, now))?;
            if let Some(row) = results.rows(0)?.pop() {
                return Ok(Revoked::Now(row));
            }
            if let Some(row) = results.rows(1)?.pop() {
                return Ok(Revoked::Before(row));
            }
        }
        Ok(Revoked::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::schema::database;

    fn row(id: &str, account: &str, created_at: i64) -> Row {
        Row {
            id: id.into(),
            account: account.into(),
            environment: "test".into(),
            scopes: "catalog:read connections:read".into(),
            created_at,
            expires_at: None,
            revoked_at: None,
        }
    }

    fn read(db: &rusqlite::Connection, sql: &str) -> Vec<Row> {
        let mut statement = db.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| {
            Ok(Row {
                id: row.get(0)?,
                account: row.get(1)?,
                environment: row.get(2)?,
                scopes: row.get(3)?,
                created_at: row.get(4)?,
                expires_at: row.get(5)?,
                revoked_at: row.get(6)?,
            })
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn lists_keys_oldest_first() {
        let db = database();
        let newer = Row { expires_at: Some(99), ..row("b", "o'hara", 2) };
        db.execute_batch(&insert(&newer, &"b".repeat(64))).unwrap();
        db.execute_batch(&insert(&row("a", "acme", 1), &"a".repeat(64))).unwrap();
        assert_eq!(read(&db, &select(None)), [row("a", "acme", 1), newer.clone()]);
        assert_eq!(read(&db, &select(Some("o'hara"))), [newer]);
        assert!(read(&db, &select(Some("nobody"))).is_empty());
    }

    #[test]
    fn a_key_is_revoked_once() {
        let db = database();
        db.execute_batch(&insert(&row("a", "acme", 1), &"a".repeat(64))).unwrap();
        let [update, lookup] = revoke("a", Moment::from_millis(5));
        let revoked = Row { revoked_at: Some(5), ..row("a", "acme", 1) };
        assert_eq!(read(&db, &update), std::slice::from_ref(&revoked));
        assert_eq!(read(&db, &lookup), std::slice::from_ref(&revoked));
        let again = revoke("a", Moment::from_millis(9));
        assert!(read(&db, &again[0]).is_empty());
        assert_eq!(read(&db, &select(None)), [revoked]);
        let unknown = revoke("z", Moment::from_millis(9));
        assert!(read(&db, &unknown[1]).is_empty());
    }

    #[test]
    fn parses_rows_of_the_list() {
        let json = serde_json::json!({
            "id": "a", "account": "acme", "environment": "test", "scopes": "catalog:read connections:read",
            "created_at": 1, "expires_at": null, "revoked_at": null,
            "last_used_day": 20779, "replaced_by": "b",
        });
        let listed = KeyWithUsage {
            row: row("a", "acme", 1),
            last_used_day: Some(20_779),
            replaced_by: Some("b".into()),
            is_forwarded: false,
        };
        assert_eq!(serde_json::from_value::<KeyWithUsage>(json).unwrap(), listed);
    }

    #[test]
    fn list_contains_uses_and_replacements() {
        let db = database();
        db.execute_batch(&insert(&row("a", "acme", 1), &"a".repeat(64))).unwrap();
        let read = || {
            let mut statement = db.prepare(&find("a")).unwrap();
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(7)?, row.get(8)?));
            statement.query_row([], row).unwrap()
        };
        assert_eq!(read(), (None, None));
        db.execute_batch("UPDATE api_keys SET last_used_day = 2, replaced_by = 'b'").unwrap();
        assert_eq!(read(), (Some(2), Some("b".to_owned())));
    }

    /// Replaces the key `a` by `b` at time 100. Returns the rows from each statement.
    fn replaced(
        db: &rusqlite::Connection,
        old: &Row,
        old_key_expires_at: Option<i64>,
    ) -> (Vec<Row>, Vec<Row>) {
        let new = Row { id: "b".into(), created_at: 100, expires_at: Some(900), ..old.clone() };
        let old_key_expires_at = old_key_expires_at.map(Moment::from_millis);
        let [insert, update] =
            replace(&Replacement { old, new: &new, hash: &"b".repeat(64), old_key_expires_at });
        (read(db, &insert), read(db, &update))
    }

    #[test]
    fn replacement_keeps_the_permissions() {
        for (expires_at, old_key_expires_at) in
            [(None, Some(200)), (Some(500), Some(200)), (None, None), (Some(500), None)]
        {
            let db = database();
            let old = Row { environment: "live".into(), expires_at, ..row("a", "o'hara", 1) };
            db.execute_batch(&insert(&old, &"a".repeat(64))).unwrap();
            db.execute_batch(&insert(&row("z", "acme", 2), &"c".repeat(64))).unwrap();
            let new = Row { id: "b".into(), created_at: 100, expires_at: Some(900), ..old.clone() };
            let ended = match old_key_expires_at {
                Some(_) => Row { expires_at: old_key_expires_at, ..old.clone() },
                None => Row { revoked_at: Some(100), ..old.clone() },
            };
            assert_eq!(
                replaced(&db, &old, old_key_expires_at),
                (vec![new.clone()], vec![ended.clone()])
            );
            assert_eq!(read(&db, &select(None)), [ended, row("z", "acme", 2), new]);
            let by = "SELECT group_concat(id || replaced_by) FROM api_keys";
            assert_eq!(db.query_row(by, [], |row| row.get::<_, String>(0)).unwrap(), "ab");
        }
    }

    #[test]
    fn does_not_replace_changed_key() {
        for change in [
            "DELETE FROM api_keys",
            "UPDATE api_keys SET revoked_at = 50",
            "UPDATE api_keys SET expires_at = 400",
            "UPDATE api_keys SET expires_at = NULL",
            "UPDATE api_keys SET replaced_by = 'c'",
        ] {
            let db = database();
            let old = Row { expires_at: Some(500), ..row("a", "acme", 1) };
            db.execute_batch(&insert(&old, &"a".repeat(64))).unwrap();
            db.execute_batch(change).unwrap();
            let before = read(&db, &select(None));
            assert_eq!(replaced(&db, &old, Some(200)), (vec![], vec![]), "{change}");
            assert_eq!(read(&db, &select(None)), before, "{change}");
        }
        // A key that has since expired, or that does not exist, is not replaced either.
        let db = database();
        let old = Row { expires_at: Some(100), ..row("a", "acme", 1) };
        assert_eq!(replaced(&db, &old, Some(200)), (vec![], vec![]));
        db.execute_batch(&insert(&old, &"a".repeat(64))).unwrap();
        assert_eq!(replaced(&db, &old, Some(200)), (vec![], vec![]));
        assert_eq!(read(&db, &select(None)), [old]);
    }

    #[test]
    fn state_follows_from_expiry_and_revocation() {
        let now = Moment::from_millis(10);
        assert_eq!(row("a", "acme", 1).state(now), "active");
        assert_eq!(Row { expires_at: Some(11), ..row("a", "acme", 1) }.state(now), "active");
        assert_eq!(Row { expires_at: Some(10), ..row("a", "acme", 1) }.state(now), "expired");
        assert_eq!(
            Row { expires_at: Some(5), revoked_at: Some(4), ..row("a", "acme", 1) }.state(now),
            "revoked"
        );
    }
}
