//! Caches JSON documents of other servers: metadata of clients and OpenID providers, and key sets.

use std::cell::RefCell;
use std::fmt;
use std::num::NonZeroUsize;
use std::rc::Rc;

use lru::LruCache;

use crate::ports::{Clock, Http, Payload, StreamingRequest, is_recent, user_agent, with_timeout};
use crate::targets::{TargetError, Targets};

/// The lifetime of a cached document, in milliseconds.
const TTL_MS: u64 = 10 * 60 * 1000;
/// The timeout of a request, in milliseconds.
pub const TIMEOUT_MS: u32 = 10_000;
/// The maximum number of cached documents.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);

/// The minimum time between two early refetches of a document, in milliseconds.
const REFETCH_MS: u64 = 60 * 1000;

/// A document with the time of its request and the time of its last early refetch, in milliseconds
/// since 1970-01-01 UTC.
struct CachedDocument {
    since: u64,
    document: Rc<Vec<u8>>,
    refetched_at: Option<u64>,
}

/// The document cache of an isolate.
pub struct Documents(RefCell<LruCache<String, CachedDocument>>);

impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Documents")
    }
}

impl Default for Documents {
    fn default() -> Self {
        Self(RefCell::new(LruCache::new(CAPACITY)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentError {
    /// The service must not send requests to this URL.
    Target(TargetError),
    /// The server can't be reached or did not respond in time.
    Unreachable,
    /// The server responded with this status. Redirects are not followed.
    Status(u16),
    TooLarge,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(error) => write!(f, "{error}"),
            Self::Unreachable => {
                f.write_str("can't be reached, or does not respond within 10 seconds")
            }
            Self::Status(status) => write!(f, "responds with status {status} instead of 200"),
            Self::TooLarge => f.write_str("sends a document that is too large"),
        }
    }
}

impl std::error::Error for DocumentError {}

impl Documents {
    /// Returns a document if it is cached.
    pub fn get_cached(&self, url: &str, now: u64) -> Option<Rc<Vec<u8>>> {
        let mut cache = self.0.try_borrow_mut().ok()?;
        let cached = cache.get(url)?;
        is_recent(now, cached.since, TTL_MS).then(|| Rc::clone(&cached.document))
    }

    /// Whether a cached document may be fetched again before it expires. This is limited to once a
    /// minute, because anyone can send tokens with unknown key ids. If so, records the refetch.
    pub fn may_refetch(&self, url: &str, now: u64) -> bool {
        let Ok(mut cache) = self.0.try_borrow_mut() else { return false };
        let Some(cached) = cache.get_mut(url) else { return true };
        if cached.refetched_at.is_some_and(|at| is_recent(now, at, REFETCH_MS)) {
            return false;
        }
        cached.refetched_at = Some(now);
        true
    }

    /// Fetches a document without following redirects. Does not cache it: see [`Self::store`].
    pub async fn fetch(
        &self,
        ports: &(impl Http + Clock),
        targets: Targets,
        url: &str,
        max_bytes: usize,
    ) -> Result<Rc<Vec<u8>>, DocumentError> {
        targets.check(url).map_err(DocumentError::Target)?;
        let headers = [("accept".to_owned(), "application/json".to_owned()), user_agent()];
        let request = StreamingRequest {
            method: "GET",
            url,
            headers: &headers,
            payload: Payload::Bytes(&[]),
        };
        let read = async {
            let response = ports.open(request, TIMEOUT_MS).await;
            let response = response.map_err(|_| DocumentError::Unreachable)?;
            if response.status != 200 {
                return Err(DocumentError::Status(response.status));
            }
            ports.read(response.body, max_bytes).await.map_err(|_| DocumentError::TooLarge)
        };
        let bytes =
            with_timeout(ports, TIMEOUT_MS, read).await.ok_or(DocumentError::Unreachable)??;
        Ok(Rc::new(bytes))
    }

    /// Caches a document. Callers cache only valid documents, so that fixing one takes effect
    /// immediately.
    pub fn store(&self, url: &str, document: &Rc<Vec<u8>>, now: u64) {
        // Caching the same document again must not extend its lifetime.
        if self.get_cached(url, now).is_some_and(|known| Rc::ptr_eq(&known, document)) {
            return;
        }
        if let Ok(mut cache) = self.0.try_borrow_mut() {
            let refetched_at = cache.peek(url).and_then(|cached| cached.refetched_at);
            let document = Rc::clone(document);
            cache.put(url.to_owned(), CachedDocument { since: now, document, refetched_at });
        }
    }
}
