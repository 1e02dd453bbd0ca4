//! Several generators' measurements and live views of one load, added up exactly.
//!
//! Each whole is written field by field, without `..`: a field that is new does not compile until it is said here how
//! it adds up.

use std::collections::BTreeMap;

use super::http2::Http2;
use super::http3::Http3;
use super::measurement::{
    Accounting, Connections, Histogram, Measurement, Outcome, Phase, Snapshot, Stray, UnderWay,
    Window, Worker,
};
use super::stored::{NotOneLoad, added};

/// How many windows or slices a live view shows.
const LIVE_WINDOWS: usize = 1_200;

/// The measurement of the whole load.
///
/// # Errors
///
/// Where a part's accounting does not balance, or the parts' windows cannot be laid over each other.
pub fn merged(parts: &[Measurement]) -> Result<Measurement, NotOneLoad> {
    let first = some(parts)?;
    let of_http2: Vec<&Http2> = parts
        .iter()
        .filter_map(|part| part.http2.as_ref())
        .collect();
    let of_http3: Vec<&Http3> = parts
        .iter()
        .filter_map(|part| part.http3.as_ref())
        .collect();
    Ok(Measurement {
        started_at_unix_ns: least(parts, |part| part.started_at_unix_ns),
        warmup_ns: most(parts, |part| part.warmup_ns),
        measured_ns: most(parts, |part| part.measured_ns),
        interrupted: parts.iter().any(|part| part.interrupted),
        requests: accounting(parts)?,
        started: sum(parts, |part| part.started),
        completed: sum(parts, |part| part.completed),
        failed: sum(parts, |part| part.failed),
        bytes_read: sum(parts, |part| part.bytes_read),
        bytes_written: sum(parts, |part| part.bytes_written),
        body_bytes: sum(parts, |part| part.body_bytes),
        statuses: counted(parts, |part| &part.statuses),
        encodings: counted(parts, |part| &part.encodings),
        http_versions: counted(parts, |part| &part.http_versions),
        checked: sum(parts, |part| part.checked),
        ended_by_close: sum(parts, |part| part.ended_by_close),
        resent: sum(parts, |part| part.resent),
        stray: stray(parts),
        outcomes: outcomes(parts),
        connections: connections(parts),
        service_time: times(parts, |part| &part.service_time)?,
        response_time: times_of_all(parts, |part| part.response_time.as_ref())?,
        send_lag: times_of_all(parts, |part| part.send_lag.as_ref())?,
        connect_time: times(parts, |part| &part.connect_time)?,
        handshake_time: times_of_all(parts, |part| part.handshake_time.as_ref())?,
        handshakes: counted(parts, |part| &part.handshakes),
        first_byte_time: times(parts, |part| &part.first_byte_time)?,
        http2: (!of_http2.is_empty()).then(|| http2(&of_http2)),
        http3: (!of_http3.is_empty()).then(|| http3(&of_http3)),
        missed_starts: sum(parts, |part| part.missed_starts),
        waited_starts: sum_of_all(parts, |part| part.waited_starts),
        windows: windows(parts)?,
        workers: parts
            .iter()
            .flat_map(|part| part.workers.clone())
            .collect::<Vec<Worker>>(),
        under_way: under_way(parts)?,
        engine_version: first.engine_version.clone(),
    })
}

/// The live view of a load: its totals; of its times the slowest generator's, as quantiles cannot be added.
///
/// # Errors
///
/// Where there is none.
pub fn together(looks: &[Snapshot]) -> Result<Snapshot, NotOneLoad> {
    some(looks)?;
    let is_measuring = looks.iter().all(|look| look.phase == Phase::Measured);
    Ok(Snapshot {
        phase: if is_measuring {
            Phase::Measured
        } else {
            Phase::Warmup
        },
        elapsed_ns: least(looks, |look| look.elapsed_ns),
        started: sum(looks, |look| look.started),
        completed: sum(looks, |look| look.completed),
        failed: sum(looks, |look| look.failed),
        bytes_read: sum(looks, |look| look.bytes_read),
        open_connections: sum(looks, |look| look.open_connections),
        service_time_p50_ns: most(looks, |look| look.service_time_p50_ns),
        service_time_p99_ns: most(looks, |look| look.service_time_p99_ns),
        service_time_max_ns: most(looks, |look| look.service_time_max_ns),
        send_lag_p99_ns: looks.iter().filter_map(|look| look.send_lag_p99_ns).max(),
        client_cpu: looks.iter().map(|look| look.client_cpu).sum::<f64>() / looks.len() as f64,
        windows: common_windows(looks),
    })
}

