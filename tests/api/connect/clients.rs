//! The endpoints of OAuth clients.

use super::*;
use crate::support::{DbFault, as_key};
use connector_vault::terms::{Environment, Scope};

#[test]
fn a_client_is_set_read_listed_and_deleted() {
    let api = api();
    let path = "/v1/oauth-clients/acme";
    let missing = api.get(path);
    assert_eq!((missing.status, &body(&missing)["code"]), (404, &json!("oauth_client_not_found")));
    let payload = json!({
        "clientId": "id", "clientSecret": "s3cret", "authMethod": "oauth", "scopes": ["a"],
        "authorizationParameters": {"prompt": "consent"},
    });
    let response = send(&api, "PUT", path, &payload);
    assert_eq!(response.status, 201, "{}", body(&response));
    let mut document = body(&response);
    for (name, value) in [
        ("platform", json!("acme")),
        ("authMethod", json!("oauth")),
        ("clientId", json!("id")),
        ("hasSecret", json!(true)),
        ("scopes", json!(["a"])),
        ("authorizationParameters", json!({"prompt": "consent"})),
        ("variables", json!({})),
        ("redirectUri", json!("https://vault.example/connect/callback")),
        ("rejectedSince", Value::Null),
        ("createdAt", json!("2027-01-15T08:00:00.000Z")),
    ] {
        assert_eq!(document[name], value, "{name}");
    }
    assert!(!document.to_string().contains("s3cret") && !dump_all_tables(&api).contains("s3cret"));
    assert_eq!(body(&api.get("/v1/oauth-clients/ACME")), document);
    let list = json!({"rows": [document], "total": 1, "pages": 1, "page": 1});
    assert_eq!(body(&api.get("/v1/oauth-clients")), list);
    assert_eq!(body(&api.get("/v1/oauth-clients?page=2&limit=1"))["rows"], json!([]));

    // An omitted secret is kept for the same client id and dropped for another one. `null` removes
    // it.
    for (payload, has_secret) in [
        (json!({"clientId": "id", "authMethod": "oauth"}), true),
        (json!({"clientId": "other"}), false),
        (json!({"clientId": "other", "clientSecret": "x"}), true),
        (json!({"clientId": "other", "clientSecret": null}), false),
    ] {
        let response = send(&api, "PUT", path, &payload);
        assert_eq!(response.status, 200, "{payload}");
        document = body(&response);
        assert_eq!(document["hasSecret"], has_secret, "{payload}");
        assert_eq!(document["scopes"], json!([]));
    }

    // Another account and the other environment can neither read nor delete the client.
    for (account, environment) in [("beta", Environment::Test), ("acme", Environment::Live)] {
        let key = api.env.key(account, environment, &Scope::ALL, None);
        assert_eq!(api.send(&as_key(&key, "GET", path)).status, 404);
        assert_eq!(api.send(&as_key(&key, "DELETE", path)).status, 404);
        assert_eq!(body(&api.send(&as_key(&key, "GET", "/v1/oauth-clients")))["total"], 0);
    }
    let delete = api.send(&api.request("DELETE", path));
    assert_eq!((delete.status, delete.body.len()), (204, 0));
    assert_eq!(api.send(&api.request("DELETE", path)).status, 404);
}

#[test]
fn warns_about_a_client_without_scopes() {
    let scopes = json!(["a", "b", "c", "d"].map(|name| json!({"name": name, "description": ""})));
    let method = oauth("oauth", &json!({"scopes": scopes}));
    let api = api_of(&[
        ("scoped", json!({"authMethods": [method]})),
        ("plain", json!({"authMethods": [oauth("oauth", &json!({}))]})),
    ]);
    let warnings = |platform: &str, scopes: Value| {
        let payload = json!({"clientId": "id", "scopes": scopes});
        body(&send(&api, "PUT", &format!("/v1/oauth-clients/{platform}"), &payload))["warnings"]
            .clone()
    };
    let expected = "The client requests no scopes, so The scoped grants only what it grants by default. Set those that your calls need, such as `a`, `b`, `c`: `authMethods` of the connector lists all.";
    assert_eq!(warnings("scoped", json!([])), json!([expected]));
    assert_eq!(warnings("scoped", json!(["a"])), Value::Null);
    assert_eq!(warnings("plain", json!([])), Value::Null);
}

