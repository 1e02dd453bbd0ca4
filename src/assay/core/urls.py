"""URLs of servers, read in one way wherever one is given, and as strictly as the engine reads them.

Imported before the load starts, so nothing heavy may be imported here.
"""

from __future__ import annotations

import ipaddress
import re

import msgspec

from assay.core.errors import InputError

PORTS = {"http": 80, "https": 443}
_LIKE = "write it like http://127.0.0.1:8080/path"
_MOST_PORT = 65535


class Url(msgspec.Struct, frozen=True):
    """The parts of a URL. `host` has no brackets; an address of one link has its zone: `fe80::1%eth0`."""

    scheme: str
    host: str
    port: int | None
    """None where none is written."""
    authority: str
    """Host and port as a `Host` field says them: as they are written, but without a zone."""
    target: str
    """Path and query, never empty."""
    user: str
    """What stands before an "@"; empty where nothing does."""

    @property
    def known_port(self) -> int:
        """The port as written, or the scheme's own."""
        return self.port or PORTS[self.scheme]


def parse(text: str) -> Url:
    """Take a URL of http or https apart; InputError says in a line what is wrong with it."""
    scheme, _, rest = text.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    target = rest[len(authority) :].partition("#")[0]
    user, _, authority = authority.rpartition("@")
    shown = text.replace(f"{user}@", "…@", 1) if user else text
    if scheme.lower() not in PORTS or not authority:
        raise InputError(f"{shown!r} is not an http URL", _LIKE)
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise InputError(f"{shown!r} is not a URL: there is a control character in it", _LIKE)
    try:
        host, port = host_and_port(authority)
    except ValueError as problem:
        raise InputError(f"{shown!r} is not a URL: {problem}", _LIKE) from None
    return Url(
        scheme=scheme.lower(),
        host=host,
        port=port,
        authority=re.sub(r"%[^\]]*", "", authority),
        target=target if target.startswith("/") else f"/{target}",
        user=user,
    )


def host_and_port(authority: str) -> tuple[str, int | None]:
    """What stands between "//" and the path: the host without brackets, and the port where one is written.

    ValueError says what is wrong with it.
    """
    if authority.startswith("["):
        inside, bracket, port = authority[1:].partition("]")
        if not bracket:
            raise ValueError("an IPv6 address lacks its closing bracket")
        if port and not port.startswith(":"):
            raise ValueError("only a port may follow the bracket, as in [::1]:8080")
        return _address(inside), _port(port[1:])
    host, _, port = authority.partition(":")
    if ":" in port and not host.isalpha():
        raise ValueError("an IPv6 address stands in brackets, as in [::1]:8080")
    if not re.fullmatch(r"[^\[\]%\s]+", host):
        raise ValueError(f"{host!r} is no name of a host")
    return host.lower(), _port(port)


def bracketed(host: str) -> str:
    """A host as it stands in a URL; a zone as RFC 6874 writes it."""
    return f"[{host.replace('%', '%25')}]" if ":" in host else host


def is_address(inside: str) -> bool:
    """Whether this may stand in brackets: an IPv6 address, with or without a zone."""
    try:
        _address(inside)
    except ValueError:
        return False
    return True


def _address(inside: str) -> str:
    address, percent, zone = inside.partition("%")
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        raise ValueError(f"[{inside}] is no IPv6 address") from None
    if not percent:
        return address.lower()
    if not zone:
        raise ValueError(f"[{inside}] names no link after the %")
    # RFC 6874 writes %25eth0 in a URL, people write %eth0.
    return f"{address.lower()}%{zone[2:] if zone.startswith('25') and zone != '25' else zone}"


def _port(digits: str) -> int | None:
    if not digits:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", digits) or not 0 < int(digits) <= _MOST_PORT:
        raise ValueError("its port is not between 1 and 65535")
    return int(digits)
