//! What goes wrong, one way at a time: the right origin and kind, balanced accounting, and the run
//! goes on to its end.

use std::net::TcpListener;

use crate::support::{HELLO, Peer, Server, outcomes, plan, run};
use serde_json::json;

/// Runs 20 requests on 2 connections; every connection is served by `script`.
fn failing(script: impl Fn(&mut Peer) + Send + Sync + 'static) -> Vec<String> {
    let server = Server::start(script);
    outcomes(&run(&plan(
        &server,
        2,
        20,
        json!({"timeout_ns": 5_000_000_000_u64}),
    )))
}

/// The outcome when every request is answered with these bytes and then a close.
fn answered(bytes: &'static [u8]) -> Vec<String> {
    failing(move |peer| {
        if peer.request().is_some() {
            peer.send(bytes);
        }
    })
}

#[test]
fn nobody_listens() {
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let server = Server::answering(HELLO);
    let more = json!({"url": format!("http://{address}")});
    let measurement = run(&plan(&server, 3, 20, more));
    assert_eq!(outcomes(&measurement), ["network/connect_refused: 20"]);
    assert_eq!(measurement.connections.opened, 0);
    assert!(measurement.outcomes[0].example.contains("refused"));
}

fn refused(more: serde_json::Value) -> assay_engine::Measurement {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let server = Server::answering(HELLO);
    let mut plan_of = json!({"url": format!("http://{address}")});
    for (key, value) in more.as_object().unwrap() {
        plan_of[key] = value.clone();
    }
    run(&plan(&server, 4, 4_000, plan_of))
}

#[test]
fn a_plan_that_never_waits_fails_as_fast_as_it_can() {
    // With waits of up to 100 ms these would take 100 seconds.
    let measurement = refused(json!({"retry_wait_max_ns": 0}));
    assert_eq!(outcomes(&measurement), ["network/connect_refused: 4000"]);
    assert!(measurement.measured_ns < 50_000_000_000);
}

#[test]
fn a_connect_that_fails_within_its_call_leaves_room_for_the_time() {
    let more = json!({
        "addresses": ["unix:/no/such/socket"], "retry_wait_max_ns": 0,
        "stop": {"kind": "duration", "ns": 50_000_000},
    });
    let measurement = refused(more);
    assert_eq!(measurement.measured_ns, 50_000_000);
    assert_eq!(measurement.failed, measurement.requests.started);
}

#[test]
fn where_nothing_is_reached_the_run_ends_if_its_plan_says_so() {
    let forever = json!({"kind": "duration", "ns": 3_600_000_000_000_u64});
    for more in [
        json!({"ends_unreached": true, "threads": 2, "stop": forever}),
        json!({"ends_unreached": true, "stop": forever,
            "load": {"kind": "open", "max_connections": 64,
                "stages": [{"duration_ns": 1, "from_per_s": 100, "to_per_s": 100}]}}),
        json!({"ends_unreached": true, "stop": forever, "warmup_max_ns": 3_600_000_000_000_u64}),
        json!({"ends_unreached": true, "stop": forever, "http": "2", "streams": 3}),
    ] {
        let measurement = refused(more);
        assert!(measurement.interrupted);
        assert_eq!(measurement.connections.opened, 0);
    }
}

#[test]
fn one_address_that_is_reached_keeps_the_run_going() {
    let dead = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server::answering(HELLO);
    let addresses = [dead.local_addr().unwrap(), server.address].map(|a| a.to_string());
    drop(dead);
    let measurement = run(&plan(
        &server,
        4,
        200,
        json!({"ends_unreached": true, "addresses": addresses}),
    ));
    assert!(!measurement.interrupted && measurement.completed > 0);
    assert_eq!(measurement.completed + measurement.failed, 200);
}

#[test]
fn closed_before_any_answer() {
    let seen = failing(|peer| drop(peer.request()));
    assert_eq!(seen, ["peer/closed_early: 20"]);
}

#[test]
fn closed_without_a_word_between_two_answers() {
    let server = Server::start(|peer| {
        peer.request();
        peer.send(HELLO);
        peer.request();
    });
    let seen = outcomes(&run(&plan(&server, 1, 20, json!({}))));
    assert_eq!(seen, ["peer/closed_idle: 10"]);
}

#[test]
fn reset_before_the_answer() {
    let seen = failing(|peer| {
        peer.request();
        peer.reset();
    });
    assert_eq!(seen, ["network/reset: 20"]);
}

#[test]
fn reset_inside_the_body() {
    let seen = failing(|peer| {
        peer.request();
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart");
        peer.reset();
    });
    // A reset may overtake the bytes before it, never turn into something else.
    assert_eq!(seen, ["network/reset: 20"]);
}

#[test]
fn closed_inside_the_head() {
    assert_eq!(
        answered(b"HTTP/1.1 200 OK\r\nContent-"),
        ["peer/closed_early: 20"]
    );
}

#[test]
fn closed_inside_the_body() {
    let short = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort";
    assert_eq!(answered(short), ["peer/closed_early: 20"]);
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    assert_eq!(answered(chunked), ["peer/closed_early: 20"]);
}

