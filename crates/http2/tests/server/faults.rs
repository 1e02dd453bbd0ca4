//! What a client can do wrong to a whole connection.

use crate::guest::{BLOCK, ENDED, GET, Guest, OPEN, POST, Said};
use assay_http2::frame::{self, Code, flag, kind};
use assay_http2::hpack::HpackError;
use assay_http2::{Fault, MOST_UNSENT_ACKS};

/// What it is, then type, flags, stream and payload of the frame.
type Break = (&'static str, u8, u8, u32, &'static [u8], Code);

/// What ends the connection, with the code that the client is told. Stream 3 is open, 1 was left out, 5 is idle.
#[rustfmt::skip]
const BREAKS: [Break; 44] = [
    ("DATA on the connection", kind::DATA, 0, 0, b"x", Code::PROTOCOL_ERROR),
    ("DATA before its stream", kind::DATA, 0, 5, b"x", Code::PROTOCOL_ERROR),
    ("DATA on a stream left out", kind::DATA, 0, 1, b"x", Code::PROTOCOL_ERROR),
    ("DATA on a stream of ours", kind::DATA, 0, 2, b"x", Code::PROTOCOL_ERROR),
    ("too much padding", kind::DATA, flag::PADDED, 3, &[5, 0, 0], Code::PROTOCOL_ERROR),
    ("padding of nothing", kind::DATA, flag::PADDED, 3, &[], Code::PROTOCOL_ERROR),
    ("too long a frame", kind::DATA, 0, 3, &[0; 16_385], Code::FRAME_SIZE_ERROR),
    ("HEADERS on the connection", kind::HEADERS, ENDED, 0, BLOCK, Code::PROTOCOL_ERROR),
    ("HEADERS on a stream of ours", kind::HEADERS, ENDED, 2, BLOCK, Code::PROTOCOL_ERROR),
    ("HEADERS on a stream left out", kind::HEADERS, ENDED, 1, BLOCK, Code::PROTOCOL_ERROR),
    ("a head of padding only", kind::HEADERS, ENDED | flag::PADDED, 5, &[9, 0x82], Code::PROTOCOL_ERROR),
    ("a head too short for its priority", kind::HEADERS, ENDED | flag::PRIORITY, 5, &[0; 4], Code::FRAME_SIZE_ERROR),
    ("a block that HPACK does not know", kind::HEADERS, ENDED, 5, &[0x80], Code::COMPRESSION_ERROR),
    ("a literal without its text", kind::HEADERS, ENDED, 5, &[0x40], Code::COMPRESSION_ERROR),
    ("a table size behind a field", kind::HEADERS, ENDED, 5, &[0x82, 0x21], Code::COMPRESSION_ERROR),
    ("CONTINUATION of nothing", kind::CONTINUATION, flag::END_HEADERS, 3, BLOCK, Code::PROTOCOL_ERROR),
    ("PRIORITY on the connection", kind::PRIORITY, 0, 0, &[0; 5], Code::PROTOCOL_ERROR),
    ("PRIORITY of four bytes", kind::PRIORITY, 0, 3, &[0; 4], Code::FRAME_SIZE_ERROR),
    ("PRIORITY on itself", kind::PRIORITY, 0, 5, &[0x80, 0, 0, 5, 9], Code::PROTOCOL_ERROR),
    ("RST_STREAM of no stream", kind::RST_STREAM, 0, 0, &[0; 4], Code::PROTOCOL_ERROR),
    ("RST_STREAM before its stream", kind::RST_STREAM, 0, 5, &[0; 4], Code::PROTOCOL_ERROR),
    ("a short RST_STREAM", kind::RST_STREAM, 0, 3, &[0; 3], Code::FRAME_SIZE_ERROR),
    ("SETTINGS on a stream", kind::SETTINGS, 0, 3, &[], Code::PROTOCOL_ERROR),
    ("SETTINGS of five bytes", kind::SETTINGS, 0, 0, &[0; 5], Code::FRAME_SIZE_ERROR),
    ("an ACK that says more", kind::SETTINGS, flag::ACK, 0, &[0; 6], Code::FRAME_SIZE_ERROR),
    ("a push that is neither on nor off", kind::SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 2], Code::PROTOCOL_ERROR),
    ("too large a window", kind::SETTINGS, 0, 0, &[0, 4, 0x80, 0, 0, 0], Code::FLOW_CONTROL_ERROR),
    ("too small frames", kind::SETTINGS, 0, 0, &[0, 5, 0, 0, 0x3f, 0xff], Code::PROTOCOL_ERROR),
    ("too large frames", kind::SETTINGS, 0, 0, &[0, 5, 1, 0, 0, 0], Code::PROTOCOL_ERROR),
    ("a push", kind::PUSH_PROMISE, flag::END_HEADERS, 3, &[0, 0, 0, 2, 0x82], Code::PROTOCOL_ERROR),
    ("PING on a stream", kind::PING, 0, 3, &[0; 8], Code::PROTOCOL_ERROR),
    ("PING of six bytes", kind::PING, 0, 0, &[0; 6], Code::FRAME_SIZE_ERROR),
    ("PING of six bytes on a stream", kind::PING, 0, 3, &[0; 6], Code::FRAME_SIZE_ERROR),
    ("GOAWAY on a stream", kind::GOAWAY, 0, 3, &[0; 8], Code::PROTOCOL_ERROR),
    ("GOAWAY of seven bytes", kind::GOAWAY, 0, 0, &[0; 7], Code::FRAME_SIZE_ERROR),
    ("a window raised by 0", kind::WINDOW_UPDATE, 0, 0, &[0; 4], Code::PROTOCOL_ERROR),
    ("a window raised too far", kind::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff], Code::FLOW_CONTROL_ERROR),
    ("a short WINDOW_UPDATE", kind::WINDOW_UPDATE, 0, 0, &[0; 3], Code::FRAME_SIZE_ERROR),
    ("a short WINDOW_UPDATE of a stream", kind::WINDOW_UPDATE, 0, 3, &[0; 3], Code::FRAME_SIZE_ERROR),
    ("WINDOW_UPDATE before its stream", kind::WINDOW_UPDATE, 0, 5, &[0, 0, 0, 1], Code::PROTOCOL_ERROR),
    ("a window of a stream left out", kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1], Code::PROTOCOL_ERROR),
    ("RST_STREAM of a stream left out", kind::RST_STREAM, 0, 1, &[0; 4], Code::PROTOCOL_ERROR),
    ("a window of a stream of ours", kind::WINDOW_UPDATE, 0, 2, &[0, 0, 0, 1], Code::PROTOCOL_ERROR),
    ("an unfinished head, then something else", kind::HEADERS, 1, 5, BLOCK, Code::PROTOCOL_ERROR),
];

