"""The server that listens at an address of this machine: its processes.

A listening socket has an inode (/proc/net/tcp), and processes that have it open (/proc/PID/fd). Those of
other users, in containers or other network namespaces may not be seen: that is said, and nothing is guessed.
"""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from assay.core import urls
from assay.engine import target_policy
from assay.model.plan import LoadPlan
from assay.servers.sampler import stat_of

_LISTENS, _UNCONNECTED = "0A", "07"
_FORWARDERS = frozenset({"docker-proxy", "rootlesskit", "rootlessport", "slirp4netns", "pasta", "pasta.avx2"})
"""Programs that listen for a container's server, which is another process."""


class Listener(msgspec.Struct, frozen=True):
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
    """Who answers a settled plan, at all of its hosts that are this machine; None where none is."""
    here = (_listener_at(*place, udp=plan.http == "3") for place in target_policy.places(plan))
    found = [one for one in here if one is not None]
    hidden = next((one for one in found if one.hidden), None)
    if hidden is not None or not found:
        return hidden
    return Listener(tuple(sorted({pid for one in found for pid in one.pids})))


def _listener_at(url: str, addresses: Sequence[str], *, udp: bool) -> Listener | None:
    """The same of a URL and the addresses that are used for it."""
    hosts = [target_policy.without_port(address) for address in addresses] or [urls.parse(url).host]
    if not target_policy.is_this_machine(hosts):
        return None
    if any(host.startswith("unix:") for host in hosts) or url.startswith("http+unix"):
        return Listener(hidden="the server at a unix socket cannot be told")
    port = urls.parse(url).known_port
    given = {address.rpartition(":")[2] for address in addresses if _has_port(address)}
    if len(given) == 1:
        port = int(given.pop())
    try:
        return listener(hosts[0], port, udp=udp)
    except ValueError:  # a name that only a proxy knows
        return Listener(hidden=f"nobody knows which process {hosts[0]} is")


def _has_port(address: str) -> bool:
    return target_policy.without_port(address) not in (address, address.strip("[]"))
