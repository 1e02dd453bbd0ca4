"""What HTTP/2 and HTTP/3 take of the engine's memory: connections that rest, and millions of requests."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

from comparisons import PROVERB
from contenders import last_line
from costs import guarded
from model import Benchmark, Effort, Figure, Spread
from programs import ROOT, Cores, Unavailable, run, serving_null

sys.path.insert(0, str(ROOT / "tests" / "support"))

import memory_held  # noqa: E402 - it lies with the tests, which ask the same

FEW_CONNECTIONS = 500
REQUESTS = 10_000_000
TIMEOUT_NS = 60_000_000_000
INSECURE = {"insecure": True}


@dataclass(frozen=True)
class Spoken:
    """An HTTP whose connections carry several requests, and how many of them are opened to rest."""

    http: str
    connections: int
    serves: tuple[str, ...] = ()


HTTP2 = Spoken("2", 9_000)
HTTP3 = Spoken("3", 2_500, ("--http3",))


def _added_bytes(spoken: Spoken, cores: Cores, plan: Mapping[str, object], *counts: int) -> list[int]:
    """Bytes that the engine added to the resident set when so many requests were answered."""
    with serving_null(cores.server, *PROVERB, *spoken.serves) as server:
        asked = {"url": server.url(), "http": spoken.http, "tls": INSECURE, "timeout_ns": TIMEOUT_NS}
        done = run(memory_held.command({**asked, **plan}, counts), cores.client)
    if done.code:
        raise Unavailable(f"the engine failed: {last_line(done)}")
    found = json.loads(done.stdout)
    if found["failed"] or found["completed"] < counts[-1]:
        raise Unavailable(f"{found['completed']} of {counts[-1]} requests, {found['failed']} failures")
    return list(found["held"])


def _figures(spoken: Spoken, effort: Effort) -> tuple[Figure, ...]:
    cores = Cores.apart()
    requests = effort.requests(REQUESTS)
    each, growth = [], []
    for _ in range(effort.rounds):
        few, many = (
            _added_bytes(spoken, cores, memory_held.resting(connections), connections)[0]
            for connections in (FEW_CONNECTIONS, spoken.connections)
        )
        each.append((many - few) / (spoken.connections - FEW_CONNECTIONS))
        early, late = _added_bytes(spoken, cores, memory_held.busy(requests), requests // 10, requests)
        growth.append((late - early) / 1e6)
    return (
        Figure(f"a connection that rests, at {spoken.connections:,}", Spread.of(each), "bytes", 20_000),
        Figure(f"growth from a tenth of {requests:,} requests to all", Spread.of(growth), "MB", 0.5),
    )


def _benchmark(spoken: Spoken) -> Benchmark:
    benchmark = guarded(
        f"memory-http{spoken.http}",
        f"memory of the engine over HTTP/{spoken.http}",
        "resident set of the engine's process",
        lambda effort: _figures(spoken, effort),
    )
    return replace(benchmark, long=True, family="memory")


BENCHMARKS = (_benchmark(HTTP2), _benchmark(HTTP3))
