"""The bottleneck of a load as findings: one table of cases, each with what it makes of the figures.

`assay.verdict.bottleneck` names who limited a load; a case says it, with its bounds and its remedy. Times of
a load whose client was late are upper bounds: a late client only makes them longer.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from assay.core.units import counted
from assay.core.units import share as percent
from assay.core.units import time as duration
from assay.model.trial import Carried
from assay.verdict.bottleneck import (
    LINK_FULL,
    STRAINED,
    Shares,
    Who,
    at_most,
    background_cores,
    bottleneck_of,
    shares_of,
    spins,
)
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.load import Load, quantile
from assay.verdict.rule import (
    NONE,
    CaseRule,
    Effects,
    Hit,
    LoadRule,
    Threshold,
    Thresholds,
)
from assay.verdict.silence import fell_silent


def limited_by(load: Load, thresholds: Thresholds) -> Hit | None:
    """B1: who limited the load; the other cases say what that makes of its figures."""
    found = bottleneck_of(load)
    figures = {} if found.share is None else {"share": found.share, "uncertainty": found.uncertainty}
    return Hit("note", found.words, figures, gravity=-1.0 if found.share is None else found.share)


B1 = LoadRule(
    code="B1",
    title="bottleneck",
    severities=("note",),
    effects=(NONE,),
    meaning=(
        "What limited the load, by where the time of all cores went: more of it, and nothing else, would "
        "have made it faster."
    ),
    remedy="compare servers where the server is the bottleneck; read the other findings where it is not",
    source="Denning, Buzen (1978); Gregg's USE method",
    example="A Go server whose core was 98 % busy while the generator's was 60 % idle.",
    exempt=frozenset({"ceiling"}),
    check=limited_by,
)

_FULL_CLIENT = Effects("at least", "at most", because="its generator was full", held_back=True)
_NEARLY_FULL = replace(_FULL_CLIENT, because="its generator was nearly full", when="not the bottleneck")
_OWN_PACE = Effects(times="at most", because=_NEARLY_FULL.because, when="the server's cores were full")
_SENT_LATE = Effects(
    times="at most", because="its generator sent late", when="an open loop was late by itself"
)

_FAST_PER_S = 20_000
"""Answers a second that fill a thread by themselves: a plain one costs it 4 to 8 µs (docs/benchmarks.md)."""

_MORE_CORES = "give the generator more threads, on cores of their own, or give the server fewer cores"
_SERVER_TOO_FAST = (
    f"{_MORE_CORES}; on a small machine this server is too fast to be weighed by one client core"
)
_COSTLY_REQUESTS = (
    f"{_MORE_CORES}; so few requests a second cost a client this much where answers are large, are checked "
    "by patterns, go through TLS, or open a connection each"
)


def generator_full(load: Load, thresholds: Thresholds) -> Hit | None:
    """G1, from the threads' own CPU clocks: a bound that begins where the generator has no time to spare.

    Its words agree with B1's. A pacer that spins is busy by design: there the send lag tells whether it kept
    up, unless the starts waited for connections, which is the server's doing (G4).
    """
    if spins(load):
        return _late(load, thresholds)
    shares = shares_of(load)
    busy = shares.generator
    if busy is None or busy <= 1 - thresholds["idle"] or not load.measured.completed:
        return None
    threads = len(load.busy_shares)
    if max(load.busy_shares) > 1 - thresholds["idle"]:
        which = "its core" if threads == 1 else "the core of its busiest thread"
        words = f"the generator used {percent(busy)} of {which}"
    else:
        words = f"the generator's {counted(threads, 'thread')} used {percent(busy)} of its cores"
    least = f" (at least {percent(thresholds['idle'], exact=True)} must stay idle)"
    blamed = _FULL_CLIENT if bottleneck_of(load).who == "generator" else _NEARLY_FULL
    return Hit(
        "error",
        f"{words}{least}; {_server_words(shares, load.pace_share)}",
        {"idle_share": 1 - busy, "strain": shares.strain, "limit": thresholds["idle"]},
        gravity=busy,
        remedy=_SERVER_TOO_FAST if load.rate_per_s > _FAST_PER_S * threads else _COSTLY_REQUESTS,
        strain=shares.strain,
        effects=_OWN_PACE if at_most(shares.works, shares.strain) == 1.0 else blamed,
    )


def _server_words(shares: Shares, busy: float | None) -> str:
    """What the server did meanwhile, which bounds it from above."""
    if shares.polls:
        return f"the server burns {percent(shares.polling)} of its cores at no load, which bounds nothing"
    if busy is None:
        return "how busy the server's cores were is not known, so nothing bounds its throughput from above"
    return f"the server used {percent(min(1.0, busy))} of its cores"


def _late(load: Load, thresholds: Thresholds) -> Hit | None:
    lag, response = quantile(load.measured.send_lag, 0.99), quantile(load.response, 0.99)
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


G1 = LoadRule(
    code="G1",
    title="busy generator",
    severities=("error",),
    effects=(_FULL_CLIENT, _NEARLY_FULL, _OWN_PACE, _SENT_LATE),
    thresholds=(
        Threshold("idle", 0.20, "share", "idle share that each generator thread must keep"),
        Threshold("send_lag", 1e6, "ns", "p99 of send lag that a spinning pacer may have"),
        Threshold("send_lag_share", 0.1, "share", "or this share of the p99 of response time, if more"),
    ),
    meaning=(
        "The client had no time to spare, so every time includes the client's own queue. Where the server's "
        "cores idled meanwhile it may do more, up to what that idle time allows; at a full core the bound "
        "closes on the measured throughput."
    ),
    remedy=_MORE_CORES,
    source="Denning, Buzen (1978); Hyperfoil's CPU watchdog",
    example=(
        "A null server at 230,000/s with its client at 99 % of a core and its own at 80 %: at least that, "
        "at most 1.95 times. The same client in front of a server whose core is full: a result."
    ),
    exempt=frozenset({"ceiling"}),
    by_generator=True,
    of_misses=True,
    lengthens=True,
    check=generator_full,
)


def link_full(load: Load, thresholds: Thresholds) -> Hit | None:
    """G6, where the link's ceiling was measured, or it is one of ours with a delay."""
    link = load.machine.link
    if link is not None and link.carried is not None:
        return _not_as_asked(link.carried, thresholds) or _crowded_by_link(shares_of(load))
    ceiling = link.bytes_per_s if link else None
    if not ceiling or not load.measured.bytes_read or not load.measured.measured_ns:
        return None
    per_s = load.measured.bytes_read / (load.measured.measured_ns / 1e9)
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
    beyond = [said[name] for name, share in shares.items() if share > thresholds[name]]
    if not beyond:
        return None
    figures = {f"{name}_share": share for name, share in shares.items()}
    words = f"the link with a delay {' and '.join(beyond)}"
    return Hit("error", words, figures, gravity=max(shares.values()), remedy=_TOO_MUCH)


