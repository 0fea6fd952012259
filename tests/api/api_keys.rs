//! `/v1/keys`: API keys that other keys create, replace and revoke.

use connector_vault::auth::key::ApiKey;
use connector_vault::http::Response;
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::support::{Api, as_key, body, with_body};
use crate::vault::{UNKNOWN_ID, code};

const KEYS: &str = "/v1/keys";
const DAY_MS: u64 = 86_400_000;
const SCOPES: [Scope; 3] = [Scope::ConnectionsRead, Scope::KeysRead, Scope::KeysWrite];

fn post(api: &Api, key: &ApiKey, path: &str, document: &Value) -> Response {
    api.send(&with_body(as_key(key, "POST", path), &document.to_string()))
}

/// Creates a key with another key. Returns the key's public members and its secret.
fn create(api: &Api, by: &ApiKey, document: &Value) -> (Value, ApiKey) {
    let response = post(api, by, KEYS, document);
    assert_eq!(response.status, 201, "{}", body(&response));
    created_key(&response)
}

fn created_key(response: &Response) -> (Value, ApiKey) {
    let shown = body(response);
    let key = ApiKey::parse(shown["secret"].as_str().unwrap()).unwrap();
    (shown, key)
}

fn rotate(api: &Api, by: &ApiKey, id: &Value) -> Response {
    api.send(&as_key(by, "POST", &format!("{KEYS}/{}/rotate", id.as_str().unwrap())))
}

fn revoke(api: &Api, by: &ApiKey, id: &Value) -> u16 {
    api.send(&as_key(by, "DELETE", &format!("{KEYS}/{}", id.as_str().unwrap()))).status
}

/// The status of `GET /v1/whoami`, which every valid key may send.
fn whoami(api: &Api, key: &ApiKey) -> u16 {
    api.send(&as_key(key, "GET", "/v1/whoami")).status
}

fn id_of(api: &Api, key: &ApiKey) -> Value {
    let hash = key.hash().to_string();
    let start = hash.get(..8).unwrap();
    let id = format!("{start}-0000-4000-8000-000000000000");
    let sql = format!("UPDATE api_keys SET id = '{id}' WHERE hash = '{hash}' AND id LIKE 'key-%'");
    api.env.database.execute(&sql, []).unwrap();
    json!(api.env.texts(&format!("SELECT id FROM api_keys WHERE hash = '{hash}'"))[0])
}

fn timestamp_after(api: &Api, milliseconds: u64) -> String {
    connector_vault::util::rfc3339::rfc3339(api.env.now.get() + milliseconds).unwrap()
}

/// Returns a service, and a key that expires in 10 days.
fn api_with_expiring_key() -> (Api, ApiKey) {
    let api = Api::with_catalog();
    let end = api.env.now.get() + 10 * DAY_MS;
    let key = api.env.key("acme", Environment::Test, &SCOPES, Some(end));
    (api, key)
}

#[test]
fn a_created_key_works_and_its_secret_is_shown_once() {
    let api = Api::with_catalog();
    let own = id_of(&api, &api.key);
    let document = json!({"name": "Export", "scopes": ["connections:read", "catalog:read"]});
    let (shown, key) = create(&api, &api.key, &document);
    assert_eq!(shown["name"], "Export");
    assert_eq!(shown["scopes"], json!(["catalog:read", "connections:read"]));
    assert_eq!((&shown["state"], &shown["expiresAt"]), (&json!("active"), &Value::Null));
    assert_eq!(shown["createdBy"], own);
    let whoami = body(&api.send(&as_key(&key, "GET", "/v1/whoami")));
    assert_eq!(whoami["account"], "acme");
    assert_eq!(whoami["environment"], "test");
    assert_eq!(whoami["scopes"], shown["scopes"]);
    let list = api.get(KEYS);
    let text = String::from_utf8_lossy(&list.body);
    assert!(!text.contains("secret") && !text.contains(key.reveal()), "{text}");
    assert!(!text.contains(&key.hash().to_string()), "{text}");
    let rows = body(&list)["rows"].clone();
    let current = rows.as_array().unwrap().iter().filter(|row| row["current"] == true);
    assert_eq!(current.map(|row| &row["id"]).collect::<Vec<_>>(), [&own]);
}

