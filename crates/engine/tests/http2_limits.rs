//! Limits of HTTP/2 that a server changes under way, against peers that are written frame by frame.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::http2::{BODY, answering, serve_with};
use crate::support::{Peer, Server, outcomes, plan, run};
use assay_engine::Measurement;
use assay_http2::frame::{self, Code, FrameHeader, HEAD_BYTES, PREFACE, flag, kind, setting};
use serde_json::{Value, json};

/// `:status: 200` without a body, by the static table.
const OK: &[u8] = &[0x88];

fn http2(server: &Server, streams: u32, count: u64, more: Value) -> Measurement {
    let mut fields = json!({"http": "2", "streams": streams});
    for (key, value) in more.as_object().unwrap() {
        fields[key] = value.clone();
    }
    run(&plan(server, 1, count, fields))
}

/// Takes the preface; false where the client has gone.
fn greeted(peer: &mut Peer) -> bool {
    let mut preface = [0; PREFACE.len()];
    peer.stream.read_exact(&mut preface).is_ok()
}

/// The client's next frame; None once it has gone.
fn next(peer: &mut Peer) -> Option<(FrameHeader, Vec<u8>)> {
    let mut bytes = [0; HEAD_BYTES];
    peer.stream.read_exact(&mut bytes).ok()?;
    let head = FrameHeader::read(&bytes)?;
    let mut payload = vec![0; head.length];
    peer.stream.read_exact(&mut payload).ok()?;
    Some((head, payload))
}

fn send(peer: &mut Peer, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let mut out = Vec::new();
    frame::write(kind, flags, stream, payload, &mut out);
    peer.send(out);
}

fn settings(peer: &mut Peer, settings: &[(u16, u32)]) {
    let mut out = Vec::new();
    frame::write_settings(settings, &mut out);
    peer.send(out);
}

/// How much of the body of stream 1 comes before the client answers a PING: all that it may send.
fn sent_until_ping(peer: &mut Peer) -> usize {
    send(peer, kind::PING, 0, 0, &[7; 8]);
    let mut bytes = 0;
    while let Some((head, payload)) = next(peer) {
        match head.kind {
            kind::PING => return bytes,
            kind::DATA => bytes += payload.len(),
            _ => {}
        }
    }
    bytes
}

#[test]
fn a_window_below_zero_is_made_up_for_before_anything_is_sent() {
    let seen: Arc<[AtomicUsize; 4]> = Arc::default();
    let sees = Arc::clone(&seen);
    let server = Server::start(move |peer| {
        if !greeted(peer) {
            return;
        }
        // As much as the windows allow before the client has heard of ours.
        settings(peer, &[]);
        sees[0].store(sent_until_ping(peer), SeqCst);
        settings(peer, &[(setting::INITIAL_WINDOW_SIZE, 10)]);
        send(
            peer,
            kind::WINDOW_UPDATE,
            0,
            0,
            &1_000_000_u32.to_be_bytes(),
        );
        sees[1].store(sent_until_ping(peer), SeqCst);
        let missing = 65_535_u32 - 10 + 5;
        send(peer, kind::WINDOW_UPDATE, 0, 1, &missing.to_be_bytes());
        sees[2].store(sent_until_ping(peer), SeqCst);
        send(
            peer,
            kind::WINDOW_UPDATE,
            0,
            1,
            &1_000_000_u32.to_be_bytes(),
        );
        sees[3].store(sent_until_ping(peer), SeqCst);
        send(
            peer,
            kind::HEADERS,
            flag::END_HEADERS | flag::END_STREAM,
            1,
            OK,
        );
        peer.hang();
    });
    let body = "x".repeat(100_000);
    let more = json!({"requests": [{"method": "POST", "body": body}]});
    let measured = http2(&server, 1, 1, more);
    assert_eq!((measured.completed, measured.failed), (1, 0));
    let seen: Vec<usize> = seen.iter().map(|bytes| bytes.load(SeqCst)).collect();
    assert_eq!(seen, [65_535, 0, 5, 100_000 - 65_540]);
    let http2 = measured.http2.unwrap();
    assert!(
        http2.window_stalls > 0 && http2.window_stall_ns > 0,
        "{http2:?}"
    );
}

