//! Query plans for lists that are filtered by several tags, or by tags and columns.
//!
//! # The problem
//!
//! A page of the list must cost about as much as its rows, regardless of the filter and of how many
//! connections the account has. D1 bills each row that is read, and a statement that scans a
//! million rows blocks the database for everyone. Most filters have an index in list order and a
//! counter for the total, see [`super::conditions`] and [`super::count`]. No counter covers a
//! combination of tags, because there are too many combinations. The cheapest index depends on the
//! data: one of two tags may be on three connections, and the other one on all of them.
//!
//! `SQLite`'s own planner can't decide this. It plans when a statement is prepared, without the
//! values of the parameters, and its statistics describe the whole database, not one account. The
//! service can't decide it either: it would have to read the counters first, and a request sends
//! only one batch to storage.
//!
//! # The solution
//!
//! The batch contains every plan that can produce the rows, each with a guard. The guard computes
//! the cost of all plans from the counters, and is true only for the cheapest plan, if that plan is
//! affordable. `SQLite` evaluates the guard once, before the first row, so a plan that is not
//! chosen reads a few counters and stops. If even the cheapest plan costs more than a list may, no
//! plan returns rows. The first statement of the batch returns the cost and the counters, from
//! which the endpoint then explains the refusal (`query_too_broad`).
//!
//! Each plan is a pair of statements, one for the total and one for the page. The endpoint adds up
//! the totals of all pairs and concatenates their pages, because all but one are empty.
//!
//! # The plans
//!
//! | plan | reads | good if |
//! |---|---|---|
//! | [`QueryPlan::RarestTag`] | the rarest tag's rows, and probes each for the other tags and columns | one tag is rare |
//! | [`QueryPlan::Intersection`] | all tags' rows in list order, merged with `INTERSECT` | all tags are frequent, and no probes pay off |
//! | [`QueryPlan::Columns`] | the index of the columns, and probes each row for the tags | the columns are selective |
//! | [`QueryPlan::Union`] | any tag's rows in list order, merged with `UNION` | any tag is enough |
//! | [`QueryPlan::AnyTag`] | any tag's rows, and looks up each connection for its columns | the tags are selective |
//!
//! A merge reads its inputs in list order, so its page stops early. `SQLite` merges only the terms
//! of a compound `SELECT`, and D1 accepts at most [`MAX_MERGED`] of these. More tags of a union are
//! merged in groups.
//!
//! # The costs
//!
//! The unit is one row that is read in index order. The other constants are multiples of it,
//! measured with a million connections: a lookup by id, a probe of the tag index, a comparison for
//! `DISTINCT`. They need not be exact: if an error of a factor of two selects the second best plan,
//! the list costs at most twice as much. But a plan must not read more than its cost. The total
//! walks all rows of a plan, and the page may do so again, so nearly every plan counts its rows
//! twice. A union's page stops early, so only the rows that it skips are counted again.

use super::columns::Columns;
use super::sql::Sql;
use crate::auth::statements::Guard;
use crate::connections::filter::{ConnectionFilter, PageStart, Tags};
use crate::ports::Statement;

/// The cost of a row read in index order, the unit of all costs: 0.2 µs, measured at a million connections.
const ROW_COST: u64 = 1;
/// The cost of checking whether a connection has a tag, in rows.
const PROBE_COST: u64 = 7;
/// The cost of looking up a connection, in rows.
const LOOKUP_COST: u64 = 10;
/// The cost of comparing a row with the rows read before, in rows.
const DISTINCT: u64 = 2;
/// The maximum number of `SELECT`s in a compound that D1 accepts.
const MAX_MERGED: usize = 5;

