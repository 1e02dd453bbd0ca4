//! A fixed delay, kept to microseconds (Tokio's own timer counts whole milliseconds).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;

/// Whoever waits here waits equally long, so all are due in the order they came, and one timer,
/// set to the first of them, serves them all.
pub struct DelayLine {
    delay: Duration,
    timer: AsyncFd<OwnedFd>,
    waiting: RefCell<VecDeque<(Instant, oneshot::Sender<()>)>>,
}

impl DelayLine {
    /// A line without anyone in it. Needs a runtime around it.
    pub fn new(delay: Duration) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self {
            delay,
            // SAFETY: the `AsyncFd` owns the open descriptor, and an `OwnedFd` stays the same.
            timer: unsafe { AsyncFd::register(timer) }?,
            waiting: RefCell::default(),
        })
    }

    /// Returns when the delay is over; `keep_time` has to run meanwhile.
    pub async fn wait(&self) {
        let (due, over) = oneshot::channel();
        {
            let mut waiting = self.waiting.borrow_mut();
            if waiting.is_empty() {
                self.set_timer(self.delay);
            }
            waiting.push_back((Instant::now() + self.delay, due));
        }
        // An error would say that the line is gone, and with it the program.
        let _ = over.await;
    }

    /// Releases those who are due, for ever.
    pub async fn keep_time(&self) -> io::Result<()> {
        loop {
            let mut ready = self.timer.readable().await?;
            // Setting the timer anew takes its readiness back; it need not be read.
            ready.clear_ready();
            self.release();
        }
    }

    fn release(&self) {
        let now = Instant::now();
        let mut waiting = self.waiting.borrow_mut();
        while let Some((due, _)) = waiting.front() {
            let left = due.saturating_duration_since(now);
            if !left.is_zero() {
                self.set_timer(left);
                return;
            }
            if let Some((_, due)) = waiting.pop_front() {
                let _ = due.send(()); // the asker may have left
            }
        }
    }

    fn set_timer(&self, left: Duration) {
        let once = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec {
                tv_sec: left.as_secs().cast_signed(),
                tv_nsec: left.subsec_nanos().into(),
            },
        };
        timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::empty(), &once)
            .expect("a valid time for an open timer");
    }
}
