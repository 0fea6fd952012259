//! What a request costs in storage: counted on the way to the ports, reported in `server-timing`.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use crate::audit::statements::{self as audit, is_audited};
use crate::auth::usage::Use;
use crate::ports::{
    Again, Algorithm, Blob, Blobs, Clock, Db, Http, HttpError, HttpRequest, HttpResponse, Incoming,
    Later, Outgoing, Patterns, Ports, Random, RateLimit, ResultSet, RetryAfter, Signatures,
    Statement, StorageError, within,
};
use crate::storage::read_replica::{ANY, PRIMARY, Session};
use crate::webhooks::statements::is_due;

/// How often a read of a value, or a batch whose connection was lost, is tried before the request fails.
const TRIES: u32 = 3;
/// How often a batch is tried that another program keeps from running: for some 5 seconds.
const BUSY_TRIES: u32 = 8;
/// Least milliseconds between the first and the second try of a batch; each later pause is twice as long.
const PAUSE_MS: u32 = 40;
/// Milliseconds after which storage, or the queue, is taken to give no answer.
pub(crate) const STORAGE_MS: u32 = 10_000;
/// Milliseconds after which the rate limiter is taken to give no answer.
const LIMITER_MS: u32 = 1000;

/// Counts what a request asks of the ports behind it.
pub struct Metered<'a, P> {
    ports: &'a P,
    db_calls: Cell<u64>,
    rows_read: Cell<u64>,
    hides_rows: Cell<bool>,
    hides_blobs: Cell<bool>,
    rows_written: Cell<u64>,
    blob_reads: Cell<u64>,
    repeated: Cell<bool>,
    due: Cell<Option<(Use, Statement)>>,
    settled: Cell<Option<Use>>,
    has_deliveries: Cell<bool>,
    size: Cell<u64>,
    session: RefCell<Option<Session>>,
    bookmark: RefCell<Option<String>>,
    actor: RefCell<Option<Statement>>,
}

impl<'a, P: Ports> Metered<'a, P> {
    /// The ports behind it, for a request of the service's own, which is counted by itself.
    #[must_use]
    pub const fn inner(&self) -> &'a P {
        self.ports
    }

    /// Wraps `ports`, with all counters at zero.
    #[must_use]
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
            due: Cell::new(None),
            settled: Cell::new(None),
            has_deliveries: Cell::new(false),
            size: Cell::new(0),
            session: RefCell::new(None),
            bookmark: RefCell::new(None),
            actor: RefCell::new(None),
        }
    }
}

fn add(counter: &Cell<u64>, more: u64) {
    counter.set(counter.get().saturating_add(more));
}

