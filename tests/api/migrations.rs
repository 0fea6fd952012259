//! Applies the migrations one after the other to databases that are in use.

use connector_vault::api::{Config, Service};
use connector_vault::terms::{Environment, Scope};
use serde_json::json;

use crate::counted::miscounts;
use crate::support::{Api, World, as_key, body, migrations};
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
