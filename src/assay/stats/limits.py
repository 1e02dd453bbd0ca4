"""A limit held against what is known of a change: broken or kept only where that leaves no doubt."""

from __future__ import annotations

import math
from typing import Literal

from assay.model.estimate import Estimate

Held = Literal["kept", "broken", "could not tell"]


def check_limit(change: Estimate | None, edge: float, *, more_is_better: bool) -> Held:
    """Broken where the whole interval lies beyond the edge, kept where all of it lies within.

    A change that is known from one side only can still decide a limit.
    """
    if change is None or change.n < 2:
        return "could not tell"
    low = -math.inf if change.low is None else change.low
    high = math.inf if change.high is None else change.high
    if more_is_better:
        return "broken" if high < edge else "kept" if low >= edge else "could not tell"
    return "broken" if low > edge else "kept" if high <= edge else "could not tell"
