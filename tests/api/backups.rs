//! Backups of several databases, and their restore, by the commands and statements of
//! docs/operating.md.

use std::collections::BTreeMap;
use std::fs;

use connector_vault::auth::Shard;
use connector_vault::http::Service;
use connector_vault::jobs;
use serde_json::json;

use crate::connect::{SETTINGS, response};
use crate::counters::wrong_counters;
use crate::moves::{api, clean_up, events, minimal, move_account, other_shard};
use crate::support::{Api, HOME, TestEnv, body, config};
use crate::vault::CONNECTIONS;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const TOKEN_URL: &str = "https://id.acme.example/token";
/// The account's connections in [`api`].
const TOTAL: usize = 4;

/// The statements of each exported file.
type Files = BTreeMap<String, Vec<String>>;

/// A step of a restore: a file to execute, or statements.
enum Step {
    File(String),
    Sql(String),
}

/// The commands of the blocks in docs/operating.md whose info string is `kind`, from a heading on.
fn commands(heading: &str, kind: &str) -> Vec<String> {
    let docs = fs::read_to_string("docs/operating.md").unwrap();
    let (_, section) = docs.split_once(&format!("\n### {heading}\n")).unwrap();
    let mut found = Vec::new();
    for block in section.split("\n### ").next().unwrap().split(&format!("```{kind}\n")).skip(1) {
        found.extend(block.split("```").next().unwrap().lines().map(str::to_owned));
    }
    assert!(!found.is_empty(), "{heading}");
    found
}

/// The values of an option of a command, which end at a space unless they are quoted.
fn values(command: &str, option: &str) -> Vec<String> {
    let value = |rest: &str| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap().to_owned(),
        None => rest.split(' ').next().unwrap().to_owned(),
    };
    command.split(&format!(" --{option} ")).skip(1).map(value).collect()
}

/// The steps of the commands `d1 execute`.
fn steps(commands: &[String]) -> Vec<Step> {
    let executed = commands.iter().filter(|command| command.contains(" d1 execute "));
    let step = |command: &String| match values(command, "file").pop() {
        Some(file) => Step::File(file),
        None => Step::Sql(values(command, "command").pop().unwrap()),
    };
    executed.map(step).collect()
}

/// Exports the tables of the current database that a command names. Like D1, in the order in which
/// the database stores the tables, regardless of the order of the options.
fn export(env: &TestEnv, command: &str) -> Vec<String> {
    let named = values(command, "table");
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rootpage";
    let tables = env.texts(tables).into_iter().filter(|table| named.contains(table));
    let inserts = |table: String| {
        let columns = format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid");
        let columns = env.texts(&columns);
        let quoted: Vec<String> = columns.iter().map(|column| format!("quote({column})")).collect();
        env.texts(&format!(
            "SELECT 'INSERT INTO {table} ({}) VALUES (' || {} || ')' FROM {table}",
            columns.join(", "),
            quoted.join(" || ', ' || ")
        ))
    };
    let all: Vec<String> = tables.clone().collect();
    assert_eq!(all.len(), named.len(), "{command}");
    tables.flat_map(inserts).collect()
}

/// Exports the current database by the documented commands.
fn back_up(env: &TestEnv) -> Files {
    let file = |command: String| (values(&command, "output").remove(0), export(env, &command));
    commands("A copy of your own", "sh backup").into_iter().map(file).collect()
}

