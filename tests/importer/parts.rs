//! Tests of documents that are split into several files.

use std::fs;
use std::path::{Path, PathBuf};

use connector_vault::importer::licence::LicenceFilter;
use serde_json::{Value, json};

use super::support::{folder, import_documents, import_sources, platform_names, run, stderr};

/// Creates a folder with these files.
fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = folder(name);
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The input of an action, in the catalog of the folder.
fn action(tree: &Path, platform: &str, key: &str) -> Value {
    let out = folder(&format!("{}-out", tree.file_name().unwrap().to_str().unwrap()));
    let (tree, out) = (tree.to_str().unwrap(), out.to_str().unwrap());
    let import = ["import", tree, "--licence", "any", "--config", "/dev/null", "--out", out];
    let imported = run(&import);
    assert!(imported.status.success(), "{}", stderr(&imported));
    let shown = run(&["show", platform, key, "--catalog", out]);
    assert!(shown.status.success(), "{}", stderr(&shown));
    serde_json::from_slice(&shown.stdout).unwrap()
}

const MAIN: &str = r#"
openapi: 3.0.3
info: { title: Shop, version: 1.10 }
servers: [{ url: https://shop.example }]
paths:
  /orders/{id}:
    $ref: paths/orders.yaml
components:
  schemas:
    Order: { $ref: schemas/order.json }
    Note: { type: string, maxLength: 9 }
  parameters:
    $ref: "parameters.yaml#/all"
  securitySchemes:
    key: { $ref: "./auth.yaml#/key" }
security: [{ key: [] }]
"#;

const FILES: [(&str, &str); 6] = [
    ("shop.yaml", MAIN),
    (
        "paths/orders.yaml",
        r#"
parameters:
  - { $ref: "../parameters.yaml#/all/Id" }
  - { $ref: "../shop.yaml#/components/parameters/Page" }
put:
  operationId: putOrder
  summary: Put an order
  requestBody:
    $ref: "../bodies%20and%20more.yml#/a~1b"
  responses: { "200": { description: Done., content: { application/json: { schema: { $ref: "../schemas/order.json" } } } } }
"#,
    ),
    (
        "parameters.yaml",
        r"
all:
  Id: { name: id, in: path, required: true, schema: { $ref: '#/kinds/id' } }
  Page: { name: page, in: query, schema: { type: integer, example: { $ref: nothing.yaml } } }
kinds:
  id: { type: string, minLength: 3 }
",
    ),
    ("auth.yaml", "key: { type: apiKey, in: header, name: X-Key }\n"),
    (
        "bodies and more.yml",
        r#"
a/b:
  required: true
  content: { application/json: { schema: { $ref: "shop.yaml#/components/schemas/Order" } } }
"#,
    ),
    (
        "schemas/order.json",
        r##"{
  "type": "object",
  "required": ["lines"],
  "properties": {
    "lines": { "type": "array", "items": { "$ref": "#/definitions/line" } },
    "parent": { "$ref": "#" },
    "note": { "$ref": "../shop.yaml#/components/schemas/Note" }
  },
  "definitions": {
    "line": { "type": "object", "properties": { "order": { "$ref": "order.json" }, "$ref": { "type": "string" } } }
  }
}"##,
    ),
];

#[test]
fn resolves_references_to_other_files() {
    let tree = tree("parts", &FILES);
    let (summary, platforms) = import_sources(&[tree.to_str().unwrap()], LicenceFilter::Any, "");
    assert_eq!(platform_names(&platforms), ["shop"]);
    assert_eq!(summary.warnings, [""; 0]);
    assert_eq!(platforms[0].connector.version, "1.10");
    let kinds: Vec<&str> = summary.skipped.iter().map(|(_, reason)| reason.kind()).collect();
    assert_eq!(kinds, ["part of a document"; 5]);
    let ways = serde_json::to_value(&platforms[0].detail.auth_methods).unwrap();
    assert_eq!(ways[0]["name"], "X-Key");

    let found = action(&tree, "shop", "putOrder");
    let input = &found["input"];
    assert_eq!(found["path"], "/orders/{id}");
    assert_eq!(input["required"], json!(["path", "body"]));
    let defined = |schema: &Value| {
        let name = schema["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
        input["$defs"][name].clone()
    };
    assert_eq!(
        defined(&input["properties"]["path"]["properties"]["id"]),
        json!({ "type": "string", "minLength": 3 })
    );
    assert_eq!(input["properties"]["query"]["properties"]["page"]["type"], "integer");
    let order = defined(&defined(&input["properties"]["body"]));
    assert_eq!(order["required"], json!(["lines"]));
    assert_eq!(defined(&order["properties"]["note"])["maxLength"], 9);
    // The schema is still recursive.
    assert_eq!(defined(&order["properties"]["parent"]), order);
    let line = defined(&order["properties"]["lines"]["items"]);
    assert_eq!(defined(&line["properties"]["order"]), order);
    assert_eq!(line["properties"]["$ref"], json!({ "type": "string" }));
    assert!(found["responses"][0]["schema"]["$ref"].is_string(), "{found}");
}

#[test]
fn json_refers_to_yaml_and_swagger_2_to_other_files() {
    let tree = tree(
        "parts-2",
        &[
            (
                "api.json",
                r#"{ "swagger": "2.0", "info": { "title": "Old Shop", "version": "1" }, "host": "old.example",
                  "paths": { "$ref": "paths.yaml" }, "definitions": { "$ref": "all.yaml#/definitions" } }"#,
            ),
            (
                "paths.yaml",
                "/a:\n  post:\n    operationId: addA\n    parameters: [{ in: body, name: b, schema: { $ref: 'api.json#/definitions/A' } }]\n",
            ),
            (
                "all.yaml",
                "definitions:\n  A: { type: object, properties: { n: { $ref: '#/definitions/N' } } }\n  N: { type: integer }\n",
            ),
        ],
    );
    let found = action(&tree, "old", "addA");
    let a = &found["input"]["$defs"]["A"];
    assert_eq!(a["properties"]["n"]["$ref"], "#/$defs/N");
    assert_eq!(found["input"]["$defs"]["N"], json!({ "type": "integer" }));
}

#[test]
fn reports_the_position_of_dangling_and_outside_references() {
    let main = r#"{ "openapi": "3.1.0", "info": { "title": "Lost", "version": "1" }, "servers": [{ "url": "https://lost.example" }],
      "paths": { "/a": { "post": { "operationId": "addA", "parameters": [
        { "name": "b", "in": "query", "schema": { "$ref": "missing.yaml#/b" } },
        { "name": "c", "in": "query", "schema": { "$ref": "there.yaml#/c" } },
        { "name": "d", "in": "query", "schema": { "$ref": "../outside.yaml" } },
        { "name": "e", "in": "query", "schema": { "$ref": "there.yaml#anchor" } },
        { "name": "f", "in": "query", "schema": { "$ref": "broken.json" } },
        { "name": "g", "in": "query", "schema": { "$ref": "linked.yaml" } },
        { "name": "h", "in": "query", "schema": { "$ref": "https://elsewhere.example/h.yaml" } },
        { "name": "i", "in": "query", "schema": { "$ref": "there.yaml#/i" } } ] } } } }"#;
    let tree = tree(
        "lost",
        &[
            ("api/main.json", main),
            ("api/there.yaml", "i: { $ref: 'missing.yaml' }\n"),
            ("api/broken.json", "{ \"type\": }"),
            ("outside.yaml", "type: string\n"),
        ],
    );
    #[cfg(unix)]
    std::os::unix::fs::symlink(tree.join("outside.yaml"), tree.join("api/linked.yaml")).unwrap();
    let (summary, platforms) =
        import_sources(&[tree.join("api").to_str().unwrap()], LicenceFilter::Any, "");
    assert_eq!(platform_names(&platforms), ["lost"]);
    let warnings = summary.warnings.join("\n");
    let at = "main.json#/paths/~1a/post/parameters";
    for expected in [
        format!("{at}/0/schema: the reference to `missing.yaml#/b` is dangling: No such file"),
        format!("{at}/1/schema: the reference to `there.yaml#/c` is dangling: the file has no value at this position"),
        format!("{at}/2/schema: the reference to `../outside.yaml` is dangling: it lies outside of the imported folder"),
        format!("{at}/3/schema: the reference to `there.yaml#anchor` is dangling: the part after `#` is not a JSON Pointer"),
        format!("{at}/4/schema: the reference to `broken.json` is dangling: expected value at line 1 column 11"),
        format!("{at}/5/schema: the reference to `linked.yaml` is dangling: it lies outside"),
        "there.yaml#/i: the reference to `missing.yaml` is dangling: No such file".to_owned(),
        "dangling references allow any value: `missing.yaml#/b`, `there.yaml#/c`, `../outside.yaml` and 5 more".to_owned(),
    ] {
        assert!(warnings.contains(&expected), "{expected}\n{warnings}");
    }
    // A document that is imported as a single file can refer only to files in or below its folder.
    let main = tree.join("api/main.json");
    let (alone, _) = import_sources(&[main.to_str().unwrap()], LicenceFilter::Any, "");
    assert_eq!(alone.warnings, summary.warnings);
}

