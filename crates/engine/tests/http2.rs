//! HTTP/2 against the null server and peers written by hand: what is sent, what is booked, what is waited for.

use std::collections::BTreeSet;

use crate::support::http2::{BODY, answering, serve, serve_with};
use crate::support::interleaved::{self, interleaved};
use crate::support::{HELLO, Server, outcomes, plan, run};
use assay_engine::Measurement;
use assay_http2::frame::{self, Code, setting};
use serde_json::{Value, json};

fn http2(server: &Server, connections: u32, streams: u32, count: u64, more: Value) -> Measurement {
    let mut fields = json!({"http": "2", "streams": streams});
    for (key, value) in more.as_object().unwrap() {
        fields[key] = value.clone();
    }
    run(&plan(server, connections, count, fields))
}

#[test]
fn every_answer_of_every_stream_counts_once() {
    let server = answering(1_000, |_| {});
    let measured = http2(&server, 3, 10, 3_000, json!({"threads": 2}));
    assert_eq!(measured.completed, 3_000);
    assert_eq!(measured.body_bytes, 3_000 * BODY.len() as u64);
    assert_eq!(measured.http_versions, [("2".to_owned(), 3_000)].into());
    assert_eq!(measured.connections.opened, 3);
    assert_eq!(measured.service_time.count, 3_000);
    let http2 = measured.http2.unwrap();
    assert_eq!(
        (http2.stream_waits, http2.streams_allowed),
        (0, Some(1_000))
    );
}

#[test]
fn a_request_is_written_as_fields() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let sees = std::sync::Arc::clone(&seen);
    let server = answering(100, move |fields| {
        sees.lock().unwrap().insert(fields);
    });
    let requests = json!([
        {"target": "/a", "headers": [["Accept", "x/y"], ["Connection", "close"], ["TE", "gzip"]], "weight": 2},
        {"target": "/{counter}", "method": "POST", "headers": [["te", "trailers"]], "body": "{counter}", "templated": true, "chunk_bytes": null},
    ]);
    let measured = http2(
        &server,
        1,
        1,
        6,
        json!({"requests": requests, "cookies": true}),
    );
    assert_eq!(measured.completed, 6);
    let host = server.address;
    let expected = [
        format!(":method=GET|:scheme=http|:authority={host}|:path=/a|accept=x/y"),
        format!(
            ":method=POST|:scheme=http|:authority={host}|:path=/2|te=trailers|content-length=1"
        ),
        format!(
            ":method=POST|:scheme=http|:authority={host}|:path=/5|te=trailers|content-length=1"
        ),
    ];
    assert_eq!(*seen.lock().unwrap(), BTreeSet::from(expected));
}

#[test]
fn bodies_are_checked_whatever_the_expectation() {
    let server = answering(100, |_| {});
    let expecting = |text: &str| {
        let expect = json!({"status": [200], "body": {"kind": "equals", "text": text}});
        json!({"requests": [{"expect": expect}]})
    };
    let right = http2(&server, 2, 5, 100, expecting("hello"));
    assert_eq!((right.completed, right.checked), (100, 100));
    let wrong = http2(&server, 2, 5, 100, expecting("bye"));
    assert_eq!(outcomes(&wrong), ["plan/unexpected_body: 100"]);
    let header = json!({"requests": [{"expect": {"headers": [{"name": "X-Missing"}]}}]});
    let without = http2(&server, 1, 1, 3, header);
    assert_eq!(outcomes(&without), ["plan/unexpected_header: 3"]);
}

#[test]
fn a_large_body_goes_through_the_windows() {
    let server = answering(100, |_| {});
    let body = "x".repeat(300_000);
    let request = json!({"requests": [{"method": "POST", "body": body}]});
    let measured = http2(&server, 1, 4, 20, request);
    assert_eq!(measured.completed, 20);
    assert!(measured.bytes_written > 20 * 300_000);
}

#[test]
fn what_the_server_does_not_allow_waits_and_is_no_service_time() {
    let server = answering(2, |_| {});
    let measured = http2(&server, 1, 10, 500, json!({}));
    assert_eq!(measured.completed, 500);
    let http2 = measured.http2.unwrap();
    assert_eq!(http2.streams_allowed, Some(2));
    assert!(http2.stream_waits > 400, "{http2:?}");
    assert!(http2.stream_wait_ns > 0);
}

#[test]
fn a_window_that_never_opens_ends_by_the_timeout_and_is_told() {
    let server = Server::start(|peer| {
        let mut settings = Vec::new();
        frame::write_settings(&[(setting::INITIAL_WINDOW_SIZE, 0)], &mut settings);
        peer.send(settings);
        peer.hang();
    });
    let more = json!({"timeout_ns": 600_000_000, "requests": [{"method": "POST", "body": "x"}]});
    let measured = http2(&server, 1, 2, 2, more);
    assert_eq!(outcomes(&measured), ["peer/timeout: 2"]);
    assert!(
        measured.outcomes[0].example.contains("window"),
        "{measured:?}"
    );
    let http2 = measured.http2.unwrap();
    assert!(
        http2.window_stalls > 0 && http2.window_stall_ns > 0,
        "{http2:?}"
    );
}

