"""H, G: the machine, and several generators, each of which must do its part at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.core.units import counted
from assay.core.units import share as percent
from assay.core.units import time as duration
from assay.model.trial import GeneratorSeen
from assay.verdict.bottleneck import bottleneck_of
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.load import Load
from assay.verdict.rule import VOID, CaseRule, Effects, Hit, LoadRule, Threshold, Thresholds


def cores_shared(load: Load, thresholds: Thresholds) -> Hit | None:
    """H1: client and server on the same cores, or more client threads than cores.

    Threads that wait for each other leave the server idle, which bounds it from above. A server that
    shares its cores has less of them than its own share of the time says: nothing bounds that.
    """
    machine, threads = load.machine, load.plan.threads
    shared, cores = machine.cores_shared, machine.client_cores
    figures = {"shared_cores": float(len(shared)), "threads": float(threads), "cores": float(cores or 0)}
    if shared:
        same = set(shared) & set(machine.server_cpus)
        how = "run on the same cores" if same else "run on hardware threads of the same core"
        which = ", ".join(str(cpu) for cpu in shared)
        hit = Hit("warning", f"client and server {how} (CPU {which})", figures, gravity=len(shared))
        return _as_limited(hit, load)
    if cores is not None and threads > cores:
        evidence = f"{counted(threads, 'client thread')} on {counted(cores, 'core')}"
        hit = Hit("warning", evidence, figures, gravity=threads / cores, effects=_TOO_MANY_THREADS)
        return _as_limited(hit, load)
    unpinned = not machine.client_cpus and not machine.server_cpus
    together = machine.link is not None and machine.link.same_machine
    if together and unpinned and cores is not None and threads >= cores:
        evidence = (
            f"{counted(threads, 'client thread')} on a machine of {counted(cores, 'core')} that serves too"
        )
        return _as_limited(Hit("warning", evidence, figures, gravity=threads / cores), load)
    return None


def _as_limited(hit: Hit, load: Load) -> Hit:
    """Where a limit or the link set the pace, what the client took of the cores held nothing back."""
    return replace(hit, effects=_NOT_FELT) if bottleneck_of(load).who in ("limit", "link") else hit


_NOT_FELT = Effects(when="a limit that was asked for, or the link, was the bottleneck")


_CORES_SHARED = Effects(
    "at least", comparison="at least", because="client and server shared cores", when="on the same cores"
)
_TOO_MANY_THREADS = replace(_CORES_SHARED, when="more client threads than cores", held_back=True)

H1 = LoadRule(
    code="H1",
    title="client and server compete for cores",
    severities=("warning",),
    effects=(_CORES_SHARED, _TOO_MANY_THREADS, _NOT_FELT),
    meaning=(
        "What the client takes, the server lacks. The busier client makes its server look slower, and the"
        " number of client threads changes the result."
    ),
    remedy=(
        "give client and server cores of their own (or machines of their own), with one client thread a core"
    ),
    source="the published franklin (12 threads) and frameworks (10 against 5 threads) studies, on 4 cores",
    example="wrk -t12 on 4 cores that the server under test uses too.",
    shared=True,
    by_generator=True,
    of_misses=True,
    check=cores_shared,
)


def machine_unfit(load: Load, thresholds: Thresholds) -> Hit | None:
    """H3: limits that were hit are errors; settings that make figures wander are noted."""
    for outcome in load.measured.outcomes:
        if outcome.kind in _LIMITS and outcome.count:
            evidence = f"{counted(outcome.count, 'request')} found {_LIMITS[outcome.kind]}"
            return Hit("error", evidence, {"count": float(outcome.count)}, outcome.count)
    machine, asked = load.machine.environment, load.asked
    if machine is None:
        return None
    notes = []
    if machine.governor not in (None, "performance"):
        notes.append(f"the CPU governor is {machine.governor}")
    if machine.turbo:
        notes.append("turbo is on")
    if machine.on_battery:
        notes.append("the machine runs on its battery")
    if machine.descriptor_limit < thresholds["per_connection"] * asked:
        notes.append(
            f"{machine.descriptor_limit:,} file descriptors are few for {counted(asked, 'connection')}"
        )
    if machine.ephemeral_ports is not None and machine.ephemeral_ports < thresholds["per_connection"] * asked:
        notes.append(f"{machine.ephemeral_ports:,} local ports are few for {counted(asked, 'connection')}")
    return Hit("note", "; ".join(notes)) if notes else None


_LIMIT_HIT = Effects("at least", "void", because="a limit of the machine was hit", held_back=True)
_LIMITS = {"no_descriptors": "no file descriptor free", "no_ports": "no local port free"}

H3 = LoadRule(
    code="H3",
    title="the machine's settings",
    severities=("error", "note"),
    effects=(_LIMIT_HIT,),
    thresholds=(
        Threshold("per_connection", 1.2, "ratio", "descriptors and local ports for each connection"),
    ),
    meaning=(
        "Frequencies that follow temperature and load make figures wander; a limit that was hit changes "
        "the load itself."
    ),
    remedy=(
        "set the performance governor, switch turbo off, plug in; raise ulimit -n and "
        "net.ipv4.ip_local_port_range (assay doctor shows all of this)"
    ),
    source="pyperf's system check",
    example="1,024 descriptors for 1,000 connections and their log files.",
    shared=True,
    of_misses=True,
    lengthens=True,
    check=machine_unfit,
)


LOST = "cluster"
"""The stage of a trial that ended because a node of the cluster was lost, or could not do its part."""


def generator_lost(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """G9: nothing is merged from a part, so such trials have no figures; that there were some is told."""
    lost = [trial for trial in case.trials if trial.failure is not None and trial.failure.stage == LOST]
    if not lost or lost[0].failure is None:
        return None
    evidence = f"{counted(len(lost), 'trial')} of {len(case.trials)} ended so: {lost[0].failure.reason}"
    return Hit("warning", evidence, {"trials": float(len(lost))}, gravity=len(lost))


G9 = CaseRule(
    code="G9",
    title="a machine of the cluster failed",
    severities=("warning",),
    meaning=(
        "What the others measured is not the load that was asked for: those trials have no figures. The "
        "others stand, but fewer trials make a wider interval, and what took the machine may come again."
    ),
    remedy="see that all machines stay on and reach each other (`assay nodes`), and run more blocks",
    source="ours",
    example="A generator whose network card was reset in the second of ten trials.",
    check=generator_lost,
)


def generators_unequal(load: Load, thresholds: Thresholds) -> Hit | None:
    """G10: what each should have done follows from its connections or its workers; what it did differs."""
    if len(load.generators) < 2 or not load.closed:
        return None
    each = {
        one.node: one.measurement.completed / max(1, one.measurement.connections.asked)
        for one in load.generators
    }
    mean = sum(each.values()) / len(each)
    if not mean:
        return None
    node, least = min(each.items(), key=lambda item: item[1])
    share = least / mean
    if share >= 1 - thresholds["apart"]:
        return None
    evidence = f"generator {node} had {percent(share)} of the mean's answers for each of its connections"
    return Hit("warning", evidence, {"share": share, "limit": thresholds["apart"]}, gravity=1 - share)


G10 = LoadRule(
    code="G10",
    title="generators unequal",
    severities=("warning",),
    effects=(Effects("at least", because="a generator lagged behind the others", held_back=True),),
    thresholds=(Threshold("apart", 0.25, "share", "how far below the mean a generator may lie"),),
    meaning=(
        "Each has its part of one load. One that gets less done than the others is short of time or has a "
        "worse way to the server, while they idle: together they might have driven more."
    ),
    remedy="use machines of one kind on one network, and look at the links: `assay nodes`",
    source="ours",
    example="Three generators on 10 Gbit/s and one on 1 Gbit/s, in front of large answers.",
    check=generators_unequal,
)


def clocks_uncertain(load: Load, thresholds: Thresholds) -> Hit | None:
    """G11: instants that may be so far off say nothing of times as short as the measured ones."""
    if not load.generators:
        return None
    limit = max(thresholds["apart"], thresholds["share"] * load.measured.measured_ns)
    if load.washout_ns is not None:
        return _slices_apart(load.generators, load.washout_ns, limit)
    worst = max(load.generators, key=lambda one: _unsure_ns(one) + max(0, one.started_late_ns))
    unsure, late = _unsure_ns(worst), max(0, worst.started_late_ns)
    if unsure + late <= limit:
        return None
    evidence = (
        f"generator {worst.node} began {duration(late)} after the agreed instant, and its clock is known to "
        f"{duration(unsure)} (at most {duration(limit)} together)"
    )
    return Hit(
        "error", evidence, {"uncertainty_ns": float(unsure), "late_ns": float(late)}, gravity=unsure + late
    )


def _slices_apart(generators: Sequence[GeneratorSeen], washout_ns: int, limit: float) -> Hit | None:
    """Of an interleaved load two of them must not load two servers at once; slices count from the agreed
    instant, so that a late start spoils those alone that it reaches into."""
    worst = max(generators, key=lambda one: 2 * one.clock.uncertainty_ns + _moved_ns(one))
    apart, moved = 2 * worst.clock.uncertainty_ns + _moved_ns(worst), _moved_ns(worst)
    if apart > washout_ns:
        evidence = (
            f"generator {worst.node}'s clock is known to {duration(worst.clock.uncertainty_ns)} and moved by "
            f"{duration(moved)}: its slices may reach into others, {duration(washout_ns)} away"
        )
        return Hit("error", evidence, {"apart_ns": float(apart), "washout_ns": float(washout_ns)}, apart)
    last = max(generators, key=lambda one: one.started_late_ns - one.measurement.warmup_ns)
    late = last.started_late_ns - last.measurement.warmup_ns
    if late <= limit:
        return None
    evidence = f"generator {last.node} began {duration(late)} after its measured time"
    return Hit("error", evidence, {"late_ns": float(late)}, late)


def _moved_ns(one: GeneratorSeen) -> int:
    """By how far its clock has moved under load, beyond what the two looks at it leave open."""
    before, after = one.clock, one.clock_after or one.clock
    moved = abs(after.offset_ns - before.offset_ns) - before.uncertainty_ns - after.uncertainty_ns
    return max(0, moved)


def _unsure_ns(one: GeneratorSeen) -> int:
    """How well its clock is known over the whole load: as at its worse end, and by how far it has moved
    beyond that."""
    after = one.clock_after or one.clock
    return max(one.clock.uncertainty_ns, after.uncertainty_ns) + _moved_ns(one)


G11 = LoadRule(
    code="G11",
    title="generators not at one time",
    severities=("error",),
    effects=(Effects("at least", "void", because="its generators did not begin together", held_back=True),),
    thresholds=(
        Threshold("apart", 10e6, "ns", "how late and how uncertain a generator's start may be"),
        Threshold("share", 0.001, "share", "or this share of the measured time, if that is more"),
    ),
    meaning=(
        "The parts of the load did not begin, or nobody knows whether they began, at one instant: for a "
        "while the server had less than the load that was asked for, and a rate that was not the plan's."
    ),
    remedy="a quieter, shorter network between the machines; ours asks the clocks over it",
    source="ours; NTP's bound of half the round trip (RFC 5905)",
    example="A generator behind a link with 100 ms of delay each way.",
    of_misses=True,
    check=clocks_uncertain,
)


def versions_differ(load: Load, thresholds: Thresholds) -> Hit | None:
    """G12: the driver refuses such nodes before the start; this is for records, whoever made them."""
    versions = sorted({one.measurement.engine_version for one in load.generators})
    if len(versions) < 2:
        return None
    return Hit("error", f"the generators ran the engine in versions {', '.join(versions)}")


G12 = LoadRule(
    code="G12",
    title="generators of several versions",
    severities=("error",),
    effects=(VOID,),
    meaning="Two versions of the engine may deal, time and count differently: theirs is not one load.",
    remedy="install the same version on all machines; Assay refuses to start with several",
    source="ours",
    example="A record put together from two clusters.",
    of_misses=True,
    check=versions_differ,
)
