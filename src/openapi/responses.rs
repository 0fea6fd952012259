//! Builds the responses of operations. Their headers and bodies come from recorded responses.

use serde_json::{Value, json};

use super::json::{Members as _, object, texts};
use super::recorded_responses::RecordedResponse;
use super::schema;
use crate::http::problem::Code;
use crate::platform_calls::headers::SOURCE;
use crate::storage::read_replica::BOOKMARK;

/// Responses that several operations share, by name.
pub type SharedResponses = Vec<(String, Value)>;

/// The successful response, with the description and the schema from the endpoint's documentation.
pub fn success(
    description: &str,
    schema: Option<&str>,
    response: &RecordedResponse,
    examples: Examples,
) -> Value {
    let node = json!({"description": description, "headers": headers(response)});
    match (response.header("content-type"), schema) {
        (Some(media_type), Some(schema)) => {
            let examples = match examples {
                Examples::Inline => json!({"example": response.document()}),
                Examples::Several(examples) => {
                    json!({"examples": object(examples.into_iter().map(
                        |(name, summary, value)| (name, json!({"summary": summary, "value": value})),
                    ))})
                }
            };
            let content = json!({"schema": schema::reference(schema)}).with(examples);
            node.with(json!({"content": object([(media_type, content)])}))
        }
        (None, None) => node,
        unlike => panic!("{description}: {unlike:?}"),
    }
}

pub enum Examples {
    /// The recorded response is the only example.
    Inline,
    /// Several example responses, each with a name and a summary.
    Several(Vec<(&'static str, &'static str, Value)>),
}

/// The 304 response to a matching `If-None-Match`.
pub fn not_modified(response: &RecordedResponse, shared: &mut SharedResponses) -> Value {
    let reply = json!({
        "description": "Not modified: `If-None-Match` names the current response. No body.",
        "headers": headers(response),
    });
    share("NotModified".into(), reply, shared)
}

/// The error response for problem codes with the same status.
pub fn problems(problems: &[(Code, &RecordedResponse)], shared: &mut SharedResponses) -> Value {
    let codes: Vec<Code> = problems.iter().map(|(code, _)| *code).collect();
    let described: Vec<String> =
        codes.iter().map(|code| format!("{} (`{}`)", code.describe().2, code.as_str())).collect();
    let always = ["errors", "connectionId"].into_iter().filter(|member| {
        problems.iter().all(|(_, response)| response.document().get(member).is_some())
    });
    let always: Vec<_> = always.collect();
    let required = if always.is_empty() { json!({}) } else { json!({"required": texts(always)}) };
    let properties = json!({
        "code": {"enum": texts(codes.iter().map(|code| code.as_str()))},
    });
    let own = json!({"type": "object"}).with(required).with(json!({"properties": properties}));
    let examples = problems.iter().map(|(code, response)| {
        let example = json!({"summary": code.describe().2, "value": response.document()});
        (code.as_str(), example)
    });
    let content = json!({
        "schema": {"allOf": [schema::reference("Problem"), own]},
        "examples": object(examples),
    });
    let (_, response) = &problems[0];
    let media_type = response.header("content-type").unwrap().to_owned();
    let reply = json!({
        "description": described.join(", or ") + ".",
        "headers": headers(response),
        "content": object([(media_type, content)]),
    });
    let names: Vec<_> = codes.iter().map(|code| pascal(code.as_str())).collect();
    // Error responses of platform calls have the header `SOURCE`, so they need a component of
    // their own.
    let suffix = if response.header(SOURCE).is_some() { "OfCall" } else { "" };
    share(names.join("Or") + suffix, reply, shared)
}

/// Adds a response to the shared components, and returns a reference to it. Keeps the first
/// examples if they differ.
fn share(name: String, response: Value, shared: &mut SharedResponses) -> Value {
    let reference = json!({"$ref": format!("#/components/responses/{name}")});
    match shared.iter().find(|(known, _)| *known == name) {
        Some((_, known)) => assert_eq!(known.get("headers"), response.get("headers"), "{name}"),
        None => shared.push((name, response)),
    }
    reference
}

fn pascal(code: &str) -> String {
    let words = code.split('_').map(|word| word.split_at(1));
    words.map(|(first, rest)| first.to_uppercase() + rest).collect()
}

/// The headers of a response, as references to components.
fn headers(response: &RecordedResponse) -> Value {
    let known = components(&[]);
    let own = response.headers.iter().filter(|(name, _)| name != "content-type");
    object(own.map(|(name, _)| {
        assert!(known.get(name).is_some(), "the header `{name}` is not described");
        (name.as_str(), json!({"$ref": format!("#/components/headers/{name}")}))
    }))
}

/// The component of each header, with an example from the first response that has the header.
pub fn components(responses: &[&RecordedResponse]) -> Value {
    let headers = [
        (
            "cache-control",
            true,
            "`private, no-cache` on reads of the catalog: revalidate with `If-None-Match` before each use. `private, no-store` on everything else.",
        ),
        (
            "etag",
            true,
            "The strong entity tag of the response. That of a connection is derived from its id and version.",
        ),
        (
            "link",
            false,
            "The URL of the next page, with `rel=\"next\"`. Request it with the same API key. Absent on the last page.",
        ),
        ("location", true, "The URL of the connection, or of the attempt."),
        ("retry-after", true, "The number of seconds to wait before you retry."),
        ("www-authenticate", true, "How to authenticate: with an API key."),
        ("vary", true, "The request headers that the response depends on."),
        (
            "server-timing",
            true,
            "The storage cost of the request: database calls, rows read and written, and reads of stored values.",
        ),
        (
            "strict-transport-security",
            false,
            "Over HTTPS only: browsers must use HTTPS for this host from now on.",
        ),
        ("x-content-type-options", true, "`nosniff`: browsers must not guess the media type."),
        (
            "content-security-policy",
            true,
            "Keeps browsers from rendering a platform's response as a page of this service.",
        ),
        (
            SOURCE,
            true,
            "On calls: `platform` if the response comes from the platform, `vault` if it comes from this service.",
        ),
        (
            BOOKMARK,
            false,
            "If the request has this header: the value to send next, so that a read replica is at least as recent as this response.",
        ),
        ("x-request-id", true, "Identifies the request in the service's log."),
    ];
    object(headers.map(|(name, required, description)| {
        let schema = match name {
            "retry-after" => json!({"type": "integer", "minimum": 1}),
            "location" => json!({"type": "string", "format": "uri"}),
            "x-request-id" => json!({"type": "string", "format": "uuid"}),
            _ => json!({"type": "string"}),
        };
        let header = json!({"description": description, "required": required, "schema": schema});
        let example = responses.iter().find_map(|response| response.header(name));
        let header = match example {
            Some(seconds) if name == "retry-after" => {
                header.with(json!({"example": seconds.parse::<u64>().unwrap()}))
            }
            Some(example) => header.with(json!({"example": example})),
            None => header,
        };
        (name, header)
    }))
}
