"""CPU, memory and threads of a server's whole process tree.

CPU time comes in the scheduler's nanoseconds for threads that live, and in clock ticks of 10 ms for
those that have ended. Ticks alone lose half of one for each process on average: forty database
processes that begin with a counted run of half a second would lose two fifths of a core.
Processes that ended meanwhile count through their parents, which collected their times; one
whose parent ignores its children's ends (SA_NOCLDWAIT) is lost to the kernel's accounting, and so to ours.
Memory is summed over the tree at each sample: pages that processes share are counted for each. Where that
would mislead (the many processes of a database), `memory` shares them out, which costs the kernel a walk
through all page tables, a millisecond or more for each process: it is for moments without a load.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from assay.model.account import ThreadTime

_BETWEEN = 1000
"""So many times a look's own time passes before the next."""
_SCHEDULER_CLOCK = 2
"""CPUCLOCK_SCHED of the kernel's clock ids, which are made of a process id and this."""


class Sampler:
    """Looks at the tree below a supervisor."""

    def __init__(self, supervisor_pid: int) -> None:
        """`supervisor_pid` is the parent of the tree; its own use does not count."""
        self._supervisor = psutil.Process(supervisor_pid)
        self._cpu_ns = 0
        self.peak_rss_bytes = 0
        self.threads = 0
        self._runs = ThreadRuns()

    def sample(self) -> None:
        """Take memory and threads into the peaks."""
        rss_bytes = threads = 0
        tree = self._tree()
        self._runs.sample([process.pid for process in tree])
        for process in tree:
            try:
                with process.oneshot():
                    rss_bytes += process.memory_info().rss
                    threads += process.num_threads()
            except psutil.Error:
                continue  # it ended between the listing and the look
        self.peak_rss_bytes = max(self.peak_rss_bytes, rss_bytes)
        self.threads = max(self.threads, threads)

    def begin_threads(self) -> None:
        """Count what threads run and wait from now on."""
        self._runs = ThreadRuns()
        self._runs.sample([process.pid for process in self._tree()])

    def thread_time(self) -> ThreadTime | None:
        """What threads ran and waited from then until now; None where none was seen."""
        self._runs.sample([process.pid for process in self._tree()], last=True)
        return self._runs.total()

    def idle_cores(self, seconds: float = 0.05) -> float | None:
        """How many cores the tree keeps busy without a load, looked at for so long; None where none is
        seen."""
        clock = TreeClock(self._supervisor.pid)
        before_ns, began_s = clock.read_ns(), time.monotonic()
        time.sleep(seconds)
        after_ns = clock.read_ns()
        if before_ns is None or after_ns is None:
            return None
        return max(0, after_ns - before_ns) / 1e9 / (time.monotonic() - began_s)

    def memory(self) -> tuple[int, bool]:
        """What the tree takes now, in bytes, and whether shared pages are shared out among the processes.

        They are counted wholly for each where the kernel does not tell proportional set sizes.
        """
        tree = self._tree()
        shares = [_proportional_bytes(process.pid) for process in tree]
        if all(share is not None for share in shares):
            return sum(filter(None, shares)), True
        return sum(_resident_bytes(process) for process in tree), False

    def cpu_ns(self) -> int:
        """CPU time that the tree has used so far, of ended processes too.

        It never goes back: when a process ends, what was known of it in nanoseconds is known in ticks.
        """
        seconds = 0.0
        try:
            ended = self._supervisor.cpu_times()
            seconds += ended.children_user + ended.children_system
        except psutil.Error:
            return self._cpu_ns
        for process in self._tree():
            try:
                used = process.cpu_times()
            except psutil.Error:
                continue
            seconds += max(used.user + used.system, _live_threads_s(process.pid))
            seconds += used.children_user + used.children_system
        self._cpu_ns = max(self._cpu_ns, round(seconds * 1e9))
        return self._cpu_ns

    def _tree(self) -> list[psutil.Process]:
        try:
            return self._supervisor.children(recursive=True)
        except psutil.Error:
            return []


