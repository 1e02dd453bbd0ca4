"""The trials of a run in their order, at which rate, and which of a block are interleaved. Pure.

The order is that of randomised complete blocks, from a recorded seed.

Servers can be interleaved where they are asked the same in the same way: closed loops of one workload and
load, for one time. What is left of a block (open loops, whose arrivals do not wait for a slice; searches,
each at a rate of its own; a load over an emulated network; a null server that is measured for less) is tried
one after the other, as without blocks.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from assay.core.errors import InputError, ServerFailed
from assay.model.block import Interleaving, Lengths
from assay.model.design import WarmUp
from assay.model.plan import Closed, LoadPlan, StopAfter
from assay.model.run import Run
from assay.model.trial import Case, Failure, OfCapacity, Search, Trial
from assay.plan.next.lengths import lengths_now
from assay.stats import rate_per_s
from assay.verdict.objective import parse
from assay.verdict.search import answer_in_study, at_rate, plan_at


class Slot(msgspec.Struct, frozen=True):
    """A trial to be: its number in the run, its block, its place in the block, its case."""

    number: int
    block: int
    position: int
    case: str


def order(
    cases: Sequence[str],
    blocks: int,
    seed: int,
    only: Mapping[str, Collection[int]] | None = None,
    later: Mapping[str, int] | None = None,
) -> tuple[Slot, ...]:
    """Every case once in each block, in an order drawn anew for each block.

    `only` names the blocks of cases that are not in all of them. Those `later` need what the others of
    the block have shown, and follow them in an order of their own, each as often as is said there.
    The same seed gives the same order: a run that was cut off goes on where it was.
    """
    slots: list[Slot] = []
    later = later or {}
    for block in range(blocks):
        # A generator a block: the order of a block does not depend on how many come before it.
        shuffled = [case for case in cases if only is None or block in only.get(case, (block,))]
        drawn = random.Random(f"{seed}/{block}")
        first = [case for case in shuffled if case not in later]
        second = [case for case in shuffled for _ in range(later.get(case, 0))]
        drawn.shuffle(first)
        drawn.shuffle(second)
        slots += [Slot(len(slots) + place, block, place, case) for place, case in enumerate(first + second)]
    return tuple(slots)


def remaining(slots: Sequence[Slot], done: Iterable[tuple[str, int]]) -> tuple[Slot, ...]:
    """The slots that are left after the trials `done`, each a (case, block): the first are taken first."""
    taken = Counter(done)
    left = []
    for slot in slots:
        place = (slot.case, slot.block)
        if taken[place]:
            taken[place] -= 1
        else:
            left.append(slot)
    return tuple(left)


FAILURES_UNMEASURED = 2
"""A case that failed so often without one measured trial is not tried again."""
FAILURES_IN_A_ROW = 3
"""One that was measured before may have had bad luck: it is not tried again after so many in a row."""


class Warming(msgspec.Struct, frozen=True):
    """The closed loop that warms a server up for an open one, whose throughput does not tell when it is."""

    plan: LoadPlan
    rule: WarmUp


class Due(msgspec.Struct, frozen=True):
    """The trial to run now, with nothing left to settle: its load and its warm-up, `warming` before that.

    Where there is a `failure` it need not be tried: why it cannot be measured is known beforehand. Behind
    an interleaved block a load that `follows` from a closed loop, the case named, is offered to that case's
    server where it stands, which is warm already.
    """

    slot: Slot
    plan: LoadPlan
    warm_up: WarmUp
    failure: Failure | None = None
    warming: Warming | None = None
    follows: str = ""


def given_up(trials: Sequence[Trial], case: str, *, death_is_answer: bool = False) -> Failure | None:
    """Why a case is not tried again, if it is not: the one rule for every kind of run.

    To a search the death of the server under load is an answer (`death_is_answer`), not a failure.
    """
    tried = [trial.failure for trial in trials if trial.case == case]
    failed = [one for one in tried if one is not None and not (death_is_answer and one.stage == "load")]
    if not failed:
        return None
    most = FAILURES_UNMEASURED if len(failed) == len(tried) else FAILURES_IN_A_ROW
    last = tried[-most:]
    return failed[-1] if len(last) == most and all(one in failed for one in last) else None


def bounded(plan: LoadPlan, warm_up: WarmUp) -> LoadPlan:
    """The plan with the engine's own bound on that warm-up."""
    return msgspec.structs.replace(plan, warmup_max_ns=warm_up.engine_bound_ns)


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


_SEEDS = 2**64
"""As many does the engine tell apart; a run's own seed may be any number."""


class DueBlock(msgspec.Struct, frozen=True):
    """The block to have now: its number, its arms, and how long their slices are.

    `lengths` None: this is the first, and it has to find them. `names` are those that a reader knows its
    cases by, within the block; `compared` are those whose ratios are asked for.
    """

    number: int
    block: int
    seed: int
    interleave: Interleaving
    arms: tuple[Due, ...]
    lengths: Lengths | None
    names: Mapping[str, str]
    compared: frozenset[str] = frozenset()


def is_interleavable(case: Case, plan: LoadPlan) -> bool:
    """Whether a load of this kind can be interleaved.

    Over an emulated network it cannot: while a connection rests its sender forgets what the way carries and
    begins slowly anew, and a slice holds few round trips.
    """
    offered = isinstance(plan.load, Closed) and isinstance(plan.stop, StopAfter)
    return offered and case.emulation is None


def block_of(run: Run, dues: Sequence[Due]) -> DueBlock | None:
    """The interleaved block of the first of `dues` (trials that are left of one block) with all others that
    can be interleaved with it; None where it is to be tried alone."""
    interleave = run.header.design.interleave
    if interleave is None or not dues:
        return None
    cases = {case.id: case for case in run.header.cases}
    first = dues[0]
    group = _group(first, cases)
    arms = tuple(due for due in dues if due.slot.block == first.slot.block and _group(due, cases) == group)
    if group is None or len(arms) < 2:
        return None
    sat = [block for block in run.blocks if _same_cases(block.trials[0].case, arms[0], cases)]
    number = len(run.blocks)
    seed = (run.header.design.seed * 1_000_003 + number) % _SEEDS
    names = {due.slot.case: _name(cases[due.slot.case]) for due in arms}
    lengths = lengths_now(interleave, sat, names)
    compared = frozenset(case for case in names if cases[case].role in ("candidate", "control"))
    return DueBlock(number, first.slot.block, seed, interleave, arms, lengths, names, compared)


def _name(case: Case) -> str:
    """What tells it from others that are asked the same."""
    return case.label or case.server_name


def _group(due: Due, cases: dict[str, Case]) -> tuple[object, ...] | None:
    """What arms of one block have in common; None for a trial that is not interleaved."""
    case, plan = cases[due.slot.case], due.plan
    if due.failure is not None or case.dependent or not is_interleavable(case, plan):
        return None
    return (case.workload, case.load, plan.stop, plan.threads)


def _same_cases(sat: str, due: Due, cases: dict[str, Case]) -> bool:
    one, other = cases[sat], cases[due.slot.case]
    return (one.workload, one.load) == (other.workload, other.load)
