//! Derives readable titles of actions: "Send message" instead of "Gmail users messages send".
//!
//! [`title()`] derives a title from the summary, the description, the `operationId`, or the method
//! and path of an operation. [`distinct`] distinguishes equal titles within a platform. `verb`
//! lists verbs and recognizes their forms.

pub mod distinct;
mod phrase;
mod verb;

use super::text::{self, MAX_TITLE};
use crate::terms::Method;
use phrase::{imperative, singular, starts_with_verb};

/// The maximum length of a description's first sentence for use as a title, in characters.
const MAX_SENTENCE: usize = 90;
/// The maximum number of bytes of a summary or description that are processed.
const MAX_READ: usize = 2048;

/// The properties of an operation from which a title is derived. Missing strings are empty.
#[derive(Debug, Clone, Copy)]
pub struct TitleSource<'a> {
    pub method: Method,
    /// The path template.
    pub path: &'a str,
    pub summary: &'a str,
    pub description: &'a str,
    /// The `operationId`.
    pub id: &'a str,
}

/// Derives the title of an operation, at most [`MAX_TITLE`] characters:
///
/// 1. the summary, if it begins with a verb;
/// 2. otherwise, the first sentence of the description, if it begins with a verb and is short;
/// 3. otherwise, a verb from the `operationId` or the method, followed by the summary or, without a
///    summary, by the words of the `operationId` or the path.
pub fn title(source: TitleSource<'_>) -> String {
    let summary = phrase::clean(&text::line(text::head(source.summary, MAX_READ), MAX_TITLE));
    let title = if let Some(counted_collection) = counted_collection(source.path) {
        format!("count {counted_collection}")
    } else if starts_with_verb(&summary) && !starts_with_noun(&summary, source) {
        summary
    } else {
        sentence(source.description)
            .filter(|sentence| !starts_with_noun(sentence, source))
            .or_else(|| with_verb(&summary, source))
            .unwrap_or_else(|| from_identifiers(source))
    };
    text::verbatim(&phrase::capitalize(&title), MAX_TITLE)
}

/// The collection that an `OData` path counts: `/users/{id}/messages/$count` → "messages". Returns
/// `None` for other paths.
fn counted_collection(path: &str) -> Option<String> {
    second_to_last_resource(
        path.strip_suffix("$count").filter(|path| path.ends_with('/')).map(|_| path)?,
    )
}

/// The first sentence of a description, in the imperative. Returns `None` if the sentence is
/// unsuitable as a title.
fn sentence(description: &str) -> Option<String> {
    let line = text::line(text::head(description, MAX_READ), MAX_READ);
    let sentence = phrase::clean(phrase::first_sentence(&line));
    let fits = sentence.chars().nth(MAX_SENTENCE).is_none() && sentence.contains(' ');
    (fits && starts_with_verb(&sentence)).then(|| imperative(&sentence))
}

/// Whether the summary of a `GET` begins with a noun that can also be a verb, such as "Order
/// history".
fn starts_with_noun(text: &str, source: TitleSource<'_>) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    let is_base = verb::base(first).is_some_and(|base| base == first.to_lowercase());
    let is_operation_id_verb =
        operation_id_verb(source.id).is_some_and(|(verb, _)| verb == first.to_lowercase());
    source.method == Method::Get && is_base && verb::is_often_noun(first) && !is_operation_id_verb
}

/// Prepends a verb to a summary: "Account balance" → "Get account balance".
fn with_verb(summary: &str, source: TitleSource<'_>) -> Option<String> {
    let thing = phrase::without_article(summary);
    if thing.is_empty() || thing.split(' ').count() > 12 {
        return None;
    }
    let verb = match operation_id_verb(source.id) {
        Some((verb, _)) => verb,
        None => path_verb(source.path).unwrap_or_else(|| method_verb(source).to_owned()),
    };
    Some(join(&verb, &phrase::uncapitalize(thing)))
}

/// Joins a verb and its object, unless the object begins with the same verb, as in the path
/// `/orders/{id}/createRefundInvoice` of a POST.
fn join(verb: &str, thing: &str) -> String {
    let first = thing.split(' ').next().unwrap_or_default();
    // The items of a list are listed: "List list items".
    let is_repeated = verb.eq_ignore_ascii_case(first) && verb != "list";
    if is_repeated && verb::base_of_clear_verb(verb).is_some() {
        return thing.to_owned();
    }
    format!("{verb} {thing}")
}

