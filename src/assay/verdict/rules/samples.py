"""S: enough, and steady enough, to be worth a number."""

from __future__ import annotations

from collections.abc import Iterator

from assay.values.finding import Subject
from assay.verdict.rule import Hit, Limits, LoadRule, RunRule, Threshold
from assay.verdict.seen import Load, RunSeen
from assay.verdict.words import counted, duration


def too_few_trials(run: RunSeen, limits: Limits) -> Iterator[tuple[Subject, Hit]]:
    """S5: once for the run where no candidate has enough, otherwise for each case that lacks some."""
    least = int(limits["trials"])
    counts = {seen.case.id: len(seen.measured) for seen in run.cases if seen.candidate}
    short = {case: count for case, count in counts.items() if count < least}
    if not short:
        return
    if len(short) == len(counts) and len(set(short.values())) == 1:
        n = next(iter(short.values()))
        yield Subject(), _too_few(f"{counted(n, 'trial')} of each case", n, least)
        return
    for case, n in short.items():
        yield Subject(case=case), _too_few(counted(n, "trial"), n, least)


def _too_few(seen: str, n: int, least: int) -> Hit:
    return Hit("flagged", f"{seen}; a ranking needs {least}", {"trials": float(n), "limit": float(least)})


S5 = RunRule(
    code="S5",
    title="too few trials to rank",
    severities=("flagged",),
    thresholds=(Threshold("trials", 6, "count", "measured trials below which a case is not ranked"),),
    meaning=(
        "With so few repetitions chance alone can put either server first; the intervals are wide and "
        "ranks are left out."
    ),
    remedy="run at least 6 blocks (--blocks 6), 10 where it matters; --quick trades this certainty for time",
    source="benchstat's minimum",
    example="One run a server, as most published comparisons have: nothing tells a difference from noise.",
    check=too_few_trials,
)


def window_short(load: Load, limits: Limits) -> Hit | None:
    """S7. A thousandth is forgiven: timers end a little early or late."""
    if load.duration_ns is None or load.duration_ns >= limits["window"] * 0.999:
        return None
    return Hit(
        "flagged",
        f"{duration(load.duration_ns)} were measured; at least {duration(limits['window'])} are asked for",
        {"measured_ns": float(load.duration_ns), "limit_ns": limits["window"]},
        gravity=-load.duration_ns,
    )


S7 = LoadRule(
    code="S7",
    title="measured for a short time",
    severities=("flagged",),
    thresholds=(Threshold("window", 10e9, "ns", "shortest measured window"),),
    meaning=(
        "Garbage collections, compilations, flushes and timers come at intervals of seconds; a short "
        "window catches some runs of them and misses others."
    ),
    remedy="measure for 10 seconds or more (--duration 10s)",
    source="ours; SPEC and MLPerf ask for minutes",
    example="ab -n 1000 in front of a server that answers 70,000/s: 14 milliseconds of evidence.",
    shared=True,
    check=window_short,
)
