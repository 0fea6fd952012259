//! Searches connections by identity, account, name, or a prefix of name or identity. No counter has
//! the total of such a list, so a search stops after the rows that it may read. Matches of a name
//! or a prefix are not in list order, so their pages are sorted.

use super::columns::Columns;
use super::conditions::NAME_OVERLAPS;
use super::sql::Sql;
use crate::auth::statements::Guard;
use crate::connections::filter::{ConnectionFilter, PageStart};
use crate::ports::Statement;

/// The cost of a match, in rows: a match is counted, read for the page, and sorted.
const MATCH_COST: u64 = 3;
/// The cost of a match whose connection is looked up for the total and the page, in rows.
const LOOKED_UP_MATCH_COST: u64 = 24;

/// A search by the most selective of the filters for identity, account, name and `q`.
#[derive(Debug)]
pub(super) struct Search<'a> {
    filter: &'a ConnectionFilter,
    /// The other filters.
    rest: ConnectionFilter,
    /// Whether there are other filters, which require a lookup of each connection.
    needs_lookup: bool,
    /// The maximum number of matches that are read.
    pub max_matches: u64,
}

impl<'a> Search<'a> {
    /// The search for a filter; `max_rows` is the number of rows that a list may read. Returns
    /// `None` for a filter without identity, account, name and `q`.
    pub(super) fn new(filter: &'a ConnectionFilter, max_rows: u64) -> Option<Self> {
        let mut rest = filter.clone();
        rest.shows_account = false;
        let search_filters = [&mut rest.identity, &mut rest.account, &mut rest.name, &mut rest.q];
        search_filters.into_iter().find_map(Option::take)?;
        let no_other_filters =
            ConnectionFilter { active: filter.active, ..ConnectionFilter::default() };
        let needs_lookup = rest != no_other_filters;
        let match_cost = if needs_lookup { LOOKED_UP_MATCH_COST } else { MATCH_COST };
        Some(Self {
            filter,
            rest,
            needs_lookup,
            max_matches: max_rows.checked_div(match_cost).unwrap_or_default(),
        })
    }

    /// Selects the number of matches, as `walked`, up to one more than allowed, and the number of
    /// matches that satisfy the other filters, as `total`.
    pub(super) fn total(&self, guard: &Guard<'_>) -> Statement {
        let mut sql = Sql::new(guard);
        if self.needs_lookup {
            sql.push("SELECT count(*) AS walked, count(c.seq) AS total FROM (").matches(self, None);
            sql.push(") m LEFT JOIN connections c ON c.seq = m.seq").conditions(&self.rest);
        } else {
            sql.push("SELECT count(*) AS walked, count(*) AS total FROM (").matches(self, None);
            sql.push(") m");
        }
        sql.finish()
    }

    /// Selects the page's rows.
    pub(super) fn page(&self, guard: &Guard<'_>, start: &PageStart, rows: u64) -> Statement {
        let mut sql = Sql::new(guard);
        if self.filter.identity.is_some() || self.filter.account.is_some() {
            // These matches are in list order, so read the page separately, if the count is small
            // enough.
            sql.select(self.filter).push_from_clause(self.filter);
            sql.conditions(&self.rest).after("c", start).in_order("c");
            sql.push(" LIMIT iif((SELECT count(*) FROM (").matches(self, None);
            sql.push(")) <= ").integer(self.max_matches).push(", ").integer(rows).push(", 0)");
            sql.skip(start);
            return sql.finish();
        }
        sql.select(self.filter).push(" FROM (");
        if self.needs_lookup {
            sql.matches(self, Some(start)).push(") m").rows_of("m").push(" WHERE true");
            sql.conditions(&self.rest).in_order("m").limit_and_offset(start, rows);
        } else {
            sql.push("SELECT * FROM (").matches(self, Some(start)).push(") m").in_order("m");
            sql.limit_and_offset(start, rows).push(") m").rows_of("m");
        }
        sql.finish()
    }
}

impl Sql<'_> {
    /// Adds the positions of the matches, at most one more than allowed.
    fn matches(&mut self, search: &Search<'_>, start: Option<&PageStart>) -> &mut Self {
        const POSITION: &str = "SELECT c.created_at, c.id, c.seq";
        let filter = search.filter;
        let start = start.unwrap_or(&PageStart::Offset(0));
        if filter.identity.is_some() || filter.account.is_some() {
            self.push(POSITION).push_from_clause(filter);
        } else if let Some(name) = &filter.name {
            self.push(POSITION).walk_names(NAME_OVERLAPS, filter);
            self.push(" AND c.name_folded = ").text(name);
        } else if let Some(q) = &filter.q {
            self.push(POSITION).by_name_prefix(q, filter).after("c", start);
            self.push(" UNION ALL ").push(POSITION).by_identity_prefix(q, filter);
        }
        self.after("c", start).push(" LIMIT ").integer(search.max_matches.saturating_add(1))
    }

    /// Adds ` FROM … WHERE …`: the connections `c` of the filter's identity or, without an
    /// identity, of its account. A token's identity has precedence, so that the cost does not
    /// reveal how many connections of others belong to an account.
    fn push_from_clause(&mut self, filter: &ConnectionFilter) -> &mut Self {
        match (&filter.identity, &filter.account) {
            (Some(identity), _) => {
                self.walk_index("connections_by_identity", filter).where_identity(identity)
            }
            (None, account) => self
                .walk_index("connections_by_platform_account", filter)
                .where_account(account.as_deref()),
        }
    }

    /// Adds ` FROM … WHERE …`: the connections `c` whose identity begins with `q`.
    fn by_identity_prefix(&mut self, q: &str, filter: &ConnectionFilter) -> &mut Self {
        self.walk_index("connections_by_identity", filter).if_columns_match(filter).push(" AND ");
        self.has_prefix("c.identity_folded", q)
    }

    /// Like [`Self::by_identity_prefix`], for the connections whose name begins with `q` but whose
    /// identity does not. If name and identity share fewer leading characters than `q` has, the
    /// identity can't begin with `q`.
    fn by_name_prefix(&mut self, q: &str, filter: &ConnectionFilter) -> &mut Self {
        let length = q.chars().count();
        self.walk_names(length, filter)
            .if_columns_match(filter)
            .push(" AND ")
            .has_prefix("c.name_folded", q);
        if length >= NAME_OVERLAPS {
            self.push(" AND NOT (").has_prefix("c.identity_folded", q).push(")");
        }
        self
    }

    /// Adds a condition that stops the read if no connection matches the filter's columns.
    fn if_columns_match(&mut self, filter: &ConnectionFilter) -> &mut Self {
        if filter.columns() == Columns::NONE {
            return self;
        }
        self.push(" AND ").column_count(filter).push(" > 0")
    }
}
