"""What `--why` costs a server: loads with readings of /proc, and without, by turns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

from costs import guarded
from model import Effort, Figure, Spread
from programs import Cores, Server, serving_nginx, serving_null

from assay.engine import driver
from assay.model.plan import Closed, LoadPlan, StopAfter
from assay.servers.counters import Counters, processes_at

LOAD_S = 1.0
SLICE_S = 0.25
PAIRS = 6
"""Of each round."""
CONNECTIONS = 64


def _rate(server: Server, core: int, counters: Counters | None) -> float:
    """Right answers a second; counters are read at the ends of slices, as an interleaved block does."""
    plan = LoadPlan(
        url=server.url(),
        load=Closed(connections=CONNECTIONS),
        stop=StopAfter(ns=round(LOAD_S * 1e9)),
        cpus=(core,),
    )
    load = driver.start(plan)
    if counters:
        counters.begins()
    while not load.wait(SLICE_S):
        if counters and counters.is_due():
            counters.ends()
            counters.begins()
    measured = load.result()
    return measured.completed / measured.measured_ns * 1e9


def _lost(serving: AbstractContextManager[Server], core: int, pairs: int) -> Iterator[float]:
    """By how many per cent each load was slower with readings than the one beside it without.

    The order of the two alternates, so that drift falls on both alike.
    """
    with serving as server:
        counters = Counters(lambda: processes_at(server.port), port=server.port)
        _rate(server, core, None)  # it warms up
        for pair in range(pairs):
            order = (None, counters) if pair % 2 else (counters, None)
            rates = {one is not None: _rate(server, core, one) for one in order}
            yield (1 - rates[True] / rates[False]) * 100


def _figures(effort: Effort) -> tuple[Figure, ...]:
    cores = Cores.apart()
    pairs = PAIRS * effort.rounds
    return tuple(
        Figure(f"throughput lost, {name}, {pairs} pairs of loads", Spread.of(list(lost)), "%", 1.0)
        for name, lost in (
            ("nginx", _lost(serving_nginx(cores.server), cores.client, pairs)),
            ("the null server", _lost(serving_null(cores.server), cores.client, pairs)),
        )
    )


BENCHMARKS = (
    guarded(
        "why",
        "what --why costs a server",
        "loads of 1 s with readings of /proc at the ends of slices of 250 ms, and without, by turns",
        _figures,
    ),
)
