"""Where a comparison stands: one screen that does not move, or a line a block in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from assay.report import format as fmt
from assay.report import versus
from assay.report.load import bar
from assay.report.run_live import DOING
from assay.report.style import FAINT, HEADING
from assay.stats import rate_per_s
from assay.trial.observer import Silent
from assay.values.measurement import Snapshot
from assay.values.run import Header, Run
from assay.values.trial import Trial

if TYPE_CHECKING:
    from assay.trial.observer import Phase
    from assay.trial.schedule import Slot

_BAR_WIDTH = 24


class VersusView(Silent):
    """Watches a comparison. `say` is given whole lines; `refresh` is called when the screen has changed."""

    def __init__(
        self,
        say: Callable[[str], None],
        budget_ns: int,
        refresh: Callable[[VersusView], None] | None = None,
    ) -> None:
        """Start with nothing seen."""
        self._say = say
        self._budget_s = budget_ns / 1e9
        self._refresh = refresh
        self._header: Header | None = None
        self._trials: list[Trial] = []
        self._standing = ""
        self._now = ""

    def run_started(self, header: Header) -> None:
        """The servers are alike; the blocks begin."""
        self._header = header
        self._changed()

    def server_preparing(self, server: str, step: str) -> None:
        """Show what goes on before the first block."""
        self._now = f"{fmt.safe(server, 60)}: {step}"
        if self._refresh is None:
            self._say(self._now)
        self._changed()

    def phase(self, slot: Slot, phase: Phase) -> None:
        """Show the phase."""
        self._now = f"block {slot.block + 1}  {fmt.safe(slot.case, 40)}  {DOING[phase]}"
        self._changed()

    def snapshot(self, slot: Slot, snapshot: Snapshot) -> None:
        """Show the load."""
        seconds = snapshot.elapsed_ns / 1e9
        doing = "warming up" if snapshot.phase == "warmup" else "measuring"
        rate = fmt.rate(snapshot.completed / seconds) if seconds else fmt.UNKNOWN
        where = f"block {slot.block + 1}  {fmt.safe(slot.case, 40)}"
        self._now = f"{where}  {doing} {seconds:.1f} s: {rate}"
        self._changed()

    def trial_finished(self, trial: Trial) -> None:
        """Say how each block left the question."""
        assert self._header is not None  # `run_started` comes first
        self._trials.append(trial)
        if trial.failure is not None:
            self._say(f"{fmt.safe(trial.case, 60)}: {fmt.safe(trial.failure.reason, 500)}")
        elif trial.measurement is not None:
            self._now = f"{fmt.safe(trial.case, 40)}  {fmt.rate(rate_per_s(trial.measurement))}"
        if self._block_is_over(trial):
            self._standing = versus.standing(self._run())
            if self._refresh is None:
                self._say(self._standing)
        self._changed()

    def note(self, text: str) -> None:
        """Pass it on."""
        self._say(fmt.safe(text, 1000))

    def render(self) -> RenderableType:
        """The screen."""
        if self._header is None:
            return Text(self._now, no_wrap=True)
        spent_s = versus.load_s(self._run())
        left = max(0.0, self._budget_s - spent_s)
        drawn = f"{bar(spent_s / self._budget_s, _BAR_WIDTH):·<{_BAR_WIDTH}}"
        progress = f"{drawn}  at most {fmt.span(left)} of load left"
        return Group(
            Text(self._standing or "first block", HEADING),
            Text(progress, FAINT, no_wrap=True),
            Text(self._now, no_wrap=True),
        )

    def _block_is_over(self, last: Trial) -> bool:
        assert self._header is not None  # asked by the caller
        in_block: Sequence[Trial] = [trial for trial in self._trials if trial.block == last.block]
        return len(in_block) == len(self._header.cases)

    def _run(self) -> Run:
        assert self._header is not None  # asked by the caller
        return Run(header=self._header, trials=tuple(self._trials), judgement=None)

    def _changed(self) -> None:
        if self._refresh is not None:
            self._refresh(self)
