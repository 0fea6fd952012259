//! Responses within a size limit: selecting parts of them, and cutting what is too long.
//!
//! JSON is cut as a string, so that the digits of its numbers are preserved.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::util::json;

/// The default limit of a response to an agent, in bytes: about 6,000 tokens.
pub const AGENT_BYTES: u64 = 24_000;
/// The maximum number of parts that are listed as cut.
const MOST_PARTS: usize = 20;
/// The minimum size of a member's value, in bytes.
const LEAST: usize = 16;
/// The maximum number of members that a cut object keeps.
const MOST_MEMBERS: usize = 10_000;
/// The maximum depth at which values are cut. Deeper values are left out as a whole, since the stack of a Worker is
/// small.
const MOST_LEVELS: usize = 32;
/// The maximum work to cut a value, in bytes read, as a multiple of its length: each level reads the levels below it
/// again.
const MOST_WORK: usize = 8;
/// The maximum number of steps of a JSON Pointer.
pub const MOST_STEPS: usize = 16;
/// The maximum length of a JSON Pointer, in bytes.
pub const MOST_POINTER_BYTES: usize = 1024;

/// A part of a response that was cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// The JSON Pointer (RFC 6901).
    pub pointer: String,
    /// The unit of the numbers: `items`, `characters`, `members` or `bytes`.
    pub unit: &'static str,
    /// The number that was left out.
    pub omitted: usize,
    /// The total number.
    pub total: usize,
}

/// Calls a function with each item or member, as written. Nothing is collected: a response of 8 MiB can have four
/// million items.
struct Each<F>(F);

impl<'de, F: FnMut(&'de RawValue)> Visitor<'de> for Each<F> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<usize, A::Error> {
        let mut count = 0_usize;
        while let Some(item) = list.next_element()? {
            (self.0)(item);
            count = count.saturating_add(1);
        }
        Ok(count)
    }
}

/// As [`Each`], with the members of an object in their order.
struct EachMember<F>(F);

impl<'de, F: FnMut(String, &'de RawValue)> Visitor<'de> for EachMember<F> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<usize, A::Error> {
        let mut count = 0_usize;
        while let Some((name, value)) = map.next_entry()? {
            (self.0)(name, value);
            count = count.saturating_add(1);
        }
        Ok(count)
    }
}

/// Calls a function with each item of a list. Returns their number.
fn each_item<'a>(json: &'a str, each: impl FnMut(&'a RawValue)) -> usize {
    Deserializer::from_str(json).deserialize_seq(Each(each)).unwrap_or(0)
}

/// Calls a function with each member of an object. Returns their number.
fn each_member<'a>(json: &'a str, each: impl FnMut(String, &'a RawValue)) -> usize {
    Deserializer::from_str(json).deserialize_map(EachMember(each)).unwrap_or(0)
}

/// JSON without the white space between its tokens.
#[must_use]
pub fn minified(json: &str) -> String {
    let mut short = String::with_capacity(json.len());
    let (mut is_text, mut is_escaped) = (false, false);
    for c in json.chars() {
        if is_text {
            is_text = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            is_text = c == '"';
        }
        short.push(c);
    }
    short
}

/// Selects the parts of a JSON value that JSON Pointers address, each in its place. `*` stands for every item or
/// member. The pointers have at most [`MOST_STEPS`] steps.
#[must_use]
pub fn selected(json: &str, pointers: &[String]) -> String {
    let steps = |pointer: &String| -> Vec<String> {
        let step = |step: &str| step.replace("~1", "/").replace("~0", "~");
        pointer.split('/').skip(1).take(MOST_STEPS).map(step).collect()
    };
    let paths: Vec<Vec<String>> = pointers.iter().map(steps).collect();
    let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
    let mut text = String::new();
    if !select(json, &paths, &mut text) {
        text.push_str("null");
    }
    text
}

