"""CPU time of real processes, by the clock of the scheduler."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence

from assay.sut.sampler import Sampler

WORKER = """
import os, sys, time
while time.process_time_ns() < 35_000_000:
    pass
print(time.process_time_ns(), flush=True)
sys.stdin.read()
os._exit(0)
"""

Workers = Sequence[subprocess.Popen[str]]


def started(number: int) -> Workers:
    command = [sys.executable, "-c", WORKER]
    return [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(number)
    ]


def used_ns(workers: Workers) -> int:
    """What they have used by their own account, once each has done its work."""
    return sum(int(worker.stdout.readline()) for worker in workers if worker.stdout is not None)


def seen_ns(sampler: Sampler, at_least_ns: int) -> int:
    """What the sampler says once it says that much: a worker's last moments count when it sleeps."""
    deadline = time.monotonic() + 60
    while (seen := sampler.cpu_ns()) < at_least_ns:
        assert time.monotonic() < deadline, f"{seen} ns of {at_least_ns}"
    return seen


def end(workers: Workers) -> None:
    for worker in workers:
        worker.communicate()


def test_what_is_less_than_a_tick_of_each_process_is_counted() -> None:
    """Rounded down to ticks, ten processes would lose some fifty milliseconds for good."""
    sampler = Sampler(os.getpid())
    before_ns = sampler.cpu_ns()
    workers = started(10)
    try:
        seen_ns(sampler, before_ns + used_ns(workers))
    finally:
        end(workers)


def test_the_clock_does_not_go_back_when_a_process_ends() -> None:
    """What is known of a living process to the nanosecond is known in ticks once it has ended."""
    for _ in range(6):
        sampler = Sampler(os.getpid())
        before_ns = sampler.cpu_ns()
        workers = started(1)
        try:
            alive_ns = seen_ns(sampler, before_ns + used_ns(workers))
        finally:
            end(workers)
        assert sampler.cpu_ns() >= alive_ns
