"""How long a server is warmed up: its first trials show it, the others go by those. Pure.

A fresh process of the same program under the same load warms up as the ones before did, so only the first are
watched until their throughput is steady. That leaves more of the time for what is compared, and more than a
little of it on a restless machine, where few looks are steady and a watched warm-up runs to its bound. Should
a later one not be warm, rule S2 sees it in the measured windows.

Builds of one program warm up alike, so what each was seen to need counts for all of them: a machine that
moves the level of one late in its only watched warm-up would else keep every one that follows at its bound.
"""

from __future__ import annotations

from assay.values.design import WarmUp
from assay.values.run import Run

LEAST_NS = 300_000_000
"""Three slices of a warm-up in turns: a compiled server is at its level in the first."""
_MARGIN = 1.5
"""The last change of level lay within the first third of what was watched; half as much again is safe."""


def warm_up_for(run: Run, case: str, watched: int) -> WarmUp:
    """The warm-up of the next trial of `case`, once `watched` trials of its server under its load were
    watched until they were steady: a control's trials are its original's, too."""
    whole = run.header.design.warm_ups[case]
    if whole.max_ns == 0:
        return whole
    cases = {one.id: one for one in run.header.cases}
    load, server = (cases[case].workload, cases[case].load), cases[case].server
    shown = [
        (cases[trial.case].server, trial.warm_up.changes_ns[-1] if trial.warm_up.changes_ns else 0)
        for trial in run.trials
        if (cases[trial.case].workload, cases[trial.case].load) == load
        and trial.warm_up is not None
        and trial.warm_up.bound_ns == whole.max_ns
    ]
    own = [last_ns for of, last_ns in shown if of == server]
    if len(own) < watched:
        return whole
    weave = run.header.design.weave
    alike = [last_ns for _, last_ns in shown] if weave is not None and weave.alike else own
    # Of several that were watched the shortest: the machine's own noise only adds.
    needed_ns = min(max(whole.min_ns, round(_MARGIN * min(alike))), whole.max_ns)
    return WarmUp(min_ns=needed_ns, max_ns=needed_ns)
