"""URIs as h2load takes them apart: the first says where, each says what is asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.core import urls

_URI = re.compile(
    r"(?:(?P<scheme>[A-Za-z]+)://(?:[^/?#@]*@)?(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d+))?)?"
    r"(?P<path>/[!-\"$->@-~]*)?(?P<query>\?[!-\"$-~]*)?(?:#[!-~]*)?"
)
_PORTS = {"http": 80, "https": 443}
_MAX_PORT = 65535


@dataclass(frozen=True)
class Base:
    """Where requests go. `host` has no brackets."""

    scheme: str
    host: str
    port: int

    @property
    def spoken(self) -> str:
        """The scheme of the load: to h2load all but https is without TLS."""
        return "https" if self.scheme == "https" else "http"

    @property
    def authority(self) -> str:
        """What `Host` says: with the port where it is not the scheme's."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS.get(self.scheme, 0) else f"{host}:{self.port}"


def base(text: str) -> Base | None:
    """Where a URI leads; None where it names no server that can be spoken to."""
    found = _URI.fullmatch(text)
    if not found or not found["scheme"]:
        return None
    host = found["host"].strip("[]")
    if found["host"].startswith("[") and not urls.is_address(host):
        return None
    scheme = found["scheme"].lower()
    port = int(found["port"] or _PORTS.get(scheme, 0))
    return Base(scheme, host, port) if port <= _MAX_PORT else None


def target(text: str) -> str | None:
    """The path and the query of a URI, "/" where it has no path; None for what is no URI."""
    found = _URI.fullmatch(text)
    return f"{found['path'] or '/'}{found['query'] or ''}" if text and found else None
