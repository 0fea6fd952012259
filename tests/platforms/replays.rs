//! Bug reports whose replay needs more than one request or document.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use connector_vault::ports::HttpResponse;
use serde_json::{Value, json};

use crate::reports::{Report, Service, imported, json_response, standard_platform};
use crate::standin::pairs;
use crate::support::{anonymous, body, with_header};

fn sent_url(service: &Service) -> String {
    let sent = service.api.env.sent.borrow_mut().drain(..).next_back();
    sent.unwrap().url
}

/// In YAML 1.2, `on`, `y` and `NO` are strings, as names, as values and in lists.
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

/// The path of the server contains a field of the connection.
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
    let absolute = call("https://api.acme.example/base/99/projects.json?page=3", "");
    assert_eq!(absolute.status, 200);
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

/// The callback, a refresh and an import must apply the same maximum.
#[test]
fn callback_refresh_and_import_accept_the_same_token_length() {
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

/// Platforms may block an app that repeats refreshes of an ended grant.
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

/// A Slack app is installed by a user who grants no scopes to the app's bot.
#[test]
fn slack_user_tokens_are_refreshed_and_their_refresh_tokens_hidden() {
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

/// Queries contain names and keys of any allowed length, and characters that SQL could interpret as
/// patterns.
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

/// A first MCP request without a secret gets a 401 that names the sign-in metadata, whatever its
/// `Accept` header.
#[test]
fn a_request_without_a_secret_names_the_sign_in_metadata() {
    let service = Service::new(&standard_platform(&Report::default()));
    for accept in ["application/json", "text/event-stream", "*/*"] {
        let request = anonymous("POST", "/mcp");
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": Value::Null});
        let request = crate::support::with_body(request, &message.to_string());
        let refusal = service.api.send(&with_header(request, "accept", accept));
        assert_eq!(refusal.status, 401);
        let challenge = refusal.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer"), "{challenge}");
    }
}

/// Trakt requires two headers in addition to the token (<https://github.com/trakt/trakt-api/issues/431>).
#[test]
fn trakt_gets_its_version_and_the_id_of_the_client_with_each_call() {
    let service = Service::new(&crate::catalog()["trakt"]);
    let tokens = json!({"access_token": "at-1", "refresh_token": "rt-1", "token_type": "bearer", "expires_in": 7_776_000});
    let path = service.connected(&Report::default(), &tokens);
    service.responses(json_response(200, &json!({})));
    assert_eq!(service.get(&format!("{path}/proxy/users/settings")).status, 200);
    let sent = service.api.env.sent.borrow_mut().pop().unwrap();
    for (name, value) in
        [("authorization", "Bearer at-1"), ("trakt-api-key", "an-id"), ("trakt-api-version", "2")]
    {
        let found = sent.headers.iter().find(|(sent_name, _)| sent_name == name);
        assert_eq!(found.map(|(_, value)| value.as_str()), Some(value), "{name}");
    }
}

/// A user's data are in one data center, which each token response names, including the response to
/// a refresh (<https://github.com/SAP-docs/preview.developer.concur.com/pull/173>).
#[test]
fn concur_is_called_at_the_data_center_of_the_last_token_response() {
    let service = Service::new(&crate::catalog()["concur"]);
    let tokens = |token: &str, center: &str| {
        let geolocation = format!("https://{center}.api.concursolutions.com");
        json!({
            "access_token": token, "refresh_token": "rt-1", "token_type": "Bearer", "expires_in": "3600",
            "scope": "read", "geolocation": geolocation,
        })
    };
    let path = service.connected(&Report::default(), &tokens("at-1", "eu2"));
    let called = || {
        service.responses(json_response(200, &json!({})));
        assert_eq!(service.get(&format!("{path}/proxy/profile/identity/v4.1/Users")).status, 200);
        sent_url(&service)
    };
    let url = called();
    assert!(url.starts_with("https://eu2.api.concursolutions.com/"), "{url}");
    service.api.env.wait(3_600_000);
    service.responses(json_response(200, &tokens("at-2", "us2")));
    let refreshed = service.get(&format!("{path}/credentials?refresh=true"));
    assert_eq!(refreshed.status, 200, "{}", body(&refreshed));
    let url = called();
    assert!(url.starts_with("https://us2.api.concursolutions.com/"), "{url}");
}

/// A browser may prefetch the callback before the user opens it
/// (<https://github.com/streamlit/streamlit/pull/15589>).
#[test]
fn a_prefetched_callback_does_not_use_up_the_code() {
    let service = Service::new(&standard_platform(&Report::default()));
    let (attempt, cookie, location) = service.redirect_user(&["read".to_owned()], &json!({}));
    let requested = pairs(location.split_once('?').unwrap().1);
    let state = &requested.iter().find(|(name, _)| name == "state").unwrap().1;
    service.responses(json_response(200, &json!({"access_token": "at-1", "expires_in": 3600})));
    service.api.env.sent.borrow_mut().clear();
    let back = |name: &str, value: &str| {
        let request = anonymous("GET", &format!("/connect/callback?code=c&state={state}"));
        let request = with_header(request, "accept", "text/html");
        let request = with_header(request, "cookie", &cookie);
        service.api.send(&with_header(request, name, value));
    };
    for (name, value) in [
        ("sec-purpose", "prefetch"),
        ("sec-purpose", "prefetch;prerender"),
        ("purpose", "prefetch"),
        ("x-moz", "prefetch"),
    ] {
        back(name, value);
        assert!(service.api.env.sent.borrow().is_empty(), "{name}: {value}");
    }
    back("sec-fetch-mode", "navigate");
    let ended = body(&service.get(&format!("/v1/vault/connect/{attempt}")));
    assert_eq!(ended["status"], "succeeded", "{ended}");
}

/// A sign-in after the first one, and its expected outcome.
struct SignIn {
    report: &'static str,
    /// The id of the platform's account, as a JSON number.
    account: &'static str,
    error: Option<&'static str>,
    /// The connection's access token after the sign-in.
    token: &'static str,
}

/// Google returns a refresh token only for the first sign-in.
#[test]
fn a_later_sign_in_needs_the_same_account_and_keeps_the_refresh_token() {
    let mut platform = standard_platform(&Report::default());
    let account = json!({"method": "GET", "path": "/me", "id": "/id", "name": "/name"});
    platform.detail.account = serde_json::from_value(account).unwrap();
    let mut service = Service::new(&platform);
    let tokens = json!({"access_token": "at-1", "refresh_token": "rt-1", "expires_in": 3600});
    let next = Rc::new(RefCell::new((tokens, "27110450011876553")));
    let responds = Rc::clone(&next);
    *service.api.env.platform.borrow_mut() = Box::new(move |request| {
        let (tokens, account) = responds.borrow().clone();
        let mut response = json_response(200, &tokens);
        if request.url.ends_with("/me") {
            response.body = format!(r#"{{"id": {account}, "name": "ann"}}"#).into_bytes();
        }
        Ok(response)
    });
    let unused = || json_response(200, &Value::Null);
    let first = service.exchange(&Report::default(), unused());
    service.reconnects = first["connection"]["id"].clone();
    let path = format!("/v1/vault/connections/{}", service.reconnects.as_str().unwrap());
    let status = body(&service.get(&format!("{path}/status")));
    assert_eq!(status["account"]["id"], "27110450011876553", "{status}");
    for SignIn { report, account, error, token } in [
        SignIn {
            report: "https://github.com/fbsamples/threads_api/issues/9",
            account: "27110450011876552",
            error: Some("account_mismatch"),
            token: "at-1",
        },
        SignIn {
            report: "https://github.com/omab/django-social-auth/issues/299",
            account: "27110450011876553",
            error: None,
            token: "at-2",
        },
    ] {
        *next.borrow_mut() = (json!({"access_token": "at-2", "expires_in": 3600}), account);
        let ended = service.exchange(&Report::default(), unused());
        assert_eq!(ended["error"]["code"], json!(error), "{report}: {ended}");
        let credentials = body(&service.get(&format!("{path}/credentials")));
        assert_eq!(credentials["accessToken"], token, "{report}");
    }
    service.api.env.wait(3_600_000);
    service.api.env.sent.borrow_mut().clear();
    *next.borrow_mut() = (json!({"access_token": "at-3", "expires_in": 3600}), "27110450011876553");
    let refreshed = service.get(&format!("{path}/credentials?refresh=true"));
    assert_eq!(refreshed.status, 200, "{}", body(&refreshed));
    let sent = service.api.env.sent.borrow();
    let form = std::str::from_utf8(&sent[0].body).unwrap();
    assert!(form.contains("refresh_token=rt-1"), "{form}");
}

/// An OpenAPI document, and the operation that the test runs.
struct OperationCase {
    report: &'static str,
    name: &'static str,
    paths: &'static str,
    action: &'static str,
    input: Value,
    url: &'static str,
    headers: &'static [(&'static str, &'static str)],
}

/// Dates are strings, and references are URLs.
#[test]
fn yaml_dates_are_strings_and_references_are_resolved() {
    for case in [
        OperationCase {
            report: "https://github.com/orval-labs/orval/issues/3946",
            name: "dates",
            paths: "
  /things:
    get:
      operationId: listThings
      security: [{key: []}]
      parameters:
        - {name: Accept-Version, in: header, schema: {type: string, enum: [latest, 2026-01-27]}}
        - {name: since, in: query, schema: {type: string, enum: [2026-01-27, 2026-02-01]}}
      responses: {200: {description: ok}}
",
            action: "listThings",
            input: json!({"header": {"Accept-Version": "2026-01-27"}, "query": {"since": "2026-02-01"}}),
            url: "https://api.documents.example/things?since=2026-02-01",
            headers: &[("accept-version", "2026-01-27")],
        },
        OperationCase {
            report: "https://github.com/PagerDuty/api-schema/issues/82",
            name: "references",
            paths: "
  /users/{id}/contact_methods:
    get:
      operationId: listContactMethods
      security: [{key: []}]
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: limit, in: query, schema: {type: integer}}
      responses: {200: {description: ok}}
  /users/{id}/notification_subscriptions:
    get:
      operationId: listSubscriptions
      security: [{key: []}]
      parameters:
        - $ref: '#/paths/~1users~1%7Bid%7D~1contact_methods/get/parameters/0'
        - $ref: '#/paths/~1users~1%7Bid%7D~1contact_methods/get/parameters/1'
      responses: {200: {description: ok}}
",
            action: "listSubscriptions",
            input: json!({"path": {"id": "PXPGF42"}, "query": {"limit": 5}}),
            url: "https://api.documents.example/users/PXPGF42/notification_subscriptions?limit=5",
            headers: &[],
        },
    ] {
        let document = format!(
            "openapi: 3.0.3
info: {{title: Documents, version: 2026-01-27, license: {{name: MIT}}, x-providerName: documents.example}}
servers: [{{url: https://api.documents.example}}]
components: {{securitySchemes: {{key: {{type: apiKey, in: header, name: X-Key}}}}}}
paths:{}",
            case.paths
        );
        let service = Service::new(&imported(case.name, "document.yaml", &document));
        let id = service.with_key(&json!({"apiKey": "k"}));
        let path = format!("/v1/vault/connections/{id}/actions/{}", case.action);
        let run = service.send("POST", &path, &case.input);
        assert_eq!(run.status, 200, "{}: {}", case.report, body(&run));
        let sent = service.api.env.sent.borrow_mut().pop().unwrap();
        assert_eq!(sent.url, case.url, "{}", case.report);
        for (name, value) in case.headers {
            let found = sent.headers.iter().find(|(sent_name, _)| sent_name == name);
            assert_eq!(found.map(|(_, value)| value.as_str()), Some(*value), "{}", case.report);
        }
    }
}

/// Netatmo responds to an expired token with 403, not 401
/// (<https://github.com/xperimental/netatmo-exporter/issues/55>).
#[test]
fn netatmo_is_called_again_with_a_refreshed_token_after_a_403() {
    let service = Service::new(&crate::catalog()["netatmo"]);
    let tokens = json!({"access_token": "at-1", "refresh_token": "rt-1", "expires_in": 10_800});
    let path = service.connected(&Report::default(), &tokens);
    service.api.env.wait(3_600_000);
    *service.api.env.platform.borrow_mut() = Box::new(|request| {
        let is_expired = request.headers.iter().any(|(_, value)| value == "Bearer at-1");
        Ok(if request.url.ends_with("/token") {
            let tokens =
                json!({"access_token": "at-2", "refresh_token": "rt-2", "expires_in": 10_800});
            json_response(200, &tokens)
        } else if is_expired {
            json_response(403, &json!({"error": {"code": 3, "message": "Access token expired"}}))
        } else {
            json_response(200, &json!({"status": "ok"}))
        })
    });
    let called = service.get(&format!("{path}/proxy/getstationsdata"));
    assert_eq!(called.status, 200, "{}", body(&called));
}

/// `nextRecordsUrl` is a path relative to the root of the instance
/// (<https://github.com/n8n-io/n8n/pull/29192>).
#[test]
fn the_next_records_of_salesforce_are_at_a_path_of_the_instance() {
    let instance = "https://acme.my.salesforce.com";
    let service = Service::new(&crate::catalog()["salesforce"]);
    let report = Report::from_fields(json!({"instance": "acme"}));
    let tokens = json!({"access_token": "at-1", "refresh_token": "rt-1", "instance_url": instance});
    let path = service.connected(&report, &tokens);
    let call = |rest: &str, document: &Value| {
        service.responses(json_response(200, document));
        service.get(&format!("{path}/proxy/{rest}"))
    };
    call("query?q=SELECT+Id+FROM+Account", &json!({}));
    let url = sent_url(&service);
    let base = url.strip_prefix(instance).unwrap().split_once("/query?").unwrap().0;
    let next_path = format!("{base}/query/01gD0000002HU6KIAW-2000");
    let page = json!({"totalSize": 3200, "done": false, "nextRecordsUrl": next_path, "records": [{"Id": "1"}]});
    let first = call("query?q=SELECT+Id+FROM+Account", &page);
    let next = first.header("x-vault-next").unwrap_or_else(|| panic!("there is no next page"));
    sent_url(&service);
    let page = json!({"totalSize": 3200, "done": true, "records": [{"Id": "2"}]});
    let last = call(next, &page);
    assert_eq!(sent_url(&service), format!("{instance}{next_path}"));
    assert_eq!(last.header("x-vault-next"), None);
}

/// Okta sends two `Link` headers. The first one links to the page itself
/// (<https://github.com/PowerShell/PowerShell/issues/5257>).
#[test]
fn several_link_headers_are_read() {
    let service = Service::new(&standard_platform(&Report::default()));
    let tokens = json!({"access_token": "at-1", "expires_in": 3600});
    let path = service.connected(&Report::default(), &tokens);
    let mut response = json_response(200, &json!([]));
    for link in [
        "<https://api.acme.example/api/v1/users?limit=200&filter=status+eq+%22STAGED%22>; rel=\"self\"",
        "<https://api.acme.example/api/v1/users?after=00u1&limit=200&filter=status+eq+%22STAGED%22>; rel=\"next\"",
    ] {
        response.headers.push(("link".into(), link.to_owned()));
    }
    service.responses(response);
    let first = service.get(&format!("{path}/proxy/api/v1/users?limit=200"));
    let next = "api/v1/users?after=00u1&limit=200&filter=status+eq+%22STAGED%22";
    assert_eq!(first.header("x-vault-next"), Some(next));
}

/// JSON may be in another charset (<https://github.com/n8n-io/n8n/issues/11928>).
#[test]
fn json_is_decoded_in_the_charset_of_its_content_type() {
    let document = "openapi: 3.1.0
info: {title: Charsets, version: 1.0.0, license: {name: MIT}, x-providerName: charsets.example}
servers: [{url: https://api.charsets.example}]
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}
paths: {/menu: {get: {operationId: getMenu, security: [{key: []}], responses: {200: {description: ok}}}}}
";
    let service = Service::new(&imported("charsets", "charsets.yaml", document));
    let id = service.with_key(&json!({"apiKey": "k"}));
    service.responses(HttpResponse {
        status: 200,
        headers: vec![("content-type".into(), "application/json;charset=ISO-8859-15".into())],
        body: b"{\"name\": \"Caf\xe9\", \"price\": \"5 \xa4\"}".to_vec(),
    });
    let path = format!("/v1/vault/connections/{id}/actions/getMenu");
    let run = service.send("POST", &path, &json!({}));
    assert_eq!(run.status, 200, "{}", body(&run));
    assert_eq!(body(&run)["body"], json!({"name": "Café", "price": "5 €"}));
}
