//! How many connections a filter leaves.

use super::Sql;
use super::source::{Columns, Measure, Source, When};
use crate::access::statements::Guard;
use crate::ports::Statement;
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
        let uncounted = self.keys.is_some()
            || self.identity.is_some()
            || self.name.is_some()
            || self.q.is_some()
            || (self.platform_version.is_some() && self.identity_type.is_some());
        match &self.tags {
            _ if uncounted => None,
            None => Some(self.column_counter()),
            Some(Tags::All(tags) | Tags::Any(tags)) => match tags.as_slice() {
                [tag] if self.columns() == Columns::NONE => {
                    Some(Counter { dimension: "tag", value: tag.clone() })
                }
                _ => None,
            },
        }
    }

    /// The counter of what the filter asks of columns, or of most of it.
    fn column_counter(&self) -> Counter {
        let identity_type = self.identity_type.map(IdentityType::as_str);
        let (dimension, value) = match (&self.platform, &self.platform_version, identity_type) {
            (None, None, None) => ("all", String::new()),
            (Some(platform), None, None) => ("platform", platform.clone()),
            (None, Some(version), None) => ("platformVersion", version.clone()),
            (None, _, Some(identity_type)) => ("identityType", identity_type.into()),
            (Some(platform), Some(version), _) => {
                ("platform/platformVersion", format!("{platform}/{version}"))
            }
            (Some(platform), None, Some(identity_type)) => {
                ("platform/identityType", format!("{platform}/{identity_type}"))
            }
        };
        Counter { dimension, value }
    }
}

impl Sql<'_> {
    /// `connection_counts n …`: the rows of some values of a dimension. Conditions may follow.
    pub(super) fn counters(
        &mut self,
        filter: &ConnectionFilter,
        dimension: &str,
        values: &[String],
    ) -> &mut Self {
        self.push("connection_counts n WHERE n.account = k.account AND n.environment = k.environment AND n.active = ");
        self.integer(u64::from(filter.active)).push(" AND n.dimension = ").text(dimension);
        self.push(" AND n.value IN ").texts(values)
    }

    /// A number of connections.
    pub(super) fn measure(&mut self, measure: Measure, filter: &ConnectionFilter) -> &mut Self {
        let Counter { dimension, value } = match (measure, &filter.tags) {
            (Measure::Tags, Some(Tags::All(tags))) => {
                let known = tags.len().to_string();
                self.push("(SELECT iif(count(*) = ").push(&known).push(", min(n.n), 0) FROM ");
                return self.counters(filter, "tag", tags).push(")");
            }
            (Measure::Tags, Some(Tags::Any(tags))) => {
                self.push("(SELECT ifnull(sum(n.n), 0) FROM ");
                return self.counters(filter, "tag", tags).push(")");
            }
            (Measure::Tags | Measure::Columns, _) => filter.column_counter(),
            (Measure::Version, _) => {
                let value = filter.platform_version.clone().unwrap_or_default();
                Counter { dimension: "platformVersion", value }
            }
            (Measure::IdentityType, _) => {
                let value = filter.identity_type.map_or("", IdentityType::as_str).to_owned();
                Counter { dimension: "identityType", value }
            }
        };
        self.push("ifnull((SELECT n.n FROM ").counters(filter, dimension, &[value]).push("), 0)")
    }

    /// A condition that spares the walk where what the filter asks of columns leaves nothing.
    pub(super) fn unless_none(&mut self, filter: &ConnectionFilter) -> &mut Self {
        if filter.columns() == Columns::NONE {
            return self;
        }
        self.push(" AND ").measure(Measure::Columns, filter).push(" > 0")
    }

    /// A condition that spares the walk to a page which lies past the end of a list whose number of rows is counted.
    pub(super) fn unless_past(&mut self, filter: &ConnectionFilter, offset: u64) -> &mut Self {
        let Some(Counter { dimension, value }) = filter.counter().filter(|_| offset > 0) else {
            return self;
        };
        self.push(" AND ").integer(offset).push(" < (SELECT n.n FROM ");
        self.counters(filter, dimension, &[value]).push(")")
    }
}

/// The number of connections that a filter leaves, as `total`, when it is counted: one row read. No row stands for none.
pub(super) fn counted(guard: &Guard<'_>, filter: &ConnectionFilter) -> Option<Statement> {
    let Counter { dimension, value } = filter.counter()?;
    let mut sql = Sql::new(guard);
    sql.push("SELECT n.n AS total FROM api_keys k CROSS JOIN ");
    sql.counters(filter, dimension, &[value]).push(" AND ").guard();
    Some(sql.finish())
}

/// As above, when it is not counted: one row read, or some more, for each connection of the source.
pub(super) fn count(
    guard: &Guard<'_>,
    filter: &ConnectionFilter,
    source: (Source<'_>, When),
) -> Statement {
    let mut sql = Sql::new(guard);
    if let (Source::Prefix(q), _) = source {
        sql.push("SELECT (SELECT count(*)").named(q, filter);
        sql.push(") + (SELECT count(*)").identified(q, filter).push(") AS total");
    } else {
        sql.push("SELECT count(*) AS total").walk(source, filter);
    }
    sql.finish()
}
