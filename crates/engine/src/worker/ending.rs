//! The end of a worker's run, and a last look at what its connections still bring.

use std::io;

use mio::Events;

use super::{EventPlace, READS_AT_ONCE, Worker};
use crate::connection::ConnectionStage;
use crate::control::TICK_NS;
use crate::plan::Stop;
use crate::transport::Transport;

impl<T: Transport> Worker<T> {
    pub(super) fn end(&mut self, end_ns: u64, early: bool) {
        self.close_windows(end_ns);
        // A counted run wants no more starts than its count.
        if let Stop::After { .. } = self.arm.assignment.stop {
            let missed = self.arm.schedule.missed_until(end_ns);
            let batch = u64::from(self.arm.program.pipeline);
            let totals = &self.arm.context.recorder.totals;
            totals.missed_starts.set(missed * batch);
        }
        self.arm.close_accounting(end_ns);
        if early {
            self.control.note_interrupted();
        }
    }

    /// Sends nothing more and looks for a tick at what comes. A server that sends more answers than
    /// it was asked for, each so late that it was taken for the next one's, is found out only now:
    /// once nothing is asked, it goes on answering.
    pub(super) fn look_over(&mut self, events: &mut Events) -> io::Result<()> {
        let until_ns = self.clock.now_ns() + TICK_NS;
        loop {
            for event in &*events {
                let place = EventPlace::of(event.token());
                self.as_arm(place.arm, |worker| worker.look_over_one(place.slot));
            }
            let now_ns = self.clock.now_ns();
            if now_ns >= until_ns {
                return Ok(());
            }
            self.waiter.wait(events, until_ns - now_ns)?;
        }
    }

    fn look_over_one(&mut self, slot: u32) {
        // On a stream that has ended nothing can come unnoticed.
        if self.arm.mux.is_some() {
            return;
        }
        let connection = &mut self.arm.connections[slot as usize];
        for _ in 0..READS_AT_ONCE {
            if !matches!(
                connection.stage,
                ConnectionStage::Busy | ConnectionStage::Idle
            ) {
                return;
            }
            let Some(transport) = &mut connection.transport else {
                return;
            };
            match transport.read(&mut self.buffer, false) {
                Ok(0) => return,
                Ok(read) => {
                    connection.look_over(
                        &self.buffer[..read],
                        &self.arm.program,
                        &mut self.arm.context,
                    );
                }
                Err(_) => return,
            }
        }
    }
}
