"""Where a load goes: a name is looked up once, its addresses are judged, and one of them is used.

Only so does what was asked about stay what is loaded: a name that is looked up again may lead elsewhere
(DNS rebinding). The engine, the probes and the scripts are handed the address.

Imported before the load starts, so nothing heavy may be imported here.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from assay.core import console, urls
from assay.core.errors import InputError

if TYPE_CHECKING:
    from assay.model.plan import LoadPlan

_YES = "ASSAY_YES"
_UNIX = "unix:"
_KNOCK_S = 1.0
_LOOPBACK = (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6))
_PRIVATE = tuple(
    ipaddress.ip_network(text)
    # RFC 1918, RFC 6598 (shared address space), RFC 4193. Not `is_private`: that also holds
    # documentation and reserved ranges, which are no one's local network.
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)


class Unresolved(InputError):
    """The host has no address. `reason` is the resolver's, `number` its error."""

    def __init__(self, host: str, reason: str, number: int) -> None:
        """Keep the parts apart: each tool words them in its own way."""
        super().__init__(f"cannot resolve {host!r}: {reason}", "check the host in the URL")
        self.host = host
        self.reason = reason
        self.number = number


class Endpoint(msgspec.Struct, frozen=True):
    """An address of a host, numeric, and a port."""

    ip: str
    port: int

    def __str__(self) -> str:
        """As plans and URLs write it: 127.0.0.1:80, [::1]:80."""
        return f"[{self.ip}]:{self.port}" if ":" in self.ip else f"{self.ip}:{self.port}"

    def knock(self, timeout_s: float | None = None) -> None:
        """Open a connection and close it; OSError where nobody answers."""
        socket.create_connection((self.ip, self.port), timeout_s).close()


def look_up(
    host: str, service: int | str, family: socket.AddressFamily = socket.AF_UNSPEC
) -> tuple[Endpoint, ...]:
    """The host's addresses in the resolver's order, each once; raises `Unresolved`.

    Names below `localhost` are this machine, whatever a resolver says (RFC 6761, 6.3).
    """
    if host.lower().rstrip(".").endswith(".localhost"):
        own = [ip for ip, of in _LOOPBACK if family in (socket.AF_UNSPEC, of)]
        return tuple(endpoint for ip in own for endpoint in look_up(ip, service))
    try:
        found = socket.getaddrinfo(host, service, family=family, type=socket.SOCK_STREAM)
    except socket.gaierror as problem:
        raise Unresolved(host, problem.strerror or str(problem), problem.errno or 0) from None
    except UnicodeError:
        raise Unresolved(host, "not a host name", socket.EAI_NONAME) from None
    return tuple(dict.fromkeys(_endpoint(where) for *_, where in found))


def _endpoint(where: tuple[object, ...]) -> Endpoint:
    ip, port, *more = where
    # An address of one link says which by its number: fe80::1%2.
    link = f"%{more[1]}" if more and more[1] else ""
    return Endpoint(str(ip).partition("%")[0] + link, int(str(port)))


def first_that_answers(found: Sequence[Endpoint]) -> Endpoint:
    """The first that accepts a connection ("localhost" is often an address that nobody listens on, too).

    Only where there is a choice is it tried, since a server counts its connections. Where nobody answers
    it is the first: the load itself then finds out why.
    """
    if len(found) > 1:
        for endpoint in found:
            try:
                endpoint.knock(_KNOCK_S)
            except OSError:
                continue
            return endpoint
    return found[0]


def address(
    host: str, port: int, *, named: str, family: socket.AddressFamily = socket.AF_UNSPEC, flag: str = ""
) -> str:
    """The address to use for a host, as "ip:port". Looks it up, asks where it is not ours, then chooses.

    Raises InputError: `Unresolved`, or because leave is not given. `named` and `flag` as in `ask_leave`.
    """
    found = look_up(host, port, family)
    ask_leave(named, [endpoint.ip for endpoint in found], flag)
    return str(first_that_answers(found))


def behind_proxy(host: str, port: int) -> list[str]:
    """What a proxy will look up, as it looks from here; a name that only it knows stands for itself."""
    try:
        return [endpoint.ip for endpoint in look_up(host, port)]
    except Unresolved:
        return [host]


def ask_leave(named: str, addresses: Iterable[str], flag: str = "") -> None:
    """Ask whether machines of other people may be loaded; InputError where they may not.

    `named` is the target in the user's words, `flag` what answers for them beside ASSAY_YES=1.
    """
    outside = outsiders(addresses)
    if not outside or may_reach_others():
        return
    where = f"{named} leads to {outside[0]}, neither loopback nor private"
    if not console.confirm(f"{where}: do you have its owner's leave to load it?", flag or f"{_YES}=1"):
        raise InputError("nothing was sent")


def may_reach_others() -> bool:
    """Whether ASSAY_YES=1 answers for machines of other people beforehand."""
    return os.environ.get(_YES, "0") not in ("", "0")


def outsiders(addresses: Iterable[str]) -> tuple[str, ...]:
    """Those addresses that are neither loopback nor private: other people's machines."""
    return tuple(address for address in addresses if not _is_ours(address))


def is_this_machine(addresses: Iterable[str]) -> bool:
    """Whether the server would share this machine with the client: its address can be bound here."""
    return any(address.startswith(_UNIX) or _can_bind(address) for address in addresses)


def places(plan: LoadPlan) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The URLs that a plan connects to, the first hop's of each host, and the addresses given for each."""
    if plan.proxy is not None:
        return ((plan.proxy, ()),)
    others = ((host.url, (host.address,) if host.address else ()) for host in plan.hosts)
    return ((plan.url, plan.addresses), *others)


def first_hops(plan: LoadPlan) -> tuple[str, ...]:
    """The addresses that a settled plan connects to."""
    hops = (map(without_port, given) if given else (urls.parse(url).host,) for url, given in places(plan))
    return tuple(chain.from_iterable(hops))


def without_port(address: str) -> str:
    """The address itself: 127.0.0.1:80 and [::1]:80 are ways to write one with a port."""
    if address.startswith(_UNIX):
        return address
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address


def _can_bind(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            # An address of one link binds with the link's number alone.
            probe.bind(socket.getaddrinfo(address, 0, family, socket.SOCK_DGRAM)[0][4])
        except OSError:
            return False
        return True


def _is_ours(text: str) -> bool:
    if text.startswith(_UNIX):
        return True
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        # A name that nobody here can look up.
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    # The unspecified address (0.0.0.0) reaches this machine.
    if address.is_loopback or address.is_link_local or address.is_unspecified:
        return True
    return any(address in network for network in _PRIVATE if network.version == address.version)
