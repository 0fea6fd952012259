//! Tests of documents in Google's Discovery format.

use std::fs;

use connector_vault::catalog::detail::Kind;
use connector_vault::importer::licence::LicenceFilter;
use connector_vault::platform_calls::lenient::coerce;
use connector_vault::terms::Method;
use serde_json::{Value, json};

use super::support::{folder, import_documents, import_sources, run, stderr};

const LIBRARY: &str = "tests/fixtures/discovery/libraryagent.v1.json";
const FONTS: &str = "tests/fixtures/discovery/webfonts.v1.json";

/// The input of an action, as `catalog show` prints it.
fn action_input(name: &str, document: &str, platform: &str, action: &str) -> Value {
    let out = folder(name).join("out");
    let out = out.to_str().unwrap();
    let imported =
        run(&["import", document, "--licence", "any", "--config", "/dev/null", "--out", out]);
    assert!(imported.status.success(), "{}", stderr(&imported));
    let output = run(&["show", platform, action, "--catalog", out]);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A document with these schemas and methods.
fn acme_document(schemas: &Value, methods: &Value) -> Value {
    json!({
        "kind": "discovery#restDescription",
        "name": "acme",
        "version": "v2",
        "title": "Acme API",
        "ownerDomain": "acme.example",
        "rootUrl": "https://acme.example/",
        "servicePath": "acme/v2/",
        "schemas": schemas,
        "methods": methods,
    })
}

#[test]
fn discovery_methods_become_actions_of_the_platform() {
    let (summary, platforms) = import_sources(&[LIBRARY], LicenceFilter::Any, "");
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    let [platform] = platforms.as_slice() else { panic!("{:?}", summary.platforms) };
    assert_eq!(platform.connector.platform, "googleapis-libraryagent");
    assert_eq!(platform.connector.name, "Google Library Agent");
    assert_eq!(platform.connector.platform_version, "v1");
    let mut actions: Vec<_> = platform
        .actions
        .iter()
        .map(|action| (action.key.as_str(), action.method.as_str(), action.model_name.as_str()))
        .collect();
    actions.sort_unstable();
    assert_eq!(
        actions,
        [
            ("libraryagentShelvesBooksBorrow", "POST", "Books"),
            ("libraryagentShelvesBooksGet", "GET", "Books"),
            ("libraryagentShelvesBooksList", "GET", "Books"),
            ("libraryagentShelvesBooksReturn", "POST", "Books"),
            ("libraryagentShelvesGet", "GET", "Shelves"),
            ("libraryagentShelvesList", "GET", "Shelves"),
        ]
    );
}

#[test]
fn discovery_scopes_become_oauth_scopes() {
    let (_, platforms) = import_sources(&[LIBRARY], LicenceFilter::Any, "");
    let methods = &platforms[0].detail.auth_methods;
    let [method] = methods.as_slice() else { panic!("{methods:?}") };
    let Kind::OAuth2(oauth) = &method.kind else { panic!("{method:?}") };
    assert_eq!(oauth.token_url, "https://oauth2.googleapis.com/token");
    let scopes: Vec<&str> = oauth.scopes.iter().map(|scope| scope.name.as_str()).collect();
    assert_eq!(scopes, ["https://www.googleapis.com/auth/cloud-platform"]);
}

#[test]
fn methods_without_scopes_need_a_key() {
    let (_, platforms) = import_sources(&[FONTS], LicenceFilter::Any, "");
    let methods = &platforms[0].detail.auth_methods;
    let [method] = methods.as_slice() else { panic!("{methods:?}") };
    let Kind::ApiKey(key) = &method.kind else { panic!("{method:?}") };
    assert_eq!(key.name, "key");
}

#[test]
fn multi_segment_parameter_becomes_one_per_segment() {
    let action = action_input(
        "discovery-flat",
        LIBRARY,
        "googleapis-libraryagent",
        "libraryagentShelvesBooksList",
    );
    assert_eq!(action["path"], "/v1/shelves/{shelvesId}/books");
    let path = &action["input"]["properties"]["path"];
    assert_eq!(path["required"], json!(["shelvesId"]));
    let description = path["properties"]["shelvesId"]["description"].as_str().unwrap();
    assert!(description.starts_with("Part of `parent`: "), "{description}");
    let query = action["input"]["properties"]["query"]["properties"].as_object().unwrap();
    let mut names: Vec<&str> = query.keys().map(String::as_str).collect();
    names.sort_unstable();
    // The input excludes the parameters for credentials, JSONP and uploads.
    assert_eq!(names, ["fields", "pageSize", "pageToken", "prettyPrint", "quotaUser"]);
    assert_eq!(query["pageSize"]["type"], "integer");
    let scope = "https://www.googleapis.com/auth/cloud-platform";
    assert_eq!(action["auth"], json!([{ "method": "oauth2", "scopes": [scope] }]));
}

#[test]
fn parses_defaults_and_repeated_parameters() {
    let schemas = json!({
            "Thing": {
                "id": "Thing",
                "type": "object",
                "properties": {
                    "count": { "type": "string", "format": "int64", "default": "5" },
                    "any": { "type": "any" },
                    "more": { "type": "object", "additionalProperties": { "$ref": "Thing" } },
                },
            },
    });
    let methods = json!({
            "find": {
                "id": "acme.find",
                "path": "things/{id}",
                "httpMethod": "POST",
                "apiVersion": "v2_20261101",
                "parameters": {
                    "id": { "location": "path", "type": "string", "required": true },
                    "deep": { "location": "query", "type": "boolean", "default": "false" },
                    "most": { "location": "query", "type": "integer", "minimum": "1", "maximum": "9" },
                    "tag": { "location": "query", "type": "string", "repeated": true },
                },
                "request": { "$ref": "Thing" },
                "response": { "$ref": "Thing" },
            },
    });
    let document = acme_document(&schemas, &methods);
    let source = folder("discovery-values").join("acme.json");
    fs::write(&source, document.to_string()).unwrap();
    let action = action_input("discovery-values-out", source.to_str().unwrap(), "acme", "acmeFind");
    assert_eq!(action["path"], "/things/{id}");
    assert_eq!(action["server"], "https://acme.example/acme/v2", "{action}");
    let input = &action["input"]["properties"];
    assert_eq!(input["query"]["properties"]["deep"]["default"], json!(false));
    assert_eq!(input["query"]["properties"]["most"]["maximum"], json!(9));
    assert_eq!(input["query"]["properties"]["tag"]["type"], "array");
    assert_eq!(input["header"]["properties"]["X-Goog-Api-Version"]["enum"], json!(["v2_20261101"]));
    let text = action.to_string();
    assert!(text.contains("\"default\":\"5\""), "{text}");
}

#[test]
fn an_item_of_a_list_of_itself_is_wrapped_once() {
    let schemas = json!({
            "Nest": { "id": "Nest", "type": "array", "items": { "$ref": "Nest" } },
            "Thing": { "id": "Thing", "type": "object", "properties": { "nest": { "$ref": "Nest" } } },
    });
    let methods = json!({
            "put": {
                "id": "acme.put",
                "path": "things",
                "httpMethod": "POST",
                "request": { "$ref": "Thing" },
            },
    });
    let document = acme_document(&schemas, &methods);
    let source = folder("discovery-nest").join("acme.json");
    fs::write(&source, document.to_string()).unwrap();
    let action = action_input("discovery-nest-out", source.to_str().unwrap(), "acme", "acmePut");
    let input = json!({"body": {"nest": "hello"}});
    let expected = json!({"body": {"nest": ["hello"]}});
    assert_eq!(coerce(&action["input"], input, Method::Post), expected, "{action}");
}

#[test]
fn reports_documents_without_required_members() {
    let base = r#""kind": "discovery#restDescription""#;
    for (name, document, fault) in [
        ("name", format!("{{{base}}}"), "the Discovery document has no `name`"),
        ("root", format!("{{{base}, \"name\": \"a\"}}"), "the Discovery document has no `rootUrl`"),
        (
            "rpc",
            format!("{{{base}, \"name\": \"a\", \"protocol\": \"rpc\"}}"),
            "the Discovery document describes a protocol other than REST",
        ),
    ] {
        let (summary, platforms) =
            import_documents(&format!("discovery-broken-{name}"), &[&document]);
        assert!(platforms.is_empty());
        assert!(summary.full().contains(fault), "{}", summary.full());
    }
    // A document that only mentions the Discovery format is parsed in its actual format.
    let (_, platforms) = import_documents(
        "discovery-mentioned",
        &[
            r#"{"openapi": "3.0.0", "info": {"title": "discovery#restDescription", "version": "1"}, "paths": {}}"#,
        ],
    );
    assert_eq!(platforms.len(), 1);
}