#[test]
fn a_key_grants_no_scope_that_it_lacks() {
    let (api, key) = api_with_expiring_key();
    for lacked in Scope::ALL.into_iter().filter(|scope| !SCOPES.contains(scope)) {
        let document = json!({"scopes": ["connections:read", lacked.as_str()]});
        let refusal = post(&api, &key, KEYS, &document);
        assert_eq!((refusal.status, code(&refusal).as_str()), (403, "insufficient_scope"));
        let detail = body(&refusal)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(lacked.as_str()), "{detail}");
        let other = api.env.key("acme", Environment::Test, &[lacked], None);
        let refusal = rotate(&api, &key, &id_of(&api, &other));
        assert_eq!((refusal.status, code(&refusal).as_str()), (403, "insufficient_scope"));
        assert_eq!(whoami(&api, &other), 200);
    }
    assert_eq!(api.env.texts("SELECT id FROM api_keys WHERE created_by IS NOT NULL"), [""; 0]);
}

#[test]
fn an_unknown_scope_lists_all_scopes_and_a_suggestion() {
    let (api, key) = api_with_expiring_key();
    let refusal = post(&api, &key, KEYS, &json!({"scopes": ["connection:read", "catalog:read"]}));
    let fault = body(&refusal)["errors"][0].clone();
    assert_eq!((refusal.status, fault["pointer"].as_str()), (400, Some("/scopes/0")));
    assert_eq!(fault["suggestion"], "connections:read");
    let detail = fault["detail"].as_str().unwrap();
    assert!(Scope::NAMES.iter().all(|name| detail.contains(name)), "{detail}");
}

#[test]
fn a_new_key_expires_no_later_than_its_creator() {
    let (api, key) = api_with_expiring_key();
    let end = timestamp_after(&api, 10 * DAY_MS);
    let with_expiry =
        |expires_at: Value| json!({"scopes": ["connections:read"], "expiresAt": expires_at});
    for (requested, expected) in [
        (json!(timestamp_after(&api, DAY_MS)), timestamp_after(&api, DAY_MS)),
        (json!(end), end.clone()),
        (Value::Null, end.clone()),
    ] {
        assert_eq!(create(&api, &key, &with_expiry(requested)).0["expiresAt"], json!(expected));
    }
    for wrong in
        [timestamp_after(&api, 10 * DAY_MS + 1000), timestamp_after(&api, 0), "2030-01-31".into()]
    {
        let refusal = post(&api, &key, KEYS, &with_expiry(json!(wrong)));
        assert_eq!((refusal.status, code(&refusal).as_str()), (400, "invalid_body"), "{wrong}");
        assert_eq!(body(&refusal)["errors"][0]["pointer"], "/expiresAt");
    }
}

#[test]
fn rotation_never_extends_a_key() {
    let (api, key) = api_with_expiring_key();
    let (api_end, end) = (timestamp_after(&api, 10 * DAY_MS), timestamp_after(&api, DAY_MS));
    // A key can replace itself; its successor expires when the key would have.
    let (itself, successor) = created_key(&rotate(&api, &key, &id_of(&api, &key)));
    assert_eq!(itself["expiresAt"], json!(api_end));
    // A replacement expires with the replaced key, or with the caller's key if that is earlier.
    let (early, _) =
        create(&api, &successor, &json!({"scopes": ["connections:read"], "expiresAt": end}));
    let (shown, _) = created_key(&rotate(&api, &successor, &early["id"]));
    assert_eq!(shown["expiresAt"], json!(end));
    let endless = api.env.key("acme", Environment::Test, &[Scope::ConnectionsRead], None);
    let (shown, _) = created_key(&rotate(&api, &successor, &id_of(&api, &endless)));
    assert_eq!(shown["expiresAt"], json!(api_end));
    // A replaced key expires after a day at most, and can't be replaced twice.
    let repeated_response = rotate(&api, &successor, &early["id"]);
    assert_eq!(
        (repeated_response.status, code(&repeated_response).as_str()),
        (409, "key_inactive")
    );
    assert_eq!((whoami(&api, &key), whoami(&api, &endless)), (200, 200));
    api.env.wait(DAY_MS);
    assert_eq!((whoami(&api, &key), whoami(&api, &endless)), (401, 401));
    assert_eq!(whoami(&api, &successor), 200);
}

