//! Implements the ports with real `SQLite` and with memory, simulates their failures, and provides
//! a small catalog.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::env;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::LazyLock;
use std::task::Poll;
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use connector_vault::auth::Shard;
use connector_vault::auth::key::ApiKey;
use connector_vault::catalog::action::unit::{self, DeflatedUnit, Units};
use connector_vault::catalog::detail::ConnectorDetail;
use connector_vault::catalog::format::stored::{CURRENT_KEY, SegmentId};
use connector_vault::catalog::model::{Action, Connector, Status};
use connector_vault::catalog::write::{self, Platform, Sizes};
use connector_vault::http::config::Variables;
use connector_vault::http::handle::{MAX_FORWARDS, handle};
use connector_vault::http::message::Body;
use connector_vault::http::{Config, Request, Response, Service};
use connector_vault::platform_calls::charset;
use connector_vault::ports::{
    Algorithm, Background, Blob, Blobs, Clock, Dataset, Db, Http, HttpError, HttpRequest,
    HttpResponse, Param, Patterns, Payload, Queue, Random, RateLimit, ResultSet, RetryAfter,
    Signatures, Statement, StorageError, StreamingRequest, StreamingResponse,
};
use connector_vault::terms::{Environment, Method, Scope, Scopes};
use connector_vault::usage;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPairComponents, PublicKeyComponents};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use rusqlite::types::ValueRef;
use serde_json::Value;

use crate::database::Database;

/// The origin of the service in tests.
pub const ORIGIN: &str = "https://vault.example";

/// Parses the configuration from these environment variables.
pub fn config(variables: &[(&str, &str)]) -> Config {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
    let variables = Value::Object(variables.collect());
    Config::from(&serde_json::from_value::<Variables>(variables).unwrap())
}

/// The shard of the accounts in tests: the first one, unless this environment variable sets
/// another. All tests pass in every shard.
pub static HOME: LazyLock<Shard> = LazyLock::new(|| {
    let number = env::var("CONNECTOR_VAULT_TEST_SHARD").map_or(0, |text| text.parse().unwrap());
    Shard::new(number).unwrap()
});

/// The environment of a test: real `SQLite` with the real migrations, and a key-value store in
/// memory.
pub struct TestEnv {
    /// The database of the shard [`HOME`].
    pub database: Database,
    /// The databases of other shards.
    other_databases: BTreeMap<Shard, Database>,
    /// The shard of the current request.
    current_shard: Cell<Shard>,
    /// A replica of each database, with the replica's bookmark.
    replicas: RefCell<BTreeMap<Shard, (u64, Database)>>,
    /// The number of batches that have written. It is the bookmark of every primary database.
    bookmark: Cell<u64>,
    /// The replica's bookmark for each batch that a replica has executed.
    pub replica_reads: RefCell<Vec<u64>>,
    pub blobs: RefCell<HashMap<String, Vec<u8>>>,
    pub now: Cell<u64>,
    /// The duration of each batch, in milliseconds.
    pub batch_ms: Cell<u64>,
    pub db_fails: Cell<bool>,
    /// The faults to inject into the next batches, one per batch.
    pub db_faults: RefCell<VecDeque<DbFault>>,
    /// The number of upcoming value reads that fail.
    pub blob_failures: Cell<u32>,
    pub blob_reads: RefCell<Vec<String>>,
    /// The number of value reads that started while no other read was in flight: how often a
    /// request has waited for storage.
    pub blob_waits: Cell<usize>,
    blobs_pending: Cell<usize>,
    pub db_calls: Cell<u32>,
    /// The number of statements that ran in the background.
    pub background_writes: Cell<u32>,
    /// The requests that were sent in the background.
    pub background_requests: RefCell<Vec<HttpRequest>>,
    /// The database size in bytes that D1 reports.
    pub size: Cell<u64>,
    pub limited: Cell<bool>,
    /// Whether the current request was forwarded from the account's previous database.
    pub was_forwarded: Cell<bool>,
    /// The name that the last request was counted under for its rate limit.
    pub counted_by: RefCell<Option<String>>,
    /// The durations of all pauses so far, in milliseconds.
    pub pauses: RefCell<Vec<u32>>,
    /// The statements of the last batch.
    pub statements: RefCell<Vec<Statement>>,
    /// All requests to other services so far.
    pub sent: RefCell<Vec<HttpRequest>>,
    /// The methods of all requests to other services so far.
    pub methods: RefCell<Vec<String>>,
    /// The body of the current request, as far as it has been received.
    pub streamed_body: RefCell<Option<Vec<u8>>>,
    /// Returns the responses of other services.
    pub platform: RefCell<Platforms>,
    /// The messages in the queue, each with the time of its delivery in milliseconds.
    messages: RefCell<Vec<(u64, String)>>,
    pub has_queue: Cell<bool>,
    /// The data points in the usage dataset; `None` if there is no dataset.
    pub points: RefCell<Option<Vec<Value>>>,
    seed: Cell<u64>,
}

