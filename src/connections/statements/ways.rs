//! Lists filtered by tags in a combination that no counter covers. There are several ways to find their rows. Only the
//! database knows the counters that say what each way costs, so the batch contains all of them: the cheapest way
//! returns rows if it is cheap enough, and the others stop before their first row.

use super::columns::Columns;
use super::sql::Sql;
use crate::auth::statements::Guard;
use crate::connections::filter::{ConnectionFilter, Start, Tags};
use crate::ports::Statement;

/// The cost of a row read in index order, the unit of all costs: 0.2 µs, measured at a million connections.
const ROW: u64 = 1;
/// The cost of checking whether a connection has a tag, in rows.
const PROBE: u64 = 7;
/// The cost of looking up a connection, in rows.
const LOOKUP: u64 = 10;
/// The cost of telling a row from those seen before, in rows.
const DISTINCT: u64 = 2;
/// The most walks that are merged: D1 accepts no more `SELECT`s in one compound.
const MERGED: usize = 5;

/// A way to find the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way<'a> {
    /// Merges the walks of these tags: rows in any of them.
    Union(&'a [String]),
    /// Merges the walks of these tags and of the columns: rows in all of them.
    Intersection(&'a [String]),
    /// Walks the rarest of these tags, checking each row for the others.
    RarestTag(&'a [String]),
    /// Walks all these tags, checking the columns of each row.
    AnyTag(&'a [String]),
    /// Walks the index of the columns, checking the tags of each row.
    Columns(&'a Tags),
}

/// The ways to one list, and the most rows that a list may cost.
#[derive(Debug)]
pub(super) struct Ways<'a> {
    filter: &'a ConnectionFilter,
    all: Vec<Way<'a>>,
    start: &'a Start,
    most: u64,
}

impl<'a> Ways<'a> {
    pub(super) fn new(
        filter: &'a ConnectionFilter,
        tags: &'a Tags,
        start: &'a Start,
        most: u64,
    ) -> Self {
        let has_columns = filter.columns() != Columns::NONE;
        let ways = match tags {
            Tags::Any(tags) if tags.len() > 1 && !has_columns => vec![Way::Union(tags)],
            Tags::Any(names) if names.len() > 1 => vec![Way::AnyTag(names), Way::Columns(tags)],
            Tags::All(names) | Tags::Any(names) => {
                let mut ways = vec![Way::RarestTag(names)];
                let walks = names.len().saturating_add(usize::from(has_columns));
                if walks <= MERGED && filter.columns().open().is_none() {
                    ways.push(Way::Intersection(names));
                }
                if has_columns {
                    ways.push(Way::Columns(tags));
                }
                ways
            }
        };
        Self { filter, all: ways, start, most }
    }

    /// Selects the cost of the cheapest way, as `cost`, how many connections the tags have, and how many match the
    /// columns.
    pub(super) fn costs(&self, guard: &Guard<'_>) -> Statement {
        let mut sql = Sql::new(guard);
        sql.push("SELECT ").shortest(self).push(" AS cost, ");
        match &self.filter.tags {
            Some(Tags::All(tags)) => sql.rarest_count(self.filter, tags),
            Some(Tags::Any(tags)) => sql.tag_count(self.filter, tags),
            None => sql.push("0"),
        };
        sql.push(" AS tags, ").column_count(self.filter);
        sql.push(" AS columns FROM api_keys k WHERE ").guard();
        sql.finish()
    }

    /// For each way, selects the number of all rows as `total`, and the page's rows. Ways that are not taken select 0
    /// and none.
    pub(super) fn pairs(&self, guard: &Guard<'_>, rows: u64) -> Vec<(Statement, Statement)> {
        let pair = |nth: usize, way: Way<'_>| {
            let (mut total, mut page) = (Sql::new(guard), Sql::new(guard));
            match way {
                Way::Union(tags) => {
                    total.union_total(self, nth, tags);
                    page.union_page(self, nth, tags, rows);
                }
                Way::Intersection(tags) => {
                    total.push("SELECT count(*) AS total FROM (").intersection(self, tags, false);
                    total.push(" LIMIT iif(").taken(self, nth).push(", -1, 0))");
                    page.select(self.filter).push(" FROM (");
                    page.intersection(self, tags, true)
                        .page_if(self, nth, rows)
                        .push(") m")
                        .rows_of("m");
                }
                Way::RarestTag(_) | Way::AnyTag(_) | Way::Columns(_) => {
                    total.push("SELECT count(*) AS total").walk(self, nth, way, false);
                    page.select(self.filter);
                    let table = page.walk(self, nth, way, true);
                    page.after(table, self.start).in_order(table).window(self.start, rows);
                }
            }
            (total.finish(), page.finish())
        };
        self.all.iter().enumerate().map(|(nth, way)| pair(nth, *way)).collect()
    }
}

impl Sql<'_> {
    /// Adds a number: the cost of a way, in rows read in order. The total walks all of it, and the page may too.
    fn cost(&mut self, ways: &Ways<'_>, way: Way<'_>) -> &mut Self {
        let filter = ways.filter;
        let has_columns = filter.columns() != Columns::NONE;
        let looks = |tags: &[String], known: usize| {
            let probes = u64::try_from(tags.len().saturating_sub(known)).unwrap_or(u64::MAX);
            PROBE.saturating_mul(probes)
        };
        let column = if has_columns { LOOKUP } else { 0 };
        let row = match way {
            Way::Union(tags) => {
                let groups = tags.len().div_ceil(MERGED);
                let row = if groups == 1 { ROW } else { ROW.saturating_add(DISTINCT) };
                let skipped = match ways.start {
                    Start::Offset(offset) => {
                        offset.saturating_mul(u64::try_from(groups).unwrap_or(u64::MAX))
                    }
                    Start::After(_) => 0,
                };
                self.push("(").tag_count(filter, tags).push(" * ").push(&row.to_string());
                self.push(" + min(").integer(skipped).push(", ").tag_count(filter, tags);
                return self.push("))");
            }
            Way::Intersection(tags) => {
                self.push("((").tag_count(filter, tags);
                if has_columns {
                    self.push(" + ").column_count(filter);
                }
                self.push(")");
                ROW
            }
            Way::RarestTag(tags) => {
                self.push("(").rarest_count(filter, tags);
                ROW.saturating_add(looks(tags, 1)).saturating_add(column)
            }
            Way::AnyTag(tags) => {
                self.push("(").tag_count(filter, tags);
                ROW.saturating_add(DISTINCT).saturating_add(column)
            }
            Way::Columns(tags) => {
                self.push("(").column_count(filter);
                ROW.saturating_add(match tags {
                    Tags::All(tags) => looks(tags, 0),
                    // The connection's own tags are read from the connection itself.
                    Tags::Any(_) => LOOKUP.saturating_mul(2),
                })
            }
        };
        self.push(" * ").push(&row.saturating_mul(2).to_string()).push(")")
    }

    /// Adds a number: the cost of the cheapest way.
    fn shortest(&mut self, ways: &Ways<'_>) -> &mut Self {
        if let [way] = ways.all.as_slice() {
            return self.cost(ways, *way);
        }
        for (nth, way) in ways.all.iter().enumerate() {
            self.push(if nth == 0 { "min(" } else { ", " }).cost(ways, *way);
        }
        self.push(")")
    }

    /// Adds a condition on `k` that this way is taken: it is cheap enough, and the first one of the cheapest.
    fn is_taken(&mut self, ways: &Ways<'_>, nth: usize) -> &mut Self {
        let Some(way) = ways.all.get(nth) else { return self.push("false") };
        self.cost(ways, *way).push(" <= ").integer(ways.most);
        for (other, than) in ways.all.iter().enumerate().filter(|(other, _)| *other != nth) {
            self.push(" AND ").cost(ways, *way);
            self.push(if other < nth { " < " } else { " <= " }).cost(ways, *than);
        }
        self
    }

    /// As [`Self::is_taken`], where there is no `k`.
    fn taken(&mut self, ways: &Ways<'_>, nth: usize) -> &mut Self {
        self.push("(SELECT ").is_taken(ways, nth).push(" FROM api_keys k WHERE ").guard().push(")")
    }

    /// Ends merged walks: the page's rows in list order, or none when the way is not taken.
    fn page_if(&mut self, ways: &Ways<'_>, nth: usize, rows: u64) -> &mut Self {
        self.push(" LIMIT iif(").taken(ways, nth).push(", ").integer(rows).push(", 0)");
        self.skip(ways.start)
    }

    /// Adds ` FROM … WHERE …`: the connections `c` of a way that checks each row. Returns the table that has their
    /// positions.
    fn walk(&mut self, ways: &Ways<'_>, nth: usize, way: Way<'_>, needs_c: bool) -> &'static str {
        let filter = ways.filter;
        match way {
            Way::AnyTag(tags) => {
                self.push(" FROM (SELECT DISTINCT t.created_at, t.id, t.seq");
                self.walk_tags(tags, filter).push(" AND ").is_taken(ways, nth);
                self.push(") m").rows_of("m").push(" WHERE true").column_filters(filter);
                "m"
            }
            Way::RarestTag(tags) => {
                self.walk_tag(tags, filter, needs_c).push(" AND ").is_taken(ways, nth);
                "t"
            }
            Way::Columns(_) | Way::Union(_) | Way::Intersection(_) => {
                self.walk_columns(filter).tag_filter(filter).push(" AND ").is_taken(ways, nth);
                "c"
            }
        }
    }

    /// Adds the positions, in list order, of connections that have all the tags and match the columns. Each walk is
    /// read in that order, and no further than needed.
    fn intersection(&mut self, ways: &Ways<'_>, tags: &[String], is_page: bool) -> &mut Self {
        let start = if is_page { ways.start } else { &Start::Offset(0) };
        for (nth, tag) in tags.iter().enumerate() {
            self.push(if nth == 0 { "" } else { " INTERSECT " });
            self.tag_places(tag, ways.filter).after("t", start);
        }
        if ways.filter.columns() != Columns::NONE {
            self.push(" INTERSECT SELECT c.created_at, c.id, c.seq").walk_columns(ways.filter);
            self.after("c", start);
        }
        self.push(" ORDER BY 1 DESC, 2 DESC, 3 DESC")
    }

    /// Adds `SELECT …`: the positions of a tag's connections.
    fn tag_places(&mut self, tag: &str, filter: &ConnectionFilter) -> &mut Self {
        self.push("SELECT t.created_at, t.id, t.seq");
        self.walk_tags(std::slice::from_ref(&tag), filter)
    }

    /// Adds the number of connections that have any of the tags.
    fn union_total(&mut self, ways: &Ways<'_>, nth: usize, tags: &[String]) -> &mut Self {
        if tags.len() > MERGED {
            self.push("SELECT count(DISTINCT t.seq) AS total").walk_tags(tags, ways.filter);
            return self.push(" AND ").is_taken(ways, nth);
        }
        self.push("SELECT count(*) AS total FROM (").union(ways, tags, false);
        self.push(" LIMIT iif(").taken(ways, nth).push(", -1, 0))")
    }

    /// Adds the page of connections that have any of the tags. More tags than can be merged at once are merged in
    /// groups, each as far as the page needs.
    fn union_page(&mut self, ways: &Ways<'_>, nth: usize, tags: &[String], rows: u64) -> &mut Self {
        self.select(ways.filter).push(" FROM (");
        if tags.len() <= MERGED {
            return self.union(ways, tags, true).page_if(ways, nth, rows).push(") m").rows_of("m");
        }
        let through = match ways.start {
            Start::Offset(offset) => offset.saturating_add(rows),
            Start::After(_) => rows,
        };
        for (group, tags) in tags.chunks(MERGED).enumerate() {
            self.push(if group == 0 { "" } else { " UNION " }).push("SELECT * FROM (");
            self.union(ways, tags, true).push(" LIMIT iif(").taken(ways, nth).push(", ");
            self.integer(through).push(", 0))");
        }
        self.push(" ORDER BY 1 DESC, 2 DESC, 3 DESC")
            .window(ways.start, rows)
            .push(") m")
            .rows_of("m")
    }

    fn union(&mut self, ways: &Ways<'_>, tags: &[String], is_page: bool) -> &mut Self {
        let start = if is_page { ways.start } else { &Start::Offset(0) };
        for (nth, tag) in tags.iter().enumerate() {
            self.push(if nth == 0 { "" } else { " UNION " });
            self.tag_places(tag, ways.filter).after("t", start);
        }
        self.push(" ORDER BY 1 DESC, 2 DESC, 3 DESC")
    }
}
