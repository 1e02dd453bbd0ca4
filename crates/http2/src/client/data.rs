//! Bodies in both directions, and the windows that hold them back.

use super::stream::{Stream, UNKNOWN};
use super::{Client, Listener};
use crate::frame::{self, FrameHeader, flag, kind};
use crate::{Fault, StreamFault};

const TOO_MUCH_DATA: &str = "more data than its content-length says, or its status allows";

/// A DATA frame whose payload is under way.
#[derive(Debug)]
pub(super) struct Incoming {
    id: u32,
    /// Whose data it is. None: a stream that was given up.
    key: Option<u32>,
    data: usize,
    padding: usize,
    is_end: bool,
}

impl Client {
    /// The head of a DATA frame, with the length of its padding if it has any, and what there is of its payload.
    #[inline(always)]
    pub(super) fn data(
        &mut self,
        head: FrameHeader,
        padding: &[u8],
        payload: &mut &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        if head.stream == 0 {
            return Err(Fault::WrongStream(kind::DATA, 0));
        }
        let padding = match (head.has(flag::PADDED), padding.first()) {
            (false, _) => 0,
            (true, Some(&padding)) => 1 + usize::from(padding),
            (true, None) => return Err(Fault::BadPadding),
        };
        let data = head.length.checked_sub(padding).ok_or(Fault::BadPadding)?;
        // An empty frame that ends nothing carries no answer; a thousand of them are a flood.
        self.idle_frames = if data > 0 || head.has(flag::END_STREAM) {
            0
        } else {
            self.idle_frames + 1
        };
        if self.idle_frames > super::MOST_IDLE_FRAMES {
            return Err(Fault::Flood(super::MOST_IDLE_FRAMES));
        }
        self.take_connection_window(head.length, out)?;
        let key = match self.streams.get(head.stream) {
            None => {
                self.stray(head)?;
                None
            }
            Some(stream) => {
                match take_stream_window(stream, self.windows.stream, head, data, out) {
                    Ok(()) => Some(stream.key),
                    Err(fault) => {
                        self.fail(head.stream, fault, out, to);
                        None
                    }
                }
            }
        };
        if padding == 0
            && let Some((piece, rest)) = payload.split_at_checked(data)
        {
            // All of it is there, as mostly.
            *payload = rest;
            let Some(key) = key else { return Ok(()) };
            if data > 0 {
                to.body(key, piece);
            }
            if head.has(flag::END_STREAM) {
                self.end_answer(head.stream, out, to);
            }
            return Ok(());
        }
        let incoming = Incoming {
            id: head.stream,
            key,
            data,
            // The byte that says how much padding there is was read with the head.
            padding: padding.saturating_sub(1),
            is_end: head.has(flag::END_STREAM),
        };
        self.data_piece(incoming, payload, out, to);
        Ok(())
    }

    /// What more has come of a DATA frame. Its stream may have been given up since.
    pub(super) fn more_data(
        &mut self,
        mut incoming: Incoming,
        input: &mut &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) {
        if self.streams.get(incoming.id).is_none() {
            incoming.key = None;
        }
        self.data_piece(incoming, input, out, to);
    }

    /// Hands on a piece of a DATA frame, and keeps in mind what is still to come of it.
    #[inline(never)]
    fn data_piece(
        &mut self,
        mut incoming: Incoming,
        input: &mut &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) {
        let (piece, rest) = input.split_at(incoming.data.min(input.len()));
        incoming.data -= piece.len();
        let (padding, rest) = rest.split_at(incoming.padding.min(rest.len()));
        incoming.padding -= padding.len();
        *input = rest;
        if let (Some(key), false) = (incoming.key, piece.is_empty()) {
            to.body(key, piece);
        }
        if incoming.data > 0 || incoming.padding > 0 {
            self.incoming = Some(incoming);
        } else if incoming.is_end && incoming.key.is_some() {
            self.end_answer(incoming.id, out, to);
        }
    }

