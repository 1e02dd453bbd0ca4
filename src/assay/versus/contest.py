"""A comparison with nothing left to decide, in the shape of a study: its cases, its record, its terms."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from assay.adhoc.case import AdHoc, Terms, again
from assay.adhoc.hooks import Commands
from assay.stats.sequential import FEWEST_BLOCKS
from assay.study.resolved import ResolvedStudy
from assay.versus.answer import KIND

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
        names = [rival.id for rival in self.rivals]
        return ResolvedStudy(
            name=KIND,
            title=" against ".join(names),
            question="Which of these serves more requests under this load?",
            profile="",
            quick=False,
            seed=self.seed,
            blocks=0,
            cases=cases,
            services=(),
            split=self.terms.split,
            record=self._record(),
        )

    def _record(self) -> dict[str, object]:
        """What the run's header keeps."""
        cases = [entry.resolved for entry in self.entries]
        record = {
            "kind": KIND,
            "title": " against ".join(rival.id for rival in self.rivals),
            "question": "Which of these serves more requests under this load?",
            "sought": self.sought,
            "budget_ns": self.budget_ns,
            "url": self.terms.url,
            "rivals": {rival.id: rival.rival.command or rival.rival.url for rival in self.rivals},
            "plans": {case.case.id: case.plan for case in cases},
            "warm_up": {case.case.id: case.warm_up for case in cases},
            "titles": {case.case.id: case.server.title for case in cases},
            "rules": {
                "S5": {"thresholds": {"trials": float(FEWEST_BLOCKS)}, "reason": _S5},
                "S7": {"thresholds": {"window": float(self.measure_ns)}, "reason": _S7},
            },
        }
        plain: dict[str, object] = msgspec.to_builtins(record)
        return plain


def order_of_block(cases: Sequence[str], block: int, seed: int) -> tuple[str, ...]:
    """Every case once. Blocks come in twos: the second runs the first's random order backwards, so that over
    two blocks every case has the same mean place, and a steady drift favours none."""
    shuffled = list(cases)
    random.Random(f"{seed}/{block // 2}").shuffle(shuffled)
    return tuple(reversed(shuffled)) if block % 2 else tuple(shuffled)
