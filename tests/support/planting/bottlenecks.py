"""Loads whose bottleneck was made: who must be named, and how it was staged."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from assay.servers.cores import split_cores
from assay.verdict.bottleneck import Bottleneck, Who, bottleneck_of
from assay.verdict.see import see_trial
from planting import Injected, hog, run_here, write

Disturbing = Callable[[int], AbstractContextManager[None]]

_SPIN = """
import os, sys, time
os.sched_setaffinity(0, {int(cpu) for cpu in sys.argv[3:]})
busy, nice = float(sys.argv[1]), int(sys.argv[2])
if nice:
    os.nice(nice)
while True:
    until = time.perf_counter() + 0.01 * busy
    while time.perf_counter() < until:
        pass
    time.sleep(0.01 * (1 - busy))
"""


@contextlib.contextmanager
def beside(_: int, busy: float = 1.0, nice: int = 0, client: bool = False) -> Iterator[None]:
    """A program that keeps the server's cores (or the client's) busy for a share of the time."""
    cpus = split_cores().client if client else split_cores().server
    words = [sys.executable, "-c", _SPIN, str(busy), str(nice), *map(str, cpus)]
    with subprocess.Popen(words) as process:
        try:
            yield
        finally:
            process.kill()


_DATABASE = "[services.postgres]\nsetup = []\n"
_CHECKED = """
[[routes]]
name = "checked"
target = "/checked"
[routes.answer]
body = { min_bytes = 1 }
during = { matches = "[xy]*x[xy]{20}z" }
"""
_OF_CHECKED = '[[workloads]]\nname = "w"\nroutes = ["checked"]'


def _staged(flaw: str, load: str, disturb: Disturbing | None = None, **more: str) -> Injected:
    """Half a second is warm-up, so that threads, pools and the database's sessions are there."""
    return Injected(
        code="B1",
        flaw=flaw,
        servers={"one": flaw},
        load=f"{load}\nmeasure_s = 2.0\nwarm_up_min_s = 0.5\nwarm_up_max_s = 0.5",
        disturb=disturb,
        **more,  # type: ignore[arg-type]  # only texts
    )


STAGED: dict[str, tuple[Who, Injected]] = {
    "a server that computes, 64 connections": ("server", _staged("works", "connections = 64")),
    "a server that computes, 16 connections": ("server", _staged("works", "connections = 16")),
    "a client beside a hog that has time enough": (
        "server",
        _staged("works", "connections = 64", functools.partial(beside, busy=0.3, client=True)),
    ),
    "a busy database": (
        "server",
        _staged("asks a busy database", "connections = 4", routes=_DATABASE, services="postgres"),
    ),
    "a client that searches each answer": (
        "generator",
        _staged("sends 128 kB", "connections = 4", routes=_CHECKED, workloads=_OF_CHECKED),
    ),
    "a client that searches each answer, 32 connections": (
        "generator",
        _staged("sends 128 kB", "connections = 32", routes=_CHECKED, workloads=_OF_CHECKED),
    ),
    "a client that searches each answer, and a server that polls": (
        "generator",
        _staged("polls", "connections = 4", routes=_CHECKED, workloads=_OF_CHECKED),
    ),
    "a program on the server's core": ("others", _staged("works", "connections = 4", beside)),
    "a program of higher priority on the server's core": (
        "others",
        _staged("works", "connections = 4", functools.partial(beside, busy=0.6, nice=-15)),
    ),
    "a program on the client's core": ("others", _staged("right", "connections = 4", hog)),
    "a server that sleeps, 64 connections": ("waiting", _staged("waits", "connections = 64")),
    "a server that sleeps, 4 connections": ("waiting", _staged("waits", "connections = 4")),
    "a slow database": (
        "waiting",
        _staged("asks a slow database", "connections = 4", routes=_DATABASE, services="postgres"),
    ),
    "a server that hangs": ("waiting", _staged("stops answering in mid-load", "connections = 8")),
    "a rate that is served": ("limit", _staged("right", "connections = 16\nrate_per_s = 200.0")),
    "few connections served": ("limit", _staged("serves four clients", "connections = 32")),
    "few streams": (
        "limit",
        _staged("over HTTP/2: allows two streams", 'connections = 2\nhttp = "2"\nstreams = 10'),
    ),
    "a way of 20 ms": (
        "link",
        _staged("right", "connections = 8\nemulation = { round_trip_ms = 20 }"),
    ),
}
"""By how it was staged: who must be named, and the study."""


def named(plant: Injected, folder: Path) -> list[Bottleneck]:
    """The bottleneck of each trial of a study that is run now."""
    write(plant, folder)
    with plant.disturb(os.getpid()) if plant.disturb else contextlib.nullcontext():
        finished = run_here(plant, folder)
    environment = finished.header.environment
    return [
        bottleneck_of(see_trial(trial, trial.measurement, environment))
        for trial in finished.trials
        if trial.measurement is not None
    ]


def main() -> None:
    """Stage those that are named, or all, and say what was named."""
    for stage, (who, plant) in STAGED.items():
        if not sys.argv[1:] or any(word in stage for word in sys.argv[1:]):
            with tempfile.TemporaryDirectory() as folder:
                print(f"{stage}: {who}:", *(f"{one.who}: {one.words}" for one in named(plant, Path(folder))))


if __name__ == "__main__":
    main()
