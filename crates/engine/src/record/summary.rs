//! The workers' recorders added up: to a [`Measurement`] at the end, a [`Snapshot`] before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::counter::Counter;
use super::failure::Failure;
use super::histogram::{Histogram, Merged};
use super::http2::Http2;
use super::http3::Http3;
use super::measurement::{
    self, Accounting, Connections, Measurement, Outcome, Phase, Snapshot, Stray, Worker,
    recorded_times,
};
use super::open_times::OpenTimes;
use super::recorder::{Recorder, Totals};
use super::under_way::under_way;
use crate::error::RunError;

mod by_request;
mod over_time;
mod reported;
mod windows;

use over_time::over_time;
use windows::{latest_windows, windows};

/// A live view carries the latest windows only: a screen has no use for more, and a long run
/// would make each view larger than the one before.
pub(crate) const SNAPSHOT_WINDOWS: usize = 1_200;

/// What of a run is not in the recorders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) started_at_unix_ns: u64,
    pub(crate) window_ns: u64,
    /// Where the measured phase begins; the run's end when it never began.
    pub(crate) measure_from_ns: u64,
    /// Where the measured phase ends (or now, for a live view).
    pub(crate) end_ns: u64,
}

type Recorders = [Arc<Recorder>];

fn sum(recorders: &Recorders, counter: impl Fn(&Recorder) -> &Counter) -> u64 {
    recorders
        .iter()
        .map(|recorder| counter(recorder).get())
        .sum()
}

fn merged(recorders: &Recorders, histogram: impl Fn(&Recorder) -> &Histogram) -> Merged {
    Merged::of(recorders.iter().map(|recorder| histogram(recorder)))
}

fn handshake_time(recorders: &Recorders) -> Option<measurement::Histogram> {
    let parts: Option<Vec<_>> = recorders
        .iter()
        .map(|recorder| recorder.handshake_time.as_ref())
        .collect();
    parts.map(|parts| Merged::of(parts.into_iter()).export())
}

fn handshakes(recorders: &Recorders) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for recorder in recorders {
        for (agreement, count) in &recorder.notes().agreements {
            *counts.entry(agreement.clone()).or_default() += count;
        }
    }
    counts
}

fn merged_open(
    recorders: &Recorders,
    histogram: impl Fn(&OpenTimes) -> &Histogram,
) -> Option<Merged> {
    let parts: Option<Vec<_>> = recorders
        .iter()
        .map(|recorder| recorder.open_loop.as_ref().map(&histogram))
        .collect();
    parts.map(|parts| Merged::of(parts.into_iter()))
}

fn sum_open(recorders: &Recorders, counter: impl Fn(&OpenTimes) -> &Counter) -> Option<u64> {
    let of = |recorder: &Arc<Recorder>| Some(counter(recorder.open_loop.as_ref()?).get());
    recorders.iter().map(of).sum()
}

/// The recorders of a run, or of an arm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept<'a> {
    /// What the figures come from.
    pub(crate) recorders: &'a Recorders,
    /// These and those of what came outside of an arm's slices: what the accounting and failures come from.
    pub(crate) whole: &'a Recorders,
}

impl<'a> Kept<'a> {
    /// Those of a run whose slice never ends.
    pub(crate) fn alone(recorders: &'a Recorders) -> Self {
        let whole = recorders;
        Self { recorders, whole }
    }
}

/// A measurement with the times that recorders have by the same names, and all else.
macro_rules! measurement_of {
    ([$($name:ident)+] $recorders:ident { $($all_else:tt)* }) => {
        Measurement {
            $($name: merged($recorders, |recorder| &recorder.times.$name).export(),)+
            $($all_else)*
        }
    };
}

