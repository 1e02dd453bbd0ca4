//! Arms that are interleaved, against real servers on loopback.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::interleaved::{MS, PATIENCE, arm, change, finish, interleaved, run, total};
use crate::support::{HELLO, Peer, Server, wait_until};
use assay_engine::record::measurement::Phase;
use assay_engine::{Change, Ended, InterleavedPlan, InterleavedRun, RunError};
use serde_json::{Value, json};

#[test]
fn each_arm_has_its_books_and_its_server_saw_them() {
    let servers = [
        Server::answering(HELLO),
        Server::answering(HELLO),
        Server::answering(HELLO),
    ];
    let arms = servers.iter().map(|s| arm(s, 4, 180, &json!({}))).collect();
    let measured = run(&interleaved(arms, 30, 2));
    assert!(!measured.interrupted);
    for (server, arm) in servers.iter().zip(&measured.arms) {
        let accounting = arm.measurement.requests;
        assert_eq!(arm.slices.len(), 6);
        assert_eq!(arm.measurement.measured_ns, 180 * MS);
        assert_eq!(arm.ended, None);
        assert!(accounting.completed > 0);
        assert_eq!(
            accounting.started,
            accounting.completed + accounting.in_flight
        );
        // Every request is in one slice, or late.
        assert!(accounting.completed - total(arm) <= 4);
        let seen = || server.requests() >= accounting.completed;
        wait_until("the server's count", seen);
        assert!(server.requests() <= accounting.started);
        // Connections are kept over all slices.
        assert_eq!(server.connections(), 4);
        assert_eq!(arm.measurement.connections.opened, 4);
        assert_eq!(arm.measurement.connections.reopened, 0);
        assert_eq!(arm.measurement.connections.peak, 4);
    }
}

#[test]
fn slices_follow_the_order_and_leave_no_gap() {
    let server = Server::answering(HELLO);
    let arms = (0..3).map(|_| arm(&server, 1, 40, &json!({}))).collect();
    let plan = interleaved(arms, 10, 2);
    let run = InterleavedRun::start(&plan).unwrap();
    let measured = finish(&run);
    let slices = run.slices(0);
    assert_eq!(slices.len(), 12);
    let mut end_ns = 0;
    for (number, times) in slices.iter().enumerate() {
        assert_eq!(times.number, number as u64);
        assert_eq!(times.begin_ns, end_ns);
        assert_eq!(times.start_ns, times.begin_ns + 2 * MS);
        assert_eq!(times.end_ns, times.start_ns + 10 * MS);
        end_ns = times.end_ns;
    }
    assert_eq!(measured.length_ns, end_ns);
    let of_round = |round: u64| -> Vec<u32> {
        let in_it = slices.iter().filter(|times| times.round == round);
        in_it.map(|times| times.arm).collect()
    };
    let back: Vec<u32> = of_round(1).into_iter().rev().collect();
    assert_eq!(of_round(0), back);
    for (number, arm) in (0..).zip(&measured.arms) {
        for slice in &arm.slices {
            let times = slices[slice.number as usize];
            assert_eq!(times.arm, number);
            assert_eq!((times.start_ns, 10 * MS), (slice.start_ns, slice.length_ns));
            assert_eq!((times.round, times.place), (slice.round, slice.place));
        }
    }
}

/// A server that notes the moments of its requests.
fn noting(moments: &Arc<std::sync::Mutex<Vec<Instant>>>) -> Server {
    let moments = Arc::clone(moments);
    Server::start(move |peer| {
        while peer.request().is_some() {
            moments.lock().unwrap().push(Instant::now());
            peer.send(HELLO);
        }
    })
}

#[test]
fn several_workers_switch_together() {
    let servers = [Server::answering(HELLO), Server::answering(HELLO)];
    let threads = json!({"threads": 2});
    let arms = servers.iter().map(|s| arm(s, 4, 50, &threads)).collect();
    let measured = run(&interleaved(arms, 10, 2));
    for arm in &measured.arms {
        assert_eq!(arm.measurement.workers.len(), 2);
        assert_eq!(arm.slices.len(), 5);
        for worker in &arm.measurement.workers {
            assert_eq!(worker.completed_by_window.len(), 5);
            assert_eq!(worker.wall_ns, 50 * MS);
        }
    }
}

#[test]
fn twelve_arms_of_which_one_is_ten_thousand_times_slower() {
    let slow = Server::start(|peer| {
        while peer.request().is_some() {
            thread::sleep(Duration::from_millis(300));
            peer.send(HELLO);
        }
    });
    let quick = Server::answering(HELLO);
    let arm_of = |number| match number {
        5 => arm(&slow, 1, 20, &json!({})),
        _ => arm(&quick, 1, 20, &json!({})),
    };
    let measured = run(&interleaved((0..12).map(arm_of).collect(), 10, 1));
    for (number, arm) in measured.arms.iter().enumerate() {
        assert_eq!(arm.slices.len(), 2, "arm {number}");
        assert_eq!(arm.measurement.failed, 0);
        // A machine that stood still for a whole slice left no time for a connection in it.
        let had_time = arm.measurement.requests.started > 0;
        assert_eq!(arm.measurement.connections.opened, u64::from(had_time));
    }
    assert_eq!(measured.arms[5].measurement.completed, 0);
    assert!(
        measured
            .arms
            .iter()
            .any(|arm| arm.measurement.completed > 0)
    );
}

