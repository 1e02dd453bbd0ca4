"""The machine: what it is (`environment`) and how it did during a trial (`Watch`)."""

from __future__ import annotations

import hashlib
import os
import platform
import resource
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import psutil

from assay.core import cgroup, git
from assay.core.settings import checkout, version
from assay.model.run import Environment
from assay.model.trial import HostSeen
from assay.servers.cores import CoreSplit, smt_siblings

_MOST_NAMED = 3
_WORTH_NAMING = 0.05
"""Of a core: what takes less disturbs nobody."""


class BackgroundLoad(msgspec.Struct, frozen=True):
    """So many of the machine's cores were kept busy by other programs, by those above all."""

    cores_busy: float
    programs: tuple[str, ...] = ()


Look = Callable[[float], BackgroundLoad]
"""A look that takes so many seconds."""


def glance(seconds: float, meanwhile: Callable[[], object] = lambda: None) -> BackgroundLoad:
    """Look at the cores alone, which costs nothing: for so long, and until `meanwhile` is done."""
    watch, began_s = client_watch(()), time.monotonic()
    meanwhile()
    time.sleep(max(0.0, seconds - (time.monotonic() - began_s)))
    seen = watch.observed()
    own = (seen.own_cpu_ns or 0) / 1e9 / (time.monotonic() - began_s)
    return BackgroundLoad(max(0.0, (seen.busy_cores or 0.0) - own))


def measure(seconds: float) -> BackgroundLoad:
    """Look at every process, too, to name those that are busy."""
    before = _spent_by_all()
    cores_busy = glance(seconds).cores_busy
    spent_s: dict[str, float] = defaultdict(float)
    for process, now_s in _spent_by_all().items():
        spent_s[process[1]] += now_s - before.get(process, now_s)
    busiest = sorted(spent_s, key=lambda name: -spent_s[name])[:_MOST_NAMED]
    return BackgroundLoad(
        cores_busy, tuple(name for name in busiest if spent_s[name] > _WORTH_NAMING * seconds)
    )


def _spent_by_all() -> dict[tuple[int, str], float]:
    """Seconds of CPU time by process, without this one."""
    found = {}
    for process in psutil.process_iter(["name", "cpu_times"]):
        times = process.info["cpu_times"]
        if process.pid != os.getpid() and times is not None:
            found[process.pid, process.info["name"]] = times.user + times.system
    return found


_SECONDS = 0.05
_TRIES = 3
"""The best of them: what another program took away must not lower the ceiling."""

_CHUNK_BYTES = 1 << 20
_TIMEOUT_S = 10.0


def loopback_bytes_per_s(split: CoreSplit) -> float | None:
    """Bytes a second from the servers' cores to the client's, one stream for each pair of cores.

    Large writes and reads and nothing else: what a server with large answers approaches from below. Takes
    a sixth of a second. None where it cannot be measured.
    """
    measured = [rate for rate in (_once(split) for _ in range(_TRIES)) if rate is not None]
    return max(measured, default=None)


def _once(split: CoreSplit) -> float | None:
    pairs: list[tuple[int | None, int | None]] = [*zip(split.server, split.client, strict=False)]
    pairs = pairs or [(None, None)]
    done_s: list[tuple[int, float]] = []
    try:
        readers = [threading.Thread(target=_stream, args=(pair, done_s), daemon=True) for pair in pairs]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(2 * _TIMEOUT_S)
    except (OSError, RuntimeError):
        return None
    if len(done_s) < len(pairs):
        return None
    return sum(count / seconds for count, seconds in done_s)


def _stream(pair: tuple[int | None, int | None], done_s: list[tuple[int, float]]) -> None:
    """Read on the client's core what a thread on the server's core writes; note bytes and seconds."""
    server_cpu, client_cpu = pair
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(_TIMEOUT_S)
        until_s = time.monotonic() + _SECONDS
        writer = threading.Thread(
            target=_write, args=(listener.getsockname()[1], server_cpu, until_s), daemon=True
        )
        writer.start()
        connection, _ = listener.accept()
    with connection:
        connection.settimeout(_TIMEOUT_S)
        _pin(client_cpu)
        buffer, count, began_s = bytearray(_CHUNK_BYTES), 0, time.monotonic()
        while read := connection.recv_into(buffer):
            count += read
        seconds = time.monotonic() - began_s
    writer.join(_TIMEOUT_S)
    if count and seconds > 0:
        done_s.append((count, seconds))


