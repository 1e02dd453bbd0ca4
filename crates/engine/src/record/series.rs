//! Times over time: what of a histogram came in each window.
//!
//! A worker puts down what is new at the end of a window. Each time it has put down [`MOST_ENTRIES`] it takes twice as
//! many windows together from then on, so that a long run takes little memory and nothing is done over.

use super::histogram::Histogram;

/// So many windows at most have times of their own.
pub(super) const MOST_ENTRIES: usize = 2_048;

/// One worker's times of the current phase by windows.
#[derive(Debug, Default)]
pub(crate) struct Series {
    /// The histogram at the end of the last entry.
    pub(super) counted: Vec<u64>,
    /// What came in the windows of each entry: slots and counts, packed.
    pub(super) entries: Vec<Box<[u8]>>,
    /// Windows that have ended.
    pub(super) windows: usize,
    /// Those of them that the entries have.
    taken: usize,
}

impl Series {
    /// Ends so many windows; `times` are all of the phase.
    pub(super) fn close(&mut self, count: u64, times: &Histogram) {
        self.windows += count as usize;
        while self.taken + span(self.entries.len()) <= self.windows {
            self.taken += span(self.entries.len());
            self.entries.push(pack(&times.new_since(&mut self.counted)));
        }
    }

    pub(super) fn clear(&mut self) {
        self.counted.clear();
        self.entries.clear();
        self.windows = 0;
        self.taken = 0;
    }
}

/// How many windows an entry has, by its number.
pub(super) fn span(entry: usize) -> usize {
    1 << (entry / MOST_ENTRIES)
}

pub(super) fn pack(slots: &[(usize, u64)]) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(3 * slots.len());
    let mut before = 0;
    for (slot, count) in slots {
        for mut number in [(slot - before) as u64, *count] {
            while number > 127 {
                bytes.push(number as u8 | 128);
                number >>= 7;
            }
            bytes.push(number as u8);
        }
        before = *slot;
    }
    bytes.into_boxed_slice()
}

pub(super) fn unpack(bytes: &[u8]) -> impl Iterator<Item = (usize, u64)> {
    let mut bytes = bytes.iter();
    let mut number = move || {
        let mut number = 0;
        for (place, byte) in bytes.by_ref().enumerate() {
            number |= u64::from(byte & 127) << (7 * place);
            if *byte < 128 {
                return Some(number);
            }
        }
        None
    };
    let mut slot = 0;
    std::iter::from_fn(move || {
        slot += number()? as usize;
        Some((slot, number()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(counts in prop::collection::btree_map(0_usize..38_912, 1_u64.., 0..50)) {
            let slots: Vec<(usize, u64)> = counts.into_iter().collect();
            prop_assert_eq!(unpack(&pack(&slots)).collect::<Vec<_>>(), slots);
        }
    }
}
