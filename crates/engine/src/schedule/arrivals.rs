//! Intended starts: points on the axis of counted requests, mapped to time by the profile.
//!
//! ```text
//!   constant:  the k-th start of worker w of W is where Λ(t) = (kW + w) · B
//!   Poisson:   the k-th start of a worker is where Λ(t) = WB · (E₁ + … + E_k),  E exponential, mean 1
//! ```
//!
//! B requests start together: those that the plan pipelines.
//! The first deals one even sequence out to the workers. The second is a Poisson process at
//! 1/W of the rate for each (time rescaling); the sum of independent ones is Poisson at the whole.

use super::profile::Profile;
use crate::plan::Arrivals;

/// Whose starts they are: those of worker `number` of `workers`, each of `batch` requests together.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Which worker, from 0.
    pub number: u32,
    /// How many there are.
    pub workers: u32,
    /// How many requests start together.
    pub batch: u32,
}

/// The intended starts of one worker, one after the other.
#[derive(Debug, Clone)]
pub struct Starts {
    profile: Profile,
    from_ns: u64,
    position: f64,
    stride: f64,
    random: Option<fastrand::Rng>,
    next_ns: Option<u64>,
}

impl Starts {
    /// Starts for one worker, the profile beginning at `from_ns`.
    #[must_use]
    pub fn new(
        profile: Profile,
        arrivals: Arrivals,
        from_ns: u64,
        share: Share,
        seed: u64,
    ) -> Self {
        let batch = f64::from(share.batch);
        let mut starts = Self {
            profile,
            from_ns,
            position: f64::from(share.number) * batch,
            stride: f64::from(share.workers) * batch,
            random: None,
            next_ns: None,
        };
        if arrivals == Arrivals::Poisson {
            starts.position = 0.0;
            starts.random = Some(fastrand::Rng::with_seed(
                seed ^ (u64::from(share.number) << 32),
            ));
            starts.step();
        }
        starts.place();
        starts
    }

    /// The next start; None when there will be none.
    #[inline]
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        self.next_ns
    }

    /// Goes on to the start after it.
    #[inline]
    pub fn advance(&mut self) {
        self.step();
        self.place();
    }

    /// How many starts there are before `end_ns`, from the next one on. Some are gone through; of
    /// more than a million, independent arrivals are counted by their mean gap (the error is below
    /// 0.1 % of them), even ones exactly. Walking through all would take hours at rates that
    /// nobody can send, and nothing could stop it.
    #[must_use]
    pub fn count_until(&mut self, end_ns: u64) -> u64 {
        const WALKED: u64 = 1_000_000;
        for count in 0..WALKED {
            if self.next_ns.is_none_or(|next_ns| next_ns >= end_ns) {
                return count;
            }
            self.advance();
        }
        let is_before = |count: u64| {
            let position = self.position + count as f64 * self.stride;
            let since = self.profile.time_of(position);
            since.is_some_and(|since| self.from_ns + since < end_ns)
        };
        // The k-th is before the end and the m-th is not: halve what lies between them.
        let (mut before, mut beyond) = (0, 1);
        while is_before(beyond) {
            before = beyond;
            beyond *= 2;
        }
        while beyond - before > 1 {
            let middle = before + (beyond - before) / 2;
            match is_before(middle) {
                true => before = middle,
                false => beyond = middle,
            }
        }
        WALKED + u64::from(is_before(0)) * beyond
    }

    #[inline]
    fn step(&mut self) {
        let gap = match &mut self.random {
            None => 1.0,
            Some(random) => -(1.0 - random.f64()).ln(),
        };
        self.position += gap * self.stride;
    }

    #[inline]
    fn place(&mut self) {
        let since = self.profile.time_of(self.position);
        self.next_ns = since.map(|since| self.from_ns + since);
    }
}
