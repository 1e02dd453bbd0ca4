"""M: the figures must agree with each other and with the model of the load."""

from __future__ import annotations

import itertools

from assay.core.units import counted, rate
from assay.core.units import share as percent
from assay.core.units import time as duration
from assay.model.plan import StopAtCount
from assay.stats import quantiles
from assay.verdict.bottleneck import blamed, bottleneck_of, shares_of
from assay.verdict.load import Load, quantile
from assay.verdict.rule import TIMES_VOID, VOID, Effects, Hit, LoadRule, Threshold, Thresholds
from assay.verdict.silence import fell_silent


def littles_law(load: Load, thresholds: Thresholds) -> Hit | None:
    """M1. In a closed loop each connection (or stream) has one request under way, unless it thinks or waits:

        answers/s x (mean time + think time) + time spent opening / duration = connections

    Its page says what edges, streams and a counted number of requests do to either side. More than the
    connections is impossible. Fewer means that connections stood idle.
    """
    times, duration_ns, asked = load.service, load.measured.measured_ns, load.places
    if not load.closed or not asked or not duration_ns or times is None:
        return None
    by_count = isinstance(load.plan.stop, StopAtCount)
    if by_count and times.count < _FEWEST_EACH * asked:
        return None
    round_ns = times.mean_ns + load.think_time_ns
    beside = _beside(load)
    in_flight = (times.count * round_ns + sum(beside.values())) / duration_ns
    is_exact = load.edges_ns is not None and not load.measured.failed
    unseen_ns = load.think_time_ns if is_exact else round_ns
    unseen_ns += times.max_ns if by_count else 0
    allowed = max(thresholds["relative"] * asked, thresholds["connections"])
    allowed += min(1.0, load.slices * unseen_ns / duration_ns) * asked
    off = abs(in_flight - asked)
    if off <= allowed or (in_flight < asked and fell_silent(load)):
        return None
    per_s = times.count / (duration_ns / 1e9)
    also = [
        f"{abs(ns) / duration_ns:,.1f} {what}" for what, ns in beside.items() if abs(ns) >= 0.1 * duration_ns
    ]
    with_them = f", with {' and '.join(also)}," if also else ""
    seen = f"{rate(per_s)} x {duration(round_ns)}{with_them} is {in_flight:,.1f} requests in flight"
    idle = asked - in_flight
    waited = _what_the_others_waited_for(load, idle * duration_ns)
    figures = {"in_flight": in_flight, "connections": float(asked), "tolerance": allowed}
    places = counted(asked, load.place)
    if idle > 0 and waited:
        words = f"{seen}; the others of {places} waited {waited}"
        return Hit("warning", words, figures, off / asked, remedy=_MANY_OPENED, effects=_WAITED)
    words = f"{seen}, not the {places} (tolerance {allowed:,.1f})"
    if idle < 0 or load.measured.failed or load.measured.connections.reopened:
        return Hit("error", words, figures, gravity=off / asked)
    shares, found = shares_of(load), bottleneck_of(load)
    late = shares.strain > 0 or shares.paused > 0.05
    if late:
        words += (
            f"; between them they waited for the generator, which used {percent(shares.generator)} of its "
        )
        words += f"core{blamed(load, 'generator')}"
    else:
        waited = (
            f"they waited for {found.words}" if found.who == "limit" else "what they waited for is not known"
        )
        words += f"; {waited}"
    return Hit("warning", words, figures, off / asked, remedy=_LIGHTER, effects=_LATE if late else _IDLE)


_FEWEST_EACH = 10
"""Requests of a counted load for each of its connections, from which they say how many are under way."""


def _what_the_others_waited_for(load: Load, idle_ns: float) -> str:
    """What places that carried nothing for so long all together waited for, where the server closed their
    connections; "" where that does not explain it."""
    if load.closes_each:
        return "to be opened or accepted, as the server closes each after an answer"
    times, closed = load.service, load.closed_by_server
    if load.streams == 1 or load.measured.failed or times is None or not closed:
        return ""
    longest_ns = closed * load.streams * (quantile(times, 0.99) or times.max_ns)
    if idle_ns > longest_ns:
        return ""
    return f"for others to end on {counted(closed, 'connection')} that the server closed"


