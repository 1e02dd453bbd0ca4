//! The workers' ledgers added up: to a [`Measurement`] at the end, a [`Snapshot`] before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::counter::Counter;
use super::failure::Failure;
use super::histogram::{Histogram, Merged};
use super::http2::Http2;
use super::http3::Http3;
use super::ledger::{Counts, Ledger, OpenTimes, Totals};
use super::measurement::{
    self, Books, Connections, Measurement, Outcome, Phase, Snapshot, Stray, Window, Worker,
};
use super::under_way::under_way;
use crate::error::RunError;

/// A live view carries the latest windows only: a screen has no use for more, and a long run
/// would make each view larger than the one before.
pub(crate) const SNAPSHOT_WINDOWS: usize = 1_200;

/// What of a run is not in the ledgers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) started_at_unix_ns: u64,
    pub(crate) window_ns: u64,
    /// Where the measured phase begins; the run's end when it never began.
    pub(crate) measure_from_ns: u64,
    /// Where the measured phase ends (or now, for a live view).
    pub(crate) end_ns: u64,
}

type Ledgers = [Arc<Ledger>];

fn sum(ledgers: &Ledgers, counter: impl Fn(&Ledger) -> &Counter) -> u64 {
    ledgers.iter().map(|ledger| counter(ledger).get()).sum()
}

fn merged(ledgers: &Ledgers, histogram: impl Fn(&Ledger) -> &Histogram) -> Merged {
    Merged::of(ledgers.iter().map(|ledger| histogram(ledger)))
}

fn handshake_time(ledgers: &Ledgers) -> Option<measurement::Histogram> {
    let parts: Option<Vec<_>> = ledgers
        .iter()
        .map(|ledger| ledger.handshake_time.as_ref())
        .collect();
    parts.map(|parts| Merged::of(parts.into_iter()).export())
}

fn handshakes(ledgers: &Ledgers) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for ledger in ledgers {
        for (agreement, count) in &ledger.notes().agreements {
            *counts.entry(agreement.clone()).or_default() += count;
        }
    }
    counts
}

fn merged_open(ledgers: &Ledgers, histogram: impl Fn(&OpenTimes) -> &Histogram) -> Option<Merged> {
    let parts: Option<Vec<_>> = ledgers
        .iter()
        .map(|ledger| ledger.open_loop.as_ref().map(&histogram))
        .collect();
    parts.map(|parts| Merged::of(parts.into_iter()))
}

fn sum_open(ledgers: &Ledgers, counter: impl Fn(&OpenTimes) -> &Counter) -> Option<u64> {
    let of = |ledger: &Arc<Ledger>| Some(counter(ledger.open_loop.as_ref()?).get());
    ledgers.iter().map(of).sum()
}

/// The ledgers of a run, or of a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept<'a> {
    /// What the figures come from.
    pub(crate) ledgers: &'a Ledgers,
    /// These and those of what came outside of a lane's slices: what the books and failures come from.
    pub(crate) whole: &'a Ledgers,
}

impl<'a> Kept<'a> {
    /// Those of a run whose turn never ends.
    pub(crate) fn alone(ledgers: &'a Ledgers) -> Self {
        let whole = ledgers;
        Self { ledgers, whole }
    }
}

/// The measurement of an ended run.
///
/// # Errors
/// [`RunError::Unbalanced`] when a request is missing from the books.
pub(crate) fn measurement(
    kept: Kept<'_>,
    cpus: &[Option<u32>],
    asked: u64,
    times: Times,
    interrupted: bool,
) -> Result<Measurement, RunError> {
    let Kept { ledgers, whole } = kept;
    let measured_ns = times.end_ns.saturating_sub(times.measure_from_ns);
    let total = |figure: fn(&Totals) -> &Counter| sum(ledgers, |ledger| figure(&ledger.totals));
    let mut windows = windows(ledgers, Phase::Warmup, times);
    windows.extend(self::windows(ledgers, Phase::Measured, times));
    Ok(Measurement {
        started_at_unix_ns: times.started_at_unix_ns,
        warmup_ns: times.measure_from_ns,
        measured_ns,
        interrupted,
        books: books(whole)?,
        started: total(|t| &t.started),
        completed: total(|t| &t.completed),
        failed: sum(whole, |ledger| &ledger.totals.failed),
        bytes_read: total(|t| &t.bytes_read),
        bytes_written: total(|t| &t.bytes_written),
        body_bytes: total(|t| &t.body_bytes),
        statuses: statuses(ledgers),
        encodings: encodings(ledgers),
        http_versions: http_versions(ledgers),
        checked: total(|t| &t.checked),
        ended_by_close: total(|t| &t.ended_by_close),
        resent: sum(whole, |ledger| &ledger.totals.resent),
        stray: Stray {
            bytes: sum(whole, |ledger| &ledger.totals.stray_bytes),
            connections: sum(whole, |ledger| &ledger.totals.strayed),
            example: stray_example(whole),
        },
        outcomes: outcomes(whole),
        connections: Connections {
            asked,
            opened: sum(whole, |ledger| &ledger.opened),
            answered: sum(whole, |ledger| &ledger.answered),
            reopened: sum(whole, |ledger| &ledger.reopened),
            peak: sum(whole, |ledger| &ledger.open_peak),
            busy_peak: sum_open(ledgers, |times| &times.busy_peak),
        },
        service_time: merged(ledgers, |ledger| &ledger.service_time).export(),
        response_time: merged_open(ledgers, |t| &t.response_time).map(|m| m.export()),
        send_lag: merged_open(ledgers, |t| &t.send_lag).map(|m| m.export()),
        connect_time: merged(ledgers, |ledger| &ledger.connect_time).export(),
        handshake_time: handshake_time(ledgers),
        handshakes: handshakes(whole),
        first_byte_time: merged(ledgers, |ledger| &ledger.first_byte_time).export(),
        http2: http2(whole),
        http3: http3(whole),
        missed_starts: total(|t| &t.missed_starts),
        waited_starts: sum_open(ledgers, |times| &times.waited),
        windows,
        workers: workers(ledgers, cpus),
        under_way: under_way(ledgers, times.measure_from_ns, times.end_ns),
        engine_version: env!("CARGO_PKG_VERSION").into(),
    })
}