/// The measurement of an ended run.
///
/// # Errors
/// [`RunError::Unbalanced`] when a request is missing from the accounting.
pub(crate) fn measurement(
    kept: Kept<'_>,
    cpus: &[Option<u32>],
    asked: u64,
    times: Times,
    interrupted: bool,
) -> Result<Measurement, RunError> {
    let Kept { recorders, whole } = kept;
    let measured_ns = times.end_ns.saturating_sub(times.measure_from_ns);
    let total =
        |figure: fn(&Totals) -> &Counter| sum(recorders, |recorder| figure(&recorder.totals));
    let mut windows = windows(recorders, Phase::Warmup, times);
    windows.extend(self::windows(recorders, Phase::Measured, times));
    Ok(recorded_times!(measurement_of recorders {
        started_at_unix_ns: times.started_at_unix_ns,
        warmup_ns: times.measure_from_ns,
        measured_ns,
        interrupted,
        requests: accounting(whole)?,
        started: total(|t| &t.started),
        completed: total(|t| &t.completed),
        failed: sum(whole, |recorder| &recorder.totals.failed),
        bytes_read: total(|t| &t.bytes_read),
        bytes_written: total(|t| &t.bytes_written),
        body_bytes: total(|t| &t.body_bytes),
        statuses: statuses(recorders),
        encodings: encodings(recorders),
        http_versions: http_versions(recorders),
        checked: total(|t| &t.checked),
        ended_by_close: total(|t| &t.ended_by_close),
        resent: sum(whole, |recorder| &recorder.totals.resent),
        stray: Stray {
            bytes: sum(whole, |recorder| &recorder.totals.stray_bytes),
            connections: sum(whole, |recorder| &recorder.totals.strayed),
            example: stray_example(whole),
        },
        outcomes: outcomes(whole),
        connections: Connections {
            asked,
            opened: sum(whole, |recorder| &recorder.opened),
            answered: sum(whole, |recorder| &recorder.answered),
            reopened: sum(whole, |recorder| &recorder.reopened),
            peak: sum(whole, |recorder| &recorder.open_peak),
            busy_peak: sum_open(recorders, |times| &times.busy_peak),
        },
        service_time: merged(recorders, |recorder| &recorder.service_time).export(),
        response_time: merged_open(recorders, |t| &t.response_time).map(|m| m.export()),
        send_lag: merged_open(recorders, |t| &t.send_lag).map(|m| m.export()),
        handshake_time: handshake_time(recorders),
        handshakes: handshakes(whole),
        http2: http2(whole),
        http3: http3(whole),
        missed_starts: total(|t| &t.missed_starts),
        waited_starts: sum_open(recorders, |times| &times.waited),
        by_request: by_request::figures(
            recorders,
            whole,
            recorders
                .iter()
                .any(|recorder| recorder.open_loop.is_some()),
        ),
        windows,
        window_times: over_time(recorders, times),
        workers: workers(recorders, cpus),
        under_way: under_way(recorders, times.measure_from_ns, times.end_ns),
        engine_version: env!("CARGO_PKG_VERSION").into(),
    }))
}

/// The live view.
pub(crate) fn snapshot(kept: Kept<'_>, times: Times) -> Snapshot {
    let Kept { recorders, whole } = kept;
    let is_measuring = recorders
        .iter()
        .all(|recorder| recorder.is_measuring.get() == 1);
    let (phase, start_ns) = if is_measuring {
        (Phase::Measured, times.measure_from_ns)
    } else {
        (Phase::Warmup, 0)
    };
    let service_time = merged(recorders, |recorder| &recorder.service_time);
    let wall_ns = sum(recorders, |recorder| &recorder.wall_ns);
    let cpu_ns = sum(recorders, |recorder| &recorder.cpu_ns);
    let windows = latest_windows(recorders, phase, times);
    Snapshot {
        phase,
        elapsed_ns: times.end_ns.saturating_sub(start_ns),
        started: sum(recorders, |recorder| &recorder.totals.started),
        completed: sum(recorders, |recorder| &recorder.totals.completed),
        failed: sum(whole, |recorder| &recorder.totals.failed),
        bytes_read: sum(recorders, |recorder| &recorder.totals.bytes_read),
        open_connections: sum(whole, |recorder| &recorder.open_now),
        service_time_p50_ns: service_time.quantile_ns(0.5),
        service_time_p99_ns: service_time.quantile_ns(0.99),
        service_time_max_ns: service_time.max_ns(),
        send_lag_p99_ns: merged_open(recorders, |t| &t.send_lag).map(|m| m.quantile_ns(0.99)),
        up_to_ns: merged(recorders, Recorder::answer_times).buckets(),
        by_request: by_request::views(recorders),
        client_cpu: cpu_ns as f64 / wall_ns.max(1) as f64,
        windows,
    }
}