def _beside(load: Load) -> dict[str, float]:
    """The time, over all connections, that is in no recorded time (less than nothing: that should not be in
    one), by what it was."""
    edges_ns = load.edges_ns or 0
    interleaved = load.washout_ns is not None
    cut_off = "cut off by the ends of slices" if interleaved else "under way at the end"
    brought = "begun before their slices taken off" if interleaved else "begun before the load taken off"
    # All streams of a connection wait for it, unless some think or, having failed, wait to try again.
    waiting = 1 if load.measured.failed or load.think_time_ns else load.streams
    opened = (load.measured.connect_time, load.measured.handshake_time)
    opening_ns = sum(times.count * times.mean_ns for times in opened if times is not None)
    return {
        "connections being opened": opening_ns * waiting,
        "waiting for a stream": load.waits.for_streams_ns if load.waits is not None else 0,
        cut_off: max(0, edges_ns),
        brought: 0 if load.measured.failed else min(0, edges_ns),
    }


_WAITED = Effects(
    times="at least",
    because="requests waited for connections",
    when="too few are in flight, and the server closes connections",
)
_MANY_OPENED = "add the wait for a connection to these times, or let the server keep its connections"
_LATE = Effects(
    times="at most", because="connections waited for the generator", when="its generator was late"
)
_IDLE = Effects(because="of a lighter load", when="connections idled, and why is not known")
_LIGHTER = "these are the times of a lighter load than the one that was named: ask for fewer connections"


M1 = LoadRule(
    code="M1",
    title="times contradict throughput (Little's law)",
    severities=("error", "warning"),
    effects=(TIMES_VOID, _WAITED, _LATE, _IDLE),
    thresholds=(
        Threshold("relative", 0.05, "share", "allowed deviation as a share of the connections"),
        Threshold("connections", 2.0, "count", "allowed deviation in connections, if that is more"),
    ),
    meaning=(
        "In a closed loop throughput times mean time must give the number of connections. It does not: "
        "connections stood idle (after failures, or because the generator had not sent their next "
        "request), or times were measured wrongly."
    ),
    remedy="look at the errors and time-outs first; do not quote these times",
    source="Little's law; tolerance ours",
    example=(
        "wrk -c1000 reporting 28,392/s at a mean of 69.5 ms: 1,973 requests in flight on 1,000 "
        "connections is impossible."
    ),
    exempt=frozenset({"ceiling"}),
    check=littles_law,
)


def impossible_times(load: Load, thresholds: Thresholds) -> Hit | None:
    """M2: order among the figures of one distribution. Histogram buckets forgive a little."""
    for clock, times in (("service", load.service), ("response", load.response)):
        if times is None:
            continue
        between = [one.value_ns for one in quantiles(times, (0.5, 0.9, 0.99)) if one]
        ordered = [times.min_ns, *between, times.max_ns]
        slack = 1 + thresholds["rounding"]
        figures = {"min_ns": times.min_ns, "mean_ns": times.mean_ns, "max_ns": times.max_ns}
        if any(low > high * slack for low, high in itertools.pairwise(ordered)):
            shown = ", ".join(duration(value) for value in ordered)
            evidence = f"{clock} times are not in order: {shown}"
            return Hit("error", evidence, figures, gravity=2, effects=_IMPOSSIBLE)
        if not times.min_ns <= times.mean_ns * slack or not times.mean_ns <= times.max_ns * slack:
            evidence = f"the mean {clock} time, {duration(times.mean_ns)}, lies outside its own range"
            return Hit("error", evidence, figures, gravity=2, effects=_IMPOSSIBLE)
        p99 = quantile(times, 0.99)
        if p99 is not None and times.mean_ns > p99 * slack:
            evidence = f"the mean {clock} time, {duration(times.mean_ns)}, is above its p99, {duration(p99)}"
            return Hit("warning", evidence, figures | {"p99_ns": p99}, gravity=1, effects=_ODD)
    return None


