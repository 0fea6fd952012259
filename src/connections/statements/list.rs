//! The statements for a page of the list of connections.

use super::count::{Counter, select_counter};
use super::plans::QueryPlans;
use super::search::Search;
use super::sql::Sql;
use crate::auth::statements::Guard;
use crate::connections::filter::{ConnectionFilter, PageStart, Tags};
use crate::connections::model::Connection;
use crate::ports::Statement;

/// The statements for a page of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListStatements {
    /// The filter matches no connection.
    Nothing,
    /// Selects all rows, at most one for each requested key.
    All(Statement),
    /// The first statement selects the number of rows, as `total`. The second statement selects the
    /// page. Both read the page and the rows that it skips.
    Counted(Statement, Statement),
    /// The first statement selects the number of matches that were read, as `walked`, and the
    /// number of rows, as `total`. The second statement selects the page. The search stops when it
    /// exceeds the maximum number of matches.
    Searched(Statement, Statement, u64),
    /// The first statement selects the list's cost in rows, as `cost`, and the number of
    /// connections that match its `tags` and its `columns`. A pair of statements for each plan
    /// follows, like `Counted`. Only the pair of the chosen plan returns rows.
    Plans(Statement, Vec<(Statement, Statement)>),
}

/// The statements for a page of at most `rows` rows, which may read at most `max_rows` rows.
/// [`in_order`] sorts their results.
pub fn list(
    guard: &Guard<'_>,
    filter: &ConnectionFilter,
    start: &PageStart,
    rows: u64,
    max_rows: u64,
) -> ListStatements {
    if filter.matches_nothing() {
        return ListStatements::Nothing;
    }
    if let Some(keys) = &filter.keys {
        return ListStatements::All(select_by_keys(guard, filter, keys));
    }
    if let Some(search) = Search::new(filter, max_rows) {
        let page = search.page(guard, start, rows);
        return ListStatements::Searched(search.total(guard), page, search.max_matches);
    }
    match (filter.counter(), &filter.tags) {
        (Some(counter), tags) => {
            let mut page = Sql::new(guard);
            let position = PagePosition { counter: &counter, start, rows, max_rows };
            match tags {
                Some(Tags::All(tags) | Tags::Any(tags)) => page.tag_page(filter, tags, &position),
                None => page.column_page(filter, &position),
            }
            ListStatements::Counted(select_counter(guard, filter, &counter), page.finish())
        }
        (None, Some(tags)) => {
            let plans = QueryPlans::new(filter, tags, start, max_rows);
            ListStatements::Plans(plans.costs(guard), plans.pairs(guard, rows))
        }
        (None, None) => ListStatements::Nothing,
    }
}

/// The number of rows to skip before a page of a counted list, from the nearer end if the page is
/// deep.
pub const fn skipped_rows(start: &PageStart, total: u64, rows: u64, max_rows: u64) -> u64 {
    match start {
        PageStart::Offset(offset) if *offset >= total => 0,
        PageStart::Offset(offset) if *offset > max_rows => {
            total.saturating_sub(*offset).saturating_sub(rows)
        }
        PageStart::Offset(offset) => *offset,
        PageStart::After(_) => 0,
    }
}

/// Sorts rows into list order.
pub fn in_order(mut rows: Vec<Connection>) -> Vec<Connection> {
    // Rows that were read from the far end are in reverse order.
    if let [first, .., last] = rows.as_slice()
        && first.position() < last.position()
    {
        rows.reverse();
    }
    // The rows are nearly sorted, and insertion needs less code than a general sort.
    let mut sorted: Vec<Connection> = Vec::with_capacity(rows.len());
    for row in rows {
        let at = sorted.partition_point(|other| other.position() > row.position());
        sorted.insert(at, row);
    }
    sorted
}

/// The position of a page in a counted list.
struct PagePosition<'a> {
    counter: &'a Counter,
    start: &'a PageStart,
    rows: u64,
    max_rows: u64,
}

