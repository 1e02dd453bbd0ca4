"""S: enough, and steady enough, to be worth a number."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from msgspec import structs
from msgspec.structs import replace

from assay.core.units import counted
from assay.core.units import share as percent
from assay.core.units import time as duration
from assay.stats import requests_needed
from assay.stats.ageing import FEWEST_AGES, FEWEST_TRIALS, Ageing, ageing
from assay.stats.estimates import as_one
from assay.stats.steady import FEWEST_WINDOWS, SteadyState, steady_state
from assay.verdict.load import Load
from assay.verdict.rule import Effects, Hit, LoadRule, Threshold, Thresholds, TrialsRule


def too_few_requests(load: Load, thresholds: Thresholds) -> Hit | None:
    """S1: the percentiles are left out where they are computed; this says so."""
    times = load.service if load.closed else load.response or load.service
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


def unsteady(loads: Sequence[Load], thresholds: Thresholds) -> Hit | None:
    """S2, closed loops: an open loop's throughput is its schedule.

    What the trials share by age is the server's, what one does alone the machine's.
    """
    closed = [_in_windows(load) for load in loads if load.closed]
    found = _common_course(closed)
    hit = _shared(found, thresholds["included"]) if found is not None and found.shared else None
    if hit is not None:
        watched = _watched(closed)
        at_bound = sum(map(_at_bound, watched)) * 2 > len(watched)
        bound = "; the warm-up had reached its bound in most trials" if at_bound else ""
        return structs.replace(hit, evidence=hit.evidence + bound)
    alone = [(load, state) for load in closed if (state := steady_state(load.windows)).window_ns]
    odd = [state for load, state in alone if not state.steady or state.from_ns > load.windows[0].start_ns]
    if odd:
        said = _alone(odd, len(alone), compared=found is not None)
        return _bounds_reached(closed, said.evidence) or said
    if found is not None or alone:
        return _bounds_reached(closed, "what was measured after it is steady")
    few = _too_few(closed)
    return _bounds_reached(closed, few.evidence if few else "what was measured after it is too short") or few


def _in_windows(load: Load) -> Load:
    """The load with several short slices in a window, as the thresholds are those of windows; as long as so
    many are left that a course can be judged."""
    length_ns = load.windows[0].length_ns if load.windows else 0
    size = min(math.ceil(_WINDOW_NS / length_ns), len(load.windows) // FEWEST_AGES) if length_ns else 0
    if load.washout_ns is None or size < 2:
        return load
    begins = range(0, len(load.windows) - size + 1, size)
    return replace(
        load,
        windows=tuple(
            as_one(slices, sum(one.length_ns for one in slices))
            for slices in (load.windows[at : at + size] for at in begins)
        ),
        beside=tuple(statistics.fmean(load.beside[at : at + size]) for at in begins) if load.beside else (),
    )


_WINDOW_NS = 100_000_000
"""As long as the windows of trials and the usual slices, for which the thresholds are made."""


def _common_course(loads: Sequence[Load]) -> Ageing | None:
    """What the trials share; those with few windows take part only where too few have enough."""
    whole = [load for load in loads if len(load.windows) >= FEWEST_WINDOWS]
    if len(whole) < FEWEST_TRIALS:
        whole = [load for load in loads if len(load.windows) >= FEWEST_AGES]
    beside = [load.beside for load in whole]
    return ageing([load.windows for load in whole], beside if all(beside) else ())


def _shared(found: Ageing, included: float) -> Hit | None:
    """What all trials do at the same age."""
    state, added = found.state, found.added
    if state.steady and not state.from_ns:
        return None
    figures = {"halves_difference": state.halves_difference, "added": added}
    if state.steady:
        evidence = f"the first {duration(state.from_ns)} of each trial were still warm-up"
    else:
        evidence = f"no steady state: over the age that {found.trials} trials share, {state.reason}"
    if abs(added) >= _LEVEL:
        side = "more" if added > 0 else "less"
        evidence += f"; at the end it served {percent(abs(added))} {side} than on the mean"
    if found.alike:
        evidence += "; the servers beside it did alike at the same time, so it is not this one's alone"
    if found.alike or (state.steady and abs(added) <= included):
        return Hit("note", evidence, figures)
    if abs(added) < _LEVEL:
        return Hit("warning", evidence, figures, effects=_SWINGING)
    return Hit("warning", evidence, figures, effects=_RISING if added > 0 else _FALLING)


def _alone(odd: Sequence[SteadyState], trials: int, *, compared: bool) -> Hit:
    """What single trials do, each at another age: a matter of the machine, or not to be told from one."""
    why = next((state.reason for state in odd if state.reason), "its level changed early")
    which = f"{len(odd)} of {counted(trials, 'trial')} swing{'s' if len(odd) == 1 else ''} by itself ({why})"
    if compared:
        said = f"{which}; the trials share no such course, so it is not the server's"
    elif trials < FEWEST_TRIALS:
        said = f"{which}; {FEWEST_TRIALS} trials would tell the server from the machine"
    else:
        said = f"{which}; whether the trials share it is not known: their windows are not of one length"
    return Hit("note", said, {"trials": float(len(odd))})


def _too_few(loads: Sequence[Load]) -> Hit | None:
    """Slices in which nobody could look. Of a load that took no slices and is as short, S7 speaks."""
    if not loads or any(load.washout_ns is None for load in loads):
        return None
    if sum(len(load.windows) >= FEWEST_AGES for load in loads) >= FEWEST_TRIALS:
        return Hit("note", "slices of several lengths: whether its level changed with its age is not known")
    most = max(len(load.windows) for load in loads)
    evidence = (
        f"too few slices to tell whether its level still changed: {most} in each of "
        f"{counted(len(loads), 'block')}; it takes {FEWEST_AGES} in {FEWEST_TRIALS}"
    )
    return Hit("note", evidence, {"slices": float(most), "trials": float(len(loads))})


def _bounds_reached(loads: Sequence[Load], after: str) -> Hit | None:
    """Nobody has seen the warm-up end; `after` says what was measured behind it."""
    watched = _watched(loads)
    reached = [load.warm_up for load in watched if load.warm_up is not None and _at_bound(load)]
    if not reached:
        return None
    most, trials = len(reached) * 2 > len(watched) > 1, counted(len(watched), "trial")
    fault = "; that bound is too short for this server" if most else ""
    return Hit(
        "note",
        f"the warm-up was ended at its bound of {duration(reached[0].bound_ns)} in {len(reached)} of "
        f"{trials} ({reached[0].reason}); {after}{fault}",
        {"trials": float(len(reached))},
        remedy="raise the study's warm_up_max_s" if most else "",
    )


def _watched(loads: Sequence[Load]) -> Sequence[Load]:
    """Those whose warm-up was watched as long as the study lets; the others' was as long as those showed."""
    longest_ns = max((load.warm_up.bound_ns if load.warm_up else 0 for load in loads), default=0)
    return [load for load in loads if load.warm_up and load.warm_up.bound_ns == longest_ns]


