//! Bodies in both directions, and the windows that hold them back.

use super::{Client, Event};
use crate::frame::{self, Head, MOST, flag, kind};
use crate::{Fault, StreamFault};

const TOO_MUCH_DATA: &str = "more data than its content-length says, or its status allows";

/// A DATA frame whose payload is under way.
#[derive(Debug)]
pub(super) struct Incoming {
    /// None: a stream that was given up.
    stream: Option<u32>,
    data: usize,
    padding: usize,
    is_end: bool,
}

impl Client {
    /// The head of a DATA frame, and the length of its padding if it has any.
    #[inline]
    pub(super) fn data(
        &mut self,
        head: Head,
        padding: &[u8],
        out: &mut Vec<u8>,
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
        let stream = match self.streams.get(head.stream) {
            None => {
                self.stray(head)?;
                None
            }
            Some(_) => self
                .take_stream_window(head, data, out)
                .then_some(head.stream),
        };
        self.incoming = Some(Incoming {
            stream,
            data,
            // The byte that says how much padding there is was read with the head.
            padding: padding.saturating_sub(1),
            is_end: head.has(flag::END_STREAM),
        });
        Ok(())
    }

    /// The next piece of a DATA frame. None once more bytes are needed, or the frame is over (then there is no
    /// `incoming` any more, and what its end means is queued).
    #[inline]
    pub(super) fn data_piece<'a>(
        &mut self,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
    ) -> Option<Event<'a>> {
        let incoming = self.incoming.as_mut()?;
        let (piece, rest) = input.split_at(incoming.data.min(input.len()));
        incoming.data -= piece.len();
        let (padding, rest) = rest.split_at(incoming.padding.min(rest.len()));
        incoming.padding -= padding.len();
        *input = rest;
        let (stream, is_end) = (incoming.stream, incoming.is_end);
        if incoming.data == 0 && incoming.padding == 0 {
            self.incoming = None;
            if let (Some(id), true) = (stream, is_end) {
                return self.last_piece(id, piece, out);
            }
        }
        let key = self.streams.get(stream?)?.key;
        (!piece.is_empty()).then_some(Event::Body { key, data: piece })
    }

    fn last_piece<'a>(&mut self, id: u32, data: &'a [u8], out: &mut Vec<u8>) -> Option<Event<'a>> {
        let key = self.streams.get(id)?.key;
        self.end_answer(id, out);
        (!data.is_empty()).then_some(Event::Body { key, data })
    }

    /// The peer has sent all of an answer.
    #[inline]
    pub(super) fn end_answer(&mut self, id: u32, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.get(id) else {
            return;
        };
        if stream.length_left.is_some_and(|left| left > 0) {
            return self.fail(
                id,
                StreamFault::Malformed("less data than its content-length says"),
                out,
            );
        }
        let key = stream.key;
        self.end_stream(id, None, out);
        self.queued.push_back(Event::End { key });
    }

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

    /// Whether the stream may have this data; else it has failed.
    fn take_stream_window(&mut self, head: Head, data: usize, out: &mut Vec<u8>) -> bool {
        let half = self.windows.stream / 2;
        let Some(stream) = self.streams.get(head.stream) else {
            return false;
        };
        stream.receive_window -= head.length as i64;
        let fault = if stream.receive_window < 0 {
            Some(StreamFault::WindowOverrun)
        } else if !stream.has_head {
            Some(StreamFault::Malformed("data before the head"))
        } else {
            match &mut stream.length_left {
                Some(left) if *left < data as u64 => Some(StreamFault::Malformed(TOO_MUCH_DATA)),
                Some(left) => {
                    *left -= data as u64;
                    None
                }
                None => None,
            }
        };
        if let Some(fault) = fault {
            self.fail(head.stream, fault, out);
            return false;
        }
        stream.taken += head.length as u32;
        if stream.taken >= half && !head.has(flag::END_STREAM) {
            frame::write_window(stream.id, stream.taken, out);
            stream.receive_window += i64::from(stream.taken);
            stream.taken = 0;
        }
        true
    }

    /// Sends what the windows allow of a request's body; whether that is all that is left of it.
    pub(super) fn send_body(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
        let Some(stream) = self.streams.get(id) else {
            return true;
        };
        let Some((body, sent)) = &mut stream.unsent else {
            return true;
        };
        while *sent < body.len() {
            let window = self
                .send_window
                .min(stream.send_window)
                .min(self.peer_payload as i64);
            if window <= 0 {
                return false;
            }
            let end = body.len().min(*sent + window as usize);
            let is_last = if end == body.len() {
                flag::END_STREAM
            } else {
                0
            };
            let piece = &body[*sent..end];
            frame::write(kind::DATA, is_last, id, piece, out);
            self.send_window -= piece.len() as i64;
            stream.send_window -= piece.len() as i64;
            *sent = end;
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
    pub(super) fn raise_stream_window(&mut self, id: u32, by: u32, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.get(id) else {
            return;
        };
        stream.send_window += i64::from(by);
        let fault = match by {
            0 => Some(crate::fault::ZERO_UPDATE),
            _ if stream.send_window > i64::from(MOST) => Some(crate::fault::ABOVE_MOST),
            _ => None,
        };
        if let Some(why) = fault {
            return self.fail(id, StreamFault::BadWindow(why), out);
        }
        if stream.unsent.is_some() && self.send_body(id, out) {
            self.waiting.retain(|&waiting| waiting != id);
        }
    }
}
