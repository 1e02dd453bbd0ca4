//! Frames that carry no request: SETTINGS, PING, GOAWAY, windows, resets, priorities.

use super::{Code, Event, FrameHeader, Server, flag, kind};
use crate::Fault;
use crate::fault::{ABOVE_MOST, ZERO_UPDATE};
use crate::frame::{DEFAULT_PAYLOAD_BYTES, MOST, setting};

impl Server {
    #[cold]
    pub(super) fn control(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        match head.kind {
            kind::CONTINUATION => self.continuation(head, payload, out),
            kind::SETTINGS => self.settings(head, payload, out),
            kind::WINDOW_UPDATE => self.raise(head, payload, out),
            kind::RST_STREAM => self.client_reset(head, payload),
            kind::PING => {
                is_long(head, payload.len() == 8)?;
                on_connection(head)?;
                if !head.has(flag::ACK) {
                    self.say(kind::PING, flag::ACK, 0, payload, out);
                }
                Ok(())
            }
            kind::GOAWAY => {
                is_long(head, payload.len() >= 8)?;
                on_connection(head)
            }
            kind::PRIORITY => {
                on_stream(head)?;
                is_long(head, payload.len() == 5)?;
                // RFC 7540, 5.3.1; nothing else is made of priorities.
                match number(payload) & MOST == head.stream {
                    true => Err(Fault::OwnDependency),
                    false => Ok(()),
                }
            }
            kind::PUSH_PROMISE => Err(Fault::Push),
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
            return is_long(head, payload.is_empty());
        }
        is_long(head, payload.len() % 6 == 0)?;
        for entry in payload.chunks_exact(6) {
            let name = u16::from_be_bytes([entry[0], entry[1]]);
            self.set(name, number(&entry[2..]))?;
        }
        self.is_greeted = true;
        self.say(kind::SETTINGS, flag::ACK, 0, &[], out);
        self.send_waiting(out);
        Ok(())
    }

    fn set(&mut self, name: u16, value: u32) -> Result<(), Fault> {
        let bad = Fault::BadSetting(name, value);
        match name {
            setting::HEADER_TABLE_SIZE => self.encoder.limit_table(value as usize),
            setting::ENABLE_PUSH if value > 1 => return Err(bad),
            setting::INITIAL_WINDOW_SIZE if value > MOST => return Err(bad),
            setting::INITIAL_WINDOW_SIZE => {
                let more = i64::from(value) - self.peer_window;
                self.peer_window = i64::from(value);
                for stream in self.streams.iter_mut() {
                    stream.window += more;
                    if stream.window > i64::from(MOST) {
                        return Err(Fault::BadWindow(ABOVE_MOST));
                    }
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

    fn raise(&mut self, head: FrameHeader, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        is_long(head, payload.len() == 4)?;
        let by = i64::from(number(payload) & MOST);
        if head.stream == 0 {
            self.send_window += by;
            if by == 0 {
                return Err(Fault::BadWindow(ZERO_UPDATE));
            }
            if self.send_window > i64::from(MOST) {
                return Err(Fault::BadWindow(ABOVE_MOST));
            }
            self.send_waiting(out);
            return Ok(());
        }
        let Some(stream) = self.streams.get(head.stream) else {
            // The client may not have known yet that the stream has ended.
            return self.was_opened(head);
        };
        stream.window += by;
        if by == 0 {
            self.fail(head.stream, Code::PROTOCOL_ERROR, out);
        } else if stream.window > i64::from(MOST) {
            self.fail(head.stream, Code::FLOW_CONTROL_ERROR, out);
        } else if stream.unsent.is_some() && self.send(head.stream, out) {
            self.waiting.retain(|&waiting| waiting != head.stream);
        }
        Ok(())
    }

    fn client_reset(&mut self, head: FrameHeader, payload: &[u8]) -> Result<(), Fault> {
        is_long(head, payload.len() == 4)?;
        self.was_opened(head)?;
        if let Some(stream) = self.streams.remove(head.stream) {
            if stream.unsent.is_some() {
                self.waiting.retain(|&waiting| waiting != head.stream);
            }
            self.queued.push_back(Event::Reset {
                stream: head.stream,
            });
        }
        Ok(())
    }
}

fn is_long(head: FrameHeader, enough: bool) -> Result<(), Fault> {
    match enough {
        true => Ok(()),
        false => Err(Fault::BadLength(head.kind)),
    }
}

fn on_connection(head: FrameHeader) -> Result<(), Fault> {
    match head.stream {
        0 => Ok(()),
        id => Err(Fault::WrongStream(head.kind, id)),
    }
}

fn on_stream(head: FrameHeader) -> Result<(), Fault> {
    match head.stream {
        0 => Err(Fault::WrongStream(head.kind, 0)),
        _ => Ok(()),
    }
}

/// The first four bytes as a number.
pub(super) fn number(bytes: &[u8]) -> u32 {
    bytes
        .first_chunk()
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
