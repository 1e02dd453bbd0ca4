"""What a run's exit code says, by the kind of run: 0 where its question is answered by figures that stand."""

from __future__ import annotations

from assay.errors import EXIT_OK, EXIT_WITHHELD, EXIT_WORSE
from assay.values.design import ContestDesign, SearchDesign
from assay.values.run import Run


def of(run: Run) -> int:
    """0 or 1; of a gate also 3."""
    match run.header.design:
        case ContestDesign(slower_allowed=None):
            answered = _settled(run)
        case ContestDesign():
            return _gated(run)
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


def _gated(run: Run) -> int:
    """As `assay compare`: 3 where the limit is broken beyond doubt, 1 where it cannot be held to a figure."""
    from assay.versus.answer import answer

    gate = answer(run).gate
    assert gate is not None  # its design has a limit
    if gate.outcome == "broken":
        return EXIT_WORSE
    return EXIT_WITHHELD if gate.outcome in ("withheld", "not measured") else EXIT_OK


def _found(run: Run) -> bool:
    """Whether a capacity, or a bound from below, was found and stands."""
    from assay import verdict
    from assay.verdict.search import answer_of

    if answer_of(run).state not in ("found", "above the range") or run.judgement is None:
        return False
    return not verdict.withheld(run.judgement.findings, run.header.cases[0].id, "times")
