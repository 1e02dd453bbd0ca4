//! Load shapes as values that one loop consults.
//!
//! A schedule answers one question: when should the next request start? The loop starts it
//! at that time on whatever connection it has. Nothing here reads a clock.

mod arrivals;
mod order;
mod profile;

pub use arrivals::{Share, Starts};
pub use order::SliceOrder;
pub use profile::Profile;

use crate::plan::Load;

/// When requests should start.
#[derive(Debug, Clone)]
pub enum Schedule {
    /// As soon as a connection is free.
    Closed,
    /// At times of their own.
    Open(Starts),
}

impl Schedule {
    /// The schedule of a worker for a load, before its stages begin: an open loop warms up at
    /// the rate its first stage begins with.
    #[must_use]
    pub fn warm_up(load: &Load, share: Share, seed: u64) -> Self {
        match load {
            Load::Closed { .. } => Self::Closed,
            Load::Open {
                stages, arrivals, ..
            } => {
                let profile = Profile::steady(stages[0].from_per_s);
                Self::Open(Starts::new(profile, *arrivals, 0, share, seed))
            }
        }
    }

    /// The schedule of a worker for a load whose stages begin at `from_ns`.
    #[must_use]
    pub fn measure(load: &Load, from_ns: u64, share: Share, seed: u64) -> Self {
        match load {
            Load::Closed { .. } => Self::Closed,
            Load::Open {
                stages, arrivals, ..
            } => {
                let profile = Profile::new(stages);
                // Another stream of random numbers than the warm-up's.
                let seed = seed ^ 0x9e37_79b9_7f4a_7c15;
                let starts = Starts::new(profile, *arrivals, from_ns, share, seed);
                Self::Open(starts)
            }
        }
    }

    /// The intended start of the next request, when that is not after `now_ns`.
    #[inline]
    #[must_use]
    pub fn due(&self, now_ns: u64) -> Option<u64> {
        match self {
            Self::Closed => Some(now_ns),
            Self::Open(starts) => starts.next_ns().filter(|next_ns| *next_ns <= now_ns),
        }
    }

    /// Goes on to the request after the one that [`Self::due`] gave.
    #[inline]
    pub fn advance(&mut self) {
        if let Self::Open(starts) = self {
            starts.advance();
        }
    }

    /// When the next request should start, where it has a time of its own.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        match self {
            Self::Closed => None,
            Self::Open(starts) => starts.next_ns(),
        }
    }

    /// How many starts came due until `end_ns` and were never taken.
    #[must_use]
    pub fn missed_until(&mut self, end_ns: u64) -> u64 {
        match self {
            Self::Closed => 0,
            Self::Open(starts) => starts.count_until(end_ns),
        }
    }
}
