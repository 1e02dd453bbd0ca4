//! Messages of either side: what they mean, the same however they are cut, and what is wrong with each bad one.

use assay_http3::frame::{self, kind};
use assay_http3::message::{Event, MessageError, Reader, Side};
use assay_http3::{Code, Fault, Heads, StreamFault, qpack};
use proptest::prelude::*;

const ANSWER: Side = Side::Answer { to_head: false };
const HEAD: Side = Side::Answer { to_head: true };
const GET: &[(&str, &str)] = &[(":method", "GET"), (":scheme", "https"), (":path", "/")];

fn headers(fields: &[(&str, &str)]) -> Vec<u8> {
    let (mut block, mut out) = (Vec::new(), Vec::new());
    qpack::encode(
        fields
            .iter()
            .map(|(name, value)| (name.as_bytes(), value.as_bytes())),
        &mut block,
    );
    frame::write(kind::HEADERS, &block, &mut out);
    out
}

fn other(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write(kind, payload, &mut out);
    out
}

fn status(status: &str) -> Vec<u8> {
    headers(&[(":status", status)])
}

/// What the pieces mean: bodies whole, for their pieces are QUIC's; then how it ends.
fn read<'a>(
    side: Side,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<String>, Result<(), MessageError>) {
    let (mut reader, mut heads, mut told, mut body) =
        (Reader::new(side), Heads::default(), Vec::new(), 0);
    for mut input in pieces {
        loop {
            match reader.next(&mut input, &mut heads) {
                Err(broken) => return (told, Err(broken)),
                Ok(None) => break,
                Ok(Some(Event::Body(data))) => body += data.len(),
                Ok(Some(event)) => told.push(format!("{event:?} {}", heads.fields().len())),
            }
        }
        assert!(input.is_empty());
    }
    told.push(format!("{body} bytes"));
    (told, reader.finish())
}

/// The same from all cuts.
fn meant(side: Side, frames: &[Vec<u8>]) -> (Vec<String>, Result<(), MessageError>) {
    let bytes = frames.concat();
    let whole = read(side, [&bytes[..]]);
    assert_eq!(whole, read(side, bytes.chunks(1)));
    for cut in 0..bytes.len() {
        assert_eq!(whole, read(side, [&bytes[..cut], &bytes[cut..]]));
    }
    whole
}

fn fault(side: Side, frames: &[Vec<u8>]) -> MessageError {
    meant(side, frames).1.unwrap_err()
}

#[test]
fn an_answer_with_interim_ones_a_body_and_trailers() {
    let frames = [
        status("103"),
        other(0x21, b"grease"),
        headers(&[(":status", "200"), ("content-length", "9")]),
        other(kind::DATA, b"hello"),
        other(kind::DATA, b""),
        other(kind::DATA, &[b'x'; 4]),
        other(0x40, b""),
        headers(&[("etag", "1")]),
    ];
    let told = ["Answer { status: 200 } 2", "9 bytes"].map(String::from);
    assert_eq!(meant(ANSWER, &frames), (told.to_vec(), Ok(())));
}

#[test]
fn a_request_with_a_body() {
    let post = [
        (":method", "POST"),
        (":scheme", "https"),
        (":authority", "a"),
        (":path", "/"),
        ("content-length", "3"),
    ];
    let told = ["Request 5", "3 bytes"].map(String::from);
    let frames = [
        headers(&post),
        other(kind::DATA, b"abc"),
        headers(&[("a", "b")]),
    ];
    assert_eq!(meant(Side::Request, &frames), (told.to_vec(), Ok(())));
    assert_eq!(meant(Side::Request, &[headers(GET)]).1, Ok(()));
    let connect = headers(&[(":method", "CONNECT"), (":authority", "a:1")]);
    assert_eq!(meant(Side::Request, &[connect]).1, Ok(()));
}

