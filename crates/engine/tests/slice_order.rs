//! The order of arms that are interleaved, as a pure function, and as what is measured has it.

use std::collections::BTreeMap;

use assay_engine::record::measurement::Phase;
use assay_engine::schedule::SliceOrder;
use assay_engine::{AgreedSlices, Change, InterleavedPlan};
use proptest::prelude::*;
use serde_json::json;

fn arms() -> impl Strategy<Value = (u32, u64)> {
    (1_u32..=12, any::<u64>())
}

proptest! {
    #[test]
    fn every_round_holds_every_arm_once((n, seed) in arms(), round in 0_u64..10_000) {
        let mut order = SliceOrder::new((0..n).collect(), seed).order(round);
        order.sort_unstable();
        prop_assert_eq!(order, (0..n).collect::<Vec<_>>());
    }

    #[test]
    fn every_second_round_is_the_one_before_backwards((n, seed) in arms(), pair in 0_u64..5_000) {
        let slices = SliceOrder::new((0..n).collect(), seed);
        let mut back = slices.order(2 * pair + 1);
        back.reverse();
        prop_assert_eq!(back, slices.order(2 * pair));
    }

    #[test]
    fn in_a_group_each_arm_follows_each_other_one_twice((n, seed) in arms(), group in 0_u64..100) {
        let slices = SliceOrder::new((0..n).collect(), seed);
        let group_rounds = 2 * u64::from(n);
        let mut follows = vec![0; (n * n) as usize];
        for round in 0..group_rounds {
            for pair in slices.order(group * group_rounds + round).windows(2) {
                follows[(pair[0] * n + pair[1]) as usize] += 1;
            }
        }
        for before in 0..n {
            for after in 0..n {
                let expected = if before == after { 0 } else { 2 };
                prop_assert_eq!(follows[(before * n + after) as usize], expected);
            }
        }
    }

    #[test]
    fn in_a_group_each_arm_has_each_place_twice((n, seed) in arms(), group in 0_u64..100) {
        let slices = SliceOrder::new((0..n).collect(), seed);
        let group_rounds = 2 * u64::from(n);
        let mut places = vec![0; (n * n) as usize];
        for round in 0..group_rounds {
            for (place, arm) in slices.order(group * group_rounds + round).into_iter().enumerate() {
                places[arm as usize * n as usize + place] += 1;
            }
        }
        prop_assert!(places.iter().all(|count| *count == 2), "{places:?}");
    }

    /// Whichever round of a pair measuring begins with, and whether arms lent their slices before.
    #[test]
    fn what_is_measured_is_balanced_by_itself(
        arms in 2_u32..6, seed in any::<u64>(), warm in 1_u64..20, lent in any::<bool>(),
    ) {
        let slices = AgreedSlices::new(&plan(arms, seed)).unwrap();
        let rounds = 2 * u64::from(arms);
        if lent {
            let some = Change::Slices { arms: vec![0] };
            let all = Change::Slices { arms: (0..arms).collect() };
            prop_assert_eq!(slices.change(some, 1).unwrap(), 1);
            prop_assert_eq!(slices.change(all, warm.max(2) - 1).unwrap(), warm.max(2) - 1);
        }
        prop_assert_eq!(slices.change(Change::Measure { arms: None }, warm).unwrap(), warm);
        prop_assert_eq!(slices.change(Change::End, warm + rounds).unwrap(), warm + rounds);
        let _ = slices.next_round(u64::MAX - 1);
        let mut orders: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        let made = (0..).map_while(|number| slices.slice(number, u64::MAX - 1));
        for times in made.filter(|times| times.phase == Phase::Measured) {
            orders.entry(times.round).or_default().push(times.arm);
        }
        prop_assert_eq!(orders.keys().copied().collect::<Vec<_>>(), (warm..warm + rounds).collect::<Vec<_>>());
        let mut follows = BTreeMap::new();
        for (at, order) in &orders {
            for pair in order.windows(2) {
                *follows.entry((pair[0], pair[1])).or_insert(0) += 1;
            }
            if (at - warm) % 2 == 1 {
                let back: Vec<u32> = order.iter().rev().copied().collect();
                prop_assert_eq!(&orders[&(at - 1)], &back);
            }
        }
        prop_assert!(follows.values().all(|count| *count == 2), "{follows:?}");
        prop_assert_eq!(follows.len(), (arms * (arms - 1)) as usize);
    }
}

/// Arms whose warm-up and measurement are ended from outside.
fn plan(arms: u32, seed: u64) -> InterleavedPlan {
    let arm = json!({
        "url": "http://127.0.0.1:1/",
        "load": {"kind": "closed", "connections": 1},
        "stop": {"kind": "duration", "ns": 3_600_000_000_000_u64},
        "warmup_max_ns": 3_600_000_000_000_u64,
    });
    let plan = json!({
        "arms": vec![arm; arms as usize],
        "slice_ns": 1_000_000,
        "washout_ns": 0,
        "seed": seed,
    });
    InterleavedPlan::from_json(plan.to_string().as_bytes()).unwrap()
}

#[test]
fn another_seed_gives_another_order() {
    let orders =
        |seed| (0..8).map(move |round| SliceOrder::new((0..5).collect(), seed).order(round));
    assert!(!orders(1).eq(orders(2)));
    assert!(orders(1).eq(orders(1)));
}

#[test]
fn arms_keep_their_numbers() {
    let mut order = SliceOrder::new(vec![3, 7, 11], 5).order(1);
    order.sort_unstable();
    assert_eq!(order, [3, 7, 11]);
}
