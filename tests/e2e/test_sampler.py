"""CPU time of real processes, by the clock of the scheduler."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from assay.sut.sampler import Sampler

WORKER = """
import sys, time
while time.process_time_ns() < 35_000_000:
    pass
print(time.process_time_ns(), flush=True)
sys.stdin.read()
"""


def test_what_is_less_than_a_tick_of_each_process_is_counted() -> None:
    """Rounded down to ticks, ten processes would lose some fifty milliseconds for good."""
    sampler = Sampler(os.getpid())
    before_ns = sampler.cpu_ns()
    command = [sys.executable, "-c", WORKER]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(10)
    ]
    try:
        used_ns = 0
        for worker in workers:
            assert worker.stdout is not None
            used_ns += int(worker.stdout.readline())
        deadline = time.monotonic() + 60
        while (seen_ns := sampler.cpu_ns() - before_ns) < used_ns:  # until each has gone to sleep
            assert time.monotonic() < deadline, f"{seen_ns} ns of {used_ns}"
    finally:
        for worker in workers:
            worker.communicate()
