//! Methods with several secrets, constant headers and values of the OAuth client: from OpenAPI
//! documents and `providers.toml` to the requests that the service sends.

mod added_fields;
mod checks;
mod documents;
mod headers;
mod pages;
mod platforms;
mod secret_addresses;

use std::path::Path;

use connector_vault::catalog::write::Sizes;
use connector_vault::http::Response;
use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::providers::Providers;
use connector_vault::importer::{Import, ProgressObserver, gather};
use connector_vault::ports::HttpRequest;
use serde_json::{Value, json};

use crate::call::{header, platform, platform_response, sent};
use crate::connect::{KEYS, ann_connect_body, connect, script, send, set_client, text};
use crate::support::{Api, body, config, with_header};
use crate::vault::{at, code};

struct NoProgress;

impl ProgressObserver for NoProgress {
    fn files_found(&self, _: usize, _: u64) {}
    fn file_read(&self, _: u64) {}
}

/// An OpenAPI document for `https://api.acme.example` with these security schemes, requirements and
/// paths.
fn document(schemes: &Value, security: &Value, paths: &Value) -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {"title": "Acme", "version": "1", "x-providerName": "acme.example"},
        "servers": [{"url": "https://api.acme.example"}],
        "components": {"securitySchemes": schemes}, "security": security, "paths": paths,
    })
}

/// An operation of a document, with a 200 response.
fn operation(id: &str, extra: &Value) -> Value {
    let mut operation = json!({"operationId": id, "responses": {"200": {"description": "ok"}}});
    for (name, value) in extra.as_object().unwrap() {
        operation[name] = value.clone();
    }
    operation
}

/// Imports these documents with this `providers.toml`. Returns a service with the result. `name` is
/// the import's folder, and must be unique.
fn import_catalog(name: &str, documents: &[Value], providers: &str) -> Api {
    let settings = [("VAULT_KEYS", KEYS), ("SESSION_SECRET", "0123456789abcdef0123456789abcdef")];
    let api = Api::new(config(&settings));
    publish(&api, name, documents, providers);
    api
}

/// Imports the documents with this `providers.toml`, and replaces the catalog with the result.
fn publish(api: &Api, name: &str, documents: &[Value], providers: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("methods").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    // An import needs at least one document.
    let unrelated =
        json!({"openapi": "3.0.3", "info": {"title": "Unrelated", "version": "1"}, "paths": {}});
    std::fs::write(folder.join("unrelated.json"), unrelated.to_string()).unwrap();
    for (index, document) in documents.iter().enumerate() {
        std::fs::write(folder.join(format!("{index}.json")), document.to_string()).unwrap();
    }
    let providers = Providers::parse("providers.toml", providers).unwrap();
    let job = Import {
        sources: vec![folder],
        licence: LicenceFilter::Any,
        providers,
        ..Import::default()
    };
    let (_, platforms) = gather(&job, &NoProgress).unwrap();
    api.env.publish_platforms(Sizes::PUBLISHED, &platforms);
}

fn detail(api: &Api, name: &str) -> Value {
    body(&api.get(&format!("/v1/available-connectors/{name}")))
}

fn action(api: &Api, key: &str) -> Value {
    body(&api.get(&format!("/v1/available-actions/acme/{key}")))
}

/// Connects ann's account by a method without a redirect. The platform accepts the credentials if
/// the service checks them.
fn connected(api: &Api, name: &str, method: Option<&str>, fields: &Value) -> String {
    platform(api, |_| Ok(platform_response(200, &[], "{}")));
    let mut body_sent = ann_connect_body(name);
    body_sent["fields"] = fields.clone();
    if let Some(method) = method {
        body_sent["authMethod"] = json!(method);
    }
    let response = connect(api, &body_sent);
    assert_eq!(response.status, 201, "{}", text(&response));
    sent(api);
    at(body(&response)["id"].as_str().unwrap())
}

/// Creates a connection of ann and stores these credentials. Returns its path.
fn connection_with(api: &Api, name: &str, credentials: &Value) -> String {
    platform(api, |_| Ok(platform_response(200, &[], "{}")));
    let created = send(api, "POST", "/v1/vault/connections", &ann_connect_body(name));
    let path = at(body(&created)["id"].as_str().unwrap());
    let stored = send(api, "PUT", &format!("{path}/credentials"), credentials);
    assert_eq!(stored.status, 204, "{}", text(&stored));
    sent(api);
    path
}

/// Sends a `GET` request with these headers. Returns the response, and the requests to the platform.
fn requests(api: &Api, path: &str, headers: &[(&str, &str)]) -> (Response, Vec<HttpRequest>) {
    let mut request = api.request("GET", path);
    for (name, value) in headers {
        request = with_header(request, name, value);
    }
    let response = api.send(&request);
    (response, sent(api))
}
