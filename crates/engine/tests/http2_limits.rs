//! Limits of HTTP/2 that a server changes under way, against peers that are written frame by frame.

mod support;

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use assay_engine::Measurement;
use assay_http2::frame::{self, HEAD_BYTES, Head, PREFACE, flag, kind, setting};
use serde_json::{Value, json};
use support::{Peer, Server, outcomes, plan, run};

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
fn next(peer: &mut Peer) -> Option<(Head, Vec<u8>)> {
    let mut bytes = [0; HEAD_BYTES];
    peer.stream.read_exact(&mut bytes).ok()?;
    let head = Head::read(&bytes)?;
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
