"""Where a run stands: one line that is rewritten on a terminal, and a line a block in a pipe."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.text import Text

from assay.core import units as fmt
from assay.model.block import Block
from assay.model.design import AnyDesign, ComparisonDesign, SearchDesign, StudyDesign
from assay.model.interleaving import InterleavedSnapshot
from assay.model.measurement import Snapshot
from assay.model.run import Judgement, Run
from assay.model.trial import Phase, Trial
from assay.plan.forecast import Cost
from assay.plan.next.schedule import Slot
from assay.plan.timeline import Timeline
from assay.report.live_words import ComparisonWords, LiveWords, RunProgress, SearchWords, StudyWords
from assay.report.style import FAINT, SEVERITY_STYLE

WORDS: dict[type[AnyDesign], LiveWords] = {
    StudyDesign: StudyWords(),
    ComparisonDesign: ComparisonWords(),
    SearchDesign: SearchWords(),
}

DOING: dict[Phase, str] = {
    "start": "starting",
    "contract": "testing its answers",
    "warm-up": "warming up",
    "measure": "measuring",
    "contract again": "testing its answers again",
    "stop": "stopping",
}
BAR_WIDTH = 16
_NOT_YET = frozenset({"S5"})
"""Rules that every unfinished run meets: said at its end, if then."""
_TOLD_BEFORE = frozenset({"requires", "build"})
"""Stages in which a server fails before there is a trial of it."""


class RunView:
    """Watches a run (an `Observer`) and says where it stands.

    `say` is given whole lines: those of blocks in a log, only the notable ones beside a `live` line, which
    `render` makes whenever it is asked. `judge` makes the findings so far, `clock` tells seconds.
    """

    def __init__(
        self,
        say: Callable[[str], None],
        judge: Callable[[Run], Judgement],
        *,
        live: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start with nothing seen."""
        self._say = say
        self._judge = judge
        self._live = live
        self._clock = clock
        self._seen: RunProgress | None = None
        self._timeline: Timeline | None = None
        self._words = LiveWords()
        self._servers: frozenset[str] = frozenset()
        self._ready: set[str] = set()
        self._preparing = ""
        self._preparing_since_s = clock()
        self._told: set[str] = set()
        self._doing = ""
        self._latest = ""
        self._begun = False
        self._arms = 1
        self._phase: Phase = "start"
        self._block_began_s = 0.0

    # --- what is told ---------------------------------------------------------------------

    def run_started(self, run: Run, costs: Mapping[str, Cost]) -> None:
        """Say how much there is to do."""
        self._words = WORDS.get(type(run.header.design), self._words)
        self._timeline = Timeline(run, costs)
        self._servers = frozenset(cost.server for cost in costs.values() if cost.server)
        self._seen = self._now(RunProgress(run))
        begins = self._words.begins(self._seen)
        if begins:
            self._say(begins)

    def server_preparing(self, server: str, step: str) -> None:
        """Show what is being built."""
        said = f"{fmt.safe(server, 60)}: {fmt.safe(step, 100)}"
        if said != self._preparing:
            self._preparing, self._preparing_since_s = said, self._clock()
        if step != "checking":
            self._once(said, self._line)

    def server_prepared(self, server: str, version: str, built_s: float | None) -> None:
        """Say that a server was built."""
        self._ready.add(server)
        if built_s is not None:
            built = f"built in {fmt.span(built_s)}"
            self._once(f"{fmt.safe(server, 60)}: ready ({fmt.safe(version, 80)}, {built})", self._line)

    def server_failed(self, server: str, reason: str) -> None:
        """Say that a server cannot be had."""
        self._ready.add(server)
        if self._timeline is not None:
            self._timeline.lacks(server)
        self._once(f"{fmt.safe(server, 60)}: {fmt.safe(reason, 500)}", self._say)

    def trial_started(self, slot: Slot) -> None:
        """Show the trial."""
        self._begins((slot,))

    def block_started(self, slots: Sequence[Slot]) -> None:
        """Show the interleaved block."""
        self._begins(slots)

    def _begins(self, slots: Sequence[Slot]) -> None:
        if not self._begun:  # servers were made ready until now
            self._block_began_s, self._begun = self._clock(), True
        self._preparing, self._doing = "", "starting"
        self._arms = len(slots)
        if self._timeline is not None and self._seen is not None:
            self._timeline.begins([slot.case for slot in slots], slots[0].block, self._clock())
            self._seen = replace(self._seen, slot=slots[0])

    def phase(self, slot: Slot, phase: Phase) -> None:
        """Show the phase."""
        if self._timeline is None or self._seen is None:
            return
        self._timeline.phase(slot.case, phase, self._clock())
        self._phase = phase
        together = self._arms > 1 and phase in ("warm-up", "measure")
        of = fmt.counted(self._arms, "server") if together else self._seen.name(slot.case, 40)
        self._doing = f"{DOING[phase]} {of}"
        self._seen = replace(self._seen, slot=slot)

    def snapshot(self, slot: Slot, snapshot: Snapshot) -> None:
        """Show the rate."""
        if self._seen is not None and snapshot.elapsed_ns:
            doing = DOING["warm-up" if snapshot.phase == "warmup" else "measure"]
            rate = fmt.rate(snapshot.completed / (snapshot.elapsed_ns / 1e9))
            self._doing = f"{doing} {self._seen.name(slot.case, 40)}: {rate}{_failed(snapshot.failed)}"

    def slices(self, slots: Sequence[Slot], snapshot: InterleavedSnapshot) -> None:
        """Show how many servers warm up, or are measured."""
        rounds = max(sum(one.phase == "measured" for one in arm.slices) for arm in snapshot.arms)
        failed = sum(one.failed for arm in snapshot.arms for one in arm.slices)
        measured = f", {fmt.counted(rounds, 'round')}" if rounds else ""
        self._doing = f"{DOING[self._phase]} {fmt.counted(len(slots), 'server')}{measured}{_failed(failed)}"

    def trial_finished(self, trial: Trial) -> None:
        """Keep it."""
        self._ended((trial,), ())

    def block_finished(self, block: Block) -> None:
        """Keep it, and its trials."""
        self._ended(block.trials, (block,))

    def note(self, text: str) -> None:
        """Say it."""
        self._say(fmt.safe(text, 1000))

    # --- what is kept ---------------------------------------------------------------------

    def _ended(self, trials: Sequence[Trial], blocks: tuple[Block, ...]) -> None:
        """Look for findings where a block of the run is over: between loads, and so in nobody's way."""
        assert self._seen is not None and self._timeline is not None  # `run_started` comes first
        before = self._seen
        whole = before.run
        run = msgspec.structs.replace(whole, trials=(*whole.trials, *trials), blocks=(*whole.blocks, *blocks))
        self._timeline.stored(run, self._clock())
        self._doing = ""
        seen = replace(before, run=run)
        if self._timeline.next_block != trials[-1].block:
            findings = self._findings(run) if self._words.judges else before.findings
            new = findings.plain != before.findings.plain
            block_s = self._clock() - self._block_began_s
            seen = replace(seen, findings=findings, new_findings=new, slot=None, block_s=block_s)
            self._block_began_s = self._clock()
        self._seen = self._now(seen)
        for trial in trials:
            self._tell_failure(self._seen, trial)
        self._tell_line(self._seen)

    def _now(self, seen: RunProgress) -> RunProgress:
        """The run with the time that is left by now."""
        assert self._timeline is not None  # made before
        return replace(seen, left=self._timeline.left(self._clock()), course=self._timeline.course)

    def _tell_line(self, seen: RunProgress) -> None:
        line = self._words.ended(seen)
        if line:
            self._latest = line.replace(f"; {self._words.left(seen)}", "")  # the line above has it
            self._line(line)

    def _findings(self, run: Run) -> Text:
        """The grave findings so far, each with how often it was met."""
        grave = [one for one in self._judge(run).findings if one.severity != "note"]
        codes = Counter((one.code, one.severity) for one in grave if one.code not in _NOT_YET)
        said: list[Text] = []
        for (code, severity), number in sorted(codes.items()):
            style: Any = SEVERITY_STYLE["error" if severity == "error" else "warning"]
            said.append(Text(f"{code} {severity}{f' × {number}' if number > 1 else ''}", style))
        return Text(", ").join(said)

    def _tell_failure(self, seen: RunProgress, trial: Trial) -> None:
        """Say the first failure of a case, beside a live line too."""
        failed = [one for one in seen.run.trials if one.case == trial.case and one.failure]
        if trial.failure and len(failed) == 1 and trial.failure.stage not in _TOLD_BEFORE:
            said = f"{trial.failure.stage} failed: {fmt.safe(trial.failure.reason)}"
            self._say(f"{seen.name(trial.case)}: {said}")

    def _line(self, text: str) -> None:
        """Say what a live line shows anyway."""
        if not self._live:
            self._say(text)

    def _once(self, text: str, say: Callable[[str], None]) -> None:
        """Say of a server that has several rows (pools, workers) only once what goes for all of them."""
        if text not in self._told:
            self._told.add(text)
            say(text)

    # --- what is shown --------------------------------------------------------------------

    def render(self) -> RenderableType:
        """The live line, and below it what a log's last line says."""
        seen, timeline = self._seen, self._timeline
        if seen is None or timeline is None:
            return _lines(self._being_prepared())
        if not self._begun:
            share = len(self._ready & self._servers) / max(1, len(self._servers))
            return _lines(f"{_bar(share)}  {self._being_prepared()}")
        now, share = self._now(seen), timeline.share(self._clock())
        over = seen.slot is None and timeline.next_block is None
        doing = ["judging"] if over else [self._words.place(now), *filter(None, [self._doing])]
        line = f"{_bar(share)}  {self._words.left(now)}  {', '.join(doing)}"
        return _lines(line, self._latest)

    def _being_prepared(self) -> str:
        waited = fmt.span(round(self._clock() - self._preparing_since_s))
        now = f"{self._preparing}, {waited}" if self._preparing else "preparing"
        if not self._servers:
            return now
        return f"{len(self._ready & self._servers)} of {len(self._servers)} servers ready; {now}"


def _bar(share: float) -> str:
    return f"{fmt.bar(share, BAR_WIDTH):·<{BAR_WIDTH}}"


def _lines(now: str, latest: str = "") -> Group:
    """No line is wider than the terminal."""
    made = [Text(now, no_wrap=True, overflow="ellipsis")]
    made += [Text(latest, FAINT, no_wrap=True, overflow="ellipsis")] if latest else []
    return Group(*made)


def _failed(number: int) -> str:
    return f", {fmt.count(number)} failed" if number else ""
