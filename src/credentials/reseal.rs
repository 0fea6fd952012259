//! Sealing anew, with the first key, what another one has sealed: so that a new key protects everything that is stored,
//! and an old one can be removed.
//!
//! Nothing is remembered between two runs: what is left is what the index on `sealed_key` finds. A write names the sealed
//! text that was read, and changes nothing else of the row. So whoever renews or replaces it meanwhile wins, and their own
//! write, which names the row's version, still succeeds. An attempt to connect ends within minutes and is left as it is.

use serde::Deserialize;

use super::{Kind, Place, Sealed, VaultKeys};
use crate::ports::{Db, Param, Random, Statement, StorageError};
use crate::terms::Environment;

/// What is sealed for long: a table, the column that tells the rows of an account and environment apart, and the kind of
/// what they hold. What is to be revoked is still sealed as the credentials of its connection.
const TABLES: [(&str, &str, Kind); 5] = [
    ("credentials", "connection_id", Kind::Connection),
    ("oauth_clients", "platform", Kind::OauthClient),
    ("revocations", "connection_id", Kind::Connection),
    ("webhooks", "id", Kind::Webhook),
    ("agent_endpoints", "id", Kind::AgentSignIn),
];

/// How often a run looks for more when it has found damaged rows.
const LOOKS: u32 = 10;

/// What a run has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows that it has sealed anew.
    pub resealed: u64,
    /// Rows that none of the keys opens, although they name one of them.
    pub damaged: u64,
    /// Whether nothing else was left.
    pub is_done: bool,
}

#[derive(Deserialize)]
struct Row {
    account: String,
    environment: Environment,
    id: String,
    sealed: String,
}

/// One table's rows of one key.
struct Source<'a> {
    key: &'a str,
    of: (&'static str, &'static str, Kind),
    /// The damaged rows at its beginning, which stay.
    damaged: u64,
}

impl Source<'_> {
    fn select(&self, limit: u64) -> Statement {
        let (table, id, _) = self.of;
        let sql = format!(
            "SELECT account, environment, {id} AS id, sealed FROM {table} WHERE sealed_key = ?1 AND account NOT IN (SELECT account FROM away) ORDER BY sealed_key, account, environment, {id} LIMIT ?2 OFFSET ?3"
        );
        let (limit, offset) = (Param::integer(limit), Param::integer(self.damaged));
        Statement { sql: sql.into(), params: vec![Param::text(self.key), limit, offset] }
    }

    fn replace(&self, row: &Row, new: &Sealed) -> Statement {
        let (table, id, _) = self.of;
        let sql = format!(
            "UPDATE {table} SET sealed = ?5 WHERE account = ?1 AND environment = ?2 AND {id} = ?3 AND sealed = ?4"
        );
        let texts = [&row.account, row.environment.as_str(), &row.id, &row.sealed, new.as_str()];
        Statement { sql: sql.into(), params: texts.map(Param::text).into() }
    }
}

/// Seals up to `limit` rows anew. Reads as many rows as it finds to do, and none with only one key.
///
/// # Errors
/// When storage can't answer, or there is no key that seals. What was sealed anew by then stays.
pub async fn reseal<P: Db + Random>(
    ports: &P,
    keys: &VaultKeys,
    limit: u64,
) -> Result<Progress, StorageError> {
    let mut progress = Progress::default();
    let others = keys.ids().skip(1);
    let mut sources: Vec<Source<'_>> =
        others.flat_map(|key| TABLES.map(|of| Source { key, of, damaged: 0 })).collect();
    progress.is_done = sources.is_empty();
    for _ in 0..LOOKS {
        let mut left = limit.saturating_sub(progress.resealed);
        if left == 0 || sources.is_empty() {
            break;
        }
        let sets = ports.batch(sources.iter().map(|source| source.select(left)).collect()).await?;
        let (mut writes, damaged) = (Vec::new(), progress.damaged);
        for (source, set) in sources.iter_mut().zip(&sets) {
            for row in set.rows::<Row>()? {
                if left == 0 {
                    break;
                }
                let Row { account, environment, id, sealed } = &row;
                let (environment, (_, _, kind)) = (*environment, source.of);
                let place = Place { account, environment, kind, id };
                let Ok(plain) = keys.open(&place, &Sealed::from(sealed.clone())) else {
                    source.damaged = source.damaged.saturating_add(1);
                    progress.damaged = progress.damaged.saturating_add(1);
                    continue;
                };
                let new = keys.seal(&place, &plain, ports);
                let new = new.map_err(|error| StorageError::new(format!("sealing: {error}")))?;
                writes.push(source.replace(&row, &new));
                left = left.saturating_sub(1);
            }
        }
        if !writes.is_empty() {
            let count = writes.len() as u64;
            ports.batch(writes).await?;
            progress.resealed = progress.resealed.saturating_add(count);
        }
        // Behind damaged rows there may be good ones.
        if progress.damaged == damaged {
            progress.is_done = left > 0;
            break;
        }
    }
    Ok(progress)
}