/// Returns the response of other services to a request.
pub type Platforms = Box<dyn FnMut(&HttpRequest) -> Result<HttpResponse, HttpError>>;

/// The time at which tests start, in milliseconds since 1970-01-01 UTC.
pub const START: u64 = 1_800_000_000_000;

impl TestEnv {
    pub fn new() -> Self {
        let mut env = Self::with_database(Database::new());
        if *HOME != Shard::FIRST {
            env.add(Shard::FIRST);
        }
        env
    }

    /// Adds a shard with an empty database, unless the shard exists.
    pub fn add(&mut self, shard: Shard) {
        if shard != *HOME && !self.other_databases.contains_key(&shard) {
            self.other_databases.insert(shard, Database::new());
        }
    }

    /// Returns an environment whose database has no tables.
    pub fn empty() -> Self {
        Self::with_database(Database::empty())
    }

    fn with_database(database: Database) -> Self {
        Self {
            database,
            other_databases: BTreeMap::new(),
            current_shard: Cell::new(*HOME),
            replicas: RefCell::default(),
            bookmark: Cell::new(1),
            replica_reads: RefCell::default(),
            blobs: RefCell::default(),
            now: Cell::new(START),
            batch_ms: Cell::new(0),
            db_fails: Cell::new(false),
            db_faults: RefCell::default(),
            blob_failures: Cell::new(0),
            blob_reads: RefCell::default(),
            blob_waits: Cell::new(0),
            blobs_pending: Cell::new(0),
            db_calls: Cell::new(0),
            background_writes: Cell::new(0),
            background_requests: RefCell::default(),
            size: Cell::new(0),
            limited: Cell::new(false),
            was_forwarded: Cell::new(false),
            counted_by: RefCell::default(),
            pauses: RefCell::default(),
            statements: RefCell::default(),
            sent: RefCell::default(),
            methods: RefCell::default(),
            streamed_body: RefCell::default(),
            platform: RefCell::new(Box::new(|request| panic!("no server for {request:?}"))),
            messages: RefCell::default(),
            has_queue: Cell::new(true),
            points: RefCell::default(),
            seed: Cell::new(1),
        }
    }

    /// The database of a shard, or the first one if the shard has none.
    pub fn database_of(&self, shard: Shard) -> &Database {
        if shard == *HOME {
            return &self.database;
        }
        let other =
            self.other_databases.get(&shard).or_else(|| self.other_databases.get(&Shard::FIRST));
        other.unwrap_or(&self.database)
    }

    /// The database of the current request.
    pub fn current_database(&self) -> &Database {
        self.database_of(self.current_shard.get())
    }

