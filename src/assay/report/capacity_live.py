"""Where a search for a capacity stands: one screen that does not move, or a line a trial in a pipe."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.text import Text

from assay.capacity.record import objective_of
from assay.report import capacity
from assay.report import format as fmt
from assay.report.style import FAINT
from assay.trial.observer import Silent
from assay.trial.schedule import Slot
from assay.values.design import SearchDesign
from assay.values.measurement import Snapshot
from assay.values.run import Header
from assay.values.trial import Trial
from assay.verdict.search import Answer, answer, step_of


class CapacityView(Silent):
    """Watches a search. `say` is given whole lines; `refresh` is called when the screen has changed."""

    def __init__(
        self, say: Callable[[str], None], refresh: Callable[[CapacityView], None] | None = None
    ) -> None:
        """Start with nothing seen."""
        self._say = say
        self._refresh = refresh
        self._header: Header | None = None
        self._found: Answer | None = None
        self._now = ""

    def run_started(self, header: Header) -> None:
        """The search begins."""
        self._header = header
        assert isinstance(header.design, SearchDesign)  # it watches nothing else
        self._found = answer(header.design.bounds, ())

    def snapshot(self, slot: Slot, snapshot: Snapshot) -> None:
        """Show the load."""
        seconds = snapshot.elapsed_ns / 1e9
        doing = "warming up" if snapshot.phase == "warmup" else "measuring"
        rate = fmt.rate(snapshot.completed / seconds) if seconds else fmt.UNKNOWN
        self._now = f"trial {slot.number + 1}  {doing} {seconds:.1f} s: {rate}"
        self._changed()

    def trial_finished(self, trial: Trial) -> None:
        """Say what it told."""
        assert self._header is not None and self._found is not None  # `run_started` comes first
        objective = objective_of(self._found.bounds)
        step = step_of(trial, objective, self._header.environment)
        self._found = answer(self._found.bounds, (*self._found.steps, step))
        if self._refresh is None:
            self._say(capacity.line(self._found))
        self._changed()

    def note(self, text: str) -> None:
        """Pass it on."""
        self._say(fmt.safe(text, 1000))

    def render(self) -> RenderableType:
        """The screen."""
        if self._found is None or not self._found.steps:
            return Text(self._now, no_wrap=True)
        last = Text(capacity.line(self._found), FAINT, no_wrap=True, overflow="ellipsis")
        return Group(capacity.screen(self._found), last, Text(self._now, no_wrap=True))

    def _changed(self) -> None:
        if self._refresh is not None:
            self._refresh(self)
