"""The agreed slices by this machine's clock, for who offers none of them and has to know whose slice it
is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from assay.engine.driver import AgreedSlices
from assay.model.interleaving import InterleavedPlan, SliceTimes

_LATER_S = 0.005
"""When a slice is asked for again whose round nobody has drawn yet."""


def monotonic_of(unix_ns: int) -> int:
    """What the monotonic clock shows at an instant of this machine's calendar, as both stand now: whoever
    counts by it is not moved where the calendar is set."""
    before_ns, calendar_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    return (before_ns + after_ns) // 2 - (calendar_ns - unix_ns)


class AgreedCourse:
    """Slices from an instant on, waited for until they are over or `end` is called."""

    def __init__(self, plan: InterleavedPlan, starts_at_unix_ns: int) -> None:
        """`starts_at_unix_ns` is by this machine's calendar. PlanRefused where the plan is wrong."""
        self.agreed = AgreedSlices(plan)
        self.zero_ns = monotonic_of(starts_at_unix_ns)
        self._ended = threading.Event()

    def now_ns(self) -> int:
        """Time since the start."""
        return time.monotonic_ns() - self.zero_ns

    def wait_begin(self, number: int, timeout_s: float) -> SliceTimes | None:
        """The slice, once its slice begins; None where the time passed or the slices ended before."""
        return self._wait_for(number, lambda one: one.start_ns, timeout_s)

    def wait_end(self, number: int, timeout_s: float) -> SliceTimes | None:
        """The slice, once its slice is over; None where the time passed or the slices ended before."""
        return self._wait_for(number, lambda one: one.end_ns, timeout_s)

    def wait(self, timeout_s: float) -> bool:
        """Whether they are over, for good; waits for somebody to `end` them for at most so long."""
        return self._ended.wait(timeout_s) or self.agreed.is_over()

    def end(self) -> None:
        """Nobody waits any more."""
        self._ended.set()

    def _wait_for(
        self, number: int, point: Callable[[SliceTimes], int], timeout_s: float
    ) -> SliceTimes | None:
        give_up_ns = self.now_ns() + round(timeout_s * 1e9)
        while not self._ended.is_set():
            now_ns = self.now_ns()
            times = self.agreed.slice(number, now_ns)
            if times is not None and point(times) <= now_ns:
                return times
            if now_ns >= give_up_ns or (times is None and self.agreed.is_over()):
                return None
            look_again_ns = point(times) if times is not None else now_ns + round(_LATER_S * 1e9)
            self._ended.wait((min(look_again_ns, give_up_ns) - now_ns) / 1e9)
        return None
