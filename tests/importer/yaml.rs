//! Tests of documents in YAML 1.2: which scalars are booleans, numbers or strings.

use serde_json::json;

use super::details::import_details;

#[test]
fn words_that_were_booleans_before_yaml_1_2_are_strings() {
    let lines = "paths:
  /a:
    post:
      parameters:
        - {name: country, in: query, schema: {type: string, enum: [GB, NO, SE, no, yes]}}
        - {name: y, in: query, required: true, schema: {type: number}}
        - {name: n, in: query, schema: {type: integer, maximum: 18446744073709551615, default: 9007199254740993}}
        - {name: mode, in: query, schema: {type: string, enum: [on, off], default: off}}
        - {name: null, in: query, schema: {type: boolean, default: True}}
      requestBody:
        content:
          application/json:
            schema:
              type: object
              required: [x, y, on]
              properties:
                x: {type: number}
                y: {type: number}
                on: {type: string, const: 2024-01-01}
                zip: {type: string, enum: [01234, 1e5, 0o7, true]}
                price: {type: string, default: 1.10, example: 2.50}
                code: {type: integer, enum: [0777, 0o7, 0x1F]}
                null: {type: string}
                200: {type: string}
                1.10: {type: string}
      responses: {200: {description: ok}}";
    let (response, warnings) = import_details("core-schema", "openapi: 3.1.0", lines);
    assert!(warnings.is_empty(), "{warnings:?}");
    let query = &response["input"]["properties"]["query"];
    assert_eq!(query["required"], json!(["y"]));
    let properties = &query["properties"];
    assert_eq!(properties["country"]["enum"], json!(["GB", "NO", "SE", "no", "yes"]));
    assert_eq!(properties["mode"]["enum"], json!(["on", "off"]));
    assert_eq!(properties["mode"]["default"], "off");
    assert_eq!(properties["n"]["default"], json!(9_007_199_254_740_993_u64));
    assert_eq!(properties["n"]["maximum"], json!(u64::MAX));
    let body = &response["input"]["properties"]["body"];
    assert_eq!(body["required"], json!(["x", "y", "on"]));
    let properties = &body["properties"];
    assert_eq!(properties["on"]["const"], "2024-01-01");
    assert_eq!(properties["zip"]["enum"], json!(["01234", "1e5", "0o7", "true"]));
    assert_eq!(properties["price"]["default"], "1.10");
    assert_eq!(properties["price"]["examples"], json!(["2.50"]));
    assert_eq!(properties["code"]["enum"], json!([777, 7, 31]));
    for name in ["null", "200", "1.10"] {
        assert_eq!(properties[name]["type"], "string", "{name}");
    }
    assert_eq!(response["responses"][0]["status"], "200");
}

#[test]
fn values_of_server_variables_are_strings() {
    let (response, _) = import_details(
        "variables",
        "openapi: 3.0.0\nservers: [{url: 'https://a.example/{version}', variables: {version: {default: 1.10, enum: [1.10, 2020-01-01, 0777]}}}]",
        "paths: {/a: {get: {}}}",
    );
    assert_eq!(response["server"], "https://a.example/{version}");
    let document = "openapi: 3.0.0\ninfo: {title: T, version: 1}\nservers: [{url: 'https://a.example/{version}', variables: {version: {default: 1.10, enum: [1.10, 2020-01-01, 0777]}}}]\ncomponents: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}\npaths: {}\n";
    let (_, platforms) = super::support::import_documents("variables-of-servers", &[document]);
    let fields = &platforms.first().unwrap().detail.auth_methods.first().unwrap().fields;
    let version = fields.iter().find(|field| field.name == "version").unwrap();
    assert_eq!(version.default.as_deref(), Some("1.10"));
    let values = ["1.10", "2020-01-01", "0777"].map(str::to_owned).to_vec();
    assert_eq!(version.r#enum, Some(values));
}