#[test]
fn revoking_a_key_revokes_the_keys_that_it_created() {
    let api = Api::with_catalog();
    let document = json!({"scopes": ["connections:read", "keys:write"]});
    let (first, one) = create(&api, &api.key, &document);
    let (_, two) = create(&api, &one, &document);
    let (_, three) = create(&api, &two, &document);
    let (_, other) = create(&api, &api.key, &document);
    assert_eq!(revoke(&api, &api.key, &first["id"]), 204);
    assert_eq!([&one, &two, &three, &other].map(|key| whoami(&api, key)), [401, 401, 401, 200]);
    // Revoking a key a second time changes nothing.
    assert_eq!(revoke(&api, &api.key, &first["id"]), 204);
    // A key may revoke itself.
    assert_eq!(revoke(&api, &other, &id_of(&api, &other)), 204);
    assert_eq!(whoami(&api, &other), 401);
}

#[test]
fn rotations_leave_at_most_two_hundred_valid_keys() {
    let api = Api::with_catalog();
    let (mut id, mut key) = (id_of(&api, &api.key), api.key.clone());
    let valid = "SELECT id AS row FROM api_keys WHERE account = 'acme' AND environment = 'test'";
    let count = || api.env.texts(valid).len();
    let left = 200 - count();
    for _ in 0..left {
        let (shown, next) = created_key(&rotate(&api, &key, &id));
        (id, key) = (shown["id"].clone(), next);
    }
    let refusal = rotate(&api, &key, &id);
    assert_eq!((refusal.status, code(&refusal).as_str()), (409, "key_limit"));
    assert_eq!((count(), whoami(&api, &key)), (200, 200));
    // The replaced keys expire, so that rotations are possible again.
    api.env.wait(DAY_MS);
    assert_eq!(rotate(&api, &key, &id).status, 200);
}

#[test]
fn keys_of_a_rotated_key_belong_to_its_successor() {
    let api = Api::with_catalog();
    let document = json!({"scopes": ["connections:read", "keys:write"]});
    let (parent, old) = create(&api, &api.key, &document);
    let (_, child) = create(&api, &old, &document);
    let (successor, new) = created_key(&rotate(&api, &api.key, &parent["id"]));
    // A key that the replaced key creates in its last hours expires with it.
    let (late, last) = create(&api, &old, &document);
    assert!(late["expiresAt"].is_string());
    assert_eq!(revoke(&api, &api.key, &parent["id"]), 204);
    let all = [&old, &last, &new, &child];
    assert_eq!(all.map(|key| whoami(&api, key)), [401, 401, 200, 200]);
    assert_eq!(revoke(&api, &api.key, &successor["id"]), 204);
    assert_eq!([&new, &child].map(|key| whoami(&api, key)), [401, 401]);
}

#[test]
fn keys_of_other_accounts_are_not_found() {
    let api = Api::with_catalog();
    let others = [("acme", Environment::Live), ("globex", Environment::Test)];
    for key in others.map(|(account, at)| api.env.key(account, at, &Scope::ALL, None)) {
        let id = id_of(&api, &key);
        let text = String::from_utf8(api.get(KEYS).body).unwrap();
        assert!(!text.contains(id.as_str().unwrap()), "{text}");
        assert_eq!(revoke(&api, &api.key, &id), 404);
        let refusal = rotate(&api, &api.key, &id);
        assert_eq!((refusal.status, code(&refusal).as_str()), (404, "key_not_found"));
        assert_eq!(whoami(&api, &key), 200);
    }
    for id in [UNKNOWN_ID, "none", "%00"] {
        assert_eq!(revoke(&api, &api.key, &json!(id)), 404, "{id}");
    }
}

