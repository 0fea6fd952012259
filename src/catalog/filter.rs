//! What a request asks of the two catalog lists, and the rows that answer it.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use super::model::Method;
use super::search::{Query, Searched, search};
use super::segment::{ActionList, ConnectorList, List, ascending};
use crate::names::Names;

/// The rows that answer a request, in the order in which they are paged.
#[derive(Debug, Clone)]
pub enum Selection {
    /// Neighbours in the list.
    Range(Range<usize>),
    /// Any rows.
    Rows(Rc<[u32]>),
}

impl Selection {
    /// Number of rows: the list's `total`.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Range(rows) => rows.len(),
            Self::Rows(rows) => rows.len(),
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The JSON of the rows at these positions, joined by commas.
    #[must_use]
    pub fn json<'a>(&self, list: &'a List, positions: Range<usize>) -> Cow<'a, [u8]> {
        match self {
            Self::Range(rows) => {
                let start = rows.start.saturating_add(positions.start);
                list.json(start..start.saturating_add(positions.len())).into()
            }
            Self::Rows(rows) => {
                let rows = rows.get(positions).unwrap_or_default().iter().map(|row| *row as usize);
                let json: Vec<&[u8]> =
                    rows.map(|row| list.json(row..row.saturating_add(1))).collect();
                json.join(&b',').into()
            }
        }
    }
}

/// The rows that one filter leaves, found through an index.
enum Indexed {
    Neighbours(Range<usize>),
    /// In list order.
    Rows(Vec<u32>),
}

impl Indexed {
    fn contains(&self, row: u32) -> bool {
        match self {
            Self::Neighbours(rows) => rows.contains(&(row as usize)),
            Self::Rows(rows) => rows.binary_search(&row).is_ok(),
        }
    }

    fn into_rows(self) -> Vec<u32> {
        match self {
            Self::Neighbours(rows) => rows.filter_map(|row| u32::try_from(row).ok()).collect(),
            Self::Rows(rows) => rows,
        }
    }
}

/// The rows that are in all of `indexed` (the narrowest last) and for which `unindexed` holds; in the order of `found`, else in list order.
fn select(
    list: &List,
    found: Option<Vec<u32>>,
    mut indexed: Vec<Indexed>,
    unindexed: Option<&dyn Fn(usize) -> bool>,
) -> Selection {
    let nothing_else = found.is_none() && indexed.len() <= 1 && unindexed.is_none();
    let candidates = match (found, indexed.pop()) {
        (Some(found), narrowest) => {
            indexed.extend(narrowest);
            found
        }
        (None, Some(Indexed::Neighbours(rows))) if nothing_else => return Selection::Range(rows),
        (None, None) if nothing_else => return Selection::Range(0..list.len),
        (None, Some(narrowest)) => narrowest.into_rows(),
        (None, None) => Indexed::Neighbours(0..list.len).into_rows(),
    };
    let holds = |row: &u32| {
        indexed.iter().all(|rows| rows.contains(*row))
            && unindexed.is_none_or(|unindexed| unindexed(*row as usize))
    };
    Selection::Rows(candidates.into_iter().filter(holds).collect())
}

/// What is asked of one kind of list.
pub trait ListFilter {
    /// The kind of list.
    type List;

    /// Whether only a look at every row can answer: then the answer is worth remembering.
    fn is_scan(&self) -> bool;

    /// The rows that hold everything asked.
    fn select(&self, list: &Self::List) -> Selection;

    /// What an answer is remembered by.
    fn to_filter(&self) -> Filter;
}

/// The filters of the connector list (specification, part 4.2), folded where case is ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ConnectorFilter {
    /// Folded.
    pub platform: Option<String>,
    /// Only connectors that the operator enabled for hosted authorization.
    pub authkit: bool,
    /// The whole key.
    pub key: Option<String>,
    /// Folded.
    pub name: Option<String>,
    /// Folded.
    pub category: Option<String>,
    /// What is searched for.
    pub q: Option<Query>,
    /// Any of these, where a token is confined to them.
    pub platforms: Option<Names>,
}

