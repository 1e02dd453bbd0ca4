"""Several generators' measurements of one load, added up exactly.

Counts are summed, histograms added slot by slot, windows laid over each other by their place in the phase:
so the percentiles of the whole are those of all its samples, and nothing is averaged that has no average.
Pure; from the parts alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from assay.model.measurement import (
    Connections,
    Histogram,
    Http2,
    Http3,
    Measurement,
    Outcome,
    RequestAccounting,
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
