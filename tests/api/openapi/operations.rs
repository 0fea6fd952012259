//! The operations: one for each thing that can be done to a path of the service.

use std::collections::BTreeMap;

use connector_vault::access::Scope;
use connector_vault::api::Response;
use connector_vault::api::problem::{Code, Problem};
use connector_vault::api::route::Endpoint;

use super::node::{Node, object};
use super::responses::{self, Shared};
use super::{code, parameters, samples, schemas};

/// What answers when the Worker itself can't.
const ENTRY: &str = "src/edge/entry.js";

/// The operation of an endpoint. What it answers when something goes wrong is added to `shared`.
pub fn operation(endpoint: Endpoint, shared: &mut Shared) -> Node {
    let (tag, summary, description) = words(endpoint);
    let problems: Vec<(Code, Response)> = Code::ALL
        .into_iter()
        .filter_map(|code| Some((code, samples::problem(endpoint, code)?)))
        .collect();
    let has = |wanted: Code| problems.iter().any(|(code, _)| *code == wanted);

    let scope = endpoint.scope().map(Scope::as_str);
    let needs = scope.map(|scope| format!(" The API key needs the scope `{scope}`."));
    let mut operation = object! {
        "operationId": id(endpoint),
        "tags": Node::texts([tag]),
        "summary": summary,
        "description": format!("{description}{}", needs.unwrap_or_default()),
        "x-codeSamples": code::of(endpoint),
    };
    if !has(Code::MissingKey) {
        operation = operation.with(object! {"security": Vec::new()});
    } else if let Some(scope) = scope {
        let key = object! {"apiKey": Node::texts([scope])};
        operation = operation.with(object! {"security": vec![key]});
    }

    let not_modified = samples::not_modified(endpoint);
    let mut parameters: Vec<Node> = parameters::path(endpoint).into_iter().collect();
    parameters.append(&mut parameters::query(endpoint));
    for (name, understood) in
        [("IfNoneMatch", not_modified.is_some()), ("IfMatch", has(Code::PreconditionFailed))]
    {
        if understood {
            parameters.push(object! {"$ref": format!("#/components/parameters/{name}")});
        }
    }
    if !parameters.is_empty() {
        operation = operation.with(object! {"parameters": parameters});
    }
    if let Some(body) = request_body(endpoint) {
        operation = operation.with(object! {"requestBody": body});
    }

    let mut answers = BTreeMap::new();
    let success = samples::success(endpoint);
    answers.insert(success.status, responses::success(endpoint, &success));
    if let Some(response) = not_modified {
        answers.insert(response.status, responses::not_modified(&response, shared));
    }
    let mut by_status: BTreeMap<u16, Vec<(Code, Response)>> = BTreeMap::new();
    for (code, response) in problems {
        by_status.entry(response.status).or_default().push((code, response));
    }
    by_status.insert(500, vec![(Code::Internal, internal())]);
    for (status, problems) in by_status {
        answers.insert(status, responses::problems(status, &problems, shared));
    }
    let answers = answers.into_iter().map(|(status, answer)| (status.to_string(), answer));
    operation.with(object! {"responses": Node::members(answers)})
}

/// The operation's name in programs.
fn id(endpoint: Endpoint) -> String {
    let name = format!("{endpoint:?}");
    let (first, rest) = name.split_at(1);
    first.to_lowercase() + rest
}

