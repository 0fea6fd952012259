//! Ports that fail at one call, or at that call and all later ones.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use connector_vault::ports::{
    Algorithm, Background, Blob, Blobs, Clock, Dataset, Db, Http, HttpError, HttpRequest,
    HttpResponse, Patterns, Queue, Random, RateLimit, ResultSet, RetryAfter, Signatures, Statement,
    StorageError, StreamingRequest, StreamingResponse,
};

use crate::support::TestEnv;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// A batch of this many statements.
    Batch(usize),
    Value,
    Platform,
    Queue,
    Limit,
}

impl Call {
    fn is_same_kind(self, other: Self) -> bool {
        matches!((self, other), (Self::Batch(_), Self::Batch(_))) || self == other
    }
}

/// A fault of the returned rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFault {
    Replaced(&'static str),
    Truncated,
    /// Each value is replaced by this string.
    OnlyValue(&'static str),
}

/// A fault of a value in the catalog's store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    Missing,
    Empty,
    Halved,
    /// One byte is changed, at this percentage of the length.
    Flipped(usize),
    /// The value of another key is returned.
    Swapped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// D1 executes nothing and reports this error.
    ErrorBefore(&'static str),
    /// D1 executes the batch and reports this error.
    ErrorAfter(&'static str),
    /// D1 executes nothing and never responds.
    Hangs,
    /// D1 executes the batch and never responds.
    HangsAfter,
    /// D1 executes the batch and returns no result sets.
    NoResultSets,
    /// D1 executes the batch, and the rows of one statement are damaged.
    DamagesRows(usize, RowFault),
    /// The store of the catalog can't be read.
    Unreadable,
    Damages(Value),
    /// A request to a platform fails.
    RequestFails(HttpError),
    /// A platform responds with this status, these headers and this body.
    Responds(u16, &'static [(&'static str, &'static str)], &'static str),
    /// The queue rejects the batch.
    Rejects,
    /// The service has no queue.
    NoQueue,
    Limits,
}

/// A fault, and the call that it affects.
#[derive(Debug, Clone, Copy)]
pub struct InjectedFault {
    pub fault: Fault,
    /// The index of the call among all calls.
    pub at: usize,
    pub call: Call,
    /// Whether all later calls of its kind fail too.
    pub is_permanent: bool,
}

/// The recording of a run without a fault.
#[derive(Default)]
pub struct Recording {
    pub calls: Vec<Call>,
    /// Dumps of the whole database: at the start, and after each write.
    pub states: Vec<Vec<String>>,
    /// The responses of platforms, by URL.
    pub responses: HashMap<String, HttpResponse>,
}

pub struct FaultyPorts<'a> {
    env: &'a TestEnv,
    injected_fault: Option<InjectedFault>,
    calls: Cell<usize>,
    pub recording: RefCell<Recording>,
}

impl<'a> FaultyPorts<'a> {
    pub fn new(env: &'a TestEnv, injected_fault: Option<InjectedFault>) -> Self {
        let recording = Recording { states: vec![database(env)], ..Recording::default() };
        Self { env, injected_fault, calls: Cell::new(0), recording: RefCell::new(recording) }
    }

    /// Records a call. Returns the fault to inject, if any.
    fn fault_for(&self, call: Call) -> Option<Fault> {
        let index = self.calls.replace(self.calls.get() + 1);
        let Some(injected_fault) = self.injected_fault else {
            self.recording.borrow_mut().calls.push(call);
            return None;
        };
        let is_met = index == injected_fault.at
            || (injected_fault.is_permanent && index > injected_fault.at);
        (is_met && call.is_same_kind(injected_fault.call)).then_some(injected_fault.fault)
    }

    /// Records the database's contents, in a run without a fault.
    fn record_state(&self) {
        if self.injected_fault.is_none() {
            self.recording.borrow_mut().states.push(database(self.env));
        }
    }

    /// Returns the platform's response, or the injected fault.
    fn response_or_fault(
        &self,
        url: &str,
        ask: impl FnOnce() -> Result<HttpResponse, HttpError>,
    ) -> Result<HttpResponse, HttpError> {
        match self.fault_for(Call::Platform) {
            Some(Fault::RequestFails(error)) => Err(error),
            Some(Fault::Responds(status, headers, body)) => Ok(HttpResponse {
                status,
                headers: headers
                    .iter()
                    .map(|(name, value)| ((*name).into(), (*value).into()))
                    .collect(),
                body: body.into(),
            }),
            _ => {
                let response = ask()?;
                self.recording.borrow_mut().responses.insert(url.to_owned(), response.clone());
                Ok(response)
            }
        }
    }
}

/// The contents of the database, without the day of each key's last use: it is a secondary write
/// that a fault may prevent.
pub fn database(env: &TestEnv) -> Vec<String> {
    // The last use of a key is a secondary write.
    let keys = "SELECT concat_ws(' ', 'api_keys:', id, scopes, expires_at, revoked_at, replaced_by, created_by) FROM api_keys ORDER BY id";
    let rows = env.dump().into_iter().filter(|row| !row.starts_with("api_keys: "));
    rows.chain(env.texts(keys)).collect()
}

impl Db for FaultyPorts<'_> {
    fn number(&self) -> u16 {
        self.env.number()
    }

    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        let fault = self.fault_for(Call::Batch(statements.len()));
        if let Some(Fault::ErrorBefore(report)) = fault {
            return Err(StorageError::from_d1(report));
        }
        if fault == Some(Fault::Hangs) {
            return pending().await;
        }
        let mut sets = self.env.batch(statements).await?;
        self.record_state();
        match fault {
            Some(Fault::HangsAfter) => return pending().await,
            Some(Fault::ErrorAfter(report)) => return Err(StorageError::from_d1(report)),
            Some(Fault::NoResultSets) => sets.clear(),
            Some(Fault::DamagesRows(index, rows)) => {
                if let Some(set) = sets.get_mut(index) {
                    rows.damage(&mut set.json);
                }
            }
            _ => {}
        }
        Ok(sets)
    }
}

