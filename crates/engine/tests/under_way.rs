//! What is under way when a run ends: how long it has been so, and since when nothing was answered.

use crate::support::http2::{BODY, serve_with};
use crate::support::{HELLO, Peer, Server, plan, run};
use assay_engine::Measurement;
use assay_engine::record::measurement::UnderWay;
use serde_json::{Value, json};

/// Answers so many requests of each connection and then hangs, over HTTP/1.1 or HTTP/2.
fn hanging_after(answers: u64, http: &str) -> Server {
    match http {
        "1" => Server::start(move |peer| {
            for _ in 0..answers {
                peer.request();
                peer.send(HELLO);
            }
            peer.hang();
        }),
        _ => Server::start(move |peer: &mut Peer| {
            let mut served = 0;
            serve_with(peer, 100, &|_| {}, |server, stream, out| {
                served += 1;
                if served <= answers {
                    server.answer(stream, b"\x88", &BODY.into(), out);
                }
                true
            });
        }),
    }
}

/// A load of four requests at once for so long after a warm-up of so long.
fn load(server: &Server, http: &str, warm_up_ms: u64, ms: u64) -> (Measurement, UnderWay) {
    let connections = if http == "1" { 4 } else { 2 };
    let more: Value = json!({
        "http": http, "streams": 4 / connections,
        "warmup_max_ns": warm_up_ms * 1_000_000,
        "stop": {"kind": "duration", "ns": ms * 1_000_000},
    });
    let measured = run(&plan(server, connections, 1, more));
    let under_way = measured.under_way.clone().unwrap();
    (measured, under_way)
}

#[test]
fn what_was_begun_before_the_measured_phase_was_under_way_for_all_of_it() {
    for http in ["1", "2"] {
        let server = hanging_after(0, http);
        let (measured, under_way) = load(&server, http, 300, 200);
        assert_eq!((measured.requests.in_flight, under_way.ages.count), (4, 4));
        assert_eq!(under_way.quiet_ns, measured.measured_ns);
        assert!(
            under_way.ages.min_ns > measured.measured_ns,
            "{under_way:?}"
        );
        // All that the ages have beyond the measured phase they had before it.
        assert_eq!(under_way.edges_ns, 4 * measured.measured_ns as i64);
    }
}

#[test]
fn a_server_that_hangs_after_some_answers_is_quiet_since_the_last_of_them() {
    for http in ["1", "2"] {
        let server = hanging_after(8, http);
        let (measured, under_way) = load(&server, http, 0, 300);
        let answered = 8 * measured.connections.opened;
        assert_eq!((measured.completed, measured.failed), (answered, 0));
        assert_eq!((measured.requests.in_flight, under_way.ages.count), (4, 4));
        // The last request was sent when the last answer had come.
        assert!(under_way.quiet_ns >= under_way.ages.min_ns, "{under_way:?}");
        assert!(under_way.quiet_ns < measured.measured_ns, "{under_way:?}");
        let together_ns = under_way.ages.mean_ns * 4.0;
        assert!((under_way.edges_ns as f64 - together_ns).abs() < 1.0);
    }
}

#[test]
fn a_wrong_answer_is_an_answer_and_nothing_left_has_no_age() {
    let server = Server::answering(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
    let count = json!({"requests": [{"expect": {"status": [200]}}]});
    let measured = run(&plan(&server, 2, 10, count));
    let under_way = measured.under_way.unwrap();
    assert_eq!((measured.failed, under_way.ages.count), (10, 0));
    assert!(under_way.quiet_ns < measured.measured_ns, "{under_way:?}");
}
