//! The ports over real `SQLite` and memory, with failure modes, and a small catalog.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};

use connector_vault::access::key::{ApiKey, KeyHash};
use connector_vault::access::{Environment, Scope, Scopes};
use connector_vault::api::message::Body;
use connector_vault::api::{Config, Request, Response, Service, handle};
use connector_vault::catalog::model::{Action, Connector, Method, Status};
use connector_vault::catalog::segment::{ConnectorEntry, write_actions, write_connectors};
use connector_vault::catalog::stored::{CURRENT_KEY, Current, FORMAT, SegmentId};
use connector_vault::ports::{
    Blobs, Clock, Db, Param, Random, RateLimit, ResultSet, RetryAfter, Statement, StorageError,
};
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use serde_json::Value;

/// The service's address in tests.
pub const ORIGIN: &str = "https://vault.example";

/// Real `SQLite` with the real migrations, and values in memory.
pub struct World {
    pub database: rusqlite::Connection,
    pub blobs: RefCell<HashMap<String, Vec<u8>>>,
    pub now: Cell<u64>,
    pub db_fails: Cell<bool>,
    /// What happens to the next batches.
    pub losses: RefCell<VecDeque<Loss>>,
    /// How many of the next reads of values fail.
    pub blob_failures: Cell<u32>,
    pub blob_reads: RefCell<Vec<String>>,
    pub db_calls: Cell<u32>,
    pub limited: Cell<bool>,
    /// What the last request was counted by.
    pub counted_by: Cell<Option<KeyHash>>,
    /// What was waited for, in milliseconds.
    pub slept: RefCell<Vec<u32>>,
    /// The statements of the last batch.
    pub asked: RefCell<Vec<Statement>>,
    seed: Cell<u64>,
}

impl World {
    pub fn new() -> Self {
        let world = Self::empty();
        for migration in migrations() {
            world.database.execute_batch(&migration).unwrap();
        }
        world
    }

    /// A world whose database has no tables yet.
    pub fn empty() -> Self {
        let database = rusqlite::Connection::open_in_memory().unwrap();
        database.set_prepared_statement_cache_capacity(4096);
        // A statement is planned once, not anew for each value that is bound to it.
        database.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).unwrap();
        Self {
            database,
            blobs: RefCell::default(),
            now: Cell::new(1_800_000_000_000),
            db_fails: Cell::new(false),
            losses: RefCell::default(),
            blob_failures: Cell::new(0),
            blob_reads: RefCell::default(),
            db_calls: Cell::new(0),
            limited: Cell::new(false),
            counted_by: Cell::new(None),
            slept: RefCell::default(),
            asked: RefCell::default(),
            seed: Cell::new(1),
        }
    }

    /// Makes a key and stores its hash.
    pub fn key(
        &self,
        account: &str,
        environment: Environment,
        scopes: &[Scope],
        expires_at: Option<u64>,
    ) -> ApiKey {
        let key = ApiKey::generate(environment, |bytes| self.fill(bytes));
        let scopes: Scopes = scopes.iter().copied().collect();
        let row = (
            key.hash().to_string(),
            format!("key-{}", self.seed.get()),
            account,
            environment.as_str(),
            scopes.to_string(),
            1,
            expires_at.map(|at| i64::try_from(at).unwrap()),
        );
        let sql = "INSERT INTO api_keys (hash, id, account, environment, scopes, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.database.execute(sql, row).unwrap();
        key
    }

    pub fn revoke(&self, key: &ApiKey) {
        self.database
            .execute("UPDATE api_keys SET revoked_at = 2 WHERE hash = ?1", [key.hash().to_string()])
            .unwrap();
    }

    /// Publishes a catalog: each connector with its actions.
    pub fn publish(&self, catalog: Vec<(Connector, bool, Vec<Action>)>) -> SegmentId {
        let entries = catalog.into_iter().map(|(connector, authkit, actions)| {
            let actions = self.store_segment(write_actions(actions));
            ConnectorEntry { connector, authkit, actions }
        });
        let connectors = self.store_segment(write_connectors(entries.collect()));
        let current = serde_json::to_vec(&Current { format: FORMAT, connectors }).unwrap();
        self.blobs.borrow_mut().insert(CURRENT_KEY.into(), current);
        connectors
    }

    pub fn store_segment(&self, bytes: Vec<u8>) -> SegmentId {
        let id = SegmentId::of(&bytes);
        self.blobs.borrow_mut().insert(id.key(), bytes);
        id
    }

    /// Every row of every table.
    pub fn dump(&self) -> Vec<String> {
        let tables =
            self.texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
        let rows = |table: &String| {
            let columns = self.texts(&format!(
                "SELECT 'quote(' || name || ')' FROM pragma_table_info('{table}')"
            ));
            let row = columns.join(" || ', ' || ");
            self.texts(&format!("SELECT '{table}: ' || {row} AS row FROM {table} ORDER BY row"))
        };
        tables.iter().flat_map(rows).collect()
    }

    /// The first column, which must be of texts, of the rows that a query gives.
    pub fn texts(&self, sql: &str) -> Vec<String> {
        let mut statement = self.database.prepare_cached(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    }

    pub fn wait(&self, milliseconds: u64) {
        self.now.set(self.now.get() + milliseconds);
    }
}