def _at_bound(load: Load) -> bool:
    return load.warm_up is not None and load.warm_up.bound_ns > 0 and not load.warm_up.steady


_LEVEL = 0.01
"""A course that ends this near to its mean neither rises nor falls."""

_RISING = Effects("at least", because="it was still getting faster", when="rising with age")
_FALLING = Effects("at most", because="it was still getting slower", when="falling with age")
_SWINGING = Effects(when="swinging at the same age in every trial")

S2 = TrialsRule(
    code="S2",
    title="no steady state",
    severities=("warning", "note"),
    effects=(_RISING, _FALLING, _SWINGING),
    thresholds=(
        Threshold("included", 0.05, "share", "what warm-up within the measured time may do to the mean"),
    ),
    meaning=(
        "Throughput was still changing with the server's age while it was measured, so the figure is that of "
        "the age it was looked at: a mixture of warm-up, or of states that the server moves between."
    ),
    remedy="allow a longer warm-up, measure for longer, or look at the throughput over time for what changes",
    source="Barrett et al., OOPSLA'17 (changepoints); pyperf (halves, quartiles); averaged by age: ours",
    example="A JVM that compiles its hot path six seconds into each run of ten.",
    exempt=frozenset({"ceiling"}),
    check=unsteady,
)


def window_short(load: Load, thresholds: Thresholds) -> Hit | None:
    """S7. A thousandth is forgiven: timers end a little early or late.

    The many short trials of a search are one measurement.
    """
    of_a_search = load.of_run is not None and load.of_run.of_a_search
    duration_ns = load.measured.measured_ns
    if of_a_search or load.reached_nothing or duration_ns >= thresholds["window"] * 0.999:
        return None
    measured, asked = duration(duration_ns, exact=True), duration(thresholds["window"], exact=True)
    return Hit(
        "warning",
        f"{measured} were measured; at least {asked} are asked for",
        {"measured_ns": float(duration_ns), "limit_ns": thresholds["window"]},
        gravity=-duration_ns,
    )


S7 = LoadRule(
    code="S7",
    title="measured for a short time",
    severities=("warning",),
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
    of_misses=True,
    check=window_short,
)
