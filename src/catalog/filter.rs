//! What a request asks of the two catalog lists, and the rows that answer it.

use std::ops::Range;
use std::rc::Rc;

use super::model::Method;
use super::search::{MAX_CHARS, Query, Searched, search};
use super::segment::{ActionList, ConnectorList, List};
use crate::api::paging::Paging;
use crate::api::problem::Problem;
use crate::api::query::QueryReader;
use crate::fold::fold;

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

    /// The envelope of the asked page.
    #[must_use]
    pub fn page(&self, list: &List, paging: Paging) -> Vec<u8> {
        let at = paging.positions(self.len());
        match self {
            Self::Range(rows) => {
                let start = rows.start.saturating_add(at.start);
                paging.envelope(list.json(start..start.saturating_add(at.len())), self.len())
            }
            Self::Rows(rows) => {
                let asked = rows.get(at).unwrap_or_default();
                let json: Vec<&[u8]> = asked
                    .iter()
                    .map(|row| list.json(*row as usize..(*row as usize).saturating_add(1)))
                    .collect();
                paging.envelope(&json.join(&b','), self.len())
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

/// The filters of the connector list (specification, part 4.2), folded where case is ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ConnectorFilter {
    platform: Option<String>,
    authkit: bool,
    key: Option<String>,
    name: Option<String>,
    category: Option<String>,
    q: Option<Query>,
}

impl ConnectorFilter {
    /// The names of its parameters.
    pub const PARAMETERS: [&'static str; 8] = [
        "platform",
        "authkit",
        "key",
        "name",
        "category",
        "q",
        Paging::PARAMETERS[0],
        Paging::PARAMETERS[1],
    ];

    /// Reads a query string.
    ///
    /// # Errors
    /// With all faults of the query.
    pub fn parse(query: &str) -> Result<(Self, Paging), Problem> {
        let mut reader = QueryReader::new(query, &Self::PARAMETERS);
        let filter = Self {
            platform: reader.text("platform").map(|text| fold(&text)),
            authkit: reader.boolean("authkit").unwrap_or(false),
            key: reader.text("key"),
            name: reader.text("name").map(|text| fold(&text)),
            category: reader.text("category").map(|text| fold(&text)),
            q: read_q(&mut reader),
        };
        let paging = Paging::read(&mut reader);
        reader.finish().map(|()| (filter, paging))
    }

    /// Whether only a look at every row can answer: then the answer is worth remembering.
    #[must_use]
    pub const fn is_scan(&self) -> bool {
        let indexed = self.key.is_some() || self.platform.is_some() || self.name.is_some();
        self.q.is_some() || (!indexed && (self.authkit || self.category.is_some()))
    }

    /// The rows that hold everything asked.
    #[must_use]
    pub fn select(&self, connectors: &ConnectorList) -> Selection {
        let list = connectors.list();
        let found =
            self.q.as_ref().map(|query| search(searched(list, connectors.fields(), b""), query));
        let indexed = [
            self.key.as_ref().map(|key| Indexed::Rows(list.with_key(key, false))),
            self.platform
                .as_ref()
                .map(|platform| Indexed::Rows(connectors.with_platform(platform))),
            self.name.as_ref().map(|name| Indexed::Neighbours(connectors.with_name(name))),
        ];
        let unindexed = |row: usize| {
            self.category.as_ref().is_none_or(|category| connectors.has_category(row, category))
                && (!self.authkit || connectors.has_authkit(row))
        };
        let needed = self.category.is_some() || self.authkit;
        select(list, found, indexed.into_iter().flatten().collect(), needed.then_some(&unindexed))
    }
}

/// The filters of the action list (specification, part 4.1), folded where case is ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ActionFilter {
    title: Option<String>,
    key: Option<String>,
    method: Option<MethodFilter>,
    q: Option<Query>,
}

/// A filter of either list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Filter {
    /// Of the connector list.
    Connectors(ConnectorFilter),
    /// Of an action list.
    Actions(ActionFilter),
}

impl From<&ConnectorFilter> for Filter {
    fn from(filter: &ConnectorFilter) -> Self {
        Self::Connectors(filter.clone())
    }
}

impl From<&ActionFilter> for Filter {
    fn from(filter: &ActionFilter) -> Self {
        Self::Actions(filter.clone())
    }
}

impl Filter {
    /// Whether only a look at every row can answer: then the answer is worth remembering.
    #[must_use]
    pub const fn is_scan(&self) -> bool {
        match self {
            Self::Connectors(filter) => filter.is_scan(),
            Self::Actions(filter) => filter.is_scan(),
        }
    }
}

/// A method, or a text that names none: an ordinary filter that no row meets.
type MethodFilter = Result<Method, String>;

impl ActionFilter {
    /// The names of its parameters.
    pub const PARAMETERS: [&'static str; 6] =
        ["title", "key", "method", "q", Paging::PARAMETERS[0], Paging::PARAMETERS[1]];

    /// Reads a query string.
    ///
    /// # Errors
    /// With all faults of the query.
    pub fn parse(query: &str) -> Result<(Self, Paging), Problem> {
        let mut reader = QueryReader::new(query, &Self::PARAMETERS);
        let filter = Self {
            title: reader.text("title").map(|text| fold(&text)),
            key: reader.text("key"),
            method: reader.text("method").map(|text| method(&text)),
            q: read_q(&mut reader),
        };
        let paging = Paging::read(&mut reader);
        reader.finish().map(|()| (filter, paging))
    }

    /// Whether only a look at every row can answer: then the answer is worth remembering.
    #[must_use]
    pub const fn is_scan(&self) -> bool {
        self.q.is_some() || (self.method.is_some() && self.key.is_none() && self.title.is_none())
    }

    /// The rows that hold everything asked.
    #[must_use]
    pub fn select(&self, actions: &ActionList) -> Selection {
        let list = actions.list();
        let found = self
            .q
            .as_ref()
            .map(|query| search(searched(list, actions.fields(), actions.platform()), query));
        let indexed = [
            self.title.as_ref().map(|title| Indexed::Neighbours(actions.with_title(title))),
            self.key.as_ref().map(|key| Indexed::Rows(list.with_key(key, false))),
        ];
        let unindexed = |row: usize| match &self.method {
            Some(Ok(method)) => actions.has_method(row, *method),
            Some(Err(_)) => false,
            None => true,
        };
        select(
            list,
            found,
            indexed.into_iter().flatten().collect(),
            self.method.is_some().then_some(&unindexed),
        )
    }
}

fn read_q(reader: &mut QueryReader<'_>) -> Option<Query> {
    let text = reader.text("q")?;
    let query = Query::parse(&text);
    if query.is_none() {
        reader.invalid(
            "q",
            &format!(
                "must have 1 to {MAX_CHARS} characters and at least one that is not white space"
            ),
        );
    }
    query
}

fn method(text: &str) -> MethodFilter {
    let folded = fold(text);
    Method::ALL.into_iter().find(|method| fold(method.as_str()) == folded).ok_or(folded)
}

fn searched<'a>(
    list: &'a List,
    fields: &'a [super::layout::Texts],
    shared: &'a [u8],
) -> Searched<'a> {
    Searched { bytes: &list.bytes, rows: list.len, fields, shared }
}
