"""A server that answers nothing any more: for how long, and from when on that is told."""

from __future__ import annotations

from assay.verdict.load import Load

LEAST_NS = 500e6
"""No silence is told that is shorter: a collector may rest for a tenth of a second."""
FACTOR = 2.0
"""Nor one that is not so many times as long as the longest answer of the load took."""


def patience_ns(load: Load, least_ns: float = LEAST_NS, factor: float = FACTOR) -> float | None:
    """For how long a request of this load may wait before it waits for longer than answers take; None where
    no answer tells how long they take."""
    if load.service is None:
        return None
    # The first bytes are of wrong answers, too.
    return max(least_ns, factor * max(load.service.max_ns, load.measured.first_byte_time.max_ns))


def silent_ns(load: Load, patience: float | None) -> float:
    """For how long at its end nothing was answered although requests waited, where that is longer than
    `patience` and not our own pause; else 0."""
    waiting = load.waiting
    if waiting is None or patience is None:
        return 0.0
    silence = min(waiting.quiet_ns, waiting.oldest_ns)
    return float(silence) if silence > patience and load.longest_pause_ns < silence / 2 else 0.0


def fell_silent(load: Load) -> bool:
    """Whether the server answered nothing any more at the end. What the load then lacks is nobody else's."""
    return silent_ns(load, patience_ns(load)) > 0
