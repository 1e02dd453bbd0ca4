"""What the control group of this process allows: CPU time and memory, of version 1 and 2.

A container or a service manager sets such limits. The kernel keeps every group above to its own limit, too,
so that the least on the way up counts. Within a container the root that is seen is the container's own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path("/")
_UNLIMITED_BYTES = 2**60
"""Version 1 says "no limit" by the largest number of whole pages."""


class Allowed(NamedTuple):
    """Cores and bytes that may be used; None where no limit is set, or none can be seen."""

    cores: float | None = None
    memory_bytes: int | None = None


def allowed(root: Path = ROOT) -> Allowed:
    """What this process's control group allows, as the file tree below `root` says."""
    cores = [found for folder in _folders(root, "cpu") if (found := _cores(folder)) is not None]
    memory = [found for folder in _folders(root, "memory") if (found := _memory(folder)) is not None]
    return Allowed(min(cores, default=None), min(memory, default=None))


def words(found: Allowed, cores: int, memory_bytes: int) -> str:
    """What is allowed of a machine of so many cores and bytes; empty where that is all of it."""
    said = []
    if found.cores is not None and found.cores < cores:
        said.append(f"{found.cores:.3g} core{'' if found.cores == 1 else 's'}")
    if found.memory_bytes is not None and found.memory_bytes < memory_bytes:
        said.append(f"{found.memory_bytes / 1e9:.1f} GB of memory")
    return f"this control group may use {' and '.join(said)}" if said else ""


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's groups that `controller` governs, from its own to the topmost one."""
    mounted = root / "sys/fs/cgroup"
    for line in (_read(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, own = (line.split(":", 2) + ["", ""])[:3]
        if controllers and controller not in controllers.split(","):
            continue
        tops = (
            [mounted / controllers, mounted / controller] if controllers else [mounted, mounted / "unified"]
        )
        top = next((one for one in tops if one.is_dir()), mounted)
        parts = [part for part in own.split("/") if part not in ("", ".", "..")]
        for many in range(len(parts), -1, -1):
            yield top.joinpath(*parts[:many])


def _cores(folder: Path) -> float | None:
    quota, period = [*(_read(folder / "cpu.max") or "").split(), "", ""][:2]  # version 2
    if not quota:
        quota = _read(folder / "cpu.cfs_quota_us") or ""
        period = _read(folder / "cpu.cfs_period_us") or ""
    with contextlib.suppress(ValueError, ZeroDivisionError):  # "max", or nothing
        return int(quota) / int(period) if int(quota) > 0 else None
    return None


def _memory(folder: Path) -> int | None:
    said = _read(folder / "memory.max") or _read(folder / "memory.limit_in_bytes") or ""
    return int(said) if said.isdigit() and int(said) < _UNLIMITED_BYTES else None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
