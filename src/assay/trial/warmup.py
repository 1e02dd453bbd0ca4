"""When a server is warm: a pure function of the windows seen so far."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from assay.study.resolved import WarmUp
from assay.values.measurement import Window


def is_warm(windows: Sequence[Window], rule: WarmUp) -> bool:
    """Whether the load may be measured from here on. `windows` are those of the warm-up, in order."""
    if not windows:
        return rule.max_ns == 0
    elapsed_ns = windows[-1].start_ns + windows[-1].length_ns - windows[0].start_ns
    if elapsed_ns >= rule.max_ns:
        return True
    if elapsed_ns < rule.min_ns:
        return False
    last = slice_rates(windows, rule.slice_ns)[-rule.level_slices :]
    mean = sum(last) / len(last) if last else 0.0
    return (
        len(last) == rule.level_slices
        and mean > 0
        and max(abs(r - mean) for r in last) <= rule.tolerance * mean
    )


def slice_rates(windows: Sequence[Window], slice_ns: int) -> list[float]:
    """Answers a second in each whole slice of `slice_ns`."""
    begin = windows[0].start_ns
    rates = []
    for _, group in groupby(windows, key=lambda window: (window.start_ns - begin) // slice_ns):
        inside = list(group)
        length_ns = sum(window.length_ns for window in inside)
        if length_ns >= 0.8 * slice_ns:
            rates.append(sum(window.completed for window in inside) / length_ns * 1e9)
    return rates
