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


def address(host: str, port: int, family: socket.AddressFamily = socket.AF_UNSPEC) -> str:
    """The address to use, as "ip:port"; raises `Unresolved`.

    Only where there is a choice does it knock, since a server counts its connections. Where nobody
    answers it is the first address: the load itself then finds out why.
    """
    try:
        found = socket.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as problem:
        is_known = isinstance(problem, socket.gaierror)
        reason = problem.strerror if isinstance(problem, socket.gaierror) else "not a host name"
        number = problem.errno if isinstance(problem, socket.gaierror) else socket.EAI_NONAME
        raise Unresolved(host, str(reason) if is_known else "not a host name", number or 0) from None
    chosen = found[0]
    if len(found) > 1:
        chosen = next((entry for entry in found if _answers(entry[0], entry[4])), chosen)
    ip = chosen[4][0]
    return f"[{ip}]:{port}" if chosen[0] == socket.AF_INET6 else f"{ip}:{port}"


def _answers(family: int, where: tuple[object, ...]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as knock:
        try:
            knock.connect(where)
        except OSError:
            return False
    return True
