//! Implements the core's ports with the operator's storage, so that commands can run the service's
//! code.

use std::any::Any;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::d1::Database;
use super::kv::Kv;
use super::sql::interpolate;
use super::time::Moment;
use crate::catalog::action::unit::inflate;
use crate::ports::{
    Algorithm, Background, Blob, Blobs, Clock, Dataset, Db, Http, HttpError, HttpRequest,
    HttpResponse, Patterns, Random, RateLimit, ResultSet, RetryAfter, Signatures, Statement,
    StorageError, StreamingRequest, StreamingResponse,
};
use crate::util::json;

/// Ports that implement only storage, time and randomness. The other ports fail.
#[derive(Debug)]
pub struct OperatorPorts(pub Database);

/// Waits for a future of these ports, all of which are ready when they are first polled.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

fn storage_error(error: &anyhow::Error) -> StorageError {
    StorageError::new(format!("{error:#}"))
}

impl Db for OperatorPorts {
    fn number(&self) -> u16 {
        self.0.shard.number()
    }

    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        let sql: Vec<String> = statements.iter().map(interpolate).collect();
        let results = self.0.query(&sql).map_err(|error| storage_error(&error))?;
        let set = |index| {
            let rows: Vec<serde_json::Value> =
                results.rows(index).map_err(|error| storage_error(&error))?;
            Ok(ResultSet { json: json::text(&rows), ..ResultSet::default() })
        };
        (0..sql.len()).map(set).collect()
    }
}

impl Background for OperatorPorts {
    /// Runs the statement immediately, and ignores errors.
    fn run_in_background(&self, statement: Statement) {
        let _ = self.0.query(&[interpolate(&statement)]);
    }

    /// Does nothing: commands call no platforms, so there are no traces to send.
    fn send_in_background(&self, _: HttpRequest, _: u32) {}
}

impl Blobs for OperatorPorts {
    async fn get(&self, key: &str) -> Result<Option<Rc<dyn Blob>>, StorageError> {
        let bytes = Kv(&self.0.storage).bytes(key).map_err(|error| storage_error(&error))?;
        Ok(bytes.map(|bytes| Rc::new(bytes) as Rc<dyn Blob>))
    }

    async fn inflate(&self, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StorageError> {
        Ok(inflate(&bytes))
    }
}

impl Clock for OperatorPorts {
    fn now(&self) -> u64 {
        Moment::now().millis().try_into().unwrap_or_default()
    }

    async fn sleep(&self, milliseconds: u32) -> bool {
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
        true
    }
}

impl Random for OperatorPorts {
    fn fill(&self, bytes: &mut [u8]) {
        #[expect(clippy::expect_used, reason = "a nonce that is not random must never be used")]
        getrandom::fill(bytes).expect("randomness from the system");
    }
}

/// Matches ECMAScript patterns like the Worker's runtime.
#[derive(Debug, Clone, Copy)]
pub struct NativePatterns;

impl Patterns for NativePatterns {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        let read = |flags| regress::Regex::with_flags(&format!("^(?:{pattern})$"), flags);
        let pattern = read("v").or_else(|_| read("u"));
        pattern.map_or(true, |pattern| pattern.find(text).is_some())
    }
}

impl Patterns for OperatorPorts {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        NativePatterns.is_match(pattern, text)
    }
}

impl Dataset for OperatorPorts {}

impl Signatures for OperatorPorts {
    /// Always fails: commands do not verify sign-ins.
    async fn verify(&self, _: Algorithm, _: &str, _: &[u8], _: &[u8]) -> bool {
        false
    }
}

impl Http for OperatorPorts {
    async fn send(&self, _: HttpRequest, _: u32) -> Result<HttpResponse, HttpError> {
        Err(HttpError::Unreachable)
    }

    async fn open(&self, _: StreamingRequest<'_>, _: u32) -> Result<StreamingResponse, HttpError> {
        Err(HttpError::Unreachable)
    }

    async fn read(&self, _: Rc<dyn Any>, _: usize) -> Result<Vec<u8>, HttpError> {
        Err(HttpError::Unreachable)
    }
}

impl RateLimit for OperatorPorts {
    async fn allow(&self, _: &str) -> Result<(), RetryAfter> {
        Ok(())
    }
}
