"""The requests that bombardier's clients send, byte for byte."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from assay.dropin.bombardier.flags import Flags

CHUNK_BYTES = 4096
"""A streamed body is sent in chunks of this size."""
_WITHOUT_BODY = ("GET", "HEAD")


def head(flags: Flags) -> str:
    """The head without its empty line, in the order of the client that is asked for."""
    target = (flags.url.path or "/") + (f"?{flags.url.query}" if flags.url.query else "")
    # What may not stand in a request line is escaped, as Go does it.
    target = quote(target, safe="%/?:@!$&'()*+,;=-._~[]", errors="surrogateescape")
    lines = _fasthttp(flags) if flags.client == "fasthttp" else _net_http(flags)
    fields = "".join(f"{name}: {value}\r\n" for name, value in lines)
    return f"{flags.method} {target} HTTP/1.1\r\n{fields}"


def has_body(flags: Flags) -> bool:
    """Whether the request has one, be it empty."""
    return bool(flags.body or flags.body_file) or flags.stream


def is_kept_alive(flags: Flags) -> bool:
    """Whether the connection is to serve more requests: fasthttp does not heed `-a`."""
    closes = any(name.lower() == "connection" and value == "close" for name, value in flags.headers)
    return not closes and (flags.keep_alive or flags.client == "fasthttp")


def _length(flags: Flags) -> int:
    return Path(flags.body_file).stat().st_size if flags.body_file else len(os.fsencode(flags.body))


def _framing(flags: Flags) -> tuple[str, str]:
    return ("Transfer-Encoding", "chunked") if flags.stream else ("Content-Length", str(_length(flags)))


def _fasthttp(flags: Flags) -> list[tuple[str, str]]:
    given = {_normal(name): value for name, value in flags.headers}
    lines = [("User-Agent", given.pop("User-Agent", "fasthttp"))]
    lines.append(("Host", given.pop("Host", flags.url.netloc)))
    kind = given.pop("Content-Type", "application/octet-stream" if has_body(flags) else "")
    if kind:
        lines.append(("Content-Type", kind))
    if has_body(flags) or flags.method not in _WITHOUT_BODY:
        lines.append(_framing(flags))
    return [*lines, *given.items()]


def _net_http(flags: Flags) -> list[tuple[str, str]]:
    given = dict(flags.headers)
    lines = [("Host", given.pop("Host", flags.url.netloc))]
    lines.append(("User-Agent", given.pop("User-Agent", "Go-http-client/1.1")))
    if not flags.keep_alive:
        lines.append(("Connection", "close"))
    if has_body(flags) or flags.method in ("POST", "PUT", "PATCH"):
        lines.append(_framing(flags))
    lines += sorted(given.items())
    if "accept-encoding" not in (name.lower() for name in given):
        lines.append(("Accept-Encoding", "gzip"))
    return lines


def _normal(name: str) -> str:
    """fasthttp's spelling of a field: each word with a capital letter."""
    return "-".join(part.capitalize() for part in name.split("-"))
