"""G: the load generator itself must not be what is measured."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import replace

from assay.core.units import counted, rate
from assay.core.units import share as percent
from assay.core.units import time as duration
from assay.model.finding import Subject
from assay.model.trial import Carried
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.load import Load
from assay.verdict.rule import (
    BETWEEN_BUILDS,
    CaseRule,
    Effects,
    Hit,
    LoadRule,
    RunRule,
    Threshold,
    Thresholds,
    exact_duration,
    exact_percent,
    paced_by_server,
    why_unbounded,
)

_OTHERS_SHARE = 0.1
"""Less of the generator's cores than this is the kernel's work for the generator's own traffic."""

_SERVER_SET_THE_PACE = Effects(
    times="at most", because="its generator was full", when="the server's cores were 97 % busy"
)
"""A client that is late adds its own queue to every time, and takes from none: times are bounds."""
_HELD_BACK = "the server's cores were less than 97 % busy, or not seen"
_GENERATOR_FULL = Effects(
    "at least", "at most", because="its generator was full", when=_HELD_BACK, held_back=True
)

_FAST_PER_S = 20_000
"""Answers a second of one thread from which the server's speed is what keeps it busy: a plain answer costs
it 4 to 8 µs (docs/benchmarks.md), so that a thread which is full with fewer does something else."""

_MORE_CORES = (
    "give the generator more threads, on cores that the server does not use, or give the server fewer cores"
)
_SERVER_TOO_FAST = (
    f"{_MORE_CORES}; on a small machine this server is too fast to be weighed by one client core"
)
_COSTLY_REQUESTS = (
    f"{_MORE_CORES}; so few requests a second cost a client this much where answers are large, are checked "
    "by patterns, go through TLS, or open a connection each"
)
_STOP_OTHERS = "stop the other programs on the generator's cores; they, not this server, took its time"


def generator_saturated(load: Load, thresholds: Thresholds) -> Hit | None:
    """G1, from the threads' own CPU clocks and from the idle time of the generator's cores.

    A pacer that spins is busy by design: there the send lag tells whether it kept up, unless the
    starts waited for connections, which is the server's doing (G4).
    """
    if load.asked.open_loop is not None and load.asked.open_loop.pacer == "spin":
        return _late(load, thresholds)
    idle = load.client_idle_share
    if idle is None or idle >= thresholds["idle"] or not load.counts.completed:
        return None
    return _by_pace(_no_time_to_spare(load, idle, thresholds), load.pace_share, _GENERATOR_FULL)


def _no_time_to_spare(load: Load, idle: float, thresholds: Thresholds) -> Hit:
    """Which of threads and cores was short of time."""
    busiest = max(load.busy_shares)
    threads = len(load.busy_shares)
    limit = f"(at least {exact_percent(thresholds['idle'])} must stay idle)"
    figures = {"idle_share": idle, "busiest_thread": busiest, "limit": thresholds["idle"]}
    remedy = _SERVER_TOO_FAST if load.counts.rate_per_s > _FAST_PER_S * threads else _COSTLY_REQUESTS
    if 1 - busiest < thresholds["idle"]:
        evidence = f"the busiest generator thread used {percent(busiest)} of its core {limit}"
        return Hit("error", evidence, figures, gravity=-idle, remedy=remedy)
    if 1 - load.crowded_share < thresholds["idle"]:
        evidence = f"{counted(threads, 'thread')} used {percent(load.crowded_share)} of the generator's cores"
        return Hit("error", f"{evidence} {limit}", figures, gravity=-idle, remedy=remedy)
    used = f"its threads used {percent(load.crowded_share)} of them"
    cores = load.machine.client_cores
    by_link = load.link_cores / cores if cores else 0.0
    if by_link:
        used += f" and the program of its link {percent(by_link)}"
    others = 1 - idle - load.crowded_share - by_link
    if others > _OTHERS_SHARE:
        remedy = _STOP_OTHERS
    elif by_link > load.crowded_share:
        remedy = _TOO_MUCH
    evidence = f"the generator's cores were only {percent(idle)} idle, {used} {limit}"
    return Hit("error", evidence, figures, gravity=-idle, remedy=remedy)


