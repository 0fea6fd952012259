//! Actions of GraphQL APIs. Each action is a field of the query or mutation type. The caller's
//! arguments become variables of a fixed document; the caller can also choose the selection set of
//! the result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::util::json;

/// The member of an action's body with the caller's selection.
pub const SELECT: &str = "select";
/// The placeholder in a document that is replaced with the selection.
pub const SELECTION: &str = "{selection}";
/// The maximum length of a selection, in bytes.
pub const MAX_SELECTION: usize = 10_000;
/// The maximum nesting depth of braces, brackets and parentheses in a selection.
const MAX_DEPTH: usize = 20;
/// The prefix of the keys of queries, which are read-only. Keys of actions from documents in other
/// formats contain no dot.
const QUERY_KEY_PREFIX: &str = "query.";

/// The request of a GraphQL action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphqlRequest {
    /// The GraphQL document, such as `query ($id: ID!) { issue(id: $id) {selection} }`. It contains
    /// `{selection}` unless the field returns a scalar.
    pub document: String,
    /// The default selection, without outer braces: `id title state { name }`. Empty if the field
    /// returns a scalar.
    pub selection: String,
    /// The default of the variable `first`, if the caller sends neither `first` nor `last`. Many
    /// platforms require one of them for lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u32>,
}

/// Whether an action with this key is a GraphQL query: read-only although its method is `POST`.
pub fn is_query(key: &str) -> bool {
    key.starts_with(QUERY_KEY_PREFIX)
}

impl GraphqlRequest {
    /// The JSON body of a request. `input` is an object with the arguments and, optionally,
    /// `select`. The error completes a sentence that begins with `select`.
    pub fn body(&self, input: Option<&RawValue>) -> Result<Vec<u8>, &'static str> {
        #[derive(Serialize)]
        struct Body<'a> {
            query: &'a str,
            variables: BTreeMap<String, &'a RawValue>,
        }
        let members = input.and_then(|input| serde_json::from_str(input.get()).ok());
        let mut variables: BTreeMap<String, &RawValue> = members.unwrap_or_default();
        let mut document = self.document.clone();
        if document.contains(SELECTION) {
            let chosen = variables.remove(SELECT).map(|raw| serde_json::from_str(raw.get()));
            let chosen: Option<String> = chosen.transpose().map_err(|_| "must be a string")?;
            let selection = match &chosen {
                Some(chosen) => selection(chosen)?,
                None => &self.selection,
            };
            document = document.replacen(SELECTION, &format!("{{ {selection} }}"), 1);
        }
        let first = self
            .first
            .filter(|_| !["first", "last"].iter().any(|name| variables.contains_key(*name)));
        let first = first.and_then(|first| RawValue::from_string(first.to_string()).ok());
        if let Some(first) = &first {
            variables.insert("first".to_owned(), first);
        }
        Ok(json::bytes(&Body { query: &document, variables }))
    }
}

/// Validates a selection, and removes its outer braces. Rejects a selection that closes the
/// selection set early: a caller who may only run this action could add other operations to the
/// document.
fn selection(text: &str) -> Result<&str, &'static str> {
    const SYNTAX: &str =
        "must be the fields of a GraphQL selection, such as `id title state { name }`";
    if text.len() > MAX_SELECTION {
        return Err("is too long");
    }
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let content = inner.unwrap_or(trimmed);
    let mut open = Vec::new();
    let mut has_name = false;
    let mut characters = content.chars();
    while let Some(c) = characters.next() {
        match c {
            '{' => open.push('}'),
            '(' => open.push(')'),
            '[' => open.push(']'),
            '}' | ')' | ']' => {
                if open.pop() != Some(c) {
                    return Err(SYNTAX);
                }
            }
            '"' => {
                skip_string(&mut characters).ok_or(SYNTAX)?;
            }
            'a'..='z' | 'A'..='Z' | '_' => has_name = true,
            '0'..='9'
            | ' '
            | '\t'
            | '\n'
            | '\r'
            | ','
            | ':'
            | '.'
            | '@'
            | '$'
            | '-'
            | '+'
            | '!' => {}
            _ => return Err(SYNTAX),
        }
        if open.len() > MAX_DEPTH {
            return Err("is nested too deeply");
        }
    }
    if open.is_empty() && has_name { Ok(content.trim()) } else { Err(SYNTAX) }
}

/// Skips a string literal after its opening quotation mark. Returns `None` for a string that does
/// not end on its line, and for a block string, which has other escapes.
fn skip_string(characters: &mut std::str::Chars<'_>) -> Option<()> {
    if characters.as_str().starts_with("\"\"") {
        return None;
    }
    loop {
        match characters.next()? {
            '"' => return Some(()),
            '\\' => drop(characters.next()?),
            '\n' | '\r' => return None,
            _ => {}
        }
    }
}