_IMPOSSIBLE = Effects(times="void", when="they contradict each other")
_ODD = Effects(when="a mean above the p99")

M2 = LoadRule(
    code="M2",
    title="times that cannot be",
    severities=("error", "warning"),
    effects=(_IMPOSSIBLE, _ODD),
    thresholds=(Threshold("rounding", 0.005, "share", "what rounding to buckets may do to the order"),),
    meaning=(
        "Percentiles must rise, and a mean must lie between the smallest and the largest time. A mean "
        "above the p99 is possible, but then less than one request in a hundred makes the mean."
    ),
    remedy="look at the slowest requests (time-outs, retries); do not quote a mean that so few requests make",
    source="arithmetic",
    example="A table that prints p99 = 12 ms beside a mean of 40 ms: the average had been published as p99.",
    check=impossible_times,
)


def count_disagrees(load: Load, thresholds: Thresholds) -> Hit | None:
    """M3: the rate against each other account of the same requests, and the balance of the requests."""
    requests = load.measured.requests
    missing = requests.started - requests.completed - requests.failed - requests.in_flight
    if missing:
        return Hit(
            "error",
            f"{requests.started:,} started, but {requests.completed:,} completed + "
            f"{requests.failed:,} failed + {requests.in_flight:,} in flight",
            {"unaccounted": float(missing)},
            gravity=1.0,
        )
    unrecorded = _unrecorded(load, thresholds["relative"])
    if unrecorded is not None:
        return unrecorded
    for account, per_s in _accounts(load):
        reported = load.rate_per_s
        if max(per_s, reported) <= 0:
            continue
        off = abs(per_s - reported) / max(per_s, reported)
        if off > thresholds["relative"]:
            return Hit(
                "error",
                f"the reported {rate(reported)} is {percent(off)} off {account}, {rate(per_s)}",
                {"reported_per_s": reported, "counted_per_s": per_s, "difference": off},
                gravity=off,
            )
    return None


def _unrecorded(load: Load, relative: float) -> Hit | None:
    """Each right answer has one recorded time; a failed request may have one."""
    if load.service is None:
        return None
    times, completed = load.service.count, load.measured.completed
    least, most = completed * (1 - relative), load.ended * (1 + relative)
    if least <= times <= most:
        return None
    evidence = f"{counted(times, 'time')} recorded for {counted(completed, 'answer')}"
    return Hit("error", evidence, {"times": float(times), "answers": float(completed)}, gravity=1.0)


def _accounts(load: Load) -> list[tuple[str, float]]:
    """Every other way in which this load's rate can be computed."""
    accounts = []
    seconds = load.measured.measured_ns / 1e9
    if seconds:
        accounts.append(("answers over time", load.measured.completed / seconds))
    if seconds and load.measured.workers:
        by_threads = sum(worker.completed for worker in load.measured.workers)
        accounts.append(("the threads' own counts", by_threads / seconds))
    windows_ns = sum(window.length_ns for window in load.windows)
    if windows_ns:
        accounts.append(
            ("the sum of the windows", sum(w.completed for w in load.windows) / (windows_ns / 1e9))
        )
    return accounts


M3 = LoadRule(
    code="M3",
    title="the rate contradicts the count",
    severities=("error",),
    effects=(VOID,),
    thresholds=(Threshold("relative", 0.01, "share", "allowed difference between two accounts of the rate"),),
    meaning=(
        "Answers divided by seconds is not the rate that is reported, or requests are unaccounted for: at"
        " least one of the numbers is wrong, and nothing says which."
    ),
    remedy=(
        "compute the rate from the raw count and the duration; if our own engine did this, please report it"
    ),
    source="arithmetic",
    example="A tool that reports the mean of its 20 ms samples (402/s) where 25,000 requests took 62 s.",
    of_misses=True,
    check=count_disagrees,
)
