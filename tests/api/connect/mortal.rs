//! A process that can be killed between any two steps.

use std::any::Any;
use std::cell::Cell;
use std::future::{Future, pending};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use connector_vault::http::handle::handle;
use connector_vault::ports::{
    Algorithm, Background, Blob, Blobs, Clock, Db, Http, HttpRequest, Patterns, Queue, Random,
    RateLimit, ResultSet, RetryAfter, Signatures, Statement, StorageError, StreamingRequest,
    StreamingResponse,
};

use super::*;
use crate::support::World;

/// When a process is killed: at its nth call to storage or a platform, before or after the call has an effect.
#[derive(Debug, Clone, Copy)]
pub struct Death {
    pub step: u32,
    pub does_the_last: bool,
}

/// A process that may be killed.
pub struct Mortal<'a> {
    world: &'a World,
    death: Option<Death>,
    steps: Cell<u32>,
    is_dead: Cell<bool>,
    /// The value of each random byte that is drawn alone.
    byte: Option<u8>,
}

impl<'a> Mortal<'a> {
    pub fn new(world: &'a World, death: Option<Death>, byte: Option<u8>) -> Self {
        Self { world, death, steps: Cell::new(0), is_dead: Cell::new(false), byte }
    }

    async fn step<T>(&self, work: impl Future<Output = T>) -> T {
        let nth = self.steps.replace(self.steps.get() + 1);
        let Some(Death { step, does_the_last }) = self.death else { return work.await };
        if nth > step || (nth == step && !does_the_last) {
            self.die().await;
        }
        let done = work.await;
        if nth == step {
            self.die().await;
        }
        done
    }

    /// The process stops here; no time passes.
    async fn die(&self) {
        self.is_dead.set(true);
        pending::<()>().await;
    }
}

impl Db for Mortal<'_> {
    fn number(&self) -> u16 {
        self.world.number()
    }

    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        self.step(self.world.batch(statements)).await
    }
}

impl Background for Mortal<'_> {
    fn run_in_background(&self, statement: Statement) {
        self.world.run_in_background(statement);
    }

    fn send_in_background(&self, request: HttpRequest, deadline_ms: u32) {
        self.world.send_in_background(request, deadline_ms);
    }
}

impl Http for Mortal<'_> {
    async fn send(
        &self,
        request: HttpRequest,
        deadline_ms: u32,
    ) -> Result<HttpResponse, HttpError> {
        self.step(self.world.send(request, deadline_ms)).await
    }

    async fn open(
        &self,
        request: StreamingRequest<'_>,
        deadline_ms: u32,
    ) -> Result<StreamingResponse, HttpError> {
        self.step(self.world.open(request, deadline_ms)).await
    }

    async fn read(&self, body: Rc<dyn Any>, most: usize) -> Result<Vec<u8>, HttpError> {
        self.world.read(body, most).await
    }
}

impl Blobs for Mortal<'_> {
    async fn get(&self, key: &str) -> Result<Option<Rc<dyn Blob>>, StorageError> {
        self.world.get(key).await
    }

    async fn inflate(&self, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StorageError> {
        self.world.inflate(bytes).await
    }
}

impl Clock for Mortal<'_> {
    fn now(&self) -> u64 {
        Clock::now(self.world)
    }

    async fn sleep(&self, milliseconds: u32) -> bool {
        if self.is_dead.get() {
            pending::<()>().await;
        }
        self.world.sleep(milliseconds).await
    }
}

impl Random for Mortal<'_> {
    fn fill(&self, bytes: &mut [u8]) {
        match (self.byte, &mut *bytes) {
            (Some(byte), [only]) => *only = byte,
            _ => self.world.fill(bytes),
        }
    }
}

impl Signatures for Mortal<'_> {
    async fn verify(
        &self,
        algorithm: Algorithm,
        key: &str,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        self.world.verify(algorithm, key, message, signature).await
    }
}

impl Patterns for Mortal<'_> {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        self.world.is_match(pattern, text)
    }
}

impl RateLimit for Mortal<'_> {
    async fn allow(&self, caller: &str) -> Result<(), RetryAfter> {
        self.world.allow(caller).await
    }
}

impl Queue for Mortal<'_> {
    async fn enqueue(&self, messages: Vec<String>, delay: Duration) -> Result<bool, StorageError> {
        self.world.enqueue(messages, delay).await
    }
}

/// Runs a future in a process. Returns `None` if the process was killed first.
pub fn run_until_death<T>(work: impl Future<Output = T>) -> Option<T> {
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
pub fn answer_until(
    api: &Api,
    request: &Request,
    step: u32,
    does_the_last: bool,
) -> Option<Response> {
    let process = Mortal::new(&api.world, Some(Death { step, does_the_last }), None);
    run_until_death(handle(&api.service, &process, request))
}
