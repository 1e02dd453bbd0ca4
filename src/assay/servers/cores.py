"""How the machine is shared out: cores for client and servers, and memory."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from assay.servers.manifest import ServerSpec

_TOPOLOGY = Path("/sys/devices/system/cpu")


class CoreSplit(msgspec.Struct, frozen=True):
    """Who runs where. Both are empty where the system cannot pin (macOS): the scheduler decides."""

    client: tuple[int, ...]
    server: tuple[int, ...]
    cores: int

    @property
    def server_cores(self) -> int:
        """How many cores a server has."""
        return len(self.server) or self.cores

    @property
    def client_cores(self) -> int:
        """How many cores the client has."""
        return len(self.client) or self.cores


@contextlib.contextmanager
def kept_on(cpus: Iterable[int]) -> Iterator[None]:
    """Keep this thread, and what it starts, on those cores for as long as a `with` block lasts; where none
    is named, on those that it has."""
    wanted = set(cpus)
    if not wanted:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, wanted)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def split_cores() -> CoreSplit:
    """The split for this process on this machine."""
    if not hasattr(os, "sched_getaffinity"):
        return CoreSplit((), (), os.cpu_count() or 1)
    usable = os.sched_getaffinity(0)
    return split(tuple(group) for group in _physical_cores(usable))


def split(physical: Iterable[tuple[int, ...]]) -> CoreSplit:
    """The split of these physical cores, each given by its CPUs."""
    groups = sorted(tuple(sorted(group)) for group in physical)
    if len(groups) == 1 and len(groups[0]) == 1:
        return CoreSplit(groups[0], groups[0], 1)
    if len(groups) == 1:  # one core, several hardware threads: H1 will say that they share it
        groups = [(cpu,) for cpu in groups[0]]
    client = groups[len(groups) - len(groups) // 2 :]
    server = groups[: len(groups) - len(groups) // 2]
    return CoreSplit(
        tuple(sorted(cpu for group in client for cpu in group)),
        tuple(sorted(cpu for group in server for cpu in group)),
        sum(len(group) for group in groups),
    )


def smt_siblings() -> tuple[tuple[int, ...], ...]:
    """Each group of two or more CPUs that share a physical core."""
    present = range(os.cpu_count() or 1)
    return tuple(group for group in _physical_cores(set(present)) if len(group) > 1)


def _physical_cores(cpus: set[int]) -> list[tuple[int, ...]]:
    groups = {_siblings(cpu) & cpus or frozenset({cpu}) for cpu in cpus}
    return sorted(tuple(sorted(group)) for group in groups)


def _siblings(cpu: int) -> frozenset[int]:
    try:
        text = (_TOPOLOGY / f"cpu{cpu}/topology/thread_siblings_list").read_text()
    except OSError:
        return frozenset({cpu})
    return frozenset(_cpu_list(text)) or frozenset({cpu})


def _cpu_list(text: str) -> Iterable[int]:
    """The kernel's list format: "0-3,8"."""
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first:
            yield from range(int(first), int(last or first) + 1)


_USUAL_BYTES = 256 << 20
"""What a server takes of whose memory its manifest says nothing."""
_HEAP = re.compile(r"-Xmx(\d+)([kmg])", re.IGNORECASE)
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_BESIDE_A_HEAP = 1.25
"""What a JVM takes beside its heap: code, stacks, metaspace."""


def likely_bytes(server: ServerSpec) -> int:
    """By the heap that its command or environment says, if one is said."""
    heap = _HEAP.search(" ".join((*server.command, *server.env.values())))
    if heap is None:
        return _USUAL_BYTES
    return round(int(heap[1]) * _UNITS[heap[2].lower()] * _BESIDE_A_HEAP)
