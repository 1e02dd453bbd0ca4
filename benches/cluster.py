"""The driver's end of a large cluster, by simulation: the results of many generators, merged."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time

import msgspec
from model import Benchmark, Effort, Figure, Outcome, Spread

from assay import _engine
from assay.engine.merge import merged
from assay.model.measurement import Connections, Histogram, Measurement, RequestAccounting, Window, Worker

GENERATORS, WORKERS = 1_000, 8
_TITLE = "The results of a thousand generators"
_UNIT_NS = 1_000
_WINDOWS = 100


def run(effort: Effort) -> Outcome:
    """Merge so many results, in a process of its own each time."""
    command = [sys.executable, __file__]
    told = [
        json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        for _ in range(min(3, effort.rounds))
    ]

    def spread(name: str) -> Spread:
        return Spread.of([one[name] for one in told])

    figures = (
        Figure("decoded and merged", spread("seconds"), "s", 2),
        Figure("of it CPU time", spread("cpu_s"), "s"),
        Figure("the process's memory", spread("peak_mb"), "MB", 1_000),
        Figure("the results, as JSON", spread("results_mb"), "MB"),
    )
    how = f"Results of {GENERATORS:,} generators of {WORKERS} workers, made up: ten seconds of an open loop"
    return Outcome("cluster", _TITLE, how, figures=figures)


BENCHMARKS = (Benchmark("cluster", _TITLE, run),)


def main() -> int:
    """Make the results, merge them, tell as JSON."""
    made = [made_result(number, WORKERS) for number in range(GENERATORS)]
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    parts = [msgspec.json.decode(one, type=Measurement) for one in made]
    whole = merged(parts)
    told = {
        "seconds": time.perf_counter() - began_s,
        "cpu_s": time.process_time() - began_cpu_s,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "results_mb": sum(map(len, made)) / 1e6,
    }
    assert whole.completed == sum(part.completed for part in parts)
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


def made_result(number: int, workers: int) -> bytes:
    """What a generator sends at the end of ten seconds of an open loop, as JSON."""
    drawn = random.Random(number)
    completed = 1_000 * workers * _WINDOWS // 10
    each = completed // _WINDOWS
    times = [histogram(drawn, completed) for _ in range(5)]
    windows = tuple(
        Window(
            start_ns=place * 100_000_000,
            length_ns=100_000_000,
            phase="measured",
            started=each,
            completed=each,
            failed=0,
            bytes_read=each * 500,
        )
        for place in range(_WINDOWS)
    )
    worker = Worker(
        cpu=0,
        wall_ns=10**10,
        cpu_ns=10**9,
        largest_stall_ns=10**6,
        completed=completed // workers,
        completed_by_window=(each // workers,) * _WINDOWS,
    )
    measurement = Measurement(
        started_at_unix_ns=0,
        warmup_ns=0,
        measured_ns=10**10,
        interrupted=False,
        requests=RequestAccounting(started=completed, completed=completed, failed=0, in_flight=0),
        started=completed,
        completed=completed,
        failed=0,
        bytes_read=completed * 500,
        bytes_written=completed * 100,
        body_bytes=completed * 300,
        statuses={"200": completed},
        encodings={"identity": completed},
        checked=completed,
        outcomes=(),
        connections=Connections(asked=64, opened=64, answered=64, reopened=0, peak=64),
        service_time=times[0],
        response_time=times[1],
        send_lag=times[2],
        connect_time=times[3],
        first_byte_time=times[4],
        missed_starts=0,
        windows=windows,
        workers=(worker,) * workers,
        engine_version="0",
    )
    return msgspec.json.encode(measurement)


def histogram(drawn: random.Random, count: int) -> Histogram:
    """Times of a few hundred µs with a tail; drawn a thousand times and counted so often."""
    counts = [(max(1, int(drawn.lognormvariate(6, 1))), count // 1_000) for _ in range(1_000)]
    return Histogram(
        count=count,
        min_ns=_UNIT_NS,
        max_ns=10**8,
        mean_ns=4e5,
        stdev_ns=5e5,
        unit_ns=_UNIT_NS,
        data=_engine.histogram_of(counts),
    )


if __name__ == "__main__":
    sys.exit(main())
