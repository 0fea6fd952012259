//! The SQL of the audit log.

use super::{AuditFilter, AuditId};
use crate::auth::Caller;
use crate::auth::statements::Guard;
use crate::connections::model::ConnectionId;
use crate::connections::statements::sql::{CREDENTIALS_JOIN, Sql};
use crate::ports::{Param, Statement};
use crate::terms::AuditAction;

/// The tables whose changes are audited, as in `schema/0001_init.sql`.
const AUDITED_TABLES: [&str; 9] = [
    "agent_endpoints",
    "agent_grants",
    "api_keys",
    "branding",
    "connections",
    "console_sessions",
    "console_sign_ins",
    "oauth_clients",
    "webhooks",
];

/// Whether a statement changes an audited table.
pub fn is_audited(sql: &str) -> bool {
    let mut words = sql.split_ascii_whitespace();
    let table = match words.next() {
        Some("INSERT" | "DELETE") => words.nth(1),
        Some("UPDATE") => words.next(),
        _ => None,
    };
    table.is_some_and(|table| AUDITED_TABLES.contains(&table))
}

/// Sets the actor and the request of all following changes in the batch. Triggers copy them to the
/// audit log.
pub fn caller_actor(guard: &Guard<'_>, caller: &Caller, now: u64, request: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("INSERT OR REPLACE INTO audit_context (one, at, actor_type, actor, key_id, request_id) SELECT 1, ");
    sql.integer(now).push(", ");
    push_actor(&mut sql, caller);
    sql.push(", k.id, ").text(request).push(" FROM api_keys k WHERE ").guard();
    sql.finish()
}

/// Adds the caller's actor type and id as SQL values.
fn push_actor(sql: &mut Sql<'_>, caller: &Caller) {
    match (caller, caller.grant()) {
        (Caller::Key(_), _) => sql.push("'key', k.id"),
        (Caller::Token(_), Some(grant)) => sql.push("'grant', ").text(&grant.id),
        (Caller::Token(token), None) => sql.push("'token', ").text(&token.restriction.identity),
        (Caller::Person(token), _) => sql.push("'person', ").text(&token.restriction.identity),
    };
}

/// Like [`caller_actor`], for a person in a browser, who acts on behalf of the key `key_id`.
pub fn person_actor(identity: &str, key_id: &str, now: u64, request: &str) -> Statement {
    Statement {
        sql: "INSERT OR REPLACE INTO audit_context (one, at, actor_type, actor, key_id, request_id) VALUES (1, ?1, 'person', ?2, ?3, ?4)".into(),
        params: vec![
            Param::integer(now),
            Param::text(identity),
            Param::text(key_id),
            Param::text(request),
        ],
    }
}

/// Like [`caller_actor`], for the user of a grant.
pub fn grant_user_actor(grant: &str, now: u64, request: &str) -> Statement {
    grant_actor("'person', identity", grant, now, request)
}

/// Like [`caller_actor`], for the agent of a grant.
pub fn grant_agent_actor(grant: &str, now: u64, request: &str) -> Statement {
    grant_actor("'grant', id", grant, now, request)
}

fn grant_actor(actor: &str, grant: &str, now: u64, request: &str) -> Statement {
    let sql = format!(
        "INSERT OR REPLACE INTO audit_context (one, at, actor_type, actor, key_id, request_id) SELECT 1, ?1, {actor}, key_id, ?3 FROM agent_grants WHERE id = ?2"
    );
    Statement {
        sql: sql.into(),
        params: vec![Param::integer(now), Param::text(grant), Param::text(request)],
    }
}

/// Like [`caller_actor`], for the operator.
pub fn operator_actor() -> Statement {
    Statement {
        sql: "INSERT OR REPLACE INTO audit_context (one, at, actor_type) VALUES (1, CAST(unixepoch('subsec') * 1000 AS INTEGER), 'operator')".into(),
        params: Vec::new(),
    }
}

/// Clears the actor that [`caller_actor`] set, after the last change of the batch.
pub fn clear_actor() -> Statement {
    Statement { sql: "DELETE FROM audit_context".into(), params: Vec::new() }
}

/// The start of the statements that log a read.
const READ: &str = "INSERT INTO audit (";

/// Whether a statement only logs a read. Such a statement causes no events.
pub fn is_read_entry(sql: &str) -> bool {
    sql.starts_with(READ)
}

/// Logs that the caller reads the credentials of a connection, if the caller can access them and
/// they exist. Reads of an actor within a minute share an entry that counts them. A retry of the
/// same request is not counted again.
pub fn record_credentials_read(
    guard: &Guard<'_>,
    connection: &ConnectionId,
    caller: &Caller,
    now: u64,
    request: &str,
) -> Statement {
    let minute = AuditId::lower_bound(now.saturating_sub(now % 60_000));
    let action = AuditAction::CredentialsRead.as_str();
    let mut sql = Sql::new(guard);
    sql.push(READ).push("account, environment, id, at, action, actor_type, actor, key_id, target_type, target, request_id) ");
    sql.push("SELECT k.account, k.environment, ifnull((SELECT a.id FROM audit a INDEXED BY audit_by_target WHERE a.account = k.account AND a.environment = k.environment AND a.target = c.id AND a.id >= ");
    sql.text(&minute)
        .push(" AND a.action = ")
        .text(action)
        .push(" AND (a.actor_type, a.actor) = (");
    push_actor(&mut sql, caller);
    sql.push(") AND a.key_id = k.id LIMIT 1), ").push("printf('aud_%011x%06x%s', ").integer(now);
    // The format of ids must be the same as in the triggers of `schema/0001_init.sql`.
    sql.push(", (SELECT ifnull(max(seq), 0) + 1 FROM audit) & 16777215, substr(");
    sql.text(request).push(", 1, 8))), ").integer(now);
    sql.push(", ").text(action).push(", ");
    push_actor(&mut sql, caller);
    sql.push(", k.id, 'connection', c.id, ").text(request);
    sql.push_connection(connection, CREDENTIALS_JOIN);
    sql.push(" ON CONFLICT (account, environment, id) DO UPDATE SET count = count + 1, request_id = excluded.request_id WHERE request_id <> excluded.request_id");
    sql.finish()
}

