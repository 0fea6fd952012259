//! Accounts that move from one database to another while they are used.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use anyhow::{Result, bail};
use connector_vault::auth::Shard;
use connector_vault::auth::caller::shard_of;
use connector_vault::jobs;
use connector_vault::operator::shards::moving::{
    Move, MoveDatabase, MoveResult, Phase, clean, move_state,
};
use connector_vault::operator::shards::tables::tables;
use connector_vault::ports::{Db as _, Statement};
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::connect::{
    self, Browser, ann_connect_body, connected, send, set_client, start_attempt, token,
};
use crate::rng::repetitions;
use crate::support::{Api, HOME, TestEnv, anonymous, as_key, as_secret, body, with_body};
use crate::vault::CONNECTIONS;

const TOKENS: &str = "{\"access_token\": \"at\", \"refresh_token\": \"rt\", \"expires_in\": 3600}";
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The body of a request that creates a connection. The platform is in this test's catalog.
pub fn minimal(identity: &str) -> Value {
    json!({"platform": "acme", "identity": identity, "identityType": "user"})
}

/// The database that accounts move to.
pub fn other_shard() -> Shard {
    Shard::new(HOME.number() + 1).unwrap()
}

/// A database that the operator's command reads and writes. Its calls can be interrupted.
struct CommandDatabase<'a> {
    api: &'a Api,
    shard: Shard,
    calls: &'a CommandCalls<'a>,
}

/// The database calls of the command, any of which can be interrupted.
struct CommandCalls<'a> {
    made: Cell<usize>,
    /// The number of the call during which the command is killed, and whether it is killed before
    /// the call takes effect.
    killed_at: Option<(usize, bool)>,
    /// Runs before each call, to simulate other callers.
    before_each_call: Box<dyn Fn() + 'a>,
}

impl CommandCalls<'_> {
    fn uninterrupted() -> Self {
        Self { made: Cell::new(0), killed_at: None, before_each_call: Box::new(|| ()) }
    }
}

impl MoveDatabase for CommandDatabase<'_> {
    fn run(&self, sql: &[String]) -> Result<Vec<Value>> {
        (self.calls.before_each_call)();
        let call = self.calls.made.replace(self.calls.made.get() + 1);
        if self.calls.killed_at.is_some_and(|(at, before)| call > at || call == at && before) {
            bail!("killed");
        }
        let statement = |sql: &String| Statement { sql: sql.clone().into(), params: Vec::new() };
        self.api.env.within(self.shard, || {
            for sql in sql {
                assert_uses_index(&self.api.env, sql);
            }
        });
        let all = sql.iter().map(statement).collect();
        let sets = self.api.env.within(self.shard, || pollster::block_on(self.api.env.batch(all)));
        let sets = sets?;
        if self.calls.killed_at == Some((call, false)) {
            bail!("killed");
        }
        Ok(sets.iter().map(|set| serde_json::from_str(&set.json).unwrap()).collect())
    }

    fn number(&self) -> u16 {
        self.shard.number()
    }
}

/// Asserts that lookups by key, and pages after the first, use the key's columns of an index.
/// Otherwise an account with N pages would be read N times.
fn assert_uses_index(env: &TestEnv, sql: &str) {
    let looks_up = sql.starts_with("DELETE FROM") || sql.contains("json_each('");
    let is_next = sql.contains("UNION ALL SELECT * FROM");
    if !(looks_up || is_next) || sql.contains("_moves)") || sql.starts_with("DELETE FROM forwards")
    {
        return;
    }
    let explained = format!("EXPLAIN QUERY PLAN {sql}");
    let mut prepared = env.current_database().prepare(&explained).unwrap();
    let step = |row: &rusqlite::Row<'_>| Ok((row.get("parent")?, row.get("detail")?));
    let steps = prepared.query_map([], step).unwrap();
    for step in steps {
        let (parent, detail): (i64, String) = step.unwrap();
        let is_large = ["connections", "events", "deliveries", "credentials", "revocations"]
            .iter()
            .any(|table| detail.starts_with(&format!("SEARCH {table} ")));
        // The second part of a later page starts at the next webhook, and may read all rows of a
        // webhook.
        let is_whole =
            detail.ends_with("(account=?)") || detail.ends_with("(webhook_id=?)") && !is_next;
        assert!(!(is_large && is_whole && (parent == 0 || is_next)), "{detail}: {sql}");
    }
}

