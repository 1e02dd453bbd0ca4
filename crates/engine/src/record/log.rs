//! The log of single requests, where a plan asks for one: written by one worker, in memory that
//! was set aside before the run.

use crate::plan::RequestLog;
use crate::protocol::ResponseHead;
use crate::record::Failure;

/// The longest part of an answer that is kept as text: its head and what came with it.
const MAX_TEXT_BYTES: usize = 8_191;
/// Length of an entry of [`Log::packed`].
const ENTRY_BYTES: usize = 48;

/// What is known of a request while it is under way.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stamps {
    /// When it was begun: with the connection, where one was opened for it.
    pub(crate) begun_ns: u64,
    /// From there until the request could be sent; 0 on a connection that was open.
    pub(crate) connect_ns: u64,
    /// From the send to the first byte of the answer.
    pub(crate) first_byte_ns: u64,
    pub(crate) body_bytes: u64,
    status: u16,
    keeps_alive: bool,
}

impl Stamps {
    /// Of a request that is begun now.
    #[inline]
    pub(crate) fn begun(now_ns: u64) -> Self {
        Self {
            begun_ns: now_ns,
            ..Self::default()
        }
    }

    #[inline]
    pub(crate) fn note_head(&mut self, head: ResponseHead) {
        self.status = head.status;
        self.keeps_alive = head.keep_alive;
        self.body_bytes = 0;
    }
}

/// A request that has ended.
#[derive(Debug, Clone, Copy)]
struct Entry {
    stamps: Stamps,
    total_ns: u64,
    failure: Option<Failure>,
}

/// What the two ends agreed on when the first session of TLS began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// "TLS 1.2" or "TLS 1.3".
    pub version: String,
    /// The cipher suite, by its name in the registry.
    pub suite: String,
    /// The group of the key exchange.
    pub group: String,
    /// The server's certificate (DER).
    pub certificate: Vec<u8>,
}

/// One worker's requests in the order in which they ended.
#[derive(Debug)]
pub(crate) struct Log {
    entries: Vec<Entry>,
    /// Heads of answers, each with what of the body was read together with it.
    pub(crate) answers: Vec<Vec<u8>>,
    most_answers: usize,
}

impl Log {
    /// Room for one worker's part of `count` requests, where the plan wants them logged. A worker that answers more than
    /// its part makes more room.
    pub(crate) fn new(wanted: RequestLog, count: u64, workers: u32) -> Option<Self> {
        let part = usize::try_from(count.div_ceil(u64::from(workers.max(1)))).unwrap_or(usize::MAX);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let most_answers = match wanted {
            RequestLog::Off => return None,
            RequestLog::Times => 1,
            RequestLog::Answers => count,
        };
        Some(Self {
            entries: Vec::with_capacity(part),
            answers: Vec::new(),
            most_answers,
        })
    }

    /// Keeps an answer's head and the beginning of its body. The first of a run is always kept.
    #[inline(never)]
    pub(crate) fn note_answer(&mut self, head: &[u8], body: &[u8]) {
        if self.answers.len() < self.most_answers {
            let kept = head.len().min(MAX_TEXT_BYTES);
            let with_it = body.len().min(MAX_TEXT_BYTES - kept);
            self.answers
                .push([&head[..kept], &body[..with_it]].concat());
        }
    }

    /// Writes down a request that ended at `now_ns`.
    #[inline]
    pub(crate) fn note_end(&mut self, stamps: Stamps, now_ns: u64, failure: Option<Failure>) {
        self.entries.push(Entry {
            stamps,
            total_ns: now_ns.saturating_sub(stamps.begun_ns),
            failure,
        });
    }

    /// 48 bytes a request, little-endian: begun, connect, first byte and total as u64 in ns, body
    /// bytes as u64, status as u16, number of the failure plus 1 as u8 (0 for none), 1 where the
    /// peer keeps the connection as u8, 4 bytes of nothing.
    pub(crate) fn packed(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.entries.len() * ENTRY_BYTES);
        for Entry {
            stamps,
            total_ns,
            failure,
        } in &self.entries
        {
            for number in [
                stamps.begun_ns,
                stamps.connect_ns,
                stamps.first_byte_ns,
                *total_ns,
                stamps.body_bytes,
            ] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            bytes.extend_from_slice(&stamps.status.to_le_bytes());
            bytes.push(failure.map_or(0, |failure| failure as u8 + 1));
            bytes.push(u8::from(stamps.keeps_alive));
            bytes.extend_from_slice(&[0; 4]);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_worker_sets_aside_its_part_and_makes_room_for_more() {
        let mut log = Log::new(RequestLog::Times, 1_000_000, 1_000).unwrap();
        assert!((1_000..2_000).contains(&log.entries.capacity()));
        for at_ns in 0..5_000 {
            log.note_end(Stamps::begun(0), at_ns, None);
        }
        assert_eq!(log.packed().len(), 5_000 * ENTRY_BYTES);
    }
}
