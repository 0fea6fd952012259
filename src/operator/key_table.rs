//! The table of API keys (`migrations/0001_api_keys.sql`).

use anyhow::Result;
use serde::Deserialize;

use super::d1::Database;
use super::sql::{Number, Text};
use super::when::Moment;

/// A key as the table has it; without the hash, which nobody needs to see.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Row {
    /// UUID.
    pub id: String,
    /// The account that the key belongs to.
    pub account: String,
    /// `test` or `live`.
    pub environment: String,
    /// Space-separated.
    pub scopes: String,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: i64,
    /// As above; none when the key does not expire.
    pub expires_at: Option<i64>,
    /// As above; none when the key was not revoked.
    pub revoked_at: Option<i64>,
}

const COLUMNS: &str = "id, account, environment, scopes, created_at, expires_at, revoked_at";

impl Row {
    /// Whether the key can be used at this moment, or why not.
    #[must_use]
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

/// The SQL that adds a key.
fn insert(row: &Row, hash: &str) -> String {
    format!(
        "INSERT INTO api_keys (hash, {COLUMNS}) VALUES ({}, {}, {}, {}, {}, {}, {}, NULL)",
        Text(hash),
        Text(&row.id),
        Text(&row.account),
        Text(&row.environment),
        Text(&row.scopes),
        row.created_at,
        Number(row.expires_at),
    )
}

/// The SQL that lists keys, oldest first.
fn select(account: Option<&str>) -> String {
    let filter =
        account.map(|account| format!(" WHERE account = {}", Text(account))).unwrap_or_default();
    format!("SELECT {COLUMNS} FROM api_keys{filter} ORDER BY created_at, id")
}

/// The SQL that revokes a key: first the row when this did it, then the row when there is one.
fn revoke(id: &str, now: Moment) -> String {
    let id = Text(id);
    let now = now.millis();
    format!(
        "UPDATE api_keys SET revoked_at = {now} WHERE id = {id} AND revoked_at IS NULL RETURNING {COLUMNS}; \
         SELECT {COLUMNS} FROM api_keys WHERE id = {id}"
    )
}

/// What came of revoking a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revoked {
    /// It was active and is revoked now.
    Now(Row),
    /// Somebody did it before.
    Before(Row),
    /// There is no such key.
    Unknown,
}

/// The table.
#[derive(Debug, Clone)]
pub struct KeyTable(pub Database);

impl KeyTable {
    /// Adds a key by the SHA-256 of its secret, in hexadecimal.
    ///
    /// # Errors
    /// When wrangler fails.
    pub fn insert(&self, row: &Row, hash: &str) -> Result<()> {
        self.0.query(&insert(row, hash)).map(drop)
    }

    /// All keys, or one account's, oldest first.
    ///
    /// # Errors
    /// When wrangler fails.
    pub fn list(&self, account: Option<&str>) -> Result<Vec<Row>> {
        self.0.query(&select(account))?.rows(0)
    }

    /// Revokes a key.
    ///
    /// # Errors
    /// When wrangler fails.
    pub fn revoke(&self, id: &str, now: Moment) -> Result<Revoked> {
        let answers = self.0.query(&revoke(id, now))?;
        if let Some(row) = answers.rows(0)?.pop() {
            return Ok(Revoked::Now(row));
        }
        Ok(answers.rows(1)?.pop().map_or(Revoked::Unknown, Revoked::Before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database() -> rusqlite::Connection {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("../../migrations/0001_api_keys.sql")).unwrap();
        db
    }

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
    fn what_is_inserted_is_listed_oldest_first() {
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
        let sql = revoke("a", Moment::from_millis(5));
        let (update, lookup) = sql.split_once("; ").unwrap();
        let revoked = Row { revoked_at: Some(5), ..row("a", "acme", 1) };
        assert_eq!(read(&db, update), std::slice::from_ref(&revoked));
        assert_eq!(read(&db, lookup), std::slice::from_ref(&revoked));
        let again = revoke("a", Moment::from_millis(9));
        assert!(read(&db, again.split_once("; ").unwrap().0).is_empty());
        assert_eq!(read(&db, &select(None)), [revoked]);
        let unknown = revoke("z", Moment::from_millis(9));
        assert!(read(&db, unknown.split_once("; ").unwrap().1).is_empty());
    }

    #[test]
    fn a_key_says_what_state_it_is_in() {
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
