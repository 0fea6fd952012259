//! The configuration of the console's sign-in: `/v1/console-sign-in`.

use base64ct::{Base64, Encoding as _};
use serde_json::{Value, json};

use super::{
    SIGN_IN, TEAM_DOMAIN, access, admin, at_provider, authenticate, callback, configure, console,
    oidc, send_as,
};
use crate::agents::provider::{ISSUER, serve};
use crate::agents::settings;
use crate::connect::{api_with, response as platform_response, send, text};
use crate::support::{Api, ORIGIN, body};

/// The pointers of the errors of a configuration.
fn faults(api: &Api, sent: &Value) -> Vec<String> {
    let response = send(api, "PUT", SIGN_IN, sent);
    assert_eq!(response.status, 400, "{sent} {}", text(&response));
    let errors = body(&response)["errors"].as_array().unwrap().clone();
    errors.iter().map(|error| error["pointer"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_configuration_is_returned_without_its_secret() {
    let (api, id) = console(&json!({}));
    let document = body(&api.get(SIGN_IN));
    let expected = json!({
        "signInUrl": format!("{ORIGIN}/sign-in/{id}"), "type": "oidc", "issuer": ISSUER, "clientId": "vault",
        "hasSecret": true, "scopes": ["openid", "profile", "email"],
        "redirectUri": format!("{ORIGIN}/sign-in/{id}/callback"), "teamDomain": null, "audience": null,
        "claim": "groups", "roles": oidc(&json!({}))["roles"], "keyId": document["keyId"],
        "createdAt": document["createdAt"], "updatedAt": document["updatedAt"],
    });
    assert_eq!(document, expected);
    assert!(!api.env.dump().concat().contains("a:secret"));
    // An omitted secret is kept only for the same client.
    let mut same = oidc(&json!({}));
    same.as_object_mut().unwrap().remove("clientSecret");
    assert_eq!(configure(&api, &same), id);
    assert_eq!(body(&api.get(SIGN_IN))["hasSecret"], true);
    same["clientId"] = json!("other");
    configure(&api, &same);
    assert_eq!(body(&api.get(SIGN_IN))["hasSecret"], false);

    let (api, id, _) = access();
    let document = body(&api.get(SIGN_IN));
    assert_eq!(document["signInUrl"], format!("{ORIGIN}/sign-in/{id}"));
    assert_eq!(
        (&document["teamDomain"], &document["audience"]),
        (&json!(TEAM_DOMAIN), &json!("aud-tag"))
    );
    for name in ["issuer", "clientId", "scopes", "redirectUri"] {
        assert_eq!(document[name], Value::Null, "{name}");
    }
}

#[test]
fn all_errors_are_reported_together() {
    let api = api_with(&settings());
    serve(&api);
    let roles = json!({"x": ["connections:read"]});
    assert_eq!(faults(&api, &json!({})), ["/type", "/claim", "/roles"]);
    for (sent, expected) in [
        (json!({"type": "oidc", "claim": "c", "roles": roles}), vec!["/issuer", "/clientId"]),
        (json!({"type": "access", "claim": "c", "roles": roles}), vec!["/teamDomain", "/audience"]),
        (
            json!({"type": "access", "teamDomain": TEAM_DOMAIN, "audience": "a", "scopes": ["openid"], "claim": "c", "roles": roles}),
            vec!["/scopes"],
        ),
        (oidc(&json!({"teamDomain": TEAM_DOMAIN})), vec!["/teamDomain"]),
        (oidc(&json!({"issuer": "http://id.example"})), vec!["/issuer"]),
        (oidc(&json!({"issuer": "https://10.0.0.1"})), vec!["/issuer"]),
        (oidc(&json!({"issuer": ORIGIN})), vec!["/issuer"]),
        (oidc(&json!({"scopes": ["groups"]})), vec!["/scopes"]),
        (oidc(&json!({"roles": {}})), vec!["/roles"]),
        (oidc(&json!({"roles": []})), vec!["/roles"]),
        (oidc(&json!({"roles": {"x": []}})), vec!["/roles/x"]),
        (oidc(&json!({"roles": {"x": "connections:read"}})), vec!["/roles/x"]),
        (oidc(&json!({"roles": {"x": ["connections:raed", 1]}})), vec!["/roles/x/0", "/roles/x/1"]),
        (oidc(&json!({"roles": {"": ["keys:read"]}})), vec!["/roles/"]),
        (oidc(&json!({"claim": "a b"})), vec!["/claim"]),
    ] {
        assert_eq!(faults(&api, &sent), expected, "{sent}");
    }
    for domain in [
        "acme",
        "https://acme.cloudflareaccess.com",
        ".cloudflareaccess.com",
        "a.b.cloudflareaccess.com",
        "acme.cloudflareaccess.com.evil.example",
    ] {
        let sent = json!({"type": "access", "teamDomain": domain, "audience": "a", "claim": "c", "roles": roles});
        assert_eq!(faults(&api, &sent), ["/teamDomain"], "{domain}");
    }
}

#[test]
fn sign_in_requires_a_base_url() {
    let api = crate::connect::api();
    serve(&api);
    let response = send(&api, "PUT", SIGN_IN, &oidc(&json!({})));
    assert_eq!(response.status, 503);
    assert!(text(&response).contains("BASE_URL"));
    let page = api.send(&crate::support::anonymous("GET", &format!("/sign-in/{}", "a".repeat(43))));
    assert_eq!(page.status, 404);
}

#[test]
fn a_secret_that_another_request_stored_meanwhile_is_kept() {
    let (mut api, _) = console(&json!({}));
    // Wait until the cached discovery document has expired, so that the next change fetches it.
    api.env.wait(60 * 60_000);
    serve(&api);
    let change = "UPDATE console_sign_ins SET sealed = 'tests.rotated'";
    let discovery = "https://id.example/.well-known/openid-configuration";
    api.change_while("console-sign-in-secret", discovery, change);
    let mut sent = oidc(&json!({}));
    sent.as_object_mut().unwrap().remove("clientSecret");
    assert_eq!(send(&api, "PUT", SIGN_IN, &sent).status, 200);
    let stored = || api.env.texts("SELECT quote(sealed) FROM console_sign_ins");
    assert_eq!(stored(), ["'tests.rotated'"]);
    // The stored secret is used only with its own client id.
    sent["clientId"] = json!("another");
    assert_eq!(send(&api, "PUT", SIGN_IN, &sent).status, 200);
    assert_eq!(stored(), ["NULL"]);
}

#[test]
fn a_new_secret_replaces_the_stored_one() {
    let (api, id) = console(&json!({}));
    let sent_secret = || {
        let (browser, parameters) = at_provider(&api, &id);
        let sent = authenticate(&api, &parameters, &json!({}));
        browser.open(&api, &callback(&id, &parameters));
        let sent = sent.borrow();
        let request = sent.iter().find(|request| request.url.ends_with("/token")).unwrap();
        let header = request.headers.iter().find(|(name, _)| name == "authorization")?;
        let basic = header.1.strip_prefix("Basic ").unwrap();
        String::from_utf8(Base64::decode_vec(basic).unwrap()).ok()
    };
    assert_eq!(sent_secret().as_deref(), Some("vault:a%3Asecret"));
    for (client, secret, expected) in [
        ("vault", json!("second"), Some("vault:second")),
        ("other", json!("third"), Some("other:third")),
        ("other", Value::Null, None),
    ] {
        configure(&api, &oidc(&json!({"clientId": client, "clientSecret": secret})));
        assert_eq!(sent_secret().as_deref(), expected, "{client}");
    }
}

#[test]
fn a_session_that_ended_while_the_provider_responded_configures_nothing() {
    let (mut api, id) = console(&json!({}));
    let token = admin(&api, &id);
    let path = api.share_database("console-sign-in");
    let before = body(&api.get(SIGN_IN));
    *api.env.platform.borrow_mut() = Box::new(move |request| {
        assert_eq!(request.url, "https://evil.example/.well-known/openid-configuration");
        let database = rusqlite::Connection::open(&path).unwrap();
        database.execute("DELETE FROM console_sessions", []).unwrap();
        let at = |name: &str| format!("https://evil.example/{name}");
        let discovery = json!({
            "issuer": "https://evil.example", "authorization_endpoint": at("a"), "token_endpoint": at("t"),
            "jwks_uri": at("k"),
        });
        platform_response(200, &discovery)
    });
    let sent = oidc(&json!({"issuer": "https://evil.example", "roles": {"x": ["catalog:read"]}}));
    let refusal = send_as(&api, &token, "PUT", SIGN_IN, &sent);
    assert_eq!(refusal.status, 401, "{}", text(&refusal));
    assert_eq!(body(&api.get(SIGN_IN)), before);
    let changes = "SELECT actor_type FROM audit WHERE action = 'console_sign_in.updated'";
    assert_eq!(api.env.texts(changes), ["key"]);
}
