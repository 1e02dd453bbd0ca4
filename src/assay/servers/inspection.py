"""A server inspected in loads of their own: its system calls, the machine's counters, its call stacks.

Each step follows the server's threads for the part of a load between `begins` and `ends`. What a machine does
not allow is said in a sentence with how to allow it, and the rest works.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from assay.model.costs import Inspection
from assay.servers import supervised
from assay.servers.counters import Pids
from assay.servers.perf_events import (
    CONTEXT_SWITCHES,
    HARDWARE,
    CallsByName,
    CountedEvents,
    Event,
    EventRefused,
    system_calls,
    threads_of,
)

Step = Literal["counts", "calls", "stacks"]
"""Sums; system calls by name; call stacks."""
STEPS: tuple[Step, ...] = ("counts", "calls", "stacks")

_SAMPLES_A_SECOND = 499
_MOST_STACKS = 1_000
_MOST_FRAMES = 48
_END_S = 30.0
_ADDRESS = re.compile(r"^\s*[0-9a-f]+ (.*) \((.*)\)$")
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")


class Inspector:
    """Follows the processes that `pids` gives, one step after the other."""

    def __init__(self, pids: Pids) -> None:
        """Nothing is followed yet."""
        self._pids = pids
        self._events: list[CountedEvents] = []
        self._calls: CallsByName | None = None
        self._period = 1
        self._stacks: _Stacks | None = None
        self._missing: list[str] = []

    def begins(self, step: Step, period: int = 1) -> None:
        """Follow the server from here; of its system calls every `period`-th."""
        pids = self._pids()
        threads = threads_of(pids)
        self._missing = []
        if step == "counts":
            self._count("system calls", {}, threads)
            self._count("context switches", {"switches": CONTEXT_SWITCHES}, threads)
            self._count("instructions, cycles and cache misses", HARDWARE, threads)
        elif step == "calls":
            self._period = period
            with suppress(EventRefused):  # that of the sum has been told
                self._calls = CallsByName(threads, _cores_of(pids), period)
        else:
            try:
                self._stacks = _Stacks(pids)
            except EventRefused as refused:
                self._missing.append(f"no flame graph: {refused}")

    def ends(self) -> Inspection:
        """What was seen since then."""
        try:
            counters: dict[str, int] = {}
            for events in self._events:
                counters |= events.read()
            calls = self._calls.ends() if self._calls else {}
            try:
                stacks = self._stacks.ends() if self._stacks else {}
            except EventRefused as refused:
                stacks = {}
                self._missing.append(f"no flame graph: {refused}")
            return Inspection(
                counters=counters,
                calls=calls,
                call_period=self._period,
                stacks=stacks,
                missing=tuple(self._missing),
            )
        finally:
            self.close()

    def close(self) -> None:
        """Follow nothing any more."""
        while self._events:
            self._events.pop().close()
        if self._calls:
            self._calls.close()
        if self._stacks:
            self._stacks.close()
        self._calls = self._stacks = None

    def _count(self, what: str, events: Mapping[str, Event], threads: Iterable[int]) -> None:
        try:
            self._events.append(CountedEvents(events or {"system_calls": system_calls()}, tuple(threads)))
        except EventRefused as refused:
            self._missing.append(f"no {what}: {refused}")


class _Stacks:
    """`perf record` on processes, from now on."""

    def __init__(self, pids: Iterable[int]) -> None:
        program = shutil.which("perf")
        if program is None:
            raise EventRefused("there is no perf (Debian: linux-perf)")
        self._program, self._folder = program, supervised.new_folder("stacks")
        self._recording = subprocess.Popen(
            [program, "record", "-q", "-F", str(_SAMPLES_A_SECOND), "-e", "cpu-clock", "-g", "-o",
             str(self._file), "-p", ",".join(map(str, pids))],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip

    @property
    def _file(self) -> Path:
        return self._folder / "perf.data"

    def ends(self) -> dict[str, int]:
        """Samples by stack. EventRefused where perf could not record."""
        self._recording.send_signal(signal.SIGINT)
        _, said = self._recording.communicate(timeout=_END_S)
        if not self._file.exists() or not self._file.stat().st_size:
            raise EventRefused(_first_line(said))
        done = subprocess.run(
            [self._program, "script", "-i", self._file, "-F", "comm,ip,sym,dso", "--no-inline"],
            capture_output=True, check=False, timeout=_END_S,
        )  # fmt: skip
        if done.returncode:
            raise EventRefused(_first_line(done.stderr))
        found = Counter(_folded(done.stdout.decode(errors="replace").splitlines()))
        return dict(found.most_common(_MOST_STACKS))

    def close(self) -> None:
        """End it, and leave nothing."""
        if self._recording.poll() is None:
            self._recording.kill()
        self._recording.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _folded(lines: Iterable[str]) -> Iterator[str]:
    """Stacks of `perf script`: a program's name, its frames from the innermost on, an empty line."""
    program, frames = "", []
    for line in (*lines, ""):
        if line.strip():
            seen = _ADDRESS.match(line)
            if seen:
                frames.append(_frame(*seen.groups()))
            else:
                program = line.strip()
        elif program:
            inner = reversed(frames[:_MOST_FRAMES])
            yield ";".join((program.replace(";", ","), *inner))
            program, frames = "", []


def _frame(symbol: str, place: str) -> str:
    """A function's name; of one without a symbol the file that it is from."""
    name = _OFFSET.sub("", symbol)
    name = f"[{Path(place).name.strip('[]') or 'unknown'}]" if name == "[unknown]" else name
    return name.replace(";", ",")[:120]


def _first_line(said: bytes) -> str:
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip(": \t")]
    return lines[0].strip() if lines else "perf recorded nothing"


def _cores_of(pids: Iterable[int]) -> frozenset[int]:
    """The cores on which they may run."""
    found: set[int] = set()
    for pid in pids:
        with suppress(OSError):
            found |= os.sched_getaffinity(pid)
    return frozenset(found)
