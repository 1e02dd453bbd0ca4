"""URLs as ab takes them apart: the scheme is optional, the path is all from the first slash on."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

_SCHEMES = {"http://": False, "https://": True}
_PORTS = {False: 80, True: 443}
_MAX_PORT = 65535


@dataclass(frozen=True)
class AbUrl:
    """The parts of a URL that ab uses. `text` is what was typed; `host` has no brackets."""

    text: str
    tls: bool
    host: str
    port: int
    path: str

    @property
    def bracketed(self) -> str:
        """The host as it stands before a port."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def authority(self) -> str:
        """What `Host` says: the port only where it is not the scheme's own."""
        return self.bracketed if self.port == _PORTS[self.tls] else f"{self.bracketed}:{self.port}"


def parse(text: str) -> AbUrl | None:
    """Take a URL apart; None where ab would not."""
    scheme = next((scheme for scheme in _SCHEMES if text.startswith(scheme)), "http://")
    tls = _SCHEMES[scheme]
    rest = text.removeprefix(scheme)
    authority, slash, path = rest.partition("/")
    host_and_port = _host_and_port(authority) if slash else None
    if host_and_port is None:
        return None
    host, port = host_and_port
    return AbUrl(text, tls, host, _PORTS[tls] if port is None else port, slash + path)


def _host_and_port(authority: str) -> tuple[str, int | None] | None:
    """The runtime's reading: trailing digits after a colon are a port; digits alone have no host."""
    found = re.fullmatch(r"(?s)(.*?)(?::([0-9]+))?", authority)
    if found is None:
        return None
    host, port = found[1], found[2]
    if port is not None and not 1 <= int(port) <= _MAX_PORT:
        return None
    if not host or host.isdigit() and port is None:
        return None
    if host.startswith("["):
        host = host[1:].removesuffix("]")
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            return None
    return host, None if port is None else int(port)
