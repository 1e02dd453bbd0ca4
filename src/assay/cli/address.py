"""Where a load would go, settled before anything is sent: loopback, a private network, or
someone else's machine."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from assay.errors import InputError


def full_url(word: str) -> str:
    """The URL meant by a word of the command line: `localhost:8080/x` is short for http."""
    return word if "://" in word else f"http://{word}"


def target_of(url: str) -> str:
    """The request target that the URL names: its path and query, never empty."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def resolve(url: str) -> tuple[str, ...]:
    """The addresses of the URL's host, in the resolver's order; InputError where there are none."""
    host, port = _host_and_port(url)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as problem:
        reason = problem.strerror if isinstance(problem, socket.gaierror) else "not a host name"
        raise InputError(f"cannot resolve {host!r}: {reason}", "check the host in the URL") from None
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def outsiders(addresses: tuple[str, ...]) -> tuple[str, ...]:
    """Those addresses that are neither loopback nor private: other people's machines."""
    return tuple(address for address in addresses if not _is_ours(address))


def is_this_machine(addresses: tuple[str, ...]) -> bool:
    """Whether the server would share this machine with the client: its address can be bound here."""
    return any(_can_bind(address) for address in addresses)


def _can_bind(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
        return True


def _is_ours(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
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


def _host_and_port(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as problem:
        raise InputError(f"{url!r} is not a URL: {problem}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(f"{url!r} is not an http URL", "write it like http://127.0.0.1:8080/path")
    return host, port or (443 if parts.scheme == "https" else 80)