/// The live view.
pub(crate) fn snapshot(kept: Kept<'_>, times: Times) -> Snapshot {
    let Kept { ledgers, whole } = kept;
    let is_measuring = ledgers.iter().all(|ledger| ledger.is_measuring.get() == 1);
    let (phase, start_ns) = if is_measuring {
        (Phase::Measured, times.measure_from_ns)
    } else {
        (Phase::Warmup, 0)
    };
    let service_time = merged(ledgers, |ledger| &ledger.service_time);
    let wall_ns = sum(ledgers, |ledger| &ledger.wall_ns);
    let cpu_ns = sum(ledgers, |ledger| &ledger.cpu_ns);
    let windows = latest_windows(ledgers, phase, times);
    Snapshot {
        phase,
        elapsed_ns: times.end_ns.saturating_sub(start_ns),
        started: sum(ledgers, |ledger| &ledger.totals.started),
        completed: sum(ledgers, |ledger| &ledger.totals.completed),
        failed: sum(whole, |ledger| &ledger.totals.failed),
        bytes_read: sum(ledgers, |ledger| &ledger.totals.bytes_read),
        open_connections: sum(whole, |ledger| &ledger.open_now),
        service_time_p50_ns: service_time.quantile_ns(0.5),
        service_time_p99_ns: service_time.quantile_ns(0.99),
        service_time_max_ns: service_time.max_ns(),
        send_lag_p99_ns: merged_open(ledgers, |t| &t.send_lag).map(|m| m.quantile_ns(0.99)),
        client_cpu: cpu_ns as f64 / wall_ns.max(1) as f64,
        windows,
    }
}

fn books(ledgers: &Ledgers) -> Result<Books, RunError> {
    let whole = |figure: fn(&Totals) -> &Counter| {
        sum(ledgers, |ledger| figure(&ledger.totals)) + sum(ledgers, |l| figure(&l.warmup))
    };
    let books = Books {
        started: whole(|t| &t.started),
        completed: whole(|t| &t.completed),
        failed: whole(|t| &t.failed),
        in_flight: sum(ledgers, |ledger| &ledger.left_in_flight),
    };
    let Books {
        started,
        completed,
        failed,
        in_flight,
    } = books;
    if started != completed + failed + in_flight {
        return Err(RunError::Unbalanced {
            started,
            completed,
            failed,
            in_flight,
        });
    }
    Ok(books)
}

fn statuses(ledgers: &Ledgers) -> BTreeMap<String, u64> {
    (0..ledgers[0].statuses.len())
        .map(|status| (status, sum(ledgers, |ledger| &ledger.statuses[status])))
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| (status.to_string(), count))
        .collect()
}

fn encodings(ledgers: &Ledgers) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for ledger in ledgers {
        for (name, count) in ledger.notes().encodings.iter().zip(&ledger.encodings) {
            if count.get() > 0 {
                *counts.entry(name.clone()).or_default() += count.get();
            }
        }
    }
    counts
}

fn http_versions(ledgers: &Ledgers) -> BTreeMap<String, u64> {
    let answers: u64 = statuses(ledgers).values().sum();
    if ledgers.iter().any(|ledger| ledger.streams.is_some()) {
        let is_http3 = ledgers.iter().any(|ledger| ledger.http3.is_some());
        let version = if is_http3 { "3" } else { "2" };
        return [(version.to_owned(), answers)].into();
    }
    let in_http10 = sum(ledgers, |ledger| &ledger.in_http10);
    [("1.1", answers - in_http10), ("1.0", in_http10)]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(version, count)| (version.to_owned(), count))
        .collect()
}

