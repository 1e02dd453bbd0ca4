//! Requests that the protocol says were not processed are sent again, as the same requests.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use crate::support::http2::{BODY, serve, serve_with};
use crate::support::http3::{BODY as BODY3, http3};
use crate::support::quic::{Allows, Peer as Quic};
use crate::support::{HELLO, Peer, Server, outcomes, plan, run};
use assay_engine::Measurement;
use assay_http2::frame::{self, Code};
use serde_json::{Value, json};

const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";

/// Runs `count` requests on one connection, sent again where that is right.
fn resending(server: &Server, count: u64, more: &Value) -> Measurement {
    let mut fields = json!({"resend": true});
    for (key, value) in more.as_object().unwrap() {
        fields[key] = value.clone();
    }
    let measured = run(&plan(server, 1, count, fields));
    let accounting = measured.requests;
    assert_eq!(
        accounting.started,
        accounting.completed + accounting.failed + accounting.in_flight
    );
    assert_eq!(
        accounting.started, count,
        "what is sent again is no new request"
    );
    measured
}

/// A server that answers once on each connection and ends it by `end` as the next request comes.
fn once_a_connection(end: fn(&mut Peer)) -> Server {
    Server::start(move |peer| {
        // An answer to HEAD has no body.
        let is_head = peer
            .request()
            .is_some_and(|request| request.starts_with("HEAD "));
        peer.send(&HELLO[..HELLO.len() - if is_head { 5 } else { 0 }]);
        if peer.request().is_some() {
            end(peer);
        }
    })
}

#[test]
fn an_idle_connection_that_ends_as_a_request_leaves_fails_no_idempotent_request() {
    for end in [|_: &mut Peer| {}, Peer::reset] {
        for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"] {
            let server = once_a_connection(end);
            let more = json!({"requests": [{"method": method, "target": "/x"}]});
            let measured = resending(&server, 20, &more);
            assert_eq!(outcomes(&measured), Vec::<String>::new(), "{method}");
            assert_eq!((measured.completed, measured.resent), (20, 19), "{method}");
            assert_eq!(server.requests(), 39);
        }
        for method in ["POST", "PATCH", "get", "X"] {
            let server = once_a_connection(end);
            let more = json!({"requests": [{"method": method}]});
            let measured = resending(&server, 20, &more);
            assert_eq!((measured.completed, measured.failed), (10, 10), "{method}");
            assert_eq!(measured.resent, 0, "{method}");
        }
    }
}

#[test]
fn what_a_server_may_have_begun_to_process_is_not_sent_again() {
    type Script = fn(&mut Peer);
    let scripts: [(&str, Script, &str); 5] = [
        (
            "on a new connection",
            |peer| drop(peer.request()),
            "peer/closed_early: 6",
        ),
        (
            "with a byte of its answer",
            |peer| {
                peer.request();
                peer.send(HELLO);
                peer.request();
                peer.send(b"H");
            },
            "peer/closed_early: 3",
        ),
        (
            "with an interim answer",
            |peer| {
                peer.request();
                peer.send(HELLO);
                peer.request();
                peer.send(b"HTTP/1.1 103 Early Hints\r\n\r\n");
            },
            "peer/closed_early: 3",
        ),
        (
            "with bytes that begin no answer",
            |peer| {
                peer.request();
                peer.send(HELLO);
                peer.request();
                peer.send(b"oops");
            },
            "peer/bad_answer: 3",
        ),
        (
            "inside its answer",
            |peer| {
                peer.request();
                peer.send(HELLO);
                peer.request();
                peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
            },
            "peer/closed_early: 3",
        ),
    ];
    for (when, script, expected) in scripts {
        let server = Server::start(script);
        let measured = resending(&server, 6, &json!({}));
        assert_eq!(outcomes(&measured), [expected], "{when}");
        assert_eq!(measured.resent, 0, "{when}");
    }
}

#[test]
fn without_being_asked_for_nothing_is_sent_again() {
    let server = once_a_connection(|_| {});
    let measured = run(&plan(&server, 1, 20, json!({})));
    assert_eq!(outcomes(&measured), ["peer/closed_idle: 10"]);
    assert_eq!(measured.resent, 0);
}

#[test]
fn what_was_pipelined_behind_an_announced_close_is_sent_again() {
    let plans = [
        json!({}),
        json!({"requests": [{"target": "/a"}, {"target": "/b/c", "headers": [["X", "y"]]}]}),
        json!({"requests": [{"target": "/{counter}", "method": "PUT", "body": "{counter}", "templated": true}]}),
    ];
    for more in plans {
        // Each connection answers two of what it was sent and announces its end with the second.
        let server = Server::start(|peer| {
            peer.request();
            peer.send(HELLO);
            peer.request();
            peer.send(LAST);
            peer.end_sending();
            peer.hang();
        });
        let mut more = more;
        more["pipeline"] = json!(5);
        let measured = resending(&server, 20, &more);
        assert_eq!(outcomes(&measured), Vec::<String>::new(), "{more}");
        // Of the first five three are left, then one; of the next five, behind that one, four, then two.
        let resent = 2 * (3 + 1 + 4 + 2);
        assert_eq!(
            (measured.completed, measured.resent),
            (20, resent),
            "{more}"
        );
        assert_eq!(server.connections(), 2 * 5);
    }
}

