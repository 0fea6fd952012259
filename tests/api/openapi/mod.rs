//! The `OpenAPI` document describes the real service: its examples are responses of `handle()`, recorded here.

mod api_page;
mod catalog;
pub mod fixture;
mod samples;

use std::fs;
use std::sync::LazyLock;

use connector_vault::http::endpoint::Keyed;
use connector_vault::http::paging;
use connector_vault::http::route::Route;
use connector_vault::openapi::json::{Members as _, to_source};
use connector_vault::openapi::{self, RecordedResponses};
use serde_json::Value;

use crate::generated_files::assert_up_to_date;
use crate::support::{Api, anonymous, body, with_header};

const DOCUMENT: &str = "www/public/v1/openapi.json";
const ANSWERS: &str = "src/openapi/answers.json";
/// The folder with the pages about problem codes.
const PAGES: &str = "www/public/problems";
/// The document's path on the site, below the assets folder.
const PATH: &str = "/v1/openapi.json";

/// The service's current responses, and the document that contains them. Both take seconds, so the
/// tests share them.
static CURRENT: LazyLock<(RecordedResponses, Value)> = LazyLock::new(|| {
    let responses = samples::responses();
    let document = openapi::document(&responses);
    (responses, document)
});

#[test]
fn the_committed_document_matches_the_service() {
    let (responses, document) = &*CURRENT;
    let recorded = serde_json::to_string_pretty(responses).unwrap() + "\n";
    let document = to_source(document);
    let pages = openapi::problem_pages::pages();
    let count = pages.len();
    let pages = pages.into_iter().map(|(name, page)| (format!("{PAGES}/{name}"), page));
    for (path, now) in
        [(ANSWERS.to_owned(), recorded), (DOCUMENT.to_owned(), document)].into_iter().chain(pages)
    {
        assert_up_to_date(&path, &now, "WRITE_OPENAPI", "openapi");
    }
    let files = fs::read_dir(PAGES).unwrap().map(|file| file.unwrap().file_name());
    let pages_there = files.filter(|name| name.to_string_lossy().ends_with(".html")).count();
    assert_eq!(pages_there, count, "{PAGES} has a page for an unknown code");
}

#[test]
fn the_document_lists_exactly_the_routes() {
    let (_, document) = &*CURRENT;
    let paths = document.get("paths").unwrap();
    for path in paths.names() {
        let Route::Resource(resource) = Route::parse(path) else { panic!("{path} leads nowhere") };
        let methods = ["GET", "PUT", "POST", "DELETE", "PATCH", "TRACE", "QUERY"];
        for method in methods {
            let described = paths.get(path).unwrap().get(method.to_lowercase()).is_some();
            assert_eq!(described, resource.endpoint(method).is_some(), "{method} {path}");
        }
        assert_eq!(resource.endpoint("HEAD"), resource.endpoint("GET"), "{path}");
        assert_eq!(resource.endpoint("OPTIONS"), None, "{path}");
    }
}

/// The introduction is written by hand, so it could omit a new scope or limit.
#[test]
fn the_introduction_lists_all_scopes_and_limits() {
    for scope in connector_vault::terms::Scope::ALL {
        assert!(openapi::DESCRIPTION.contains(&format!("`{}`", scope.as_str())), "{scope:?}");
    }
    let limits = ["64 KiB", "1 to 500, 20 unless given"];
    assert_eq!(connector_vault::http::message::MAX_BODY >> 10, 64);
    assert_eq!((paging::DEFAULT_LIMIT, paging::MAX_LIMIT), (20, 500));
    assert!(limits.iter().all(|limit| openapi::DESCRIPTION.contains(limit)));
}

/// The document is a static asset of the site. The service handles all methods other than `GET`.
#[test]
fn the_document_is_public() {
    let api = Api::with_catalog();
    let requested = |method: &str, path: &str| {
        api.send(&with_header(anonymous(method, path), "origin", "https://any.example"))
    };
    for method in ["GET", "HEAD"] {
        for path in [PATH, "/v1/%6fpenapi.json", "/v1/openapi.json?x=1"] {
            let response = requested(method, path);
            assert_eq!((response.status, response.is_asset), (200, true), "{method} {path}");
        }
    }
    for method in ["POST", "PUT", "PATCH", "DELETE", "QUERY", "get", ""] {
        let response = requested(method, PATH);
        let code = body(&response)["code"].clone();
        let reply = (response.status, response.is_asset, code.as_str());
        assert_eq!(reply, (405, false, Some("method_not_allowed")), "{method}");
        assert_eq!(response.header("allow"), Some("GET, HEAD, OPTIONS"));
        assert_eq!(response.header("content-type"), Some("application/problem+json"));
        assert_eq!(response.header("access-control-allow-origin"), Some("https://any.example"));
    }
    let preflight = requested("OPTIONS", PATH);
    assert_eq!((preflight.status, preflight.header("allow")), (204, Some("GET, HEAD, OPTIONS")));
    assert_eq!(preflight.header("access-control-allow-methods"), Some("GET, HEAD, OPTIONS"));
    assert_eq!(preflight.header("access-control-allow-origin"), Some("https://any.example"));
    // No other endpoint allows pages of all origins.
    let other = requested("OPTIONS", "/v1/whoami");
    assert_eq!((other.status, other.header("access-control-allow-origin")), (204, None));
    assert_eq!(api.send(&anonymous("GET", "/v1/openapi.json/")).status, 401);
    assert_eq!((api.env.db_calls.get(), api.env.blob_reads.borrow().len()), (0, 0));
}

#[test]
fn documented_defaults_match_the_service() {
    let api = Api::with_catalog();
    crate::vault::fixture(&api);
    let rows = |path: &str| {
        let response = body(&api.get(path));
        assert!(
            response["rows"].as_array().is_some_and(|rows| !rows.is_empty()),
            "{path}: {response}"
        );
        response
    };
    for (endpoint, list) in [
        (Keyed::ListConnectors, "/v1/available-connectors?"),
        (Keyed::SearchActions, "/v1/available-actions?q=user&"),
        (Keyed::ListActions, "/v1/available-actions/alpha?"),
        (Keyed::ListConnections, "/v1/vault/connections?tags=red,blue&"),
    ] {
        let mut defaults = 0;
        for parameter in openapi::query(endpoint) {
            let name = parameter.get("name").unwrap();
            let default = parameter.get("schema").and_then(|schema| schema.get("default"));
            let (Value::String(name), Some(default)) = (name, default) else { continue };
            let default = default.to_string().trim().replace('"', "");
            assert_eq!(rows(list), rows(&format!("{list}{name}={default}")), "{list}{name}");
            defaults += 1;
        }
        assert!(defaults >= 2, "{list}");
    }
}
