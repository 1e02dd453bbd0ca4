"""HTTP/3 side by side with a client that only counts streams, and with h2load where it can: CPU a request."""

from __future__ import annotations

from comparisons import PROVERB, Comparison, null
from contenders import ASSAY, Contender, Task, counted
from http2 import h2load
from model import Benchmark, Bound, Load, Sample
from programs import Unavailable, bare_http3, need, run

SHAPES = (
    (1, 1, 150_000),
    (1, 100, 5_000_000),
    (8, 10, 3_000_000),
    (64, 1, 600_000),
    (64, 100, 5_000_000),
)
"""Connections, streams on each, and the requests of a full run: enough that a start weighs little."""


def _h2load(task: Task, core: int) -> Sample:
    need("h2load", "nghttp2-client")
    try:
        return h2load(task, core, "--npn-list=h3")
    except Unavailable as problem:
        why = "it has no answer over HTTP/3, which Debian builds it without: it cannot be had here"
        raise Unavailable(why) from problem


def _floor(task: Task, core: int) -> Sample:
    load = task.load
    words = [task.server.port, load.target, load.connections, load.streams, task.requests]
    return counted(run([str(bare_http3()), *map(str, words)], core))


H2LOAD = Contender("h2load", _h2load)
FLOOR = Contender("floor", _floor)


def _comparison(connections: int, streams: int, requests: int) -> Comparison:
    return Comparison(
        f"http3-{connections}x{streams}",
        f"HTTP/3, {connections} x {streams} streams",
        null(*PROVERB, "--http3"),
        Load(connections, requests, streams=streams, http="3"),
        (ASSAY, FLOOR, H2LOAD),
        (Bound("cpu", "floor", 1.3), Bound("cpu", "h2load", 1.0)),
    )


COMPARISONS = tuple(_comparison(*shape) for shape in SHAPES)
BENCHMARKS = tuple(
    Benchmark(comparison.name, comparison.title, comparison.run, long=True, family="http3")
    for comparison in COMPARISONS
)
