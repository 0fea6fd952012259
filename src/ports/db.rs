//! The port to the vault's database.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;

use memchr::memmem::Finder;
use serde::de::DeserializeOwned;

use super::http::HttpRequest;

/// D1's messages for a batch whose result is unknown because the connection was lost. The batch may
/// be retried.
const CONNECTION_LOST: [&str; 3] = [
    "Network connection lost",
    "storage caused object to be reset",
    "reset because its code was updated",
];

/// The message of local storage while another program, such as `wrangler dev`, is writing to the
/// database file.
const DATABASE_BUSY: &str = "SQLITE_BUSY";

/// The message of the triggers that reject changes to an account that is moving.
const ACCOUNT_MOVING: &str = "the account is being moved to another database";
/// The message of the trigger that limits an end user's changes.
const TOO_MANY_CHANGES: &str = "too many changes within 24 hours";

/// An error of the database or of the catalog's store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageError {
    /// The cause for the log. Never included in a response.
    pub cause: String,
    /// Whether the statements may be retried.
    pub retry: Retry,
}

/// Whether failed statements may be retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// They would fail again.
    Never,
    /// They may be retried. The connection to storage was lost, so they may already have run.
    Lost,
    /// They may be retried. Another program was writing, so they have not run.
    Busy,
}

impl StorageError {
    /// Creates a permanent error, for which a retry would not help.
    pub fn new(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), retry: Retry::Never }
    }

    /// Whether a change was rejected because its account is moving.
    pub fn is_account_moving(&self) -> bool {
        Finder::new(ACCOUNT_MOVING).find(self.cause.as_bytes()).is_some()
    }

    /// Whether a change was rejected because its actor has made too many changes.
    pub fn is_too_many_changes(&self) -> bool {
        Finder::new(TOO_MANY_CHANGES).find(self.cause.as_bytes()).is_some()
    }

    /// Creates an error from D1's message.
    pub fn from_d1(report: &str) -> Self {
        let contains = |text: &str| Finder::new(text).find(report.as_bytes()).is_some();
        let retry = if contains(DATABASE_BUSY) {
            Retry::Busy
        } else if CONNECTION_LOST.into_iter().any(contains) {
            Retry::Lost
        } else {
            Retry::Never
        };
        Self { cause: format!("D1: {report}"), retry }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl std::error::Error for StorageError {}

/// A bound parameter of a statement. `Debug` prints no values, because some are hashes of keys.
#[derive(Clone, PartialEq, Eq)]
pub enum Param {
    /// A whole number below 2^53.
    Integer(i64),
    Text(String),
    Null,
}

impl Param {
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub fn optional_text(text: Option<&str>) -> Self {
        text.map_or(Self::Null, Self::text)
    }

    /// A whole number. A number above SQL's maximum is clamped, but times and limits are never that
    /// large.
    pub fn integer(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// A whole number, or NULL.
    pub fn optional_integer(number: Option<u64>) -> Self {
        number.map_or(Self::Null, Self::integer)
    }
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

/// A SQL statement and its parameters, starting with `?1`.
#[must_use = "a statement does nothing until a batch runs it"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The SQL. Never contains input.
    pub sql: Cow<'static, str>,
    /// The values of the parameters.
    pub params: Vec<Param>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultSet {
    /// The rows as a JSON array of objects. Each object has a member per column.
    pub json: String,
    /// The number of rows read, as D1 bills it.
    pub rows_read: u64,
    /// The number of rows and index entries written, as D1 bills it.
    pub rows_written: u64,
    /// The size of the database after the statement, in bytes; 0 if unknown.
    pub size_after: u64,
}

impl ResultSet {
    /// Deserializes the rows. Fails if a row is not a `T`.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<T>, StorageError> {
        super::rows::parse(&self.json)
    }
}

/// The first row of the statement with this index. Returns `None` if it has no rows or does not
/// exist.
pub fn first_row<T: DeserializeOwned>(
    sets: &[ResultSet],
    statement: usize,
) -> Result<Option<T>, StorageError> {
    Ok(all_rows(sets, statement)?.into_iter().next())
}

/// All rows of the statement with this index. Empty if it does not exist.
pub fn all_rows<T: DeserializeOwned>(
    sets: &[ResultSet],
    statement: usize,
) -> Result<Vec<T>, StorageError> {
    super::rows::parse(sets.get(statement).map_or("[]", |set| &set.json))
}

/// The vault's database.
pub trait Db {
    /// The shard number of this database.
    fn number(&self) -> u16;

    /// Whether another shard forwarded the request here because the account has moved.
    fn was_forwarded(&self) -> bool {
        false
    }

    /// Runs the statements in one round trip and one transaction. Returns a result set for each
    /// statement, in their order.
    fn batch(
        &self,
        statements: Vec<Statement>,
    ) -> impl Future<Output = Result<Vec<ResultSet>, StorageError>>;

    /// Like [`Self::batch`], but in a session that starts at `since`: a bookmark or one of D1's
    /// constraints. A read replica may run statements that only read. Also returns the bookmark
    /// after the batch, or `None` if the storage has no replicas.
    fn batch_since(
        &self,
        statements: Vec<Statement>,
        _since: &str,
    ) -> impl Future<Output = Result<(Vec<ResultSet>, Option<String>), StorageError>> {
        async { Ok((self.batch(statements).await?, None)) }
    }
}

/// Work that continues after the response. Errors are only logged.
pub trait Background {
    /// Runs a statement after the response.
    fn run_in_background(&self, statement: Statement);

    /// Sends a request to another service after the response. Ignores the status of the reply.
    fn send_in_background(&self, request: HttpRequest, timeout_ms: u32);
}
