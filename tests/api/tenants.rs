//! Random requests of six tenants in three databases, with each other's ids, connection keys,
//! filters, cursors and entity tags, but not keys. No tenant, and no agent of a tenant, sees or
//! changes another tenant's data.

mod agents;

use std::collections::HashMap;

use connector_vault::auth::Shard;
use connector_vault::auth::key::ApiKey;
use connector_vault::http::{Request, Response};
use connector_vault::terms::{Environment, Scope};
use serde_json::{Value, json};

use crate::model::{Filter, Row, Tenant};
use crate::rng::{TestRng, repetitions};
use crate::support::{Api, as_key, body, with_header};
use crate::vault::{CONNECTIONS, SUMMARY, UNKNOWN_ID, at, comparable, cursor, patch_as, post_as};

/// The number of random requests in `npm test`, and in `npm run proof`.
const REQUESTS: [usize; 2] = [3_000, 100_000];
/// The approximate number of connections per tenant.
const SIZE: usize = 50;
const PLATFORMS: [&str; 4] = ["alpha", "alpha-two", "zeta", "epsilon"];
const TYPES: [&str; 4] = ["user", "team", "organization", "project"];
const TAGS: [&str; 5] = ["red", "green", "Red", "blue", "x y"];
const NAMES: [&str; 5] = ["Ann", "ann", "Bob", "École", "日本"];

/// Three accounts, each in its own database.
const ACCOUNTS: [&str; 3] = ["acme", "acme2", "Acme"];

/// The shards of the accounts.
fn shards() -> [Shard; 3] {
    [0, 1, 3843].map(|number| Shard::new(number).unwrap())
}

/// A random identity. All tenants have the same few identities.
fn identity(rng: &mut TestRng) -> String {
    format!("{}{}", rng.pick(&["id-", "ID-", "é::"]), rng.below(30))
}