    /// Copies the current state of all databases to their replicas. Like those of D1, replicas lag
    /// behind: they change only at the next call.
    pub fn update_replicas(&mut self) {
        let other_databases =
            self.other_databases.iter_mut().map(|(shard, database)| (*shard, database));
        for (shard, database) in other_databases.chain([(*HOME, &mut self.database)]) {
            let copy = database.duplicate(true);
            self.replicas.get_mut().insert(shard, (self.bookmark.get(), copy));
        }
    }

    /// Adds a shard with a copy of the first shard's database.
    pub fn add_shard_copy(&mut self, shard: Shard) {
        self.other_databases.insert(shard, self.database.duplicate(false));
    }

    /// Runs `work` with a shard as the current one.
    pub fn within<T>(&self, shard: Shard, work: impl FnOnce() -> T) -> T {
        let before = self.current_shard.replace(shard);
        let done = work();
        self.current_shard.set(before);
        done
    }

    /// Creates a key without storing its hash.
    pub fn unknown_key(&self, environment: Environment) -> ApiKey {
        ApiKey::generate(environment, *HOME, |bytes| self.fill(bytes))
    }

    /// Creates a key and stores its hash.
    pub fn key(
        &self,
        account: &str,
        environment: Environment,
        scopes: &[Scope],
        expires_at: Option<u64>,
    ) -> ApiKey {
        self.key_in(*HOME, account, environment, scopes, expires_at)
    }

    /// Creates a key for an account in another shard and stores its hash.
    pub fn key_in(
        &self,
        shard: Shard,
        account: &str,
        environment: Environment,
        scopes: &[Scope],
        expires_at: Option<u64>,
    ) -> ApiKey {
        let key = ApiKey::generate(environment, shard, |bytes| self.fill(bytes));
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
        self.database_of(shard).execute(sql, row).unwrap();
        key
    }

    pub fn revoke(&self, key: &ApiKey) {
        self.database_of(key.shard())
            .execute("UPDATE api_keys SET revoked_at = 2 WHERE hash = ?1", [key.hash().to_string()])
            .unwrap();
    }

    /// Publishes a catalog: each connector with its actions.
    #[expect(clippy::needless_pass_by_value, reason = "callers build the catalog for this call")]
    pub fn publish(&self, catalog: Vec<(Connector, bool, Vec<Action>)>) -> Vec<SegmentId> {
        self.publish_in(Sizes::PUBLISHED, &catalog)
    }

    /// Publishes a catalog in parts of these sizes. Returns the segments.
    pub fn publish_in(
        &self,
        sizes: Sizes,
        catalog: &[(Connector, bool, Vec<Action>)],
    ) -> Vec<SegmentId> {
        let platform = |(connector, authkit, actions): &(Connector, bool, Vec<Action>)| Platform {
            connector: connector.clone(),
            detail: ConnectorDetail::default(),
            authkit: *authkit,
            aliases: Vec::new(),
            actions: actions.clone(),
            units: Units::default(),
        };
        self.publish_platforms(sizes, &catalog.iter().map(platform).collect::<Vec<_>>())
    }

    /// Publishes these platforms without adding default values. Returns the ids of the segments.
    pub fn publish_platforms(&self, sizes: Sizes, platforms: &[Platform]) -> Vec<SegmentId> {
        let parts: Vec<_> =
            platforms.iter().map(|platform| (platform, write::actions(platform, sizes))).collect();
        let put = |id: SegmentId, bytes: &[u8]| {
            self.blobs.borrow_mut().insert(id.key(), bytes.to_vec());
            Ok::<_, ()>(())
        };
        let version = write::catalog(&parts, sizes, put).unwrap();
        self.blobs.borrow_mut().insert(CURRENT_KEY.into(), version.current);
        version.manifest.segments
    }

    /// Dumps every row of every table.
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

    /// Dumps every row of every table, except events and audit entries, which outlive their
    /// subjects.
    pub fn dump_without_events(&self) -> Vec<String> {
        let outlives = |row: &String| row.starts_with("events: ") || row.starts_with("audit: ");
        self.dump().into_iter().filter(|row| !outlives(row)).collect()
    }