def _write(port: int, cpu: int | None, until_s: float) -> None:
    _pin(cpu)
    chunk = bytes(_CHUNK_BYTES)
    with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S) as connection:
        while time.monotonic() < until_s:
            connection.sendall(chunk)


def _pin(cpu: int | None) -> None:
    """This thread alone; it ends with its stream."""
    if cpu is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cpu})


_CPUFREQ = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
_INTEL_NO_TURBO = Path("/sys/devices/system/cpu/intel_pstate/no_turbo")
_BOOST = Path("/sys/devices/system/cpu/cpufreq/boost")
_PORT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_CGROUP = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")


def environment(split: CoreSplit, tool_versions: Mapping[str, str]) -> Environment:
    """All that a figure of this machine depends on and that does not change during a run."""
    cpu_model, allowed = _cpu_model(), cgroup.allowed()
    return Environment(
        machine_id=_machine_id(cpu_model),
        hostname=platform.node(),
        os=_os_name(),
        kernel=platform.release(),
        cpu_model=cpu_model,
        cores=os.cpu_count() or 1,
        memory_bytes=psutil.virtual_memory().total,
        governor=governor(),
        descriptor_limit=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        client_cpus=split.client,
        server_cpus=split.server,
        assay_version=version(),
        git_commit=git_commit(checkout()),
        tool_versions={"python": platform.python_version(), **tool_versions},
        smt_siblings=smt_siblings(),
        turbo=_turbo(),
        on_battery=_on_battery(),
        ephemeral_ports=_ephemeral_ports(),
        allowed_cores=allowed.cores,
        allowed_memory_bytes=allowed.memory_bytes,
    )


def _turbo() -> bool | None:
    """Whether clocks may rise above the base frequency; None where the kernel does not say."""
    no_turbo, boost = _read(_INTEL_NO_TURBO), _read(_BOOST)
    if no_turbo is not None:
        return no_turbo == "0"
    return None if boost is None else boost == "1"


def _on_battery() -> bool | None:
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return None if battery is None or battery.power_plugged is None else not battery.power_plugged


def _ephemeral_ports() -> int | None:
    """How many local ports connections may take."""
    given = (_read(_PORT_RANGE) or "").split()
    return int(given[1]) - int(given[0]) + 1 if len(given) == 2 else None


def governor() -> str | None:
    """How the first CPU's frequency is governed; None where nothing governs it."""
    return _read(_CPUFREQ)


def raise_descriptor_limit() -> tuple[int, int]:
    """Raise the soft limit of open files to the hard one; (what it was, what it is)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return soft, hard


class CpuClocks(NamedTuple):
    """The kernel's clocks of one CPU, in ticks of 10 ms at best. `stolen_ns` is None where none is told."""

    idle_ns: int
    stolen_ns: int | None
    interrupts_ns: int
    total_ns: int


class HostClocks(NamedTuple):
    """The host's clocks over `elapsed_ns`: this process' CPU time, and each CPU by its number."""

    elapsed_ns: int
    own_ns: int
    cpus: tuple[CpuClocks, ...]


