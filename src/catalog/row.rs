//! The fields of a row that filters and search read.

use serde::Deserialize;

use crate::terms::Method;
use crate::util::case_fold::fold;
use crate::util::json;

#[cfg(not(target_arch = "wasm32"))]
use super::model::{Action, Connector};

/// Bit: the connector is enabled for hosted authorization.
pub const AUTHKIT: u8 = 1;
/// Bit: every auth method of the connector requires an OAuth client.
pub const NEEDS_CLIENT: u8 = 2;

/// The fields of a row that filters and search read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFields {
    /// The name or title, folded. Lists are sorted by it.
    pub title: String,
    /// The key, not folded. Orders rows with the same title.
    pub key: String,
    /// The number of an action's method, or the flags of a connector.
    pub attributes: u8,
    /// A connector's category, folded. Empty for actions.
    pub group: String,
    /// The searchable text: folded values, the name or title first, each followed by a line feed.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    Connector,
    Action,
}

/// Case-folds a value and removes its line breaks, for the searchable text.
fn value(text: &str) -> String {
    fold(text).replace('\n', " ")
}

fn text<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|one| value(one.as_ref()) + "\n").collect()
}

#[derive(Deserialize)]
struct ActionRow {
    title: String,
    key: String,
    method: Method,
}

impl From<ActionRow> for RowFields {
    fn from(row: ActionRow) -> Self {
        Self {
            title: value(&row.title),
            text: text([&row.title, &row.key]),
            key: row.key,
            attributes: row.method as u8,
            group: String::new(),
        }
    }
}

#[derive(Deserialize)]
struct ConnectorRow {
    name: String,
    key: String,
    platform: String,
    category: String,
    tags: Vec<String>,
    description: String,
}

impl ConnectorRow {
    fn fields(self, attributes: u8) -> RowFields {
        let before = [&self.name, &self.key, &self.platform, &self.category];
        RowFields {
            title: value(&self.name),
            attributes,
            group: fold(&self.category),
            text: text(before.into_iter().chain(&self.tags).chain([&self.description])),
            key: self.key,
        }
    }
}

impl RowFields {
    /// Parses the JSON of a row. Returns `None` if it is not a row of this kind. A connector's
    /// `attributes` are a parameter, because its JSON does not contain them.
    pub fn read(kind: RowKind, row: &[u8], attributes: u8) -> Option<Self> {
        match kind {
            RowKind::Connector => {
                Some(json::from_bytes::<ConnectorRow>(row).ok()?.fields(attributes))
            }
            RowKind::Action => Some(json::from_bytes::<ActionRow>(row).ok()?.into()),
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl RowFields {
    /// Empty fields, for rows that filters never read.
    pub fn empty() -> Self {
        let none = String::new;
        Self { title: none(), key: none(), attributes: 0, group: none(), text: none() }
    }

    pub fn from_action(row: &Action) -> Self {
        let (title, key) = (row.title.clone(), row.key.clone());
        ActionRow { title, key, method: row.method }.into()
    }

    pub fn from_connector(row: &Connector, attributes: u8) -> Self {
        let row = row.clone();
        let Connector { name, key, platform, category, tags, description, .. } = row;
        ConnectorRow { name, key, platform, category, tags, description }.fields(attributes)
    }
}
