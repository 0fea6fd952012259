//! What a request asks of the two catalog lists, and which rows match.

use std::ops::Range;
use std::rc::Rc;

use super::finder::rank::Ranking;
use super::list::List;
use super::row::{AUTHKIT, Facts};
use super::search::{Query, Search};
use crate::ports::StorageError;
use crate::terms::Method;
use crate::util::name_set::Names;

/// The rows that match a request, in the order of its pages.
#[derive(Debug, Clone)]
pub enum Selection {
    /// Consecutive rows of the list.
    Range(Range<usize>),
    /// Any rows.
    Rows(Rc<[u32]>),
    /// What the search over all actions found.
    Ranked(Rc<Ranking>),
}

impl Selection {
    /// The number of rows: the list's `total`.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Range(rows) => rows.len(),
            Self::Rows(rows) => rows.len(),
            Self::Ranked(rows) => rows.len(),
        }
    }

    /// The size in memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Range(_) => 0,
            Self::Rows(rows) => size_of_val(&**rows),
            Self::Ranked(rows) => rows.bytes(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the rows before this position are known.
    #[must_use]
    pub fn reaches(&self, end: usize) -> bool {
        match self {
            Self::Range(_) | Self::Rows(_) => true,
            Self::Ranked(rows) => rows.kept() >= end.min(rows.len()),
        }
    }

    /// The rows at these positions of the selection.
    #[must_use]
    pub fn page(&self, positions: Range<usize>) -> Self {
        match self {
            Self::Range(rows) => {
                let start = rows.start.saturating_add(positions.start);
                Self::Range(start..start.saturating_add(positions.len()).min(rows.end))
            }
            Self::Rows(rows) => Self::Rows(rows.get(positions).unwrap_or_default().into()),
            Self::Ranked(rows) => Self::Rows(rows.page(positions).into()),
        }
    }

    /// The rows' numbers in the list.
    #[must_use]
    pub fn rows(&self) -> Vec<usize> {
        match self {
            Self::Range(rows) => rows.clone().collect(),
            Self::Rows(rows) => rows.iter().map(|row| *row as usize).collect(),
            Self::Ranked(_) => self.page(0..self.len()).rows(),
        }
    }

    /// The rows' JSON, joined by commas.
    ///
    /// # Errors
    /// When a row's part is not loaded, or is damaged.
    pub fn json(&self, list: &List) -> Result<Vec<u8>, StorageError> {
        match self {
            Self::Range(rows) => list.json(rows.clone()).map(std::borrow::Cow::into_owned),
            Self::Rows(rows) => {
                let rows = rows.iter().map(|row| list.row(*row as usize));
                Ok(rows.collect::<Result<Vec<_>, _>>()?.join(&b','))
            }
            Self::Ranked(_) => self.page(0..self.len()).json(list),
        }
    }
}

/// What a filter requires of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Wish<T> {
    /// Nothing: every row matches.
    #[default]
    Any,
    /// To be this one.
    Only(T),
    /// To be one that no row has: no row matches.
    Unknown,
}

impl<T: PartialEq> Wish<T> {
    fn is_met_by(&self, value: &T) -> bool {
        match self {
            Self::Any => true,
            Self::Only(wanted) => wanted == value,
            Self::Unknown => false,
        }
    }
}

/// The filters of the connector list (specification, part 4.2), folded where case is ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ConnectorFilter {
    /// Folded.
    pub platform: Option<String>,
    /// Only connectors that the operator enabled for hosted authorization.
    pub authkit: bool,
    /// Only connectors that accounts can be connected to, when these platforms have an OAuth client.
    pub connectable: Option<Names>,
    /// The whole key.
    pub key: Option<String>,
    /// Folded.
    pub name: Option<String>,
    /// Folded.
    pub category: Option<String>,
    /// What is searched for.
    pub q: Option<Query>,
    /// Any of these, when a token is confined to them, or those that have an OAuth client are asked for.
    pub platforms: Option<Names>,
}

/// The filters of the action list (specification, part 4.1), folded where case is ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ActionFilter {
    /// Folded.
    pub title: Option<String>,
    /// The whole key.
    pub key: Option<String>,
    /// The method.
    pub method: Wish<Method>,
    /// What is searched for.
    pub q: Option<Query>,
}

