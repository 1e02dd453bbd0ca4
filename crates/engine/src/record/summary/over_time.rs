//! The times of windows, added up over the workers.

use std::collections::BTreeMap;

use super::{Recorders, Times};
use crate::record::histogram::stored;
use crate::record::measurement::WindowTimes;
use crate::record::series::{MOST_ENTRIES, pack, span, unpack};

/// The workers' times over time, added up: of an open loop response times, else service times.
pub(super) fn over_time(recorders: &Recorders, times: Times) -> Vec<WindowTimes> {
    let mut all: BTreeMap<usize, BTreeMap<usize, u64>> = BTreeMap::new();
    let windows = recorders.iter().map(|one| one.series().windows).max();
    let windows = windows.unwrap_or(0);
    let together = windows.div_ceil(MOST_ENTRIES).next_power_of_two();
    for recorder in recorders {
        let series = &mut *recorder.series();
        let mut from = 0;
        let rest = pack(
            &recorder
                .answer_times()
                .new_since(&mut series.counted.clone()),
        );
        for (number, entry) in series.entries.iter().chain([&rest]).enumerate() {
            let place = from / together;
            if place * together < windows {
                let sums = all.entry(place).or_default();
                unpack(entry).for_each(|(slot, count)| *sums.entry(slot).or_default() += count);
            }
            from += span(number);
        }
    }
    let length_ns = times.window_ns.saturating_mul(together as u64);
    let entry = |(place, sums): (usize, BTreeMap<usize, u64>)| {
        let start_ns = times.measure_from_ns + length_ns.saturating_mul(place as u64);
        let slots: Vec<(usize, u64)> = sums.into_iter().collect();
        let (max_ns, data) = match slots.is_empty() {
            true => (0, String::new()),
            false => stored(&slots),
        };
        WindowTimes {
            start_ns,
            length_ns: length_ns.min(times.end_ns.saturating_sub(start_ns)),
            count: slots.iter().map(|(_, count)| count).sum(),
            max_ns,
            data,
        }
    };
    all.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::recorder::Recorder;
    use crate::record::stored::Stored;

    const TIMES: Times = Times {
        started_at_unix_ns: 0,
        window_ns: 100,
        measure_from_ns: 1_000,
        end_ns: u64::MAX / 2,
    };

    fn values(one: &WindowTimes) -> Vec<(u64, u64)> {
        match one.data.is_empty() {
            true => Vec::new(),
            false => Stored::read(&one.data).unwrap().counts,
        }
    }

    #[test]
    fn each_window_has_its_own_times_of_all_workers() {
        let recorders = [(); 2].map(|()| Arc::new(Recorder::new(false, false)));
        for recorder in &recorders {
            recorder.begin_measuring(0);
            recorder.service_time.record(5);
            recorder.close_windows(1);
            recorder.close_windows(1);
            recorder.service_time.record(5);
            recorder.service_time.record(9);
            recorder.close_windows(1);
        }
        let all = over_time(&recorders, TIMES);
        let starts: Vec<u64> = all.iter().map(|one| one.start_ns).collect();
        assert_eq!(starts, [1_000, 1_100, 1_200]);
        assert_eq!(values(&all[0]), [(5, 2)]);
        assert_eq!((values(&all[1]), all[1].max_ns), (vec![], 0));
        assert_eq!((values(&all[2]), all[2].max_ns), (vec![(5, 2), (9, 2)], 9));
    }

    #[test]
    fn a_long_run_has_a_bounded_number_that_nothing_is_missing_from() {
        for windows in [2_048_u64, 2_049, 4_095, 4_096, 6_144, 6_145, 50_001] {
            let recorder = Arc::new(Recorder::new(false, false));
            recorder.begin_measuring(0);
            for number in 0..windows {
                recorder.service_time.record(1 + number % 7);
                recorder.close_windows(1);
            }
            let all = over_time(&[recorder], TIMES);
            assert!(
                all.len() <= MOST_ENTRIES && all.len() > MOST_ENTRIES / 2,
                "{}",
                all.len()
            );
            let length = all[0].length_ns / TIMES.window_ns;
            assert!(all[..all.len() - 1].iter().all(|one| one.count == length));
            assert_eq!(all.iter().map(|one| one.count).sum::<u64>(), windows);
        }
    }

    /// Of the 6 MB of a record of 10 minutes in windows of 100 ms: the counts of its 6,000 windows take 0.8.
    #[test]
    fn ten_minutes_of_67_000_answers_a_second_take_less_than_5_mb() {
        let together = 6_000_usize.div_ceil(MOST_ENTRIES).next_power_of_two();
        let mut random = fastrand::Rng::with_seed(1);
        let recorder = Arc::new(Recorder::new(false, false));
        recorder.begin_measuring(0);
        for _ in 0..6_700 * together {
            // About log-normal: most between 0.3 and 2.5 ms.
            let normal = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
            let time_ns = 850_000.0 * (0.46 * normal).exp();
            recorder.service_time.record(time_ns as u64);
        }
        recorder.close_windows(1);
        let one = serde_json::to_string(&over_time(&[recorder], TIMES)).unwrap();
        assert!(one.len() * 6_000 / together < 5_000_000, "{}", one.len());
    }
}
