//! Builds and formats JSON that preserves the order of members.

use serde_json::Value;

/// The maximum length of a line, in columns.
const WIDTH: usize = 120;

pub fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Value {
    texts.into_iter().map(|text| text.as_ref().to_owned()).collect()
}

pub fn object<N: Into<String>>(members: impl IntoIterator<Item = (N, Value)>) -> Value {
    members.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

pub trait Members {
    /// Appends the members of another object.
    fn with(self, more: Value) -> Value;
    fn names(&self) -> Vec<&str>;
}

impl Members for Value {
    fn with(mut self, more: Value) -> Self {
        let (Self::Object(members), Self::Object(more)) = (&mut self, more) else {
            panic!("only an object has members");
        };
        for (name, value) in more {
            assert!(!members.contains_key(&name), "`{name}` twice");
            members.insert(name, value);
        }
        self
    }

    fn names(&self) -> Vec<&str> {
        self.as_object().unwrap().keys().map(String::as_str).collect()
    }
}

/// Formats JSON for a file. A value that fits on one line is not broken.
pub fn to_source(value: &Value) -> String {
    source(value, 0, 0) + "\n"
}

fn source(value: &Value, indent: usize, before: usize) -> String {
    let line = line(value);
    if indent + before + line.chars().count() < WIDTH {
        return line;
    }
    let inner = " ".repeat(indent + 2);
    let (open, parts, close) = match value {
        Value::Array(items) => {
            ('[', items.iter().map(|item| source(item, indent + 2, 0)).collect(), ']')
        }
        Value::Object(members) => {
            let part = |(name, value): (&String, &Value)| {
                let name = quote(name) + ": ";
                let value = source(value, indent + 2, name.len());
                name + &value
            };
            ('{', members.iter().map(part).collect::<Vec<_>>(), '}')
        }
        _ => return line,
    };
    let body = parts.join(&format!(",\n{inner}"));
    format!("{open}\n{inner}{body}\n{}{close}", " ".repeat(indent))
}

fn line(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(line).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let part =
                |(name, value): (&String, &Value)| format!("{}: {}", quote(name), line(value));
            format!("{{{}}}", members.iter().map(part).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn quote(text: &str) -> String {
    Value::from(text).to_string()
}
