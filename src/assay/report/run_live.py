"""Where a run stands, of whatever kind: one screen that does not move, or lines in a pipe.

The slices of an interleaved block while it goes on: whose slice it is, what each server serves in its own,
and how each ratio's interval shrinks from round to round.
"""

from __future__ import annotations

import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from assay.core import units as fmt
from assay.model.block import Block
from assay.model.design import AnyDesign, ComparisonDesign, SearchDesign, StudyDesign
from assay.model.interleaving import ArmSnapshot, InterleavedSnapshot, Slice
from assay.model.measurement import Snapshot
from assay.model.run import Judgement, Run
from assay.model.trial import Phase, Trial
from assay.plan.next.schedule import Slot
from assay.report.live_words import ComparisonWords, LiveWords, RunProgress, SearchWords, StudyWords
from assay.report.style import FAINT, SEVERITY_STYLE
from assay.stats.estimates import t_quantile
from assay.stats.interleaved import FEWEST_ROUNDS, Rounds, error_of_mean, ratio_by_round

_MOST_PAIRS = 5
_LEAST_NAME = 8


def slice_lines(names: Sequence[str], snapshot: InterleavedSnapshot) -> Iterator[Text]:
    """A line for the block, one for each server, one for each pair. `names` are those of the arms."""
    times = snapshot.slice
    yield Text(_head(snapshot), no_wrap=True, overflow="ellipsis")
    room = max(_LEAST_NAME, *map(len, names))
    for place, (name, arm) in enumerate(zip(names, snapshot.arms, strict=True)):
        loaded = times is not None and times.arm == place
        said = f"{'▶' if loaded else ' '} {name:<{room}}  {_doing(arm)}"
        yield Text(said, "" if loaded else FAINT, no_wrap=True, overflow="ellipsis")
    for said in _pairs(names, snapshot.arms):
        yield Text(f"  {said}", no_wrap=True, overflow="ellipsis")


def _head(snapshot: InterleavedSnapshot) -> str:
    measured = [_measured(arm) for arm in snapshot.arms]
    rounds = max(map(len, measured), default=0)
    slices = [one for arm in snapshot.arms for one in arm.slices[-1:]]
    length = f" of {fmt.time(slices[0].length_ns, exact=True)}" if slices else ""
    so_far = f", {fmt.counted(rounds, 'round')} measured" if rounds else ""
    return f"in slices{length} for {snapshot.elapsed_ns / 1e9:.1f} s{so_far}"


def _doing(arm: ArmSnapshot) -> str:
    if arm.ended is not None and arm.ended != "asked":
        return "ended"
    own = arm.slices[-1].length_ns if arm.slices else 0
    if not own:
        return "waiting for its first slice"
    rates = [one.completed / one.length_ns * 1e9 for one in arm.slices if one.length_ns]
    failed = sum(one.failed for one in arm.slices)
    doing = "measuring" if arm.snapshot.phase == "measured" else "warming up"
    also = f", {fmt.count(failed)} failed" if failed else ""
    return f"{doing}: {fmt.rate(statistics.fmean(rates))} in {fmt.counted(len(rates), 'slice')}{also}"


def _pairs(names: Sequence[str], arms: Sequence[ArmSnapshot]) -> Iterator[str]:
    """The fastest so far against the others: the ratio and its interval within this block."""
    rounds = {name: _rounds(arm) for name, arm in zip(names, arms, strict=True)}
    known = {name: rates for name, rates in rounds.items() if len(rates) >= FEWEST_ROUNDS}
    if len(known) < 2:
        return
    best = max(known, key=lambda name: statistics.fmean(known[name].values()))
    others = [name for name in known if name != best]
    for other in others[:_MOST_PAIRS]:
        yield _ratio(best, other, known)
    if len(others) > _MOST_PAIRS:
        yield f"and {fmt.counted(len(others) - _MOST_PAIRS, 'more pair')}"


def _ratio(a: str, b: str, known: Mapping[str, Rounds]) -> str:
    logs = ratio_by_round(known[a], known[b])
    if len(logs) < FEWEST_ROUNDS:
        return f"{a} / {b}"
    half = t_quantile(len(logs) - 1) * error_of_mean(logs)
    centre = statistics.fmean(logs)
    low, high = math.exp(centre - half), math.exp(centre + half)
    return f"{a} / {b}  {math.exp(centre):.3f} [{low:.3f}, {high:.3f}] in this block"


def _rounds(arm: ArmSnapshot) -> Rounds:
    return {one.round: one.completed / one.length_ns * 1e9 for one in _measured(arm) if one.length_ns}


def _measured(arm: ArmSnapshot) -> list[Slice]:
    return [one for one in arm.slices if one.phase == "measured"]


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
_NOT_YET = frozenset({"S5"})
"""Rules that every unfinished run meets: said at its end, if then."""
_TOLD_BEFORE = frozenset({"requires", "build"})
"""Stages in which a server fails before there is a trial of it."""


