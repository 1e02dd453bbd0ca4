"""The machine: what it is (`environment`) and how it did during a trial (`Watch`)."""

from __future__ import annotations

import hashlib
import os
import platform
import resource
import subprocess
from collections.abc import Mapping
from pathlib import Path

import psutil

import assay
from assay.settings import checkout
from assay.sut.cores import CoreSplit, smt_siblings
from assay.values.run import Environment
from assay.values.trial import HostSeen

_CPUFREQ = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def environment(split: CoreSplit, tool_versions: Mapping[str, str]) -> Environment:
    """All that a figure of this machine depends on and that does not change during a run."""
    cpu_model = _cpu_model()
    return Environment(
        machine_id=_machine_id(cpu_model),
        hostname=platform.node(),
        os=_os_name(),
        kernel=platform.release(),
        cpu_model=cpu_model,
        cores=os.cpu_count() or 1,
        memory_bytes=psutil.virtual_memory().total,
        governor=_read(_CPUFREQ),
        descriptor_limit=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        client_cpus=split.client,
        server_cpus=split.server,
        assay_version=assay.version(),
        git_commit=_git_commit(checkout()),
        tool_versions={"python": platform.python_version(), **tool_versions},
        smt_siblings=smt_siblings(),
    )


def raise_descriptor_limit() -> tuple[int, int]:
    """Raise the soft limit of open files to the hard one; (what it was, what it is)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return soft, hard


class Watch:
    """Looks at the host at the begin and the end of a phase."""

    def __init__(self, split: CoreSplit) -> None:
        """Begin to watch."""
        self._client = split.client
        self._begin = psutil.cpu_times(percpu=True)

    def seen(self) -> HostSeen:
        """The host since the begin."""
        now = psutil.cpu_times(percpu=True)
        spent = [_spent(before, after) for before, after in zip(self._begin, now, strict=False)]
        total = sum(sum(cpu.values()) for cpu in spent)
        steal = sum(cpu.get("steal", 0.0) for cpu in spent)
        client = [spent[cpu] for cpu in self._client if cpu < len(spent)] or spent
        client_total = sum(sum(cpu.values()) for cpu in client)
        idle = sum(cpu.get("idle", 0.0) + cpu.get("iowait", 0.0) for cpu in client)
        return HostSeen(
            load_average_1m=os.getloadavg()[0],
            steal_share=steal / total if total else 0.0,
            client_cpus_idle_share=idle / client_total if client_total else 0.0,
            mhz=_mhz(),
        )


def _spent(before: object, after: object) -> dict[str, float]:
    """Seconds by kind; guest time is part of user time already."""
    names = [name for name in after._fields if not name.startswith("guest")]  # type: ignore[attr-defined]
    return {name: max(0.0, getattr(after, name) - getattr(before, name)) for name in names}


def _mhz() -> float | None:
    frequency = psutil.cpu_freq()
    return frequency.current if frequency else None


def _machine_id(cpu_model: str) -> str:
    """The same for each run on this machine, and nothing that names it to others."""
    given = _read(Path("/etc/machine-id")) or platform.node()
    return hashlib.sha256(f"assay/{given}/{cpu_model}".encode()).hexdigest()[:16]


def _cpu_model() -> str:
    for line in (_read(Path("/proc/cpuinfo")) or "").splitlines():
        if line.startswith(("model name", "Hardware", "CPU implementer")):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def _git_commit(root: Path | None) -> str | None:
    """The checkout's commit, with "+" where files differ from it."""
    if root is None:
        return None
    try:
        ask = ["git", "-C", str(root), "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]
        done = subprocess.run(ask, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip() or None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
