"""Whether bytes are HTTP requests, and how many: what wrk asks of the first requests of a script."""

from __future__ import annotations

import re

METHODS = frozenset(
    b"DELETE GET HEAD POST PUT CONNECT OPTIONS TRACE COPY LOCK MKCOL MOVE PROPFIND PROPPATCH SEARCH "
    b"UNLOCK BIND REBIND UNBIND ACL REPORT MKACTIVITY CHECKOUT MERGE M-SEARCH NOTIFY SUBSCRIBE "
    b"UNSUBSCRIBE PATCH PURGE MKCALENDAR LINK UNLINK".split()
)
_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
_TARGET = rb"(?:[/*][!-~]*|[A-Za-z]+://[!-~]+)"
# A line without a version is a request of HTTP/0.9, which may have header fields all the same.
_LINE = re.compile(rb"(?:(?P<method>[A-Z-]+) +" + _TARGET + rb"|CONNECT +[!-~]+)(?: +HTTP/\d\.\d)?\r?\n")
_FIELD = re.compile(rb"(?P<name>" + _TOKEN + rb"+):[ \t]*(?P<value>[^\r\n]*)\r?\n")
_EMPTY = re.compile(rb"\r?\n")
_CHUNK = re.compile(rb"([0-9A-Fa-f]+)[^\r\n]*\r\n")
_METHOD = re.compile(rb"[^ ]*")
_NAME = re.compile(_TOKEN + rb"*")
_SCHEME = re.compile(rb"[A-Za-z]*(?::/{0,2})?")
# The version byte by byte, each with what wrk says where it is another one.
_VERSION = (
    (rb"H", "invalid constant string"),
    *((rb"[%c]" % letter, "strict mode assertion failed") for letter in b"TTP/"),
    *((part, "invalid HTTP version") for part in (rb"\d", rb"\.", rb"\d", rb"[\r\n]")),
)


class Malformed(Exception):
    """The bytes are no request; the text is wrk's line, with line and column of the first wrong byte."""


def count(requests: bytes) -> int:
    """How many complete requests `requests` are; raises `Malformed` where there is none."""
    at = complete = 0
    while at < len(requests):
        end = _request_end(requests, at)
        if end is None:
            break
        at = end
        complete += 1
    if complete == 0:
        raise _malformed("incomplete request", requests, len(requests))
    return complete


def _request_end(data: bytes, at: int) -> int | None:
    """Where the request that begins at `at` ends; None where its end is missing."""
    while data[at : at + 1] in (b"\r", b"\n"):
        at += 1
    line = _LINE.match(data, at)
    if line is None or (line["method"] or b"CONNECT") not in METHODS:
        _refuse_line(data, at)
        return None
    at = line.end()
    length: int | None = None
    chunked = False
    while not (end := _EMPTY.match(data, at)):
        field = _FIELD.match(data, at)
        if field is None:
            _refuse_field(data, at)
            return None
        name, value = field["name"].lower(), field["value"].strip()
        if name == b"content-length":
            if length is not None:
                raise _malformed("unexpected content-length header", data, field.start("value"))
            if not value.isdigit():
                raise _malformed("invalid character in content-length header", data, field.start("value"))
            length = int(value)
        elif name == b"transfer-encoding":
            chunked = value.lower() == b"chunked"
        at = field.end()
    if chunked and length is not None:
        raise _malformed("unexpected content-length header", data, end.end() - 1)
    return _body(data, end.end(), length or 0, chunked)


def _body(data: bytes, at: int, length: int, chunked: bool) -> int | None:
    if not chunked:
        return at + length if at + length <= len(data) else None
    while found := _CHUNK.match(data, at):
        size = int(found[1], 16)
        at = found.end() + size + 2
        if size == 0:
            return at if at <= len(data) else None
    if at < len(data):
        raise _malformed("invalid character in chunk size header", data, at)
    return None


def _refuse_line(data: bytes, at: int) -> None:
    """Say what is wrong with a first line, unless it only lacks its end."""
    method = _METHOD.match(data, at)
    assert method is not None
    for length in range(1, len(method[0]) + 1):
        if not any(known.startswith(method[0][:length]) for known in METHODS):
            raise _malformed("invalid HTTP method", data, at + length - 1)
    at = _after_blanks(data, method.end())
    if at == len(data):
        return
    if method[0] not in METHODS:
        raise _malformed("invalid HTTP method", data, method.end())
    target = re.compile(_TARGET).match(data, at)
    if target is None:
        scheme = _SCHEME.match(data, at)
        raise _malformed("invalid URL", data, scheme.end() if scheme else at)
    _refuse_version(data, _after_blanks(data, target.end()))


def _refuse_version(data: bytes, at: int) -> None:
    for wanted, reason in _VERSION:
        if at < len(data) and not re.compile(wanted).match(data, at):
            raise _malformed(reason, data, at)
        at += 1
    if at < len(data):
        raise _malformed("LF character expected", data, at)


def _refuse_field(data: bytes, at: int) -> None:
    """Say what is wrong with a header field, unless it only lacks its end."""
    name = _NAME.match(data, at)
    assert name is not None
    at = name.end()
    if at < len(data) and (not name[0] or data[at : at + 1] != b":"):
        raise _malformed("invalid character in header", data, at)
    lone = data.find(b"\r", at)
    if 0 <= lone < len(data) - 1:
        raise _malformed("LF character expected", data, lone + 1)


def _after_blanks(data: bytes, at: int) -> int:
    while data[at : at + 1] == b" ":
        at += 1
    return at


def _malformed(reason: str, data: bytes, at: int) -> Malformed:
    before = data[:at]
    line = before.count(b"\n") + 1
    column = at - (before.rfind(b"\n") + 1) + 1
    return Malformed(f"{reason} at {line}:{column}")