class RunView:
    """Watches a run (an `Observer`) and says where it stands.

    `say` is given whole lines: every event in a log, only the notable ones beside a live
    screen. `refresh` is called when the screen has changed. `judge` makes the findings so far.
    """

    def __init__(
        self,
        say: Callable[[str], None],
        judge: Callable[[Run], Judgement],
        refresh: Callable[[RunView], None] | None = None,
    ) -> None:
        """Start with nothing seen."""
        self._say = say
        self._judge = judge
        self._refresh = refresh
        self._seen: RunProgress | None = None
        self._words = LiveWords()
        self._still: tuple[Sequence[Text], Sequence[RenderableType]] = ((), ())
        self._began_s = 0.0
        self._preparing = ""
        self._told: set[str] = set()
        self._phase: Phase | None = None
        self._snapshot: Snapshot | None = None
        self._slices: tuple[Text, ...] = ()

    # --- what is told ---------------------------------------------------------------------

    def run_started(self, run: Run, expected_s: Mapping[str, tuple[float, float]]) -> None:
        """Say how much there is to do."""
        self._words = WORDS.get(type(run.header.design), self._words)
        self._seen = RunProgress(run, expected_s)
        begins = self._words.begins(self._seen)
        if begins:
            self._say(begins)
        self._draw(self._seen)

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
        self._preparing = ""
        self._phase, self._snapshot, self._slices = None, None, ()
        if self._seen is not None:
            self._seen = replace(self._seen, slot=slot)
            self._draw(self._seen)

    def phase(self, slot: Slot, phase: Phase) -> None:
        """Show the phase."""
        self._phase, self._snapshot, self._slices = phase, None, ()
        if self._seen is not None:
            self._seen = replace(self._seen, slot=slot)
        self._changed()

    def snapshot(self, slot: Slot, snapshot: Snapshot) -> None:
        """Show the rate."""
        self._snapshot = snapshot
        self._changed()

    def trial_finished(self, trial: Trial) -> None:
        """Keep its figures and look for findings, between trials and so in nobody's way."""
        self._ended(trial, time.monotonic() - self._began_s)

    def _ended(self, trial: Trial, trial_s: float) -> None:
        assert self._seen is not None  # `run_started` comes first
        run = msgspec.structs.replace(self._seen.run, trials=(*self._seen.run.trials, trial))
        took_s = {**self._seen.took_s, trial.case: trial_s}
        before = self._seen.findings
        findings = self._findings(run) if self._words.judges else before
        new = findings.plain != before.plain
        self._seen = replace(self._seen, run=run, took_s=took_s, findings=findings, new_findings=new)
        self._tell_failure(self._seen, trial)
        line = self._words.ended(self._seen)
        if line:
            self._line(line)
        self._draw(self._seen)

    def block_started(self, slots: Sequence[Slot]) -> None:
        """Show that these are interleaved."""
        self.trial_started(slots[0])

    def slices(self, slots: Sequence[Slot], snapshot: InterleavedSnapshot) -> None:
        """Show whose slice it is, each server's rate, and each pair's interval so far."""
        if self._refresh is not None and self._seen is not None:
            names = [self._seen.name(slot.case, 30) for slot in slots]
            self._slices = tuple(slice_lines(names, snapshot))
            self._changed()

    def block_finished(self, block: Block) -> None:
        """Keep it, and the figures of its trials."""
        assert self._seen is not None  # `run_started` comes first
        blocks = (*self._seen.run.blocks, block)
        self._seen = replace(self._seen, run=msgspec.structs.replace(self._seen.run, blocks=blocks))
        each_s = (time.monotonic() - self._began_s) / len(block.trials)
        for trial in block.trials:
            self._ended(trial, each_s)

    def note(self, text: str) -> None:
        """Say it."""
        self._say(fmt.safe(text, 1000))

    # --- what is shown --------------------------------------------------------------------

    def render(self) -> RenderableType:
        """The live screen."""
        seen = self._seen
        if seen is None:
            return Text(self._preparing, no_wrap=True, overflow="ellipsis")
        above, below = self._still
        now = self._slices or (Text(self._now(seen), no_wrap=True, overflow="ellipsis"),)
        found = Text.assemble(("findings so far  ", FAINT), seen.findings)
        return Group(*above, *now, *below, *([found] if seen.findings else []))

    def _draw(self, seen: RunProgress) -> None:
        """Make anew what only changes between trials, so that a load is not held up by it."""
        if self._refresh is not None:
            above = (self._words.head(seen), self._words.progress(seen))
            for line in above:
                line.no_wrap, line.overflow = True, "ellipsis"
            self._still = above, tuple(self._words.so_far(seen))
        self._changed()

    def _now(self, seen: RunProgress) -> str:
        if seen.slot is None or self._preparing:
            return self._preparing
        doing = DOING[self._phase] if self._phase else "starting"
        now = self._snapshot
        if now is None or not now.elapsed_ns:
            return f"{seen.name(seen.slot.case, 40)}  {doing}"
        rate = fmt.rate(now.completed / (now.elapsed_ns / 1e9))
        failed = f", {fmt.count(now.failed)} failed" if now.failed else ""
        return f"{seen.name(seen.slot.case, 40)}  {doing} {now.elapsed_ns / 1e9:.1f} s: {rate}{failed}"

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
        """Say the first failure of a case, beside a live screen too."""
        failed = [one for one in seen.run.trials if one.case == trial.case and one.failure]
        if trial.failure and len(failed) == 1 and trial.failure.stage not in _TOLD_BEFORE:
            said = f"{trial.failure.stage} failed: {fmt.safe(trial.failure.reason)}"
            self._say(f"{seen.name(trial.case)}: {said}")

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
