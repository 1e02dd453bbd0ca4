"""Comparisons: the same load by several generators, interleaved in rounds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from contenders import (
    ASSAY,
    ASSAY_WRK,
    ASSAY_WRK_SCRIPTED,
    BARE,
    WRK,
    WRK_SCRIPTED,
    Contender,
    Task,
)
from model import Benchmark, Bound, Effort, Load, Outcome, Sample, loop_ratio, ratio, row
from programs import ANSWER, Cores, Server, Unavailable, serving_nginx, serving_null

PROVERB = ("--body", ANSWER)


Serve = Callable[[int], AbstractContextManager[Server]]
"""What starts a server on a core."""


@dataclass(frozen=True)
class Comparison:
    """`likely_per_s` only sizes wrk's runs, which end by the clock."""

    name: str
    title: str
    serve: Serve
    load: Load
    contenders: tuple[Contender, ...]
    bounds: tuple[Bound, ...]
    likely_per_s: float = 200_000
    same_core: bool = False

    def run(self, effort: Effort) -> Outcome:
        """Let every contender run once a round, in an order that changes with the rounds."""
        requests = effort.requests(self.load.requests)
        how = f"{self.load.connections} connections, {requests:,} requests a run, {effort.rounds} rounds"
        samples: dict[str, list[Sample]] = {each.name: [] for each in self.contenders}
        missing: dict[str, str] = {}
        try:
            cores = Cores.together() if self.same_core else Cores.apart()
            with self.serve(cores.server) as server:
                task = Task(server, self.load, requests, requests / self.likely_per_s)
                for number in range(effort.rounds):
                    times = number % len(self.contenders)
                    for contender in self.contenders[times:] + self.contenders[:times]:
                        if contender.name in missing:
                            continue
                        try:
                            samples[contender.name].append(contender.measure(task, cores.client))
                        except Unavailable as problem:
                            missing[contender.name] = f"{contender.name}: {problem}"
        except Unavailable as problem:
            return Outcome(self.name, self.title, how, missing=(str(problem),))
        whole = {name: taken for name, taken in samples.items() if name not in missing}
        rows = tuple(row(name, taken) for name, taken in whole.items())
        bounds = (bound for bound in self.bounds if {bound.contender, bound.against} <= whole.keys())
        figures = [ratio(bound, whole) for bound in bounds]
        for against in ("wrk", "floor"):
            if {"assay", against} <= whole.keys() and (loop := loop_ratio(against, whole)):
                figures.append(loop)
        return Outcome(self.name, self.title, how, rows, tuple(figures), tuple(missing.values()))


def null(*arguments: str) -> Serve:
    """The null server with these arguments."""
    return lambda core: serving_null(core, *arguments)


def _nginx(core: int) -> AbstractContextManager[Server]:
    return serving_nginx(core)


def _nginx_tls(core: int) -> AbstractContextManager[Server]:
    return serving_nginx(core, tls=True)


def _against_wrk(limit: float) -> tuple[Bound, ...]:
    return (Bound("cpu", "wrk", limit),)


BOTH = (ASSAY, WRK)
COMPARISONS = (
    Comparison(
        "null",
        "small answer of the null server, client and server on a core each",
        null(*PROVERB),
        Load(requests=4_000_000),
        (ASSAY, WRK, BARE),
        (Bound("cpu", "wrk", 0.72), Bound("throughput", "wrk", 1.35), Bound("cpu", "bare client", 1.06)),
    ),
    Comparison(
        "nginx",
        "small answer of nginx, client and server on a core each",
        _nginx,
        Load(requests=2_000_000),
        (ASSAY, WRK, BARE),
        _against_wrk(0.80),
        likely_per_s=130_000,
    ),
    Comparison(
        "same-core",
        "small answer of the null server, client and server on the same core",
        null(*PROVERB),
        Load(requests=1_000_000),
        (ASSAY, WRK, BARE),
        (Bound("throughput", "wrk", 1.0),),
        likely_per_s=170_000,
        same_core=True,
    ),
    Comparison("connections-8", "8 connections", null(*PROVERB), Load(8), BOTH, _against_wrk(0.85), 120_000),
    Comparison("connections-1000", "1,000 connections", null(*PROVERB), Load(1000), BOTH, _against_wrk(0.85)),
    Comparison(
        "body-10k",
        "answers of 10 kB",
        null("--body-bytes", "10240"),
        Load(requests=500_000),
        BOTH,
        _against_wrk(0.85),
        100_000,
    ),
    Comparison(
        "body-1m",
        "answers of 1 MB",
        null("--body-bytes", "1048576"),
        Load(requests=10_000),
        BOTH,
        _against_wrk(0.85),
        3_000,
    ),
    Comparison(
        "chunked",
        "chunked answers of 1 kB in chunks of 256 bytes",
        null("--body-bytes", "1024", "--chunked", "--chunk-bytes", "256"),
        Load(),
        BOTH,
        _against_wrk(0.85),
    ),
    Comparison(
        "pipeline",
        "16 requests in flight on each connection",
        null(*PROVERB),
        Load(requests=8_000_000, pipeline=16),
        BOTH,
        _against_wrk(0.80),
        1_000_000,
    ),
    Comparison(
        "dropin",
        "`assay wrk` and wrk with the same words; with a Lua script that gives every request",
        null(*PROVERB),
        Load(requests=4_000_000),
        (ASSAY_WRK, WRK, ASSAY_WRK_SCRIPTED, WRK_SCRIPTED),
        (
            Bound("cpu", "wrk", 1.0, "assay wrk"),
            Bound("cpu", "wrk, script", 1.0, "assay wrk, script"),
        ),
    ),
    Comparison("tls", "TLS 1.3 with nginx, keep-alive", _nginx_tls, Load(), BOTH, _against_wrk(1.0), 80_000),
    Comparison(
        "tls-handshake",
        "TLS 1.3 with nginx, a handshake a request",
        _nginx_tls,
        Load(requests=10_000, keep_alive=False),
        BOTH,
        _against_wrk(1.0),
        1_500,
    ),
)

BENCHMARKS = tuple(Benchmark(comparison.name, comparison.title, comparison.run) for comparison in COMPARISONS)
