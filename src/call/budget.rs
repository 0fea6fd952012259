//! Answers that are not longer than a reader can take: parts that are selected, and the rest of what is too long left out.
//!
//! JSON is cut as text, so that the digits of its numbers stay what they are.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::json;

/// The most parts that are named.
const MOST_PARTS: usize = 20;
/// What the value of a member needs at least, in bytes.
const LEAST: usize = 16;

/// A part of an answer of which something is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Where it is: a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// What is left out: `items`, `characters`, `members` or `bytes`.
    pub unit: &'static str,
    /// How many of them are left out.
    pub omitted: usize,
    /// How many there are.
    pub total: usize,
}

/// The members of an object in their order, as they are written.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(MembersVisitor).map(Self)
    }
}

fn items(json: &str) -> Vec<&RawValue> {
    serde_json::from_str(json).unwrap_or_default()
}

fn members(json: &str) -> Vec<(String, &RawValue)> {
    serde_json::from_str(json).map_or_else(|_| Vec::new(), |Members(members)| members)
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

/// The parts of a JSON value to which JSON Pointers lead, each where it was; `*` stands for every item or member.
#[must_use]
pub fn selected(json: &str, pointers: &[String]) -> String {
    let steps = |pointer: &String| -> Vec<String> {
        let step = |step: &str| step.replace("~1", "/").replace("~0", "~");
        pointer.split('/').skip(1).map(step).collect()
    };
    let paths: Vec<Vec<String>> = pointers.iter().map(steps).collect();
    let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
    select(json, &paths).unwrap_or_else(|| "null".to_owned())
}

/// Returns `None` when none of the paths leads anywhere.
fn select(json: &str, paths: &[&[String]]) -> Option<String> {
    if paths.iter().any(|path| path.is_empty()) {
        return Some(json.to_owned());
    }
    let below = |name: &str| -> Vec<&[String]> {
        let next = paths.iter().filter_map(|path| path.split_first());
        next.filter(|(first, _)| *first == "*" || *first == name).map(|(_, rest)| rest).collect()
    };
    let inside = |json: &str, name: &str| {
        let paths = below(name);
        if paths.is_empty() { None } else { select(json, &paths) }
    };
    let (list, open, close) = match json.as_bytes().first() {
        Some(b'[') => {
            let all = items(json).into_iter().enumerate();
            let kept = all.filter_map(|(nth, item)| inside(item.get(), &nth.to_string()));
            (kept.collect::<Vec<_>>(), '[', ']')
        }
        Some(b'{') => {
            let kept = members(json).into_iter().filter_map(|(name, value)| {
                Some(format!("{}:{}", json::text(&name), inside(value.get(), &name)?))
            });
            (kept.collect(), '{', '}')
        }
        _ => return None,
    };
    // A list of which nothing is selected shows that it has been empty.
    let is_shown = !list.is_empty() || json.len() == 2;
    is_shown.then(|| format!("{open}{}{close}", list.join(",")))
}

/// What is left out of a value.
#[derive(Debug, Default)]
pub struct Cut {
    /// The first of the parts.
    pub parts: Vec<Part>,
}

impl Cut {
    /// A minified JSON value in at most `budget` bytes: lists have their first whole items, strings their first characters,
    /// and objects all of their members as far as these can be cut.
    pub fn value(&mut self, json: &str, budget: usize, pointer: &str) -> String {
        if json.len() <= budget {
            return json.to_owned();
        }
        match json.as_bytes().first() {
            Some(b'"') => self.string(json, budget, pointer),
            Some(b'[') => self.list(json, budget, pointer),
            Some(b'{') => self.object(json, budget, pointer),
            _ => json.to_owned(),
        }
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
        let all = items(json);
        let mut list = String::from("[");
        let mut count = 0_usize;
        for item in &all {
            let length = list.len().saturating_add(item.get().len()).saturating_add(2);
            if length > budget {
                break;
            }
            if count > 0 {
                list.push(',');
            }
            list.push_str(item.get());
            count = count.saturating_add(1);
        }
        // A first item that is too long itself is better than nothing.
        if let (0, Some(first)) = (count, all.first())
            && budget > LEAST
        {
            let inside = budget.saturating_sub(2);
            list.push_str(&self.value(first.get(), inside, &format!("{pointer}/0")));
            count = 1;
        }
        list.push(']');
        self.note(pointer, "items", count, all.len());
        list
    }

    fn object(&mut self, json: &str, budget: usize, pointer: &str) -> String {
        let all = members(json);
        let heads: Vec<String> = all.iter().map(|(name, _)| json::text(name) + ":").collect();
        let mut kept = 0_usize;
        let mut fixed = 2_usize;
        for (head, (_, value)) in heads.iter().zip(&all) {
            let more = head.len().saturating_add(1);
            let least = fixed.saturating_add(more).saturating_add(value.get().len().min(LEAST));
            if least > budget.saturating_sub(kept.saturating_mul(LEAST)) {
                break;
            }
            fixed = fixed.saturating_add(more);
            kept = kept.saturating_add(1);
        }
        // Short values are whole, and long ones share what these leave.
        let mut lengths: Vec<usize> =
            all.iter().take(kept).map(|(_, value)| value.get().len()).collect();
        lengths.sort_unstable();
        let mut left = budget.saturating_sub(fixed);
        let mut share = left;
        for (nth, length) in lengths.iter().enumerate() {
            share = left.checked_div(kept.saturating_sub(nth)).unwrap_or(left);
            if *length > share {
                break;
            }
            left = left.saturating_sub(*length);
        }
        let mut object = String::from("{");
        for (head, (name, value)) in heads.iter().zip(&all).take(kept) {
            if object.len() > 1 {
                object.push(',');
            }
            object.push_str(head);
            let step = name.replace('~', "~0").replace('/', "~1");
            object.push_str(&self.value(value.get(), share, &format!("{pointer}/{step}")));
        }
        object.push('}');
        self.note(pointer, "members", kept, all.len());
        object
    }
}

#[cfg(test)]
mod tests {
    use super::{Cut, minified, selected};

    fn cut(json: &str, budget: usize) -> (String, Vec<(String, &'static str, usize, usize)>) {
        let mut cut = Cut::default();
        let text = cut.value(json, budget, "/body");
        let parts = cut.parts.into_iter();
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
    fn a_cut_value_is_json_within_its_budget() {
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
