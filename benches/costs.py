"""What Assay alone costs: memory, start, system calls, punctuality."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from comparisons import PROVERB
from model import Benchmark, Effort, Figure, Outcome, Spread
from programs import (
    Cores,
    Finished,
    Server,
    Unavailable,
    need,
    need_assay,
    pinned,
    record_cost,
    run,
    serving_null,
)

MANY_CONNECTIONS = 10_000
FEW_CONNECTIONS = 10
RATE_PER_S = 20_000


def _load(server: Server, core: int, *arguments: str) -> Finished:
    done = run([need_assay(), "load", server.url(), "--quiet", "--json", "--threads", "1", *arguments], core)
    if done.code not in (0, 1):
        raise Unavailable(f"assay load cannot: {done.stderr.strip()}")
    return done


def guarded(name: str, title: str, how: str, figures: Callable[[Effort], tuple[Figure, ...]]) -> Benchmark:
    """A benchmark of figures; of what it needs and this machine has not, it says that instead."""

    def run_it(effort: Effort) -> Outcome:
        try:
            return Outcome(name, title, how, figures=figures(effort))
        except Unavailable as problem:
            return Outcome(name, title, how, missing=(str(problem),))

    return Benchmark(name, title, run_it)


ENGINE_MEMORY = """
import json, pathlib, sys
from assay.engine import driver
from assay.model.plan import Closed, LoadPlan, StopAtCount

def resident_bytes():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))

url, connections, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
stop = StopAtCount(count=count)
plan = LoadPlan(url=url, load=Closed(connections=connections), stop=stop, timeout_ns=60_000_000_000)
before = resident_bytes()
running, seen = driver.start(plan), []
while not running.wait(0.05):
    seen.append(resident_bytes() - before)
result = running.result()
opened, failed = result.connections.opened, result.failed
print(json.dumps({"seen": seen, "opened": opened, "failed": failed}))
"""


def _resident(server: Server, core: int, connections: int, requests: int) -> list[int]:
    """What the engine adds to the resident set, in bytes, every 50 ms of a load."""
    python = str(Path(need_assay()).parent / "python")
    arguments = [server.url(), str(connections), str(requests)]
    done = run([python, "-c", ENGINE_MEMORY, *arguments], core)
    if done.code:
        raise Unavailable(f"the engine failed: {done.stderr.strip().splitlines()[-1]}")
    found = json.loads(done.stdout)
    if found["opened"] != connections or found["failed"] or not found["seen"]:
        raise Unavailable(f"{found['opened']} of {connections} connections, {found['failed']} failures")
    return list(found["seen"])


def _memory(effort: Effort) -> tuple[Figure, ...]:
    cores = Cores.apart()
    growth, each = [], []
    with serving_null(cores.server, *PROVERB) as server:
        for _ in range(effort.rounds):
            seen = _resident(server, cores.client, 64, effort.requests(4_000_000))
            growth.append((seen[-1] - seen[len(seen) // 4]) / 1e6)
            many = max(_resident(server, cores.client, MANY_CONNECTIONS, 200_000))
            few = max(_resident(server, cores.client, FEW_CONNECTIONS, 200_000))
            each.append((many - few) / (MANY_CONNECTIONS - FEW_CONNECTIONS))
    return (
        Figure("growth from the first quarter of a load to its end", Spread.of(growth), "MB", 0.5),
        Figure(f"a connection, at {MANY_CONNECTIONS:,}", Spread.of(each), "bytes", 3000),
    )


def _start(effort: Effort) -> tuple[Figure, ...]:
    command_ms, engine_ms = [], []
    for _ in range(4 * effort.rounds):
        with _FirstRequest() as first:
            began = time.monotonic()
            load = [
                need_assay(),
                "load",
                first.url,
                "--quiet",
                "--json",
                "--count",
                "1",
                "--connections",
                "1",
            ]
            run(load)
            command_ms.append((first.arrived() - began) * 1e3)
        engine_ms.append(_engine_start_ms())
    return (
        Figure("from the command to its first request", Spread.of(command_ms), "ms", 200),
        Figure("of which the engine, from its plan to the first request", Spread.of(engine_ms), "ms", 5),
    )


ENGINE_START = """
import sys, time
from assay.engine import driver
from assay.model.plan import Closed, LoadPlan, StopAtCount
plan = LoadPlan(url=sys.argv[1], load=Closed(connections=1), stop=StopAtCount(count=1))
began = time.monotonic()
running = driver.start(plan)
while not running.wait(1.0):
    pass
