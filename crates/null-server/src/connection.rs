//! One connection of an event-driven server: requests in, answers out, in order.

use crate::answer::{Form, PreparedAnswers};
use crate::request::{Remembered, RequestReader};
use mio::net::TcpStream;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Read as _, Write as _};
use std::net::Shutdown;
use std::sync::Arc;

/// A loop reads into a buffer of so many bytes.
pub const READ_BUFFER_BYTES: usize = 64 * 1024;
const ANSWERS_PER_WRITE: usize = 64;

/// What all connections of one loop share.
pub struct Shared {
    answers: Arc<PreparedAnswers>,
    remembered: Remembered,
    buffer: Box<[u8]>,
}

impl Shared {
    /// For a loop that gives `answers`.
    pub fn new(answers: Arc<PreparedAnswers>) -> Self {
        let buffer = vec![0; READ_BUFFER_BYTES].into_boxed_slice();
        Self {
            answers,
            remembered: Remembered::default(),
            buffer,
        }
    }
}

/// What becomes of a request that was read.
pub enum Decision {
    /// Answer it now.
    Answer,
    /// The caller gives the answer later, by [`Connection::release`], or never.
    Hold,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The last request was read; answers may still be due.
    Closing,
    /// All is sent and our side is shut; what the peer still sends is read away, because closing on unread
    /// bytes would reset the connection and could cost the peer its answer.
    Draining,
    Ended,
}

/// A connection, its place in the stream of requests, and the answers it is owed.
pub struct Connection {
    /// Registered with the loop for both directions, edge-triggered.
    pub stream: TcpStream,
    reader: RequestReader,
    /// Answers due, in order; `sent_bytes` of the first are out.
    owed: VecDeque<Form>,
    sent_bytes: usize,
    /// Requests read whose answers the caller holds back.
    delayed: usize,
    answered: u64,
    state: State,
}

impl Connection {
    /// A fresh connection.
    pub fn new(stream: TcpStream) -> Self {
        let (reader, owed) = (RequestReader::default(), VecDeque::new());
        let state = State::Open;
        Self {
            stream,
            reader,
            owed,
            sent_bytes: 0,
            delayed: 0,
            answered: 0,
            state,
        }
    }

    /// True once it can be dropped.
    pub fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// Answers whose last byte the system has taken.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// Requests read whose answers the caller holds back.
    pub fn delayed(&self) -> u64 {
        self.delayed as u64
    }

    /// Reads and answers until the socket has no more, or takes no more. `peer_closed` says that the event
    /// told of an end of stream; `decide` is asked once for each request.
    pub fn serve(
        &mut self,
        shared: &mut Shared,
        peer_closed: bool,
        decide: &mut impl FnMut(Form) -> Decision,
    ) -> io::Result<()> {
        loop {
            if !self.send(shared)? {
                return Ok(());
            }
            if self.state == State::Closing && self.delayed == 0 {
                self.stream.shutdown(Shutdown::Write)?;
                self.state = State::Draining;
            }
            let read = match self.stream.read(&mut shared.buffer) {
                Ok(0) => {
                    self.state = State::Ended;
                    return Ok(());
                }
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if self.state == State::Open {
                self.take_requests(shared, read, decide);
            }
            // A short read has emptied the socket (epoll(7)); only an end of stream may be behind it.
            if read < shared.buffer.len() && !peer_closed && self.state == State::Open {
                self.send(shared)?;
                return Ok(());
            }
        }
    }

    /// Gives one answer that was held back, and all that now follows from it.
    pub fn release(&mut self, shared: &mut Shared, form: Form) -> io::Result<()> {
        self.delayed -= 1;
        self.owed.push_back(form);
        self.send(shared)?;
        if self.state == State::Closing && self.delayed == 0 && self.owed.is_empty() {
            self.stream.shutdown(Shutdown::Write)?;
            self.state = State::Draining;
        }
        Ok(())
    }

    fn take_requests(
        &mut self,
        shared: &mut Shared,
        read: usize,
        decide: &mut impl FnMut(Form) -> Decision,
    ) {
        let mut input = &shared.buffer[..read];
        while !input.is_empty() && self.state == State::Open {
            let form = match self.reader.next(&mut input, &mut shared.remembered) {
                Ok(Some(request)) => Form::of(request),
                Ok(None) => return,
                Err(_) => Form::BAD_REQUEST,
            };
            match decide(form) {
                Decision::Answer => self.owed.push_back(form),
                Decision::Hold => self.delayed += 1,
            }
            if form.closes() {
                self.state = State::Closing;
            }
        }
    }

    /// Sends what is owed; false where the socket takes no more for now.
    fn send(&mut self, shared: &Shared) -> io::Result<bool> {
        while let Some(&first) = self.owed.front() {
            let rest = &shared.answers.bytes(first)[self.sent_bytes..];
            let written = if self.owed.len() == 1 {
                self.stream.write(rest)
            } else {
                let mut slices = [IoSlice::new(&[]); ANSWERS_PER_WRITE];
                slices[0] = IoSlice::new(rest);
                for (slice, &form) in slices[1..].iter_mut().zip(self.owed.iter().skip(1)) {
                    *slice = IoSlice::new(shared.answers.bytes(form));
                }
                let count = self.owed.len().min(ANSWERS_PER_WRITE);
                self.stream.write_vectored(&slices[..count])
            };
            match written {
                Ok(written) => self.book(shared, written),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn book(&mut self, shared: &Shared, written: usize) {
        self.sent_bytes += written;
        while let Some(&first) = self.owed.front() {
            let length = shared.answers.bytes(first).len();
            if self.sent_bytes < length {
                return;
            }
            self.sent_bytes -= length;
            self.owed.pop_front();
            self.answered += 1;
        }
    }
}
