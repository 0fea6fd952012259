//! The endpoint that returns one action with its details.

use connector_vault::catalog::action::unit::Units;
use connector_vault::catalog::detail::ConnectorDetail;
use connector_vault::catalog::format::stored::CURRENT_KEY;
use connector_vault::catalog::model::Action;
use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::http::{Config, Service};
use connector_vault::terms::Method;
use serde_json::{Value, json};

use crate::support::{Api, action, body, connector, units, with_header};

const PATH: &str = "/v1/available-actions";

/// An action with only the required members.
fn minimal_action(key: &str) -> Value {
    json!({
        "title": key, "key": key, "method": "GET", "modelName": "", "facts": {"path": format!("/{key}")},
    })
}

fn send_message_action() -> Value {
    json!({
        "title": "Send a message", "key": "send", "method": "POST", "modelName": "Messages",
        "facts": {"path": "/users/{userId}/send", "description": "Sends it.", "deprecated": true},
        "parameters": [
            {"name": "userId", "in": "path", "required": true, "schema": {"type": "string"}, "style": "simple", "explode": false},
            {"name": "alt", "in": "query", "required": false, "schema": {"$ref": "#/$defs/Alt"}, "style": "form", "explode": true, "allowReserved": true},
            {"name": "sid", "in": "cookie", "required": true, "schema": true, "style": "form", "explode": true},
        ],
        "requestBody": {
            "required": true, "contentTypes": ["application/json", "text/xml"], "schema": {"$ref": "#/$defs/Message"},
        },
        "security": [[{"scheme": "Key", "scopes": []}], [{"scheme": "OAuth", "scopes": ["mail.send"]}]],
        "reached": {"whole": [0, 1], "cut": [2]},
        "responses": [
            {"status": "200", "description": "Sent", "contentType": "application/json", "schema": {"$ref": "#/$defs/Message"}, "reached": {"whole": [1], "cut": [2]}},
            {"status": "204", "description": "", "contentType": null, "schema": null},
        ],
    })
}

const DEFINITIONS: [(&str, &str); 3] = [
    ("Alt", r#"{"enum":["json","media"]}"#),
    (
        "Message",
        r##"{"type":"object","properties":{"reply":{"$ref":"#/$defs/Message"},"raw":{"$ref":"#/$defs/Raw"}}}"##,
    ),
    ("Raw", r#"{"type":"string"}"#),
];

fn detail() -> ConnectorDetail {
    serde_json::from_value(json!({
        "authMethods": [{"id": "key", "type": "api_key", "in": "header", "name": "X-Key", "prefix": "", "fields": []}],
        "servers": [{"url": "https://mail.example", "description": null}],
        "documentationUrl": null, "license": null, "verify": null, "account": null,
    }))
    .unwrap()
}

/// Returns a service with two platforms: `gmail`, formerly `mail`, has one action with every
/// member; `acme` has four actions in two units.
fn api(sizes: Sizes) -> Api {
    let api = Api::new(Config::default());
    let platform = |name: &str, alias: &str, rows: Vec<Action>, units| Platform {
        connector: connector(name, name, "Email", 0),
        detail: detail(),
        authkit: true,
        aliases: vec![alias.to_owned()],
        actions: rows,
        units,
    };
    let schemes = json!({"Key": ["key"], "OAuth": []});
    let row = |platform: &str, key: &str| action(platform, key, key, Method::Get);
    let first = units(json!({}), &[minimal_action("Alpha"), minimal_action("beta/gamma")], &[]);
    let second = units(json!({}), &[minimal_action("delta"), minimal_action("echo")], &[]);
    let both = Units { units: [first.units, second.units].concat(), ..Units::default() };
    api.env.publish_platforms(
        sizes,
        &[
            platform(
                "gmail",
                "mail",
                vec![row("gmail", "send")],
                units(schemes, &[send_message_action()], &DEFINITIONS),
            ),
            platform(
                "acme",
                "old-acme",
                ["Alpha", "beta/gamma", "delta", "echo"].map(|key| row("acme", key)).into(),
                both,
            ),
            platform("empty", "void", Vec::new(), Units::default()),
        ],
    );
    api
}

fn get(path: &str) -> Value {
    body(&api(Sizes::PUBLISHED).get(&format!("{PATH}{path}")))
}

#[test]
fn response_contains_the_list_row_and_the_detail() {
    let response = get("/gmail/send");
    let expected = json!({
        "title": "Send a message", "key": "send", "method": "POST", "platform": "gmail", "modelName": "Messages",
        "path": "/users/{userId}/send", "server": "https://mail.example", "description": "Sends it.",
        "deprecated": true, "documentationUrl": null,
        "parameters": [
            {"name": "userId", "in": "path", "required": true, "schema": {"type": "string"}, "style": "simple", "explode": false, "contentType": null},
            {"name": "alt", "in": "query", "required": false, "schema": {"$ref": "#/input/$defs/Alt"}, "style": "form", "explode": true, "allowReserved": true, "contentType": null},
            {"name": "sid", "in": "cookie", "required": true, "schema": true, "style": "form", "explode": true, "contentType": null},
        ],
        "requestBody": {
            "required": true, "contentTypes": ["application/json", "text/xml"],
            "schema": {"$ref": "#/input/$defs/Message"},
        },
        "responseTypes": [], "auth": [{"method": "key", "scopes": []}],
        "input": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "path": {
                    "type": "object", "properties": {"userId": {"type": "string"}}, "required": ["userId"],
                    "additionalProperties": false,
                },
                "query": {
                    "type": "object", "properties": {"alt": {"$ref": "#/$defs/Alt"}}, "additionalProperties": false,
                },
                "cookie": {
                    "type": "object", "properties": {"sid": true}, "required": ["sid"], "additionalProperties": false,
                },
                "body": {"$ref": "#/$defs/Message"},
            },
            "required": ["path", "cookie", "body"],
            "additionalProperties": false,
            "$defs": {
                "Alt": {"enum": ["json", "media"]},
                "Message": {
                    "type": "object",
                    "properties": {"reply": {"$ref": "#/$defs/Message"}, "raw": {"$ref": "#/$defs/Raw"}},
                },
                "Raw": {"description": "Left out, since the schema would be too large."},
            },
        },
    });
    assert_eq!(response, expected);
}