/// The operation's tag, its summary, and the rest that is to be said about it.
const fn words(endpoint: Endpoint) -> (&'static str, &'static str, &'static str) {
    match endpoint {
        Endpoint::Health => {
            (super::SERVICE, "Whether the service runs", "Open to everybody; asks no storage.")
        }
        Endpoint::Whoami => (
            super::SERVICE,
            "What the API key or the token opens",
            "Its account, environment, scopes and expiry; of a token also what it is confined to. Every valid key and every valid token may ask.",
        ),
        Endpoint::CreateSession => (
            super::SERVICE,
            "Make a token for a browser",
            "A token that opens what the API key opens, but only for one identity, perhaps only for one type of it and some platforms, and not for long. It goes into the same header as a key. Whoever has it sees and changes the connections of that identity and no others: lists, totals and counts are of these alone, everything else is not found, and what is created must be theirs. With `platforms`, the catalog shows these only. With `origins`, it is refused everywhere else. In the vault it ends with its key at once; the catalog asks no storage about it, and takes it until it expires.",
        ),
        Endpoint::ListConnectors => (
            super::CATALOG,
            "List connectors",
            "All connectors of the catalog, by name (ignoring case), then by key; with `q` the best match first. All given filters must hold.",
        ),
        Endpoint::ListActions => (
            super::CATALOG,
            "List the actions of a platform",
            "All actions of the platform, by title (ignoring case), then by key; with `q` the best match first. All given filters must hold.",
        ),
        Endpoint::ListConnections => (
            super::VAULT,
            "List connections",
            "The connections of the key's account and environment, the newest first, then the greatest id first. All given filters must hold. To walk them all, follow the `Link` header until there is none: a page reached so costs the same however far down it is, and a connection that exists throughout the walk is met exactly once.",
        ),
        Endpoint::CreateConnection => (
            super::VAULT,
            "Create a connection",
            "Creates a connection in the key's account and environment. Its `key` is `<environment>::<platform>::<label>::<identity>`, and an account has each key once: a second one is a 409 whose `connectionId` names the first. `description`, and `platformVersion` when it is left out, are the connector's.",
        ),
        Endpoint::ReadConnection => (
            super::VAULT,
            "Read a connection",
            "One connection, active or not. An id that is none, is unknown or deleted, or belongs to another account or environment is the same 404.",
        ),
        Endpoint::UpdateConnection => (
            super::VAULT,
            "Change the tags of a connection",
            "Replaces all tags; nothing else can be changed. With `If-Match`, only if nobody else has changed the connection since it was read. A change to what is there already keeps the version.",
        ),
        Endpoint::DeleteConnection => (
            super::VAULT,
            "Delete a connection",
            "With `If-Match`, only if nobody else has changed the connection. After it, the connection is not found.",
        ),
        Endpoint::Summary => (
            super::VAULT,
            "Count connections",
            "How many connections the key's account and environment has, by state, platform, type of the identity, and whether they are active: exact.",
        ),
    }
}

fn request_body(endpoint: Endpoint) -> Option<Node> {
    let (schema, examples) = match endpoint {
        Endpoint::CreateConnection => ("NewConnection", samples::CREATING.to_vec()),
        Endpoint::UpdateConnection => {
            ("ConnectionChanges", vec![("tags", "New tags", samples::CHANGING)])
        }
        Endpoint::CreateSession => ("NewSession", samples::OPENING.to_vec()),
        _ => return None,
    };
    let examples = examples.into_iter().map(|(name, summary, value)| {
        (name, object! {"summary": summary, "value": Node::parse(value.as_bytes())})
    });
    let content = object! {
        "schema": schemas::reference(schema),
        "examples": Node::members(examples),
    };
    let most = connector_vault::api::message::MAX_BODY >> 10;
    Some(object! {
        "required": true,
        "description": format!("One JSON object of at most {most} KiB in UTF-8, with nothing unknown and nothing twice in it."),
        "content": object! {"application/json": content},
    })
}

/// What nobody should ever see: it can't be provoked, so its parts are put together here as the Worker's entry does.
fn internal() -> Response {
    let detail = "The service has a fault. The operator finds it in the log under `requestId`.";
    assert!(std::fs::read_to_string(ENTRY).unwrap().contains(detail), "{ENTRY} says it otherwise");
    let id = "0b9af7c6-7a0b-4f60-a3ad-60a2a9b5b3a1";
    let mut response = Response::empty(Code::Internal.facts().0);
    response.body = Problem::new(Code::Internal, detail).to_json(crate::support::ORIGIN, id);
    response.add("content-type", "application/problem+json");
    response.add("cache-control", connector_vault::api::message::NO_STORE);
    response.add("x-request-id", id);
    response
}
