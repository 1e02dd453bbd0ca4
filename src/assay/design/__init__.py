"""What a run does next: a pure function of its design and of the trials so far.

    while (due := next_trial(run)) is not None:
        ...                                     # the controller runs it, stores it, and asks again

A kind of run is a value in `assay.values.design`, a function here that says what comes next, a file of its
words in `assay.report`, and a line in each table that names them: `NEXT` here, `SENTENCES` (report/answer.py)
and `WORDS` (report/run_live.py). Without words of its own it has those of any run.
"""

from __future__ import annotations

from assay.design.due import Due, given_up
from assay.design.kinds import NEXT, next_trial
from assay.design.schedule import Slot

__all__ = ["NEXT", "Due", "Slot", "given_up", "next_trial"]
