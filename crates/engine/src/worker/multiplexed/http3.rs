//! An arm of HTTP/3: opening its connections, reading and writing their datagrams, and QUIC's timers.
//!
//! As with HTTP/2 a batch costs one reading of the clock, one read and one write. A timer that goes off is a sweep that
//! comes early: so the loop has one time more to look at, whatever its arms speak.

use std::io;

use mio::Interest;
use mio::event::Event;
use mio::unix::SourceFd;
use std::os::fd::AsRawFd;

use super::super::{EventPlace, READS_AT_ONCE, Worker};
use crate::context::ConnectionFailure;
use crate::streams::Carrier;
use crate::transport::Transport;

impl<T: Transport> Worker<T> {
    /// Begins a connection, for the place that the descriptor's events will name.
    pub(super) fn open_quic(&mut self, number: u32) {
        let arm = self.arm.assignment.arm as usize;
        let now_ns = self.now_ns;
        let mux = &mut self.arm.mux;
        let Some(quic) = &mut mux.quic else { return };
        let opened = quic.open(number, now_ns).and_then(|mut http3| {
            let place = EventPlace { arm, slot: number };
            let interest = Interest::READABLE | Interest::WRITABLE;
            let descriptor = http3.descriptor().as_raw_fd();
            let registry = self.waiter.registry();
            match registry.register(&mut SourceFd(&descriptor), place.token(), interest) {
                Ok(()) => Ok(http3),
                Err(error) => {
                    quic.forget(number, &mut http3);
                    Err(ConnectionFailure::io(&error))
                }
            }
        });
        let connection = &mut mux.connections[number as usize];
        connection.since_ns = now_ns;
        match opened {
            Ok(http3) => {
                connection.begin(Carrier::Http3(Box::new(http3)));
                mux.is_due(number);
                self.arm.context.recorder.note_open();
            }
            Err(broken) => self.break_mux(number, broken),
        }
    }

    pub(in crate::worker) fn quic_event(&mut self, number: u32, event: &Event) {
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            self.read_quic(number);
        }
        if event.is_writable()
            && let Carrier::Http3(http3) = &self.arm.mux.connections[number as usize].carrier
            && http3.has_unsent()
        {
            self.arm.mux.is_due(number);
        }
        if self.interleave.is_some() {
            // Its arm may rest when the next writes are made.
            self.write_due();
        }
    }

    /// Goes on with the connections that had more to read.
    pub(in crate::worker) fn read_unread_quic(&mut self) {
        for number in std::mem::take(&mut self.arm.unread) {
            self.now_ns = self.clock.now_ns();
            self.read_quic(number);
        }
        if self.interleave.is_some() {
            self.write_due();
        }
    }

    /// Reads a connection's datagrams until there are none, and does what each batch asks for.
    fn read_quic(&mut self, number: u32) {
        for times in 0..READS_AT_ONCE {
            self.stamp_again(times);
            let (arm, now_ns) = (&mut self.arm, self.now_ns);
            let mux = &mut arm.mux;
            let Some((quic, http3)) = mux.http3(number) else {
                return;
            };
            match quic.read(http3, now_ns, &arm.context.recorder) {
                Ok(may_be_more) => {
                    mux.connections[number as usize].heard_ns = now_ns;
                    self.serve_quic(number);
                    if !may_be_more {
                        return;
                    }
                }
                Err(error) => return self.unreached(number, &error),
            }
        }
        self.arm.unread.push(number);
    }

    /// Does what datagrams, or a timer, ask for.
    fn serve_quic(&mut self, number: u32) {
        let arm = &mut self.arm;
        let served = arm
            .mux
            .serve(number, self.now_ns, &arm.program, &mut arm.context);
        self.end_streams();
        match served {
            Err(broken) => return self.break_mux(number, broken),
            Ok(true) => self.quic_connected(number),
            Ok(false) => {}
        }
        self.go_on(number);
        self.arm.mux.is_due(number);
    }

    /// The handshake is done, QUIC's and TLS's in one: requests can be sent.
    fn quic_connected(&mut self, number: u32) {
        self.now_ns = self.clock.now_ns();
        let mux = &mut self.arm.mux;
        let connection = &mut mux.connections[number as usize];
        let Carrier::Http3(http3) = &connection.carrier else {
            return;
        };
        let context = &mut self.arm.context;
        context.recorder.note_quic(http3.agreement());
        context.note_session(|| Some(http3.session()));
        let connect_time_ns = self.now_ns.saturating_sub(connection.since_ns);
        connection.greet(self.now_ns);
        connection.failures = 0;
        let is_again = std::mem::replace(&mut connection.was_opened, true);
        for &slot in &connection.waiting {
            mux.slots[slot as usize].exchange.since_ns = self.now_ns;
        }
        self.note_connected(connect_time_ns, is_again);
    }

    pub(super) fn write_quic(&mut self, number: u32) {
        let arm = &mut self.arm;
        let Some((quic, http3)) = arm.mux.http3(number) else {
            return;
        };
        let written = quic.write(number, http3, self.now_ns, &arm.context.recorder);
        self.next_sweep_ns = self.next_sweep_ns.min(quic.next_due_ns());
        if let Err(error) = written {
            self.unreached(number, &error);
        }
    }

    /// The system says that nobody is there. It says so before it hands out what had arrived until then, and the peer's
    /// own word why it closes may be among that.
    #[cold]
    fn unreached(&mut self, number: u32, error: &io::Error) {
        let stage = self.mux_stage(number);
        for _ in 0..READS_AT_ONCE {
            let (arm, now_ns) = (&mut self.arm, self.now_ns);
            let Some((quic, http3)) = arm.mux.http3(number) else {
                return;
            };
            let read = quic.read(http3, now_ns, &arm.context.recorder);
            if read.is_ok() {
                self.serve_quic(number);
            }
            if self.mux_stage(number) != stage {
                return;
            }
            if !matches!(read, Ok(true)) {
                break;
            }
        }
        let arm = &mut self.arm;
        if let Some((_, http3)) = arm.mux.http3(number) {
            let broken = http3.unreached(error, &arm.context);
            self.break_mux(number, broken);
        }
    }

    /// Lets the timers that are due go off and, as often as other arms are swept, ends what has taken too long.
    pub(in crate::worker) fn sweep_quic(&mut self) {
        while let Some(number) = self.next_quic_due() {
            let Some((quic, http3)) = self.arm.mux.http3(number) else {
                continue;
            };
            if quic.time(number, http3, self.now_ns) {
                self.serve_quic(number);
            }
        }
        let interval_ns = self.sweep_interval_ns;
        let now_ns = self.now_ns;
        let Some(quic) = &mut self.arm.mux.quic else {
            return;
        };
        if now_ns >= quic.swept_ns + interval_ns {
            quic.swept_ns = now_ns;
            self.sweep_streams();
        } else {
            self.write_due();
        }
        if let Some(quic) = &mut self.arm.mux.quic {
            let next_ns = quic.next_due_ns().min(quic.swept_ns + interval_ns);
            self.next_sweep_ns = self.next_sweep_ns.min(next_ns);
        }
    }

    fn next_quic_due(&mut self) -> Option<u32> {
        self.arm.mux.quic.as_mut()?.next_due(self.now_ns)
    }
}
