//! JSON documents of others that an isolate keeps for a while: metadata of clients and of OpenID providers, and their keys.

use std::cell::RefCell;
use std::fmt;
use std::num::NonZeroUsize;
use std::rc::Rc;

use lru::LruCache;

use crate::ports::{Clock, Http, Payload, StreamingRequest, is_recent, user_agent, with_timeout};
use crate::targets::{TargetError, Targets};

/// How long a document is kept, in milliseconds.
const KEPT_MS: u64 = 10 * 60 * 1000;
/// How long a server may take to send one, in milliseconds.
pub(super) const DEADLINE_MS: u32 = 10_000;
/// How many are kept.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);

/// A document that was kept: since when, and its bytes.
type Kept = (u64, Rc<Vec<u8>>);

/// The documents that this isolate keeps.
pub struct Documents(RefCell<LruCache<String, Kept>>);

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

/// Why there is no document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentError {
    /// The service must not ask at this address.
    Target(TargetError),
    /// The server does not answer, or not in time.
    Unreachable,
    /// The server answers with this status, of which a redirect is one.
    Status(u16),
    /// The document is too large.
    TooLarge,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(error) => write!(f, "{error}"),
            Self::Unreachable => f.write_str("does not answer within 10 seconds"),
            Self::Status(status) => write!(f, "answers with status {status} instead of 200"),
            Self::TooLarge => f.write_str("answers with too large a document"),
        }
    }
}

impl std::error::Error for DocumentError {}

impl Documents {
    /// A document that was read within the last 10 minutes.
    #[must_use]
    pub fn recall(&self, url: &str, now: u64) -> Option<Rc<Vec<u8>>> {
        let mut kept = self.0.try_borrow_mut().ok()?;
        let (since, document) = kept.get(url)?;
        is_recent(now, *since, KEPT_MS).then(|| Rc::clone(document))
    }

    /// Reads a document of at most `most` bytes. Follows no redirect. [`Self::keep`] keeps it.
    ///
    /// # Errors
    /// When there is none.
    pub async fn fetch(
        &self,
        ports: &(impl Http + Clock),
        targets: Targets,
        url: &str,
        most: usize,
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
            let answer = ports.open(request, DEADLINE_MS).await;
            let answer = answer.map_err(|_| DocumentError::Unreachable)?;
            if answer.status != 200 {
                return Err(DocumentError::Status(answer.status));
            }
            ports.read(answer.body, most).await.map_err(|_| DocumentError::TooLarge)
        };
        let bytes =
            with_timeout(ports, DEADLINE_MS, read).await.ok_or(DocumentError::Unreachable)??;
        Ok(Rc::new(bytes))
    }

    /// Keeps a document that has turned out to be good: whoever serves a bad one may mend it at once.
    pub fn keep(&self, url: &str, document: &Rc<Vec<u8>>, now: u64) {
        // One that is kept already does not become younger.
        if self.recall(url, now).is_some_and(|known| Rc::ptr_eq(&known, document)) {
            return;
        }
        if let Ok(mut kept) = self.0.try_borrow_mut() {
            kept.put(url.to_owned(), (now, Rc::clone(document)));
        }
    }
}
