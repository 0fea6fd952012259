//! Processes many items in parallel, within a memory limit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// The maximum number of threads. More threads would only wait for the disk.
const MAX_THREADS: usize = 8;
/// The stack size of a thread, in bytes: several times the need of a YAML document with the maximum
/// nesting depth.
const STACK_BYTES: usize = 32 << 20;

/// Applies `work` to every item, heaviest first, and returns the results in the order of `items`.
/// The total weight of the items in progress is at most `max`, unless a single item exceeds it.
pub fn map<I: Sync, T: Send>(
    items: &[I],
    weigh: impl Fn(&I) -> u64 + Sync,
    max: u64,
    work: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let mut order: Vec<(usize, &I)> = items.iter().enumerate().collect();
    order.sort_by_key(|(_, item)| std::cmp::Reverse(weigh(item)));
    let next = AtomicUsize::new(0);
    let gate = WeightLimit { max, ..WeightLimit::default() };
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let run = || {
        while let Some((at, item)) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            gate.enter(weigh(item));
            let result = work(item);
            gate.leave(weigh(item));
            done.lock().unwrap_or_else(PoisonError::into_inner).push((*at, result));
        }
    };
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MAX_THREADS)
        .min(items.len().max(1));
    thread::scope(|scope| {
        let spawned = (0..threads)
            .filter(|_| {
                thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run).is_ok()
            })
            .count();
        if spawned == 0 {
            run();
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Blocks threads until the total weight in progress allows another item.
#[derive(Default)]
struct WeightLimit {
    max: u64,
    bytes: Mutex<u64>,
    left: Condvar,
}

impl WeightLimit {
    fn enter(&self, bytes: u64) {
        let must_wait = |bytes_in_progress: &mut u64| {
            *bytes_in_progress != 0 && bytes_in_progress.saturating_add(bytes) > self.max
        };
        let bytes_in_progress = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes_in_progress = self
            .left
            .wait_while(bytes_in_progress, must_wait)
            .unwrap_or_else(PoisonError::into_inner);
        *bytes_in_progress = bytes_in_progress.saturating_add(bytes);
    }

    fn leave(&self, bytes: u64) {
        let mut bytes_in_progress = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *bytes_in_progress = bytes_in_progress.saturating_sub(bytes);
        self.left.notify_all();
    }
}
