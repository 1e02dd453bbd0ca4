//! What the peer says on a connection: answers, and what its own streams say.

use assay_http3::frame::{self, stream};
use assay_http3::message::{self, Event, MOST_FIELD_BYTES};
use assay_http3::{Code, Fault, Heads, peer};
use bytes::Bytes;
use quinn_proto::{Dir, ReadError, StreamEvent, StreamId};

use super::connection::{Http3, Stream, code, id_of, send};
use super::lost;
use crate::context::ConnectionFailure;
use crate::record::Failure;
use crate::streams::reading::Reading;

impl Http3 {
    /// Does what the datagrams that were read, or a timer, ask for; whether the handshake was done with them.
    ///
    /// # Errors
    /// How the connection was lost, or broken by the peer.
    pub(in crate::streams) fn serve(
        &mut self,
        heads: &mut Heads,
        at: &mut Reading<'_>,
    ) -> Result<bool, ConnectionFailure> {
        let mut is_connected = false;
        while let Some(event) = self.connection.poll() {
            let heeded = match event {
                quinn_proto::Event::Connected => {
                    is_connected = true;
                    self.greet();
                    Ok(())
                }
                quinn_proto::Event::ConnectionLost { reason } => {
                    return Err(self.path_state().lost(&reason, at.context));
                }
                quinn_proto::Event::Stream(event) => self.heed(event, heads, at),
                _ => Ok(()),
            };
            if let Err(fault) = heeded {
                self.closes_with = fault.code();
                return Err(self.path_state().faulty(fault, at.context));
            }
        }
        Ok(is_connected)
    }

    /// Opens our control stream. The streams of QPACK are left out: they would say nothing.
    fn greet(&mut self) {
        self.is_open = true;
        // A server that allows no such stream breaks RFC 9114, 6.2, and gets no SETTINGS.
        if let Some(id) = self.connection.streams().open(Dir::Uni) {
            let mut out = Vec::new();
            frame::write_control(MOST_FIELD_BYTES as u64, &mut out);
            self.control = Some((id, out.into()));
            self.send_control();
        }
    }

    /// Sends what the windows allow of our control stream's beginning.
    fn send_control(&mut self) {
        if let Some((id, rest)) = &mut self.control {
            let mut stream = self.connection.send_stream(*id);
            while !rest.is_empty() && stream.write_chunks(std::slice::from_mut(rest)).is_ok() {}
            if rest.is_empty() {
                self.control = None;
            }
        }
    }

    fn heed(
        &mut self,
        event: StreamEvent,
        heads: &mut Heads,
        at: &mut Reading<'_>,
    ) -> Result<(), Fault> {
        match event {
            StreamEvent::Readable { id } if id.dir() == Dir::Bi => self.read(id, heads, at),
            StreamEvent::Readable { id } => self.read_own(id, at),
            StreamEvent::Opened { dir } => {
                while let Some(id) = self.connection.streams().accept(dir) {
                    self.own.reserve_exact(1);
                    self.own.push((id, peer::Stream::default()));
                    self.read_own(id, at)?;
                }
                Ok(())
            }
            // The only stream of that kind that we open.
            StreamEvent::Writable { id } if id.dir() == Dir::Uni => {
                self.send_control();
                Ok(())
            }
            StreamEvent::Stopped { id, .. } if id.dir() == Dir::Uni => {
                Err(Fault::Closed(stream::CONTROL))
            }
            StreamEvent::Writable { id } => {
                if let Some(stream) = self.streams.get_mut(&id.index())
                    && !stream.unsent.is_empty()
                {
                    send(&mut self.connection, id, &mut stream.unsent);
                    self.stalled -= usize::from(stream.unsent.is_empty());
                }
                Ok(())
            }
            StreamEvent::Stopped { id, .. } => {
                // The answer may come all the same (RFC 9114, 4.1.1).
                if let Some(stream) = self.streams.get_mut(&id.index()) {
                    self.stalled -= usize::from(!stream.unsent.is_empty());
                    stream.unsent = Bytes::new();
                }
                let _ = self.connection.send_stream(id).reset(code(Code::NO_ERROR));
                Ok(())
            }
            StreamEvent::Available { dir: Dir::Bi } => {
                self.is_full = false;
                Ok(())
            }
            StreamEvent::Available { dir: Dir::Uni } | StreamEvent::Finished { .. } => Ok(()),
        }
    }

