"""Where a drop-in's load goes: the host's first address that accepts connections."""

from __future__ import annotations

import socket


class Unresolved(Exception):
    """The host has no address. `reason` is the resolver's."""

    def __init__(self, host: str, reason: str, number: int) -> None:
        """`number` is the resolver's error."""
        super().__init__(f"{host}: {reason}")
        self.host = host
        self.reason = reason
        self.number = number


def addresses(
    host: str, port: int, family: socket.AddressFamily = socket.AF_UNSPEC
) -> list[tuple[int, tuple[object, ...]]]:
    """The host's addresses, each with its family, as the resolver orders them; raises `Unresolved`."""
    try:
        found = socket.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
    except socket.gaierror as problem:
        raise Unresolved(host, str(problem.strerror), problem.errno or 0) from None
    except UnicodeError:
        raise Unresolved(host, "not a host name", socket.EAI_NONAME) from None
    return [(entry[0], entry[4]) for entry in found]


def address(host: str, port: int, family: socket.AddressFamily = socket.AF_UNSPEC) -> str:
    """The address to use, as "ip:port"; raises `Unresolved`.

    Only where there is a choice does it knock, since a server counts its connections. Where nobody
    answers it is the first address: the load itself then finds out why.
    """
    found = addresses(host, port, family)
    chosen = found[0]
    if len(found) > 1:
        chosen = next((entry for entry in found if _answers(*entry)), chosen)
    ip = chosen[1][0]
    return f"[{ip}]:{port}" if chosen[0] == socket.AF_INET6 else f"{ip}:{port}"


def _answers(family: int, where: tuple[object, ...]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as knock:
        try:
            knock.connect(where)
        except OSError:
            return False
    return True
