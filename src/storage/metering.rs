//! Counts the storage operations of a request for the header `server-timing`, and retries them.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use serde_json::Value;

use crate::audit::statements::{self as audit, is_audited};
use crate::auth::last_use::UseId;
use crate::connections::model::Connection;
use crate::ports::{
    Algorithm, Background, Blob, Blobs, Clock, Dataset, Db, Http, HttpError, HttpRequest,
    HttpResponse, Patterns, Ports, Random, RateLimit, ResultSet, Retry, RetryAfter, Signatures,
    Statement, StorageError, StreamingRequest, StreamingResponse, with_timeout,
};
use crate::storage::read_replica::{FIRST_PRIMARY, FIRST_UNCONSTRAINED, ReplicaSession};
use crate::traces::collector::Collector;
use crate::traces::span::{COLLECTOR_TIMEOUT_MS, MAX_SPANS, document};
use crate::usage::counts::UsageDimensions;
use crate::webhooks::statements::deliveries::select_if_due;

/// The maximum number of tries for reading a value, or for a batch whose connection was lost.
const MAX_TRIES: u32 = 3;
/// The maximum number of tries for a batch while another program is writing. They take about 5
/// seconds.
const MAX_BUSY_TRIES: u32 = 8;
/// The minimum pause before the second try of a batch, in milliseconds. Each further pause is twice
/// as long.
const MIN_PAUSE_MS: u32 = 40;
/// The timeout of storage and queue operations, in milliseconds.
pub(crate) const STORAGE_TIMEOUT_MS: u32 = 10_000;
/// The timeout of the rate limiter, in milliseconds.
const LIMITER_TIMEOUT_MS: u32 = 1000;

/// Ports that count the operations of one request.
pub struct Metered<'a, P> {
    ports: &'a P,
    db_calls: Cell<u64>,
    rows_read: Cell<u64>,
    hides_rows: Cell<bool>,
    hides_blobs: Cell<bool>,
    rows_written: Cell<u64>,
    blob_reads: Cell<u64>,
    repeated: Cell<bool>,
    pending_last_use: Cell<Option<(UseId, Statement)>>,
    recorded_last_use: Cell<Option<UseId>>,
    has_deliveries: Cell<bool>,
    size: Cell<u64>,
    session: RefCell<Option<ReplicaSession>>,
    bookmark: RefCell<Option<String>>,
    actor: RefCell<Option<Statement>>,
    spans: RefCell<Vec<Value>>,
    usage_dimensions: RefCell<Option<UsageDimensions>>,
}

impl<'a, P: Ports> Metered<'a, P> {
    /// The inner ports, for a nested request. It has its own counters.
    pub const fn inner(&self) -> &'a P {
        self.ports
    }

    /// Wraps `ports` with counters that start at zero.
    pub const fn new(ports: &'a P) -> Self {
        Self {
            ports,
            db_calls: Cell::new(0),
            rows_read: Cell::new(0),
            hides_rows: Cell::new(false),
            hides_blobs: Cell::new(false),
            rows_written: Cell::new(0),
            blob_reads: Cell::new(0),
            repeated: Cell::new(false),
            pending_last_use: Cell::new(None),
            recorded_last_use: Cell::new(None),
            has_deliveries: Cell::new(false),
            size: Cell::new(0),
            session: RefCell::new(None),
            bookmark: RefCell::new(None),
            actor: RefCell::new(None),
            spans: RefCell::new(Vec::new()),
            usage_dimensions: RefCell::new(None),
        }
    }
}

fn add(counter: &Cell<u64>, more: u64) {
    counter.set(counter.get().saturating_add(more));
}

impl<P> fmt::Display for Metered<'_, P> {
    /// Formats the value of the header `server-timing`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read = if self.hides_rows.get() { 0 } else { self.rows_read.get() };
        let (calls, written) = (self.db_calls.get(), self.rows_written.get());
        let reads = if self.hides_blobs.get() { 0 } else { self.blob_reads.get() };
        write!(f, "d1;desc=\"calls={calls} rows_read={read} rows_written={written}\", ")?;
        write!(f, "kv;desc=\"reads={reads}\"")
    }
}

