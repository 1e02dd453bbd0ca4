//! A counter with one writer and any number of readers.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// So many counters of statuses there are.
pub(crate) const STATUSES: usize = 1000;

/// Its owner adds with a plain load and store (no locked instruction: on x86 and ARM it
/// costs what a plain integer costs); others may read it at any time.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(n), Relaxed);
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    #[inline]
    pub(crate) fn set(&self, n: u64) {
        self.0.store(n, Relaxed);
    }

    /// Reads the counter and starts it again at 0.
    pub(crate) fn take(&self) -> u64 {
        let value = self.get();
        self.set(0);
        value
    }
}
