//! Titles of actions as people write them: "Send message" rather than "Gmail users messages send".
//!
//! A document describes an operation in its summary, its description, its `operationId`, and its method and path. The
//! first of these that makes a title is used: see [`title()`]. [`distinct`] distinguishes titles that are equal within
//! a platform. `verb` knows which words are verbs.

pub mod distinct;
mod phrase;
mod verb;

use super::text::{self, MAX_TITLE};
use crate::terms::Method;
use phrase::{imperative, singular, starts_with_verb};

/// The longest first sentence of a description that is used as a title, in characters.
const MAX_SENTENCE: usize = 90;
/// The maximum number of bytes of a summary or description that are read.
const MAX_READ: usize = 2048;

/// A document's description of an operation. Missing strings are empty.
#[derive(Debug, Clone, Copy)]
pub struct TitleSource<'a> {
    pub method: Method,
    /// The path's template.
    pub path: &'a str,
    pub summary: &'a str,
    pub description: &'a str,
    /// Its `operationId`.
    pub id: &'a str,
}

/// The title of an operation, at most [`MAX_TITLE`] characters. It is
///
/// 1. the summary, if it begins with a verb;
/// 2. else the first sentence of the description, if it begins with a verb and is short;
/// 3. else a verb from the `operationId` or the method, followed by the summary or, without one, by the words of the
///    `operationId` or the path.
pub fn title(source: TitleSource<'_>) -> String {
    let summary = phrase::clean(&text::line(text::head(source.summary, MAX_READ), MAX_TITLE));
    let title = if let Some(counted) = counted(source.path) {
        format!("count {counted}")
    } else if starts_with_verb(&summary) && !starts_with_noun(&summary, source) {
        summary
    } else {
        sentence(source.description)
            .filter(|sentence| !starts_with_noun(sentence, source))
            .or_else(|| with_verb(&summary, source))
            .unwrap_or_else(|| from_identifiers(source))
    };
    text::verbatim(&phrase::capitalized(&title), MAX_TITLE)
}

/// The collection that an `OData` path counts: `/users/{id}/messages/$count` → "messages". Returns `None` for any other
/// path.
fn counted(path: &str) -> Option<String> {
    before_last(path.strip_suffix("$count").filter(|path| path.ends_with('/')).map(|_| path)?)
}

/// The first sentence of a description, in the imperative. Returns `None` when it does not make a title.
fn sentence(description: &str) -> Option<String> {
    let line = text::line(text::head(description, MAX_READ), MAX_READ);
    let sentence = phrase::clean(phrase::first_sentence(&line));
    let fits = sentence.chars().nth(MAX_SENTENCE).is_none() && sentence.contains(' ');
    (fits && starts_with_verb(&sentence)).then(|| imperative(&sentence))
}

/// Whether the summary of a `GET` begins with a noun that can also be a verb: "Order history".
fn starts_with_noun(text: &str, source: TitleSource<'_>) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    let is_base = verb::base(first).is_some_and(|base| base == first.to_lowercase());
    let is_operation_id_verb =
        operation_id_verb(source.id).is_some_and(|(verb, _)| verb == first.to_lowercase());
    source.method == Method::Get && is_base && verb::is_often_noun(first) && !is_operation_id_verb
}

/// "Account balance" → "Get account balance".
fn with_verb(summary: &str, source: TitleSource<'_>) -> Option<String> {
    let thing = phrase::without_article(summary);
    if thing.is_empty() || thing.split(' ').count() > 12 {
        return None;
    }
    let verb = match operation_id_verb(source.id) {
        Some((verb, _)) => verb,
        None => path_verb(source.path).unwrap_or_else(|| method_verb(source).to_owned()),
    };
    Some(format!("{verb} {}", phrase::uncapitalized(thing)))
}

/// A title from the `operationId`, or else from method and path.
fn from_identifiers(source: TitleSource<'_>) -> String {
    if let Some((verb, thing)) = operation_id_verb(source.id) {
        let thing = thing.or_else(|| resource(source, verb != "list"));
        return thing.map_or(verb.clone(), |thing| format!("{verb} {thing}"));
    }
    if let Some(verb) = path_verb(source.path) {
        let thing = before_last(source.path);
        return thing.map_or(verb.clone(), |thing| format!("{verb} {}", singular(&thing)));
    }
    let verb = method_verb(source);
    let thing = resource(source, verb != "list").or_else(|| without_verb(source.id));
    thing.map_or_else(|| format!("{verb} resource"), |thing| format!("{verb} {thing}"))
}