    /// The first column of a query's rows, as strings.
    pub fn texts(&self, sql: &str) -> Vec<String> {
        let mut statement = self.current_database().prepare_cached(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    }

    pub fn wait(&self, milliseconds: u64) {
        self.now.set(self.now.get() + milliseconds);
    }

    /// Takes all messages of the queue.
    pub fn take_messages(&self) -> Vec<(u64, String)> {
        self.messages.take()
    }

    /// Saves the state of the random numbers, so that the same ones can be drawn again.
    #[cfg(feature = "cli")]
    pub fn random_state(&self) -> u64 {
        self.seed.get()
    }

    /// Restores a saved state of the random numbers.
    #[cfg(feature = "cli")]
    pub fn restore_random_state(&self, state: u64) {
        self.seed.set(state);
    }

    /// Takes the due messages from the queue, which must all be for the current shard.
    pub fn messages(&self) -> Vec<String> {
        let (now, all) = (self.now.get(), self.messages.take());
        let (due, later): (Vec<_>, Vec<_>) = all.into_iter().partition(|(at, _)| *at <= now);
        self.messages.replace(later);
        let of_here = |(_, message): (u64, String)| {
            let (shard, message) = Shard::from_message(&message);
            assert_eq!(shard, self.current_shard.get());
            message.to_owned()
        };
        due.into_iter().map(of_here).collect()
    }
}

/// The increment of `SplitMix64` (Steele, Lea and Flood: "Fast Splittable Pseudorandom Number
/// Generators").
pub const SPLITMIX_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output of `SplitMix64` for a state.
pub const fn splitmix(state: u64) -> u64 {
    let number = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl Db for TestEnv {
    fn number(&self) -> u16 {
        self.current_shard.get().number()
    }

    fn was_forwarded(&self) -> bool {
        self.was_forwarded.get()
    }

    /// Like D1, runs the statements in one transaction, with at most 100 parameters per statement.
    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        self.db_calls.set(self.db_calls.get() + 1);
        if statements.is_empty() {
            return Err(StorageError::new("D1_ERROR: No SQL statements detected."));
        }
        self.wait(self.batch_ms.get());
        if self.db_fails.get() {
            return Err(StorageError::new("D1_ERROR: no such table: api_keys at /secret/path"));
        }
        let db_fault = self.db_faults.borrow_mut().pop_front();
        match db_fault {
            Some(DbFault::Before) => return Err(lost()),
            Some(DbFault::Busy) => {
                let report = "D1_ERROR: database is locked: SQLITE_BUSY at /secret/path";
                return Err(StorageError::from_d1(report));
            }
            Some(DbFault::After) | None => {}
        }
        assert!(statements.iter().all(|statement| statement.params.len() <= 100));
        self.statements.borrow_mut().clone_from(&statements);
        let database = self.current_database();
        database.set_now(self.now.get());
        let sets = database.transaction(|| self.all(database, &statements))?;
        if sets.iter().any(|set| set.rows_written > 0) {
            self.bookmark.set(self.bookmark.get() + 1);
        }
        if db_fault == Some(DbFault::After) { Err(lost()) } else { Ok(sets) }
    }

    /// Like D1, lets a replica execute a batch that only reads, if the replica is recent enough.
    async fn batch_since(
        &self,
        statements: Vec<Statement>,
        since: &str,
    ) -> Result<(Vec<ResultSet>, Option<String>), StorageError> {
        let bookmark = |number: u64| Some(format!("{number:08x}-00000000"));
        let expected = match since {
            "first-unconstrained" => Some(0),
            "first-primary" => None,
            other => Some(u64::from_str_radix(other.split('-').next().unwrap(), 16).unwrap()),
        };
        if expected.is_some_and(|expected| expected > self.bookmark.get()) {
            return Err(StorageError::new("no such bookmark"));
        }
        let reads = statements.iter().all(|statement| statement.sql.starts_with("SELECT"));
        if let Some((at, copy)) = self.replicas.borrow().get(&self.current_shard.get())
            && reads
            && expected.is_some_and(|expected| expected <= *at)
        {
            self.db_calls.set(self.db_calls.get() + 1);
            self.replica_reads.borrow_mut().push(*at);
            return Ok((self.all(copy, &statements)?, bookmark(*at)));
        }
        let sets = self.batch(statements).await?;
        Ok((sets, bookmark(self.bookmark.get())))
    }
}

impl Background for TestEnv {
    /// Runs the statement immediately, without counting it as a call that a request waits for.
    fn run_in_background(&self, statement: Statement) {
        self.background_writes.set(self.background_writes.get() + 1);
        self.run(self.current_database(), &statement).unwrap();
    }