    /// Reads what there is of an answer.
    fn read(&mut self, id: StreamId, heads: &mut Heads, at: &mut Reading<'_>) -> Result<(), Fault> {
        let Some(stream) = self.streams.get_mut(&id.index()) else {
            return Ok(());
        };
        let mut receiving = self.connection.recv_stream(id);
        let Ok(mut chunks) = receiving.read(true) else {
            return Ok(());
        };
        let ended = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    if let Err(broken) = stream.read(&chunk.bytes, heads, at) {
                        break MessageEnd::Broken(broken);
                    }
                }
                Ok(None) => match stream.reader.finish() {
                    Ok(()) => break MessageEnd::Whole,
                    Err(broken) => break MessageEnd::Broken(broken),
                },
                Err(ReadError::Blocked) => break MessageEnd::NotYet,
                Err(ReadError::Reset(code)) => break MessageEnd::Reset(Code(code.into_inner())),
            }
        };
        let _ = chunks.finalize();
        self.ended(id, ended, at)
    }

    /// What follows for a stream from what was read of it.
    fn ended(
        &mut self,
        id: StreamId,
        ended: MessageEnd,
        at: &mut Reading<'_>,
    ) -> Result<(), Fault> {
        let (broken, why) = match ended {
            MessageEnd::NotYet => return Ok(()),
            MessageEnd::Whole => {
                if let Some(stream) = self.take(id.index()) {
                    at.end_answer(stream.key);
                    if !stream.unsent.is_empty() {
                        // What is not asked for any more (RFC 9114, 4.1).
                        let _ = self.connection.send_stream(id).reset(code(Code::NO_ERROR));
                    }
                }
                return Ok(());
            }
            MessageEnd::Broken(message::MessageError::Connection(fault)) => return Err(fault),
            MessageEnd::Broken(message::MessageError::Stream(fault)) => {
                let broken = ConnectionFailure::new(Failure::BadAnswer, fault.to_string());
                (broken, fault.code())
            }
            MessageEnd::Reset(code) => (lost::reset(code, at.context), Code::REQUEST_CANCELLED),
        };
        if let Some(stream) = self.take(id.index()) {
            at.fail_answer(stream.key, broken);
            self.end_stream(id, why);
        }
        Ok(())
    }

    /// Reads what there is of one of the peer's own streams.
    fn read_own(&mut self, id: StreamId, at: &mut Reading<'_>) -> Result<(), Fault> {
        let Some(place) = self.own.iter().position(|(own, _)| *own == id) else {
            return Ok(());
        };
        let own = &mut self.own[place].1;
        let mut receiving = self.connection.recv_stream(id);
        let Ok(mut chunks) = receiving.read(true) else {
            return Ok(());
        };
        let mut goes_away = None;
        let has_ended = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    let mut input = &chunk.bytes[..];
                    while let Some(event) = self.peer.next(own, &mut input)? {
                        if let peer::Event::GoAway(from) = event {
                            goes_away = Some(from);
                        }
                    }
                }
                Ok(None) | Err(ReadError::Reset(_)) => break true,
                Err(ReadError::Blocked) => break false,
            }
        };
        let _ = chunks.finalize();
        if has_ended {
            self.peer.finish(own)?;
            self.own.swap_remove(place);
        } else if own.is_useless() {
            self.own.swap_remove(place);
            let why = code(Code::STREAM_CREATION_ERROR);
            let _ = self.connection.recv_stream(id).stop(why);
        }
        if let Some(from) = goes_away {
            self.go_away(from, at);
        }
        Ok(())
    }

    /// The peer processes no request from this stream on (RFC 9114, 5.2).
    fn go_away(&mut self, from: u64, at: &mut Reading<'_>) {
        self.is_going_away = true;
        at.context.recorder.note_going_away("GOAWAY");
        let first = from / 4;
        let beyond: Vec<u64> = (self.streams.keys().copied())
            .filter(|number| *number >= first)
            .collect();
        for number in beyond {
            if let Some(stream) = self.take(number) {
                let detail = "beyond the last request of the server's GOAWAY";
                let broken = ConnectionFailure::new(Failure::Unprocessed, detail);
                at.fail_answer(stream.key, broken);
                self.end_stream(id_of(number), Code::REQUEST_CANCELLED);
            }
        }
    }
}

/// The connection on which a head came, where it is the same on all.
const OF_ANY: u32 = 0;

/// What was read of a stream so far.
enum MessageEnd {
    NotYet,
    Whole,
    Reset(Code),
    Broken(message::MessageError),
}

impl Stream {
    /// Takes in a piece of the answer.
    #[inline]
    fn read(
        &mut self,
        mut input: &[u8],
        heads: &mut Heads,
        at: &mut Reading<'_>,
    ) -> Result<(), message::MessageError> {
        while let Some(event) = self.reader.next(&mut input, heads)? {
            match event {
                Event::Answer { status } => {
                    let head = at.context.heads.of_fields(
                        "HTTP/3",
                        (OF_ANY, heads.changes()),
                        status,
                        heads.fields().iter(),
                        at.program.reads_heads,
                    );
                    at.take_head(self.key, head);
                }
                Event::Body(data) => {
                    let exchange = &mut at.slots[self.key as usize].exchange;
                    exchange.take_data(data, at.program, at.context);
                }
                Event::Request => {}
            }
        }
        Ok(())
    }
}
