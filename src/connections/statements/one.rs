//! The SQL of single connections.

use super::limits::{account_has_capacity, identity_has_capacity};
use super::sql::{COLUMNS, FROM_CONNECTION_BY_ID, Sql};
use crate::auth::statements::Guard;
use crate::connections::draft::{NewConnection, NewState};
use crate::connections::model::ConnectionId;
use crate::connections::revision::Precondition;
use crate::ports::{Param, Statement};
use crate::util::case_fold::fold;
use crate::util::json;

/// Selects the connection with an id.
pub fn select(guard: &Guard<'_>, id: &ConnectionId) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ").push(COLUMNS).push_connection(id, "");
    sql.finish()
}

/// A change to a connection.
#[derive(Debug)]
pub struct ConnectionUpdate<'a> {
    /// The guard of the caller.
    pub guard: &'a Guard<'a>,
    /// The connection's id.
    pub id: &'a ConnectionId,
    /// The condition that the connection must satisfy.
    pub precondition: &'a Precondition,
    /// The id of the request, which is stored with the new version.
    pub request: &'a str,
}

impl<'a> ConnectionUpdate<'a> {
    /// Starts an update that creates a new version.
    fn begin(&self) -> Sql<'a> {
        let mut sql = Sql::new(self.guard);
        sql.push("UPDATE connections AS c SET version = c.version + 1, written_by = ");
        sql.text(self.request);
        sql
    }

    /// Adds the conditions on the id and the precondition.
    fn end(&self, mut sql: Sql<'a>) -> Statement {
        sql.target_connection(self.id, self.precondition);
        sql.finish()
    }
}

/// Sets a connection's tags if they differ.
pub fn set_tags(update: &ConnectionUpdate<'_>, tags: &str) -> Statement {
    let mut sql = update.begin();
    sql.push(", tags = ").text(tags).push(" WHERE c.tags <> ").text(tags);
    update.end(sql)
}

/// Sets a connection's name if it differs.
pub fn set_name(update: &ConnectionUpdate<'_>, name: Option<&str>) -> Statement {
    let text = |name: Option<String>| name.map_or(Param::Null, Param::Text);
    let mut sql = update.begin();
    sql.push(", name = ").bind(text(name.map(str::to_owned)));
    sql.push(", name_folded = ").bind(text(name.map(fold)));
    sql.push(" WHERE c.name IS NOT ").bind(text(name.map(str::to_owned)));
    update.end(sql)
}

/// Sets a connection's state if it differs. Without a reason, a new state clears the old reason.
pub fn set_state(update: &ConnectionUpdate<'_>, new: &NewState) -> Statement {
    let state = new.state.as_str();
    let mut sql = update.begin();
    sql.push(", state_since = iif(c.state = ").text(state).push(", c.state_since, ");
    sql.integer(new.now).push("), state = ").text(state).push(", state_reason = ");
    match &new.reason {
        Some(reason) => sql.text(reason),
        None => sql.push("iif(c.state = ").text(state).push(", c.state_reason, NULL)"),
    };
    // Assign `active` only if the caller sets it, because an assigned column fires triggers.
    if let Some(active) = new.active {
        sql.push(", active = ").integer(u64::from(active));
    }
    sql.push(" WHERE (c.state <> ").text(state);
    if let Some(active) = new.active {
        sql.push(" OR c.active <> ").integer(u64::from(active));
    }
    if let Some(reason) = &new.reason {
        sql.push(" OR c.state_reason IS NOT ").text(reason);
    }
    // If the vault has the credentials, it determines the state itself.
    sql.push(
        ") AND NOT EXISTS (SELECT 1 FROM credentials h WHERE h.account = c.account \
         AND h.environment = c.environment AND h.connection_id = c.id)",
    );
    update.end(sql)
}

/// Deletes a connection that satisfies the precondition.
pub fn delete(guard: &Guard<'_>, id: &ConnectionId, precondition: &Precondition) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("DELETE FROM connections AS c WHERE true").target_connection(id, precondition);
    sql.finish()
}

impl Sql<'_> {
    /// Adds the conditions that `c` has this id, is visible to the caller and satisfies the precondition.
    fn target_connection(&mut self, id: &ConnectionId, precondition: &Precondition) -> &mut Self {
        self.push(" AND c.seq = (SELECT c.seq").push(FROM_CONNECTION_BY_ID).text(id.as_str());
        self.push(" WHERE ").guard_connection().push(")");
        let Precondition::Versions(versions) = precondition else { return self };
        let json = json::text(versions);
        self.push(" AND c.version IN (SELECT value FROM json_each(");
        self.bind(Param::Text(json)).push("))")
    }
}

/// Inserts a connection, unless its key is taken or a limit is reached.
pub fn insert(guard: &Guard<'_>, new: &NewConnection) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("INSERT INTO connections (account, environment, id, active, platform, platform_version, label, \
        identity, identity_folded, identity_type, name, name_folded, description, state, tags, version, \
        created_at, written_by) \
        SELECT k.account, k.environment, ");
    sql.text(&new.id).push(", ").integer(u64::from(new.active));
    for text in [&new.platform, &new.platform_version, &new.label, &new.identity] {
        sql.push(", ").text(text);
    }
    sql.push(", ").text(&fold(&new.identity));
    sql.push(", ").text(new.identity_type.as_str());
    for name in [new.name.clone(), new.name.as_deref().map(fold)] {
        sql.push(", ").bind(name.map_or(Param::Null, Param::Text));
    }
    sql.push(", ").text(&new.description).push(", ").text(new.state.as_str());
    sql.push(", ").text(&new.tags).push(", 1, ").integer(new.created_at);
    sql.push(", ").text(&new.id).push(" FROM api_keys k WHERE ").guard();
    sql.push(" AND ").push(&account_has_capacity("k.account", "k.environment"));
    if guard.restriction.is_some() {
        let folded = sql.placeholder(Param::Text(fold(&new.identity)));
        let identity = sql.placeholder(Param::text(&new.identity));
        let owner = [folded.as_str(), identity.as_str()];
        sql.push(" AND ").push(&identity_has_capacity("k.account", "k.environment", owner));
    }
    sql.push(" ON CONFLICT (account, environment, platform, label, identity) DO NOTHING");
    sql.finish()
}

/// Selects the connection with a key, even if the connection is outside a token's identity type.
pub fn select_by_key(guard: &Guard<'_>, platform: &str, label: &str, identity: &str) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ").push(COLUMNS).push(
        " FROM api_keys k \
        CROSS JOIN connections c INDEXED BY connections_by_key ON c.account = k.account \
        AND c.environment = k.environment AND c.platform = ",
    );
    sql.text(platform).push(" AND c.label = ").text(label);
    sql.push(" AND c.identity = ").text(identity).push(" WHERE ").guard();
    sql.finish()
}
