//! Builds the `OpenAPI` document from the tables of endpoints, parameters and fields, from types,
//! and from recorded responses. `connector-vault openapi` prints the document. The Worker serves
//! the copy in `www/public/v1/openapi.json` without authentication.

pub mod agents;
pub mod audit;
mod auth_methods;
mod bodies;
pub mod branding;
pub mod catalog;
pub mod connect;
pub mod connections;
pub mod console;
mod credentials;
mod details;
pub mod endpoint_doc;
pub mod events;
pub mod importing;
pub mod json;
pub mod keys;
mod operation;
mod parameters;
pub mod platform_calls;
pub mod problem_pages;
pub mod recorded_responses;
mod responses;
mod samples;
pub mod schema;
pub mod schema_names;
pub mod schemas;
pub mod session;
mod string_schemas;
pub mod usage;
pub mod webhooks;

use serde_json::{Value, json};

use crate::http::config::SECRET_HEADER;
use crate::http::endpoint::{Endpoint, Keyed, Open};
use crate::http::problem::Code;
use endpoint_doc::{CATALOG, CONNECTING, EVENTS, SERVICE, VAULT};
use json::object;
pub use recorded_responses::RecordedResponses;

pub use parameters::query;

/// The description of the API, in Markdown.
pub const DESCRIPTION: &str = include_str!("introduction.md");

/// Builds the document, with the recorded responses as examples.
///
/// # Panics
/// If the responses do not match the endpoints, or an endpoint, a parameter or a field has no description.
pub fn document(recorded_responses: &RecordedResponses) -> Value {
    let mut shared = Vec::new();
    let mut paths: Vec<(&str, Vec<(String, Value)>)> = Vec::new();
    for endpoint in Endpoint::ALL {
        let operation = match endpoint {
            Endpoint::Keyed(keyed) => operation::keyed(*keyed, recorded_responses, &mut shared),
            Endpoint::Open(Open::Health) => operation::health(recorded_responses, &mut shared),
            Endpoint::Open(Open::Document) => document_operation(),
            // These endpoints are not part of the API: a well-known file, pages for browsers, and
            // other protocols.
            Endpoint::Open(_) => continue,
        };
        let facts = endpoint.spec();
        let operation = (facts.method.as_str().to_lowercase(), operation);
        match paths.iter_mut().find(|(path, _)| *path == facts.path) {
            Some((_, operations)) => operations.push(operation),
            None => paths.push((facts.path, vec![operation])),
        }
    }
    let paths = paths.into_iter().map(|(path, operations)| (path, object(operations)));

    let tag = |name, description| json!({"name": name, "description": description});
    let key = json!({
        "type": "apiKey",
        "in": "header",
        "name": SECRET_HEADER,
        "description": "An API key, `sk_test_…` or `sk_live_…`, which belongs to one account and environment. The operator can allow further header names for it: send only one of them, once.",
    });
    let recorded = |endpoint| recorded_responses.for_endpoint(Endpoint::Keyed(endpoint));
    let problem = |code: Code| &recorded(Keyed::Whoami).problems[code.as_str()];
    let with_headers = [
        &recorded(Keyed::ReadConnection).success,
        &recorded(Keyed::CreateConnection).success,
        &recorded(Keyed::ListConnections).success,
        problem(Code::MissingKey),
        problem(Code::Unavailable),
    ];
    let licence = env!("CARGO_PKG_LICENSE");
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": env!("CARGO_PKG_NAME"),
            "version": env!("CARGO_PKG_VERSION"),
            "summary": env!("CARGO_PKG_DESCRIPTION"),
            "description": DESCRIPTION.trim_end(),
            "license": {"name": licence, "identifier": licence},
        },
        "servers": [{"url": "/", "description": "The service that returned this document."}],
        "security": [{"apiKey": []}],
        "tags": [
            tag(CATALOG, "Platforms that can be connected, and their actions."),
            tag(VAULT, "Connections of identities to platforms."),
            tag(platform_calls::CALLING, "Calls to platforms, as the connected users."),
            tag(CONNECTING, "Connecting accounts: attempts, credentials, and the OAuth clients that they need."),
            tag(EVENTS, "Events, and the webhooks that receive them."),
            tag(agents::AGENTS, "Users' grants to agents that use the Model Context Protocol."),
            tag(console::CONSOLE, "How people sign in to the console, and who is signed in."),
            tag(SERVICE, "The service itself, API keys and tokens."),
        ],
        "paths": object(paths),
        "components": {
            "securitySchemes": {"apiKey": key},
            "schemas": schema_names::name_nested_schemas(schemas::all(recorded_responses)),
            "parameters": parameters::headers(),
            "headers": responses::components(&with_headers),
            "responses": object(shared),
        },
    })
}

/// The operation that returns this document. It is a static file of the site, with the common
/// headers of the service.
fn document_operation() -> Value {
    let text = |description: &str| json!({"description": description, "required": true, "schema": {"type": "string"}});
    // Headers that only static files have.
    let file_header =
        |description: &str| json!({"description": description, "schema": {"type": "string"}});
    let shared_header = |name: &str| json!({"$ref": format!("#/components/headers/{name}")});
    let headers = json!({
        "content-security-policy": file_header("The resources that pages of the service may load."),
        "cross-origin-opener-policy": file_header("Isolates a page's window from pages of other origins."),
        "permissions-policy": file_header("The browser features that a page may use."),
        "referrer-policy": file_header("The part of its address that a page sends to other sites."),
        "x-content-type-options": file_header("`nosniff`: browsers must not guess the media type."),
        "etag": text("The entity tag of the document."),
        "cache-control": text("Caches must revalidate before each use."),
        "access-control-allow-origin": text("`*`: pages of every origin may read the document."),
        "vary": shared_header("vary"),
        "server-timing": shared_header("server-timing"),
        "strict-transport-security": shared_header("strict-transport-security"),
        "x-request-id": shared_header("x-request-id"),
    });
    let schema = json!({
        "type": "object",
        "required": ["openapi", "info", "paths"],
        "properties": {
            "openapi": {"type": "string", "pattern": "^3\\.1\\."},
            "info": {"type": "object"},
            "paths": {"type": "object"},
        },
    });
    json!({
        "operationId": "openapi",
        "tags": [SERVICE],
        "summary": "Get the OpenAPI document",
        "description": "Returns the OpenAPI document of the service. Needs no API key, and pages of every origin may read it.",
        "x-codeSamples": samples::document_sample(),
        "security": [],
        "parameters": [{"$ref": "#/components/parameters/IfNoneMatch"}],
        "responses": {
            "200": {
                "description": "The document.",
                "headers": headers.clone(),
                "content": {"application/json": {"schema": schema}},
            },
            "304": {"description": "Not modified: `If-None-Match` names the current document. No body.", "headers": headers},
        },
    })
}
