//! One worker's recorder.

use std::sync::Mutex;

use super::by_request::ByRequest;
use super::counter::{Counter, STATUSES};
use super::failure::{Failure, example};
use super::histogram::Histogram;
use super::http3::Http3Counts;
use super::measurement::recorded_times;
use super::notes::{Counts, Notes};
use super::open_times::OpenTimes;
use super::series::Series;
use super::streams::StreamCounts;

const ENCODINGS: usize = 64;

/// Counts of one phase.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) started: Counter,
    pub(crate) completed: Counter,
    pub(crate) failed: Counter,
    pub(crate) bytes_read: Counter,
    pub(crate) bytes_written: Counter,
    pub(crate) body_bytes: Counter,
    pub(crate) checked: Counter,
    /// Answers that only the end of their connection ended.
    pub(crate) ended_by_close: Counter,
    pub(crate) missed_starts: Counter,
    /// Requests sent again, each as often as it was.
    pub(crate) resent: Counter,
    /// Bytes that belong to no answer, and connections given up for them.
    pub(crate) stray_bytes: Counter,
    pub(crate) strayed: Counter,
}

macro_rules! times {
    ([$($name:ident)+]) => {
        /// Times of every request or connection.
        #[derive(Debug)]
        pub(crate) struct Times {
            $(pub(crate) $name: Histogram,)+
        }

        impl Times {
            fn new() -> Self {
                Self { $($name: Histogram::new(),)+ }
            }

            fn clear(&self) {
                $(self.$name.clear();)+
            }
        }
    };
}
recorded_times!(times);

/// Everything one worker writes down.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Counts of the current phase.
    pub(crate) totals: Totals,
    /// Counts of the warm-up, once it is over.
    pub(crate) warmup: Totals,
    pub(crate) is_measuring: Counter,
    pub(crate) statuses: Box<[Counter]>,
    pub(crate) encodings: Box<[Counter]>,
    /// Answers that came as HTTP/1.0.
    pub(crate) in_http10: Counter,
    pub(crate) failures: Box<[Counter]>,
    pub(crate) service_time: Histogram,
    pub(crate) times: Times,
    /// Of transports that shake hands.
    pub(crate) handshake_time: Option<Histogram>,
    pub(crate) open_loop: Option<OpenTimes>,
    /// Where requests have several names.
    pub(crate) by_request: Option<Box<ByRequest>>,
    /// Where connections carry several requests at once.
    pub(crate) streams: Option<StreamCounts>,
    /// Where QUIC carries those.
    pub(crate) http3: Option<Http3Counts>,
    pub(crate) opened: Counter,
    pub(crate) answered: Counter,
    pub(crate) reopened: Counter,
    pub(crate) open_now: Counter,
    pub(crate) open_peak: Counter,
    /// CPU and wall time of the current phase, as of the last window.
    pub(crate) cpu_ns: Counter,
    pub(crate) wall_ns: Counter,
    /// One more than the thread was ready to run while another had its core; 0 where the system does not tell.
    pub(crate) delayed_ns: Counter,
    pub(crate) largest_stall_ns: Counter,
    /// Requests found unanswered on the connections when the worker ended.
    pub(crate) left_in_flight: Counter,
    /// The worker's own end of the measured phase.
    pub(crate) ended_ns: Counter,
    /// When the latest answer of the measured phase was complete, right or wrong; 0 where none was.
    pub(crate) last_answer_ns: Counter,
    /// Written at the end of windows, read at the end of the run.
    pub(super) series: Mutex<Series>,
    pub(super) notes: Mutex<Notes>,
}

fn counters(n: usize) -> Box<[Counter]> {
    (0..n).map(|_| Counter::default()).collect()
}

impl Recorder {
    pub(crate) fn new(is_open_loop: bool, shakes_hands: bool) -> Self {
        Self {
            totals: Totals::default(),
            warmup: Totals::default(),
            is_measuring: Counter::default(),
            statuses: counters(STATUSES),
            encodings: counters(ENCODINGS),
            in_http10: Counter::default(),
            failures: counters(Failure::ALL.len()),
            service_time: Histogram::new(),
            times: Times::new(),
            handshake_time: shakes_hands.then(Histogram::new),
            open_loop: is_open_loop.then(|| OpenTimes {
                response_time: Histogram::new(),
                send_lag: Histogram::new(),
                busy_peak: Counter::default(),
                waited: Counter::default(),
            }),
            by_request: None,
            streams: None,
            http3: None,
            opened: Counter::default(),
            answered: Counter::default(),
            reopened: Counter::default(),
            open_now: Counter::default(),
            open_peak: Counter::default(),
            cpu_ns: Counter::default(),
            wall_ns: Counter::default(),
            delayed_ns: Counter::default(),
            largest_stall_ns: Counter::default(),
            left_in_flight: Counter::default(),
            ended_ns: Counter::default(),
            last_answer_ns: Counter::default(),
            series: Mutex::default(),
            notes: Mutex::default(),
        }
    }

    /// What is written under a lock. A writer that died left it as good as it was.
    pub(crate) fn notes(&self) -> std::sync::MutexGuard<'_, Notes> {
        self.notes
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Times over time. A writer that died left them as good as they were.
    pub(super) fn series(&self) -> std::sync::MutexGuard<'_, Series> {
        self.series
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The times that a user has to wait: from the intended start where there is one.
    pub(super) fn answer_times(&self) -> &Histogram {
        let of_open_loop = self.open_loop.as_ref().map(|times| &times.response_time);
        of_open_loop.unwrap_or(&self.service_time)
    }