/// Runs the steps in the current database.
fn run_steps(env: &TestEnv, files: &Files, steps: &[Step]) {
    let database = env.current_database();
    database.set_now(env.now.get());
    for step in steps {
        let sql = match step {
            Step::File(name) => &files[name],
            Step::Sql(sql) => &vec![sql.clone()],
        };
        let run = || sql.iter().try_for_each(|sql| database.execute_batch(sql));
        database.transaction(run).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Returns the service with two empty databases, and the keys and the time of another one.
fn empty_like(api: &Api) -> Api {
    let mut env = TestEnv::new();
    env.add(other_shard());
    env.blobs.borrow_mut().clone_from(&api.env.blobs.borrow());
    env.now.set(api.env.now.get());
    env.restore_random_state(api.env.random_state());
    Api { env, service: Service::new(config(&SETTINGS)), key: api.key.clone() }
}

/// The rows that the documented commands export.
fn rows_of(api: &Api, shard: Shard) -> Vec<String> {
    api.env.within(shard, || back_up(&api.env).into_values().flatten().collect())
}

fn counters(api: &Api, shard: Shard) -> Vec<String> {
    let sql = "SELECT concat_ws('/', account, environment, active, dimension, value) || ' ' || n FROM connection_counts ORDER BY 1";
    api.env.within(shard, || api.env.texts(sql))
}

/// Runs the schedule and the queue of both databases once, a day later. Returns the number of token
/// requests.
fn token_requests_of_a_run(api: &Api) -> usize {
    let before = api.env.sent.borrow().len();
    *api.env.platform.borrow_mut() = Box::new(|_| {
        let tokens = json!({"access_token": "a", "expires_in": 3600, "refresh_token": "r"});
        response(200, &tokens)
    });
    api.env.wait(DAY_MS + 1);
    for shard in [*HOME, other_shard()] {
        api.env.within(shard, || {
            pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
            for message in api.env.messages() {
                pollster::block_on(jobs::consume(&api.service, &api.env, &message)).unwrap();
            }
        });
    }
    let sent = api.env.sent.borrow();
    sent[before..].iter().filter(|request| request.url == TOKEN_URL).count()
}

/// Asserts that the account is served by its new database only.
fn assert_served_once(api: &Api) {
    let listed = api.get(CONNECTIONS);
    assert_eq!(listed.status, 200, "{}", body(&listed));
    assert_eq!(body(&listed)["total"], json!(TOTAL));
    assert_eq!(token_requests_of_a_run(api), 1);
    assert_eq!(wrong_counters(&api.env), [""; 0]);
    // A new connection is created in the new database.
    api.create(&minimal("new"));
    let find = "SELECT id FROM connections WHERE identity = 'new'";
    assert_eq!(api.env.within(*HOME, || api.env.texts(find)).len(), 0);
    assert_eq!(api.env.within(other_shard(), || api.env.texts(find)).len(), 1);
}

#[test]
fn restored_copies_serve_a_moved_account_once() {
    let api = api();
    move_account(&api);
    // The clean-up of the old copy makes no difference.
    for is_clean in [false, true] {
        if is_clean {
            api.env.wait(DAY_MS + 1);
            assert!(clean_up(&api, *HOME));
        }
        let restored = empty_like(&api);
        let steps = steps(&commands("Into a new database", "sh restore"));
        for shard in [*HOME, other_shard()] {
            let files = api.env.within(shard, || back_up(&api.env));
            restored.env.within(shard, || run_steps(&restored.env, &files, &steps));
            assert_eq!(rows_of(&restored, shard), rows_of(&api, shard));
            assert_eq!(counters(&restored, shard), counters(&api, shard));
        }
        let moves =
            "SELECT account || ' ' || step || ' ' || coalesce(writing, '-') FROM account_moves";
        let expected: &[&str] = if is_clean { &[] } else { &["acme left -"] };
        assert_eq!(restored.env.within(*HOME, || restored.env.texts(moves)), expected);
        // The old copy has written no events, and rejects changes.
        let of_copy = "SELECT type FROM events WHERE account = 'acme'";
        assert_eq!(restored.env.within(*HOME, || restored.env.texts(of_copy)).len(), 0);
        let change = "UPDATE connections SET version = version + 1 WHERE account = 'acme'";
        assert_eq!(restored.env.database.execute(change, []).is_err(), !is_clean);
        // A reader of the feed continues from an id of the restored database.
        let (seen, next) = events(&restored, "");
        let is_created = |(_, kind): &&(String, String)| kind == "connection.created";
        assert_eq!(seen.iter().filter(is_created).count(), TOTAL, "{seen:?}");
        assert_served_once(&restored);
        assert!(events(&restored, &next).0.iter().any(|event| is_created(&event)));
        if !is_clean {
            restored.env.wait(DAY_MS);
            assert!(clean_up(&restored, *HOME));
        }
    }
}

/// The commands for one database that goes back to a time before a move, from the export of its
/// moves on.
fn commands_for_one() -> Vec<String> {
    let all = commands("Back in time, in the same database", "sh account");
    let first = all.iter().position(|command| command.contains(" d1 export ")).unwrap();
    all[first..].to_vec()
}

/// Removes the old copy, as `npm run shards -- clean` does, and checks that only forwards remain.
fn clean_up_restored(api: &Api) {
    assert!(clean_up(api, *HOME));
    let rows = api.env.within(*HOME, || api.env.dump());
    assert!(rows.iter().all(|row| !row.contains("'acme'") || row.starts_with("forwards: ")));
}

#[test]
fn one_database_can_go_back_to_before_a_move() {
    let mut api = api();
    let before = api.env.database.duplicate(false);
    move_account(&api);
    api.env.wait(DAY_MS + 1);
    assert!(clean_up(&api, *HOME));
    let commands = commands_for_one();
    assert!(commands[1].contains("time-travel restore") && commands.len() == 6);
    assert!(commands[5].ends_with("shards -- clean --remote"));
    let moves = export(&api.env, &commands[0]);
    api.env.database = before;
    let files = Files::from([(values(&commands[0], "output").remove(0), moves)]);
    run_steps(&api.env, &files, &steps(&commands));
    clean_up_restored(&api);
    assert_served_once(&api);
}

#[test]
fn a_copy_from_before_a_move_can_be_restored_with_newer_moves() {
    let api = api();
    let mut files = back_up(&api.env);
    move_account(&api);
    api.env.wait(DAY_MS + 1);
    assert!(clean_up(&api, *HOME));
    let moves = "moves.sql";
    files.insert(moves.into(), back_up(&api.env).remove(moves).unwrap());
    let restored = empty_like(&api);
    let other = api.env.within(other_shard(), || back_up(&api.env));
    let mut steps = steps(&commands("Into a new database", "sh restore"));
    restored.env.within(other_shard(), || run_steps(&restored.env, &other, &steps));
    assert!(matches!(&steps[0], Step::File(file) if file == moves));
    let mut mark = self::steps(&commands_for_one());
    mark.retain(
        |step| matches!(step, Step::Sql(sql) if sql.starts_with("INSERT INTO account_moves ")),
    );
    assert_eq!(mark.len(), 1);
    steps.splice(1..1, mark);
    run_steps(&restored.env, &files, &steps);
    clean_up_restored(&restored);
    assert_served_once(&restored);
}