#[test]
fn a_retry_after_a_lost_response_gets_the_same_response() {
    let api = api();
    let path = "/v1/oauth-clients/regional";
    let variables = json!({"host": "eu.regional.example"});
    let payload = json!({"clientId": "id", "authMethod": "oauth", "variables": variables});
    let lose = || api.env.db_faults.borrow_mut().push_back(DbFault::After);
    lose();
    let created = send(&api, "PUT", path, &payload);
    assert_eq!((created.status, &body(&created)["variables"]), (201, &variables));
    api.env.wait(1);
    lose();
    assert_eq!(send(&api, "PUT", path, &payload).status, 200);
    lose();
    assert_eq!(api.send(&api.request("DELETE", path)).status, 204);
    assert_eq!(api.get(path).status, 404);
}

#[test]
fn reports_all_errors_of_a_client() {
    let api = api();
    for (platform, payload, pointer) in [
        ("acme", json!({}), "/clientId"),
        ("acme", json!({"clientId": ""}), "/clientId"),
        ("acme", json!({"clientId": "a\u{e9}"}), "/clientId"),
        ("acme", json!({"clientId": "a", "clientSecret": ""}), "/clientSecret"),
        ("acme", json!({"clientId": "a", "scopes": ["a b"]}), "/scopes/0"),
        ("acme", json!({"clientId": "a", "authMethod": "other"}), "/authMethod"),
        (
            "acme",
            json!({"clientId": "a", "authorizationParameters": {"state": "x"}}),
            "/authorizationParameters/state",
        ),
        (
            "acme",
            json!({"clientId": "a", "authorizationParameters": {"redirect_uri": "x"}}),
            "/authorizationParameters/redirect_uri",
        ),
        ("acme", json!({"clientId": "a", "variables": {"x": "y"}}), "/variables/x"),
        (
            "regional",
            json!({"clientId": "a", "authMethod": "app", "variables": {"host": "eu.regional.example"}}),
            "/variables/host",
        ),
        ("keyed", json!({"clientId": "a"}), "/platform"),
    ] {
        let response = send(&api, "PUT", &format!("/v1/oauth-clients/{platform}"), &payload);
        assert_eq!(response.status, 400, "{payload}: {}", body(&response));
        assert_eq!(body(&response)["errors"][0]["pointer"], pointer, "{payload}");
    }
    let response = send(&api, "PUT", "/v1/oauth-clients/acne", &json!({"clientId": "a"}));
    assert_eq!((response.status, &body(&response)["code"]), (404, &json!("platform_not_found")));
    assert_eq!(body(&response)["suggestions"], json!(["acme"]));
}

#[test]
fn changing_where_a_secret_is_sent_requires_the_secret() {
    let api = api();
    let path = "/v1/oauth-clients/regional";
    let client = |host: &str, secret: Value| {
        let mut payload =
            json!({"clientId": "id", "authMethod": "oauth", "variables": {"host": host}});
        if secret != json!("omitted") {
            payload["clientSecret"] = secret;
        }
        send(&api, "PUT", path, &payload)
    };
    let (eu, us) = ("eu.regional.example", "us.regional.example");
    assert_eq!(client(eu, json!("s3cret")).status, 201);
    let refused = client(us, json!("omitted"));
    assert_eq!(refused.status, 400, "{}", body(&refused));
    assert_eq!(body(&refused)["errors"][0]["pointer"], "/clientSecret");
    let stored = body(&api.get(path));
    assert_eq!((&stored["variables"]["host"], &stored["hasSecret"]), (&json!(eu), &json!(true)));
    // The secret's destination does not change if the hosts stay, if the secret is set again or removed, or if the
    // client has no secret.
    for (host, secret, has_secret) in [
        (eu, json!("omitted"), true),
        (us, json!("s3cret"), true),
        (eu, Value::Null, false),
        (us, json!("omitted"), false),
    ] {
        let response = client(host, secret);
        assert_eq!(response.status, 200, "{}", body(&response));
        assert_eq!(body(&response)["hasSecret"], has_secret);
    }
    // Another auth method may send the secret to other hosts.
    assert_eq!(client(us, json!("s3cret")).status, 200);
    let payload = json!({"clientId": "id", "authMethod": "app", "variables": {}});
    assert_eq!(send(&api, "PUT", path, &payload).status, 400);
}

#[test]
fn the_scope_warning_needs_a_platform_with_scopes() {
    let api = crate::openapi::fixture::Fixture::new().api;
    for (scopes, warns) in [(json!([]), true), (json!(["repo"]), false)] {
        let payload = json!({"clientId": "id", "scopes": scopes});
        let stored = body(&send(&api, "PUT", "/v1/oauth-clients/github", &payload));
        let warnings = stored.get("warnings").and_then(Value::as_array);
        assert_eq!(warnings.is_some_and(|some| some.len() == 1), warns, "{stored}");
        assert_eq!(body(&api.get("/v1/oauth-clients/github")).get("warnings"), None);
    }
}
