//! What it means that a connection of QUIC was lost, or a stream of it ended by the peer.

use std::io;

use assay_http3::{Code, Fault};
use quinn_proto::{ConnectionError, TransportErrorCode};

use crate::context::{ArmContext, ConnectionFailure};
use crate::record::Failure;

/// TLS's alert of no_application_protocol (RFC 7301, 3.2).
const NO_APPLICATION_PROTOCOL: u64 = 120;

/// A code's name, or the code where it has none. Those that are reserved, to be made up at will, share one.
pub(super) fn name(code: Code) -> String {
    match code.name() {
        "unknown" if is_reserved(code) => "reserved".into(),
        "unknown" => format!("{:#x}", code.0),
        name => name.into(),
    }
}

/// RFC 9114, 8.1.
fn is_reserved(code: Code) -> bool {
    code.0 >= 0x21 && (code.0 - 0x21) % 0x1f == 0
}

/// How far a connection had come.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathState {
    pub(super) is_open: bool,
    pub(super) is_going_away: bool,
}

impl PathState {
    fn stage(self) -> &'static str {
        match self.is_open {
            false => "handshake",
            true => "open",
        }
    }

    /// What it is that the server ends a connection without saying that anything was wrong.
    fn closed(self) -> Failure {
        match (self.is_open, self.is_going_away) {
            (true, false) => Failure::ClosedUnannounced,
            _ => Failure::ClosedEarly,
        }
    }

    fn broken(
        self,
        failure: Failure,
        name: &str,
        detail: String,
        context: &ArmContext,
    ) -> ConnectionFailure {
        let stage = self.stage();
        context.recorder.note_fault(&format!("{stage}: {name}"));
        ConnectionFailure::new(failure, detail)
    }

    /// Why QUIC has lost it.
    pub(super) fn lost(self, reason: &ConnectionError, context: &ArmContext) -> ConnectionFailure {
        let (failure, name, detail) = match reason {
            ConnectionError::VersionMismatch => (
                Failure::WrongProtocol,
                "version negotiation".into(),
                "the server speaks no version of QUIC that we do (version negotiation)".into(),
            ),
            ConnectionError::TimedOut => (
                Failure::IdleTimeout,
                "idle timeout".into(),
                "nothing was heard for as long as the connection's idle timeout".into(),
            ),
            ConnectionError::Reset => (
                Failure::Reset,
                "stateless reset".into(),
                "the server does not know the connection any more (stateless reset)".into(),
            ),
            ConnectionError::TransportError(error) => {
                let (failure, name) = self.of_transport(error.code, Failure::ProtocolError);
                (failure, name, error.to_string())
            }
            ConnectionError::ConnectionClosed(close) => {
                let (failure, name) = self.of_transport(close.error_code, self.closed());
                let detail = format!("the server closes with {name}: {close}");
                (failure, name, detail)
            }
            ConnectionError::ApplicationClosed(close) => {
                let name = name(Code(close.error_code.into_inner()));
                let why = String::from_utf8_lossy(&close.reason);
                let between = if why.is_empty() { "" } else { ": " };
                let detail = format!("the server closes with {name}{between}{why}");
                (self.closed(), name, detail)
            }
            ConnectionError::LocallyClosed | ConnectionError::CidsExhausted => {
                (Failure::OtherIo, reason.to_string(), reason.to_string())
            }
        };
        let detail = match failure {
            Failure::WrongProtocol if name != "version negotiation" => NOT_PICKED.into(),
            _ => detail,
        };
        self.broken(failure, &name, detail, context)
    }

    /// What a code of QUIC's own means, where it says nothing else `otherwise`.
    fn of_transport(self, code: TransportErrorCode, otherwise: Failure) -> (Failure, String) {
        const ALERTS: std::ops::Range<u64> = 0x100..0x200;
        let number = u64::from(code);
        if ALERTS.contains(&number) {
            let alert = number - ALERTS.start;
            let failure = match alert {
                NO_APPLICATION_PROTOCOL => Failure::WrongProtocol,
                _ => Failure::Tls,
            };
            return (failure, format!("TLS alert {alert}"));
        }
        let failure = match code {
            TransportErrorCode::CONNECTION_REFUSED if !self.is_open => Failure::ConnectRefused,
            _ => otherwise,
        };
        (failure, format!("{code:?}"))
    }

    /// How its peer broke HTTP/3.
    pub(super) fn faulty(self, fault: Fault, context: &ArmContext) -> ConnectionFailure {
        let name = name(fault.code());
        let detail = format!("{name}: {fault}");
        self.broken(Failure::ProtocolError, &name, detail, context)
    }

    /// What the system says of its socket: of a server that was there, that it is gone.
    pub(super) fn unreached(self, error: &io::Error, context: &ArmContext) -> ConnectionFailure {
        let broken = ConnectionFailure::io(error);
        if self.is_open && broken.failure == Failure::ConnectRefused {
            let detail = "the server's port is closed: it has gone".into();
            return self.broken(Failure::Reset, "port closed", detail, context);
        }
        let name = broken.failure.name();
        self.broken(broken.failure, name, broken.detail, context)
    }
}

const NOT_PICKED: &str = "the server does not speak HTTP/3: it does not pick h3 (ALPN)";

/// Why the peer ended a stream.
pub(super) fn reset(code: Code, context: &ArmContext) -> ConnectionFailure {
    if code == Code::REQUEST_REJECTED {
        return ConnectionFailure::new(Failure::Unprocessed, "the server rejected the request");
    }
    let name = name(code);
    context.recorder.note_reset(&name);
    ConnectionFailure::new(
        Failure::StreamReset,
        format!("the server ended the stream: {name}"),
    )
}
