//! An interleaved load dealt to several processes: the same slices in all of them, and together what one would have done.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::support::interleaved::{MS, PATIENCE, arm, change, finish, interleaved};
use crate::support::{HELLO, Server, wait_until};
use assay_engine::plan::Shard;
use assay_engine::record::InterleavedMeasurement;
use assay_engine::record::measurement::Phase;
use assay_engine::{AgreedSlices, Change, Ended, InterleavedPlan, InterleavedRun, SliceTimes};
use proptest::prelude::*;
use serde_json::json;

const WORKERS: u32 = 4;

fn now_ns() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since_epoch.as_nanos() as u64
}

/// The plan's workers, so many of them in each part, which begin at one instant.
fn parts(plan: &InterleavedPlan, dealt: &[u32], starts_at_unix_ns: u64) -> Vec<InterleavedPlan> {
    let mut first_worker = 0;
    let part = |workers: &u32| {
        let part = Shard {
            first_worker,
            workers: *workers,
            starts_at_unix_ns,
        };
        first_worker += workers;
        InterleavedPlan {
            part: Some(part),
            ..plan.clone()
        }
    };
    dealt.iter().map(part).collect()
}

fn started(plans: &[InterleavedPlan]) -> Vec<InterleavedRun> {
    let start = |plan| thread::spawn(move || InterleavedRun::start(&plan).unwrap());
    let starting: Vec<_> = plans.iter().cloned().map(start).collect();
    starting
        .into_iter()
        .map(|one| one.join().unwrap())
        .collect()
}

/// The plan's slices after these changes, as somebody has them who only listens.
fn agreed(plan: &InterleavedPlan, changes: &[(Change, u64)]) -> Vec<SliceTimes> {
    let slices = AgreedSlices::new(plan).unwrap();
    for (change, from) in changes {
        assert_eq!(slices.change(change.clone(), *from).unwrap(), *from);
    }
    let _ = slices.next_round(u64::MAX - 1);
    assert!(slices.is_over());
    (0..)
        .map_while(|number| slices.slice(number, u64::MAX - 1))
        .collect()
}

/// A server that answers, and the lines of the requests that it was asked.
fn noting() -> (Server, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let server = Server::start(move |peer| {
        while let Some(head) = peer.request() {
            let line = head.lines().next().unwrap_or_default().to_owned();
            noted.lock().unwrap().push(line);
            peer.send(HELLO);
        }
    });
    (server, asked)
}

/// Where in the run each slice of each arm lies, and of which phase it is.
fn slices(measured: &InterleavedMeasurement) -> Vec<Vec<(u64, u64, u64, Phase)>> {
    let arm = |arm: &assay_engine::record::ArmMeasurement| {
        let slice = |one: &assay_engine::record::Slice| {
            (one.number, one.start_ns, one.length_ns, one.phase)
        };
        arm.slices.iter().map(slice).collect()
    };
    measured.arms.iter().map(arm).collect()
}