/// A query plan that produces the rows of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QueryPlan<'a> {
    /// Merges the rows of these tags: connections with any of them.
    Union(&'a [String]),
    /// Merges the rows of these tags and of the columns: connections with all of them.
    Intersection(&'a [String]),
    /// Reads the rows of the rarest tag, and checks each for the other tags.
    RarestTag(&'a [String]),
    /// Reads the rows of all these tags, and checks each for the columns.
    AnyTag(&'a [String]),
    /// Reads the index of the columns, and checks each row for the tags.
    Columns(&'a Tags),
}

/// The plans for one list, and the maximum cost.
#[derive(Debug)]
pub(super) struct QueryPlans<'a> {
    filter: &'a ConnectionFilter,
    candidates: Vec<QueryPlan<'a>>,
    start: &'a PageStart,
    max_cost: u64,
}

impl<'a> QueryPlans<'a> {
    pub(super) fn new(
        filter: &'a ConnectionFilter,
        tags: &'a Tags,
        start: &'a PageStart,
        max_cost: u64,
    ) -> Self {
        let has_columns = filter.columns() != Columns::NONE;
        let plans = match tags {
            Tags::Any(tags) if tags.len() > 1 && !has_columns => vec![QueryPlan::Union(tags)],
            Tags::Any(names) if names.len() > 1 => {
                vec![QueryPlan::AnyTag(names), QueryPlan::Columns(tags)]
            }
            Tags::All(names) | Tags::Any(names) => {
                let mut plans = vec![QueryPlan::RarestTag(names)];
                let walks = names.len().saturating_add(usize::from(has_columns));
                if walks <= MAX_MERGED && filter.columns().open().is_none() {
                    plans.push(QueryPlan::Intersection(names));
                }
                if has_columns {
                    plans.push(QueryPlan::Columns(tags));
                }
                plans
            }
        };
        Self { filter, candidates: plans, start, max_cost }
    }

    /// Selects the cost of the cheapest plan, as `cost`, and the numbers of connections that match
    /// the tags and the columns.
    pub(super) fn costs(&self, guard: &Guard<'_>) -> Statement {
        let mut sql = Sql::new(guard);
        sql.push("SELECT ").min_cost(self).push(" AS cost, ");
        match &self.filter.tags {
            Some(Tags::All(tags)) => sql.rarest_count(self.filter, tags),
            Some(Tags::Any(tags)) => sql.tag_count(self.filter, tags),
            None => sql.push("0"),
        };
        sql.push(" AS tags, ").column_count(self.filter);
        sql.push(" AS columns FROM api_keys k WHERE ").guard();
        sql.finish()
    }

    /// For each plan, selects the number of rows, as `total`, and the page. Plans that are not chosen select a total of 0
    /// and no rows.
    pub(super) fn pairs(&self, guard: &Guard<'_>, rows: u64) -> Vec<(Statement, Statement)> {
        let pair = |index: usize, plan: QueryPlan<'_>| {
            let (mut total, mut page) = (Sql::new(guard), Sql::new(guard));
            match plan {
                QueryPlan::Union(tags) => {
                    total.union_total(self, index, tags);
                    page.union_page(self, index, tags, rows);
                }
                QueryPlan::Intersection(tags) => {
                    total.push("SELECT count(*) AS total FROM (").intersection(self, tags, false);
                    total.push(" LIMIT iif(").is_chosen_subquery(self, index).push(", -1, 0))");
                    page.select(self.filter).push(" FROM (");
                    page.intersection(self, tags, true)
                        .limit_if_chosen(self, index, rows)
                        .push(") m")
                        .rows_of("m");
                }
                QueryPlan::RarestTag(_) | QueryPlan::AnyTag(_) | QueryPlan::Columns(_) => {
                    total.push("SELECT count(*) AS total").walk(self, index, plan, false);
                    page.select(self.filter);
                    let table = page.walk(self, index, plan, true);
                    page.after(table, self.start)
                        .in_order(table)
                        .limit_and_offset(self.start, rows);
                }
            }
            (total.finish(), page.finish())
        };
        self.candidates.iter().enumerate().map(|(index, plan)| pair(index, *plan)).collect()
    }
}

impl Sql<'_> {
    /// Adds the cost of a plan, in rows. The total reads all rows of the plan, and the page may do so again.
    fn cost(&mut self, plans: &QueryPlans<'_>, plan: QueryPlan<'_>) -> &mut Self {
        let filter = plans.filter;
        let has_columns = filter.columns() != Columns::NONE;
        let probe_cost = |tags: &[String], known: usize| {
            let probes = u64::try_from(tags.len().saturating_sub(known)).unwrap_or(u64::MAX);
            PROBE_COST.saturating_mul(probes)
        };
        let column = if has_columns { LOOKUP_COST } else { 0 };
        let row = match plan {
            QueryPlan::Union(tags) => {
                let groups = tags.len().div_ceil(MAX_MERGED);
                let row = if groups == 1 { ROW_COST } else { ROW_COST.saturating_add(DISTINCT) };
                let skipped = match plans.start {
                    PageStart::Offset(offset) => {
                        offset.saturating_mul(u64::try_from(groups).unwrap_or(u64::MAX))
                    }
                    PageStart::After(_) => 0,
                };
                self.push("(").tag_count(filter, tags).push(" * ").push(&row.to_string());
                self.push(" + min(").integer(skipped).push(", ").tag_count(filter, tags);
                return self.push("))");
            }
            QueryPlan::Intersection(tags) => {
                self.push("((").tag_count(filter, tags);
                if has_columns {
                    self.push(" + ").column_count(filter);
                }
                self.push(")");
                ROW_COST
            }
            QueryPlan::RarestTag(tags) => {
                self.push("(").rarest_count(filter, tags);
                ROW_COST.saturating_add(probe_cost(tags, 1)).saturating_add(column)
            }
            QueryPlan::AnyTag(tags) => {
                self.push("(").tag_count(filter, tags);
                ROW_COST.saturating_add(DISTINCT).saturating_add(column)
            }
            QueryPlan::Columns(tags) => {
                self.push("(").column_count(filter);
                ROW_COST.saturating_add(match tags {
                    Tags::All(tags) => probe_cost(tags, 0),
                    // This plan reads the tags from the connection itself.
                    Tags::Any(_) => LOOKUP_COST.saturating_mul(2),
                })
            }
        };
        self.push(" * ").push(&row.saturating_mul(2).to_string()).push(")")
    }

    /// Appends an SQL expression for the cost of the cheapest plan.
    fn min_cost(&mut self, plans: &QueryPlans<'_>) -> &mut Self {
        if let [plan] = plans.candidates.as_slice() {
            return self.cost(plans, *plan);
        }
        for (index, plan) in plans.candidates.iter().enumerate() {
            self.push(if index == 0 { "min(" } else { ", " }).cost(plans, *plan);
        }
        self.push(")")
    }

    /// Adds the guard that selects this plan: affordable, and the first of the cheapest plans.
    fn is_chosen(&mut self, plans: &QueryPlans<'_>, index: usize) -> &mut Self {
        let Some(plan) = plans.candidates.get(index) else { return self.push("false") };
        self.cost(plans, *plan).push(" <= ").integer(plans.max_cost);
        for (other_index, other_plan) in
            plans.candidates.iter().enumerate().filter(|(other_index, _)| *other_index != index)
        {
            self.push(" AND ").cost(plans, *plan);
            self.push(if other_index < index { " < " } else { " <= " }).cost(plans, *other_plan);
        }
        self
    }

    /// Like [`Self::is_chosen`], for queries that don't join the key's row `k`.
    fn is_chosen_subquery(&mut self, plans: &QueryPlans<'_>, index: usize) -> &mut Self {
        self.push("(SELECT ")
            .is_chosen(plans, index)
            .push(" FROM api_keys k WHERE ")
            .guard()
            .push(")")
    }

    /// Limits merged rows to the page, or to no rows when the plan is not chosen.
    fn limit_if_chosen(&mut self, plans: &QueryPlans<'_>, index: usize, rows: u64) -> &mut Self {
        self.push(" LIMIT iif(")
            .is_chosen_subquery(plans, index)
            .push(", ")
            .integer(rows)
            .push(", 0)");
        self.skip(plans.start)
    }

    /// Adds ` FROM … WHERE …`: the connections `c` of a plan that checks each row. Returns the table with their
    /// positions.
    fn walk(
        &mut self,
        plans: &QueryPlans<'_>,
        index: usize,
        plan: QueryPlan<'_>,
        needs_c: bool,
    ) -> &'static str {
        let filter = plans.filter;
        match plan {
            QueryPlan::AnyTag(tags) => {
                self.push(" FROM (SELECT DISTINCT t.created_at, t.id, t.seq");
                self.walk_tags(tags, filter).push(" AND ").is_chosen(plans, index);
                self.push(") m").rows_of("m").push(" WHERE true").column_filters(filter);
                "m"
            }
            QueryPlan::RarestTag(tags) => {
                self.walk_tag(tags, filter, needs_c).push(" AND ").is_chosen(plans, index);
                "t"
            }
            QueryPlan::Columns(_) | QueryPlan::Union(_) | QueryPlan::Intersection(_) => {
                self.walk_columns(filter).tag_filter(filter).push(" AND ").is_chosen(plans, index);
                "c"
            }
        }
    }

    /// Adds the positions, in list order, of the connections that have all tags and match the
    /// columns. Each input is read in list order, only as far as needed.
    fn intersection(
        &mut self,
        plans: &QueryPlans<'_>,
        tags: &[String],
        is_page: bool,
    ) -> &mut Self {
        let start = if is_page { plans.start } else { &PageStart::Offset(0) };
        for (index, tag) in tags.iter().enumerate() {
            self.push(if index == 0 { "" } else { " INTERSECT " });
            self.tag_positions(tag, plans.filter).after("t", start);
        }
        if plans.filter.columns() != Columns::NONE {
            self.push(" INTERSECT SELECT c.created_at, c.id, c.seq").walk_columns(plans.filter);
            self.after("c", start);
        }
        self.push(" ORDER BY 1 DESC, 2 DESC, 3 DESC")
    }

    /// Adds `SELECT …`: the positions of a tag's connections.
    fn tag_positions(&mut self, tag: &str, filter: &ConnectionFilter) -> &mut Self {
        self.push("SELECT t.created_at, t.id, t.seq");
        self.walk_tags(std::slice::from_ref(&tag), filter)
    }

    /// Adds the number of connections with any of the tags.
    fn union_total(&mut self, plans: &QueryPlans<'_>, index: usize, tags: &[String]) -> &mut Self {
        if tags.len() > MAX_MERGED {
            self.push("SELECT count(DISTINCT t.seq) AS total").walk_tags(tags, plans.filter);
            return self.push(" AND ").is_chosen(plans, index);
        }
        self.push("SELECT count(*) AS total FROM (").union(plans, tags, false);
        self.push(" LIMIT iif(").is_chosen_subquery(plans, index).push(", -1, 0))")
    }

    /// Adds the page of connections with any of the tags. If one compound can't merge all tags,
    /// they are merged in groups, each as far as the page needs.
    fn union_page(
        &mut self,
        plans: &QueryPlans<'_>,
        index: usize,
        tags: &[String],
        rows: u64,
    ) -> &mut Self {
        self.select(plans.filter).push(" FROM (");
        if tags.len() <= MAX_MERGED {
            return self
                .union(plans, tags, true)
                .limit_if_chosen(plans, index, rows)
                .push(") m")
                .rows_of("m");
        }
        let last_row = match plans.start {
            PageStart::Offset(offset) => offset.saturating_add(rows),
            PageStart::After(_) => rows,
        };
        for (group, tags) in tags.chunks(MAX_MERGED).enumerate() {
            self.push(if group == 0 { "" } else { " UNION " }).push("SELECT * FROM (");
            self.union(plans, tags, true)
                .push(" LIMIT iif(")
                .is_chosen_subquery(plans, index)
                .push(", ");
            self.integer(last_row).push(", 0))");
        }
        self.push(" ORDER BY 1 DESC, 2 DESC, 3 DESC")
            .limit_and_offset(plans.start, rows)
            .push(") m")
            .rows_of("m")
    }

    fn union(&mut self, plans: &QueryPlans<'_>, tags: &[String], is_page: bool) -> &mut Self {
        let start = if is_page { plans.start } else { &PageStart::Offset(0) };
        for (index, tag) in tags.iter().enumerate() {
            self.push(if index == 0 { "" } else { " UNION " });
            self.tag_positions(tag, plans.filter).after("t", start);
        }
        self.push(" ORDER BY 1 DESC, 2 DESC, 3 DESC")
    }
}
