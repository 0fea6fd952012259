//! Tests of multipart forms: which members are files, and the declared encoding of members.

use serde_json::{Value, json};

use super::details::{action_details, import_details};
use super::support::import_documents;

/// Imports an operation whose body has this media type and schema. Returns the body.
fn body(name: &str, version: &str, media: &str, content: &str) -> Value {
    let lines = format!(
        "components: {{schemas: {{Upload: {{type: object, required: [file], properties: {{file: {{type: string, format: binary}}, note: {{type: string}}}}}}, Bytes: {{type: string, format: binary}}, Base: {{properties: {{id: {{type: integer}}}}, required: [id]}}}}}}\npaths: {{/a: {{post: {{requestBody: {{content: {{{media}: {content}}}}}}}}}}}"
    );
    let (response, warnings) = import_details(name, version, &lines);
    assert!(warnings.is_empty(), "{warnings:?}");
    response
}

#[test]
#[rustfmt::skip] // one case per line
fn files_of_a_form_can_have_a_name_and_a_type() {
    for (at, (version, content, files)) in [
        ("3.0.0", "{schema: {properties: {a: {type: string, format: binary}, b: {type: string}, c: {type: string, format: byte}}}}", vec!["a"]),
        ("3.0.0", "{schema: {properties: {a: {$ref: '#/components/schemas/Bytes'}}}}", vec!["a"]),
        ("3.0.0", "{schema: {$ref: '#/components/schemas/Upload'}}", vec!["file"]),
        ("3.0.0", "{schema: {allOf: [{$ref: '#/components/schemas/Base'}, {$ref: '#/components/schemas/Upload'}]}}", vec!["file"]),
        ("3.0.0", "{schema: {properties: {a: {type: array, items: {$ref: '#/components/schemas/Bytes'}}}}}", vec!["a"]),
        ("3.0.0", "{schema: {properties: {a: {type: string}, b: {type: string}, c: {type: object}, d: {type: string}}}, encoding: {a: {contentType: 'image/png, image/jpeg'}, b: {contentType: text/plain}, c: {contentType: application/octet-stream}, d: {contentType: application/json}}}", vec!["a"]),
        ("3.1.0", "{schema: {properties: {a: {contentMediaType: application/octet-stream}, b: {type: string, contentMediaType: image/png, contentEncoding: base64}, c: {type: [string, 'null'], contentMediaType: image/png}}}}", vec!["a", "c"]),
        ("3.0.0", "{schema: {properties: {a: {type: string, enum: [x]}}}, encoding: {a: {contentType: image/png}}}", vec![]),
    ].into_iter().enumerate() {
        let response = body(&format!("files-{at}"), &format!("openapi: {version}"), "multipart/form-data", content);
        let mut schema = &response["input"]["properties"]["body"];
        if let Some(name) = schema["$ref"].as_str() {
            schema = &response["input"]["$defs"][name.rsplit('/').next().unwrap()];
        }
        let is_file = |schema: &Value| schema.pointer("/anyOf/1/properties/content/format") == Some(&json!("binary"));
        let properties = schema["properties"].as_object().unwrap();
        let found: Vec<&String> = properties.iter().filter(|(_, one)| is_file(one) || is_file(&one["items"])).map(|(name, _)| name).collect();
        assert_eq!(found, files, "{content}");
    }
    let response = body("files-all", "openapi: 3.0.0", "multipart/form-data", "{schema: {allOf: [{$ref: '#/components/schemas/Base'}, {$ref: '#/components/schemas/Upload'}]}}");
    assert_eq!(response["input"]["properties"]["body"]["required"], json!(["id", "file"]));
}

#[test]
#[rustfmt::skip] // one case per line
fn preserves_the_encoding_of_members() {
    for (at, (media, encoding, expected)) in [
        ("multipart/form-data", "{contentType: 'image/png, image/jpeg'}", json!({"style": "form", "explode": true, "contentType": "image/png, image/jpeg"})),
        ("multipart/form-data", "{headers: {X-Kind: {schema: {type: string}}, Content-Type: {}, 'a b': {}}}", json!({"style": "form", "explode": true, "headers": ["X-Kind"]})),
        ("application/x-www-form-urlencoded", "{style: pipeDelimited, allowReserved: true, contentType: text/plain}", json!({"style": "pipeDelimited", "explode": false, "allowReserved": true})),
        ("application/x-www-form-urlencoded", "{allowReserved: true}", json!({"style": "form", "explode": true, "allowReserved": true})),
        ("application/x-www-form-urlencoded", "{contentType: application/json}", json!({"style": "form", "explode": true, "contentType": "application/json"})),
        ("application/x-www-form-urlencoded", "{contentType: text/plain}", Value::Null),
        ("application/json", "{contentType: application/json, style: form}", Value::Null),
    ].into_iter().enumerate() {
        let content = format!("{{schema: {{properties: {{a: {{type: array, items: {{}}}}}}}}, encoding: {{a: {encoding}}}}}");
        let response = body(&format!("members-{at}"), "openapi: 3.0.0", media, &content);
        assert_eq!(response["requestBody"]["encoding"]["a"], expected, "{media} {encoding}");
    }
}

#[test]
fn bodies_of_google_are_json() {
    for (provider, types, kind) in [
        ("googleapis.com", json!(["application/json"]), "object"),
        ("acme.example", json!(["message/cpim", "message/rfc822"]), "string"),
    ] {
        let document = format!(
            "openapi: 3.0.0\ninfo: {{title: T, version: 1, x-providerName: {provider}}}\ncomponents: {{schemas: {{Message: {{type: object, properties: {{raw: {{type: string, format: byte}}}}}}}}}}\npaths: {{/a: {{post: {{requestBody: {{content: {{message/cpim: {{schema: {{$ref: '#/components/schemas/Message'}}}}, message/rfc822: {{schema: {{$ref: '#/components/schemas/Message'}}}}}}}}}}}}}}\n"
        );
        let (_, platforms) = import_documents(&format!("body-{kind}"), &[&document]);
        let detail = action_details(platforms.first().unwrap(), "postA");
        assert_eq!(detail["requestBody"]["contentTypes"], types);
        let input = &detail["input"];
        let mut body = &input["properties"]["body"];
        if let Some(name) = body["$ref"].as_str() {
            body = &input["$defs"][name.rsplit('/').next().unwrap()];
        }
        assert_eq!(body["type"], kind);
        if kind == "string" {
            assert_eq!(
                body["description"],
                "The whole body, with the content type `message/cpim`."
            );
        }
    }
}
