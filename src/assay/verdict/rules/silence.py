"""W, continued: requests that are under way at the end must be few and young, as they are in any load.

They are no failure yet and no answer any more: a server that stopped in the middle of a load shows 0 failed
requests and times of those that it answered before.
"""

from __future__ import annotations

from assay.verdict.load import Load
from assay.verdict.rule import Effects, Hit, LoadRule, Threshold, Thresholds
from assay.verdict.words import counted, duration

LEAST_NS = 500e6
"""No silence is told that is shorter: a collector may rest for a tenth of a second."""
FACTOR = 2.0
"""Nor one that is not so many times as long as the longest answer of the load took."""


def patience_ns(load: Load, least_ns: float = LEAST_NS, factor: float = FACTOR) -> float | None:
    """For how long a request of this load may wait before it waits for longer than answers take; None where
    no answer tells how long they take."""
    if load.clocks.service is None:
        return None
    begun = load.clocks.first_byte  # of wrong answers, too
    return max(least_ns, factor * max(load.clocks.service.max_ns, begun.max_ns if begun else 0.0))


def silent_ns(load: Load, patience: float | None) -> float:
    """For how long at its end nothing was answered although requests waited, where that is longer than
    `patience` and not our own pause; else 0."""
    waiting = load.waiting
    if waiting is None or patience is None:
        return 0.0
    silence = min(waiting.quiet_ns, waiting.oldest_ns)
    paused = max((worker.largest_stall_ns for worker in load.workers), default=0)
    return float(silence) if silence > patience and paused < silence / 2 else 0.0


def fell_silent(load: Load) -> bool:
    """Whether the server answered nothing any more at the end. What the load then lacks is nobody else's."""
    return silent_ns(load, patience_ns(load)) > 0


def left_unanswered(load: Load, thresholds: Thresholds) -> Hit | None:
    """W8, from the ages of what was under way at the end. Where nothing ended at all W2 says it."""
    waiting = load.waiting
    patience = patience_ns(load, thresholds["silence"], thresholds["factor"])
    if waiting is None or patience is None or not waiting.count:
        return None
    silence = silent_ns(load, patience)
    if silence:
        return Hit(
            "error",
            f"nothing was answered in the last {duration(silence)} of {duration(load.counts.duration_ns)} "
            f"({waiting.count:,} waiting)",
            {"silence_ns": silence, "waiting": float(waiting.count), "limit_ns": patience},
            gravity=1 + silence,
            effects=_SILENT,
        )
    hanging = waiting.longer_than(patience) if waiting.quiet_ns < patience else 0
    if not hanging:
        return None
    share = hanging / max(1, load.counts.ended)
    return Hit(
        "warning",
        f"{counted(hanging, 'request')} had no answer after {duration(patience)} or more "
        f"(the oldest after {duration(waiting.oldest_ns)}), while others were answered",
        {"hanging": float(hanging), "oldest_ns": float(waiting.oldest_ns), "limit_ns": patience},
        gravity=share,
        effects=_SOME_HANG,
    )


_SILENT = Effects("void", "void", when="nothing was answered any more")
_SOME_HANG = Effects(
    times="at least", because="some requests had no answer", when="some waited while others were answered"
)

W8 = LoadRule(
    code="W8",
    title="requests left without an answer",
    severities=("error", "warning"),
    effects=(_SILENT, _SOME_HANG),
    thresholds=(
        Threshold("silence", LEAST_NS, "ns", "longest time for which requests may wait at the end"),
        Threshold("factor", FACTOR, "ratio", "or so many times the longest answer, if that is more"),
    ),
    meaning=(
        "A load that ends while its requests wait counts them neither as answered nor as failed. They waited "
        "for much longer than any answer took: the server had stopped answering, and the rate is that of the "
        "time before."
    ),
    remedy=(
        "look at the server (did it stop, hang or run out of something?); measure for longer than the "
        "time-out to have such requests fail"
    ),
    source="ours",
    example="A server that is stopped in the middle of a load of 2 s: 5.41 k/s, and 0 failed.",
    check=left_unanswered,
)
