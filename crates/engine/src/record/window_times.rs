//! [`WindowTimes`]: times over time, as they are stored and several generators' are added up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::adding_up::{AddUp, Whole, adding_up, least, most, total};
use super::stored::added_data;

adding_up! {
    /// The times of the requests that were answered in a window of the measured phase, or in several that were put
    /// together.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    pub struct WindowTimes {
        /// Its start, from the start of the run.
        pub start_ns: u64 => least,
        /// Its length; the last may be shorter than the others.
        pub length_ns: u64 => most,
        /// How many.
        pub count: u64 => total,
        /// The longest, to within 0.1 %.
        pub max_ns: u64 => most,
        /// `Histogram.data` of their times in nanoseconds; empty where there are none.
        pub data: String => data,
    }
}

fn data(parts: &[&String]) -> Whole<String> {
    let filled: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
    added_data(&filled)
}

/// Several generators' times over time: in windows as long as the longest of theirs.
pub(super) fn window_times(parts: &[&Vec<WindowTimes>]) -> Whole<Vec<WindowTimes>> {
    let firsts = parts.iter().filter_map(|part| part.first());
    let length_ns = firsts
        .map(|first| first.length_ns)
        .max()
        .unwrap_or(1)
        .max(1);
    let mut places: BTreeMap<u64, Vec<WindowTimes>> = BTreeMap::new();
    for part in parts {
        let mut own: BTreeMap<u64, Vec<&WindowTimes>> = BTreeMap::new();
        for one in *part {
            let place = (one.start_ns - part[0].start_ns) / length_ns;
            own.entry(place).or_default().push(one);
        }
        for (place, same) in own {
            let mut one = WindowTimes::add_up(&same)?;
            one.length_ns = same.iter().map(|one| one.length_ns).sum();
            places.entry(place).or_default().push(one);
        }
    }
    let add_up = |same: &Vec<WindowTimes>| WindowTimes::add_up(&same.iter().collect::<Vec<_>>());
    places.values().map(add_up).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::stored::{Stored, from_counts};

    #[test]
    fn generators_of_unlike_lengths_meet_in_the_longer_windows() {
        let one = |start_ns, length_ns, value| {
            let (max_ns, data) = (value, from_counts(&[(value, 1)]));
            WindowTimes {
                start_ns,
                length_ns,
                count: 1,
                max_ns,
                data,
            }
        };
        let short = vec![one(0, 100, 3), one(100, 100, 4), one(200, 50, 5)];
        let long = vec![one(0, 200, 7), one(200, 100, 8)];
        let both = window_times(&[&short, &long]).unwrap();
        let values = |at: usize| Stored::read(&both[at].data).unwrap().counts;
        assert_eq!(both.len(), 2);
        assert_eq!(values(0), [(3, 1), (4, 1), (7, 1)]);
        assert_eq!(
            (both[0].length_ns, both[1].length_ns, both[0].max_ns),
            (200, 100, 7)
        );
    }
}
