//! What a request costs in storage: counted on the way to the ports, told in `server-timing`.

use std::cell::Cell;
use std::fmt;

use crate::ports::{Blobs, Clock, Db, Ports, ResultSet, Statement, StorageError};

/// Tries of a read that storage fails before the request does.
const READ_TRIES: u32 = 3;

/// Counts what a request asks of the ports behind it.
#[derive(Debug)]
pub struct Metered<'a, P> {
    ports: &'a P,
    db_calls: Cell<u64>,
    rows_read: Cell<u64>,
    rows_written: Cell<u64>,
    blob_reads: Cell<u64>,
}

impl<'a, P: Ports> Metered<'a, P> {
    /// Nothing asked yet.
    #[must_use]
    pub const fn new(ports: &'a P) -> Self {
        Self {
            ports,
            db_calls: Cell::new(0),
            rows_read: Cell::new(0),
            rows_written: Cell::new(0),
            blob_reads: Cell::new(0),
        }
    }
}

fn add(counter: &Cell<u64>, more: u64) {
    counter.set(counter.get().saturating_add(more));
}

impl<P> fmt::Display for Metered<'_, P> {
    /// The value of the `server-timing` header.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (calls, read, written) =
            (self.db_calls.get(), self.rows_read.get(), self.rows_written.get());
        write!(f, "d1;desc=\"calls={calls} rows_read={read} rows_written={written}\", ")?;
        write!(f, "kv;desc=\"reads={}\"", self.blob_reads.get())
    }
}

impl<P: Db> Db for Metered<'_, P> {
    async fn batch(&self, statements: Vec<Statement>) -> Result<Vec<ResultSet>, StorageError> {
        add(&self.db_calls, 1);
        let sets = self.ports.batch(statements).await?;
        for set in &sets {
            add(&self.rows_read, set.rows_read);
            add(&self.rows_written, set.rows_written);
        }
        Ok(sets)
    }
}

impl<P: Blobs> Blobs for Metered<'_, P> {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StorageError> {
        let mut tries = READ_TRIES;
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
}
