//! HTTP/2 over a transport: what one connection is made of while it is open.

use std::io;

use assay_http2::client::{Answer, Client, Listener, Request, Windows};
use assay_http2::frame::{self, Code};
use assay_http2::{Fault, StreamFault};

use super::reading::Reading;
use crate::context::{ArmContext, ConnectionFailure};
use crate::record::Failure;
use crate::transport::Transport;

/// Wide enough never to set the pace of a server on a network that one measures over.
const WINDOWS: Windows = Windows {
    stream: 16 * 1024 * 1024,
    connection: 256 * 1024 * 1024,
};
/// With so much that the peer does not take, no stream is opened.
const MOST_UNSENT: usize = 256 * 1024;
/// What was sent is let go of from so much on, where it is the greater part.
const MOST_SENT: usize = 64 * 1024;

/// A transport and the state of HTTP/2 on it.
#[derive(Debug)]
pub(crate) struct Http2<T> {
    pub(crate) transport: T,
    /// The codec, once requests can be sent.
    pub(super) client: Option<Box<Client>>,
    /// What is to be sent, and how much of it is.
    pub(super) out: Vec<u8>,
    sent_bytes: usize,
}

impl<T: Transport> Http2<T> {
    pub(crate) fn new(transport: T) -> Self {
        Self {
            transport,
            client: None,
            out: Vec::new(),
            sent_bytes: 0,
        }
    }

    /// Begins to speak on a transport that is ready, with this stream.
    pub(super) fn greet(&mut self, first_stream: u32) {
        self.out.clear();
        let mut client = Box::new(Client::new(WINDOWS, &mut self.out));
        client.leave_out_up_to(first_stream);
        self.client = Some(client);
    }