/// Appends what the paths select. Returns `false` when they select nothing.
fn select(json: &str, paths: &[&[String]], text: &mut String) -> bool {
    if paths.iter().any(|path| path.is_empty()) {
        text.push_str(json);
        return true;
    }
    let begin = text.len();
    // Appends `head` and the selection of a part with this name.
    let mut part = |name: &str, head: &str, value: &RawValue| {
        let next = paths.iter().filter_map(|path| path.split_first());
        let below: Vec<&[String]> = next
            .filter(|(first, _)| *first == "*" || *first == name)
            .map(|(_, rest)| rest)
            .collect();
        if below.is_empty() {
            return;
        }
        let end = text.len();
        text.push(if end == begin { open(json) } else { ',' });
        text.push_str(head);
        if !select(value.get(), &below, text) {
            text.truncate(end);
        }
    };
    match json.as_bytes().first() {
        Some(b'[') => {
            let mut nth = 0_usize;
            each_item(json, |item| {
                part(&nth.to_string(), "", item);
                nth = nth.saturating_add(1);
            });
        }
        Some(b'{') => {
            each_member(json, |name, value| part(&name, &(json::text(&name) + ":"), value));
        }
        _ => return false,
    }
    if text.len() > begin {
        text.push(if open(json) == '[' { ']' } else { '}' });
        return true;
    }
    // An empty list stays visible.
    let is_empty = json.len() == 2;
    if is_empty {
        text.push_str(json);
    }
    is_empty
}

fn open(json: &str) -> char {
    if json.starts_with('[') { '[' } else { '{' }
}

/// Cuts a minified JSON value to about `budget` bytes, and returns the parts that were cut. Lists keep their first
/// items, strings their first characters, and objects all members as far as these can be cut. Numbers are never cut.
#[must_use]
pub fn cut(json: &str, budget: usize, pointer: &str) -> (String, Vec<Part>) {
    let work = json.len().saturating_mul(MOST_WORK);
    let mut cut = Cut { parts: Vec::new(), work, levels: 0 };
    let text = cut.value(json, budget, pointer);
    (text, cut.parts)
}

/// The state of a cut.
struct Cut {
    parts: Vec<Part>,
    /// The bytes that may still be read.
    work: usize,
    /// The depth of the current value.
    levels: usize,
}

impl Cut {
    fn value(&mut self, json: &str, budget: usize, pointer: &str) -> String {
        if json.len() <= budget {
            return json.to_owned();
        }
        let first = json.as_bytes().first();
        if !matches!(first, Some(b'"' | b'[' | b'{')) {
            return json.to_owned();
        }
        let Some(work) = self.work.checked_sub(json.len()).filter(|_| self.levels < MOST_LEVELS)
        else {
            self.note(pointer, "bytes", 0, json.len());
            return "null".to_owned();
        };
        self.work = work;
        self.levels = self.levels.saturating_add(1);
        let text = match first {
            Some(b'"') => self.string(json, budget, pointer),
            Some(b'[') => self.list(json, budget, pointer),
            _ => self.object(json, budget, pointer),
        };
        self.levels = self.levels.saturating_sub(1);
        text
    }

    fn note(&mut self, pointer: &str, unit: &'static str, kept: usize, total: usize) {
        let omitted = total.saturating_sub(kept);
        if omitted > 0 && self.parts.len() < MOST_PARTS {
            self.parts.push(Part { pointer: pointer.to_owned(), unit, omitted, total });
        }
    }

