//! Faults of bodies: lengths that lie, chunks, and bytes that belong to no answer.

use super::Step::{Close, Drip, Hang, Send, Trickle};
use super::{ANSWERED, At, BAD_ANSWER, CLOSED_EARLY, FINE, Fault, GOOD, TIMEOUT};
use std::time::Duration;

/// Bytes behind an answer belong to nobody: it counts, and they are told as stray.
const SURPLUS: &[&str] = &[ANSWERED];

/// An answer with this chunked body; the connection goes on.
macro_rules! chunked {
    ($body:literal) => {
        &[Send(
            concat!(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                $body
            )
            .as_bytes(),
        )]
    };
}

/// The same, after which the connection ends.
macro_rules! chunked_end {
    ($body:literal) => {
        &[
            Send(
                concat!(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                    $body
                )
                .as_bytes(),
            ),
            Close,
        ]
    };
}

pub(super) const FAULTS: &[Fault] = &[
    At::Request.fault(
        "length-too-short",
        "sends more body than its length says",
        &[Send(
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello, World",
        )],
        SURPLUS,
    ),
    At::Request.fault(
        "length-too-long",
        "sends less body than its length says, and closes",
        &[
            Send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nHello, World"),
            Close,
        ],
        CLOSED_EARLY,
    ),
    At::Request.fault(
        "length-and-chunks",
        "sends a length beside a chunked body",
        &[
            Send(
                b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\
              Transfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
            ),
            Close,
        ],
        &[ANSWERED, "peer/bad_answer"],
    ),
    At::Request.fault(
        "length-missing",
        "sends no length and ends the body by closing",
        &[Send(b"HTTP/1.1 200 OK\r\n\r\nHello, World"), Close],
        FINE,
    ),
    At::Request.fault(
        "length-missing-and-hang",
        "sends no length and never closes",
        &[Send(b"HTTP/1.1 200 OK\r\n\r\nHello, World"), Hang],
        TIMEOUT,
    ),
    At::Request.fault(
        "drip",
        "sends a byte of the body each 20 ms and never ends",
        &[
            Send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"),
            Drip(b"x", Duration::from_millis(20)),
        ],
        TIMEOUT,
    ),
    At::Request.fault(
        "drip-in-head",
        "sends a byte of the head each 20 ms and never ends",
        &[
            Send(b"HTTP/1.1 200 OK\r\nX-Slow: "),
            Drip(b"x", Duration::from_millis(20)),
        ],
        TIMEOUT,
    ),
    At::Request.fault(
        "answer-twice",
        "answers each request twice",
        &[Send(GOOD), Send(GOOD)],
        SURPLUS,
    ),
    At::Request.fault(
        "garbage-after-answer",
        "sends bytes of no meaning behind each answer",
        &[Send(
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\
              Hello\x00\x01\x02\x03garbage\r\n\r\n",
        )],
        SURPLUS,
    ),
    At::Request.fault(
        "chunks-byte-by-byte",
        "sends a chunked answer one byte at a time",
        &[Trickle(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n\
              Hello\r\n7\r\n, World\r\n0\r\n\r\n",
        )],
        FINE,
    ),
    At::Request.fault(
        "chunks-of-one-byte",
        "sends a body in chunks of one byte",
        chunked!("1\r\nH\r\n1\r\ne\r\n1\r\nl\r\n1\r\nl\r\n1\r\no\r\n0\r\n\r\n"),
        FINE,
    ),
    At::Request.fault(
        "chunk-extensions",
        "sends extensions with its chunks",
        chunked!("5;name=value;other=\"a;b\"\r\nHello\r\n0;end\r\n\r\n"),
        FINE,
    ),
    At::Request.fault(
        "chunk-trailers",
        "sends trailers behind its chunks",
        chunked!("5\r\nHello\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n"),
        FINE,
    ),
    At::Request.fault(
        "chunk-leading-zeros",
        "writes a chunk's size with leading zeros",
        chunked!("0005\r\nHello\r\n000\r\n\r\n"),
        FINE,
    ),
    At::Request.fault(
        "chunk-size-of-words",
        "sends a chunk whose size is no number",
        chunked_end!("five\r\nHello\r\n0\r\n\r\n"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "chunk-size-empty",
        "sends a chunk without a size",
        chunked_end!("\r\nHello\r\n0\r\n\r\n"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "chunk-size-negative",
        "sends a chunk of size -5",
        chunked_end!("-5\r\nHello\r\n0\r\n\r\n"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "chunk-size-overflow",
        "sends a chunk whose size needs more than 64 bits",
        chunked_end!("fffffffffffffffff\r\nHello\r\n0\r\n\r\n"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "chunk-too-short",
        "sends more than a chunk's size says",
        chunked_end!("3\r\nHello\r\n0\r\n\r\n"),
        BAD_ANSWER,
    ),
    At::Request.fault(
        "chunk-too-long",
        "sends less than a chunk's size says",
        chunked_end!("ff\r\nHello\r\n0\r\n\r\n"),
        CLOSED_EARLY,
    ),
    At::Request.fault(
        "chunk-trailer-missing-end",
        "stops in the trailers",
        &[
            Send(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\
              X-Sum: 1\r\n",
            ),
            Hang,
        ],
        TIMEOUT,
    ),
];