fn run_in_move<T>(
    api: &Api,
    (from, to): (Shard, Shard),
    calls: &CommandCalls<'_>,
    work: impl FnOnce(Move<'_, CommandDatabase<'_>, CommandDatabase<'_>>) -> T,
) -> T {
    let (source, target) =
        (CommandDatabase { api, shard: from, calls }, CommandDatabase { api, shard: to, calls });
    work(Move { account: "acme", source: &source, target: &target })
}

pub fn move_account(api: &Api) -> MoveResult {
    run_in_move(api, (*HOME, other_shard()), &CommandCalls::uninterrupted(), |step| {
        let mut reports = Vec::new();
        let moved = step.run(|phase, done, all| reports.push((phase, done, all))).unwrap();
        // Keys are copied last, while the account is fenced.
        assert!(
            reports.is_sorted() && reports.iter().all(|(_, done, all)| done < all),
            "{reports:?}"
        );
        let (copied, compared) = reports
            .split_at(reports.iter().take_while(|(phase, ..)| *phase == Phase::Copy).count());
        assert_eq!(copied.last().map(|last| last.1), compared.last().map(|last| last.1));
        moved
    })
}

pub fn clean_up(api: &Api, shard: Shard) -> bool {
    let calls = CommandCalls::uninterrupted();
    clean(&CommandDatabase { api, shard, calls: &calls }, "acme", false).unwrap()
}

/// Changes the account's copy in the target database without triggers, as a fault of the disk or
/// the command would. Returns the number of changed rows.
fn damage_copy(api: &Api, sql: &str) -> usize {
    let writing = |what: &str| {
        let sql = format!("UPDATE account_moves SET writing = {what} WHERE account = 'acme'");
        api.env.current_database().execute(&sql, []).unwrap()
    };
    api.env.within(other_shard(), || {
        let is_moving = writing("''") == 1;
        let changed =
            if is_moving { api.env.current_database().execute(sql, []).unwrap() } else { 0 };
        writing("NULL");
        changed
    })
}

/// Returns a service with an account that has rows in every table, and other accounts in both
/// databases.
pub fn api() -> Api {
    let mut api = connect::api();
    api.env.add(other_shard());
    for shard in [*HOME, other_shard()] {
        let key = api.env.key_in(shard, "zoo", Environment::Test, &Scope::ALL, None);
        for name in ["a", "b", "c"] {
            // Uses another platform, because `acme` is the name of the account that moves.
            let sent = json!({"platform": "revoked", "identity": name, "identityType": "user"});
            api.create_as(&key, &sent);
        }
    }
    set_client(&api, "acme");
    set_client(&api, "revoked");
    let hook = json!({"url": "https://hooks.example/in"});
    let hook = send(&api, "POST", "/v1/webhooks", &hook);
    assert_eq!(hook.status, 201, "{}", body(&hook));
    assert_eq!(send(&api, "PUT", "/v1/branding", &json!({"name": "Zebra"})).status, 200);
    connected(&api, &ann_connect_body("acme"), &serde_json::from_str(TOKENS).unwrap());
    for name in ["bob", "eve", "o'hara ü"] {
        let mut sent = minimal(name);
        sent["tags"] = json!(["x", "y"]);
        api.create(&sent);
    }
    start_attempt(&api, &json!({"platform": "acme", "identity": "mia", "identityType": "user"}));
    api
}

/// All rows of the account, without the numbers that each database assigns.
fn rows_of(api: &Api, shard: Shard) -> Vec<String> {
    let read = |sql: &str| api.env.texts(sql);
    api.env.within(shard, || {
        let mut all = Vec::new();
        for table in [
            "api_keys", "connections", "connection_tags", "connection_counts", "oauth_clients", "credentials",
            "revocations", "connect_attempts", "events", "webhooks", "deliveries", "branding",
        ] {
            let columns = read(&format!(
                "SELECT 'quote(' || name || ')' FROM pragma_table_info('{table}') WHERE name NOT IN ('seq', 'event_id') AND NOT ('{table}' = 'events' AND name = 'id') AND name NOT IN ('last_used_day')"
            ));
            let condition = if table == "deliveries" {
                "webhook_id IN (SELECT id FROM webhooks WHERE account = 'acme')"
            } else {
                "account = 'acme'"
            };
            let row = columns.join(" || ', ' || ");
            let mut rows = read(&format!("SELECT '{table}: ' || {row} AS row FROM {table} WHERE {condition} ORDER BY row"));
            assert!(!rows.is_empty() || table == "revocations", "{table}");
            all.append(&mut rows);
        }
        all
    })
}

fn total(api: &Api) -> Value {
    let list = api.get(CONNECTIONS);
    assert_eq!(list.status, 200, "{}", body(&list));
    body(&list)["total"].clone()
}

/// All events after an id, or from the oldest if it is empty. Returns their ids and types, and the
/// id to continue from.
pub fn events(api: &Api, after: &str) -> (Vec<(String, String)>, String) {
    let after = if after.is_empty() { String::new() } else { format!("&after={after}") };
    let page = api.get(&format!("/v1/events?limit=100{after}"));
    assert_eq!(page.status, 200, "{}", body(&page));
    let page = body(&page);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let rows = page["rows"].as_array().unwrap().iter();
    (rows.map(|row| (text(&row["id"]), text(&row["type"]))).collect(), text(&page["next"]))
}

#[test]
fn moves_all_rows_and_forwards_secrets() {
    let api = api();
    let before = rows_of(&api, *HOME);
    let session = token(&api, &json!({"identity": "ann"}));
    let (_, link) = start_attempt(
        &api,
        &json!({"platform": "acme", "identity": "kim", "identityType": "user"}),
    );
    let browser = Browser::default();
    let (_, query) = browser.follow(&api, &link);
    let (seen, next) = events(&api, "");
    assert!(!seen.is_empty());
    let with_kim = rows_of(&api, *HOME);
    assert!(with_kim.len() > before.len());
    let done = move_account(&api);
    assert!(done.rows > 0 && done.total > 0);
    assert_eq!(rows_of(&api, other_shard()), with_kim);

    // The key, the token, the link and the state that were issued before the move still work.
    assert_eq!(total(&api), json!(4));
    assert_eq!(api.send(&as_secret(&session, "GET", "/v1/whoami")).status, 200);
    assert_eq!(api.send(&browser.request("GET", &link)).status, 303);
    let state = connect::value_of(&query, "state").unwrap();
    connect::script(&api, &[(200, serde_json::from_str(TOKENS).unwrap()), (404, json!({}))]);
    let back =
        api.send(&browser.request("GET", &format!("/connect/callback?code=c&state={state}")));
    assert_eq!(back.status, 200, "{}", connect::text(&back));
    assert_eq!(total(&api), json!(5));
    // The account's credentials can be decrypted in the target database.
    let ann = body(&api.get(&format!("{CONNECTIONS}?identity=ann")))["rows"][0]["id"].clone();
    let credentials = api.get(&format!("{CONNECTIONS}/{}/credentials", ann.as_str().unwrap()));
    assert_eq!(credentials.status, 200, "{}", body(&credentials));
    // A reader of the feed gets the later events, each once.
    let (after, _) = events(&api, &next);
    let kinds: Vec<&str> = after.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(kinds, ["connection.created", "connection.connected"]);
    // New secrets name the target database, and requests with them go there directly.
    assert_eq!(shard_of(&token(&api, &json!({"identity": "ann"}))), other_shard());
    // Nothing was written to the copy in the source database.
    let old = "SELECT id FROM connections WHERE account = 'acme'";
    assert_eq!(api.env.within(*HOME, || api.env.texts(old)).len(), 4);
}

#[test]
fn large_accounts_move_page_by_page() {
    let api = api();
    // Each connection writes an event. Each event writes a delivery if the webhook has the same
    // environment.
    let size = repetitions(1600, 4300);
    let sql = "
        INSERT INTO connections (id, account, environment, active, platform, platform_version, label, identity, identity_folded, identity_type, description, state, tags, version, created_at, written_by)
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < CAST(?1 AS INTEGER))
        SELECT printf('%08x-0000-4000-8000-%012x', i * 2654435761 % 4294967296, i), 'acme', iif(i % 3, 'test', 'live'), 1, 'alpha', 'v1', 'default',
          'user-' || i, 'user-' || i, 'user', 'What it does.', 'operational', '[\"x\"]', 1, 1700000000000 + i / 7, 'seed'
        FROM n";
    assert_eq!(api.env.database.execute(sql, [size.to_string()]).unwrap(), size);
    let count =
        |table: &str| api.env.texts(&format!("SELECT '' || count(*) FROM {table}"))[0].clone();
    assert!(["connections", "events", "deliveries"].iter().all(|table| count(table).len() == 4));
    let before = rows_of(&api, *HOME);
    // This row is in the middle of a page.
    let damaged = "UPDATE connections SET name = 'x', name_folded = 'x' WHERE account = 'acme' AND id LIKE '80%' AND identity = (SELECT max(identity) FROM connections WHERE account = 'acme' AND id LIKE '80%')";
    let error = format!("{:#}", move_damaged(&api, damaged).unwrap_err());
    assert!(error.starts_with("the row [\"") && error.contains(",\"80"), "{error}");
    run_in_move(&api, (*HOME, other_shard()), &CommandCalls::uninterrupted(), |step| step.undo())
        .unwrap();
    move_account(&api);
    assert_eq!(rows_of(&api, other_shard()), before);
    api.env.wait(DAY_MS + 1);
    assert!(clean_up(&api, *HOME));
    let dump = api.env.within(*HOME, || api.env.dump());
    assert!(dump.iter().all(|row| !row.contains("'acme'") || row.starts_with("forwards: ")));
}

