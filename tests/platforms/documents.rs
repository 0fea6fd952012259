//! Reported documents: an operation of each is imported and run, and the platform gets the expected request.

use connector_vault::ports::HttpRequest;
use serde_json::{Value, json};

use crate::reports::{Report, Service, imported, json_response};
use crate::support::body;

/// A document, and the operation of it that the test runs.
struct Case {
    report: &'static str,
    name: &'static str,
    document: Value,
    action: &'static str,
    input: Value,
    /// Whether users connect with OAuth, not with a key.
    is_oauth: bool,
}

/// Imports the document, connects, runs the action, and returns the request that the platform got.
fn sent(case: &Case) -> HttpRequest {
    let platform = imported(case.name, "document.json", &case.document.to_string());
    let action = platform.actions.iter().find(|action| action.key.as_str() == case.action);
    let known: Vec<_> = platform.actions.iter().map(|action| action.key.as_str()).collect();
    assert!(action.is_some(), "{}: {known:?}", case.report);
    let service = Service::new(&platform);
    let connection = if case.is_oauth {
        let tokens = json!({"access_token": "at-1", "refresh_token": "rt-1", "expires_in": 3600});
        service.connected(&Report::default(), &tokens)
    } else {
        let id = service.with_key(&json!({"token": "t"}));
        format!("/v1/vault/connections/{id}")
    };
    service.responses(json_response(200, &json!({})));
    let run = service.send("POST", &format!("{connection}/actions/{}", case.action), &case.input);
    assert_eq!(run.status, 200, "{}: {}", case.report, body(&run));
    let request = service.api.env.sent.borrow_mut().pop();
    request.unwrap()
}

/// A document of Google with one method. `fields` is a parameter of every method.
fn discovery(name: &str, resource: &str, method: &Value) -> Value {
    let root = format!("https://{name}.googleapis.com/");
    let method_name = method["id"].as_str().unwrap().rsplit('.').next().unwrap().to_owned();
    json!({
        "kind": "discovery#restDescription", "discoveryVersion": "v1", "id": format!("{name}:v1"), "name": name,
        "version": "v1", "title": name, "description": "A reported document.", "protocol": "rest",
        "documentationLink": "https://developers.google.com/",
        "rootUrl": root, "servicePath": "", "baseUrl": root, "batchPath": "batch",
        "parameters": {"fields": {"type": "string", "location": "query"}},
        "auth": {"oauth2": {"scopes": {"https://www.googleapis.com/auth/all": {"description": "All"}}}},
        "schemas": {},
        "resources": {resource: {"methods": {method_name: method}}},
    })
}

/// In Google's discovery documents, a method has a `path` and a `flatPath`. The placeholders in
/// `flatPath` differ from the parameter names.
#[test]
fn discovery_paths_have_the_names_of_their_parameters() {
    let case = Case {
        report: "https://github.com/googleworkspace/cli/issues/118",
        name: "report-slides",
        document: discovery(
            "slides",
            "presentations",
            &json!({
                "id": "slides.presentations.get", "httpMethod": "GET",
                "path": "v1/presentations/{+presentationId}", "flatPath": "v1/presentations/{presentationsId}",
                "parameterOrder": ["presentationId"],
                "parameters": {"presentationId": {
                    "type": "string", "location": "path", "required": true, "pattern": "^[^/]+$",
                }},
                "scopes": ["https://www.googleapis.com/auth/all"],
            }),
        ),
        action: "slidesPresentationsGet",
        input: json!({
            "path": {"presentationId": "1knOKD_87JWE4qsEbO4r5O91IxTER5ybBBhOJgZ1yLFI"},
            "query": {"fields": "presentationId,slides(objectId)"},
        }),
        is_oauth: true,
    };
    let url = connector_vault::util::percent::decode_form(&sent(&case).url).unwrap().into_owned();
    let expected = "https://slides.googleapis.com/v1/presentations/1knOKD_87JWE4qsEbO4r5O91IxTER5ybBBhOJgZ1yLFI?fields=presentationId,slides(objectId)";
    assert_eq!(url, expected, "{}", case.report);
}

