"""Numbers with a unit behind them, in the way that wrk and bombardier share.

A unit is left for the next one at 85 % of it: 849 is "849.00", 850 is "0.85k".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_FULL = 0.85


@dataclass(frozen=True)
class Units:
    """Names of units, each `scale` times the one before it.

    A tool may never reach the last (wrk): then it stands in `names` no more.
    """

    names: Sequence[str]
    scale: float

    def format(self, value: float, precision: int = 2) -> str:
        """`value`, given in the first unit, in the largest unit of which it is 85 % or more."""
        index = 0
        while index + 1 < len(self.names) and value >= _FULL * self.scale:
            value /= self.scale
            index += 1
        return f"{value:.{precision}f}{self.names[index]}"