    fn send_in_background(&self, request: HttpRequest, timeout_ms: u32) {
        assert_eq!(timeout_ms, 5000);
        self.background_requests.borrow_mut().push(request);
    }
}

/// A fault of the connection to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DbFault {
    /// The connection is lost before the batch takes effect.
    Before,
    /// The connection is lost after the batch has taken effect, but before the response arrives.
    After,
    /// The connection works, but another program is writing.
    Busy,
}

fn lost() -> StorageError {
    StorageError::from_d1("D1_ERROR: Network connection lost. at /secret/path")
}

impl TestEnv {
    fn all(
        &self,
        database: &rusqlite::Connection,
        statements: &[Statement],
    ) -> Result<Vec<ResultSet>, StorageError> {
        let run = |statement| self.run(database, statement);
        let sets = statements.iter().map(run).collect::<rusqlite::Result<_>>();
        sets.map_err(|error| StorageError::new(error.to_string()))
    }

    fn run(
        &self,
        database: &rusqlite::Connection,
        statement: &Statement,
    ) -> rusqlite::Result<ResultSet> {
        let mut prepared = database.prepare_cached(&statement.sql)?;
        let names: Vec<String> = prepared.column_names().map(str::to_owned).collect();
        let params = rusqlite::params_from_iter(statement.params.iter().map(to_sqlite));
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
        // Unlike the count of D1, this count does not include index entries.
        let rows_written = if prepared.readonly() { 0 } else { database.changes() };
        let size_after = self.size.get();
        Ok(ResultSet { rows_read: count, rows_written, size_after, json })
    }
}

