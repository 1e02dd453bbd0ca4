//! Which slot of a histogram a time lies in: the layout of HdrHistogram with 3 significant digits.

/// 2^47 ns are 39 hours. A plan lasts 24 at most, so no time is ever clipped.
pub(super) const MAX_NS: u64 = (1 << 47) - 1;
pub(super) const SLOTS: usize = 38 * 1024;

#[inline]
pub(super) fn slot_of(value_ns: u64) -> usize {
    let bucket = 53 - (value_ns | 2047).leading_zeros() as u64;
    ((bucket << 10) + (value_ns >> bucket)) as usize
}

/// The lowest value of a slot and the number of values in it.
pub(super) fn range_of(slot: usize) -> (u64, u64) {
    let slot = slot as u64;
    if slot < 2048 {
        return (slot, 1);
    }
    let bucket = (slot >> 10) - 1;
    ((slot - (bucket << 10)) << bucket, 1 << bucket)
}
