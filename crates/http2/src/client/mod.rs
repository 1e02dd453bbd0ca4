//! The client's side of one connection.
//!
//! ```text
//!   open ──▶ HEADERS, DATA as the windows let it ──▶ out
//!   input ──▶ receive ──▶ answer ──▶ body … ──▶ end      one stream's course; failed may come at any place
//! ```
//!
//! The caller owns the bytes on both sides, the clock, and what a stream is for (its `key`). Wanting more bytes
//! is no error. What HTTP/2 asks for between the peers (acknowledging SETTINGS and PING, giving windows back)
//! is written to `out` on the way.

mod control;
mod data;
mod fields;
mod reading;
mod stream;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::acks::Acks;
use crate::frame::{self, Code, DEFAULT_PAYLOAD_BYTES, DEFAULT_WINDOW, FrameHeader, MOST, setting};
use crate::given_up::GivenUp;
use crate::hpack::{Decoder, Encoder, Fields};
use crate::streams::Streams;
use crate::{Fault, StreamFault};
use data::Incoming;
use fields::{Block, Cached, Memo};
use stream::{Stream, UNKNOWN};

/// The fields of one answer, and its interim answers, may not be longer; as with HTTP/1.
pub const MOST_FIELD_BYTES: usize = 512 * 1024;
/// More frames in a row that carry no answer are a fault of the peer: each costs us work, and some an answer.
pub const MOST_IDLE_FRAMES: u32 = 10_000;

/// What the peer may send before we give it leave for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// Bytes of body on each stream, up to [`MOST`].
    pub stream: u32,
    /// Bytes of body on all streams, from [`DEFAULT_WINDOW`] up to [`MOST`].
    pub connection: u32,
}

/// Name, value, and whether it is the same in other messages, so that it is worth an entry of the table.
pub type Field = (Vec<u8>, Vec<u8>, bool);

/// A request, made once and sent many times, or made anew each time in the same memory.
#[derive(Debug, Clone)]
pub struct Request {
    /// Names in lower case, pseudo-headers first.
    pub fields: Vec<Field>,
    /// Its body; empty: none.
    pub body: Arc<Vec<u8>>,
    /// Whether it is a HEAD request.
    pub is_head: bool,
    /// A number of its own below some hundred, if it is sent again and again: its block is then written once
    /// for each connection. Another request, also one that has a body where this has none, needs another number.
    pub number: Option<u16>,
}

/// The head of a final answer.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// 200 to 999.
    pub status: u16,
    /// All its fields.
    pub fields: &'a Fields,
    /// The same as of the answer before on this connection: so are the fields.
    pub number: u64,
}

/// Who is told what the bytes meant, at once and in their order. `key` is what [`Client::open`] was given.
pub trait Listener {
    /// The head of a final answer.
    fn answer(&mut self, key: u32, answer: Answer<'_>);
    /// A piece of the body, at least one byte.
    fn body(&mut self, key: u32, data: &[u8]);
    /// The answer is complete.
    fn end(&mut self, key: u32);
    /// The stream came to nothing.
    fn failed(&mut self, key: u32, fault: StreamFault);
    /// The peer opens no more streams; those it will not answer have failed as unprocessed.
    fn going_away(&mut self, code: Code);
}

/// One connection.
#[derive(Debug)]
pub struct Client {
    windows: Windows,
    encoder: Encoder,
    decoder: Decoder,
    fields: Fields,
    blocks_read: u64,
    memo: Memo,
    cached: Vec<Option<Cached>>,
    streams: Streams<Stream>,
    next_id: u32,
    /// Streams that have something to send and no window for it.
    waiting: VecDeque<u32>,
    given_up: GivenUp,
    /// The beginning of a frame that came in pieces.
    pending: Vec<u8>,
    incoming: Option<Incoming>,
    block: Option<Block>,
    is_greeted: bool,
    are_settings_known: bool,
    goaway: Option<Code>,
    idle_frames: u32,
    acks: Acks,
    send_window: i64,
    receive_window: i64,
    taken: u32,
    peer_window: i64,
    peer_payload: usize,
    peer_streams: u32,
}

impl Client {
    /// Begins a connection: appends what it has to begin with.
    #[must_use]
    pub fn new(windows: Windows, out: &mut Vec<u8>) -> Self {
        let connection = windows.connection.max(DEFAULT_WINDOW);
        let windows = Windows {
            connection,
            ..windows
        };
        out.extend_from_slice(frame::PREFACE);
        frame::write_settings(
            &[
                (setting::ENABLE_PUSH, 0),
                (setting::INITIAL_WINDOW_SIZE, windows.stream),
            ],
            out,
        );
        if connection > DEFAULT_WINDOW {
            frame::write_window(0, connection - DEFAULT_WINDOW, out);
        }
        Self {
            windows,
            encoder: Encoder::default(),
            decoder: Decoder::new(MOST_FIELD_BYTES),
            fields: Fields::default(),
            blocks_read: 0,
            memo: Memo::default(),
            cached: Vec::new(),
            streams: Streams::new(),
            next_id: 1,
            waiting: VecDeque::new(),
            given_up: GivenUp::default(),
            pending: Vec::new(),
            incoming: None,
            block: None,
            is_greeted: false,
            are_settings_known: false,
            goaway: None,
            idle_frames: 0,
            acks: Acks::default(),
            send_window: i64::from(DEFAULT_WINDOW),
            receive_window: i64::from(connection),
            taken: 0,
            peer_window: i64::from(DEFAULT_WINDOW),
            peer_payload: DEFAULT_PAYLOAD_BYTES,
            peer_streams: u32::MAX,
        }
    }

