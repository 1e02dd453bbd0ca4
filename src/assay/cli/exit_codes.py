"""What a run's exit code says, by the kind of run: 0 where its question is answered by figures that stand."""

from __future__ import annotations

from assay.errors import EXIT_OK, EXIT_WITHHELD
from assay.values.design import ContestDesign, SearchDesign
from assay.values.run import Run


def of(run: Run) -> int:
    """0 or 1."""
    match run.header.design:
        case ContestDesign():
            answered = _settled(run)
        case SearchDesign():
            answered = _found(run)
        case _:
            answered = _shown(run)
    return EXIT_OK if answered else EXIT_WITHHELD


def _shown(run: Run) -> bool:
    """Whether every candidate's throughput may be shown.

    A server that this machine lacks something for was never part of the measuring: its row says so.
    """
    roles = {case.id: case.role for case in run.header.cases}
    ranking = run.judgement.ranking if run.judgement else ()
    lacking = {trial.case for trial in run.trials if trial.failure and trial.failure.stage == "requires"}
    candidates = [
        place for place in ranking if roles[place.case] == "candidate" and place.case not in lacking
    ]
    shown = all(place.throughput is not None and not place.withheld for place in candidates)
    return bool(candidates) and shown


def _settled(run: Run) -> bool:
    """Whether every question is settled by figures that stand."""
    from assay.versus.answer import answer

    found = answer(run)
    return found.best is not None and not found.unmeasured and found.settled


def _found(run: Run) -> bool:
    """Whether a capacity, or a bound from below, was found and stands."""
    from assay import verdict
    from assay.verdict.search import answer_of

    if answer_of(run).state not in ("found", "above the range") or run.judgement is None:
        return False
    return not verdict.withheld(run.judgement.findings, run.header.cases[0].id, "times")