print(began)
"""


def _engine_start_ms() -> float:
    with _FirstRequest() as first:
        python = str(Path(need_assay()).parent / "python")
        done = run([python, "-c", ENGINE_START, first.url])
        if done.code:
            raise Unavailable(f"the engine did not start: {done.stderr.strip().splitlines()[-1]}")
        return (first.arrived() - float(done.stdout)) * 1e3


class _FirstRequest:
    """A listener that notes when the first byte of a request arrives, and answers it."""

    def __enter__(self) -> _FirstRequest:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(30)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"
        self._seen: float | None = None
        self._thread = threading.Thread(target=self._answer)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._listener.close()

    def arrived(self) -> float:
        """When it arrived, on the monotonic clock, which all processes share."""
        self._thread.join()
        if self._seen is None:
            raise Unavailable("no request arrived")
        return self._seen

    def _answer(self) -> None:
        try:
            stream, _ = self._listener.accept()
            with stream:
                if stream.recv(4096):
                    self._seen = time.monotonic()
                stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        except TimeoutError:
            pass


STRACE_LINE = r"^\s*\S+\s+\S+\s+\S+\s+(\d+)(?:\s+\d+)?\s+(\w+)$"
NEEDED = {"sendto", "recvfrom", "epoll_wait", "epoll_pwait", "write", "read", "writev", "sendmsg", "recvmsg"}


def _system_calls(_: Effort) -> tuple[Figure, ...]:
    cores = Cores.apart()
    strace = need("strace", "strace")
    requests = 200_000
    with serving_null(cores.server, *PROVERB) as server, tempfile.NamedTemporaryFile("r") as summary:
        load = [need_assay(), "load", server.url(), "--quiet", "--json", "--threads", "1"]
        load += ["--connections", "64", "--count", str(requests)]
        command = [strace, "--follow-forks", "--summary-only", "--output", summary.name, *load]
        done = subprocess.run(pinned(command, cores.client), capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise Unavailable(f"strace failed: {done.stderr.strip()}")
        counted = re.findall(STRACE_LINE, summary.read(), re.MULTILINE)
    # Whatever is called less than once in 20 requests belongs to the start or the end.
    calls = {name: int(count) / requests for count, name in counted}
    calls = {name: count for name, count in calls.items() if name != "total" and count > 0.05}
    path = ", ".join(f"{name} {count:.2f}" for name, count in calls.items())
    needed = sum(count for name, count in calls.items() if name in NEEDED)
    other = sum(count for name, count in calls.items() if name not in NEEDED)
    return (
        Figure(f"send, receive and wait a request ({path})", Spread.of([needed]), "calls", 3.0),
        Figure("any other call that grows with the requests", Spread.of([other]), "calls", 0.0),
    )


def _recording(effort: Effort) -> tuple[Figure, ...]:
    program = record_cost()
    core = Cores.apart().client
    each = []
    for _ in range(effort.rounds):
        done = run([str(program), str(effort.requests(400_000_000))], core)
        if done.code:
            raise Unavailable(f"record_cost failed: {done.stderr.strip()}")
        each.append(float(done.stdout))
    return (Figure("recording a time in a histogram", Spread.of(each), "ns", 5.0),)


def _punctuality(server: Server, core: int, pacer: str, seconds: int) -> tuple[float, float]:
    """p99 of send lag in microseconds, and the share of a core in per cent."""
    import msgspec

    from assay.model.measurement import Measurement
    from assay.stats import quantiles

    rate = ("--rate", str(RATE_PER_S), "--duration", f"{seconds}s", "--pacer", pacer)
    document = json.loads(_load(server, core, *rate).stdout)
    measurement = msgspec.convert(document["measurement"], Measurement)
    found = quantiles(measurement.send_lag, (0.99,))[0] if measurement.send_lag else None
    if found is None:
        raise Unavailable("too few requests for a p99 of send lag")
    cpu_ns = sum(each.cpu_ns for each in measurement.workers)
    return found.value_ns / 1e3, cpu_ns / measurement.measured_ns * 100


def _lag(effort: Effort) -> tuple[Figure, ...]:
    cores = Cores.apart()
    seconds = max(2, round(10 * effort.share))
    seen: dict[str, list[tuple[float, float]]] = {"spin": [], "sleep": []}
    with serving_null(cores.server, *PROVERB) as server:
        for _ in range(effort.rounds):
            for pacer, taken in seen.items():
                taken.append(_punctuality(server, cores.client, pacer, seconds))
    figures = []
    for pacer, limit in (("spin", 100.0), ("sleep", None)):
        lags, shares = zip(*seen[pacer], strict=True)
        name = f"p99 of send lag at {RATE_PER_S:,}/s, --pacer {pacer}"
        figures.append(Figure(name, Spread.of(lags), "µs", limit))
        figures.append(Figure(f"CPU of --pacer {pacer}", Spread.of(shares), "% of a core"))
    return tuple(figures)


BENCHMARKS = (
    guarded("memory", "memory of the engine", "resident set while the load goes on", _memory),
    guarded("start", "from nothing to the first request", "cores not pinned", _start),
    guarded(
        "system-calls", "system calls on the request path", "strace -f -c, 64 connections", _system_calls
    ),
    guarded("recording", "statistics on the request path", "times as a load has them", _recording),
    guarded("send-lag", "punctuality of an open loop", "64 connections at most, null server", _lag),
)
