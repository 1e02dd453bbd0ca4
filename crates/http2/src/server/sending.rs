//! Answers, as the client's windows let them go.

use std::sync::Arc;

use super::{Code, Server, flag, kind};
use crate::frame;

impl Server {
    /// Answers: appends the head, and what the windows allow of the body, which answers to HEAD have none of.
    /// Nothing is sent on a stream that has ended in the meantime.
    pub fn answer(&mut self, id: u32, block: &[u8], body: &Arc<[u8]>, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.get(id) else {
            return;
        };
        let is_bodyless = stream.is_head || body.is_empty();
        frame::write_block(id, is_bodyless, block, self.peer_payload, out);
        let mut sent = 0;
        if is_bodyless || self.send_body(id, body, &mut sent, out) {
            return self.answered(id, out);
        }
        if let Some(stream) = self.streams.get(id) {
            stream.unsent = Some((Arc::clone(body), sent));
            self.waiting.push_back(id);
        }
    }

    /// All of an answer is sent. A client that has not sent all of its request need not go on (RFC 9113, 8.1).
    #[inline]
    fn answered(&mut self, id: u32, out: &mut Vec<u8>) {
        self.answers += 1;
        if self
            .streams
            .remove(id)
            .is_some_and(|stream| !stream.is_whole)
        {
            self.give_up(id, Code::NO_ERROR, out);
        }
    }

    /// Sends what the windows allow of a body; whether that is all of it.
    #[inline]
    fn send_body(&mut self, id: u32, body: &[u8], sent: &mut usize, out: &mut Vec<u8>) -> bool {
        let Some(stream) = self.streams.get(id) else {
            return true;
        };
        while *sent < body.len() {
            let window = self
                .send_window
                .min(stream.window)
                .min(self.peer_payload as i64);
            if window <= 0 {
                return false;
            }
            let end = body.len().min(*sent + window as usize);
            let last = if end == body.len() {
                flag::END_STREAM
            } else {
                0
            };
            let piece = &body[*sent..end];
            frame::write(kind::DATA, last, id, piece, out);
            self.send_window -= piece.len() as i64;
            stream.window -= piece.len() as i64;
            *sent = end;
        }
        true
    }

    /// Goes on with an answer that waited for a window; whether it is all sent.
    pub(super) fn send(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
        let Some((body, mut sent)) = self.streams.get(id).and_then(|stream| stream.unsent.take())
        else {
            return true;
        };
        let is_all = self.send_body(id, &body, &mut sent, out);
        if is_all {
            self.answered(id, out);
        } else if let Some(stream) = self.streams.get(id) {
            stream.unsent = Some((body, sent));
        }
        is_all
    }

    /// Goes on with all that waits, each in its turn.
    pub(super) fn send_waiting(&mut self, out: &mut Vec<u8>) {
        for _ in 0..self.waiting.len() {
            if self.send_window <= 0 {
                return;
            }
            if let Some(id) = self.waiting.pop_front()
                && !self.send(id, out)
            {
                self.waiting.push_back(id);
            }
        }
    }
}
