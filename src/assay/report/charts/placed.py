"""`Placed`: a section of a run with what all of its charts share: names, colours and trials."""

from __future__ import annotations

from collections.abc import Iterable

from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.charts import data
from assay.report.charts.hues import hues
from assay.report.model.rows import Row, Section, times_limited


class Placed:
    """One section; its charts bear its title where the run has `several`."""

    def __init__(self, run: Run, section: Section, several: bool) -> None:
        """Look up what is shared, once."""
        self.section = section
        self.where = f": {section.title}" if section.title else ""
        self.suffix = f"-{slug(section.title)}" if several else ""
        self.colours = hues(run.header.cases)
        self.steps = data.steps_for(len(run.trials))
        self._trials = trials_by_case(run.trials)

    def trials(self, row: Row) -> list[Trial]:
        """The row's measured trials."""
        return self._trials.get(row.case.id, [])


def why_bounds(rows: Iterable[Row]) -> str:
    """What a chart's note adds where times in it are bounds."""
    limited = times_limited(rows)
    return f" {limited[:1].upper()}{limited[1:]}." if limited else ""


def trials_by_case(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """The measured trials of each case."""
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.measurement:
            found.setdefault(trial.case, []).append(trial)
    return found


def slug(text: str) -> str:
    """`text` fit for an anchor and the name of a file."""
    return "".join(character if character.isalnum() else "-" for character in text.lower()).strip("-")[:60]
