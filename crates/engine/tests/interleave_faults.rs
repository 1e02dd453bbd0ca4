//! Arms of servers that hang, die, answer late or close their connections, against real servers on loopback.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use crate::support::interleaved::{MS, arm, interleaved, run};
use crate::support::{HELLO, Peer, Server, outcomes};
use assay_engine::Ended;
use serde_json::json;

const CONNECTIONS: u32 = 2;
const QUICK_ARMS: u64 = 2;

/// How many requests some servers have had, for others to wait for.
#[derive(Default)]
struct Asked {
    number: Mutex<u64>,
    more: Condvar,
}

impl Asked {
    fn count(&self) {
        *self.number.lock().unwrap() += 1;
        self.more.notify_all();
    }

    /// Until so many more have come, or it is over.
    fn wait_for(&self, further: u64) {
        let number = self.number.lock().unwrap();
        let enough = number.saturating_add(further);
        drop(
            self.more
                .wait_while(number, |number| *number < enough)
                .unwrap(),
        );
    }

    fn end(&self) {
        *self.number.lock().unwrap() = u64::MAX / 2;
        self.more.notify_all();
    }
}

#[test]
fn an_answer_that_comes_while_the_arm_rests_counts_for_nobody() {
    // Each answer waits until others were asked more often than they can have been under way before: it comes
    // in one of their slices, however slow the machine is.
    let asked = Arc::new(Asked::default());
    let (counted, awaited) = (Arc::clone(&asked), Arc::clone(&asked));
    let slow = Server::start(move |peer| {
        while peer.request().is_some() {
            awaited.wait_for(2 * QUICK_ARMS * u64::from(CONNECTIONS) + 1);
            peer.send(HELLO);
        }
    });
    let quick = Server::start(move |peer| {
        while peer.request().is_some() {
            counted.count();
            peer.send(HELLO);
        }
    });
    let arms = vec![
        arm(&slow, CONNECTIONS, 200, &json!({})),
        arm(&quick, CONNECTIONS, 200, &json!({})),
        arm(&quick, CONNECTIONS, 200, &json!({})),
    ];
    let measured = run(&interleaved(arms, 40, 10));
    asked.end();
    let slow = &measured.arms[0];
    assert_eq!(slow.measurement.completed, 0);
    assert_eq!(slow.measurement.failed, 0);
    assert!(slow.late > 0);
    assert_eq!(slow.measurement.requests.completed, slow.late);
    // What a slice begins is under way at its end; the machine may have had no time for one of them at all.
    let slices = &slow.slices;
    assert!(slices.iter().all(|slice| slice.carried >= slice.started));
    assert!(slices.iter().any(|slice| slice.started > 0));
    assert!(measured.arms[1].measurement.completed > 0);
}

#[test]
fn a_hang_in_mid_slice_takes_no_slice_from_the_neighbours() {
    let hanging = Server::start(|peer| {
        for _ in 0..3 {
            if peer.request().is_none() {
                return;
            }
            peer.send(HELLO);
        }
        peer.hang();
    });
    let quick = Server::answering(HELLO);
    let timeout = json!({"timeout_ns": 140 * MS});
    let arms = vec![
        arm(&hanging, 2, 400, &timeout),
        arm(&quick, 2, 400, &json!({})),
    ];
    let measured = run(&interleaved(arms, 40, 2));
    let [hanging, quick] = &measured.arms[..] else {
        panic!("two arms")
    };
    assert!(outcomes(&hanging.measurement)[0].starts_with("peer/timeout: "));
    assert_eq!(hanging.ended, None);
    for arm in [hanging, quick] {
        assert_eq!(arm.slices.len(), 10);
        assert_eq!(arm.measurement.measured_ns, 400 * MS);
    }
    assert_eq!(quick.measurement.failed, 0);
    assert!(quick.slices.iter().filter(|s| s.completed > 0).count() >= 5);
}