#[test]
fn a_stop_in_mid_slice_leaves_whole_accounting() {
    let server = Server::answering(HELLO);
    let arms = vec![
        arm(&server, 4, 60_000, &json!({"threads": 2})),
        arm(&server, 4, 60_000, &json!({"threads": 2})),
    ];
    let run = InterleavedRun::start(&interleaved(arms, 30_000, 1)).unwrap();
    let first = run.wait_begin(0, PATIENCE).unwrap();
    wait_until("answers", || server.requests() > 10);
    run.stop(0);
    let measured = finish(&run);
    assert!(measured.interrupted);
    let loaded = &measured.arms[first.arm as usize];
    assert_eq!(loaded.slices.len(), 1);
    let slice = &loaded.slices[0];
    assert!(slice.completed > 0);
    assert_eq!(slice.start_ns + slice.length_ns, measured.length_ns);
    let other = &measured.arms[1 - first.arm as usize];
    assert_eq!(other.slices.len(), 0);
    assert_eq!(other.measurement.requests.started, 0);
    assert_eq!(run.wait_end(0, PATIENCE), None);
    assert_eq!(run.wait_begin(0, PATIENCE), Some(first));
}

#[test]
fn a_arm_measures_from_the_round_after_it_is_told() {
    let server = Server::answering(HELLO);
    let warm = json!({"warmup_max_ns": 60_000 * MS});
    let arms = vec![arm(&server, 1, 90, &warm), arm(&server, 1, 90, &warm)];
    let run = InterleavedRun::start(&interleaved(arms, 30, 1)).unwrap();
    run.wait_end(7, PATIENCE).unwrap();
    let arms = Some(vec![1]);
    change(&run, Change::Measure { arms });
    wait_until("its measured phase", || {
        run.snapshot().arms[1].snapshot.phase == Phase::Measured
    });
    assert_eq!(run.snapshot().arms[0].snapshot.phase, Phase::Warmup);
    change(&run, Change::Measure { arms: None });
    let measured = finish(&run);
    for arm in &measured.arms {
        let of = |phase| arm.slices.iter().filter(|s| s.phase == phase).count();
        assert!(of(Phase::Warmup) >= 1);
        assert!(of(Phase::Measured) >= 3);
        let accounting = arm.measurement.requests;
        assert!(accounting.started > arm.measurement.started);
        let first = arm.slices.iter().find(|s| s.phase == Phase::Measured);
        assert_eq!(arm.measurement.warmup_ns, first.unwrap().start_ns);
    }
}

#[test]
fn an_arm_yields_its_slices_and_gets_them_back() {
    let server = Server::answering(HELLO);
    let warm = json!({"warmup_max_ns": 60_000 * MS});
    let arms = (0..3).map(|_| arm(&server, 1, 20, &warm)).collect();
    let run = InterleavedRun::start(&interleaved(arms, 5, 1)).unwrap();
    change(&run, Change::Slices { arms: vec![2] });
    let alone = || {
        let slices = run.slices(0);
        let of_2 = slices.iter().rev().take_while(|times| times.arm == 2);
        of_2.count() >= 4
    };
    wait_until("the slices of one arm", alone);
    let lent = run.slices(0).last().unwrap().round;
    let arms = vec![0, 1, 2];
    change(&run, Change::Slices { arms });
    change(&run, Change::Measure { arms: None });
    finish(&run);
    let slices = run.slices(0);
    let in_round = |round| slices.iter().filter(|times| times.round == round).count();
    assert_eq!((in_round(0), in_round(lent)), (3, 1));
    assert_eq!(in_round(slices.last().unwrap().round), 3);
}

#[test]
fn lengths_change_between_rounds() {
    let server = Server::answering(HELLO);
    let arms = (0..2)
        .map(|_| arm(&server, 1, 60_000, &json!({})))
        .collect();
    let run = InterleavedRun::start(&interleaved(arms, 5, 1)).unwrap();
    let lengths = |slice_ns, washout_ns| Change::Lengths {
        slice_ns,
        washout_ns,
    };
    change(&run, lengths(7 * MS, 3 * MS));
    wait_until("another length", || {
        let last = *run.slices(0).last().unwrap();
        last.end_ns - last.start_ns == 7 * MS && last.start_ns - last.begin_ns == 3 * MS
    });
    change(&run, Change::End);
    let measured = finish(&run);
    assert!(!measured.interrupted);
    for slices in run.slices(0).chunks(2) {
        assert_eq!(
            slices[0].end_ns - slices[0].start_ns,
            slices[1].end_ns - slices[1].start_ns
        );
    }
    assert!(matches!(
        run.change(lengths(0, 0), 0),
        Err(RunError::Plan(_))
    ));
}

