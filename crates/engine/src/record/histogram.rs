//! Histograms of times, in the layout of HdrHistogram with 3 significant digits.
//!
//! A value v lies in bucket b = max(0, ⌊log2 v⌋ − 10), at index b·1024 + ⌊v / 2^b⌋: up to 2047
//! exactly, above to within 1/1024. Recording is that shift and a handful of additions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use super::counter::Counter;
use super::measurement;
use super::stored::quantile;

/// 2^47 ns are 39 hours. A plan lasts 24 at most, so no time is ever clipped.
const MAX_NS: u64 = (1 << 47) - 1;
const SLOTS: usize = 38 * 1024;
const SIGNIFICANT_DIGITS: u8 = 3;

#[inline]
fn slot_of(value_ns: u64) -> usize {
    let bucket = 53 - (value_ns | 2047).leading_zeros() as u64;
    ((bucket << 10) + (value_ns >> bucket)) as usize
}

/// The lowest value of a slot and the number of values in it.
fn range_of(slot: usize) -> (u64, u64) {
    let slot = slot as u64;
    if slot < 2048 {
        return (slot, 1);
    }
    let bucket = (slot >> 10) - 1;
    ((slot - (bucket << 10)) << bucket, 1 << bucket)
}

/// The highest value of each slot and how many lie in it; as is usual for HdrHistogram it stands for all of them.
fn highest(slots: impl Iterator<Item = (usize, u64)>) -> impl Iterator<Item = (u64, u64)> {
    slots.map(|(slot, count)| {
        let (low, width) = range_of(slot);
        (low + width - 1, count)
    })
}

/// One worker's histogram of one kind of time. It is written by its worker only and can be
/// read by anyone at any time.
#[derive(Debug)]
pub struct Histogram {
    slots: Box<[Counter]>,
    count: Counter,
    sum_ns: Counter,
    square_low: Counter,
    square_high: Counter,
    min_ns: Counter,
    max_ns: Counter,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty one; it never grows.
    #[must_use]
    pub fn new() -> Self {
        let histogram = Self {
            slots: (0..SLOTS).map(|_| Counter::default()).collect(),
            count: Counter::default(),
            sum_ns: Counter::default(),
            square_low: Counter::default(),
            square_high: Counter::default(),
            min_ns: Counter::default(),
            max_ns: Counter::default(),
        };
        histogram.min_ns.set(u64::MAX);
        histogram
    }

    /// Counts one time.
    #[inline]
    pub fn record(&self, value_ns: u64) {
        self.record_times(value_ns, 1);
    }

