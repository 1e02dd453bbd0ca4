"""G, continued: the load that was offered must be the one that was asked for.

Whose doing it was that connections or streams were too few, `assay.verdict.bottleneck` says.
"""

from __future__ import annotations

import math

from assay.core.units import counted
from assay.core.units import share as percent
from assay.verdict.bottleneck import MISSING, WAITED, blamed, bottleneck_of
from assay.verdict.causes import CONNECTING, LONGER, QUEUE, cause_of
from assay.verdict.load import Load, intended_between
from assay.verdict.rule import Effects, Hit, LoadRule, Threshold, Thresholds
from assay.verdict.rules.bottleneck import REMEDIES
from assay.verdict.silence import fell_silent


def offered_too_little(load: Load, thresholds: Thresholds) -> Hit | None:
    """G3, open loops: what was sent against what the schedule asked for over the measured time."""
    schedule = load.open_loop
    if schedule is None or fell_silent(load):
        return None
    started, intended = load.measured.started, intended_between(schedule, 0, load.measured.measured_ns)
    if intended <= 0:
        return None
    missing = 1 - started / intended
    # A Poisson schedule scatters by sqrt(n): three deviations of that are no shortfall.
    scatter = 3 / math.sqrt(intended) if schedule.arrivals == "poisson" else 0.0
    if missing <= thresholds["warning"] + scatter:
        return None
    return Hit(
        "error" if missing > thresholds["error"] else "warning",
        f"{started:,} of {intended:,.0f} intended requests were sent ({percent(missing)} short)",
        {"offered": float(started), "intended": intended, "missing_share": missing},
        gravity=missing,
        effects=_ANOTHER_LOAD if missing > thresholds["error"] else _LIGHTER,
    )


_ANOTHER_LOAD = Effects("void", "void", when="above 10 %")
_LIGHTER = Effects(when="up to 10 %")

G3 = LoadRule(
    code="G3",
    title="less was offered than intended",
    severities=("warning", "error"),
    effects=(_ANOTHER_LOAD, _LIGHTER),
    thresholds=(
        Threshold("warning", 0.01, "share", "shortfall of the offered rate that warns of it"),
        Threshold("error", 0.10, "share", "shortfall above which its figures are invalid"),
    ),
    meaning=(
        "The load was lighter than its label, so the times belong to a lower rate than the one they are "
        "shown for."
    ),
    remedy="allow more connections, give the generator more threads, or ask for a lower rate",
    source="Lancet's tolerance of 10 % of the offered load",
    example=(
        "A plan of 50,000/s on 10 connections to a server that takes 1 ms: 10,000/s is all that can be sent."
    ),
    check=offered_too_little,
)


def pool_too_small(load: Load, thresholds: Thresholds) -> Hit | None:
    """G4, open loops: a full pool makes arrivals wait for answers, as a closed loop does. Starts that waited
    are counted."""
    if load.closed or not load.places or fell_silent(load):
        return None
    missed, waited = load.measured.missed_starts, load.measured.waited_starts or 0
    if missed:
        return Hit(
            "warning",
            f"{counted(missed, 'start')} could not be made",
            {"missed_starts": float(missed)},
            gravity=missed,
        )
    share, limit = waited / max(1, load.measured.started), thresholds["waited"]
    if share <= limit:
        return None
    said = f"{counted(waited, 'start')} came due while no {load.place} was free"
    figures = {"waited_share": share, "limit": limit}
    remedy = _LOWER_RATE if (who := bottleneck_of(load).who) == "server" else REMEDIES.get(who, "")
    return Hit("warning", said + blamed(load, "limit"), figures, share, remedy)


_LOWER_RATE = "ask for a lower rate (--rate): with more connections arrivals would wait in the server"


G4 = LoadRule(
    code="G4",
    title="the open loop ran out of connections",
    severities=("warning",),
    effects=(Effects(times="at least", because="arrivals waited for connections"),),
    thresholds=(Threshold("waited", 0.001, "share", "starts that may come due while no connection is free"),),
    meaning=(
        "Arrivals had to wait for connections or were dropped, so the response times shown are a lower "
        "bound of what independent users would have seen."
    ),
    remedy="allow more connections (--connections), or accept that the server cannot carry this rate",
    source="k6's dropped iterations",
    example=(
        "A stall of one second at 1,000/s needs 1,000 connections; with 100 the other 900 arrivals go unseen."
    ),
    check=pool_too_small,
)


