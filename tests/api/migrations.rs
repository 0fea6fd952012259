//! Applies the migrations one after the other to databases that are in use.

use connector_vault::api::{Config, Service};
use connector_vault::terms::{Environment, Scope};
use serde_json::json;

use crate::connect;
use crate::counted::miscounts;
use crate::support::{Api, World, as_key, body, config, migrations};
use crate::vault::{CONNECTIONS, UNKNOWN_ID, at, code, minimal};

/// A world to which only the first `applied` migrations have been applied.
fn at_schema(applied: usize) -> World {
    let world = World::empty();
    for migration in &migrations()[..applied] {
        world.database.execute_batch(migration).unwrap();
    }
    world
}

#[test]
fn keys_survive_every_migration() {
    for applied in 1..=migrations().len() {
        let world = at_schema(applied);
        let key = world.key(
            "Größe.Inc",
            Environment::Live,
            &[Scope::ConnectionsRead, Scope::ConnectionsWrite],
            Some(1_893_456_000_123),
        );
        let revoked = world.key("acme", Environment::Test, &Scope::ALL, None);
        world.revoke(&revoked);
        let keys = "SELECT concat_ws('|', hash, id, account, environment, scopes, created_at, expires_at, revoked_at) FROM api_keys ORDER BY 1";
        let before = world.texts(keys);
        // The new release on the previous schema: uses can't be written there; everything else works.
        let api = Api { world, service: Service::new(Config::default()), key };
        if applied > 1 {
            // To delete or to connect, it needs its own tables, which a deployment creates before it comes.
            let unknown = api.get(&at(UNKNOWN_ID));
            assert_eq!((unknown.status, code(&unknown).as_str()), (404, "connection_not_found"));
            assert_eq!(body(&api.get(CONNECTIONS))["total"], 0);
            assert_eq!(api.get("/v1/whoami").status, 200);
        }
        let Api { world, key, .. } = api;
        for migration in &migrations()[applied..] {
            world.database.execute_batch(migration).unwrap();
        }
        assert_eq!((before.len(), world.texts(keys)), (2, before));
        // Migrated keys open the vault, which is empty and works.
        world.publish(crate::support::small_catalog());
        let api = Api { world, service: Service::new(Config::default()), key };
        assert_eq!(body(&api.get(CONNECTIONS))["total"], 0);
        let created = api.create(&minimal("ann"));
        assert_eq!(body(&api.get(CONNECTIONS))["rows"], json!([created]));
        assert_eq!(api.send(&as_key(&revoked, "GET", CONNECTIONS)).status, 401);
        assert_eq!(miscounts(&api.world), [""; 0]);
    }
}

/// Tables that triggers write: what they hold follows from the connections, and is counted afresh.
const DERIVED: [&str; 2] = ["connection_counts", "connection_tags"];

/// Tables that are empty unless an account moves to another database. `moves.rs` fills them; a row here would have the
/// triggers of a move note what this test writes.
const OF_MOVES: [&str; 4] = ["account_changes", "account_moves", "event_shifts", "forwards"];

/// The tables of a database, or the columns of a table that can be written.
fn names(world: &World, table: Option<&str>) -> Vec<String> {
    match table {
        None => world.texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"),
        Some(table) => world.texts(&format!("SELECT name FROM pragma_table_info('{table}')")),
    }
}

/// The rows of a table, in these columns.
fn rows(world: &World, table: &str, columns: &[String]) -> Vec<String> {
    let row: Vec<String> = columns.iter().map(|column| format!("quote({column})")).collect();
    world.texts(&format!("SELECT {} AS row FROM {table} ORDER BY row", row.join(" || ', ' || ")))
}

/// A service with rows in every table but those of moves: connected accounts, one of them deleted but not yet revoked, an attempt that goes on,
/// a webhook with a delivery.
fn in_use() -> Api {
    let api = connect::upkeep::api_of_now();
    connect::set_client(&api, "acme");
    connect::set_client(&api, "revoked");
    let tokens = |nth: u8| json!({"access_token": format!("at-{nth}"), "refresh_token": format!("rt-{nth}")});
    connect::connected(&api, &connect::of_ann("acme"), &tokens(1));
    let id = connect::connected(&api, &connect::of_ann("revoked"), &tokens(2));
    let webhook = json!({"url": "https://hooks.example/in"});
    assert_eq!(connect::send(&api, "POST", "/v1/webhooks", &webhook).status, 201);
    connect::script(&api, &[(503, json!({}))]);
    assert_eq!(api.send(&api.request("DELETE", &at(&id))).status, 204);
    let mut tagged = connect::of_ann("acme");
    tagged["identity"] = json!("bob");
    tagged["tags"] = json!(["eu", "größe", "eu"]);
    tagged["name"] = json!("Bob’s");
    api.create(&tagged);
    connect::begin(&api, &connect::of_ann("revoked"));
    api
}

