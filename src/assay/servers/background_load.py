"""What other programs take of this machine, before anything of ours runs on it."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from assay.servers import host
from assay.servers.cores import CoreSplit

_MOST_NAMED = 3
_WORTH_NAMING = 0.05
"""Of a core: what takes less disturbs nobody."""


@dataclass(frozen=True)
class BackgroundLoad:
    """So many of the machine's cores were kept busy by other programs, by those above all."""

    cores_busy: float
    programs: tuple[str, ...] = ()


Look = Callable[[float], BackgroundLoad]
"""A look that takes so many seconds."""


def glance(seconds: float) -> BackgroundLoad:
    """Look at the cores alone, which costs nothing."""
    watch = host.Watch(CoreSplit((), (), os.cpu_count() or 1))
    time.sleep(seconds)
    seen = watch.observed()
    own = (seen.own_cpu_ns or 0) / 1e9 / seconds
    return BackgroundLoad(max(0.0, (seen.busy_cores or 0.0) - own))


def measure(seconds: float) -> BackgroundLoad:
    """Look at every process, too, to name those that are busy."""
    before = _spent()
    cores_busy = glance(seconds).cores_busy
    spent_s: dict[str, float] = defaultdict(float)
    for process, now_s in _spent().items():
        spent_s[process[1]] += now_s - before.get(process, now_s)
    busiest = sorted(spent_s, key=lambda name: -spent_s[name])[:_MOST_NAMED]
    return BackgroundLoad(
        cores_busy, tuple(name for name in busiest if spent_s[name] > _WORTH_NAMING * seconds)
    )


def _spent() -> dict[tuple[int, str], float]:
    """Seconds of CPU time by process, without this one."""
    found = {}
    for process in psutil.process_iter(["name", "cpu_times"]):
        times = process.info["cpu_times"]
        if process.pid != os.getpid() and times is not None:
            found[process.pid, process.info["name"]] = times.user + times.system
    return found
