"""The kinds of run, and what each does next."""

from __future__ import annotations

from collections.abc import Callable

from assay.design import contest, search, study
from assay.design.due import Due
from assay.values.design import AnyDesign, ContestDesign, LoadDesign, SearchDesign, StudyDesign
from assay.values.run import Run

NEXT: dict[type[AnyDesign], Callable[[Run], Due | None]] = {
    StudyDesign: study.next_trial,
    ContestDesign: contest.next_trial,
    SearchDesign: search.next_trial,
    LoadDesign: lambda run: None,
}


def next_trial(run: Run) -> Due | None:
    """The trial that is due after those of the run; None where the run has ended."""
    return NEXT[type(run.header.design)](run)
