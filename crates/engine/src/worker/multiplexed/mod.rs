//! An arm of HTTP/2 or HTTP/3: starting what is due on its slots, and writing its connections.
//!
//! What is due is given to slots first. Then each connection that has some is written once: its requests are put into its
//! buffer, stamped and written before those of the next are. So a batch costs two readings of the clock, one write and,
//! when its answers come, one read, and no request waits in a buffer of ours after its time has begun.

mod failing;
mod http2;
mod http3;

use super::dispatch::Protocol;
use super::{STARTS_AT_ONCE, Worker};
use crate::connection::ConnectionStage;
use crate::context::ConnectionFailure;
use crate::record::Failure;
use crate::streams::Carrier;
use crate::transport::Transport;

/// The clock is read again after so many starts: what becomes due meanwhile is taken, too.
const BATCH: u32 = 64;

impl<T: Transport> Worker<T> {
    /// Starts what is due before `until_ns`, and writes it.
    pub(super) fn start_streams(&mut self, until_ns: u64) {
        self.now_ns = self.clock.now_ns();
        // The connection whose slots were taken last: requests of one mostly follow each other.
        let mut asked = None;
        self.has_more_due = true;
        for started in 1..=STARTS_AT_ONCE {
            if self.arm.quota == 0 {
                self.arm.quota = self.refill();
            }
            if self.arm.quota == 0 || !self.arm.finds_room() {
                self.arm.note_full();
                self.has_more_due = false;
                break;
            }
            let due_ns = self.arm.schedule.due(self.now_ns);
            let Some(intended_ns) = due_ns.filter(|due_ns| *due_ns < until_ns) else {
                self.has_more_due = false;
                break;
            };
            self.arm.schedule.advance();
            let connection = self.arm.take_slot(intended_ns, self.now_ns);
            if asked.replace(connection) != Some(connection) {
                self.go_on(connection);
            }
            if started % BATCH == 0 {
                self.now_ns = self.clock.now_ns();
            }
        }
        self.write_due();
    }

    /// Sees to it that what waits on a connection is sent, or opens it for that.
    #[inline]
    fn go_on(&mut self, number: u32) {
        let arm = &mut self.arm;
        let mux = &mut arm.mux;
        let connection = &mux.connections[number as usize];
        match connection.stage {
            ConnectionStage::Busy if connection.is_done(&arm.program) => self.end_mux(number),
            ConnectionStage::Busy => mux.is_due(number),
            ConnectionStage::Closed if !connection.waiting.is_empty() => self.open_mux(number),
            _ => {}
        }
    }

    /// Writes all connections that have something to send.
    fn write_due(&mut self) {
        while !self.arm.mux.due.is_empty() {
            let mut due = std::mem::take(&mut self.arm.mux.due);
            for number in due.drain(..) {
                self.write_mux(number);
            }
            if self.arm.mux.due.is_empty() {
                self.arm.mux.due = due;
            }
        }
    }

    fn write_mux(&mut self, number: u32) {
        let arm = &mut self.arm;
        let mux = &mut arm.mux;
        let connection = &mut mux.connections[number as usize];
        connection.is_due = false;
        if connection.stage == ConnectionStage::Busy
            && mux.send_waiting(number, self.now_ns, &arm.program, &mut arm.context)
        {
            self.now_ns = self.clock.now_ns();
            mux.stamp(self.now_ns, self.loop_began_ns, &arm.context);
        }
        let connection = &mut mux.connections[number as usize];
        let http2 = match &mut connection.carrier {
            Carrier::None => return,
            Carrier::Http2(http2) => http2,
            Carrier::Http3(_) => return self.write_quic(number),
        };
        match http2.write() {
            Ok(written) => {
                let totals = &arm.context.recorder.totals;
                totals.bytes_written.add(written as u64);
                // Requests may have waited for nothing else than that this was sent.
                if written > 0
                    && !connection.waiting.is_empty()
                    && connection.has_room(&arm.program)
                {
                    self.go_on(number);
                }
            }
            Err(error) => self.read_last_of_http2(number, &error),
        }
    }

    /// Begins to open a connection.
    fn open_mux(&mut self, number: u32) {
        match self.arm.protocol {
            Protocol::Http3 => self.open_quic(number),
            _ => self.open_http2(number),
        }
    }

    fn mux_stage(&self, number: u32) -> ConnectionStage {
        self.arm.mux.connections[number as usize].stage
    }

    /// Goes on with the slots whose streams have ended.
    #[inline]
    fn end_streams(&mut self) {
        let mut ended = std::mem::take(&mut self.arm.mux.ended);
        for slot in ended.answered.drain(..) {
            self.arm.end_stream(slot, self.now_ns);
        }
        // Those that are sent again go to the front: in the order in which they were sent before.
        for (slot, broken) in ended.failed.drain(..).rev() {
            self.fail_stream(slot, &broken);
        }
        self.arm.mux.ended = ended;
    }

    /// Closes a connection that takes no more requests, and opens another for those that wait.
    fn end_mux(&mut self, number: u32) {
        let mux = &mut self.arm.mux;
        let connection = &mut mux.connections[number as usize];
        if connection.carried == 0 && !connection.is_silent && !connection.waiting.is_empty() {
            // It would be opened again and again, and nothing be booked. Silence takes its time, and accounting it.
            let detail = "the server takes no request on a connection that it has just opened";
            return self.break_mux(number, ConnectionFailure::new(Failure::Unprocessed, detail));
        }
        mux.clear(number, self.now_ns, &self.arm.context.recorder);
        if !mux.connections[number as usize].waiting.is_empty() {
            self.open_mux(number);
        }
    }
}