def connections_missing(load: Load, thresholds: Thresholds) -> Hit | None:
    """G8. But for "nothing was reached" closed loops only: an open loop opens what it needs."""
    asked, in_flight = load.asked, load.measured.requests.in_flight
    opened, answered = load.measured.connections.opened, load.measured.connections.answered
    if load.reached_nothing:
        return Hit(
            "error",
            "nothing was reached: no connection was ever opened" + _reason(load),
            {"asked": float(asked), "opened": 0.0},
            gravity=1.0,
            remedy=_WHERE_NOTHING_IS.get(_worst(load), _WHERE_NOTHING_IS["connect_refused"]),
            effects=_FEW_SERVED,
        )
    if not load.closed or (opened == asked and answered >= asked):
        return None
    all_failed = load.measured.failed > 0 and not _worst(load)
    if not load.measured.completed and (all_failed or (opened == asked and in_flight > 0)):
        return None  # W2 says that no answer was right, and why
    figures = {"asked": float(asked), "opened": float(opened), "answered": float(answered)}
    if opened != asked:
        evidence = f"{opened:,} of the {counted(asked, 'connection')} asked for were opened"
    else:
        evidence = f"{counted(asked - answered, 'connection')} of {asked:,} never got an answer"
    missing = (asked - min(opened, answered)) / asked
    if load.closes_each and not _worst(load):
        said = f"{evidence}: the server closes each after an answer, and they waited to be accepted"
        return Hit("warning", said, figures, missing, remedy=QUEUE, effects=_QUEUED)
    effects = _MOST_SERVED if missing <= thresholds["missing"] else _FEW_SERVED
    evidence += _reason(load) or blamed(load, "limit")
    return Hit("error", evidence, figures, missing, _what_to_do(load), effects)


def _what_to_do(load: Load) -> str:
    """By how connections failed, else by what most requests met, by who limited the load, or by how long
    answers take."""
    if _worst(load):
        return CONNECTING[_worst(load)]
    if (cause := cause_of(load)) is not None:
        return cause.remedy
    if (who := bottleneck_of(load).who) in REMEDIES:
        return REMEDIES[who]
    slowest = load.service.max_ns if load.service else 0.0
    if load.measured.measured_ns and slowest > _SLOW_SHARE * load.measured.measured_ns:
        return f"{LONGER}, or {QUEUE}"
    return QUEUE


_SLOW_SHARE = 0.25
"""Answers that take so much of the measured time may well have come after its end."""


def _reason(load: Load) -> str:
    """How most of the connections failed that did, in brackets; "" where it is not known."""
    count = sum(outcome.count for outcome in load.measured.outcomes if outcome.kind == _worst(load))
    return f" ({_worst(load).replace('_', ' ')}: {count:,})" if count else ""


def _worst(load: Load) -> str:
    """The kind of failure that most connections met that could not be opened; "" where none failed."""
    failed = [outcome for outcome in load.measured.outcomes if outcome.kind in CONNECTING]
    return max(failed, key=lambda outcome: outcome.count).kind if failed else ""


_WHERE_NOTHING_IS = CONNECTING | {
    "connect_refused": "start the server, or correct the address and the port",
    "connect_timeout": "nothing answers there: correct the address, or look for a firewall between",
}
_QUEUED = Effects(
    "at least",
    "at least",
    because="connections waited to be accepted",
    when="they waited for a server that closes each after an answer",
    held_back=True,
)

_MOST_SERVED = Effects(
    "at least",
    "void",
    because="some connections were missing",
    when="up to 10 % of them are missing",
    held_back=True,
)
_FEW_SERVED = Effects("void", "void", when="more")

G8 = LoadRule(
    code="G8",
    title="connections missing",
    severities=("error", "warning"),
    effects=(_MOST_SERVED, _FEW_SERVED, _QUEUED),
    thresholds=(
        Threshold(
            "missing", MISSING, "share", "share of missing connections up to which throughput is a bound"
        ),
    ),
    meaning=(
        "The load was not the one that was asked for: fewer clients than stated were being served, so the"
        " throughput and the times belong to another experiment."
    ),
    remedy=QUEUE,
    source="the published franklin study: 157 connect errors of 396 connections in every run",
    example="wrk -c400 with `connect 157` in its socket errors: 239 connections carried the load.",
    check=connections_missing,
)


def limits_set_the_pace(load: Load, thresholds: Thresholds) -> Hit | None:
    """G13, streams: requests that waited for leave to open a stream, or whose bodies waited for a window."""
    held, stalled = load.held_shares
    if held > thresholds["waited"] and held >= stalled:
        allowed = load.waits.allowed if load.waits else None
        said = f"the server allows {counted(allowed, 'stream')} at once" if allowed else "no stream was free"
        return Hit(
            "warning",
            f"{said} on a connection, {load.streams:,} were asked for: each request's place waited "
            f"{percent(held)} of the time",
            {"waited": held, "limit": thresholds["waited"]},
            gravity=held,
        )
    if stalled > thresholds["waited"]:
        return Hit(
            "warning",
            f"bodies of requests waited for the server's windows for {percent(stalled)} of the time",
            {"waited": stalled, "limit": thresholds["waited"]},
            gravity=stalled,
            remedy="raise the server's windows (initial window size), or use more connections",
        )
    return None


G13 = LoadRule(
    code="G13",
    title="a limit on streams set the pace",
    severities=("warning",),
    effects=(
        Effects("at least", "at least", because="requests waited for streams or windows", held_back=True),
    ),
    thresholds=(
        Threshold("waited", WAITED, "share", "share of the time that places may wait for streams or windows"),
    ),
    meaning=(
        "The server had fewer requests at a time than the load was named for: its limit of streams on a "
        "connection, or its windows, held the others back. With more connections it may serve more."
    ),
    remedy="ask for fewer streams and more connections, or raise the server's limits",
    source="ours; RFC 9113, 5.1.2 and 5.2; RFC 9000, 4",
    example="--streams 100 against nginx's default of 128 is free; against a server that allows 10, 90 wait.",
    check=limits_set_the_pace,
)