    /// Whether the peer allows another stream now. Until it has greeted us nobody knows how many it allows, so there
    /// is one.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        let allows =
            |client: &Client| client.room() > 0 && (client.is_greeted() || client.under_way() == 0);
        self.client.as_deref().is_some_and(allows) && self.out.len() - self.sent_bytes < MOST_UNSENT
    }

    pub(super) fn is_full(&self) -> bool {
        let full =
            |client: &Client| client.is_greeted() && client.room() == 0 && !client.is_spent();
        self.client.as_deref().is_some_and(full)
    }

    /// Opens a stream for a request, where there is room for one.
    #[inline]
    pub(super) fn open(&mut self, key: u32, request: &Request) -> Option<u64> {
        if self.out.len() - self.sent_bytes >= MOST_UNSENT {
            return None;
        }
        let client = self.client.as_mut()?;
        if !client.is_greeted() && client.under_way() > 0 {
            return None;
        }
        client.open(key, request, &mut self.out).map(u64::from)
    }

    pub(super) fn cancel(&mut self, stream: u64) {
        if let (Some(client), Ok(stream)) = (&mut self.client, u32::try_from(stream)) {
            client.cancel(stream, &mut self.out);
        }
    }

    /// With which error the peer has said that it ends the connection, where it has.
    #[inline]
    pub(crate) fn refusal(&self) -> Option<Code> {
        self.client.as_deref().and_then(Client::refusal)
    }

    /// Takes in bytes that were read.
    ///
    /// # Errors
    /// How the peer broke the connection.
    #[inline]
    pub(super) fn receive(
        &mut self,
        input: &[u8],
        at: &mut Reading<'_>,
    ) -> Result<(), ConnectionFailure> {
        let Some(client) = &mut self.client else {
            return Ok(());
        };
        let received = client.receive(input, &mut self.out, at);
        received
            .map_err(|fault| ConnectionFailure::of_http2(fault, client.is_greeted(), at.context))
    }

    /// Writes as much as fits; how much that was.
    pub(crate) fn write(&mut self) -> io::Result<usize> {
        let mut written = 0;
        while self.sent_bytes < self.out.len() {
            match self.transport.write(&self.out[self.sent_bytes..]) {
                Ok(bytes) => {
                    self.sent_bytes += bytes;
                    written += bytes;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.let_go();
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if self.sent_bytes == self.out.len() {
            self.out.clear();
            self.sent_bytes = 0;
        }
        if let Some(client) = &mut self.client {
            client.note_sent(written);
        }
        Ok(written)
    }

    /// Lets go of what was sent, where the peer takes less at a time than there always is: each byte is moved once.
    #[cold]
    fn let_go(&mut self) {
        if self.sent_bytes > MOST_SENT.max(self.out.len() / 2) {
            self.out.drain(..self.sent_bytes);
            self.sent_bytes = 0;
        }
    }

    /// Tells the peer that nothing more will come, if it can be told at once; nothing depends on it.
    pub(super) fn part(&mut self, is_open: bool) {
        if is_open && self.out.is_empty() {
            frame::write_goaway(0, Code::NO_ERROR, "", &mut self.out);
        }
        let _ = self.transport.write(&self.out[self.sent_bytes..]);
        let _ = self.transport.flush();
    }
}

impl Listener for Reading<'_> {
    #[inline]
    fn answer(&mut self, key: u32, answer: Answer<'_>) {
        let head = self.context.heads.of_fields(
            "HTTP/2",
            (self.number, answer.number),
            answer.status,
            answer.fields.iter(),
            self.program.reads_heads,
        );
        self.take_head(key, head);
    }

    #[inline]
    fn body(&mut self, key: u32, data: &[u8]) {
        let exchange = &mut self.slots[key as usize].exchange;
        exchange.take_data(data, self.program, self.context);
    }

    #[inline]
    fn end(&mut self, key: u32) {
        self.end_answer(key);
    }

    fn failed(&mut self, key: u32, fault: StreamFault) {
        let broken = ConnectionFailure::of_stream(fault, self.context);
        self.fail_answer(key, broken);
    }

    fn going_away(&mut self, code: Code) {
        self.context.recorder.note_going_away(code.name());
    }
}

impl ConnectionFailure {
    /// How a connection of HTTP/2 was broken by its peer.
    fn of_http2(fault: Fault, is_greeted: bool, context: &ArmContext) -> Self {
        if fault == Fault::Http1 {
            return Self::new(Failure::WrongProtocol, fault.to_string());
        }
        let stage = if is_greeted { "open" } else { "greeting" };
        let code = fault.code().name();
        context.recorder.note_fault(&format!("{stage}: {code}"));
        Self::new(Failure::ProtocolError, format!("{code}: {fault}"))
    }

    /// Why a stream came to nothing.
    fn of_stream(fault: StreamFault, context: &ArmContext) -> Self {
        let failure = match fault {
            StreamFault::Reset(code) => {
                context.recorder.note_reset(code.name());
                Failure::StreamReset
            }
            StreamFault::Unprocessed => Failure::Unprocessed,
            _ => Failure::BadAnswer,
        };
        Self::new(failure, fault.to_string())
    }

    /// The peer ended a connection that carried requests.
    pub(crate) fn closed_http2(is_greeted: bool, is_going_away: bool) -> Self {
        match (is_greeted, is_going_away) {
            (false, _) => Self::new(Failure::ClosedEarly, "closed before its SETTINGS"),
            (true, true) => Self::new(
                Failure::ClosedEarly,
                "closed before it answered what its GOAWAY had left open",
            ),
            (true, false) => Self::new(
                Failure::ClosedUnannounced,
                "closed without GOAWAY, with requests under way",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::os::fd::RawFd;

    use super::Http2;
    use crate::transport::{Progress, Transport};

    /// A peer that takes so many bytes each time it is written to, and is then full.
    struct Slow {
        taken: Vec<u8>,
        is_full: bool,
    }

    const TAKES: usize = 10_000;

    impl Transport for Slow {
        type Connector = ();
        const SHORT_READ_DRAINS: bool = true;
        const SHAKES_HANDS: bool = false;

        fn open(_: &mut (), _: usize) -> io::Result<Self> {
            Ok(Self {
                taken: Vec::new(),
                is_full: false,
            })
        }

        fn descriptor(&self) -> RawFd {
            -1
        }

        fn establish(&mut self) -> io::Result<Progress> {
            Ok(Progress::Ready)
        }

        fn read(&mut self, _: &mut [u8], _: bool) -> io::Result<usize> {
            Err(io::ErrorKind::WouldBlock.into())
        }

        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.is_full = !self.is_full;
            if !self.is_full {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let taken = &bytes[..bytes.len().min(TAKES)];
            self.taken.extend_from_slice(taken);
            Ok(taken.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_was_sent_is_let_go_of_where_there_is_always_more() {
        const AHEAD: usize = 100_000;
        let mut http2 = Http2::new(Slow::open(&mut (), 0).unwrap());
        let mut bytes = (0..=u8::MAX).cycle();
        http2.out.extend(bytes.by_ref().take(AHEAD));
        for _ in 0..500 {
            http2.out.extend(bytes.by_ref().take(TAKES));
            assert_eq!(http2.write().unwrap(), TAKES);
            assert!(http2.out.len() < 4 * AHEAD, "{}", http2.out.len());
        }
        let taken = &http2.transport.taken;
        assert_eq!(taken.len(), 500 * TAKES);
        let mut in_order = (0..=u8::MAX).cycle().zip(taken);
        assert!(in_order.all(|(byte, taken)| byte == *taken));
    }
}