class Watch:
    """Looks at the host for a while, or for several that are added up: the slices of one server."""

    def __init__(self, split: CoreSplit, *, begins: bool = True) -> None:
        """Begin to watch, unless that is for `resume` to do."""
        self._client = split.client
        self._server = split.server
        self._spent: list[dict[str, float]] = [{} for _ in psutil.cpu_times(percpu=True)]
        self._elapsed_s = 0.0
        self._throttled_ns: int | None = 0
        self._own_ns = 0
        self._marks: _Marks | None = _Marks.now() if begins else None

    def resume(self) -> None:
        """Look from now on."""
        self._marks = _Marks.now()

    def pause(self, *, keep: bool = True) -> None:
        """Add what was seen since the begin, unless it is not to be kept, and look away. Without effect where
        nobody looks."""
        before, now = self._marks, _Marks.now()
        self._marks = None
        if before is None or not keep:
            return
        for sums, early, late in zip(self._spent, before.cpus, now.cpus, strict=False):
            for kind, seconds in _spent(early, late).items():
                sums[kind] = sums.get(kind, 0.0) + seconds
        self._elapsed_s += now.at_s - before.at_s
        self._own_ns += now.own_ns - before.own_ns
        if before.throttled_ns is None or now.throttled_ns is None or self._throttled_ns is None:
            self._throttled_ns = None
        else:
            self._throttled_ns += now.throttled_ns - before.throttled_ns

    def clocks(self) -> HostClocks:
        """The kernel's clocks in all that time that was looked at and is over."""
        cpus = tuple(
            CpuClocks(
                idle_ns=round(_idle(cpu) * 1e9),
                stolen_ns=round(cpu["steal"] * 1e9) if "steal" in cpu else None,
                interrupts_ns=round((cpu.get("irq", 0.0) + cpu.get("softirq", 0.0)) * 1e9),
                total_ns=round(sum(cpu.values()) * 1e9),
            )
            for cpu in self._spent
            if cpu
        )
        return HostClocks(round(self._elapsed_s * 1e9), self._own_ns, cpus)

    def observed(self) -> HostSeen:
        """The host in all that time."""
        if self._marks is not None:
            self.pause()
            self.resume()
        total = sum(sum(cpu.values()) for cpu in self._spent)
        stolen = [cpu["steal"] for cpu in self._spent if "steal" in cpu]
        busy = sum(sum(cpu.values()) - _idle(cpu) - cpu.get("steal", 0.0) for cpu in self._spent)
        return HostSeen(
            load_average_1m=os.getloadavg()[0],
            steal_share=sum(stolen) / total if total and stolen else None,
            client_cpus_idle_share=_idle_share(self._spent, self._client),
            mhz=_mhz(),
            server_cpus_idle_share=_idle_share(self._spent, self._server),
            busy_cores=busy / self._elapsed_s if self._elapsed_s > 0 else None,
            throttled_ns=self._throttled_ns,
            own_cpu_ns=self._own_ns,
        )


def client_watch(cpus: tuple[int, ...]) -> Watch:
    """Watch the machine from here on, beside a client on those cores and a server of which nothing is
    known."""
    return Watch(CoreSplit(client=cpus, server=(), cores=os.cpu_count() or 1))


class _Marks(NamedTuple):
    """The host's clocks at a moment."""

    at_s: float
    throttled_ns: int | None
    own_ns: int
    cpus: Sequence[object]

    @classmethod
    def now(cls) -> _Marks:
        """At this one."""
        return cls(time.monotonic(), _throttled_ns(), time.process_time_ns(), psutil.cpu_times(percpu=True))


def _idle(cpu: Mapping[str, float]) -> float:
    return cpu.get("idle", 0.0) + cpu.get("iowait", 0.0)


def _idle_share(spent: Sequence[Mapping[str, float]], cpus: Sequence[int]) -> float | None:
    """The idle share of these CPUs, of all where none is named; None where their clocks did not move."""
    chosen = [spent[cpu] for cpu in cpus if cpu < len(spent)] or spent
    total = sum(sum(cpu.values()) for cpu in chosen)
    return sum(_idle(cpu) for cpu in chosen) / total if total else None


def _throttled_ns() -> int | None:
    """For how long this control group (version 2) has been kept from running; None without one."""
    own = (_read(_OWN_CGROUP) or "").partition("::")[2].strip("/")
    for line in (_read(_CGROUP / own / "cpu.stat") or _read(_CGROUP / "cpu.stat") or "").splitlines():
        name, _, value = line.partition(" ")
        if name == "throttled_usec":
            return int(value) * 1000
    return None


def _spent(before: object, after: object) -> dict[str, float]:
    """Seconds by kind; guest time is part of user time already."""
    names = [name for name in after._fields if not name.startswith("guest")]  # type: ignore[attr-defined]  # fields differ by kernel
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


def git_commit(root: Path | None) -> str | None:
    """The checkout's commit, with "+" where files differ from it."""
    words = ("describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+")
    said = git.ask(root, *words) if root is not None else None
    return said.decode(errors="replace").strip() or None if said else None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
