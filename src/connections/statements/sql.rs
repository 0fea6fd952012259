//! Builds SQL statements with bound parameters, guarded by the row of the caller's key.

use std::borrow::Cow;

use crate::auth::statements::Guard;
use crate::connections::filter::ConnectionFilter;
use crate::connections::model::ConnectionId;
use crate::ports::{Param, Statement};
use crate::terms::IdentityType;
use crate::util::name_set::Names;

/// The columns of [`crate::connections::model::Connection`].
pub(crate) const COLUMNS: &str = "c.id, c.platform_version, c.name, c.environment, \
    c.platform, c.label, c.identity, c.identity_type, c.description, c.state, c.tags, c.version, c.active, \
    c.created_at, c.written_by";

/// The columns of the account at the platform, selected only on request.
const ACCOUNT_COLUMNS: &str = ", c.platform_account_id, c.platform_account_name";

/// A builder of SQL statements. The SQL comes from this crate only; everything else becomes a
/// parameter.
#[derive(Debug, Clone)]
pub(crate) struct Sql<'a> {
    guard: &'a Guard<'a>,
    text: String,
    params: Vec<Param>,
}

/// The `FROM` clause of the connection `c` with an id, in the key's tenant. The index excludes rows
/// of other tenants, so they are not read.
pub(super) const FROM_CONNECTION_BY_ID: &str = " FROM api_keys k \
    CROSS JOIN connections c INDEXED BY connections_by_id ON c.account = k.account \
    AND c.environment = k.environment AND c.id = ";

/// Joins the credentials of the connection `c`.
pub(crate) const CREDENTIALS_JOIN: &str = " CROSS JOIN credentials h ON h.account = c.account \
    AND h.environment = c.environment AND h.connection_id = c.id";

impl<'a> Sql<'a> {
    pub(crate) fn new(guard: &'a Guard<'a>) -> Self {
        Self { guard, text: String::new(), params: guard.params.clone() }
    }

    /// Adds the guard: the condition that the row `k` of `api_keys` belongs to a valid key with the
    /// scope.
    pub(crate) fn guard(&mut self) -> &mut Self {
        self.push(self.guard.condition)
    }

    /// Adds `FROM` with the connection `c` that has this id, further joins, and `WHERE` with the guard and the restriction of
    /// a token.
    pub(crate) fn push_connection(&mut self, id: &ConnectionId, joins: &str) -> &mut Self {
        self.push(FROM_CONNECTION_BY_ID)
            .text(id.as_str())
            .push(joins)
            .push(" WHERE ")
            .guard_connection()
    }

    /// Like [`Self::push_connection`], by platform, label and identity.
    pub(crate) fn push_connection_by_key(
        &mut self,
        [platform, label, identity]: [&str; 3],
        joins: &str,
    ) -> &mut Self {
        self.push(" FROM api_keys k CROSS JOIN connections c INDEXED BY connections_by_key ON c.account = k.account AND c.environment = k.environment AND c.platform = ").text(platform);
        self.push(" AND c.label = ").text(label).push(" AND c.identity = ").text(identity);
        self.push(joins).push(" WHERE ").guard_connection()
    }

    /// Like [`Self::guard`]. Also adds the condition that a token may see the connection `c`.
    pub(crate) fn guard_connection(&mut self) -> &mut Self {
        self.guard();
        let Some(restriction) = self.guard.restriction else { return self };
        self.where_identity(&restriction.identity).where_identity_type(restriction.identity_type);
        self.where_platforms(restriction.platforms.as_ref());
        self.where_ids("c.id", restriction.connections.as_ref())
    }

    /// Adds `SELECT` and the columns of the connection `c` that the list shows.
    pub(super) fn select(&mut self, filter: &ConnectionFilter) -> &mut Self {
        let more = if filter.shows_account { ACCOUNT_COLUMNS } else { "" };
        self.push("SELECT ").push(COLUMNS).push(more)
    }

    pub(crate) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds a parameter and its placeholder.
    pub(crate) fn bind(&mut self, param: Param) -> &mut Self {
        let placeholder = self.placeholder(param);
        self.push(&placeholder)
    }

    /// Adds a parameter. Returns its placeholder.
    pub(crate) fn placeholder(&mut self, param: Param) -> String {
        // Equal values share a parameter, because a statement may have at most a hundred.
        let bound_at = self.params.iter().position(|known| *known == param);
        let at = bound_at.unwrap_or(self.params.len());
        if bound_at.is_none() {
            self.params.push(param);
        }
        format!("?{}", at.saturating_add(1))
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.bind(Param::text(text))
    }

    pub(crate) fn integer(&mut self, number: u64) -> &mut Self {
        self.bind(Param::integer(number))
    }

    /// Adds the condition that the connection has this identity.
    pub(crate) fn where_identity(&mut self, identity: &str) -> &mut Self {
        self.push(" AND c.identity_folded = ").text(&crate::util::case_fold::fold(identity));
        self.push(" AND c.identity = ").text(identity)
    }

    /// Adds the condition that the connection belongs to this account at the platform, unless
    /// `account` is `None`.
    pub(super) fn where_account(&mut self, account: Option<&str>) -> &mut Self {
        let Some(account) = account else { return self };
        self.push(" AND c.platform_account_id = ").text(account)
    }

    /// Adds the condition that the connection has this identity type, unless it is `None`.
    pub(crate) fn where_identity_type(&mut self, identity_type: Option<IdentityType>) -> &mut Self {
        let Some(identity_type) = identity_type else { return self };
        self.push(" AND c.identity_type = ").text(identity_type.as_str())
    }

    /// Adds the condition that the connection's platform is one of these, unless `platforms` is
    /// `None`.
    pub(crate) fn where_platforms(&mut self, platforms: Option<&Names>) -> &mut Self {
        let Some(platforms) = platforms else { return self };
        self.push(" AND c.platform IN ").texts(&platforms.all())
    }

    /// Adds the condition that a column contains the id of one of these connections, unless `ids`
    /// is `None`.
    pub(crate) fn where_ids(&mut self, column: &str, ids: Option<&Names>) -> &mut Self {
        let Some(ids) = ids else { return self };
        self.push(" AND ").push(column).push(" IN (SELECT value FROM json_each(");
        self.text(&crate::util::json::text(ids)).push("))")
    }

    /// Adds a parenthesized list of strings.
    pub(crate) fn texts<T: AsRef<str>>(&mut self, texts: &[T]) -> &mut Self {
        self.push("(");
        for (index, text) in texts.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.text(text.as_ref());
        }
        self.push(")")
    }

    pub(crate) fn finish(self) -> Statement {
        Statement { sql: Cow::Owned(self.text), params: self.params }
    }
}
