//! The `OpenAPI` document, made from the service's routes, tables and types, and from what `handle()` answers.
//! `www/public/v1/openapi.json` holds it; the Worker's assets serve it to everybody.

mod bodies;
mod code;
mod node;
mod operations;
mod parameters;
mod responses;
mod samples;
mod schemas;
mod texts;

use std::fs;

use connector_vault::api::config::SECRET_HEADER;
use connector_vault::api::paging;
use connector_vault::api::percent::decode;
use connector_vault::api::problem::Code;
use connector_vault::api::route::{Endpoint, Route, Target};

use crate::support::{Api, anonymous, body};
use node::{Node, object};

const DOCUMENT: &str = "www/public/v1/openapi.json";
/// Where it is served, below the folder of the assets.
const PATH: &str = "/v1/openapi.json";
/// Set to anything, it has the document written instead of compared.
const WRITE: &str = "WRITE_OPENAPI";

const CATALOG: &str = "Catalog";
const VAULT: &str = "Vault";
const SERVICE: &str = "Service";

/// What holds of all operations, in Markdown.
const ABOUT: &str = include_str!("introduction.md");

#[test]
fn the_document_is_that_of_the_service() {
    let document = document().to_source();
    if std::env::var_os(WRITE).is_some() {
        fs::create_dir_all("www/public/v1").unwrap();
        fs::write(DOCUMENT, document).unwrap();
        return;
    }
    let written = fs::read_to_string(DOCUMENT).unwrap_or_default();
    let differs = written.lines().zip(document.lines()).find(|(old, new)| old != new);
    assert!(
        written == document,
        "{DOCUMENT} is not what the service is; first difference: {differs:?}\n\
         Write it anew with `{WRITE}=1 cargo test --test api openapi`, and look at what changed."
    );
}

#[test]
fn the_document_has_what_the_routes_have_and_nothing_else() {
    let document = document();
    let paths = document.get("paths").unwrap();
    for path in paths.names().into_iter().filter(|path| *path != PATH) {
        let Route::To(target) = Route::of(path) else { panic!("{path} leads nowhere") };
        let methods = ["GET", "PUT", "POST", "DELETE", "PATCH", "TRACE", "QUERY"];
        for method in methods {
            let described = paths.get(path).unwrap().get(&method.to_lowercase()).is_some();
            assert_eq!(described, target.endpoint(method).is_some(), "{method} {path}");
        }
        assert_eq!(target.endpoint("HEAD"), target.endpoint("GET"), "{path}");
        assert_eq!(target.endpoint("OPTIONS"), None, "{path}");
    }
    assert_eq!(paths.names().len(), targets().len() + 1);
}

/// What the introduction lists by hand is all that there is.
#[test]
fn the_introduction_has_the_scopes_and_limits_that_there_are() {
    for scope in connector_vault::access::Scope::ALL {
        assert!(ABOUT.contains(&format!("`{}`", scope.as_str())), "{scope:?}");
    }
    let limits = ["64 KiB", "1 to 500, 20 unless given"];
    assert_eq!(connector_vault::api::message::MAX_BODY >> 10, 64);
    assert_eq!((paging::DEFAULT_LIMIT, paging::MAX_LIMIT), (20, 500));
    assert!(limits.iter().all(|limit| ABOUT.contains(limit)));
}

/// Only the assets serve the document: the service itself has no such path, and tells nobody without a key.
#[test]
fn the_path_of_the_document_is_no_other_endpoint() {
    assert_eq!(Route::of(PATH), Route::UnknownInApi);
    assert_eq!(Api::with_catalog().send(&anonymous("GET", PATH)).status, 401);
}

#[test]
fn a_default_is_what_a_list_has_without_the_parameter() {
    let api = Api::with_catalog();
    crate::vault::fixture(&api);
    let rows = |path: &str| {
        let answer = body(&api.get(path));
        assert!(answer["rows"].as_array().is_some_and(|rows| !rows.is_empty()), "{path}: {answer}");
        answer
    };
    for endpoint in endpoints() {
        let list = match endpoint {
            Endpoint::ListConnectors => "/v1/available-connectors?",
            Endpoint::ListActions => "/v1/available-actions/alpha?",
            Endpoint::ListConnections => "/v1/vault/connections?tags=red,blue&",
            _ => continue,
        };
        let mut defaults = 0;
        for parameter in parameters::query(endpoint) {
            let name = parameter.get("name").unwrap();
            let default = parameter.get("schema").and_then(|schema| schema.get("default"));
            let (Node::Text(name), Some(default)) = (name, default) else { continue };
            let default = default.to_source().trim().replace('"', "");
            assert_eq!(rows(list), rows(&format!("{list}{name}={default}")), "{list}{name}");
            defaults += 1;
        }
        assert!(defaults >= 2, "{list}");
    }
}