fn changes() -> impl Strategy<Value = Vec<(Change, u64)>> {
    let one = prop_oneof![
        prop::option::of(prop::collection::vec(0..3_u32, 1..3))
            .prop_map(|arms| Change::Measure { arms }),
        prop::collection::vec(0..3_u32, 0..3).prop_map(|arms| Change::Slices { arms }),
        (2..9_u64, 0..3_u64).prop_map(|(slice, settle)| Change::Lengths {
            slice_ns: slice * MS,
            washout_ns: settle * MS,
        }),
        (0..2_u32).prop_map(|arm| Change::EndArm {
            arm,
            why: Ended::Asked,
        }),
    ];
    // The first two rounds take 300 ms: time to tell all parts of what holds from the third on.
    prop::collection::vec((one, 2..12_u64), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn parts_take_the_slices_of_the_whole(
        changes in changes(),
        seed in any::<u64>(),
        dealt in prop::sample::select(vec![vec![1, 1, 1, 1], vec![2, 2], vec![3, 1], vec![1, 3]]),
    ) {
        let server = Server::answering(HELLO);
        let more = json!({"threads": WORKERS, "warmup_max_ns": 60_000 * MS});
        let arms = (0..3).map(|_| arm(&server, 6, 60_000, &more)).collect();
        let plan = InterleavedPlan { seed, ..interleaved(arms, 49, 1) };
        let last = (Change::End, 14);
        let told: Vec<_> = changes
            .into_iter()
            .chain([(Change::Lengths { slice_ns: 4 * MS, washout_ns: MS }, 2), last])
            .collect();
        let runs = started(&parts(&plan, &dealt, now_ns() + 40 * MS));
        let in_time = |run: &InterleavedRun| {
            let late = |(change, from): &(Change, u64)| run.change(change.clone(), *from).unwrap() != *from;
            !told.iter().any(late)
        };
        // A machine that stood still for so long told somebody too late: then nothing is shown.
        prop_assume!(runs.iter().map(in_time).filter(|is| *is).count() == runs.len());
        let expected = agreed(&plan, &told);
        // Not `finish`: an arm that never measured has figures of its warm-up, and no measured slice.
        prop_assert!(runs.iter().all(|run| run.wait(PATIENCE)));
        let measured: Vec<_> = runs.iter().map(|run| run.result().unwrap()).collect();
        for (run, measurement) in runs.iter().zip(&measured) {
            prop_assert_eq!(&run.slices(0), &expected);
            prop_assert_eq!(slices(measurement), slices(&measured[0]));
            prop_assert_eq!(measurement.length_ns, expected.last().unwrap().end_ns);
        }
        let whole: usize = measured[0].arms.iter().map(|arm| arm.slices.len()).sum();
        prop_assert_eq!(whole, expected.len());
        let asked = |part: &InterleavedMeasurement| part.arms[0].measurement.connections.asked;
        prop_assert_eq!(measured.iter().map(asked).sum::<u64>(), 6);
    }
}

#[test]
fn parts_count_from_the_agreed_instant_however_late_they_begin() {
    let server = Server::answering(HELLO);
    let arms = (0..2).map(|_| arm(&server, 4, 60_000, &json!({"threads": 2})));
    // A slice of a second: a busy machine may take a tenth of one to begin.
    let plan = interleaved(arms.collect(), 1_000, 1);
    let instant = now_ns();
    let [early, late] = &parts(&plan, &[1, 1], instant)[..] else {
        panic!("two parts");
    };
    let early = InterleavedRun::start(early).unwrap();
    early.wait_end(0, PATIENCE).unwrap();
    let late = InterleavedRun::start(late).unwrap();
    for run in [&early, &late] {
        change(run, Change::End);
    }
    let (early, late) = (finish(&early), finish(&late));
    assert_eq!(early.started_at_unix_ns, late.started_at_unix_ns);
    assert!(
        late.started_late_ns >= 1_000 * MS,
        "{}",
        late.started_late_ns
    );
    assert!(early.started_late_ns < late.started_late_ns);
    assert!(
        late.started_at_monotonic_ns
            .abs_diff(early.started_at_monotonic_ns)
            < MS
    );
    // What it missed is a slice like others, with nothing in it.
    let on_first = |part: &InterleavedMeasurement| -> Vec<u64> {
        let first = part.arms.iter().flat_map(|arm| arm.slices.first());
        first
            .filter(|one| one.number == 0)
            .map(|one| one.completed)
            .collect()
    };
    assert_eq!(on_first(&late), [0]);
    assert!(on_first(&early)[0] > 0);
    assert_eq!(slices(&early), slices(&late));
}

#[test]
fn parts_ask_what_the_whole_asks() {
    let (server, asked) = noting();
    let more =
        json!({"threads": WORKERS, "requests": [{"target": "/{counter}", "templated": true}]});
    let plan = interleaved(vec![arm(&server, 4, 20, &more)], 10, 1);
    let runs = started(&parts(&plan, &[1, 3], now_ns() + 30 * MS));
    let measured: Vec<_> = runs.iter().map(finish).collect();
    let accounting = measured.iter().map(|one| one.arms[0].measurement.requests);
    let begun: u64 = accounting.map(|accounting| accounting.started).sum();
    let lines: Vec<String> = asked.lock().unwrap().drain(..).collect();
    assert!(lines.len() as u64 <= begun);
    let apart: BTreeSet<_> = lines.iter().collect();
    assert_eq!(apart.len(), lines.len(), "counters of two parts met");
}

#[test]
fn what_one_part_sees_ends_no_arm_until_all_are_told() {
    let (server, closed) = (Server::answering(HELLO), Server::answering(HELLO));
    let more = json!({"threads": 2, "retry_wait_max_ns": MS});
    let there = arm(&server, 2, 60_000, &more);
    let mut gone = arm(&closed, 2, 60_000, &more);
    drop(closed);
    gone["url"] = json!("http://127.0.0.1:1");
    let plan = interleaved(vec![there, gone], 10, 1);
    let [part, _] = &parts(&plan, &[1, 1], 0)[..] else {
        panic!("two parts");
    };
    let run = InterleavedRun::start(part).unwrap();
    wait_until("that nobody is there", || {
        run.snapshot().arms[1].ended_here == Some(Ended::Unreachable)
    });
    assert_eq!(run.snapshot().arms[1].ended, None);
    let why = Ended::Unreachable;
    let from = change(&run, Change::EndArm { arm: 1, why });
    wait_until("a round without it", || {
        run.slices(0).last().unwrap().round > from
    });
    let slices = run.slices(0);
    let of_1 = slices.iter().filter(|times| times.arm == 1);
    assert!(of_1.clone().count() > 0);
    assert!(of_1.clone().all(|times| times.round < from));
    run.stop(0);
    let measured = finish(&run);
    assert_eq!(measured.arms[1].ended, Some(Ended::Unreachable));
}

#[test]
fn parts_stop_at_one_instant_of_their_clocks() {
    let server = Server::answering(HELLO);
    let arms = (0..2).map(|_| arm(&server, 4, 60_000, &json!({"threads": 2})));
    let plan = interleaved(arms.collect(), 30_000, 1);
    let runs = started(&parts(&plan, &[1, 1], now_ns() + 30 * MS));
    let at_ns = runs[0].snapshot().elapsed_ns + 100 * MS;
    for run in &runs {
        run.stop(at_ns);
    }
    let measured: Vec<_> = runs.iter().map(finish).collect();
    assert!(measured.iter().all(|one| one.interrupted));
    assert_eq!(slices(&measured[0]), slices(&measured[1]));
    assert!(measured[0].length_ns >= at_ns);
}

#[test]
fn a_part_beyond_the_plan_is_refused_and_so_is_one_of_a_arm() {
    let server = Server::answering(HELLO);
    let plan = interleaved(vec![arm(&server, 4, 20, &json!({"threads": 2}))], 10, 1);
    for (first_worker, workers) in [(0, 0), (0, 3), (2, 1)] {
        let wrong = InterleavedPlan {
            part: Some(Shard {
                first_worker,
                workers,
                starts_at_unix_ns: 0,
            }),
            ..plan.clone()
        };
        let refused = wrong.validate().unwrap_err().to_string();
        assert!(refused.starts_with("part: "), "{refused}");
    }
    let mut of_arm = plan;
    of_arm.arms[0].part = Some(of_arm.arms[0].shard_here());
    let refused = of_arm.validate().unwrap_err().to_string();
    assert!(
        refused.starts_with("arms[0].part: must be none"),
        "{refused}"
    );
}
