"""Several generators' measurements and live views of one load, added up exactly. Pure."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from assay.model.interleaving import ArmMeasurement, ArmSnapshot, InterleavedMeasurement, Slice
from assay.model.measurement import (
    Connections,
    Histogram,
    Http2,
    Http3,
    Measurement,
    Outcome,
    RequestAccounting,
    Snapshot,
    Stray,
    UnderWay,
    Window,
)
from assay.stats.estimates import as_one
from assay.stats.quantiles import decode


class NotOneLoad(ValueError):
    """The parts do not belong together; the text says why."""


def merged(parts: Sequence[Measurement]) -> Measurement:
    """The measurement of the whole load. NotOneLoad where a part's accounting does not balance, or where the
    parts' windows cannot be laid over each other."""
    if not parts:
        raise NotOneLoad("no generator has measured anything")
    first = parts[0]

    def total(of: Callable[[Measurement], int]) -> int:
        return sum(map(of, parts))

    return replace(
        first,
        started_at_unix_ns=min(part.started_at_unix_ns for part in parts),
        warmup_ns=max(part.warmup_ns for part in parts),
        measured_ns=max(part.measured_ns for part in parts),
        interrupted=any(part.interrupted for part in parts),
        requests=_accounting(parts),
        started=total(lambda part: part.started),
        completed=total(lambda part: part.completed),
        failed=total(lambda part: part.failed),
        bytes_read=total(lambda part: part.bytes_read),
        bytes_written=total(lambda part: part.bytes_written),
        body_bytes=total(lambda part: part.body_bytes),
        statuses=_counted(part.statuses for part in parts),
        encodings=_counted(part.encodings for part in parts),
        http_versions=_counted(part.http_versions for part in parts),
        checked=total(lambda part: part.checked),
        ended_by_close=total(lambda part: part.ended_by_close),
        resent=total(lambda part: part.resent),
        stray=Stray(
            bytes=total(lambda part: part.stray.bytes),
            connections=total(lambda part: part.stray.connections),
            example=_first(part.stray.example for part in parts),
        ),
        outcomes=_outcomes(parts),
        connections=_connections(parts),
        service_time=added([part.service_time for part in parts]),
        response_time=_added_if_all([part.response_time for part in parts]),
        send_lag=_added_if_all([part.send_lag for part in parts]),
        connect_time=added([part.connect_time for part in parts]),
        handshake_time=_added_if_all([part.handshake_time for part in parts]),
        handshakes=_counted(part.handshakes for part in parts),
        first_byte_time=added([part.first_byte_time for part in parts]),
        http2=_http2([part.http2 for part in parts if part.http2 is not None]),
        http3=_http3([part.http3 for part in parts if part.http3 is not None]),
        missed_starts=total(lambda part: part.missed_starts),
        waited_starts=_sum_if_all([part.waited_starts for part in parts]),
        windows=_windows(parts),
        workers=tuple(worker for part in parts for worker in part.workers),
        under_way=_under_way([part.under_way for part in parts]),
    )


