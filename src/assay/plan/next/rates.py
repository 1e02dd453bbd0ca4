"""The rates of a study's open loops, from what the closed loops have shown so far. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay.core.errors import InputError, ServerFailed
from assay.model.design import WarmUp
from assay.model.plan import LoadPlan
from assay.model.run import Run
from assay.model.trial import Case, OfCapacity, Search, Trial
from assay.plan.next.schedule import Due, Warming, bounded
from assay.stats import rate_per_s
from assay.verdict.objective import parse
from assay.verdict.search import answer_in_study
from assay.verdict.search_range import at_rate, plan_at


def settled(due: Due, case: Case, run: Run) -> Due:
    """The trial with its rate filled in; itself where its load does not depend on others.

    A share of a server's own capacity is taken of that block's closed loop, so that a machine that drifts
    does not change how hard the server has to work; the common rate is settled once, by the first block.
    The server is warmed by its closed loop first, until that is steady: an open loop's throughput does not
    tell when a server is warm, and a JVM that is asked for less than it can do takes longer to get there than
    any trial lasts. ServerFailed where the capacity was not measured.
    """
    if case.search is not None:
        return _at_next_rate(due, case, case.search, run)
    if case.rate is not None:
        return _at_share(due, case, case.rate, run)
    return due


def closed_loop_of(case: Case, cases: Iterable[Case]) -> str:
    """The closed loop of the same server, from which its load follows; empty where it follows from none."""
    if case.search is not None:
        return case.search.case
    if case.rate is None:
        return ""
    own = {one.id for one in cases if one.server_name == case.server_name}
    return next((one for one in case.rate.cases if one in own), case.rate.cases[0])


def _at_share(due: Due, case: Case, rate: OfCapacity, run: Run) -> Due:
    """The trial at a share of one case's throughput, or of the slowest of several."""
    trials = run.trials
    if not rate.common:
        own = _latest(rate.cases[0], due.slot.block, trials)
        if own is None:
            raise ServerFailed("load", "its capacity was not measured, so there is no rate to offer")
        seen = [own]
    else:
        seen = [first for case in rate.cases if (first := _first(case, trials)) is not None]
        if not seen:
            raise ServerFailed("load", "no server's capacity was measured, so there is no common rate")
    per_s = rate.share * min(rate_per_s(one.measurement) for one in seen if one.measurement)
    if per_s <= 0:
        raise ServerFailed("load", "its closed loop answered nothing, so there is no rate to offer")
    return _warmed(due, at_rate(due.plan, per_s), run, closed_loop_of(case, run.header.cases))


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
    return _warmed(due, plan, run, search.case)


def _warmed(due: Due, plan: LoadPlan, run: Run, closed: str) -> Due:
    """The trial with that plan, after that closed loop; its own warm-up is the least, in which the queues of
    the closed loop are gone."""
    whole = run.header.design.warm_ups[closed]
    warming = Warming(bounded(run.header.design.plans[closed], whole), whole) if whole.max_ns else None
    own = WarmUp(min_ns=whole.min_ns, max_ns=whole.min_ns)
    follows = closed if run.header.design.interleave is not None else ""
    return replace(due, plan=bounded(plan, own), warm_up=own, warming=warming, follows=follows)


def _latest(case: str, block: int, trials: Sequence[Trial]) -> Trial | None:
    """The measured one of this block, or else of the last one before it."""
    known = [one for one in _measured(case, trials) if one.block <= block]
    return max(known, key=lambda one: one.block, default=None)


def _first(case: str, trials: Sequence[Trial]) -> Trial | None:
    return min(_measured(case, trials), key=lambda one: one.block, default=None)


def _measured(case: str, trials: Sequence[Trial]) -> list[Trial]:
    return [one for one in trials if one.case == case and one.measurement is not None]
