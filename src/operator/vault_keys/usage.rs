//! Counts the rows that each key has encrypted. Rows that a moved account left behind do not count,
//! because they are never decrypted. Rows of an arriving account count, because the database can't
//! tell whether the account has already left the source.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::operator::shards::{NOT_MOVED_AWAY, Shards};
use crate::operator::time::Moment;

/// The number of rows that a key has encrypted, by type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyUsage {
    /// Credentials of connections.
    pub connections: u64,
    /// Client secrets of OAuth clients.
    pub oauth_clients: u64,
    /// Connect attempts that have not expired.
    pub attempts: u64,
    /// Credentials of deleted connections that must still be revoked.
    pub revocations: u64,
    /// Signing secrets of webhooks.
    pub webhooks: u64,
    /// Client secrets of agent sign-ins.
    pub agent_sign_ins: u64,
    /// Calls of agents: inputs and responses of approvals, and requests of downloads.
    pub agent_calls: u64,
    /// Client secrets of console sign-ins.
    pub console_sign_ins: u64,
}

impl KeyUsage {
    /// The counts in the order of the columns of `vault-keys status`.
    pub const fn counts(&self) -> [u64; 8] {
        [
            self.connections,
            self.oauth_clients,
            self.attempts,
            self.revocations,
            self.webhooks,
            self.agent_sign_ins,
            self.agent_calls,
            self.console_sign_ins,
        ]
    }

