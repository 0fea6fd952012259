//! Writes the name-value pairs of queries, forms and cookies, in the styles `form`,
//! `spaceDelimited`, `pipeDelimited` and `deepObject`.

use std::fmt::Write as _;

use serde_json::Value;

use super::texts::{Encoder, joined, plain, simple};
use crate::catalog::action::stored::Parameter;
use crate::util::percent::encode;

/// A string of name-value pairs that is being written.
pub(super) struct Pairs<'t> {
    pub text: &'t mut String,
    pub separator: &'static str,
}

impl Pairs<'_> {
    /// Adds a pair that is already percent-encoded.
    pub fn push(&mut self, name: &str, value: &str) {
        if !self.text.is_empty() {
            self.text.push_str(self.separator);
        }
        // Writing to a string can't fail.
        let _ = write!(self.text, "{name}={value}");
    }
}

/// Like [`encode`], but keeps reserved characters and escapes as in RFC 6570 (section 3.2.3),
/// except characters that would end the value or that a query can't contain.
fn encode_reserved(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let (head, tail) = rest.split_at(letter.len_utf8());
        let is_escape = letter == '%'
            && tail.get(..2).is_some_and(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        // `contains` would add 2 KB to the npm package.
        let is_reserved = matches!(
            letter,
            ':' | '/' | '?' | '@' | '!' | '$' | '\'' | '(' | ')' | '*' | ',' | ';' | '='
        );
        if is_escape || is_reserved {
            encoded.push(letter);
        } else {
            encoded.push_str(&encode(head));
        }
        rest = tail;
    }
    encoded
}

/// Writes a query parameter or a cookie.
pub(super) fn push_pairs<S>(parameter: &Parameter<S>, value: &Value, pairs: &mut Pairs<'_>) {
    let Parameter { explode, style, .. } = parameter;
    let name = encode(&parameter.name);
    let encoder: Encoder<'_> = if parameter.allow_reserved { &encode_reserved } else { &encode };
    if parameter.content_type.is_some() {
        return pairs.push(&name, &encoder(&value.to_string()));
    }
    match (style.as_str(), value) {
        ("deepObject", value) => deep_object(pairs, &name, value, encoder),
        ("spaceDelimited", Value::Array(_) | Value::Object(_)) if !explode => {
            pairs.push(&name, &joined(value, false, "%20", encoder));
        }
        ("pipeDelimited", Value::Array(_) | Value::Object(_)) if !explode => {
            pairs.push(&name, &joined(value, false, "%7C", encoder));
        }
        (_, Value::Array(items)) if *explode => {
            for item in items {
                pairs.push(&name, &encoder(&plain(item)));
            }
        }
        (_, Value::Object(members)) if *explode => {
            for (member, value) in members {
                pairs.push(&encode(member), &encoder(&plain(value)));
            }
        }
        _ => pairs.push(&name, &simple(value, false, encoder)),
    }
}

/// Writes the style `deepObject`: `name[member]=value`. OpenAPI does not define lists in this
/// style. They are written as Stripe parses them: `name[]=item`, or `name[0][member]=value` if an
/// item is a list or an object.
fn deep_object(pairs: &mut Pairs<'_>, name: &str, value: &Value, encoder: Encoder<'_>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                deep_object(pairs, &format!("{name}%5B{}%5D", encode(member)), value, encoder);
            }
        }
        Value::Array(items) => {
            let is_nested = items.iter().any(|item| item.is_array() || item.is_object());
            for (position, item) in items.iter().enumerate() {
                let index = if is_nested { position.to_string() } else { String::new() };
                deep_object(pairs, &format!("{name}%5B{index}%5D"), item, encoder);
            }
        }
        value => pairs.push(name, &encoder(&plain(value))),
    }
}