impl<P: Ports> Db for Metered<'_, P> {
    fn number(&self) -> u16 {
        self.ports.number()
    }

    fn was_forwarded(&self) -> bool {
        self.ports.was_forwarded()
    }

    /// Runs the statements. Retries them if the connection is lost or the database is busy, so
    /// running them twice must have the same effect as running them once.
    async fn batch(&self, mut statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        // D1 rejects batches without statements.
        if statements.is_empty() {
            return Ok(Vec::new());
        }
        let (mut tries, mut pauses) = (1, 1);
        let mut included_last_use = None;
        let is_audited = statements.iter().any(|statement| is_audited(&statement.sql));
        let actor = self.actor.borrow().clone().filter(|_| is_audited);
        let has_actor = actor.is_some();
        if let Some(actor) = actor {
            statements.insert(0, actor);
            statements.push(audit::clear_actor());
        }
        // Writes may create events, so the same batch also checks whether deliveries are due.
        let is_write = |sql: &str| !sql.starts_with("SELECT") && !audit::is_read_entry(sql);
        let has_writes = statements.iter().any(|statement| is_write(&statement.sql));
        let due_index = has_writes.then_some(statements.len());
        if has_writes {
            statements.push(select_if_due(self.now()));
        }
        // Not added if a replica may run the batch, because a replica accepts no writes.
        // `record_last_use_later` then records the use.
        if !self.allows_replica()
            && let Some((use_id, statement)) = self.pending_last_use.take()
        {
            included_last_use = Some(use_id);
            statements.push(statement);
        }
        loop {
            add(&self.db_calls, 1);
            let outcome =
                with_timeout(self, STORAGE_TIMEOUT_MS, self.run(statements.clone())).await;
            // Not retried, because the caller has already waited long enough.
            let outcome = outcome.ok_or_else(|| StorageError::new("D1: timed out"))?;
            match outcome {
                // A missing result set would be indistinguishable from one without rows.
                Ok(sets) if sets.len() != statements.len() => {
                    let cause =
                        format!("{} result sets for {} statements", sets.len(), statements.len());
                    return Err(StorageError::new(cause));
                }
                Ok(mut sets) => {
                    for set in &sets {
                        add(&self.rows_read, set.rows_read);
                        add(&self.rows_written, set.rows_written);
                    }
                    if let Some(last) = sets.last() {
                        self.size.set(last.size_after);
                    }
                    if included_last_use.is_some() {
                        self.recorded_last_use.set(included_last_use);
                    }
                    let has_due =
                        due_index.and_then(|at| sets.get(at)).is_some_and(|set| set.json != "[]");
                    self.has_deliveries.set(self.has_deliveries.get() || has_due);
                    if has_actor {
                        sets.remove(0);
                    }
                    return Ok(sets);
                }
                Err(StorageError { retry: Retry::Busy, .. }) if pauses < MAX_BUSY_TRIES => {
                    self.sleep(self.pause(pauses)).await;
                    pauses = pauses.saturating_add(1);
                    continue;
                }
                Err(StorageError { retry: Retry::Lost, .. }) if tries < MAX_TRIES => {
                    self.repeated.set(true);
                }
                Err(StorageError { retry: Retry::Never, .. }) if included_last_use.is_some() => {
                    // The transaction was rolled back. Retries without the write of the key's last
                    // use, because the database may reject only this write.
                    self.recorded_last_use.set(included_last_use.take());
                    statements.pop();
                }
                Err(error) => return Err(error),
            }
            self.sleep(self.pause(tries)).await;
            tries = tries.saturating_add(1);
        }
    }

    async fn batch_since(
        &self,
        statements: Vec<Statement>,
        since: &str,
    ) -> Result<(Vec<ResultSet>, Option<String>), StorageError> {
        self.ports.batch_since(statements, since).await
    }
}

