//! Accounts in several databases: a request reaches the database that its key, token, link or `state` names.

use connector_vault::auth::Shard;
use connector_vault::auth::caller::shard_of;
use connector_vault::auth::key::ApiKey;
use connector_vault::http::{Request, Response};
use connector_vault::terms::{Environment, Scope};
use serde_json::json;

use crate::connect::{self, KEYS, start_attempt};
use crate::sessions::{SECRET, token_request};
use crate::support::{Api, HOME, anonymous, as_key, as_secret, body, config, with_header};
use crate::vault::{CONNECTIONS, comparable, post_as};

const WHOAMI: &str = "/v1/whoami";

/// Shards other than [`HOME`], in which other accounts can be.
fn shards() -> [Shard; 3] {
    [1, 62, 3843].map(|number| Shard::new(number).unwrap())
}

/// Returns a service with account `acme` in the first of these shards and `zoo` in the second, and
/// their keys.
fn api() -> (Api, [ApiKey; 2]) {
    let mut api = connect::api_with(&[("VAULT_KEYS", KEYS), ("SESSION_SECRET", SECRET)]);
    let [first, second, _] = shards();
    api.env.add(first);
    api.env.add(second);
    let key = |shard, account| api.env.key_in(shard, account, Environment::Test, &Scope::ALL, None);
    let keys = [key(first, "acme"), key(second, "zoo")];
    api.key = keys[0].clone();
    (api, keys)
}

fn whoami(api: &Api, secret: &str) -> Response {
    api.send(&as_secret(secret, "GET", WHOAMI))
}

/// Replaces the shard digits of a key.
fn key_in_shard(key: &ApiKey, shard: Shard) -> String {
    let random = key.reveal().bytes().rev().skip(6).take(32);
    let value = |byte: u8| match byte {
        b'0'..=b'9' => byte - b'0',
        b'A'..=b'Z' => byte - b'A' + 10,
        _ => byte - b'a' + 36,
    };
    let values: Vec<u8> = random.map(value).rev().collect();
    let key = ApiKey::generate(Environment::Test, shard, |bytes| bytes.copy_from_slice(&values));
    key.reveal().to_owned()
}

/// A request that creates a connection.
fn create_request(key: &ApiKey, identity: &str) -> Request {
    let payload = json!({"platform": "acme", "identity": identity, "identityType": "user"});
    post_as(key, &payload)
}

#[test]
fn a_key_gives_access_only_in_its_own_shard() {
    let (api, [acme, zoo]) = api();
    for (key, account) in [(&acme, "acme"), (&zoo, "zoo")] {
        assert_eq!(body(&whoami(&api, key.reveal()))["account"], json!(account));
        let made = api.send(&create_request(key, "ann"));
        assert_eq!(made.status, 201);
        let list = api.send(&as_key(key, "GET", CONNECTIONS));
        assert_eq!(body(&list)["total"], json!(1));
        let count = || api.env.texts("SELECT account FROM connections");
        assert_eq!(api.env.within(key.shard(), count), [account]);
    }
    assert!(api.env.texts("SELECT account FROM connections").is_empty());
}

#[test]
fn a_key_is_unknown_in_other_databases_and_reveals_no_other_shards() {
    let (api, [acme, _]) = api();
    let unknown = comparable(&whoami(&api, api.env.unknown_key(Environment::Test).reveal()));
    assert_eq!(unknown.0, 401);
    // The first shard, another one, and one that does not exist.
    for shard in [Shard::FIRST, shards()[1], shards()[2]] {
        let moved = key_in_shard(&acme, shard);
        assert_eq!(ApiKey::parse(&moved).unwrap().shard(), shard);
        assert_eq!(comparable(&whoami(&api, &moved)), unknown, "{shard:?}");
    }
    assert_eq!(key_in_shard(&acme, acme.shard()), acme.reveal());
    assert_eq!(whoami(&api, acme.reveal()).status, 200);
}

