"""The live words of a search: what each trial said of the capacity."""

from __future__ import annotations

from rich.text import Text

from assay.report.live_words import LiveWords, RunProgress
from assay.report.model import search
from assay.report.style import FAINT, GOOD, HEADING
from assay.verdict.search import answer_of


class SearchWords(LiveWords):
    """A line a trial, and the capacity as far as it is known."""

    def ended(self, seen: RunProgress) -> str:
        """Whether the objective held, and the capacity."""
        return search.line(answer_of(seen.run))

    def head(self, seen: RunProgress) -> Text:
        """The capacity as far as it is known."""
        return Text.assemble(("capacity ", HEADING), (search.between(answer_of(seen.run).capacity), GOOD))

    def progress(self, seen: RunProgress) -> Text:
        """What the last trial said."""
        return Text(search.line(answer_of(seen.run)) if seen.run.trials else "first trial", FAINT)
