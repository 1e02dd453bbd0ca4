//! The open loop: arrivals that never wait for answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::support::{HELLO, Peer, Server, outcomes, plan, run, wait_until};
use assay_engine::{LoadPlan, Measurement};
use serde_json::{Value, json};

/// `rate` a second on at most `connections` connections; `stop` as the plan spells it.
fn open(server: &Server, rate: f64, connections: u32, stop: Value, more: Value) -> LoadPlan {
    let mut fields = json!({
        "load": {
            "kind": "open", "max_connections": connections, "pacer": "sleep",
            "stages": [{"duration_ns": 1_000_000_000, "from_per_s": rate, "to_per_s": rate}],
        },
        "stop": stop,
    });
    for (key, value) in more.as_object().unwrap() {
        fields[key] = value.clone();
    }
    plan(server, 1, 1, fields)
}

fn for_ms(ms: u64) -> Value {
    json!({"kind": "duration", "ns": ms * 1_000_000})
}

#[test]
fn every_start_is_made_or_counted_as_missed() {
    let server = Server::answering(HELLO);
    let plan = open(&server, 2_000.0, 50, for_ms(300), json!({"threads": 2}));
    let measurement = run(&plan);
    assert_eq!(measurement.started + measurement.missed_starts, 600);
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    let send_lag = measurement.send_lag.unwrap();
    let response_time = measurement.response_time.unwrap();
    assert!(send_lag.count >= measurement.completed);
    assert_eq!(response_time.count, measurement.service_time.count);
    assert!(response_time.mean_ns > measurement.service_time.mean_ns);
}

#[test]
fn pipelined_requests_start_together_at_the_rate_of_requests() {
    let server = Server::answering(HELLO);
    let batches = json!({"pipeline": 5});
    let measurement = run(&open(&server, 500.0, 10, for_ms(400), batches.clone()));
    assert_eq!(measurement.started + measurement.missed_starts, 200);
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    // All five of a batch are sent at once; what is under way at the end was sent, too.
    let sent = measurement.send_lag.unwrap().count * 5;
    assert!((measurement.completed..=measurement.started).contains(&sent));
    let response_time = measurement.response_time.unwrap();
    assert_eq!(response_time.count, measurement.completed);

    let silent = Server::start(Peer::hang);
    let measurement = run(&open(&silent, 500.0, 2, for_ms(400), batches));
    assert_eq!((measurement.started, measurement.missed_starts), (10, 190));
}

#[test]
fn connections_are_opened_as_needed_and_not_beyond_the_limit() {
    let server = Server::start(Peer::hang);
    let measurement = run(&open(&server, 1_000.0, 5, for_ms(100), json!({})));
    assert_eq!(
        (measurement.started, measurement.requests.in_flight),
        (5, 5)
    );
    assert_eq!(measurement.missed_starts, 95);
    assert_eq!(measurement.connections.peak, 5);
    wait_until("that all are accepted", || server.connections() >= 5);
    assert_eq!(server.connections(), 5);
    assert_eq!(measurement.connections.busy_peak, Some(5));
    assert_eq!(measurement.waited_starts, Some(0), "none was made later");

    let quick = Server::answering(HELLO);
    let measurement = run(&open(&quick, 50.0, 1_000, for_ms(1_000), json!({})));
    let (opened, started) = (measurement.connections.opened, measurement.started);
    assert!(opened < started, "{opened} for {started} requests");
}

#[test]
fn a_burst_of_the_warm_up_leaves_connections_open_but_not_in_use() {
    // Nobody is answered until all hundred are connected: a cold server's first second.
    let connected = std::sync::Arc::new(std::sync::Barrier::new(100));
    let server = Server::start(move |peer| {
        let mut is_first = true;
        while peer.request().is_some() {
            if std::mem::take(&mut is_first) {
                connected.wait();
            }
            peer.send(HELLO);
        }
    });
    let count = json!({"kind": "requests", "count": 5});
    let warm_up = json!({"warmup_max_ns": 2_000_000_000_u64});
    let measurement = run(&open(&server, 100.0, 100, count, warm_up));
    assert_eq!(measurement.connections.peak, 100);
    // What the warm-up left under way is part of the count: more than five on a busy machine.
    assert!(measurement.completed >= 5, "{}", measurement.completed);
    let busy_peak = measurement.connections.busy_peak.unwrap();
    assert!((1..100).contains(&busy_peak), "{busy_peak} in use");
}