#[test]
fn a_token_names_and_signs_the_database_of_its_key() {
    let (api, [acme, zoo]) = api();
    let first = api.env.key_in(Shard::FIRST, "one", Environment::Test, &Scope::ALL, None);
    for key in [&first, &acme, &zoo] {
        let made = body(&api.send(&token_request(key, &json!({"identity": "ann"}))));
        let token = made["token"].as_str().unwrap();
        let parts: Vec<&str> = token.split('.').collect();
        assert_eq!(parts.len(), if key.shard() == Shard::FIRST { 2 } else { 3 }, "{token}");
        assert_eq!(shard_of(token), key.shard());
        assert_eq!(whoami(&api, token).status, 200);
        let (claims, signature) = (parts[0], parts[parts.len() - 1]);
        for digits in ["", ".00", ".01", ".02", ".10", ".zz", ".0", ".001", ".é", ".01.01"] {
            let altered = format!("{claims}{digits}.{signature}");
            if altered != token {
                assert_eq!(whoami(&api, &altered).status, 401, "{digits}");
            }
        }
    }
}

#[test]
fn a_cursor_is_valid_only_for_its_key() {
    let (api, keys) = api();
    let mut cursors = Vec::new();
    for key in &keys {
        for name in ["ann", "bob", "eve"] {
            assert_eq!(api.send(&create_request(key, name)).status, 201);
        }
        let page = api.send(&as_key(key, "GET", &format!("{CONNECTIONS}?limit=1")));
        cursors.push(crate::vault::cursor(&page).unwrap());
    }
    for (index, key) in keys.iter().enumerate() {
        for (other, cursor) in cursors.iter().enumerate() {
            let path = format!("{CONNECTIONS}?limit=1&after={cursor}");
            let status = api.send(&as_key(key, "GET", &path)).status;
            assert_eq!(status, if index == other { 200 } else { 400 });
        }
    }
}

#[test]
fn the_link_and_the_state_lead_to_the_attempts_database() {
    let (api, [acme, _]) = api();
    connect::set_client(&api, "acme");
    let (_, link) = start_attempt(&api, &connect::ann_connect_body("acme"));
    let secret = link.rsplit('/').next().unwrap();
    assert_eq!((secret.len(), Shard::from_secret(secret)), (45, acme.shard()));
    let status = |link: &str| {
        let path = link.strip_prefix(crate::support::ORIGIN).unwrap();
        api.send(&anonymous("GET", path)).status
    };
    assert_eq!(status(&link), 200);
    let random = secret.strip_prefix(&acme.shard().digits()).unwrap();
    for altered in
        [random.to_owned(), format!("00{random}"), format!("02{random}"), format!("zz{random}")]
    {
        assert_eq!(status(&link.replace(secret, &altered)), 410, "{altered}");
    }
    // Complete the connect flow.
    let tokens = json!({"access_token": "at", "refresh_token": "rt", "expires_in": 3600});
    connect::consent_at_platform(&api, &link, &tokens);
    let rows = || api.env.texts("SELECT account || ' ' || state FROM connections");
    assert_eq!(api.env.within(acme.shard(), rows), ["acme operational"]);
    assert!(api.env.texts("SELECT id FROM connections").is_empty());
}

#[test]
fn secrets_of_the_first_shard_have_no_shard_digits() {
    let api = Api::new(config(&[("SESSION_SECRET", SECRET)]));
    let key = ApiKey::generate(Environment::Live, Shard::FIRST, |bytes| bytes.fill(1));
    assert_eq!(key.reveal(), "sk_live_111111111111111111111111111111114S1h97");
    let shard = |path: &str| api.service.shard(&anonymous("GET", path)).number();
    let random = "x".repeat(43);
    assert_eq!(shard(&format!("/connect/go/{random}")), 0);
    assert_eq!(shard(&format!("/connect/go/0A{random}")), 10);
    assert_eq!(shard(&format!("/connect/callback?code=c&state={random}")), 0);
    assert_eq!(shard(&format!("/connect/callback?code=c&state=0A{random}")), 10);
    assert_eq!(shard("/connect/callback?state=0A"), 0);
    for (code, number) in [("cc_test_e30.0A.x", 10), ("cc_test_e30.x", 0)] {
        let request = with_header(anonymous("POST", "/connect/token"), "x-connect-code", code);
        assert_eq!(api.service.shard(&request).number(), number, "{code}");
    }
    // A link is looked up in the shard that the link itself names, regardless of other secrets in
    // the request.
    let path = format!("/connect/go/0A{random}");
    assert_eq!(api.service.shard(&as_secret(key.reveal(), "GET", &path)).number(), 10);
    assert_eq!(api.service.shard(&api.request("GET", WHOAMI)), *HOME);
}