class ThreadRuns:
    """What threads of some processes ran, and waited for a core, since the first look; each as of the last
    look at which it lived.

    Looks take a thousandth of the time at most: one that comes too soon after a long one is left out, unless
    it is the `last`.
    """

    def __init__(self) -> None:
        """Nobody has looked yet."""
        self._first: dict[tuple[int, int], tuple[int, int]] | None = None
        self._last: dict[tuple[int, int], tuple[int, int]] = {}
        self._not_before_s = 0.0

    def sample(self, pids: Iterable[int], *, last: bool = False) -> None:
        """Look at all threads of these processes."""
        began_s = time.monotonic()
        if began_s < self._not_before_s and not last:
            return
        found = {key: run for pid in pids for key, run in _threads_of(pid)}
        if self._first is None:
            self._first = found
        else:
            self._not_before_s = began_s + _BETWEEN * (time.monotonic() - began_s)
        self._last.update(found)

    def total(self) -> ThreadTime | None:
        """What they did; None where no thread was seen, or where the kernel keeps no account of them."""
        first = self._first or {}
        runs = [
            (ran - first.get(key, (0, 0))[0], waited - first.get(key, (0, 0))[1])
            for key, (ran, waited) in self._last.items()
        ]
        if not runs or not any(ran for ran, _ in self._last.values()):
            return None
        ran_ns = [ran for ran, _ in runs]
        return ThreadTime(
            threads=len(runs),
            ran_ns=sum(ran_ns),
            waited_ns=sum(waited for _, waited in runs),
            busiest_ns=max(ran_ns),
        )


class TreeClock:
    """The CPU clocks of a tree's processes, read in microseconds: for moments within a load.

    A process' clock counts its ended threads, and is exact to the nanosecond (clock_getcpuclockid(3)). Which
    processes there are is looked up by `refresh`, which takes longer. One that begins and ends between two
    looks (a database's for a single connection) is seen in its parent's clock once that has collected it, in
    ticks, if the parent had children or had collected any when it was looked up.
    """

    def __init__(self, *tops: int, counted: bool = False) -> None:
        """`tops` are the parents of the trees: supervisors, whose own use does not count, or processes of a
        server that somebody else runs, whose use is `counted`."""
        self._tops, self._counted = tops, counted
        self._used_ns: dict[int, int] = {}
        self._collected_ns: Mapping[int, int] = {}
        self.refresh()

    def refresh(self, stats: Mapping[int, Stat] | None = None) -> None:
        """Find the processes that are there now: what a new one has used so far counts from the next reading,
        and ended ones no longer, so differences are of readings without a look between them. `stats` are all
        processes where somebody has just listed them."""
        stats = dict(stats_of_all()) if stats is None else stats
        parents = {pid: stat.parent for pid, stat in stats.items()}
        tree = {pid for top in self._tops for pid in below(top, parents)}
        if self._counted:
            own = {os.getpid(), *below(os.getpid(), parents)}
            tree = (tree | set(self._tops)) & stats.keys()
            # Such a server may have started this process: that is no part of it then.
            tree = tree if own.issuperset(self._tops) else tree - own
        self._used_ns = {pid: self._used_ns.get(pid, 0) for pid in tree}
        have = {parents[pid] for pid in tree}
        self._collected_ns = {
            pid: stats[pid].collected_ns
            for pid in tree.union(() if self._counted else self._tops)
            if pid in stats and (pid in have or stats[pid].collected_ns)
        }

    @property
    def pids(self) -> frozenset[int]:
        """The processes that there were at the last `refresh`."""
        return frozenset(self._used_ns)

    def read_ns(self) -> int | None:
        """What they have used so far, and what was collected of ended ones since the last look; None where
        nothing can be read."""
        # Before the clocks: what ends in between is then missing for once, and not counted twice.
        collected_ns = -sum(self._collected_ns.values())
        for pid in self._collected_ns:
            stat = stat_of(pid)
            collected_ns += stat.collected_ns if stat else 0
        for pid, last_ns in self._used_ns.items():
            now_ns = process_clock_ns(pid)
            if now_ns is None:  # it has ended: what is known of it is part of what its parent collected
                collected_ns -= last_ns
            else:
                self._used_ns[pid] = now_ns
        used_ns = sum(self._used_ns.values()) + max(0, collected_ns)
        return used_ns or None