#[test]
fn what_breaks_a_connection() {
    for (name, kind, flags, stream, payload, code) in BREAKS {
        let mut guest = Guest::greeted();
        guest.frame(kind::HEADERS, OPEN, 3, BLOCK).told().unwrap();
        guest
            .frame(kind, flags, stream, payload)
            .frame(kind::PING, 0, 0, &[0; 8]);
        assert_eq!(guest.told().map_err(Fault::code), Err(code), "{name}");
        assert_eq!(guest.said(), [Said::GoAway(3, code)], "{name}");
    }
}

#[test]
fn a_connection_begins_with_the_preface_and_settings() {
    let mut guest = Guest::new();
    assert_eq!(guest.read(b"PRI * HTTP/1.1\r\n"), Err(Fault::NoPreface));
    let mut guest = Guest::new();
    guest.sent.extend_from_slice(frame::PREFACE);
    guest.frame(kind::PING, 0, 0, &[0; 8]);
    assert_eq!(guest.told(), Err(Fault::NoPreface));
    let mut guest = Guest::new();
    guest.sent.extend_from_slice(frame::PREFACE);
    guest.frame(kind::SETTINGS, flag::ACK, 0, &[]);
    assert_eq!(guest.told(), Err(Fault::NoPreface));
}

#[test]
fn a_stream_that_has_ended_carries_nothing_more() {
    let ended = |guest: &mut Guest| {
        guest.head(1, true, &GET).told().unwrap();
        guest.answer(1, b"x");
        assert_eq!(guest.said(), [Said::Head(1), Said::Data(1, 1)]);
    };
    let mut guest = Guest::greeted();
    ended(&mut guest);
    guest.frame(kind::DATA, 0, 1, b"x");
    assert_eq!(guest.told(), Err(Fault::ClosedStream(kind::DATA)));
    assert_eq!(guest.said(), [Said::GoAway(1, Code::STREAM_CLOSED)]);
    let mut guest = Guest::greeted();
    ended(&mut guest);
    guest.frame(kind::HEADERS, ENDED, 1, BLOCK);
    assert_eq!(guest.told(), Err(Fault::ClosedStream(kind::HEADERS)));
    // One that the client gave up itself has ended, too.
    let mut guest = Guest::greeted();
    guest
        .head(1, false, &GET)
        .frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8])
        .frame(kind::DATA, 0, 1, b"x");
    assert_eq!(guest.told(), Err(Fault::ClosedStream(kind::DATA)));
    // Of these the client may not have known.
    let mut guest = Guest::greeted();
    ended(&mut guest);
    guest
        .window(1, 5)
        .frame(kind::RST_STREAM, 0, 1, &[0; 4])
        .frame(kind::PRIORITY, 0, 1, &[0; 5])
        .frame(kind::GOAWAY, 0, 0, &[0xff; 9])
        .frame(0xbe, 0xff, 77, b"of tomorrow");
    assert_eq!(guest.told(), Ok(vec![]));
    assert_eq!(guest.said(), []);
}

