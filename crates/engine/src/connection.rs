//! One connection: which request it carries, and what became of the answer.
//!
//! ```text
//!            open                 established            all answers in
//!   Closed ────────▶ Opening, Shaking ───────▶ Busy ─────────────────────▶ Idle
//!     ▲                 │                       │ ▲        next request      │
//!     └──── failure ────┴────── failure ────────┘ └──────────────────────────┘
//! ```
//!
//! A request is counted as started when a connection takes it, before that connection is open.

use crate::context::{ArmContext, ConnectionFailure};
use crate::exchange::Exchange;
use crate::program::Program;
use crate::protocol::fields::fields;
use crate::protocol::{Decoder, Event, Fault};
use crate::record::Failure;

/// Where a connection is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionStage {
    Closed,
    Opening,
    Shaking,
    Busy,
    Idle,
}

/// What the bytes read so far amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Answers are missing.
    Wait,
    /// All are in.
    Done {
        /// Whether another request can be sent on this connection.
        reusable: bool,
    },
    /// The server closes before it answered all, and what is left can be sent again.
    SendAgain,
    /// The answer was a redirect, and the request that follows it is to be sent.
    Follow {
        /// Whether it can be sent on this connection.
        reusable: bool,
    },
}

const CLOSES: &str = "the server closes before it answered all it was sent";
const CLOSED: &str = "closed before it answered all it was sent";

/// No connection answers so many requests.
const NONE_STRAYED: u32 = u32::MAX;

/// One connection of HTTP/1 and the request (or the pipelined requests) it carries.
#[derive(Debug)]
pub(crate) struct Connection<T> {
    pub(crate) transport: Option<T>,
    pub(crate) stage: ConnectionStage,
    /// Requests it carries whose answers are not complete.
    pub(crate) outstanding: u32,
    /// Bytes of them that are sent.
    pub(crate) sent_bytes: usize,
    /// What it carries.
    pub(crate) exchange: Exchange,
    /// Requests answered since it was opened.
    pub(crate) served: u32,
    pub(crate) was_opened: bool,
    /// How many requests were answered when bytes came that belong to no answer; [`NONE_STRAYED`]
    /// where none did.
    strayed_after: u32,
    was_answered: bool,
    is_answering: bool,
    decoder: Decoder,
}

impl<T> Connection<T> {
    /// `is_logged`: its requests are logged.
    pub(crate) fn new(is_logged: bool) -> Self {
        Self {
            transport: None,
            stage: ConnectionStage::Closed,
            outstanding: 0,
            sent_bytes: 0,
            exchange: Exchange::new(is_logged),
            served: 0,
            was_opened: false,
            strayed_after: NONE_STRAYED,
            was_answered: false,
            is_answering: false,
            decoder: Decoder::new(),
        }
    }

    /// Takes `count` requests to carry.
    #[inline]
    pub(crate) fn take(&mut self, template: u32, count: u32, intended_ns: u64, now_ns: u64) {
        self.outstanding = count;
        self.sent_bytes = 0;
        self.exchange.take(template, count, intended_ns, now_ns);
    }