/// Everything that the service serves, with a name in braces for each part of a path that is a parameter.
fn targets() -> Vec<Target> {
    let targets = vec![
        Target::Connectors,
        Target::Actions { platform: "{platform}".into() },
        Target::Connections,
        Target::Connection { id: "{id}".into() },
        Target::Summary,
        Target::Whoami,
        Target::Sessions,
        Target::Health,
    ];
    // Whatever is new here must be in the list above, too.
    for target in &targets {
        match target {
            Target::Connectors
            | Target::Actions { .. }
            | Target::Connections
            | Target::Connection { .. }
            | Target::Summary
            | Target::Whoami
            | Target::Sessions
            | Target::Health => {}
        }
    }
    targets
}

/// The methods of a target that the document describes, each with what it does.
fn methods(target: &Target) -> Vec<(&'static str, Endpoint)> {
    let methods =
        target.allow().split(", ").filter(|method| !matches!(*method, "HEAD" | "OPTIONS"));
    methods.map(|method| (method, target.endpoint(method).unwrap())).collect()
}

/// Everything that can be done.
fn endpoints() -> Vec<Endpoint> {
    targets().iter().flat_map(methods).map(|(_, endpoint)| endpoint).collect()
}

fn document() -> Node {
    let mut shared = Vec::new();
    let mut paths: Vec<(String, Node)> = Vec::new();
    for target in targets() {
        let operations = methods(&target).into_iter().map(|(method, endpoint)| {
            (method.to_lowercase(), operations::operation(endpoint, &mut shared))
        });
        let path = target.path();
        paths.push((decode(&path).unwrap().into_owned(), Node::members(operations)));
    }
    paths.push((PATH.into(), object! {"get": own_operation()}));

    let tag = |name, description| object! {"name": name, "description": description};
    let key = object! {
        "type": "apiKey",
        "in": "header",
        "name": SECRET_HEADER,
        "description": "An API key, `sk_test_…` or `sk_live_…`, of one account and environment. The operator may have named further headers that mean the same: send one header, once.",
    };
    let samples = [
        samples::success(Endpoint::ReadConnection),
        samples::success(Endpoint::CreateConnection),
        samples::success(Endpoint::ListConnections),
        samples::problem(Endpoint::Whoami, Code::MissingKey).unwrap(),
        samples::problem(Endpoint::Whoami, Code::Unavailable).unwrap(),
    ];
    let licence = env!("CARGO_PKG_LICENSE");
    object! {
        "openapi": "3.1.0",
        "info": object! {
            "title": env!("CARGO_PKG_NAME"),
            "version": env!("CARGO_PKG_VERSION"),
            "summary": env!("CARGO_PKG_DESCRIPTION"),
            "description": ABOUT.trim_end(),
            "license": object! {"name": licence, "identifier": licence},
        },
        "servers": vec![object! {"url": "/", "description": "The service that this document comes from."}],
        "security": vec![object! {"apiKey": Vec::new()}],
        "tags": vec![
            tag(CATALOG, "Which platforms can be connected, and what each of them can do."),
            tag(VAULT, "Who is connected to which platform."),
            tag(SERVICE, "The service itself, and the key."),
        ],
        "paths": Node::members(paths),
        "components": object! {
            "securitySchemes": object! {"apiKey": key},
            "schemas": schemas::all(),
            "parameters": parameters::headers(),
            "headers": responses::components(&samples),
            "responses": Node::members(shared),
        },
    }
}

/// The operation that gives this document. It is a file: the Worker does not see the request.
fn own_operation() -> Node {
    let text = |description: &str| {
        object! {"description": description, "required": true, "schema": object! {"type": "string"}}
    };
    // Of every file of the site; other answers of the service have no use for them.
    let of_files = |description: &str| object! {"description": description, "schema": object! {"type": "string"}};
    let headers = object! {
        "content-security-policy": of_files("What a page of the service may load."),
        "cross-origin-opener-policy": of_files("Who shares a page's window."),
        "permissions-policy": of_files("What a page may ask the browser for."),
        "referrer-policy": of_files("What a page tells about itself."),
        "x-content-type-options": of_files("The media type is not to be guessed."),
        "etag": text("The entity tag of the document."),
        "cache-control": text("A cache asks before each use."),
        "access-control-allow-origin": text("`*`: every page may read the document."),
    };
    let schema = object! {
        "type": "object",
        "required": Node::texts(["openapi", "info", "paths"]),
        "properties": object! {
            "openapi": object! {"type": "string", "pattern": "^3\\.1\\."},
            "info": object! {"type": "object"},
            "paths": object! {"type": "object"},
        },
    };
    object! {
        "operationId": "openapi",
        "tags": Node::texts([SERVICE]),
        "summary": "This document",
        "description": "The OpenAPI document of the service. Open to everybody, and to pages of every origin.",
        "x-codeSamples": code::of_the_document(),
        "security": Vec::new(),
        "parameters": vec![object! {"$ref": "#/components/parameters/IfNoneMatch"}],
        "responses": object! {
            "200": object! {
                "description": "The document.",
                "headers": headers.clone(),
                "content": object! {"application/json": object! {"schema": schema}},
            },
            "304": object! {"description": "What `If-None-Match` names is the document.", "headers": headers},
        },
    }
}