impl<P: Ports> Metered<'_, P> {
    /// Runs statements, in the request's session if it has one.
    async fn run(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        let session = self.session.borrow().clone();
        let Some(ReplicaSession { since, allows_replica }) = session else {
            return self.ports.batch(statements).await;
        };
        let since = if allows_replica { since.as_str() } else { FIRST_PRIMARY };
        let outcome = self.ports.batch_since(statements.clone(), since).await;
        let (sets, bookmark) = match outcome {
            // A database that was restored from a backup does not know later bookmarks.
            Err(error)
                if error.retry == Retry::Never
                    && ![FIRST_UNCONSTRAINED, FIRST_PRIMARY].contains(&since) =>
            {
                add(&self.db_calls, 1);
                self.ports.batch_since(statements, FIRST_PRIMARY).await?
            }
            outcome => outcome?,
        };
        if let Some(bookmark) = bookmark {
            // The next read of the request must not return older rows than this one.
            let since = bookmark.clone();
            self.session.replace(Some(ReplicaSession { since, allows_replica }));
            self.bookmark.replace(Some(bookmark));
        }
        Ok(sets)
    }

    /// Sets the statement that sets the actor of the request's changes for the audit log. It
    /// precedes each audited batch.
    pub fn set_actor(&self, actor: Statement) {
        self.actor.replace(Some(actor));
    }

    /// Sets the dimensions under which the request is counted.
    pub fn set_usage_dimensions(&self, dimensions: UsageDimensions) {
        self.usage_dimensions.replace(Some(dimensions));
    }

    pub fn take_usage_dimensions(&self) -> Option<UsageDimensions> {
        self.usage_dimensions.take()
    }

    /// Attributes the request to the platform of a connection and, unless the caller has an
    /// identity, to the connection's identity.
    pub fn set_usage_connection(&self, connection: &Connection) {
        if let Some(dimensions) = self.usage_dimensions.borrow_mut().as_mut() {
            dimensions.platform = Some(connection.platform.clone());
            dimensions.identity.get_or_insert_with(|| connection.identity.clone());
        }
    }

    /// Adds the span of a platform call. The spans are sent after the response.
    pub fn add_span(&self, span: Value) {
        let mut spans = self.spans.borrow_mut();
        if spans.len() < MAX_SPANS {
            spans.push(span);
        }
    }

    /// Sends all spans of the request to the collector, in one HTTP request.
    pub fn send_spans(&self, collector: Option<&Collector>) {
        let spans = self.spans.take();
        if let Some(collector) = collector.filter(|_| !spans.is_empty()) {
            self.ports
                .send_in_background(collector.request(document(&spans)), COLLECTOR_TIMEOUT_MS);
        }
    }

    /// Sets the session for the request's batches.
    pub fn use_session(&self, session: Option<ReplicaSession>) {
        self.session.replace(session);
    }

    /// Whether read replicas may run the request's batches.
    pub fn allows_replica(&self) -> bool {
        self.session.borrow().as_ref().is_some_and(|session| session.allows_replica)
    }

    /// Restricts all further batches to the primary.
    pub fn use_primary(&self) {
        if let Some(session) = self.session.borrow_mut().as_mut() {
            session.allows_replica = false;
        }
    }

    /// Records the last use of a key in the background, because a replica authenticated the key and
    /// accepts no writes.
    pub fn record_last_use_later(&self) {
        if let Some((use_id, statement)) = self.pending_last_use.take() {
            self.ports.run_in_background(statement);
            self.recorded_last_use.set(Some(use_id));
        }
    }

    /// The session's current bookmark. Returns `None` if there is no session, or no statement has
    /// run in it.
    pub fn bookmark(&self) -> Option<String> {
        self.bookmark.borrow().clone()
    }

    /// Reports zero rows read. The real count would reveal whether a rejected key is revoked,
    /// because then its row is found, or unknown. It would also reveal to a token how many
    /// connections it can't access.
    pub fn hide_rows(&self) {
        self.hides_rows.set(true);
    }

    /// Reports no reads at all, so that the counters reveal nothing to a rejected caller.
    pub fn hide_reads(&self) {
        self.hides_rows.set(true);
        self.hides_blobs.set(true);
    }

    /// Whether a batch was retried, so that an earlier try may already have run it.
    pub fn was_retried(&self) -> bool {
        self.repeated.get()
    }

    /// Adds the statement that records the last use of the key to the request's next batch.
    pub fn add_last_use(&self, due: Option<(UseId, Statement)>) {
        self.pending_last_use.set(due);
    }

    /// The last use that was recorded, or that the database rejected. Returns `None` if neither
    /// happened.
    pub const fn recorded_last_use(&self) -> Option<UseId> {
        self.recorded_last_use.get()
    }

    /// Whether webhook deliveries are due after the changes of this request.
    pub const fn has_deliveries(&self) -> bool {
        self.has_deliveries.get()
    }

    /// The size of the database in bytes; 0 if unknown.
    pub const fn size(&self) -> u64 {
        self.size.get()
    }

    /// The pause after `tries` tries, in milliseconds. Exponential, with jitter.
    fn pause(&self, tries: u32) -> u32 {
        let mut jitter = [0];
        self.fill(&mut jitter);
        let [jitter] = jitter;
        MIN_PAUSE_MS
            .saturating_mul(1 << tries.saturating_sub(1).min(8))
            .saturating_add(u32::from(jitter))
    }
}

