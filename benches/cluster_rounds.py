"""On the first of three hosts: the same loads from this process, from one generator and from two, in turn.

cluster_rounds.py RAY URL ROUNDS CORE    tells each load on standard output, a JSON object a line

The driver of a cluster as `assay load --ray` is one, and beside it the engine in this very process, which
no cluster knows of: what differs between them is what the cluster adds. All workers are on one core, wherever
they run, as the hosts are one machine: else a second generator would change who meets the server there.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Mapping, Sequence

from msgspec import structs
from msgspec.structs import replace

from assay.cluster import session
from assay.cluster.generators import Generators, GeneratorsRun
from assay.engine.generator import Generator, ThisProcess
from assay.model.measurement import Histogram, Measurement
from assay.model.plan import Closed, LoadPlan, Open, Request, Stage, StopAfter
from assay.stats.quantiles import by_rank

RATE = 400.0
CONNECTIONS = 8
MEASURED_NS = 1_000_000_000
WARM_UP_NS = 200_000_000
WORKERS = 2
HERE, ONE, TWO = "this process", "one generator", "two generators"
ALIKE = "this process, with the workers of two"
"""The floor: as many threads that share the core, and no cluster."""


def main(words: Sequence[str]) -> int:
    """Each round has every load from everywhere, in an order of its own."""
    address, url, rounds, core = words[0], words[1], int(words[2]), int(words[3])
    loads = plans(url, core)
    order = random.Random(1)
    with session.generators(address, None, loads["open"]) as (generators, _):
        members = tuple(
            structs.replace(one, about=replace(one.about, cpus=(core,))) for one in generators.members
        )
        ways: Mapping[str, tuple[Generator, int]] = {
            HERE: (ThisProcess(), WORKERS),
            ALIKE: (ThisProcess(), 2 * WORKERS),
            ONE: (Generators(members[:1]), WORKERS),
            TWO: (Generators(members), WORKERS),
        }
        each = [(way, load) for way in ways for load in loads]
        for way, load in each:  # the first of all meets cold processes
            figures_of(*ways[way], loads[load])
        for number in range(rounds):
            for way, load in order.sample(each, len(each)):
                one = {"round": number, "way": way, "load": load, **figures_of(*ways[way], loads[load])}
                sys.stdout.write(json.dumps(one) + "\n")
                sys.stdout.flush()
    return 0


def plans(url: str, core: int) -> dict[str, LoadPlan]:
    """The loads: on that core, wherever they run."""
    common = LoadPlan(
        url=url,
        requests=(Request(target="/"),),
        load=Closed(connections=CONNECTIONS),
        stop=StopAfter(ns=MEASURED_NS),
        warmup_max_ns=WARM_UP_NS,
        cpus=(core,),
    )
    stage = Stage(duration_ns=MEASURED_NS, from_per_s=RATE, to_per_s=RATE)
    paced = Open(stages=(stage,), max_connections=64, pacer="sleep")
    return {"open": replace(common, load=paced), "closed": common}


def figures_of(generator: Generator, workers: int, plan: LoadPlan) -> dict[str, float]:
    """One load by so many workers each: its figures, and of several generators how far apart they began."""
    load = generator.start(replace(plan, threads=workers))
    measured = load.result()
    return figures(measured) | (apart(load) if isinstance(load, GeneratorsRun) else {})


def figures(measured: Measurement) -> dict[str, float]:
    """Throughput and times, in 1/s and ms."""
    if measured.failed or not measured.completed:
        raise SystemExit(f"{measured.failed} requests failed: {measured.outcomes}")
    found = {"per_s": measured.completed / measured.measured_ns * 1e9}
    times = {"service": measured.service_time, "response": measured.response_time, "lag": measured.send_lag}
    for name, histogram in times.items():
        if histogram is not None and histogram.count:
            found |= {f"{name}_p{p}": _ms(histogram, p) for p in (50, 99)}
    return found


def _ms(histogram: Histogram, percent: float) -> float:
    return by_rank(histogram)(math.ceil(percent / 100 * histogram.count)) / 1e6


def apart(load: GeneratorsRun) -> dict[str, float]:
    """How far apart the generators began, which their one kernel's clock tells, and how far that may have
    been by what was known: by as much as both of their clocks may be off."""
    seen = load.generators()
    began = [one.measurement.started_at_unix_ns for one in seen]
    unsure = sorted((one.clock.uncertainty_ns for one in seen), reverse=True)
    return {"skew_ms": (max(began) - min(began)) / 1e6, "unsure_ms": sum(unsure[:2]) / 1e6}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
