"""What ab shows while the load goes on: a line every tenth of the requests, or nothing but the end."""

from __future__ import annotations

from assay.core import console
from assay.dropin.ab.flags import AbFlags
from assay.model.measurement import Measurement, Snapshot

_FEWEST_BETWEEN = 100
_MOST_WITHOUT = 150


def step(flags: AbFlags) -> int:
    """After how many requests a line is due; 0 for a load that shows none."""
    if not flags.layout.progress or flags.requests <= _MOST_WITHOUT:
        return 0
    return max(_FEWEST_BETWEEN, flags.requests // 10)


class AbProgress:
    """Says how many requests have ended, each time a step more have."""

    def __init__(self, flags: AbFlags) -> None:
        """Say nothing yet."""
        self._step = step(flags)
        self._said = 0

    def watch(self, snapshot: Snapshot) -> None:
        """Catch up with a load that goes on."""
        self._catch_up(snapshot.completed + snapshot.failed)

    def end(self, measured: Measurement, *, finished: bool) -> None:
        """Say the rest; a load that came to its end says so."""
        done = measured.completed + measured.failed
        self._catch_up(done)
        if finished and self._step:
            console.note(f"Finished {done} requests")
        elif finished:
            console.write("..done")

    def _catch_up(self, done: int) -> None:
        while self._step and self._said + self._step <= done:
            self._said += self._step
            console.note(f"Completed {self._said} requests")
