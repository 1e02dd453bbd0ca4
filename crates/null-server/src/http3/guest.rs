//! One connection of HTTP/3: its streams, and the answer to each request.

use crate::answer::Answer;
use crate::http2;
use crate::responder::burn;
use assay_http3::frame::{self, kind};
use assay_http3::message::{Event, MOST_FIELD_BYTES, MessageError, Reader, Side};
use assay_http3::peer::{Peer, Role, Stream};
use assay_http3::{Code, Fault, Heads, qpack};
use bytes::Bytes;
use quinn_proto::{Connection, Dir, ReadError, StreamEvent, StreamId, VarInt, WriteError};
use std::collections::HashMap;
use std::time::Instant;

/// The answer, framed: without a table it is the same on every connection.
#[derive(Debug)]
pub struct Prepared {
    head: Bytes,
    body: Bytes,
    cost_ns: u64,
}

impl Prepared {
    /// Of what is answered over HTTP/2: the fields are the same.
    pub fn new(answer: &Answer, cost_ns: u64) -> Self {
        let answer = http2::Prepared::new(answer);
        let (mut block, mut head, mut body) = (Vec::new(), Vec::new(), Vec::new());
        qpack::encode(answer.fields(), &mut block);
        frame::write(kind::HEADERS, &block, &mut head);
        if !answer.body().is_empty() {
            frame::write(kind::DATA, answer.body(), &mut body);
        }
        Self {
            head: head.into(),
            body: body.into(),
            cost_ns,
        }
    }
}

/// A request that is being read, or an answer that is being sent.
enum Exchange {
    Reading { reader: Reader, is_head: bool },
    Sending([Bytes; 2]),
}

/// One connection.
pub(super) struct Guest {
    pub(super) connection: Connection,
    /// When its timer goes off, and when the loop will look at that.
    pub(super) due: Option<Instant>,
    pub(super) queued: Option<Instant>,
    peer: Peer,
    own: HashMap<StreamId, Stream>,
    exchanges: HashMap<StreamId, Exchange>,
    heads: Heads,
}

impl Guest {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            connection,
            due: None,
            queued: None,
            peer: Peer::new(Role::Client),
            own: HashMap::new(),
            exchanges: HashMap::new(),
            heads: Heads::default(),
        }
    }

    /// Does what happened asks for.
    pub(super) fn serve(&mut self, now: Instant, answer: &Prepared) {
        while let Some(event) = self.connection.poll() {
            if let Err(fault) = self.heed(&event, answer) {
                let code = VarInt::try_from(fault.code().0).expect("codes are small");
                let reason = Bytes::from(fault.to_string());
                self.connection.close(now, code, reason);
            }
        }
    }

    fn heed(&mut self, event: &quinn_proto::Event, answer: &Prepared) -> Result<(), Fault> {
        match event {
            quinn_proto::Event::Connected => self.greet(),
            quinn_proto::Event::Stream(StreamEvent::Opened { dir }) => {
                while let Some(id) = self.connection.streams().accept(*dir) {
                    self.open(id);
                    self.read(id, answer)?;
                }
            }
            quinn_proto::Event::Stream(StreamEvent::Readable { id }) => self.read(*id, answer)?,
            quinn_proto::Event::Stream(StreamEvent::Writable { id }) => self.send(*id),
            quinn_proto::Event::Stream(StreamEvent::Stopped { id, .. }) => {
                self.exchanges.remove(id);
                // It may have been finished by now.
                let _ = self.connection.send_stream(*id).reset(code(Code::NO_ERROR));
            }
            _ => {}
        }
        Ok(())
    }

    /// Opens our control stream. The streams of QPACK are left out: they would say nothing.
    fn greet(&mut self) {
        let mut out = Vec::new();
        frame::write_control(MOST_FIELD_BYTES as u64, &mut out);
        if let Some(id) = self.connection.streams().open(Dir::Uni) {
            // A client that leaves no room for these few bytes breaks RFC 9114, 6.2, and gets no SETTINGS.
            let _ = self.connection.send_stream(id).write(&out);
        }
    }

    fn open(&mut self, id: StreamId) {
        if id.dir() == Dir::Uni {
            self.own.insert(id, Stream::default());
            return;
        }
        let reader = Reader::new(Side::Request);
        let is_head = false;
        self.exchanges
            .insert(id, Exchange::Reading { reader, is_head });
    }

    /// Reads a stream until it has no more.
    fn read(&mut self, id: StreamId, answer: &Prepared) -> Result<(), Fault> {
        let mut stream = self.connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            return Ok(());
        };
        let (mut pieces, mut has_ended) = (Vec::new(), false);
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => pieces.push(chunk.bytes),
                Ok(None) => has_ended = true,
                Err(ReadError::Blocked) => break,
                Err(ReadError::Reset(_)) => {
                    self.exchanges.remove(&id);
                    has_ended = true;
                }
            }
            if has_ended {
                break;
            }
        }
        let _ = chunks.finalize();
        if id.dir() == Dir::Uni {
            return self.read_own(id, &pieces, has_ended);
        }
        let Err(broken) = self.read_request(id, &pieces, has_ended, answer) else {
            return Ok(());
        };
        match broken {
            MessageError::Connection(fault) => Err(fault),
            MessageError::Stream(fault) => {
                self.exchanges.remove(&id);
                let code = code(fault.code());
                let _ = self.connection.recv_stream(id).stop(code);
                let _ = self.connection.send_stream(id).reset(code);
                Ok(())
            }
        }
    }

    fn read_own(&mut self, id: StreamId, pieces: &[Bytes], has_ended: bool) -> Result<(), Fault> {
        let Some(stream) = self.own.get_mut(&id) else {
            return Ok(());
        };
        for piece in pieces {
            let mut input = &piece[..];
            while self.peer.next(stream, &mut input)?.is_some() {}
        }
        if has_ended {
            self.peer.finish(stream)?;
            self.own.remove(&id);
        }
        Ok(())
    }

    fn read_request(
        &mut self,
        id: StreamId,
        pieces: &[Bytes],
        has_ended: bool,
        answer: &Prepared,
    ) -> Result<(), MessageError> {
        let Some(Exchange::Reading { reader, is_head }) = self.exchanges.get_mut(&id) else {
            return Ok(());
        };
        for piece in pieces {
            let mut input = &piece[..];
            while let Some(event) = reader.next(&mut input, &mut self.heads)? {
                if event == Event::Request {
                    *is_head = self
                        .heads
                        .fields()
                        .iter()
                        .any(|field| field == (b":method", b"HEAD"));
                }
            }
        }
        if has_ended {
            reader.finish()?;
            burn(answer.cost_ns);
            let body = if *is_head {
                Bytes::new()
            } else {
                answer.body.clone()
            };
            let rest = Exchange::Sending([answer.head.clone(), body]);
            self.exchanges.insert(id, rest);
            self.send(id);
        }
        Ok(())
    }

    /// Sends what the windows allow of an answer, and ends its stream behind it.
    fn send(&mut self, id: StreamId) {
        let Some(Exchange::Sending(rest)) = self.exchanges.get_mut(&id) else {
            return;
        };
        let mut stream = self.connection.send_stream(id);
        while rest.iter().any(|piece| !piece.is_empty()) {
            match stream.write_chunks(rest) {
                Ok(_) => {}
                Err(WriteError::Blocked) => return,
                Err(_) => break,
            }
        }
        // Where the client has given the stream up there is nothing to finish.
        let _ = stream.finish();
        self.exchanges.remove(&id);
    }
}

fn code(code: Code) -> VarInt {
    VarInt::try_from(code.0).expect("codes are small")
}