/// Converts a parameter to a `SQLite` type as D1 does, where every number is a JavaScript number.
#[expect(clippy::cast_precision_loss, reason = "whole numbers are below 2^53")]
pub fn to_sqlite(param: &Param) -> rusqlite::types::Value {
    match param {
        Param::Integer(value) => rusqlite::types::Value::Real(*value as f64),
        Param::Text(text) => rusqlite::types::Value::Text(text.clone()),
        Param::Null => rusqlite::types::Value::Null,
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

/// The origin of a service that responds slowly.
pub const SLOW_ORIGIN: &str = "https://slow.example";

/// Completes when it is polled for the `index`-th time, counting from 1.
async fn wait_for_poll(index: u32) {
    let mut remaining_polls = index;
    poll_fn(|context| {
        remaining_polls -= 1;
        context.waker().wake_by_ref();
        if remaining_polls == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

impl Blobs for TestEnv {
    async fn get(&self, key: &str) -> Result<Option<Rc<dyn Blob>>, StorageError> {
        self.blob_reads.borrow_mut().push(key.to_owned());
        if self.blobs_pending.replace(self.blobs_pending.get() + 1) == 0 {
            self.blob_waits.set(self.blob_waits.get() + 1);
        }
        // As in real storage, concurrent reads are in flight together.
        wait_for_poll(2).await;
        self.blobs_pending.set(self.blobs_pending.get() - 1);
        if self.blob_failures.get() > 0 {
            self.blob_failures.set(self.blob_failures.get() - 1);
            return Err(StorageError::new("KV GET failed: 500 at /secret/path"));
        }
        let value = self.blobs.borrow().get(key).cloned();
        Ok(value.map(|bytes| Rc::new(bytes) as Rc<dyn Blob>))
    }

    async fn inflate(&self, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StorageError> {
        Ok(unit::inflate(&bytes))
    }
}

impl Http for TestEnv {
    async fn send(&self, request: HttpRequest, _: u32) -> Result<HttpResponse, HttpError> {
        self.respond_for_platform(&request)
    }

    async fn open(
        &self,
        request: StreamingRequest<'_>,
        timeout_ms: u32,
    ) -> Result<StreamingResponse, HttpError> {
        assert!([10_000, 15_000, 30_000].contains(&timeout_ms), "{timeout_ms}");
        let body = match request.payload {
            Payload::Bytes(bytes) => bytes.to_vec(),
            Payload::Stream => self.streamed_body.take().unwrap(),
        };
        self.methods.borrow_mut().push(request.method.to_owned());
        if request.url.starts_with(SLOW_ORIGIN) {
            // Needs more polls than any pause.
            wait_for_poll(30).await;
        }
        let response = self.respond_for_platform(&HttpRequest {
            method: request.method.parse().unwrap_or(Method::Get),
            url: request.url.to_owned(),
            headers: request.headers.to_vec(),
            body,
        })?;
        Ok(StreamingResponse {
            status: response.status,
            headers: response.headers,
            body: Rc::new(response.body),
        })
    }

    async fn read(&self, body: Rc<dyn Any>, max: usize) -> Result<Vec<u8>, HttpError> {
        let bytes = body.downcast_ref::<Vec<u8>>().unwrap();
        if bytes.len() > max { Err(HttpError::TooLarge) } else { Ok(bytes.clone()) }
    }

    fn copy(&self, body: &Rc<dyn Any>) -> Option<Rc<dyn Any>> {
        Some(Rc::clone(body))
    }

    /// Also decodes one charset that needs tables, as the runtime does.
    fn decode(&self, charset: &str, bytes: &[u8]) -> Option<String> {
        if charset != "iso-8859-15" {
            return charset::decode(charset, bytes);
        }
        let decode_byte = |byte: &u8| match *byte {
            0xa4 => '€',
            0xa6 => 'Š',
            0xa8 => 'š',
            0xb4 => 'Ž',
            0xb8 => 'ž',
            0xbc => 'Œ',
            0xbd => 'œ',
            0xbe => 'Ÿ',
            other => char::from(other),
        };
        Some(bytes.iter().map(decode_byte).collect())
    }
}

impl TestEnv {
    /// The response of another service to a request.
    fn respond_for_platform(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        self.sent.borrow_mut().push(request.clone());
        (self.platform.borrow_mut())(request)
    }
}

impl Signatures for TestEnv {
    async fn verify(
        &self,
        algorithm: Algorithm,
        key: &str,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let key: Value = serde_json::from_str(key).unwrap();
        let part = |name: &str| {
            Base64UrlUnpadded::decode_vec(key[name].as_str().unwrap_or_default())
                .unwrap_or_default()
        };
        let verified = match algorithm {
            Algorithm::Rs256 => RsaPublicKeyComponents { n: part("n"), e: part("e") }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
            Algorithm::Es256 => {
                let point = [&[4][..], &part("x"), &part("y")].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
        };
        verified.is_ok()
    }

    async fn sign(&self, algorithm: Algorithm, key: &str, message: &[u8]) -> Option<Vec<u8>> {
        let key: Value = serde_json::from_str(key).ok()?;
        let part = |name: &str| Base64UrlUnpadded::decode_vec(key[name].as_str()?).ok();
        let random = SystemRandom::new();
        match algorithm {
            Algorithm::Rs256 => {
                let pair = RsaKeyPair::from_components(&KeyPairComponents {
                    public_key: PublicKeyComponents { n: part("n")?, e: part("e")? },
                    d: part("d")?,
                    p: part("p")?,
                    q: part("q")?,
                    dP: part("dp")?,
                    dQ: part("dq")?,
                    qInv: part("qi")?,
                })
                .ok()?;
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).ok()?;
                Some(signature)
            }
            Algorithm::Es256 => {
                let point = [&[4][..], &part("x")?, &part("y")?].concat();
                let how = &ECDSA_P256_SHA256_FIXED_SIGNING;
                let pair = EcdsaKeyPair::from_private_key_and_public_key(
                    how,
                    &part("d")?,
                    &point,
                    &random,
                );
                Some(pair.ok()?.sign(&random, message).ok()?.as_ref().to_vec())
            }
        }
    }
}

impl Patterns for TestEnv {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        let read = |flags| regress::Regex::with_flags(&format!("^(?:{pattern})$"), flags);
        let pattern = read("v").or_else(|_| read("u"));
        pattern.map_or(true, |pattern| pattern.find(text).is_some())
    }
}

impl Clock for TestEnv {
    fn now(&self) -> u64 {
        self.now.get()
    }

    /// Takes more polls than any read of a value.
    async fn sleep(&self, milliseconds: u32) -> bool {
        wait_for_poll(3).await;
        self.pauses.borrow_mut().push(milliseconds);
        true
    }
}

impl Random for TestEnv {
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

impl Dataset for TestEnv {
    fn has_dataset(&self) -> bool {
        self.points.borrow().is_some()
    }

    fn write_points(&self, points: &str) {
        let points: Vec<Value> = serde_json::from_str(points).unwrap();
        self.points.borrow_mut().as_mut().unwrap().extend(points);
    }
}

impl Queue for TestEnv {
    async fn enqueue(&self, messages: Vec<String>, delay: Duration) -> Result<bool, StorageError> {
        assert!(!messages.is_empty(), "the platform refuses a batch without messages");
        if self.has_queue.get() {
            let at = self.now.get() + u64::try_from(delay.as_millis()).unwrap();
            let marked =
                messages.into_iter().map(|message| (at, self.current_shard.get().mark(message)));
            self.messages.borrow_mut().extend(marked);
        }
        Ok(self.has_queue.get())
    }
}

impl RateLimit for TestEnv {
    async fn allow(&self, caller: &str) -> Result<(), RetryAfter> {
        *self.counted_by.borrow_mut() = Some(caller.to_owned());
        if self.limited.get() { Err(RetryAfter(60)) } else { Ok(()) }
    }
}

/// A service with its test environment, and a key with all scopes.
pub struct Api {
    pub env: TestEnv,
    pub service: Service,
    pub key: ApiKey,
}

impl Api {
    /// Returns a service without a catalog.
    pub fn new(config: Config) -> Self {
        let env = TestEnv::new();
        let key = env.key("acme", Environment::Test, &Scope::ALL, None);
        Self { env, service: Service::new(config), key }
    }

    /// Moves the database to a file, so that a scripted server can change it while the service
    /// waits for a response. Returns the file's path.
    pub fn share_database(&mut self, name: &str) -> std::path::PathBuf {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.sqlite"));
        self.env.database.move_to(&path);
        path
    }

    /// Makes the scripted server run the SQL `change` when it gets a request for `url`, while the
    /// service waits.
    pub fn change_while(&mut self, name: &str, url: &'static str, change: &'static str) {
        let path = self.share_database(name);
        let mut serve = self.env.platform.replace(Box::new(|request| panic!("{}", request.url)));
        *self.env.platform.borrow_mut() = Box::new(move |request| {
            if request.url == url {
                rusqlite::Connection::open(&path).unwrap().execute_batch(change).unwrap();
            }
            serve(request)
        });
    }

    /// Returns a service with the [`small_catalog`].
    pub fn with_catalog() -> Self {
        Self::with_sessions("", "")
    }

    /// Returns a service with the [`small_catalog`] and these secrets for signing tokens.
    pub fn with_sessions(current: &str, previous: &str) -> Self {
        let secrets = [("SESSION_SECRET", current), ("SESSION_SECRET_PREVIOUS", previous)];
        let api = Self::new(config(&secrets));
        api.env.publish(small_catalog());
        api
    }

    pub fn send(&self, request: &Request) -> Response {
        let shard = self.service.shard(request);
        let reply = || pollster::block_on(handle(&self.service, &self.env, request));
        let mut response = self.env.within(shard, reply);
        for _ in 0..MAX_FORWARDS {
            let Some(shard) = response.moved_to else { break };
            self.env.was_forwarded.set(true);
            response = self.env.within(shard, reply);
        }
        self.env.was_forwarded.set(false);
        with_full_body(response)
    }

    /// Records today as the day of the key's last use, so that later requests do not write it.
    pub fn mark_key_used(&self, key: &ApiKey) {
        assert_eq!(self.send(&as_key(key, "GET", "/v1/whoami")).status, 200);
    }

    /// Writes the request counts that this isolate has collected.
    pub fn flush_usage(&self) {
        let flush = || pollster::block_on(usage::flush(&self.service, &self.env, 0));
        self.env.within(*HOME, flush).unwrap();
    }

    /// Sends a `GET` request with the key.
    pub fn get(&self, path_and_query: &str) -> Response {
        self.send(&self.request("GET", path_and_query))
    }

    pub fn request(&self, method: &str, path_and_query: &str) -> Request {
        as_key(&self.key, method, path_and_query)
    }
}

/// Reads a cached or proxied body into the response.
pub fn with_full_body(mut response: Response) -> Response {
    if let Some(cached) = response.cached.take() {
        assert!(response.body.is_empty());
        response.body = cached.read(0..cached.size()).unwrap();
    }
    if let Some(proxied) = &response.proxied {
        assert!(response.body.is_empty());
        response.body = proxied.body.downcast_ref::<Vec<u8>>().unwrap().clone();
    }
    response
}

/// Returns a request with a key.
pub fn as_key(key: &ApiKey, method: &str, path_and_query: &str) -> Request {
    as_secret(key.reveal(), method, path_and_query)
}

/// Returns a request with any type of secret.
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
        endpoint: None,
    }
}

/// Adds a JSON body to a request.
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

/// The values of one member in the rows of a list.
pub fn column(response: &Response, member: &str) -> Vec<String> {
    let rows =
        body(response)["rows"].as_array().unwrap_or_else(|| panic!("{}", body(response))).clone();
    rows.iter()
        .map(|row| row[member].as_str().map_or_else(|| row[member].to_string(), str::to_owned))
        .collect()
}

pub fn connector(platform: &str, name: &str, category: &str, tools: u32) -> Connector {
    Connector {
        id: 1 + u64::from(connector_vault::util::crc32::crc32(platform.as_bytes())),
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

/// A catalog of five connectors; `alpha` has six actions, and `empty` has none.
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

/// Units with these actions, sorted by key as [`connector_vault::catalog::action::stored`] writes
/// them, and with these definitions.
pub fn units(schemes: Value, actions: &[Value], definitions: &[(&str, &str)]) -> Units {
    let key = |action: &Value| action["key"].as_str().unwrap().to_owned();
    let keys: Vec<String> = actions.iter().map(key).collect();
    let written: Vec<(&str, String)> =
        keys.iter().map(String::as_str).zip(actions.iter().map(Value::to_string)).collect();
    let bytes = unit::deflate(&unit::write_unit(&written, definitions));
    let schemes = serde_json::from_value(schemes).unwrap();
    let first = keys.first().cloned();
    Units { schemes, units: first.map(|first| DeflatedUnit { first, bytes }).into_iter().collect() }
}
