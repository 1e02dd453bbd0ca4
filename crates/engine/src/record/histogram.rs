//! Histograms of times, in the layout of HdrHistogram with 3 significant digits.
//!
//! A value v lies in bucket b = max(0, ⌊log2 v⌋ − 10), at index b·1024 + ⌊v / 2^b⌋: up to 2047
//! exactly, above to within 1/1024. Recording is that shift and a handful of additions.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use super::buckets::Buckets;
use super::counter::Counter;
use super::measurement;
use super::moments::Moments;
use super::slots::{MAX_NS, SLOTS, range_of, slot_of};
use super::stored::quantile;

const SIGNIFICANT_DIGITS: u8 = 3;

/// The slots between the least and the largest time.
fn used(moments: &Moments) -> std::ops::Range<usize> {
    match moments.count.get() {
        0 => 0..0,
        _ => slot_of(moments.min_ns.get())..slot_of(moments.max_ns.get()) + 1,
    }
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
    moments: Moments,
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
        Self {
            slots: (0..SLOTS).map(|_| Counter::default()).collect(),
            moments: Moments::new(),
        }
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
        self.moments.record_times(value_ns, times);
    }

    /// Sum of all times; only its differences mean something once it has gone round.
    pub(crate) fn sum_ns(&self) -> u64 {
        self.moments.sum_ns.get()
    }

    /// The median of the times recorded since `seen` was brought up to date, to within the width of a
    /// slot; 0 where there are none. Looks at every slot between the least and the largest time.
    pub(crate) fn median_since(&self, seen: &mut Vec<u64>) -> u64 {
        let new = self.new_since(seen);
        let count = new.iter().map(|(_, count)| count).sum();
        quantile(highest(new.into_iter()), count, 0.5)
    }

    /// The slots with times recorded since `seen` was brought up to date, and how many; ascending.
    pub(super) fn new_since(&self, seen: &mut Vec<u64>) -> Vec<(usize, u64)> {
        seen.resize(SLOTS, 0);
        let mut new = Vec::new();
        for slot in used(&self.moments) {
            let before = std::mem::replace(&mut seen[slot], self.slots[slot].get());
            if seen[slot] > before {
                new.push((slot, seen[slot] - before));
            }
        }
        new
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.slots[used(&self.moments)]
            .iter()
            .for_each(|slot| slot.set(0));
        self.moments.clear();
    }
}

const BLOCK: usize = 1024;

/// The same with memory only for what was recorded, for times of which there are many kinds.
#[derive(Debug)]
pub(crate) struct SparseHistogram {
    blocks: Box<[OnceLock<Box<[Counter]>>]>,
    moments: Moments,
}

impl SparseHistogram {
    pub(crate) fn new() -> Self {
        Self {
            blocks: (0..SLOTS / BLOCK).map(|_| OnceLock::new()).collect(),
            moments: Moments::new(),
        }
    }

    pub(crate) fn record(&self, value_ns: u64) {
        let value_ns = value_ns.min(MAX_NS);
        let slot = slot_of(value_ns);
        let block = self.blocks[slot / BLOCK]
            .get_or_init(|| (0..BLOCK).map(|_| Counter::default()).collect());
        block[slot % BLOCK].add(1);
        self.moments.record_times(value_ns, 1);
    }

    /// Adds the counts of its times to those of `buckets`.
    pub(crate) fn add_to(&self, buckets: &mut Buckets) {
        for (number, block) in self.blocks.iter().enumerate() {
            let slots = block.get().into_iter().flatten().enumerate();
            for (slot, count) in slots {
                buckets.add(number * BLOCK + slot, count.get());
            }
        }
    }

    pub(crate) fn clear(&self) {
        let blocks = self.blocks.iter().filter_map(OnceLock::get);
        blocks.flatten().for_each(|slot| slot.set(0));
        self.moments.clear();
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
        let mut merged = Self::empty();
        for part in parts {
            merged.add(0, &part.slots);
            merged.add_moments(&part.moments);
        }
        merged
    }

    pub(crate) fn of_sparse<'a>(parts: impl Iterator<Item = &'a SparseHistogram>) -> Self {
        let mut merged = Self::empty();
        for part in parts {
            for (number, block) in part.blocks.iter().enumerate() {
                if let Some(block) = block.get() {
                    merged.add(number * BLOCK, block);
                }
            }
            merged.add_moments(&part.moments);
        }
        merged
    }

    fn empty() -> Self {
        Self {
            slots: vec![0; SLOTS],
            count: 0,
            sum_ns: 0,
            sum_of_squares: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    fn add(&mut self, from: usize, slots: &[Counter]) {
        for (sum, slot) in self.slots[from..].iter_mut().zip(slots) {
            *sum += slot.get();
        }
    }

    fn add_moments(&mut self, of: &Moments) {
        self.count += of.count.get();
        self.sum_ns += u128::from(of.sum_ns.get());
        let high = u128::from(of.square_high.get()) << 64;
        self.sum_of_squares += high | u128::from(of.square_low.get());
        self.min_ns = self.min_ns.min(of.min_ns.get());
        self.max_ns = self.max_ns.max(of.max_ns.get());
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

    /// How many times are at most each of [`Buckets::UP_TO_NS`].
    pub(crate) fn buckets(&self) -> BTreeMap<String, u64> {
        let mut buckets = Buckets::default();
        for (slot, count) in self.slots.iter().enumerate() {
            buckets.add(slot, *count);
        }
        buckets.by_name()
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
        let slots = self.slots.iter().copied().enumerate();
        encoded(MAX_NS, slots.filter(|(_, count)| *count > 0))
    }
}

/// Counts of slots in the stored form, of which no time is above `most_ns`.
fn encoded(most_ns: u64, slots: impl Iterator<Item = (usize, u64)>) -> String {
    let mut hdr =
        hdrhistogram::Histogram::<u64>::new_with_bounds(1, most_ns.max(2), SIGNIFICANT_DIGITS)
            .expect("the bounds are ones that HdrHistogram accepts");
    for (slot, count) in slots {
        hdr.record_n(range_of(slot).0, count)
            .expect("no slot lies above the most");
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&hdr, &mut bytes)
        .expect("writing to memory does not fail");
    STANDARD.encode(bytes)
}

/// The largest time, to within its slot, and the stored form of counts of slots, which ascend.
pub(super) fn stored(slots: &[(usize, u64)]) -> (u64, String) {
    let largest = slots.last().map_or(0, |(slot, _)| {
        let (low, width) = range_of(*slot);
        low + width - 1
    });
    (largest, encoded(largest, slots.iter().copied()))
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
