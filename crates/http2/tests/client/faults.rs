//! What a server can do wrong to a whole connection.

use crate::talk::{Talk, Told, WIDE, get};
use assay_http2::client::{MOST_FIELD_BYTES, MOST_IDLE_FRAMES};
use assay_http2::frame::{Code, flag, kind};
use assay_http2::hpack::HpackError;
use assay_http2::{Fault, MOST_UNSENT_ACKS, StreamFault};

/// What it is, then type, flags, stream and payload of the frame.
type Break = (&'static str, u8, u8, u32, &'static [u8], Code);

/// What ends the connection, with the code that the peer is told (h2spec's list, from the client's side).
#[rustfmt::skip]
const BREAKS: [Break; 24] = [
    ("DATA on the connection", kind::DATA, 0, 0, b"x", Code::PROTOCOL_ERROR),
    ("HEADERS on the connection", kind::HEADERS, 5, 0, &[0x88], Code::PROTOCOL_ERROR),
    ("DATA before its stream", kind::DATA, 0, 99, b"x", Code::PROTOCOL_ERROR),
    ("HEADERS before their stream", kind::HEADERS, 5, 99, &[0x88], Code::PROTOCOL_ERROR),
    ("a stream of the server's", kind::HEADERS, 5, 2, &[0x88], Code::PROTOCOL_ERROR),
    ("too much padding", kind::DATA, flag::PADDED, 1, &[5, 0, 0], Code::PROTOCOL_ERROR),
    ("padding of nothing", kind::DATA, flag::PADDED, 1, &[], Code::PROTOCOL_ERROR),
    ("too long a frame", kind::DATA, 0, 1, &[0; 16_385], Code::FRAME_SIZE_ERROR),
    ("PRIORITY on the connection", kind::PRIORITY, 0, 0, &[0; 5], Code::PROTOCOL_ERROR),
    ("RST_STREAM of no stream", kind::RST_STREAM, 0, 0, &[0; 4], Code::PROTOCOL_ERROR),
    ("RST_STREAM before its stream", kind::RST_STREAM, 0, 99, &[0; 4], Code::PROTOCOL_ERROR),
    ("a short RST_STREAM", kind::RST_STREAM, 0, 1, &[0; 3], Code::FRAME_SIZE_ERROR),
    ("SETTINGS on a stream", kind::SETTINGS, 0, 1, &[], Code::PROTOCOL_ERROR),
    ("SETTINGS of five bytes", kind::SETTINGS, 0, 0, &[0; 5], Code::FRAME_SIZE_ERROR),
    ("an ACK that says more", kind::SETTINGS, flag::ACK, 0, &[0; 6], Code::FRAME_SIZE_ERROR),
    ("push switched on", kind::SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 1], Code::PROTOCOL_ERROR),
    ("too large a window", kind::SETTINGS, 0, 0, &[0, 4, 0x80, 0, 0, 0], Code::FLOW_CONTROL_ERROR),
    ("too small frames", kind::SETTINGS, 0, 0, &[0, 5, 0, 0, 0x3f, 0xff], Code::PROTOCOL_ERROR),
    ("a push", kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2], Code::PROTOCOL_ERROR),
    ("PING on a stream", kind::PING, 0, 1, &[0; 8], Code::PROTOCOL_ERROR),
    ("PING of seven bytes", kind::PING, 0, 0, &[0; 7], Code::FRAME_SIZE_ERROR),
    ("GOAWAY on a stream", kind::GOAWAY, 0, 1, &[0; 8], Code::PROTOCOL_ERROR),
    ("a window raised by 0", kind::WINDOW_UPDATE, 0, 0, &[0; 4], Code::PROTOCOL_ERROR),
    ("a window raised too far", kind::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff], Code::FLOW_CONTROL_ERROR),
];

#[test]
fn what_breaks_a_connection() {
    for (name, kind, flags, stream, payload, code) in BREAKS {
        let mut talk = Talk::greeted(1);
        talk.frame(kind, flags, stream, payload);
        assert_eq!(talk.told().map_err(Fault::code), Err(code), "{name}");
        let (head, payload) = talk.written().pop().unwrap();
        assert_eq!(head.kind, kind::GOAWAY, "{name}");
        assert_eq!(payload[4..8], code.0.to_be_bytes(), "{name}");
    }
}

