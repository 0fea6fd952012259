//! Limits the size of responses: selects parts of them, and cuts values that are too long.
//!
//! Cuts JSON as text, without parsing numbers, so that their digits are preserved.

use std::borrow::Cow;

use serde::Serialize;

use super::json_cursor::Cursor;
use crate::util::json;
use crate::util::sort::sort;

/// The default limit of a response to an agent, in bytes: about 6,000 tokens.
pub const AGENT_BYTES: u64 = 24_000;
/// The maximum number of cut parts that are listed.
const MAX_PARTS: usize = 20;
/// The minimum size of a member's value, in bytes.
const MIN_VALUE: usize = 16;
/// The maximum number of members that a cut object keeps.
const MAX_MEMBERS: usize = 10_000;
/// The maximum depth at which values are cut. Deeper values are omitted entirely, because the stack
/// of a Worker is small.
const MAX_LEVELS: usize = 32;
/// The maximum number of bytes read to cut a value, as a multiple of its length: each level and
/// each attempt reads the levels below it again.
const MAX_WORK: usize = 16;
/// The maximum number of steps of a JSON Pointer.
pub const MAX_STEPS: usize = 16;
/// The maximum length of a JSON Pointer, in bytes.
pub const MAX_POINTER_BYTES: usize = 1024;

/// A part of a response that was cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// The JSON Pointer (RFC 6901).
    pub pointer: String,
    /// The unit of the numbers: `items`, `characters`, `members` or `bytes`.
    pub unit: &'static str,
    /// The number of units that were omitted.
    pub omitted: usize,
    /// The total number of units.
    pub total: usize,
}

/// Selects the parts of a compact JSON value that JSON Pointers address, and keeps the structure
/// around them. `*` stands for every item or member. The pointers have at most [`MAX_STEPS`] steps.
pub fn selected(json: &str, pointers: &[String]) -> String {
    let step = |step: &str| step.replace("~1", "/").replace("~0", "~");
    let mut paths: Vec<Vec<String>> = pointers
        .iter()
        .map(|pointer| pointer.split('/').skip(1).take(MAX_STEPS).map(step).collect())
        .collect();
    sort(&mut paths);
    paths.dedup();
    let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
    let mut text = String::new();
    if !select(&mut Cursor::new(json), &paths, &mut text) {
        text.push_str("null");
    }
    text
}

/// Reads a value, and appends the parts that the paths select. Returns `false` when they select nothing.
fn select(cursor: &mut Cursor<'_>, paths: &[&[String]], text: &mut String) -> bool {
    let (begin, from) = (text.len(), cursor.position());
    let (open, close) = match cursor.peek() {
        _ if paths.iter().any(|path| path.is_empty()) => {
            text.push_str(cursor.value());
            return true;
        }
        Some(b'[') => ('[', ']'),
        Some(b'{') => ('{', '}'),
        _ => {
            cursor.value();
            return false;
        }
    };
    let steps: Vec<Step<'_>> = paths.iter().filter_map(|path| Step::new(path)).collect();
    let mut index = 0_usize;
    let mut inner_paths: Vec<&[String]> = Vec::new();
    cursor.parts(|cursor, name| {
        let member = (open == '{').then(|| parse_string(name));
        let is_here = |step: &&Step<'_>| step.is_for(member.as_deref(), index);
        inner_paths.clear();
        inner_paths.extend(steps.iter().filter(is_here).map(|step| step.rest));
        index = index.saturating_add(1);
        if inner_paths.is_empty() {
            cursor.value();
            return;
        }
        let end = text.len();
        text.push(if end == begin { open } else { ',' });
        if open == '{' {
            text.extend([name, ":"]);
        }
        if !select(cursor, &inner_paths, text) {
            text.truncate(end);
        }
    });
    if text.len() > begin {
        text.push(close);
        return true;
    }
    // Keep an empty list, although nothing in it can be selected.
    let all = cursor.since(from);
    let is_empty = all.len() == 2;
    if is_empty {
        text.push_str(all);
    }
    is_empty
}

/// The first step of a path, parsed once for all items of a list.
struct Step<'p> {
    name: &'p str,
    index: Option<usize>,
    rest: &'p [String],
}

impl<'p> Step<'p> {
    fn new(path: &'p [String]) -> Option<Self> {
        let (name, rest) = path.split_first()?;
        // An index has no leading zeros (RFC 6901, section 4).
        let index = name.parse().ok().filter(|index: &usize| index.to_string() == *name);
        Some(Self { name, index, rest })
    }

    /// Whether the step leads to a member, or to the item with this index.
    fn is_for(&self, member: Option<&str>, index: usize) -> bool {
        self.name == "*"
            || member.map_or_else(|| self.index == Some(index), |member| self.name == member)
    }
}

