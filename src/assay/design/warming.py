"""How long a rival is warmed up: its first trial shows it, the others go by that. Pure.

A fresh process of the same program under the same load warms up as the one before did, so only the first
is watched until its throughput is steady. That leaves more of the budget for what is compared; should a
later one not be warm, rule S2 sees it in the measured windows.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.values.design import WarmUp
from assay.values.trial import Trial

LEAST_NS = 300_000_000
"""Three slices of a warm-up in turns: a compiled server is at its level in the first."""
_MARGIN = 1.5
"""The last change of level lay within the first third of what was watched; half as much again is safe."""


def warm_up_for(server: str, servers: dict[str, str], trials: Iterable[Trial], whole: WarmUp) -> WarmUp:
    """The warm-up of the next trial of `server`. `servers` names each case's server: a control's trials are
    its original's, too. `whole` is the rule for the first trial."""
    if whole.max_ns == 0:
        return whole
    shown = [
        trial.warm_up.changes_ns[-1] if trial.warm_up.changes_ns else 0
        for trial in trials
        if servers.get(trial.case) == server and trial.warm_up and trial.warm_up.bound_ns == whole.max_ns
    ]
    if not shown:
        return whole
    # Of two that were watched (the rival and its control) the shorter: the machine's own noise only adds.
    needed_ns = min(max(LEAST_NS, round(_MARGIN * min(shown))), whole.max_ns)
    return WarmUp(min_ns=needed_ns, max_ns=needed_ns)
