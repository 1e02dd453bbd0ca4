"""What is there and what is missing: each server's needs, each service's, and the machine's own fitness.

Everything here looks and changes nothing.
"""

from __future__ import annotations

import os
import resource
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import psutil

from assay.core import cgroup
from assay.core.settings import Settings
from assay.model.plan import Closed
from assay.plan.resolved import ResolvedRun
from assay.servers import host
from assay.servers.build import is_built
from assay.servers.cores import CoreSplit, split_cores
from assay.servers.emulation import lacking
from assay.servers.manifest import ServerSpec
from assay.servers.requires import Checked, check_all
from assay.servers.services import requirements

_STEAL_LOOK_S = 1.0
_PORTS_FILE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_SPARE_DESCRIPTORS = 64
"""Beside the connections: the harness's own files, pipes and libraries."""

_LEAST_DISK_BYTES = 2 * 10**9
_LEAST_MEMORY_BYTES = 2 * 10**9


class Need(msgspec.Struct, frozen=True):
    """What one server or service needs. `built` is None where there is nothing to build."""

    name: str
    title: str
    checked: tuple[Checked, ...]
    built: bool | None

    @property
    def ready(self) -> bool:
        """Whether it can be run at once."""
        return self.built is not False and all(one.fulfilled for one in self.checked)


class Fitness(msgspec.Struct, frozen=True):
    """One property of the machine: what it is, whether that is good enough, and what to do if not."""

    name: str
    state: str
    fit: bool
    remedy: str = ""


def server_needs(specs: Sequence[ServerSpec], settings: Settings) -> tuple[Need, ...]:
    """The needs of servers, looked up on this machine."""
    cores = split_cores().server_cores
    needs = []
    for spec in specs:
        checked = check_all(spec.requires)
        whole = all(one.fulfilled for one in checked)
        built = None if spec.build is None else whole and is_built(spec, settings, cores, checked)
        needs.append(Need(spec.name, spec.title, checked, built))
    return tuple(needs)


def service_needs(study: ResolvedRun) -> tuple[Need, ...]:
    """The needs of a study's own services."""
    return tuple(
        Need(spec.name, f"service {spec.name}", check_all(requirements(spec.name)), None)
        for spec in study.services
        if spec.url is None
    )


def machine(settings: Settings, study: ResolvedRun | None = None) -> tuple[Fitness, ...]:
    """Whether the machine is fit to measure, for `study` if given. Takes a second: steal is watched."""
    split = study.split if study else split_cores()
    connections = max((_connections(case.plan.load) for case in study.cases), default=0) if study else 0
    return (
        _cores(split),
        *control_group(cgroup.allowed(), split, psutil.virtual_memory().total),
        _descriptors(connections),
        _ports(connections),
        _links(study),
        _governor(),
        *_quietness(split),
        _memory(study.memory_at_once if study and study.design.interleave else 0),
        _disk("results", settings.results),
        _disk("builds", settings.cache),
    )


def _connections(load: object) -> int:
    return load.connections if isinstance(load, Closed) else int(getattr(load, "max_connections", 0))


def _cores(split: CoreSplit) -> Fitness:
    if split.client and set(split.client) & set(split.server):
        return Fitness("cores", "1", False, "client and server share it: every figure gets a warning (H1)")
    if not split.client:
        return Fitness("cores", f"{split.cores}, not pinned", False, "this system cannot pin: use Linux")
    client, server = (", ".join(map(str, cpus)) for cpus in (split.client, split.server))
    return Fitness("cores", f"{split.cores}: client on {client}, servers on {server}", True)


def control_group(allowed: cgroup.Allowed, split: CoreSplit, memory_bytes: int) -> tuple[Fitness, ...]:
    """What the control group keeps from Assay and its servers; nothing where it keeps nothing."""
    said = cgroup.words(allowed, split.cores, memory_bytes)
    remedy = "raise its limits, or measure outside of it: beyond them the kernel stops or ends programs"
    return (Fitness("control group", said, False, remedy),) if said else ()


def _descriptors(connections: int) -> Fitness:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    needed = connections + _SPARE_DESCRIPTORS
    seen = f"{hard} at most" + (f", {needed} needed" if connections else "")
    least = max(needed, 1024)
    return Fitness("open files", seen, hard >= least, f"raise the hard limit: ulimit -Hn {least}")


def _ports(connections: int) -> Fitness:
    try:
        first, last = (int(word) for word in _PORTS_FILE.read_text().split())
    except (OSError, ValueError):
        return Fitness("ports", "unknown", True)
    there = last - first + 1
    remedy = "widen the range: sysctl net.ipv4.ip_local_port_range='1024 65535'"
    return Fitness(
        "ports", f"{there} for outgoing connections", there >= max(2 * connections, 10_000), remedy
    )


def _links(study: ResolvedRun | None) -> Fitness:
    """Whether servers can be had over an emulated network: unfit only where the study asks for that."""
    lacks = lacking()
    if lacks is None:
        return Fitness("links with a delay", "can be made", True)
    wanted = study is not None and any(case.case.emulation for case in study.cases)
    return Fitness("links with a delay", lacks.message, not wanted, lacks.remedy)


def _governor() -> Fitness:
    found = host.governor()
    remedy = "cpupower frequency-set --governor performance"
    return Fitness(
        "governor",
        found or "none (a virtual machine sets no frequency)",
        found in (None, "performance"),
        remedy,
    )


def _quietness(split: CoreSplit) -> tuple[Fitness, Fitness]:
    """Steal over a second, and what others take of the cores."""
    watch = host.Watch(CoreSplit((), (), split.cores))
    time.sleep(_STEAL_LOOK_S)
    seen = watch.observed()
    idle, stolen = seen.client_cpus_idle_share, seen.steal_share
    busy = "not known" if idle is None else f"{1 - idle:.0%} of all cores busy"
    return (
        Fitness(
            "steal",
            "not known" if stolen is None else f"{stolen:.1%}",
            stolen is not None and stolen <= 0.01,
            "measure on a machine of your own",
        ),
        Fitness("other load", busy, idle is not None and idle >= 0.9, "end what else runs here"),
    )


def _memory(needed: int) -> Fitness:
    """`needed` is what servers take that are to be alive at once."""
    there = psutil.virtual_memory().available
    remedy = "end what holds it, or measure servers with smaller heaps"
    seen = f"{there / 1e9:.1f} GB free"
    if needed:
        seen += f"; interleaved servers take about {needed / 1e9:.1f} GB at once"
        remedy += "; where they do not fit they are tried one after the other"
    return Fitness("memory", seen, there >= max(_LEAST_MEMORY_BYTES, needed), remedy)


def _disk(what: str, folder: Path) -> Fitness:
    """Room and the right to write at the nearest folder that exists."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        return Fitness(what, f"{there} cannot be written", False, "choose another folder")
    free = shutil.disk_usage(there).free
    return Fitness(what, f"{free / 1e9:.0f} GB free in {there}", free >= _LEAST_DISK_BYTES, "make room")