/// Creates triggers that record the tenant of each write to these tables.
fn record_writes(api: &Api, tables: &[&str]) {
    for database in shards().map(|shard| api.env.database_of(shard)) {
        database
            .execute_batch("CREATE TEMP TABLE written (account TEXT, environment TEXT)")
            .unwrap();
        for table in tables {
            for (event, row) in
                [("INSERT", "NEW"), ("UPDATE", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD")]
            {
                let sql = format!(
                    "CREATE TEMP TRIGGER {table}_{event}_{row} AFTER {event} ON main.{table} BEGIN INSERT INTO written VALUES ({row}.account, {row}.environment); END"
                );
                database.execute_batch(&sql).unwrap();
            }
        }
    }
}

/// The tenants that were written to since the last call, as `shard account environment`.
fn written(api: &Api) -> Vec<String> {
    let of_shard = |shard: Shard| {
        let sql = format!(
            "SELECT DISTINCT '{} ' || account || ' ' || environment FROM temp.written",
            shard.number()
        );
        let written = api.env.within(shard, || api.env.texts(&sql));
        if !written.is_empty() {
            let database = api.env.database_of(shard);
            database.prepare_cached("DELETE FROM temp.written").unwrap().execute([]).unwrap();
        }
        written
    };
    shards().into_iter().flat_map(of_shard).collect()
}

struct Simulation {
    api: Api,
    rng: TestRng,
    tenants: Vec<Tenant>,
    /// Two keys per tenant.
    keys: Vec<[ApiKey; 2]>,
    /// The tenant that each id belongs to, even after its deletion.
    owners: HashMap<String, usize>,
    ids: Vec<String>,
    /// The issued cursors, each with its list, tenant and key.
    cursors: Vec<(String, String, usize, usize)>,
    sent: usize,
}

impl Simulation {
    fn new() -> Self {
        let mut api = Api::with_catalog();
        let (mut tenants, mut keys) = (Vec::new(), Vec::new());
        for (account, shard) in ACCOUNTS.into_iter().zip(shards()) {
            api.env.add(shard);
            for environment in Environment::ALL {
                let key = || api.env.key_in(shard, account, environment, &Scope::ALL, None);
                keys.push([key(), key()]);
                tenants.push(Tenant { environment: environment.as_str(), rows: Vec::new() });
            }
        }
        record_writes(&api, &["connections", "connection_tags", "connection_counts", "api_keys"]);
        let (owners, ids, cursors) = Default::default();
        let mut simulation =
            Self { api, rng: TestRng(7), tenants, keys, owners, ids, cursors, sent: 0 };
        for tenant_index in 0..simulation.tenants.len() {
            while simulation.tenants[tenant_index].rows.len() < SIZE {
                simulation.create(tenant_index);
            }
        }
        simulation
    }

    fn send(&mut self, request: &Request) -> Response {
        self.sent += 1;
        self.api.send(request)
    }

    fn account(tenant_index: usize) -> &'static str {
        ACCOUNTS[tenant_index / 2]
    }

    fn key(&mut self, tenant_index: usize) -> ApiKey {
        self.rng.pick(&self.keys[tenant_index]).clone()
    }

    fn assert_only_own(&self, tenant_index: usize, wrote: bool) {
        let (shard, account) = (shards()[tenant_index / 2].number(), Self::account(tenant_index));
        let own = format!("{shard} {account} {}", self.tenants[tenant_index].environment);
        assert_eq!(written(&self.api), if wrote { vec![own] } else { Vec::new() });
    }

    /// Asserts that every connection in a response belongs to the calling tenant.
    fn assert_own_rows(&self, tenant_index: usize, response: &Response) -> usize {
        let text = std::str::from_utf8(&response.body).unwrap();
        let ids = text.split("{\"id\":\"").skip(1).filter_map(|rest| rest.split('"').next());
        ids.map(|id| assert_eq!(self.owners.get(id), Some(&tenant_index), "{id} leaks")).count()
    }

    /// Returns the id of another tenant's connection, or of a deleted connection.
    fn foreign_id(&mut self, tenant_index: usize) -> String {
        loop {
            let id = self.rng.pick(&self.ids).clone();
            if self.tenants[tenant_index].find(&id).is_none() {
                return id;
            }
        }
    }

    fn tags(&mut self) -> Vec<String> {
        (0..self.rng.below(4)).map(|_| (*self.rng.pick(&TAGS)).to_owned()).collect()
    }

    fn create(&mut self, tenant_index: usize) {
        let rng = &mut self.rng;
        let mut document = json!({"platform": rng.pick(&PLATFORMS), "identity": identity(rng), "identityType": rng.pick(&TYPES), "name": rng.maybe(70, &NAMES), "active": rng.percent(85)});
        document["tags"] = json!(self.tags());
        self.api.env.wait(self.sent as u64 % 2);
        let key = self.key(tenant_index);
        let response = self.send(&post_as(&key, &document));
        let tenant = &self.tenants[tenant_index];
        let name = |member: &str| document[member].as_str().unwrap();
        let requested_key =
            format!("{}::{}::default::{}", tenant.environment, name("platform"), name("identity"));
        if let Some(holder) =
            tenant.rows.iter().find(|row| row.key(tenant.environment) == requested_key)
        {
            assert_eq!(
                (response.status, &body(&response)["connectionId"]),
                (409, &json!(holder.id))
            );
            return self.assert_only_own(tenant_index, false);
        }
        let created = body(&response);
        assert_eq!(
            (response.status, &created["key"], &created["environment"]),
            (201, &json!(requested_key), &json!(tenant.environment))
        );
        let row = Row::from_json(&created);
        assert_eq!(self.owners.insert(row.id.clone(), tenant_index), None);
        self.ids.push(row.id.clone());
        self.tenants[tenant_index].rows.push(row);
        self.assert_only_own(tenant_index, true);
    }

    /// Returns a random filter with values of a random tenant, often another one than the caller.
    fn filter(&mut self) -> Filter {
        let source = self.rng.below(self.tenants.len());
        let keys: Vec<String> = (0..=self.rng.below(3))
            .map(|_| {
                let row = self.rng.pick(&self.tenants[source].rows);
                row.key(self.tenants[source].environment)
            })
            .collect();
        let (tags, identity) = (self.tags(), identity(&mut self.rng));
        let rng = &mut self.rng;
        let identity = rng.maybe(10, &[identity]);
        Filter::random(rng, keys, identity, tags)
    }

    fn list(&mut self, tenant_index: usize) {
        let filter = self.filter();
        let (limit, page) = (1 + self.rng.below(6), 1 + self.rng.below(3));
        let key_index = self.rng.below(2);
        let query = format!("limit={limit}&{}", filter.query());
        let response = self.send(&as_key(
            &self.keys[tenant_index][key_index].clone(),
            "GET",
            &format!("{CONNECTIONS}?{query}&page={page}"),
        ));
        assert_eq!(response.status, 200);
        let matches = self.tenants[tenant_index].list(&filter);
        let shown = self.assert_own_rows(tenant_index, &response);
        assert_eq!(shown, matches.len().saturating_sub(limit * (page - 1)).min(limit), "{query}");
        let text = String::from_utf8_lossy(&response.body);
        assert!(text.contains(&format!("],\"total\":{},", matches.len())), "{query}: {text}");
        if let Some(after) = cursor(&response) {
            let at = self.rng.below(400);
            self.cursors.truncate(400);
            self.cursors
                .insert(at.min(self.cursors.len()), (query, after, tenant_index, key_index));
        }
    }

    /// Requests a page with a cursor that any tenant received for any list.
    fn follow(&mut self, tenant_index: usize) {
        let Some((mut query, after, holder, holder_key)) =
            self.cursors.get(self.rng.below(400)).cloned()
        else {
            return;
        };
        let (tenant_index, key_index) = if self.rng.percent(50) {
            (holder, holder_key)
        } else {
            (tenant_index, self.rng.below(2))
        };
        let own_list = self.rng.percent(80);
        if !own_list {
            query.push_str("&identityType=user");
        }
        let repeated = query.matches("identityType=").count() > 1;
        let response = self.send(&as_key(
            &self.keys[tenant_index][key_index].clone(),
            "GET",
            &format!("{CONNECTIONS}?{query}&after={after}"),
        ));
        let good = own_list && (tenant_index, key_index) == (holder, holder_key);
        assert_eq!(response.status, if good { 200 } else { 400 }, "{query}");
        if good {
            self.assert_own_rows(tenant_index, &response);
        } else {
            let parameter = if repeated { "identityType" } else { "after" };
            assert!(
                String::from_utf8_lossy(&response.body)
                    .contains(&format!("\"parameter\":\"{parameter}\""))
            );
        }
    }

    /// Requests another tenant's connection. The response must be the same as for an unknown id.
    fn request_foreign_connection(&mut self, tenant_index: usize) {
        let (id, key) = (self.foreign_id(tenant_index), self.key(tenant_index));
        let method = *self.rng.pick(&["GET", "GET", "HEAD", "PATCH", "PATCH", "DELETE"]);
        let revision = 1 + self.rng.below(3);
        let condition = *self.rng.pick(&["if-match", "if-none-match", "x-nothing"]);
        let value = self.rng.pick(&["*".to_owned(), format!("\"{id}-{revision}\"")]).clone();
        let tags = json!({"tags": self.tags()});
        let mut responses = [id, UNKNOWN_ID.to_owned()].map(|id| {
            let request = if method == "PATCH" {
                patch_as(&key, &id, &tags)
            } else {
                as_key(&key, method, &at(&id))
            };
            comparable(&self.send(&with_header(request, condition, &value)))
        });
        assert_eq!(responses[0].0, 404);
        let unknown = std::mem::take(&mut responses[1]);
        assert_eq!(responses[0], unknown, "{method}");
        self.assert_only_own(tenant_index, false);
    }

    fn use_own_connection(&mut self, tenant_index: usize) {
        let (at_row, key) =
            (self.rng.below(self.tenants[tenant_index].rows.len()), self.key(tenant_index));
        let row = self.tenants[tenant_index].rows[at_row].clone();
        let environment = self.tenants[tenant_index].environment;
        match self.rng.below(10) {
            0..4 => {
                let response = self.send(&as_key(&key, "GET", &at(&row.id)));
                assert_eq!(body(&response), row.json(environment));
            }
            4..8 => {
                let tags = self.tags();
                let response = self.send(&with_header(
                    patch_as(&key, &row.id, &json!({"tags": tags})),
                    "if-match",
                    &row.etag(),
                ));
                let changed = tags != row.tags;
                let own = &mut self.tenants[tenant_index].rows[at_row];
                own.revision += u64::from(changed);
                own.tags = tags;
                assert_eq!(body(&response), own.json(environment));
                self.assert_only_own(tenant_index, changed);
            }
            8 if self.tenants[tenant_index].rows.len() > SIZE - 10 => {
                let response = self.send(&as_key(&key, "DELETE", &at(&row.id)));
                assert_eq!(response.status, 204);
                self.tenants[tenant_index].rows.remove(at_row);
                self.assert_only_own(tenant_index, true);
            }
            _ => {
                let response = self.send(&as_key(&key, "GET", SUMMARY));
                let platforms: Value = self.tenants[tenant_index].summary();
                assert_eq!(body(&response), platforms);
            }
        }
    }
}

#[test]
fn tenants_are_isolated_under_random_requests() {
    let mut simulation = Simulation::new();
    let requests = repetitions(REQUESTS[0], REQUESTS[1]);
    while simulation.sent < requests {
        let tenant_index = simulation.rng.below(simulation.tenants.len());
        match simulation.rng.below(100) {
            0..45 => simulation.list(tenant_index),
            45..55 => simulation.follow(tenant_index),
            55..80 => simulation.request_foreign_connection(tenant_index),
            80..97 => simulation.use_own_connection(tenant_index),
            _ => simulation.create(tenant_index),
        }
        // These requests only read, so nothing may be written.
        simulation.assert_only_own(tenant_index, false);
    }
    for (tenant_index, tenant) in simulation.tenants.iter().enumerate() {
        let sql = format!(
            "SELECT id FROM connections WHERE account = '{}' AND environment = '{}' ORDER BY created_at DESC, id DESC",
            Simulation::account(tenant_index),
            tenant.environment
        );
        let mut rows = tenant.rows.clone();
        rows.sort_by(|a, b| (&b.created_at, &b.id).cmp(&(&a.created_at, &a.id)));
        let env = &simulation.api.env;
        assert_eq!(
            env.within(shards()[tenant_index / 2], || env.texts(&sql)),
            rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>()
        );
    }
    for shard in shards() {
        let env = &simulation.api.env;
        assert_eq!(env.within(shard, || crate::counters::wrong_counters(env)), [""; 0]);
    }
}
