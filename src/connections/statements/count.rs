//! Counts the rows of lists with counters, which triggers maintain.

use super::columns::Columns;
use super::sql::Sql;
use crate::auth::statements::Guard;
use crate::connections::filter::{ConnectionFilter, Tags};
use crate::ports::Statement;
use crate::terms::{IdentityType, State};

/// A counter: the rows of `connection_counts` whose sum is the total of a list.
pub(super) struct Counter {
    dimension: String,
    values: Vec<String>,
}

impl ConnectionFilter {
    /// The counter for a filter. Returns `None` if no counter has its total.
    pub(super) fn counter(&self) -> Option<Counter> {
        match &self.tags {
            None => Some(self.column_counter()),
            Some(Tags::All(tags) | Tags::Any(tags)) => match tags.as_slice() {
                [tag] if self.columns() == Columns::NONE => {
                    Some(Counter { dimension: "tag".into(), values: vec![tag.clone()] })
                }
                _ => None,
            },
        }
    }

    fn column_counter(&self) -> Counter {
        let columns = self.columns();
        let mut dimension: Vec<&str> = Vec::new();
        let mut values = vec![String::new()];
        let mut add = |name, texts: &[&str]| {
            dimension.push(name);
            let with_texts = |value: &String| {
                let prefix = if value.is_empty() { String::new() } else { format!("{value}/") };
                texts.iter().map(move |text| format!("{prefix}{text}")).collect::<Vec<_>>()
            };
            values = values.iter().flat_map(with_texts).collect();
        };
        if let Some(platform) = &self.platform {
            add("platform", &[platform]);
        }
        if let Some(version) = &self.platform_version {
            add("platformVersion", &[version]);
        }
        // Counters by state are split by identity type. Counters by version and identity type are
        // split by state.
        let needs_split_counters = columns.state || (columns.version && columns.identity_type);
        match self.identity_type {
            Some(identity_type) => add("identityType", &[identity_type.as_str()]),
            None if needs_split_counters => add("identityType", &IdentityType::NAMES),
            None => {}
        }
        match self.state {
            Some(state) => add("state", &[state.as_str()]),
            None if needs_split_counters => add("state", &State::NAMES),
            None => {}
        }
        let dimension = if dimension.is_empty() { "all".into() } else { dimension.join("/") };
        Counter { dimension, values }
    }
}

impl Sql<'_> {
    /// Adds `connection_counts n …`: the rows of a counter. Conditions may be added.
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

    /// Adds the value of a counter.
    fn sum(&mut self, filter: &ConnectionFilter, counter: &Counter) -> &mut Self {
        self.push("(SELECT ifnull(sum(n.n), 0) FROM ");
        self.counters(filter, &counter.dimension, &counter.values).push(")")
    }

    /// Adds the number of connections that match the filter's columns.
    pub(super) fn column_count(&mut self, filter: &ConnectionFilter) -> &mut Self {
        self.sum(filter, &filter.column_counter())
    }

    /// Adds the number of connections with these tags. A connection with two of the tags counts
    /// twice.
    pub(super) fn tag_count(&mut self, filter: &ConnectionFilter, tags: &[String]) -> &mut Self {
        self.sum(filter, &Counter { dimension: "tag".into(), values: tags.to_vec() })
    }

    /// Adds the number of connections with the rarest of these tags; 0 if a tag has no connections.
    pub(super) fn rarest_count(&mut self, filter: &ConnectionFilter, tags: &[String]) -> &mut Self {
        self.push("(SELECT iif(count(*) = ").push(&tags.len().to_string());
        self.push(", min(n.n), 0) FROM ").counters(filter, "tag", tags).push(")")
    }

    /// Adds the value of a counter as a separate subquery; 0 if the key is not valid.
    pub(super) fn counter_value(
        &mut self,
        filter: &ConnectionFilter,
        counter: &Counter,
    ) -> &mut Self {
        self.push("(SELECT ifnull(sum(n.n), 0) FROM api_keys k CROSS JOIN ");
        self.counters(filter, &counter.dimension, &counter.values).push(" AND ").guard();
        self.push(")")
    }
}

/// Selects the value of a counter, as `total`. Reads one to four rows.
pub(super) fn select_counter(
    guard: &Guard<'_>,
    filter: &ConnectionFilter,
    counter: &Counter,
) -> Statement {
    let mut sql = Sql::new(guard);
    sql.push("SELECT ifnull(sum(n.n), 0) AS total FROM api_keys k CROSS JOIN ");
    sql.counters(filter, &counter.dimension, &counter.values).push(" AND ").guard();
    sql.finish()
}
