"""S: enough, and steady enough, to be worth a number."""

from __future__ import annotations

from assay.stats import requests_needed
from assay.stats.steady import FEWEST_WINDOWS, steady_state
from assay.values.trial import WarmUpSeen
from assay.verdict.rule import Hit, Limits, LoadRule, Threshold
from assay.verdict.seen import Load
from assay.verdict.words import counted, duration, percent


def too_few_requests(load: Load, limits: Limits) -> Hit | None:
    """S1: the percentiles are left out where they are computed; this says so."""
    times = load.service_time if load.closed else load.response_time or load.service_time
    if times is None:
        return None
    missing = [(name, requests_needed(p)) for name, p in _SHOWN if times.count < requests_needed(p)]
    if not missing:
        return None
    names = " and ".join(f"{name} (needs {needed:,})" for name, needed in missing)
    return Hit(
        "note",
        f"{counted(times.count, 'request')}: no {names}",
        {"requests": float(times.count)},
        gravity=-times.count,
    )


_SHOWN = (("p90", 0.9), ("p99", 0.99))

S1 = LoadRule(
    code="S1",
    title="too few requests for a percentile",
    severities=("note",),
    meaning="With so few requests even the slowest may lie below that percentile, so it is not printed.",
    remedy="measure for longer; p90 needs 44 requests, p99 459, p99.9 4,603, p99.99 46,050",
    source="MLPerf's early stopping (one-sided binomial, 99 %)",
    example="ab -n 100 prints a 99 % line: it is the slowest but one of a hundred.",
    shared=True,
    check=too_few_requests,
)


def unsteady(load: Load, limits: Limits) -> Hit | None:
    """S2, closed loops: an open loop's throughput is its schedule."""
    if not load.closed or len(load.windows) < FEWEST_WINDOWS:
        return None
    state = steady_state(load.windows)
    if not state.window_ns:
        return None  # windows of a last, partial second
    figures = {"halves_difference": state.halves_difference, "quartile_drift": state.quartile_drift}
    at_bound = load.warm_up is not None and load.warm_up.bound_ns > 0 and not load.warm_up.steady
    bound = "; the warm-up had reached its bound" if at_bound else ""
    if not state.steady:
        return Hit(
            "flagged", f"no steady state: {state.reason}{bound}", figures, gravity=1 + state.halves_difference
        )
    begin = load.windows[0].start_ns
    if state.from_ns <= begin or load.rate_per_s is None:
        return _bound_reached(load.warm_up, figures) if at_bound and load.warm_up else None
    off = abs(load.rate_per_s - state.level_per_s) / state.level_per_s if state.level_per_s else 0.0
    evidence = (
        f"the first {duration(state.from_ns - begin)} were still warm-up: {percent(off)} of the mean{bound}"
    )
    grave = off > limits["included"]
    return Hit("flagged" if grave else "note", evidence, figures | {"moved": off}, gravity=off)


def _bound_reached(warm_up: WarmUpSeen, figures: dict[str, float]) -> Hit:
    """What was measured is steady, so this is a note; but nobody has seen the warm-up end."""
    return Hit(
        "note",
        f"the warm-up was ended at its bound of {duration(warm_up.bound_ns)} ({warm_up.reason}); what was "
        "measured after it is steady",
        figures,
    )


S2 = LoadRule(
    code="S2",
    title="no steady state",
    severities=("flagged", "note"),
    thresholds=(
        Threshold("included", 0.05, "share", "what warm-up within the measured time may do to the mean"),
    ),
    meaning=(
        "Throughput was still changing while it was measured, so the figure depends on when one looked: a"
        " mixture of warm-up, or of states that the server moves between."
    ),
    remedy="allow a longer warm-up, measure for longer, or look at the throughput over time for what changes",
    source="Barrett et al., OOPSLA'17 (changepoints); pyperf (halves, quartiles)",
    example="A JVM that compiles its hot path six seconds into a run of ten.",
    passing=True,
    exempt=frozenset({"ceiling"}),
    check=unsteady,
)


def window_short(load: Load, limits: Limits) -> Hit | None:
    """S7. A thousandth is forgiven: timers end a little early or late.

    The many short trials of a search are one measurement.
    """
    if load.of_a_search or load.duration_ns is None or load.duration_ns >= limits["window"] * 0.999:
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
    remedy="measure for 10 seconds or more",
    source="ours; SPEC and MLPerf ask for minutes",
    example="ab -n 1000 in front of a server that answers 70,000/s: 14 milliseconds of evidence.",
    shared=True,
    exempt=frozenset({"ceiling"}),
    check=window_short,
)
