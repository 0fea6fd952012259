//! What the core needs from outside. The Worker provides Cloudflare's storage; the tests provide `SQLite` and memory.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use memchr::memmem::Finder;
use serde::de::DeserializeOwned;

use crate::platform_calls::charset;
use crate::terms::Method;

/// What D1 reports when a batch may or may not have run, and may be sent again.
const LOST: [&str; 3] = [
    "Network connection lost",
    "storage caused object to be reset",
    "reset because its code was updated",
];

/// What is reported on a machine where several programs have the database's file open, as `wrangler dev` and a command
/// do, when another one writes.
const BUSY: &str = "SQLITE_BUSY";

/// What triggers say when they refuse to change an account that is being moved.
const MOVED: &str = "the account is being moved to another database";

/// Storage could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageError {
    /// For the log; never leaves the Worker.
    pub cause: String,
    /// Whether the statements may be sent again.
    pub again: Again,
}

/// Whether statements that failed may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// They would fail again.
    Never,
    /// The connection to storage was lost: they may or may not have run.
    Lost,
    /// Another program was writing at this moment: they have not run.
    Busy,
}

impl StorageError {
    /// A failure that a retry would meet again.
    pub fn new(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), again: Again::Never }
    }

    /// Whether a change was refused because its account is being moved.
    #[must_use]
    pub fn is_moved(&self) -> bool {
        Finder::new(MOVED).find(self.cause.as_bytes()).is_some()
    }

    /// What D1 reported.
    #[must_use]
    pub fn of_d1(report: &str) -> Self {
        let says = |text: &str| Finder::new(text).find(report.as_bytes()).is_some();
        let again = if says(BUSY) {
            Again::Busy
        } else if LOST.into_iter().any(says) {
            Again::Lost
        } else {
            Again::Never
        };
        Self { cause: format!("D1: {report}"), again }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl std::error::Error for StorageError {}

/// A bound parameter of a statement. `Debug` shows no value, since one of them is the hash of a key.
#[derive(Clone, PartialEq, Eq)]
pub enum Param {
    /// A whole number below 2^53.
    Integer(i64),
    /// A string.
    Text(String),
    /// SQL's NULL.
    Null,
}

impl Param {
    /// A string.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// A string, or NULL.
    #[must_use]
    pub fn optional_text(text: Option<&str>) -> Self {
        text.map_or(Self::Null, Self::text)
    }

    /// A whole number. One that SQL can't hold, which no time and no limit is, becomes the greatest that it can.
    #[must_use]
    pub fn integer(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// A whole number, or NULL.
    #[must_use]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The SQL text, never built from input.
    pub sql: Cow<'static, str>,
    /// The values bound to its placeholders.
    pub params: Vec<Param>,
}

/// The result of one statement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultSet {
    /// The rows as a JSON array of objects, one member per column.
    pub json: String,
    /// Rows read, as the database bills them.
    pub rows_read: u64,
    /// Rows and index entries written, as the database bills them.
    pub rows_written: u64,
    /// The size of the database after the statement, in bytes; 0 when it did not say.
    pub size_after: u64,
}

impl ResultSet {
    /// The rows.
    ///
    /// # Errors
    /// When a row does not have the shape that it should have.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<T>, StorageError> {
        serde_json::from_str(&self.json).map_err(|error| {
            StorageError::new(format!("the rows have an unexpected shape: {error}"))
        })
    }
}

/// The first row of the statement with this number. Returns `None` when it has no rows, or there is no such statement.
///
/// # Errors
/// When the row does not have the shape that it should have.
pub fn first_row<T: DeserializeOwned>(
    sets: &[ResultSet],
    statement: usize,
) -> Result<Option<T>, StorageError> {
    Ok(all_rows(sets, statement)?.into_iter().next())
}

/// All rows of the statement with this number; none when there is no such statement.
///
/// # Errors
/// As [`first_row`].
pub fn all_rows<T: DeserializeOwned>(
    sets: &[ResultSet],
    statement: usize,
) -> Result<Vec<T>, StorageError> {
    Ok(sets.get(statement).map(ResultSet::rows).transpose()?.unwrap_or_default())
}

/// The vault's database.
pub trait Db {
    /// Which one of the databases it is: the number of its shard.
    fn number(&self) -> u16;

    /// Whether the database that the secret names has said that the account is in this one.
    fn was_forwarded(&self) -> bool {
        false
    }

    /// Runs the statements in one round trip and one transaction; returns one result set per statement, in their order.
    fn batch(
        &self,
        statements: Vec<Statement>,
    ) -> impl Future<Output = Result<Vec<ResultSet>, StorageError>>;