def _late(load: Load, thresholds: Thresholds) -> Hit | None:
    clocks = load.clocks
    lag = clocks.send_lag.quantiles.get(0.99) if clocks.send_lag else None
    response = clocks.response.quantiles.get(0.99) if clocks.response else None
    if lag is None or response is None or load.pool_exhausted:
        return None
    if lag <= max(thresholds["send_lag"], thresholds["send_lag_share"] * response):
        return None
    return Hit(
        "error",
        f"p99 of send lag is {duration(lag)}, p99 of response time {duration(response)}",
        {"send_lag_p99_ns": lag, "limit_ns": thresholds["send_lag"]},
        gravity=lag,
        effects=_SENT_LATE,
    )


_SENT_LATE = Effects(
    times="at most", because="its generator sent late", when="an open loop was late by itself"
)

G1 = LoadRule(
    code="G1",
    title="the generator was saturated",
    severities=("error",),
    effects=(_GENERATOR_FULL, _SERVER_SET_THE_PACE, _SENT_LATE, BETWEEN_BUILDS),
    thresholds=(
        Threshold("idle", 0.20, "share", "idle share that each generator core must keep"),
        Threshold("send_lag", 1e6, "ns", "p99 of send lag that a spinning pacer may have"),
        Threshold(
            "send_lag_share", 0.1, "share", "or this share of the p99 of response time, if that is more"
        ),
    ),
    meaning=(
        "The client had no time to spare, so every time includes the client's own queue. Where the server's "
        "cores idled meanwhile, the client set the pace and the server may do more; where they were full, "
        "the throughput is the server's."
    ),
    remedy=_MORE_CORES,
    source="Hyperfoil's CPU watchdog",
    example=(
        "A null server at 230,000/s with its client at 99 % of a core and its own at 80 %: at least that, "
        "at most 1.95 times. The same client in front of a server whose core is full: a result."
    ),
    exempt=frozenset({"ceiling"}),
    by_generator=True,
    of_misses=True,
    lengthens=True,
    check=generator_saturated,
)


def generator_stalled(load: Load, thresholds: Thresholds) -> Hit | None:
    """G2: times are bounds first; a pause as large as the minimum effect cost answers, too."""
    longest = max((worker.largest_stall_ns for worker in load.workers), default=0)
    if longest <= thresholds["stall"] or not load.counts.duration_ns:
        return None
    share = longest / load.counts.duration_ns
    most = exact_duration(thresholds["stall"])
    return Hit(
        "error",
        f"the generator stood still for {duration(longest)} (at most {most})",
        {"stall_ns": float(longest), "limit_ns": thresholds["stall"]},
        gravity=longest,
        effects=_STOOD_STILL if share >= thresholds["share"] else _TIMES_ONLY,
    )


_STOOD_STILL = Effects(
    "at least", "at most", because="its generator stood still", when="1 % of the time or more", held_back=True
)
_TIMES_ONLY = Effects(times="at most", because="its generator stood still", when="less")

G2 = LoadRule(
    code="G2",
    title="the generator stalled",
    severities=("error",),
    effects=(_STOOD_STILL, _TIMES_ONLY),
    thresholds=(
        Threshold(
            "stall", 100e6, "ns", "longest time a generator thread may not come round although it was due"
        ),
        Threshold(
            "share", 0.01, "share", "share of the run from which a stall makes throughput a bound, too"
        ),
    ),
    meaning=(
        "For that long nothing was sent and no answer was read: every request under way was timed with "
        "our own pause, and the server rested meanwhile."
    ),
    remedy=(
        "stop what else runs on the machine (or on its host), pin the generator to cores of its own, and "
        "repeat"
    ),
    source="Hyperfoil's jitter watchdog",
    example="A virtual machine whose host took the core away for 300 ms in the middle of a trial.",
    by_generator=True,
    of_misses=True,
    lengthens=True,
    check=generator_stalled,
)


