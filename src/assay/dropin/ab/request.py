"""The request that ab sends, byte for byte."""

from __future__ import annotations

import base64

from assay.dropin.ab.flags import AbFlags

_LONGEST_HEAD = 8192
_DEFAULTS = ("host", "user-agent", "accept")


def head(flags: AbFlags, strict: bool) -> str | None:
    """The head without its empty line; None where ab would find it too long.

    Of several cookies ab sends the last alone, although it documents more; by default all are sent.
    """
    target = flags.url.text if flags.proxy else flags.url.path
    lines = [f"{flags.method} {target} HTTP/1.0"]
    if flags.keep_alive:
        lines.append("Connection: Keep-Alive")
    if flags.cookies:
        cookies = flags.cookies[-1:] if strict else flags.cookies
        lines.append(f"Cookie: {'; '.join(cookies)}")
    for name, credentials in flags.credentials:
        coded = base64.b64encode(credentials.encode("utf-8", "surrogateescape")).decode()
        lines.append(f"{name}: Basic {coded}")
    if flags.body is not None:
        lines.append(f"Content-length: {flags.body.stat().st_size}")
        lines.append(f"Content-type: {flags.content_type}")
    lines += flags.headers
    given = {name for name in _DEFAULTS for line in flags.headers if line.lower().startswith(f"{name}:")}
    defaults = (f"Host: {flags.url.authority}", "User-Agent: ApacheBench/2.3", "Accept: */*")
    lines += [line for name, line in zip(_DEFAULTS, defaults, strict=True) if name not in given]
    text = "".join(f"{line}\r\n" for line in lines)
    return text if len(text) + 2 < _LONGEST_HEAD else None