/// Moves the account while one row of the copy is damaged, right after it was copied.
fn move_damaged(api: &Api, sql: &str) -> Result<MoveResult> {
    let is_done = Cell::new(false);
    let before_each_call = || is_done.set(is_done.get() || damage_copy(api, sql) > 0);
    let calls = CommandCalls {
        made: Cell::new(0),
        killed_at: None,
        before_each_call: Box::new(before_each_call),
    };
    let moved = run_in_move(api, (*HOME, other_shard()), &calls, |step| step.run(|_, _, _| {}));
    drop(calls);
    assert!(is_done.get(), "{sql}");
    moved
}

#[test]
fn reports_damaged_row_and_does_not_switch() {
    let api = api();
    let hook = api.env.texts("SELECT id FROM webhooks WHERE account = 'acme'").concat();
    let event = api.env.texts("SELECT '' || min(id) FROM events WHERE account = 'acme'").concat();
    let bob = api.env.texts("SELECT id FROM connections WHERE identity = 'bob'").concat();
    let ann = api.env.texts("SELECT id FROM connections WHERE identity = 'ann'").concat();
    let eve = api.env.texts("SELECT id FROM connections WHERE identity = 'eve'").concat();
    let attempt = api.env.texts("SELECT max(id) FROM connect_attempts").concat();
    let of_bob = json!(["test", bob]).to_string();
    let shifted =
        format!("id = {event} + (SELECT event_shift FROM account_moves WHERE account = 'acme')");
    for (sql, table, key) in [
        // A row of the copy differs.
        (format!("UPDATE connections SET description = 'Another.' WHERE id = '{bob}'"), "connections", of_bob.clone()),
        ("UPDATE webhooks SET url = 'https://evil.example/in' WHERE account = 'acme'".into(), "webhooks", json!(["test", hook]).to_string()),
        ("UPDATE oauth_clients SET client_id = 'x' WHERE account = 'acme' AND platform = 'revoked'".into(), "oauth_clients", json!(["test", "revoked", "default"]).to_string()),
        ("UPDATE credentials SET sealed = sealed || 'x' WHERE account = 'acme'".into(), "credentials", json!(["test", ann]).to_string()),
        (format!("UPDATE connect_attempts SET identity = 'eve' WHERE id = '{attempt}'"), "connect_attempts", json!([attempt]).to_string()),
        (format!("UPDATE events SET reason = '{{}}' WHERE {shifted}"), "events", format!("[\"test\",{event}]")),
        // A row of the copy is missing.
        (format!("DELETE FROM connections WHERE id = '{bob}'"), "connections", of_bob.clone()),
        (format!("DELETE FROM events WHERE {shifted}"), "events", format!("[\"test\",{event}]")),
        // A row that is derived from another row is missing.
        (format!("DELETE FROM connection_tags WHERE id = '{bob}' AND tag = 'x'"), "connections", of_bob.clone()),
        (format!("UPDATE connection_tags SET seq = seq + 1 WHERE id = '{bob}' AND tag = 'y'"), "connections", of_bob),
        // The copy contains an additional row.
        (format!("INSERT INTO credentials (account, environment, connection_id, auth_method, type, sealed, version, refreshable, revocable, scopes, missing_scopes, written_by) SELECT account, environment, '{bob}', auth_method, type, sealed, version, 0, 0, scopes, missing_scopes, written_by FROM credentials WHERE account = 'acme'"), "credentials", json!(["test", bob]).to_string()),
    ] {
        let error = format!("{:#}", move_damaged(&api, &sql).unwrap_err());
        assert_eq!(error, format!("the row {key} of {table} is not the same in both databases, so nothing was switched: undo the move"), "{sql}");
        // Another attempt fails as well, and the account can still be used in the source database.
        let again = run_in_move(&api, (*HOME, other_shard()), &CommandCalls::uninterrupted(), |step| step.run(|_, _, _| {}));
        assert_eq!(format!("{:#}", again.unwrap_err()), error, "{sql}");
        assert_eq!(total(&api), json!(4));
        let tags = json!({"tags": [format!("t{}", sql.len())]}).to_string();
        let request = api.request("PATCH", &format!("{CONNECTIONS}/{eve}"));
        assert_eq!(api.send(&with_body(request, &tags)).status, 200);
        run_in_move(&api, (*HOME, other_shard()), &CommandCalls::uninterrupted(), |step| step.undo()).unwrap();
    }
    // Counters are recounted instead of copied, but the numbers must match.
    let counter =
        "UPDATE connection_counts SET n = n + 1 WHERE account = 'acme' AND dimension = 'all'";
    let error = format!("{:#}", move_damaged(&api, counter).unwrap_err());
    assert!(error.starts_with("the databases have different numbers of rows: "), "{error}");
    api.env.wait(5_001);
    run_in_move(&api, (*HOME, other_shard()), &CommandCalls::uninterrupted(), |step| step.undo())
        .unwrap();
    // Without a damaged row, the account moves.
    let before = rows_of(&api, *HOME);
    move_account(&api);
    assert_eq!(rows_of(&api, other_shard()), before);
}

