//! Parses YAML 1.2 with the core schema to a tree. [`deserialize`] deserializes typed values from
//! the tree, [`resolve`] interprets plain scalars, and [`strings`] finds scalars that are strings
//! according to a JSON schema.
//!
//! Scalars preserve their spelling, and mapping keys are strings. Merge keys (`<<`) are supported
//! because documents use them, although YAML 1.2 has removed them.

mod deserialize;
mod resolve;
mod strings;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

pub use deserialize::Error;
use granit_parser::{Event, Options, Parser, ScalarStyle, Span, Tag};

use super::read::Fault;

/// The maximum nesting depth, including aliases.
const MAX_DEPTH: u16 = 200;
/// The maximum length of a key, in characters.
const MAX_KEY: usize = 8192;
/// The weight of a node without its text: approximately its memory use, in characters.
const NODE_WEIGHT: usize = 2;

const TOO_LARGE: &str = "more nesting, aliases or nodes than a document may have";

/// A value and its position.
#[derive(Debug, Clone)]
pub struct Node {
    /// The line and the column, both starting at 1.
    place: (u64, u64),
    depth: u16,
    weight: usize,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Scalar {
        text: String,
        /// Whether the scalar is unquoted, so that it may be a number, a boolean or null.
        is_plain: bool,
    },
    List(Vec<Rc<Node>>),
    Map(Vec<(String, Rc<Node>)>),
}

/// Why a text was not parsed.
#[derive(Debug)]
pub enum ReadError {
    Faulty(Fault),
    /// The text has several YAML documents. Contains the first one.
    Several(Node),
}

impl Node {
    /// Whether the node is a map with one of these keys.
    pub fn has_key(&self, keys: &[&str]) -> bool {
        matches!(&self.kind, Kind::Map(entries) if entries.iter().any(|(key, _)| keys.contains(&key.as_str())))
    }

    fn get(&self, name: &str) -> Option<&Rc<Self>> {
        let Kind::Map(entries) = &self.kind else { return None };
        entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

/// Parses a YAML document.
pub fn parse(text: &str) -> Result<Node, ReadError> {
    let mut composer = Composer {
        anchors: HashMap::new(),
        open: Vec::new(),
        root: None,
        // Bound the total weight, which aliases can multiply, by the length of the text.
        remaining_weight: text.len().max(1 << 20).saturating_mul(4),
    };
    let mut options = Options::default();
    options.simple_key_max_lookahead = MAX_KEY;
    options.flow_nesting_limit = MAX_DEPTH.into();
    options.block_nesting_limit = MAX_DEPTH.into();
    options.set_emit_comments(false);
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut first: Option<Node> = None;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|e| {
            let message = e.info();
            let is_too_deep = message.contains("nesting") || message.contains("recursion");
            let message = if is_too_deep { TOO_LARGE.to_owned() } else { message };
            ReadError::Faulty(fault(place(e.marker()), message))
        })?;
        let is_end = matches!(event, Event::DocumentEnd);
        composer.take(event, &span).map_err(ReadError::Faulty)?;
        if !is_end {
            continue;
        }
        let root = composer.root.take().map(Rc::unwrap_or_clone);
        // A `---` at the end of a text begins an empty document.
        let root = root.filter(|root| first.is_none() || !root.is_null());
        match (first.take(), root) {
            (Some(first), Some(_)) => return Err(ReadError::Several(first)),
            (known, new) => first = known.or(new),
        }
        composer.anchors.clear();
    }
    let root = first.unwrap_or_else(|| scalar((1, 1), String::new(), true));
    Ok(strings::restore_strings(root))
}

fn fault(place: (u64, u64), message: String) -> Fault {
    Fault { place: Some(place), message }
}

fn place(marker: &granit_parser::Marker) -> (u64, u64) {
    let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    (number(marker.line()), number(marker.col()).saturating_add(1))
}

fn scalar(place: (u64, u64), text: String, is_plain: bool) -> Node {
    let weight = text.len().saturating_add(NODE_WEIGHT);
    Node { place, depth: 1, weight, kind: Kind::Scalar { text, is_plain } }
}

/// An unfinished list or map.
struct UnfinishedNode {
    place: (u64, u64),
    anchor: usize,
    depth: u16,
    weight: usize,
    children: Children,
}