#[test]
fn what_lies_beyond_the_last_stream_is_unprocessed_and_the_rest_goes_on() {
    let server = Server::start(|peer| serve(peer, 100, 10, &|_| {}));
    let measured = http2(&server, 1, 4, 60, json!({}));
    assert!(measured.completed >= 40, "{measured:?}");
    assert_eq!(measured.completed + measured.failed, 60);
    assert!(
        outcomes(&measured)
            .iter()
            .all(|outcome| outcome.starts_with("peer/unprocessed"))
    );
    assert!(measured.http2.unwrap().going_away["NO_ERROR"] > 0);
    assert!(measured.connections.reopened > 0);
}

#[test]
fn resets_are_told_by_their_code() {
    let server = Server::start(|peer| {
        serve_with(peer, 100, &|_| {}, |server, stream, out| {
            match stream {
                1 => frame::write_reset(1, Code::ENHANCE_YOUR_CALM, out),
                _ => server.answer(stream, b"\x88", &BODY.into(), out),
            }
            true
        });
    });
    let measured = http2(&server, 1, 1, 2, json!({}));
    assert_eq!(outcomes(&measured), ["peer/stream_reset: 1"]);
    assert_eq!(measured.completed, 1);
    assert_eq!(
        measured.http2.unwrap().resets,
        [("ENHANCE_YOUR_CALM".into(), 1)].into()
    );
    assert_eq!(
        measured.connections.reopened, 0,
        "one stream is not the connection"
    );
}

#[test]
fn a_connection_carries_so_many_requests_and_another_follows() {
    let server = answering(100, |_| {});
    let measured = http2(&server, 2, 3, 100, json!({"requests_per_connection": 5}));
    assert_eq!((measured.completed, measured.failed), (100, 0));
    assert!(server.connections() >= 20);
}

#[test]
fn an_open_loop_keeps_its_rate_on_few_streams() {
    let server = answering(100, |_| {});
    let load = json!({"kind": "open", "max_connections": 2, "pacer": "sleep",
        "stages": [{"duration_ns": 1_000_000_000, "from_per_s": 2000.0, "to_per_s": 2000.0}]});
    let measured = http2(&server, 2, 5, 400, json!({"load": load}));
    assert_eq!(measured.completed, 400);
    assert_eq!(measured.response_time.unwrap().count, 400);
    assert_eq!(measured.send_lag.unwrap().count, 400);
    assert!(measured.connections.busy_peak.unwrap() <= 10);
}

#[test]
fn a_server_of_http1_is_one_clear_failure() {
    let server = Server::answering(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    let measured = http2(&server, 1, 4, 1_000, json!({"ends_on": ["wrong_protocol"]}));
    assert!(measured.interrupted);
    assert_eq!(measured.outcomes.len(), 1);
    assert_eq!(measured.outcomes[0].kind, "wrong_protocol");
    assert_eq!(
        measured.outcomes[0].example,
        "the server answers in HTTP/1.x"
    );
}

#[test]
fn plans_that_http2_cannot_do_are_refused_in_a_line() {
    let refused = |more: Value| {
        let mut plan = json!({"url": "http://127.0.0.1:9", "load": {"kind": "closed", "connections": 1},
            "stop": {"kind": "requests", "count": 1}});
        for (key, value) in more.as_object().unwrap() {
            plan[key] = value.clone();
        }
        let plan = plan.to_string();
        assay_engine::LoadPlan::from_json(plan.as_bytes())
            .unwrap_err()
            .field
    };
    assert_eq!(refused(json!({"streams": 2})), "streams");
    assert_eq!(refused(json!({"http": "2", "streams": 0})), "streams");
    assert_eq!(
        refused(json!({"http": "2", "streams": 2_000_000})),
        "streams"
    );
    assert_eq!(refused(json!({"http": "2", "pipeline": 2})), "pipeline");
    assert_eq!(
        refused(json!({"http": "2", "http_version": "1.0"})),
        "http_version"
    );
    assert_eq!(
        refused(json!({"http": "2", "proxy": "http://a:1"})),
        "proxy"
    );
}

#[test]
fn arms_of_both_protocols_are_interleaved() {
    let server = answering(100, |_| {});
    let old = Server::answering(HELLO);
    let streams = |streams: u32| json!({"http": "2", "streams": streams});
    let arms = vec![
        interleaved::arm(&server, 2, 500, &streams(4)),
        interleaved::arm(&old, 2, 500, &json!({})),
        interleaved::arm(&server, 2, 500, &streams(1)),
    ];
    let measured = interleaved::run(&interleaved(arms, 100, 20));
    for (arm, (version, places)) in measured.arms.iter().zip([("2", 8), ("1.1", 2), ("2", 2)]) {
        let figures = &arm.measurement;
        for slice in &arm.slices {
            let under_way_ns = slice.service_time_sum_ns as i64 + slice.edges_ns.unwrap();
            assert!(under_way_ns <= places * slice.length_ns as i64, "{slice:?}");
        }
        assert!(figures.completed > 0);
        assert_eq!(figures.failed, 0, "{:?}", figures.outcomes);
        assert_eq!(figures.http_versions.keys().collect::<Vec<_>>(), [version]);
        assert_eq!(figures.http2.is_some(), version == "2");
    }
}