/// Whether a GraphQL response reports errors. GraphQL APIs do so with any status, even 200.
pub fn has_errors(body: &str) -> bool {
    #[derive(Deserialize)]
    struct Errors {
        #[serde(default)]
        errors: Option<Vec<serde::de::IgnoredAny>>,
    }
    let errors = json::from_text::<Errors>(body).ok().and_then(|body| body.errors);
    errors.is_some_and(|errors| !errors.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::{GraphqlRequest, has_errors, is_query, selection};

    fn body(request: &GraphqlRequest, input: &str) -> Result<Value, &'static str> {
        let raw = RawValue::from_string(input.to_owned()).unwrap();
        request.body(Some(&raw)).map(|bytes| serde_json::from_slice(&bytes).unwrap())
    }

    #[test]
    fn arguments_are_variables_and_the_selection_is_part_of_the_document() {
        let request = GraphqlRequest {
            document: "query ($id: ID!) { issue(id: $id) {selection} }".to_owned(),
            selection: "id title".to_owned(),
            first: None,
        };
        let expected = |selection: &str| {
            json!({
                "query": format!("query ($id: ID!) {{ issue(id: $id) {{ {selection} }} }}"),
                "variables": { "id": "a" },
            })
        };
        assert_eq!(body(&request, r#"{"id":"a"}"#), Ok(expected("id title")));
        assert_eq!(
            body(&request, r#"{"id":"a","select":"{ state { name } }"}"#),
            Ok(expected("state { name }"))
        );
        assert!(body(&request, r#"{"id":"a","select":"id } } mutation { b { c"}"#).is_err());
        assert_eq!(body(&request, r#"{"id":"a","select":5}"#), Err("must be a string"));
        let big = RawValue::from_string(r#"{"id":12345678901234567890123}"#.to_owned()).unwrap();
        let sent = String::from_utf8(request.body(Some(&big)).unwrap()).unwrap();
        assert!(
            sent.contains(r#""id":12345678901234567890123"#),
            "numbers stay as they are: {sent}"
        );
    }

    #[test]
    fn a_field_that_returns_a_scalar_has_no_selection() {
        let request = GraphqlRequest {
            document: "mutation ($select: Int) { a(select: $select) }".to_owned(),
            ..Default::default()
        };
        assert_eq!(
            body(&request, r#"{"select":1}"#),
            Ok(json!({ "query": request.document, "variables": { "select": 1 } }))
        );
        assert_eq!(
            request.body(None).unwrap(),
            br#"{"query":"mutation ($select: Int) { a(select: $select) }","variables":{}}"#
        );
    }

    #[test]
    fn sends_a_default_page_size_unless_the_caller_sends_one() {
        let request = GraphqlRequest {
            document:
                "query ($first: Int, $last: Int) { a(first: $first, last: $last) {selection} }"
                    .to_owned(),
            selection: "id".to_owned(),
            first: Some(20),
        };
        for (input, variables) in [
            ("{}", json!({ "first": 20 })),
            (r#"{"first":5}"#, json!({ "first": 5 })),
            (r#"{"last":5}"#, json!({ "last": 5 })),
        ] {
            assert_eq!(body(&request, input).unwrap()["variables"], variables, "{input}");
        }
    }

    #[test]
    fn a_selection_cannot_end_the_selection_set() {
        for text in [
            "id",
            " { id title } ",
            "id, title, issues(first: 5, filter: { state: { in: [OPEN] } }) { nodes { id } }",
            "... on Issue { id } author { login } alias: title",
            r#"a(b: "} } mutation { c", d: "\"}") { e }"#,
            "a @include(if: true) { b(c: -1.5e+3, d: $id) }",
        ] {
            assert!(selection(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "{}",
            ", ,",
            "a { } { b",
            "id }",
            "id } } mutation { deleteAll { id",
            "{ id } } mutation { deleteAll { id } }",
            "{ id } mutation { deleteAll }",
            "id # }\n",
            "a(b: \"\"\"}\"\"\") { c }",
            "a(b: \"\\\") { c }",
            "a(b: \"\n\") { c }",
            "a(b: [1)]",
            "a | b",
            "é",
            &"{a".repeat(30),
            &"a".repeat(10_001),
        ] {
            assert!(selection(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_non_empty_error_list_means_errors() {
        for (body, expected) in [
            (r#"{"data":null,"errors":[{"message":"no"}]}"#, true),
            (r#"{"data":{"errors":[1]},"errors":[]}"#, false),
            (r#"{"data":{}}"#, false),
            (r#"{"errors":null}"#, false),
            (r#"{"errors":"no"}"#, false),
            ("[]", false),
            ("", false),
        ] {
            assert_eq!(has_errors(body), expected, "{body}");
        }
    }

    #[test]
    fn recognizes_the_keys_of_queries() {
        assert!(is_query("query.issues"));
        for key in ["mutation.issueCreate", "queryIssues", "query", "issues.query."] {
            assert!(!is_query(key), "{key}");
        }
    }
}
