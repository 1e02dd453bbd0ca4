//! What a connection's bytes are read with, and what came of them.

use super::slot::{EndedStreams, SlotState, StreamSlot};
use crate::context::{ArmContext, ConnectionFailure};
use crate::program::Program;
use crate::protocol::ResponseHead;
use crate::record::Histogram;

/// What is at hand while a connection is read.
pub(super) struct Reading<'a> {
    /// The connection's number in its arm.
    pub(super) number: u32,
    pub(super) now_ns: u64,
    pub(super) slots: &'a mut [StreamSlot],
    pub(super) ended: &'a mut EndedStreams,
    pub(super) program: &'a Program,
    pub(super) context: &'a mut ArmContext,
    /// How many answers have ended.
    pub(super) answers: u32,
    /// Times until the first bytes and ends of its answers.
    pub(super) first_bytes: Repeated,
    pub(super) services: Repeated,
}

/// A time that follows itself: what was sent at once and is read at once took the same time.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    ns: u64,
    count: u64,
}

impl Repeated {
    /// Counts a time, and records the one before where it is another.
    #[inline]
    pub(super) fn add(&mut self, ns: u64, histogram: &Histogram) {
        if ns != self.ns {
            self.record(histogram);
            self.ns = ns;
        }
        self.count += 1;
    }

    #[inline]
    fn record(&mut self, histogram: &Histogram) {
        if self.count > 0 {
            histogram.record_times(self.ns, std::mem::take(&mut self.count));
        }
    }
}

impl Reading<'_> {
    /// An answer is complete. It is booked while all that is known of it is at hand, but for one that is followed.
    #[inline]
    pub(super) fn end_answer(&mut self, key: u32) {
        self.answers += 1;
        let slot = &mut self.slots[key as usize];
        if !slot.exchange.is_followed() {
            slot.state = SlotState::Free;
            let ended = (slot.exchange).end_answer(self.now_ns, self.program, self.context);
            if let Some(service_ns) = ended {
                (self.services).add(service_ns, &self.context.recorder.service_time);
            }
        }
        self.ended.answered.push(key);
    }

    /// The head of an answer.
    #[inline]
    pub(super) fn take_head(&mut self, key: u32, head: ResponseHead) {
        let exchange = &mut self.slots[key as usize].exchange;
        let first_byte_ns = exchange.note_first_byte(self.now_ns);
        (self.first_bytes).add(first_byte_ns, &self.context.recorder.times.first_byte_time);
        exchange.take_head(head, &[], self.program, self.context);
    }

    /// All is read: records what is left to record. How many answers have ended.
    #[inline]
    pub(super) fn end(mut self) -> u32 {
        let recorder = &self.context.recorder;
        self.first_bytes.record(&recorder.times.first_byte_time);
        self.services.record(&recorder.service_time);
        self.answers
    }

    /// There will be no answer.
    pub(super) fn fail_answer(&mut self, key: u32, broken: ConnectionFailure) {
        self.ended.failed.push((key, broken));
    }
}
