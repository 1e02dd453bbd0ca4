"""The kernel's counters of a server's processes, from /proc: for `--why`, and never read without it.

What the kernel adds up for a process holds its ended threads and, once collected, its ended children: CPU
ticks, page faults, reads and writes. Context switches and waiting in run queues it tells of living threads
alone: what a thread did since the last reading before its end is missing, so such sums are lower bounds.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.model.costs import CountedCosts
from assay.servers.sampler import with_descendants
from assay.servers.sockets import Traffic

_SCHEDULER_CLOCK = 2
"""CPUCLOCK_SCHED of the kernel's clock ids, which are made of a process id and this."""
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_OF_THREADS = ("waited_ns", "voluntary_switches", "involuntary_switches")
_RARELY = 100
"""A reading that took a millisecond is followed by none for this many: together they take 1 % at most."""

Pids = Callable[[], Collection[int]]
"""The processes that there are now."""


class _Reading(NamedTuple):
    """`whole` is summed over processes, with what they collected of ended ones; `threads` is of each."""

    whole: Counter[str]
    threads: dict[tuple[int, int], tuple[int, ...]]
    collected: int


class Counters:
    """The counters of a server, added up between `begins` and `ends`.

    `top` is the parent of its processes, if it is ours: it collects those that have lost theirs. `port` is
    where it listens, for its connections' segments.
    """

    def __init__(self, pids: Pids, top: int = 0, port: int = 0, proc: Path = Path("/proc")) -> None:
        """Find the processes; nothing is counted yet."""
        self._pids_now, self._top, self._proc = pids, top, str(proc)
        self._pids: Collection[int] = ()
        self._lengths_ns: Counter[int] = Counter()
        self._began_ns = 0
        self._sums: Counter[str] = Counter()
        self._known: set[str] = set()
        self._lower = False
        self._base: _Reading | None = None
        self._first: _Reading | None = None
        self._last: _Reading | None = None
        self._traffic = Traffic(port) if port else None
        self._next_ns = 0
        self.refresh()

    def refresh(self) -> None:
        """Find the processes that there are now."""
        self._pids = self._pids_now()

    def is_due(self) -> bool:
        """Whether another reading keeps all of them below 1 % of the time."""
        return time.monotonic_ns() >= self._next_ns

    def begins(self) -> None:
        """Count from here."""
        began_ns = time.monotonic_ns()
        self._base = self._read()
        self._first = self._first or self._base
        if self._traffic:
            self._traffic.begins()
        self._took(began_ns)

    def ends(self, number: int = 0) -> None:
        """Add what was counted since `begins`, or the last call of this: in the slice of that number."""
        began_ns, before = time.monotonic_ns(), self._base
        if before is None:
            return
        self._lengths_ns[number] += began_ns - self._began_ns
        now = self._base = self._last = self._read()
        if self._traffic:
            self._traffic.ends()
        self._took(began_ns)
        for name in before.whole.keys() & now.whole.keys():
            self._sums[name] += max(0, now.whole[name] - before.whole[name])
        self._known |= before.whole.keys() & now.whole.keys()
        for thread, counts in now.threads.items():
            early = before.threads.get(thread, (0,) * len(counts))
            for name, late, first in zip(_OF_THREADS, counts, early, strict=False):
                if late >= 0:
                    self._sums[name] += max(0, late - first)
                    self._known.add(name)
        ended = before.threads.keys() - now.threads.keys()
        self._lower |= bool(ended) or now.collected != before.collected

    def counted(self) -> CountedCosts:
        """All of it so far."""
        return CountedCosts(
            lengths_ns=dict(self._lengths_ns),
            counters=self._totals(),
            lower_bounds=self._lower_bounds(),
            missing=self._missing(),
        )

    def _took(self, began_ns: int) -> None:
        now_ns = time.monotonic_ns()
        self._next_ns = now_ns + _RARELY * (now_ns - began_ns)
        self._began_ns = now_ns

    def _totals(self) -> dict[str, int]:
        found = {name: self._sums[name] for name in self._known if name not in ("user_ns", "kernel_ns")}
        if self._first and self._last:
            for name in ("user_ns", "kernel_ns", "memory_bytes"):
                if name in self._last.whole and name in self._first.whole:
                    found[name] = self._last.whole[name] - self._first.whole[name]
        return found | (self._traffic.totals() if self._traffic else {})

    def _lower_bounds(self) -> tuple[str, ...]:
        threads = [name for name in _OF_THREADS if self._lower and name in self._known]
        return (*threads, *(self._traffic.lower_bounds() if self._traffic else ()))

    def _missing(self) -> tuple[str, ...]:
        if not self._known:
            there = Path(self._proc, "self").exists()
            why = "its processes cannot be seen from here" if there else "there is no /proc (Linux alone)"
            return (f"no counters of the kernel: {why}",)
        said = []
        if "waited_ns" not in self._known:
            said.append("no run-queue wait: this kernel has no /proc/PID/schedstat (CONFIG_SCHED_INFO)")
        if "read_calls" not in self._known:
            said.append(
                "no reads and writes: /proc/PID/io is its user's and root's: run Assay as one of them"
            )
        if self._traffic is None or not self._traffic.totals():
            said.append("no segments: none of its TCP connections could be seen (sock_diag)")
        return tuple(said)

    def _read(self) -> _Reading:
        whole: Counter[str] = Counter()
        threads: dict[tuple[int, int], tuple[int, ...]] = {}
        readable, collected = True, 0
        for pid in self._pids:
            fields = self._stat(pid)
            if fields is None:
                continue
            whole.update(_own(fields))
            whole.update(_collected(fields))
            with suppress(OSError):
                whole["cpu_ns"] += time.clock_gettime_ns(~pid << 3 | _SCHEDULER_CLOCK)
            collected += _reaped(fields)
            calls = self._calls(pid)
            readable = readable and calls is not None
            whole.update(calls or {})
            threads.update(self._threads(pid))
        if whole and self._top and (fields := self._stat(self._top)):
            whole.update(_collected(fields))
            collected += _reaped(fields)
        if not readable:
            whole.pop("read_calls", None)
            whole.pop("write_calls", None)
        return _Reading(whole, threads, collected)

    def _text(self, *path: str | int) -> bytes | None:
        try:
            file = os.open("/".join((self._proc, *map(str, path))), os.O_RDONLY)
        except OSError:
            return None
        try:
            return os.read(file, 8192)
        except OSError:  # it ended at this moment, or is another user's
            return None
        finally:
            os.close(file)

    def _stat(self, pid: int) -> list[int] | None:
        """From its parent on; the name before may hold anything."""
        text = self._text(pid, "stat")
        fields = text.rpartition(b")")[2].split() if text else []
        return list(map(int, fields[1:])) if len(fields) > 21 else None

    def _calls(self, pid: int) -> dict[str, int] | None:
        text = self._text(pid, "io")
        if text is None:
            return None
        found = dict(line.split(b":") for line in text.splitlines())
        return {"read_calls": int(found[b"syscr"]), "write_calls": int(found[b"syscw"])}

    def _threads(self, pid: int) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
        """Of each thread what it waited and how often it was switched; -1 where that is not told."""
        names: list[str] = []
        with suppress(OSError):
            names = [task.name for task in os.scandir(f"{self._proc}/{pid}/task")]
        for name in names:
            status = self._text(pid, "task", name, "status")
            if status is None:
                continue
            wait = (self._text(pid, "task", name, "schedstat") or b"").split()
            yield (
                (pid, int(name)),
                (
                    int(wait[1]) if len(wait) > 1 else -1,
                    _after(status, b"\nvoluntary_ctxt_switches:"),
                    _after(status, b"\nnonvoluntary_ctxt_switches:"),
                ),
            )


