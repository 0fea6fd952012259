//! Tests of imported GraphQL schemas.

use connector_vault::catalog::write::Platform;
use connector_vault::importer::fetched::FetchedDocument;
use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::providers::Providers;
use connector_vault::importer::{Import, gather, hash};
use serde_json::json;
use std::fs;

use crate::details::action_details;
use crate::support::{NoProgress, folder};

const SDL: &str = r#"
"A description of the schema" schema { query: Query mutation: Mutation }
type Query { "All issues, newest first" issues(first: Int, filter: IssueFilter): IssueConnection! issue(id: ID!): Issue }
type Mutation { issueCreate(input: IssueInput!): IssuePayload! @deprecated }
type IssueConnection { nodes: [Issue!]! }
type Issue { id: ID! title: String }
type IssuePayload { success: Boolean! }
input IssueInput { title: String! }
input IssueFilter { title: String }
"#;

/// Imports a schema as the platform `acme`. `server` is its base URL in `providers.toml`.
fn imported(name: &str, text: &str, endpoint: &str, server: &str) -> Platform {
    let (documents, cache) =
        (folder(&format!("{name}-documents")), folder(&format!("{name}-cache")));
    let other = r#"{"openapi":"3.0.0","info":{"title":"B","version":"1"},"paths":{"/a":{"get":{"operationId":"query.a"}}}}"#;
    fs::write(documents.join("b.json"), other).unwrap();
    let sha256 = hash::sha256(text.as_bytes());
    let path = cache.join(&sha256);
    fs::write(&path, text).unwrap();
    let fetched = FetchedDocument {
        platform: "acme".into(),
        address: "https://acme.example/schema.graphql".into(),
        path,
        sha256,
        licence: "MIT".into(),
        endpoint: Some(endpoint.into()),
        ..FetchedDocument::default()
    };
    let providers = format!(
        "[platforms.acme]\nname = \"Acme\"\nservers = [\"{server}\"]\n\n[[platforms.acme.auth]]\nid = \"token\"\ntype = \"bearer\"\nfields = [{{ name = \"token\", label = \"Token\", secret = true, required = true }}]\nsource = \"https://acme.example\"\nread = \"2026-11-28\"\n"
    );
    let providers = Providers::parse("providers.toml", &providers).unwrap();
    let import = Import {
        sources: vec![documents],
        licence: LicenceFilter::Any,
        fetched: vec![fetched],
        providers,
        ..Import::default()
    };
    let (summary, platforms) = gather(&import, &NoProgress).unwrap();
    let is_other = |platform: &&Platform| platform.connector.platform != "acme";
    let other = platforms.iter().find(is_other).unwrap();
    assert_eq!(
        other.actions.first().map(|row| row.key.as_str()),
        Some("queryA"),
        "no other document has keys of queries"
    );
    let found = platforms.into_iter().find(|platform| platform.connector.platform == "acme");
    assert!(found.is_some(), "{:?}", summary.skipped);
    found.unwrap()
}

#[test]
fn each_root_field_becomes_an_action() {
    for (name, endpoint, server, path) in [
        (
            "graphql-path",
            "https://api.acme.example/graphql",
            "https://api.acme.example",
            "/graphql",
        ),
        ("graphql-root", "https://api.acme.example/v2", "https://api.acme.example/v2", "/"),
    ] {
        let acme = imported(name, SDL, endpoint, server);
        let rows: Vec<(&str, &str, &str)> = acme
            .actions
            .iter()
            .map(|row| (row.key.as_str(), row.title.as_str(), row.model_name.as_str()))
            .collect();
        let expected = [
            ("mutation.issueCreate", "Create issue", "Issue"),
            ("query.issue", "Get issue", "Issue"),
            ("query.issues", "List issues", "Issue"),
        ];
        assert!(expected.iter().all(|row| rows.contains(row)) && rows.len() == 3, "{rows:?}");
        assert!(acme.actions.iter().all(|row| row.method.as_str() == "POST"));
        let issues = action_details(&acme, "query.issues");
        assert_eq!(issues["path"], path);
        assert_eq!(issues["description"], "All issues, newest first");
        assert_eq!(
            issues["graphql"],
            json!({
                "document": "query ($first: Int, $filter: IssueFilter) { issues(first: $first, filter: $filter) {selection} }",
                "selection": "nodes { id title }",
                "first": 20,
            })
        );
        assert_eq!(issues["auth"], json!([{ "method": "token", "scopes": [] }]));
        let body = &issues["input"]["properties"]["body"]["properties"];
        assert_eq!(body["filter"]["$ref"], "#/$defs/IssueFilter");
        assert_eq!(action_details(&acme, "mutation.issueCreate")["deprecated"], true);
    }
}

#[test]
fn accepts_four_byte_characters_in_descriptions() {
    let sdl = "type Query { \"\"\"\n\u{1f4a1} All issues\n\"\"\" issues: [ID!] }";
    let server = "https://api.acme.example";
    let acme = imported("graphql-emoji", sdl, "https://api.acme.example/graphql", server);
    assert_eq!(action_details(&acme, "query.issues")["description"], "All issues");
}

#[test]
fn reports_malformed_graphql_schema() {
    let (documents, cache) = (folder("graphql-broken"), folder("graphql-broken-cache"));
    fs::write(
        documents.join("b.json"),
        r#"{"openapi":"3.0.0","info":{"title":"B","version":"1"},"paths":{}}"#,
    )
    .unwrap();
    let text = "type Query { a: ";
    let (sha256, path) = (hash::sha256(text.as_bytes()), cache.join("a"));
    fs::write(&path, text).unwrap();
    let fetched = FetchedDocument {
        platform: "acme".into(),
        path,
        sha256,
        endpoint: Some("https://a.example/graphql".into()),
        ..FetchedDocument::default()
    };
    let import = Import {
        sources: vec![documents],
        licence: LicenceFilter::Any,
        fetched: vec![fetched],
        ..Import::default()
    };
    let (summary, _) = gather(&import, &NoProgress).unwrap();
    let skipped = format!("{:?}", summary.skipped);
    assert!(skipped.contains("the GraphQL schema cannot be read"), "{skipped}");
}
