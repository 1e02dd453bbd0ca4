//! Faults of heads: status lines, fields, lengths, interim answers, and how a head arrives.

use super::Step::{Close, Hang, Send, SendTimes, SplitBySlice, Trickle};
use super::{ANSWERED, At, BAD_ANSWER, FINE, Fault, GOOD, TIMEOUT};

/// RFC 9112 lets a client accept it or not.
const EITHER: &[&str] = &[ANSWERED, "peer/bad_answer"];

/// A whole answer with a head that is wrong: after it the connection is at its end.
macro_rules! answer {
    ($head:literal) => {
        &[
            Send(concat!($head, "\r\n\r\nHello, World").as_bytes()),
            Close,
        ]
    };
}

pub(super) const FAULTS: &[Fault] = &[
    At::Request.fault(
        "byte-by-byte",
        "sends a good answer one byte at a time",
        &[Trickle(GOOD)],
        FINE,
    ),
    At::Request.fault(
        "split-anywhere",
        "sends a good answer in two parts, cut at the next byte each time",
        &[SplitBySlice(GOOD)],
        FINE,
    ),
    At::Request.fault(
        "status-line-garbage",
        "answers with bytes that are no HTTP",
        answer!("\x01\x02\x03 what is this\r\nContent-Length: 12"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "status-line-missing",
        "answers with a body alone, as HTTP/0.9 did",
        &[Send(b"<html>Hello, World</html>\r\n\r\n"), Close],
        BAD_ANSWER,
    ),
    At::Request.fault(
        "status-line-version",
        "answers as HTTP/2.0 in the form of HTTP/1",
        answer!("HTTP/2.0 200 OK\r\nContent-Length: 12"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "status-code-letters",
        "answers with a status of letters",
        answer!("HTTP/1.1 ABC OK\r\nContent-Length: 12"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "status-code-two-digits",
        "answers with status 20",
        answer!("HTTP/1.1 20 OK\r\nContent-Length: 12"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "status-code-four-digits",
        "answers with status 2000",
        answer!("HTTP/1.1 2000 OK\r\nContent-Length: 12"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "status-code-below-100",
        "answers with status 099",
        answer!("HTTP/1.1 099 OK\r\nContent-Length: 12"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "reason-missing",
        "answers without a reason phrase",
        answer!("HTTP/1.1 200\r\nConnection: close\r\nContent-Length: 12"),
        FINE,
    ),
    At::Request.fault(
        "tls-alert",
        "answers with a TLS alert, as a TLS server does to plain text",
        &[Send(b"\x15\x03\x01\x00\x02\x02\x46"), Close],
        &["peer/bad_answer", "peer/closed_early"],
    ),
    At::Request.fault(
        "field-without-colon",
        "sends a field without a colon",
        answer!("HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 12"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "field-with-nul",
        "sends a NUL in a field's value",
        answer!("HTTP/1.1 200 OK\r\nX-Id: a\0b\r\nContent-Length: 12"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "field-folded",
        "folds a field over two lines, as HTTP/1.0 allowed",
        answer!(
            "HTTP/1.1 200 OK\r\nX-Id: a\r\n b\r\nConnection: close\r\n\
              Content-Length: 12"
        ),
        EITHER,
    ),
    At::Request.fault(
        "bare-line-feeds",
        "ends its lines with LF alone",
        &[
            Send(b"HTTP/1.1 200 OK\nConnection: close\nContent-Length: 12\n\nHello, World"),
            Close,
        ],
        EITHER,
    ),
    At::Request.fault(
        "bare-carriage-returns",
        "ends its lines with CR alone",
        &[
            Send(b"HTTP/1.1 200 OK\rContent-Length: 12\r\rHello, World"),
            Close,
        ],
        BAD_ANSWER,
    ),
    At::Request.fault(
        "head-too-long",
        "sends a field of one megabyte",
        &[
            Send(b"HTTP/1.1 200 OK\r\nX-Long: "),
            SendTimes(&[b'a'; 1024], 1024),
            Close,
        ],
        BAD_ANSWER,
    ),
    At::Request.fault(
        "head-of-many-fields",
        "sends 10,000 fields",
        &[
            Send(b"HTTP/1.1 200 OK\r\n"),
            SendTimes(b"X-Many: yes\r\n", 10_000),
            Send(b"Content-Length: 0\r\n\r\n"),
            Close,
        ],
        BAD_ANSWER,
    ),
    At::Request.fault(
        "head-without-end",
        "sends fields for ever, and then stops",
        &[
            Send(b"HTTP/1.1 200 OK\r\n"),
            SendTimes(b"X: y\r\n", 20),
            Hang,
        ],
        TIMEOUT,
    ),
    At::Request.fault(
        "length-negative",
        "sends 'Content-Length: -12'",
        answer!("HTTP/1.1 200 OK\r\nContent-Length: -12"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "length-of-words",
        "sends 'Content-Length: twelve'",
        answer!("HTTP/1.1 200 OK\r\nContent-Length: twelve"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "length-overflow",
        "sends a length above 64 bits",
        answer!("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "length-twice-equal",
        "sends the same length twice",
        answer!(
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 12\r\n\
              Content-Length: 12"
        ),
        EITHER,
    ),
    At::Request.fault(
        "length-twice-different",
        "sends two lengths that differ",
        answer!("HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Length: 13"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "continue-unasked",
        "sends a 100 Continue that nobody asked for, then the answer",
        &[Send(b"HTTP/1.1 100 Continue\r\n\r\n"), Send(GOOD)],
        FINE,
    ),
    At::Request.fault(
        "early-hints",
        "sends 103 Early Hints with fields, then the answer",
        &[
            Send(
                b"HTTP/1.1 103 Early Hints\r\n\
              Link: </style.css>; rel=preload\r\n\r\n",
            ),
            Send(GOOD),
        ],
        FINE,
    ),
    At::Request.fault(
        "interim-flood",
        "sends 30,000 interim answers before the answer",
        &[
            SendTimes(b"HTTP/1.1 100 Continue\r\n\r\n", 30_000),
            Send(GOOD),
            Close,
        ],
        BAD_ANSWER,
    ),
    At::Request.fault(
        "switching-protocols",
        "switches to a protocol that nobody asked for",
        &[
            Send(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
              Connection: Upgrade\r\n\r\n\x81\x05Hello",
            ),
            Close,
        ],
        BAD_ANSWER,
    ),
    At::Request.fault(
        "not-modified-with-length",
        "sends 304 with a length and, rightly, no body",
        &[Send(
            b"HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n",
        )],
        FINE,
    ),
    At::Request.fault(
        "no-content-with-length",
        "sends 204 with a length and no body",
        &[Send(
            b"HTTP/1.1 204 No Content\r\nContent-Length: 1000\r\n\r\n",
        )],
        FINE,
    ),
];
