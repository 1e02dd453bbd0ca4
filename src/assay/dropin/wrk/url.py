"""URLs as wrk takes them apart: with a scheme, any scheme, and the path with all that follows it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.core import urls

_HOST = r"(?:[A-Za-z0-9._-]+|\[(?P<v6>[0-9A-Fa-f:.]+(?:%[A-Za-z0-9._~%-]+)?)\])"
_USER = r"(?:[A-Za-z0-9._!~*'()%;:&=+$,-]*@)?"
_AUTHORITY = re.compile(rf"{_USER}(?P<host>{_HOST})(?::(?P<port>\d+))?")
_URL = re.compile(r"(?P<scheme>[A-Za-z]+)://(?P<authority>[^/?#]+)(?P<rest>(?:[/?][!-~]*)?)")
_MAX_PORT = 65535


@dataclass(frozen=True)
class WrkUrl:
    """The parts of a URL that wrk uses. `host` has no brackets; `port` is None where none is written."""

    scheme: str
    host: str
    port: str | None
    path: str

    @property
    def tls(self) -> bool:
        """Whether it is spoken to over TLS."""
        return self.scheme.startswith("https")

    @property
    def service(self) -> str:
        """What the resolver is asked for: the port, or the scheme's name."""
        return self.port if self.port is not None else self.scheme

    @property
    def authority(self) -> str:
        """What `Host` says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


def parse(text: str) -> WrkUrl | None:
    """Take a URL apart; None where wrk would not.

    Without a path it is "/", and a query is lost; a fragment after a path is part of it, as in wrk.
    """
    whole = _URL.fullmatch(text)
    parts = _AUTHORITY.fullmatch(whole["authority"]) if whole else None
    if whole is None or parts is None or int(parts["port"] or 0) > _MAX_PORT:
        return None
    if parts["v6"] and not urls.is_address(parts["v6"]):
        return None
    return WrkUrl(
        scheme=whole["scheme"],
        host=parts["v6"] or parts["host"],
        port=parts["port"],
        path=whole["rest"] if whole["rest"].startswith("/") else "/",
    )
