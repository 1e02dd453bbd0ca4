"""How far another machine's clock is from this one's, from readings asked for there and back. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.trial import ClockSeen


class ClockReading(NamedTuple):
    """When a reading was asked for and came back by this clock, and what the other showed in between."""

    asked_ns: int
    there_ns: int
    came_ns: int

    @property
    def round_trip_ns(self) -> int:
        """How long it took."""
        return self.came_ns - self.asked_ns


def clock_of(readings: Sequence[ClockReading]) -> ClockSeen:
    """The other clock, from the reading that took the shortest way (as NTP chooses, RFC 5905, 10).

    The other clock was read at some moment between the asking and the coming, nobody knows which: its
    offset is that of the middle, and half the round trip to either side bounds it, however the way there
    and the way back differ.
    """
    best = min(readings, key=lambda reading: reading.round_trip_ns)
    middle_ns = (best.asked_ns + best.came_ns) // 2
    return ClockSeen(
        offset_ns=best.there_ns - middle_ns,
        uncertainty_ns=(best.round_trip_ns + 1) // 2,
        round_trip_ns=best.round_trip_ns,
    )
