//! Tests of `OpenAPI` 3.2: documents are parsed like 3.1, and new members of 3.2 cause warnings.

use serde_json::json;

use super::details::import_details;
use super::support::import_documents;

#[test]
fn imports_openapi_3_2_document() {
    let lines = "components:
  mediaTypes: {Thing: {schema: {type: object, properties: {id: {type: integer}}}}}
paths:
  /a:
    post:
      parameters: [{name: $filter, in: query, schema: {type: string}}]
      requestBody: {content: {application/json: {$ref: '#/components/mediaTypes/Thing'}}}
      responses: {'200': {description: ok, content: {application/json: {$ref: '#/components/mediaTypes/Thing'}}}}";
    let (response, warnings) = import_details("v32", "openapi: 3.2.0", lines);
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(response["input"]["properties"]["body"]["properties"]["id"]["type"], "integer");
    assert_eq!(response["responses"][0]["schema"]["properties"]["id"], json!({"type": "integer"}));
}

#[test]
fn reports_features_that_only_3_2_has() {
    let document = "openapi: 3.2.0
info: {title: T, version: 1}
paths:
  /a:
    get:
      parameters: [{name: q, in: querystring, content: {application/json: {}}}]
      responses: {'200': {description: ok, content: {application/jsonl: {itemSchema: {type: object}}}}}
    query: {}
    additionalOperations: {COPY: {}, LOCK: {}}
  /b: {query: {}}
";
    let (summary, platforms) = import_documents("skipped-3-2", &[document]);
    assert_eq!(platforms.first().unwrap().connector.tools, 1);
    let warnings: Vec<&str> =
        summary.warnings.iter().filter_map(|line| Some(line.split_once(": ")?.1)).collect();
    assert_eq!(
        warnings,
        [
            "operations with a method that no action can have are skipped: `QUERY /a`, `COPY /a`, `LOCK /a` and 1 more",
            "OpenAPI 3.2 is read as 3.1, without `itemSchema`, parameters with `in: querystring`",
        ]
    );
}
