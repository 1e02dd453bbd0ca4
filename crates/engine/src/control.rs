//! What the workers and the thread that started them tell each other while a run goes on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::SourceError;

/// "Not known yet", for a time.
pub(crate) const NEVER: u64 = u64::MAX;

/// How long a worker may go without looking at the time, the phase and the stop.
pub(crate) const TICK_NS: u64 = 20_000_000;

/// The most requests a worker reserves at once.
const LARGEST_SHARE: u64 = 1_024;

/// Read by every worker once per iteration of its loop, written hardly ever.
#[derive(Debug)]
pub(crate) struct Control {
    /// Where the measured phase begins: the warm-up's bound, or earlier when asked for.
    measure_from_ns: AtomicU64,
    /// Where the run was asked to end before its end.
    stop_ns: AtomicU64,
    /// Requests of a counted run that no worker has reserved.
    unreserved: AtomicU64,
    workers: u64,
    /// Workers that could not connect at all.
    unreached: AtomicU64,
    interrupted: AtomicBool,
    failure: Mutex<Option<SourceError>>,
    running: Mutex<u64>,
    all_ended: Condvar,
}

impl Control {
    pub(crate) fn new(workers: u32, warmup_max_ns: u64, count: Option<u64>) -> Self {
        Self {
            measure_from_ns: AtomicU64::new(warmup_max_ns),
            stop_ns: AtomicU64::new(NEVER),
            unreserved: AtomicU64::new(count.unwrap_or(NEVER)),
            workers: u64::from(workers),
            unreached: AtomicU64::new(0),
            interrupted: AtomicBool::new(false),
            failure: Mutex::new(None),
            running: Mutex::new(u64::from(workers)),
            all_ended: Condvar::new(),
        }
    }

    #[inline]
    pub(crate) fn measure_from_ns(&self) -> u64 {
        self.measure_from_ns.load(Relaxed)
    }

    #[inline]
    pub(crate) fn stop_ns(&self) -> u64 {
        self.stop_ns.load(Relaxed)
    }

    /// Ends the warm-up at `at_ns`, if it has not ended by then; no sooner than a tick from now, so
    /// that every worker knows of it in advance and the first requests of the measured phase start in time.
    pub(crate) fn begin_measuring(&self, now_ns: u64, at_ns: u64) {
        self.measure_from_ns
            .fetch_min(at_ns.max(now_ns + TICK_NS), Relaxed);
    }

    /// Ends the run, if it has not ended yet.
    pub(crate) fn stop(&self, now_ns: u64) {
        if *self.lock_running() > 0 {
            self.stop_ns.fetch_min(now_ns, Relaxed);
        }
    }

    pub(crate) fn was_interrupted(&self) -> bool {
        self.interrupted.load(Relaxed)
    }

    /// Reserves requests of a counted run: a share that shrinks as the count runs out, so that
    /// all workers end together and exactly so many requests are started. It is a multiple of
    /// `unit` but for the rest of them. 0 when none is left.
    pub(crate) fn reserve(&self, unit: u64) -> u64 {
        let share = |left: u64| {
            let units = (left / (self.workers * 8)).min(LARGEST_SHARE) / unit;
            (units.max(1) * unit).min(left)
        };
        let update = |left| (left > 0).then(|| left - share(left));
        match self.unreserved.fetch_update(Relaxed, Relaxed, update) {
            Ok(left) => share(left),
            Err(_) => 0,
        }
    }

    /// Ends the run because the source of a worker's requests failed; the first failure is kept.
    pub(crate) fn fail(&self, failure: SourceError, now_ns: u64) {
        let mut kept = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(failure);
        drop(kept);
        self.stop(now_ns);
    }

    /// Why the run was ended, where a source failed.
    pub(crate) fn failure(&self) -> Option<SourceError> {
        let kept = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone()
    }

    /// A worker could not connect at all. Once none could, the run ends.
    pub(crate) fn note_unreached(&self, now_ns: u64) {
        if self.unreached.fetch_add(1, Relaxed) + 1 == self.workers {
            self.stop(now_ns);
        }
    }

    /// A worker that could not connect did, after all.
    pub(crate) fn note_reached(&self) {
        self.unreached.fetch_sub(1, Relaxed);
    }

    /// A worker ended because of [`Self::stop`], before the plan's end.
    pub(crate) fn note_interrupted(&self) {
        self.interrupted.store(true, Relaxed);
    }

    pub(crate) fn worker_ended(&self) {
        *self.lock_running() -= 1;
        self.all_ended.notify_all();
    }

    /// Waits until all workers have ended, for at most so long; whether they have.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let running = self.lock_running();
        let (running, _) = self
            .all_ended
            .wait_timeout_while(running, timeout, |running| *running > 0)
            .unwrap_or_else(PoisonError::into_inner);
        *running == 0
    }

    fn lock_running(&self) -> std::sync::MutexGuard<'_, u64> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