/// What HTTP/2 has beside, where the ledgers are of it.
fn http2(ledgers: &Ledgers) -> Option<Http2> {
    let mut sum: Option<Http2> = None;
    for ledger in ledgers {
        if let (Some(counts), None) = (&ledger.streams, &ledger.http3) {
            let sum = sum.get_or_insert_default();
            sum.add(counts, &ledger.notes().streams);
        }
    }
    sum
}

/// What HTTP/3 has beside, where the ledgers are of it.
fn http3(ledgers: &Ledgers) -> Option<Http3> {
    let mut sum: Option<Http3> = None;
    for ledger in ledgers {
        if let (Some(counts), Some(quic)) = (&ledger.streams, &ledger.http3) {
            let sum = sum.get_or_insert_default();
            sum.add(counts, quic, &ledger.notes().streams);
        }
    }
    sum
}

fn outcomes(ledgers: &Ledgers) -> Vec<Outcome> {
    let example_of = |failure: Failure| {
        ledgers.iter().find_map(|ledger| {
            let notes = ledger.notes();
            let found = notes.examples.iter().find(|(known, _)| *known == failure);
            found.map(|(_, example)| example.clone())
        })
    };
    Failure::ALL
        .iter()
        .map(|failure| Outcome {
            origin: failure.origin(),
            kind: failure.name().into(),
            count: sum(ledgers, |ledger| &ledger.failures[*failure as usize]),
            example: example_of(*failure).unwrap_or_default(),
        })
        .filter(|outcome| outcome.count > 0)
        .collect()
}

fn stray_example(ledgers: &Ledgers) -> String {
    let of = |ledger: &Arc<Ledger>| ledger.notes().stray_example.clone();
    ledgers.iter().find_map(of).unwrap_or_default()
}

/// Where a phase begins and ends.
fn bounds(phase: Phase, times: Times) -> (u64, u64) {
    match phase {
        Phase::Warmup => (0, times.measure_from_ns.min(times.end_ns)),
        Phase::Measured => (times.measure_from_ns, times.end_ns),
    }
}

/// An empty window, of which the last of a phase may be short.
fn window(index: usize, phase: Phase, times: Times) -> Window {
    let (phase_start_ns, end_ns) = bounds(phase, times);
    let start_ns = phase_start_ns.saturating_add(times.window_ns.saturating_mul(index as u64));
    Window {
        start_ns,
        length_ns: times.window_ns.min(end_ns.saturating_sub(start_ns)),
        phase,
        started: 0,
        completed: 0,
        failed: 0,
        bytes_read: 0,
    }
}

impl Window {
    fn add(&mut self, counts: &Counts) {
        self.started += counts.started;
        self.completed += counts.completed;
        self.failed += counts.failed;
        self.bytes_read += counts.bytes_read;
    }
}

fn windows(ledgers: &Ledgers, phase: Phase, times: Times) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    for ledger in ledgers {
        for (index, slice) in ledger.notes().windows[phase as usize].iter().enumerate() {
            if index == windows.len() {
                windows.push(window(index, phase, times));
            }
            windows[index].add(slice);
        }
    }
    windows
}

/// The latest of those that every worker has ended and that were over at `times.end_ns`. While this looks at a
/// thousand ledgers, the first of them may end one more. It holds no worker up for longer than their number takes.
fn latest_windows(ledgers: &Ledgers, phase: Phase, times: Times) -> Vec<Window> {
    let (start_ns, _) = bounds(phase, times);
    let ended = |ledger: &Arc<Ledger>| ledger.notes().windows[phase as usize].len();
    let ended_by_all = ledgers.iter().map(ended).min().unwrap_or(0);
    let over = times.end_ns.saturating_sub(start_ns) / times.window_ns;
    let end = ended_by_all.min(over as usize);
    let first = end.saturating_sub(SNAPSHOT_WINDOWS);
    let mut windows: Vec<Window> = (first..end)
        .map(|index| window(index, phase, times))
        .collect();
    for ledger in ledgers {
        let slices = &ledger.notes().windows[phase as usize][first..end];
        for (window, slice) in windows.iter_mut().zip(slices) {
            window.add(slice);
        }
    }
    windows
}

fn workers(ledgers: &Ledgers, cpus: &[Option<u32>]) -> Vec<Worker> {
    let seen = |(ledger, cpu): (&Arc<Ledger>, &Option<u32>)| Worker {
        cpu: *cpu,
        wall_ns: ledger.wall_ns.get(),
        cpu_ns: ledger.cpu_ns.get(),
        largest_stall_ns: ledger.largest_stall_ns.get(),
        completed: ledger.totals.completed.get(),
        completed_by_window: ledger.notes().windows[Phase::Measured as usize]
            .iter()
            .map(|slice| slice.completed)
            .collect(),
    };
    ledgers.iter().zip(cpus).map(seen).collect()
}

#[cfg(test)]
mod tests;
