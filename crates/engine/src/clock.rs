//! The one reader of time. Everything else takes time as an argument, in nanoseconds since
//! the start of the run.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{hint, thread};

use rustix::time::{ClockId, clock_gettime};

/// A monotonic clock that starts at 0.
///
/// A reading costs about 25 ns (`clock_gettime` through the vDSO). The loop reads it once per
/// readiness event and once per send, so a completion is stamped at most one event late: the
/// time between the reading and the `recv` that follows it at once. See [`crate::worker`].
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start_ns: u64,
    started_at_unix_ns: u64,
    started_late_ns: u64,
}

impl Clock {
    /// Starts a clock: from now on it is 0.
    #[must_use]
    pub fn start() -> Self {
        Self {
            start_ns: read_ns(ClockId::Monotonic),
            started_at_unix_ns: unix_now_ns(),
            started_late_ns: 0,
        }
    }

    /// Starts a clock at an instant of the calendar, or now where that is over: waits for it asleep,
    /// and awake for the last millisecond, in which a sleeper could be late.
    #[must_use]
    pub fn start_at(unix_ns: u64) -> Self {
        const AWAKE_NS: u64 = 1_000_000;
        let left_ns = unix_ns.saturating_sub(unix_now_ns());
        thread::sleep(Duration::from_nanos(left_ns.saturating_sub(AWAKE_NS)));
        while unix_now_ns() < unix_ns {
            hint::spin_loop();
        }
        Self::start()
    }

    /// Waits as [`Self::start_at`] does, and counts from that instant however late it was met, so that
    /// clocks which were started for one instant show the same; from now where none is given (0).
    #[must_use]
    pub fn start_from(unix_ns: u64) -> Self {
        const READINGS: usize = 8;
        let now = Self::start_at(unix_ns);
        if unix_ns == 0 {
            return now;
        }
        // Both clocks at one moment: the pair that was read in the shortest time.
        let pairs = (0..READINGS).map(|_| {
            let (before_ns, unix_now_ns) = (read_ns(ClockId::Monotonic), unix_now_ns());
            (
                read_ns(ClockId::Monotonic) - before_ns,
                before_ns,
                unix_now_ns,
            )
        });
        let (_, monotonic_ns, unix_now_ns) = pairs.min().unwrap_or_default();
        let since_ns = unix_now_ns.saturating_sub(unix_ns);
        Self {
            start_ns: monotonic_ns.saturating_sub(since_ns),
            started_at_unix_ns: unix_ns,
            started_late_ns: now.started_at_unix_ns.saturating_sub(unix_ns),
        }
    }

    /// How long after the instant that it counts from it was started.
    #[must_use]
    pub fn started_late_ns(&self) -> u64 {
        self.started_late_ns
    }

    /// Nanoseconds since the start.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        read_ns(ClockId::Monotonic) - self.start_ns
    }

    /// The start by the system's monotonic clock.
    #[must_use]
    pub fn started_at_monotonic_ns(&self) -> u64 {
        self.start_ns
    }

    /// The start by the calendar, in nanoseconds since 1970.
    #[must_use]
    pub fn started_at_unix_ns(&self) -> u64 {
        self.started_at_unix_ns
    }
}

/// CPU time the calling thread has used.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    read_ns(ClockId::ThreadCPUTime)
}

/// What a thread has had of its core so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ThreadTimes {
    pub(crate) cpu_ns: u64,
    /// For how long it was ready to run while another had the core; none where the system does not tell.
    pub(crate) delayed_ns: Option<u64>,
}

/// Reads the times of the thread that made it: two system calls, for moments between slices.
#[derive(Debug, Default)]
pub(crate) struct ThreadClock {
    /// The kernel's account of the thread (`Documentation/scheduler/sched-stats.rst`, `/proc/<pid>/schedstat`):
    /// time on the core, time ready and waiting for it, both in nanoseconds, and a count.
    schedstat: Option<File>,
}

impl ThreadClock {
    pub(crate) fn of_this_thread() -> Self {
        Self {
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
        }
    }

    pub(crate) fn read(&self) -> ThreadTimes {
        ThreadTimes {
            cpu_ns: thread_cpu_ns(),
            delayed_ns: self.schedstat.as_ref().and_then(delayed_ns),
        }
    }
}

fn delayed_ns(schedstat: &File) -> Option<u64> {
    const LONGEST: usize = 64; // three numbers of at most twenty digits
    let mut line = [0; LONGEST];
    let length = schedstat.read_at(&mut line, 0).ok()?;
    let line = std::str::from_utf8(&line[..length]).ok()?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn unix_now_ns() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    since_epoch.unwrap_or_default().as_nanos() as u64
}

#[inline]
fn read_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