    /// Counts a time so many times.
    #[inline]
    pub fn record_times(&self, value_ns: u64, times: u64) {
        let value_ns = value_ns.min(MAX_NS);
        self.slots[slot_of(value_ns)].add(times);
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

    /// Sum of all times; only its differences mean something once it has gone round.
    pub(crate) fn sum_ns(&self) -> u64 {
        self.sum_ns.get()
    }

    /// The median of the times recorded since `seen` was brought up to date, to within the width of a
    /// slot; 0 where there are none. Looks at every slot between the least and the largest time.
    pub(crate) fn median_since(&self, seen: &mut Vec<u64>) -> u64 {
        if self.count.get() == 0 {
            return 0;
        }
        seen.resize(SLOTS, 0);
        let used = slot_of(self.min_ns.get())..=slot_of(self.max_ns.get());
        let new = |slot: usize, seen: &[u64]| self.slots[slot].get() - seen[slot];
        let count: u64 = used.clone().map(|slot| new(slot, seen)).sum();
        let slots = used.clone().map(|slot| (slot, new(slot, seen)));
        let median_ns = quantile(highest(slots), count, 0.5);
        for slot in used {
            seen[slot] = self.slots[slot].get();
        }
        median_ns
    }

    /// Forgets everything.
    pub fn clear(&self) {
        if self.count.get() > 0 {
            let used = slot_of(self.min_ns.get())..=slot_of(self.max_ns.get());
            self.slots[used].iter().for_each(|slot| slot.set(0));
        }
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

/// Several workers' histograms, added up.
#[derive(Debug, Clone)]
pub(crate) struct Merged {
    slots: Vec<u64>,
    count: u64,
    sum_ns: u128,
    sum_of_squares: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Merged {
    pub(crate) fn of<'a>(parts: impl Iterator<Item = &'a Histogram>) -> Self {
        let mut merged = Self {
            slots: vec![0; SLOTS],
            count: 0,
            sum_ns: 0,
            sum_of_squares: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        };
        for part in parts {
            for (sum, slot) in merged.slots.iter_mut().zip(&part.slots) {
                *sum += slot.get();
            }
            merged.count += part.count.get();
            merged.sum_ns += u128::from(part.sum_ns.get());
            let high = u128::from(part.square_high.get()) << 64;
            merged.sum_of_squares += high | u128::from(part.square_low.get());
            merged.min_ns = merged.min_ns.min(part.min_ns.get());
            merged.max_ns = merged.max_ns.max(part.max_ns.get());
        }
        merged
    }

    /// The highest value of the slot that holds the `q`-quantile; 0 when empty.
    pub(crate) fn quantile_ns(&self, q: f64) -> u64 {
        // While workers write, `count` may run ahead of the slots: their own sum is used.
        let total = self.slots.iter().sum();
        quantile(highest(self.slots.iter().copied().enumerate()), total, q)
    }

    pub(crate) fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// n·Σx² − (Σx)² in integers, so that a small deviation of large times does not cancel.
    fn stdev_ns(&self) -> f64 {
        let n = u128::from(self.count);
        let spread = n
            .checked_mul(self.sum_of_squares)
            .zip(self.sum_ns.checked_mul(self.sum_ns))
            .map(|(left, right)| left.saturating_sub(right) as f64);
        let spread = spread.unwrap_or_else(|| {
            let mean = self.mean_ns();
            (self.sum_of_squares as f64 / n as f64 - mean * mean).max(0.0) * (n * n) as f64
        });
        spread.sqrt() / n as f64
    }

    fn mean_ns(&self) -> f64 {
        self.sum_ns as f64 / self.count as f64
    }

    /// The stored form, of [`measurement::Histogram`].
    pub(crate) fn export(&self) -> measurement::Histogram {
        let is_empty = self.count == 0;
        measurement::Histogram {
            count: self.count,
            min_ns: if is_empty { 0 } else { self.min_ns },
            max_ns: self.max_ns,
            mean_ns: if is_empty { 0.0 } else { self.mean_ns() },
            stdev_ns: if is_empty { 0.0 } else { self.stdev_ns() },
            unit_ns: 1,
            data: self.encode(),
        }
    }

    fn encode(&self) -> String {
        let mut hdr =
            hdrhistogram::Histogram::<u64>::new_with_bounds(1, MAX_NS, SIGNIFICANT_DIGITS)
                .expect("the bounds are constants that HdrHistogram accepts");
        for (slot, count) in self
            .slots
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            hdr.record_n(range_of(slot).0, *count)
                .expect("no slot lies above MAX_NS");
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&hdr, &mut bytes)
            .expect("writing to memory does not fail");
        STANDARD.encode(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_hdrhistogram(values in prop::collection::vec(1_u64..=MAX_NS, 1..200)) {
            let own = Histogram::new();
            let mut reference =
                hdrhistogram::Histogram::<u64>::new_with_bounds(1, MAX_NS, 3).unwrap();
            for value in &values {
                own.record(*value);
                reference.record(*value).unwrap();
            }
            let merged = Merged::of(std::iter::once(&own));
            for q in [0.1, 0.5, 0.9, 0.99, 1.0] {
                let expected = reference.value_at_quantile(q);
                prop_assert_eq!(merged.quantile_ns(q), expected);
            }
        }

        #[test]
        fn every_value_lies_in_the_range_of_its_slot(value in 0..=MAX_NS) {
            let (low, width) = range_of(slot_of(value));
            prop_assert!(low <= value && value < low + width);
            prop_assert!(width == 1 || low / width >= 1024);
        }
    }

    proptest! {
        #[test]
        fn a_median_is_of_what_came_since(
            before in prop::collection::vec(1_u64..=1_000_000, 0..50),
            since in prop::collection::vec(1_u64..=1_000_000, 0..50),
        ) {
            let whole = Histogram::new();
            let alone = Histogram::new();
            let mut seen = Vec::new();
            before.iter().for_each(|value| whole.record(*value));
            whole.median_since(&mut seen);
            since.iter().for_each(|value| whole.record(*value));
            since.iter().for_each(|value| alone.record(*value));
            prop_assert_eq!(whole.median_since(&mut seen), alone.median_since(&mut Vec::new()));
            prop_assert_eq!(whole.median_since(&mut seen), 0);
        }
    }

    #[test]
    fn clearing_leaves_nothing() {
        let histogram = Histogram::new();
        histogram.record(5);
        histogram.record(MAX_NS);
        histogram.clear();
        let merged = Merged::of(std::iter::once(&histogram));
        assert_eq!(merged.count, 0);
        assert!(merged.slots.iter().all(|count| *count == 0));
    }

    #[test]
    fn moments_are_exact() {
        let histogram = Histogram::new();
        for value in [3_600_000_000_000, 3_600_000_000_002] {
            histogram.record(value);
        }
        let export = Merged::of(std::iter::once(&histogram)).export();
        assert_eq!(export.mean_ns, 3_600_000_000_001.0);
        assert_eq!(export.stdev_ns, 1.0);
    }
}
