//! What filters and search need to know of a row.

use crate::fold::fold;
use crate::json::{self, Value};
use crate::terms::Method;

#[cfg(not(target_arch = "wasm32"))]
use super::model::{Action, Connector};

/// What filters and search look at in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The name or title, folded; lists are sorted by it.
    pub title: String,
    /// The key, exact; orders rows with the same title.
    pub key: String,
    /// The number of an action's method; for a connector, 1 when it is enabled for hosted authorization.
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

#[cfg(not(target_arch = "wasm32"))]
impl Facts {
    /// The facts of an action.
    #[must_use]
    pub fn of_action(row: &Action) -> Self {
        Self {
            title: value(&row.title),
            key: row.key.clone(),
            mark: row.method as u8,
            group: String::new(),
            text: text([&row.title, &row.key]),
        }
    }

    /// The facts of a connector.
    #[must_use]
    pub fn of_connector(row: &Connector, authkit: bool) -> Self {
        let before = [&row.name, &row.key, &row.platform, &row.category];
        Self {
            title: value(&row.name),
            key: row.key.clone(),
            mark: u8::from(authkit),
            group: fold(&row.category),
            text: text(before.into_iter().chain(&row.tags).chain([&row.description])),
        }
    }
}

impl Facts {
    /// Reads a row's JSON. Returns `None` when it is not a row of this kind. `authkit` is a connector's mark, which its
    /// JSON does not contain.
    #[must_use]
    pub fn read(kind: Kind, row: &[u8], authkit: bool) -> Option<Self> {
        let row = json::parse(std::str::from_utf8(row).ok()?).ok()?;
        match kind {
            Kind::Connector => Self::read_connector(row, authkit),
            Kind::Action => Self::read_action(row),
        }
    }

    fn read_action(mut row: Value) -> Option<Self> {
        let (title, key) = (row.take_text("title")?, row.take_text("key")?);
        let method = row.take_text("method")?;
        let method = Method::ALL.into_iter().find(|known| known.as_str() == method)?;
        let text = text([&title, &key]);
        Some(Self { title: value(&title), key, mark: method as u8, group: String::new(), text })
    }

    fn read_connector(mut row: Value, authkit: bool) -> Option<Self> {
        let (name, key) = (row.take_text("name")?, row.take_text("key")?);
        let (platform, category) = (row.take_text("platform")?, row.take_text("category")?);
        let Some(Value::Array(tags)) = row.take("tags") else { return None };
        let tags: Vec<String> = tags.into_iter().map(Value::into_text).collect::<Option<_>>()?;
        let description = row.take_text("description")?;
        let before = [&name, &key, &platform, &category];
        let text = text(before.into_iter().chain(&tags).chain([&description]));
        let (title, group) = (value(&name), fold(&category));
        Some(Self { title, key, mark: u8::from(authkit), group, text })
    }
}