#[test]
fn a_counted_run_misses_nothing() {
    let server = Server::start(|peer| {
        while peer.request().is_some() {
            // The server takes its time: slower than the arrivals.
            std::thread::sleep(std::time::Duration::from_millis(20));
            peer.send(HELLO);
        }
    });
    let count = json!({"kind": "requests", "count": 50});
    let measurement = run(&open(&server, 1_000.0, 100, count, json!({"threads": 3})));
    assert_eq!((measurement.completed, server.requests()), (50, 50));
    assert_eq!(measurement.missed_starts, 0);
}

#[test]
fn waiting_for_a_connection_is_part_of_the_response_time() {
    // One connection, 30 ms an answer, an arrival every 10 ms: the queue grows by 20 ms each time.
    let server = Server::start(|peer| {
        while peer.request().is_some() {
            std::thread::sleep(std::time::Duration::from_millis(30));
            peer.send(HELLO);
        }
    });
    let count = json!({"kind": "requests", "count": 10});
    let measurement = run(&open(&server, 100.0, 1, count, json!({})));
    assert_eq!(measurement.completed, 10);
    let longest_ns = measurement.response_time.unwrap().max_ns;
    assert!(
        longest_ns >= 10 * 30_000_000 - 9 * 10_000_000,
        "{longest_ns}"
    );
    assert!(measurement.send_lag.unwrap().max_ns >= 9 * 20_000_000);
    // All but the first came due while the one connection was in use.
    assert_eq!(measurement.waited_starts, Some(9));
}

#[test]
fn nobody_waits_where_threads_use_their_connections_one_after_the_other() {
    // Two threads with a connection each are interleaved: each request is answered long before the next is due. On a busy
    // machine one may be late all the same; then it is tried again.
    let (most, measurement) = (0..10)
        .map(|_| one_after_the_other())
        .find(|(most, _)| *most == 1)
        .expect("the machine has a moment");
    assert_eq!((most, measurement.completed), (1, 5));
    // Each thread's most is 1: the sum is that of no moment.
    assert_eq!(measurement.connections.busy_peak, Some(2));
    assert_eq!(measurement.waited_starts, Some(0));
}

/// Five requests of two threads, 100 ms apart; how many of them were under way at once at most.
fn one_after_the_other() -> (u64, Measurement) {
    let under_way = Arc::new(AtomicU64::new(0));
    let most = Arc::new(AtomicU64::new(0));
    let server = {
        let (under_way, most) = (Arc::clone(&under_way), Arc::clone(&most));
        Server::start(move |peer| {
            while peer.request().is_some() {
                most.fetch_max(under_way.fetch_add(1, SeqCst) + 1, SeqCst);
                under_way.fetch_sub(1, SeqCst);
                peer.send(HELLO);
            }
        })
    };
    let two = json!({"threads": 2});
    let measurement = run(&open(&server, 10.0, 2, for_ms(500), two));
    (most.load(SeqCst), measurement)
}

#[test]
fn a_dead_server_fails_each_arrival() {
    let server = Server::answering(HELLO);
    let gone = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let more = json!({"url": format!("http://{gone}")});
    let measurement = run(&open(&server, 500.0, 400, for_ms(200), more));
    assert_eq!(measurement.completed, 0);
    assert_eq!(measurement.started + measurement.missed_starts, 100);
    let ended = measurement.failed + measurement.requests.in_flight;
    assert_eq!(ended, measurement.started);
}

#[test]
fn stages_begin_with_the_measured_phase() {
    let server = Server::answering(HELLO);
    let more = json!({
        "warmup_max_ns": 200_000_000,
        "load": {
            "kind": "open", "max_connections": 50, "pacer": "spin", "arrivals": "constant",
            "stages": [
                {"duration_ns": 100_000_000, "from_per_s": 100.0, "to_per_s": 100.0},
                {"duration_ns": 100_000_000, "from_per_s": 1_000.0, "to_per_s": 1_000.0},
            ],
        },
    });
    let measurement = run(&plan(&server, 1, 1, {
        let mut fields = more;
        fields["stop"] = for_ms(300);
        fields
    }));
    // 10 in the first stage, 100 in the second, whose rate then holds for another 100. Had the
    // stages begun with the warm-up, all 300 ms would have been at the second rate: 300.
    assert_eq!(measurement.started + measurement.missed_starts, 210);
    let before = measurement.requests.started - measurement.started;
    assert!((1..=20).contains(&before), "{before} in the warm-up");
}