/// The verb that an `operationId` names, in its base form, and the words after it: `repos/list-for-user` → `list`, "for
/// user"; `gmail.users.messages.send` → `send`, "message"; `Task_Add` → `add`, "task". Returns `None` when it names
/// none.
fn operation_id_verb(id: &str) -> Option<(String, Option<String>)> {
    let id = if id.chars().any(char::is_lowercase) { id } else { &id.to_lowercase() };
    let parts: Vec<Vec<String>> = id
        .split(['.', '/', ':', '_', '#', ' '])
        .map(identifier_words)
        .filter(|words| !words.is_empty())
        .collect();
    let words: Vec<String> = parts.concat();
    let rest = |words: &[String]| {
        let rest = phrase::joined(words);
        (!rest.is_empty()).then_some(rest)
    };
    // First, try the last part alone, as in `users.messages.batchDelete` and `VirtualMachines_CreateOrUpdate`.
    if let (Some(last), true) = (parts.last(), parts.len() > 1)
        && let Some((first, after)) = last.split_first()
        && let Some(verb) = verb::base_of_unmistakable(first)
    {
        let is = |at: usize, words: &[&str]| {
            after.get(at).is_some_and(|word| words.contains(&word.to_lowercase().as_str()))
        };
        // For "CreateOrUpdate", the first of the two verbs is enough.
        let after = if is(0, &["or"]) { after.get(2..).unwrap_or_default() } else { after };
        let lacks_thing =
            after.is_empty() || is(0, &["by", "for", "from", "in", "of", "to", "with"]);
        let before = parts.iter().rev().nth(1).filter(|_| lacks_thing);
        let before =
            before.map(|words| phrase::joined(words)).filter(|thing| verb::base(thing).is_none());
        let is_plural = matches!(verb.as_str(), "list" | "search");
        let thing = before.map(|thing| if is_plural { thing } else { singular(&thing) });
        let operation_id_verb: Vec<String> = thing.into_iter().chain(rest(after)).collect();
        return Some((verb, (!operation_id_verb.is_empty()).then(|| operation_id_verb.join(" "))));
    }
    let (first, after) = words.split_first()?;
    if let Some(verb) = verb::base(first).filter(|verb| *verb == first.to_lowercase()) {
        return Some((verb, rest(after)));
    }
    let (last, before) = words.split_last()?;
    verb::base_of_unmistakable(last).map(|verb| (verb, rest(before)))
}

/// The words of an identifier. An identifier in capitals, such as `LIST_USERS`, contains no acronyms.
fn identifier_words(name: &str) -> Vec<String> {
    let words = text::words(name);
    let is_upper_case = words.len() > 1 && !name.chars().any(char::is_lowercase);
    if is_upper_case { words.iter().map(|word| word.to_lowercase()).collect() } else { words }
}

/// The words of an identifier without a verb. Returns `None` when there are none.
fn without_verb(id: &str) -> Option<String> {
    let words = phrase::joined(&identifier_words(id));
    (!words.is_empty()).then_some(words)
}

/// The verb at the end of a path: `/tasks/{id}/cancel`, `/v1/{name}:cancel`.
fn path_verb(path: &str) -> Option<String> {
    let last = path.rsplit(['/', ':', '=']).next()?;
    let [word] = text::words(last).try_into().ok()?;
    verb::base_of_unmistakable(&word).filter(|_| !last.contains('{'))
}

/// The verb for what a method does with the resource of a path.
fn method_verb(source: TitleSource<'_>) -> &'static str {
    let last = phrase::segments(source.path).pop();
    let is_one = source.path.trim_end_matches('/').ends_with('}');
    match source.method {
        Method::Get if !is_one && last.is_some_and(|last| phrase::is_plural(&last)) => "list",
        Method::Get => "get",
        Method::Post => "create",
        Method::Put | Method::Patch => "update",
        Method::Delete => "delete",
    }
}

/// The last resource that a path names, in the singular if `one` is true and the path leads to one resource.
fn resource(source: TitleSource<'_>, one: bool) -> Option<String> {
    let last = phrase::segments(source.path).pop()?;
    let is_one = source.path.trim_end_matches('/').ends_with('}') || source.method == Method::Post;
    Some(if one && is_one { singular(&last) } else { last })
}

/// The resource that a path names before its last part.
fn before_last(path: &str) -> Option<String> {
    let mut segments = phrase::segments(path);
    segments.pop()?;
    segments.pop()
}
