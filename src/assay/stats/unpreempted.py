"""Cycles in which nobody kept the client from its core.

Another program that comes and goes on the client's core halves what a server seems to serve for as long as
it is there, and in a cycle in which it comes or goes one server meets it and the other does not. For how long
the client's threads were ready to run while others had their cores the kernel counts. On cores that the
client has for itself no server can do that to it: so whatever the servers do, to leave such cycles out of
both does not choose between them.

What always waits (for the kernel's own threads, and Assay's) is in the least of a server's cycles and
disturbs none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.stats.interleaved import FEWEST_CYCLES, Cycles

PREEMPTED = 0.1
"""Of a core, beyond what a tenth of a server's cycles had no more of. Beside a program that is busy half of
the time a cycle lacks half of the core or next to nothing, so little hangs on it: the ratio of two builds
in 41 blocks was known to 0.29 % with a twentieth or a twelfth of a core, to 0.42 % with a fifth, to 0.51 %
by all cycles. On a machine left alone a twentieth leaves out a quarter of all cycles, and a tenth a tenth.
"""
_LEAST = 0.1
ENOUGH = 0.5
"""The share of blocks that must have enough cycles left; else the disturbance is how the machine is, and
all cycles count."""


def unpreempted(a: Mapping[int, Cycles], b: Mapping[int, Cycles]) -> dict[int, list[int]] | None:
    """By block the cycles of both in which neither was preempted; none of an interleaved block that has too
    few.

    `a` and `b` are how much of a core the client lacked in each cycle of each block. None where nothing is
    known of that, where nothing was preempted, or where too few blocks are left.
    """
    both = [block for block in sorted(a.keys() & b.keys()) if a[block] and b[block]]
    if not both:
        return None
    most_a, most_b = _most(a), _most(b)
    calm = {
        block: [
            cycle
            for cycle in sorted(a[block].keys() & b[block].keys())
            if a[block][cycle] <= most_a and b[block][cycle] <= most_b
        ]
        for block in both
    }
    if sum(map(len, calm.values())) == sum(len(a[block].keys() & b[block].keys()) for block in both):
        return None
    left = {block: cycles if len(cycles) >= FEWEST_CYCLES else [] for block, cycles in calm.items()}
    return left if sum(map(bool, left.values())) >= ENOUGH * len(both) else None


def _most(delays: Mapping[int, Cycles]) -> float:
    """From where on a cycle of this server was preempted."""
    seen = sorted(delay for cycles in delays.values() for delay in cycles.values())
    return PREEMPTED + seen[math.ceil(_LEAST * len(seen)) - 1]
