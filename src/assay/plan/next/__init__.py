"""What a run does next: a pure function of its design and of the trials so far.

    while (due := next_due(run)) is not None:
        ...                                     # the controller runs it, stores it, and asks again

Where the design is interleaved, what is due may be an interleaved block: trials of a block that are
interleaved. Its servers stand on for the loads that follow from it (`to_stand`).

A kind of run is a value in `assay.model.design`, a function here that says what comes next, a file of its
words in `assay.report`, and a line in each table that names them: `NEXT` here, `SENTENCES` (report/answer.py)
and `WORDS` (report/run_live.py). Without words of its own it has those of any run.
"""

from __future__ import annotations

from assay.plan.next.kinds import NEXT, next_due, next_trial, to_stand
from assay.plan.next.schedule import Due, DueBlock, Slot, given_up

__all__ = ["NEXT", "Due", "DueBlock", "Slot", "given_up", "next_due", "next_trial", "to_stand"]
