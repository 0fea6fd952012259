//! The vault's database.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;

use memchr::memmem::Finder;
use serde::de::DeserializeOwned;

use super::http::HttpRequest;

/// D1's messages for a batch that may or may not have run, and may be sent again.
const LOST: [&str; 3] = [
    "Network connection lost",
    "storage caused object to be reset",
    "reset because its code was updated",
];

/// The message on a developer's machine when another program, such as `wrangler dev`, is writing to the database's file.
const BUSY: &str = "SQLITE_BUSY";

/// The message of the triggers that refuse to change an account that is being moved.
const MOVED: &str = "the account is being moved to another database";
/// The message of the trigger that limits the changes of an end user.
const TOO_MANY_CHANGES: &str = "too many changes within 24 hours";

/// An error of storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageError {
    /// For the log; never leaves the Worker.
    pub cause: String,
    /// Whether the statements may be sent again.
    pub retry: Retry,
}

/// Whether statements that failed may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// No: they would fail again.
    Never,
    /// Yes: the connection to storage was lost, and they may or may not have run.
    Lost,
    /// Yes: another program was writing at the time, so they have not run.
    Busy,
}

impl StorageError {
    /// A permanent failure: retrying would not help.
    pub fn new(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), retry: Retry::Never }
    }

    /// Whether a change was refused because its account is being moved.
    pub fn is_moved(&self) -> bool {
        Finder::new(MOVED).find(self.cause.as_bytes()).is_some()
    }

    /// Whether a change was refused because its actor has made too many.
    pub fn is_too_many_changes(&self) -> bool {
        Finder::new(TOO_MANY_CHANGES).find(self.cause.as_bytes()).is_some()
    }

    /// A failure that D1 reported.
    pub fn from_d1(report: &str) -> Self {
        let contains = |text: &str| Finder::new(text).find(report.as_bytes()).is_some();
        let retry = if contains(BUSY) {
            Retry::Busy
        } else if LOST.into_iter().any(contains) {
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

/// A bound parameter of a statement. `Debug` shows no value, because some are hashes of keys.
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

    /// A string, or NULL.
    pub fn optional_text(text: Option<&str>) -> Self {
        text.map_or(Self::Null, Self::text)
    }

    /// A whole number. A value above SQL's maximum is clamped; no time and no limit is that large.
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

/// One SQL statement with its parameters, `?1` first.
#[must_use = "a statement does nothing until a batch runs it"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The SQL, never built from input.
    pub sql: Cow<'static, str>,
    /// The values bound to its placeholders.
    pub params: Vec<Param>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultSet {
    /// The rows as a JSON array of objects, one member per column.
    pub json: String,
    /// Rows read, as the database bills them.
    pub rows_read: u64,
    /// Rows and index entries written, as the database bills them.
    pub rows_written: u64,
    /// The size of the database after the statement, in bytes; 0 when it was not reported.
    pub size_after: u64,
}

impl ResultSet {
    /// The rows. Fails when a row is not a `T`.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<T>, StorageError> {
        super::rows::parse(&self.json)
    }
}

/// The first row of the statement with this number. Returns `None` when it has no rows, or there is no such statement.
pub fn first_row<T: DeserializeOwned>(
    sets: &[ResultSet],
    statement: usize,
) -> Result<Option<T>, StorageError> {
    Ok(all_rows(sets, statement)?.into_iter().next())
}

/// All rows of the statement with this number; none when there is no such statement.
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

    /// Whether the request was forwarded here by the database that its secret names, because the account has moved.
    fn was_forwarded(&self) -> bool {
        false
    }

    /// Runs the statements in one round trip and one transaction; returns one result set per statement, in their order.
    fn batch(
        &self,
        statements: Vec<Statement>,
    ) -> impl Future<Output = Result<Vec<ResultSet>, StorageError>>;

    /// Like [`Self::batch`], in a session that starts at `since`, a bookmark or one of D1's constraints. A read replica
    /// may run statements that only read. Also returns the session's bookmark after the batch; `None` from storage
    /// without replicas.
    fn batch_since(
        &self,
        statements: Vec<Statement>,
        _since: &str,
    ) -> impl Future<Output = Result<(Vec<ResultSet>, Option<String>), StorageError>> {
        async { Ok((self.batch(statements).await?, None)) }
    }
}

/// Work that no response waits for. Errors are only logged.
pub trait Background {
    /// Runs a statement in the background after the response.
    fn run_in_background(&self, statement: Statement);

    /// Sends a request to another service in the background, after the response. Its status is ignored.
    fn send_in_background(&self, request: HttpRequest, deadline_ms: u32);
}