#[test]
fn a_limit_of_streams_that_falls_is_kept_to() {
    let most: Arc<[AtomicU64; 2]> = Arc::default();
    let sees = Arc::clone(&most);
    let server = Server::start(move |peer| {
        if !greeted(peer) {
            return;
        }
        settings(peer, &[(setting::MAX_CONCURRENT_STREAMS, 4)]);
        let (mut open, mut acknowledged, mut told) = (Vec::new(), 0, false);
        while let Some((head, _)) = next(peer) {
            match head.kind {
                kind::HEADERS => {
                    open.push(head.stream);
                    let phase = &sees[usize::from(acknowledged >= 2)];
                    phase.fetch_max(open.len() as u64, SeqCst);
                }
                kind::SETTINGS if head.has(flag::ACK) => acknowledged += 1,
                _ => {}
            }
            if open.len() == 4 && !told {
                told = true;
                settings(peer, &[(setting::MAX_CONCURRENT_STREAMS, 1)]);
            }
            // All four stay open until the client knows that they are too many.
            if acknowledged >= 2 {
                for stream in open.drain(..) {
                    send(
                        peer,
                        kind::HEADERS,
                        flag::END_HEADERS | flag::END_STREAM,
                        stream,
                        OK,
                    );
                }
            }
        }
    });
    let measured = http2(&server, 4, 40, json!({}));
    assert_eq!(
        (measured.completed, measured.failed),
        (40, 0),
        "{:?}",
        outcomes(&measured)
    );
    assert_eq!(most[0].load(SeqCst), 4);
    assert_eq!(most[1].load(SeqCst), 1, "after it was told");
    let http2 = measured.http2.unwrap();
    assert_eq!(http2.streams_allowed, Some(1));
    assert!(
        http2.stream_waits > 0 && http2.stream_wait_ns > 0,
        "{http2:?}"
    );
    assert_eq!(
        measured.connections.opened, 1,
        "that is no reason for another"
    );
}

#[test]
fn what_waits_for_room_to_write_goes_on_once_that_is_written() {
    const STREAMS: u32 = 10;
    let server = Server::start(|peer| {
        if !greeted(peer) {
            return;
        }
        let mut out = Vec::new();
        frame::write_settings(&[(setting::INITIAL_WINDOW_SIZE, 1 << 20)], &mut out);
        frame::write_window(0, 1 << 30, &mut out);
        peer.send(out);
        // Until all have come the client hears nothing that could let the rest go on.
        let mut whole = Vec::new();
        while let Some((head, _)) = next(peer) {
            if head.kind == kind::DATA && head.has(flag::END_STREAM) {
                whole.push(head.stream);
            }
            if whole.len() == STREAMS as usize {
                for stream in whole.drain(..) {
                    let ends = flag::END_HEADERS | flag::END_STREAM;
                    send(peer, kind::HEADERS, ends, stream, OK);
                }
            }
        }
    });
    let body = "x".repeat(300_000);
    let more =
        json!({"timeout_ns": 20_000_000_000_u64, "requests": [{"method": "POST", "body": body}]});
    let measured = http2(&server, STREAMS, u64::from(STREAMS), more);
    assert_eq!(outcomes(&measured), [""; 0]);
    assert_eq!(measured.completed, u64::from(STREAMS));
}

#[test]
fn without_settings_all_that_waits_times_out() {
    let server = Server::start(Peer::hang);
    let measured = http2(&server, 10, 10, json!({"timeout_ns": 150_000_000}));
    assert_eq!(outcomes(&measured), ["peer/timeout: 10"]);
    let example = &measured.outcomes[0].example;
    assert!(example.contains("never sent SETTINGS"), "{example}");
}

#[test]
fn what_waits_behind_a_request_that_fails_is_sent_on_another_connection() {
    let server = Server::start(|peer| {
        serve_with(peer, 100, &|_| {}, |_, stream, out| {
            frame::write_reset(stream, Code::INTERNAL_ERROR, out);
            true
        });
    });
    let more = json!({"requests_per_connection": 1, "retry_wait_max_ns": 0});
    let measured = http2(&server, 3, 12, more);
    assert_eq!(outcomes(&measured), ["peer/stream_reset: 12"]);
}

#[test]
fn what_waits_on_a_connection_that_breaks_is_sent_on_another_one_if_it_had_served() {
    // Of each connection the first request is answered, and the second one breaks it.
    let server = Server::start(|peer| {
        let mut is_first = true;
        serve_with(peer, 1, &|_| {}, |server, stream, out| {
            server.answer(stream, OK, &BODY.into(), out);
            if !is_first {
                out.clear();
            }
            std::mem::take(&mut is_first)
        });
    });
    let measured = http2(&server, 3, 10, json!({"retry_wait_max_ns": 0}));
    assert_eq!((measured.completed, measured.failed), (5, 5));
    assert_eq!(server.connections(), 5);
}

