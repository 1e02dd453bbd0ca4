//! Faults of connections: refused, reset, closed and silent, at every point of an answer.

use super::Step::{AcceptAfter, Close, FillBacklog, HalfClose, Hang, Pause, Refuse, Reset, Send};
use super::{ANSWERED, At, CLOSED_EARLY, FINE, Fault, GOOD, RESET, TIMEOUT};
use std::time::Duration;

const IN_STATUS_LINE: &[u8] = b"HTTP/1.1 20";
const IN_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/pl";
const IN_BODY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello";
const IN_CHUNK_SIZE: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc";
const IN_CHUNK: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\nHello";
const BEFORE_LAST_CHUNK: &[u8] =
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\nHello, World\r\n";
const LAST: &[u8] =
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 12\r\n\r\nHello, World";

/// The next request may be on its way when the end arrives.
const ENDED_BETWEEN: &[&str] = &[
    ANSWERED,
    "peer/closed_idle",
    "peer/closed_early",
    "network/reset",
];

/// On a connection that has served before it looks like the end of an idle one.
const CLOSED_UNANSWERED: &[&str] = &["peer/closed_early", "peer/closed_idle"];

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "refuse",
        does: "refuses every connection",
        at: At::Listening,
        steps: &[Refuse],
        expected: &["network/connect_refused"],
    },
    Fault {
        name: "full-backlog",
        does: "leaves its queue of new connections full, so that the system drops every new one",
        at: At::Listening,
        steps: &[FillBacklog],
        expected: &["network/connect_timeout"],
    },
    Fault {
        name: "slow-accept",
        does: "waits 50 ms before it accepts each connection",
        at: At::Listening,
        steps: &[AcceptAfter(Duration::from_millis(50))],
        expected: FINE,
    },
    Fault {
        name: "reset-on-accept",
        does: "resets each connection before it reads anything",
        at: At::Accept,
        steps: &[Reset],
        expected: RESET,
    },
    Fault {
        name: "close-on-accept",
        does: "closes each connection before it reads anything",
        at: At::Accept,
        steps: &[Close],
        // Closing with the request unread makes the system send a reset.
        expected: &["peer/closed_early", "network/reset"],
    },
    Fault {
        name: "hang-on-accept",
        does: "accepts a connection and never says a word",
        at: At::Accept,
        steps: &[Hang],
        expected: TIMEOUT,
    },
    Fault {
        name: "answer-on-accept",
        does: "answers once before it has read any request, and then each request as it should",
        at: At::Accept,
        steps: &[Send(GOOD)],
        expected: &[ANSWERED],
    },
    Fault {
        name: "answer-before-body",
        does: "answers when it has read the request's head, and closes without reading its body",
        at: At::Head,
        steps: &[Send(LAST), Close],
        // A reset may overtake the answer where a body is on its way.
        expected: &[ANSWERED, "network/reset"],
    },
    At::Request.fault(
        "reset-before-answer",
        "reads the request and resets the connection",
        &[Reset],
        RESET,
    ),
    At::Request.fault(
        "reset-in-status-line",
        "resets in the middle of the status line",
        &[Send(IN_STATUS_LINE), Reset],
        RESET,
    ),
    At::Request.fault(
        "reset-in-head",
        "resets in the middle of the head",
        &[Send(IN_HEAD), Reset],
        RESET,
    ),
    At::Request.fault(
        "reset-in-body",
        "resets in the middle of the body",
        &[Send(IN_BODY), Reset],
        RESET,
    ),
    At::Request.fault(
        "reset-in-chunk",
        "resets in the middle of a chunk",
        &[Send(IN_CHUNK), Reset],
        RESET,
    ),
    At::Request.fault(
        "reset-after-answer",
        "answers and resets the connection",
        &[Send(GOOD), Reset],
        ENDED_BETWEEN,
    ),
    At::Request.fault(
        "close-before-answer",
        "reads the request and closes the connection",
        &[Close],
        CLOSED_UNANSWERED,
    ),
    At::Request.fault(
        "close-in-status-line",
        "closes in the middle of the status line",
        &[Send(IN_STATUS_LINE), Close],
        CLOSED_EARLY,
    ),
    At::Request.fault(
        "close-in-head",
        "closes in the middle of the head",
        &[Send(IN_HEAD), Close],
        CLOSED_EARLY,
    ),
    At::Request.fault(
        "close-in-body",
        "closes in the middle of the body",
        &[Send(IN_BODY), Close],
        CLOSED_EARLY,
    ),
    At::Request.fault(
        "close-in-chunk-size",
        "closes in the middle of a chunk's size",
        &[Send(IN_CHUNK_SIZE), Close],
        CLOSED_EARLY,
    ),
    At::Request.fault(
        "close-in-chunk",
        "closes in the middle of a chunk",
        &[Send(IN_CHUNK), Close],
        CLOSED_EARLY,
    ),
    At::Request.fault(
        "close-before-last-chunk",
        "closes where the last chunk is due",
        &[Send(BEFORE_LAST_CHUNK), Close],
        CLOSED_EARLY,
    ),
    At::Request.fault(
        "close-after-answer",
        "answers and closes without notice",
        &[Send(GOOD), Close],
        ENDED_BETWEEN,
    ),
    At::Request.fault(
        "close-when-idle",
        "answers, and closes without notice 20 ms later",
        &[Send(GOOD), Pause(Duration::from_millis(20)), Close],
        ENDED_BETWEEN,
    ),
    At::Request.fault(
        "close-announced",
        "answers with 'Connection: close' and closes",
        &[Send(LAST), Close],
        FINE,
    ),
    At::Request.fault(
        "half-close-before-answer",
        "ends its direction before the answer, and keeps the other open",
        &[HalfClose],
        CLOSED_UNANSWERED,
    ),
    At::Request.fault(
        "half-close-in-head",
        "ends its direction in the middle of the head",
        &[Send(IN_HEAD), HalfClose],
        CLOSED_EARLY,
    ),
    At::Request.fault(
        "half-close-in-body",
        "ends its direction in the middle of the body",
        &[Send(IN_BODY), HalfClose],
        CLOSED_EARLY,
    ),
    At::Request.fault(
        "half-close-after-answer",
        "answers, ends its direction, and keeps the other open",
        &[Send(GOOD), HalfClose],
        ENDED_BETWEEN,
    ),
    At::Request.fault(
        "hang-before-answer",
        "reads the request and never answers",
        &[Hang],
        TIMEOUT,
    ),
    At::Request.fault(
        "hang-in-status-line",
        "stops in the middle of the status line",
        &[Send(IN_STATUS_LINE), Hang],
        TIMEOUT,
    ),
    At::Request.fault(
        "hang-in-head",
        "stops in the middle of the head",
        &[Send(IN_HEAD), Hang],
        TIMEOUT,
    ),
    At::Request.fault(
        "hang-in-body",
        "stops in the middle of the body",
        &[Send(IN_BODY), Hang],
        TIMEOUT,
    ),
    At::Request.fault(
        "hang-in-chunk-size",
        "stops in the middle of a chunk's size",
        &[Send(IN_CHUNK_SIZE), Hang],
        TIMEOUT,
    ),
    At::Request.fault(
        "hang-before-last-chunk",
        "stops where the last chunk is due",
        &[Send(BEFORE_LAST_CHUNK), Hang],
        TIMEOUT,
    ),
];