    /// How many more streams may be opened now.
    #[inline]
    #[must_use]
    pub fn room(&self) -> u32 {
        if self.goaway.is_some() {
            return 0;
        }
        let ids_left = (MOST + 2).saturating_sub(self.next_id) / 2;
        self.peer_streams
            .saturating_sub(self.streams.len() as u32)
            .min(ids_left)
    }

    /// Whether no stream will be opened any more: the peer goes away, or all numbers are used.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.goaway.is_some() || self.next_id > MOST
    }

    /// Streams under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.streams.len()
    }

    /// Whether the peer has greeted us, as HTTP/2 asks of it.
    #[must_use]
    pub fn is_greeted(&self) -> bool {
        self.is_greeted
    }

    /// Whether a request's body waits for the peer's window.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How many streams the peer allows at once; None where it has not said so.
    #[must_use]
    pub fn streams_allowed(&self) -> Option<u32> {
        (self.peer_streams != u32::MAX).then_some(self.peer_streams)
    }

    /// Whether the peer said that it goes away.
    #[must_use]
    pub fn is_going_away(&self) -> bool {
        self.goaway.is_some()
    }

    /// With which error the peer said that it ends the connection, where it did (RFC 9113, 5.4.1).
    #[inline]
    #[must_use]
    pub fn refusal(&self) -> Option<Code> {
        self.goaway.filter(|code| *code != Code::NO_ERROR)
    }

    /// The keys of all streams under way.
    pub fn keys(&self) -> impl Iterator<Item = u32> {
        self.streams.iter().map(|stream| stream.key)
    }

    /// Sends a request on a stream of its own: appends all of it that the windows let through. The stream's
    /// number; None where there is no [`room`](Self::room).
    #[inline]
    pub fn open(&mut self, key: u32, request: &Request, out: &mut Vec<u8>) -> Option<u32> {
        if self.room() == 0 {
            return None;
        }
        let id = self.next_id;
        self.next_id += 2;
        let has_body = !request.body.is_empty();
        self.write_block(id, request, out);
        let unsettled = if self.are_settings_known {
            0
        } else {
            DEFAULT_WINDOW
        };
        self.streams.add(Stream {
            id,
            key,
            send_window: self.peer_window as i32,
            receive_window: self.windows.stream.max(unsettled) as i32,
            taken: 0,
            unsent: has_body.then(|| Arc::clone(&request.body)),
            sent: 0,
            has_head: false,
            is_head_request: request.is_head,
            interim_bytes: 0,
            length_left: UNKNOWN,
        });
        if has_body && !self.send_body(id, out) {
            self.waiting.push_back(id);
        }
        Some(id)
    }

    /// Says that so many bytes of what was appended to `out` were sent: a peer that does not take what it asked for is
    /// not told without end.
    #[inline]
    pub fn note_sent(&mut self, bytes: usize) {
        self.acks.note_sent(bytes);
    }

    /// Leaves out the numbers of streams before `id`, as a client may: so a test need not use up a billion of them.
    pub fn leave_out_up_to(&mut self, id: u32) {
        self.next_id = self.next_id.max(id | 1);
    }

    /// Gives a stream up: the peer is told, and whatever it still sends on it is passed over.
    pub fn cancel(&mut self, id: u32, out: &mut Vec<u8>) {
        if let Some(stream) = self.streams.remove(id) {
            self.part_from(stream, Some(Code::CANCEL), out);
        }
    }

    /// Takes in bytes and tells of them, however they were cut. What the peer has to be told is appended to `out`.
    ///
    /// # Errors
    /// A [`Fault`] of the peer, which it is told; the connection cannot be used any further.
    #[inline]
    pub fn receive(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        let read = self.read(input, out, to);
        if let Err(fault) = read {
            frame::write_goaway(0, fault.code(), &fault.to_string(), out);
        }
        read
    }

    /// What is left to do of a stream that was taken out. Where the peer is told why, or has not got all of the
    /// request, it may not know yet.
    #[inline]
    fn part_from(&mut self, stream: Stream, code: Option<Code>, out: &mut Vec<u8>) {
        if code.is_some() || stream.unsent.is_some() {
            self.break_off(&stream, code, out);
        }
    }

    #[cold]
    fn break_off(&mut self, stream: &Stream, code: Option<Code>, out: &mut Vec<u8>) {
        if stream.unsent.is_some() {
            self.waiting.retain(|&waiting| waiting != stream.id);
        }
        if let Some(code) = code.or(stream.unsent.as_ref().map(|_| Code::CANCEL)) {
            frame::write_reset(stream.id, code, out);
            self.given_up.add(stream.id);
        }
    }

    /// Ends a stream that came to nothing, and says so.
    #[cold]
    fn fail(&mut self, id: u32, fault: StreamFault, out: &mut Vec<u8>, to: &mut impl Listener) {
        if let Some(mut stream) = self.streams.remove(id) {
            let key = stream.key;
            self.idle_frames = 0;
            let told = fault.code();
            if told.is_none() {
                // The peer has ended it itself: nothing is left to be told, not even of a body.
                stream.unsent = None;
                self.waiting.retain(|&waiting| waiting != id);
            }
            self.part_from(stream, told, out);
            to.failed(key, fault);
        }
    }

    /// What a frame on a stream that is not under way means: nothing, where we gave it up.
    #[cold]
    fn stray(&self, head: FrameHeader) -> Result<(), Fault> {
        if head.stream % 2 == 0 || head.stream >= self.next_id {
            return Err(Fault::WrongStream(head.kind, head.stream));
        }
        match self.given_up.may_have(head.stream) {
            true => Ok(()),
            false => Err(Fault::ClosedStream(head.kind)),
        }
    }
}