/// The columns of an entry, without the id.
const COLUMNS: [&str; 9] = [
    "at",
    "action",
    "actor_type",
    "actor",
    "key_id",
    "target_type",
    "target",
    "request_id",
    "count",
];

/// Selects up to `limit` entries of the caller's tenant, newest first, that precede the entry
/// `before`. An index covers the time and either the target or the actor. Other filters are applied
/// to each scanned entry: if an entry does not match, only its id is returned, so that the next
/// page can continue there.
pub fn select(
    guard: &Guard<'_>,
    filter: &AuditFilter,
    before: Option<&AuditId>,
    limit: u64,
) -> Statement {
    let target = filter.connection.as_ref().or(filter.target.as_ref());
    let index = match (target, &filter.actor) {
        (Some(_), _) => "audit_by_target",
        (None, Some(_)) => "audit_by_actor",
        (None, None) => "audit_listed",
    };
    let mut sql = Sql::new(guard);
    if filter.needs_scan() {
        sql.push("SELECT id");
        for column in COLUMNS {
            sql.push(&format!(", iif(matches, {column}, NULL) AS {column}"));
        }
        sql.push(" FROM (SELECT a.*, 1");
        if let (Some(actor), Some(_)) = (&filter.actor, target) {
            sql.push(" AND a.actor = ").text(actor);
        }
        if let (Some(target), Some(_)) = (&filter.target, &filter.connection) {
            sql.push(" AND a.target = ").text(target);
        }
        if filter.connection.is_some() {
            sql.push(" AND a.target_type = 'connection'");
        }
        if !filter.actions.is_empty() {
            let names: Vec<&str> = filter.actions.iter().map(|action| action.as_str()).collect();
            sql.push(" AND a.action IN ").texts(&names);
        }
        sql.push(" AS matches");
    } else {
        sql.push("SELECT a.id");
        for column in COLUMNS {
            sql.push(", a.").push(column);
        }
    }
    sql.push(" FROM api_keys k CROSS JOIN audit a INDEXED BY ").push(index);
    sql.push(" ON a.account = k.account AND a.environment = k.environment");
    if let Some(target) = target {
        sql.push(" AND a.target = ").text(target);
    } else if let Some(actor) = &filter.actor {
        sql.push(" AND a.actor = ").text(actor);
    }
    sql.push(" AND a.id > ").text(&AuditId::lower_bound(filter.from));
    let end = filter.to.map(AuditId::lower_bound);
    let end = end.iter().map(String::as_str).chain(before.map(AuditId::as_str)).min();
    if let Some(end) = end {
        sql.push(" AND a.id < ").text(end);
    }
    sql.push(" WHERE ").guard().push(" ORDER BY a.id DESC LIMIT ").integer(limit);
    if filter.needs_scan() {
        sql.push(") ORDER BY id DESC");
    }
    sql.finish()
}

impl AuditFilter {
    /// Whether some filters are not covered by an index, so that entries must be scanned.
    pub fn needs_scan(&self) -> bool {
        let has_target = self.target.is_some() || self.connection.is_some();
        !self.actions.is_empty()
            || self.connection.is_some()
            || (has_target && self.actor.is_some())
    }
}

/// Deletes a batch of the oldest entries if they are older than `before`. If there are none, reads
/// only one row, and never the whole table. The entries of a moved account can therefore be deleted
/// late, because they are behind newer ones.
pub fn prune(before: u64) -> Statement {
    Statement {
        // Checks the oldest entry first, to avoid reading the others if there is nothing to delete.
        // Skips the old copies of accounts that have moved: they must not change.
        sql: "DELETE FROM audit WHERE seq IN (SELECT o.seq FROM (SELECT at FROM audit NOT INDEXED WHERE account NOT IN (SELECT account FROM away) ORDER BY seq LIMIT 1) f CROSS JOIN (SELECT seq, at FROM audit NOT INDEXED WHERE account NOT IN (SELECT account FROM away) ORDER BY seq LIMIT 2000) o WHERE f.at < ?1 AND o.at < ?1)".into(),
        params: vec![Param::integer(before)],
    }
}

#[cfg(test)]
mod tests {
    use super::is_audited;

    #[test]
    fn is_audited_reads_the_table_from_the_statement() {
        for (sql, expected) in [
            ("INSERT INTO connections (a) SELECT 1", true),
            ("UPDATE connections AS c SET a = 1", true),
            ("UPDATE webhooks SET a = 1", true),
            ("DELETE FROM agent_grants WHERE id = 1", true),
            ("INSERT INTO connect_attempts (a) SELECT 1", false),
            ("UPDATE credentials SET a = 1", false),
            ("SELECT * FROM connections", false),
            ("", false),
        ] {
            assert_eq!(is_audited(sql), expected, "{sql}");
        }
    }
}