#[test]
fn answers_without_a_body_may_say_how_long_it_would_be() {
    for (side, status) in [(HEAD, "200"), (ANSWER, "304"), (ANSWER, "204")] {
        let head = headers(&[(":status", status), ("content-length", "5")]);
        assert_eq!(meant(side, std::slice::from_ref(&head)).1, Ok(()));
        let broken = fault(side, &[head, other(kind::DATA, b"x")]);
        assert!(matches!(
            broken,
            MessageError::Stream(StreamFault::Malformed(_))
        ));
    }
}

#[test]
fn frames_where_they_must_not_be_break_the_connection() {
    let data = || other(kind::DATA, b"x");
    let trailers = || headers(&[("a", "b")]);
    for (frames, is_told) in [
        (vec![data()], "a frame of type 0x0 before the head"),
        (
            vec![status("200"), trailers(), data()],
            "a frame of type 0x0 behind the trailers",
        ),
        (
            vec![status("200"), trailers(), trailers()],
            "a frame of type 0x1 behind the trailers",
        ),
        (
            vec![other(kind::SETTINGS, b"")],
            "a frame of type 0x4 on a request's stream",
        ),
        (
            vec![other(kind::GOAWAY, b"\0")],
            "a frame of type 0x7 on a request's stream",
        ),
        (vec![other(0x8, b"")], "a frame of type 0x8 of HTTP/2"),
    ] {
        let broken = fault(ANSWER, &frames);
        assert_eq!(broken.to_string(), is_told);
        let MessageError::Connection(fault) = broken else {
            panic!("{broken:?}")
        };
        assert_eq!(fault.code(), Code::FRAME_UNEXPECTED);
    }
    let push = [other(kind::PUSH_PROMISE, b"\0\0\0")];
    assert_eq!(fault(ANSWER, &push), MessageError::Connection(Fault::Push));
    assert_eq!(Fault::Push.code(), Code::ID_ERROR);
    let from_client = fault(Side::Request, &push);
    assert_eq!(from_client.to_string(), "a frame of type 0x5 from a client");
}

#[test]
fn a_stream_that_ends_too_early() {
    let cut = &status("200")[..4];
    assert_eq!(
        fault(ANSWER, &[cut.to_vec()]),
        MessageError::Connection(Fault::CutShort)
    );
    assert_eq!(
        fault(ANSWER, &[b"\x40".to_vec()]),
        MessageError::Connection(Fault::CutShort)
    );
    assert_eq!(
        fault(ANSWER, &[status("200"), b"\0\x05ab".to_vec()]),
        MessageError::Connection(Fault::CutShort)
    );
    for frames in [vec![], vec![status("100")], vec![other(0x21, b"x")]] {
        let broken = fault(ANSWER, &frames);
        assert_eq!(broken, MessageError::Stream(StreamFault::Incomplete));
    }
    assert_eq!(StreamFault::Incomplete.code(), Code::REQUEST_INCOMPLETE);
}

#[test]
fn malformed_messages_are_faults_of_their_stream() {
    let five = || headers(&[(":status", "200"), ("content-length", "5")]);
    for (side, frames, why) in [
        (ANSWER, vec![five()], "less body than content-length says"),
        (
            ANSWER,
            vec![five(), other(0, b"123456")],
            "more body than content-length says, or its status allows",
        ),
        (ANSWER, vec![headers(&[("a", "b")])], "no :status"),
        (ANSWER, vec![status("200"), status("200")], "a second head"),
        (
            ANSWER,
            vec![status("101")],
            "101 Switching Protocols, which HTTP/3 has not",
        ),
        (
            ANSWER,
            vec![status("20")],
            "a :status that is no number of three digits",
        ),
        (
            ANSWER,
            vec![headers(&[(":status", "200"), ("connection", "close")])],
            "a field that speaks of a connection",
        ),
        (
            Side::Request,
            vec![status("200")],
            "a pseudo-header that requests do not have",
        ),
        (
            Side::Request,
            vec![headers(&GET[..2])],
            "a request without :method, :scheme or :path",
        ),
        (
            Side::Request,
            vec![headers(&[GET[0], GET[0]])],
            "a pseudo-header twice or behind a regular field",
        ),
        (
            Side::Request,
            vec![headers(GET), headers(GET)],
            "a second head",
        ),
    ] {
        let malformed = StreamFault::Malformed(why);
        assert_eq!(fault(side, &frames), MessageError::Stream(malformed));
        assert_eq!(malformed.code(), Code::MESSAGE_ERROR);
    }
}