    /// Counts `n` requests that failed in one way; `example` is asked for the first time only.
    #[cold]
    pub(crate) fn fail(&self, failure: Failure, n: u64, example: impl FnOnce() -> String) {
        self.note_example(failure, example);
        self.failures[failure as usize].add(n);
        self.totals.failed.add(n);
    }

    /// Keeps the first example of a failure.
    #[cold]
    pub(crate) fn note_example(&self, failure: Failure, example: impl FnOnce() -> String) {
        let mut notes = self.notes();
        if notes.examples.iter().all(|(known, _)| *known != failure) {
            notes.examples.push((failure, example()));
        }
    }

    /// Counts bytes that belong to no answer; `is_first` says that they are a connection's first.
    #[cold]
    pub(crate) fn note_stray(&self, bytes: u64, is_first: bool, seen: &[u8]) {
        self.totals.stray_bytes.add(bytes);
        self.totals.strayed.add(u64::from(is_first));
        let mut notes = self.notes();
        notes.stray_example.get_or_insert_with(|| example(seen));
    }

    /// Counts a connection that is being opened.
    pub(crate) fn note_open(&self) {
        self.open_now.add(1);
        let peak = self.open_peak.get().max(self.open_now.get());
        self.open_peak.set(peak);
    }

    /// Counts a handshake.
    pub(crate) fn note_handshake(&self, time_ns: u64, agreement: String) {
        if let Some(histogram) = &self.handshake_time {
            histogram.record(time_ns);
        }
        *self.notes().agreements.entry(agreement).or_default() += 1;
    }

    /// Counts a handshake of QUIC's: how long it took is in the time to connect.
    pub(crate) fn note_quic(&self, agreement: String) {
        if let Some(counts) = &self.http3 {
            counts.handshakes.add(1);
        }
        *self.notes().agreements.entry(agreement).or_default() += 1;
    }

    /// Requests started and not yet ended, by the accounting.
    pub(crate) fn in_flight(&self) -> u64 {
        let of = |totals: &Totals| {
            let ended = totals.completed.get() + totals.failed.get();
            totals.started.get().wrapping_sub(ended)
        };
        of(&self.totals).wrapping_add(of(&self.warmup))
    }

    /// Hands what is known of the connections on to another recorder of the same arm, which is written from now on.
    pub(crate) fn hand_connections_to(&self, other: &Self) {
        for (from, to) in [
            (&self.opened, &other.opened),
            (&self.answered, &other.answered),
            (&self.reopened, &other.reopened),
            (&self.open_now, &other.open_now),
            (&self.open_peak, &other.open_peak),
        ] {
            to.set(from.take());
        }
    }

    /// Ends a window (and the empty ones a late worker slept through).
    pub(crate) fn close_windows(&self, count: u64) {
        let now = Counts {
            started: self.totals.started.get(),
            completed: self.totals.completed.get(),
            failed: self.totals.failed.get(),
            bytes_read: self.totals.bytes_read.get(),
        };
        self.series().close(count, self.answer_times());
        let mut notes = self.notes();
        let before = std::mem::replace(&mut notes.closed, now);
        let windows = &mut notes.windows[self.is_measuring.get() as usize];
        windows.push(Counts {
            started: now.started - before.started,
            completed: now.completed - before.completed,
            failed: now.failed - before.failed,
            bytes_read: now.bytes_read - before.bytes_read,
        });
        windows.extend((1..count).map(|_| Counts::default()));
    }

    /// Ends the warm-up: its counts are put aside and all figures start again. `carried_in_ns` is how long the requests
    /// under way have been so, together. Everything is taken apart by name, so that nothing new is forgotten here.
    pub(crate) fn begin_measuring(&self, carried_in_ns: u64) {
        let Self {
            totals,
            warmup,
            is_measuring,
            statuses,
            encodings,
            in_http10,
            failures,
            service_time,
            times,
            handshake_time,
            open_loop,
            by_request,
            streams,
            http3,
            cpu_ns,
            wall_ns,
            delayed_ns,
            largest_stall_ns,
            last_answer_ns,
            series: _,
            notes: _,
            // Of the whole run.
            opened: _,
            answered: _,
            reopened: _,
            open_now: _,
            open_peak: _,
            left_in_flight: _,
            ended_ns: _,
        } = self;
        totals.begin_measuring(warmup);
        for table in [statuses, encodings, failures] {
            table.iter().for_each(|count| count.set(0));
        }
        in_http10.set(0);
        service_time.clear();
        times.clear();
        if let Some(histogram) = handshake_time {
            histogram.clear();
        }
        if let Some(times) = open_loop {
            times.clear();
        }
        if let Some(figures) = by_request {
            figures.clear();
        }
        if let Some(counts) = streams {
            counts.clear();
        }
        if let Some(counts) = http3 {
            counts.clear();
        }
        for figure in [cpu_ns, wall_ns, delayed_ns, largest_stall_ns] {
            figure.set(0);
        }
        last_answer_ns.set(0);
        self.series().clear();
        self.notes().begin_measuring(carried_in_ns);
        is_measuring.set(1);
    }
}

impl Totals {
    /// Puts the counts of the warm-up aside and starts again.
    fn begin_measuring(&self, warmup: &Self) {
        let Totals {
            started,
            completed,
            failed,
            bytes_read,
            bytes_written,
            body_bytes,
            checked,
            ended_by_close,
            missed_starts,
            resent,
            stray_bytes,
            strayed,
        } = self;
        warmup.started.set(started.take());
        warmup.completed.set(completed.take());
        warmup.failed.set(failed.take());
        for figure in [
            bytes_read,
            bytes_written,
            body_bytes,
            checked,
            ended_by_close,
            missed_starts,
            resent,
            stray_bytes,
            strayed,
        ] {
            figure.set(0);
        }
    }
}