impl RowFault {
    fn damage(self, json: &mut String) {
        match self {
            Self::Replaced(text) => text.clone_into(json),
            Self::Truncated => json.truncate(json.len() / 2),
            Self::OnlyValue(text) => {
                let mut rows: serde_json::Value = serde_json::from_str(json).unwrap();
                let only: serde_json::Value = serde_json::from_str(text).unwrap();
                for row in rows.as_array_mut().unwrap() {
                    row.as_object_mut()
                        .unwrap()
                        .values_mut()
                        .for_each(|value| value.clone_from(&only));
                }
                *json = rows.to_string();
            }
        }
    }
}

impl Background for FaultyPorts<'_> {
    fn run_in_background(&self, statement: Statement) {
        self.env.run_in_background(statement);
        self.record_state();
    }

    fn send_in_background(&self, request: HttpRequest, timeout_ms: u32) {
        self.env.send_in_background(request, timeout_ms);
    }
}

impl Blobs for FaultyPorts<'_> {
    async fn get(&self, key: &str) -> Result<Option<Rc<dyn Blob>>, StorageError> {
        let fault = self.fault_for(Call::Value);
        if fault == Some(Fault::Unreadable) {
            return Err(StorageError::new("KV GET failed: 500 Internal Server Error"));
        }
        if fault == Some(Fault::Hangs) {
            return pending().await;
        }
        let Some(value) = self.env.get(key).await? else { return Ok(None) };
        let mut bytes = value.read(0..value.size()).unwrap();
        match fault {
            Some(Fault::Damages(Value::Missing)) => return Ok(None),
            Some(Fault::Damages(Value::Empty)) => bytes.clear(),
            Some(Fault::Damages(Value::Halved)) => bytes.truncate(bytes.len() / 2),
            Some(Fault::Damages(Value::Flipped(at))) => {
                let at = bytes.len() * at / 100;
                bytes[at] ^= 1;
            }
            Some(Fault::Damages(Value::Swapped)) => {
                let blobs = self.env.blobs.borrow();
                let mut others: Vec<&String> = blobs.keys().filter(|other| *other != key).collect();
                others.sort();
                bytes.clone_from(&blobs[others[0]]);
            }
            _ => {}
        }
        Ok(Some(Rc::new(bytes)))
    }

    async fn inflate(&self, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StorageError> {
        self.env.inflate(bytes).await
    }
}