#[test]
fn responses_are_included_on_request() {
    let response = get("/gmail/send?include=responses");
    let schema = &response["responses"][0]["schema"];
    assert_eq!(schema["$ref"], "#/$defs/Message");
    assert_eq!(schema["$defs"].as_object().unwrap().keys().collect::<Vec<_>>(), ["Message", "Raw"]);
    let bare = json!({"status": "204", "description": "", "contentType": null, "schema": null});
    assert_eq!(response["responses"][1], bare);
    for (query, code) in [("include=all", "invalid_parameter"), ("fields=a", "unknown_parameter")] {
        assert_eq!(get(&format!("/gmail/send?{query}"))["code"], code, "{query}");
    }
}

#[test]
fn every_action_is_read_from_its_unit() {
    for sizes in [Sizes::PUBLISHED, Sizes { units: 1, ..Sizes::PUBLISHED }] {
        let api = api(sizes);
        for (path, key) in [
            ("acme/Alpha", "Alpha"),
            ("ACME/beta%2Fgamma", "beta/gamma"),
            ("old-acme/delta", "delta"),
        ] {
            let response = body(&api.get(&format!("{PATH}/{path}")));
            assert_eq!((&response["key"], &response["platform"]), (&json!(key), &json!("acme")));
            assert_eq!(response["path"], format!("/{key}"));
        }
        assert_eq!(body(&api.get(&format!("{PATH}/mail/send")))["platform"], "gmail");
    }
}

/// If the document declares no authorization for an action, every method is offered.
#[test]
fn an_action_without_security_offers_all_auth_methods() {
    assert_eq!(get("/acme/delta")["auth"], json!([{"method": "key", "scopes": []}]));
    assert_eq!(get("/acme/delta")["input"]["properties"], json!({}));
    assert_eq!(get("/acme/delta")["requestBody"], Value::Null);
}

#[test]
fn suggests_similar_actions() {
    for (path, code, suggestions) in [
        ("/acme/Echo", "action_not_found", json!(["echo"])),
        ("/acme/Alpa", "action_not_found", json!(["Alpha"])),
        ("/acme/AAA", "action_not_found", Value::Null),
        ("/empty/send", "action_not_found", Value::Null),
        ("/gmial/send", "platform_not_found", json!(["gmail"])),
    ] {
        let response = get(path);
        assert_eq!(
            (&response["code"], &response["suggestions"]),
            (&json!(code), &suggestions),
            "{path}"
        );
        assert_eq!(response["status"], 404);
    }
    assert_eq!(get("/gmail/")["code"], "route_not_found");
    assert_eq!(get("/gmail/send/more")["code"], "route_not_found");
}

#[test]
fn current_copy_gets_304() {
    let api = api(Sizes::PUBLISHED);
    let tag = api.get(&format!("{PATH}/gmail/send")).header("etag").unwrap().to_owned();
    let requested = |path: &str| {
        let request = api.request("GET", &format!("{PATH}{path}"));
        api.send(&with_header(request, "if-none-match", &tag)).status
    };
    let statuses = ["/gmail/send", "/gmail/send?include=responses", "/acme/delta"].map(requested);
    assert_eq!(statuses, [304, 200, 200]);
}

/// The first read fetches the record, the pack and the unit; the second fetches nothing.
#[test]
fn reading_an_action_costs_one_more_read_than_reading_its_connector() {
    let api = api(Sizes::PUBLISHED);
    api.get(&format!("{PATH}/gmail/send"));
    assert_eq!(api.env.blob_reads.borrow().len(), 3);
    assert_eq!(api.env.db_calls.get(), 1, "for the key");
    for path in ["/gmail/send", "/gmail/send?include=responses", "/gmail/sand"] {
        api.get(&format!("{PATH}{path}"));
    }
    assert_eq!((api.env.blob_reads.borrow().len(), api.env.db_calls.get()), (3, 1));
}

#[test]
fn damaged_values_are_never_served() {
    let mut api = api(Sizes::PUBLISHED);
    let path = format!("{PATH}/gmail/send?include=responses");
    let right = api.get(&path).body;
    let values = api.env.blobs.borrow().clone();
    for (key, value) in values.iter().filter(|(key, _)| *key != CURRENT_KEY) {
        for at in (0..value.len()).step_by(7) {
            api.env.blobs.borrow_mut().get_mut(key).unwrap()[at] ^= 1;
            // A new service has an empty cache.
            api.service = Service::new(Config::default());
            let response = api.get(&path);
            assert!(response.status == 503 || response.body == right, "{key} {at}");
            api.env.blobs.borrow_mut().get_mut(key).unwrap()[at] ^= 1;
        }
    }
}
