//! Reported calls: what the service sends to a platform, and how often, and what its caller gets.

use connector_vault::ports::{HttpError, HttpRequest};
use serde_json::{Value, json};

use crate::reports::{Report, Service, json_response, standard_platform};
use crate::support::{body, with_header};

fn authorization(request: &HttpRequest) -> Option<&str> {
    let found = request.headers.iter().find(|(name, _)| name == "authorization");
    found.map(|(_, value)| value.as_str())
}

fn tokens() -> Value {
    json!({"access_token": "at-1", "refresh_token": "rt-1", "expires_in": 43200})
}

/// Salesforce does not say how long a token lasts. The only sign of its end is a 401.
#[test]
fn a_token_of_unknown_lifetime_is_refreshed_after_a_401() {
    let report = "https://github.com/jstanden/cerb/issues/836";
    let service = Service::new(&crate::catalog()["salesforce"]);
    let fields = Report::from_fields(json!({"instance": "acme"}));
    let instance = "https://acme.my.salesforce.com";
    let tokens = json!({"access_token": "at-1", "refresh_token": "rt-1", "instance_url": instance});
    let path = service.connected(&fields, &tokens);
    service.api.env.wait(3 * 3_600_000);
    *service.api.env.platform.borrow_mut() = Box::new(move |request| {
        Ok(if request.url.ends_with("/token") {
            json_response(200, &json!({"access_token": "at-2", "instance_url": instance}))
        } else if authorization(request) == Some("Bearer at-1") {
            let error = json!([{"message": "Session expired or invalid", "errorCode": "INVALID_SESSION_ID"}]);
            json_response(401, &error)
        } else {
            json_response(200, &json!({"totalSize": 0}))
        })
    });
    let called = service.get(&format!("{path}/proxy/query?q=SELECT+Id+FROM+Account"));
    assert_eq!(called.status, 200, "{report}: {}", body(&called));
    let status = body(&service.get(&path));
    assert_eq!(status["state"], "operational", "{report}: {status}");
}

/// Slack says in the body of a 200 that a token has expired.
#[test]
fn slack_is_called_again_with_a_refreshed_token_after_token_expired() {
    let report = "https://github.com/slackapi/bolt-js/issues/1968";
    let service = Service::new(&crate::catalog()["slack"]);
    let installed = json!({
        "ok": true, "access_token": "xoxe.xoxb-1", "refresh_token": "xoxe-1", "token_type": "bot", "scope": "read",
        "expires_in": 43200, "team": {"id": "T1"}, "authed_user": {"id": "U1"},
    });
    let path = service.connected(&Report::default(), &installed);
    service.api.env.wait(3_600_000);
    *service.api.env.platform.borrow_mut() = Box::new(|request| {
        let refreshed = json!({
            "ok": true, "access_token": "xoxe.xoxb-2", "refresh_token": "xoxe-2", "token_type": "bot", "expires_in": 43200,
        });
        Ok(json_response(
            200,
            &if request.url.contains("oauth") {
                refreshed
            } else if authorization(request) == Some("Bearer xoxe.xoxb-1") {
                json!({"ok": false, "error": "token_expired"})
            } else {
                json!({"ok": true, "channels": []})
            },
        ))
    });
    let called = service.get(&format!("{path}/proxy/conversations.list"));
    assert_eq!(body(&called)["ok"], true, "{report}: {}", body(&called));
}

/// Withings responds to each call with 200, and its body contains the actual status.
#[test]
fn withings_is_called_again_with_a_refreshed_token_after_status_401() {
    let report = "https://github.com/PipedreamHQ/pipedream/issues/4566";
    let service = Service::new(&crate::catalog()["withings"]);
    let tokens = |number: u32| {
        json!({"status": 0, "body": {
            "userid": "363", "access_token": format!("at-{number}"), "refresh_token": format!("rt-{number}"),
            "expires_in": 10800, "token_type": "Bearer", "scope": "user.metrics",
        }})
    };
    let path = service.connected(&Report::default(), &tokens(1));
    service.api.env.wait(3_600_000);
    *service.api.env.platform.borrow_mut() = Box::new(move |request| {
        let error = "XRequestID: Not provided invalid_token: The access token provided is invalid";
        Ok(json_response(
            200,
            &if request.url.contains("oauth2") {
                tokens(2)
            } else if authorization(request) == Some("Bearer at-1") {
                json!({"status": 401, "body": {}, "error": error})
            } else {
                json!({"status": 0, "body": {"measuregrps": []}})
            },
        ))
    });
    let called = service.send("POST", &format!("{path}/proxy/measure?action=getmeas"), &json!({}));
    assert_eq!(body(&called)["status"], 0, "{report}: {}", body(&called));
}

/// A refresh need not repeat the data center.
#[test]
fn the_data_center_of_zoho_stays_after_a_refresh() {
    let report = "https://github.com/trycompai/comp/pull/3229";
    let service = Service::new(&crate::catalog()["zoho-crm"]);
    let domain = "https://www.zohoapis.eu";
    let first = json!({
        "access_token": "at-1", "refresh_token": "rt-1", "expires_in": 3600, "api_domain": domain, "token_type": "Bearer",
    });
    let chosen = Report::from_fields(json!({"region": "eu"}));
    let path = service.connected(&chosen, &first);
    service.api.env.wait(3_600_000);
    service.responses(json_response(200, &json!({"access_token": "at-2", "expires_in": 3600})));
    assert_eq!(service.get(&format!("{path}/credentials?refresh=true")).status, 200, "{report}");
    service.responses(json_response(200, &json!({})));
    assert_eq!(service.get(&format!("{path}/proxy/v8/Leads")).status, 200, "{report}");
    let sent = service.api.env.sent.borrow_mut().pop().unwrap();
    assert!(sent.url.starts_with(&format!("{domain}/crm/v8/Leads")), "{report}: {}", sent.url);
}

