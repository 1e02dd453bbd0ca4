"""G, where several generators offer one load: each must do its part, and all of it at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from assay.model.trial import GeneratorSeen
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.load import Load
from assay.verdict.rule import VOID, CaseRule, Effects, Hit, LoadRule, Threshold, Thresholds
from assay.verdict.words import counted, duration, percent

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
    if len(load.generators) < 2 or not load.asked.closed:
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
    return Hit(
        "warning",
        evidence,
        {"share": share, "limit": thresholds["apart"]},
        gravity=1 - share,
    )


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
    limit = max(thresholds["apart"], thresholds["share"] * load.counts.duration_ns)
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
        "error",
        evidence,
        {"uncertainty_ns": float(unsure), "late_ns": float(late)},
        gravity=unsure + late,
    )


def _slices_apart(generators: Sequence[GeneratorSeen], washout_ns: int, limit: float) -> Hit | None:
    """Of a load interleaved two of them must not load two servers at once; slices count from the agreed
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
