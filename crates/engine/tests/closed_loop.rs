//! The closed loop against scripted servers: exact counts, honest connections.

use std::sync::Mutex;
use std::time::Duration;

use crate::support::{HELLO, Server, outcomes, plan, run, wait_until};
use assay_engine::Run;
use serde_json::json;

#[test]
fn a_counted_run_sends_exactly_so_many_requests() {
    let server = Server::answering(HELLO);
    let measurement = run(&plan(&server, 7, 1_003, json!({"threads": 3})));
    assert_eq!(server.requests(), 1_003);
    assert_eq!(measurement.completed, 1_003);
    assert_eq!(measurement.requests.started, 1_003);
    assert_eq!(measurement.requests.in_flight, 0);
    assert_eq!(measurement.service_time.count, 1_003);
    assert_eq!(measurement.first_byte_time.count, 1_003);
    assert_eq!(measurement.bytes_read, 1_003 * HELLO.len() as u64);
    assert_eq!(measurement.body_bytes, 1_003 * 5);
    assert_eq!(measurement.statuses["200"], 1_003);
    assert_eq!(measurement.encodings["identity"], 1_003);
    assert_eq!(measurement.http_versions["1.1"], 1_003);
    assert!(measurement.outcomes.is_empty());
    assert!(measurement.response_time.is_none());
}

#[test]
fn every_connection_is_used_and_the_remainder_dealt_out() {
    let server = Server::answering(HELLO);
    let measurement = run(&plan(&server, 10, 2_000, json!({"threads": 4})));
    assert_eq!(server.connections(), 10);
    let connections = measurement.connections;
    assert_eq!((connections.asked, connections.opened), (10, 10));
    assert_eq!((connections.answered, connections.reopened), (10, 0));
    assert_eq!(connections.peak, 10);
    assert_eq!(measurement.workers.len(), 4);
}

#[test]
fn fewer_requests_than_connections_is_exact_too() {
    let server = Server::answering(HELLO);
    let measurement = run(&plan(&server, 50, 3, json!({"threads": 2})));
    assert_eq!((measurement.completed, server.requests()), (3, 3));
}

#[test]
fn without_keep_alive_each_request_has_its_own_connection() {
    let server = Server::start(|peer| {
        if let Some(request) = peer.request() {
            assert!(request.contains("\r\nConnection: close\r\n"), "{request}");
            peer.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody until close");
        }
    });
    let measurement = run(&plan(&server, 2, 40, json!({"keep_alive": false})));
    assert_eq!(measurement.completed, 40);
    assert_eq!(server.connections(), 40);
    assert_eq!(measurement.connections.reopened, 38);
    assert_eq!(measurement.connect_time.count, 40);
    assert_eq!(measurement.body_bytes, 40 * 16);
}

#[test]
fn answers_that_only_the_close_ends_are_counted_apart() {
    let server = Server::start(|peer| {
        if peer.request().is_some() {
            peer.send("HTTP/1.1 200 OK\r\n\r\nhello");
        }
    });
    let measurement = run(&plan(&server, 1, 3, json!({})));
    assert_eq!((measurement.completed, measurement.ended_by_close), (3, 3));
    assert_eq!(
        run(&plan(&Server::answering(HELLO), 1, 3, json!({}))).ended_by_close,
        0
    );
}

#[test]
fn a_server_that_closes_after_an_answer_costs_no_failure_when_it_says_so() {
    let server = Server::start(|peer| {
        for answer in ["", "", "Connection: close\r\n"] {
            if peer.request().is_none() {
                return;
            }
            peer.send(format!(
                "HTTP/1.1 200 OK\r\n{answer}Content-Length: 0\r\n\r\n"
            ));
        }
    });
    let measurement = run(&plan(&server, 1, 30, json!({})));
    assert_eq!((measurement.completed, measurement.failed), (30, 0));
    assert_eq!(server.connections(), 10);
}

#[test]
fn a_connection_can_be_limited_to_so_many_requests() {
    let server = Server::answering(HELLO);
    let measurement = run(&plan(&server, 1, 20, json!({"requests_per_connection": 5})));
    assert_eq!(measurement.completed, 20);
    assert_eq!(server.connections(), 4);
}

