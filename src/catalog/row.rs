//! What filters and search need to know of a row.

use serde::Deserialize;

use crate::terms::Method;
use crate::util::case_fold::fold;

#[cfg(not(target_arch = "wasm32"))]
use super::model::{Action, Connector};

/// The bit of a connector that is enabled for hosted authorization.
pub const AUTHKIT: u8 = 1;
/// The bit of a connector without a method that works without an OAuth client. Catalogs before format 4 don't have it.
pub const NEEDS_CLIENT: u8 = 2;

/// What filters and search look at in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The name or title, folded; lists are sorted by it.
    pub title: String,
    /// The key, exact; orders rows with the same title.
    pub key: String,
    /// The number of an action's method; the bits of a connector.
    pub mark: u8,
    /// A connector's category, folded; empty for actions.
    pub group: String,
    /// The searchable text: folded values, each followed by a line feed, the name or title first.
    pub text: String,
}

/// The two kinds of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of the connector list.
    Connector,
    /// Of an action list.
    Action,
}

/// A searchable value: folded, without line breaks.
fn value(text: &str) -> String {
    fold(text).replace('\n', " ")
}

fn text<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|one| value(one.as_ref()) + "\n").collect()
}

/// What is read of an action's JSON.
#[derive(Deserialize)]
struct ActionRow {
    title: String,
    key: String,
    method: Method,
}

impl From<ActionRow> for Facts {
    fn from(row: ActionRow) -> Self {
        Self {
            title: value(&row.title),
            text: text([&row.title, &row.key]),
            key: row.key,
            mark: row.method as u8,
            group: String::new(),
        }
    }
}

/// What is read of a connector's JSON.
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
    fn facts(self, mark: u8) -> Facts {
        let before = [&self.name, &self.key, &self.platform, &self.category];
        Facts {
            title: value(&self.name),
            mark,
            group: fold(&self.category),
            text: text(before.into_iter().chain(&self.tags).chain([&self.description])),
            key: self.key,
        }
    }
}

impl Facts {
    /// Reads a row's JSON. Returns `None` when it is not a row of this kind. `mark` is a connector's, which its JSON does
    /// not contain.
    #[must_use]
    pub fn read(kind: Kind, row: &[u8], mark: u8) -> Option<Self> {
        match kind {
            Kind::Connector => Some(serde_json::from_slice::<ConnectorRow>(row).ok()?.facts(mark)),
            Kind::Action => Some(serde_json::from_slice::<ActionRow>(row).ok()?.into()),
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Facts {
    /// The facts of a row that no filter looks at.
    #[must_use]
    pub fn none() -> Self {
        let none = String::new;
        Self { title: none(), key: none(), mark: 0, group: none(), text: none() }
    }

    /// The facts of an action.
    #[must_use]
    pub fn of_action(row: &Action) -> Self {
        let (title, key) = (row.title.clone(), row.key.clone());
        ActionRow { title, key, method: row.method }.into()
    }

    /// The facts of a connector.
    #[must_use]
    pub fn of_connector(row: &Connector, mark: u8) -> Self {
        let row = row.clone();
        let Connector { name, key, platform, category, tags, description, .. } = row;
        ConnectorRow { name, key, platform, category, tags, description }.facts(mark)
    }
}
