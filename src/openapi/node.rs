//! JSON that keeps the order of members, so that the document can be read from top to bottom.

use crate::util::json::{self, Value};

/// The longest line that is not broken.
const WIDTH: usize = 120;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    Null,
    Boolean(bool),
    Integer(u64),
    Text(String),
    Array(Vec<Node>),
    /// The members of an object, in order.
    Object(Vec<(String, Node)>),
}

macro_rules! object {
    ($($name:literal: $value:expr),* $(,)?) => {
        Node::Object(vec![$(($name.to_owned(), Node::from($value))),*])
    };
}
pub(super) use object;

impl Node {
    pub fn parse(text: &str) -> Self {
        json::parse(text).unwrap().into()
    }

    pub fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::Array(texts.into_iter().map(|text| text.as_ref().into()).collect())
    }

    pub fn members<N: Into<String>>(members: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// The same object with these members after its own.
    pub fn with(mut self, more: Self) -> Self {
        let (Self::Object(members), Self::Object(more)) = (&mut self, more) else {
            panic!("only an object has members");
        };
        for (name, value) in more {
            assert!(members.iter().all(|(known, _)| *known != name), "`{name}` twice");
            members.push((name, value));
        }
        self
    }

    pub fn names(&self) -> Vec<&str> {
        let Self::Object(members) = self else { panic!("only an object has members") };
        members.iter().map(|(name, _)| name.as_str()).collect()
    }

    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Formats JSON for a file: what fits on a line is on one.
    pub fn to_source(&self) -> String {
        self.source(0, 0) + "\n"
    }

    fn source(&self, indent: usize, before: usize) -> String {
        let line = self.line();
        if indent + before + line.chars().count() < WIDTH {
            return line;
        }
        let inner = " ".repeat(indent + 2);
        let (open, parts, close) = match self {
            Self::Array(items) => {
                ('[', items.iter().map(|item| item.source(indent + 2, 0)).collect(), ']')
            }
            Self::Object(members) => {
                let part = |(name, value): &(String, Self)| {
                    let name = quote(name) + ": ";
                    let value = value.source(indent + 2, name.len());
                    name + &value
                };
                ('{', members.iter().map(part).collect::<Vec<_>>(), '}')
            }
            _ => return line,
        };
        let body = parts.join(&format!(",\n{inner}"));
        format!("{open}\n{inner}{body}\n{}{close}", " ".repeat(indent))
    }

    fn line(&self) -> String {
        match self {
            Self::Null => "null".into(),
            Self::Boolean(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Text(text) => quote(text),
            Self::Array(items) => {
                format!("[{}]", items.iter().map(Self::line).collect::<Vec<_>>().join(", "))
            }
            Self::Object(members) => {
                let part =
                    |(name, value): &(String, Self)| format!("{}: {}", quote(name), value.line());
                format!("{{{}}}", members.iter().map(part).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(value) => Self::Boolean(value),
            Value::Integer(value) => Self::Integer(value),
            Value::Number => panic!("the API has whole numbers only"),
            Value::Text(text) => Self::Text(text),
            Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::members(members.into_iter().map(|(name, value)| (name, Self::from(value))))
            }
        }
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Node {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Node {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<u64> for Node {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<Vec<Node>> for Node {
    fn from(items: Vec<Node>) -> Self {
        Self::Array(items)
    }
}
