"""HTTP/2 side by side with h2load, and with a client that only counts frames: CPU a request."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager

from contenders import ASSAY, Contender, Task, counted, last_line
from contests import PROVERB, Contest, null
from model import Benchmark, Bound, Load, Sample
from programs import Server, Unavailable, bare_client, need, run, serving_nginx

SHAPES = (
    (1, 1, 200_000),
    (1, 100, 20_000_000),
    (8, 10, 8_000_000),
    (64, 1, 1_000_000),
    (64, 100, 20_000_000),
)
"""Connections, streams on each, and the requests of a full run: enough that a start weighs little."""


def h2load(task: Task, core: int, *flags: str) -> Sample:
    """One run of h2load with one thread."""
    load = task.load
    command = [need("h2load", "nghttp2-client"), *flags, "-t", "1", "-n", str(task.requests)]
    command += ["-c", str(load.connections), "-m", str(load.streams)]
    done = run([*command, task.server.url(load.target)], core)
    took = re.search(r"finished in ([\d.]+)(us|ms|s),", done.stdout)
    right = re.search(r"(\d+) succeeded, (\d+) failed", done.stdout)
    if done.code or took is None or right is None or right[2] != "0":
        raise Unavailable(f"h2load failed: {last_line(done)}")
    elapsed_s = float(took[1]) / {"s": 1, "ms": 1e3, "us": 1e6}[took[2]]
    return Sample(int(right[1]), elapsed_s, done.cpu_s)


def _floor(task: Task, core: int) -> Sample:
    load = task.load
    words = [task.server.port, load.target, load.connections, load.streams, task.requests]
    return counted(run([str(bare_client("bare_http2.c")), *map(str, words)], core))


H2LOAD = Contender("h2load", h2load)
FLOOR = Contender("floor", _floor)


def _nginx_tls(core: int) -> AbstractContextManager[Server]:
    return serving_nginx(core, tls=True, http2=True)


def _contest(connections: int, streams: int, requests: int, *, tls: bool) -> Contest:
    """The floor beside both without TLS; TLS has none of its own."""
    shape = f"{connections}x{streams}"
    bounds = [Bound("cpu", "h2load", 0.35 if streams == 100 and not tls else 0.6)]
    return Contest(
        f"http2-{'tls-' if tls else ''}{shape}",
        f"HTTP/2 {'over TLS (nginx)' if tls else 'without TLS'}, {connections} x {streams} streams",
        _nginx_tls if tls else null(*PROVERB),
        Load(connections, requests // 4 if tls else requests, streams=streams, http="2"),
        (ASSAY, H2LOAD) if tls else (ASSAY, H2LOAD, FLOOR),
        tuple(bounds if tls else [*bounds, Bound("cpu", "floor", 1.15)]),
    )


CONTESTS = tuple(_contest(*shape, tls=tls) for tls in (False, True) for shape in SHAPES)
BENCHMARKS = tuple(
    Benchmark(contest.name, contest.title, contest.run, long=True, family="http2") for contest in CONTESTS
)
