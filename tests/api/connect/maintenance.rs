//! Background maintenance: re-encryption, and retries of revocations.

use std::rc::Rc;

use connector_vault::catalog::cache::CatalogCache;
use connector_vault::connect::endpoints::revoke::revoke_due;
use connector_vault::credentials::VaultKeys;
use connector_vault::credentials::reencrypt::{Progress, reencrypt};
use connector_vault::jobs::maintenance::maintain;
use connector_vault::oauth::revocation::Outcome;
use connector_vault::ports::{Db, Random, ResultSet, Statement, StorageError};
use connector_vault::storage::metering::Metered;

use super::*;
use crate::support::TestEnv;

/// Vault keys during a rotation: the new key, then the old one.
const ROTATED_KEYS: &str = "two:QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=,one:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

fn keys(text: &str) -> VaultKeys {
    VaultKeys::parse(text).unwrap()
}

/// Serves the same storage with other vault keys.
fn with_keys(api: Api, keys: &str) -> Api {
    let mut settings = SETTINGS;
    settings[0].1 = keys;
    let Api { env, key, .. } = api;
    Api { env, key, ..Api::new(config(&settings)) }
}

/// The number of ciphertexts per vault key.
fn sealed_by(api: &Api) -> Vec<String> {
    api.env.texts(
        "SELECT sealed_key || ' ' || count(*) FROM (SELECT sealed_key FROM credentials UNION ALL SELECT sealed_key FROM oauth_clients UNION ALL SELECT sealed_key FROM revocations) WHERE sealed_key IS NOT NULL GROUP BY sealed_key ORDER BY 1",
    )
}

/// Returns a service whose clock equals that of the database, which records the time of a deletion
/// with its own clock.
pub fn api_at_current_time() -> Api {
    let api = api();
    let sql = "SELECT unixepoch() * 1000";
    let now: i64 = api.env.database.query_row(sql, [], |row| row.get(0)).unwrap();
    api.env.now.set(now.try_into().unwrap());
    api
}

/// Returns a service with an API key for each of these identities, and an OAuth client.
fn api_with_keys(identities: &[&str]) -> (Api, Vec<String>) {
    let api = api_at_current_time();
    set_client(&api, "revoked");
    let path = |identity: &&str| {
        script(&api, &[(200, json!({})), (200, json!({"id": 1}))]);
        let payload = json!({
            "platform": "keyed", "identity": identity, "identityType": "user", "fields": {"apiKey": format!("secret of {identity}")},
        });
        let id = body(&connect(&api, &payload))["id"].as_str().unwrap().to_owned();
        format!("/v1/vault/connections/{id}")
    };
    let paths = identities.iter().map(path).collect();
    (api, paths)
}

fn api_key_of(api: &Api, path: &str) -> Value {
    body(&api.get(&format!("{path}/credentials")))["apiKey"].clone()
}

#[test]
fn rotation_reencrypts_rows_in_batches() {
    let (api, paths) = api_with_keys(&["a", "b", "c"]);
    // A deleted connection whose platform could not be reached to revoke its tokens.
    let id = connected(
        &api,
        &ann_connect_body("revoked"),
        &json!({"access_token": "at", "refresh_token": "rt"}),
    );
    script(&api, &[(503, json!({})), (200, json!({}))]);
    api.send(&api.request("DELETE", &format!("/v1/vault/connections/{id}")));
    assert_eq!(sealed_by(&api), ["one 5"]);
    let (old, both) = (keys(KEYS), keys(ROTATED_KEYS));
    let run = |limit| pollster::block_on(reencrypt(&api.env, &both, limit)).unwrap();

    // With a single key, the database is not read.
    let calls = api.env.db_calls.get();
    let nothing = pollster::block_on(reencrypt(&api.env, &old, 9)).unwrap();
    assert_eq!(
        (nothing, api.env.db_calls.get()),
        (Progress { is_done: true, ..Progress::default() }, calls)
    );

    for (limit, reencrypted, is_done, left) in [
        (2, 2, false, vec!["one 3", "two 2"]),
        (2, 2, false, vec!["one 1", "two 4"]),
        (2, 1, true, vec!["two 5"]),
        (2, 0, true, vec!["two 5"]),
    ] {
        assert_eq!(run(limit), Progress { reencrypted, damaged: 0, is_done });
        assert_eq!(sealed_by(&api), left);
    }
    // No ciphertext uses the old key any longer.
    let api = with_keys(api, ROTATED_KEYS.split(',').next().unwrap());
    for (path, identity) in paths.iter().zip(["a", "b", "c"]) {
        assert_eq!(api_key_of(&api, path), format!("secret of {identity}"));
    }
    let done = pollster::block_on(maintain(&api.service, &api.env, true, 20)).unwrap();
    assert_eq!((done.sealed.reencrypted, done.revoked, done.waiting), (0, 1, 0));
    let link = start_attempt(&api, &ann_connect_body("revoked")).1;
    consent_at_platform(&api, &link, &json!({"access_token": "at"}));
}

