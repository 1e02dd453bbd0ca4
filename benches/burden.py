"""Does the utilisation law bound what a held-back server can do? A client that is burdened in slices.

One server on a core, one client on another, 64 connections. In slices of 250 ms the client is plain and
then spends a known extra time on each answer, so that both kinds meet the same machine. The server's core
is idle then for a known share of the time: its throughput X is a bound from below, and X / U^3 has to hold
what it does in the plain slices from above. Where the client alone holds a server back (the null server),
the plain slices are no truth, and nothing is said.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from model import Benchmark, Effort, Figure, Outcome, Spread
from programs import ROOT, Cores, Server, Unavailable, need_assay, run, serving_nginx, serving_null

from assay.core.errors import AssayError
from assay.core.settings import Settings
from assay.servers import find_server, prepare, read_contract
from assay.servers.server import start
from assay.verdict.bottleneck import at_most

CONNECTIONS = 64
FULL = 0.97
"""Busy share of a core that is full."""
SLICE_MS = 250
SECONDS = 30
WARM_UP_S = 8
BURDENS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
"""Extra cost of an answer to the client, in multiples of what the server spends on one."""


@dataclass(frozen=True)
class Slices:
    """What the slices of one kind came to: answers a second, and the busy share of the server's core."""

    per_s: float
    busy: float


def measure(effort: Effort) -> Outcome:
    """Each server at each burden."""
    seconds = max(4, round(SECONDS * effort.share))
    how = f"{CONNECTIONS} connections, slices of {SLICE_MS} ms, {seconds} s each"
    figures: list[Figure] = []
    missing: list[str] = []
    held: list[bool] = []
    for name, serving in SERVERS.items():
        try:
            cores = Cores.apart()
            with serving(cores.server) as url:
                _offer(url, cores, 0, WARM_UP_S)
                alone, _ = _offer(url, cores, 0, seconds)
                for burden in BURDENS:
                    burn_ns = round(burden * 1e9 / alone.per_s)
                    plain, burdened = _offer(url, cores, burn_ns, seconds)
                    figures += _figures(name, burn_ns, plain, burdened)
                    if plain.busy >= FULL > burdened.busy:
                        held.append(burdened.per_s * (at_most(burdened.busy) or 1.0) >= plain.per_s)
        except (Unavailable, AssayError) as problem:
            missing.append(f"{name}: {problem}")
    if held:
        share = sum(held) / len(held)
        told = f"the bound holds the truth ({sum(held)} of {len(held)})"
        figures.append(Figure(told, Spread(share, share, share), "", 0.95, at_most=False))
    return Outcome(BENCHMARK.name, BENCHMARK.title, how, figures=tuple(figures), missing=tuple(missing))


def _figures(name: str, burn_ns: int, plain: Slices, burdened: Slices) -> Iterator[Figure]:
    where = f"{name}, +{burn_ns / 1000:.3g} µs, core {plain.busy:.0%} then {burdened.busy:.0%} busy"
    ratio = burdened.per_s / plain.per_s
    for what, value in (
        ("X", ratio),
        ("X / U", ratio / burdened.busy),
        ("the bound", ratio * (at_most(burdened.busy) or 1.0)),
    ):
        yield Figure(f"{where}: {what} of the plain slices'", Spread(value, value, value), "×")


def _offer(url: str, cores: Cores, burn_ns: int, seconds: int) -> tuple[Slices, Slices]:
    """The plain and the burdened slices of one load."""
    script = ROOT / "benches" / "burden.lua"
    words = [need_assay(), "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script), url]
    ended = run([*words, "--", str(burn_ns), str(SLICE_MS), str(cores.server)], cores.client)
    line = next((line for line in ended.stdout.splitlines() if line.startswith("slices ")), "")
    told = [float(word) for word in line.split()[1:]]
    if len(told) != 8 or not min(told[1], told[3], told[5], told[7]):
        said = (ended.stderr or ended.stdout).strip().splitlines() or ["it said nothing"]
        raise Unavailable(f"assay wrk told no slices: {said[-1]}")
    plain = Slices(told[0] / told[1] * 1e9, told[2] / told[3])
    return plain, Slices(told[4] / told[5] * 1e9, told[6] / told[7])


Serving = Callable[[int], AbstractContextManager[str]]
"""Runs a server on a core, and gives the URL that is asked for."""


def _of_bench(serving: Callable[[int], AbstractContextManager[Server]]) -> Serving:
    """A server that the other benchmarks have too."""

    @contextmanager
    def asked(core: int) -> Iterator[str]:
        with serving(core) as server:
            yield server.url()

    return asked


def built(name: str) -> Serving:
    """A server of ours, built and started as a run would."""

    @contextmanager
    def serving(core: int) -> Iterator[str]:
        settings = Settings.resolve(environ={})
        found = find_server(name, settings)
        contract = read_contract(found.contract_folder)
        spec = found.variant("fair").overlaid({}, (), {}, ())
        prepared = prepare(spec, settings, 1)
        route = contract.routes_of(spec.routes)[0]
        with tempfile.TemporaryDirectory() as folder:
            running = start(prepared, contract, route, cpus=(core,), log=Path(folder) / "log")
            try:
                yield f"http://127.0.0.1:{running.port}{route.target}"
            finally:
                running.stop()

    return serving


SERVERS: dict[str, Serving] = {
    "null server": _of_bench(serving_null),
    "nginx": _of_bench(serving_nginx),
    "Go": built("quotes/go"),
    "Vert.x": built("quotes/java-vertx"),
    "Ruby": built("quotes/ruby-sinatra"),
}
BENCHMARK = Benchmark(
    "burden", "What an idle share of the server's core says of its throughput", measure, True
)
BENCHMARKS = (BENCHMARK,)
