//! The filters of the connector and action lists, and the rows that match them.

use std::ops::Range;
use std::rc::Rc;

use super::action_search::ranking::Ranking;
use super::format::list::List;
use super::list_search::{Query, Search};
use super::row::{AUTHKIT, RowFields};
use crate::ports::StorageError;
use crate::terms::Method;
use crate::util::name_set::Names;

/// The rows that match a request, in the order of the response.
#[derive(Debug, Clone)]
pub enum Selection {
    /// Consecutive rows of the list.
    Range(Range<usize>),
    /// The numbers of the selected rows.
    Rows(Rc<[u32]>),
    /// The result of the search over all actions.
    Ranked(Rc<Ranking>),
}

impl Selection {
    pub fn len(&self) -> usize {
        match self {
            Self::Range(rows) => rows.len(),
            Self::Rows(rows) => rows.len(),
            Self::Ranked(rows) => rows.len(),
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Self::Range(_) => 0,
            Self::Rows(rows) => size_of_val(&**rows),
            Self::Ranked(rows) => rows.bytes(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the rows at all positions before `end` are known.
    pub fn reaches(&self, end: usize) -> bool {
        match self {
            Self::Range(_) | Self::Rows(_) => true,
            Self::Ranked(rows) => rows.kept() >= end.min(rows.len()),
        }
    }

    /// The part of the selection at these positions.
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

    /// The row numbers of the selection, within the list.
    pub fn rows(&self) -> Vec<usize> {
        match self {
            Self::Range(rows) => rows.clone().collect(),
            Self::Rows(rows) => rows.iter().map(|row| *row as usize).collect(),
            Self::Ranked(_) => self.page(0..self.len()).rows(),
        }
    }

    /// The JSON of the rows, joined by commas.
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

/// A filter's requirement for a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Constraint<T> {
    /// Every row matches.
    #[default]
    Any,
    Equals(T),
    /// No row matches: the requested value does not exist.
    Never,
}

impl<T: PartialEq> Constraint<T> {
    fn matches(&self, value: &T) -> bool {
        match self {
            Self::Any => true,
            Self::Equals(expected) => expected == value,
            Self::Never => false,
        }
    }
}

/// The filters of the connector list. Case-insensitive values are folded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ConnectorFilter {
    pub platform: Option<String>,
    /// Only connectors that are enabled for hosted authorization.
    pub authkit: bool,
    /// Only connectors that users can connect to, given the platforms with an OAuth client.
    pub connectable: Option<Names>,
    /// An exact key.
    pub key: Option<String>,
    pub name: Option<String>,
    pub category: Option<String>,
    pub q: Option<Query>,
    /// Only these platforms, from the token's restriction or the OAuth clients.
    pub platforms: Option<Names>,
}

/// The filters of the action list. Case-insensitive values are folded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ActionFilter {
    pub title: Option<String>,
    /// An exact key.
    pub key: Option<String>,
    pub method: Constraint<Method>,
    pub q: Option<Query>,
}

/// The filters for the fields of rows, common to connectors and actions. Keys and platforms are
/// looked up instead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RowFilter {
    /// The name or title, folded.
    pub title: Option<String>,
    /// The constraint on [`RowFields::attributes`].
    pub attributes: Constraint<u8>,
    /// Bits that the row's attributes must contain.
    pub required_bits: u8,
    /// The category, folded.
    pub group: Option<String>,
    pub q: Option<Query>,
}

impl From<&ConnectorFilter> for RowFilter {
    fn from(filter: &ConnectorFilter) -> Self {
        Self {
            title: filter.name.clone(),
            attributes: Constraint::Any,
            required_bits: if filter.authkit { AUTHKIT } else { 0 },
            group: filter.category.clone(),
            q: filter.q.clone(),
        }
    }
}

impl From<&ActionFilter> for RowFilter {
    fn from(filter: &ActionFilter) -> Self {
        Self {
            title: filter.title.clone(),
            attributes: match filter.method {
                Constraint::Any => Constraint::Any,
                Constraint::Equals(method) => Constraint::Equals(method as u8),
                Constraint::Never => Constraint::Never,
            },
            required_bits: 0,
            group: None,
            q: filter.q.clone(),
        }
    }
}

impl RowFilter {
    pub const fn matches_all(&self) -> bool {
        self.title.is_none() && !self.needs_columns() && self.q.is_none()
    }

    const fn needs_columns(&self) -> bool {
        !matches!(self.attributes, Constraint::Any)
            || self.required_bits != 0
            || self.group.is_some()
    }

    fn has_attributes(&self, attributes: u8) -> bool {
        self.attributes.matches(&attributes)
            && attributes & self.required_bits == self.required_bits
    }

    /// The size of the filter's strings in bytes, for the cache budget: a request can contain long
    /// ones.
    pub fn string_bytes(&self) -> usize {
        let texts = [&self.title, &self.group].into_iter().flatten().map(String::len);
        let q = self.q.as_ref().map_or(0, |q| q.phrase().len());
        texts.fold(q, usize::saturating_add)
    }

    /// The rank of a matching row, or 0 without a search. Returns `None` for a row that does not
    /// match.
    pub fn rank(&self, row: &RowFields, search: Option<&Search>) -> Option<u8> {
        let matches_fields = self.title.as_ref().is_none_or(|title| *title == row.title)
            && self.has_attributes(row.attributes)
            && self.group.as_ref().is_none_or(|group| *group == row.group);
        match search {
            _ if !matches_fields => None,
            Some(search) => search.rank(row.text.as_bytes()),
            None => Some(0),
        }
    }

    /// The matching rows of a list. `shared` is a searchable field with the same value in all rows.
    pub fn select(&self, list: &List, shared: &str) -> Result<Selection, StorageError> {
        let search = self.q.as_ref().map(|query| Search::new(query, shared));
        let range = match &self.title {
            Some(title) => list.with_title(title)?,
            None => 0..list.list_ref.rows,
        };
        let matching_rows = match (&search, &self.title) {
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
        if self.needs_columns() {
            self.filter_by_columns(matching_rows, list)
        } else {
            Ok(rows(matching_rows))
        }
    }

    fn filter_by_columns(
        &self,
        mut matching_rows: Vec<u32>,
        list: &List,
    ) -> Result<Selection, StorageError> {
        let columns = list.columns()?;
        let attributes = |row: u32| columns.attributes.get(row as usize).copied();
        matching_rows.retain(|row| {
            attributes(*row).is_some_and(|attributes| self.has_attributes(attributes))
        });
        if let Some(group) = &self.group {
            let group = columns.group(group);
            matching_rows
                .retain(|row| group.is_some_and(|group| columns.is_in(*row as usize, group)));
        }
        Ok(rows(matching_rows))
    }
}

fn rows(numbers: Vec<u32>) -> Selection {
    Selection::Rows(numbers.into())
}
