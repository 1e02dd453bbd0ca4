"""What a run's exit code says, by the kind of run: 0 where its question is answered by figures that stand.

Every verb that ends with a run's code asks here: `assay run`, `versus`, `capacity`, `load`, and `judge` long
after them. The code follows from the cases that fail, and JUnit XML is told of the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from assay.core.errors import EXIT_INVALID, EXIT_OK, EXIT_WORSE
from assay.model.design import ComparisonDesign, LoadDesign, SearchDesign
from assay.model.estimate import Ranked
from assay.model.finding import Finding
from assay.model.run import Run
from assay.stats.estimates import Held
from assay.verdict.limits import LimitResult, limits_of_run, outcome_of

if TYPE_CHECKING:
    from assay.verdict.answer import Gate


def of(run: Run) -> int:
    """0, or 1 where any case is `failing`; of a gate or a limit that is broken 3, as of `assay compare`."""
    design = run.header.design
    if isinstance(design, LoadDesign):
        findings = run.judgement.findings if run.judgement else ()
        return of_load(findings, limits_of_run(run), unsure_fails=design.unsure_fails)
    if not failing(run):
        return EXIT_OK
    gated = isinstance(design, ComparisonDesign) and design.slower_allowed is not None
    return EXIT_WORSE if gated and _gate(run).outcome == "broken" else EXIT_INVALID


def of_load(
    findings: Sequence[Finding], limits: Sequence[LimitResult] = (), *, unsure_fails: bool = False
) -> int:
    """Of a single load, which is asked for its throughput and its times: 1 where a rule leaves nothing of
    either. A bound is an answer. 3 where a limit is broken beyond doubt."""
    outcome = outcome_of(limits, unsure_fails=unsure_fails)
    if outcome == "broken":
        return EXIT_WORSE
    return EXIT_OK if outcome == "kept" and not _is_void(findings) else EXIT_INVALID


def _is_void(findings: Sequence[Finding]) -> bool:
    taken = (one for one in findings if one.severity == "error")
    return any("void" in (one.on_throughput, one.on_times) for one in taken)


def failing(run: Run) -> dict[str, str]:
    """The cases for whose sake the exit code is not 0, and why: what was asked for of them does not stand,
    breaks a limit, or leaves open what was to be settled.

    Of a study and a comparison these are throughputs of candidates: times that a full generator has spoilt
    are not shown, and fail nothing.
    """
    match run.header.design:
        case SearchDesign():
            return {} if _has_capacity(run) else {_first(run): "no capacity was found that stands"}
        case LoadDesign():
            return _load(run)
        case ComparisonDesign(slower_allowed=None):
            return _unsettled(run) | _no_results(run)
        case ComparisonDesign():
            return _gated(run)
        case _ if any(True for _ in _asked(run)):
            return _no_results(run)
    return {case.id: "nothing that was asked for was measured" for case in run.header.cases}


def _load(run: Run) -> dict[str, str]:
    """The load, where its figures are invalid or it breaks a limit that it was held to."""
    code, limits = of(run), limits_of_run(run)
    if code == EXIT_OK:
        return {}
    named = {
        outcome: [one.limit.text for one in limits if one.outcome == outcome] for outcome in get_args(Held)
    }
    if code == EXIT_WORSE:
        why = f"it misses {', '.join(named['broken'])}"
    elif _is_void(run.judgement.findings if run.judgement else ()):
        why = "figures are invalid"
    else:
        why = f"whether it keeps {', '.join(named['could not tell'])} cannot be told"
    return {_first(run): why}


def _first(run: Run) -> str:
    """The one case of a search or a load."""
    return run.header.cases[0].id


def _asked(run: Run) -> Iterator[Ranked]:
    """The candidates. A server that this machine lacks something for was never part of the measuring: its row
    says so."""
    roles = {case.id: case.role for case in run.header.cases}
    lacking = {trial.case for trial in run.trials if trial.failure and trial.failure.stage == "requires"}
    for place in run.judgement.ranking if run.judgement else ():
        if roles[place.case] == "candidate" and place.case not in lacking:
            yield place


def _no_results(run: Run) -> dict[str, str]:
    """The candidates of which no throughput stands."""
    return {
        place.case: "its throughput is invalid" if place.throughput else "it was not measured"
        for place in _asked(run)
        if place.throughput is None or place.invalid
    }


def _unsettled(run: Run) -> dict[str, str]:
    """The candidates whose difference from the best (or another, where all are ranked) is open."""
    from assay.verdict.answer import answer

    found = answer(run)
    said = {case.id: "it was not measured" for case in found.unmeasured}
    for one in found.open:
        void = f"it may not be compared with {one.first.name}: {', '.join(one.void)}"
        unsettled = f"whether it differs from {one.first.name} is not settled"
        said.setdefault(one.other.id, void if one.void else unsettled)
    return said


def _gated(run: Run) -> dict[str, str]:
    """The candidate that is slower than its limit allows, or to which the limit cannot be held."""
    gate = _gate(run)
    if gate.outcome == "broken":
        return {gate.head.id: "it is slower than its limit allows"}
    design = run.header.design
    if gate.outcome == "could not tell" and isinstance(design, ComparisonDesign) and design.unsure_fails:
        return {gate.head.id: "whether it is slower than its limit allows cannot be told"}
    if gate.outcome not in ("invalid", "not measured"):
        return {}
    why = f": {', '.join(gate.void)}" if gate.void else ""
    return _no_results(run) or {gate.head.id: f"its limit can be held to no figure{why}"}


def _gate(run: Run) -> Gate:
    from assay.verdict.answer import answer

    gate = answer(run).gate
    assert gate is not None  # its design has a limit
    return gate


def _has_capacity(run: Run) -> bool:
    """Whether a capacity, or a bound from below, was found and stands."""
    from assay import verdict
    from assay.verdict.search import answer_of

    if answer_of(run).state not in ("found", "above the range") or run.judgement is None:
        return False
    return not verdict.invalid(run.judgement.findings, _first(run), "times")