class Stat(NamedTuple):
    """Of a process (proc_pid_stat(5)): its name and parent, when it began (ticks since boot), what it used,
    and what its ended and collected descendants have."""

    name: str
    parent: int
    began: int
    user_ns: int
    kernel_ns: int
    collected_user_ns: int
    collected_kernel_ns: int

    @property
    def collected_ns(self) -> int:
        """What ended and collected descendants have used."""
        return self.collected_user_ns + self.collected_kernel_ns


_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def with_descendants(tops: Iterable[int]) -> frozenset[int]:
    """These processes that still live and all below them."""
    parents = {pid: stat.parent for pid, stat in stats_of_all()}
    return frozenset(pid for top in tops if top in parents for pid in (top, *below(top, parents)))


def stat_of(pid: int) -> Stat | None:
    """None where there is no such process."""
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        # "pid (name) state ppid …": the name may hold anything, so count from its last bracket
        head, _, tail = os.read(file, 4096).rpartition(b")")
        fields = tail.split()
        name = head.partition(b"(")[2].decode(errors="replace")
        times = (int(ticks) * _TICK_NS for ticks in fields[11:15])
        return Stat(name, int(fields[1]), int(fields[19]), *times)
    except (OSError, IndexError):
        return None  # it ended at this moment
    finally:
        os.close(file)


def stats_of_all() -> Iterable[tuple[int, Stat]]:
    """Every process that can be seen; nothing where there is no /proc, nor such clocks then."""
    with suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdigit() and (stat := stat_of(int(entry.name))):
                yield int(entry.name), stat


def process_clock_ns(pid: int) -> int | None:
    """What the process and its ended threads have used, to the nanosecond; None once it has ended."""
    try:
        return time.clock_gettime_ns(~pid << 3 | _SCHEDULER_CLOCK)
    except OSError:
        return None


def below(top: int, parents: Mapping[int, int]) -> set[int]:
    """All descendants of a process."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    level = [top]
    while level:
        level = [child for pid in level for child in children.get(pid, ()) if child not in found]
        found.update(level)
    return found


def _proportional_bytes(pid: int) -> int | None:
    """The proportional set size (proc_pid_smaps(5)); 0 once it has ended, None where none is told."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return 0 if Path("/proc/self/smaps_rollup").exists() else None
    except OSError:
        return None
    sizes = [line.split()[1] for line in text.splitlines() if line.startswith("Pss:")]
    return int(sizes[0]) * 1024 if sizes else 0


def _resident_bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0  # it ended between the listing and the look


def _live_threads_s(pid: int) -> float:
    """CPU time of a process's living threads; 0 where there is none, or the kernel does not tell."""
    return sum(ran_ns for _, (ran_ns, _) in _threads_of(pid)) / 1e9


def _threads_of(pid: int) -> Iterable[tuple[tuple[int, int], tuple[int, int]]]:
    """Each living thread, by process and thread id, with how long it ran and waited for a core, in ns.

    Nothing where the kernel does not tell (Linux, Documentation/scheduler/sched-stats.rst).
    """
    # A process and its threads may end between a listing and the look.
    with suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/task"):
            with suppress(OSError, ValueError):
                file = os.open(f"{entry.path}/schedstat", os.O_RDONLY)
                try:
                    ran, waited, _ = os.read(file, 96).split()
                finally:
                    os.close(file)
                yield (pid, int(entry.name)), (int(ran), int(waited))
