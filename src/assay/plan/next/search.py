"""What a search for a capacity does next: a trial at the rate that decides most, or the end."""

from __future__ import annotations

from assay.model.design import SearchDesign
from assay.model.plan import StopAfter
from assay.model.run import Run
from assay.model.trial import Trial
from assay.plan.next.due import Due, given_up
from assay.plan.next.schedule import Slot
from assay.verdict.objective import parse
from assay.verdict.search import answer_of
from assay.verdict.search_range import plan_at


def next_trial(run: Run) -> Due | None:
    """A trial at the rate that the search asks for, while there is budget and the server can be had."""
    design = run.header.design
    assert isinstance(design, SearchDesign)  # it is what is asked of here
    [case] = run.header.cases
    rate = answer_of(run).search.ask()
    spent = sum(map(_load_ns, run.trials)) >= design.budget_ns
    if rate is None or spent or given_up(run.trials, case.id, death_is_answer=True):
        return None
    objective = parse(design.bounds.objective)
    plan = plan_at(design.plans[case.id], objective, rate, design.measure_ns, design.max_connections)
    number = len(run.trials)
    return Due(Slot(number, number, 0, case.id), plan, design.warm_ups[case.id])


def _load_ns(trial: Trial) -> int:
    """For how long load was offered; of a trial that failed, at most so long."""
    measured, stop = trial.measurement, trial.plan.stop
    if measured is not None:
        return measured.warmup_ns + measured.measured_ns
    return stop.ns if isinstance(stop, StopAfter) else 0