/// What a filter asks besides keys and platforms, in the same form for both kinds of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// The name or title, folded.
    pub title: Option<String>,
    /// The row's mark.
    pub mark: Wish<u8>,
    /// What the row's mark has, at least.
    pub bits: u8,
    /// The category, folded.
    pub group: Option<String>,
    /// What is searched for.
    pub q: Option<Query>,
}

impl From<&ConnectorFilter> for Wanted {
    fn from(filter: &ConnectorFilter) -> Self {
        Self {
            title: filter.name.clone(),
            mark: Wish::Any,
            bits: if filter.authkit { AUTHKIT } else { 0 },
            group: filter.category.clone(),
            q: filter.q.clone(),
        }
    }
}

impl From<&ActionFilter> for Wanted {
    fn from(filter: &ActionFilter) -> Self {
        Self {
            title: filter.title.clone(),
            mark: match filter.method {
                Wish::Any => Wish::Any,
                Wish::Only(method) => Wish::Only(method as u8),
                Wish::Unknown => Wish::Unknown,
            },
            bits: 0,
            group: None,
            q: filter.q.clone(),
        }
    }
}

impl Wanted {
    /// Whether every row matches.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.title.is_none() && !self.needs_columns() && self.q.is_none()
    }

    const fn needs_columns(&self) -> bool {
        !matches!(self.mark, Wish::Any) || self.bits != 0 || self.group.is_some()
    }

    fn has_mark(&self, mark: u8) -> bool {
        self.mark.is_met_by(&mark) && mark & self.bits == self.bits
    }

    /// Whether answering means looking at every row, so that the answer is worth caching.
    #[must_use]
    pub const fn is_scan(&self) -> bool {
        self.title.is_none() && !self.is_nothing()
    }

    /// Bytes of its strings: a request may send long ones.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let texts = [&self.title, &self.group].into_iter().flatten().map(String::len);
        let q = self.q.as_ref().map_or(0, |q| q.phrase().len());
        texts.fold(q, usize::saturating_add)
    }

    /// The rank of a row that matches, 0 when nothing is searched for. Returns `None` for a row that does not match.
    #[must_use]
    pub fn rank(&self, row: &Facts, search: Option<&Search>) -> Option<u8> {
        let holds = self.title.as_ref().is_none_or(|title| *title == row.title)
            && self.has_mark(row.mark)
            && self.group.as_ref().is_none_or(|group| *group == row.group);
        match search {
            _ if !holds => None,
            Some(search) => search.rank(row.text.as_bytes()),
            None => Some(0),
        }
    }

    /// The rows of a list that match. `shared` is a searchable text that all rows share.
    ///
    /// # Errors
    /// When a part of the list is not loaded, or is damaged.
    pub fn select(&self, list: &List, shared: &str) -> Result<Selection, StorageError> {
        let search = self.q.as_ref().map(|query| Search::new(query, shared));
        let range = match &self.title {
            Some(title) => list.with_title(title)?,
            None => 0..list.at.rows,
        };
        let found = match (&search, &self.title) {
            (None, _) if !self.needs_columns() => return Ok(Selection::Range(range)),
            (None, _) => range.filter_map(|row| u32::try_from(row).ok()).collect(),
            (Some(search), None) => search.run(list)?,
            (Some(search), Some(_)) => {
                let mut ranked = Vec::new();
                for row in range {
                    if let Some(rank) = search.rank(list.text(row)?) {
                        ranked.push((rank, u32::try_from(row).unwrap_or(u32::MAX)));
                    }
                }
                ranked.sort_unstable();
                ranked.into_iter().map(|(_, row)| row).collect()
            }
        };
        if self.needs_columns() { self.in_columns(found, list) } else { Ok(rows(found)) }
    }

    fn in_columns(&self, mut found: Vec<u32>, list: &List) -> Result<Selection, StorageError> {
        let columns = list.columns()?;
        let mark = |row: u32| columns.marks.get(row as usize).copied();
        found.retain(|row| mark(*row).is_some_and(|mark| self.has_mark(mark)));
        if let Some(group) = &self.group {
            let group = columns.group(group);
            found.retain(|row| group.is_some_and(|group| columns.is_in(*row as usize, group)));
        }
        Ok(rows(found))
    }
}

fn rows(found: Vec<u32>) -> Selection {
    Selection::Rows(found.into())
}
