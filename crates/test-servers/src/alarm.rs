//! Waiting for events until a moment, more finely than `epoll_wait` counts.

use mio::{Events, Poll};
use std::io;
use std::time::Duration;

#[cfg(target_os = "linux")]
pub(crate) use timer::Alarm;

#[cfg(not(target_os = "linux"))]
pub(crate) use plain::Alarm;

#[cfg(target_os = "linux")]
mod timer {
    use super::{Duration, Events, Poll, io};
    use mio::unix::SourceFd;
    use mio::{Interest, Token};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use std::os::fd::{AsRawFd as _, OwnedFd};

    /// A timer descriptor among the others of a [`Poll`].
    pub(crate) struct Alarm(OwnedFd);

    impl Alarm {
        /// A sleeper wakes up to so much late.
        pub(crate) const MARGIN: Duration = Duration::from_micros(100);

        /// Registers a timer as `token`.
        pub(crate) fn new(poll: &Poll, token: Token) -> io::Result<Self> {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            let source = &mut SourceFd(&timer.as_raw_fd());
            poll.registry()
                .register(source, token, Interest::READABLE)?;
            Ok(Self(timer))
        }

        /// Waits for events, for at most `patience`; None is for ever.
        pub(crate) fn wait(
            &self,
            poll: &mut Poll,
            events: &mut Events,
            patience: Option<Duration>,
        ) -> io::Result<()> {
            match patience {
                Some(Duration::ZERO) => return poll.poll(events, patience),
                // Edge-triggered, each expiry is an event of its own: nobody has to read the timer.
                Some(patience) => {
                    let once = Itimerspec {
                        it_interval: Timespec::default(),
                        it_value: Timespec::try_from(patience).unwrap_or_default(),
                    };
                    timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once)?;
                }
                // An old alarm that still goes off does no harm.
                None => {}
            }
            poll.poll(events, None)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod plain {
    use super::{Duration, Events, Poll, io};
    use mio::Token;

    /// The poll's own timeout, in milliseconds.
    pub(crate) struct Alarm;

    impl Alarm {
        /// A timeout is rounded up to the millisecond, and wakes late.
        pub(crate) const MARGIN: Duration = Duration::from_millis(2);

        /// Needs nothing.
        pub(crate) fn new(_: &Poll, _: Token) -> io::Result<Self> {
            Ok(Self)
        }

        /// Waits for events, for at most `patience`; None is for ever.
        pub(crate) fn wait(
            &self,
            poll: &mut Poll,
            events: &mut Events,
            patience: Option<Duration>,
        ) -> io::Result<()> {
            poll.poll(events, patience)
        }
    }
}
