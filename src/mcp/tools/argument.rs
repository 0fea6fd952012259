//! The types of tools' arguments: validation, conversion and JSON Schema.

use serde_json::{Value, json};

use ArgumentType::{Any, Boolean, ByteLimit, IntegerUpTo, Names, Object, OneOf, StringList, Text};

use crate::platform_calls::endpoints::action_response::MAX_BYTES_RANGE;

/// The type of an argument.
#[derive(Clone, Copy)]
pub(super) enum ArgumentType {
    /// A non-empty string.
    Text,
    /// A string with comma-separated names. A list is accepted, too.
    Names,
    /// One of the listed strings.
    OneOf(&'static [&'static str]),
    /// A whole number from 1 to the given maximum.
    IntegerUpTo(u64),
    /// The maximum size of a result, in bytes.
    ByteLimit,
    Boolean,
    Object,
    /// An array of strings.
    StringList,
    /// Any JSON value.
    Any,
}

impl ArgumentType {
    /// Validates a value. Returns the fault as the end of a sentence that begins with the
    /// argument's name, or `None` if the value is valid.
    pub(super) fn value_error(self, value: &Value) -> Option<String> {
        match self {
            Text | Names => match value.as_str() {
                Some(text) if text.trim().is_empty() => Some("must not be empty".to_owned()),
                Some(_) => None,
                None => Some("must be a string".to_owned()),
            },
            OneOf(known) => (!value.as_str().is_some_and(|text| known.contains(&text)))
                .then(|| format!("must be one of `{}`", known.join("`, `"))),
            Any => None,
            Boolean => (!value.is_boolean()).then(|| "must be true or false".to_owned()),
            ByteLimit => (!whole_number(value)
                .is_some_and(|number| MAX_BYTES_RANGE.contains(&number)))
            .then(|| {
                format!(
                    "must be a whole number from {} to {}",
                    MAX_BYTES_RANGE.start(),
                    MAX_BYTES_RANGE.end()
                )
            }),
            IntegerUpTo(max) => (!whole_number(value)
                .is_some_and(|number| (1..=max).contains(&number)))
            .then(|| format!("must be a whole number from 1 to {max}")),
            Object => (!value.is_object()).then(|| "must be an object".to_owned()),
            StringList => (!value.as_array().is_some_and(|list| list.iter().all(Value::is_string)))
                .then(|| "must be a list of strings".to_owned()),
        }
    }

    /// Converts a value that was sent as a string, because some clients send all values as strings.
    /// Also wraps a single string in a list, joins a list of names, and ignores the case of
    /// enumerated strings.
    pub(super) fn read(self, value: Value) -> Value {
        if let (Names, Value::Array(items)) = (self, &value)
            && let Some(names) = items.iter().map(Value::as_str).collect::<Option<Vec<_>>>()
        {
            return names.join(",").into();
        }
        let Value::String(text) = value else { return value };
        let parsed = match self {
            Text | Names => None,
            OneOf(known) => {
                known.iter().find(|name| name.eq_ignore_ascii_case(&text)).map(|name| json!(name))
            }
            _ => {
                let parsed = serde_json::from_str(text.trim()).ok();
                let parsed = parsed.filter(|value| self.value_error(value).is_none());
                parsed.or_else(|| matches!(self, StringList).then(|| json!([text])))
            }
        };
        parsed.unwrap_or(Value::String(text))
    }

    pub(super) fn schema(self, about: &str) -> Value {
        match self {
            Text | Names => json!({"type": "string", "description": about}),
            OneOf(known) => json!({"type": "string", "enum": known, "description": about}),
            Any => json!({"description": about}),
            Boolean => json!({"type": "boolean", "description": about}),
            ByteLimit => {
                let (least, max) = (MAX_BYTES_RANGE.start(), MAX_BYTES_RANGE.end());
                json!({"type": "integer", "minimum": least, "maximum": max, "description": about})
            }
            IntegerUpTo(max) => {
                json!({"type": "integer", "minimum": 1, "maximum": max, "description": about})
            }
            Object => json!({"type": "object", "description": about}),
            StringList => {
                json!({"type": "array", "items": {"type": "string"}, "description": about})
            }
        }
    }
}

/// Parses a whole number. Accepts `5.0`, too.
pub(super) fn whole_number(value: &Value) -> Option<u64> {
    let text = value.as_number()?.to_string();
    text.strip_suffix(".0").unwrap_or(&text).parse().ok()
}
