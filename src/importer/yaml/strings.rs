//! Restores values that are strings according to their JSON schema. With `type: string`, the values
//! in `enum: [1.10, 01234]` or `default: off` are meant as strings, although YAML parses them as
//! numbers or booleans.

use std::rc::Rc;

use super::{Kind, Node};
use crate::importer::action::percent_decoded;
use crate::importer::detail::schema::json_type;

/// The maximum number of schemas that are followed from a value.
const MAX_CHAIN: u8 = 16;
/// The members of a schema that contain a value.
const VALUES: [&str; 3] = ["const", "default", "example"];
/// The members of a schema that contain a list of values.
const LISTS: [&str; 2] = ["enum", "examples"];

/// Converts all values that the schemas of a document describe as strings to strings.
pub(super) fn restore_strings(root: Node) -> Node {
    let root = Rc::new(root);
    let written = StringRestorer { root: &root }.restore_all(&root);
    drop(root);
    Rc::unwrap_or_clone(written)
}

struct StringRestorer<'r> {
    root: &'r Node,
}

impl StringRestorer<'_> {
    /// Restores all values in a node. Shares the node if nothing changes.
    fn restore_all(&self, node: &Rc<Node>) -> Rc<Node> {
        let children = map_children(node, |_, child| self.restore_all(child))
            .unwrap_or_else(|| Rc::clone(node));
        self.restore_members(&children)
    }

    /// Restores the values that belong to a schema: members of the schema, or of a parameter with
    /// the schema.
    fn restore_members(&self, node: &Rc<Node>) -> Rc<Node> {
        let is_value = |key: &str| VALUES.contains(&key) || LISTS.contains(&key);
        if !matches!(&node.kind, Kind::Map(entries) if entries.iter().any(|(key, _)| is_value(key)))
        {
            return Rc::clone(node);
        }
        let schema = node.get("schema").unwrap_or(node);
        let value = |key: &str, child: &Rc<Node>| {
            if VALUES.contains(&key) {
                return self.restore(child, schema, 0);
            }
            if !LISTS.contains(&key) {
                return Rc::clone(child);
            }
            // In a parameter, `examples` maps names to objects with a `value`.
            let is_list = matches!(child.kind, Kind::List(_));
            let one = |_: &str, item: &Rc<Node>| {
                let example_value = |key: &str, value: &Rc<Node>| {
                    if key == "value" { self.restore(value, schema, 0) } else { Rc::clone(value) }
                };
                if is_list {
                    self.restore(item, schema, 0)
                } else {
                    map_children(item, example_value).unwrap_or_else(|| Rc::clone(item))
                }
            };
            map_children(child, one).unwrap_or_else(|| Rc::clone(child))
        };
        map_children(node, value).unwrap_or_else(|| Rc::clone(node))
    }

    /// Restores a value according to its schema, and to the schemas that the schema refers to or
    /// combines.
    fn restore(&self, value: &Rc<Node>, schema: &Node, chain: u8) -> Rc<Node> {
        if chain > MAX_CHAIN {
            return Rc::clone(value);
        }
        let next = chain.saturating_add(1);
        if let Some(target) = schema.get("$ref").and_then(|reference| self.target(reference)) {
            return self.restore(value, target, next);
        }
        if let Some(Kind::List(all)) = schema.get("allOf").map(|all| &all.kind) {
            let own = self.restore_by_keywords(value, schema, next);
            return all.iter().fold(own, |value, schema| self.restore(&value, schema, next));
        }
        self.restore_by_keywords(value, schema, next)
    }

    /// Restores a value according to the keywords of its schema.
    fn restore_by_keywords(&self, value: &Rc<Node>, schema: &Node, chain: u8) -> Rc<Node> {
        let child = match &value.kind {
            Kind::Scalar { text, is_plain: true } if is_string(schema) && !is_null(text) => {
                let kind = Kind::Scalar { text: text.clone(), is_plain: false };
                return Rc::new(Node { kind, ..Node::clone(value) });
            }
            Kind::Scalar { .. } => None,
            Kind::List(_) => map_children(value, |_, item| match schema.get("items") {
                Some(items) => self.restore(item, items, chain),
                None => Rc::clone(item),
            }),
            Kind::Map(_) => map_children(value, |key, member| {
                let own = schema.get("properties").and_then(|all| all.get(key));
                match own.or_else(|| schema.get("additionalProperties")) {
                    Some(schema) => self.restore(member, schema, chain),
                    None => Rc::clone(member),
                }
            }),
        };
        child.unwrap_or_else(|| Rc::clone(value))
    }

    /// The target of a reference in the document.
    fn target(&self, reference: &Node) -> Option<&Node> {
        let Kind::Scalar { text, .. } = &reference.kind else { return None };
        let step = |step: &str| percent_decoded(step).replace("~1", "/").replace("~0", "~");
        let mut steps = text.strip_prefix("#/")?.split('/').map(step);
        steps.try_fold(self.root, |node, step| match &node.kind {
            Kind::List(list) => list.get(step.parse::<usize>().ok()?).map(Rc::as_ref),
            _ => node.get(&step).map(Rc::as_ref),
        })
    }
}

/// Applies `child` to each child of a node. Returns `None` if no child changes.
fn map_children(
    node: &Rc<Node>,
    mut child: impl FnMut(&str, &Rc<Node>) -> Rc<Node>,
) -> Option<Rc<Node>> {
    let mut is_changed = false;
    let mut replaced = |key: &str, old: &Rc<Node>| {
        let new = child(key, old);
        is_changed |= !Rc::ptr_eq(&new, old);
        new
    };
    let kind = match &node.kind {
        Kind::Scalar { .. } => return None,
        Kind::List(list) => Kind::List(list.iter().map(|item| replaced("", item)).collect()),
        Kind::Map(entries) => Kind::Map(
            entries.iter().map(|(key, value)| (key.clone(), replaced(key, value))).collect(),
        ),
    };
    is_changed
        .then(|| Rc::new(Node { kind, place: node.place, depth: node.depth, weight: node.weight }))
}

fn is_null(text: &str) -> bool {
    super::resolve::resolve(text) == super::resolve::Scalar::Null
}

/// Whether a schema allows strings but no other scalar except null.
fn is_string(schema: &Node) -> bool {
    let Some(kind) = schema.get("type") else { return false };
    let types: Vec<Option<&str>> = match &kind.kind {
        Kind::Scalar { text, .. } => vec![json_type(text)],
        Kind::List(list) => {
            let text = |item: &Rc<Node>| match &item.kind {
                Kind::Scalar { text, .. } => json_type(text),
                Kind::List(_) | Kind::Map(_) => None,
            };
            list.iter().map(text).collect()
        }
        Kind::Map(_) => return false,
    };
    types.contains(&Some("string"))
        && types.iter().all(|one| matches!(one, Some("string" | "null" | "array" | "object")))
}