impl Http for FaultyPorts<'_> {
    async fn send(&self, request: HttpRequest, timeout_ms: u32) -> Result<HttpResponse, HttpError> {
        let url = request.url.clone();
        self.response_or_fault(&url, || pollster::block_on(self.env.send(request, timeout_ms)))
    }

    async fn open(
        &self,
        request: StreamingRequest<'_>,
        timeout_ms: u32,
    ) -> Result<StreamingResponse, HttpError> {
        let response = self.response_or_fault(request.url, || {
            let StreamingResponse { status, headers, body } =
                pollster::block_on(self.env.open(request, timeout_ms))?;
            let body = pollster::block_on(self.env.read(body, usize::MAX))?;
            Ok(HttpResponse { status, headers, body })
        })?;
        Ok(StreamingResponse {
            status: response.status,
            headers: response.headers,
            body: Rc::new(response.body),
        })
    }

    async fn read(&self, body: Rc<dyn Any>, max: usize) -> Result<Vec<u8>, HttpError> {
        self.env.read(body, max).await
    }

    fn copy(&self, body: &Rc<dyn Any>) -> Option<Rc<dyn Any>> {
        self.env.copy(body)
    }
}

impl Queue for FaultyPorts<'_> {
    async fn enqueue(&self, messages: Vec<String>, delay: Duration) -> Result<bool, StorageError> {
        match self.fault_for(Call::Queue) {
            Some(Fault::Rejects) => Err(StorageError::new("queue: Queue send failed: 500")),
            Some(Fault::NoQueue) => Ok(false),
            Some(Fault::Hangs) => pending().await,
            _ => self.env.enqueue(messages, delay).await,
        }
    }
}

impl RateLimit for FaultyPorts<'_> {
    async fn allow(&self, caller: &str) -> Result<(), RetryAfter> {
        match self.fault_for(Call::Limit) {
            Some(Fault::Limits) => Err(RetryAfter(60)),
            Some(Fault::Hangs) => pending().await,
            _ => self.env.allow(caller).await,
        }
    }
}

impl Clock for FaultyPorts<'_> {
    fn now(&self) -> u64 {
        Clock::now(self.env)
    }

    async fn sleep(&self, milliseconds: u32) -> bool {
        self.env.sleep(milliseconds).await;
        // Advances the clock only if storage hangs permanently, because then the request writes
        // nothing more. Otherwise the times of later writes would differ.
        let hangs = |injected_fault: &InjectedFault| {
            matches!(injected_fault.fault, Fault::Hangs | Fault::HangsAfter)
        };
        if self
            .injected_fault
            .as_ref()
            .is_some_and(|injected_fault| injected_fault.is_permanent && hangs(injected_fault))
        {
            self.env.wait(milliseconds.into());
        }
        true
    }
}

impl Random for FaultyPorts<'_> {
    fn fill(&self, bytes: &mut [u8]) {
        match bytes {
            // The random length of a pause must not change the random numbers after it.
            [only] => *only = 0,
            _ => self.env.fill(bytes),
        }
    }
}

impl Dataset for FaultyPorts<'_> {}

impl Signatures for FaultyPorts<'_> {
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

impl Patterns for FaultyPorts<'_> {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        self.env.is_match(pattern, text)
    }
}
