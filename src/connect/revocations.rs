//! The SQL of pending revocations.

use crate::auth::statements::Guard;
use crate::connections::model::ConnectionId;
use crate::connections::statements::sql::Sql;
use crate::ports::{Param, Statement};

/// The period for retrying a revocation: 7 days, in milliseconds.
const RETENTION_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// Selects the pending revocation of a deleted connection.
pub fn select(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT r.* FROM api_keys k CROSS JOIN revocations r ON r.account = k.account AND r.environment = k.environment AND r.connection_id = ");
    sql.text(id.as_str()).push(" WHERE ").guard();
    sql.finish()
}

/// Inserts a pending revocation of tokens that are not stored in a connection, under the id of the attempt or request that
/// obtained them. They were issued by a platform's method to the OAuth client of this name.
pub fn enqueue(
    (account, environment, id): (&str, &str, &str),
    (platform, auth_method, client): (&str, &str, &str),
    sealed: &str,
    now: u64,
) -> Statement {
    let texts = [account, environment, id, platform, auth_method, client, sealed].map(Param::text);
    Statement {
        sql: "INSERT INTO revocations (account, environment, connection_id, platform, auth_method, client, sealed, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING".into(),
        params: texts.into_iter().chain([Param::integer(now)]).collect(),
    }
}

/// Claims due revocations and returns their rows. They become due again after 5, 15 or 60 minutes, then every 6 hours.
pub fn claim_due(now: u64, limit: u64) -> Statement {
    Statement {
        sql: "UPDATE revocations SET attempts = attempts + 1, next_attempt_at = ?1 + CASE attempts WHEN 0 THEN 300000 WHEN 1 THEN 900000 WHEN 2 THEN 3600000 ELSE 21600000 END WHERE (account, environment, connection_id) IN (SELECT account, environment, connection_id FROM revocations INDEXED BY revocations_due WHERE next_attempt_at <= ?1 AND account NOT IN (SELECT account FROM away) ORDER BY next_attempt_at LIMIT ?2) RETURNING *".into(),
        params: vec![Param::integer(now), Param::integer(limit)],
    }
}

/// A condition that selects a few of the oldest expired rows.
const EXPIRED: &str = "(account, environment, connection_id) IN (SELECT account, environment, connection_id FROM revocations INDEXED BY revocations_by_age WHERE created_at < ?1 AND account NOT IN (SELECT account FROM away) ORDER BY created_at LIMIT 5)";

/// Deletes a few expired revocations, and writes an event for each. Runs after every deletion of a connection.
pub fn prune(now: u64) -> [Statement; 2] {
    let params = vec![Param::integer(now.saturating_sub(RETENTION_MS))];
    let event = event("'grant.revocation_failed'", "'expired'", EXPIRED);
    let delete = format!("DELETE FROM revocations WHERE {EXPIRED}");
    [event, delete].map(|sql| Statement { sql: sql.into(), params: params.clone() })
}

/// Deletes a revocation with a final outcome, and writes an event: `refused` if the platform does
/// not revoke the token.
pub fn complete(
    account: &str,
    environment: &str,
    connection: &str,
    is_revoked: bool,
) -> [Statement; 2] {
    const ROW_CONDITION: &str = "account = ?1 AND environment = ?2 AND connection_id = ?3";
    let params: Vec<_> = [account, environment, connection].map(Param::text).into();
    let event = if is_revoked {
        event("'grant.revoked'", "NULL", ROW_CONDITION)
    } else {
        event("'grant.revocation_failed'", "'refused'", ROW_CONDITION)
    };
    [event, format!("DELETE FROM revocations WHERE {ROW_CONDITION}")]
        .map(|sql| Statement { sql: sql.into(), params: params.clone() })
}

/// The SQL that writes an event for each row.
fn event(kind: &str, code: &str, rows: &str) -> String {
    format!(
        "INSERT INTO events (account, environment, type, occurred_at, subject, reason) SELECT account, environment, {kind}, CAST(unixepoch('subsec') * 1000 AS INTEGER), json_object('grant', json_object('id', connection_id, 'platform', platform)), iif({code} IS NULL, NULL, json_object('code', {code}, 'detail', NULL, 'httpStatus', NULL)) FROM revocations WHERE {rows}"
    )
}
