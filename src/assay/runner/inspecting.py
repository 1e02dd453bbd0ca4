"""A server inspected after its measured load, in short loads that enter no figure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec

from assay.core import urls
from assay.core.errors import AssayError
from assay.engine.generator import GoingLoad
from assay.model.costs import Costs, CountedCosts, Inspection
from assay.model.interleaving import Slice
from assay.model.plan import LoadPlan, StopAfter
from assay.model.trial import Trial
from assay.runner.bench import Bench, Running
from assay.servers.cost_counting import Inspects
from assay.servers.counters import Counters
from assay.servers.inspection import STEPS, Inspector, Step
from assay.servers.sampler import with_descendants

_Start = Callable[[LoadPlan], GoingLoad]

_SETTLE_S = 0.1
_STEP_S: dict[Step, float] = {"counts": 0.4, "calls": 0.2, "stacks": 1.0}
_ALONE_S = 1.0
_LEAST_ANSWERS = 100
_MOST_STEP_S = 3.0
_PHASE_NS = 60_000_000_000
_SAMPLED_CALLS = 4_000
"""About so many system calls are taken by name."""
_BLOCKS, _BLOCKS_WITH_STACKS = 6, 2
"""In so many blocks servers are inspected: an interval needs some, and more cost time."""


def costs_in(counted: CountedCosts | None, trial: Trial) -> Costs | None:
    """What was counted of a measured trial, with the answers that it was counted over."""
    if counted is None or trial.measurement is None:
        return None
    measured = trial.measurement
    answers, length_ns = measured.completed, measured.measured_ns
    if trial.arm is not None:
        answers, length_ns = _in_slices(trial.arm.slices, counted.lengths_ns)
    all_of_it = max(1, measured.completed)
    return Costs(
        answers=answers,
        length_ns=length_ns,
        counters=counted.counters,
        lower_bounds=counted.lower_bounds,
        services_ns={
            one.name: round(one.cpu_ns * answers / all_of_it)
            for one in trial.services
            if one.cpu_ns is not None
        },
        missing=counted.missing,
    )


def _in_slices(slices: Iterable[Slice], lengths_ns: Mapping[int, int]) -> tuple[int, int]:
    """The answers and the time that were counted; of a slice whose first reading was late, the rest of it."""
    answers, length_ns = 0.0, 0
    for one in slices:
        seen_ns = min(lengths_ns.get(one.number, 0), one.length_ns)
        if seen_ns > 0:
            answers += one.completed * seen_ns / one.length_ns
            length_ns += seen_ns
    return round(answers), length_ns


def costs_alone(start: _Start, plan: LoadPlan, pids: Collection[int]) -> Costs:
    """What an answer costs processes that somebody else runs, in loads of their own."""
    url = urls.parse(plan.url)

    def processes() -> Collection[int]:
        return with_descendants(pids)

    counters = Counters(processes, port=url.port or urls.PORTS[url.scheme])
    load = start(_open_ended(plan))
    try:
        load.wait(_SETTLE_S)
        counters.begins()
        load.begin_measuring()
        _offer(load, _ALONE_S)
        counters.ends()
    finally:
        _end(load)
    counted, measured = counters.counted(), load.result()
    return Costs(
        answers=measured.completed,
        length_ns=measured.measured_ns,
        counters=counted.counters,
        lower_bounds=counted.lower_bounds,
        missing=counted.missing,
        inspection=inspected(start, plan, Inspector(processes), STEPS),
    )


def _open_ended(plan: LoadPlan) -> LoadPlan:
    """The plan, whose phases are ended from outside."""
    return msgspec.structs.replace(plan, stop=StopAfter(ns=_PHASE_NS), warmup_max_ns=_PHASE_NS)


def _end(load: GoingLoad) -> None:
    load.stop()
    while not load.wait(_SETTLE_S):
        pass


def explained(trial: Trial, running: Running, bench: Bench) -> Trial:
    """The trial with what an inspection of its server shows, where that is asked for and due."""
    costs = trial.costs
    if costs is None or trial.measurement is None or trial.block >= _BLOCKS:
        return trial
    inspector = bench.where.site.inspector(running)
    steps = STEPS if trial.block < _BLOCKS_WITH_STACKS else STEPS[:2]
    try:
        seen = inspected(lambda plan: bench.where.generator.start(plan), trial.plan, inspector, steps)
    except AssayError as problem:
        seen = Inspection(missing=(f"its server was not inspected: {problem.message}",))
    finally:
        inspector.close()
    return msgspec.structs.replace(trial, costs=msgspec.structs.replace(costs, inspection=seen))


def inspected(start: _Start, plan: LoadPlan, inspector: Inspects, steps: Iterable[Step]) -> Inspection:
    """What is seen of a server in a load of its own for each step."""
    found = Inspection()
    for step in steps:
        period = max(1, found.counters.get("system_calls", 0) // _SAMPLED_CALLS) if step == "calls" else 1
        load = start(_open_ended(plan))
        try:
            load.wait(_SETTLE_S)
            inspector.begins(step, period)
            load.begin_measuring()
            _offer(load, _STEP_S[step])
            seen = inspector.ends()
        finally:
            _end(load)
        found = _joined(found, seen, load.result().completed if step == "counts" else 0)
    return found


def _offer(load: GoingLoad, length_s: float) -> None:
    """Wait for so long, and where few answers came, for more."""
    waited_s = 0.0
    while not load.wait(length_s):
        waited_s += length_s
        if load.snapshot().completed >= _LEAST_ANSWERS or waited_s >= _MOST_STEP_S:
            return


def _joined(before: Inspection, now: Inspection, answers: int) -> Inspection:
    return Inspection(
        answers=before.answers or answers,
        counters=before.counters or now.counters,
        calls=before.calls or now.calls,
        call_period=max(before.call_period, now.call_period),
        stacks=before.stacks or now.stacks,
        missing=tuple(dict.fromkeys((*before.missing, *now.missing))),
    )
