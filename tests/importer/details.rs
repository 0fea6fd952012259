//! Tests of the inputs and responses of actions, from documents of every OpenAPI version.

use connector_vault::catalog::action::render::render;
use connector_vault::catalog::action::unit::{Unit, inflate};
use connector_vault::catalog::write::Platform;
use serde_json::{Value, json};

use super::support::{import_documents, import_sources};
use connector_vault::importer::licence::LicenceFilter;

/// The detail of an action, including its responses.
pub fn action_details(platform: &Platform, key: &str) -> Value {
    let found = platform.units.units.iter().find_map(|unit| {
        let bytes = inflate(&unit.bytes).unwrap();
        let unit = Unit::open(&bytes).unwrap();
        let action = unit.action(key)?;
        let name = &platform.connector.platform;
        let schemes = &platform.units.schemes;
        let connector = serde_json::to_value(&platform.detail).unwrap();
        let connector = serde_json::from_value(connector).unwrap();
        let json = render(&unit, &action, name, &connector, schemes, true).unwrap();
        Some(serde_json::from_slice(&json).unwrap())
    });
    found.unwrap()
}

/// Imports a document with these lines. Returns the detail of its action (`getA` or `postA`), and
/// the warnings.
pub fn import_details(name: &str, version: &str, lines: &str) -> (Value, Vec<String>) {
    let document = format!("{version}\ninfo: {{title: T, version: 1}}\n{lines}\n");
    let (summary, platforms) = import_documents(name, &[&document]);
    assert!(summary.skipped.is_empty(), "{}", summary.full());
    let warnings = summary.warnings.iter();
    let warnings = warnings.map(|line| line.split_once(": ").unwrap().1.to_owned()).collect();
    let platform = platforms.first().unwrap();
    let has_key = |key: &&str| platform.actions.iter().any(|action| action.key == *key);
    (action_details(platform, ["getA", "postA"].into_iter().find(has_key).unwrap()), warnings)
}

/// Converts an OpenAPI 3.0 schema of a property of the body to JSON Schema.
fn convert_schema(name: &str, schema: &str) -> Value {
    let schemas =
        "components: {schemas: {Other: {type: string}, Own: {type: string, readOnly: true}}}";
    let lines = format!(
        "{schemas}\npaths: {{/a: {{post: {{requestBody: {{content: {{application/json: {{schema: {{properties: {{p: {schema}}}}}}}}}}}}}}}}}"
    );
    let (response, _) = import_details(name, "openapi: 3.0.0", &lines);
    response.pointer("/input/properties/body/properties/p").unwrap().clone()
}