    fn string(&mut self, json: &str, budget: usize, pointer: &str) -> String {
        let text: String = serde_json::from_str(json).unwrap_or_default();
        let mut size = 2_usize;
        let written = |c: char| match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            c => c.len_utf8(),
        };
        let fits = |c: &char| {
            size = size.saturating_add(written(*c));
            size <= budget
        };
        let kept: String = text.chars().take_while(fits).collect();
        self.note(pointer, "characters", kept.chars().count(), text.chars().count());
        json::text(&kept)
    }

    fn list(&mut self, json: &str, budget: usize, pointer: &str) -> String {
        let mut list = String::from("[");
        let (mut first, mut is_full, mut count) = (None, false, 0_usize);
        let total = each_item(json, |item| {
            first = first.or(Some(item));
            let length = list.len().saturating_add(item.get().len()).saturating_add(2);
            is_full |= length > budget;
            if is_full {
                return;
            }
            if count > 0 {
                list.push(',');
            }
            list.push_str(item.get());
            count = count.saturating_add(1);
        });
        // An item that exceeds the limit is better than none.
        if let (0, Some(first)) = (count, first)
            && budget > LEAST
        {
            let inside = budget.saturating_sub(2);
            list.push_str(&self.value(first.get(), inside, &format!("{pointer}/0")));
            count = 1;
        }
        list.push(']');
        self.note(pointer, "items", count, total);
        list
    }

    fn object(&mut self, json: &str, budget: usize, pointer: &str) -> String {
        let mut kept: Vec<(String, String, &RawValue)> = Vec::new();
        let (mut fixed, mut is_full) = (2_usize, false);
        let total = each_member(json, |name, value| {
            if is_full {
                return;
            }
            let head = json::text(&name) + ":";
            let more = head.len().saturating_add(1);
            let least = fixed.saturating_add(more).saturating_add(value.get().len().min(LEAST));
            let left = budget.saturating_sub(kept.len().saturating_mul(LEAST));
            is_full = least > left || kept.len() == MOST_MEMBERS;
            if !is_full {
                fixed = fixed.saturating_add(more);
                kept.push((head, name, value));
            }
        });
        // Short values stay whole. Long ones share the rest.
        let mut lengths: Vec<usize> = kept.iter().map(|(.., value)| value.get().len()).collect();
        lengths.sort_unstable();
        let mut left = budget.saturating_sub(fixed);
        let mut share = left;
        for (nth, length) in lengths.iter().enumerate() {
            share = left.checked_div(kept.len().saturating_sub(nth)).unwrap_or(left);
            if *length > share {
                break;
            }
            left = left.saturating_sub(*length);
        }
        let mut object = String::from("{");
        for (head, name, value) in &kept {
            if object.len() > 1 {
                object.push(',');
            }
            object.push_str(head);
            let step = name.replace('~', "~0").replace('/', "~1");
            object.push_str(&self.value(value.get(), share, &format!("{pointer}/{step}")));
        }
        object.push('}');
        self.note(pointer, "members", kept.len(), total);
        object
    }
}

#[cfg(test)]
mod tests {
    use super::{minified, selected};

