//! Single connections: read, created, changed, deleted.

use super::{COLUMNS, Sql};
use crate::access::statements::Guard;
use crate::json;
use crate::ports::{Param, Statement};
use crate::vault::draft::NewConnection;
use crate::vault::revision::Precondition;

/// The connection `c` of this id, if the key may see it. An id of another tenant is not even looked at.
const BY_ID: &str = " FROM api_keys k CROSS JOIN connections c INDEXED BY connections_by_id ON c.account = k.account AND c.environment = k.environment AND c.id = ";

/// The connection of an id; an id that is none finds nothing.
#[must_use]
pub fn select(guard: &Guard<'_>, id: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ").push(COLUMNS).push(BY_ID).text(id).push(" WHERE ").guard_connection();
    sql.finish()
}

/// Gives a connection other tags, unless it has them already. Its row tells afterwards which request wrote it.
#[must_use]
pub fn update_tags(
    guard: &Guard<'_>,
    id: &str,
    tags: &str,
    precondition: &Precondition,
    request: &str,
) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("UPDATE connections AS c SET version = c.version + 1, tags = ").text(tags);
    sql.push(", written_by = ").text(request).push(" WHERE c.tags <> ").text(tags);
    sql.chosen(id, precondition);
    sql.finish()
}

/// Deletes a connection.
#[must_use]
pub fn delete(guard: &Guard<'_>, id: &str, precondition: &Precondition) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("DELETE FROM connections AS c WHERE true").chosen(id, precondition);
    sql.finish()
}

impl Sql<'_> {
    /// That `c` is the connection of this id, which the key may see, and that it meets the precondition.
    fn chosen(&mut self, id: &str, precondition: &Precondition) -> &mut Self {
        self.push(" AND c.seq = (SELECT c.seq").push(BY_ID).text(id);
        self.push(" WHERE ").guard_connection().push(")");
        let Precondition::Versions(versions) = precondition else { return self };
        let json = json::list(versions.iter().map(u64::to_string));
        self.push(" AND c.version IN (SELECT value FROM json_each(");
        self.bind(Param::Text(json)).push("))")
    }
}

/// Creates a connection unless another one has its key.
#[must_use]
pub fn insert(guard: &Guard<'_>, new: &NewConnection) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("INSERT INTO connections (account, environment, id, active, platform, platform_version, label, identity, identity_folded, identity_type, name, name_folded, description, state, tags, version, created_at, written_by) SELECT k.account, k.environment, ");
    sql.text(&new.id).push(", ").integer(u64::from(new.active));
    for text in [&new.platform, &new.platform_version, &new.label, &new.identity] {
        sql.push(", ").text(text);
    }
    sql.push(", ").text(&crate::fold::fold(&new.identity));
    sql.push(", ").text(new.identity_type.as_str());
    for name in [new.name.clone(), new.name.as_deref().map(crate::fold::fold)] {
        sql.push(", ").bind(name.map_or(Param::Null, Param::Text));
    }
    sql.push(", ").text(&new.description).push(", ").text(new.state.as_str());
    sql.push(", ").text(&new.tags).push(", 1, ").integer(new.created_at);
    sql.push(", ").text(&new.id).push(" FROM api_keys k WHERE ").guard();
    sql.push(" ON CONFLICT (account, environment, platform, label, identity) DO NOTHING");
    sql.finish()
}

/// The connection that has the key of a new one, also when a token may not see it: its type may be another one.
#[must_use]
pub fn select_by_key(guard: &Guard<'_>, new: &NewConnection) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ").push(COLUMNS).push(" FROM api_keys k CROSS JOIN connections c INDEXED BY connections_by_key ON c.account = k.account AND c.environment = k.environment AND c.platform = ");
    sql.text(&new.platform).push(" AND c.label = ").text(&new.label);
    sql.push(" AND c.identity = ").text(&new.identity).push(" WHERE ").guard();
    sql.finish()
}
