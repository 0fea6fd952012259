//! Random numbers that are the same in each test run.

use crate::support::{SPLITMIX_GAMMA, splitmix};

/// The number of repetitions of a test with random input: `proof` if `CONNECTOR_VAULT_PROOF` is
/// set, as in `npm run proof` and `npm run mutants`, otherwise `normal`.
pub fn repetitions(normal: usize, proof: usize) -> usize {
    if std::env::var_os("CONNECTOR_VAULT_PROOF").is_some() { proof } else { normal }
}

/// Returns a random item from each of `count` equal parts, or all items in `npm run proof`.
#[cfg(feature = "cli")]
pub fn sample<T>(rng: &mut TestRng, count: usize, all: Vec<T>) -> Vec<T> {
    let parts = repetitions(count, usize::MAX);
    if parts >= all.len() {
        return all;
    }
    let edge = |part: usize| part * all.len() / parts;
    let mut places: Vec<usize> =
        (0..parts).map(|part| edge(part) + rng.below(edge(part + 1) - edge(part))).collect();
    places.reverse();
    let mut index = 0;
    all.into_iter()
        .filter(|_| {
            let is_taken = places.last() == Some(&index);
            index += 1;
            is_taken && places.pop().is_some()
        })
        .collect()
}

/// A pseudorandom generator (`SplitMix64`).
pub struct TestRng(pub u64);

impl TestRng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(SPLITMIX_GAMMA);
        splitmix(self.0)
    }

    /// A random number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    /// `true` with a probability of `percent`.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Returns an item of `all` with a probability of `percent`, otherwise `None`.
    pub fn maybe<T: Clone>(&mut self, percent: usize, all: &[T]) -> Option<T> {
        self.percent(percent).then(|| self.pick(all).clone())
    }
}
