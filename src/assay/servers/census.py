"""All processes that can be seen, counted at two moments: what other programs used meanwhile, by name, and
what trees of processes did with their time.

A count reads a file for each process: some milliseconds for 200 of them. It belongs to both ends of a
measured phase, never into one.
"""

from __future__ import annotations

import os
import resource
import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from assay.model.account import ProgramTime
from assay.servers.sampler import Stat, below, process_clock_ns, stats_of_all

_KTHREADD = 2
"""The parent of the kernel's own threads."""


class TreeUse(NamedTuple):
    """What the processes of a tree used between two counts; `total_ns` is exact, user's and kernel's parts of
    it are as the kernel divided its ticks."""

    total_ns: int
    user_ns: int
    kernel_ns: int


class Census(msgspec.Struct, frozen=True):
    """One count. `trees` are those asked for, by name, as process ids; `own` is this process' user and kernel
    time in nanoseconds."""

    stats: Mapping[int, Stat]
    trees: Mapping[str, Collection[int]]
    clocks_ns: Mapping[int, int]
    own: tuple[int, int]
    at_ns: int

    @classmethod
    def now(cls, tops: Mapping[str, Collection[int]] | None = None) -> Census:
        """Count now. `tops` are the processes at the top of each tree, by the tree's name."""
        stats = dict(stats_of_all())
        parents = {pid: stat.parent for pid, stat in stats.items()}
        own = {os.getpid(), *below(os.getpid(), parents)}
        trees: dict[str, set[int]] = {}
        for name, pids in (tops or {}).items():
            found = {pid for top in pids for pid in (top, *below(top, parents)) if pid in stats}
            # A server may have started this process: that is no part of it then.
            trees[name] = found if own.issuperset(pids) else found - own
        members = {pid for tree in trees.values() for pid in tree}
        clocks = {pid: ns for pid in members if (ns := process_clock_ns(pid)) is not None}
        used = resource.getrusage(resource.RUSAGE_SELF)
        times = round(used.ru_utime * 1e9), round(used.ru_stime * 1e9)
        return cls(stats, trees, clocks, times, time.monotonic_ns())


class CensusPair(msgspec.Struct, frozen=True):
    """What happened between two counts of the same trees."""

    early: Census
    late: Census

    @property
    def length_ns(self) -> int:
        """The time between them."""
        return self.late.at_ns - self.early.at_ns

    @property
    def own_ns(self) -> int:
        """CPU time of this process."""
        return sum(self.late.own) - sum(self.early.own)

    @property
    def own_user_share(self) -> float | None:
        """The part of that in user mode; None where there was none."""
        return (self.late.own[0] - self.early.own[0]) / self.own_ns if self.own_ns > 0 else None

    @property
    def can_see(self) -> bool:
        """Whether processes can be seen at all."""
        return bool(self.early.stats and self.late.stats)

    def tree(self, name: str) -> TreeUse | None:
        """What that tree used; None where none of its processes could be seen at both ends."""
        before, after = set(self.early.trees.get(name, ())), set(self.late.trees.get(name, ()))
        if not before or not before & after:
            return None
        early, late = self.early, self.late
        lived_ns = sum(ns - early.clocks_ns.get(pid, 0) for pid, ns in late.clocks_ns.items() if pid in after)
        ended_ns = sum(early.clocks_ns.get(pid, 0) for pid in before - after)
        collected = [self._collected(pid) for pid in after]
        total_ns = lived_ns + max(0, sum(map(sum, collected)) - ended_ns)
        pairs = [(late.stats[pid], early.stats.get(pid)) for pid in after]
        user_ns = sum(now.user_ns - (was.user_ns if was else 0) for now, was in pairs)
        kernel_ns = sum(now.kernel_ns - (was.kernel_ns if was else 0) for now, was in pairs)
        if total_ns > 2 * (user_ns + kernel_ns):  # most of it was done by processes that have ended
            user_ns += sum(user for user, _ in collected)
            kernel_ns += sum(kernel for _, kernel in collected)
        share = user_ns / (user_ns + kernel_ns) if user_ns + kernel_ns else 0.5
        user_ns = round(total_ns * share)
        return TreeUse(total_ns, user_ns, total_ns - user_ns)

    def _collected(self, pid: int) -> tuple[int, int]:
        """What the process has collected of ended descendants meanwhile: user's and kernel's time."""
        now, was = self.late.stats[pid], self.early.stats.get(pid)
        if was is None:
            return now.collected_user_ns, now.collected_kernel_ns
        return (
            now.collected_user_ns - was.collected_user_ns,
            now.collected_kernel_ns - was.collected_kernel_ns,
        )

    @property
    def hides(self) -> bool:
        """Whether other users' processes are hidden: even the first one is."""
        return self.can_see and 1 not in self.late.stats

    def programs(self, but_of: int | None = None) -> tuple[ProgramTime, ...]:
        """Other programs' CPU time by name, the busiest first: those of no tree, without this process and the
        kernel's threads, and without those of the user `but_of`."""
        used: dict[str, int] = defaultdict(int)
        for pid, now, ns in self._outside():
            if now.parent != _KTHREADD and (but_of is None or _user_of(pid) != but_of):
                used[now.name] += ns
        ranked = sorted(used.items(), key=lambda one: (-one[1], one[0]))
        return tuple(ProgramTime(name=name, ns=ns) for name, ns in ranked if ns > 0)

    def kernel_threads_ns(self) -> int:
        """CPU time of the kernel's own threads."""
        return sum(ns for _, now, ns in self._outside() if now.parent == _KTHREADD)

    def _outside(self) -> list[tuple[int, Stat, int]]:
        known = {pid for one in (self.early, self.late) for tree in one.trees.values() for pid in tree}
        known.add(os.getpid())
        found = []
        for pid, now in self.late.stats.items():
            was = self.early.stats.get(pid)
            if was is not None and was.began != now.began:  # another process of the same number
                was = None
            if pid not in known:
                used_ns = now.user_ns + now.kernel_ns - (was.user_ns + was.kernel_ns if was else 0)
                found.append((pid, now, used_ns))
        return found


def _user_of(pid: int) -> int | None:
    try:
        return Path("/proc", str(pid)).stat().st_uid
    except OSError:
        return None