/// The texts of the migrations, in their order.
pub fn migrations() -> Vec<String> {
    let mut paths: Vec<_> =
        std::fs::read_dir("migrations").unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

impl Db for World {
    /// As D1 does it: all in one transaction, and no more than 100 parameters a statement.
    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        self.db_calls.set(self.db_calls.get() + 1);
        if self.db_fails.get() {
            return Err(StorageError::new("D1_ERROR: no such table: api_keys at /secret/path"));
        }
        let loss = self.losses.borrow_mut().pop_front();
        if loss == Some(Loss::Before) {
            return Err(lost());
        }
        assert!(statements.iter().all(|statement| statement.params.len() <= 100));
        self.asked.borrow_mut().clone_from(&statements);
        let transaction = self.database.unchecked_transaction().unwrap();
        let sets = statements
            .iter()
            .map(|statement| {
                self.run(statement).map_err(|error| StorageError::new(error.to_string()))
            })
            .collect::<Result<_, _>>()?;
        transaction.commit().unwrap();
        if loss == Some(Loss::After) { Err(lost()) } else { Ok(sets) }
    }
}

/// When the connection to the database is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Nothing was done.
    Before,
    /// All was done, but nobody heard of it.
    After,
}

fn lost() -> StorageError {
    StorageError { cause: "D1_ERROR: Network connection lost. at /secret/path".into(), lost: true }
}

impl World {
    fn run(&self, statement: &Statement) -> rusqlite::Result<ResultSet> {
        let mut prepared = self.database.prepare_cached(&statement.sql)?;
        let names: Vec<String> = prepared.column_names().map(str::to_owned).collect();
        let params = rusqlite::params_from_iter(statement.params.iter().map(|param| match param {
            Param::Integer(value) => rusqlite::types::Value::Integer(*value),
            Param::Text(text) => rusqlite::types::Value::Text(text.clone()),
            Param::Null => rusqlite::types::Value::Null,
        }));
        let (mut rows, mut json, mut count) = (prepared.query(params)?, String::from("["), 0);
        while let Some(row) = rows.next()? {
            json.push_str(if count == 0 { "{" } else { ",{" });
            for (at, name) in names.iter().enumerate() {
                json.push_str(if at == 0 { "\"" } else { ",\"" });
                json.push_str(name);
                json.push_str("\":");
                write_json(&mut json, row.get_ref(at)?);
            }
            json.push('}');
            count += 1;
        }
        json.push(']');
        drop(rows);
        // Without the entries of indexes.
        let rows_written = if prepared.readonly() { 0 } else { self.database.changes() };
        Ok(ResultSet { rows_read: count, rows_written, json })
    }
}

fn write_json(json: &mut String, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => json.push_str("null"),
        ValueRef::Integer(value) => json.push_str(&value.to_string()),
        ValueRef::Real(value) => json.push_str(&value.to_string()),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).unwrap();
            json.push_str(&serde_json::to_string(text).unwrap());
        }
        ValueRef::Blob(_) => panic!("no column holds a blob"),
    }
}

impl Blobs for World {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StorageError> {
        self.blob_reads.borrow_mut().push(key.to_owned());
        if self.blob_failures.get() > 0 {
            self.blob_failures.set(self.blob_failures.get() - 1);
            return Err(StorageError::new("KV GET failed: 500 at /secret/path"));
        }
        Ok(self.blobs.borrow().get(key).cloned())
    }
}

impl Clock for World {
    fn now(&self) -> u64 {
        self.now.get()
    }

    async fn sleep(&self, milliseconds: u32) {
        self.slept.borrow_mut().push(milliseconds);
    }
}

impl Random for World {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            let next = self
                .seed
                .get()
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            self.seed.set(next);
            *byte = (next >> 56) as u8;
        }
    }
}

impl RateLimit for World {
    async fn allow(&self, key: &KeyHash) -> Result<(), RetryAfter> {
        self.counted_by.set(Some(*key));
        if self.limited.get() { Err(RetryAfter(60)) } else { Ok(()) }
    }
}

/// A service over a world, and a key that may do everything.
pub struct Api {
    pub world: World,
    pub service: Service,
    pub key: ApiKey,
}

