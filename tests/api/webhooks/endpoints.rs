//! The endpoints of webhooks: which values they accept, return and refuse.

use connector_vault::http::Service;
use connector_vault::terms::{Environment, EventType, Scope};

use super::*;
use crate::support::{DbFault, as_key, with_body};
use crate::vault::{code, faults};

#[test]
fn a_webhook_is_created_read_changed_and_deleted() {
    let api = api();
    let document = json!({
        "url": URL, "description": "Asks to reconnect", "types": ["connection.failed"], "active": false,
    });
    let response = send(&api, "POST", WEBHOOKS, &document);
    let created = body(&response);
    let own = path(&created, "");
    assert_eq!(response.status, 201);
    assert_eq!(response.header("location"), Some(format!("https://vault.example{own}").as_str()));
    let secret = created["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{created}");
    let mut shown = created.clone();
    shown.as_object_mut().unwrap().remove("secret");
    for (name, value) in document.as_object().unwrap() {
        assert_eq!(&shown[name], value, "{name}");
    }
    assert_eq!(read(&api, &own), shown);
    assert_eq!(read(&api, WEBHOOKS), json!({"rows": [shown]}));

    api.env.wait(SECOND);
    let change = json!({"url": "https://app.example/other", "active": true, "description": null, "types": []});
    let changed = body(&send(&api, "PATCH", &own, &change));
    for (name, value) in change.as_object().unwrap() {
        assert_eq!(&changed[name], value, "{name}");
    }
    assert_eq!(changed["createdAt"], shown["createdAt"]);
    assert_ne!(changed["updatedAt"], shown["updatedAt"]);
    assert_eq!(read(&api, &own), changed);
    // Omitted members do not change.
    let unchanged = body(&send(&api, "PATCH", &own, &json!({"description": "Again"})));
    assert_eq!((&unchanged["url"], &unchanged["active"]), (&change["url"], &json!(true)));
    assert_eq!(unchanged["description"], "Again");

    // `null` clears the description.
    let cleared = body(&send(&api, "PATCH", &own, &json!({"description": null})));
    assert_eq!(cleared["description"], Value::Null);

    // The response to the first attempt is lost, so the request is retried.
    api.env.db_faults.borrow_mut().push_back(DbFault::After);
    assert_eq!(api.send(&api.request("DELETE", &own)).status, 204);
    for request in [
        api.request("GET", &own),
        api.request("DELETE", &own),
        with_body(api.request("PATCH", &own), "{}"),
        api.request("POST", &format!("{own}/rotate")),
        api.request("POST", &format!("{own}/test")),
        with_body(api.request("POST", &format!("{own}/replay")), r#"{"from":"evt_0000000000001"}"#),
        api.request("GET", &format!("{own}/deliveries")),
    ] {
        let response = api.send(&request);
        assert_eq!(
            (response.status, code(&response)),
            (404, "webhook_not_found".into()),
            "{request:?}"
        );
    }
}

#[test]
fn rejects_urls_that_are_not_allowed() {
    let api = api();
    for url in [
        "http://app.example/hooks",
        "https://127.0.0.1/hooks",
        "https://[::1]/",
        "https://0x7f.1/",
        "https://localhost/",
        "https://printer.local/",
        "https://app.example:8443/",
        "https://user:password@app.example/",
        "https://app.example/#part",
        "https://vault.example/v1/events",
        "https://VAULT.example:443/",
        "https://",
        "ftp://app.example",
        "app.example",
        "",
        "https://app.example/ü",
        &format!("https://app.example/{}", "a".repeat(2040)),
    ] {
        let response = send(&api, "POST", WEBHOOKS, &json!({"url": url}));
        let found = faults(&response);
        assert_eq!((response.status, found.len()), (400, 1), "{url}: {}", body(&response));
    }
    let webhook = create(&api, &json!({"url": URL}));
    let changed = send(&api, "PATCH", &path(&webhook, ""), &json!({"url": "https://10.0.0.1/"}));
    assert_eq!(changed.status, 400);
    assert_eq!(read(&api, &path(&webhook, ""))["url"], URL);
}

#[test]
fn all_faults_of_a_webhook_are_reported() {
    let api = api();
    let invalid_body = json!({"url": "http://a.example", "types": ["connection.failed", "failed"], "active": 1, "secret": "s"});
    let response = send(&api, "POST", WEBHOOKS, &invalid_body);
    let pointers: Vec<_> = body(&response)["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["pointer"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(pointers.len(), 4, "{pointers:?}");
    for pointer in ["/url", "/types/1", "/active", "/secret"] {
        assert!(pointers.iter().any(|known| known == pointer), "{pointer}: {pointers:?}");
    }
    let errors = body(&response)["errors"].as_array().unwrap().clone();
    let of_type = errors.iter().find(|fault| fault["pointer"] == "/types/1").unwrap();
    assert_eq!(of_type["suggestion"], "connection.failed");
    let detail = of_type["detail"].as_str().unwrap();
    assert!(EventType::NAMES.iter().all(|name| detail.contains(name)), "{detail}");
    for types in [json!("connection.failed"), json!([1]), json!(vec!["connection.failed"; 99])] {
        let response = send(&api, "POST", WEBHOOKS, &json!({"url": URL, "types": types}));
        assert_eq!((response.status, faults(&response).len()), (400, 1), "{types}");
    }
    let webhook = create(&api, &json!({"url": URL}));
    for invalid_body in [
        json!({}),
        json!({"from": "evt_1"}),
        json!({"from": 1}),
        json!({"from": "evt_0000000000001", "to": ""}),
    ] {
        let response = send(&api, "POST", &path(&webhook, "/replay"), &invalid_body);
        assert_eq!(
            (response.status, code(&response)),
            (400, "invalid_body".into()),
            "{invalid_body}"
        );
    }
    assert_eq!(api.get(&path(&webhook, "/deliveries?before=x")).status, 400);
}

#[test]
fn an_environment_has_at_most_twenty_webhooks() {
    let api = api();
    for _ in 0..20 {
        create(&api, &json!({"url": URL}));
    }
    let response = send(&api, "POST", WEBHOOKS, &json!({"url": URL}));
    assert_eq!((response.status, code(&response)), (409, "webhook_limit".into()));
    assert_eq!(read(&api, WEBHOOKS)["rows"].as_array().unwrap().len(), 20);
    // The other environment has its own webhooks.
    let live_key = api.env.key("acme", Environment::Live, &Scope::ALL, None);
    let request = with_body(as_key(&live_key, "POST", WEBHOOKS), &json!({"url": URL}).to_string());
    assert_eq!(api.send(&request).status, 201);
}

#[test]
fn other_tenants_see_neither_webhooks_nor_their_events() {
    let api = api();
    let receiver = Receiver::new(&api);
    let webhook = create(&api, &json!({"url": URL}));
    let (own, before) = (path(&webhook, ""), read(&api, &path(&webhook, "")));
    connect(&api, "eve");
    assert_eq!(receiver.types(), ["connection.created"]);
    for (account, environment) in [("other", Environment::Test), ("acme", Environment::Live)] {
        let key = api.env.key(account, environment, &Scope::ALL, None);
        let send = |method: &str, path: &str, document: &str| {
            let request = as_key(&key, method, path);
            api.send(&if document.is_empty() { request } else { with_body(request, document) })
        };
        for (method, rest, document) in [
            ("GET", "", ""),
            ("PATCH", "", r#"{"active":false}"#),
            ("DELETE", "", ""),
            ("POST", "/rotate", ""),
            ("POST", "/test", ""),
            ("POST", "/replay", r#"{"from":"evt_0000000000001"}"#),
            ("GET", "/deliveries", ""),
        ] {
            let response = send(method, &format!("{own}{rest}"), document);
            assert_eq!(response.status, 404, "{method} {rest}: {}", body(&response));
        }
        assert_eq!(body(&send("GET", WEBHOOKS, "")), json!({"rows": []}));
        let created = send("POST", CONNECTIONS, &minimal("eve").to_string());
        assert_eq!((created.status, created.has_deliveries), (201, false));
    }
    assert_eq!((receiver.take().len(), read(&api, &own)), (0, before));
}

#[test]
fn a_key_needs_the_scopes_and_a_token_never_has_them() {
    let api = api();
    let webhook = create(&api, &json!({"url": URL}));
    let key = api.env.key("acme", Environment::Test, &[Scope::WebhooksRead], None);
    assert_eq!(api.send(&as_key(&key, "GET", &path(&webhook, ""))).status, 200);
    let denied = api.send(&as_key(&key, "DELETE", &path(&webhook, "")));
    assert_eq!((denied.status, code(&denied)), (403, "insufficient_scope".into()));
    let requested = json!({"identity": "eve", "scopes": ["webhooks:read"]});
    assert_eq!(send(&api, "POST", "/v1/sessions", &requested).status, 400);
}

#[test]
fn after_a_rotation_both_secrets_sign_for_a_day() {
    let api = api();
    let receiver = Receiver::new(&api);
    let first = create(&api, &json!({"url": URL}));
    let rotate = || {
        let response = api.send(&api.request("POST", &path(&first, "/rotate")));
        assert_eq!(response.status, 200, "{}", body(&response));
        body(&response)
    };
    let second = rotate();
    assert_ne!(first["secret"], second["secret"]);
    let signs = |identity: &str| {
        connect(&api, identity);
        let got = receiver.take();
        [&first, &second].map(|webhook| is_signed(&got[0], &webhook["secret"]))
    };
    assert_eq!(signs("a"), [true, true]);
    api.env.wait(DAY - 1);
    assert_eq!(signs("b"), [true, true]);
    api.env.wait(1);
    assert_eq!(signs("c"), [false, true]);
    // A rotation within a minute returns the same secret. After another one, the previous secret
    // still signs, but older ones don't.
    let third = rotate();
    api.env.wait(60_000 - 1);
    assert_eq!(rotate()["secret"], third["secret"]);
    api.env.wait(1);
    assert_ne!(rotate()["secret"], third["secret"]);
    assert_eq!(signs("d"), [false, false]);
    let stored = api.env.texts("SELECT sealed FROM webhooks").remove(0);
    assert!(!stored.contains("whsec_"), "it is sealed");
}

#[test]
fn concurrent_rotations_create_one_secret() {
    let mut api = api();
    let webhook = create(&api, &json!({"url": URL}));
    let sealed = |api: &Api| api.env.texts("SELECT sealed FROM webhooks").remove(0);
    let rotate = |api: &Api| {
        body(&api.send(&api.request("POST", &path(&webhook, "/rotate"))))["secret"].clone()
    };
    let (before, rotated) = (sealed(&api), rotate(&api));
    api.env.wait(60_000);
    // Another rotation completes between the read and the write of this one: it runs when the key's
    // use is written.
    let sql = format!(
        "UPDATE webhooks SET sealed = '{before}'; UPDATE api_keys SET last_used_day = NULL;
        CREATE TEMP TRIGGER theirs AFTER UPDATE ON api_keys BEGIN UPDATE webhooks SET sealed = '{}', written_by = 'them'; END",
        sealed(&api)
    );
    api.env.database.execute_batch(&sql).unwrap();
    // A new isolate writes the key's use.
    api.service = Service::new(settings());
    assert_eq!(rotate(&api), rotated);
}

#[test]
fn without_vault_keys_no_webhook_is_stored() {
    let api = Api::with_catalog();
    let response = send(&api, "POST", WEBHOOKS, &json!({"url": URL}));
    assert_eq!(response.status, 503);
    assert!(body(&response)["detail"].as_str().unwrap().contains("VAULT_KEYS"));
    assert_eq!(read(&api, WEBHOOKS), json!({"rows": []}));
}

#[test]
fn a_test_returns_the_receivers_response() {
    let api = api();
    let receiver = Receiver::new(&api);
    let webhook =
        create(&api, &json!({"url": URL, "types": ["connection.failed"], "active": false}));
    let test = || {
        let response = api.send(&api.request("POST", &path(&webhook, "/test")));
        assert_eq!(response.status, 200);
        body(&response)
    };
    assert_eq!(
        test(),
        json!({"delivered": true, "httpStatus": 204, "error": null, "durationMs": 0})
    );
    let got = receiver.take().remove(0);
    assert!(is_signed(&got, &webhook["secret"]));
    let event = event(&got);
    assert_eq!(
        (&event["type"], &event["data"]),
        (&json!("webhook.test"), &json!({"webhook": {"id": webhook["id"]}}))
    );
    assert_eq!(event["id"], header(&got, "webhook-id"));
    receiver.respond(|_| status(500));
    assert_eq!(test()["httpStatus"], 500);
    receiver.respond(|_| Err(HttpError::TimedOut));
    assert_eq!(test()["error"], "timed_out");
    assert_eq!(deliveries(&api, &webhook), Vec::<Value>::new(), "a test is not listed");
    assert_eq!(read(&api, "/v1/events")["rows"], json!([]));
}