def _under_way(parts: Sequence[UnderWay | None]) -> UnderWay | None:
    """What no generator had an answer to: quiet since the latest answer of any; None where a part does not
    know."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return UnderWay(
        ages=added([part.ages for part in known]),
        quiet_ns=min(part.quiet_ns for part in known),
        edges_ns=sum(part.edges_ns for part in known),
    )


def _http2(parts: Sequence[Http2]) -> Http2 | None:
    """What HTTP/2 has beside; None where none of the parts spoke it."""
    if not parts:
        return None
    allowed = [part.streams_allowed for part in parts if part.streams_allowed is not None]
    return Http2(
        stream_waits=sum(part.stream_waits for part in parts),
        stream_wait_ns=sum(part.stream_wait_ns for part in parts),
        streams_allowed=min(allowed, default=None),
        window_stalls=sum(part.window_stalls for part in parts),
        window_stall_ns=sum(part.window_stall_ns for part in parts),
        faults=_counted(part.faults for part in parts),
        resets=_counted(part.resets for part in parts),
        going_away=_counted(part.going_away for part in parts),
    )


def _http3(parts: Sequence[Http3]) -> Http3 | None:
    """What HTTP/3 has beside; None where none of the parts spoke it."""
    if not parts:
        return None
    return Http3(
        handshakes=sum(part.handshakes for part in parts),
        stream_limit_waits=sum(part.stream_limit_waits for part in parts),
        stream_limit_ns=sum(part.stream_limit_ns for part in parts),
        flow_stalls=sum(part.flow_stalls for part in parts),
        flow_stall_ns=sum(part.flow_stall_ns for part in parts),
        udp_sent=sum(part.udp_sent for part in parts),
        udp_received=sum(part.udp_received for part in parts),
        lost_packets=sum(part.lost_packets for part in parts),
        goaway=sum(part.goaway for part in parts),
        resets=_counted(part.resets for part in parts),
        lost=_counted(part.lost for part in parts),
    )


def added(histograms: Sequence[Histogram]) -> Histogram:
    """The histogram of all samples together. NotOneLoad where one is damaged or of another unit."""
    units = {one.unit_ns for one in histograms}
    if len(units) > 1:
        raise NotOneLoad(f"the generators' times are in several units: {sorted(units)} ns")
    filled = [one for one in histograms if one.count]
    if len(filled) < 2:
        return filled[0] if filled else histograms[0]
    try:
        whole = decode(filled[0])
        for one in filled[1:]:
            whole.add(decode(one))
    except ValueError as damaged:
        raise NotOneLoad(str(damaged)) from damaged
    count = sum(one.count for one in filled)
    mean = sum(one.count * one.mean_ns for one in filled) / count
    squares = sum(one.count * (one.stdev_ns**2 + (one.mean_ns - mean) ** 2) for one in filled)
    return Histogram(
        count=count,
        min_ns=min(one.min_ns for one in filled),
        max_ns=max(one.max_ns for one in filled),
        mean_ns=mean,
        stdev_ns=math.sqrt(squares / count),
        unit_ns=filled[0].unit_ns,
        data=whole.encode().decode("ascii"),
    )


def _added_if_all(histograms: Sequence[Histogram | None]) -> Histogram | None:
    """As `added`; None where a part has none, because the load has no such time."""
    there = [one for one in histograms if one is not None]
    return added(there) if len(there) == len(histograms) else None


def _accounting(parts: Sequence[Measurement]) -> RequestAccounting:
    for number, part in enumerate(parts):
        requests = part.requests
        if requests.started != requests.completed + requests.failed + requests.in_flight:
            raise NotOneLoad(f"the accounting of generator {number + 1} do not balance")
    return RequestAccounting(
        started=sum(part.requests.started for part in parts),
        completed=sum(part.requests.completed for part in parts),
        failed=sum(part.requests.failed for part in parts),
        in_flight=sum(part.requests.in_flight for part in parts),
    )


def _connections(parts: Sequence[Measurement]) -> Connections:
    each = [part.connections for part in parts]
    return Connections(
        asked=sum(one.asked for one in each),
        opened=sum(one.opened for one in each),
        answered=sum(one.answered for one in each),
        reopened=sum(one.reopened for one in each),
        peak=sum(one.peak for one in each),
        busy_peak=_sum_if_all([one.busy_peak for one in each]),
    )


def _sum_if_all(counts: Sequence[int | None]) -> int | None:
    """The sum; None where a part does not know."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _counted(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    whole: Counter[str] = Counter()
    for one in counts:
        whole.update(one)
    return dict(sorted(whole.items()))


def _outcomes(parts: Sequence[Measurement]) -> tuple[Outcome, ...]:
    found: dict[tuple[str, str], Outcome] = {}
    for outcome in (outcome for part in parts for outcome in part.outcomes):
        known = found.get((outcome.origin, outcome.kind))
        found[outcome.origin, outcome.kind] = (
            outcome if known is None else replace(known, count=known.count + outcome.count)
        )
    return tuple(found.values())


def _windows(parts: Sequence[Measurement]) -> tuple[Window, ...]:
    """Windows of one phase and place added up; where parts ended at their own times, the later go on."""
    lengths = {part.windows[0].length_ns for part in parts if len(part.windows) > 1}
    apart_ns = max(part.warmup_ns for part in parts) - min(part.warmup_ns for part in parts)
    if len(lengths) > 1 or (lengths and apart_ns > min(lengths)):
        raise NotOneLoad(f"the generators' warm-ups ended {apart_ns / 1e6:.0f} ms apart")
    at_place: dict[tuple[bool, int], list[Window]] = {}
    for part in parts:
        places: Counter[str] = Counter()
        for window in part.windows:
            place = (window.phase == "measured", places[window.phase])
            places[window.phase] += 1
            at_place.setdefault(place, []).append(window)
    return tuple(as_one(same, max(one.length_ns for one in same)) for _, same in sorted(at_place.items()))


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def merged_slices(parts: Sequence[InterleavedMeasurement]) -> InterleavedMeasurement:
    """The measurement of the whole. NotOneLoad where the parts did not take the same slices, or where a
    part's accounting does not balance."""
    if not parts:
        raise NotOneLoad("no generator has measured anything")
    arms = zip(*(part.arms for part in parts), strict=True)
    return replace(
        parts[0],
        started_late_ns=max(part.started_late_ns for part in parts),
        length_ns=max(part.length_ns for part in parts),
        interrupted=any(part.interrupted for part in parts),
        arms=tuple(_arm(arm) for arm in arms),
    )


