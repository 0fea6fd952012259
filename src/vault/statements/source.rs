//! Which index a list walks. Every one of them is in list order, so that a page is a walk from its place on; the most
//! selective one is taken, and the filters that it does not answer are looked at on the way.

use super::Sql;
use crate::json;
use crate::names::Names;
use crate::ports::Param;
use crate::vault::filter::{ConnectionFilter, Tags};
use crate::vault::model::IdentityType;

/// Different values of the column `name_overlap`, from 0 on; the last one stands for all that are greater, too.
pub(super) const NAME_OVERLAPS: usize = 8;

/// What a list walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source<'a> {
    /// An index of `connections`.
    Index(&'static str),
    /// The connections of a name.
    Name,
    /// The names and the identities that begin with this.
    Prefix(&'a str),
    /// The connections of the rarest of these tags, which they must all have.
    RarestTag(&'a [String]),
    /// The connections of any of these tags.
    AnyTag(&'a [String]),
}

/// When a source is walked. Which of two is the shorter way the counters know, and only the database knows them: it is
/// given both, and the longer one ends before its first row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// When the first measure is not more than the second one.
    AtMost(Measure, Measure),
    /// When the first measure is less than the second one.
    Less(Measure, Measure),
}

/// A number of connections, by the counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Of the rarest tag, where all are asked for; of all tags together, where any is.
    Tags,
    /// With what the filter asks of columns, or with most of it.
    Columns,
    /// With the platform version.
    Version,
    /// With the identity type.
    IdentityType,
}

/// Filters that are equalities on columns of `connections`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub platform: bool,
    pub version: bool,
    pub identity_type: bool,
}

impl ConnectionFilter {
    pub(super) fn columns(&self) -> Columns {
        Columns {
            platform: self.platform.is_some(),
            version: self.platform_version.is_some(),
            identity_type: self.identity_type.is_some(),
        }
    }

    /// The most selective source; two, of which one is walked, when only the database knows which that is.
    pub(super) fn sources(&self) -> Vec<(Source<'_>, When)> {
        let index = Source::Index(self.columns().index());
        if self.identity.is_some() {
            return vec![(Source::Index("connections_by_identity"), When::Always)];
        }
        if self.name.is_some() {
            return vec![(Source::Name, When::Always)];
        }
        let (by_tags, by_columns) = (
            When::AtMost(Measure::Tags, Measure::Columns),
            When::Less(Measure::Columns, Measure::Tags),
        );
        let tags = match (&self.q, &self.tags) {
            (Some(q), _) => return vec![(Source::Prefix(q), When::Always)],
            (None, Some(Tags::Any(tags))) if tags.len() > 1 => Source::AnyTag(tags),
            (None, Some(Tags::All(tags) | Tags::Any(tags))) => Source::RarestTag(tags),
            (None, None) if self.columns() == Columns::VERSION_AND_TYPE => {
                let (version, identity_type) = (Measure::Version, Measure::IdentityType);
                let by_version = Source::Index("connections_by_platform_version");
                return vec![
                    (by_version, When::AtMost(version, identity_type)),
                    (index, When::Less(identity_type, version)),
                ];
            }
            (None, None) => return vec![(index, When::Always)],
        };
        if self.columns() == Columns::NONE {
            return vec![(tags, When::Always)];
        }
        vec![(tags, by_tags), (index, by_columns)]
    }
}

impl Columns {
    pub(super) const NONE: Self = Self { platform: false, version: false, identity_type: false };
    const VERSION_AND_TYPE: Self = Self { platform: false, version: true, identity_type: true };

    const fn index(self) -> &'static str {
        match (self.platform, self.version, self.identity_type) {
            (true, true, _) => "connections_by_platform_and_version",
            (true, false, true) => "connections_by_platform_and_identity_type",
            (true, false, false) => "connections_by_platform",
            (false, _, true) => "connections_by_identity_type",
            (false, true, false) => "connections_by_platform_version",
            (false, false, false) => "connections_by_age",
        }
    }
}