#[test]
fn a_removed_key_is_reported_and_its_rows_are_kept() {
    let (api, paths) = api_with_keys(&["a"]);
    let new = "two:QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=";
    let api = with_keys(api, new);
    let refusal = api.get(&format!("{}/credentials", paths[0]));
    assert_eq!((refusal.status, &body(&refusal)["code"]), (503, &json!("unavailable")));
    assert!(refusal.log.unwrap().contains("the key `one` is needed, but is not in VAULT_KEYS"));
    let done = pollster::block_on(reencrypt(&api.env, &keys(new), 9)).unwrap();
    assert_eq!((done.reencrypted, sealed_by(&api)), (0, vec!["one 2".to_owned()]));
    let api = with_keys(api, ROTATED_KEYS);
    assert_eq!(api_key_of(&api, &paths[0]), "secret of a");
}

#[test]
fn damaged_rows_are_skipped() {
    let (api, paths) = api_with_keys(&["a", "b", "c", "d", "e"]);
    // Damages rows with the ciphertext of another row. The valid rows after them in the index are still found.
    let sql = "UPDATE credentials SET sealed = (SELECT sealed FROM credentials ORDER BY connection_id LIMIT 1) WHERE connection_id IN (SELECT connection_id FROM credentials ORDER BY connection_id LIMIT 3 OFFSET 1)";
    api.env.database.execute(sql, []).unwrap();
    let both = keys(ROTATED_KEYS);
    let mut reencrypted = 0;
    for _ in 0..4 {
        let run = pollster::block_on(reencrypt(&api.env, &both, 1)).unwrap();
        reencrypted += run.reencrypted;
    }
    let last = pollster::block_on(reencrypt(&api.env, &both, 1)).unwrap();
    assert_eq!((reencrypted, last), (3, Progress { reencrypted: 0, damaged: 3, is_done: true }));
    assert_eq!(sealed_by(&api), ["one 3", "two 3"]);
    let api = with_keys(api, ROTATED_KEYS);
    let readable_count = paths.iter().filter(|path| api_key_of(&api, path).is_string()).count();
    assert_eq!(readable_count, 2);
}

/// Storage in which another request writes between the job's read and write.
struct RacedStorage<'a> {
    env: &'a TestEnv,
    other_writer: RefCell<Option<Box<dyn FnOnce() + 'a>>>,
}

impl Db for RacedStorage<'_> {
    fn number(&self) -> u16 {
        self.env.number()
    }

    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        if statements.iter().any(|statement| statement.sql.starts_with("UPDATE"))
            && let Some(other_writer) = self.other_writer.take()
        {
            other_writer();
        }
        self.env.batch(statements).await
    }
}

impl Random for RacedStorage<'_> {
    fn fill(&self, bytes: &mut [u8]) {
        self.env.fill(bytes);
    }
}

fn tokens(index: u8) -> Value {
    json!({"access_token": format!("at-{index}"), "refresh_token": format!("rt-{index}"), "expires_in": 3600})
}