def _arm(parts: Sequence[ArmMeasurement]) -> ArmMeasurement:
    taken = {tuple(map(_where, part.slices)) for part in parts}
    if len(taken) > 1:
        raise NotOneLoad("the generators did not take the same slices")
    slices = slices_of_all([part.slices for part in parts])
    measurement = merged([part.measurement for part in parts])
    return ArmMeasurement(
        measurement=replace(measurement, windows=tuple(one.window for one in slices)),
        late=sum(part.late for part in parts),
        ended=next((part.ended for part in parts if part.ended), None),
        slices=slices,
    )


def _where(one: Slice) -> tuple[object, ...]:
    """Which slice it is, and where it lies."""
    return one.number, one.round, one.place, one.phase, one.start_ns, one.length_ns, one.washout_ns


def slices_of_all(parts: Sequence[Sequence[Slice]]) -> tuple[Slice, ...]:
    """The slices that all parts have, added up by the number of their turn."""
    by_slice: dict[int, list[Slice]] = {}
    for one in (one for part in parts for one in part):
        by_slice.setdefault(one.number, []).append(one)
    return tuple(_added(same) for _, same in sorted(by_slice.items()) if len(same) == len(parts))


_SUMS = (
    "started", "completed", "failed", "bytes_read", "early_completed", "service_time_sum_ns", "carried",
    "unsettled", "late", "reopened", "client_cpu_ns",
)  # fmt: skip


def _added(same: Sequence[Slice]) -> Slice:
    """One slice. Its median is the mean of theirs by answers, as that of several workers is."""
    completed = sum(one.completed for one in same)
    medians = sum(one.service_time_p50_ns * one.completed for one in same)
    sums = {name: sum(getattr(one, name) for one in same) for name in _SUMS}
    return replace(
        same[0],
        **sums,
        service_time_p50_ns=medians // completed if completed else 0,
        edges_ns=_known_of_all([one.edges_ns for one in same]),
        client_delayed_ns=_known_of_all([one.client_delayed_ns for one in same]),
    )


def _known_of_all(figures: Sequence[int | None]) -> int | None:
    """Their sum; None where one of them is not known."""
    known = [one for one in figures if one is not None]
    return sum(known) if len(known) == len(figures) else None


_LIVE_WINDOWS = 1_200


def together(looks: Sequence[Snapshot]) -> Snapshot:
    """The live view of a load: its totals; of its times the slowest's, since quantiles cannot be added."""
    lags = [look.send_lag_p99_ns for look in looks if look.send_lag_p99_ns is not None]
    measuring = all(look.phase == "measured" for look in looks)
    return Snapshot(
        phase="measured" if measuring else "warmup",
        elapsed_ns=min(look.elapsed_ns for look in looks),
        started=sum(look.started for look in looks),
        completed=sum(look.completed for look in looks),
        failed=sum(look.failed for look in looks),
        bytes_read=sum(look.bytes_read for look in looks),
        open_connections=sum(look.open_connections for look in looks),
        service_time_p50_ns=max(look.service_time_p50_ns for look in looks),
        service_time_p99_ns=max(look.service_time_p99_ns for look in looks),
        service_time_max_ns=max(look.service_time_max_ns for look in looks),
        send_lag_p99_ns=max(lags) if lags else None,
        client_cpu=statistics.fmean(look.client_cpu for look in looks),
        windows=_common_windows(looks),
    )


def arm_together(looks: Sequence[ArmSnapshot]) -> ArmSnapshot:
    """The live view of an arm: of its slices those that all have ended."""
    phases = {look.snapshot.phase for look in looks}
    return ArmSnapshot(
        snapshot=together([look.snapshot for look in looks]),
        ended=next((look.ended for look in looks if look.ended), None),
        slices=slices_of_all([look.slices for look in looks])[-_LIVE_WINDOWS:] if len(phases) == 1 else (),
    )


def _common_windows(looks: Sequence[Snapshot]) -> tuple[Window, ...]:
    """The windows that all of them have ended, added up. They begin at the same instants."""
    by_start: dict[int, list[Window]] = {}
    for window in (window for look in looks for window in look.windows):
        by_start.setdefault(window.start_ns, []).append(window)
    there = (windows for _, windows in sorted(by_start.items()) if len(windows) == len(looks))
    return tuple(as_one(windows, windows[0].length_ns) for windows in there)[-_LIVE_WINDOWS:]