pub(super) fn some<T>(parts: &[T]) -> Result<&T, NotOneLoad> {
    let nobody = || NotOneLoad("no generator has measured anything".into());
    parts.first().ok_or_else(nobody)
}

fn sum<T>(parts: &[T], of: impl Fn(&T) -> u64) -> u64 {
    parts.iter().map(of).sum()
}

/// The sum; none where a part does not know.
fn sum_of_all<T>(parts: &[T], of: impl Fn(&T) -> Option<u64>) -> Option<u64> {
    parts.iter().map(of).sum()
}

fn least<T>(parts: &[T], of: impl Fn(&T) -> u64) -> u64 {
    parts.iter().map(of).min().unwrap_or_default()
}

pub(super) fn most<T>(parts: &[T], of: impl Fn(&T) -> u64) -> u64 {
    parts.iter().map(of).max().unwrap_or_default()
}

fn counted<T>(parts: &[T], of: impl Fn(&T) -> &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (key, count) in parts.iter().flat_map(of) {
        *all.entry(key.clone()).or_default() += count;
    }
    all
}

fn times(
    parts: &[Measurement],
    of: impl Fn(&Measurement) -> &Histogram,
) -> Result<Histogram, NotOneLoad> {
    added(&parts.iter().map(of).collect::<Vec<_>>())
}

/// None where a part has none, because the load has no such time.
fn times_of_all(
    parts: &[Measurement],
    of: impl Fn(&Measurement) -> Option<&Histogram>,
) -> Result<Option<Histogram>, NotOneLoad> {
    let all: Option<Vec<&Histogram>> = parts.iter().map(of).collect();
    all.map(|all| added(&all)).transpose()
}

fn accounting(parts: &[Measurement]) -> Result<Accounting, NotOneLoad> {
    for (number, part) in (1..).zip(parts) {
        let Accounting {
            started,
            completed,
            failed,
            in_flight,
        } = part.requests;
        if started != completed + failed + in_flight {
            let said = format!("the accounting of generator {number} does not balance");
            return Err(NotOneLoad(said));
        }
    }
    Ok(Accounting {
        started: sum(parts, |part| part.requests.started),
        completed: sum(parts, |part| part.requests.completed),
        failed: sum(parts, |part| part.requests.failed),
        in_flight: sum(parts, |part| part.requests.in_flight),
    })
}

fn stray(parts: &[Measurement]) -> Stray {
    let mut examples = parts.iter().map(|part| &part.stray.example);
    Stray {
        bytes: sum(parts, |part| part.stray.bytes),
        connections: sum(parts, |part| part.stray.connections),
        example: examples
            .find(|one| !one.is_empty())
            .cloned()
            .unwrap_or_default(),
    }
}

/// By way of failing, in the order in which they are first met; the example is the first part's.
fn outcomes(parts: &[Measurement]) -> Vec<Outcome> {
    let mut all: Vec<Outcome> = Vec::new();
    for one in parts.iter().flat_map(|part| &part.outcomes) {
        match all
            .iter_mut()
            .find(|known| known.origin == one.origin && known.kind == one.kind)
        {
            Some(known) => known.count += one.count,
            None => all.push(one.clone()),
        }
    }
    all
}

fn connections(parts: &[Measurement]) -> Connections {
    Connections {
        asked: sum(parts, |part| part.connections.asked),
        opened: sum(parts, |part| part.connections.opened),
        answered: sum(parts, |part| part.connections.answered),
        reopened: sum(parts, |part| part.connections.reopened),
        peak: sum(parts, |part| part.connections.peak),
        busy_peak: sum_of_all(parts, |part| part.connections.busy_peak),
    }
}