/// Returns a service with the old and the new key, and the path of a connection that the old key
/// encrypted.
fn api_with_tokens() -> (Api, String) {
    let api = api();
    set_client(&api, "acme");
    let id = connected(&api, &ann_connect_body("acme"), &tokens(1));
    (with_keys(api, ROTATED_KEYS), format!("/v1/vault/connections/{id}/credentials"))
}

#[test]
fn reencryption_never_overwrites_a_refresh() {
    let (api, path) = api_with_tokens();
    script(&api, &[(200, tokens(2))]);
    let refresh =
        || assert_eq!(body(&api.get(&format!("{path}?refresh=true")))["accessToken"], "at-2");
    let raced = RacedStorage { env: &api.env, other_writer: RefCell::new(Some(Box::new(refresh))) };
    pollster::block_on(reencrypt(&raced, &keys(ROTATED_KEYS), 9)).unwrap();
    assert_eq!(body(&api.get(&path))["accessToken"], "at-2");
    assert_eq!(sealed_by(&api), ["two 2"]);
}

#[test]
fn a_refresh_in_progress_still_writes_its_tokens() {
    let (api, path) = api_with_tokens();
    let api = Rc::new(api);
    let weak = Rc::downgrade(&api);
    *api.env.platform.borrow_mut() = Box::new(move |_| {
        let api = weak.upgrade().unwrap();
        let run = pollster::block_on(reencrypt(&api.env, &keys(ROTATED_KEYS), 9)).unwrap();
        assert_eq!(run.reencrypted, 2);
        response(200, &tokens(2))
    });
    assert_eq!(body(&api.get(&format!("{path}?refresh=true")))["accessToken"], "at-2");
    assert_eq!(body(&api.get(&path))["accessToken"], "at-2");
}

#[test]
fn revocations_are_retried_for_a_week() {
    for (ends_after, expected) in [(2, vec![0, 5, 15]), (99, vec![0, 5, 15, 60, 360, 360])] {
        let api = api_at_current_time();
        set_client(&api, "revoked");
        let tokens = json!({"access_token": "at", "refresh_token": "rt"});
        let id = connected(&api, &ann_connect_body("revoked"), &tokens);
        script(&api, &[(503, json!({}))]);
        api.send(&api.request("DELETE", &format!("/v1/vault/connections/{id}")));
        let settings = config(&SETTINGS);
        let cache = CatalogCache::new(1 << 20);
        let mut responses = vec![(0, json!({})); ends_after];
        responses.push((200, json!({})));
        script(&api, &responses);
        let (mut waits, mut minutes) = (Vec::new(), 0);
        // Runs each minute for a week and one minute.
        for _ in 0..=7 * 24 * 60 + 1 {
            let metered = Metered::new(&api.env);
            let done = pollster::block_on(revoke_due(&settings, &cache, &metered, 9)).unwrap();
            if let [(row, outcome)] = done.as_slice() {
                assert_eq!(row.connection_id, id);
                waits.push(minutes);
                minutes = 0;
                if *outcome == Outcome::Revoked {
                    assert_eq!(rows(&api, "revocations"), 0);
                }
            }
            minutes += 1;
            api.env.wait(60_000);
        }
        assert_eq!(waits.get(..expected.len()), Some(expected.as_slice()));
        assert_eq!(rows(&api, "revocations"), 0);
        let events = body(&api.get("/v1/events?types=grant.revoked,grant.revocation_failed"));
        let [event] = events["rows"].as_array().unwrap().as_slice() else { panic!("{events}") };
        let mut data = json!({"grant": {"id": id, "platform": "revoked"}});
        let kind = if ends_after == 2 {
            "grant.revoked"
        } else {
            data["reason"] = json!({"code": "expired", "detail": null, "httpStatus": null});
            "grant.revocation_failed"
        };
        assert_eq!((&event["type"], &event["data"]), (&json!(kind), &data));
    }
}
