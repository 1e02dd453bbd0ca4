//! The end of a worker's run, and a last look at what its connections still bring.

use std::io;
use std::sync::Arc;

use mio::Events;

use super::{READS_IN_A_TURN, Worker};
use crate::connection::Stage;
use crate::control::TICK_NS;
use crate::plan::Stop;
use crate::transport::Transport;

impl<T: Transport> Worker<T> {
    pub(super) fn end(&mut self, end_ns: u64, early: bool) {
        self.close_windows(end_ns);
        let ledger = Arc::clone(&self.lane.desk.ledger);
        ledger.ended_ns.set(end_ns);
        // A counted run wants no more starts than its count.
        if let Stop::After { .. } = self.lane.assignment.stop {
            let missed = self.lane.schedule.missed_until(end_ns);
            let batch = u64::from(self.lane.program.pipeline);
            ledger.totals.missed_starts.set(missed * batch);
        }
        let left = self
            .lane
            .connections
            .iter()
            .map(|c| u64::from(c.outstanding));
        ledger.left_in_flight.set(left.sum());
        let mut notes = ledger.notes();
        notes.encodings = self.lane.desk.heads.encodings().to_vec();
        notes.log = self.lane.desk.log.take();
        drop(notes);
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
                self.look_over_one(event.token().0);
            }
            let now_ns = self.clock.now_ns();
            if now_ns >= until_ns {
                return Ok(());
            }
            self.waiter.wait(events, until_ns - now_ns)?;
        }
    }

    fn look_over_one(&mut self, slot: usize) {
        let connection = &mut self.lane.connections[slot];
        for _ in 0..READS_IN_A_TURN {
            if !matches!(connection.stage, Stage::Busy | Stage::Idle) {
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
                        &self.lane.program,
                        &mut self.lane.desk,
                    );
                }
                Err(_) => return,
            }
        }
    }
}