    /// Does the same in a session that begins at `since`, a bookmark or a constraint of D1's: a copy of the database may answer
    /// what only reads. Returns the bookmark at which the session is then; `None` from storage that has no copies.
    fn batch_since(
        &self,
        statements: Vec<Statement>,
        _since: &str,
    ) -> impl Future<Output = Result<(Vec<ResultSet>, Option<String>), StorageError>> {
        async { Ok((self.batch(statements).await?, None)) }
    }
}

/// Writes that no response waits for.
pub trait Later {
    /// Has a statement run once, at the same time as the response is sent. Nobody learns whether it did.
    fn later(&self, statement: Statement);
}

/// A value of the catalog's store, or the body of a response. It may live outside the core's memory, so reading from it
/// copies.
pub trait Blob: fmt::Debug {
    /// Number of bytes.
    fn size(&self) -> usize;

    /// The bytes of a range. Returns `None` when the range reaches past the end.
    fn read(&self, range: Range<usize>) -> Option<Vec<u8>>;

    /// The value itself, for the platform code that created it.
    fn as_any(&self) -> &dyn Any;
}

impl Blob for Vec<u8> {
    fn size(&self) -> usize {
        self.len()
    }

    fn read(&self, range: Range<usize>) -> Option<Vec<u8>> {
        self.get(range).map(<[u8]>::to_vec)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The catalog's store of immutable values.
pub trait Blobs {
    /// The value of `key`. Returns `None` when there is no such key.
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<Rc<dyn Blob>>, StorageError>>;

    /// Inflates bytes that were deflated (RFC 1951). Returns `None` when they are damaged.
    fn inflate(
        &self,
        bytes: Vec<u8>,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, StorageError>>;

    /// Moves bytes to where the store's values live, so that they can be sent repeatedly without being copied.
    fn keep(&self, bytes: Vec<u8>) -> Rc<dyn Blob> {
        Rc::new(bytes)
    }
}

/// The time.
pub trait Clock {
    /// Milliseconds since 1970-01-01 UTC.
    fn now(&self) -> u64;

    /// Waits for this long. Returns `false`, without having waited, where there is no timer: in an isolate that starts.
    fn sleep(&self, milliseconds: u32) -> impl Future<Output = bool>;
}

/// Whether something learnt at `since` may still be trusted at `now`, `trust` milliseconds being the limit. Returns
/// `false` when the clock was set back.
#[must_use]
pub fn is_recent(now: u64, since: u64, trust: u64) -> bool {
    now.checked_sub(since).is_some_and(|age| age < trust)
}

/// Secure randomness.
pub trait Random {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);

    /// A random byte.
    fn byte(&self) -> u8 {
        let mut bytes = [0];
        self.fill(&mut bytes);
        let [byte] = bytes;
        byte
    }

    /// A version 4 UUID, in lower case with hyphens.
    fn uuid(&self) -> String {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    /// A secret of 256 random bits, in 43 characters that a URL may contain.
    fn secret(&self) -> String {
        let mut bytes = [0; 32];
        self.fill(&mut bytes);
        Base64UrlUnpadded::encode_string(&bytes)
    }
}

/// How often a caller may send requests.
pub trait RateLimit {
    /// Counts a request of `caller`, a name that reveals nobody's identity. Fails with the time to wait when the caller
    /// sends too many requests.
    fn allow(&self, caller: &str) -> impl Future<Output = Result<(), RetryAfter>>;
}

/// Seconds to wait before asking again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryAfter(pub u32);

/// A request to another service. `Debug` shows no header values and no body, since both carry secrets, and no query.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// An absolute URL.
    pub url: String,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let url = self.url.split('?').next().unwrap_or_default();
        write!(f, "{} {url} {names:?}", self.method.as_str())
    }
}

/// The answer of another service. `Debug` shows its status only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HttpResponse {
    /// The HTTP status.
    pub status: u16,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// The value of a header. `name` must be in lower case. Returns `None` when the answer has no such header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpResponse {}", self.status)
    }
}

/// Another service gave no answer that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpError {
    /// It can't be reached, or the connection broke. The request may or may not have arrived.
    Unreachable,
    /// It did not answer in time.
    TimedOut,
    /// Its answer is larger than [`MAX_ANSWER`].
    TooLarge,
    /// The caller for whom it was asked has disconnected.
    CallerLeft,
}

/// The most bytes of another service's answer that are read.
pub const MAX_ANSWER: usize = 1 << 20;

/// A request that is passed on to another service.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    /// The method.
    pub method: &'a str,
    /// An absolute URL.
    pub url: &'a str,
    /// Header names in lower case, with their values.
    pub headers: &'a [(String, String)],
    /// The body.
    pub payload: Payload<'a>,
}

/// The body of a request that is passed on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// These bytes; empty for none.
    Bytes(&'a [u8]),
    /// The body of the request that is being answered, as it arrives. It can be sent once.
    Arriving,
}

