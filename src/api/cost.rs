//! What a request costs in storage: counted on the way to the ports, told in `server-timing`.

use std::cell::Cell;
use std::fmt;

use crate::access::key::KeyHash;
use crate::access::usage::Use;
use crate::ports::{
    Blobs, Clock, Db, Ports, Random, RateLimit, ResultSet, RetryAfter, Statement, StorageError,
};

/// Tries before the request fails: of a read of a value, and of statements on their way to which the connection was lost.
const TRIES: u32 = 3;
/// Milliseconds, at least, between the first and the second try of statements; each later pause is twice as long.
const PAUSE_MS: u32 = 40;

/// Counts what a request asks of the ports behind it.
pub struct Metered<'a, P> {
    ports: &'a P,
    db_calls: Cell<u64>,
    rows_read: Cell<u64>,
    hides_rows: Cell<bool>,
    rows_written: Cell<u64>,
    blob_reads: Cell<u64>,
    repeated: Cell<bool>,
    due: Cell<Option<(Use, Statement)>>,
    settled: Cell<Option<Use>>,
}

impl<'a, P: Ports> Metered<'a, P> {
    /// Nothing asked yet.
    #[must_use]
    pub const fn new(ports: &'a P) -> Self {
        Self {
            ports,
            db_calls: Cell::new(0),
            rows_read: Cell::new(0),
            hides_rows: Cell::new(false),
            rows_written: Cell::new(0),
            blob_reads: Cell::new(0),
            repeated: Cell::new(false),
            due: Cell::new(None),
            settled: Cell::new(None),
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
        write!(f, "d1;desc=\"calls={calls} rows_read={read} rows_written={written}\", ")?;
        write!(f, "kv;desc=\"reads={}\"", self.blob_reads.get())
    }
}

impl<P: Ports> Db for Metered<'_, P> {
    /// Statements must be such that running them once more is the same as running them once.
    async fn batch(&self, mut statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        let mut tries = 1;
        let mut used = None;
        if let Some((of, statement)) = self.due.take() {
            used = Some(of);
            statements.push(statement);
        }
        loop {
            add(&self.db_calls, 1);
            match self.ports.batch(statements.clone()).await {
                Ok(sets) => {
                    for set in &sets {
                        add(&self.rows_read, set.rows_read);
                        add(&self.rows_written, set.rows_written);
                    }
                    if used.is_some() {
                        self.settled.set(used);
                    }
                    return Ok(sets);
                }
                Err(error) if tries < TRIES && (error.lost || used.is_some()) => {
                    if error.lost {
                        self.repeated.set(true);
                    } else {
                        // Nothing was done. A database that does not take the use may still do all else.
                        self.settled.set(used.take());
                        statements.pop();
                    }
                    drop(error);
                    self.sleep(self.pause(tries)).await;
                }
                Err(error) => return Err(error),
            }
            tries = tries.saturating_add(1);
        }
    }
}

impl<P: Ports> Metered<'_, P> {
    /// Tells no rows read: that of a revoked key is found, that of an unknown one is not, and nobody is told which it was;
    /// nor is a token told how much there is that it may not see.
    pub fn hide_rows(&self) {
        self.hides_rows.set(true);
    }

    /// Whether statements were run more than once: an earlier try may have done its work.
    #[must_use]
    pub fn was_repeated(&self) -> bool {
        self.repeated.get()
    }

    /// Has the request's statements write the use of its key, too.
    pub fn write_use(&self, due: Option<(Use, Statement)>) {
        self.due.set(due);
    }

    /// The use that was written, or that storage did not take.
    #[must_use]
    pub const fn settled_use(&self) -> Option<Use> {
        self.settled.get()
    }

    /// Milliseconds to wait after a try: longer each time, and never the same for all who wait.
    fn pause(&self, tries: u32) -> u32 {
        let mut jitter = [0];
        self.fill(&mut jitter);
        let [jitter] = jitter;
        PAUSE_MS
            .saturating_mul(1 << tries.saturating_sub(1).min(8))
            .saturating_add(u32::from(jitter))
    }
}

impl<P: Blobs> Blobs for Metered<'_, P> {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StorageError> {
        let mut tries = TRIES;
        loop {
            add(&self.blob_reads, 1);
            tries = tries.saturating_sub(1);
            match self.ports.get(key).await {
                Err(_) if tries > 0 => {}
                answer => return answer,
            }
        }
    }
}

impl<P: Clock> Clock for Metered<'_, P> {
    fn now(&self) -> u64 {
        self.ports.now()
    }

    async fn sleep(&self, milliseconds: u32) {
        self.ports.sleep(milliseconds).await;
    }
}

impl<P: Random> Random for Metered<'_, P> {
    fn fill(&self, bytes: &mut [u8]) {
        self.ports.fill(bytes);
    }
}

impl<P: RateLimit> RateLimit for Metered<'_, P> {
    async fn allow(&self, key: &KeyHash) -> Result<(), RetryAfter> {
        self.ports.allow(key).await
    }
}
