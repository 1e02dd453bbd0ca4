//! Whose fault a failed request was, and in what way it failed.

use std::io;

use serde::{Deserialize, Serialize};

use crate::protocol::Fault;

/// Who is to blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// We could not: out of descriptors, ports or memory.
    Generator,
    /// The server did something wrong.
    Peer,
    /// The path between broke, or was never there.
    Network,
    /// An expectation of the plan was not met.
    Plan,
}

macro_rules! failures {
    ($($(#[doc = $doc:literal])+ $variant:ident = $origin:ident, $name:literal;)+) => {
        /// In what way a request failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Failure {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Failure {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Whose fault it is.
            #[must_use]
            pub const fn origin(self) -> Origin {
                match self { $(Self::$variant => Origin::$origin,)+ }
            }

            /// Its name in a measurement.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

failures! {
    /// Nobody listens there.
    ConnectRefused = Network, "connect_refused";
    /// No connection within the plan's timeout, or the system's own.
    ConnectTimeout = Network, "connect_timeout";
    /// There is no way to the address.
    Unreachable = Network, "unreachable";
    /// The connection was reset.
    Reset = Network, "reset";
    /// Another error of the operating system on the connection.
    OtherIo = Network, "io_error";
    /// The server closed the connection inside an answer, or before the first answer on it.
    ClosedEarly = Peer, "closed_early";
    /// The server closed a connection that had served before, without a byte of the next
    /// answer, and the request was not sent again (RFC 9112, 9.3.1).
    ClosedIdle = Peer, "closed_idle";
    /// No complete answer within the plan's timeout.
    Timeout = Peer, "timeout";
    /// The answer breaks the protocol.
    BadAnswer = Peer, "bad_answer";
    /// The TLS handshake failed or the record layer broke.
    Tls = Peer, "tls_error";
    /// More redirects than the plan follows.
    TooManyRedirects = Peer, "too_many_redirects";
    /// A proxy did not open the tunnel.
    ProxyRefused = Peer, "proxy_refused";
    /// A status that the plan does not allow.
    UnexpectedStatus = Plan, "unexpected_status";
    /// A header that the plan expects is missing or different.
    UnexpectedHeader = Plan, "unexpected_header";
    /// A body that the plan does not allow.
    UnexpectedBody = Plan, "unexpected_body";
    /// A redirect that the plan follows leads to another scheme, host or port.
    RedirectElsewhere = Plan, "redirect_elsewhere";
    /// The process has no file descriptor left.
    NoDescriptors = Generator, "no_descriptors";
    /// No local port is left for a new connection.
    NoPorts = Generator, "no_ports";
    /// The kernel has no memory left for a connection.
    NoMemory = Generator, "no_memory";
    /// The server does not speak the HTTP that was asked for.
    WrongProtocol = Peer, "wrong_protocol";
    /// The server broke HTTP/2, HTTP/3 or QUIC on a whole connection.
    ProtocolError = Peer, "protocol_error";
    /// The server ended one stream of HTTP/2 or HTTP/3 by a reset.
    StreamReset = Peer, "stream_reset";
    /// The server says that it did nothing for the request (REFUSED_STREAM or
    /// H3_REQUEST_REJECTED, or a stream beyond the last of its GOAWAY), and it was not sent again (RFC 9113, 8.7).
    Unprocessed = Peer, "unprocessed";
    /// The server closed a connection of HTTP/2 or HTTP/3 that carried requests, without GOAWAY.
    ClosedUnannounced = Peer, "closed_unannounced";
    /// Nothing was heard on a connection of HTTP/3, which carried requests, for as long as its idle timeout.
    IdleTimeout = Peer, "idle_timeout";
}

impl Failure {
    /// The failure an error of the operating system means.
    #[must_use]
    pub fn of_io(error: &io::Error) -> Self {
        use rustix::io::Errno;
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::CONNREFUSED | Errno::NOENT) => Self::ConnectRefused,
            Some(Errno::TIMEDOUT) => Self::ConnectTimeout,
            Some(Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NETDOWN | Errno::HOSTDOWN) => {
                Self::Unreachable
            }
            Some(Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED) => Self::Reset,
            Some(Errno::MFILE | Errno::NFILE) => Self::NoDescriptors,
            Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE) => Self::NoPorts,
            Some(Errno::NOMEM | Errno::NOBUFS) => Self::NoMemory,
            Some(_) => Self::OtherIo,
            // TLS and proxies report faults of their own as errors without a system's number.
            None if is_no_protocol(error) => Self::WrongProtocol,
            None => match error.kind() {
                io::ErrorKind::UnexpectedEof => Self::ClosedEarly,
                io::ErrorKind::PermissionDenied => Self::ProxyRefused,
                _ => Self::Tls,
            },
        }
    }

    /// The failure a fault of the protocol means.
    #[must_use]
    pub fn of_fault(fault: Fault) -> Self {
        match fault {
            Fault::ClosedInHead | Fault::ClosedInBody => Self::ClosedEarly,
            Fault::BadHead(_)
            | Fault::HeadTooLarge
            | Fault::TooManyFields
            | Fault::BadLength
            | Fault::BadChunk(_)
            | Fault::TooManyInterim
            | Fault::Upgrade => Self::BadAnswer,
        }
    }
}

/// Whether the server picks none of the protocols that ALPN offered it.
fn is_no_protocol(error: &io::Error) -> bool {
    let fault = error.get_ref().and_then(|inner| inner.downcast_ref());
    let no_protocol = rustls::AlertDescription::NoApplicationProtocol;
    matches!(fault, Some(rustls::Error::AlertReceived(alert)) if *alert == no_protocol)
}

/// At most this much of an example is kept.
const EXAMPLE_BYTES: usize = 200;

/// Bytes of a peer as text that is safe to show: at most 200 bytes, escaped.
#[must_use]
pub fn example(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let escaped = byte.escape_ascii();
        if text.len() + escaped.len() > EXAMPLE_BYTES - 3 {
            text.push_str("...");
            break;
        }
        text.extend(escaped.map(char::from));
    }
    text
}
