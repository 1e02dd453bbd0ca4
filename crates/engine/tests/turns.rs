//! The order of lanes that take turns, as a pure function.

use assay_engine::schedule::Turns;
use proptest::prelude::*;

fn lanes() -> impl Strategy<Value = (u32, u64)> {
    (1_u32..=12, any::<u64>())
}

proptest! {
    #[test]
    fn every_cycle_holds_every_lane_once((n, seed) in lanes(), cycle in 0_u64..10_000) {
        let mut order = Turns::new((0..n).collect(), seed).order(cycle);
        order.sort_unstable();
        prop_assert_eq!(order, (0..n).collect::<Vec<_>>());
    }

    #[test]
    fn every_second_cycle_is_the_one_before_backwards((n, seed) in lanes(), pair in 0_u64..5_000) {
        let turns = Turns::new((0..n).collect(), seed);
        let mut back = turns.order(2 * pair + 1);
        back.reverse();
        prop_assert_eq!(back, turns.order(2 * pair));
    }

    #[test]
    fn in_a_group_each_lane_follows_each_other_one_twice((n, seed) in lanes(), group in 0_u64..100) {
        let turns = Turns::new((0..n).collect(), seed);
        let group_cycles = 2 * u64::from(n);
        let mut follows = vec![0; (n * n) as usize];
        for cycle in 0..group_cycles {
            for pair in turns.order(group * group_cycles + cycle).windows(2) {
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
    fn in_a_group_each_lane_has_each_place_twice((n, seed) in lanes(), group in 0_u64..100) {
        let turns = Turns::new((0..n).collect(), seed);
        let group_cycles = 2 * u64::from(n);
        let mut places = vec![0; (n * n) as usize];
        for cycle in 0..group_cycles {
            for (place, lane) in turns.order(group * group_cycles + cycle).into_iter().enumerate() {
                places[lane as usize * n as usize + place] += 1;
            }
        }
        prop_assert!(places.iter().all(|count| *count == 2), "{places:?}");
    }
}

#[test]
fn another_seed_gives_another_order() {
    let orders = |seed| (0..8).map(move |cycle| Turns::new((0..5).collect(), seed).order(cycle));
    assert!(!orders(1).eq(orders(2)));
    assert!(orders(1).eq(orders(1)));
}

#[test]
fn lanes_keep_their_numbers() {
    let mut order = Turns::new(vec![3, 7, 11], 5).order(1);
    order.sort_unstable();
    assert_eq!(order, [3, 7, 11]);
}