#[test]
fn the_arm_of_a_server_that_dies_ends_and_the_others_go_on() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answered = Arc::new(AtomicU64::new(0));
    let by_server = Arc::clone(&answered);
    thread::spawn(move || {
        // One connection; then it closes, and with it the listener.
        let (stream, _) = listener.accept().unwrap();
        let mut stream = std::io::BufReader::new(stream);
        let mut line = String::new();
        while by_server.load(SeqCst) < 50 {
            line.clear();
            if std::io::BufRead::read_line(&mut stream, &mut line).unwrap() == 0 {
                return;
            }
            if line == "\r\n" {
                std::io::Write::write_all(stream.get_mut(), HELLO).unwrap();
                by_server.fetch_add(1, SeqCst);
            }
        }
    });
    let quick = Server::answering(HELLO);
    let mut dying = arm(&quick, 1, 300, &json!({}));
    dying["url"] = json!(format!("http://{address}"));
    let arms = vec![dying, arm(&quick, 1, 300, &json!({}))];
    let measured = run(&interleaved(arms, 10, 2));
    let [dead, quick] = &measured.arms[..] else {
        panic!("two arms")
    };
    assert_eq!(answered.load(SeqCst), 50);
    assert_eq!(dead.ended, Some(Ended::Unreachable));
    assert!(dead.measurement.interrupted);
    assert!(dead.slices.len() < 30);
    assert_eq!(dead.measurement.requests.completed, 50);
    assert_eq!(quick.ended, None);
    assert_eq!(quick.slices.len(), 30);
}

#[test]
fn when_all_arms_have_ended_the_run_has() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let server = Server::answering(HELLO);
    let mut nobody = arm(&server, 1, 60_000, &json!({}));
    nobody["url"] = json!(format!("http://{address}"));
    let measured = run(&interleaved(vec![nobody.clone(), nobody], 400, 0));
    for arm in &measured.arms {
        assert_eq!(arm.ended, Some(Ended::Unreachable));
        assert_eq!(arm.slices.len(), 1);
    }
    assert!(!measured.interrupted);
}

#[test]
fn a_failure_on_which_a_plan_ends_ends_its_arm_alone() {
    let wrong = Server::answering(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n");
    let quick = Server::answering(HELLO);
    let ends = json!({"ends_on": ["bad_answer"]});
    let bad = Server::answering(b"nonsense\r\n\r\n");
    let arms = vec![
        arm(&bad, 1, 1_000, &ends),
        arm(&quick, 1, 1_000, &json!({})),
        arm(&wrong, 1, 1_000, &json!({})),
    ];
    let measured = run(&interleaved(arms, 200, 1));
    assert_eq!(measured.arms[0].ended, Some(Ended::Failure));
    assert_eq!(measured.arms[0].slices.len(), 1);
    assert_eq!(measured.arms[1].slices.len(), 5);
    assert_eq!(measured.arms[2].slices.len(), 5);
}

#[test]
fn connections_that_a_server_closes_while_they_rest_are_counted_where_they_are_opened_again() {
    // Closes a connection that has been silent for 5 ms.
    let closing = Server::start(|peer: &mut Peer| {
        let patience = Some(Duration::from_millis(5));
        peer.stream.set_read_timeout(patience).unwrap();
        while peer.request().is_some() {
            peer.send(HELLO);
        }
    });
    let quick = Server::answering(HELLO);
    let arms = vec![
        arm(&closing, 3, 240, &json!({})),
        arm(&quick, 3, 240, &json!({})),
    ];
    let measured = run(&interleaved(arms, 80, 1));
    let closing = &measured.arms[0];
    let reopened: Vec<u64> = closing.slices.iter().map(|s| s.reopened).collect();
    assert_eq!(
        reopened.iter().sum::<u64>(),
        closing.measurement.connections.reopened
    );
    // Backwards order may let an arm follow itself, without a rest: then nothing was closed.
    assert!(reopened.iter().any(|count| *count >= 3), "{reopened:?}");
    assert_eq!(measured.arms[1].measurement.connections.reopened, 0);
    assert!(closing.measurement.connections.peak <= 3);
}

#[test]
fn what_slices_cut_off_of_service_times_is_known() {
    let hanging = Server::start(Peer::hang);
    let slow = Server::start(|peer| {
        while peer.request().is_some() {
            thread::sleep(Duration::from_millis(15));
            peer.send(HELLO);
        }
    });
    let arms = vec![
        arm(&hanging, 3, 300, &json!({})),
        arm(&slow, 2, 300, &json!({})),
    ];
    let measured = run(&interleaved(arms, 50, 2));
    let [hanging, slow] = &measured.arms[..] else {
        panic!("{measured:?}");
    };
    // What is never answered is under way in all of each slice, but for the first ones, in which it begins.
    for slice in &hanging.slices[3..] {
        assert_eq!(slice.edges_ns, Some(3 * 50 * MS as i64), "{slice:?}");
    }
    // With them no slice holds more than its connections can carry, also of answers that began before it.
    for slice in &slow.slices {
        let under_way_ns = slice.service_time_sum_ns as i64 + slice.edges_ns.unwrap();
        assert!(
            (0..=2 * 50 * MS as i64).contains(&under_way_ns),
            "{slice:?}"
        );
    }
    assert!(slow.slices.iter().any(|slice| slice.edges_ns != Some(0)));
}
