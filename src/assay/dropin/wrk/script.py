"""A Lua script around a load, and what wrk asks of a script's first requests: whether they are HTTP."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from assay import _engine
from assay.dropin.wrk.flags import WrkFlags
from assay.engine import target_policy
from assay.engine.driver import ScriptFailed

if TYPE_CHECKING:
    from assay.dropin.reports import Tally
    from assay.dropin.wrk.report import WrkFigures


class Script:
    """One of wrk's scripts, loaded. Whatever of it fails raises `ScriptFailed` with wrk's line.

    It prints through C's buffer of standard output: `flush` before anything of ours is printed.
    """

    def __init__(
        self, file: str, flags: WrkFlags, headers: dict[str, str], addresses: Sequence[target_policy.Endpoint]
    ) -> None:
        """Load `file` for what the command line asks for, on a host with these addresses."""
        url = flags.url
        self._file = file
        self._asked = {str(endpoint) for endpoint in addresses}
        settings = {
            "file": file,
            "scheme": url.scheme,
            "host": url.host,
            "port": url.port,
            "addresses": [str(endpoint) for endpoint in addresses],
            "path": url.path,
            "headers": list(headers.items()),
            "threads": flags.threads,
            "may_reach_others": target_policy.may_reach_others(),
            "arguments": [flags.text, *flags.rest],
        }
        with _in_the_script():
            self.engine_script = _engine.Script(msgspec.json.encode(settings))

    def messages(self) -> list[str]:
        """Why the script could not be loaded, once for each time it was tried: the test goes on without."""
        return self.engine_script.messages()

    def prepare(self) -> tuple[bytes, list[str]]:
        """Set up and initialise every thread; the first requests, and where each thread's go ("ip:port").

        InputError where the script leads a thread to a machine of others without their leave.
        """
        try:
            with _in_the_script():
                first, places = self.engine_script.prepare()
        finally:
            self.flush()
        target_policy.ask_leave(
            self._file, [target_policy.without_port(at) for at in places if at not in self._asked]
        )
        return first, places

    def done(self, figures: WrkFigures, strict: bool) -> None:
        """Give the script the figures."""
        per_thread = figures.per_thread
        summary = {
            "duration_us": figures.runtime_us,
            "requests": figures.requests,
            "bytes": figures.bytes_read,
            "errors": structs.asdict(figures.errors),
        }
        latency = _statistics(figures.latency_us, figures.latency_mean_us, figures.latency_stdev_us, strict)
        of_threads = _statistics(per_thread, per_thread.mean, per_thread.stdev, strict)
        try:
            with _in_the_script():
                self.engine_script.done(msgspec.json.encode((summary, latency, of_threads)))
        finally:
            self.flush()

    def flush(self) -> None:
        """Write out what the script has printed so far."""
        self.engine_script.flush()


@contextlib.contextmanager
def _in_the_script() -> Iterator[None]:
    """While the script has the program. Ctrl-C then ends it at once, as it ends wrk: a script that loops
    would never come back to hear of it. What the script fails with is raised as `ScriptFailed`."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL) if _is_main() else None
    try:
        yield
    except _engine.ScriptError as error:
        raise ScriptFailed(str(error)) from None
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _is_main() -> bool:
    """Whether this thread may say what signals do, and they are heard at all: behind `&` they are not."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return threading.current_thread() is threading.main_thread() and not ignored


def _statistics(tally: Tally, mean: float, stdev: float, strict: bool) -> dict[str, Any]:
    counted = {"counts": tally.counts, "min": tally.low, "max": tally.high}
    return {**counted, "mean": mean, "stdev": stdev, "is_strict": strict}


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
