"""What is said of a run while it goes on, by its kind: one line on a terminal, a line a block in a log."""

from __future__ import annotations

import math

import msgspec
from rich.text import Text

from assay.core import units as fmt
from assay.model.design import ComparisonDesign
from assay.model.run import Run
from assay.model.trial import Trial
from assay.plan.forecast import Left
from assay.plan.next.comparison import room_of
from assay.plan.next.schedule import Slot
from assay.report.model import comparison, followers
from assay.report.model.circumstances import because_added, blocks_of
from assay.stats import rate_per_s
from assay.stats.sequential import FEWEST_BLOCKS
from assay.verdict.answer import answer
from assay.verdict.search import answer_of
from assay.verdict.see_runs import load_ns, next_ns, room_left

_EXACT = 1.25
"""Bounds of the time left that are so near to each other are told as one time."""
_NAMED = 3
"""Cases whose rates a line of a log has room for."""


class RunProgress(msgspec.Struct, frozen=True):
    """A run as far as it has come, and what is `left` of it. `findings` are the grave ones so far, `slot` is
    the trial at hand, `block_s` what the last block took. `course` is how many trials a search is likely to
    need."""

    run: Run
    left: Left = Left(0.0, 0.0)
    findings: Text = msgspec.field(default_factory=Text)
    new_findings: bool = False
    slot: Slot | None = None
    block_s: float = 0.0
    course: int = 0

    @property
    def last(self) -> Trial:
        """The trial that ended last."""
        return self.run.trials[-1]

    @property
    def block(self) -> int:
        """The number of the block at hand, or else of the next one."""
        if self.slot is not None:
            return self.slot.block + 1
        return self.last.block + 2 if self.run.trials else 1

    def name(self, case_id: str, most: int = 60) -> str:
        """What a reader knows a case by."""
        names = {case.id: case.name for case in self.run.header.cases}
        return fmt.safe(names.get(case_id, case_id), most)


def left_words(left: Left) -> str:
    """The time left as a person says it, rounded so that it does not seem surer than it is."""
    low, high = (_rounded(seconds) for seconds in left)
    if high <= max(_EXACT * low, low + 5):
        return f"{fmt.span((low + high) / 2)} left"
    return f"{fmt.span(low)} to {fmt.span(high)} left" if low else f"at most {fmt.span(high)} left"


def _rounded(seconds: float) -> float:
    """To a second below one minute, to five below ten, to thirty above."""
    step = 1 if seconds < 60 else 5 if seconds < 600 else 30
    return round(seconds / step) * step


class LiveWords:
    """The words of a kind of run that has none of its own."""

    judges = False
    """Whether findings are looked for after each block: it takes time between them."""

    def begins(self, seen: RunProgress) -> str:
        """Said when the run begins; empty for nothing."""
        return ""

    def ended(self, seen: RunProgress) -> str:
        """Said after a trial; empty for nothing, as within a block."""
        last = seen.last
        rate = fmt.rate(rate_per_s(last.measurement)) if last.measurement else "not measured"
        return f"[{len(seen.run.trials):>2}] {seen.name(last.case)}: {rate}"

    def place(self, seen: RunProgress) -> str:
        """Where the trial at hand stands in the run."""
        return f"trial {len(seen.run.trials) + 1}"

    def left(self, seen: RunProgress) -> str:
        """The time left."""
        return left_words(seen.left)


class StudyWords(LiveWords):
    """Blocks, of which there is a number."""

    judges = True

    def begins(self, seen: RunProgress) -> str:
        """How much there is to do."""
        header = seen.run.header
        cases, blocks = fmt.counted(len(header.cases), "case"), fmt.counted(header.blocks or 0, "block")
        study = header.study
        blocks += f" (up to {study.blocks + study.more_blocks})" if study and study.more_blocks else ""
        how_long = left_words(seen.left).removesuffix(" left")
        return f"{header.study_name}: {cases} in {blocks}, about {how_long} of measuring; run {header.run_id}"

    def ended(self, seen: RunProgress) -> str:
        """A block's place, time and best rates, and how much is left."""
        run = seen.run
        done = run.trials[-1].block + 1
        if seen.slot is not None:  # within the block
            return ""
        codes = f"; findings so far: {seen.findings.plain}" if seen.new_findings else ""
        added = f"; {because_added(run)}" if done == run.header.blocks != blocks_of(run) else ""
        took = f" in {fmt.span(seen.block_s)}" if seen.block_s else ""
        place = f"[{done}/{blocks_of(run)}] block {done}{took}: {_rates(seen)}"
        return f"{place}; {self.left(seen)}{codes}{added}"

    def place(self, seen: RunProgress) -> str:
        """The block."""
        return f"block {seen.block} of {blocks_of(seen.run)}"