    /// The transport, and the part of the requests that is not sent yet.
    #[inline]
    pub(crate) fn writing<'a>(&'a mut self, program: &'a Program) -> Option<(&'a mut T, &'a [u8])> {
        let bytes = self.exchange.bytes(program);
        let transport = self.transport.as_mut()?;
        Some((transport, &bytes[self.sent_bytes..]))
    }

    #[inline]
    pub(crate) fn is_all_sent(&self, program: &Program) -> bool {
        self.sent_bytes == self.exchange.bytes(program).len()
    }

    /// Takes in bytes that were read at `now_ns`.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        mut input: &[u8],
        now_ns: u64,
        program: &Program,
        context: &mut ArmContext,
    ) -> Result<Heard, ConnectionFailure> {
        loop {
            // Whatever else comes before an answer is none of it.
            if !self.is_answering && input.first() == Some(&b'H') {
                self.is_answering = true;
                let first_byte_ns = self.exchange.note_first_byte(now_ns);
                context.recorder.times.first_byte_time.record(first_byte_ns);
            }
            let before = input;
            let is_head = self.exchange.is_head(program);
            let event = match self.decoder.next(&mut input, &mut context.heads, is_head) {
                Err(Fault::Upgrade) if asks_to_upgrade(self.exchange.bytes(program)) => {
                    return self.switched(now_ns, program, context);
                }
                event => event?,
            };
            match event {
                None => return Ok(Heard::Wait),
                Some(Event::Head(head)) => self.exchange.take_head(head, input, program, context),
                Some(Event::Body(data)) => self.exchange.take_data(data, program, context),
                Some(Event::Stray(bytes)) => self.note_stray(bytes, before, context),
                Some(Event::End { reusable }) => {
                    if let Some(next) = self.exchange.take_following() {
                        self.note_stray(input.len(), input, context);
                        return Ok(self.follow(next, reusable, now_ns, program, context));
                    }
                    self.end_answer(now_ns, program, context);
                    if self.outstanding == 0 {
                        if !input.is_empty() {
                            self.note_stray(input.len(), input, context);
                        }
                        return Ok(self.done(reusable, program));
                    }
                    if !reusable {
                        return self.unanswered(CLOSES, program);
                    }
                }
            }
        }
    }

    /// The peer speaks another protocol from here on, as it was asked to: that is the answer (RFC 9110, 15.2.2).
    #[cold]
    fn switched(
        &mut self,
        now_ns: u64,
        program: &Program,
        context: &mut ArmContext,
    ) -> Result<Heard, ConnectionFailure> {
        let head = context.heads.last();
        self.exchange.take_head(head, &[], program, context);
        self.end_answer(now_ns, program, context);
        match self.outstanding {
            0 => Ok(Heard::Done { reusable: false }),
            _ => Err(ConnectionFailure::new(
                Failure::ClosedEarly,
                "the server changed the protocol before it answered all it was sent",
            )),
        }
    }

    /// The peer ended the stream while answers are missing.
    pub(crate) fn receive_close(
        &mut self,
        now_ns: u64,
        program: &Program,
        context: &mut ArmContext,
    ) -> Result<Heard, ConnectionFailure> {
        if self.decoder.close()?.is_none() {
            return Err(match self.served {
                0 => ConnectionFailure::new(Failure::ClosedEarly, "closed before the first answer"),
                _ => self.missing(Failure::ClosedIdle, "closed between two answers".into()),
            });
        }
        context.recorder.totals.ended_by_close.add(1);
        if let Some(next) = self.exchange.take_following() {
            return Ok(self.follow(next, false, now_ns, program, context));
        }
        self.end_answer(now_ns, program, context);
        match self.outstanding {
            0 => Ok(Heard::Done { reusable: false }),
            _ => self.unanswered(CLOSED, program),
        }
    }

    /// The last answer says that the connection ends with it: the requests behind it were not processed (RFC 9112, 9.3.2
    /// and 9.6).
    #[cold]
    fn unanswered(&mut self, detail: &str, program: &Program) -> Result<Heard, ConnectionFailure> {
        let can_be_sent = program.resends && self.can_send_again(program);
        match can_be_sent && self.exchange.keep_last(self.outstanding, program) {
            true => Ok(Heard::SendAgain),
            false => Err(ConnectionFailure::new(Failure::ClosedEarly, detail)),
        }
    }

    /// Whether a connection that had served ended in this way as its next request left: what it carries can be sent again
    /// (RFC 9112, 9.3.1). Several behind each other could not, without pipelining them again (9.3.2).
    #[cold]
    pub(crate) fn ended_idle(&mut self, failure: Failure, program: &Program) -> bool {
        matches!(failure, Failure::ClosedIdle | Failure::Reset)
            && self.stage == ConnectionStage::Busy
            && self.outstanding == 1
            && self.is_between_answers()
            && self.can_send_again(program)
            && self.exchange.keep_last(1, program)
    }

    /// Whether an answer has ended on it, and none has begun since.
    pub(crate) fn is_between_answers(&self) -> bool {
        self.served > 0 && !self.is_answering && !self.decoder.is_inside_answer()
    }

    fn can_send_again(&self, program: &Program) -> bool {
        self.strayed_after == NONE_STRAYED && self.exchange.is_idempotent(program)
    }

    /// Turns to sending what it carries once more, on a connection of its own.
    #[cold]
    pub(crate) fn send_again(&mut self, outstanding: u32, now_ns: u64, context: &ArmContext) {
        self.outstanding = outstanding;
        self.sent_bytes = 0;
        self.exchange.send_again(now_ns, context);
    }

    #[inline]
    fn end_answer(&mut self, now_ns: u64, program: &Program, context: &mut ArmContext) {
        self.outstanding -= 1;
        self.count_answer(context);
        if let Some(ns) = self.exchange.end_answer(now_ns, program, context) {
            context.recorder.service_time.record(ns);
        }
    }

    #[inline]
    fn count_answer(&mut self, context: &ArmContext) {
        self.served += 1;
        self.is_answering = false;
        if !self.was_answered {
            self.was_answered = true;
            context.recorder.answered.add(1);
        }
    }

    /// Turns to the request that follows a redirect.
    #[cold]
    fn follow(
        &mut self,
        next: Vec<u8>,
        reusable: bool,
        now_ns: u64,
        program: &Program,
        context: &mut ArmContext,
    ) -> Heard {
        self.count_answer(context);
        let reusable = reusable && self.is_in_step(program);
        self.exchange.follow(next, now_ns, program, context);
        self.sent_bytes = 0;
        Heard::Follow { reusable }
    }

    /// Bytes that belong to no answer: those before them count, but nobody can say what comes
    /// next, so the connection is not used again.
    #[cold]
    pub(crate) fn note_stray(&mut self, bytes: usize, seen: &[u8], context: &ArmContext) {
        if bytes > 0 {
            let is_first = self.strayed_after == NONE_STRAYED;
            self.strayed_after = self.served;
            let seen = &seen[..bytes.min(seen.len())];
            context.recorder.note_stray(bytes as u64, is_first, seen);
        }
    }

    /// Looks at what came after the end of the run: bytes that belong to no answer are noted,
    /// answers are not.
    pub(crate) fn look_over(
        &mut self,
        mut input: &[u8],
        program: &Program,
        context: &mut ArmContext,
    ) {
        while !input.is_empty() {
            if self.outstanding == 0 {
                return self.note_stray(input.len(), input, context);
            }
            let before = input;
            let is_head = self.exchange.is_head(program);
            match self.decoder.next(&mut input, &mut context.heads, is_head) {
                Ok(Some(Event::Stray(bytes))) => self.note_stray(bytes, before, context),
                Ok(Some(Event::End { .. })) => self.outstanding -= 1,
                Ok(Some(Event::Head(_) | Event::Body(_))) => {}
                Ok(None) => return,
                // Whatever it is, it came too late to be told.
                Err(_) => return self.stage = ConnectionStage::Closed,
            }
        }
    }

    /// What failed where the peer ends, or says nothing more, although an answer is missing. Stray
    /// bytes that no answer follows were what the peer had to say to the request.
    pub(crate) fn missing(&self, failure: Failure, detail: String) -> ConnectionFailure {
        match self.strayed_after == self.served {
            true => ConnectionFailure::new(
                Failure::BadAnswer,
                "bytes that begin no answer, and none after them",
            ),
            false => ConnectionFailure::new(failure, detail),
        }
    }

    /// What has come of an answer that is given up, in words: an endless one is not a silent server.
    pub(crate) fn came_so_far(&self, program: &Program) -> String {
        if let Some(came) = self.exchange.came_so_far(true) {
            return came;
        }
        if self.decoder.is_inside_answer() {
            return ", inside the head of the answer".into();
        }
        match self.is_all_sent(program) {
            true => ", without a byte of the answer".into(),
            false => ", with the request not all taken".into(),
        }
    }

    #[inline]
    fn done(&self, reusable: bool, program: &Program) -> Heard {
        Heard::Done {
            reusable: reusable && self.is_in_step(program),
        }
    }

    /// Whether another request can follow those that were answered.
    #[inline]
    fn is_in_step(&self, program: &Program) -> bool {
        // An answer that came before its request was sent leaves the stream out of step.
        self.is_all_sent(program)
            && self.served < program.requests_per_connection
            && !program.templates[self.exchange.template as usize].closes
            && self.strayed_after == NONE_STRAYED
    }

    /// Makes the place ready for a new connection.
    pub(crate) fn clear(&mut self, context: &mut ArmContext) {
        self.transport = None;
        self.stage = ConnectionStage::Closed;
        self.outstanding = 0;
        self.served = 0;
        self.is_answering = false;
        self.strayed_after = NONE_STRAYED;
        self.decoder.reset();
        self.exchange.clear(context);
    }
}

/// Whether the first of these requests asks for another protocol (RFC 9110, 7.8).
fn asks_to_upgrade(requests: &[u8]) -> bool {
    let end = requests.windows(4).position(|four| four == b"\r\n\r\n");
    let head = &requests[..end.unwrap_or(requests.len())];
    fields(head).any(|(name, _)| name.eq_ignore_ascii_case(b"upgrade"))
}
