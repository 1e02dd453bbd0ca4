//! What monitoring systems keep of a histogram.

use std::collections::BTreeMap;

use super::slots::range_of;

/// How many times are at most a few round ones: from 100 microseconds to 10 seconds.
#[derive(Debug, Default)]
pub(crate) struct Buckets([u64; Buckets::UP_TO_NS.len()]);

impl Buckets {
    const UP_TO_NS: [u64; 16] = [
        100_000,
        200_000,
        500_000,
        1_000_000,
        2_000_000,
        5_000_000,
        10_000_000,
        20_000_000,
        50_000_000,
        100_000_000,
        200_000_000,
        500_000_000,
        1_000_000_000,
        2_000_000_000,
        5_000_000_000,
        10_000_000_000,
    ];

    pub(super) fn add(&mut self, slot: usize, count: u64) {
        if count > 0 {
            let (low, _) = range_of(slot);
            let place = Self::UP_TO_NS.partition_point(|up_to_ns| *up_to_ns < low);
            if let Some(bucket) = self.0.get_mut(place) {
                *bucket += count;
            }
        }
    }

    /// Each round time, in nanoseconds, and how many are at most as long, to within 0.1 %.
    pub(crate) fn by_name(&self) -> BTreeMap<String, u64> {
        let mut up_to = 0;
        let cumulative = Self::UP_TO_NS.iter().zip(self.0).map(|(up_to_ns, count)| {
            up_to += count;
            (up_to_ns.to_string(), up_to)
        });
        cumulative.collect()
    }
}
