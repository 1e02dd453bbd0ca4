"""G, continued: what a connection allows of streams may set the pace, where the server could do more."""

from __future__ import annotations

from assay.verdict.load import Load
from assay.verdict.rule import Effects, Hit, LoadRule, Threshold, Thresholds
from assay.verdict.words import counted, percent


def limits_set_the_pace(load: Load, thresholds: Thresholds) -> Hit | None:
    """G13, streams: requests that waited for leave to open a stream, or whose bodies waited for a window."""
    seen, duration_ns, places = load.waits, load.counts.duration_ns, load.asked.places
    if seen is None or not duration_ns or not places:
        return None
    held = seen.for_streams_ns / duration_ns / places
    stalled = seen.for_windows_ns / duration_ns / load.asked.connections
    if held > thresholds["waited"] and held >= stalled:
        allowed = seen.allowed
        said = f"the server allows {counted(allowed, 'stream')} at once" if allowed else "no stream was free"
        return Hit(
            "flagged",
            f"{said} on a connection, {load.asked.streams:,} were asked for: each request's place waited "
            f"{percent(held)} of the time",
            {"waited": held, "limit": thresholds["waited"]},
            gravity=held,
            remedy="ask for fewer streams and more connections, or raise the server's limit",
        )
    if stalled > thresholds["waited"]:
        return Hit(
            "flagged",
            f"bodies of requests waited for the server's windows for {percent(stalled)} of the time",
            {"waited": stalled, "limit": thresholds["waited"]},
            gravity=stalled,
            remedy="raise the server's windows (initial window size), or use more connections",
        )
    return None


G13 = LoadRule(
    code="G13",
    title="a limit on streams set the pace",
    severities=("flagged",),
    effects=(
        Effects("at least", "at least", because="requests waited for streams or windows", held_back=True),
    ),
    thresholds=(
        Threshold("waited", 0.05, "share", "share of the time that places may wait for streams or windows"),
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
