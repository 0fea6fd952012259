//! Traits for everything outside the core. The Worker implements them with Cloudflare's services, the tests with `SQLite`
//! and memory.

mod db;
mod http;
mod rows;

use std::any::Any;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding as _};

pub use db::{
    Background, Db, Param, ResultSet, Retry, Statement, StorageError, all_rows, first_row,
};
pub use http::{
    Http, HttpError, HttpRequest, HttpResponse, MAX_RESPONSE, Payload, StreamingRequest,
    StreamingResponse, user_agent,
};

/// A value of the catalog's store, or the body of a response. It may live outside the core's memory, so reading from it
/// copies.
pub trait Blob: fmt::Debug {
    /// The size in bytes.
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

    /// Inflates deflated bytes (RFC 1951). Returns `None` when they are corrupt.
    fn inflate(
        &self,
        bytes: Vec<u8>,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, StorageError>>;

    /// Moves bytes into the memory that holds the store's values, so that they can be sent repeatedly without a copy.
    fn keep(&self, bytes: Vec<u8>) -> Rc<dyn Blob> {
        Rc::new(bytes)
    }
}

/// The clock of the service.
pub trait Clock {
    /// Milliseconds since 1970-01-01 UTC.
    fn now(&self) -> u64;

    /// Waits for this long. Returns `false`, without having waited, where there is no timer, such as in an isolate that
    /// is still starting.
    fn sleep(&self, milliseconds: u32) -> impl Future<Output = bool>;
}

/// Whether a value cached at `since` is younger than `max_age` milliseconds at `now`. Returns `false` when the clock was set
/// back.
pub fn is_recent(now: u64, since: u64, max_age: u64) -> bool {
    now.checked_sub(since).is_some_and(|age| age < max_age)
}

/// Secure randomness.
pub trait Random {
    fn fill(&self, bytes: &mut [u8]);

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

/// The rate limiter.
pub trait RateLimit {
    /// Counts a request of `caller`, a name that reveals no identity. Fails with the time to wait when the caller sends too
    /// many requests.
    fn allow(&self, caller: &str) -> impl Future<Output = Result<(), RetryAfter>>;
}

/// Seconds to wait before the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryAfter(pub u32);

/// Regular expressions.
pub trait Patterns {
    /// Whether an ECMAScript pattern, as in `OpenAPI` documents and in HTML, matches the whole string. Returns `true` when
    /// the pattern is invalid: it then restricts nothing.
    fn is_match(&self, pattern: &str, text: &str) -> bool;
}

/// The signature algorithm of a JSON Web Token (RFC 7518, section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// ECDSA with P-256 and SHA-256.
    Es256,
}

impl Algorithm {
    /// Parses the name used in tokens and keys.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Rs256, Self::Es256].into_iter().find(|algorithm| algorithm.as_str() == name)
    }

    /// The name used in tokens and keys.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }
}

/// Asymmetric signatures. The Worker uses `WebCrypto`, so that the module contains no implementation of RSA and of elliptic
/// curves.
pub trait Signatures {
    /// Whether `signature` of `message` is valid for a public key, a JSON Web Key. Returns `false` for an unusable key.
    fn verify(
        &self,
        algorithm: Algorithm,
        key: &str,
        message: &[u8],
        signature: &[u8],
    ) -> impl Future<Output = bool>;

    /// Signs `message` with a private key, a JSON Web Key. Returns `None` for an unusable key, or if the platform can't
    /// sign.
    fn sign(&self, _: Algorithm, _: &str, _: &[u8]) -> impl Future<Output = Option<Vec<u8>>> {
        async { None }
    }
}

/// Awaits a call. Returns `None` after `milliseconds` and drops the call, although the other side may still complete it.
/// Without a timer, there is no limit.
pub async fn with_timeout<T>(
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

/// A queue, which delivers each message to another run of the service, at least once.
pub trait Queue {
    /// Sends messages, to be delivered after a delay of whole seconds. Returns `false`, without sending, when the deployment
    /// has no queue.
    fn enqueue(
        &self,
        messages: Vec<String>,
        delay: Duration,
    ) -> impl Future<Output = Result<bool, StorageError>>;
}

/// A dataset that receives the usage in addition to the database, for the operator's own queries.
pub trait Dataset {
    /// Whether the deployment has one.
    fn has_dataset(&self) -> bool {
        false
    }

    /// Writes data points: a JSON array of arrays, each with an index, an array of strings, and a number. Nothing reports
    /// whether they were stored.
    fn write_points(&self, _: &str) {}
}

/// All ports of the service.
pub trait Ports:
    Db + Background + Blobs + Http + Clock + Random + RateLimit + Patterns + Signatures + Dataset
{
}

impl<
    T: Db + Background + Blobs + Http + Clock + Random + RateLimit + Patterns + Signatures + Dataset,
> Ports for T
{
}