#[test]
fn http_1_0_asks_for_keep_alive_and_gets_it() {
    let server = Server::start(|peer| {
        while let Some(request) = peer.request() {
            assert!(request.starts_with("GET / HTTP/1.0\r\n"), "{request}");
            assert!(request.contains("\r\nConnection: Keep-Alive\r\n"));
            peer.send(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let measurement = run(&plan(&server, 1, 9, json!({"http_version": "1.0"})));
    assert_eq!(measurement.completed, 9);
    assert_eq!(server.connections(), 1);
}

#[test]
fn pipelined_requests_go_out_together_and_are_counted_one_by_one() {
    let server = Server::start(|peer| {
        // Only after 8 requests are there any answers: one by one it would wait for ever.
        loop {
            for _ in 0..8 {
                if peer.request().is_none() {
                    return;
                }
            }
            for _ in 0..8 {
                peer.send(HELLO);
            }
        }
    });
    let measurement = run(&plan(&server, 2, 160, json!({"pipeline": 8})));
    assert_eq!(measurement.completed, 160);
    assert_eq!(server.requests(), 160);
    assert_eq!(measurement.service_time.count, 160);
}

#[test]
fn method_headers_and_body_go_out_as_planned() {
    let request = json!({
        "method": "POST", "target": "/a?b=c",
        "headers": [["X-One", "1"], ["Content-Type", "text/plain"]], "body": "grüße",
    });
    let server = Server::start(|peer| {
        while let Some(request) = peer.request() {
            let authority = peer.stream.local_addr().unwrap();
            assert_eq!(
                request,
                format!(
                    "POST /a?b=c HTTP/1.1\r\nHost: {authority}\r\nX-One: 1\r\n\
                     Content-Type: text/plain\r\nContent-Length: 7\r\n\r\ngrüße"
                )
            );
            peer.send(HELLO);
        }
    });
    let measurement = run(&plan(&server, 1, 5, json!({"requests": [request]})));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 5);
}

#[test]
fn requests_follow_their_weights() {
    static TARGETS: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let server = Server::start(|peer| {
        while let Some(request) = peer.request() {
            let target = request.split(' ').nth(1).unwrap().to_owned();
            TARGETS.lock().unwrap().push(target);
            peer.send(HELLO);
        }
    });
    let requests = json!([
        {"target": "/a", "weight": 2}, {"target": "/never", "weight": 0}, {"target": "/b"},
    ]);
    run(&plan(&server, 1, 7, json!({"requests": requests.clone()})));
    assert_eq!(
        *TARGETS.lock().unwrap(),
        ["/a", "/a", "/b", "/a", "/a", "/b", "/a"]
    );
    TARGETS.lock().unwrap().clear();
    run(&plan(
        &server,
        1,
        600,
        json!({"requests": requests, "request_order": "random", "seed": 5}),
    ));
    let targets = TARGETS.lock().unwrap();
    let of_a = targets.iter().filter(|target| *target == "/a").count();
    assert!(
        (340..460).contains(&of_a),
        "{of_a} of 600 for a weight of 2 in 3"
    );
    assert!(!targets.contains(&"/never".to_owned()));
}

#[test]
fn bodies_of_every_framing_are_read_to_their_end() {
    let answers: [&[u8]; 7] = [
        b"HTTP/1.1 204 No Content\r\nContent-Length: 99\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=\"v\"\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: t\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 404 Not Found\ncontent-length: 3\n\nno!",
        b"HTTP/1.1 200 OK\r\n\r\nuntil the close",
    ];
    let server = Server::start(move |peer| {
        for answer in answers {
            if peer.request().is_none() {
                return;
            }
            // One byte at a time: no boundary may matter.
            for byte in answer {
                peer.send([*byte]);
            }
        }
    });
    let measurement = run(&plan(&server, 1, 7, json!({})));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 7);
    assert_eq!(measurement.body_bytes, 1 + 6 + 3 + 15);
    let statuses: Vec<_> = measurement.statuses.into_iter().collect();
    let expected = [("200", 4), ("204", 1), ("304", 1), ("404", 1)];
    assert_eq!(statuses, expected.map(|(status, n)| (status.to_owned(), n)));
}

#[test]
fn an_answer_to_head_has_no_body() {
    let server = Server::answering(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n");
    let more = json!({"requests": [{"method": "HEAD"}]});
    assert_eq!(run(&plan(&server, 2, 50, more)).completed, 50);
}

#[test]
fn large_bodies_pass_through() {
    let server = Server::start(|peer| {
        let body = vec![b'x'; 3_000_000];
        while peer.request().is_some() {
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n");
            peer.send(&body);
        }
    });
    let measurement = run(&plan(&server, 3, 12, json!({})));
    assert_eq!(measurement.completed, 12);
    assert_eq!(measurement.body_bytes, 36_000_000);
}

#[test]
fn the_warm_up_runs_without_a_gap_into_the_measured_phase() {
    let server = Server::answering(HELLO);
    let more = json!({
        "warmup_max_ns": 600_000_000_000_u64, "window_ns": 10_000_000,
        "stop": {"kind": "requests", "count": 500},
    });
    let run = Run::start(&plan(&server, 4, 500, more)).unwrap();
    wait_until("warm-up requests", || run.snapshot().completed > 100);
    wait_until("warm-up windows", || !run.snapshot().windows.is_empty());
    assert!(!run.wait(Duration::ZERO));
    run.begin_measuring(0);
    let measurement = run.result().unwrap();
    assert!(!measurement.interrupted);
    assert_eq!(measurement.completed, 500);
    assert_eq!(measurement.service_time.count, 500);
    assert_eq!(measurement.connections.reopened, 0);
    assert_eq!(measurement.requests.started, server.requests());
    assert!(measurement.requests.completed > 600);
    assert!(measurement.warmup_ns > 0);
    let of_phase = |phase| {
        let windows = measurement.windows.iter().filter(move |w| w.phase == phase);
        windows.map(|w| w.completed).sum::<u64>()
    };
    use assay_engine::record::measurement::Phase;
    assert_eq!(of_phase(Phase::Measured), 500);
    assert_eq!(
        of_phase(Phase::Warmup),
        measurement.requests.completed - 500
    );
}

#[test]
fn a_warm_up_ends_at_its_bound() {
    let server = Server::answering(HELLO);
    let more = json!({"warmup_max_ns": 30_000_000});
    let measurement = run(&plan(&server, 2, 100, more));
    assert_eq!(measurement.warmup_ns, 30_000_000);
    assert_eq!(measurement.completed, 100);
}

#[test]
fn a_timed_run_lasts_as_long_as_planned_and_its_windows_add_up() {
    let server = Server::answering(HELLO);
    let more = json!({
        "stop": {"kind": "duration", "ns": 250_000_000}, "window_ns": 100_000_000, "threads": 2,
    });
    let measurement = run(&plan(&server, 4, 1, more));
    assert_eq!(measurement.measured_ns, 250_000_000);
    let lengths: Vec<_> = measurement.windows.iter().map(|w| w.length_ns).collect();
    assert_eq!(lengths, [100_000_000, 100_000_000, 50_000_000]);
    let completed: u64 = measurement.windows.iter().map(|w| w.completed).sum();
    assert_eq!(completed, measurement.completed);
    let read: u64 = measurement.windows.iter().map(|w| w.bytes_read).sum();
    assert_eq!(read, measurement.bytes_read);
    assert!(measurement.workers.iter().all(|worker| worker.cpu_ns > 0));
}

#[test]
fn a_stopped_run_reports_what_it_measured() {
    let server = Server::answering(HELLO);
    let more = json!({"stop": {"kind": "duration", "ns": 3_600_000_000_000_u64}});
    let run = Run::start(&plan(&server, 4, 1, more)).unwrap();
    wait_until("requests", || run.snapshot().completed > 10);
    run.stop(0);
    let measurement = run.result().unwrap();
    assert!(measurement.interrupted);
    assert!(measurement.completed > 10);
    assert!(measurement.measured_ns > 0);
    // Asking again gives the same.
    assert_eq!(run.result().unwrap(), measurement);
    run.stop(0);
    assert_eq!(run.snapshot().completed, measurement.completed);
}

#[test]
fn a_run_stopped_in_its_warm_up_measured_nothing_but_balances() {
    const WINDOW_NS: u64 = 1_000_000;
    let server = Server::answering(HELLO);
    let run = Run::start(&plan(
        &server,
        4,
        9,
        json!({"warmup_max_ns": 3_600_000_000_000_u64, "window_ns": WINDOW_NS}),
    ));
    let run = run.unwrap();
    wait_until("requests", || run.snapshot().completed > 2_000);
    wait_until("windows", || run.snapshot().windows.len() > 20);
    // What the worker took of its core in the windows of the warm-up but the last, at least.
    let live = run.snapshot();
    let warm_ns = live.client_cpu * ((live.windows.len() as u64 - 1) * WINDOW_NS) as f64;
    run.stop(0);
    let measurement = run.result().unwrap();
    assert!(measurement.interrupted);
    assert_eq!((measurement.measured_ns, measurement.completed), (0, 0));
    assert!(measurement.requests.completed > 2_000);
    // None of that is in the measured phase.
    assert!((measurement.workers[0].cpu_ns as f64) < warm_ns);
}

#[test]
fn dropping_a_run_ends_it() {
    let server = Server::answering(HELLO);
    let more = json!({"stop": {"kind": "duration", "ns": 3_600_000_000_000_u64}});
    let run = Run::start(&plan(&server, 1, 1, more)).unwrap();
    wait_until("requests", || run.snapshot().completed > 0);
    drop(run);
    let seen = server.requests();
    assert_eq!(server.requests(), seen);
}

#[test]
fn think_time_is_kept() {
    let server = Server::answering(HELLO);
    let more = json!({"load": {"kind": "closed", "connections": 2, "think_time_ns": 20_000_000}});
    let measurement = run(&plan(&server, 2, 20, more));
    assert_eq!(measurement.completed, 20);
    // Two connections, ten requests each, nine pauses between them.
    assert!(measurement.measured_ns >= 9 * 20_000_000);
}

#[test]
fn connections_are_dealt_out_to_several_addresses() {
    let first = Server::answering(HELLO);
    let second = Server::answering(HELLO);
    let addresses = [first.address.to_string(), second.address.to_string()];
    let more = json!({"addresses": addresses, "threads": 2});
    let measurement = run(&plan(&first, 6, 600, more));
    assert_eq!(measurement.completed, 600);
    assert_eq!((first.connections(), second.connections()), (3, 3));
}

#[test]
fn ipv6_works() {
    let server = Server::start_at("[::1]:0", |peer| {
        while let Some(request) = peer.request() {
            assert!(request.contains("Host: [::1]:"), "{request}");
            peer.send(HELLO);
        }
    });
    assert_eq!(run(&plan(&server, 2, 20, json!({}))).completed, 20);
}