/// An answer of another service whose body may still be on its way.
#[derive(Debug)]
pub struct Incoming {
    /// The HTTP status.
    pub status: u16,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body, which the platform code can read. Dropping it ends the transfer.
    pub body: Rc<dyn Any>,
}

impl Incoming {
    /// The value of a header. `name` must be in lower case. Returns `None` when the answer has no such header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The header by which other services know this one; some refuse requests without a `User-Agent`.
#[must_use]
pub fn user_agent() -> (String, String) {
    ("user-agent".to_owned(), "connector-vault".to_owned())
}

/// Other services.
pub trait Http {
    /// Sends a request and reads the whole answer. Follows no redirect.
    fn send(
        &self,
        request: HttpRequest,
        deadline_ms: u32,
    ) -> impl Future<Output = Result<HttpResponse, HttpError>>;

    /// Sends a request, and returns when the answer begins. Follows no redirect. The deadline counts from when the whole
    /// request has been sent.
    fn open(
        &self,
        request: Outgoing<'_>,
        deadline_ms: u32,
    ) -> impl Future<Output = Result<Incoming, HttpError>>;

    /// The whole body of an answer.
    ///
    /// # Errors
    /// [`HttpError::TooLarge`] when it has more than `most` bytes, [`HttpError::Unreachable`] when the connection breaks.
    fn read(
        &self,
        body: Rc<dyn Any>,
        most: usize,
    ) -> impl Future<Output = Result<Vec<u8>, HttpError>>;

    /// A copy of the body of an answer, to read it before it is passed on. Returns `None` when there is none.
    fn copy(&self, _: &Rc<dyn Any>) -> Option<Rc<dyn Any>> {
        None
    }

    /// The text of an answer in a charset, whose name is in lower case. Returns `None` when the charset is unknown, or the
    /// bytes are no text in it.
    fn decode(&self, charset: &str, bytes: &[u8]) -> Option<String> {
        charset::decode(charset, bytes)
    }
}

/// Regular expressions.
pub trait Patterns {
    /// Whether the whole text matches a pattern of ECMAScript, as in `OpenAPI` documents and in HTML. Returns `true` when the
    /// pattern can't be read: it then restricts nothing.
    fn is_match(&self, pattern: &str, text: &str) -> bool;
}

/// How a JSON Web Token is signed (RFC 7518, section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// ECDSA with P-256 and SHA-256.
    Es256,
}

impl Algorithm {
    /// Reads its name in a token or key.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Rs256, Self::Es256].into_iter().find(|algorithm| algorithm.as_str() == name)
    }

    /// Its name in a token or key.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }
}

/// Signatures with keys of two halves. The platform makes and verifies them: in the Worker that is `WebCrypto`, so that no implementation of RSA and of
/// elliptic curves is part of the module.
pub trait Signatures {
    /// Whether the holder of a public key, a JSON Web Key, has signed `message`. Returns `false` for a key that can't be used.
    fn verify(
        &self,
        algorithm: Algorithm,
        key: &str,
        message: &[u8],
        signature: &[u8],
    ) -> impl Future<Output = bool>;

    /// Signs `message` with a private key, a JSON Web Key. Returns `None` for a key that can't be used, and where nothing
    /// signs.
    fn sign(&self, _: Algorithm, _: &str, _: &[u8]) -> impl Future<Output = Option<Vec<u8>>> {
        async { None }
    }
}

/// What a call returns. Returns `None` when that takes longer than `milliseconds`: the call is then given up, although what
/// it asked for may still happen. Where there is no timer, a call may take as long as it wants.
pub async fn within<T>(
    clock: &impl Clock,
    milliseconds: u32,
    call: impl Future<Output = T>,
) -> Option<T> {
    let end = async {
        if !clock.sleep(milliseconds).await {
            pending::<()>().await;
        }
    };
    let (mut call, mut end) = (pin!(call), pin!(end));
    poll_fn(|context| match call.as_mut().poll(context) {
        Poll::Ready(returned) => Poll::Ready(Some(returned)),
        Poll::Pending => end.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// Work for later: each message is handed to another run of the service, at least once.
pub trait Queue {
    /// Sends messages, to be handed over after a delay of whole seconds. Returns `false` when the deployment has no queue;
    /// then nothing was sent.
    fn enqueue(
        &self,
        messages: Vec<String>,
        delay: Duration,
    ) -> impl Future<Output = Result<bool, StorageError>>;
}

/// All ports together.
pub trait Ports:
    Db + Later + Blobs + Http + Clock + Random + RateLimit + Patterns + Signatures
{
}

impl<T: Db + Later + Blobs + Http + Clock + Random + RateLimit + Patterns + Signatures> Ports
    for T
{
}