enum Children {
    List(Vec<Rc<Node>>),
    Map {
        entries: Vec<(String, Rc<Node>)>,
        seen: HashSet<String>,
        /// The key of the next value.
        key: Option<Key>,
        /// The maps from merge keys.
        merged: Vec<Rc<Node>>,
    },
}

enum Key {
    Name(String),
    Merge,
}

struct Composer {
    anchors: HashMap<usize, Rc<Node>>,
    open: Vec<UnfinishedNode>,
    root: Option<Rc<Node>>,
    /// The weight that further nodes, including aliased nodes, may have.
    remaining_weight: usize,
}

impl Composer {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Fault> {
        let at = place(&span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = Rc::new(tagged_scalar(at, text.into_owned(), style, tag.as_deref()));
                if anchor != 0 {
                    self.anchors.insert(anchor, Rc::clone(&node));
                }
                self.add(at, node)
            }
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(node) => self.add(at, node),
                None => Err(fault(at, "an alias leads back to itself".to_owned())),
            },
            Event::SequenceStart(_, anchor, _) => {
                self.begin(at, anchor, Children::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, _) => {
                let (entries, seen, merged) = (Vec::new(), HashSet::new(), Vec::new());
                self.begin(at, anchor, Children::Map { entries, seen, key: None, merged })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, at: (u64, u64), anchor: usize, children: Children) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH.into() {
            return Err(fault(at, TOO_LARGE.to_owned()));
        }
        self.open.push(UnfinishedNode {
            place: at,
            anchor,
            depth: 1,
            weight: NODE_WEIGHT,
            children,
        });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        let Some(UnfinishedNode { place, anchor, depth, weight, children }) = self.open.pop()
        else {
            return Ok(());
        };
        let kind = match children {
            Children::List(list) => Kind::List(list),
            Children::Map { mut entries, mut seen, merged, .. } => {
                for map in merged {
                    let Kind::Map(more) = &map.kind else { continue };
                    let new = more.iter().filter(|(key, _)| seen.insert(key.clone()));
                    entries.extend(new.cloned());
                }
                Kind::Map(entries)
            }
        };
        let node = Rc::new(Node { place, depth, weight, kind });
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        // The children's weights were already subtracted, and `add` subtracts the weight of the
        // whole node.
        self.remaining_weight =
            self.remaining_weight.saturating_add(weight.saturating_sub(NODE_WEIGHT));
        self.add(place, node)
    }

