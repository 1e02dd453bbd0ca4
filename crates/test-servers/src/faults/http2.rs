//! Faults of HTTP/2: what a server sends once a client's first request is there. A connection's first request
//! is on stream 1, so all of them are written beforehand, frame by frame.

use super::Step::{Close, HalfClose, Hang, Send, SendTimes};
use super::{ANSWERED, At, CLOSED_EARLY, Fault, GOOD, TIMEOUT};

const PROTOCOL_ERROR: &[&str] = &["peer/protocol_error"];
const UNPROCESSED: &[&str] = &["peer/unprocessed", CLOSED];
/// Of one stream only: the next request may be on its way when the connection ends.
const BAD_ANSWER: &[&str] = &["peer/bad_answer", CLOSED];
const CLOSED: &str = "peer/closed_unannounced";

/// SETTINGS without any, with no stream at once, and with an initial window of 0.
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
const NO_STREAM: &[u8] = b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\0";
const NO_WINDOW: &[u8] = b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\0";
/// SETTINGS with a frame size that is too small to be allowed.
const BAD_FRAME_SIZE: &[u8] = b"\0\0\x06\x04\0\0\0\0\0\0\x05\0\0\0\x01";
/// `:status: 200` by the static table, without a body.
const ANSWER: &[u8] = b"\0\0\x01\x01\x05\0\0\0\x01\x88";
/// `:status: 103`, as a literal that enters no table.
const INTERIM: &[u8] = b"\0\0\x05\x01\x04\0\0\0\x01\x08\x03103";
/// SETTINGS, and a GOAWAY whose last stream is the first: at once, for a client that read the one before the other could
/// open more streams between them, and those would be unprocessed.
const LAST_IS_FIRST: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x08\x07\0\0\0\0\0\0\0\0\x01\0\0\0\0";
const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\0\0\0\0\0\0\0\0\0";
const OPEN_HEAD: &[u8] = b"\0\0\x01\x01\0\0\0\0\x01\x88";
const NO_CONTINUATION: &[u8] = b"\0\0\0\x09\0\0\0\0\x01";

pub(super) const FAULTS: &[Fault] = &[
    At::Http2.fault("h2-silence", "never sends SETTINGS", &[Hang], TIMEOUT),
    At::Http2.fault(
        "h2-http1",
        "answers in HTTP/1.1",
        &[Send(GOOD), HalfClose],
        &["peer/wrong_protocol"],
    ),
    At::Http2.fault(
        "h2-no-preface",
        "answers before its SETTINGS",
        &[Send(ANSWER), HalfClose],
        PROTOCOL_ERROR,
    ),
    At::Http2.fault(
        "h2-settings-flood",
        "sends SETTINGS 100,000 times",
        &[SendTimes(SETTINGS, 100_000), Hang],
        PROTOCOL_ERROR,
    ),
    At::Http2.fault(
        "h2-ping-flood",
        "sends PING 100,000 times",
        &[Send(SETTINGS), SendTimes(PING, 100_000), Hang],
        PROTOCOL_ERROR,
    ),
    At::Http2.fault(
        "h2-continuation-flood",
        "continues a head 100,000 times without ending it",
        &[
            Send(SETTINGS),
            Send(OPEN_HEAD),
            SendTimes(NO_CONTINUATION, 100_000),
            Hang,
        ],
        PROTOCOL_ERROR,
    ),
    At::Http2.fault(
        "h2-interim-flood",
        "sends 103 Early Hints 200,000 times",
        &[Send(SETTINGS), SendTimes(INTERIM, 200_000), HalfClose],
        BAD_ANSWER,
    ),
    At::Http2.fault(
        "h2-bad-setting",
        "sets a frame size that is not allowed",
        &[Send(BAD_FRAME_SIZE), HalfClose],
        PROTOCOL_ERROR,
    ),
    At::Http2.fault(
        "h2-bad-block",
        "sends a head that HPACK does not know",
        &[
            Send(SETTINGS),
            Send(b"\0\0\x01\x01\x05\0\0\0\x01\x80"),
            HalfClose,
        ],
        PROTOCOL_ERROR,
    ),
    At::Http2.fault(
        "h2-long-frame",
        "announces a frame of 16 MB",
        &[
            Send(SETTINGS),
            Send(b"\xff\xff\xff\0\0\0\0\0\x01"),
            HalfClose,
        ],
        PROTOCOL_ERROR,
    ),
    At::Http2.fault(
        "h2-window-overflow",
        "raises the connection's window above 2^31 - 1",
        &[
            Send(SETTINGS),
            Send(b"\0\0\x04\x08\0\0\0\0\0\x7f\xff\xff\xff"),
            HalfClose,
        ],
        PROTOCOL_ERROR,
    ),
    At::Http2.fault(
        "h2-no-stream",
        "allows no stream any more, and answers none",
        &[Send(NO_STREAM), Hang],
        TIMEOUT,
    ),
    At::Http2.fault(
        "h2-no-window",
        "gives streams no window; requests without a body need none",
        &[Send(NO_WINDOW), Send(ANSWER), HalfClose],
        &[ANSWERED, CLOSED],
    ),
    At::Http2.fault(
        "h2-reset",
        "resets each stream (CANCEL)",
        &[
            Send(SETTINGS),
            Send(b"\0\0\x04\x03\0\0\0\0\x01\0\0\0\x08"),
            HalfClose,
        ],
        &["peer/stream_reset", CLOSED],
    ),
    At::Http2.fault(
        "h2-refused",
        "refuses each stream (REFUSED_STREAM)",
        &[
            Send(SETTINGS),
            Send(b"\0\0\x04\x03\0\0\0\0\x01\0\0\0\x07"),
            HalfClose,
        ],
        UNPROCESSED,
    ),
    At::Http2.fault(
        "h2-goaway",
        "goes away (GOAWAY) before the first stream",
        &[
            Send(SETTINGS),
            Send(b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0"),
            HalfClose,
        ],
        UNPROCESSED,
    ),
    At::Http2.fault(
        "h2-goaway-unanswered",
        "goes away after the first stream, and closes without answering it",
        &[Send(LAST_IS_FIRST), HalfClose],
        CLOSED_EARLY,
    ),
    At::Http2.fault(
        "h2-close",
        "closes without GOAWAY",
        &[Send(SETTINGS), HalfClose],
        &[CLOSED],
    ),
    At::Http2.fault(
        "h2-close-at-once",
        "closes without a word",
        &[Close],
        CLOSED_EARLY,
    ),
    At::Http2.fault(
        "h2-closed-stream",
        "answers twice on a stream",
        &[Send(SETTINGS), Send(ANSWER), Send(ANSWER), HalfClose],
        &[ANSWERED, "peer/protocol_error", CLOSED],
    ),
    At::Http2.fault(
        "h2-idle-stream",
        "answers on a stream that nobody opened",
        &[
            Send(SETTINGS),
            Send(b"\0\0\x01\x01\x05\0\0\x03\xe9\x88"),
            HalfClose,
        ],
        PROTOCOL_ERROR,
    ),
    At::Http2.fault(
        "h2-push",
        "pushes, which is off",
        &[
            Send(SETTINGS),
            Send(b"\0\0\x05\x05\x04\0\0\0\x01\0\0\0\x02\x82"),
            HalfClose,
        ],
        PROTOCOL_ERROR,
    ),
    At::Http2.fault(
        "h2-no-status",
        "sends a head without :status",
        &[Send(SETTINGS), Send(b"\0\0\0\x01\x05\0\0\0\x01"), HalfClose],
        BAD_ANSWER,
    ),
];
