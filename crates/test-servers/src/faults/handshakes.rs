//! Faults of TLS handshakes: what follows a client's first message. No cryptography is needed to
//! get them wrong.

use super::Step::{Close, HalfClose, Hang, Reset, Send, SendTimes};
use super::{At, CLOSED_EARLY, Fault, GOOD, RESET};

const TLS_ERROR: &[&str] = &["peer/tls_error"];
const CONNECT_TIMEOUT: &[&str] = &["network/connect_timeout"];

/// Alert records (RFC 8446, 6): fatal handshake_failure, close_notify, the warning user_canceled.
const HANDSHAKE_FAILURE: &[u8] = b"\x15\x03\x03\x00\x02\x02\x28";
const CLOSE_NOTIFY: &[u8] = b"\x15\x03\x03\x00\x02\x01\x00";
const USER_CANCELED: &[u8] = b"\x15\x03\x03\x00\x02\x01\x5a";
/// The first bytes of a ServerHello of 118 bytes.
const IN_HELLO: &[u8] = b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03\x01\x02\x03\x04";
/// A handshake record that holds no message.
const NO_MESSAGE: &[u8] = b"\x16\x03\x03\x00\x04\xff\x00\x00\x00";
/// A record is at most 2^14 + 256 bytes long (RFC 8446, 5.2).
const TOO_LONG: &[u8] = b"\x16\x03\x03\xff\xff";

pub(super) const FAULTS: &[Fault] = &[
    At::Handshake.fault(
        "tls-handshake-failure",
        "refuses each handshake by a fatal alert",
        &[Send(HANDSHAKE_FAILURE), HalfClose],
        TLS_ERROR,
    ),
    At::Handshake.fault(
        "tls-close-notify",
        "ends each session before the handshake is done",
        &[Send(CLOSE_NOTIFY), HalfClose],
        CLOSED_EARLY,
    ),
    At::Handshake.fault(
        "tls-warnings",
        "sends warnings without end instead of its hello",
        &[SendTimes(USER_CANCELED, 10_000), Hang],
        TLS_ERROR,
    ),
    At::Handshake.fault(
        "tls-plain-answer",
        "answers in plain HTTP",
        &[Send(GOOD), HalfClose],
        TLS_ERROR,
    ),
    At::Handshake.fault(
        "tls-no-message",
        "sends a handshake record that holds no message",
        &[Send(NO_MESSAGE), Hang],
        TLS_ERROR,
    ),
    At::Handshake.fault(
        "tls-record-too-long",
        "announces a record longer than TLS allows",
        &[Send(TOO_LONG), Hang],
        TLS_ERROR,
    ),
    At::Handshake.fault(
        "tls-close",
        "closes instead of its hello",
        &[Close],
        CLOSED_EARLY,
    ),
    At::Handshake.fault(
        "tls-close-in-hello",
        "closes inside its hello",
        &[Send(IN_HELLO), Close],
        CLOSED_EARLY,
    ),
    At::Handshake.fault("tls-reset", "resets instead of its hello", &[Reset], RESET),
    At::Handshake.fault(
        "tls-reset-in-hello",
        "resets inside its hello",
        &[Send(IN_HELLO), Reset],
        RESET,
    ),
    At::Handshake.fault("tls-hang", "sends no hello", &[Hang], CONNECT_TIMEOUT),
    At::Handshake.fault(
        "tls-hang-in-hello",
        "stops inside its hello",
        &[Send(IN_HELLO), Hang],
        CONNECT_TIMEOUT,
    ),
];
