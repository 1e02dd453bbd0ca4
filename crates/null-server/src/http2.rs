//! Answers over HTTP/2, for clients that begin with its preface: at once, or when the caller says so.

use crate::answer::Answer;
use crate::connection::Decision;
use assay_http2::Fault;
use assay_http2::server::{Event, Server};
use http::StatusCode;
use mio::net::TcpStream;
use std::collections::{BTreeSet, VecDeque};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::sync::Arc;

/// As many streams at once as clients ask for.
pub(crate) const MOST_STREAMS: u32 = 10_000;

/// The answer, without its framing.
#[derive(Debug)]
pub struct Prepared {
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    body: Arc<[u8]>,
}

impl Prepared {
    /// Chunks are HTTP/1.1's own: here the frames say where the body ends.
    pub fn new(answer: &Answer) -> Self {
        let text = |text: &str| text.as_bytes().to_vec();
        let mut fields = vec![(text(":status"), text(answer.status.as_str()))];
        for (name, value) in &answer.headers {
            fields.push((text(name.as_str()), value.as_bytes().to_vec()));
        }
        let bodyless = answer.status == StatusCode::NO_CONTENT;
        if !bodyless && answer.chunk_bytes.is_none() {
            fields.push((text("content-length"), text(&answer.body.len().to_string())));
        }
        let is_sent = !bodyless && answer.status != StatusCode::NOT_MODIFIED;
        let body = if is_sent { &answer.body[..] } else { &[] };
        Self {
            fields,
            body: Arc::from(body),
        }
    }

    /// The fields of the answer, `:status` first.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.fields
            .iter()
            .map(|(name, value)| (&name[..], &value[..]))
    }

    /// Its body; empty where none is sent.
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The client has broken the connection; it is being told.
    Broken,
    /// It was told. What it still sends is read away, because closing on unread bytes would reset the connection,
    /// and could cost the client what it was told.
    Draining,
}

/// One connection.
#[derive(Debug)]
pub struct Guest {
    stream: TcpStream,
    server: Server,
    state: State,
    out: Vec<u8>,
    sent_bytes: usize,
    /// The block of the answer's fields, and the state of the table that it was written for.
    block: Vec<u8>,
    block_of: Option<u64>,
    /// Streams whose answers the caller holds back.
    delayed: BTreeSet<u32>,
    /// Answers whose last byte the system has taken.
    answered: u64,
    /// Where in `out` answers end that are not all sent, and how many there are up to there.
    ends: VecDeque<(usize, u64)>,
}

impl Guest {
    /// A connection whose preface is still to be read.
    pub fn new(stream: TcpStream) -> Self {
        let mut out = Vec::new();
        let server = Server::new(MOST_STREAMS, &mut out);
        Self {
            stream,
            server,
            state: State::Open,
            out,
            sent_bytes: 0,
            block: Vec::new(),
            block_of: None,
            delayed: BTreeSet::new(),
            answered: 0,
            ends: VecDeque::new(),
        }
    }

    /// Answers whose last byte the system has taken.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// Requests whose answers are held back, and are still asked for.
    pub fn delayed(&self) -> u64 {
        self.delayed.len() as u64
    }

    /// Reads and answers until the socket has no more; false once the connection has ended. `decide` is asked once for
    /// each request, which it is told by its stream.
    pub fn serve(
        &mut self,
        buffer: &mut [u8],
        answer: &Prepared,
        mut decide: impl FnMut(u32) -> Decision,
    ) -> io::Result<bool> {
        loop {
            if !self.send()? {
                return Ok(true);
            }
            if self.state == State::Broken {
                self.stream.shutdown(Shutdown::Write)?;
                self.state = State::Draining;
            }
            let read = match self.stream.read(buffer) {
                Ok(0) => return Ok(false),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if self.state == State::Open && self.take(&buffer[..read], answer, &mut decide).is_err()
            {
                self.state = State::Broken;
                self.delayed.clear();
            }
        }
    }

    /// Gives one answer that was held back; false where nobody waits for it any more.
    pub fn release(&mut self, stream: u32, answer: &Prepared) -> bool {
        let is_asked_for = self.delayed.remove(&stream);
        if is_asked_for {
            self.answer(stream, answer);
            // A connection that is broken is dropped by the event that tells of it.
            let _ = self.send();
        }
        is_asked_for
    }

    /// Answers what `input` asks for.
    fn take(
        &mut self,
        mut input: &[u8],
        answer: &Prepared,
        decide: &mut impl FnMut(u32) -> Decision,
    ) -> Result<(), Fault> {
        while let Some(event) = self.server.next(&mut input, &mut self.out)? {
            match event {
                Event::Request {
                    stream,
                    is_whole: true,
                }
                | Event::End { stream } => match decide(stream) {
                    Decision::Answer => self.answer(stream, answer),
                    Decision::Hold => {
                        self.delayed.insert(stream);
                    }
                },
                Event::Request { .. } => {}
                Event::Reset { stream } => {
                    self.delayed.remove(&stream);
                }
            }
        }
        Ok(())
    }

    fn answer(&mut self, stream: u32, answer: &Prepared) {
        if self.block_of != Some(self.server.changes()) {
            let before = self.server.changes();
            self.block.clear();
            let fields = answer
                .fields
                .iter()
                .map(|(name, value)| (&name[..], &value[..], true));
            self.server.block(fields, &mut self.block);
            self.block_of = (before == self.server.changes()).then_some(before);
        }
        self.server
            .answer(stream, &self.block, &answer.body, &mut self.out);
    }

    /// Sends what is due; false where the socket takes no more for now.
    fn send(&mut self) -> io::Result<bool> {
        while self.sent_bytes < self.out.len() {
            match self.stream.write(&self.out[self.sent_bytes..]) {
                Ok(written) => {
                    self.sent_bytes += written;
                    self.server.note_sent(written);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.count_partly_sent();
                    return Ok(false);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.sent_bytes = 0;
        self.ends.clear();
        self.answered = self.server.answers();
        Ok(true)
    }

    /// Counts the answers that are sent where the socket has taken a part of them all.
    #[cold]
    fn count_partly_sent(&mut self) {
        let written = self.server.answers();
        let known = self.ends.back().map_or(self.answered, |&(_, known)| known);
        if written > known {
            self.ends.push_back((self.out.len(), written));
        }
        while let Some(&(end, answers)) = self.ends.front()
            && end <= self.sent_bytes
        {
            self.answered = answers;
            self.ends.pop_front();
        }
    }
}