#[test]
#[rustfmt::skip] // one case per line
fn schemas_become_json_schema() {
    for (at, (schema, expected)) in [
        ("{type: string, maxLength: 5.0, pattern: '^a+$', x-more: 1, xml: {name: a}}", json!({"type": "string", "maxLength": 5, "pattern": "^a+$"})),
        ("{type: string, nullable: true, enum: [a, b, a]}", json!({"type": ["string", "null"], "enum": ["a", "b", null]})),
        ("{$ref: '#/components/schemas/Other', nullable: true}", json!({"anyOf": [{"$ref": "#/$defs/Other"}, {"type": "null"}]})),
        ("{allOf: [{$ref: '#/components/schemas/Other'}], nullable: true}", json!({"anyOf": [{"allOf": [{"$ref": "#/$defs/Other"}]}, {"type": "null"}]})),
        ("{type: integer, minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false}", json!({"type": "integer", "exclusiveMinimum": 1, "maximum": 9})),
        ("{type: number, minimum: '1.5', multipleOf: 0, format: float}", json!({"type": "number", "minimum": 1.5, "format": "float"})),
        ("{type: float}", json!({"type": "number"})),
        ("{type: any, required: true, enum: []}", json!({})),
        ("{type: file}", json!({"type": "string", "format": "binary"})),
        ("{type: array, items: [{type: string}, {type: integer}]}", json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]})),
        ("{type: object, required: [id, name, name], properties: {id: {type: string, readOnly: true}, name: {}}}", json!({"type": "object", "required": ["name"], "properties": {"id": {"type": "string", "readOnly": true}, "name": {}}})),
        ("{type: string, pattern: '(?i)[', example: x, description: ' a   b '}", json!({"type": "string", "examples": ["x"], "description": "a b"})),
        ("{additionalProperties: true, oneOf: [{type: string}], anyOf: [], not: 1}", json!({"additionalProperties": true, "anyOf": [{"type": "string"}]})),
        ("{oneOf: [{type: string}, {type: null}], anyOf: [{}]}", json!({"anyOf": [{}], "allOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}]})),
        ("{not: {$ref: '#/components/schemas/Other'}, unevaluatedProperties: false, if: {}}", json!({})),
        ("{not: {type: string}}", json!({"not": {"type": "string"}})),
        ("{type: string, enum: [true, 1]}", json!({"type": "string", "enum": ["true", "1"]})),
        ("{type: object, nullable: true, anyOf: [{required: [a]}]}", json!({"anyOf": [{"type": "object", "anyOf": [{"required": ["a"]}]}, {"type": "null"}]})),
        ("{type: 'null', nullable: true}", json!({"type": "null"})),
        ("{type: object, required: [id], properties: {id: {$ref: '#/components/schemas/Own'}}}", json!({"type": "object", "properties": {"id": {"$ref": "#/$defs/Own"}}})),
        ("{type: string, pattern: '(?i:a)'}", json!({"type": "string"})),
        ("{type: string, const: '', default: ''}", json!({"type": "string", "const": "", "default": ""})),
        ("{$ref: other.yaml#/x, description: D}", json!({"description": "D"})),
    ].into_iter().enumerate() {
        assert_eq!(convert_schema(&format!("schema-{at}"), schema), expected, "{schema}");
    }
}

/// Type lists and members next to a reference are valid in OpenAPI 3.1.
#[test]
fn schemas_of_3_1_stay_unchanged() {
    let lines = "components:
  schemas:
    Node:
      type: [object, 'null']
      properties:
        next: {$ref: '#/components/schemas/Node', description: The next one}
        kind: {const: node}
        at: {exclusiveMinimum: 0, type: number}
paths: {/a: {post: {requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Node'}}}}}}}";
    let (response, warnings) = import_details("three-one", "openapi: 3.1.0", lines);
    let node = json!({
        "type": ["object", "null"],
        "properties": {
            "next": {"$ref": "#/$defs/Node", "description": "The next one"},
            "kind": {"const": "node"},
            "at": {"exclusiveMinimum": 0, "type": "number"},
        },
    });
    assert_eq!(response["input"]["$defs"], json!({"Node": node}));
    assert_eq!(response["input"]["properties"]["body"], json!({"$ref": "#/$defs/Node"}));
    assert_eq!(response["input"]["required"], json!(["body"]));
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn document_headers_never_override_authorization() {
    let parameter = |name: &str| format!("{{name: {name}, in: header, schema: {{type: string}}}}");
    let names = [
        "X-Good",
        "Host",
        "\"X-Bad\\r\\nHost\"",
        "'X Bad'",
        "Transfer-Encoding",
        "Cookie",
        "X-Vault-Server",
    ];
    let list = names.map(parameter).join(", ");
    let lines = format!("paths: {{/a: {{get: {{parameters: [{list}]}}}}}}");
    let (response, _) = import_details("hostile-headers", "openapi: 3.0.3", &lines);
    let headers = response.pointer("/input/properties/header/properties").unwrap();
    assert_eq!(headers.as_object().unwrap().keys().collect::<Vec<_>>(), ["X-Good"]);
}

#[test]
fn parameters_come_from_the_path_and_the_operation() {
    let lines = "components:
  parameters:
    Page: {name: page, in: query, schema: {type: integer}, description: Which page}
paths:
  /a/{id}/{other}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
      - {name: limit, in: query, schema: {type: integer}}
    get:
      operationId: getA
      deprecated: true
      servers: [{url: 'https://elsewhere.example/v2/'}]
      externalDocs: {url: 'https://docs.example/a'}
      parameters:
        - {$ref: '#/components/parameters/Page'}
        - {name: limit, in: query, required: true, schema: {type: integer, maximum: 10}}
        - {name: ids, in: query, style: pipeDelimited, explode: false, schema: {type: array, items: {type: string}}}
        - {name: filter, in: query, content: {application/json: {schema: {type: object}}}}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: gone, in: path, required: true, schema: {type: string}}";
    let (response, _) = import_details(
        "parameters",
        "openapi: 3.0.3\nservers: [{url: 'https://a.example'}]",
        lines,
    );
    let place =
        |one: &Value| format!("{} {}", one["in"].as_str().unwrap(), one["name"].as_str().unwrap());
    let names: Vec<String> = response["parameters"].as_array().unwrap().iter().map(place).collect();
    let expected = [
        "query page",
        "query limit",
        "query ids",
        "query filter",
        "header X-Trace",
        "path id",
        "path other",
    ];
    assert_eq!(names, expected);
    let [page, limit, ids, filter, ..] = response["parameters"].as_array().unwrap().as_slice()
    else {
        panic!("{response}")
    };
    assert_eq!(page["schema"], json!({"type": "integer", "description": "Which page"}));
    assert_eq!((&limit["required"], &limit["schema"]["maximum"]), (&json!(true), &json!(10)));
    assert_eq!((&ids["style"], &ids["explode"]), (&json!("pipeDelimited"), &json!(false)));
    assert_eq!(filter["contentType"], "application/json");
    assert_eq!((&page["style"], &page["explode"]), (&json!("form"), &json!(true)));
    assert_eq!(response["input"]["properties"]["query"]["required"], json!(["limit"]));
    assert_eq!(response["server"], "https://elsewhere.example/v2");
    assert_eq!(response["deprecated"], true);
    assert_eq!(response["documentationUrl"], "https://docs.example/a");
}

#[test]
fn converts_swagger_2_like_openapi_3() {
    let lines = "host: api.example
basePath: /v1
consumes: [application/xml, application/json]
produces: [application/json]
definitions:
  Pet: {type: object, required: [name], properties: {name: {type: string}, tag: {type: string, x-nullable: true}}}
responses:
  Missing: {description: Not there, schema: {$ref: '#/definitions/Pet'}}
paths:
  /a:
    post:
      operationId: getA
      parameters:
        - {name: tags, in: query, type: array, items: {type: string}, collectionFormat: multi}
        - {name: ids, in: query, type: array, items: {type: string}}
        - {name: body, in: body, required: true, schema: {$ref: '#/definitions/Pet'}}
      responses:
        200: {description: OK, schema: {type: array, items: {$ref: '#/definitions/Pet'}}}
        '404': {$ref: '#/responses/Missing'}
        default: {description: Oops}
  /b:
    post:
      operationId: upload
      parameters:
        - {name: file, in: formData, type: file, required: true, description: The file}
        - {name: note, in: formData, type: string}";
    let document = format!("swagger: '2.0'\ninfo: {{title: T, version: 1}}\n{lines}\n");
    let (_, platforms) = import_documents("swagger", &[&document]);
    let response = action_details(&platforms[0], "getA");
    assert_eq!(response["server"], "https://api.example/v1");
    let style = |index: usize| {
        let one = &response["parameters"][index];
        (one["style"].clone(), one["explode"].clone(), one["schema"]["items"].clone())
    };
    let items = || json!({"type": "string"});
    assert_eq!(style(0), (json!("form"), json!(true), items()));
    assert_eq!(style(1), (json!("form"), json!(false), items()));
    assert_eq!(
        response["requestBody"]["contentTypes"],
        json!(["application/json", "application/xml"])
    );
    assert_eq!(
        response["input"]["$defs"]["Pet"]["properties"]["tag"]["type"],
        json!(["string", "null"])
    );
    let responses = response["responses"].as_array().unwrap();
    let statuses: Vec<&str> = responses.iter().map(|one| one["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["200", "404", "default"]);
    assert_eq!(responses[0]["schema"]["items"]["$ref"], "#/$defs/Pet");
    assert!(responses[0]["schema"]["$defs"]["Pet"].is_object());
    assert_eq!(responses[1]["description"], "Not there");
    assert_eq!(
        (&responses[2]["contentType"], &responses[2]["schema"]),
        (&Value::Null, &Value::Null)
    );
    let upload = action_details(&platforms[0], "upload");
    let bytes = |about: Value| json!({"type": "string", "format": "binary", "description": about});
    let text = |about: &str| json!({"type": "string", "minLength": 1, "description": about});
    let file = json!({
        "description": "The file",
        "anyOf": [
            {"type": "string", "format": "binary"},
            {
                "type": "object", "required": ["content"], "additionalProperties": false,
                "properties": {
                    "content": bytes(json!("The bytes in base64.")),
                    "filename": text("The file's name."),
                    "contentType": text("The file's media type."),
                },
            },
        ],
    });
    assert_eq!(
        upload["requestBody"],
        json!({
            "required": true, "contentTypes": ["multipart/form-data"],
            "schema": {
                "type": "object", "properties": {"file": file, "note": {"type": "string"}}, "required": ["file"],
            },
        })
    );
}

#[test]
fn resolves_references_anywhere_in_the_document() {
    let lines = "components:
  schemas:
    A/B: {type: object, properties: {inner: {type: string, maxLength: 3}}}
paths:
  /b: {post: {requestBody: {content: {application/json: {schema: {type: object, title: Of b}}}}}}
  /a:
    post:
      requestBody:
        content:
          application/json:
            schema:
              properties:
                deep: {$ref: '#/components/schemas/A~1B/properties/inner'}
                path: {$ref: '#/paths/~1b/post/requestBody/content/application~1json/schema'}
                lost: {$ref: '#/components/schemas/Nowhere'}
                far: {$ref: 'https://a.example/schema.json'}";
    let (response, warnings) = import_details("references", "openapi: 3.0.0", lines);
    let definitions = json!({
        "inner": {"type": "string", "maxLength": 3}, "schema": {"type": "object", "title": "Of b"},
    });
    assert_eq!(response["input"]["$defs"], definitions);
    assert_eq!(response["input"]["properties"]["body"]["properties"]["lost"], json!({}));
    let expected = "dangling references allow any value: `#/components/schemas/Nowhere`, `https://a.example/schema.json`";
    assert_eq!(warnings, [expected]);
}

/// Every schema refers to every other schema. The nearest schemas are included, and the others are
/// replaced with schemas that allow any value.
#[test]
fn bounds_the_size_of_a_detail() {
    let all: Vec<String> = (0..400).map(|n| format!("D{n}")).collect();
    let schema = |name: &String| {
        let text = "x".repeat(250);
        let properties: Vec<String> = all
            .iter()
            .map(|other| format!("{other}: {{$ref: '#/components/schemas/{other}'}}"))
            .collect();
        format!("    {name}: {{description: {text}, properties: {{{}}}}}", properties.join(", "))
    };
    let schemas: Vec<String> = all.iter().map(schema).collect();
    let body = "{content: {application/json: {schema: {$ref: '#/components/schemas/D0'}}}}";
    let lines = format!(
        "components:\n  schemas:\n{}\npaths: {{/a: {{post: {{requestBody: {body}, responses: {{'200': {body}}}}}}}}}",
        schemas.join("\n")
    );
    let (response, _) = import_details("large", "openapi: 3.0.0", &lines);
    let definitions = response["input"]["$defs"].as_object().unwrap();
    assert_eq!(definitions.len(), 400, "every reference leads somewhere");
    let is_whole = |name: &str| definitions[name].get("properties").is_some();
    assert!(is_whole("D0") && !is_whole("D399"));
    assert!(response.to_string().len() < 200_000, "{}", response.to_string().len());
}

#[test]
fn security_refers_to_the_connectors_methods() {
    let schemes = "components: {securitySchemes: {Key: {type: apiKey, in: header, name: X-Key}, Login: {type: oauth2, flows: {authorizationCode: {authorizationUrl: 'https://a.example/a', tokenUrl: 'https://a.example/t', scopes: {read: R, write: W}}}}}}";
    for (at, (everywhere, own, expected)) in [
        ("[{Key: []}]", "", json!([{"method": "key", "scopes": []}])),
        ("[{Key: []}]", "security: [{Login: [write]}, {Login: [read]}]", json!([{"method": "login", "scopes": ["write"]}, {"method": "login", "scopes": ["read"]}])),
        // The two schemes are combined into one method.
        ("[{Key: [], Login: [read]}]", "", json!([{"method": "key-login", "scopes": ["read"]}])),
        ("[{Key: []}]", "security: []", json!([])),
        ("[]", "security: [{}]", json!([])),
        ("[{Other: []}]", "", json!([{"method": "login", "scopes": []}, {"method": "key", "scopes": []}])),
        ("null", "", json!([{"method": "login", "scopes": []}, {"method": "key", "scopes": []}])),
    ]
    .into_iter()
    .enumerate()
    {
        let lines = format!("{schemes}\nsecurity: {everywhere}\npaths: {{/a: {{get: {{{own}}}}}}}");
        let (response, _) = import_details(&format!("security-{at}"), "openapi: 3.0.0", &lines);
        assert_eq!(response["auth"], expected, "{everywhere} {own}");
    }
}

/// The fixtures include equal documents in JSON and YAML, which must have equal details.
#[test]
fn every_action_has_a_detail() {
    let (_, platforms) = import_sources(&["tests/fixtures/openapi/good"], LicenceFilter::Any, "");
    let mut count = 0;
    for platform in &platforms {
        for action in &platform.actions {
            let response = action_details(platform, &action.key);
            assert_eq!(response["title"], action.title);
            assert_eq!(response["input"]["type"], "object");
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
}

/// The optimizer of the regular expression engine would unroll these loops until memory is
/// exhausted.
#[test]
fn compiling_a_pattern_takes_linear_time() {
    let pattern = format!("{}a{}", "(?:".repeat(30), "){5}".repeat(30));
    assert_eq!(
        convert_schema("pattern", &format!("{{pattern: '{pattern}'}}")),
        json!({"pattern": pattern})
    );
}

/// A dangling reference to another file causes a warning, and its schema allows any value.
#[test]
fn reports_dangling_references_to_other_files() {
    let lines = "paths: {/a: {post: {parameters: [{$ref: 'p.yaml#/P'}], requestBody: {$ref: 'b.yaml#/B'}, responses: {'200': {$ref: 'r.yaml#/R'}}}}}";
    let (response, warnings) = import_details("elsewhere", "openapi: 3.0.0", lines);
    assert_eq!(response["requestBody"]["schema"], json!({}));
    assert_eq!(response["requestBody"]["required"], json!(false));
    let expected = "dangling references allow any value: `p.yaml#/P`, `b.yaml#/B`, `r.yaml#/R`";
    assert_eq!(warnings[0], expected);
    // Each warning contains the location of its cause.
    let places = [
        ("parameters/0", "p.yaml#/P"),
        ("requestBody", "b.yaml#/B"),
        ("responses/200", "r.yaml#/R"),
    ];
    for (warning, (place, reference)) in warnings[1..].iter().zip(places) {
        let start =
            format!("0.yaml#/paths/~1a/post/{place}: the reference to `{reference}` is dangling: ");
        assert!(warning.starts_with(&start), "{warning}");
    }
    assert_eq!(warnings.len(), 4);
}
