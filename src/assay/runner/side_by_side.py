"""Whether a run's servers can be alive at once. Where not, trials follow one another, and it is said why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from assay.plan.resolved import ResolvedCase, ResolvedRun
from assay.runner.bench import Where
from assay.servers.build import Prepared

MOST_ARMS = 64
"""Of the engine's (`crates/engine/src/plan/interleaved.rs`)."""
_HOUR_NS = 3_600_000_000_000
MOST_PHASE_NS = 12 * _HOUR_NS
"""The engine's own bound of each phase of an interleaved block, the most that it takes: it is we who end
them, by what was seen. That of the warm-up counts while anybody has turns."""
_BESIDE = 2
"""Times their own warm-ups is what all of them may take: washout, a pilot, and what is lent."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def settled(run: ResolvedRun, where: Where, free_bytes: int | None = None) -> ResolvedRun:
    """The run as it can be had: interleaved if it is to be and its servers fit, else with a line why not."""
    if run.design.interleave is None:
        return run
    free = where.site.free_bytes() if free_bytes is None else free_bytes
    problem = next(_problems(run, free), None)
    if problem is None:
        return run
    design = msgspec.structs.replace(run.design, interleave=None, sequential=problem)
    return replace(run, design=design)


def _problems(run: ResolvedRun, free_bytes: int) -> Iterator[str]:
    groups = [group for group in run.interleaved if len(group) > 1]
    if not groups:
        yield "there are no two closed loops for a set time, and other loads are not interleaved"
    for arms in groups:
        yield from _problems_of(arms)
    if run.services and any(_writes(case) for arms in groups for case in arms):
        yield f"the servers write to one {run.services[0].name}"
    needed = run.memory_at_once
    if needed > free_bytes:
        told = f"{needed / 1e9:.1f} GB of memory, {free_bytes / 1e9:.1f} GB are free"
        yield f"all servers at once would take {told}"


def _problems_of(arms: Sequence[ResolvedCase]) -> Iterator[str]:
    """Of those that would be alive at once."""
    if len(arms) > MOST_ARMS:
        yield f"{len(arms)} servers are more than the {MOST_ARMS} that can be interleaved"
    warm_ns = sum(case.warm_up.max_ns for case in arms)
    if warm_ns > MOST_PHASE_NS / _BESIDE:
        hours = f"{warm_ns / _HOUR_NS:.0f} h, and may take {MOST_PHASE_NS / _BESIDE / _HOUR_NS:.0f} h"
        yield f"to warm up interleaved could take {hours}"
    ports = Counter(case.ready.only_port for case in arms if isinstance(case.ready, Prepared))
    taken = [port for port, number in ports.items() if port is not None and number > 1]
    if taken:
        yield f"port {taken[0]} is given for several servers, and only one can have it"


def _writes(case: ResolvedCase) -> bool:
    return any(request.method not in _SAFE for request in case.plan.requests)
