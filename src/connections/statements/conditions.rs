//! Selects the index that a list reads, and adds the conditions. Each index is in list order, so a
//! page is a range of the index. A list reads the most selective index, and checks the other
//! filters for each row.

use super::columns::Columns;
use super::sql::Sql;
use crate::connections::filter::{ConnectionFilter, Tags};
use crate::ports::Param;
use crate::util::json;

/// The number of values of the column `name_overlap`, which begin at 0. The last value also
/// represents greater values.
pub(super) const NAME_OVERLAPS: usize = 8;

impl Sql<'_> {
    /// Adds ` FROM … WHERE …`: the connections `c` that match the filter's columns, read by their
    /// index. Conditions may be added.
    pub(super) fn walk_columns(&mut self, filter: &ConnectionFilter) -> &mut Self {
        let columns = filter.columns();
        self.walk_index(columns.index(), filter).column_filters(filter);
        let Some(open) = columns.open() else { return self };
        // Every connection has one of these values. Listing them lets SQLite use the index.
        self.push(" AND ").push(open.column).push(" IN ").texts(&open.values)
    }

    /// Like [`Self::walk_columns`], with a given index and without the filter's columns.
    pub(super) fn walk_index(&mut self, index: &str, filter: &ConnectionFilter) -> &mut Self {
        self.push(" FROM api_keys k CROSS JOIN connections c INDEXED BY ").push(index);
        self.push(" ON ").where_tenant("c", filter).push(" WHERE ").guard()
    }

    /// Like [`Self::walk_index`], with the index by name: connections whose name and identity share
    /// fewer than `overlaps` leading characters.
    pub(super) fn walk_names(&mut self, overlaps: usize, filter: &ConnectionFilter) -> &mut Self {
        self.walk_index("connections_by_name", filter).push(" AND c.name_overlap IN (");
        for overlap in 0..overlaps.min(NAME_OVERLAPS) {
            self.push(if overlap == 0 { "" } else { ", " }).push(&overlap.to_string());
        }
        self.push(")")
    }

    /// Like [`Self::walk_index`], with the rows `t` of the rarest of these tags; no rows when a tag
    /// has no connections. `c` is joined only when needed.
    pub(super) fn walk_tag(
        &mut self,
        tags: &[String],
        filter: &ConnectionFilter,
        needs_c: bool,
    ) -> &mut Self {
        self.push(" FROM api_keys k CROSS JOIN connection_tags t ON ").where_tenant("t", filter);
        self.push(" AND t.tag = ");
        match tags {
            [tag] => self.text(tag),
            tags => {
                self.push("(SELECT value FROM (SELECT n.value, min(n.n), count(*) AS known FROM ");
                self.counters(filter, "tag", tags).push(") WHERE known = ");
                self.push(&tags.len().to_string()).push(")")
            }
        };
        if needs_c || filter.columns() != Columns::NONE {
            self.push(" CROSS JOIN connections c ON c.seq = t.seq AND c.id = t.id");
        }
        self.push(" WHERE ").guard().column_filters(filter);
        if tags.len() > 1 { self.all_tags("t", tags) } else { self }
    }

    /// Like [`Self::walk_index`], with the rows `t` of any of these tags.
    pub(super) fn walk_tags<T: AsRef<str>>(
        &mut self,
        tags: &[T],
        filter: &ConnectionFilter,
    ) -> &mut Self {
        self.push(" FROM api_keys k CROSS JOIN connection_tags t ON ").where_tenant("t", filter);
        self.push(" AND t.tag IN ").texts(tags).push(" WHERE ").guard()
    }

    /// Joins the connections `c` that the rows of `table` point to.
    pub(super) fn rows_of(&mut self, table: &str) -> &mut Self {
        self.push(" CROSS JOIN connections c ON c.seq = ").push(table).push(".seq AND c.id = ");
        self.push(table).push(".id")
    }

    /// Adds the condition that a row of `table` belongs to the key's tenant, and is active or
    /// inactive, depending on the filter.
    fn where_tenant(&mut self, table: &str, filter: &ConnectionFilter) -> &mut Self {
        for column in ["account", "environment"] {
            self.push(table).push(".").push(column).push(" = k.").push(column).push(" AND ");
        }
        self.push(table).push(".active = ").integer(u64::from(filter.active))
    }

    /// Adds all conditions of the filter on the connection `c`.
    pub(super) fn conditions(&mut self, filter: &ConnectionFilter) -> &mut Self {
        self.column_filters(filter).q_filter(filter).tag_filter(filter)
    }

    /// Adds the filter's conditions on columns.
    pub(super) fn column_filters(&mut self, filter: &ConnectionFilter) -> &mut Self {
        if let Some(identity) = &filter.identity {
            self.where_identity(identity);
        }
        self.where_account(filter.account.as_deref());
        if let Some(name) = &filter.name {
            self.push(" AND c.name_folded = ").text(name);
        }
        if let Some(platform) = &filter.platform {
            self.push(" AND c.platform = ").text(platform);
        }
        if let Some(version) = &filter.platform_version {
            self.push(" AND c.platform_version = ").text(version);
        }
        if let Some(state) = filter.state {
            self.push(" AND c.state = ").text(state.as_str());
        }
        self.where_identity_type(filter.identity_type).where_platforms(filter.platforms.as_ref());
        self.where_ids("c.id", filter.connections.as_ref())
    }

    /// Adds the condition that the name or the identity begins with `q`.
    pub(super) fn q_filter(&mut self, filter: &ConnectionFilter) -> &mut Self {
        let Some(q) = &filter.q else { return self };
        self.push(" AND (").has_prefix("c.name_folded", q);
        self.push(" OR ").has_prefix("c.identity_folded", q).push(")")
    }

    /// Adds the condition that a column begins with a prefix, as a range of an index. Strings are compared by code
    /// point.
    pub(super) fn has_prefix(&mut self, column: &str, prefix: &str) -> &mut Self {
        self.push(column).push(" >= ").text(prefix).push(" AND ").push(column).push(" < ");
        match successor(prefix) {
            Some(end) => self.text(&end),
            // Every string sorts before every blob.
            None => self.push("x''"),
        }
    }

    /// Adds the condition that the connection has the tags.
    pub(super) fn tag_filter(&mut self, filter: &ConnectionFilter) -> &mut Self {
        match &filter.tags {
            None => self,
            Some(Tags::All(tags)) => self.all_tags("c", tags),
            // A connection usually has fewer tags than the filter, so read the tags of the
            // connection.
            Some(Tags::Any(tags)) => {
                self.push(" AND (SELECT 1 FROM json_each(c.tags) j WHERE j.value IN ");
                self.texts(tags).push(") IS NOT NULL")
            }
        }
    }

    /// Adds the condition that the connection of `table` (`c`, or the tag row `t`) has all the
    /// tags. Each tag is a scalar subquery, because `SQLite` turns `EXISTS` into a join, and takes
    /// a second to plan twenty of them.
    fn all_tags(&mut self, table: &str, tags: &[String]) -> &mut Self {
        for tag in tags {
            self.push(" AND (");
            if table == "t" {
                // The row `t` itself has one of the tags.
                self.push("t.tag = ").text(tag).push(" OR ");
            }
            self.push("(SELECT 1 FROM connection_tags h WHERE ");
            for column in ["account", "environment", "active", "created_at", "id"] {
                self.push("h.").push(column).push(" = ").push(table).push(".").push(column);
                self.push(" AND ");
            }
            self.push("h.tag = ").text(tag).push(") IS NOT NULL)");
        }
        self
    }

    /// Adds the keys as one JSON parameter, because there may be more keys than parameters of a
    /// statement.
    pub(super) fn keys(&mut self, keys: &[[String; 3]]) -> &mut Self {
        let json = json::text(&keys);
        self.bind(Param::Text(json))
    }
}

/// The smallest string that is greater than every string with this prefix. Returns `None` if no
/// string is greater.
fn successor(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        let next = (u32::from(last)..=u32::from(char::MAX)).skip(1).find_map(char::from_u32);
        if let Some(next) = next {
            text.push(next);
            return Some(text);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::successor;

    #[test]
    fn the_successor_is_the_end_of_a_prefix_range() {
        for (prefix, expected) in [
            ("a", Some("b")),
            ("az", Some("a{")),
            ("\u{d7ff}", Some("\u{e000}")),
            ("a\u{10ffff}", Some("b")),
            ("\u{10ffff}", None),
            ("é", Some("ê")),
        ] {
            assert_eq!(successor(prefix).as_deref(), expected, "{prefix:?}");
        }
    }
}
