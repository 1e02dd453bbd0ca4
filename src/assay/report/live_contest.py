"""The live words of a contest: how each block left the question."""

from __future__ import annotations

from rich.text import Text

from assay.report import format as fmt
from assay.report.live_words import BAR_WIDTH, LiveWords, Seen
from assay.report.load import bar
from assay.report.model import contest
from assay.report.style import FAINT, HEADING
from assay.stats.sequential import FEWEST_BLOCKS
from assay.values.design import ContestDesign
from assay.values.run import Run


class ContestWords(LiveWords):
    """A line a block in a log, and the load that is left on a screen."""

    def begins(self, seen: Seen) -> str:
        """What it will take to settle anything, and when it ends at the latest."""
        design, cases = seen.run.header.design, len(seen.run.header.cases)
        assert isinstance(design, ContestDesign)  # chosen for that
        expected = [seen.expected_s.get(case.id, (0.0, 0.0)) for case in seen.run.header.cases]
        blocks = 1 if design.weave else FEWEST_BLOCKS
        least, most = (fmt.span(blocks * sum(each)) for each in zip(*expected, strict=True))
        span = least if least == most else f"{least} to {most}"
        ends = f"it ends after {fmt.span(design.budget_ns / 1e9)} of load at the latest"
        if design.weave:
            sitting = f"a sitting of {fmt.counted(cases, 'server')}"
            return f"{sitting} takes {span}, and one may settle a large difference; {ends}"
        fewest = f"{FEWEST_BLOCKS} blocks of {fmt.counted(cases, 'trial')}, the fewest that settle anything"
        return f"{fewest}, take {span}; {ends}"

    def ended(self, seen: Seen) -> str:
        """Where the question stands, after a whole block."""
        return contest.standing(seen.run) if _block_is_over(seen.run) else ""

    def head(self, seen: Seen) -> Text:
        """Where the question stands."""
        first = "first sitting" if seen.run.header.design.weave else "first block"
        return Text(contest.standing(seen.run) if seen.run.trials else first, HEADING)

    def progress(self, seen: Seen) -> Text:
        """How much of the budget is left."""
        assert isinstance(seen.run.header.design, ContestDesign)  # chosen for that
        budget_s, spent_s = seen.run.header.design.budget_ns / 1e9, contest.load_s(seen.run)
        drawn = f"{bar(spent_s / budget_s if budget_s else 0, BAR_WIDTH):·<{BAR_WIDTH}}"
        return Text(f"{drawn}  at most {fmt.span(max(0.0, budget_s - spent_s))} of load left", FAINT)


def _block_is_over(run: Run) -> bool:
    block = [trial for trial in run.trials if trial.block == run.trials[-1].block]
    return len(block) == len(run.header.cases)
