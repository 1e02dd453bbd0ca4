//! The fault-injection server: misbehaves by script, the same way every time.
//!
//! Each kind of misbehaviour is one entry of [`all`]: a name, what it does, when, in which steps, and what a
//! load generator has to say about it. [`FaultInjectionServer`] plays them.

mod bodies;
mod connections;
mod handshakes;
mod heads;
mod http2;
mod server;

pub use server::{Counts, FaultInjectionServer, Settings};

use std::time::Duration;

/// One kind of misbehaviour.
#[derive(Debug)]
pub struct Fault {
    /// Its name, in a path (`/fault/NAME`) and on the command line.
    pub name: &'static str,
    /// What the server does, as a phrase that begins with a verb.
    pub does: &'static str,
    /// When it begins.
    pub at: At,
    /// What it does then. Unless a step ends the connection, it goes on with the next request.
    pub steps: &'static [Step],
    /// How a generator may book the request: [`ANSWERED`] or an outcome as "origin/kind". Several where it
    /// depends on which packet wins, or where RFC 9112 leaves the choice.
    pub expected: &'static [&'static str],
}

/// The request counts as answered.
pub const ANSWERED: &str = "answered";

/// When a fault begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Before any connection: the listening socket itself misbehaves. Not to be had by a path.
    Listening,
    /// When a connection is accepted, before anything is read. Not to be had by a path.
    Accept,
    /// When a client's first TLS record is read. For clients that speak TLS; not to be had by a path.
    Handshake,
    /// When a client's first request over HTTP/2 is read. For clients that speak that; not to be had by a path.
    Http2,
    /// When a request's head is read, before its body.
    Head,
    /// When a whole request is read.
    Request,
}

impl At {
    /// A fault that begins then.
    const fn fault(
        self,
        name: &'static str,
        does: &'static str,
        steps: &'static [Step],
        expected: &'static [&'static str],
    ) -> Fault {
        Fault {
            name,
            does,
            at: self,
            steps,
            expected,
        }
    }
}

/// One thing to do on a connection.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Sends the bytes at once.
    Send(&'static [u8]),
    /// Sends the bytes so many times in a row.
    SendTimes(&'static [u8], u32),
    /// Sends the bytes one by one, each in a packet of its own.
    Trickle(&'static [u8]),
    /// Sends the bytes in two parts, a moment apart: the n-th time cut after byte n.
    SplitBySlice(&'static [u8]),
    /// Sends the bytes again and again with this pause between, until the peer goes.
    Drip(&'static [u8], Duration),
    /// Waits.
    Pause(Duration),
    /// Does nothing more until the peer goes.
    Hang,
    /// Ends the sending direction, and waits until the peer goes.
    HalfClose,
    /// Ends the connection in order.
    Close,
    /// Ends the connection by a reset.
    Reset,
    /// Listening only: listens on no port at all, so that the system refuses.
    Refuse,
    /// Listening only: the queue of new connections is full and stays so.
    FillBacklog,
    /// Listening only: waits this long before each accept.
    AcceptAfter(Duration),
}

/// All faults, by the part that is wrong.
pub fn all() -> impl Iterator<Item = &'static Fault> {
    connections::FAULTS
        .iter()
        .chain(heads::FAULTS)
        .chain(bodies::FAULTS)
        .chain(handshakes::FAULTS)
        .chain(http2::FAULTS)
}

/// The fault of this name.
pub fn find(name: &str) -> Option<&'static Fault> {
    all().find(|fault| fault.name == name)
}

/// The good answer, given to every request that meets no fault.
pub const GOOD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello, World";

const RESET: &[&str] = &["network/reset"];
const CLOSED_EARLY: &[&str] = &["peer/closed_early"];
const TIMEOUT: &[&str] = &["peer/timeout"];
const BAD_ANSWER: &[&str] = &["peer/bad_answer"];
const FINE: &[&str] = &[ANSWERED];
