//! Simulates a process that is killed between two steps.

use std::any::Any;
use std::cell::Cell;
use std::future::{Future, pending};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use connector_vault::http::handle::handle;
use connector_vault::ports::{
    Algorithm, Background, Blob, Blobs, Clock, Dataset, Db, Http, HttpRequest, Patterns, Queue,
    Random, RateLimit, ResultSet, RetryAfter, Signatures, Statement, StorageError,
    StreamingRequest, StreamingResponse,
};

use super::*;
use crate::support::TestEnv;

/// When the process is killed: at its nth call to storage or a platform, before or after the call
/// takes effect.
#[derive(Debug, Clone, Copy)]
pub struct CrashPoint {
    pub step: u32,
    pub completes_step: bool,
}

/// The ports of a process that may be killed.
pub struct CrashingProcess<'a> {
    env: &'a TestEnv,
    crash_point: Option<CrashPoint>,
    steps: Cell<u32>,
    has_crashed: Cell<bool>,
    /// The byte to return when a single random byte is requested.
    byte: Option<u8>,
}

impl<'a> CrashingProcess<'a> {
    pub fn new(env: &'a TestEnv, crash_point: Option<CrashPoint>, byte: Option<u8>) -> Self {
        Self { env, crash_point, steps: Cell::new(0), has_crashed: Cell::new(false), byte }
    }

    async fn step<T>(&self, work: impl Future<Output = T>) -> T {
        let index = self.steps.replace(self.steps.get() + 1);
        let Some(CrashPoint { step, completes_step }) = self.crash_point else { return work.await };
        if index > step || (index == step && !completes_step) {
            self.crash().await;
        }
        let done = work.await;
        if index == step {
            self.crash().await;
        }
        done
    }

    /// Suspends the process forever, without letting time pass.
    async fn crash(&self) {
        self.has_crashed.set(true);
        pending::<()>().await;
    }
}

impl Db for CrashingProcess<'_> {
    fn number(&self) -> u16 {
        self.env.number()
    }

    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        self.step(self.env.batch(statements)).await
    }
}

impl Background for CrashingProcess<'_> {
    fn run_in_background(&self, statement: Statement) {
        self.env.run_in_background(statement);
    }

    fn send_in_background(&self, request: HttpRequest, timeout_ms: u32) {
        self.env.send_in_background(request, timeout_ms);
    }
}

impl Http for CrashingProcess<'_> {
    async fn send(&self, request: HttpRequest, timeout_ms: u32) -> Result<HttpResponse, HttpError> {
        self.step(self.env.send(request, timeout_ms)).await
    }

    async fn open(
        &self,
        request: StreamingRequest<'_>,
        timeout_ms: u32,
    ) -> Result<StreamingResponse, HttpError> {
        self.step(self.env.open(request, timeout_ms)).await
    }

    async fn read(&self, body: Rc<dyn Any>, max: usize) -> Result<Vec<u8>, HttpError> {
        self.env.read(body, max).await
    }
}

impl Blobs for CrashingProcess<'_> {
    async fn get(&self, key: &str) -> Result<Option<Rc<dyn Blob>>, StorageError> {
        self.env.get(key).await
    }

    async fn inflate(&self, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StorageError> {
        self.env.inflate(bytes).await
    }
}

impl Clock for CrashingProcess<'_> {
    fn now(&self) -> u64 {
        Clock::now(self.env)
    }

    async fn sleep(&self, milliseconds: u32) -> bool {
        if self.has_crashed.get() {
            pending::<()>().await;
        }
        self.env.sleep(milliseconds).await
    }
}

impl Random for CrashingProcess<'_> {
    fn fill(&self, bytes: &mut [u8]) {
        match (self.byte, &mut *bytes) {
            (Some(byte), [only]) => *only = byte,
            _ => self.env.fill(bytes),
        }
    }
}

impl Dataset for CrashingProcess<'_> {}

impl Signatures for CrashingProcess<'_> {
    async fn verify(
        &self,
        algorithm: Algorithm,
        key: &str,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        self.env.verify(algorithm, key, message, signature).await
    }
}

impl Patterns for CrashingProcess<'_> {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        self.env.is_match(pattern, text)
    }
}

impl RateLimit for CrashingProcess<'_> {
    async fn allow(&self, caller: &str) -> Result<(), RetryAfter> {
        self.env.allow(caller).await
    }
}

impl Queue for CrashingProcess<'_> {
    async fn enqueue(&self, messages: Vec<String>, delay: Duration) -> Result<bool, StorageError> {
        self.env.enqueue(messages, delay).await
    }
}

/// Runs a future in a process. Returns `None` if the process was killed first.
pub fn run_until_killed<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    for _ in 0..1000 {
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return Some(done);
        }
    }
    None
}

/// Handles a request in a process that is killed at a step. Returns `None` if it was killed.
pub fn respond_until(
    api: &Api,
    request: &Request,
    step: u32,
    completes_step: bool,
) -> Option<Response> {
    let process = CrashingProcess::new(&api.env, Some(CrashPoint { step, completes_step }), None);
    run_until_killed(handle(&api.service, &process, request))
}