#[test]
fn pages_contain_each_key_once() {
    let api = Api::with_catalog();
    // Several keys are created in the same millisecond.
    for index in 0..7 {
        create(&api, &api.key, &json!({"scopes": ["connections:read"]}));
        api.env.wait(index % 2);
    }
    let all_rows = body(&api.get(KEYS))["rows"].as_array().unwrap().clone();
    assert_eq!(all_rows.len(), 8);
    let (mut rows, mut before) = (Vec::new(), String::new());
    loop {
        let page = body(&api.get(&format!("{KEYS}?limit=3{before}")));
        rows.extend(page["rows"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else { break };
        before = format!("&before={next}");
    }
    assert_eq!(rows, all_rows);
}

/// Revokes a key like the operator's command, which needs no API key.
fn revoke_as_operator(api: &Api, id: &Value) {
    let now = api.env.now.get();
    let id = id.as_str().unwrap();
    let sql =
        format!("UPDATE api_keys SET revoked_at = {now} WHERE id = '{id}' AND revoked_at IS NULL");
    api.env.database.execute(&sql, []).unwrap();
}

#[test]
fn rotating_a_parent_key_keeps_the_revocation_chain() {
    let api = Api::with_catalog();
    let leaked = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let id = id_of(&api, &leaked);
    let all = json!({"scopes": ["connections:read", "keys:read", "keys:write"]});
    let (child, key) = create(&api, &leaked, &all);
    let (grandchild, grandchild_key) = create(&api, &key, &all);
    let (replaced, successor) = created_key(&rotate(&api, &grandchild_key, &child["id"]));
    assert_eq!(replaced["createdBy"], id);
    let (_, last) = created_key(&rotate(&api, &successor, &grandchild["id"]));
    revoke_as_operator(&api, &id);
    for key in [&leaked, &key, &grandchild_key, &successor, &last] {
        assert_eq!(whoami(&api, key), 401);
    }
}

#[test]
fn revoking_a_leaked_key_and_its_successor_removes_all_access() {
    let (api, leaked) = api_with_expiring_key();
    let id = id_of(&api, &leaked);
    let (_, child) = create(&api, &leaked, &json!({"scopes": ["connections:read", "keys:write"]}));
    let (other_shown, other) =
        create(&api, &leaked, &json!({"scopes": ["keys:read", "keys:write"]}));
    // The thief replaces the stolen key with itself and then the replacement, creates more keys, and locks the owner
    // out.
    let (first_shown, first) = created_key(&rotate(&api, &leaked, &id));
    let (second_shown, second) = created_key(&rotate(&api, &first, &first_shown["id"]));
    let (_, second_child) = create(&api, &second, &json!({"scopes": ["keys:write"]}));
    let (_, grandchild) = create(&api, &second_child, &json!({"scopes": ["keys:write"]}));
    let (_, taken_over) = created_key(&rotate(&api, &second, &other_shown["id"]));
    assert_eq!(revoke(&api, &second, &id), 204);
    assert_eq!(whoami(&api, &leaked), 401);
    for key in [&child, &other, &first, &second, &second_child, &grandchild, &taken_over] {
        assert_eq!(whoami(&api, key), 200);
    }
    // The key itself is already revoked, and names its replacement.
    let replacement_of = |id: &Value| {
        let page = body(&api.send(&as_key(&second, "GET", KEYS)));
        let row = page["rows"].as_array().unwrap().iter().find(|row| row["id"] == *id).cloned();
        row.unwrap()["replacedBy"].clone()
    };
    assert_eq!(
        (replacement_of(&id), replacement_of(&first_shown["id"])),
        (first_shown["id"].clone(), second_shown["id"].clone())
    );
    for id in [&id, &first_shown["id"], &second_shown["id"]] {
        revoke_as_operator(&api, id);
    }
    for key in [&leaked, &first, &second, &second_child, &grandchild, &taken_over, &child, &other] {
        assert_eq!(whoami(&api, key), 401);
    }
}

#[test]
fn a_replaced_key_can_neither_be_replaced_again_nor_last_longer() {
    let (api, leaked) = api_with_expiring_key();
    let id = id_of(&api, &leaked);
    let (shown, _) = created_key(&rotate(&api, &leaked, &id));
    let repeated_response = rotate(&api, &leaked, &id);
    assert_eq!((repeated_response.status, code(&repeated_response)), (409, "key_inactive".into()));
    // While both work, the holder of the old key can still revoke the new one.
    assert_eq!(revoke(&api, &leaked, &shown["id"]), 204);
    api.env.now.set(api.env.now.get() + DAY_MS);
    assert_eq!(whoami(&api, &leaked), 401);
}
