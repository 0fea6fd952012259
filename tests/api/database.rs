//! In-memory databases that behave like D1. Tests reuse them after a rollback, because creating a
//! connection is slower than most tests: `SQLite` parses the schema and prepares each statement
//! again.

use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::limits::Limit;

use crate::support::{SPLITMIX_GAMMA, START, splitmix};

/// D1's limits that are lower than `SQLite`'s own, from `src/workerd/util/sqlite.c++` of workerd.
const LIMITS: [(Limit, i32); 10] = [
    (Limit::SQLITE_LIMIT_LENGTH, 2_200_000),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (Limit::SQLITE_LIMIT_COLUMN, 100),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 5),
    (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50),
    (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 100),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
];

/// Connections that no test uses at the moment. Each has the service's tables, without rows.
static IDLE: Mutex<Vec<Connection>> = Mutex::new(Vec::new());

static MIGRATIONS: LazyLock<Vec<String>> = LazyLock::new(migrations);

pub struct Database {
    /// `None` only during `drop`.
    connection: Option<Connection>,
    /// Whether another test may use the connection afterwards.
    is_reusable: bool,
}

struct Connection {
    sqlite: rusqlite::Connection,
    /// The current time of the SQL function `unixepoch`, in milliseconds.
    now: Arc<AtomicU64>,
    /// The state of the SQL function `random`, and the increment per call.
    seed: Arc<AtomicU64>,
    step: Arc<AtomicU64>,
}

impl Database {
    /// A database with the service's tables.
    pub fn new() -> Self {
        let idle = IDLE.lock().unwrap().pop();
        let connection = idle.unwrap_or_else(|| {
            let connection = Connection::open();
            for migration in &*MIGRATIONS {
                connection.sqlite.execute_batch(migration).unwrap();
            }
            connection.sqlite.execute_batch("SAVEPOINT unused").unwrap();
            connection
        });
        connection.now.store(START, Ordering::Relaxed);
        connection.seed.store(SPLITMIX_GAMMA, Ordering::Relaxed);
        connection.step.store(SPLITMIX_GAMMA, Ordering::Relaxed);
        Self { connection: Some(connection), is_reusable: true }
    }

    /// A database without tables.
    pub fn empty() -> Self {
        Self { connection: Some(Connection::open()), is_reusable: false }
    }

    /// Copies the tables and rows into another in-memory database.
    pub fn duplicate(&mut self, is_read_only: bool) -> Self {
        let bytes = self.serialize("main").unwrap().to_vec();
        let mut copy = Connection::open();
        let main = &mut copy.sqlite;
        main.deserialize_read_exact("main", &bytes[..], bytes.len(), is_read_only).unwrap();
        Self { connection: Some(copy), is_reusable: false }
    }

    /// Moves the database to a file, which other connections can open.
    pub fn move_to(&mut self, path: &Path) {
        fs::write(path, &*self.serialize("main").unwrap()).unwrap();
        *self = Self {
            connection: Some(Connection::from_sqlite(rusqlite::Connection::open(path).unwrap())),
            is_reusable: false,
        };
    }

    /// Makes `random` always return the same number.
    pub fn fix_random(&self) {
        self.connection().step.store(0, Ordering::Relaxed);
    }

    /// Sets the time that triggers read, in milliseconds since 1970-01-01 UTC.
    pub fn set_now(&self, now: u64) {
        self.connection().now.store(now, Ordering::Relaxed);
    }

    /// Runs `work` in a transaction. Rolls its changes back if it fails.
    pub fn transaction<T, E>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.execute_batch("SAVEPOINT batch").unwrap();
        let result = work();
        let end = if result.is_ok() { "RELEASE batch" } else { "ROLLBACK TO batch; RELEASE batch" };
        self.execute_batch(end).unwrap();
        result
    }

    fn connection(&self) -> &Connection {
        self.connection.as_ref().unwrap()
    }
}

impl Connection {
    fn open() -> Self {
        Self::from_sqlite(rusqlite::Connection::open_in_memory().unwrap())
    }

    fn from_sqlite(sqlite: rusqlite::Connection) -> Self {
        sqlite.set_prepared_statement_cache_capacity(4096);
        for (limit, max) in LIMITS {
            sqlite.set_limit(limit, max).unwrap();
        }
        // Statements are planned once, independently of the values bound to them.
        sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).unwrap();
        let now = Arc::new(AtomicU64::new(START));
        let clock = Arc::clone(&now);
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
        let unixepoch = move |_: &rusqlite::functions::Context<'_>| {
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of this century")]
            let seconds = clock.load(Ordering::Relaxed) as f64 / 1000.0;
            Ok(seconds)
        };
        sqlite.create_scalar_function("unixepoch", 1, flags, unixepoch).unwrap();
        // `SQLite` seeds `random` from the operating system, so tests that spread checks would
        // differ in each run.
        let seed = Arc::new(AtomicU64::new(SPLITMIX_GAMMA));
        let step = Arc::new(AtomicU64::new(SPLITMIX_GAMMA));
        let (state, added) = (Arc::clone(&seed), Arc::clone(&step));
        let random = move |_: &rusqlite::functions::Context<'_>| {
            let added = added.load(Ordering::Relaxed);
            Ok(splitmix(state.fetch_add(added, Ordering::Relaxed)).cast_signed())
        };
        sqlite.create_scalar_function("random", 0, flags, random).unwrap();
        Self { sqlite, now, seed, step }
    }
}

impl Deref for Database {
    type Target = rusqlite::Connection;

    fn deref(&self) -> &rusqlite::Connection {
        &self.connection().sqlite
    }
}

impl DerefMut for Database {
    fn deref_mut(&mut self) -> &mut rusqlite::Connection {
        &mut self.connection.as_mut().unwrap().sqlite
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if !self.is_reusable || thread::panicking() {
            return;
        }
        // A rollback restores tables, triggers and rows, but not pragmas. Setting a pragma makes
        // `SQLite` prepare all statements again, so only changed ones are set.
        let is_set = |pragma: &str| -> bool {
            let mut statement = connection.sqlite.prepare_cached(pragma).unwrap();
            statement.query_row([], |row| row.get(0)).unwrap()
        };
        if !is_set("PRAGMA query_only") && !is_set("PRAGMA ignore_check_constraints") {
            connection.sqlite.execute_batch("ROLLBACK TO unused").unwrap();
            IDLE.lock().unwrap().push(connection);
        }
    }
}

/// The SQL of the migrations, in order.
pub fn migrations() -> Vec<String> {
    let mut paths: Vec<_> =
        fs::read_dir("schema").unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}
