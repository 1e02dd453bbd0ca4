"""The rates of a study's open loops, from what the closed loops have shown so far. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.capacity.objective import parse
from assay.capacity.plans import at_rate, plan_at
from assay.design.due import Due
from assay.errors import InputError, ServerFailed
from assay.stats import rate_per_s
from assay.values.design import WarmUp
from assay.values.measurement import Measurement
from assay.values.run import Run
from assay.values.trial import Case, OfCapacity, Search, Trial
from assay.verdict.search import answer_in_study


def settled(due: Due, case: Case, run: Run) -> Due:
    """The trial with its rate filled in; itself where its load does not depend on others.

    A share of a server's own capacity is taken of that block's closed loop, so that a machine that drifts
    does not change how hard the server has to work; the common rate is settled once, by the first block.
    It is warmed for as long as the closed loop was: an open loop's throughput does not tell when a server
    is warm. ServerFailed where the capacity was not measured.
    """
    if case.search is not None:
        return _at_next_rate(due, case, case.search, run)
    if case.rate is not None:
        return _at_share(due, case.rate, run.trials)
    return due


def _at_share(due: Due, rate: OfCapacity, trials: Sequence[Trial]) -> Due:
    """The trial at a share of one case's throughput, or of the slowest of several."""
    if not rate.common:
        own = _latest(rate.cases[0], due.slot.block, trials)
        if own is None:
            raise ServerFailed("load", "its capacity was not measured, so there is no rate to offer")
        seen = [own]
    else:
        seen = [first for case in rate.cases if (first := _first(case, trials)) is not None]
        if not seen:
            raise ServerFailed("load", "no server's capacity was measured, so there is no common rate")
    per_s = rate.share * min(map(rate_per_s, seen))
    if per_s <= 0:
        raise ServerFailed("load", "its closed loop answered nothing, so there is no rate to offer")
    warm_up_ns = max(one.warmup_ns for one in seen)
    return replace(due, plan=at_rate(due.plan, per_s), warm_up=WarmUp(min_ns=warm_up_ns, max_ns=warm_up_ns))


def _at_next_rate(due: Due, case: Case, search: Search, run: Run) -> Due:
    """The trial at the next rate of a search, which goes on from block to block."""
    seen = _latest(search.case, due.slot.block, run.trials)
    try:
        now = answer_in_study(case, run.trials, run.header.environment)
    except InputError as problem:
        raise ServerFailed("load", problem.message) from problem
    per_s = now.search.ask() if now is not None else None
    if seen is None or per_s is None:
        raise ServerFailed("load", "its closed loop was not measured, so there is no range to search")
    plan = plan_at(due.plan, parse(search.objective), per_s, search.measure_ns)
    return replace(due, plan=plan, warm_up=WarmUp(min_ns=seen.warmup_ns, max_ns=seen.warmup_ns))


def _latest(case: str, block: int, trials: Sequence[Trial]) -> Measurement | None:
    """Of this block, or else of the last one before it that was measured."""
    seen = [(trial.block, trial.measurement) for trial in trials if trial.case == case]
    known = [(at, measured) for at, measured in seen if measured is not None and at <= block]
    return max(known, key=lambda pair: pair[0])[1] if known else None


def _first(case: str, trials: Sequence[Trial]) -> Measurement | None:
    known = [(t.block, t.measurement) for t in trials if t.case == case and t.measurement is not None]
    return min(known, key=lambda pair: pair[0])[1] if known else None