#[test]
fn answers_that_break_the_protocol() {
    let bad: [&[u8]; 12] = [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 099 Low\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    ];
    for answer in bad {
        assert_eq!(
            answered(answer),
            ["peer/bad_answer: 20"],
            "{}",
            answer.escape_ascii()
        );
    }
}

#[test]
fn a_head_without_end() {
    let seen = failing(|peer| {
        peer.request();
        peer.send(b"HTTP/1.1 200 OK\r\n");
        peer.send(
            [b"X: ", [b'y'; 100].as_slice(), b"\r\n"]
                .concat()
                .repeat(10_000),
        );
    });
    assert_eq!(seen, ["peer/bad_answer: 20"]);
}

#[test]
fn interim_answers_without_end() {
    let seen = failing(|peer| {
        peer.request();
        peer.send(b"HTTP/1.1 100 Continue\r\n\r\n".repeat(30_000));
    });
    assert_eq!(seen, ["peer/bad_answer: 20"]);
}

#[test]
fn what_is_beyond_the_limits_is_named() {
    let beyond = |bytes: Vec<u8>| {
        let server = Server::start(move |peer| {
            peer.request();
            peer.send(&bytes);
        });
        let measurement = run(&plan(&server, 1, 1, json!({})));
        measurement.outcomes[0].example.clone()
    };
    let head = |fields: Vec<u8>| [b"HTTP/1.1 200 OK\r\n".to_vec(), fields].concat();
    let long = head([b"X: ".to_vec(), vec![b'y'; 600_000]].concat());
    assert_eq!(beyond(long), "the head is longer than 512 KiB");
    let many = head([b"A:b\r\n".repeat(9_000), b"\r\n".to_vec()].concat());
    assert_eq!(beyond(many), "the head has more than 8192 fields");
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(30_000);
    assert_eq!(
        beyond(interim),
        "interim answers (1xx) of more than 512 KiB"
    );
}

#[test]
fn what_curl_takes_is_taken() {
    let fields = [b"A: b\r\n".repeat(5_000), vec![b'C'; 1], b": ".to_vec()].concat();
    let long = [fields, vec![b'd'; 260_000], b"\r\n".to_vec()].concat();
    let early = b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000);
    let answer = [
        early,
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n".to_vec(),
        long,
        b"\r\n".to_vec(),
    ];
    let answer = answer.concat();
    let server = Server::start(move |peer| {
        while peer.request().is_some() {
            peer.send(&answer);
        }
    });
    assert_eq!(run(&plan(&server, 1, 5, json!({}))).completed, 5);
}

#[test]
fn hanging_at_any_point_is_a_timeout() {
    let points: [&[u8]; 4] = [
        b"",
        b"HTTP/1.1 200 OK\r\nConte",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
    ];
    for sent in points {
        let server = Server::start(move |peer| {
            peer.request();
            peer.send(sent);
            peer.hang();
        });
        let more = json!({"timeout_ns": 20_000_000});
        let measurement = run(&plan(&server, 4, 8, more));
        assert_eq!(outcomes(&measurement), ["peer/timeout: 8"]);
        assert_eq!(measurement.connections.answered, 0);
    }
}

#[test]
fn one_hanging_request_does_not_hold_up_the_others() {
    let server = Server::start(|peer| {
        if peer.number == 0 {
            peer.request();
            return peer.hang();
        }
        while peer.request().is_some() {
            peer.send(HELLO);
        }
    });
    let measurement = run(&plan(&server, 4, 200, json!({"timeout_ns": 1_000_000_000})));
    assert_eq!(outcomes(&measurement), ["peer/timeout: 1"]);
    assert_eq!(measurement.completed, 199);
}

#[test]
fn a_stop_does_not_wait_for_hanging_requests() {
    let server = Server::start(Peer::hang);
    let more = json!({"stop": {"kind": "duration", "ns": 30_000_000}});
    let measurement = run(&plan(&server, 3, 1, more));
    assert_eq!(measurement.requests.in_flight, 3);
    assert_eq!(measurement.completed + measurement.failed, 0);
}

#[test]
fn a_close_fails_all_that_was_pipelined() {
    let seen = failing_pipelined(|peer| {
        for _ in 0..5 {
            peer.request();
        }
        peer.send(HELLO.repeat(2));
    });
    assert_eq!(seen, ["peer/closed_idle: 12"]);
    let seen = failing_pipelined(|peer| {
        for _ in 0..5 {
            peer.request();
        }
        peer.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    });
    assert_eq!(seen, ["peer/closed_early: 16"]);
}

fn failing_pipelined(script: impl Fn(&mut Peer) + Send + Sync + 'static) -> Vec<String> {
    let server = Server::start(script);
    outcomes(&run(&plan(&server, 1, 20, json!({"pipeline": 5}))))
}

#[test]
fn an_early_answer_counts_and_costs_the_connection() {
    // Answers after a few bytes of a body that it never reads; the rest cannot be sent.
    let server = Server::start(|peer| {
        peer.request_head();
        peer.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
        peer.abandon();
    });
    let body = "x".repeat(20_000_000);
    let more = json!({"requests": [{"method": "POST", "body": body}]});
    let measurement = run(&plan(&server, 1, 3, more));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.statuses["413"], 3);
    assert_eq!(server.connections(), 3);
}
