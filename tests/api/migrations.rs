//! Rules for migrations: each one only adds, keeps all rows, and leaves tables on which the Worker
//! for the earlier schema still works.

use std::collections::{BTreeMap, BTreeSet};

use connector_vault::http::Service;
use serde_json::json;

use crate::connect;
use crate::counters::wrong_counters;
use crate::database;
use crate::support::{Api, TestEnv, body, config};
use crate::vault::{CONNECTIONS, at, minimal};

/// Synthetic migrations of the types that a release may contain. They are applied after those in
/// `schema/`, so that the rules are tested before the first release.
const SYNTHETIC: [&str; 2] = [
    "ALTER TABLE connections ADD COLUMN colour TEXT;
     CREATE INDEX connections_by_colour ON connections (account, environment, colour) WHERE colour IS NOT NULL;",
    "CREATE TABLE notes (id TEXT PRIMARY KEY NOT NULL, note TEXT NOT NULL DEFAULT 'none') STRICT;
     INSERT INTO notes (id) SELECT id FROM connections;
     CREATE TRIGGER connections_noted AFTER INSERT ON connections BEGIN
       INSERT INTO notes (id) VALUES (NEW.id);
     END;
     CREATE TRIGGER connections_forgotten AFTER DELETE ON connections BEGIN
       DELETE FROM notes WHERE id = OLD.id;
     END;",
];

/// The migrations of `schema/`, followed by the synthetic ones.
fn migrations() -> Vec<String> {
    database::migrations().into_iter().chain(SYNTHETIC.map(String::from)).collect()
}

/// Returns a database to which only the first `applied` migrations were applied.
fn at_schema(applied: usize) -> TestEnv {
    let env = TestEnv::empty();
    for migration in &migrations()[..applied] {
        env.database.execute_batch(migration).unwrap();
    }
    env
}

/// Tables whose rows triggers derive from the connections. They are recounted instead of copied.
const DERIVED_TABLES: [&str; 2] = ["connection_counts", "connection_tags"];

/// Tables that are usually empty: those of moves, which `moves.rs` fills, because a row would make
/// triggers record this test's writes; and the author of a change, which exists only during the
/// change.
const EMPTY_TABLES: [&str; 5] =
    ["account_changes", "account_moves", "audit_context", "event_shifts", "forwards"];

/// The audit, which triggers of other tables write to. It is copied last, and compared before other
/// tables change.
const AUDIT: &str = "audit";

/// The tables of a database, or the columns of a table that can be written.
fn names(env: &TestEnv, table: Option<&str>) -> Vec<String> {
    match table {
        None => env.texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"),
        Some(table) => env.texts(&format!("SELECT name FROM pragma_table_info('{table}')")),
    }
}

/// The rows of a table, in these columns.
fn rows(env: &TestEnv, table: &str, columns: &[String]) -> Vec<String> {
    let row: Vec<String> = columns.iter().map(|column| format!("quote({column})")).collect();
    env.texts(&format!("SELECT {} AS row FROM {table} ORDER BY row", row.join(" || ', ' || ")))
}

/// Inserts a call that waits for the approval of the user whose grant is in [`AGENTS`].
const APPROVAL: &str = "INSERT INTO agent_approvals (id, account, environment, endpoint, grant_id, key_id, identity, connection_id, action, title, method, state, sealed, created_at, expires_at) VALUES ('a', 'acme', 'test', 'e', 'g', 'k', 'ann', 'c', 'createThing', 'Create a thing', 'POST', 'pending', 'k1.x', 1, 2);";

/// Inserts the configuration of a sign-in for agents, and a grant.
const AGENTS: &str = "INSERT INTO agent_endpoints (id, account, environment, type, key_id, url, created_at, updated_at) VALUES ('e', 'acme', 'test', 'app', 'k', 'https://app.example', 1, 1); INSERT INTO agent_grants (id, account, environment, endpoint, key_id, state, identity, access, requested, client_hash, redirect_uri, challenge, browser_hash, secret_hash, created_at, expires_at) VALUES ('g', 'acme', 'test', 'e', 'k', 'active', 'ann', 'read', 'read', 'c', 'http://localhost/', 'h', 'b', 's', 1, 2);";