#[test]
fn only_the_command_can_change_the_copy() {
    let api = api();
    let refused = Cell::new(0);
    let before_each_call = || {
        api.env.within(other_shard(), || {
            // Damage has no effect after the account has arrived.
            if api.env.texts("SELECT step FROM account_moves WHERE account = 'acme'").is_empty() {
                return;
            }
            for sql in [
                "UPDATE connections SET description = 'Another.' WHERE account = 'acme'",
                "DELETE FROM credentials WHERE account = 'acme'",
                "UPDATE events SET reason = '{}' WHERE account = 'acme'",
            ] {
                match api.env.current_database().execute(sql, []) {
                    Ok(changed) => assert_eq!(changed, 0, "{sql}"),
                    Err(error) => {
                        assert!(error.to_string().contains("being moved"), "{error}");
                        refused.set(refused.get() + 1);
                    }
                }
            }
        });
    };
    let calls = CommandCalls {
        made: Cell::new(0),
        killed_at: None,
        before_each_call: Box::new(before_each_call),
    };
    run_in_move(&api, (*HOME, other_shard()), &calls, |step| step.run(|_, _, _| {}).unwrap());
    drop(calls);
    assert!(refused.get() > 10, "{}", refused.get());
}

#[test]
fn only_one_of_the_two_databases_runs_jobs() {
    let api = api();
    move_account(&api);
    let sent = || api.env.sent.borrow().len();
    connect::script(&api, &[]);
    let (before, old) = (sent(), api.env.dump());
    api.env.wait(2 * 60 * 60 * 1000);
    api.env.within(*HOME, || pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap());
    assert_eq!(sent(), before);
    let rows_of_acme = |rows: Vec<String>| {
        rows.into_iter().filter(|row| row.contains("'acme'")).collect::<Vec<_>>()
    };
    assert_eq!(rows_of_acme(api.env.dump()), rows_of_acme(old));
    // The target database delivers the due events to the webhook.
    *api.env.platform.borrow_mut() = Box::new(|_| connect::response(200, &json!({})));
    let run = || pollster::block_on(jobs::run_minute(&api.service, &api.env));
    api.env.within(other_shard(), run).unwrap();
    assert!(sent() > before);
}

