//! Distinguishes actions of a platform with the same title, such as "List comments" of issues and
//! of pull requests.

use std::collections::HashMap;

use super::phrase::{segments, singular};
use crate::importer::text::{self, MAX_TITLE};
use crate::terms::Method;

/// An action with its title, and the properties that can distinguish it from other actions.
#[derive(Debug)]
pub struct TitledAction<'a> {
    /// The current title.
    pub title: String,
    pub method: Method,
    /// The path template.
    pub path: &'a str,
    /// The `operationId`, possibly empty.
    pub id: &'a str,
}

/// The paths of a group of actions: their number, and the ascending indexes of the paths that
/// contain each part.
struct Paths {
    count: usize,
    by_part: HashMap<String, Vec<usize>>,
}

impl Paths {
    fn new<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let (mut count, mut by_part) = (0_usize, HashMap::<String, Vec<usize>>::new());
        for path in paths {
            for part in parts(path) {
                let indexes = by_part.entry(part).or_default();
                if indexes.last() != Some(&count) {
                    indexes.push(count);
                }
            }
            count = count.saturating_add(1);
        }
        Self { count, by_part }
    }

    /// The indexes of the paths that contain a part.
    fn indexes_with(&self, part: &str) -> &[usize] {
        self.by_part.get(part).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether all paths contain a part.
    fn is_in_all(&self, part: &str) -> bool {
        self.indexes_with(part).len() == self.count
    }
}

/// Creates a title that distinguishes an action from its group, given the paths of the group.
/// Returns `None` if it can't.
type Distinguisher = fn(&TitledAction<'_>, &Paths) -> Option<String>;

/// The distinguishers, in the order in which they are applied to actions that still share a title.
const DISTINGUISHERS: [Distinguisher; 5] =
    [by_resource, by_whole_path, by_parameter, by_method, by_id];

/// Makes titles unique, as far as paths, methods and `operationId`s allow.
pub fn distinguish(actions: &mut [TitledAction<'_>]) {
    for distinguisher in DISTINGUISHERS {
        for group in groups(actions) {
            let members = group.iter().filter_map(|at| actions.get(*at));
            let paths = Paths::new(members.map(|action| action.path));
            let titles: Vec<Option<String>> = group
                .iter()
                .filter_map(|at| actions.get(*at))
                .map(|action| distinguisher(action, &paths))
                .collect();
            for (at, title) in group.into_iter().zip(titles) {
                if let (Some(action), Some(title)) = (actions.get_mut(at), title) {
                    action.title = text::verbatim(&title, MAX_TITLE);
                }
            }
        }
    }
}

/// The indexes of actions that share a title, grouped.
fn groups(actions: &[TitledAction<'_>]) -> Vec<Vec<usize>> {
    let mut by_title: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, action) in actions.iter().enumerate() {
        by_title.entry(action.title.to_lowercase()).or_default().push(at);
    }
    let mut groups: Vec<Vec<usize>> =
        by_title.into_values().filter(|group| group.len() > 1).collect();
    groups.sort();
    groups
}

/// Splits a path into parts, including parameters: `/issues/{id}/comments` → "issues", "{id}",
/// "comments".
fn parts(path: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for part in path.split(['/', ':', '#']) {
        if part.contains('{') && !part.contains('(') {
            parts.push(part.to_owned());
        } else {
            parts.extend(segments(part));
        }
    }
    parts
}

/// Appends the fewest parts of the path that distinguish the action, starting from the end: "List
/// comments" → "List comments for issue".
fn by_resource(action: &TitledAction<'_>, paths: &Paths) -> Option<String> {
    let title = action.title.to_lowercase();
    let mut words: Vec<String> = Vec::new();
    let mut matching: Option<Vec<usize>> = None;
    for part in parts(action.path).into_iter().rev() {
        if !part.contains('{') && !paths.is_in_all(&part) && !title.contains(&singular(&part)) {
            let with_part = paths.indexes_with(&part);
            let rest = match matching {
                None => with_part.to_vec(),
                Some(mut matching) => {
                    matching.retain(|path| with_part.binary_search(path).is_ok());
                    matching
                }
            };
            let is_unique = rest.len() == 1;
            matching = Some(rest);
            words.push(part);
            if is_unique {
                break;
            }
        }
    }
    (!words.is_empty()).then(|| with_resources(&action.title, &words))
}

/// Appends all parts of the path, for paths with the same parts in a different order.
fn by_whole_path(action: &TitledAction<'_>, _: &Paths) -> Option<String> {
    let start = action.title.split(" for ").next().unwrap_or_default();
    let mut words: Vec<String> =
        parts(action.path).into_iter().filter(|part| !part.contains('{')).collect();
    if words.last().is_some_and(|last| start.to_lowercase().contains(&singular(last))) {
        words.pop();
    }
    words.reverse();
    (words.len() > 1).then(|| with_resources(start, &words))
}

/// Appends resources to a title: "List comments", "issues", "repos" → "List comments for issue of
/// repo".
fn with_resources(title: &str, words: &[String]) -> String {
    let names: Vec<String> = words.iter().map(|word| singular(word)).collect();
    format!("{title} for {}", names.join(" of "))
}

/// Appends the last path parameter that some other path lacks: "Get user" → "Get user by name".
fn by_parameter(action: &TitledAction<'_>, paths: &Paths) -> Option<String> {
    let path_parts = parts(action.path);
    let distinguishes = |part: &&String| part.contains('{') && !paths.is_in_all(part);
    let parameter = path_parts.iter().rev().find(distinguishes)?;
    let name = text::words(parameter).join(" ").to_lowercase();
    (!name.is_empty()).then(|| format!("{} by {name}", action.title))
}

/// Changes the verb according to the method: on the same path, `PUT` replaces and `PATCH` updates.
fn by_method(action: &TitledAction<'_>, _: &Paths) -> Option<String> {
    let (verb, rest) = action.title.split_once(' ')?;
    let verb = match (action.method, verb.to_lowercase().trim_end_matches('s')) {
        (Method::Put, "update" | "modify" | "edit" | "change" | "set") => "Replace",
        (Method::Post, "get" | "list" | "retrieve" | "return" | "read") => "Query",
        (Method::Post, "update" | "modify" | "edit" | "change") => "Submit",
        (Method::Delete, "get" | "list" | "update" | "create") => "Delete",
        (Method::Put, "create") => "Put",
        _ => return None,
    };
    Some(format!("{verb} {rest}"))
}

/// Appends the words of the `operationId` that the title lacks.
fn by_id(action: &TitledAction<'_>, _: &Paths) -> Option<String> {
    let title = action.title.to_lowercase();
    let words = text::words(action.id);
    let new: Vec<String> = words
        .iter()
        .map(|word| word.to_lowercase())
        .filter(|word| !title.contains(&singular(word)))
        .collect();
    (!new.is_empty()).then(|| format!("{}, {}", action.title, new.join(" ")))
}