impl<P: Background> Background for Metered<'_, P> {
    fn run_in_background(&self, statement: Statement) {
        self.ports.run_in_background(statement);
    }

    fn send_in_background(&self, request: HttpRequest, timeout_ms: u32) {
        self.ports.send_in_background(request, timeout_ms);
    }
}

impl<P: Blobs + Clock> Blobs for Metered<'_, P> {
    async fn get(&self, key: &str) -> Result<Option<Rc<dyn Blob>>, StorageError> {
        let mut tries = MAX_TRIES;
        loop {
            add(&self.blob_reads, 1);
            tries = tries.saturating_sub(1);
            match with_timeout(self, STORAGE_TIMEOUT_MS, self.ports.get(key)).await {
                Some(Err(_)) if tries > 0 => {}
                Some(outcome) => return outcome,
                None => return Err(StorageError::new(format!("KV, `{key}`: timed out"))),
            }
        }
    }

    async fn inflate(&self, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StorageError> {
        self.ports.inflate(bytes).await
    }

    fn keep(&self, bytes: Vec<u8>) -> Rc<dyn Blob> {
        self.ports.keep(bytes)
    }
}

impl<P: Clock> Clock for Metered<'_, P> {
    fn now(&self) -> u64 {
        self.ports.now()
    }

    async fn sleep(&self, milliseconds: u32) -> bool {
        self.ports.sleep(milliseconds).await
    }
}

impl<P: Dataset> Dataset for Metered<'_, P> {
    fn has_dataset(&self) -> bool {
        self.ports.has_dataset()
    }
}

impl<P: Random> Random for Metered<'_, P> {
    fn fill(&self, bytes: &mut [u8]) {
        self.ports.fill(bytes);
    }
}

impl<P: Http> Http for Metered<'_, P> {
    async fn send(&self, request: HttpRequest, timeout_ms: u32) -> Result<HttpResponse, HttpError> {
        self.ports.send(request, timeout_ms).await
    }

    async fn open(
        &self,
        request: StreamingRequest<'_>,
        timeout_ms: u32,
    ) -> Result<StreamingResponse, HttpError> {
        self.ports.open(request, timeout_ms).await
    }

    async fn read(&self, body: Rc<dyn Any>, max: usize) -> Result<Vec<u8>, HttpError> {
        self.ports.read(body, max).await
    }

    async fn read_within(
        &self,
        body: Rc<dyn Any>,
        max: usize,
        grow: Rc<dyn Fn(usize) -> bool>,
    ) -> Result<Vec<u8>, HttpError> {
        self.ports.read_within(body, max, grow).await
    }

    fn copy(&self, body: &Rc<dyn Any>) -> Option<Rc<dyn Any>> {
        self.ports.copy(body)
    }

    fn decode(&self, charset: &str, bytes: &[u8]) -> Option<String> {
        self.ports.decode(charset, bytes)
    }
}

impl<P: Patterns> Patterns for Metered<'_, P> {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        self.ports.is_match(pattern, text)
    }
}

impl<P: Signatures> Signatures for Metered<'_, P> {
    async fn verify(
        &self,
        algorithm: Algorithm,
        key: &str,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        self.ports.verify(algorithm, key, message, signature).await
    }

    async fn sign(&self, algorithm: Algorithm, key: &str, message: &[u8]) -> Option<Vec<u8>> {
        self.ports.sign(algorithm, key, message).await
    }
}

impl<P: Ports> RateLimit for Metered<'_, P> {
    async fn allow(&self, caller: &str) -> Result<(), RetryAfter> {
        // The shard that forwarded the request has already counted it.
        if self.was_forwarded() {
            return Ok(());
        }
        // The service must remain available if the rate limiter fails.
        with_timeout(self, LIMITER_TIMEOUT_MS, self.ports.allow(caller)).await.unwrap_or(Ok(()))
    }
}
