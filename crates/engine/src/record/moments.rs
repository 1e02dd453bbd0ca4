//! What of times is known exactly beside their histogram.

use super::counter::Counter;

/// Count, sums and extremes of times, exactly.
#[derive(Debug, Default)]
pub(super) struct Moments {
    pub(super) count: Counter,
    pub(super) sum_ns: Counter,
    pub(super) square_low: Counter,
    pub(super) square_high: Counter,
    pub(super) min_ns: Counter,
    pub(super) max_ns: Counter,
}

impl Moments {
    pub(super) fn new() -> Self {
        let moments = Self::default();
        moments.min_ns.set(u64::MAX);
        moments
    }

    #[inline]
    pub(super) fn record_times(&self, value_ns: u64, times: u64) {
        self.count.add(times);
        self.sum_ns.add(value_ns.wrapping_mul(times));
        let square = u128::from(value_ns) * u128::from(value_ns) * u128::from(times);
        let (low, carry) = self.square_low.get().overflowing_add(square as u64);
        self.square_low.set(low);
        self.square_high
            .add((square >> 64) as u64 + u64::from(carry));
        if value_ns < self.min_ns.get() {
            self.min_ns.set(value_ns);
        }
        if value_ns > self.max_ns.get() {
            self.max_ns.set(value_ns);
        }
    }

    pub(super) fn clear(&self) {
        for sum in [
            &self.count,
            &self.sum_ns,
            &self.square_low,
            &self.square_high,
            &self.max_ns,
        ] {
            sum.set(0);
        }
        self.min_ns.set(u64::MAX);
    }
}