#[test]
fn old_copy_stays_for_a_day_and_forwards_forever() {
    let api = api();
    move_account(&api);
    api.env.wait(DAY_MS - 1);
    assert!(!clean_up(&api, *HOME));
    api.env.wait(2);
    assert!(clean_up(&api, *HOME));
    let dump = api.env.within(*HOME, || api.env.dump());
    let remaining: Vec<&String> = dump.iter().filter(|row| row.contains("'acme'")).collect();
    // Only the hashes and ids of the account's keys remain.
    assert!(
        !remaining.is_empty() && remaining.iter().all(|row| row.starts_with("forwards: ")),
        "{remaining:?}"
    );
    assert_eq!(total(&api), json!(4));
    // The account moves back with a second move.
    let (seen, next) = events(&api, "");
    run_in_move(&api, (other_shard(), *HOME), &CommandCalls::uninterrupted(), |step| {
        step.run(|_, _, _| {}).unwrap()
    });
    assert_eq!(total(&api), json!(4));
    api.create(&minimal("new"));
    assert_eq!(events(&api, &next).0.len(), 1);
    assert_eq!(events(&api, "").0.len(), seen.len() + 1);
}

#[test]
fn killed_move_can_be_resumed_or_undone_at_every_step() {
    let mut last = 0;
    // `npm run proof` tests each step with all four endings; `npm test` uses one ending per step,
    // in rotation.
    let of_each = repetitions(1, 4);
    for (killed_at, resumes) in (0_usize..).flat_map(|at| {
        let ways = [(true, true), (true, false), (false, true), (false, false)].into_iter();
        ways.cycle()
            .skip(at % 4)
            .take(of_each)
            .map(move |(before, resumes)| ((at, before), resumes))
    }) {
        let api = api();
        let expected = rows_of(&api, *HOME);
        let calls = CommandCalls {
            made: Cell::new(0),
            killed_at: Some(killed_at),
            before_each_call: Box::new(|| ()),
        };
        let result =
            run_in_move(&api, (*HOME, other_shard()), &calls, |step| step.run(|_, _, _| {}));
        if result.is_ok() {
            last = killed_at.0;
            break;
        }
        // The account can always be read, and it can be changed as soon as the fence is gone.
        assert_eq!(total(&api), json!(4), "{killed_at:?}");
        api.env.wait(5_001);
        let name = with_body(api.request("POST", CONNECTIONS), &minimal("later").to_string());
        let made = api.send(&name);
        assert_eq!(made.status, 201, "{killed_at:?} {}", body(&made));
        let has_moved_away = || {
            let calls = CommandCalls::uninterrupted();
            let row =
                move_state(&CommandDatabase { api: &api, shard: *HOME, calls: &calls }, "acme")
                    .unwrap();
            row.is_some_and(|row| row.step == "left")
        };
        let uninterrupted = CommandCalls::uninterrupted();
        if resumes {
            run_in_move(&api, (*HOME, other_shard()), &uninterrupted, |step| {
                step.run(|_, _, _| {}).unwrap()
            });
            assert!(has_moved_away(), "{killed_at:?}");
        } else {
            let left = has_moved_away();
            let undone =
                run_in_move(&api, (*HOME, other_shard()), &uninterrupted, |step| step.undo());
            assert_eq!(undone.is_err(), left, "{killed_at:?}");
            if !left {
                let target_rows = api.env.within(other_shard(), || api.env.dump());
                assert!(
                    !target_rows.iter().any(|row| row.contains("'acme'")),
                    "{killed_at:?} {target_rows:?}"
                );
            }
        }
        assert_eq!(total(&api), json!(5), "{killed_at:?}");
        let home = if has_moved_away() { other_shard() } else { *HOME };
        let now = rows_of(&api, home);
        let connections = |rows: &[String]| {
            rows.iter()
                .filter(|row| row.starts_with("connections: "))
                .cloned()
                .collect::<BTreeSet<_>>()
        };
        assert!(connections(&now).is_superset(&connections(&expected)), "{killed_at:?}");
        assert_eq!(connections(&now).len(), 5, "{killed_at:?}");
    }
    assert!(last > 20, "{last}");
}

