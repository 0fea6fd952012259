//! Traits for everything outside the core. The Worker implements them with Cloudflare's services;
//! the tests, with `SQLite` and in-memory fakes.

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

/// A value of the catalog's store, or the body of a response. It may be outside the core's
/// memory, so reading it copies bytes.
pub trait Blob: fmt::Debug {
    /// The size in bytes.
    fn size(&self) -> usize;

    /// Copies a range of bytes. Returns `None` if the range exceeds the size.
    fn read(&self, range: Range<usize>) -> Option<Vec<u8>>;

    /// The underlying value, for the implementation that created it.
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
    /// Reads the value of a key. Returns `None` if the key does not exist.
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<Rc<dyn Blob>>, StorageError>>;

    /// Decompresses bytes in the DEFLATE format (RFC 1951). Returns `None` if they are corrupt.
    fn inflate(
        &self,
        bytes: Vec<u8>,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, StorageError>>;

    /// Moves bytes to the memory of the store's values, so that they can be sent repeatedly without
    /// copying.
    fn keep(&self, bytes: Vec<u8>) -> Rc<dyn Blob> {
        Rc::new(bytes)
    }
}

pub trait Clock {
    /// Milliseconds since 1970-01-01 UTC.
    fn now(&self) -> u64;

    /// Waits for this long. Returns `false` immediately if there are no timers, such as while an
    /// isolate is starting.
    fn sleep(&self, milliseconds: u32) -> impl Future<Output = bool>;
}

/// Whether a value that was cached at `since` is younger than `max_age` milliseconds at `now`.
/// Returns `false` if the clock was set back.
pub fn is_recent(now: u64, since: u64, max_age: u64) -> bool {
    now.checked_sub(since).is_some_and(|age| age < max_age)
}

/// A cryptographically secure random number generator.
pub trait Random {
    fn fill(&self, bytes: &mut [u8]);

    fn byte(&self) -> u8 {
        let mut bytes = [0];
        self.fill(&mut bytes);
        let [byte] = bytes;
        byte
    }

    /// A random UUID (version 4) in lower case, with hyphens.
    fn uuid(&self) -> String {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    /// A random secret with 256 bits, in 43 URL-safe characters.
    fn secret(&self) -> String {
        let mut bytes = [0; 32];
        self.fill(&mut bytes);
        Base64UrlUnpadded::encode_string(&bytes)
    }
}

/// The rate limiter.
pub trait RateLimit {
    /// Counts a request of `caller`, a name that does not reveal the identity. If there are too
    /// many requests, fails with the time to wait.
    fn allow(&self, caller: &str) -> impl Future<Output = Result<(), RetryAfter>>;
}

/// The number of seconds to wait before the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryAfter(pub u32);

/// Regular expressions.
pub trait Patterns {
    /// Whether an ECMAScript pattern, as in `OpenAPI` documents and in HTML, matches the whole
    /// string. Returns `true` for an invalid pattern, because it must not reject anything.
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
    /// Parses the name in tokens and keys.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Rs256, Self::Es256].into_iter().find(|algorithm| algorithm.as_str() == name)
    }

    /// The name in tokens and keys.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }
}

/// Asymmetric signatures. The Worker uses `WebCrypto`, so that its module needs no implementation
/// of RSA or elliptic curves.
pub trait Signatures {
    /// Whether `signature` is valid for `message` and a public key, a JSON Web Key. Returns `false`
    /// if the key is invalid.
    fn verify(
        &self,
        algorithm: Algorithm,
        key: &str,
        message: &[u8],
        signature: &[u8],
    ) -> impl Future<Output = bool>;

    /// Signs `message` with a private key, a JSON Web Key. Returns `None` if the key is invalid or
    /// the implementation can't sign.
    fn sign(&self, _: Algorithm, _: &str, _: &[u8]) -> impl Future<Output = Option<Vec<u8>>> {
        async { None }
    }
}

/// Awaits a call. After `milliseconds`, drops the call and returns `None`; the other side may still
/// complete it. Without timers, there is no timeout.
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

/// A queue. It delivers each message at least once, to a separate run of the service.
pub trait Queue {
    /// Sends messages, to be delivered after a delay of whole seconds. Returns `false` if no queue
    /// is configured.
    fn enqueue(
        &self,
        messages: Vec<String>,
        delay: Duration,
    ) -> impl Future<Output = Result<bool, StorageError>>;
}

/// A dataset that receives usage in addition to the database. Operators can query it.
pub trait Dataset {
    fn has_dataset(&self) -> bool {
        false
    }

    /// Writes data points: a JSON array of arrays, each with an index, an array of strings, and a
    /// number. Does not report whether they were stored.
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