/// Parses a JSON string.
fn parse_string(json: &str) -> Cow<'_, str> {
    let plain = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match plain.filter(|plain| !plain.contains('\\')) {
        Some(plain) => Cow::Borrowed(plain),
        None => Cow::Owned(serde_json::from_str(json).unwrap_or_default()),
    }
}

/// Cuts a compact JSON value to about `budget` bytes, and returns the parts that were cut. Lists
/// keep their first items and strings their first characters. Objects keep as many members as fit
/// after their values are cut. Numbers are never cut.
pub fn cut(json: &str, budget: usize, pointer: &str, work: &mut WorkBudget) -> (String, Vec<Part>) {
    let mut cut = CutState { parts: Vec::new(), work, levels: 0 };
    let text = cut.value(json, budget, pointer);
    (text, cut.parts)
}

/// The bytes that may still be read to cut a response, across all attempts.
pub struct WorkBudget(usize);

impl WorkBudget {
    pub const fn new(json: &str) -> Self {
        Self(json.len().saturating_mul(MAX_WORK))
    }
}

struct CutState<'w> {
    parts: Vec<Part>,
    work: &'w mut WorkBudget,
    /// The depth of the current value.
    levels: usize,
}

impl CutState<'_> {
    fn value(&mut self, json: &str, budget: usize, pointer: &str) -> String {
        if json.len() <= budget {
            return json.to_owned();
        }
        let first = json.as_bytes().first();
        if !matches!(first, Some(b'"' | b'[' | b'{')) {
            return json.to_owned();
        }
        let Some(work) = self.work.0.checked_sub(json.len()).filter(|_| self.levels < MAX_LEVELS)
        else {
            self.record_cut(pointer, "bytes", 0, json.len());
            return "null".to_owned();
        };
        self.work.0 = work;
        self.levels = self.levels.saturating_add(1);
        let text = match first {
            Some(b'"') => self.string(json, budget, pointer),
            Some(b'[') => self.list(json, budget, pointer),
            _ => self.object(json, budget, pointer),
        };
        self.levels = self.levels.saturating_sub(1);
        text
    }

    fn record_cut(&mut self, pointer: &str, unit: &'static str, kept: usize, total: usize) {
        let omitted = total.saturating_sub(kept);
        if omitted > 0 && self.parts.len() < MAX_PARTS {
            self.parts.push(Part { pointer: pointer.to_owned(), unit, omitted, total });
        }
    }

    fn string(&mut self, json: &str, budget: usize, pointer: &str) -> String {
        let text: String = serde_json::from_str(json).unwrap_or_default();
        let mut size = 2_usize;
        let escaped_len = |c: char| match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            c => c.len_utf8(),
        };
        let fits = |c: &char| {
            size = size.saturating_add(escaped_len(*c));
            size <= budget
        };
        let kept: String = text.chars().take_while(fits).collect();
        self.record_cut(pointer, "characters", kept.chars().count(), text.chars().count());
        json::text(&kept)
    }

    fn list(&mut self, json: &str, budget: usize, pointer: &str) -> String {
        let mut list = String::from("[");
        let (mut first, mut is_full, mut count) = (None, false, 0_usize);
        let total = Cursor::new(json).parts(|cursor, _| {
            let item = cursor.value();
            first = first.or(Some(item));
            let length = list.len().saturating_add(item.len()).saturating_add(2);
            is_full |= length > budget;
            if is_full {
                return;
            }
            if count > 0 {
                list.push(',');
            }
            list.push_str(item);
            count = count.saturating_add(1);
        });
        // If the first item alone exceeds the limit, cut it: a part of an item is better than none.
        if let (0, Some(first)) = (count, first)
            && budget > MIN_VALUE
        {
            let item_budget = budget.saturating_sub(2);
            list.push_str(&self.value(first, item_budget, &format!("{pointer}/0")));
            count = 1;
        }
        list.push(']');
        self.record_cut(pointer, "items", count, total);
        list
    }

    fn object(&mut self, json: &str, budget: usize, pointer: &str) -> String {
        let mut kept: Vec<(&str, &str)> = Vec::new();
        let (mut fixed_len, mut is_full) = (2_usize, false);
        let total = Cursor::new(json).parts(|cursor, name| {
            let value = cursor.value();
            if is_full {
                return;
            }
            // Reserve space for the name, a colon and a comma.
            let overhead = name.len().saturating_add(2);
            let needed =
                fixed_len.saturating_add(overhead).saturating_add(value.len().min(MIN_VALUE));
            let available = budget.saturating_sub(kept.len().saturating_mul(MIN_VALUE));
            is_full = needed > available || kept.len() == MAX_MEMBERS;
            if !is_full {
                fixed_len = fixed_len.saturating_add(overhead);
                kept.push((name, value));
            }
        });
        // Do not cut short values. Long values share the remaining budget.
        let mut lengths: Vec<usize> = kept.iter().map(|(_, value)| value.len()).collect();
        sort(&mut lengths);
        let mut remaining = budget.saturating_sub(fixed_len);
        let mut share = remaining;
        for (index, length) in lengths.iter().enumerate() {
            share = remaining.checked_div(kept.len().saturating_sub(index)).unwrap_or(remaining);
            if *length > share {
                break;
            }
            remaining = remaining.saturating_sub(*length);
        }
        let mut object = String::from("{");
        for (name, value) in &kept {
            if object.len() > 1 {
                object.push(',');
            }
            object.extend([name, ":"]);
            let step = parse_string(name).replace('~', "~0").replace('/', "~1");
            object.push_str(&self.value(value, share, &format!("{pointer}/{step}")));
        }
        object.push('}');
        self.record_cut(pointer, "members", kept.len(), total);
        object
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    use super::{WorkBudget, selected};
    use crate::platform_calls::json_cursor::minify;

    fn cut(json: &str, budget: usize) -> (String, Vec<(String, &'static str, usize, usize)>) {
        let (text, parts) = super::cut(json, budget, "/body", &mut WorkBudget::new(json));
        let parts = parts.into_iter();
        (text, parts.map(|part| (part.pointer, part.unit, part.omitted, part.total)).collect())
    }

    #[test]
    #[rustfmt::skip] // one case per line
    fn lists_are_cut_to_whole_items_and_strings_at_characters() {
        let part = |pointer: &str, unit, omitted, total| (pointer.to_owned(), unit, omitted, total);
        for (json, budget, expected, parts) in [
            ("[1,22,333]", 10, "[1,22,333]", vec![]),
            ("[1,22,333]", 9, "[1,22]", vec![part("/body", "items", 1, 3)]),
            ("\"añb\"", 5, "\"añ\"", vec![part("/body", "characters", 1, 3)]),
            ("\"a\\n\\nb\"", 6, "\"a\\n\"", vec![part("/body", "characters", 2, 4)]),
            ("12345678901234567890", 5, "12345678901234567890", vec![]),
            ("{\"big\":12345678901234567890123,\"list\":[1,2,3,4,5,6,7,8,9,10,11,12,13]}", 60, "{\"big\":12345678901234567890123,\"list\":[1,2,3,4,5,6,7,8,9]}", vec![part("/body/list", "items", 4, 13)]),
            ("[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",2]", 20, "[\"aaaaaaaaaaaaaaaa\"]", vec![part("/body/0", "characters", 14, 30), part("/body", "items", 1, 2)]),
            ("{\"a/b\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}", 30, "{\"a/b\":\"aaaaaaaaaaaaaaaaaaa\"}", vec![part("/body/a~1b", "characters", 11, 30)]),
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
        let members: Vec<String> = (0..500).map(|n| format!("\"m{n}\":{n}")).collect();
        for json in [
            format!("[{}]", rows.join(",")),
            format!("{{\"rows\":[{}],\"next\":null,\"count\":200}}", rows.join(",")),
            format!("{{\"a\":{{\"b\":{{\"rows\":[{0}],\"more\":[{0}]}}}}}}", rows.join(",")),
            format!("{{{}}}", members.join(",")),
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
    fn attempts_to_cut_share_a_work_budget() {
        let json = format!("[{}1]", "[1],".repeat(1000));
        let mut work = WorkBudget::new(&json);
        for _ in 0..super::MAX_WORK {
            assert!(super::cut(&json, 500, "", &mut work).0.starts_with("[[1],"));
        }
        let (text, parts) = super::cut(&json, 500, "", &mut work);
        assert_eq!((text.as_str(), parts[0].omitted), ("null", json.len()));
    }

    #[test]
    fn the_time_to_select_does_not_grow_with_levels_and_pointers() {
        let pointers: Vec<String> =
            (0..20).map(|index| "/*".repeat(16) + &format!("/{index}")).collect();
        let time = |run: &dyn Fn()| {
            let start = Instant::now();
            run();
            start.elapsed()
        };
        let levels = 100_000;
        for json in [
            format!("{}{}", "[".repeat(levels), "]".repeat(levels)),
            format!("[{}0]", format!("{}{},", "[".repeat(16), "]".repeat(16)).repeat(6_000)),
            format!("[{}0]", "0,".repeat(levels)),
        ] {
            // On a busy machine, the fastest of a few runs can be slow, so that more runs follow.
            let (mut once, mut selected_time) = (Duration::MAX, Duration::MAX);
            let is_bounded = (1..100).any(|round| {
                once = once.min(time(&|| drop(black_box(minify(&json)))));
                selected_time =
                    selected_time.min(time(&|| drop(black_box(selected(&json, &pointers)))));
                round >= 5 && selected_time < once * 60
            });
            assert!(is_bounded, "{selected_time:?}, and {once:?} to read it");
        }
    }
}
