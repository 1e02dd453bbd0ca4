//! The server's side of one connection.
//!
//! It reads requests, answers when it is told to, and keeps to the client's windows. It holds the client to RFC 9113
//! as the client's side holds a server: what concerns one stream ends that stream, everything else the connection,
//! each with the code that the RFC asks for. It bounds what a client can make it keep, not what it can make it do.

mod control;
mod reading;
mod requests;
mod sending;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Fault;
use crate::acks::Acks;
use crate::frame::{
    self, Code, DEFAULT_PAYLOAD_BYTES, DEFAULT_WINDOW, FrameHeader, HEAD_BYTES, MOST, flag, kind,
    setting,
};
use crate::given_up::GivenUp;
use crate::hpack::{Decoder, Encoder, Fields};
use crate::streams::{Numbered, Streams};
use requests::{Block, Memo};

/// Fields of one request may not be longer.
const MOST_FIELD_BYTES: usize = 64 * 1024;
/// Runs of numbers that a client left out are remembered, so that it is told apart what never was.
const LEFT_OUT: usize = 64;

/// What the bytes meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The fields of a request, in [`Server::fields`] until the next call.
    Request {
        /// The stream it came on.
        stream: u32,
        /// Whether that is all of it: no body follows.
        is_whole: bool,
    },
    /// The end of a request that had a body.
    End {
        /// The stream it came on.
        stream: u32,
    },
    /// A request of which was told before came to nothing: the client gave it up, or broke it off.
    Reset {
        /// The stream.
        stream: u32,
    },
}

/// A request that is not answered to the end.
#[derive(Debug)]
struct Stream {
    id: u32,
    /// Whether its answer has no body.
    is_head: bool,
    /// Whether all of the request is there.
    is_whole: bool,
    /// What is missing of the length that the request announced.
    length_left: Option<u64>,
    /// What may be sent on it; below 0 where SETTINGS took back more than was left.
    window: i64,
    /// The body of its answer, and how much of it is sent.
    unsent: Option<(Arc<[u8]>, usize)>,
}

impl Numbered for Stream {
    fn number(&self) -> u32 {
        self.id
    }
}

/// One connection.
#[derive(Debug)]
pub struct Server {
    decoder: Decoder,
    encoder: Encoder,
    fields: Fields,
    memo: Memo,
    preface_read: usize,
    is_greeted: bool,
    /// The beginning of a frame that came in pieces.
    pending: Vec<u8>,
    block: Option<Block>,
    queued: VecDeque<Event>,
    most_streams: usize,
    streams: Streams<Stream>,
    /// Streams whose answers wait for a window.
    waiting: VecDeque<u32>,
    /// Streams that we ended before their client did.
    given_up: GivenUp,
    acks: Acks,
    /// How many answers are all in what was written.
    answers: u64,
    /// First and last of each run of numbers that no stream of the client's has or will have.
    left_out: VecDeque<(u32, u32)>,
    last_stream: u32,
    send_window: i64,
    peer_window: i64,
    peer_payload: usize,
}

impl Server {
    /// Begins a connection: appends our SETTINGS, which allow so many streams at once, and wide windows.
    #[must_use]
    pub fn new(most_streams: u32, out: &mut Vec<u8>) -> Self {
        let settings = [
            (setting::MAX_CONCURRENT_STREAMS, most_streams),
            (setting::INITIAL_WINDOW_SIZE, MOST),
        ];
        frame::write_settings(&settings, out);
        frame::write_window(0, MOST - DEFAULT_WINDOW, out);
        Self {
            decoder: Decoder::new(MOST_FIELD_BYTES),
            encoder: Encoder::default(),
            fields: Fields::default(),
            memo: Memo::default(),
            preface_read: 0,
            is_greeted: false,
            pending: Vec::new(),
            block: None,
            queued: VecDeque::new(),
            most_streams: most_streams as usize,
            streams: Streams::new(),
            waiting: VecDeque::new(),
            given_up: GivenUp::default(),
            acks: Acks::default(),
            answers: 0,
            left_out: VecDeque::new(),
            last_stream: 0,
            send_window: i64::from(DEFAULT_WINDOW),
            peer_window: i64::from(DEFAULT_WINDOW),
            peer_payload: DEFAULT_PAYLOAD_BYTES,
        }
    }

    /// The fields of the last request.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Writes the block of an answer's fields, for this connection's table.
    pub fn block<'a>(
        &mut self,
        fields: impl IntoIterator<Item = (&'a [u8], &'a [u8], bool)>,
        out: &mut Vec<u8>,
    ) {
        self.encoder.encode(fields, out);
    }

    /// A number that stays the same as long as a block written before may be sent again.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.encoder.changes()
    }

    /// How many answers are written to their last byte.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.answers
    }

    /// Says that so many bytes of what was appended to `out` were sent: a client that does not take what it asked for
    /// is not told without end.
    #[inline]
    pub fn note_sent(&mut self, bytes: usize) {
        self.acks.note_sent(bytes);
    }

    /// The next event, taking its bytes off the front of `input`; None once more are needed (then `input` is
    /// empty). What the client has to be told is appended to `out`.
    ///
    /// # Errors
    /// How the client broke the connection; it is told, and has to be closed.
    pub fn next(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Result<Option<Event>, Fault> {
        loop {
            if let Some(event) = self.queued.pop_front() {
                return Ok(Some(event));
            }
            match self.advance(input, out) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(fault) => {
                    frame::write_goaway(self.last_stream, fault.code(), &fault.to_string(), out);
                    return Err(fault);
                }
            }
        }
    }

    /// Ends a stream without an answer, or in the middle of it.
    pub fn reset(&mut self, stream: u32, code: Code, out: &mut Vec<u8>) {
        if let Some(open) = self.streams.remove(stream) {
            if open.unsent.is_some() {
                self.waiting.retain(|&waiting| waiting != stream);
            }
            self.give_up(stream, code, out);
        }
    }

    /// Tells the client that a stream has ended. It may not know yet: what it still sends is passed over.
    fn give_up(&mut self, stream: u32, code: Code, out: &mut Vec<u8>) {
        self.say(kind::RST_STREAM, 0, stream, &code.0.to_be_bytes(), out);
        self.given_up.add(stream);
    }

    /// Says what the client made us say, and counts it as long as it is not sent.
    fn say(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
        frame::write(kind, flags, stream, payload, out);
        self.acks.add(HEAD_BYTES + payload.len());
    }

    /// Ends a stream for what its client did, and says so.
    #[cold]
    fn fail(&mut self, stream: u32, code: Code, out: &mut Vec<u8>) {
        self.reset(stream, code, out);
        self.queued.push_back(Event::Reset { stream });
    }

    /// What a frame on a stream that is not open means: nothing, where we ended it.
    #[cold]
    fn stray(&self, head: FrameHeader) -> Result<(), Fault> {
        self.was_opened(head)?;
        match self.given_up.may_have(head.stream) {
            true => Ok(()),
            false => Err(Fault::ClosedStream(head.kind)),
        }
    }

    /// Most frames are for streams that were opened, whether they have ended or not.
    fn was_opened(&self, head: FrameHeader) -> Result<(), Fault> {
        let id = head.stream;
        let is_left_out = |&(first, last): &(u32, u32)| (first..=last).contains(&id);
        if id % 2 == 0 || id > self.last_stream || self.left_out.iter().any(is_left_out) {
            return Err(Fault::WrongStream(head.kind, id));
        }
        Ok(())
    }
}
