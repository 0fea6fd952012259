//! How many connections a filter leaves.

use super::Sql;
use super::source::{Columns, Source};
use crate::access::statements::GUARD;
use crate::ports::{Param, Statement};
use crate::vault::filter::{ConnectionFilter, Tags};
use crate::vault::model::IdentityType;

/// The row of `connection_counts` that holds the answer to a filter.
struct Counter {
    dimension: &'static str,
    value: String,
}

impl ConnectionFilter {
    /// The counter of this very filter; none when nobody counts that.
    fn counter(&self) -> Option<Counter> {
        let others = self.keys.is_some()
            || self.identity.is_some()
            || self.name.is_some()
            || self.q.is_some();
        if others {
            return None;
        }
        let columns = self.columns();
        let none = Columns { platform: false, version: false, identity_type: false };
        let (dimension, value) = match &self.tags {
            Some(Tags::All(tags) | Tags::Any(tags)) => match tags.as_slice() {
                [tag] if columns == none => ("tag", tag.clone()),
                _ => return None,
            },
            None => self.column_counter()?,
        };
        Some(Counter { dimension, value })
    }

    fn column_counter(&self) -> Option<(&'static str, String)> {
        let identity_type = self.identity_type.map(IdentityType::as_str);
        Some(match (&self.platform, &self.platform_version, identity_type) {
            (None, None, None) => ("all", String::new()),
            (Some(platform), None, None) => ("platform", platform.clone()),
            (None, Some(version), None) => ("platformVersion", version.clone()),
            (None, None, Some(identity_type)) => ("identityType", identity_type.into()),
            (Some(platform), Some(version), None) => {
                ("platform/platformVersion", format!("{platform}/{version}"))
            }
            (Some(platform), None, Some(identity_type)) => {
                ("platform/identityType", format!("{platform}/{identity_type}"))
            }
            (_, Some(_), Some(_)) => return None,
        })
    }
}

impl Sql {
    /// ` FROM … WHERE …`: the counter's row, if there is one.
    fn read_counter(&mut self, counter: &Counter, active: bool) -> &mut Self {
        self.push(" FROM api_keys k CROSS JOIN connection_counts n ON n.account = k.account AND n.environment = k.environment AND n.active = ");
        self.integer(u64::from(active)).push(" AND n.dimension = ").text(counter.dimension);
        self.push(" AND n.value = ").text(&counter.value).push(" WHERE ").push(GUARD)
    }

    /// A condition that spares the walk to a page which lies past the end of a list whose number of rows is counted.
    pub(super) fn unless_past(&mut self, filter: &ConnectionFilter, offset: u64) -> &mut Self {
        let Some(counter) = filter.counter().filter(|_| offset > 0) else { return self };
        self.push(" AND ").integer(offset).push(" < (SELECT n.n FROM connection_counts n WHERE n.account = k.account AND n.environment = k.environment AND n.active = ");
        self.integer(u64::from(filter.active)).push(" AND n.dimension = ").text(counter.dimension);
        self.push(" AND n.value = ").text(&counter.value).push(")")
    }
}

/// The number of connections that a filter leaves, as `total`: one row read where it is counted, else one for each
/// connection that the most selective filter leaves. No row stands for none.
pub(super) fn count(guard: &[Param], filter: &ConnectionFilter) -> Statement {
    let mut sql = Sql::new(guard);
    if let Some(counter) = filter.counter() {
        sql.push("SELECT n.n AS total").read_counter(&counter, filter.active);
        return sql.finish();
    }
    match (filter.source(), &filter.tags) {
        (Source::Prefix, _) => {
            sql.push("SELECT (SELECT count(*)");
            super::list::named(&mut sql, filter);
            sql.push(") + (SELECT count(*)");
            super::list::identified(&mut sql, filter);
            sql.push(") AS total");
        }
        (Source::AnyTag, Some(Tags::Any(tags))) => {
            sql.push("SELECT count(*) AS total").walk_any_tag(tags, filter);
        }
        (Source::RarestTag, Some(Tags::All(tags) | Tags::Any(tags))) => {
            sql.push("SELECT count(*) AS total").walk_tag(tags, filter);
        }
        (Source::Index(index), _) => {
            sql.push("SELECT count(*) AS total").walk_index(index, filter);
        }
        // The keys' list is counted outside; tags come with tags.
        (Source::Keys | Source::AnyTag | Source::RarestTag, _) => {
            sql.push("SELECT 0 AS total FROM api_keys k WHERE ").push(GUARD);
        }
    }
    sql.finish()
}
