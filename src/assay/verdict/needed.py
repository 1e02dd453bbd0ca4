"""How many blocks would probably answer the question of a comparison."""

from __future__ import annotations

import math

from assay.stats.pairing import half_width
from assay.stats.sequential import blocks_to_settle
from assay.verdict.facts import RunSeen
from assay.verdict.pairs import Between


def blocks_needed(seen: RunSeen, found: Between, margin: float, bias: float, edge: float = 1.0) -> int | None:
    """How many blocks would probably tell the ratio from `edge`, or exclude a difference of `margin`; None
    where that cannot be told.

    Servers that stand are compared by batches of their cycles: there it is as many blocks as hold those.
    """
    if found.pair is None:
        return None
    logs = [log - math.log(edge) for log in found.pair.logs]
    values = blocks_to_settle(logs, margin, lambda n: half_width(seen.manner, n, seen.alpha), bias)
    if values is None or not found.pair.batches:
        return values
    return math.ceil(values * seen.blocks / len(logs))
