"""Numbers as h2load reads and writes them, and URIs as it takes them apart.

The first URI says where, each says what is asked for.
"""

from __future__ import annotations

import math
import re

import msgspec

from assay.core import urls

NS_PER_S = 1_000_000_000
_NS = {"h": 3600 * NS_PER_S, "m": 60 * NS_PER_S, "s": NS_PER_S, "ms": 1_000_000}
_SIZES = {"k": 1024, "m": 1024**2, "g": 1024**3}
_MOST_PER_S = 1e6


def count(text: str) -> int | None:
    """Digits and nothing else; None for what is no count."""
    return int(text) if re.fullmatch("[0-9]+", text) else None


def size(text: str) -> int | None:
    """Digits and a unit of 1024: "10K"."""
    found = re.fullmatch("([0-9]+)([kmg]?)", text, re.IGNORECASE)
    return int(found[1]) * _SIZES.get(found[2].lower(), 1) if found else None


def duration_ns(text: str) -> int | None:
    """Digits and a unit, seconds where there is none: "1s", "500ms"."""
    found = re.fullmatch("([0-9]+)(h|m|s|ms|)", text, re.IGNORECASE)
    return int(found[1]) * _NS[found[2].lower() or "s"] if found else None


def rate_per_s(text: str) -> float | None:
    """A rate of at most a million; 0 is none."""
    try:
        rate = float(text)
    except ValueError:
        return None
    return rate if math.isfinite(rate) and 0 <= rate <= _MOST_PER_S else None


def decimal(number: float) -> str:
    """A number with two digits behind its point, of which half a hundredth goes up: "1.13" for 1.125."""
    hundredths = math.floor(100 * number + 0.5)
    return f"{hundredths // 100}.{hundredths % 100:02d}"


def time(time_s: float) -> str:
    """A time: "963us", "3.38ms", "1.00s"."""
    if time_s >= 1:
        return f"{decimal(time_s)}s"
    return f"{decimal(time_s * 1e3)}ms" if time_s >= 1e-3 else f"{int(time_s * 1e6)}us"


def octets(number: int) -> str:
    """Bytes without their "B": "765", "85.18K", "12.01M"."""
    for unit, scale in (("G", 1024**3), ("M", 1024**2), ("K", 1024)):
        if number >= scale:
            return f"{decimal(number / scale)}{unit}"
    return str(number)


_URI = re.compile(
    r"(?:(?P<scheme>[A-Za-z]+)://(?:[^/?#@]*@)?(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d+))?)?"
    r"(?P<path>/[!-\"$->@-~]*)?(?P<query>\?[!-\"$-~]*)?(?:#[!-~]*)?"
)
_PORTS = {"http": 80, "https": 443}
_MAX_PORT = 65535


class Base(msgspec.Struct, frozen=True):
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
