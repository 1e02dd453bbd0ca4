//! Waiting for answers until the next start is due.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use mio::{Events, Poll};
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::program::Waiting;

const MILLISECOND_NS: u64 = 1_000_000;
/// A selector's timeout counts in milliseconds and rounds up: a spinning worker wakes so much
/// before a start.
const SPIN_MARGIN_NS: u64 = 2 * MILLISECOND_NS;

/// Waits in one of the ways of [`Waiting`].
#[derive(Debug)]
pub(crate) struct Waiter {
    poll: Poll,
    waiting: Waiting,
}

impl Waiter {
    pub(crate) fn new(waiting: Waiting) -> io::Result<Self> {
        Ok(Self {
            poll: Poll::new()?,
            waiting,
        })
    }

    pub(crate) fn registry(&self) -> &mio::Registry {
        self.poll.registry()
    }

    /// The least by which this way of waiting is late, by its nature.
    pub(crate) fn slack_ns(&self) -> u64 {
        match self.waiting {
            Waiting::Coarse => MILLISECOND_NS,
            Waiting::Spin | Waiting::Switching | Waiting::Precise => 0,
        }
    }

    /// To be called by the worker's thread before it waits for the first time.
    pub(crate) fn prepare_thread(&self) {
        // By default Linux lets timers be up to 50 µs late so that it can wake once for many.
        // Where it refuses, sends are late by that; the send lag shows it.
        #[cfg(target_os = "linux")]
        if matches!(self.waiting, Waiting::Precise | Waiting::Switching) {
            let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        }
    }

    /// Waits until something is ready or `for_ns` have passed, or polls when that is 0.
    #[inline]
    pub(crate) fn wait(&mut self, events: &mut Events, for_ns: u64) -> io::Result<()> {
        let timeout = match self.waiting {
            Waiting::Coarse => Duration::from_nanos(for_ns),
            Waiting::Spin => {
                let early_ns = for_ns.saturating_sub(SPIN_MARGIN_NS);
                Duration::from_millis(early_ns / MILLISECOND_NS)
            }
            // A selector's timeout counts in milliseconds: it is told less than there is.
            Waiting::Switching if for_ns >= MILLISECOND_NS => {
                Duration::from_millis(for_ns / MILLISECOND_NS)
            }
            Waiting::Switching | Waiting::Precise => {
                if for_ns > 0 {
                    self.sleep(for_ns)?;
                }
                Duration::ZERO
            }
        };
        ignore_interrupt(self.poll.poll(events, Some(timeout)))
    }

    /// The selector is itself a descriptor that can be waited for, to the nanosecond.
    fn sleep(&self, for_ns: u64) -> io::Result<()> {
        let timeout = Timespec {
            tv_sec: (for_ns / 1_000_000_000) as i64,
            tv_nsec: (for_ns % 1_000_000_000) as i64,
        };
        let selector = self.poll.registry().as_fd();
        let mut descriptors = [PollFd::new(&selector, PollFlags::IN)];
        let woken = rustix::event::poll(&mut descriptors, Some(&timeout));
        ignore_interrupt(woken.map(|_| ()).map_err(io::Error::from))
    }
}

/// A signal that another part of the process handles is no reason to end.
pub(crate) fn ignore_interrupt(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        other => other,
    }
}
