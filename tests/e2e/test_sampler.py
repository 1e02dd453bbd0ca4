"""CPU time of real processes, by the clock of the scheduler."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence

from assay.servers.sampler import Sampler, TreeClock

WORKER = """
import os, sys, time
while time.process_time_ns() < 35_000_000:
    pass
print(time.process_time_ns(), flush=True)
sys.stdin.read()
os._exit(0)
"""

FORKER = """
import os, resource, sys
for line in sys.stdin:
    for _ in range(int(line)):
        if (child := os.fork()) == 0:
            while os.times().user + os.times().system < 0.05:
                pass
            os._exit(0)
        os.waitpid(child, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(int((used.ru_utime + used.ru_stime) * 1e9), flush=True)
"""
"""For each line that it reads so many children, one after the other, of 50 ms each; what all have used."""

TICKS_NS = 20_000_000
"""By so much accounting in ticks of user and system time may be off."""

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


def children_ns(forker: subprocess.Popen[str], number: int) -> int:
    assert forker.stdin is not None and forker.stdout is not None
    forker.stdin.write(f"{number}\n")
    forker.stdin.flush()
    return int(forker.stdout.readline())


def test_a_clock_counts_processes_that_came_and_went_between_two_looks() -> None:
    """As those of a database, of which each connection has one."""
    command = [sys.executable, "-c", FORKER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as forker:
        first_ns = children_ns(forker, 1)
        clock = TreeClock(os.getpid())
        before_ns = clock.read_ns()
        used_ns = children_ns(forker, 5) - first_ns
        after_ns = clock.read_ns()
        assert forker.stdin is not None
        forker.stdin.close()
    assert before_ns is not None and after_ns is not None
    assert after_ns - before_ns > used_ns - TICKS_NS > 5 * TICKS_NS


def test_a_clock_counts_a_process_once_that_it_knew_when_it_ended() -> None:
    """What it read of it is part of what the parent collects."""
    workers = started(5)
    try:
        used = used_ns(workers)
        clock = TreeClock(os.getpid())
        before_ns = clock.read_ns()
    finally:
        end(workers)
    after_ns = clock.read_ns()
    assert before_ns is not None and after_ns is not None
    assert before_ns >= used
    assert 0 <= after_ns - before_ns < used / 2
