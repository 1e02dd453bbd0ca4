"""The live words of a comparison: how each block left the question."""

from __future__ import annotations

import math

from rich.text import Text

from assay.core import format as fmt
from assay.model.design import ComparisonDesign
from assay.model.run import Run
from assay.plan.next.room import room_of
from assay.report.live_words import BAR_WIDTH, LiveWords, RunProgress
from assay.report.load import bar
from assay.report.model import comparison
from assay.report.style import FAINT, HEADING
from assay.stats.sequential import FEWEST_BLOCKS
from assay.verdict.answer import answer
from assay.verdict.see_runs import load_ns, next_ns, room_left

_ROOM = 1.05
"""A load ends a little after its time."""


class ComparisonWords(LiveWords):
    """A line a block in a log, and the load that is left on a screen."""

    def begins(self, seen: RunProgress) -> str:
        """What it will take to settle anything, and when it ends at the latest."""
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
        fewest = f"{FEWEST_BLOCKS} blocks of {fmt.counted(cases, 'trial')}, the fewest that settle anything"
        return f"{fewest}, are {span}; {ends}"

    def ended(self, seen: RunProgress) -> str:
        """Where the question stands, after a whole block; after the first one that the budget has no room for
        the fewest, where it has not."""
        run = seen.run
        if not _block_is_over(run):
            return ""
        stands, left = comparison.state(run), room_left(run)
        short = run.trials[-1].block == 0 and 1 + left < FEWEST_BLOCKS and not answer(run).settled
        if not short:
            return stands
        needed_ns = load_ns(run) + (FEWEST_BLOCKS - 1) * next_ns(run)
        return f"{stands}; the budget has room for {fmt.count(left)} more: {_doubtful(needed_ns)}"

    def head(self, seen: RunProgress) -> Text:
        """Where the question stands."""
        first = "first block" if seen.run.header.design.interleave else "first block"
        return Text(comparison.state(seen.run) if seen.run.trials else first, HEADING)

    def progress(self, seen: RunProgress) -> Text:
        """How much of the budget is left."""
        assert isinstance(seen.run.header.design, ComparisonDesign)  # chosen for that
        budget_s, spent_s = seen.run.header.design.budget_ns / 1e9, comparison.load_s(seen.run)
        drawn = f"{bar(spent_s / budget_s if budget_s else 0, BAR_WIDTH):·<{BAR_WIDTH}}"
        return Text(f"{drawn}  at most {fmt.span(max(0.0, budget_s - spent_s))} of load left", FAINT)


def _doubtful(needed_ns: int) -> str:
    """That the fewest blocks which settle anything are doubtful, and a budget that has room for them."""
    enough_s = math.ceil(_ROOM * needed_ns / 1e9)
    return (
        f"{FEWEST_BLOCKS}, the fewest that order servers, are doubtful "
        f"(--budget {enough_s}s has room for them)"
    )


def _block_is_over(run: Run) -> bool:
    block = [trial for trial in run.trials if trial.block == run.trials[-1].block]
    return len(block) == len(run.header.cases)