impl Sql<'_> {
    /// ` FROM … WHERE …`: the connections `c` that a source gives and for which the filter holds. Conditions may follow.
    /// Gives the name of the table that has their places in the list.
    pub(super) fn walk(
        &mut self,
        (source, when): (Source<'_>, When),
        filter: &ConnectionFilter,
    ) -> &'static str {
        match source {
            Source::Index(index) => {
                self.walk_index(index, filter).when(when, filter);
                "c"
            }
            Source::Name => {
                self.walk_names(NAME_OVERLAPS, filter).when(when, filter);
                "m"
            }
            Source::Prefix(_) => "m",
            Source::RarestTag(tags) => {
                self.walk_tag(tags, filter).when(when, filter);
                "t"
            }
            Source::AnyTag(tags) => {
                self.walk_any_tag(tags, filter, when);
                "m"
            }
        }
    }

    /// The condition that a way is the shorter one.
    fn when(&mut self, when: When, filter: &ConnectionFilter) -> &mut Self {
        let (first, compared, second) = match when {
            When::Always => return self,
            When::AtMost(first, second) => (first, " <= ", second),
            When::Less(first, second) => (first, " < ", second),
        };
        self.push(" AND ").measure(first, filter).push(compared).measure(second, filter)
    }

    /// ` FROM … WHERE …`: the connections `c` that an index gives and for which the filter holds. Conditions may follow.
    pub(super) fn walk_index(&mut self, index: &str, filter: &ConnectionFilter) -> &mut Self {
        self.push(" FROM api_keys k CROSS JOIN connections c INDEXED BY ").push(index);
        self.push(" ON c.account = k.account AND c.environment = k.environment AND c.active = ");
        self.integer(u64::from(filter.active)).push(" WHERE ").guard();
        self.column_filters(filter).q_filter(filter).tag_filter(filter)
    }

    /// As above, by name: those whose name and identity begin with fewer than `overlaps` of the same characters.
    pub(super) fn walk_names(&mut self, overlaps: usize, filter: &ConnectionFilter) -> &mut Self {
        self.walk_index("connections_by_name", filter).push(" AND c.name_overlap IN (");
        for overlap in 0..overlaps.min(NAME_OVERLAPS) {
            self.push(if overlap == 0 { "" } else { ", " }).push(&overlap.to_string());
        }
        self.push(")")
    }

    /// As above, the connections of a tag `t`: the rarest one. There is none when one of the tags has no connections.
    fn walk_tag(&mut self, tags: &[String], filter: &ConnectionFilter) -> &mut Self {
        self.push(" FROM api_keys k CROSS JOIN connection_tags t ON t.account = k.account AND t.environment = k.environment AND t.active = ");
        self.integer(u64::from(filter.active)).push(" AND t.tag = ");
        match tags {
            [tag] => self.text(tag),
            tags => {
                self.push("(SELECT value FROM (SELECT n.value, min(n.n), count(*) AS known FROM ");
                self.counters(filter, "tag", tags).push(") WHERE known = ");
                self.push(&tags.len().to_string()).push(")")
            }
        };
        self.push(" CROSS JOIN connections c ON c.seq = t.seq AND c.id = t.id WHERE ").guard();
        self.column_filters(filter);
        if tags.len() > 1 { self.all_tags("t", tags) } else { self }
    }

    /// As above, the connections of any of the tags, each once: `m` with its place in the list.
    fn walk_any_tag(
        &mut self,
        tags: &[String],
        filter: &ConnectionFilter,
        when: When,
    ) -> &mut Self {
        self.push(" FROM (SELECT DISTINCT t.created_at, t.id, t.seq FROM api_keys k CROSS JOIN connection_tags t ON t.account = k.account AND t.environment = k.environment AND t.active = ");
        self.integer(u64::from(filter.active)).push(" AND t.tag IN ").texts(tags);
        self.push(" WHERE ").guard().when(when, filter);
        self.push(") m CROSS JOIN connections c ON c.seq = m.seq AND c.id = m.id WHERE true");
        self.column_filters(filter)
    }

    /// Conditions on columns.
    pub(super) fn column_filters(&mut self, filter: &ConnectionFilter) -> &mut Self {
        if let Some(identity) = &filter.identity {
            self.of_identity(identity);
        }
        if let Some(name) = &filter.name {
            self.push(" AND c.name_folded = ").text(name);
        }
        if let Some(platform) = &filter.platform {
            self.push(" AND c.platform = ").text(platform);
        }
        if let Some(version) = &filter.platform_version {
            self.push(" AND c.platform_version = ").text(version);
        }
        self.of_identity_type(filter.identity_type).of_platforms(filter.platforms.as_ref())
    }

    /// That the connection is of this identity.
    pub(super) fn of_identity(&mut self, identity: &str) -> &mut Self {
        self.push(" AND c.identity_folded = ").text(&crate::fold::fold(identity));
        self.push(" AND c.identity = ").text(identity)
    }

    /// That the connection is of this type of identities, if any is given.
    pub(super) fn of_identity_type(&mut self, identity_type: Option<IdentityType>) -> &mut Self {
        let Some(identity_type) = identity_type else { return self };
        self.push(" AND c.identity_type = ").text(identity_type.as_str())
    }

    /// That the connection is of any of these platforms, if any are given.
    pub(super) fn of_platforms(&mut self, platforms: Option<&Names>) -> &mut Self {
        let Some(platforms) = platforms else { return self };
        self.push(" AND c.platform IN ").texts(&platforms.all())
    }

    /// That the name or the identity begins with `q`.
    pub(super) fn q_filter(&mut self, filter: &ConnectionFilter) -> &mut Self {
        let Some(q) = &filter.q else { return self };
        self.push(" AND (").begins("c.name_folded", q);
        self.push(" OR ").begins("c.identity_folded", q).push(")")
    }

    /// That a text begins with a prefix, as a range of an index: texts are compared by code points.
    pub(super) fn begins(&mut self, column: &str, prefix: &str) -> &mut Self {
        self.push(column).push(" >= ").text(prefix).push(" AND ").push(column).push(" < ");
        match successor(prefix) {
            Some(end) => self.text(&end),
            // Every text is less than every blob.
            None => self.push("x''"),
        }
    }

    /// That the connection has the tags.
    pub(super) fn tag_filter(&mut self, filter: &ConnectionFilter) -> &mut Self {
        match &filter.tags {
            None => self,
            Some(Tags::All(tags)) => self.all_tags("c", tags),
            // Its own tags are mostly fewer than those that it may have.
            Some(Tags::Any(tags)) => {
                self.push(" AND (SELECT 1 FROM json_each(c.tags) j WHERE j.value IN ");
                self.texts(tags).push(") IS NOT NULL")
            }
        }
    }

    /// That the connection of `table`, which is `c` or the tag `t`, has all of the tags. Each is looked for in a subquery
    /// for its value: with `EXISTS`, which becomes a join, the database takes a second to plan a statement with twenty.
    fn all_tags(&mut self, table: &str, tags: &[String]) -> &mut Self {
        for tag in tags {
            self.push(" AND (");
            if table == "t" {
                // It has the tag that led to it.
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

    /// A list of texts in parentheses.
    pub(super) fn texts<T: AsRef<str>>(&mut self, texts: &[T]) -> &mut Self {
        self.push("(");
        for (nth, text) in texts.iter().enumerate() {
            if nth > 0 {
                self.push(", ");
            }
            self.text(text.as_ref());
        }
        self.push(")")
    }

    /// Any of the keys, as one JSON text: there may be more of them than a statement may have parameters.
    pub(super) fn keys(&mut self, keys: &[[String; 3]]) -> &mut Self {
        let json = json::list(keys.iter().map(|key| json::array(key)));
        self.bind(Param::Text(json))
    }
}

/// The least text that is greater than every text which begins with `prefix`; none when there is none.
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
    fn the_successor_ends_a_prefix() {
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