/// A storage service refuses a request with two credentials: those in its own URL, and the platform's.
#[test]
fn a_redirect_to_a_signed_url_gets_no_token() {
    let report = "https://github.com/penpot/penpot/issues/10776";
    let service = Service::new(&standard_platform(&Report::default()));
    let path = service.connected(&Report::default(), &tokens());
    let target = "https://bucket.s3.eu-west-1.amazonaws.com/asset?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=ab";
    for status in [301, 302, 303, 307, 308] {
        service.api.env.sent.borrow_mut().clear();
        let mut redirect = json_response(status, &Value::Null);
        redirect.headers.push(("location".into(), target.to_owned()));
        service.responses(redirect);
        let called = service.get(&format!("{path}/proxy/assets/by-id/1"));
        for request in service.api.env.sent.borrow().iter() {
            let is_storage = request.url.contains("amazonaws.com");
            assert!(!is_storage || authorization(request).is_none(), "{report}: {request:?}");
        }
        let headers = &called.proxied.as_ref().unwrap().headers;
        let named = headers.iter().find(|(name, _)| name == "x-platform-location");
        let named = named.map(|(_, value)| value.as_str());
        assert!(
            called.status == 200 || named == Some(target),
            "{report}: {} {:?}",
            called.status,
            called.headers
        );
    }
}

/// The address of the next page names the port that `https` has anyway.
#[test]
fn the_next_page_may_name_the_usual_port() {
    let report = "https://github.com/polygon-io/issues/issues/143";
    let mut platform = standard_platform(&Report::default());
    platform.detail = serde_json::from_value(json!({
        "authMethods": [{"id": "token", "type": "bearer", "prefix": "Bearer", "fields": [
            {"name": "token", "label": "Token", "secret": true, "required": true},
        ]}],
        "servers": [{"url": "https://api.acme.example", "description": null}],
        "documentationUrl": null, "license": null, "verify": null, "account": null,
        "pagination": [{"next": "/next_url"}],
    }))
    .unwrap();
    let service = Service::new(&platform);
    let id = service.with_key(&json!({"token": "t"}));
    let next = "https://api.acme.example:443/v3/reference/tickers?cursor=YWN0aXZl";
    service.responses(json_response(200, &json!({"results": [], "next_url": next})));
    let first =
        service.get(&format!("/v1/vault/connections/{id}/proxy/v3/reference/tickers?limit=1000"));
    assert_eq!(first.status, 200, "{report}: {}", body(&first));
    let next = first.header("x-vault-next");
    assert_eq!(next, Some("v3/reference/tickers?cursor=YWN0aXZl"), "{report}");
}

/// The platform may have created the record, although its response did not arrive.
#[test]
fn a_request_that_creates_a_record_is_sent_once() {
    let report = "https://github.com/django-salesforce/django-salesforce/issues/159";
    let service = Service::new(&standard_platform(&Report::default()));
    let path = service.connected(&Report::default(), &tokens());
    for failure in [None, Some(502), Some(504)] {
        service.api.env.sent.borrow_mut().clear();
        *service.api.env.platform.borrow_mut() = Box::new(move |_| match failure {
            None => Err(HttpError::TimedOut),
            Some(status) => {
                Ok(json_response(status, &json!({"message": "Endpoint request timed out"})))
            }
        });
        let called = service.send(
            "POST",
            &format!("{path}/proxy/sobjects/Account"),
            &json!({"Name": "Acme"}),
        );
        assert!(called.status >= 500, "{report}: {}", called.status);
        assert_eq!(service.api.env.sent.borrow().len(), 1, "{report}: {failure:?}");
    }
}

/// A client proposes a version that the service does not know yet, in the header as well.
#[test]
fn an_unknown_version_of_the_protocol_is_negotiated() {
    let report = "https://github.com/xpzouying/xiaohongshu-mcp/issues/697";
    let service = Service::new(&standard_platform(&Report::default()));
    let send = |version: &str, message: &Value| {
        let request =
            crate::support::with_body(service.api.request("POST", "/mcp"), &message.to_string());
        let request = with_header(request, "accept", "application/json, text/event-stream");
        service.api.send(&with_header(request, "mcp-protocol-version", version))
    };
    let client = json!({"name": "hermes", "version": "1"});
    let params = json!({"protocolVersion": "2027-06-18", "capabilities": {}, "clientInfo": client});
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let response = send("2027-06-18", &initialize);
    assert_eq!(response.status, 200, "{report}: {}", body(&response));
    let version = body(&response)["result"]["protocolVersion"].as_str().unwrap().to_owned();
    assert_ne!(version, "2027-06-18", "{report}");
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}});
    let response = send(&version, &list);
    assert_eq!(response.status, 200, "{report}: {}", body(&response));
}