#[test]
fn an_account_can_be_used_while_it_moves() {
    let api = api();
    let key = api.env.key("acme", Environment::Test, &Scope::ALL, None);
    let (made, refused, turn) = (RefCell::new(Vec::new()), Cell::new(0), Cell::new(0_u32));
    let created = Cell::new(0);
    let (seen, next) = (RefCell::new(Vec::new()), RefCell::new(String::new()));
    let read_events = || {
        let (mut rows, after) = events(&api, &next.borrow());
        seen.borrow_mut().append(&mut rows);
        next.replace(after);
    };
    let before_each_call = || {
        turn.set(turn.get() + 1);
        // Eight writers take turns. Some calls are not preceded by a write, so that the switch can
        // happen.
        if turn.get() % 3 == 0 {
            let name = format!("w{}-{}", turn.get() / 3 % 8, turn.get());
            let query = |method: &str, path: &str, sent: &Value| {
                let response = api.send(&with_body(as_key(&key, method, path), &sent.to_string()));
                if response.status == 503 {
                    assert_eq!(response.header("retry-after"), Some("5"));
                    assert!(connect::text(&response).contains("being moved"));
                    refused.set(refused.get() + 1);
                }
                response
            };
            let response = query("POST", CONNECTIONS, &minimal(&name));
            if response.status == 201 {
                created.set(created.get() + 1);
                made.borrow_mut().push(body(&response)["id"].as_str().unwrap().to_owned());
            } else {
                assert_eq!(response.status, 503, "{}", body(&response));
            }
            let first = made.borrow().first().cloned();
            if let Some(id) = first {
                let path = format!("{CONNECTIONS}/{id}");
                let changed = query("PATCH", &path, &json!({"tags": [name]}));
                assert!([200, 503].contains(&changed.status), "{}", body(&changed));
                if turn.get() % 2 == 0 {
                    let deleted = api.send(&as_key(&key, "DELETE", &path)).status;
                    assert!([204, 503].contains(&deleted), "{deleted}");
                    if deleted == 204 {
                        made.borrow_mut().remove(0);
                    }
                }
            }
        }
        assert_eq!(total(&api), json!(4 + made.borrow().len()));
        read_events();
    };
    let calls = CommandCalls {
        made: Cell::new(0),
        killed_at: None,
        before_each_call: Box::new(before_each_call),
    };
    run_in_move(&api, (*HOME, other_shard()), &calls, |step| step.run(|_, _, _| {}).unwrap());
    drop(calls);
    let (refused, created) = (refused.get(), created.get());
    assert!(refused > 0 && created > 5, "{refused} refused, {created} created");
    for id in made.borrow().iter() {
        assert_eq!(api.get(&format!("{CONNECTIONS}/{id}")).status, 200);
    }
    assert_eq!(total(&api), json!(4 + made.borrow().len()));
    read_events();
    // The number of events is the same: each exists once, although the ids have changed.
    let count = || api.env.texts("SELECT type FROM events WHERE account = 'acme' ORDER BY id");
    let all = api.env.within(other_shard(), count);
    let kinds: Vec<String> = seen.borrow().iter().map(|(_, kind)| kind.clone()).collect();
    assert_eq!(kinds, all);
    assert_eq!(api.send(&anonymous("GET", "/v1/whoami")).status, 401);
}

