"""What a record keeps of a search for a capacity, read back. Imports nothing that judges."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.errors import InputError
from assay.model.design import Bounds, SearchDesign
from assay.model.run import Header
from assay.model.trial import Trial
from assay.verdict.objective import Objective, parse


def objectives(header: Header) -> dict[str, Objective]:
    """What is searched for, by the case whose trials are the search. InputError where it is not readable."""
    if isinstance(header.design, SearchDesign):
        return {case.id: objective_of(header.design.bounds) for case in header.cases}
    return {case.id: _readable(case.search.objective) for case in header.cases if case.search}


def objective_of(bounds: Bounds) -> Objective:
    """The objective that a record is about. InputError where it is not readable."""
    return _readable(bounds.objective)


def _readable(text: str) -> Objective:
    try:
        return parse(text)
    except ValueError as problem:
        raise InputError(f"the record's objective is not readable: {problem}") from None


def results_of(objective: Objective, trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """The trials that are results: those in which the objective held. That a rate beyond the capacity
    strains everything is what it was asked for. Trials without a measurement stay: they are rows."""
    return tuple(trial for trial in trials if not _missed(objective, trial))


def misses_of(objective: Objective, trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """The measured trials in which the objective was missed."""
    return tuple(trial for trial in trials if _missed(objective, trial))


def _missed(objective: Objective, trial: Trial) -> bool:
    return trial.measurement is not None and not objective.judge(trial.plan, trial.measurement).holds
