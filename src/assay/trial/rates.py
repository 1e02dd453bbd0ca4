"""The rates of a study's open loops, from what the closed loops have shown so far. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.capacity.objective import parse
from assay.capacity.plans import plan_at
from assay.errors import InputError, ServerFailed
from assay.stats import rate_per_s
from assay.study import ResolvedCase
from assay.study.latency import at_rate
from assay.values.design import WarmUp
from assay.values.measurement import Measurement
from assay.values.plan import Closed
from assay.values.run import Environment
from assay.values.trial import Search, Trial
from assay.verdict.search import answer_in_study


def settled(
    case: ResolvedCase,
    block: int,
    cases: Sequence[ResolvedCase],
    trials: Sequence[Trial],
    environment: Environment,
) -> ResolvedCase | None:
    """The case with its rate filled in; itself where its load does not depend on others; None where it is a
    search that has ended.

    A share of a server's own capacity is taken of that block's closed loop, so that a machine that drifts
    does not change how hard the server has to work; the common rate is settled once, by the first block.
    It is warmed for as long as the closed loop was: an open loop's throughput does not tell when a server
    is warm. ServerFailed where the capacity was not measured.
    """
    if case.case.search is not None:
        return _at_next_rate(case, case.case.search, block, trials, environment)
    rate = case.case.rate
    if rate is None:
        return case
    if rate.case:
        seen = _latest(rate.case, block, trials)
        if seen is None:
            raise ServerFailed("load", "its capacity was not measured, so there is no rate to offer")
        per_s, warm_up_ns = rate.share * rate_per_s(seen), seen.warmup_ns
    else:
        rivals = [one.case.id for one in cases if _is_rival(one, case)]
        first = [seen for rival in rivals if (seen := _first(rival, trials)) is not None]
        if not first:
            raise ServerFailed("load", "no server's capacity was measured, so there is no common rate")
        per_s, warm_up_ns = rate.share * min(map(rate_per_s, first)), max(seen.warmup_ns for seen in first)
    if per_s <= 0:
        raise ServerFailed("load", "its closed loop answered nothing, so there is no rate to offer")
    warm_up = WarmUp(min_ns=warm_up_ns, max_ns=warm_up_ns)
    return replace(case, plan=at_rate(case.plan, per_s), warm_up=warm_up)


def _at_next_rate(
    case: ResolvedCase, search: Search, block: int, trials: Sequence[Trial], environment: Environment
) -> ResolvedCase | None:
    """The next rate of a search, which goes on from block to block."""
    seen = _latest(search.case, block, trials)
    try:
        now = answer_in_study(case.case, trials, environment)
    except InputError as problem:
        raise ServerFailed("load", problem.message) from problem
    if seen is None or now is None:
        raise ServerFailed("load", "its closed loop was not measured, so there is no range to search")
    per_s = now.search.ask()
    if per_s is None:
        return None
    plan = plan_at(case.plan, parse(search.objective), per_s, search.measure_ns)
    return replace(case, plan=plan, warm_up=WarmUp(min_ns=seen.warmup_ns, max_ns=seen.warmup_ns))


def _is_rival(one: ResolvedCase, case: ResolvedCase) -> bool:
    """A candidate's closed loop of the same workload that the open loop stands on."""
    closed = isinstance(one.plan.load, Closed) and one.case.role == "candidate"
    return (
        closed
        and one.case.workload == case.case.workload
        and case.case.load.rpartition(",")[0] == one.case.load
    )


def _latest(case: str, block: int, trials: Sequence[Trial]) -> Measurement | None:
    """Of this block, or else of the last one before it that was measured."""
    seen = [(trial.block, trial.measurement) for trial in trials if trial.case == case]
    known = [(at, measured) for at, measured in seen if measured is not None and at <= block]
    return max(known, key=lambda pair: pair[0])[1] if known else None


def _first(case: str, trials: Sequence[Trial]) -> Measurement | None:
    known = [(t.block, t.measurement) for t in trials if t.case == case and t.measurement is not None]
    return min(known, key=lambda pair: pair[0])[1] if known else None
