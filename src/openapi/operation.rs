//! Builds the operations of the document.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::connections::CREATE_EXAMPLES;
use super::endpoint_doc::{Body, EndpointDoc, SERVICE, others};
use super::json::{Members as _, object};
use super::recorded_responses::{EndpointResponses, RecordedResponse, RecordedResponses};
use super::responses::{self, Examples, SharedResponses};
use super::{parameters, samples, schema};
use crate::http::endpoint::{Endpoint, Keyed, Open};
use crate::http::message::NO_STORE;
use crate::http::problem::{Code, Problem};
use crate::storage::read_replica::BOOKMARK;
use crate::terms::Scope;

/// The Worker's entry module. It sends the response if the Rust code fails.
const ENTRY: &str = include_str!("../edge/entry.js");
/// The origin of the service in examples.
const ORIGIN: &str = "https://vault.example";

/// The operation of an endpoint that requires a key. Adds its error responses to `shared`.
pub fn keyed(
    endpoint: Keyed,
    recorded_responses: &RecordedResponses,
    shared: &mut SharedResponses,
) -> Value {
    let about = endpoint.doc();
    let reads_body = endpoint.spec().body.is_some();
    assert_eq!(reads_body, about.body.is_some(), "the body of {endpoint:?}");
    let scope = endpoint.access().scope().map(Scope::as_str);
    let needs = scope.map(|scope| format!(" The API key needs the scope `{scope}`."));
    let mut operation = json!({
        "operationId": id(Endpoint::Keyed(endpoint)),
        "tags": [about.tag],
        "summary": about.summary,
        "description": format!("{}{}", about.description, needs.unwrap_or_default()),
        "x-codeSamples": samples::sample(endpoint, &about),
    });
    if let Some(scope) = scope {
        let key = json!({"apiKey": [scope]});
        operation = operation.with(json!({"security": [key]}));
    }
    let recorded = recorded_responses.for_endpoint(Endpoint::Keyed(endpoint));
    let parameters = parameters::convert(endpoint, recorded.not_modified.is_some());
    if !parameters.is_empty() {
        operation = operation.with(json!({"parameters": parameters}));
    }
    if let Some(body) = &about.body {
        operation = operation.with(json!({"requestBody": request_body(endpoint, body)}));
    }
    let examples = match endpoint {
        Keyed::CreateConnection => Examples::Several(
            CREATE_EXAMPLES
                .iter()
                .zip(&recorded_responses.created)
                .map(|((name, summary, _), created)| (*name, *summary, created.document()))
                .collect(),
        ),
        Keyed::Whoami => Examples::Several(vec![
            ("key", "With an API key", recorded.success.document()),
            ("token", "With a token", recorded_responses.whoami_of_token.document()),
        ]),
        _ => Examples::Inline,
    };
    let EndpointDoc { response, schema, .. } = about;
    // Add the bookmark, which recorded responses lack because their requests do not use read
    // replicas.
    let with_bookmark = |reply: &RecordedResponse| {
        let mut reply = reply.clone();
        if endpoint.supports_bookmark() {
            reply.headers.push((BOOKMARK.to_owned(), String::new()));
        }
        reply
    };
    let success = responses::success(response, schema, &with_bookmark(&recorded.success), examples);
    let mut successes = vec![(recorded.success.status, success)];
    let (other, also) = (others(endpoint), &recorded.others);
    assert_eq!(other.len(), also.len(), "the answers of {endpoint:?}");
    successes.extend(other.iter().zip(also).map(|(other, reply)| {
        let schema = Some(other.schema);
        (
            reply.status,
            responses::success(other.response, schema, &with_bookmark(reply), Examples::Inline),
        )
    }));
    operation.with(json!({"responses": all(successes, recorded, shared)}))
}

pub fn health(recorded_responses: &RecordedResponses, shared: &mut SharedResponses) -> Value {
    let health = Endpoint::Open(Open::Health);
    let recorded = recorded_responses.for_endpoint(health);
    let success = responses::success(
        "The service is running.",
        Some("Health"),
        &recorded.success,
        Examples::Inline,
    );
    json!({
        "operationId": id(health),
        "tags": [SERVICE],
        "summary": "Check whether the service runs",
        "description": "Needs no API key, and does not query storage.",
        "x-codeSamples": samples::health_sample(),
        "security": [],
        "responses": all(vec![(recorded.success.status, success)], recorded, shared),
    })
}

/// All responses of an operation, by status.
fn all(
    successes: Vec<(u16, Value)>,
    recorded: &EndpointResponses,
    shared: &mut SharedResponses,
) -> Value {
    let mut all: BTreeMap<u16, Value> = successes.into_iter().collect();
    if let Some(response) = &recorded.not_modified {
        all.insert(response.status, responses::not_modified(response, shared));
    }
    let mut by_status: BTreeMap<u16, Vec<(Code, &RecordedResponse)>> = BTreeMap::new();
    for code in Code::ALL {
        if let Some(response) = recorded.problems.get(code.as_str()) {
            by_status.entry(response.status).or_default().push((code, response));
        }
    }
    let internal = internal();
    by_status.insert(500, vec![(Code::Internal, &internal)]);
    for (status, problems) in by_status {
        all.insert(status, responses::problems(&problems, shared));
    }
    object(all.into_iter().map(|(status, response)| (status.to_string(), response)))
}

/// The `operationId` of an endpoint.
fn id(endpoint: Endpoint) -> String {
    let (first, rest) = endpoint.name().split_at(1);
    first.to_lowercase() + rest
}

fn request_body(endpoint: Keyed, body: &Body) -> Value {
    let examples = body.examples.iter().map(|(name, summary, value)| {
        (
            *name,
            json!({"summary": *summary, "value": serde_json::from_str::<Value>(value).unwrap()}),
        )
    });
    let content = json!({
        "schema": schema::reference(body.schema),
        "examples": object(examples),
    });
    let max = endpoint.spec().max_body >> 10;
    json!({
        // `RunAction` accepts requests without a body, for actions without input.
        "required": endpoint != Keyed::RunAction,
        "description": format!("A JSON object of at most {max} KiB in UTF-8. Unknown and repeated fields are rejected."),
        "content": {"application/json": content},
    })
}

/// The response of the Worker's entry module to a crash. Tests can't cause it, so it is built here.
fn internal() -> RecordedResponse {
    let detail = "Something went wrong in the service. Its operator can find the cause in the log, by `requestId`.";
    assert!(ENTRY.contains(detail), "the Worker's entry module has another text");
    let id = "0b9af7c6-7a0b-4f60-a3ad-60a2a9b5b3a1";
    let body = Problem::new(Code::Internal, detail).to_json(ORIGIN, id);
    let headers = [
        ("content-type", "application/problem+json"),
        ("cache-control", NO_STORE),
        ("x-request-id", id),
    ];
    RecordedResponse {
        status: Code::Internal.describe().0,
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        body: String::from_utf8_lossy(&body).into_owned(),
    }
}