    /// Adds a finished value, or an alias to it, to the innermost unfinished list or map.
    fn add(&mut self, at: (u64, u64), node: Rc<Node>) -> Result<(), Fault> {
        self.remaining_weight = self
            .remaining_weight
            .checked_sub(node.weight)
            .ok_or_else(|| fault(at, TOO_LARGE.to_owned()))?;
        if self.open.len().saturating_add(node.depth.into()) > usize::from(MAX_DEPTH) {
            return Err(fault(at, TOO_LARGE.to_owned()));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        open.depth = open.depth.max(node.depth.saturating_add(1));
        open.weight = open.weight.saturating_add(node.weight);
        match &mut open.children {
            Children::List(list) => list.push(node),
            Children::Map { entries, seen, key, merged } => match key.take() {
                None => *key = Some(to_key(at, &node, seen)?),
                Some(Key::Name(name)) => entries.push((name, node)),
                Some(Key::Merge) => merge(at, node, merged)?,
            },
        }
        Ok(())
    }
}

/// Creates a scalar. A tag of the core schema determines whether the scalar is a string.
fn tagged_scalar(at: (u64, u64), text: String, style: ScalarStyle, tag: Option<&Tag>) -> Node {
    let is_plain = style == ScalarStyle::Plain;
    match tag.map(|tag| (tag.core_suffix(), tag.parts())) {
        Some((Some("null"), _)) => scalar(at, String::new(), true),
        Some((Some("int" | "float" | "bool"), _)) => scalar(at, text, true),
        // The tag `!` marks a string.
        Some((Some("str"), _) | (None, ("" | "!", "" | "!"))) => scalar(at, text, false),
        _ => scalar(at, text, is_plain),
    }
}

/// Converts a node to a key. Returns a fault for a duplicate key, a list or a map.
fn to_key(at: (u64, u64), node: &Node, seen: &mut HashSet<String>) -> Result<Key, Fault> {
    match &node.kind {
        Kind::Scalar { text, is_plain: true } if text == "<<" => Ok(Key::Merge),
        Kind::Scalar { text, .. } => {
            if seen.insert(text.clone()) {
                return Ok(Key::Name(text.clone()));
            }
            Err(fault(at, format!("duplicate key `{}`", super::text::verbatim(text, 100))))
        }
        Kind::List(_) | Kind::Map(_) => Err(fault(at, "a key must be a string".to_owned())),
    }
}

/// Adds the maps of a merge key. If several maps have the same key, the first one takes precedence.
fn merge(at: (u64, u64), node: Rc<Node>, merged: &mut Vec<Rc<Node>>) -> Result<(), Fault> {
    match &node.kind {
        Kind::Map(_) => merged.push(node),
        Kind::List(list) if list.iter().all(|one| matches!(one.kind, Kind::Map(_))) => {
            merged.extend(list.iter().cloned());
        }
        Kind::Scalar { .. } | Kind::List(_) => {
            return Err(fault(at, "`<<` must be a map, or a list of maps".to_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;
    use serde_json::{Value, json};

    use super::{ReadError, parse};

    fn value(text: &str) -> Value {
        Value::deserialize(&parse(text).unwrap()).unwrap()
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for (text, expected) in [
            ("true", json!(true)),
            ("True", json!(true)),
            ("FALSE", json!(false)),
            ("tRUE", json!("tRUE")),
            ("yes", json!("yes")),
            ("No", json!("No")),
            ("on", json!("on")),
            ("off", json!("off")),
            ("y", json!("y")),
            ("n", json!("n")),
            ("null", json!(null)),
            ("Null", json!(null)),
            ("~", json!(null)),
            ("", json!(null)),
            ("nil", json!("nil")),
            ("0", json!(0)),
            ("-0", json!(0)),
            ("+12", json!(12)),
            ("-12", json!(-12)),
            ("0777", json!(777)),
            ("0o7", json!(7)),
            ("0o8", json!("0o8")),
            ("-0o7", json!("-0o7")),
            ("0x1F", json!(31)),
            ("0b1", json!("0b1")),
            ("1_000", json!("1_000")),
            ("1:30", json!("1:30")),
            ("9223372036854775808", json!(9_223_372_036_854_775_808_u64)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
            ("1.5", json!(1.5)),
            (".5", json!(0.5)),
            ("1.", json!(1.0)),
            ("1e5", json!(1e5)),
            ("-1.5E-3", json!(-1.5e-3)),
            ("1e", json!("1e")),
            (".", json!(".")),
            ("1.2.3", json!("1.2.3")),
            ("1e999", json!("1e999")),
            (".inf", json!(".inf")),
            ("-.INF", json!("-.INF")),
            (".NaN", json!(".NaN")),
            ("2020-01-01", json!("2020-01-01")),
            ("2001-12-14t21:59:43.10-05:00", json!("2001-12-14t21:59:43.10-05:00")),
            ("=", json!("=")),
            ("'1'", json!("1")),
            ("\"true\"", json!("true")),
            ("|-\n  1", json!("1")),
            ("!!str 1.10", json!("1.10")),
            ("! 1.10", json!("1.10")),
            ("!!int '3'", json!(3)),
            ("!!bool 'true'", json!(true)),
            ("!!null x", json!(null)),
            ("!!binary aGk=", json!("aGk=")),
            ("!own 5", json!(5)),
        ] {
            assert_eq!(value(text), expected, "{text}");
            assert_eq!(value(&format!("a:\n - {text}"))["a"][0], expected, "{text}");
        }
    }

    #[test]
    fn keys_preserve_their_spelling() {
        let keys = "{null: 1, ~: 2, 200: 3, 1.10: 4, true: 5, no: 6, y: 7, 0o7: 8, 2020-01-01: 9, 'a': 10}";
        let value = value(keys);
        let names: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(
            names,
            ["null", "~", "200", "1.10", "true", "no", "y", "0o7", "2020-01-01", "a"]
        );
    }

    #[test]
    fn preserves_spelling_of_schema_strings() {
        for (text, pointer, expected) in [
            (
                "{type: string, enum: [01234, 1e5, true, null, ~]}",
                "/enum",
                json!(["01234", "1e5", "true", null, null]),
            ),
            ("{type: string, const: 1.10}", "/const", json!("1.10")),
            ("{type: [string, 'null'], default: 1.0}", "/default", json!("1.0")),
            ("{type: [string, null], default: 1.0}", "/default", json!("1.0")),
            ("{type: string, example: 2020-01-01, examples: [0x1F]}", "/examples", json!(["0x1F"])),
            ("{type: date, example: 20200101}", "/example", json!("20200101")),
            ("{type: [string, number], default: 1.0}", "/default", json!(1.0)),
            ("{type: number, default: 1.0}", "/default", json!(1.0)),
            ("{default: 1.0}", "/default", json!(1.0)),
            (
                "{type: array, items: {type: string}, default: [1.0, off]}",
                "/default",
                json!(["1.0", "off"]),
            ),
            (
                "{type: object, properties: {v: {type: string}, n: {type: number}}, example: {v: 1.0, n: 1.0, o: 1.0}}",
                "/example",
                json!({"v": "1.0", "n": 1.0, "o": 1.0}),
            ),
            (
                "{additionalProperties: {type: string}, example: {v: 1.0}}",
                "/example",
                json!({"v": "1.0"}),
            ),
            ("{allOf: [{type: string}], example: 1.0}", "/example", json!("1.0")),
            ("{schema: {type: string}, example: 1.0}", "/example", json!("1.0")),
            (
                "{schema: {type: string}, examples: {one: {value: 1.0}}}",
                "/examples/one/value",
                json!("1.0"),
            ),
            (
                "{properties: {v: {type: string, default: 1.0}}}",
                "/properties/v/default",
                json!("1.0"),
            ),
            (
                "{definitions: {V: {type: string}}, schema: {$ref: '#/definitions/V'}, example: 1.0}",
                "/example",
                json!("1.0"),
            ),
            (
                "{definitions: {V: {$ref: '#/definitions/V'}}, a: {$ref: '#/definitions/V', default: 1.0}}",
                "/a/default",
                json!(1.0),
            ),
            ("{x: &x {type: string}, y: {<<: *x, default: 1.0}}", "/y/default", json!("1.0")),
            (
                "{servers: [{url: u, variables: {port: {default: 0443, enum: [0443]}}}]}",
                "/servers/0/variables/port/default",
                json!(443),
            ),
        ] {
            assert_eq!(value(text).pointer(pointer), Some(&expected), "{text}");
        }
    }

    #[test]
    fn resolves_anchors_and_merge_keys() {
        let merged =
            value("a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 5}\nd: {'<<': 1}");
        assert_eq!(merged["c"], json!({"x": 5, "y": 2, "z": 4}));
        assert_eq!(merged["d"], json!({"<<": 1}));
        for (text, place, message) in [
            ("a: &a [*a]", (1, 8), "an alias leads back to itself"),
            ("a: {<<: 1}", (1, 9), "`<<` must be a map, or a list of maps"),
            ("a: 1\nnull: 2\n'null': 3", (3, 1), "duplicate key `null`"),
            ("? [a]\n: 1", (1, 3), "a key must be a string"),
        ] {
            let Err(ReadError::Faulty(fault)) = parse(text) else { panic!("{text}") };
            assert_eq!((fault.place, fault.message.as_str()), (Some(place), message), "{text}");
        }
        assert!(matches!(parse("a: 1\n---\nb: 2"), Err(ReadError::Several(_))));
        assert_eq!(value("a: 1\n---\n"), json!({"a": 1}));
    }

    #[test]
    fn limits_the_depth_of_alias_chains() {
        let mut text = "a0: &a0 [x]\n".to_owned();
        for n in 1..5000_u32 {
            text.extend([format!("a{n}: &a{n} [*a{}]\n", n.saturating_sub(1))]);
        }
        let Err(ReadError::Faulty(fault)) = parse(&text) else { panic!("it was read") };
        assert_eq!(fault.message, super::TOO_LARGE);
    }
}
