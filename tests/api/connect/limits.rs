//! Limits on the number of connections.

use connector_vault::connections::statements::limits::{
    MAX_CONNECTIONS_PER_ACCOUNT, MAX_CONNECTIONS_PER_IDENTITY,
};

use super::*;
use crate::vault::code as code_of;

const CONNECTIONS: &str = "/v1/vault/connections";

/// Returns a service, and a token of an identity that may create one more connection.
fn identity_near_limit() -> (Api, String) {
    let api = api();
    for label in 1..MAX_CONNECTIONS_PER_IDENTITY {
        let payload = json!({"platform": "plain", "identity": "ann", "identityType": "user", "label": format!("l-{label}"), "active": label % 2 == 0});
        assert_eq!(send(&api, "POST", CONNECTIONS, &payload).status, 201);
    }
    let scopes = ["connections:read", "connections:write", "connections:connect", "catalog:read"];
    let token = token(&api, &json!({"identity": "ann", "identityType": "user", "scopes": scopes}));
    (api, token)
}

#[test]
fn a_token_creates_a_limited_number_of_connections() {
    let (api, token) = identity_near_limit();
    let input = |label: &str| json!({"platform": "plain", "identity": "ann", "identityType": "user", "label": label});
    let by_token = |method: &str, path: &str, payload: &Value| {
        let response = api.send(&as_token(&token, method, path, payload));
        (response.status, code_of(&response))
    };
    let limited = (409, "connection_limit".to_owned());
    let created = api.send(&as_token(&token, "POST", CONNECTIONS, &input("last")));
    assert_eq!(created.status, 201, "{}", body(&created));
    assert_eq!(by_token("POST", CONNECTIONS, &input("more")), limited);
    // An existing connection is reported before the limit.
    assert_eq!(by_token("POST", CONNECTIONS, &input("last")).1, "connection_exists");
    set_client(&api, "plain");
    for method in ["sign-in", "basic"] {
        let mut payload = input("more");
        payload["authMethod"] = method.into();
        if method == "basic" {
            payload["fields"] = json!({"username": "u", "password": "p"});
        }
        assert_eq!(by_token("POST", "/v1/vault/connect", &payload), limited, "{method}");
    }
    let attempts = "SELECT count(*) FROM connect_attempts";
    let attempts: u32 = api.env.database.query_row(attempts, [], |row| row.get(0)).unwrap();
    assert_eq!(attempts, 0);
    // The limit does not apply to keys.
    assert_eq!(send(&api, "POST", CONNECTIONS, &input("by-key")).status, 201);
    // The identity is now one connection over its limit, so only the second deletion makes room for
    // a new connection.
    let delete = |label: &str| {
        let id = format!("SELECT id FROM connections WHERE label = '{label}'");
        let id: String = api.env.database.query_row(&id, [], |row| row.get(0)).unwrap();
        by_token("DELETE", &format!("{CONNECTIONS}/{id}"), &Value::Null)
    };
    for (label, created) in [("last", limited.0), ("by-key", 201)] {
        assert_eq!(delete(label).0, 204);
        assert_eq!(by_token("POST", CONNECTIONS, &input("more")).0, created);
    }
}

#[test]
fn an_account_has_a_limited_number_of_connections() {
    let api = api();
    let input = |label: &str| json!({"platform": "plain", "identity": "ann", "identityType": "user", "label": label});
    assert_eq!(send(&api, "POST", CONNECTIONS, &input("first")).status, 201);
    let counts = format!(
        "UPDATE connection_counts SET n = {MAX_CONNECTIONS_PER_ACCOUNT} WHERE dimension = 'all'"
    );
    api.env.database.execute(&counts, []).unwrap();
    let response = send(&api, "POST", CONNECTIONS, &input("second"));
    assert_eq!((response.status, code_of(&response).as_str()), (409, "connection_limit"));
    let mut payload = input("second");
    payload["authMethod"] = "basic".into();
    payload["fields"] = json!({"username": "u", "password": "p"});
    let response = connect(&api, &payload);
    assert_eq!((response.status, code_of(&response).as_str()), (409, "connection_limit"));
}

#[test]
fn a_sign_in_that_ends_at_a_full_account_fails_with_the_limit() {
    let api = api();
    set_client(&api, "acme");
    assert_eq!(send(&api, "POST", CONNECTIONS, &ann_connect_body("plain")).status, 201);
    let (id, link) = start_attempt(&api, &ann_connect_body("acme"));
    let counts = format!(
        "UPDATE connection_counts SET n = {MAX_CONNECTIONS_PER_ACCOUNT} WHERE dimension = 'all'"
    );
    api.env.database.execute(&counts, []).unwrap();
    consent_at_platform(&api, &link, &json!({"access_token": "at-1"}));
    assert_eq!(attempt(&api, &id)["error"]["code"], "connection_limit");
}
