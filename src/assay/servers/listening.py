"""The server that listens at an address of this machine: its processes, and the account of a load on it.

A listening socket has an inode (/proc/net/tcp), and processes that have it open (/proc/PID/fd). Those of
other users, in containers or other network namespaces may not be seen: that is said, and nothing is guessed.
"""

from __future__ import annotations

import ipaddress
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from assay.core import urls
from assay.engine import target_policy
from assay.engine.generator import GoingLoad
from assay.model.account import TimeAccount
from assay.model.measurement import Measurement
from assay.model.plan import LoadPlan
from assay.model.trial import HostSeen
from assay.servers import account
from assay.servers.account import SERVER, CoreSet
from assay.servers.census import Census, CensusPair
from assay.servers.cores import CoreSplit
from assay.servers.host import Watch
from assay.servers.sampler import ThreadRuns, stat_of

_LISTENS, _UNCONNECTED = "0A", "07"
_FORWARDERS = frozenset({"docker-proxy", "rootlesskit", "rootlessport", "slirp4netns", "pasta", "pasta.avx2"})
"""Programs that listen for a container's server, which is another process."""
_EVERY_S = 0.5
_IDLE_S = 0.05


@dataclass(frozen=True)
class Listener:
    """Who listens: all processes that have the socket open, or why (`hidden`) they cannot be seen, and then
    whose (`user`) they are, where that is known."""

    pids: tuple[int, ...] = ()
    hidden: str = ""
    user: int | None = None

    @property
    def cpus(self) -> frozenset[int]:
        """Where they may run; nothing where that cannot be known."""
        found: set[int] = set()
        for pid in self.pids:
            with suppress(OSError, AttributeError):
                found |= os.sched_getaffinity(pid)
        return frozenset(found)


class _Socket(NamedTuple):
    ip: str
    user: int
    inode: str


def listener(ip: str, port: int, *, udp: bool = False) -> Listener:
    """Who listens at that address of this machine."""
    if not Path("/proc/net/tcp").exists():
        return Listener(hidden="this system does not tell which process listens at an address")
    where = f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"
    found = list(_sockets(port, udp=udp))
    wanted = _plain(ip)
    chosen = [one for one in found if one.ip == wanted] or [one for one in found if one.ip == ""]
    if not chosen:
        return Listener(hidden=f"no process is seen to listen at {where}: it may be in a container")
    inodes, user = {f"socket:[{one.inode}]" for one in chosen}, chosen[0].user
    pids = tuple(sorted(set(_holders(inodes)) - {os.getpid()}))
    pids = tuple(pid for pid in pids if pid != 1) or pids
    names = {stat.name for pid in pids if (stat := stat_of(pid)) is not None}
    if not names:
        return Listener(hidden=f"the server at {where} is user {user}'s: its processes are hidden", user=user)
    if pids == (1,) and "systemd" in names:
        return Listener(hidden=f"the socket at {where} is systemd's: its server cannot be told", user=user)
    if forwarder := names & _FORWARDERS:
        return Listener(
            hidden=f"{min(forwarder)} listens at {where}: the server is in a container", user=user
        )
    return Listener(pids)


def _sockets(port: int, *, udp: bool) -> Iterator[_Socket]:
    """All that listen on that port, over TCP or (`udp`) take datagrams at it."""
    kind, state = ("udp", _UNCONNECTED) if udp else ("tcp", _LISTENS)
    for table in (kind, f"{kind}6"):
        with suppress(OSError):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                address, _, at = fields[1].partition(":")
                if fields[3] == state and int(at, 16) == port:
                    yield _Socket(_plain(_ip(address)), int(fields[7]), fields[9])


def _ip(text: str) -> str:
    """An address as the kernel writes it: 32-bit words in the machine's byte order."""
    words = [bytes.fromhex(text[at : at + 8]) for at in range(0, len(text), 8)]
    if sys.byteorder == "little":
        words = [word[::-1] for word in words]
    return str(ipaddress.ip_address(b"".join(words)))