/// Inserts the configuration of the console's sign-in, and a session.
const CONSOLE: &str = "INSERT INTO console_sign_ins (id, account, environment, type, key_id, issuer, client_id, claim, roles, created_at, updated_at) VALUES ('e', 'acme', 'test', 'oidc', 'k', 'https://id.example', 'c', 'groups', '{}', 1, 1); INSERT INTO console_sessions (id, account, environment, sign_in, key_id, person, scopes, browser_hash, created_at, used_at, expires_at) VALUES ('s', 'acme', 'test', 'e', 'k', 'ann', '', 'b', 1, 1, 2);";

/// Inserts an app's branding.
const BRANDING: &str = "INSERT INTO branding (account, environment, name, updated_at) VALUES ('acme', 'test', 'Acme', 1);";

/// Returns a service with rows in every table except those of moves: connected accounts, a deleted
/// connection whose revocation is pending, a pending attempt, and a webhook with a delivery.
fn api_with_rows() -> Api {
    let api = connect::maintenance::api_at_current_time();
    api.env.database.execute_batch(AGENTS).unwrap();
    api.env.database.execute_batch(APPROVAL).unwrap();
    api.env.database.execute_batch(CONSOLE).unwrap();
    api.env.database.execute_batch(BRANDING).unwrap();
    connect::set_client(&api, "acme");
    connect::set_client(&api, "revoked");
    let tokens = |index: u8| json!({"access_token": format!("at-{index}"), "refresh_token": format!("rt-{index}")});
    connect::connected(&api, &connect::ann_connect_body("acme"), &tokens(1));
    let id = connect::connected(&api, &connect::ann_connect_body("revoked"), &tokens(2));
    let webhook = json!({"url": "https://hooks.example/in"});
    assert_eq!(connect::send(&api, "POST", "/v1/webhooks", &webhook).status, 201);
    connect::script(&api, &[(503, json!({}))]);
    assert_eq!(api.send(&api.request("DELETE", &at(&id))).status, 204);
    let mut tagged = connect::ann_connect_body("acme");
    tagged["identity"] = json!("bob");
    tagged["tags"] = json!(["eu", "größe", "eu"]);
    tagged["name"] = json!("Bob’s");
    api.create(&tagged);
    connect::start_attempt(&api, &connect::ann_connect_body("revoked"));
    let session = json!({"identity": "ann", "scopes": ["connections:connect"]});
    assert_eq!(api.send(&connect::exchange(&connect::code(&api, &session))).status, 200);
    let report =
        "INSERT INTO vault_key_reports (keys, first_at, last_at) VALUES ('[\"new:0f\"]', 1, 2)";
    api.env.database.execute_batch(report).unwrap();
    api.flush_usage();
    for migration in SYNTHETIC {
        api.env.database.execute_batch(migration).unwrap();
    }
    api
}

