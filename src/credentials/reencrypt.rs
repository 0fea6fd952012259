//! Re-encryption with the first key of `VAULT_KEYS`, after which an old key can be removed.
//!
//! # Why rows and not keys
//!
//! Many systems encrypt data with keys that a master key wraps, and rotate by wrapping these keys
//! again. Here each row is encrypted with a key that is derived from the operator's key (see
//! [`super::seal`]). There is no wrapped key to store, to cache or to lose. The price is that a
//! rotation has to write each row once. It does so in the background, a few rows a minute, or all
//! together by `vault-keys reseal`.
//!
//! # Why no cursor
//!
//! Nothing is stored between two runs: the index on `sealed_key` finds the rows that still have an
//! old key. If a run crashes halfway, the next run does the remaining work.
//!
//! # Concurrent writes
//!
//! A write names the ciphertext that was read, and changes no other column. If a refresh or an
//! import has replaced the row in the meantime, the write changes nothing, and the newer row is
//! already encrypted with the first key. If a refresh reads the row before the re-encryption and
//! writes it afterwards, its write succeeds, because it names the row's version, and re-encryption
//! does not change the version. So neither waits for the other.
//!
//! # Which rows
//!
//! Connect attempts are skipped: they expire within minutes, and an old key must be kept longer
//! than that anyway. Agents' calls expire as fast, but an approved call has been made, and its
//! response must not be lost. A row that no key opens is counted as damaged and skipped, so that it
//! can't stop the rotation. Before the first row is written, all running services must have the new
//! key, see [`super::reports`].

use serde::Deserialize;

use super::{Kind, SealContext, Sealed, VaultKeys};
use crate::ports::{Db, Param, Random, Statement, StorageError};
use crate::terms::Environment;

/// The tables with rows to re-encrypt. Each entry has the table, its key columns within an account
/// and environment, and the kind of its rows. The values of the key columns, joined by slashes, are
/// the id of a row. Tokens that wait for revocation are encrypted like the credentials of their
/// connection.
const TABLES: [(&str, &[&str], Kind); 7] = [
    ("credentials", &["connection_id"], Kind::Connection),
    ("oauth_clients", &["platform", "name"], Kind::OauthClient),
    ("revocations", &["connection_id"], Kind::Connection),
    ("webhooks", &["id"], Kind::Webhook),
    ("agent_endpoints", &["id"], Kind::AgentSignIn),
    // An environment of an account has at most one sign-in.
    ("console_sign_ins", &["environment"], Kind::ConsoleSignIn),
    ("agent_approvals", &["id"], Kind::AgentApproval),
];

/// The maximum number of times that a run selects more rows because it has found damaged ones.
const MAX_SELECTS_PER_RUN: u32 = 10;

/// The result of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows that were re-encrypted.
    pub reencrypted: u64,
    /// Rows that no key can open, although they name one of the keys.
    pub damaged: u64,
    /// Whether no rows remain to be re-encrypted.
    pub is_done: bool,
}

#[derive(Deserialize)]
struct Row {
    account: String,
    environment: Environment,
    id: String,
    sealed: String,
}

/// The rows of one table under one key.
struct Source<'a> {
    key: &'a str,
    table: (&'static str, &'static [&'static str], Kind),
    /// The number of damaged rows to skip at the start.
    damaged: u64,
}

/// The SQL expression for a row's id.
fn id(key: &[&str]) -> String {
    key.join(" || '/' || ")
}

impl Source<'_> {
    fn select(&self, limit: u64) -> Statement {
        let (table, key, _) = self.table;
        let (id, order) = (id(key), key.join(", "));
        let sql = format!(
            "SELECT account, environment, {id} AS id, sealed \
             FROM {table} \
             WHERE sealed_key = ?1 AND account NOT IN (SELECT account FROM away) \
             ORDER BY sealed_key, account, environment, {order} \
             LIMIT ?2 OFFSET ?3"
        );
        let (limit, offset) = (Param::integer(limit), Param::integer(self.damaged));
        Statement { sql: sql.into(), params: vec![Param::text(self.key), limit, offset] }
    }

    fn replace(&self, row: &Row, new: &Sealed) -> Statement {
        let (table, key, _) = self.table;
        let id = id(key);
        let sql = format!(
            "UPDATE {table} SET sealed = ?5 WHERE account = ?1 AND environment = ?2 AND {id} = ?3 AND sealed = ?4"
        );
        let texts = [&row.account, row.environment.as_str(), &row.id, &row.sealed, new.as_str()];
        Statement { sql: sql.into(), params: texts.map(Param::text).into() }
    }
}

/// Re-encrypts up to `limit` rows. With only one key, reads nothing.
pub async fn reencrypt<P: Db + Random>(
    ports: &P,
    keys: &VaultKeys,
    limit: u64,
) -> Result<Progress, StorageError> {
    let mut progress = Progress::default();
    let old_keys = keys.ids().skip(1);
    let mut sources: Vec<Source<'_>> =
        old_keys.flat_map(|key| TABLES.map(|table| Source { key, table, damaged: 0 })).collect();
    progress.is_done = sources.is_empty();
    for _ in 0..MAX_SELECTS_PER_RUN {
        let mut remaining = limit.saturating_sub(progress.reencrypted);
        if remaining == 0 || sources.is_empty() {
            break;
        }
        let sets =
            ports.batch(sources.iter().map(|source| source.select(remaining)).collect()).await?;
        let (mut writes, damaged) = (Vec::new(), progress.damaged);
        for (source, set) in sources.iter_mut().zip(&sets) {
            for row in set.rows::<Row>()? {
                if remaining == 0 {
                    break;
                }
                let Row { account, environment, id, sealed } = &row;
                let (environment, (_, _, kind)) = (*environment, source.table);
                let context = SealContext { account, environment, kind, id };
                let Ok(plain) = keys.open(&context, &Sealed::from(sealed.clone())) else {
                    source.damaged = source.damaged.saturating_add(1);
                    progress.damaged = progress.damaged.saturating_add(1);
                    continue;
                };
                let new = keys.seal(&context, &plain, ports);
                let new = new.map_err(|error| StorageError::new(format!("sealing: {error}")))?;
                writes.push(source.replace(&row, &new));
                remaining = remaining.saturating_sub(1);
            }
        }
        if !writes.is_empty() {
            let count = writes.len() as u64;
            ports.batch(writes).await?;
            progress.reencrypted = progress.reencrypted.saturating_add(count);
        }
        // Damaged rows count towards the limit of a select, so others may follow them.
        if progress.damaged == damaged {
            progress.is_done = remaining > 0;
            break;
        }
    }
    Ok(progress)
}