def near_ceiling(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """G5, closed loops only: an open loop offers what it was asked to. Over an emulated network the way is
    what both have in common, and no limit of the generator's."""
    ceiling = None if case.case.emulation else run.ceiling_for(case)
    if ceiling is None or not case.loads or not all(load.asked.closed for load in case.loads):
        return None
    reached = statistics.fmean(case.throughput_by_block.values())
    most = statistics.fmean(ceiling.throughput_by_block.values())
    if most <= 0 or reached <= thresholds["warning"] * most:
        return None
    share, pace = reached / most, case.server_busy_share
    evidence = f"{rate(reached)} is {percent(share)} of the {rate(most)} that the null server reached here"
    figures = {"share": share, "ceiling_per_s": most, "limit": thresholds["warning"]}
    if share > thresholds["error"]:
        return _by_pace(Hit("error", evidence, figures, share), pace, _NEAR, _NEAR_ITS_OWN)
    return _by_pace(Hit("warning", evidence, figures, share), pace, _BELOW, _BELOW_ITS_OWN)


_BELOW = Effects("at least", because="close to the generator's ceiling", when="up to 90 %", held_back=True)
_NEAR = replace(_BELOW, times="at most", when="above 90 %")
_NEAR_ITS_OWN = Effects(
    times="at most",
    because="close to the generator's ceiling",
    when="above 90 %, the server's cores 97 % busy",
)
_BELOW_ITS_OWN = Effects(when="up to 90 %, the server's cores 97 % busy")


G5 = CaseRule(
    code="G5",
    title="close to the generator's ceiling",
    severities=("warning", "error"),
    effects=(_NEAR, _BELOW, _NEAR_ITS_OWN, _BELOW_ITS_OWN, BETWEEN_BUILDS),
    thresholds=(
        Threshold("warning", 0.70, "share", "share of the null server's throughput that warns of it"),
        Threshold("error", 0.90, "share", "share above which its times are upper bounds"),
    ),
    meaning=(
        "A server that does nothing was hardly faster, so the figure says more about the client, the "
        "kernel and the machine than about this server; differences between such servers are squeezed "
        "together."
    ),
    remedy="give the generator more cores or the server fewer, or give the server more work for each request",
    source="MLPerf's null system under test; percentages ours",
    example="A Go server at 180,000/s where the null server reaches 235,000/s (77 %): a warning.",
    exempt=frozenset({"ceiling"}),
    check=near_ceiling,
)


def link_full(load: Load, thresholds: Thresholds) -> Hit | None:
    """G6, where the link's ceiling was measured, or it is one of ours with a delay."""
    link = load.machine.link
    if link is not None and link.carried is not None:
        return _not_as_asked(link.carried, thresholds)
    ceiling = link.bytes_per_s if link else None
    if not ceiling or not load.counts.bytes_read or not load.counts.duration_ns:
        return None
    per_s = load.counts.bytes_read / (load.counts.duration_ns / 1e9)
    if per_s < thresholds["link"] * ceiling:
        return None
    way = "link" if load.generators else "loopback"
    return Hit(
        "error",
        f"{per_s / 1e6:,.0f} MB/s of the {ceiling / 1e6:,.0f} MB/s that the {way} carries here",
        {"bytes_per_s": per_s, "ceiling_bytes_per_s": ceiling},
        gravity=per_s,
    )


def _not_as_asked(carried: Carried, thresholds: Thresholds) -> Hit | None:
    """A link with a delay that lost more than it was to lose, or held packets for longer."""
    if not carried.packets:
        return None
    shares = {"overflowed": carried.overflowed / carried.packets, "late": carried.late / carried.packets}
    said = {
        "overflowed": f"lost {percent(shares['overflowed'])} of its packets as they found no room",
        "late": f"sent {percent(shares['late'])} of its packets late, by up to {duration(carried.latest_ns)}",
    }
    beyond = [name for name, share in shares.items() if share > thresholds[name]]
    if not beyond:
        return None
    return Hit(
        "error",
        f"the link with a delay {' and '.join(said[name] for name in beyond)}",
        {f"{name}_share": share for name, share in shares.items()},
        gravity=max(shares.values()),
        remedy=_TOO_MUCH,
    )


_TOO_MUCH = "ask for less over it, or give the client another core: there the link's program works, too"

G6 = LoadRule(
    code="G6",
    title="the link was full",
    severities=("error",),
    effects=(Effects("at least", "at most", because="the link was full", held_back=True),),
    thresholds=(
        Threshold("link", 0.9, "share", "share of the measured ceiling of the link"),
        Threshold("overflowed", 0.001, "share", "packets for which a link with a delay had no room"),
        Threshold(
            "late", 0.05, "share", "packets that it sent late, by a tenth of their way or a millisecond"
        ),
    ),
    meaning=(
        "The bytes were as many as the link carries, or more than it carries as it was asked to: it set the "
        "pace, and any server would have stopped there."
    ),
    remedy="use a faster link or smaller answers",
    source="TechEmpower #3538; ours",
    example="Several frameworks within 1 % of each other at 1.18 GB/s on a 10 Gbit/s link.",
    of_misses=True,
    lengthens=True,
    check=link_full,
)


def suspiciously_equal(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """G7: what holds unrelated servers at one figure is something that they share."""
    for group in run.groups.values():
        rates = {
            seen.case.id: statistics.fmean(seen.throughput_by_block.values())
            for seen in group
            if seen.candidate and seen.closed
        }
        best = max(rates.values(), default=0.0)
        level = [seen for seen in group if rates.get(seen.case.id, -1.0) >= best * (1 - thresholds["within"])]
        idle = [load.client_idle_share for seen in level for load in seen.loads]
        known = [share for share in idle if share is not None]
        servers = {seen.case.server for seen in level}
        named = ", ".join(sorted(seen.name for seen in level))
        if len(servers) < thresholds["servers"] or not known:
            continue
        busy = 1 - statistics.fmean(known)
        if busy < thresholds["busy"]:
            continue
        evidence = (
            f"{named} all reach {rate(best)} to within {exact_percent(thresholds['within'])}; "
            f"the client was {percent(busy)} busy"
        )
        for seen in level:
            hit = Hit("error", evidence, {"best_per_s": best, "client_busy_share": busy})
            yield Subject(case=seen.case.id), _by_pace(hit, seen.server_busy_share, _ONE_FIGURE)


def _by_pace(
    hit: Hit, pace: float | None, held_back: Effects, by_itself: Effects = _SERVER_SET_THE_PACE
) -> Hit:
    """What was found where the client had no time to spare: a bound where the server idled meanwhile, and at
    most of the times where its own cores were full, too."""
    if paced_by_server(pace):
        assert pace is not None  # a share that is not known sets no pace
        said = f"{hit.evidence}; the server's cores were {percent(pace)} busy, so it set the pace itself"
        return replace(hit, evidence=said, effects=by_itself)
    said = hit.evidence + why_unbounded(pace)
    return replace(hit, evidence=said, effects=held_back)


_ONE_FIGURE = Effects(
    "at least", "at most", because="unrelated servers ended at one figure", when=_HELD_BACK, held_back=True
)


G7 = RunRule(
    code="G7",
    title="unrelated servers at one figure",
    severities=("error",),
    effects=(_ONE_FIGURE, _SERVER_SET_THE_PACE),
    thresholds=(
        Threshold("within", 0.01, "share", "distance from the best that counts as the same figure"),
        Threshold("servers", 3, "count", "unrelated servers at one figure that are no coincidence"),
        Threshold("busy", 0.8, "share", "busy share of the client from which it is the likely cause"),
    ),
    meaning=(
        "Servers that have nothing in common do not end at one figure: what they share, the client, set it."
    ),
    remedy="give the generator more cores or the servers fewer, until they differ",
    source="the-benchmarker #9775; ours",
    example="Twelve frameworks in four languages between 178,000/s and 179,500/s.",
    check=suspiciously_equal,
)