impl PagePosition<'_> {
    /// Whether the page is so deep that it is read from the far end.
    fn is_read_from_end(&self) -> bool {
        matches!(self.start, PageStart::Offset(offset) if *offset > self.max_rows)
    }
}

impl Sql<'_> {
    /// Adds the query for a page that is filtered by columns only.
    fn column_page(&mut self, filter: &ConnectionFilter, position: &PagePosition<'_>) {
        self.select(filter);
        let Some(open) = filter.columns().open() else {
            self.walk_columns(filter).after("c", position.start);
            self.order_and_limit("c.created_at", "c.id", filter, position);
            return;
        };
        self.push(" FROM (");
        for (index, value) in open.values.iter().enumerate() {
            self.push(if index == 0 { "" } else { " UNION ALL " });
            self.push("SELECT c.created_at, c.id, c.seq");
            self.walk_index(filter.columns().index(), filter).column_filters(filter);
            self.push(" AND ").push(open.column).push(" = ").text(value).after("c", position.start);
        }
        self.order_and_limit("1", "2", filter, position).push(") m").rows_of("m");
    }

    /// Adds the query for a page that is filtered only by one tag.
    fn tag_page(
        &mut self,
        filter: &ConnectionFilter,
        tags: &[String],
        position: &PagePosition<'_>,
    ) {
        self.select(filter).walk_tag(tags, filter, true).after("t", position.start);
        self.order_and_limit("t.created_at", "t.id", filter, position);
    }

    /// Adds `ORDER BY` and `LIMIT`, in reverse for a page that is nearer to the far end. Selects no
    /// rows for a page that is past the end, or too far from both ends.
    fn order_and_limit(
        &mut self,
        created_at: &str,
        id: &str,
        filter: &ConnectionFilter,
        position: &PagePosition<'_>,
    ) -> &mut Self {
        let direction = if position.is_read_from_end() { " ASC" } else { " DESC" };
        self.push(" ORDER BY ")
            .push(created_at)
            .push(direction)
            .push(", ")
            .push(id)
            .push(direction);
        let offset = match position.start {
            PageStart::Offset(offset) if *offset > 0 => *offset,
            _ => return self.push(" LIMIT ").integer(position.rows),
        };
        if !position.is_read_from_end() {
            self.push(" LIMIT iif(")
                .integer(offset)
                .push(" < ")
                .counter_value(filter, position.counter);
            return self.push(", ").integer(position.rows).push(", 0) OFFSET ").integer(offset);
        }
        self.push(" LIMIT (SELECT iif(rest - ").integer(position.rows).push(" <= ");
        self.integer(position.max_rows).push(", max(min(rest, ").integer(position.rows);
        self.push("), 0), 0) FROM (SELECT ").counter_value(filter, position.counter).push(" - ");
        self.integer(offset).push(" AS rest)) OFFSET (SELECT max(rest - ").integer(position.rows);
        self.push(", 0) FROM (SELECT ").counter_value(filter, position.counter).push(" - ");
        self.integer(offset).push(" AS rest))")
    }
}

/// Selects the connections with one of the keys. Reads two rows for each key.
fn select_by_keys(guard: &Guard<'_>, filter: &ConnectionFilter, keys: &[[String; 3]]) -> Statement {
    let mut sql = Sql::new(guard);
    sql.select(filter).push(" FROM api_keys k CROSS JOIN json_each(").keys(keys);
    sql.push(") j \
        CROSS JOIN connections c INDEXED BY connections_by_key ON c.account = k.account \
        AND c.environment = k.environment AND c.platform = j.value ->> 0 AND c.label = j.value ->> 1 \
        AND c.identity = j.value ->> 2 \
        WHERE ");
    sql.guard().push(" AND c.active = ").integer(u64::from(filter.active));
    sql.conditions(filter);
    sql.finish()
}
