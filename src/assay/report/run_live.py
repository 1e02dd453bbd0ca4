"""Where a study stands: one screen that does not move, or a line a trial in a pipe."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.report import format as fmt
from assay.report.load import bar
from assay.report.style import FAINT, HEADING, SEVERITY_STYLE
from assay.stats import quantiles, rate_per_s
from assay.values.measurement import Snapshot
from assay.values.run import Header, Judgement, Run
from assay.values.trial import Trial

if TYPE_CHECKING:
    from assay.study import ResolvedStudy
    from assay.trial.observer import Phase
    from assay.trial.schedule import Slot

_BAR_WIDTH = 24
MOST_CASES = 12
"""Cases listed at once: with the lines around them they fit 24 rows."""

DOING = {
    "start": "starting",
    "contract": "testing its answers",
    "warm-up": "warming up",
    "measure": "measuring",
    "contract again": "testing its answers again",
    "stop": "stopping",
}
_NOT_YET = frozenset({"S5"})
"""Rules that every unfinished run meets: said at its end, if then."""


class RunView:
    """Watches a run (an `Observer`) and says where it stands.

    `say` is given whole lines: every event in a log, only the notable ones beside a live
    screen. `refresh` is called when the screen has changed. `judge` makes the findings so far.
    """

    def __init__(
        self,
        header: Header,
        say: Callable[[str], None],
        judge: Callable[[Run], Judgement],
        refresh: Callable[[RunView], None] | None = None,
        before: Sequence[Trial] = (),
    ) -> None:
        """Start with the trials that an earlier part of the run had finished."""
        self._header = header
        self._say = say
        self._judge = judge
        self._refresh = refresh
        self._trials = list(before)
        self._slots: Sequence[Slot] = ()
        self._names = {case.id: case.name for case in header.cases}
        self._expected_s: dict[str, float] = {}
        self._began_s = 0.0
        self._took_s: dict[str, float] = {}
        self._preparing = ""
        self._told: set[str] = set()
        self._slot: Slot | None = None
        self._phase: Phase | None = None
        self._snapshot: Snapshot | None = None
        self._codes: Counter[tuple[str, str]] = Counter()
        self._said_findings = ""
        self._done_here = 0
        self._spared = 0

    # --- what is told ---------------------------------------------------------------------

    def study_started(self, study: ResolvedStudy, run_id: str, slots: Sequence[Slot]) -> None:
        """Say how much there is to do."""
        self._slots = slots
        share = len(slots) / max(1, study.trials)
        low, high = study.expected_s()
        self._expected_s = {case.case.id: sum(case.expected_s()) / 2 for case in study.cases}
        cases = f"{len(study.cases)} cases in {study.blocks} blocks"
        least, most = fmt.span(low * share), fmt.span(high * share)
        how_long = least if least == most else f"{least} to {most}"
        self._say(f"{study.name}: {cases}, {len(slots)} trials to do, about {how_long}; run {run_id}")

    def server_preparing(self, server: str, step: str) -> None:
        """Show what is being built."""
        self._preparing = f"{fmt.safe(server, 60)}: {fmt.safe(step, 100)}"
        self._once(self._preparing, self._line)
        self._changed()

    def server_prepared(self, server: str, version: str, built_s: float | None) -> None:
        """Say that a server is ready."""
        built = "" if built_s is None else f", built in {fmt.span(built_s)}"
        self._preparing = ""
        self._once(f"{fmt.safe(server, 60)}: ready ({fmt.safe(version, 80)}{built})", self._line)
        self._changed()

    def server_failed(self, server: str, reason: str) -> None:
        """Say that a server cannot be had."""
        self._preparing = ""
        self._once(f"{fmt.safe(server, 60)}: {fmt.safe(reason, 500)}", self._say)

    def trial_started(self, slot: Slot) -> None:
        """Show the trial."""
        self._began_s = time.monotonic()
        self._slot, self._phase, self._snapshot = slot, None, None
        self._preparing = ""
        self._changed()

    def phase(self, slot: Slot, phase: Phase) -> None:
        """Show the phase."""
        self._slot, self._phase, self._snapshot = slot, phase, None
        self._changed()

    def snapshot(self, slot: Slot, snapshot: Snapshot) -> None:
        """Show the rate."""
        self._slot, self._snapshot = slot, snapshot
        self._changed()

    def trial_finished(self, trial: Trial) -> None:
        """Keep its figures and look for findings, between trials and so in nobody's way."""
        self._trials.append(trial)
        self._done_here += 1
        self._took_s[trial.case] = time.monotonic() - self._began_s
        run = Run(header=self._header, trials=tuple(self._trials), judgement=None)
        found = self._judge(run).findings
        grave = [one for one in found if one.severity != "note" and one.code not in _NOT_YET]
        self._codes = Counter((finding.code, finding.severity) for finding in grave)
        failures = [one for one in self._trials if one.case == trial.case and one.failure]
        if trial.failure and len(failures) == 1 and trial.failure.stage not in ("requires", "build"):
            name = fmt.safe(self._names[trial.case], 60)
            self._say(f"{name}: {trial.failure.stage} failed: {fmt.safe(trial.failure.reason)}")
        self._line(self._finished(trial))
        self._changed()

    def trial_spared(self, slot: Slot) -> None:
        """Count it no more: its search has ended."""
        self._slots = [one for one in self._slots if one is not slot]
        self._spared += 1
        self._changed()

    def note(self, text: str) -> None:
        """Say it."""
        self._say(fmt.safe(text, 500))

    # --- what is shown --------------------------------------------------------------------

    def render(self) -> RenderableType:
        """The live screen."""
        header = self._header
        quick = " (quick)" if header.quick else ""
        about = f"  {header.profile}{quick}, {header.blocks} blocks of {len(header.cases)} cases"
        head = Text.assemble((fmt.safe(header.study_name), HEADING), (about, FAINT), no_wrap=True)
        parts: list[RenderableType] = [head, Text(self._where(), no_wrap=True, overflow="ellipsis")]
        parts.append(Text(self._now(), no_wrap=True, overflow="ellipsis"))
        if self._trials:
            parts += [self._so_far()]
        if self._codes:
            parts.append(Text.assemble(("findings so far  ", FAINT), self._findings()))
        return Group(*parts)

    def _where(self) -> str:
        total = self._total()
        done = len(self._trials)
        drawn = f"{bar(done / total if total else 0, _BAR_WIDTH):·<{_BAR_WIDTH}}"
        if self._slot is None:
            return f"{drawn}  preparing the servers"
        block = f"block {self._slot.block + 1} of {self._header.blocks}"
        return f"{drawn}  {block}, trial {min(done + 1, total)} of {total}, {self._left()}"

    def _total(self) -> int:
        return (self._header.trials or 0) - self._spared

    def _left(self) -> str:
        """Time left: each trial as long as its case took last; before the first, the study's own estimate."""
        to_do = [slot.case for slot in self._slots[self._done_here :]]
        left_s = sum(self._took_s.get(case, self._expected_s.get(case, 0.0)) for case in to_do)
        return f"{fmt.span(round(left_s))} left"

    def _now(self) -> str:
        if self._slot is None or self._preparing:
            return self._preparing
        name = fmt.safe(self._names.get(self._slot.case, self._slot.case), 40)
        doing = DOING[self._phase] if self._phase else "starting"
        seen = self._snapshot
        if seen is None or not seen.elapsed_ns:
            return f"{name}  {doing}"
        rate = seen.completed / (seen.elapsed_ns / 1e9)
        failed = f", {fmt.count(seen.failed)} failed" if seen.failed else ""
        return f"{name}  {doing} {seen.elapsed_ns / 1e9:.1f} s: {fmt.rate(rate)}{failed}"

    def _so_far(self) -> RenderableType:
        table = Table.grid(padding=(0, 2, 0, 0))
        for justify in ("left", "right", "left"):
            table.add_column(justify=justify, no_wrap=True)
        shown = [case for case in self._header.cases if any(trial.case == case.id for trial in self._trials)]
        for case in shown[:MOST_CASES]:
            trials = [trial for trial in self._trials if trial.case == case.id]
            rates = [rate_per_s(trial.measurement) for trial in trials if trial.measurement]
            # The rates of a search are asked, not found: the last says where it stands, their mean nothing.
            shown_per_s = rates[-1:] if case.search else rates
            mean = fmt.rate(sum(shown_per_s) / len(shown_per_s)) if rates else "failed"
            done = f"{len(rates)} of {case.trials(self._header.blocks or 0)}"
            table.add_row(fmt.safe(self._names[case.id], 40), mean, Text(done, FAINT))
        if len(shown) > MOST_CASES:
            table.add_row(Text(f"and {len(shown) - MOST_CASES} more", FAINT))
        return table

    def _findings(self) -> Text:
        said: list[Text] = []
        for (code, severity), number in sorted(self._codes.items()):
            style: Any = SEVERITY_STYLE["withheld" if severity == "withheld" else "flagged"]
            said.append(Text(f"{code} {severity}{f' × {number}' if number > 1 else ''}", style))
        return Text(", ").join(said)

    def _finished(self, trial: Trial) -> str:
        total = self._total()
        place = f"[{len(self._trials):>{len(str(total))}}/{total}] block {trial.block + 1}"
        name = fmt.safe(self._names[trial.case], 60)
        if trial.measurement is None:
            return f"{place}  {name}: not measured; {self._left()}"
        measured = trial.measurement
        median = quantiles(measured.service_time, (0.5,))[0]
        times = f", p50 {fmt.time(median.value_ns)}" if median else ""
        failed = f", {fmt.count(measured.failed)} failed" if measured.failed else ""
        findings = self._findings().plain
        codes = f"; findings so far: {findings}" if findings != self._said_findings else ""
        self._said_findings = findings
        return f"{place}  {name}: {fmt.rate(rate_per_s(measured))}{times}{failed}; {self._left()}{codes}"

    def _line(self, text: str) -> None:
        """Say what a live screen shows anyway."""
        if self._refresh is None:
            self._say(text)

    def _once(self, text: str, say: Callable[[str], None]) -> None:
        """Say of a server that has several rows (pools, workers) only once what goes for all of them."""
        if text not in self._told:
            self._told.add(text)
            say(text)

    def _changed(self) -> None:
        if self._refresh is not None:
            self._refresh(self)