def _rates(seen: RunProgress) -> str:
    """The best candidates of the block that ended, and how many others there were."""
    block = [trial for trial in seen.run.trials if trial.block == seen.last.block]
    per_s = {trial.case: rate_per_s(trial.measurement) for trial in block if trial.measurement}
    closed = {case.id: case.role for case in seen.run.header.cases if not case.dependent}
    candidates = [case for case in per_s if closed.get(case) == "candidate"]
    best = sorted(candidates, key=lambda case: -per_s[case])[:_NAMED]
    named = [f"{seen.name(case, 40)} {fmt.rate(per_s[case])}" for case in best]
    others = len(per_s.keys() & closed.keys()) - len(best)
    lost = len({trial.case for trial in block} - per_s.keys())
    more = [f"{others} more"] if others else []
    return ", ".join([*named, *more, *([f"{lost} not measured"] if lost else [])])


_ROOM = 1.05
"""A load ends a little after its time."""


class ComparisonWords(LiveWords):
    """Blocks until the question is decided, at most until the budget is spent."""

    def begins(self, seen: RunProgress) -> str:
        """What it will take to decide anything, and when it ends at the latest."""
        design, cases = seen.run.header.design, len(seen.run.header.cases)
        assert isinstance(design, ComparisonDesign)  # chosen for that
        room = room_of(design)
        blocks = 1 if design.interleave else FEWEST_BLOCKS
        least, most = (fmt.span(blocks * each / 1e9) for each in (room.least_ns, room.most_ns))
        span = f"{least} of load" if least == most else f"{least} to {most} of load"
        count = str(room.most) if room.fewest == room.most else f"{room.fewest} to {room.most}"
        ends = (
            f"it ends after {fmt.span(design.budget_ns / 1e9)} of load at the latest, with room for {count}"
        )
        if room.fewest < FEWEST_BLOCKS:
            ends += f"; {_doubtful(FEWEST_BLOCKS * room.most_ns)}"
        if design.interleave:
            block = f"an interleaved block of {fmt.counted(cases, 'server')}"
            return f"{block} is {span}, and one may settle a large difference; {ends}"
        fewest = (
            f"{FEWEST_BLOCKS} blocks of {fmt.counted(cases, 'trial')}, the fewest there is to be room for"
        )
        return f"{fewest}, are {span}; {ends}"

    def ended(self, seen: RunProgress) -> str:
        """Where the question stands after a whole block, and the time left. After the first block also that
        the budget has no room for the fewest, where it has not."""
        run = seen.run
        block = [trial for trial in run.trials if trial.block == run.trials[-1].block]
        if not run.blocks and len(block) != len(run.header.cases):
            return ""
        stands, left = comparison.state(run), room_left(run)
        more = f"; {self.left(seen)}" if seen.left.high_s else ""
        short = run.trials[-1].block == 0 and 1 + left < FEWEST_BLOCKS and not answer(run).settled
        if not short:
            return f"{stands}{more}"
        needed_ns = load_ns(run) + (FEWEST_BLOCKS - 1) * next_ns(run)
        return f"{stands}; the budget has room for {fmt.count(left)} more: {_doubtful(needed_ns)}{more}"

    def place(self, seen: RunProgress) -> str:
        """The block; how many there will be is not known."""
        return f"block {seen.block}"

    def left(self, seen: RunProgress) -> str:
        """It may end after any block."""
        return f"at most {fmt.span(_rounded(seen.left.high_s))} left"


def _doubtful(needed_ns: int) -> str:
    """That the fewest blocks which settle anything are doubtful, and a budget that has room for them."""
    enough_s = math.ceil(_ROOM * needed_ns / 1e9)
    return (
        f"{FEWEST_BLOCKS}, the fewest there is to be room for, are doubtful "
        f"(--budget {enough_s}s has room for them)"
    )


class SearchWords(LiveWords):
    """Trials until the capacity is known, at most until the budget is spent."""

    def ended(self, seen: RunProgress) -> str:
        """Whether the objective held, the capacity so far, and the time left."""
        more = f"; {self.left(seen)}" if seen.left.high_s else ""
        return f"{followers.search_line(answer_of(seen.run))}{more}"

    def place(self, seen: RunProgress) -> str:
        """The trial, and how many there are likely to be."""
        number = len(seen.run.trials) + 1
        return f"trial {number} of about {max(number, seen.course)}" if seen.course else f"trial {number}"
