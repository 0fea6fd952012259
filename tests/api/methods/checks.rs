//! The effect of a platform's response to the `verify` request on new credentials.

use super::*;

fn providers(extra: &str) -> String {
    format!(
        "[platforms.acme]\nname = 'Acme'\nservers = ['https://api.acme.example']\nverify = 'GET /me'\n{extra}\n[[platforms.acme.auth]]\nid = 'key'\ntype = 'api_key'\nin = 'header'\nname = 'X-Key'\nsource = 's'\nread = '2026-11-27'\n"
    )
}

#[test]
fn a_check_sends_its_body() {
    let providers = providers("")
        .replace("verify = 'GET /me'", "verify = 'POST /graphql'\nverifyBody = { query = '{ me }' }\naccount = { request = 'POST /graphql', body = { query = '{ id }' }, id = '/data/id' }");
    let api = import_catalog("check-with-body", &[], &providers);
    platform(&api, |_| Ok(platform_response(200, &[], r#"{"data": {"id": "u-1"}}"#)));
    let mut expected = ann_connect_body("acme");
    expected["fields"] = json!({"apiKey": "k"});
    let response = connect(&api, &expected);
    assert_eq!((response.status, &body(&response)["state"]), (201, &json!("operational")));
    let sent = api.env.sent.borrow();
    let bodies: Vec<Value> =
        sent.iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect();
    assert_eq!(bodies, [json!({"query": "{ me }"}), json!({"query": "{ id }"})]);
    for request in sent.iter() {
        assert_eq!(request.url, "https://api.acme.example/graphql");
        assert_eq!(header(request, "content-type"), Some("application/json"));
    }
}

#[test]
fn only_a_rejecting_status_prevents_storing_credentials() {
    for (index, (extra, status, sent_back, state, reason)) in [
        ("", 200, "{}", Some("operational"), None),
        ("", 204, "", Some("operational"), None),
        ("", 401, "{}", None, None),
        ("", 403, "{}", Some("unknown"), Some(403)),
        ("", 400, "{}", Some("unknown"), Some(400)),
        ("", 404, "{}", Some("unknown"), Some(404)),
        ("", 302, "", Some("unknown"), Some(302)),
        ("", 429, "{}", Some("unknown"), Some(429)),
        ("", 500, "{}", Some("unknown"), Some(500)),
        ("rejected = [400, 403]", 403, "{}", None, None),
        ("rejected = [400, 403]", 401, "{}", Some("unknown"), Some(401)),
        // Platforms that report errors with status 200.
        ("rejectedWhen = { pointer = '/ok', value = false }", 200, r#"{"ok": false}"#, None, None),
        (
            "rejectedWhen = { pointer = '/ok', value = false }",
            200,
            r#"{"ok": true}"#,
            Some("operational"),
            None,
        ),
        (
            "rejectedWhen = { pointer = '/ok', value = false }",
            200,
            "no JSON",
            Some("operational"),
            None,
        ),
        (
            "rejectedWhen = { pointer = '/e/0/code', value = 7 }",
            200,
            r#"{"e": [{"code": 7}]}"#,
            None,
            None,
        ),
        // Platforms that report errors with another status, or with one of several values.
        (
            "rejectedWhen = { pointer = '/code', value = ['expired', 'unknown'] }",
            400,
            r#"{"code": "unknown"}"#,
            None,
            None,
        ),
        (
            "rejectedWhen = { pointer = '/code', value = ['expired', 'unknown'] }",
            400,
            r#"{"code": "busy"}"#,
            Some("unknown"),
            Some(400),
        ),
        (
            "rejectedWhen = { pointer = '/code', value = ['expired', 'unknown'] }",
            503,
            r#"{"code": "unknown"}"#,
            Some("unknown"),
            Some(503),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let api = import_catalog(&format!("verdict-{index}"), &[], &providers(extra));
        platform(&api, move |_| Ok(platform_response(status, &[], sent_back)));
        let mut expected = ann_connect_body("acme");
        expected["fields"] = json!({"apiKey": "k"});
        let response = connect(&api, &expected);
        let Some(state) = state else {
            assert_eq!((response.status, code(&response).as_str()), (422, "credentials_rejected"));
            let count = body(&api.get("/v1/vault/connections"))["total"].clone();
            assert_eq!(count, 0, "{extra} {status}");
            continue;
        };
        assert_eq!((response.status, &body(&response)["state"]), (201, &json!(state)), "{status}");
        let path = at(body(&response)["id"].as_str().unwrap());
        let status = body(&api.get(&format!("{path}/status")));
        assert_eq!(status["state"], state);
        match reason {
            None => assert_eq!(status["reason"], Value::Null, "{extra}"),
            Some(http_status) => {
                let reason = &status["reason"];
                assert_eq!(
                    (&reason["code"], &reason["httpStatus"], &status["actor"]),
                    (&json!("not_checked"), &json!(http_status), &json!("nobody"))
                );
            }
        }
    }
}

#[test]
fn an_unreachable_platform_rejects_no_connection() {
    for status in [0, 1] {
        let api = import_catalog(&format!("unreachable-{status}"), &[], &providers(""));
        script(&api, &[(status, json!({}))]);
        let mut expected = ann_connect_body("acme");
        expected["fields"] = json!({"apiKey": "k"});
        let response = connect(&api, &expected);
        assert_eq!((response.status, &body(&response)["state"]), (201, &json!("unknown")));
        let path = at(body(&response)["id"].as_str().unwrap());
        let reason = body(&api.get(&format!("{path}/status")))["reason"].clone();
        assert_eq!((&reason["code"], &reason["httpStatus"]), (&json!("not_checked"), &Value::Null));
        // The next check shows that the platform accepts the key.
        script(&api, &[(200, json!({}))]);
        let checked = api.send(&api.request("POST", &format!("{path}/check")));
        assert_eq!(body(&checked)["state"], "operational");
        assert_eq!(body(&api.get(&format!("{path}/status")))["reason"], Value::Null);
    }
}

#[test]
fn imported_credentials_are_stored_after_an_inconclusive_check() {
    let api = import_catalog("import", &[], &providers(""));
    let created = send(&api, "POST", "/v1/vault/connections", &ann_connect_body("acme"));
    let path = at(body(&created)["id"].as_str().unwrap());
    for (status, expected, state) in
        [(401, 422, "unknown"), (403, 204, "unknown"), (200, 204, "operational")]
    {
        script(&api, &[(status, json!({}))]);
        let key = json!({"type": "api_key", "apiKey": "k"});
        let stored = send(&api, "PUT", &format!("{path}/credentials"), &key);
        assert_eq!(stored.status, expected, "{status}");
        let found = body(&api.get(&format!("{path}/status")));
        assert_eq!(found["state"], state, "{status}");
        let reason = if status == 403 { json!(403) } else { Value::Null };
        assert_eq!(found["reason"]["httpStatus"], reason, "{status}");
    }
}