def _crowded_by_link(shares: Shares) -> Hit | None:
    """The program of a link with a delay left the generator too little of their cores."""
    own = shares.generator or 0.0
    if not own <= STRAINED < own + shares.link:
        return None
    words = f"the link's program used {percent(shares.link)} of the client's cores, the generator "
    figures = {"link_share": shares.link, "strain": shares.strain}
    return Hit("error", words + percent(own), figures, shares.link, _TOO_MUCH, strain=shares.strain)


_TOO_MUCH = "ask for less over it, or give the client another core: there the link's program works, too"

G6 = LoadRule(
    code="G6",
    title="bottleneck: the link",
    severities=("error",),
    effects=(Effects("at least", "at most", because="the link was full", held_back=True),),
    thresholds=(
        Threshold("link", LINK_FULL, "share", "share of the measured ceiling of the link"),
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


def time_taken(load: Load, thresholds: Thresholds) -> Hit | None:
    """H2: what the machine, its host or other programs took during the trial, and what that bounds.

    Interleaved all meet it alike, but for what the account of each says; of trials one after the other each
    has its own. Of a server that lost nearly all of its cores a tenth cannot be told from a hundredth.
    """
    shares = shares_of(load)
    hit = _disturbance(load, shares, thresholds)
    if hit is None:
        return None
    late = min(1.0, max(shares.paused, shares.generator_lost) / 0.05)
    own = at_most(shares.works, max(shares.strain, late))
    lost = shares.server_lost if shares.server_lost is not None else _at_worst(load, shares)
    bound = None if own is None or lost is None or lost >= 0.9 else own / (1 - lost)
    effects = _MET_ALIKE if load.washout_ns is not None else _ONE_AFTER_THE_OTHER
    return replace(hit, effects=replace(effects, held_back=bound is not None), at_most_times=bound)


def _at_worst(load: Load, shares: Shares) -> float | None:
    """What the server lost of its cores, if all that others and the host took was taken from these."""
    cores, others = len(load.machine.server_cpus), background_cores(load)
    if not cores or (others is None and not shares.stolen and not shares.paused):
        return None
    return ((others or 0.0) + shares.stolen * (load.machine.cores or 1)) / cores + shares.throttled


_MET_ALIKE = Effects("at least", "at most", "none", because="others took its time", when="interleaved")
_ONE_AFTER_THE_OTHER = replace(_MET_ALIKE, comparison=None, when="one after the other")


def _disturbance(load: Load, shares: Shares, thresholds: Thresholds) -> Hit | None:
    host = load.machine.host
    longest = load.longest_pause_ns
    figures = {} if host is None or host.steal_share is None else {"steal_share": host.steal_share}
    if longest > thresholds["stall"] and load.measured.measured_ns:
        most = duration(thresholds["stall"], exact=True)
        words = f"the generator stood still for {duration(longest)} (at most {most})"
        used = "" if shares.generator is None else f", and used {percent(shares.generator)} of its core"
        figures |= {"stall_ns": float(longest), "limit_ns": thresholds["stall"]}
        return Hit("warning", words + used, figures, gravity=shares.paused)
    if shares.server_lost is not None and shares.server_lost > 2 * thresholds["steal"]:
        who = max(shares.programs, key=lambda each: each[1], default=("others", 0.0))[0]
        words = f"others ({who} most) had {percent(shares.server_lost)} of the server's time"
        return Hit("warning", words, figures | {"server_lost": shares.server_lost}, gravity=1)
    own, lost = shares.generator or 0.0, shares.generator_lost
    crowded = own + shares.link <= STRAINED < own + shares.link + lost
    figures |= {"lost_share": lost} if crowded else {}
    if host is None:
        return None
    stolen = host.steal_share
    if stolen is not None and stolen > thresholds["steal"]:
        return Hit("warning", f"{percent(stolen)} of the CPU time was stolen by the host", figures, gravity=1)
    throttled = (host.throttled_ns or 0) / load.measured.measured_ns if load.measured.measured_ns else 0.0
    if throttled > thresholds["throttled"]:
        evidence = f"the control group was throttled for {percent(throttled)} of the time"
        return Hit("warning", evidence, figures | {"throttled_share": throttled}, gravity=1)
    others = background_cores(load)
    if others is not None and others > thresholds["background"]:
        resting = {} if load.resting_cores is None else {"resting_cores": load.resting_cores}
        figures |= {"others_cores": others, **resting}
        return Hit("warning", _who_was_busy(others, load.resting_cores), figures, gravity=others)
    if crowded:
        words = f"others had {percent(lost)} of the generator's time, and it used {percent(own)}"
        return Hit("warning", words, figures, gravity=lost)
    fastest = load.of_run.fastest_mhz if load.of_run else None
    if host.mhz and fastest and host.mhz < fastest * (1 - thresholds["frequency"]):
        # A reading of an instant, not a mean over the trial: worth a word, no more.
        evidence = f"the clock read {host.mhz:,.0f} MHz, in another trial {fastest:,.0f}"
        return Hit("note", evidence, figures | {"mhz": host.mhz, "fastest_mhz": fastest})
    return None


LATE = frozenset({"stall_ns", "lost_share"})
"""Figures of what kept the generator from its work, and so made times longer."""


def _who_was_busy(others: float, resting: float | None) -> str:
    """Of so many cores what servers kept busy whose slice it was not: they are ours, and no other program."""
    if resting is None:
        return f"servers of its block that rested, or other programs, kept {others:.1f} cores busy"
    if round(resting, 1) == 0:
        return f"other programs kept {others:.1f} cores busy"
    rested = min(resting, others)
    told = f"servers of its block that rested kept {rested:.1f} cores busy"
    left = round(others - resting, 1)
    return f"{told}, other programs {left:.1f}" if left > 0 else told


H2 = LoadRule(
    code="H2",
    title="bottleneck: other programs or the host",
    severities=("warning", "note"),
    effects=(_MET_ALIKE, _ONE_AFTER_THE_OTHER, replace(_MET_ALIKE, when="its account known", held_back=True)),
    thresholds=(
        Threshold("stall", 100e6, "ns", "longest time a generator thread may not come round although due"),
        Threshold("steal", 0.01, "share", "CPU time that the host may take away"),
        Threshold("throttled", 0.01, "share", "time for which the control group may be throttled"),
        Threshold("background", 0.2, "count", "cores that other programs may keep busy"),
        Threshold(
            "frequency", 0.05, "share", "drop of the clock below that of the run's fastest trial (a note)"
        ),
    ),
    meaning="Client and server did not have the machine to themselves, and not for all trials alike.",
    remedy=(
        "stop other programs, use a machine without neighbours, lift the control group's limit, or run "
        "more blocks"
    ),
    source="krun; thresholds ours",
    example="A shared virtual machine whose neighbour woke up for three of ten trials.",
    shared=True,
    passing=True,
    by_generator=True,
    of_server_too=True,
    of_misses=True,
    lengthens=True,
    check=time_taken,
)


def waits(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """M7: cores idle on both sides. Over an emulated network the way sets the pace, on purpose."""
    meant = case.case.emulation is not None or case.case.facts.get("bottleneck")
    if not case.closed or meant or any(load.think_time_ns for load in case.loads):
        return None
    found = [bottleneck_of(load) for load in case.loads if not fell_silent(load)]
    waiting = [one for one in found if one.who == "waiting"]
    if not waiting or 2 * len(waiting) < len(found):
        return None
    most = max(waiting, key=lambda one: one.share or 0.0)
    return Hit("warning", most.evidence, {"idle_share": most.share or 0.0}, gravity=most.share or 0.0)


M7 = CaseRule(
    code="M7",
    title="bottleneck: waiting",
    severities=("warning",),
    effects=(Effects(because="its own at so many connections; with more it may serve more"),),
    meaning=(
        "Server and generator had CPU time to spare while requests were under way: they waited for a timer, "
        "a lock, a pool, a database or another service. The figure is the server's at this number of "
        "connections."
    ),
    remedy=(
        "use more connections; look for locks, pools, a slow service or too few workers; where the "
        'bottleneck is known and meant, name it in the server\'s facts or the workload (bottleneck = "...")'
    ),
    source="the-benchmarker PR 9662",
    example=(
        "A server with a pool of three database connections: its cores idle while requests queue for the "
        "pool."
    ),
    exempt=frozenset({"ceiling"}),
    check=waits,
)

REMEDIES: Mapping[Who, str] = {"generator": G1.remedy, "others": H2.remedy, "link": G6.remedy}
"""What to do about who limited a load, for rules whose own advice is for a load that nobody else limited."""