impl Api {
    /// A service with nothing published.
    pub fn new(config: Config) -> Self {
        let world = World::new();
        let key = world.key("acme", Environment::Test, &Scope::ALL, None);
        Self { world, service: Service::new(config), key }
    }

    /// A service with the [`small_catalog`].
    pub fn with_catalog() -> Self {
        Self::with_sessions(None, None)
    }

    /// The same with these secrets that sign tokens.
    pub fn with_sessions(current: Option<&str>, previous: Option<&str>) -> Self {
        let api = Self::new(Config::default().with_sessions(current, previous));
        api.world.publish(small_catalog());
        api
    }

    pub fn send(&self, request: &Request) -> Response {
        pollster::block_on(handle(&self.service, &self.world, request))
    }

    /// Has the use of a key on this day written, so that it is not among what a request writes.
    pub fn use_key(&self, key: &ApiKey) {
        assert_eq!(self.send(&as_key(key, "GET", "/v1/whoami")).status, 200);
    }

    /// GET with the key.
    pub fn get(&self, path_and_query: &str) -> Response {
        self.send(&self.request("GET", path_and_query))
    }

    pub fn request(&self, method: &str, path_and_query: &str) -> Request {
        as_key(&self.key, method, path_and_query)
    }
}

/// A request that carries a key.
pub fn as_key(key: &ApiKey, method: &str, path_and_query: &str) -> Request {
    as_secret(key.reveal(), method, path_and_query)
}

/// A request that carries a secret of any kind.
pub fn as_secret(secret: &str, method: &str, path_and_query: &str) -> Request {
    with_header(anonymous(method, path_and_query), "x-service-secret", secret)
}

pub fn anonymous(method: &str, path_and_query: &str) -> Request {
    let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
    Request {
        method: method.into(),
        origin: ORIGIN.into(),
        path: path.into(),
        query: query.into(),
        headers: Vec::new(),
        body: Body::default(),
    }
}

/// A request with a JSON body.
pub fn with_body(request: Request, body: &str) -> Request {
    let request = with_header(request, "content-type", "application/json");
    Request { body: Body::Whole(body.into()), ..request }
}

pub fn with_header(mut request: Request, name: &str, value: &str) -> Request {
    request.headers.push((name.into(), value.into()));
    request
}

pub fn body(response: &Response) -> Value {
    serde_json::from_slice(&response.body)
        .unwrap_or_else(|_| panic!("not JSON: {:?}", String::from_utf8_lossy(&response.body)))
}

/// The values of one member of the rows of a list.
pub fn column(response: &Response, member: &str) -> Vec<String> {
    let rows =
        body(response)["rows"].as_array().unwrap_or_else(|| panic!("{}", body(response))).clone();
    rows.iter()
        .map(|row| row[member].as_str().map_or_else(|| row[member].to_string(), str::to_owned))
        .collect()
}

pub fn connector(platform: &str, name: &str, category: &str, tools: u32) -> Connector {
    Connector {
        id: 1 + u64::from(connector_vault::crc32::crc32(platform.as_bytes())),
        name: name.into(),
        key: format!("api::{platform}::v1"),
        platform: platform.into(),
        platform_version: "v1".into(),
        status: Status::GenerallyAvailable,
        description: format!("What {name} does."),
        category: category.into(),
        image: "https://img.example/logo.png".into(),
        tags: vec!["Cloud".into()],
        oauth: true,
        tools,
        version: "1.0.0".into(),
        active: true,
    }
}

pub fn action(platform: &str, title: &str, key: &str, method: Method) -> Action {
    Action {
        title: title.into(),
        key: key.into(),
        method,
        platform: platform.into(),
        model_name: "Model".into(),
    }
}

/// Five connectors; `alpha` has six actions, `empty` none.
pub fn small_catalog() -> Vec<(Connector, bool, Vec<Action>)> {
    let alpha = vec![
        action("alpha", "List users", "usersList", Method::Get),
        action("alpha", "list Users", "usersListAgain", Method::Get),
        action("alpha", "Create a user", "usersCreate", Method::Post),
        action("alpha", "Delete a user", "usersDelete", Method::Delete),
        action("alpha", "Update 100%_\"user\"\\*", "usersUpdate", Method::Patch),
        action("alpha", "Überweisung anlegen", "Ueberweisung", Method::Put),
    ];
    let one = |platform: &str| vec![action(platform, "Ping", "ping", Method::Get)];
    vec![
        (connector("zeta", "zeta", "Payments", 1), true, one("zeta")),
        (connector("alpha", "Alpha API", "Developer Tools", 6), false, alpha),
        (connector("alpha-two", "alpha api", "Developer Tools", 1), true, one("alpha-two")),
        (connector("epsilon", "Émile & Co", "Ämter", 1), false, one("epsilon")),
        (connector("empty", "Nothing yet", "Other", 0), false, Vec::new()),
    ]
}
