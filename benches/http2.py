"""HTTP/2 beside h2load and a bare client: CPU a request, without TLS and over TLS of two servers."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from dataclasses import replace

from comparisons import PROVERB, Comparison, Serve, null
from contenders import ASSAY, Contender, Task, counted, last_line
from model import Benchmark, Bound, Load, Sample
from programs import Server, Unavailable, bare_client, need, run, serving_h2o, serving_nginx

SHAPES = (
    (1, 1, 200_000),
    (1, 100, 20_000_000),
    (8, 10, 8_000_000),
    (64, 1, 1_000_000),
    (64, 100, 20_000_000),
)
"""Connections, streams on each, and the requests of a full run: enough that a start weighs little."""
OF_NGINX = 4
"""Over TLS nginx is asked for a part of them: it answers a hundred streams no sooner than one."""
MOST_OF_H2O = 5_000_000


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
    program = bare_client("bare_http2.c", tls=task.server.scheme == "https")
    words = [task.server.port, load.target, load.connections, load.streams, task.requests]
    return counted(run([str(program), *map(str, words)], core))


H2LOAD = Contender("h2load", h2load)
FLOOR = Contender("floor", _floor)
CONTENDERS = (ASSAY, H2LOAD, FLOOR)


def _bounds(of_h2load: float) -> tuple[Bound, ...]:
    """The floor over h2load is shown, not required: a bound below it asks for less than the kernel takes."""
    return (
        Bound("cpu", "h2load", of_h2load),
        Bound("cpu", "floor", 1.15),
        Bound("cpu", "h2load", None, "floor"),
    )


def _nginx_tls(core: int) -> AbstractContextManager[Server]:
    return serving_nginx(core, tls=True, http2=True)


def _clear(load: Load) -> Comparison:
    return Comparison(
        f"http2-{_shape(load)}",
        f"HTTP/2 without TLS, {load.connections} x {load.streams} streams",
        null(*PROVERB),
        load,
        CONTENDERS,
        _bounds(0.35 if load.streams == 100 else 0.6),
    )


def _encrypted(name: str, program: str, serve: Serve, load: Load) -> Comparison:
    return Comparison(
        f"http2-{name}-{_shape(load)}",
        f"HTTP/2 over TLS ({program}), {load.connections} x {load.streams} streams",
        serve,
        load,
        CONTENDERS,
        _bounds(0.6),
    )


def _shape(load: Load) -> str:
    return f"{load.connections}x{load.streams}"


LOADS = tuple(Load(each, requests, streams=streams, http="2") for each, streams, requests in SHAPES)
COMPARISONS = (
    *(_clear(load) for load in LOADS),
    *(
        _encrypted("tls", "nginx", _nginx_tls, replace(load, requests=load.requests // OF_NGINX))
        for load in LOADS
    ),
    *(
        _encrypted("h2o", "h2o", serving_h2o, replace(load, requests=min(load.requests, MOST_OF_H2O)))
        for load in LOADS
    ),
)
BENCHMARKS = tuple(
    Benchmark(comparison.name, comparison.title, comparison.run, long=True, family="http2")
    for comparison in COMPARISONS
)