#[test]
fn what_means_nothing_has_a_bound() {
    let empty = other(0x21, b"").repeat(600_000);
    let long = {
        let mut out = Vec::new();
        frame::write_head(0x21, 1 << 40, &mut out);
        out
    };
    for bytes in [empty, long] {
        let (_, ended) = read(ANSWER, [&bytes[..]]);
        let Err(MessageError::Connection(fault)) = ended else {
            panic!("{ended:?}")
        };
        assert_eq!(fault.code(), Code::EXCESSIVE_LOAD);
    }
    let bytes = [status("200"), other(kind::DATA, b"").repeat(600_000)].concat();
    assert!(matches!(
        read(ANSWER, [&bytes[..]]).1,
        Err(MessageError::Connection(Fault::Flood(_)))
    ));
    let interim = headers(&[(":status", "103"), ("a", &"x".repeat(60_000))]).repeat(20);
    assert!(matches!(
        read(ANSWER, [&interim[..]]).1,
        Err(MessageError::Stream(StreamFault::TooManyInterim(_)))
    ));
    let mut head = Vec::new();
    frame::write_head(kind::HEADERS, 1 << 30, &mut head);
    let Err(MessageError::Connection(fault)) = read(ANSWER, [&head[..]]).1 else {
        panic!("it waits for a gigabyte")
    };
    assert_eq!(fault.code(), Code::EXCESSIVE_LOAD);
}

proptest! {
    #[test]
    fn any_bytes_mean_the_same_however_they_are_cut(bytes: Vec<u8>, first in 0_u8..3, at: prop::sample::Index) {
        let side = [ANSWER, HEAD, Side::Request][usize::from(first)];
        let whole = read(side, [&bytes[..]]);
        prop_assert_eq!(&whole, &read(side, bytes.chunks(1)));
        let cut = at.index(bytes.len() + 1);
        prop_assert_eq!(&whole, &read(side, [&bytes[..cut], &bytes[cut..]]));
    }
}

#[test]
fn a_head_that_comes_again_is_known_and_another_is_not() {
    let (mut heads, mut seen) = (Heads::default(), Vec::new());
    let malformed = headers(&[("a", "b")]);
    for message in [
        status("200"),
        status("200"),
        malformed,
        status("200"),
        status("404"),
    ] {
        let mut reader = Reader::new(Side::Answer { to_head: false });
        let event = reader.next(&mut &message[..], &mut heads);
        let status = match event {
            Ok(Some(Event::Answer { status })) => status,
            _ => 0,
        };
        seen.push((status, heads.changes()));
    }
    assert_eq!(seen, [(200, 1), (200, 1), (0, 2), (200, 3), (404, 4)]);
    let fields: Vec<_> = heads.fields().iter().collect();
    assert_eq!(fields, [(&b":status"[..], &b"404"[..])]);
}

#[test]
fn a_block_that_cannot_be_read_leaves_nothing_that_would_be_taken_for_it() {
    let mut heads = Heads::default();
    let mut broken = Vec::new();
    frame::write(kind::HEADERS, &[0, 0, 0xff], &mut broken);
    for _ in 0..2 {
        let mut reader = Reader::new(Side::Answer { to_head: false });
        assert!(reader.next(&mut &broken[..], &mut heads).is_err());
    }
}
