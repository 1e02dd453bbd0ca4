"""A comparison with nothing left to decide, in the shape of a study: its cases, its record, its terms."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from assay.adhoc.case import AdHoc, Terms, again
from assay.stats.sequential import FEWEST_BLOCKS
from assay.study.resolved import ResolvedStudy
from assay.values.design import Commands, ContestDesign, RuleSetting

_S7 = "the blocks are what is compared: many short windows of fresh servers, not one long one"
_S5 = "the interval that is used holds from four blocks on"


@dataclass(frozen=True, kw_only=True)
class Contest:
    """The comparison. A trial is measured for `measure_ns`; `budget_ns` is of all load, warm-ups and the
    control included."""

    rivals: tuple[AdHoc, ...]
    terms: Terms
    measure_ns: int
    budget_ns: int
    sought: float
    seed: int
    control: bool = True
    unlike_allowed: bool = False
    commands: Commands = Commands()

    @property
    def entries(self) -> tuple[AdHoc, ...]:
        """The rivals, and the first of them again as the A/A control."""
        return (*self.rivals, again(self.rivals[0])) if self.control else self.rivals

    def study(self) -> ResolvedStudy:
        """The study that this comparison is."""
        cases = tuple(entry.resolved for entry in self.entries)
        return ResolvedStudy(
            name="versus", design=self._design(), cases=cases, services=(), split=self.terms.split
        )

    def _design(self) -> ContestDesign:
        """What the run's header keeps."""
        cases = [entry.resolved for entry in self.entries]
        return ContestDesign(
            title=" against ".join(rival.id for rival in self.rivals),
            question="Which of these serves more requests under this load?",
            seed=self.seed,
            sought=self.sought,
            budget_ns=self.budget_ns,
            measure_ns=self.measure_ns,
            rivals=tuple(rival.rival for rival in self.rivals),
            terms=self.terms.how,
            commands=self.commands,
            unlike_allowed=self.unlike_allowed,
            plans={case.case.id: case.plan for case in cases},
            warm_ups={case.case.id: case.warm_up for case in cases},
            titles={case.case.id: case.server.title for case in cases},
            rules={
                "S5": RuleSetting(thresholds={"trials": float(FEWEST_BLOCKS)}, reason=_S5),
                "S7": RuleSetting(thresholds={"window": float(self.measure_ns)}, reason=_S7),
            },
        )


def order_of_block(cases: Sequence[str], block: int, seed: int) -> tuple[str, ...]:
    """Every case once. Blocks come in twos: the second runs the first's random order backwards, so that over
    two blocks every case has the same mean place, and a steady drift favours none."""
    shuffled = list(cases)
    random.Random(f"{seed}/{block // 2}").shuffle(shuffled)
    return tuple(reversed(shuffled)) if block % 2 else tuple(shuffled)