#[test]
fn a_block_comes_in_one_piece_after_the_other() {
    for (kind, stream) in [(kind::HEADERS, 3), (kind::PRIORITY, 1), (0xbe, 0)] {
        let mut guest = Guest::greeted();
        guest
            .frame(kind::HEADERS, flag::END_STREAM, 1, BLOCK)
            .frame(kind, 0, stream, &[0; 5]);
        assert_eq!(guest.told(), Err(Fault::BlockInterrupted), "type {kind}");
    }
    let mut guest = Guest::greeted();
    guest
        .frame(kind::HEADERS, 0, 1, BLOCK)
        .frame(kind::CONTINUATION, flag::END_HEADERS, 3, BLOCK);
    assert_eq!(guest.told(), Err(Fault::BlockInterrupted));
    let mut guest = Guest::greeted();
    guest.frame(kind::HEADERS, 0, 1, BLOCK);
    for _ in 0..5 {
        guest.frame(kind::CONTINUATION, 0, 1, &[0x82; 16_384]);
    }
    assert_eq!(
        guest.told(),
        Err(Fault::BadBlock(HpackError::TooLong(65_536)))
    );
    assert_eq!(guest.said(), [Said::GoAway(0, Code::ENHANCE_YOUR_CALM)]);
}

/// Whatever it is that a client makes the server say.
#[test]
fn what_a_client_does_not_read_is_not_kept_for_it() {
    let asks: [fn(&mut Guest, u32) -> &mut Guest; 4] = [
        |guest, _| guest.frame(kind::PING, 0, 0, &[0; 8]),
        |guest, _| guest.settings(&[]),
        |guest, _| guest.frame(kind::DATA, 0, 1, b"x"),
        // More streams than are allowed.
        |guest, number| guest.head(9 + 2 * number, false, &POST),
    ];
    for (which, ask) in asks.into_iter().enumerate() {
        let flooded = |reads: bool| -> Result<usize, Fault> {
            let mut guest = Guest::greeted();
            for stream in [1, 3, 5] {
                guest.head(stream, false, &POST);
            }
            for number in 0..120_000 {
                ask(&mut guest, number);
                if number % 1000 == 0 {
                    guest.told()?;
                    if reads {
                        guest.server.note_sent(guest.out.len());
                        guest.out.clear();
                    }
                }
            }
            Ok(guest.out.len())
        };
        assert!(flooded(true).is_ok(), "{which}");
        let fault = flooded(false).unwrap_err();
        assert_eq!(fault, Fault::Unread(MOST_UNSENT_ACKS), "{which}");
        assert_eq!(fault.code(), Code::ENHANCE_YOUR_CALM);
    }
}