/// Copies all rows, in the columns that an earlier schema has.
fn copy_rows(env: &TestEnv, from: &TestEnv, schema: &TestEnv) {
    let tables = names(schema, None);
    let is_plain = |table: &&String| !DERIVED_TABLES.contains(&table.as_str());
    let copy = |table: &str| {
        let columns = names(schema, Some(table));
        for row in rows(from, table, &columns) {
            let sql = format!("INSERT INTO {table} ({}) VALUES ({row})", columns.join(", "));
            env.database.execute(&sql, []).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    };
    copy("connections");
    let others: Vec<&String> =
        tables.iter().filter(is_plain).filter(|table| *table != "connections").collect();
    // The copied rows replace those that triggers have derived.
    for table in &others {
        env.database.execute(&format!("DELETE FROM {table}"), []).unwrap();
    }
    // Webhooks are copied after events: their triggers would otherwise create deliveries for those
    // events.
    for table in others.iter().filter(|table| **table != AUDIT) {
        copy(table);
    }
    // Copying the other tables has written audit entries.
    env.database.execute(&format!("DELETE FROM {AUDIT}"), []).unwrap();
    copy(AUDIT);
}

/// The contents of a database, in the tables and columns of an earlier schema.
fn contents(env: &TestEnv, schema: &TestEnv) -> Vec<(String, Vec<String>, Vec<String>)> {
    names(schema, None)
        .into_iter()
        .filter(|table| !DERIVED_TABLES.contains(&table.as_str()))
        .map(|table| {
            let columns = names(schema, Some(&table));
            let rows = rows(env, &table, &columns);
            (table, columns, rows)
        })
        .collect()
}

/// Asserts that the service returns the same responses from a database with the latest schema as
/// from `old`.
fn assert_same_responses(env: TestEnv, old: &Api, applied: usize) {
    env.blobs.borrow_mut().clone_from(&old.env.blobs.borrow());
    env.now.set(old.env.now.get());
    let service = Service::new(config(&connect::SETTINGS));
    let api = Api { env, service, key: old.key.clone() };
    let listed = body(&api.get(CONNECTIONS));
    assert_eq!(listed, body(&old.get(CONNECTIONS)), "from schema {applied}");
    let id = api.env.texts("SELECT id FROM connections WHERE identity = 'ann'").remove(0);
    let credentials = body(&api.get(&format!("{}/credentials", at(&id))));
    assert_eq!(credentials["accessToken"], "at-1", "from schema {applied}");
    assert_eq!(body(&api.get("/v1/oauth-clients"))["total"], 2);
}

#[test]
fn every_row_survives_every_migration() {
    let old = api_with_rows();
    let old_tables = names(&old.env, None);
    for table in &old_tables {
        assert!(
            rows(&old.env, table, &names(&old.env, Some(table))).is_empty()
                == EMPTY_TABLES.contains(&table.as_str()),
            "{table} is empty, or should be"
        );
    }
    for applied in 1..=migrations().len() {
        let env = at_schema(applied);
        copy_rows(&env, &old.env, &env);
        let there = contents(&env, &env);
        for migration in &migrations()[applied..] {
            env.database.execute_batch(migration).unwrap();
        }
        for (table, columns, before) in &there {
            assert_eq!(&rows(&env, table, columns), before, "{table}, from schema {applied}");
            assert_eq!(before, &rows(&old.env, table, columns), "{table}, in schema {applied}");
        }
        assert_eq!(wrong_counters(&env), [""; 0], "from schema {applied}");
        assert_same_responses(env, &old, applied);
    }
}

#[test]
fn an_older_worker_can_write_to_the_current_schema() {
    let old = api_with_rows();
    let latest = migrations().len();
    for applied in 1..=latest {
        let (env, schema) = (at_schema(latest), at_schema(applied));
        copy_rows(&env, &old.env, &schema);
        let expect_there = |what: &str| {
            for (table, columns, rows) in contents(&env, &schema) {
                let expected = self::rows(&old.env, &table, &columns);
                assert_eq!(rows, expected, "{table}, {what} by a Worker of schema {applied}");
            }
            assert_eq!(wrong_counters(&env), [""; 0], "{what} by a Worker of schema {applied}");
        };
        expect_there("inserted");
        let tables = contents(&env, &schema);
        for (table, columns, _) in &tables {
            let same: Vec<String> =
                columns.iter().map(|column| format!("{column} = {column}")).collect();
            let sql = format!("UPDATE {table} SET {}", same.join(", "));
            env.database.execute(&sql, []).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        expect_there("updated");
        for (table, ..) in &tables {
            env.database.execute(&format!("DELETE FROM {table}"), []).unwrap();
        }
        assert_eq!(wrong_counters(&env), [""; 0], "deleted by a Worker of schema {applied}");
        // After another upgrade, the service can read the rows that the earlier Worker has written.
        copy_rows(&env, &old.env, &schema);
        assert_same_responses(env, &old, applied);
    }
}

/// Removes a mark from the start of a row. Returns the remaining row, and whether it had this mark.
fn remove_mark(row: &str, mark: &str) -> (String, bool) {
    let (found, named) = row.split_once(' ').unwrap();
    (named.to_owned(), found == mark)
}

/// The columns of all tables and views, on which a Worker may rely, and whether each requires a
/// value.
fn columns(env: &TestEnv) -> BTreeMap<String, bool> {
    let sql = "SELECT concat_ws(' ', iif(c.\"notnull\" AND c.dflt_value IS NULL AND c.hidden = 0, '!', '?'), s.name, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk, c.hidden) FROM sqlite_schema s, pragma_table_xinfo(s.name) c WHERE s.type IN ('table', 'view')";
    let found = env.texts(sql);
    found.iter().map(|row| remove_mark(row, "!")).collect()
}

/// The indexes that statements may name, and whether each is unique.
fn indexes(env: &TestEnv) -> BTreeMap<String, bool> {
    let sql = "SELECT concat_ws(' ', i.\"unique\", s.name, i.name, (SELECT group_concat(coalesce(x.name, '?')) FROM pragma_index_info(i.name) x), (SELECT d.sql FROM sqlite_schema d WHERE d.name = i.name)) FROM sqlite_schema s, pragma_index_list(s.name) i WHERE s.type = 'table'";
    let found = env.texts(sql);
    found.iter().map(|row| remove_mark(row, "1")).collect()
}

/// The removals since a schema, and new requirements for rows in its tables.
fn breaking_changes(before: &TestEnv, after: &TestEnv) -> Vec<String> {
    let mut found = Vec::new();
    for list in [columns, indexes] {
        let (before, after) = (list(before), list(after));
        let table = |named: &str| named.split(' ').next().unwrap().to_owned();
        let tables: BTreeSet<String> = before.keys().map(|named| table(named)).collect();
        let gone = before.iter().filter(|(named, asks)| after.get(*named) != Some(*asks));
        found.extend(gone.map(|(named, _)| format!("gone: {named}")));
        let new = after.iter().filter(|(named, _)| !before.contains_key(*named));
        let requested = new.filter(|(named, asks)| **asks && tables.contains(&table(named)));
        found.extend(requested.map(|(named, _)| format!("asked: {named}")));
    }
    found
}

#[test]
fn migrations_only_add() {
    let latest = migrations().len();
    for applied in 2..=latest {
        let (before, after) = (at_schema(applied - 1), at_schema(applied));
        assert_eq!(breaking_changes(&before, &after), [""; 0], "by migration {applied}");
    }
    // Each of these changes is detected.
    for change in [
        "ALTER TABLE api_keys DROP COLUMN last_used_day",
        "ALTER TABLE connections RENAME COLUMN state_reason TO reason",
        "DROP TABLE event_shifts",
        "DROP VIEW connection_counted",
        "DROP INDEX revocations_due",
        "DROP INDEX revocations_due; CREATE INDEX revocations_due ON revocations (attempts)",
        "DROP INDEX revocations_due; CREATE INDEX revocations_due ON revocations (next_attempt_at) WHERE attempts > 0",
        "ALTER TABLE forwards RENAME TO f; CREATE TABLE forwards (name, account, shard, is_key, why NOT NULL)",
        "CREATE UNIQUE INDEX one_name ON connections (account, name)",
    ] {
        let (before, after) = (at_schema(latest), at_schema(latest));
        after.database.execute_batch(change).unwrap();
        assert_ne!(breaking_changes(&before, &after), [""; 0], "{change}");
    }
}

#[test]
fn a_migration_fails_when_applied_twice() {
    let env = TestEnv::new();
    for migration in database::migrations() {
        assert!(
            env.database.execute_batch(&migration).is_err(),
            "the tables must not be created again"
        );
    }
    let integrity = env.texts("SELECT integrity_check FROM pragma_integrity_check");
    assert_eq!(integrity, ["ok"]);
}

#[test]
fn the_database_rejects_invalid_connections() {
    let api = Api::with_catalog();
    api.create(&minimal("ann"));
    let before = api.env.dump();
    for change in [
        "active = 2",
        "active = NULL",
        "environment = 'prod'",
        "identity_type = 'User'",
        "state = ''",
        "tags = 'x'",
        "tags = '{}'",
        "version = 0",
        "version = 'x'",
        "id = 'x'",
        "name = 'x'",
        "name_folded = 'x'",
        "identity = NULL",
        "created_at = NULL",
        "created_at = 1.5",
        "platform = NULL",
    ] {
        let sql = format!("UPDATE connections SET {change}");
        assert!(api.env.database.execute(&sql, []).is_err(), "{change}");
        assert_eq!(api.env.dump(), before, "{change}");
    }
}

/// Tables whose rows triggers write, and tables that matter only during a request, until an account
/// has moved, or while `VAULT_KEYS` change.
const DERIVED: [&str; 6] = [
    "connection_tags",
    "connection_counts",
    "used_codes",
    "audit_context",
    "account_changes",
    "vault_key_reports",
];

#[test]
fn the_docs_on_backups_name_each_table_that_is_not_derived() {
    let docs = std::fs::read_to_string("docs/operating.md").unwrap();
    let (_, section) = docs.split_once("## Backup and restore").unwrap();
    let (section, _) = section.split_once("### Back in time").unwrap();
    let tables = TestEnv::new().texts(
        "SELECT name AS row FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    );
    let missing: Vec<&String> = tables
        .iter()
        .filter(|table| !DERIVED.contains(&table.as_str()))
        .filter(|table| !section.contains(&format!("`{table}`")))
        .collect();
    assert_eq!(missing, Vec::<&String>::new());
}