    fn cut(json: &str, budget: usize) -> (String, Vec<(String, &'static str, usize, usize)>) {
        let (text, parts) = super::cut(json, budget, "/body");
        let parts = parts.into_iter();
        (text, parts.map(|part| (part.pointer, part.unit, part.omitted, part.total)).collect())
    }

    #[test]
    #[rustfmt::skip] // a case a line
    fn lists_are_cut_to_whole_items_and_strings_at_characters() {
        let at = |pointer: &str, unit, omitted, total| (pointer.to_owned(), unit, omitted, total);
        for (json, budget, expected, parts) in [
            ("[1,22,333]", 10, "[1,22,333]", vec![]),
            ("[1,22,333]", 9, "[1,22]", vec![at("/body", "items", 1, 3)]),
            ("\"añb\"", 5, "\"añ\"", vec![at("/body", "characters", 1, 3)]),
            ("\"a\\n\\nb\"", 6, "\"a\\n\"", vec![at("/body", "characters", 2, 4)]),
            ("12345678901234567890", 5, "12345678901234567890", vec![]),
            ("{\"big\":12345678901234567890123,\"list\":[1,2,3,4,5,6,7,8,9,10,11,12,13]}", 60, "{\"big\":12345678901234567890123,\"list\":[1,2,3,4,5,6,7,8,9]}", vec![at("/body/list", "items", 4, 13)]),
            ("[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",2]", 20, "[\"aaaaaaaaaaaaaaaa\"]", vec![at("/body/0", "characters", 14, 30), at("/body", "items", 1, 2)]),
            ("{\"a/b\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}", 30, "{\"a/b\":\"aaaaaaaaaaaaaaaaaaa\"}", vec![at("/body/a~1b", "characters", 11, 30)]),
        ] {
            let (text, found) = cut(json, budget);
            assert_eq!((text.as_str(), found), (expected, parts), "{json}");
        }
    }

    #[test]
    fn a_cut_value_is_valid_json_within_its_limit() {
        let row = |n: usize| {
            format!("{{\"id\":{n},\"name\":\"{}\",\"tags\":[\"a\",\"b\"]}}", "é\\n".repeat(n % 40))
        };
        let rows: Vec<String> = (0..200).map(row).collect();
        let many: Vec<String> = (0..500).map(|n| format!("\"m{n}\":{n}")).collect();
        for json in [
            format!("[{}]", rows.join(",")),
            format!("{{\"rows\":[{}],\"next\":null,\"count\":200}}", rows.join(",")),
            format!("{{\"a\":{{\"b\":{{\"rows\":[{0}],\"more\":[{0}]}}}}}}", rows.join(",")),
            format!("{{{}}}", many.join(",")),
            format!("[[[[\"{}\"]]]]", "x".repeat(9000)),
        ] {
            for budget in [100, 500, 5000] {
                let (text, parts) = cut(&json, budget);
                assert!(text.len() <= budget, "{} > {budget}: {text}", text.len());
                assert!(!parts.is_empty());
                assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn deeply_nested_values_are_left_out() {
        let levels = 200_000;
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let json = format!("{}{}{}", open.repeat(levels), "1", close.repeat(levels));
            for budget in [500, 24_000] {
                let (text, parts) = cut(&json, budget);
                assert!(text.len() <= budget && text.contains("null"), "{open}: {}", text.len());
                assert!(parts.iter().any(|(_, unit, ..)| *unit == "bytes"), "{open}: {parts:?}");
            }
            let pointer = "/*".repeat(levels);
            assert!(selected(&json, &[pointer.clone(), pointer]).len() <= json.len());
        }
    }

    #[test]
    fn values_with_many_parts_are_cut_and_selected() {
        let list = format!("[{}0]", "0,".repeat(300_000));
        assert_eq!(cut(&list, 500).0.len(), 500 - 1);
        assert_eq!(selected(&list, &["/*".to_owned()]), list);
        assert_eq!(selected(&list, &["/*/a".to_owned()]), "null");
        let members: Vec<String> = (0..100_000).map(|n| format!("\"{n}\":0")).collect();
        let object = format!("{{{}}}", members.join(","));
        let (_, parts) = cut(&object, object.len() - 1);
        assert_eq!(parts, [("/body".to_owned(), "members", 90_000, 100_000)]);
    }

    #[test]
    fn pointers_select_parts() {
        let json =
            r#"{"items":[{"id":1,"name":"a","o":{"x":[],"y":2}},{"id":2}],"next":"n","a/b":3}"#;
        for (pointers, expected) in [
            (vec!["/items/*/id"], r#"{"items":[{"id":1},{"id":2}]}"#),
            (vec!["/items/0/id", "/next"], r#"{"items":[{"id":1}],"next":"n"}"#),
            (vec!["/items/*/o/x", "/a~1b"], r#"{"items":[{"o":{"x":[]}}],"a/b":3}"#),
            (vec!["/items/*/o/*"], r#"{"items":[{"o":{"x":[],"y":2}}]}"#),
            (vec!["/nothing"], "null"),
            (vec![""], json),
        ] {
            let pointers: Vec<String> = pointers.into_iter().map(str::to_owned).collect();
            assert_eq!(selected(json, &pointers), expected, "{pointers:?}");
        }
    }

    #[test]
    fn white_space_is_left_out_between_tokens_only() {
        let json = "{ \"a b\" :\n [ 1 , \"\\\" x\" ,\t\"\\\\\" , true ] }";
        assert_eq!(minified(json), "{\"a b\":[1,\"\\\" x\",\"\\\\\",true]}");
    }
}
