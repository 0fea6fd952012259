//! The SQL of branding.

use super::Branding;
use crate::auth::statements::Guard;
use crate::connections::statements::sql::Sql;
use crate::ports::{Param, Statement};
use crate::terms::Environment;

/// A SQL column with the branding of the tenant of a row, as JSON. `row` is the alias of the row's
/// table.
pub fn column(row: &str) -> String {
    format!(
        "(SELECT json_object('name', b.name, 'logo', b.logo, 'color', b.color, 'url', b.url) FROM branding b WHERE b.account = {row}.account AND b.environment = {row}.environment) AS branding"
    )
}

/// Selects the branding of the caller's tenant.
pub fn select_for_caller(guard: &Guard<'_>) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT b.* FROM api_keys k CROSS JOIN branding b ON b.account = k.account AND b.environment = k.environment WHERE ").guard();
    sql.finish()
}

/// Replaces the branding of the caller's tenant.
pub fn put(guard: &Guard<'_>, new: &Branding, now: u64) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("INSERT INTO branding (account, environment, name, logo, color, url, updated_at) SELECT k.account, k.environment, ");
    for value in [&new.name, &new.logo, &new.color, &new.url] {
        sql.bind(Param::optional_text(value.as_deref())).push(", ");
    }
    sql.integer(now).push(" FROM api_keys k WHERE ").guard();
    sql.push(" ON CONFLICT (account, environment) DO UPDATE SET name = excluded.name, logo = excluded.logo, color = excluded.color, url = excluded.url, updated_at = excluded.updated_at RETURNING *");
    sql.finish()
}

/// Selects the branding of a tenant.
pub fn select_by_account(account: &str, environment: Environment) -> Statement {
    Statement {
        sql: "SELECT * FROM branding WHERE account = ?1 AND environment = ?2".into(),
        params: vec![Param::text(account), Param::text(environment.as_str())],
    }
}

/// Selects the branding of an MCP endpoint's tenant.
pub fn select_by_endpoint(id: &str) -> Statement {
    Statement {
        sql: "SELECT b.* FROM agent_endpoints e CROSS JOIN branding b ON b.account = e.account AND b.environment = e.environment WHERE e.id = ?1".into(),
        params: vec![Param::text(id)],
    }
}

/// Selects the branding of a key's tenant. `id` is the key's id.
pub fn select_by_key(id: &str) -> Statement {
    Statement {
        sql: "SELECT b.* FROM api_keys k CROSS JOIN branding b ON b.account = k.account AND b.environment = k.environment WHERE k.id = ?1".into(),
        params: vec![Param::text(id)],
    }
}
