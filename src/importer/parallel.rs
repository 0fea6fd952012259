//! Work on many files at once, within a bound of memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use super::source::{MAX_BYTES, Source};

/// Bytes of files in work at any moment; one file may be larger.
const IN_WORK: u64 = 2 * MAX_BYTES;
/// More threads than this wait for the disk only.
const MAX_THREADS: usize = 8;
/// A YAML document nests as deep as its budget allows; this is several times what that takes.
const STACK: usize = 32 << 20;

/// Applies `work` to every file, the largest first, and returns the results in the order of `files`.
pub fn map<T: Send>(files: &[Source], work: impl Fn(&Source) -> T + Sync) -> Vec<T> {
    let mut order: Vec<(usize, &Source)> = files.iter().enumerate().collect();
    order.sort_by_key(|(_, file)| std::cmp::Reverse(file.bytes));
    let next = AtomicUsize::new(0);
    let gate = Gate::default();
    let done = Mutex::new(Vec::with_capacity(files.len()));
    let run = || {
        while let Some((at, file)) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            gate.enter(file.bytes);
            let result = work(file);
            gate.leave(file.bytes);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((*at, result));
        }
    };
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MAX_THREADS)
        .min(files.len().max(1));
    thread::scope(|scope| {
        let spawned = (0..threads)
            .filter(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).is_ok())
            .count();
        if spawned == 0 {
            run();
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Lets work begin as long as little enough is in work.
#[derive(Default)]
struct Gate {
    bytes: Mutex<u64>,
    left: Condvar,
}

impl Gate {
    fn enter(&self, bytes: u64) {
        let fits = |in_work: &mut u64| *in_work != 0 && in_work.saturating_add(bytes) > IN_WORK;
        let in_work = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut in_work =
            self.left.wait_while(in_work, fits).unwrap_or_else(PoisonError::into_inner);
        *in_work = in_work.saturating_add(bytes);
    }

    fn leave(&self, bytes: u64) {
        let mut in_work = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *in_work = in_work.saturating_sub(bytes);
        self.left.notify_all();
    }
}