/// The id of a site in Google's Search Console is a URL, and a part of the path.
#[test]
fn slashes_in_a_value_of_a_discovery_path_are_encoded() {
    let case = Case {
        report: "https://github.com/omarryhan/aiogoogle/issues/96",
        name: "report-searchconsole",
        document: discovery(
            "searchconsole",
            "searchanalytics",
            &json!({
                "id": "webmasters.searchanalytics.query", "httpMethod": "POST",
                "path": "webmasters/v3/sites/{siteUrl}/searchAnalytics/query",
                "flatPath": "webmasters/v3/sites/{siteUrl}/searchAnalytics/query",
                "parameterOrder": ["siteUrl"],
                "parameters": {"siteUrl": {"type": "string", "location": "path", "required": true}},
                "scopes": ["https://www.googleapis.com/auth/all"],
            }),
        ),
        action: "webmastersSearchanalyticsQuery",
        input: json!({"path": {"siteUrl": "https://www.example.com/"}}),
        is_oauth: true,
    };
    let expected = "https://searchconsole.googleapis.com/webmasters/v3/sites/https%3A%2F%2Fwww.example.com%2F/searchAnalytics/query";
    assert_eq!(sent(&case).url, expected, "{}", case.report);
}

/// Each of Gmail's labels is a parameter of its own.
#[test]
fn repeated_parameters_of_discovery_documents_are_sent_one_by_one() {
    let case = Case {
        report: "https://github.com/Byron/google-apis-rs/issues/146",
        name: "report-gmail",
        document: discovery(
            "gmail",
            "messages",
            &json!({
                "id": "gmail.users.messages.list", "httpMethod": "GET",
                "path": "gmail/v1/users/{userId}/messages", "flatPath": "gmail/v1/users/{userId}/messages",
                "parameterOrder": ["userId"],
                "parameters": {
                    "userId": {"type": "string", "location": "path", "required": true, "default": "me"},
                    "labelIds": {"type": "string", "location": "query", "repeated": true},
                },
                "scopes": ["https://www.googleapis.com/auth/all"],
            }),
        ),
        action: "gmailUsersMessagesList",
        input: json!({"path": {"userId": "me"}, "query": {"labelIds": ["INBOX", "UNREAD"]}}),
        is_oauth: true,
    };
    let expected =
        "https://gmail.googleapis.com/gmail/v1/users/me/messages?labelIds=INBOX&labelIds=UNREAD";
    assert_eq!(sent(&case).url, expected, "{}", case.report);
}

/// An OpenAPI document with one path, and a bearer token as credentials.
fn openapi(path: &str, item: &Value, components: &Value) -> Value {
    let mut document = json!({
        "openapi": "3.0.3",
        "info": {"title": "Reports", "version": "1", "x-providerName": "reports", "license": {"name": "MIT"}},
        "servers": [{"url": "https://api.reports.example"}],
        "security": [{"key": []}],
        "components": components,
        "paths": {path: item},
    });
    document["components"]["securitySchemes"] =
        json!({"key": {"type": "http", "scheme": "bearer"}});
    document
}

/// A comment contains comments.
#[test]
fn a_schema_may_contain_itself() {
    let report = "https://github.com/wso2/api-manager/issues/5189";
    let comment = json!({"type": "object", "required": ["text"], "properties": {
        "text": {"type": "string"},
        "parent": {"$ref": "#/definitions/Comment"},
        "replies": {"type": "array", "items": {"$ref": "#/definitions/Comment"}},
        "byAuthor": {"type": "object", "additionalProperties": {"$ref": "#/definitions/Comment"}},
    }});
    let document = json!({
        "swagger": "2.0",
        "info": {"title": "Comments", "version": "1", "x-providerName": "reports", "license": {"name": "MIT"}},
        "host": "api.reports.example", "basePath": "/v1", "schemes": ["https"],
        "consumes": ["application/json"], "produces": ["application/json"],
        "securityDefinitions": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        "security": [{"key": []}],
        "paths": {"/comments": {"post": {
            "operationId": "addComment",
            "parameters": [{"in": "body", "name": "comment", "required": true, "schema": {"$ref": "#/definitions/Comment"}}],
            "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/Comment"}}},
        }}},
        "definitions": {"Comment": comment},
    });
    let service =
        Service::new(&imported("report-comments", "document.json", &document.to_string()));
    let id = service.with_key(&json!({"apiKey": "k"}));
    let path = format!("/v1/vault/connections/{id}/actions/addComment");
    let input = json!({
        "text": "a", "parent": {"text": "b", "parent": {"text": "c"}}, "replies": [{"text": "d", "replies": []}],
        "byAuthor": {"ann": {"text": "e"}},
    });
    let run = service.send("POST", &path, &json!({"body": input}));
    assert_eq!(run.status, 200, "{report}: {}", body(&run));
    let sent = service.api.env.sent.borrow_mut().pop().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&sent.body).unwrap(), input, "{report}");
    let wrong = json!({"body": {"text": "a", "parent": {"text": "b", "parent": {"text": 3}}}});
    assert_eq!(service.send("POST", &path, &wrong).status, 400, "{report}");
    let shown = service.get("/v1/available-actions/reports/addComment");
    assert_eq!(shown.status, 200, "{report}: {}", body(&shown));
}