def _after(text: bytes, head: bytes) -> int:
    rest = text.partition(head)[2].split(maxsplit=1)
    return int(rest[0]) if rest else -1


def _own(stat: list[int]) -> dict[str, int]:
    """What the process did, its ended threads too (proc_pid_stat(5); fields from the parent on)."""
    return {
        "user_ns": stat[10] * _TICK_NS,
        "kernel_ns": stat[11] * _TICK_NS,
        "minor_faults": stat[6],
        "major_faults": stat[8],
        "memory_bytes": stat[20] * os.sysconf("SC_PAGE_SIZE"),
    }


def _collected(stat: list[int]) -> dict[str, int]:
    return {
        "cpu_ns": (stat[12] + stat[13]) * _TICK_NS,
        "user_ns": stat[12] * _TICK_NS,
        "kernel_ns": stat[13] * _TICK_NS,
        "minor_faults": stat[7],
        "major_faults": stat[9],
    }


def _reaped(stat: list[int]) -> int:
    """A figure that changes when a child was collected."""
    return stat[7] + stat[12] + stat[13]


def listening_at(port: int) -> Pids:
    """The processes that listen at that port now, and from then on what they start."""
    tops = processes_at(port)
    return lambda: with_descendants(tops) if tops else ()


def processes_at(port: int, proc: Path = Path("/proc")) -> frozenset[int]:
    """The processes that listen at a TCP port of this machine, as far as they can be seen."""
    inodes = {
        f"socket:[{fields[9]}]"
        for table in ("tcp", "tcp6")
        for fields in map(str.split, _lines(proc / "net" / table)[1:])
        if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port
    }
    found = set()
    for entry in proc.iterdir() if inodes else ():
        if entry.name.isdigit():
            with suppress(OSError):
                if any(str(file.readlink()) in inodes for file in (entry / "fd").iterdir()):
                    found.add(int(entry.name))
    return frozenset(found)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return [""]
