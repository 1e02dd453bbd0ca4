"""What a comparison has used of its budget, and whether it has room for another block."""

from __future__ import annotations

from assay.model.design import ComparisonDesign
from assay.model.run import Run


def load_ns(run: Run) -> int:
    """For how long load was offered, warm-ups included."""
    return sum(trial.load_ns for trial in run.trials)


def spent(run: Run) -> bool:
    """Whether the budget of a comparison has no room for another block; never of another run.

    It depends on lengths of time alone, not on what the ratios came to: so it is no choice among looks. A
    budget of 0 is one that the record does not know (format 1).
    """
    design = run.header.design
    if not isinstance(design, ComparisonDesign) or not design.budget_ns or not run.trials:
        return False
    return load_ns(run) + next_ns(run) > design.budget_ns


def room_left(run: Run) -> int:
    """How many blocks the budget of a comparison has room for yet, each like the last one."""
    design = run.header.design
    assert isinstance(design, ComparisonDesign)  # the caller chose it for that
    return max(0, design.budget_ns - load_ns(run)) // max(1, next_ns(run))


def next_ns(run: Run) -> int:
    """The load of another block: that of the last one, without the pilot, which only the first has."""
    last = max(trial.block for trial in run.trials)
    spent_ns = sum(trial.load_ns for trial in run.trials if trial.block == last)
    for block in run.blocks:
        if block.block == last and block.pilot is not None:
            arms = sum(1 for trial in block.trials if trial.arm and trial.measurement)
            spent_ns -= arms * block.pilot.cycles * (block.pilot.shorter_ns + block.pilot.longer_ns)
    return spent_ns