#[test]
fn every_table_is_moved_and_its_changes_are_logged() {
    let api = api();
    let moved = tables();
    let mut names: Vec<&str> = moved.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    // Tables that move, and tables that triggers derive.
    let all = api.env.texts(
        "SELECT DISTINCT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.name IN ('account', 'webhook_id') AND t.name NOT IN ('account_moves', 'account_changes', 'forwards', 'event_shifts', 'connection_tags', 'connection_counts') ORDER BY t.name",
    );
    assert_eq!(all, names);
    for (table, key) in moved {
        for (change, row) in [("inserted", "NEW"), ("updated", "NEW"), ("deleted", "OLD")] {
            let sql = api.env.texts(&format!("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = '{table}_{change}_in_move'"));
            let columns: Vec<String> = key.iter().map(|column| format!("{row}.{column}")).collect();
            let logged = format!("'{table}', json_array({})", columns.join(", "));
            assert!(sql.concat().contains(&logged), "{table} {change}: {logged} is not in {sql:?}");
        }
    }
}

#[test]
fn a_window_link_from_before_a_move_works_once() {
    let api = api();
    let code = || {
        let sent = json!({"identity": "mia", "scopes": ["connections:connect"]});
        let session = send(&api, "POST", "/v1/sessions", &sent);
        assert_eq!(session.status, 201, "{}", body(&session));
        let url = body(&session)["connectUrl"].as_str().unwrap().to_owned();
        url.split_once("#code=").unwrap().1.split('&').next().unwrap().to_owned()
    };
    let (used, unused) = (code(), code());
    let exchange = |code: &str| connect::window_links::exchange_code(&api, code).status;
    assert_eq!(exchange(&used), 200);
    move_account(&api);
    assert_eq!([&unused, &unused, &used].map(|code| exchange(code)), [200, 401, 401]);
}