/// Derives a title from the `operationId`, or from the method and the path.
fn from_identifiers(source: TitleSource<'_>) -> String {
    if let Some((verb, thing)) = operation_id_verb(source.id) {
        let thing = thing.or_else(|| resource(source, verb != "list"));
        return thing.map_or(verb.clone(), |thing| join(&verb, &thing));
    }
    if let Some(verb) = path_verb(source.path) {
        let thing = second_to_last_resource(source.path);
        return thing.map_or(verb.clone(), |thing| format!("{verb} {}", singular(&thing)));
    }
    let verb = method_verb(source);
    let thing = resource(source, verb != "list").or_else(|| without_verb(source.id));
    thing.map_or_else(|| format!("{verb} resource"), |thing| join(verb, &thing))
}

/// The verb in an `operationId`, in its base form, and its object: `repos/list-for-user` → `list`,
/// "for user"; `gmail.users.messages.send` → `send`, "message"; `Task_Add` → `add`, "task". Returns
/// `None` if the `operationId` contains no verb.
fn operation_id_verb(id: &str) -> Option<(String, Option<String>)> {
    let id = if id.chars().any(char::is_lowercase) { id } else { &id.to_lowercase() };
    let parts: Vec<Vec<String>> = id
        .split(['.', '/', ':', '_', '#', ' '])
        .map(identifier_words)
        .filter(|words| !words.is_empty())
        .collect();
    let words: Vec<String> = parts.concat();
    let rest = |words: &[String]| {
        let rest = phrase::join_words(words);
        (!rest.is_empty()).then_some(rest)
    };
    // First, try only the last part, as in `users.messages.batchDelete` and
    // `VirtualMachines_CreateOrUpdate`.
    if let (Some(last), true) = (parts.last(), parts.len() > 1)
        && let Some((first, after)) = last.split_first()
        && let Some(verb) = verb::base_of_clear_verb(first)
    {
        let is = |at: usize, words: &[&str]| {
            after.get(at).is_some_and(|word| words.contains(&word.to_lowercase().as_str()))
        };
        // For "CreateOrUpdate", use only the first verb.
        let after = if is(0, &["or"]) { after.get(2..).unwrap_or_default() } else { after };
        let lacks_thing =
            after.is_empty() || is(0, &["by", "for", "from", "in", "of", "to", "with"]);
        let before = parts.iter().rev().nth(1).filter(|_| lacks_thing);
        let before = before
            .map(|words| phrase::join_words(words))
            .filter(|thing| verb::base(thing).is_none());
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
    verb::base_of_clear_verb(last).map(|verb| (verb, rest(before)))
}

/// Splits an identifier into words. The words of an identifier in capitals, such as `LIST_USERS`,
/// are not acronyms.
fn identifier_words(name: &str) -> Vec<String> {
    let words = text::words(name);
    let is_upper_case = words.len() > 1 && !name.chars().any(char::is_lowercase);
    if is_upper_case { words.iter().map(|word| word.to_lowercase()).collect() } else { words }
}

/// The words of an identifier that contains no verb. Returns `None` if it has no words.
fn without_verb(id: &str) -> Option<String> {
    let words = phrase::join_words(&identifier_words(id));
    (!words.is_empty()).then_some(words)
}

/// The verb at the end of a path, such as `/tasks/{id}/cancel` or `/v1/{name}:cancel`.
fn path_verb(path: &str) -> Option<String> {
    let last = path.rsplit(['/', ':', '=']).next()?;
    let [word] = text::words(last).try_into().ok()?;
    verb::base_of_clear_verb(&word).filter(|_| !last.contains('{'))
}

/// The verb for the effect of a method on the resource of a path.
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

/// The last resource in a path. With `one`, in the singular if the path identifies a single
/// resource.
fn resource(source: TitleSource<'_>, one: bool) -> Option<String> {
    let last = phrase::segments(source.path).pop()?;
    let is_one = source.path.trim_end_matches('/').ends_with('}') || source.method == Method::Post;
    Some(if one && is_one { singular(&last) } else { last })
}

/// The resource before the last part of a path.
fn second_to_last_resource(path: &str) -> Option<String> {
    let mut segments = phrase::segments(path);
    segments.pop()?;
    segments.pop()
}