#[test]
fn each_of_what_was_pipelined_is_answered_once() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let sees = std::sync::Arc::clone(&seen);
    let server = Server::start(move |peer| {
        let request = peer.request().unwrap_or_default();
        sees.lock()
            .unwrap()
            .push(request.split(' ').nth(1).unwrap_or_default().to_owned());
        peer.send(LAST);
        peer.end_sending();
        peer.hang();
    });
    let requests = json!([{"target": "/{counter}", "templated": true}]);
    let measured = resending(&server, 12, &json!({"pipeline": 4, "requests": requests}));
    assert_eq!(measured.completed, 12);
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_by_key(|path| path[1..].parse::<u64>().unwrap());
    let each: Vec<String> = (0..12).map(|number| format!("/{number}")).collect();
    assert_eq!(seen, each);
}

#[test]
fn posts_behind_an_announced_close_are_not_sent_again() {
    let server = Server::start(|peer| {
        peer.request();
        peer.send(LAST);
        peer.end_sending();
        peer.hang();
    });
    let more = json!({"pipeline": 5, "requests": [{"method": "POST"}]});
    let measured = resending(&server, 20, &more);
    assert_eq!(outcomes(&measured), ["peer/closed_early: 16"]);
}

#[test]
fn its_times_begin_with_its_first_send() {
    const HELD: Duration = Duration::from_millis(30);
    let server = Server::start(|peer| {
        peer.request();
        peer.send(HELLO);
        if peer.request().is_some() {
            // As long as the client waits in vain: its request's time.
            std::thread::sleep(HELD);
        }
    });
    let load = json!({"kind": "open", "max_connections": 1, "pacer": "sleep",
        "stages": [{"duration_ns": 1_000_000_000, "from_per_s": 1000.0, "to_per_s": 1000.0}]});
    for more in [json!({}), json!({"load": load})] {
        let measured = resending(&server, 2, &more);
        assert_eq!((measured.completed, measured.resent), (2, 1));
        assert!(measured.service_time.max_ns >= HELD.as_nanos() as u64);
        if let (Some(response), Some(lag)) = (measured.response_time, measured.send_lag) {
            assert!(response.max_ns >= HELD.as_nanos() as u64);
            assert_eq!(lag.count, 2, "one lag a request");
        }
    }
}

#[test]
fn streams_beyond_a_goaway_are_sent_again_on_another_connection() {
    for streams in [1, 4, 100] {
        let server = Server::start(|peer| serve(peer, 1_000, 50, &|_| {}));
        let more = json!({"http": "2", "streams": streams});
        let measured = resending(&server, 1_000, &more);
        assert_eq!(outcomes(&measured), Vec::<String>::new(), "{streams}");
        assert_eq!(measured.completed, 1_000);
        assert!(measured.resent > 0);
        assert!(measured.connections.reopened >= 19);
    }
}

#[test]
fn refused_streams_are_sent_again_so_often() {
    static STREAMS: AtomicU64 = AtomicU64::new(0);
    // Refuses every other stream. For the one that keeps count, they stay open.
    let server = Server::start(|peer| {
        serve_with(peer, 1_000, &|_| {}, |server, stream, out| {
            match STREAMS.fetch_add(1, SeqCst) % 2 {
                0 => frame::write_reset(stream, Code::REFUSED_STREAM, out),
                _ => server.answer(stream, b"\x88", &BODY.into(), out),
            }
            true
        });
    });
    let more = json!({"http": "2", "streams": 1});
    let measured = resending(&server, 100, &more);
    assert_eq!(outcomes(&measured), Vec::<String>::new());
    assert_eq!((measured.completed, measured.resent), (100, 100));
    assert_eq!(measured.connections.reopened, 0);
}

#[test]
fn a_server_that_refuses_everything_fails_each_request_once() {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let server = Server::start(|peer| {
        serve_with(peer, 100, &|_| {}, |_, stream, out| {
            ASKED.fetch_add(1, SeqCst);
            frame::write_reset(stream, Code::REFUSED_STREAM, out);
            true
        });
    });
    let more = json!({"http": "2", "streams": 3, "retry_wait_max_ns": 0});
    let measured = resending(&server, 10, &more);
    assert_eq!(outcomes(&measured), ["peer/unprocessed: 10"]);
    assert_eq!(measured.resent, 10 * 8, "there is an end to it");
    assert_eq!(ASKED.load(SeqCst), 10 * 9);
}

#[test]
fn a_server_that_goes_away_at_once_fails_each_request_once() {
    let server = Server::start(|peer| {
        serve_with(peer, 100, &|_| {}, |_, _, out| {
            frame::write_goaway(0, Code::NO_ERROR, "", out);
            false
        });
    });
    let more = json!({"http": "2", "streams": 3, "retry_wait_max_ns": 0});
    let measured = resending(&server, 9, &more);
    assert_eq!(measured.completed, 0);
    assert_eq!(measured.failed, 9);
    assert!(measured.resent <= 9 * 8);
}

#[test]
fn over_http3_what_is_rejected_or_beyond_a_goaway_is_sent_again() {
    let going = Quic::start(Allows::default(), |asked| match asked.number() {
        0..10 => asked.answer(BODY3),
        10 => asked.go_away(40),
        _ => {}
    });
    let measured = http3(&going.url(), 1, 4, 60, json!({"resend": true}));
    assert_eq!(outcomes(&measured), Vec::<String>::new());
    assert_eq!((measured.completed, measured.requests.started), (60, 60));
    assert!(measured.resent > 0 && measured.connections.reopened > 0);

    let rejecting = Quic::start(Allows::default(), |asked| match asked.number() % 2 {
        0 => asked.reset(0x10b),
        _ => asked.answer(BODY3),
    });
    let measured = http3(&rejecting.url(), 1, 1, 20, json!({"resend": true}));
    assert_eq!(outcomes(&measured), Vec::<String>::new());
    assert_eq!((measured.completed, measured.resent), (20, 20));
}
