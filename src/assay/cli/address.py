"""Where a load would go, settled before anything is sent: loopback, a private network, or
someone else's machine."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from assay.errors import InputError
from assay.values.plan import LoadPlan

_FAMILIES = {"any": socket.AF_UNSPEC, "ipv4": socket.AF_INET, "ipv6": socket.AF_INET6}
_UNIX = "unix:"


def full_url(word: str) -> str:
    """The URL meant by a word of the command line: `localhost:8080/x` is short for http."""
    return word if "://" in word else f"http://{word}"


def target_of(url: str) -> str:
    """The request target that the URL names: its path and query, never empty."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def first_hops(plan: LoadPlan) -> tuple[str, ...]:
    """The addresses that the plan connects to; InputError where a name has none."""
    if plan.proxy is not None:
        return resolve(plan.proxy, plan.address_family)
    if plan.addresses:
        host_and_port(plan.url)
        return tuple(_without_port(address) for address in plan.addresses)
    return resolve(plan.url, plan.address_family)


def reached(plan: LoadPlan) -> tuple[str, ...]:
    """Every address that the load reaches: those it connects to, and what is behind a proxy.

    A name that only the proxy can look up stands for itself.
    """
    hops = first_hops(plan)
    if plan.proxy is None:
        return hops
    host, _ = host_and_port(plan.url)
    try:
        return hops + resolve(plan.url)
    except InputError:
        return (*hops, host)


def resolve(url: str, family: str = "any") -> tuple[str, ...]:
    """The addresses of the URL's host, in the resolver's order; InputError where there are none."""
    host, port = host_and_port(url)
    try:
        found = socket.getaddrinfo(host, port, family=_FAMILIES[family], type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as problem:
        reason = problem.strerror if isinstance(problem, socket.gaierror) else "not a host name"
        raise InputError(f"cannot resolve {host!r}: {reason}", "check the host in the URL") from None
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def outsiders(addresses: tuple[str, ...]) -> tuple[str, ...]:
    """Those addresses that are neither loopback nor private: other people's machines."""
    return tuple(address for address in addresses if not _is_ours(address))


def is_this_machine(addresses: tuple[str, ...]) -> bool:
    """Whether the server would share this machine with the client: its address can be bound here."""
    return any(address.startswith(_UNIX) or _can_bind(address) for address in addresses)


def _without_port(address: str) -> str:
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
            probe.bind((address, 0))
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


_PRIVATE = tuple(
    ipaddress.ip_network(text)
    # RFC 1918, RFC 6598 (shared address space), RFC 4193. Not `is_private`: that also holds
    # documentation and reserved ranges, which are no one's local network.
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)


def host_and_port(url: str) -> tuple[str, int]:
    """The URL's host and port, the port always said; InputError where it is no http URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as problem:
        raise InputError(f"{url!r} is not a URL: {problem}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(f"{url!r} is not an http URL", "write it like http://127.0.0.1:8080/path")
    if parts.username is not None:
        raise InputError("the URL holds a user name", "give it as --user NAME:PASSWORD")
    return host, port or (443 if parts.scheme == "https" else 80)
