"""What a run's exit code says, by the kind of run: 0 where its question is answered by figures that stand.

Every verb that ends with a run's code asks here, and JUnit XML is told by the same: `assay run`, `versus`,
`capacity`, `load`, and `judge` long after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay.errors import EXIT_OK, EXIT_WITHHELD, EXIT_WORSE
from assay.values.design import ContestDesign, LoadDesign, SearchDesign
from assay.values.estimate import Ranked
from assay.values.finding import Finding
from assay.values.run import Run

if TYPE_CHECKING:
    from assay.versus.gate import Gate


def of(run: Run) -> int:
    """0 or 1; of a gate also 3."""
    match run.header.design:
        case ContestDesign(slower_allowed=None):
            answered = _settled(run)
        case ContestDesign():
            return _gated(run)
        case SearchDesign() | LoadDesign():
            answered = not failing(run)
        case _:
            answered = any(True for _ in _asked(run)) and not failing(run)
    return EXIT_OK if answered else EXIT_WITHHELD


def of_load(findings: Sequence[Finding]) -> int:
    """Of a single load, which is asked for its throughput and its times: 1 where a rule takes either."""
    return EXIT_WITHHELD if any(one.severity == "withheld" for one in findings) else EXIT_OK


def failing(run: Run) -> dict[str, str]:
    """The cases whose figures this run was asked for and that do not stand, or that break a limit, and why.

    Of a study and a contest these are throughputs of candidates: times that a full generator has spoilt are
    not shown, and fail nothing.
    """
    match run.header.design:
        case SearchDesign():
            found = {} if _found(run) else dict.fromkeys(_first(run), "no capacity was found that stands")
        case LoadDesign():
            stands = of_load(run.judgement.findings if run.judgement else ()) == EXIT_OK
            found = {} if stands else dict.fromkeys(_first(run), "figures are withheld")
        case design:
            found = {
                place.case: "its throughput is withheld" if place.throughput else "it was not measured"
                for place in _asked(run)
                if place.throughput is None or place.withheld
            }
            if isinstance(design, ContestDesign) and design.slower_allowed is not None:
                found |= _broken(run)
    return found


def _first(run: Run) -> tuple[str, ...]:
    """The one case of a search or a load."""
    return tuple(case.id for case in run.header.cases[:1])


def _asked(run: Run) -> Iterator[Ranked]:
    """The candidates. A server that this machine lacks something for was never part of the measuring: its row
    says so."""
    roles = {case.id: case.role for case in run.header.cases}
    lacking = {trial.case for trial in run.trials if trial.failure and trial.failure.stage == "requires"}
    for place in run.judgement.ranking if run.judgement else ():
        if roles[place.case] == "candidate" and place.case not in lacking:
            yield place


def _settled(run: Run) -> bool:
    """Whether every question is settled by figures that stand."""
    from assay.versus.answer import answer

    found = answer(run)
    return found.best is not None and not found.unmeasured and found.settled


def _gated(run: Run) -> int:
    """As `assay compare`: 3 where the limit is broken beyond doubt, 1 where it cannot be held to a figure."""
    gate = _gate(run)
    if gate.outcome == "broken":
        return EXIT_WORSE
    return EXIT_WITHHELD if gate.outcome in ("withheld", "not measured") else EXIT_OK


def _broken(run: Run) -> dict[str, str]:
    """The rival that is slower than its limit allows."""
    gate = _gate(run)
    return {gate.head.id: "it is slower than its limit allows"} if gate.outcome == "broken" else {}


def _gate(run: Run) -> Gate:
    from assay.versus.answer import answer

    gate = answer(run).gate
    assert gate is not None  # its design has a limit
    return gate


def _found(run: Run) -> bool:
    """Whether a capacity, or a bound from below, was found and stands."""
    from assay import verdict
    from assay.verdict.search import answer_of

    if answer_of(run).state not in ("found", "above the range") or run.judgement is None:
        return False
    return not verdict.withheld(run.judgement.findings, run.header.cases[0].id, "times")
