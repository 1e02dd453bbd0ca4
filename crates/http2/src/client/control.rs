//! Frames that carry no answer: SETTINGS, PING, GOAWAY, windows, resets.

use super::{Client, Listener};
use crate::frame::{
    self, Code, DEFAULT_PAYLOAD_BYTES, FrameHeader, HEAD_BYTES, MOST, flag, kind, setting,
};
use crate::{Fault, StreamFault};

impl Client {
    #[cold]
    pub(super) fn control(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        match head.kind {
            kind::SETTINGS => self.settings(head, payload, out),
            kind::PING => {
                on_connection(head)?;
                if payload.len() != 8 {
                    return Err(Fault::BadLength(kind::PING));
                }
                match head.has(flag::ACK) {
                    true => Ok(()),
                    false => self.acknowledge(kind::PING, payload, out),
                }
            }
            kind::WINDOW_UPDATE => self.window_update(head, payload, out, to),
            kind::RST_STREAM => self.reset(head, payload, out, to),
            kind::GOAWAY => self.going_away(head, payload, out, to),
            kind::CONTINUATION => self.continuation(head, payload, out, to),
            kind::PUSH_PROMISE => Err(Fault::Push),
            kind::PRIORITY if head.stream == 0 => Err(Fault::WrongStream(kind::PRIORITY, 0)),
            // A stream of its own is all that a wrong length concerns, and a priority is nothing to us.
            kind::PRIORITY if payload.len() != 5 => Err(Fault::BadLength(kind::PRIORITY)),
            // RFC 9113, 5.5: unknown types are passed over.
            _ => Ok(()),
        }
    }

    fn settings(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        on_connection(head)?;
        if head.has(flag::ACK) {
            self.are_settings_known = true;
            return match payload {
                [] => Ok(()),
                _ => Err(Fault::BadLength(kind::SETTINGS)),
            };
        }
        if payload.len() % 6 != 0 {
            return Err(Fault::BadLength(kind::SETTINGS));
        }
        for entry in payload.chunks_exact(6) {
            let name = u16::from_be_bytes([entry[0], entry[1]]);
            self.set(name, number(&entry[2..]))?;
        }
        self.is_greeted = true;
        self.acknowledge(kind::SETTINGS, &[], out)?;
        self.send_waiting(out);
        Ok(())
    }

    /// Acknowledges a frame, as long as the peer takes what we say.
    fn acknowledge(&mut self, kind: u8, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        frame::write(kind, flag::ACK, 0, payload, out);
        self.acks.add(HEAD_BYTES + payload.len());
        self.acks.check()
    }

    fn set(&mut self, name: u16, value: u32) -> Result<(), Fault> {
        let bad = Fault::BadSetting(name, value);
        match name {
            setting::HEADER_TABLE_SIZE => self.encoder.limit_table(value as usize),
            // RFC 9113, 6.5.2: a server says 0 or nothing.
            setting::ENABLE_PUSH if value != 0 => return Err(bad),
            setting::MAX_CONCURRENT_STREAMS => self.peer_streams = value,
            setting::INITIAL_WINDOW_SIZE if value > MOST => return Err(bad),
            setting::INITIAL_WINDOW_SIZE => {
                let more = i64::from(value) - self.peer_window;
                self.peer_window = i64::from(value);
                for stream in self.streams.iter_mut() {
                    let window = i32::try_from(i64::from(stream.send_window) + more);
                    stream.send_window =
                        window.map_err(|_| Fault::BadWindow(crate::fault::ABOVE_MOST))?;
                }
            }
            setting::MAX_FRAME_SIZE => {
                if !(DEFAULT_PAYLOAD_BYTES..1 << 24).contains(&(value as usize)) {
                    return Err(bad);
                }
                self.peer_payload = value as usize;
            }
            _ => {}
        }
        Ok(())
    }

    fn window_update(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        if payload.len() != 4 {
            return Err(Fault::BadLength(kind::WINDOW_UPDATE));
        }
        let by = number(payload) & MOST;
        if head.stream != 0 {
            match self.streams.get(head.stream) {
                Some(_) => self.raise_stream_window(head.stream, by, out, to),
                None => self.on_known_stream(head)?,
            }
            return Ok(());
        }
        self.send_window += i64::from(by);
        if by == 0 {
            return Err(Fault::BadWindow(crate::fault::ZERO_UPDATE));
        }
        if self.send_window > i64::from(MOST) {
            return Err(Fault::BadWindow(crate::fault::ABOVE_MOST));
        }
        self.send_waiting(out);
        Ok(())
    }

    fn reset(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        if payload.len() != 4 {
            return Err(Fault::BadLength(kind::RST_STREAM));
        }
        self.on_known_stream(head)?;
        let fault = match Code(number(payload)) {
            Code::REFUSED_STREAM => StreamFault::Unprocessed,
            code => StreamFault::Reset(code),
        };
        self.fail(head.stream, fault, out, to);
        Ok(())
    }

    fn going_away(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        on_connection(head)?;
        if payload.len() < 8 {
            return Err(Fault::BadLength(kind::GOAWAY));
        }
        let last = number(payload) & MOST;
        let code = Code(number(&payload[4..]));
        self.goaway = Some(code);
        let beyond: Vec<u32> = self
            .streams
            .iter()
            .map(|stream| stream.id)
            .filter(|&id| id > last)
            .collect();
        for id in beyond {
            self.fail(id, StreamFault::Unprocessed, out, to);
        }
        to.going_away(code);
        Ok(())
    }

    /// A stream that was never opened can be neither reset nor given a window; one that has ended can, for the
    /// peer may not have known.
    fn on_known_stream(&self, head: FrameHeader) -> Result<(), Fault> {
        match head.stream {
            0 => Err(Fault::WrongStream(head.kind, 0)),
            id if id % 2 == 0 || id >= self.next_id => Err(Fault::WrongStream(head.kind, id)),
            _ => Ok(()),
        }
    }
}

fn on_connection(head: FrameHeader) -> Result<(), Fault> {
    match head.stream {
        0 => Ok(()),
        id => Err(Fault::WrongStream(head.kind, id)),
    }
}

/// The first four bytes as a number.
fn number(bytes: &[u8]) -> u32 {
    bytes
        .first_chunk()
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