#[test]
fn cyclic_files_terminate() {
    let tree = tree(
        "circles",
        &[
            (
                "main.yaml",
                "openapi: 3.0.0\ninfo: { title: Circles, version: '1' }\nservers: [{ url: 'https://circles.example' }]\npaths:\n  /a: { $ref: a.yaml }\n  /b: { get: { operationId: getB, parameters: [{ $ref: 'c.yaml' }] } }\n",
            ),
            ("a.yaml", "$ref: b.yaml\n"),
            ("b.yaml", "$ref: a.yaml\n"),
            ("c.yaml", "$ref: c.yaml\n"),
        ],
    );
    let (_, platforms) = import_sources(&[tree.to_str().unwrap()], LicenceFilter::Any, "");
    assert_eq!(platforms[0].actions.len(), 1);
}

#[test]
fn ignores_references_in_extensions() {
    let (summary, platforms) = import_documents(
        "parts-extensions",
        &[
            "openapi: 3.0.0\ninfo: {title: Acme, version: 1}\npaths:\n  /a:\n    get:\n      x-codeSamples: [{lang: PHP, source: {$ref: a.php}}]\n      parameters: [{$ref: missing.yaml}]\n",
        ],
    );
    assert_eq!(platforms.len(), 1);
    let warnings = summary.warnings.join("\n");
    assert!(warnings.contains("missing.yaml") && !warnings.contains("a.php"), "{warnings}");
}
