//! Load shapes as pure functions: no clock, no sleep.

use assay_engine::plan::{Arrivals, RateStage};
use assay_engine::schedule::{Profile, Share, Starts};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;
const ALONE: Share = share(0, 1);

const fn share(number: u32, workers: u32) -> Share {
    Share {
        number,
        workers,
        batch: 1,
    }
}

fn stage(seconds: f64, from_per_s: f64, to_per_s: f64) -> RateStage {
    RateStage {
        duration_ns: (seconds * 1e9) as u64,
        from_per_s,
        to_per_s,
    }
}

fn taken(mut starts: Starts, n: usize) -> Vec<u64> {
    let mut times = Vec::new();
    while let (Some(next), true) = (starts.next_ns(), times.len() < n) {
        times.push(next);
        starts.advance();
    }
    times
}

/// Requests intended until `t` seconds, by adding up areas.
fn intended_until(stages: &[RateStage], t: f64) -> f64 {
    let (mut begin, mut sum) = (0.0, 0.0);
    for s in stages {
        let length = s.duration_ns as f64 / 1e9;
        let inside = (t - begin).clamp(0.0, length);
        let rate_then = s.from_per_s + (s.to_per_s - s.from_per_s) * inside / length;
        sum += (s.from_per_s + rate_then) / 2.0 * inside;
        begin += length;
    }
    sum + (t - begin).max(0.0) * stages.last().unwrap().to_per_s
}

#[test]
fn a_constant_rate_is_even() {
    let profile = Profile::new(&[stage(10.0, 1_000.0, 1_000.0)]);
    let times = taken(Starts::new(profile, Arrivals::Constant, 0, ALONE, 0), 4);
    assert_eq!(times, [0, 1_000_000, 2_000_000, 3_000_000]);
}

#[test]
fn workers_share_one_even_sequence() {
    let profile = Profile::steady(1_000.0);
    let of = |worker| {
        taken(
            Starts::new(profile.clone(), Arrivals::Constant, 5, share(worker, 3), 0),
            2,
        )
    };
    let mut all: Vec<u64> = (0..3).flat_map(of).collect();
    all.sort_unstable();
    assert_eq!(
        all,
        [5, 1_000_005, 2_000_005, 3_000_005, 4_000_005, 5_000_005]
    );
}

#[test]
fn requests_that_start_together_do_so_less_often() {
    let of = |number| {
        let three = Share {
            batch: 3,
            ..share(number, 2)
        };
        let profile = Profile::steady(1_000.0);
        taken(Starts::new(profile, Arrivals::Constant, 0, three, 0), 2)
    };
    assert_eq!(of(0), [0, 6_000_000]);
    assert_eq!(of(1), [3_000_000, 9_000_000]);
}

#[test]
fn the_last_rate_holds_after_the_last_stage() {
    let profile = Profile::new(&[stage(1.0, 10.0, 20.0)]);
    assert_eq!(profile.time_of(15.0), Some(SECOND));
    assert_eq!(profile.time_of(35.0), Some(2 * SECOND));
}

#[test]
fn starts_are_counted_without_walking_through_all_of_them() {
    let of = |arrivals, rate: f64| {
        let profile = Profile::new(&[stage(1.0, rate, rate), stage(1.0, rate, 0.0)]);
        Starts::new(profile, arrivals, 7, share(1, 2), 3)
    };
    let even = |rate, end_ns| of(Arrivals::Constant, rate).count_until(7 + end_ns);
    assert_eq!(even(10.0, SECOND), 5);
    assert_eq!(even(10.0, 0), 0);
    // Half of them are the other worker's; the ramp to nothing has half of a second's.
    assert_eq!(even(1e8, SECOND), 50_000_000);
    assert_eq!(even(1e8, 3_600 * SECOND), 75_000_000);
    let random = of(Arrivals::Poisson, 1e8).count_until(7 + SECOND) as f64;
    assert!((random / 5e7 - 1.0).abs() < 0.001, "{random}");
}

#[test]
fn a_pause_has_no_starts_and_an_end_at_zero_is_the_end() {
    let profile = Profile::new(&[
        stage(1.0, 2.0, 2.0),
        stage(5.0, 0.0, 0.0),
        stage(1.0, 2.0, 0.0),
    ]);
    let times = taken(Starts::new(profile, Arrivals::Constant, 0, ALONE, 0), 100);
    assert_eq!(times, [0, SECOND / 2, 6 * SECOND]);
}

#[test]
fn a_ramp_from_zero_begins() {
    let profile = Profile::new(&[stage(2.0, 0.0, 2.0)]);
    assert_eq!(profile.time_of(0.0), Some(0));
    // t²/2 = n
    assert_eq!(profile.time_of(0.5), Some(SECOND));
    assert_eq!(profile.time_of(2.0), Some(2 * SECOND));
}

#[test]
fn poisson_gaps_are_exponential_and_repeatable() {
    let starts = |seed, worker, workers| {
        Starts::new(
            Profile::steady(1_000.0),
            Arrivals::Poisson,
            0,
            share(worker, workers),
            seed,
        )
    };
    let times = taken(starts(7, 0, 1), 100_000);
    assert_eq!(times, taken(starts(7, 0, 1), 100_000));
    assert_ne!(times[..10], taken(starts(8, 0, 1), 10)[..]);
    let gaps: Vec<f64> = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / 1e6)
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((mean - 1.0).abs() < 0.02, "mean gap {mean} ms");
    // P(gap > x) = e^-x
    for x in [0.1, 1.0, 3.0_f64] {
        let share = gaps.iter().filter(|gap| **gap > x).count() as f64 / gaps.len() as f64;
        assert!(
            (share - (-x).exp()).abs() < 0.01,
            "{share} of the gaps above {x} ms"
        );
    }
    // Two workers: each has half the rate, and a stream of its own.
    let half = taken(starts(7, 1, 2), 50_000);
    let rate = 50_000.0 / (half[49_999] as f64 / 1e9);
    assert!((rate - 500.0).abs() < 15.0, "{rate} a second");
}

proptest! {
    #[test]
    fn the_inverse_is_exact(
        stages in prop::collection::vec(
            (0.1..100.0_f64, 0.0..5_000.0_f64, 0.0..5_000.0_f64).prop_map(|(d, a, b)| stage(d, a, b)),
            1..5,
        ),
        share in 0.0..1.5_f64,
    ) {
        let length: f64 = stages.iter().map(|s| s.duration_ns as f64 / 1e9).sum();
        let count = intended_until(&stages, length * share);
        let time = Profile::new(&stages).time_of(count).unwrap() as f64 / 1e9;
        // Where the rate is 0 many times have the same count, so counts are compared.
        let back = intended_until(&stages, time);
        prop_assert!((back - count).abs() < 1e-3 + count * 1e-9, "{back} instead of {count}");
    }

    #[test]
    fn starts_never_go_back(
        stages in prop::collection::vec(
            (0.1..2.0_f64, 0.0..500.0_f64, 0.0..500.0_f64).prop_map(|(d, a, b)| stage(d, a, b)),
            1..4,
        ),
        is_poisson in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let arrivals = if is_poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let times = taken(Starts::new(Profile::new(&stages), arrivals, 3, share(1, 2), seed), 300);
        prop_assert!(times.is_sorted());
        prop_assert!(times.first().is_none_or(|first| *first >= 3));
    }
}
