"""The kinds of run, and what each does next."""

from __future__ import annotations

from collections.abc import Callable

from assay.model.design import AnyDesign, ComparisonDesign, LoadDesign, SearchDesign, StudyDesign
from assay.model.run import Run
from assay.plan.next import comparison, study
from assay.plan.next import comparison as search
from assay.plan.next.schedule import Due, DueBlock, block_of

BLOCK: dict[type[AnyDesign], Callable[[Run], tuple[Due, ...]]] = {
    StudyDesign: study.left_of_block,
    ComparisonDesign: comparison.left_of_block,
}
"""What is left of the block that has begun or is due, for the kinds whose blocks may be interleaved."""

NEXT: dict[type[AnyDesign], Callable[[Run], Due | None]] = {
    StudyDesign: study.next_trial,
    ComparisonDesign: comparison.next_trial,
    SearchDesign: search.next_rate,
    LoadDesign: lambda run: None,
}


WARM: dict[type[AnyDesign], Callable[[Run], frozenset[str]]] = {StudyDesign: study.to_stand}
"""The cases whose servers, of the block before, are wanted for loads that follow from it."""


def next_trial(run: Run) -> Due | None:
    """The trial that is due after those of the run; None where the run has ended."""
    return NEXT[type(run.header.design)](run)


def next_due(run: Run) -> Due | DueBlock | None:
    """The trial that is due, or the block where it is interleaved; None where the run has ended."""
    left = BLOCK.get(type(run.header.design)) if run.header.design.interleave else None
    if left is None:
        return next_trial(run)
    dues = left(run)
    return block_of(run, dues) or (dues[0] if dues else None)


def to_stand(run: Run) -> frozenset[str]:
    """The cases whose servers are to stay up now, after their block, until the loads that follow from it
    are done; none where trials follow one another, each with a server of its own."""
    wanted = WARM.get(type(run.header.design)) if run.header.design.interleave else None
    return wanted(run) if wanted else frozenset()
