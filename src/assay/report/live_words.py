"""What the live screen says of a run of any kind; each kind has words of its own in a file beside this.

A screen has a head, a line that says how far the run has come, a line for the trial at hand, and what is
known so far; a log has a line after each trial that the kind of run finds worth one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rich.console import RenderableType
from rich.text import Text

from assay.core import format as fmt
from assay.model.run import Run
from assay.model.trial import Trial
from assay.plan.next.schedule import Slot
from assay.plan.next.study import to_come
from assay.report.style import FAINT, HEADING
from assay.stats import rate_per_s

BAR_WIDTH = 24


@dataclass(frozen=True)
class RunProgress:
    """A run as far as it has come. Times in seconds, by case: what a trial is likely to take, and what the
    last one took. `findings` are the grave ones so far; `slot` is the trial at hand."""

    run: Run
    expected_s: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    took_s: Mapping[str, float] = field(default_factory=dict)
    findings: Text = field(default_factory=Text)
    new_findings: bool = False
    slot: Slot | None = None

    @property
    def last(self) -> Trial:
        """The trial that ended last."""
        return self.run.trials[-1]

    @cached_property
    def to_come(self) -> tuple[Slot, ...]:
        """The trials of a study that are left."""
        return to_come(self.run)

    def name(self, case_id: str, most: int = 60) -> str:
        """What a reader knows a case by."""
        names = {case.id: case.name for case in self.run.header.cases}
        return fmt.safe(names.get(case_id, case_id), most)


class LiveWords:
    """The words of a kind of run that has none of its own."""

    judges = False
    """Whether findings are looked for after each trial: it takes time between them."""

    def begins(self, seen: RunProgress) -> str:
        """Said when the run begins; empty for nothing."""
        return ""

    def ended(self, seen: RunProgress) -> str:
        """Said in a log after a trial; empty for nothing."""
        last = seen.last
        rate = fmt.rate(rate_per_s(last.measurement)) if last.measurement else "not measured"
        return f"[{len(seen.run.trials):>2}] {seen.name(last.case)}: {rate}"

    def head(self, seen: RunProgress) -> Text:
        """The first line of the screen: what runs, or what is known of its question."""
        return Text(fmt.safe(seen.run.header.study_name), HEADING)

    def progress(self, seen: RunProgress) -> Text:
        """How far it has come."""
        return Text(fmt.counted(len(seen.run.trials), "trial"), FAINT)

    def so_far(self, seen: RunProgress) -> Iterator[RenderableType]:
        """What is known, below the trial at hand."""
        yield from ()