/// The parameters of a path are references.
#[test]
fn parameters_of_a_path_may_be_references() {
    let parameter = |name: &str| json!({"$ref": format!("#/components/parameters/{name}")});
    let case = Case {
        report: "https://github.com/IBM/WxMCPServer/issues/1",
        name: "report-path-parameters",
        document: openapi(
            "/first-path/{first}",
            &json!({
                "put": {"operationId": "firstPathId", "responses": {"200": {"description": "OK"}}},
                "parameters": [parameter("first-parameter"), parameter("second-parameter")],
            }),
            &json!({"parameters": {
                "first-parameter": {"name": "first", "in": "path", "required": true, "schema": {"type": "string"}},
                "second-parameter": {"name": "second", "in": "query", "schema": {"type": "integer"}},
            }}),
        ),
        action: "firstPathId",
        input: json!({"path": {"first": "a"}, "query": {"second": 2}}),
        is_oauth: false,
    };
    assert_eq!(sent(&case).url, "https://api.reports.example/first-path/a?second=2");
}

/// Servers of JSON:API refuse other media types with 415.
#[test]
fn a_body_has_the_media_type_of_its_document() {
    let case = Case {
        report: "https://github.com/acacode/swagger-typescript-api/issues/1188",
        name: "report-json-api",
        document: openapi(
            "/pets",
            &json!({"post": {
                "operationId": "addPet",
                "requestBody": {"required": true, "content": {"application/vnd.api+json": {"schema": {
                    "type": "object", "properties": {"data": {"type": "object", "properties": {
                        "type": {"type": "string"}, "attributes": {"type": "object"},
                    }}},
                }}}},
                "responses": {"200": {"description": "OK"}},
            }}),
            &json!({}),
        ),
        action: "addPet",
        input: json!({"body": {"data": {"type": "pet", "attributes": {"name": "Rex"}}}}),
        is_oauth: false,
    };
    let request = sent(&case);
    let media_type = request.headers.iter().find(|(name, _)| name == "content-type");
    assert_eq!(media_type.unwrap().1, "application/vnd.api+json", "{}", case.report);
    let expected = r#"{"data":{"type":"pet","attributes":{"name":"Rex"}}}"#;
    assert_eq!(String::from_utf8(request.body).unwrap(), expected, "{}", case.report);
}

/// Stripe's forms contain lists and objects. Its document says `deepObject` for them.
#[test]
fn lists_and_objects_in_a_form_have_brackets() {
    let encoding = json!({"style": "deepObject", "explode": true});
    let case = Case {
        report: "https://github.com/activepieces/activepieces/pull/14974",
        name: "report-stripe-form",
        document: openapi(
            "/v1/webhook_endpoints",
            &json!({"post": {
                "operationId": "PostWebhookEndpoints",
                "requestBody": {"required": true, "content": {"application/x-www-form-urlencoded": {
                    "encoding": {"enabled_events": encoding, "metadata": encoding, "items": encoding},
                    "schema": {"type": "object", "required": ["enabled_events", "url"], "properties": {
                        "enabled_events": {"type": "array", "items": {"type": "string"}},
                        "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
                        "items": {"type": "array", "items": {
                            "type": "object", "properties": {"price": {"type": "string"}, "quantity": {"type": "integer"}},
                        }},
                        "url": {"type": "string"},
                    }},
                }}},
                "responses": {"200": {"description": "OK"}},
            }}),
            &json!({}),
        ),
        action: "postWebhookEndpoints",
        input: json!({"body": {
            "enabled_events": ["refund.created"], "metadata": {"order": "6735"}, "url": "https://example.com/hook",
            "items": [{"price": "price_1", "quantity": 2}],
        }}),
        is_oauth: false,
    };
    let request = sent(&case);
    let media_type = request.headers.iter().find(|(name, _)| name == "content-type");
    assert_eq!(media_type.unwrap().1, "application/x-www-form-urlencoded", "{}", case.report);
    let form = crate::standin::pairs(std::str::from_utf8(&request.body).unwrap());
    let value =
        |name: &str| form.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
    // Stripe accepts `[]` and numbers for the items of a list.
    let event = value("enabled_events[]").or_else(|| value("enabled_events[0]"));
    assert_eq!(event, Some("refund.created"), "{form:?}");
    assert_eq!(value("metadata[order]"), Some("6735"), "{form:?}");
    assert_eq!(value("items[0][price]"), Some("price_1"), "{form:?}");
    assert_eq!(value("items[0][quantity]"), Some("2"), "{form:?}");
    assert_eq!(value("url"), Some("https://example.com/hook"), "{form:?}");
}
