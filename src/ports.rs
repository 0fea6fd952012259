//! What the core needs from outside. The Worker gives it Cloudflare's storage, the tests `SQLite` and memory.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;

use crate::access::key::KeyHash;
use crate::json::{self, Value};

/// Storage could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageError {
    /// For the log; never leaves the Worker.
    pub cause: String,
    /// Whether the connection to storage was lost on the way: what was asked may be done or not, and may be asked again.
    pub lost: bool,
}

impl StorageError {
    /// A failure that another try would meet again.
    pub fn new(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), lost: false }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl std::error::Error for StorageError {}

/// A bound parameter of a statement. `Debug` shows no value: one of them is the hash of a key.
#[derive(Clone, PartialEq, Eq)]
pub enum Param {
    /// A whole number below 2^53.
    Integer(i64),
    /// A text.
    Text(String),
    /// SQL's NULL.
    Null,
}

impl fmt::Debug for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Integer(_) => "Integer(…)",
            Self::Text(_) => "Text(…)",
            Self::Null => "Null",
        })
    }
}

/// One SQL statement with its parameters, `?1` first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The text, never built from input.
    pub sql: Cow<'static, str>,
    /// What is bound to it.
    pub params: Vec<Param>,
}

/// What one statement gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultSet {
    /// The rows as a JSON array of objects, a member a column.
    pub json: String,
    /// Rows that the database read, as it bills them.
    pub rows_read: u64,
    /// Rows and index entries that it wrote, as it bills them.
    pub rows_written: u64,
}

impl ResultSet {
    /// The rows, each as what `read` makes of it.
    ///
    /// # Errors
    /// When `read` finds that a row has not the shape that it should have.
    pub fn rows<T>(&self, read: fn(Value) -> Option<T>) -> Result<Vec<T>, StorageError> {
        let rows = json::parse(&self.json);
        let Ok(Value::Array(rows)) = rows else {
            return Err(StorageError::new("the rows are no JSON array"));
        };
        let rows: Option<Vec<T>> = rows.into_iter().map(read).collect();
        rows.ok_or_else(|| StorageError::new("a row has an unexpected shape"))
    }
}

/// The vault's database.
pub trait Db {
    /// Runs the statements in one round trip and one transaction; a result set each, in their order.
    fn batch(
        &self,
        statements: Vec<Statement>,
    ) -> impl Future<Output = Result<Vec<ResultSet>, StorageError>>;
}

/// The catalog's store of immutable values.
pub trait Blobs {
    /// The value of `key`; none when there is no such key.
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<Vec<u8>>, StorageError>>;
}

/// The time.
pub trait Clock {
    /// Milliseconds since 1970-01-01 UTC.
    fn now(&self) -> u64;

    /// Waits.
    fn sleep(&self, milliseconds: u32) -> impl Future<Output = ()>;
}

/// Secure randomness.
pub trait Random {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);

    /// A version 4 UUID, in lower case with hyphens.
    fn uuid(&self) -> String {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }
}

/// How often a key may ask.
pub trait RateLimit {
    /// Whether `key` may ask once more now; for how many seconds it should wait otherwise.
    fn allow(&self, key: &KeyHash) -> impl Future<Output = Result<(), RetryAfter>>;
}

/// Seconds to wait before asking again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryAfter(pub u32);

/// Everything at once.
pub trait Ports: Db + Blobs + Clock + Random + RateLimit {}

impl<T: Db + Blobs + Clock + Random + RateLimit> Ports for T {}
