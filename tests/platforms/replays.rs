//! Reported inputs that need more than one request or document, from the first request to the last.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::reports::{Report, Service, imported, json_response, standard_platform};
use crate::support::{body, with_header};

fn sent_url(service: &Service) -> String {
    let sent = service.api.env.sent.borrow_mut().drain(..).next_back();
    sent.unwrap().url
}

/// `on`, `y` and `NO` are strings in YAML 1.2: as names, as values and in lists.
#[test]
fn yaml_strings_are_sent_as_written() {
    let platform = imported(
        "yaml",
        "words.yaml",
        "openapi: 3.1.0
info: {title: Words, version: 1.0.0, license: {name: MIT}, x-providerName: words.example}
servers: [{url: https://api.words.example}]
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}
paths:
  /points:
    post:
      operationId: createPoint
      security: [{key: []}]
      parameters:
        - {name: country, in: query, schema: {type: string, enum: [GB, NO, SE]}}
        - {name: y, in: query, required: true, schema: {type: number}}
        - {name: mode, in: query, schema: {type: string, enum: [on, off], default: off}}
      requestBody:
        content:
          application/json:
            schema: {type: object, required: [x, y], properties: {x: {type: number}, y: {type: number}, no: {type: string}}}
      responses: {200: {description: ok}}
",
    );
    let service = Service::new(&platform);
    let id = service.with_key(&json!({"apiKey": "k"}));
    let path = format!("/v1/vault/connections/{id}/actions/createPoint");
    let input = json!({"query": {"mode": "on", "y": 1, "country": "NO"}, "body": {"x": 1, "y": 2, "no": "off"}});
    let run = service.send("POST", &path, &input);
    assert_eq!(run.status, 200, "{}", body(&run));
    let sent = service.api.env.sent.borrow_mut().pop().unwrap();
    let parameters: BTreeSet<&str> = sent.url.split_once('?').unwrap().1.split('&').collect();
    assert_eq!(parameters, BTreeSet::from(["country=NO", "mode=on", "y=1"]));
    assert_eq!(String::from_utf8(sent.body).unwrap(), r#"{"x":1,"y":2,"no":"off"}"#);
    let run = service.send(
        "POST",
        &path,
        &json!({"query": {"mode": true, "y": 1}, "body": {"x": 1, "y": 2}}),
    );
    assert_eq!(run.status, 400, "{}", body(&run));
}

/// The server's path contains a field of the connection.
#[test]
fn the_next_page_is_below_a_server_whose_path_has_a_field() {
    let mut platform = standard_platform(&Report::default());
    let account = json!({"name": "account", "label": "Account", "secret": false, "required": true});
    platform.detail = serde_json::from_value(json!({
        "authMethods": [{"id": "token", "type": "bearer", "prefix": "Bearer", "fields": [
            {"name": "token", "label": "Token", "secret": true, "required": true}, account,
        ]}],
        "servers": [{"url": "https://api.acme.example/base/{account}", "description": null}],
        "documentationUrl": null, "license": null, "verify": null, "account": null,
    }))
    .unwrap();
    let service = Service::new(&platform);
    let id = service.with_key(&json!({"token": "t", "account": "99"}));
    let call = |path: &str, link: &str| {
        let mut response = json_response(200, &json!([]));
        response.headers.push(("link".into(), link.to_owned()));
        service.responses(response);
        service.get(&format!("/v1/vault/connections/{id}/proxy/{path}"))
    };
    for link in [
        "<https://api.acme.example/base/99/projects.json?page=2>; rel=\"next\"",
        "</base/99/projects.json?page=2>; rel=next",
        "<projects.json?page=2>; rel=next; title=\"more, and more\"",
        "<https://api.acme.example/base/99/projects.json?page=1>; rel=prev, <https://api.acme.example/base/99/projects.json?page=2>; rel=\"last next\"",
    ] {
        let first = call("projects.json", link);
        assert_eq!(first.header("x-vault-next"), Some("projects.json?page=2"), "{link}");
        sent_url(&service);
        assert_eq!(call("projects.json?page=2", "").status, 200);
        assert_eq!(sent_url(&service), "https://api.acme.example/base/99/projects.json?page=2");
    }
    let whole = call("https://api.acme.example/base/99/projects.json?page=3", "");
    assert_eq!(whole.status, 200);
    assert_eq!(sent_url(&service), "https://api.acme.example/base/99/projects.json?page=3");
    for other in
        ["https://api.acme.example/base/98/projects.json", "https://evil.example/base/99/x"]
    {
        assert_eq!(call(other, "").status, 400, "{other}");
        assert!(service.api.env.sent.borrow().is_empty(), "{other}");
    }
    for link in [
        "<https://api.acme.example/base/98/x>; rel=next",
        "<https://api.acme.example/base/990/x>; rel=next",
    ] {
        assert_eq!(call("projects.json", link).header("x-vault-next"), None, "{link}");
    }
}

/// A token is accepted by all ways to store one, or by none.
#[test]
fn the_maximum_length_of_a_token_is_the_same_everywhere() {
    for (length, is_accepted) in [(16_384, true), (16_385, false)] {
        let long = "t".repeat(length);
        let tokens = json!({"access_token": long, "refresh_token": "rt", "expires_in": 3600});
        let platform = standard_platform(&Report::default());
        let service = Service::new(&platform);
        let attempt = service.exchange(&Report::default(), json_response(200, &tokens));
        assert_eq!(attempt["status"] == "succeeded", is_accepted, "{length}: callback");
        let service = Service::new(&platform);
        let short = json!({"access_token": "at", "refresh_token": "rt", "expires_in": 3600});
        let path = service.connected(&Report::default(), &short);
        service.responses(json_response(200, &tokens));
        let refreshed = service.get(&format!("{path}/credentials?refresh=true"));
        assert_eq!(refreshed.status == 200, is_accepted, "{length}: refresh");
        let credentials = json!({"type": "oauth2", "accessToken": long, "refreshToken": "rt"});
        let item = json!({"platform": "acme", "identity": "bob", "identityType": "user", "credentials": credentials});
        let list = json!({"connections": [item], "cutOver": true});
        let response = service.send("POST", "/v1/vault/connections/import", &list);
        let outcome = body(&response)["results"][0]["outcome"] == "created";
        assert_eq!(outcome, is_accepted, "{length}: import {}", body(&response));
    }
}

/// A platform may block an app that keeps asking for a grant that has ended.
#[test]
fn an_ended_grant_is_never_refreshed_again() {
    let service = Service::new(&standard_platform(&Report::default()));
    let tokens = json!({"access_token": "at", "refresh_token": "rt", "expires_in": 3600});
    let path = service.connected(&Report::default(), &tokens);
    for _ in 0..2 {
        service.api.env.wait(4_000_000);
        service.responses(json_response(400, &json!({"error": "invalid_grant"})));
        service.get(&format!("{path}/credentials"));
    }
    assert_eq!(body(&service.get(&path))["state"], "failed");
    service.api.env.sent.borrow_mut().clear();
    for _ in 0..20 {
        service.api.env.wait(60_000);
        for rest in ["/credentials", "/credentials?refresh=true", "/proxy/me"] {
            assert_eq!(service.get(&format!("{path}{rest}")).status, 409, "{rest}");
        }
    }
    assert!(service.api.env.sent.borrow().is_empty());
    let events = body(&service.get("/v1/events?types=connection.failed"));
    assert_eq!(events["rows"].as_array().map(Vec::len), Some(1), "{events}");
}

/// An install by a user who grants no scopes to the app's bot.
#[test]
fn slack_user_tokens_are_refreshed_and_refresh_tokens_hidden() {
    let service = Service::new(&crate::catalog()["slack"]);
    let user = json!({"id": "U1", "access_token": "xoxe.xoxp-1", "refresh_token": "xoxe-1", "expires_in": 43200, "token_type": "user", "scope": "read"});
    let installed = json!({"ok": true, "app_id": "A1", "authed_user": user, "team": {"id": "T1"}});
    let path = service.connected(&Report::default(), &installed);
    let shown = body(&service.get(&format!("{path}/credentials")));
    assert_eq!(shown["accessToken"], "xoxe.xoxp-1");
    assert!(!shown.to_string().contains("\"xoxe-1"), "{shown}");
    for (index, response) in [
        json!({"ok": true, "authed_user": {"id": "U1", "access_token": "xoxe.xoxp-2", "refresh_token": "xoxe-2", "expires_in": 43200}}),
        json!({"ok": true, "access_token": "xoxe.xoxp-3", "refresh_token": "xoxe-3", "expires_in": 43200, "token_type": "user"}),
    ]
    .into_iter()
    .enumerate()
    {
        service.api.env.wait(43_200_000);
        service.api.env.sent.borrow_mut().clear();
        service.responses(json_response(200, &response));
        let shown = body(&service.get(&format!("{path}/credentials?refresh=true")));
        assert_eq!(shown["accessToken"], format!("xoxe.xoxp-{}", index + 2), "{shown}");
        assert!(!shown.to_string().contains("\"xoxe-"), "{shown}");
        let sent = service.api.env.sent.borrow_mut().pop().unwrap();
        let form = String::from_utf8(sent.body).unwrap();
        assert!(form.contains(&format!("refresh_token=xoxe-{}", index + 1)), "{form}");
    }
}

/// Names and keys of any allowed length, and words that SQL could read as patterns.
#[test]
fn searches_with_long_or_special_words_never_fail() {
    let service = Service::new(&standard_platform(&Report::default()));
    let tokens = json!({"access_token": "at", "expires_in": 3600});
    service.connected(&Report::default(), &tokens);
    for word in ["%F0%9F%98%80", "%25", "*", "_", "%5B", "%27", "%5C", "%3F"] {
        let q = word.repeat(100);
        for list in ["vault/connections", "available-connectors", "available-actions/acme"] {
            let found = service.get(&format!("/v1/{list}?q={q}"));
            assert_eq!((found.status, &body(&found)["total"]), (200, &json!(0)), "{list} {word}");
        }
    }
}

/// A first request to the tools without a secret gets a 401 that names the sign-in metadata, whatever it accepts.
#[test]
fn a_request_without_a_secret_names_the_sign_in_metadata() {
    let service = Service::new(&standard_platform(&Report::default()));
    for accept in ["application/json", "text/event-stream", "*/*"] {
        let request = crate::support::anonymous("POST", "/mcp");
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": Value::Null});
        let request = crate::support::with_body(request, &message.to_string());
        let refused = service.api.send(&with_header(request, "accept", accept));
        assert_eq!(refused.status, 401);
        let challenge = refused.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer"), "{challenge}");
    }
}