fn http2(parts: &[&Http2]) -> Http2 {
    Http2 {
        stream_waits: sum(parts, |part| part.stream_waits),
        stream_wait_ns: sum(parts, |part| part.stream_wait_ns),
        streams_allowed: parts.iter().filter_map(|part| part.streams_allowed).min(),
        window_stalls: sum(parts, |part| part.window_stalls),
        window_stall_ns: sum(parts, |part| part.window_stall_ns),
        faults: counted(parts, |part| &part.faults),
        resets: counted(parts, |part| &part.resets),
        going_away: counted(parts, |part| &part.going_away),
    }
}

fn http3(parts: &[&Http3]) -> Http3 {
    Http3 {
        handshakes: sum(parts, |part| part.handshakes),
        stream_limit_waits: sum(parts, |part| part.stream_limit_waits),
        stream_limit_ns: sum(parts, |part| part.stream_limit_ns),
        flow_stalls: sum(parts, |part| part.flow_stalls),
        flow_stall_ns: sum(parts, |part| part.flow_stall_ns),
        udp_sent: sum(parts, |part| part.udp_sent),
        udp_received: sum(parts, |part| part.udp_received),
        lost_packets: sum(parts, |part| part.lost_packets),
        goaway: sum(parts, |part| part.goaway),
        resets: counted(parts, |part| &part.resets),
        lost: counted(parts, |part| &part.lost),
    }
}

/// What no generator had an answer to: quiet since the latest answer of any; none where a part does not know.
fn under_way(parts: &[Measurement]) -> Result<Option<UnderWay>, NotOneLoad> {
    let known: Option<Vec<&UnderWay>> = parts.iter().map(|part| part.under_way.as_ref()).collect();
    let Some(known) = known else {
        return Ok(None);
    };
    Ok(Some(UnderWay {
        ages: added(&known.iter().map(|one| &one.ages).collect::<Vec<_>>())?,
        quiet_ns: least(&known, |one| one.quiet_ns),
        edges_ns: known.iter().map(|one| one.edges_ns).sum(),
    }))
}

/// Windows of one phase and place added up; where parts ended at their own times, the later go on.
fn windows(parts: &[Measurement]) -> Result<Vec<Window>, NotOneLoad> {
    let lengths: Vec<u64> = parts
        .iter()
        .filter(|part| part.windows.len() > 1)
        .map(|part| part.windows[0].length_ns)
        .collect();
    let apart_ns = most(parts, |part| part.warmup_ns) - least(parts, |part| part.warmup_ns);
    let is_one_length = lengths.windows(2).all(|pair| pair[0] == pair[1]);
    if !is_one_length
        || lengths
            .iter()
            .min()
            .is_some_and(|length_ns| apart_ns > *length_ns)
    {
        let said = format!(
            "the generators' warm-ups ended {:.0} ms apart",
            apart_ns as f64 / 1e6
        );
        return Err(NotOneLoad(said));
    }
    let mut at_place: BTreeMap<(bool, usize), Vec<&Window>> = BTreeMap::new();
    for part in parts {
        for is_measured in [false, true] {
            let own = part
                .windows
                .iter()
                .filter(|one| (one.phase == Phase::Measured) == is_measured);
            for (place, window) in own.enumerate() {
                at_place
                    .entry((is_measured, place))
                    .or_default()
                    .push(window);
            }
        }
    }
    Ok(at_place.values().map(|same| window(same)).collect())
}

fn window(same: &[&Window]) -> Window {
    Window {
        start_ns: least(same, |one| one.start_ns),
        length_ns: most(same, |one| one.length_ns),
        phase: same[0].phase,
        started: sum(same, |one| one.started),
        completed: sum(same, |one| one.completed),
        failed: sum(same, |one| one.failed),
        bytes_read: sum(same, |one| one.bytes_read),
    }
}

/// The windows that all of them have ended, added up. They begin at the same instants.
fn common_windows(looks: &[Snapshot]) -> Vec<Window> {
    let mut by_start: BTreeMap<u64, Vec<&Window>> = BTreeMap::new();
    for one in looks.iter().flat_map(|look| &look.windows) {
        by_start.entry(one.start_ns).or_default().push(one);
    }
    let of_all = by_start.values().filter(|same| same.len() == looks.len());
    latest(of_all.map(|same| window(same)).collect())
}

pub(super) fn latest<T>(mut all: Vec<T>) -> Vec<T> {
    all.split_off(all.len().saturating_sub(LIVE_WINDOWS))
}