    pub fn rows(&self) -> u64 {
        self.counts().iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The subject and verb of a sentence about the rows that need the key.
    pub fn subject_and_verb(&self) -> String {
        match self.rows() {
            1 => "1 row needs".into(),
            rows => format!("{rows} rows need"),
        }
    }

    fn count(&mut self, table: &str) -> Option<&mut u64> {
        match table {
            "credentials" => Some(&mut self.connections),
            "oauth_clients" => Some(&mut self.oauth_clients),
            "connect_attempts" => Some(&mut self.attempts),
            "revocations" => Some(&mut self.revocations),
            "webhooks" => Some(&mut self.webhooks),
            "agent_endpoints" => Some(&mut self.agent_sign_ins),
            "agent_approvals" => Some(&mut self.agent_calls),
            "console_sign_ins" => Some(&mut self.console_sign_ins),
            _ => None,
        }
    }
}

/// The usage of each key, by key id.
pub type KeyUsages = BTreeMap<String, KeyUsage>;

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct KeyUsageRow {
    kind: String,
    sealed_key: String,
    rows: u64,
}

/// The SQL that counts encrypted rows by table and key.
fn count(now: Moment) -> String {
    let unexpired = format!(" AND expires_at > {}", now.millis());
    let tables = [
        ("credentials", ""),
        ("oauth_clients", ""),
        ("connect_attempts", unexpired.as_str()),
        ("revocations", ""),
        ("webhooks", ""),
        ("agent_endpoints", ""),
        ("agent_approvals", unexpired.as_str()),
        ("console_sign_ins", ""),
    ]
    .map(|(table, condition)| {
        format!(
            "SELECT '{table}' AS kind, sealed_key, count(*) AS rows FROM {table} WHERE sealed IS NOT NULL AND {NOT_MOVED_AWAY}{condition} GROUP BY sealed_key"
        )
    });
    // D1 allows at most five terms in a compound SELECT.
    let parts =
        tables.chunks(3).map(|terms| format!("SELECT * FROM ({})", terms.join(" UNION ALL ")));
    parts.collect::<Vec<_>>().join(" UNION ALL ")
}

fn sum(rows: Vec<KeyUsageRow>) -> KeyUsages {
    let mut needs = KeyUsages::new();
    for KeyUsageRow { kind, sealed_key, rows } in rows {
        if let Some(count) = needs.entry(sealed_key).or_default().count(&kind) {
            *count = count.saturating_add(rows);
        }
    }
    needs
}

/// Counts the rows that each key has encrypted in all databases.
pub fn key_usages(shards: &Shards, now: Moment) -> Result<KeyUsages> {
    Ok(sum(shards.rows(&count(now))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_rows_are_counted_by_table_and_key() {
        let db = crate::operator::schema::database();
        let credentials = |id: &str, sealed: &str| {
            format!(
                "INSERT INTO credentials (account, environment, connection_id, auth_method, type, sealed, version, refreshable, revocable, scopes, missing_scopes, written_by) VALUES ('acme', 'test', '{id}', 'm', 'oauth2', '{sealed}', 1, 1, 1, '[]', '[]', 'r')"
            )
        };
        let client = |platform: &str, sealed: &str| {
            format!(
                "INSERT INTO oauth_clients (account, environment, platform, client_id, sealed, scopes, authorization_parameters, variables, created_at, updated_at) VALUES ('acme', 'test', '{platform}', 'c', {sealed}, '[]', '{{}}', '{{}}', 1, 1)"
            )
        };
        let attempt = |id: char, sealed: &str, expires_at: u32| {
            let id = id.to_string().repeat(36);
            format!(
                "INSERT INTO connect_attempts (id, account, environment, key_id, status, connection_id, reconnects, allow_other_account, platform, platform_version, description, auth_method, identity, identity_type, label, scopes, link_hash, state_hash, sealed, created_at, expires_at) VALUES ('{id}', 'acme', 'test', 'k', 'pending', 'c', 0, 0, 'p', 'v1', 'd', 'm', 'ann', 'user', 'default', '[]', '{id}', '{id}', {sealed}, 1, {expires_at})"
            )
        };
        for sql in [
            credentials("a", "new.x"),
            credentials("b", "old.x"),
            credentials("c", "old.y.z"),
            client("p", "'old.x'"),
            client("without", "NULL"),
            attempt('a', "'new.x'", 11),
            attempt('b', "'old.x'", 10),
            attempt('c', "NULL", 11),
            "INSERT INTO revocations (account, environment, connection_id, platform, auth_method, sealed, created_at) VALUES ('acme', 'test', 'd', 'p', 'm', 'older.x', 1)".into(),
            "INSERT INTO webhooks (account, environment, id, url, types, active, sealed, created_at, updated_at, written_by) VALUES ('acme', 'test', 'w', 'u', '[]', 1, 'older.x', 1, 1, 'r')".into(),
        ] {
            db.execute_batch(&sql).unwrap();
        }
        let needs = || {
            let mut statement = db.prepare(&count(Moment::from_millis(10))).unwrap();
            let rows = statement
                .query_map([], |row| {
                    Ok(KeyUsageRow {
                        kind: row.get(0)?,
                        sealed_key: row.get(1)?,
                        rows: row.get::<_, u32>(2)?.into(),
                    })
                })
                .unwrap();
            sum(rows.map(Result::unwrap).collect())
        };
        let expected = [
            ("new", KeyUsage { connections: 1, attempts: 1, ..KeyUsage::default() }),
            ("old", KeyUsage { connections: 2, oauth_clients: 1, ..KeyUsage::default() }),
            ("older", KeyUsage { revocations: 1, webhooks: 1, ..KeyUsage::default() }),
        ];
        let expected: KeyUsages = expected.map(|(id, need)| (id.to_owned(), need)).into();
        assert_eq!(needs(), expected);
        assert_eq!(needs().values().map(KeyUsage::rows).collect::<Vec<_>>(), [2, 3, 2]);

        let moves = |step: &str, left_at: &str| {
            let sql = format!(
                "INSERT OR REPLACE INTO account_moves (account, step, other, began_at, left_at) VALUES ('acme', '{step}', 1, 1, {left_at})"
            );
            db.execute_batch(&sql).unwrap();
        };
        moves("arriving", "NULL");
        assert_eq!(needs(), expected);
        moves("left", "2");
        assert_eq!(needs(), KeyUsages::new());
    }
}