/// Copies into a world of an earlier schema what that schema has of each row.
fn fill(world: &World, from: &World) {
    let tables = names(world, None);
    let is_plain = |table: &&String| !DERIVED.contains(&table.as_str());
    let copy = |table: &String| {
        let columns = names(world, Some(table));
        for row in rows(from, table, &columns) {
            let sql = format!("INSERT INTO {table} ({}) VALUES ({row})", columns.join(", "));
            world.database.execute(&sql, []).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    };
    if tables.iter().any(|table| table == "connections") {
        copy(&"connections".to_owned());
    }
    let others: Vec<&String> =
        tables.iter().filter(is_plain).filter(|table| *table != "connections").collect();
    // What the triggers of the schema made of the connections gives way to what there was.
    for table in &others {
        world.database.execute(&format!("DELETE FROM {table}"), []).unwrap();
    }
    // Webhooks after events, of which their triggers would make deliveries once more.
    for table in others {
        copy(table);
    }
}

#[test]
fn every_row_survives_every_migration() {
    let old = in_use();
    let old_tables = names(&old.world, None);
    for table in &old_tables {
        assert!(
            rows(&old.world, table, &names(&old.world, Some(table))).is_empty()
                == OF_MOVES.contains(&table.as_str()),
            "{table} is empty, or should be"
        );
    }
    let path = |api: &Api| {
        let id = api.world.texts("SELECT id FROM connections WHERE identity = 'ann'").remove(0);
        format!("{}/credentials", at(&id))
    };
    for applied in 1..=migrations().len() {
        let world = at_schema(applied);
        fill(&world, &old.world);
        let there: Vec<_> = names(&world, None)
            .into_iter()
            .filter(|table| !DERIVED.contains(&table.as_str()))
            .map(|table| {
                let columns = names(&world, Some(&table));
                let rows = rows(&world, &table, &columns);
                (table, columns, rows)
            })
            .collect();
        for migration in &migrations()[applied..] {
            world.database.execute_batch(migration).unwrap();
        }
        for (table, columns, before) in &there {
            assert_eq!(&rows(&world, table, columns), before, "{table}, from schema {applied}");
            assert_eq!(before, &rows(&old.world, table, columns), "{table}, in schema {applied}");
        }
        assert_eq!(miscounts(&world), [""; 0], "from schema {applied}");
        // The service finds it all again: connections from the second schema on, what is sealed from the sixth on.
        world.blobs.borrow_mut().clone_from(&old.world.blobs.borrow());
        world.now.set(old.world.now.get());
        let service = Service::new(config(&connect::SETTINGS));
        let api = Api { world, service, key: old.key.clone() };
        let expected = if applied > 1 { body(&old.get(CONNECTIONS)) } else { json!(null) };
        let listed = body(&api.get(CONNECTIONS));
        assert!(applied == 1 || listed == expected, "from schema {applied}: {listed}");
        if there.iter().any(|(table, ..)| table == "credentials") {
            assert_eq!(body(&api.get(&path(&api)))["accessToken"], "at-1", "from schema {applied}");
            assert_eq!(body(&api.get("/v1/oauth-clients"))["total"], 2);
        }
    }
}

#[test]
fn each_migration_is_applied_once() {
    let world = World::new();
    for migration in migrations() {
        assert!(
            world.database.execute_batch(&migration).is_err(),
            "a schema is never made over silently"
        );
    }
    let integrity = world.texts("SELECT integrity_check FROM pragma_integrity_check");
    assert_eq!(integrity, ["ok"]);
}

#[test]
fn the_database_itself_refuses_what_no_connection_can_be() {
    let api = Api::with_catalog();
    api.create(&minimal("ann"));
    let before = api.world.dump();
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
        assert!(api.world.database.execute(&sql, []).is_err(), "{change}");
        assert_eq!(api.world.dump(), before, "{change}");
    }
}