impl<P> fmt::Display for Metered<'_, P> {
    /// The value of the `server-timing` header.
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

    /// Runs the statements, retrying when the connection is lost or the database is busy. Running them twice must do no
    /// more than running them once.
    async fn batch(&self, mut statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        let (mut tries, mut pauses) = (1, 1);
        let mut used = None;
        let is_audited = statements.iter().any(|statement| is_audited(&statement.sql));
        let actor = self.actor.borrow().clone().filter(|_| is_audited);
        let has_actor = actor.is_some();
        if let Some(actor) = actor {
            statements.insert(0, actor);
            statements.push(audit::end());
        }
        // A change may write events, and these are sent: whoever wrote them need not know that there are webhooks.
        let writes = |sql: &str| !sql.starts_with("SELECT") && !audit::is_read(sql);
        let writes = statements.iter().any(|statement| writes(&statement.sql));
        let asked = writes.then_some(statements.len());
        if writes {
            statements.push(is_due(self.now()));
        }
        // A copy takes no writes: `write_use_later`.
        if !self.is_near()
            && let Some((of, statement)) = self.due.take()
        {
            used = Some(of);
            statements.push(statement);
        }
        loop {
            add(&self.db_calls, 1);
            let answer = within(self, STORAGE_MS, self.run(statements.clone())).await;
            // No other try: the caller has waited long enough.
            let answer = answer.ok_or_else(|| StorageError::new("D1: no answer in time"))?;
            match answer {
                // Nobody may take a missing result set for one without rows.
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
                    if used.is_some() {
                        self.settled.set(used);
                    }
                    let due = asked.and_then(|at| sets.get(at)).is_some_and(|set| set.json != "[]");
                    self.has_deliveries.set(self.has_deliveries.get() || due);
                    if has_actor {
                        sets.remove(0);
                    }
                    return Ok(sets);
                }
                Err(StorageError { again: Again::Busy, .. }) if pauses < BUSY_TRIES => {
                    self.sleep(self.pause(pauses)).await;
                    pauses = pauses.saturating_add(1);
                    continue;
                }
                Err(StorageError { again: Again::Lost, .. }) if tries < TRIES => {
                    self.repeated.set(true);
                }
                Err(StorageError { again: Again::Never, .. }) if used.is_some() => {
                    // The transaction was rolled back. A database that rejects the write of the key's use may still
                    // take the rest.
                    self.settled.set(used.take());
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
    /// Runs statements in the session, if there is one.
    async fn run(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        let session = self.session.borrow().clone();
        let Some(Session { since, is_near }) = session else {
            return self.ports.batch(statements).await;
        };
        let since = if is_near { since.as_str() } else { PRIMARY };
        let answer = self.ports.batch_since(statements.clone(), since).await;
        let (sets, bookmark) = match answer {
            // A database that was restored does not know the bookmarks of what it lost.
            Err(error) if error.again == Again::Never && ![ANY, PRIMARY].contains(&since) => {
                add(&self.db_calls, 1);
                self.ports.batch_since(statements, PRIMARY).await?
            }
            answer => answer?,
        };
        if let Some(bookmark) = bookmark {
            // What the request reads next is not older than what it has read.
            let since = bookmark.clone();
            self.session.replace(Some(Session { since, is_near }));
            self.bookmark.replace(Some(bookmark));
        }
        Ok(sets)
    }

    /// Says who makes the changes that follow, by one of the statements that begin a batch with that.
    pub fn set_actor(&self, actor: Statement) {
        self.actor.replace(Some(actor));
    }

    /// Has the batches of this request run in a session.
    pub fn begin(&self, session: Option<Session>) {
        self.session.replace(session);
    }

    /// Whether copies of the database may answer.
    pub fn is_near(&self) -> bool {
        self.session.borrow().as_ref().is_some_and(|session| session.is_near)
    }

    /// Has only the primary answer from now on.
    pub fn leave_copies(&self) {
        if let Some(session) = self.session.borrow_mut().as_mut() {
            session.is_near = false;
        }
    }

    /// Writes the use of a key whom a copy has let in. Nobody waits for it.
    pub fn write_use_later(&self) {
        if let Some((of, statement)) = self.due.take() {
            self.ports.later(statement);
            self.settled.set(Some(of));
        }
    }

    /// Where the session is now. Returns `None` when there is none, or when no statement has run in it.
    pub fn bookmark(&self) -> Option<String> {
        self.bookmark.borrow().clone()
    }

    /// Reports zero rows read. Otherwise the count would reveal whether a refused key is revoked (its row is found) or
    /// unknown, and to a token how many connections exist that it may not see.
    pub fn hide_rows(&self) {
        self.hides_rows.set(true);
    }

    /// Reports no reads at all, to a caller that is refused: what its request had looked up is not for it.
    pub fn hide_reads(&self) {
        self.hides_rows.set(true);
        self.hides_blobs.set(true);
    }

    /// Whether statements were sent more than once, so that an earlier try may have done their work.
    #[must_use]
    pub fn was_repeated(&self) -> bool {
        self.repeated.get()
    }

    /// Adds the statement that records the key's use to the request's next batch.
    pub fn write_use(&self, due: Option<(Use, Statement)>) {
        self.due.set(due);
    }

    /// The key's use that was written, or that storage rejected. Returns `None` when neither happened.
    #[must_use]
    pub const fn settled_use(&self) -> Option<Use> {
        self.settled.get()
    }

    /// Whether deliveries to webhooks were due after a change that was made here.
    #[must_use]
    pub const fn has_deliveries(&self) -> bool {
        self.has_deliveries.get()
    }

    /// The size of the database in bytes; 0 when it did not say.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size.get()
    }

    /// Milliseconds to wait after this many tries: longer each time, with a random part so that waiting requests spread
    /// out.
    fn pause(&self, tries: u32) -> u32 {
        let mut jitter = [0];
        self.fill(&mut jitter);
        let [jitter] = jitter;
        PAUSE_MS
            .saturating_mul(1 << tries.saturating_sub(1).min(8))
            .saturating_add(u32::from(jitter))
    }
}

impl<P: Later> Later for Metered<'_, P> {
    fn later(&self, statement: Statement) {
        self.ports.later(statement);
    }
}

impl<P: Blobs + Clock> Blobs for Metered<'_, P> {
    async fn get(&self, key: &str) -> Result<Option<Rc<dyn Blob>>, StorageError> {
        let mut tries = TRIES;
        loop {
            add(&self.blob_reads, 1);
            tries = tries.saturating_sub(1);
            match within(self, STORAGE_MS, self.ports.get(key)).await {
                Some(Err(_)) if tries > 0 => {}
                Some(answer) => return answer,
                None => return Err(StorageError::new(format!("KV, `{key}`: no answer in time"))),
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

impl<P: Random> Random for Metered<'_, P> {
    fn fill(&self, bytes: &mut [u8]) {
        self.ports.fill(bytes);
    }
}

impl<P: Http> Http for Metered<'_, P> {
    async fn send(
        &self,
        request: HttpRequest,
        deadline_ms: u32,
    ) -> Result<HttpResponse, HttpError> {
        self.ports.send(request, deadline_ms).await
    }

    async fn open(&self, request: Outgoing<'_>, deadline_ms: u32) -> Result<Incoming, HttpError> {
        self.ports.open(request, deadline_ms).await
    }

    async fn read(&self, body: Rc<dyn Any>, most: usize) -> Result<Vec<u8>, HttpError> {
        self.ports.read(body, most).await
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
        // The database that the secret names has counted it already.
        if self.was_forwarded() {
            return Ok(());
        }
        // A limiter that is out of order must not take the service down.
        within(self, LIMITER_MS, self.ports.allow(caller)).await.unwrap_or(Ok(()))
    }
}