    /// The peer has sent all of an answer.
    #[inline]
    pub(super) fn end_answer(&mut self, id: u32, out: &mut Vec<u8>, to: &mut impl Listener) {
        let Some(stream) = self.streams.remove(id) else {
            return;
        };
        let key = stream.key;
        if !matches!(stream.length_left, 0 | UNKNOWN) {
            let fault = StreamFault::Malformed("less data than its content-length says");
            self.idle_frames = 0;
            self.part_from(stream, fault.code(), out);
            return to.failed(key, fault);
        }
        self.part_from(stream, None, out);
        to.end(key);
    }

    #[inline]
    fn take_connection_window(&mut self, bytes: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.receive_window -= bytes as i64;
        if self.receive_window < 0 {
            return Err(Fault::WindowOverrun);
        }
        self.taken += bytes as u32;
        if self.taken >= self.windows.connection / 2 {
            frame::write_window(0, self.taken, out);
            self.receive_window += i64::from(self.taken);
            self.taken = 0;
        }
        Ok(())
    }

    /// Sends what the windows allow of a request's body; whether that is all that is left of it.
    pub(super) fn send_body(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
        let Some(stream) = self.streams.get(id) else {
            return true;
        };
        let Some(body) = &stream.unsent else {
            return true;
        };
        let mut sent = stream.sent as usize;
        while sent < body.len() {
            let window = self
                .send_window
                .min(i64::from(stream.send_window))
                .min(self.peer_payload as i64);
            if window <= 0 {
                return false;
            }
            let end = body.len().min(sent + window as usize);
            let is_last = if end == body.len() {
                flag::END_STREAM
            } else {
                0
            };
            let piece = &body[sent..end];
            frame::write(kind::DATA, is_last, id, piece, out);
            self.send_window -= piece.len() as i64;
            stream.send_window -= piece.len() as i32;
            sent = end;
            stream.sent = end as u32;
            // What let the body go on was no idle frame.
            self.idle_frames = 0;
        }
        stream.unsent = None;
        true
    }

    /// Sends of every waiting body what the windows now allow, each in its turn.
    pub(super) fn send_waiting(&mut self, out: &mut Vec<u8>) {
        for _ in 0..self.waiting.len() {
            if self.send_window <= 0 {
                return;
            }
            if let Some(id) = self.waiting.pop_front()
                && !self.send_body(id, out)
            {
                self.waiting.push_back(id);
            }
        }
    }

    /// A stream's window was raised.
    pub(super) fn raise_stream_window(
        &mut self,
        id: u32,
        by: u32,
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) {
        let Some(stream) = self.streams.get(id) else {
            return;
        };
        let raised = i32::try_from(i64::from(stream.send_window) + i64::from(by));
        let why = match (by, raised) {
            (1.., Ok(raised)) => {
                stream.send_window = raised;
                if stream.unsent.is_some() && self.send_body(id, out) {
                    self.waiting.retain(|&waiting| waiting != id);
                }
                return;
            }
            (0, _) => crate::fault::ZERO_UPDATE,
            (_, Err(_)) => crate::fault::ABOVE_MOST,
        };
        self.fail(id, StreamFault::BadWindow(why), out, to);
    }
}

/// Takes room for data from its stream's window, and gives it back once half of that is taken.
///
/// # Errors
/// Why the stream may not have this data.
#[inline]
fn take_stream_window(
    stream: &mut Stream,
    window: u32,
    head: FrameHeader,
    data: usize,
    out: &mut Vec<u8>,
) -> Result<(), StreamFault> {
    stream.receive_window -= head.length as i32;
    if stream.receive_window < 0 {
        return Err(StreamFault::WindowOverrun);
    }
    if !stream.has_head {
        return Err(StreamFault::Malformed("data before the head"));
    }
    if stream.length_left != UNKNOWN {
        let missing = stream.length_left.checked_sub(data as u64);
        stream.length_left = missing.ok_or(StreamFault::Malformed(TOO_MUCH_DATA))?;
    }
    stream.taken += head.length as u32;
    if stream.taken >= window / 2 && !head.has(flag::END_STREAM) {
        frame::write_window(stream.id, stream.taken, out);
        stream.receive_window += stream.taken as i32;
        stream.taken = 0;
    }
    Ok(())
}