#[test]
fn blocks_are_whole_or_broken() {
    let mut talk = Talk::greeted(2);
    talk.frame(kind::HEADERS, 0, 1, &[0x88]).frame(
        kind::CONTINUATION,
        flag::END_HEADERS,
        1,
        &[0x54, 1, b'x'],
    );
    assert_eq!(talk.told().unwrap(), [Told::Answer(0, 200)]);
    talk.frame(kind::HEADERS, 0, 3, &[0x88])
        .frame(kind::PING, 0, 0, &[0; 8]);
    assert_eq!(talk.fault(), Fault::BlockInterrupted);
    let mut talk = Talk::greeted(2);
    talk.frame(kind::HEADERS, 0, 1, &[0x88])
        .frame(kind::CONTINUATION, flag::END_HEADERS, 3, &[]);
    assert_eq!(talk.fault(), Fault::BlockInterrupted);
    let mut talk = Talk::greeted(1);
    talk.frame(kind::CONTINUATION, flag::END_HEADERS, 1, &[]);
    assert_eq!(talk.fault(), Fault::BlockInterrupted);
    let mut talk = Talk::greeted(1);
    talk.frame(kind::HEADERS, flag::END_HEADERS, 1, &[0x80]);
    assert_eq!(talk.fault(), Fault::BadBlock(HpackError::NoEntry));
    let mut talk = Talk::greeted(1);
    talk.head(1, true, &[(":status", "200")])
        .frame(kind::DATA, 0, 1, b"x");
    assert_eq!(talk.fault(), Fault::ClosedStream(kind::DATA));
}

#[test]
fn other_protocols_are_known_for_what_they_are() {
    let mut talk = Talk::new(WIDE);
    assert_eq!(
        talk.read(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        Err(Fault::Http1)
    );
    let mut talk = Talk::new(WIDE);
    talk.frame(kind::PING, 0, 0, &[0; 8]);
    assert_eq!(talk.fault(), Fault::NoPreface);
    let mut talk = Talk::new(WIDE);
    assert_eq!(talk.read(b"SSH-2.0-OpenSSH_9.2p1"), Err(Fault::NoPreface));
}

#[test]
fn floods_end() {
    let floods: [(u8, u8, u32, &[u8]); 4] = [
        (kind::SETTINGS, 0, 0, &[]),
        (kind::PING, 0, 0, &[0; 8]),
        (kind::DATA, 0, 1, &[]),
        (0xbe, 0, 7, b"unknown"),
    ];
    for (kind, flags, stream, payload) in floods {
        let mut talk = Talk::greeted(1);
        talk.head(1, false, &[(":status", "200")]);
        for _ in 0..=MOST_IDLE_FRAMES {
            talk.frame(kind, flags, stream, payload);
        }
        assert_eq!(talk.fault(), Fault::Flood(MOST_IDLE_FRAMES), "type {kind}");
    }
    let mut talk = Talk::greeted(1);
    talk.frame(kind::HEADERS, 0, 1, &[]);
    for _ in 0..=MOST_IDLE_FRAMES {
        talk.frame(kind::CONTINUATION, 0, 1, &[]);
    }
    assert_eq!(talk.fault(), Fault::Flood(MOST_IDLE_FRAMES));
    let mut talk = Talk::greeted(1);
    talk.frame(kind::HEADERS, 0, 1, &[]);
    for _ in 0..40 {
        talk.frame(kind::CONTINUATION, 0, 1, &[0x88; 16_384]);
    }
    assert_eq!(
        talk.fault(),
        Fault::BadBlock(HpackError::TooLong(MOST_FIELD_BYTES))
    );
    let mut talk = Talk::greeted(1);
    for _ in 0..600 {
        talk.frame(
            kind::HEADERS,
            flag::END_HEADERS,
            1,
            &[
                &[0x08, 3, b'1', b'0', b'3', 0, 1, b'a', 0x7f, 0xe9, 6],
                &[b'x'; 1000][..],
            ]
            .concat(),
        );
    }
    assert_eq!(
        talk.told().unwrap_or_default().first(),
        Some(&Told::Failed(
            0,
            StreamFault::TooManyInterim(MOST_FIELD_BYTES)
        ))
    );
}

/// A flood that carries a byte now and then, so that its frames are never idle for long.
#[test]
fn what_a_server_does_not_read_is_not_kept_for_it() {
    let flooded = |reads: bool| -> Result<usize, Fault> {
        let mut talk = Talk::greeted(1);
        talk.head(1, false, &[(":status", "200")]);
        for _ in 0..10 {
            for _ in 0..9_000 {
                talk.frame(kind::PING, 0, 0, &[0; 8]);
            }
            talk.frame(kind::DATA, 0, 1, b"x");
            talk.told()?;
            if reads {
                talk.client.note_sent(talk.out.len());
                talk.out.clear();
            }
        }
        Ok(talk.out.len())
    };
    assert_eq!(flooded(true), Ok(0));
    let fault = flooded(false).unwrap_err();
    assert_eq!(fault, Fault::Unread(MOST_UNSENT_ACKS));
    assert_eq!(fault.code(), Code::ENHANCE_YOUR_CALM);
}

#[test]
fn a_server_that_resets_every_stream_is_no_flood() {
    let mut talk = Talk::greeted(0);
    for key in 0..2 * MOST_IDLE_FRAMES {
        let id = talk.client.open(key, &get("/"), &mut talk.out).unwrap();
        talk.frame(kind::RST_STREAM, 0, id, &Code::CANCEL.0.to_be_bytes());
        assert_eq!(
            talk.told().unwrap(),
            [Told::Failed(key, StreamFault::Reset(Code::CANCEL))]
        );
    }
}
