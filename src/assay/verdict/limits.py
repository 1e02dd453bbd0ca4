"""Limits of one load, each told apart: kept, broken, or not to be told. Pure.

Requests of one load depend on each other, so an interval over requests would be far too narrow. Of errors
and throughput it is over windows. Of times, slow answers are taken to come in bursts: of a closed loop as
many at once as there are places for requests, of an open loop as many as come due within the longest time;
but never more than lie beyond the percentile. A sample of n requests then tells as much as n / burst.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import structs

from assay.core.units import count
from assay.model.design import LoadDesign
from assay.model.estimate import Estimate
from assay.model.finding import Finding
from assay.model.measurement import Histogram, Measurement, Window
from assay.model.plan import Closed, LoadPlan
from assay.model.run import Run
from assay.stats import kept_per_s, mean, requests_needed
from assay.stats.estimates import Held, as_one, check_limit, t_quantile
from assay.stats.quantiles import by_rank
from assay.verdict.effects import Figures, bounded, void_by, words_of
from assay.verdict.objective import ObjectiveLimit, figure_of, limits_of, without_connection

_BATCHES = 20
"""Windows are put together to at most so many: those that follow each other depend on each other."""
_FEWEST = 5
"""With fewer windows nothing is known of how they scatter."""
_DEVIATIONS = 1.959964
"""The 97.5 % quantile of a normal distribution, for the interval of a share (Wilson 1927)."""


class LimitResult(msgspec.Struct, frozen=True):
    """How a limit fared. `figure` has its value with its interval, in ns, requests/s or as a share; None
    where it is not known, and `why` then says why."""

    limit: ObjectiveLimit
    outcome: Held
    figure: Estimate | None
    why: str = ""


def judged_limits(
    limits: Sequence[ObjectiveLimit],
    plan: LoadPlan,
    measured: Measurement,
    findings: Sequence[Finding],
    case: str = "",
) -> tuple[LimitResult, ...]:
    """How each limit of a load fared, by what was measured and by what rules leave of it."""
    return tuple(_judged(limit, plan, measured, findings, case) for limit in limits)


def limits_of_run(run: Run) -> tuple[LimitResult, ...]:
    """The same of a stored load, if it was held to any."""
    design = run.header.design
    if not isinstance(design, LoadDesign) or not design.limits:
        return ()
    [trial] = run.trials
    findings = run.judgement.findings if run.judgement else ()
    assert trial.measurement is not None  # a load that has none is not kept
    return judged_limits(limits_of(design.limits), trial.plan, trial.measurement, findings, trial.case)


def outcome_of(results: Iterable[LimitResult], *, unsure_fails: bool) -> Held:
    """The gravest of all; what cannot be told weighs nothing unless it is to fail."""
    outcomes = {one.outcome for one in results}
    if "broken" in outcomes:
        return "broken"
    return "could not tell" if unsure_fails and "could not tell" in outcomes else "kept"


def _judged(
    limit: ObjectiveLimit, plan: LoadPlan, measured: Measurement, findings: Sequence[Finding], case: str
) -> LimitResult:
    if limit.request:
        one = next((one for one in measured.by_request if one.name == limit.request), None)
        if one is None:
            return LimitResult(limit, "could not tell", None, "no request of a mix has that name")
        measured = structs.replace(
            measured, completed=one.completed, failed=one.failed, missed_starts=0, windows=(),
            service_time=one.service_time, response_time=one.response_time,
        )  # fmt: skip
    figures: Figures = "throughput" if limit.figure == "throughput" else "times"
    if limit.figure == "errors":
        found, why = _errors(plan, measured), "no request ended"
        return LimitResult(limit, _outcome(found, limit), found, "" if found else why)
    if void := void_by(findings, case, figures):
        return LimitResult(limit, "could not tell", None, f"the {figures} are invalid: {', '.join(void)}")
    if limit.figure == "throughput":
        found, why = _throughput(plan, measured), "measured for too short a time"
    else:
        times = measured.response_time or measured.service_time
        needed = f" of {count(requests_needed(limit.quantile))}" if limit.quantile else ""
        why = f"too few right answers: {count(times.count)}{needed}"
        found = _time(limit, plan, measured, times)
    if found is None:
        return LimitResult(limit, "could not tell", None, why)
    left = bounded(findings, case, figures)
    low, high = left.ends(found.low, found.high)
    found = structs.replace(found, low=low, high=high)
    return LimitResult(
        limit, _outcome(found, limit), found, words_of(left.limits) or _missed(limit, measured)
    )


def _outcome(found: Estimate | None, limit: ObjectiveLimit) -> Held:
    return check_limit(found, limit.edge, more_is_better=limit.figure == "throughput")


def _errors(plan: LoadPlan, measured: Measurement) -> Estimate | None:
    """The share of requests that failed or could not be started. Failures come together: windows tell how
    much (the design effect of a ratio, Kish 1965)."""
    windows = [one for one in _measured(measured) if one.completed + one.failed]
    failed = measured.failed + measured.missed_starts
    whole = measured.completed + failed
    if not whole:
        return None
    share = failed / whole
    together = min(_burst(plan, measured.service_time), max(1.0, failed))
    if len(windows) >= _FEWEST and 0 < share < 1:
        seen = sum(one.completed + one.failed for one in windows)
        alone = sum(one.failed for one in windows) / seen
        apart = sum((one.failed - alone * (one.completed + one.failed)) ** 2 for one in windows)
        together = max(1.0, apart * len(windows) / (len(windows) - 1) / (share * (1 - share) * seen))
    low, high = _interval(share, max(1.0, whole / together))
    return _estimate(share, low, high, max(2, len(windows)), "share")


def _throughput(plan: LoadPlan, measured: Measurement) -> Estimate | None:
    """The rate over all of the time, with a t interval over batches of windows."""
    value = kept_per_s(plan, measured)
    windows = [one for one in _measured(measured) if one.length_ns >= plan.window_ns]
    if value is None or len(windows) < _FEWEST:
        return None
    size = math.ceil(len(windows) / _BATCHES)
    batches = (windows[first : first + size] for first in range(0, len(windows), size))
    whole = [as_one(batch, sum(one.length_ns for one in batch)) for batch in batches]
    rates = [one.completed / (one.length_ns / 1e9) for one in whole]
    found = mean(rates, "req/s")
    if found is None or found.high is None:
        return None
    half = found.high - found.value
    return _estimate(value, max(0.0, value - half), value + half, found.n, "req/s")


def _time(limit: ObjectiveLimit, plan: LoadPlan, measured: Measurement, times: Histogram) -> Estimate | None:
    """A percentile with the times at the ends of the interval of its rank, the mean, or the longest time.

    Requests that found no free connection have no time, and had they one, it would be long: where they are
    more than lie beyond the figure, nothing bounds it from above.
    """
    value, p = figure_of(limit, measured, times), limit.quantile
    if value is None:
        return None
    burst, missed = _burst(plan, times), bool(_missed(limit, measured))
    if limit.figure == "max":
        return _estimate(value, value, None if missed else value, times.count, "ns")
    if p is None:
        alone = times.count / burst
        if alone < 2:
            return None
        half = t_quantile(int(alone) - 1) * times.stdev_ns / math.sqrt(alone)
        return _estimate(value, value - half, None if missed else value + half, times.count, "ns")
    beyond = max(1.0, times.count * min(p, 1 - p))
    low, high = _interval(p, times.count / min(burst, beyond))
    at_rank = by_rank(times)
    most = None if missed else at_rank(min(times.count, math.ceil(high * times.count)))
    return _estimate(value, at_rank(math.floor(low * times.count)), most, times.count, "ns")


def _missed(limit: ObjectiveLimit, measured: Measurement) -> str:
    """Why nothing bounds a time from above, where nothing does."""
    beyond = {"throughput": 1.0, "errors": 1.0, "max": 0.0, "mean": 0.0}.get(limit.figure)
    beyond = 1 - (limit.quantile or 0.0) if beyond is None else beyond
    return without_connection(measured, beyond)


def _burst(plan: LoadPlan, times: Histogram) -> float:
    """How many requests one standstill of the server may delay together."""
    if isinstance(plan.load, Closed):
        return float(plan.load.connections * plan.streams * plan.pipeline)
    rate = max(max(stage.from_per_s, stage.to_per_s) for stage in plan.load.stages)
    return max(1.0, rate * times.max_ns / 1e9)


def _interval(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share seen in n independent cases."""
    z = _DEVIATIONS
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def _measured(measured: Measurement) -> list[Window]:
    return [one for one in measured.windows if one.phase == "measured"]


def _estimate(value: float, low: float, high: float | None, n: int, unit: str) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=n, unit=unit, method="one load")
