//! The steps of the loop by protocol: which one the arm speaks is asked here, once a step.
//!
//! Below this, HTTP/1 ([`super::http1`]) has `arm.connections`, HTTP/2 and HTTP/3 ([`super::multiplexed`]) have
//! `arm.mux`; what both need is in [`super::connecting`].

use std::io;

use mio::Events;
use mio::event::Event;

use super::{EventPlace, Worker};
use crate::control::TICK_NS;
use crate::transport::Transport;

/// What an arm speaks, on all of its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
    Http3,
}

impl<T: Transport> Worker<T> {
    pub(super) fn read_ready(&mut self, events: &Events) {
        if self.interleave.is_some() {
            return self.read_ready_of_all(events);
        }
        self.read_unread();
        let mut is_first = true;
        for event in events {
            // The first event's reading was taken when the wait ended.
            if !is_first {
                self.now_ns = self.clock.now_ns();
            }
            is_first = false;
            self.read_event(event.token().0 as u32, event);
        }
    }

    /// Goes on with the connections that had more to read.
    pub(super) fn read_unread(&mut self) {
        match self.arm.protocol {
            Protocol::Http1 => self.read_unread_http1(),
            Protocol::Http2 => self.read_unread_http2(),
            Protocol::Http3 => self.read_unread_quic(),
        }
    }

    /// Does what an event asks for: it is one of a place of the arm that the worker has.
    #[inline]
    pub(super) fn read_event(&mut self, slot: u32, event: &Event) {
        match self.arm.protocol {
            Protocol::Http1 => self.http1_event(slot, event),
            Protocol::Http2 => self.http2_event(slot, event),
            Protocol::Http3 => self.quic_event(slot, event),
        }
    }

    /// Reads the clock for another read of an iteration: what it brings came later than what the first one brought. Where
    /// arms are interleaved no stamp may lie behind a mark that was not passed.
    #[inline]
    pub(super) fn stamp_again(&mut self, times: usize) {
        if times > 0 && self.interleave.is_none() {
            self.now_ns = self.clock.now_ns();
        }
    }

    /// Starts what is due, but nothing of the next phase: the clock may pass the phase's end
    /// between two requests.
    #[inline]
    pub(super) fn start_due(&mut self) {
        let until_ns = match &self.interleave {
            Some(interleave) => interleave.serves_until_ns().min(self.control.stop_ns()),
            None => self.phase_end_ns(),
        };
        self.arm.note_room(self.loop_began_ns);
        match self.arm.protocol {
            Protocol::Http1 => self.start_http1(until_ns),
            Protocol::Http2 | Protocol::Http3 => self.start_streams(until_ns),
        }
    }

    pub(super) fn refill(&mut self) -> u64 {
        match self.phase.is_measuring {
            true => self.arm.refill(&self.control),
            false => 0,
        }
    }

    /// Ends what has taken too long.
    pub(super) fn sweep(&mut self) {
        if self.arm.is_retired {
            return;
        }
        match self.arm.protocol {
            Protocol::Http1 => self.sweep_http1(),
            Protocol::Http2 => self.sweep_streams(),
            Protocol::Http3 => self.sweep_quic(),
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
        match self.arm.protocol {
            Protocol::Http1 => self.look_over_http1(slot),
            // On a stream that has ended nothing can come unnoticed.
            Protocol::Http2 | Protocol::Http3 => {}
        }
    }
}