fn accounting(recorders: &Recorders) -> Result<Accounting, RunError> {
    let whole = |figure: fn(&Totals) -> &Counter| {
        sum(recorders, |recorder| figure(&recorder.totals)) + sum(recorders, |l| figure(&l.warmup))
    };
    let accounting = Accounting {
        started: whole(|t| &t.started),
        completed: whole(|t| &t.completed),
        failed: whole(|t| &t.failed),
        in_flight: sum(recorders, |recorder| &recorder.left_in_flight),
    };
    let Accounting {
        started,
        completed,
        failed,
        in_flight,
    } = accounting;
    if started != completed + failed + in_flight {
        return Err(RunError::Unbalanced {
            started,
            completed,
            failed,
            in_flight,
        });
    }
    Ok(accounting)
}

fn statuses(recorders: &Recorders) -> BTreeMap<String, u64> {
    (0..recorders[0].statuses.len())
        .map(|status| {
            (
                status,
                sum(recorders, |recorder| &recorder.statuses[status]),
            )
        })
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| (status.to_string(), count))
        .collect()
}

fn encodings(recorders: &Recorders) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for recorder in recorders {
        for (name, count) in recorder.notes().encodings.iter().zip(&recorder.encodings) {
            if count.get() > 0 {
                *counts.entry(name.clone()).or_default() += count.get();
            }
        }
    }
    counts
}

fn http_versions(recorders: &Recorders) -> BTreeMap<String, u64> {
    let answers: u64 = statuses(recorders).values().sum();
    if recorders.iter().any(|recorder| recorder.streams.is_some()) {
        let is_http3 = recorders.iter().any(|recorder| recorder.http3.is_some());
        let version = if is_http3 { "3" } else { "2" };
        return [(version.to_owned(), answers)].into();
    }
    let in_http10 = sum(recorders, |recorder| &recorder.in_http10);
    [("1.1", answers - in_http10), ("1.0", in_http10)]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(version, count)| (version.to_owned(), count))
        .collect()
}

/// What HTTP/2 has beside, where the recorders are of it.
fn http2(recorders: &Recorders) -> Option<Http2> {
    let mut sum: Option<Http2> = None;
    for recorder in recorders {
        if let (Some(counts), None) = (&recorder.streams, &recorder.http3) {
            let sum = sum.get_or_insert_default();
            sum.add(counts, &recorder.notes().streams);
        }
    }
    sum
}

/// What HTTP/3 has beside, where the recorders are of it.
fn http3(recorders: &Recorders) -> Option<Http3> {
    let mut sum: Option<Http3> = None;
    for recorder in recorders {
        if let (Some(counts), Some(quic)) = (&recorder.streams, &recorder.http3) {
            let sum = sum.get_or_insert_default();
            sum.add(counts, quic, &recorder.notes().streams);
        }
    }
    sum
}

fn outcomes(recorders: &Recorders) -> Vec<Outcome> {
    let example_of = |failure: Failure| {
        recorders.iter().find_map(|recorder| {
            let notes = recorder.notes();
            let found = notes.examples.iter().find(|(known, _)| *known == failure);
            found.map(|(_, example)| example.clone())
        })
    };
    Failure::ALL
        .iter()
        .map(|failure| Outcome {
            origin: failure.origin(),
            kind: failure.name().into(),
            count: sum(recorders, |recorder| &recorder.failures[*failure as usize]),
            example: example_of(*failure).unwrap_or_default(),
        })
        .filter(|outcome| outcome.count > 0)
        .collect()
}

fn stray_example(recorders: &Recorders) -> String {
    let of = |recorder: &Arc<Recorder>| recorder.notes().stray_example.clone();
    recorders.iter().find_map(of).unwrap_or_default()
}

fn workers(recorders: &Recorders, cpus: &[Option<u32>]) -> Vec<Worker> {
    let seen = |(recorder, cpu): (&Arc<Recorder>, &Option<u32>)| Worker {
        cpu: *cpu,
        wall_ns: recorder.wall_ns.get(),
        cpu_ns: recorder.cpu_ns.get(),
        delayed_ns: recorder.delayed_ns.get().checked_sub(1),
        largest_stall_ns: recorder.largest_stall_ns.get(),
        completed: recorder.totals.completed.get(),
        completed_by_window: recorder.notes().windows[Phase::Measured as usize]
            .iter()
            .map(|slice| slice.completed)
            .collect(),
    };
    recorders.iter().zip(cpus).map(seen).collect()
}

#[cfg(test)]
mod tests;