impl ListFilter for ConnectorFilter {
    type List = ConnectorList;

    fn is_scan(&self) -> bool {
        let indexed = self.key.is_some()
            || self.platform.is_some()
            || self.name.is_some()
            || self.platforms.is_some();
        self.q.is_some() || (!indexed && (self.authkit || self.category.is_some()))
    }

    fn select(&self, connectors: &ConnectorList) -> Selection {
        let list = &connectors.list;
        let found = self.q.as_ref().map(|query| search(Searched { list, shared: b"" }, query));
        let rows_of = |platforms: &Names| {
            let rows = platforms.all().into_iter().flat_map(|one| connectors.with_platform(one));
            Indexed::Rows(ascending(rows))
        };
        let indexed = [
            self.name.as_ref().map(|name| Indexed::Neighbours(list.with_title(name))),
            self.platforms.as_ref().map(rows_of),
            self.platform
                .as_ref()
                .map(|platform| Indexed::Rows(connectors.with_platform(platform))),
            self.key.as_ref().map(|key| Indexed::Rows(list.with_key(key, false))),
        ];
        let unindexed = |row: usize| {
            self.category.as_ref().is_none_or(|category| connectors.has_category(row, category))
                && (!self.authkit || connectors.has_authkit(row))
        };
        let needed = self.category.is_some() || self.authkit;
        select(list, found, indexed.into_iter().flatten().collect(), needed.then_some(&unindexed))
    }

    fn to_filter(&self) -> Filter {
        Filter::Connectors(self.clone())
    }
}

/// The filters of the action list (specification, part 4.1), folded where case is ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ActionFilter {
    /// Folded.
    pub title: Option<String>,
    /// The whole key.
    pub key: Option<String>,
    /// A method; none for a text that names no method, which no row meets.
    pub method: Option<Option<Method>>,
    /// What is searched for.
    pub q: Option<Query>,
}

/// A filter of either list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Filter {
    /// Of the connector list.
    Connectors(ConnectorFilter),
    /// Of an action list.
    Actions(ActionFilter),
}

impl Filter {
    /// Bytes of text that it holds: a request may send long ones.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let (texts, q) = match self {
            Self::Connectors(filter) => {
                (vec![&filter.platform, &filter.key, &filter.name, &filter.category], &filter.q)
            }
            Self::Actions(filter) => (vec![&filter.title, &filter.key], &filter.q),
        };
        let platforms = match self {
            Self::Connectors(ConnectorFilter { platforms: Some(names), .. }) => {
                names.as_str().len()
            }
            _ => 0,
        };
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        texts.saturating_add(platforms).saturating_add(q.as_ref().map_or(0, |q| q.phrase().len()))
    }
}

impl ListFilter for ActionFilter {
    type List = ActionList;

    fn is_scan(&self) -> bool {
        self.q.is_some() || (self.method.is_some() && self.key.is_none() && self.title.is_none())
    }

    fn select(&self, actions: &ActionList) -> Selection {
        let list = &actions.list;
        let found = self
            .q
            .as_ref()
            .map(|query| search(Searched { list, shared: actions.platform() }, query));
        let indexed = [
            self.title.as_ref().map(|title| Indexed::Neighbours(list.with_title(title))),
            self.key.as_ref().map(|key| Indexed::Rows(list.with_key(key, false))),
        ];
        let unindexed = |row: usize| {
            self.method.flatten().is_some_and(|method| actions.has_method(row, method))
        };
        select(
            list,
            found,
            indexed.into_iter().flatten().collect(),
            self.method.is_some().then_some(&unindexed),
        )
    }

    fn to_filter(&self) -> Filter {
        Filter::Actions(self.clone())
    }
}