#[test]
fn a_request_that_is_given_up_is_cancelled_and_the_connection_goes_on() {
    let (tell, cancelled) = mpsc::channel();
    let server = Server::start(move |peer| {
        if !greeted(peer) {
            return;
        }
        settings(peer, &[]);
        while let Some((head, payload)) = next(peer) {
            match (head.kind, head.stream) {
                // No answer, and yet a sign of life.
                (kind::HEADERS, 1) => send(peer, kind::PING, 0, 0, &[7; 8]),
                (kind::HEADERS, stream) => {
                    let ends = flag::END_HEADERS | flag::END_STREAM;
                    send(peer, kind::HEADERS, ends, stream, OK);
                }
                (kind::RST_STREAM, stream) => tell.send((stream, payload)).unwrap(),
                _ => {}
            }
        }
    });
    let more = json!({"timeout_ns": 1_000_000_000, "retry_wait_max_ns": 0});
    let measured = http2(&server, 1, 3, more);
    assert_eq!(outcomes(&measured), ["peer/timeout: 1"]);
    assert_eq!((measured.completed, server.connections()), (2, 1));
    // RFC 9113, 7: CANCEL is 8.
    assert!(cancelled.try_iter().eq([(1, vec![0, 0, 0, 8])]));
}

#[test]
fn a_connection_on_which_nothing_was_heard_until_the_timeout_takes_no_more() {
    let is_first = AtomicBool::new(true);
    let server = Server::start(move |peer| {
        if !is_first.swap(false, SeqCst) {
            return serve_with(peer, 100, &|_| {}, |server, stream, out| {
                server.answer(stream, OK, &BODY.into(), out);
                true
            });
        }
        if !greeted(peer) {
            return;
        }
        // The first request may be under way before the client hears of this, the second one may not.
        settings(peer, &[]);
        while next(peer).is_some_and(|(head, _)| head.kind != kind::HEADERS) {}
        let ends = flag::END_HEADERS | flag::END_STREAM;
        send(peer, kind::HEADERS, ends, 1, OK);
        peer.hang();
    });
    let more = json!({"timeout_ns": 1_000_000_000, "retry_wait_max_ns": 0});
    let measured = http2(&server, 1, 4, more);
    assert_eq!(outcomes(&measured), ["peer/timeout: 1"]);
    assert_eq!((measured.completed, server.connections()), (3, 2));
}

#[test]
fn nothing_waits_for_longer_than_the_timeout_however_many_connections_are_opened() {
    // Each connection carries one request, and the server takes its time for that.
    let server = answering(100, |_| thread::sleep(Duration::from_millis(20)));
    let more = json!({"requests_per_connection": 1, "timeout_ns": 400_000_000});
    let measured = http2(&server, 60, 60, more);
    assert_eq!(measured.completed + measured.failed, 60);
    let kinds: Vec<&str> = (measured.outcomes.iter())
        .map(|outcome| &*outcome.kind)
        .collect();
    assert_eq!(kinds, ["timeout"]);
}

#[test]
fn waits_that_the_end_cuts_short_count_as_far_as_they_have_come() {
    // One stream at once, and no more of its body than was under way; no answer.
    let server = Server::start(|peer| {
        if greeted(peer) {
            let limits = [
                (setting::MAX_CONCURRENT_STREAMS, 1),
                (setting::INITIAL_WINDOW_SIZE, 0),
            ];
            settings(peer, &limits);
            peer.hang();
        }
    });
    let body = "x".repeat(100_000);
    let requests = json!([{"method": "POST", "body": body}]);
    let stop = json!({"kind": "duration", "ns": 200_000_000});
    for warmup_max_ns in [0, 100_000_000] {
        let more = json!({"stop": stop, "requests": requests, "warmup_max_ns": warmup_max_ns});
        let measured = http2(&server, 3, 1, more);
        let (all_ns, http2) = (measured.measured_ns, measured.http2.unwrap());
        assert_eq!((http2.window_stalls, http2.stream_waits), (1, 2));
        let stalled = 1..=all_ns;
        let waited = 1..=2 * all_ns;
        assert!(stalled.contains(&http2.window_stall_ns), "{http2:?}");
        assert!(waited.contains(&http2.stream_wait_ns), "{http2:?}");
    }
}

#[test]
fn a_server_that_asks_and_asks_and_reads_nothing_is_given_up() {
    let server = Server::start(|peer| {
        if !greeted(peer) {
            return;
        }
        settings(peer, &[]);
        while next(peer).is_some_and(|(head, _)| head.kind != kind::HEADERS) {}
        send(peer, kind::HEADERS, flag::END_HEADERS, 1, OK);
        let mut asked = Vec::new();
        for _ in 0..9_000 {
            frame::write(kind::PING, 0, 0, &[7; 8], &mut asked);
        }
        // So that none of them was too many without an answer.
        frame::write(kind::DATA, 0, 1, b"x", &mut asked);
        while peer.stream.write_all(&asked).is_ok() {}
    });
    let measured = http2(&server, 1, 1, json!({"timeout_ns": 10_000_000_000_u64}));
    assert_eq!(outcomes(&measured), ["peer/protocol_error: 1"]);
    let faults = measured.http2.unwrap().faults;
    assert_eq!(faults, [("open: ENHANCE_YOUR_CALM".to_owned(), 1)].into());
}