def _plain(ip: str) -> str:
    """The address in its shortest form, an IPv4 one in IPv6 as such; "" for that of all interfaces."""
    found = ipaddress.ip_address(ip.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return "" if found.is_unspecified else str(found)


def _holders(inodes: Iterable[str]) -> Iterator[int]:
    """The processes that have one of these open, as far as that may be looked up."""
    wanted = set(inodes)
    with suppress(OSError):
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            with suppress(OSError):
                for one in os.scandir(f"{entry.path}/fd"):
                    with suppress(OSError):
                        if os.readlink(one.path) in wanted:  # noqa: PTH115 - for thousands of them
                            yield int(entry.name)
                            break


def listener_at(ip: str, port: int) -> Listener | None:
    """Who listens at that numeric address; None where it is another machine's."""
    return listener(ip, port) if target_policy.is_this_machine((ip,)) else None


def listener_of(plan: LoadPlan) -> Listener | None:
    """Who answers a settled plan; None where that is another machine."""
    hosts = target_policy.first_hops(plan)
    if not target_policy.is_this_machine(hosts):
        return None
    if any(host.startswith("unix:") for host in hosts) or plan.url.startswith("http+unix"):
        return Listener(hidden="the server at a unix socket cannot be told")
    url = urls.parse(plan.proxy or plan.url)
    port = url.port or urls.PORTS[url.scheme]
    given = {address.rpartition(":")[2] for address in plan.addresses if _has_port(address)}
    if plan.proxy is None and len(given) == 1:
        port = int(given.pop())
    try:
        return listener(hosts[0], port, udp=plan.http == "3")
    except ValueError:  # a name that only a proxy knows
        return Listener(hidden=f"nobody knows which process {hosts[0]} is")


def _has_port(address: str) -> bool:
    return target_policy.without_port(address) not in (address, address.strip("[]"))


class LoadWatch:
    """Watches this machine while a load goes on, and whoever answers it, if that is here."""

    def __init__(self, plan: LoadPlan) -> None:
        """Begin."""
        self._plan = plan
        self._warms = bool(plan.warmup_max_ns)
        self._found = listener_of(plan)
        self._tops = {SERVER: self._found.pids} if self._found and self._found.pids else {}
        self._split = CoreSplit(plan.cpus, (), os.cpu_count() or 1)
        self._begin()

    def _begin(self) -> None:
        self._runs, self._sampled_s = ThreadRuns(), 0.0
        self._early = Census.now(self._tops)
        self._watch = Watch(self._split)
        self.sample()

    def sample(self, going: GoingLoad | None = None) -> None:
        """Look at the server's threads, twice a second at most; once a load that goes on measures, begin
        anew."""
        if self._warms and going is not None and going.snapshot().phase == "measured":
            self._warms = False
            self._begin()
        elif time.monotonic() - self._sampled_s >= _EVERY_S:
            self._sampled_s = time.monotonic()
            self._runs.sample(self._early.trees.get(SERVER, ()))

    def observed(self) -> HostSeen:
        """The machine since the measured time began."""
        return self._watch.observed()

    def account(self, measured: Measurement) -> TimeAccount | None:
        """Where the time since then went. It takes a moment, to see what the server does without a load; None
        where this system has no clocks of processes."""
        self._runs.sample(self._early.trees.get(SERVER, ()), last=True)
        late, clocks = Census.now(self._tops), self._watch.clocks()
        between = CensusPair(self._early, late)
        if not between.can_see:
            return None
        hidden = self._found.hidden if self._found else ""
        seen = account.of_load(
            self._sets(),
            clocks,
            between,
            measured,
            threads=self._runs.total(),
            hidden=hidden,
            hidden_user=self._found.user if self._found else None,
        )
        if self._found is None:
            seen = msgspec.structs.replace(seen, unseen=("the server is on another machine", *seen.unseen))
        return msgspec.structs.replace(seen, idle_cpu_share=self._idle_share(late))

    def _idle_share(self, late: Census) -> float | None:
        if not self._tops:
            return None
        time.sleep(max(0.0, _IDLE_S - (time.monotonic_ns() - late.at_ns) / 1e9))
        idle = CensusPair(late, Census.now(self._tops))
        used = idle.tree(SERVER)
        cores = len(self._found.cpus if self._found else ()) or self._split.cores
        return None if used is None else used.total_ns / idle.length_ns / cores

    def _sets(self) -> Sequence[CoreSet]:
        client = self._plan.cpus or tuple(sorted(os.sched_getaffinity(0)))
        if self._found is None:
            return (CoreSet(client, "generator"),)
        server = tuple(sorted(self._found.cpus))
        return account.core_sets(CoreSplit(client if server else (), server, self._split.cores))
