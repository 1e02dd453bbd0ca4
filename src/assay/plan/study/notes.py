"""What a reader should know of a study before it starts: what its control costs, and `--quick` leaves out."""

from __future__ import annotations

from assay.model.design import Choices
from assay.plan.resolved import ResolvedCase
from assay.plan.study.control import AGAIN
from assay.plan.study.schema import Profile
from assay.stats.pairing import LEAST_BLOCKS
from assay.stats.special import student_t_quantile


def control_note(again: ResolvedCase | None, blocks: int) -> tuple[str, ...]:
    """What the control costs."""
    if again is None:
        return ()
    trials, cost_s = again.case.trials(blocks), sum(again.expected_s()) / 2
    of = "each block" if trials == blocks else f"{trials} of {blocks} blocks"
    return (
        f"A/A control: {again.case.label.removesuffix(AGAIN)} is measured a second time in {of}, about "
        f"{trials * cost_s:.0f} s more (--no-control leaves it out)",
    )


def quick_note(profile: Profile, choices: Choices, blocks: int) -> tuple[str, ...]:
    """What a first look costs in certainty, and what it leaves out."""
    if not choices.quick:
        return ()
    notes = []
    if blocks < profile.blocks:
        wider = _half_width(blocks) / _half_width(profile.blocks)
        said = f"intervals about {wider:.1f} times as wide" if wider < 100 else "no intervals"
        fewer = f"{blocks} blocks of shorter trials instead of {profile.blocks}"
        notes.append(f"quick: {fewer}: {said}{'' if blocks >= LEAST_BLOCKS else ', and no ranking'}")
    left_out = ["open loops"] if any(load.latency for load in profile.loads) and not choices.latency else []
    left_out += ["searches for a capacity"] if any(load.objective for load in profile.loads) else []
    if left_out:
        notes.append(f"quick: the study's {' and '.join(left_out)} are left out")
    return tuple(notes)


def _half_width(trials: int) -> float:
    """Of a 95 % t interval, in units of the trials' standard deviation."""
    return student_t_quantile(trials - 1, 0.975) / trials**0.5 if trials > 1 else float("inf")