#[test]
fn a_arm_that_is_ended_keeps_what_it_has() {
    let server = Server::answering(HELLO);
    let arms = (0..2).map(|_| arm(&server, 1, 1_000, &json!({}))).collect();
    let run = InterleavedRun::start(&interleaved(arms, 5, 1)).unwrap();
    run.wait_end(1, PATIENCE).unwrap();
    change(
        &run,
        Change::EndArm {
            arm: 0,
            why: Ended::Asked,
        },
    );
    let measured = finish(&run);
    assert_eq!(measured.arms[0].ended, Some(Ended::Asked));
    assert!((1..200).contains(&measured.arms[0].slices.len()));
    assert_eq!(measured.arms[1].slices.len(), 200);
}

#[test]
fn the_connections_of_a_arm_that_is_ended_are_closed() {
    let hanging = Server::start(Peer::hang);
    let quick = Server::answering(HELLO);
    let timeout = json!({"timeout_ns": 1_000 * MS});
    let arms = vec![
        arm(&hanging, 3, 60_000, &timeout),
        arm(&quick, 1, 60_000, &timeout),
    ];
    let run = InterleavedRun::start(&interleaved(arms, 5, 1)).unwrap();
    wait_until("its connections", || {
        run.snapshot().arms[0].snapshot.open_connections == 3
    });
    change(
        &run,
        Change::EndArm {
            arm: 0,
            why: Ended::Asked,
        },
    );
    wait_until("the end of its connections", || {
        run.snapshot().arms[0].snapshot.open_connections == 0
    });
    // Long enough for what it carries to time out, if anybody still waited for it.
    let after = run.slices(0).last().unwrap().number + 200;
    run.wait_end(after, PATIENCE).unwrap();
    change(&run, Change::End);
    let measured = finish(&run);
    let accounting = measured.arms[0].measurement.requests;
    assert_eq!((accounting.started, accounting.in_flight), (3, 3));
}

#[test]
fn a_point_that_has_not_come_is_waited_for_no_longer_than_asked() {
    let server = Server::answering(HELLO);
    let arms = vec![arm(&server, 1, 60_000, &json!({}))];
    let run = InterleavedRun::start(&interleaved(arms, 30_000, 1)).unwrap();
    assert_eq!(run.wait_end(0, Duration::from_millis(5)), None);
    assert_eq!(run.wait_begin(100, Duration::from_millis(5)), None);
}

#[test]
fn one_arm_alone_takes_all_slices() {
    let server = Server::answering(HELLO);
    let measured = run(&interleaved(vec![arm(&server, 2, 50, &json!({}))], 10, 1));
    assert_eq!(measured.arms[0].slices.len(), 5);
    assert_eq!(server.connections(), 2);
}

#[test]
fn nothing_starts_in_a_settle_time() {
    let moments = Arc::new(std::sync::Mutex::new(Vec::new()));
    let server = noting(&moments);
    let arms = (0..2).map(|_| arm(&server, 1, 200, &json!({}))).collect();
    let measured = run(&interleaved(arms, 100, 300));
    let slices = measured.arms.iter().flat_map(|arm| &arm.slices);
    assert_eq!(slices.count(), 4);
    let mut moments = moments.lock().unwrap().clone();
    moments.sort();
    let silent = |pair: &&[Instant]| pair[1] - pair[0] > Duration::from_millis(150);
    assert!(moments.windows(2).filter(silent).count() >= 3);
}

#[test]
fn plans_that_cannot_be_interleaved_are_refused_in_a_line() {
    let server = Server::answering(HELLO);
    let good = || arm(&server, 2, 50, &json!({}));
    let with = |more: Value| arm(&server, 2, 50, &more);
    let refused = |arms: Vec<Value>, slice_ns: u64| {
        let plan = json!({"arms": arms, "slice_ns": slice_ns, "washout_ns": 0});
        InterleavedPlan::from_json(plan.to_string().as_bytes())
            .unwrap_err()
            .to_string()
    };
    let open = json!({"kind": "open", "max_connections": 2,
        "stages": [{"duration_ns": 1, "from_per_s": 1.0, "to_per_s": 1.0}]});
    for (arms, line) in [
        (vec![], "arms: must be between 1 and 64"),
        (
            vec![good(), with(json!({"threads": 2}))],
            "arms[1].threads: must be as in arms[0]",
        ),
        (
            vec![good(), with(json!({"url": "https://x"}))],
            "arms[1].url: must have the scheme",
        ),
        (
            vec![good(), with(json!({"url": "x"}))],
            "arms[1].url: no scheme",
        ),
        (
            vec![with(json!({"load": open}))],
            "arms[0].load: must be a closed loop",
        ),
        (
            vec![with(json!({"stop": {"kind": "requests", "count": 3}}))],
            "arms[0].stop: must be a duration",
        ),
    ] {
        let told = refused(arms, 10 * MS);
        assert!(told.starts_with(line), "{told}");
        assert!(!told.contains('\n'));
    }
    assert!(refused(vec![good()], 1).starts_with("slice_ns: must be between"));
}