#[test]
fn agent_and_sign_in_continue_after_a_move() {
    use crate::agents::{self, ALL, Agent};
    let (mut api, id) = agents::app();
    api.env.add(other_shard());
    let agent = Agent::new(&api, &id, &ALL);
    let client = agents::register(&api, &id);
    let (browser, page) = agents::open_consent_page(&api, &id, &client, &json!({}));
    let grant = agents::hidden_field(&page, "grant");
    move_account(&api);
    for table in ["agent_endpoints", "agent_grants"] {
        assert_eq!(api.env.texts(&format!("SELECT id FROM {table}")), Vec::<String>::new());
    }
    // Tokens from before the move name the source database.
    let list = |agent: &Agent| agent.call(&api, &id, "list_connections", &json!({})).status;
    assert_eq!(list(&agent), 200);
    let response = agents::refresh(&api, &id, &agent.client, &agent.refresh);
    assert_eq!(response.status, 200, "{}", body(&response));
    let access = body(&response)["access_token"].as_str().unwrap().to_owned();
    assert_eq!(shard_of(&access), other_shard());
    assert_eq!(list(&Agent { access, ..agent }), 200);
    // A user who saw the consent page before the move consents after it.
    let fields = [("grant", grant.as_str()), ("decision", "allow"), ("accounts", "all")];
    let (_, back) = agents::redirect_target(&browser.decide(&api, &id, &fields));
    let code = connect::value_of(&back, "code").unwrap();
    assert_eq!(agents::exchange(&api, &id, &client, &code).status, 200);
    // Users can sign in at the same endpoint again, until the sign-in is deleted.
    let next = Agent::new(&api, &id, &ALL);
    assert_eq!(list(&next), 200);
    assert_eq!(api.send(&api.request("DELETE", "/v1/agent-sign-in")).status, 204);
    assert_eq!(list(&next), 401);
}

#[test]
fn a_pending_call_runs_after_a_move() {
    let (mut api, request) = crate::call::approvals::decision_request();
    api.env.add(other_shard());
    move_account(&api);
    let rows = "SELECT state AS row FROM agent_approvals";
    assert_eq!(api.env.texts(rows), Vec::<String>::new());
    let response = api.send(&request);
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(api.env.within(other_shard(), || api.env.texts(rows)), ["done"]);
    // The call is already decided, so the same request to the source database is refused.
    assert_eq!(api.send(&request).status, 410);
    assert_eq!(api.env.sent.take().len(), 1);
}
