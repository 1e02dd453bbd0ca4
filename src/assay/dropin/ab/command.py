"""`ab …`, from its words to its request, byte for byte, its `LoadPlan` and its exit code."""

from __future__ import annotations

import base64
import errno
import os
import re
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from assay.core import console
from assay.core.errors import EXIT_OK, AssayError
from assay.dropin import front
from assay.dropin.ab import flags as command_line
from assay.dropin.ab import texts
from assay.dropin.ab.flags import EXIT_FAILED, EXIT_USAGE, WITH_A_TIME, AbFlags, Ending
from assay.dropin.ab.texts import AbProgress
from assay.engine import target_policy
from assay.model.plan import Closed, LoadPlan, Request, StopAtCount, Tls

if TYPE_CHECKING:
    from assay.dropin.ab.figures import AbFigures
    from assay.model.measurement import Measurement


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


NS_PER_S = 1_000_000_000
_LONGEST_TIMEOUT_NS = 3600 * NS_PER_S
_SHORTEST_TIMEOUT_NS = 1_000
_TIMEOUTS = ("timeout", "connect_timeout")
_BROKEN = ("connect_refused", "unreachable", "reset", "io_error")
_VERSIONS: dict[str, Literal["1.2", "1.3"]] = {"TLS1.2": "1.2", "TLS1.3": "1.3"}


def endpoint(flags: AbFlags) -> tuple[str, int]:
    """The host and the port that are connected to: the proxy's, where there is one."""
    return flags.proxy or (flags.url.host, flags.url.port)


def address(flags: AbFlags) -> str:
    """The address that is connected to; `reach.Unresolved` where there is none, InputError without leave."""
    host, port = endpoint(flags)
    family = socket.AF_UNSPEC
    if flags.source is not None:
        family = socket.AF_INET6 if ":" in flags.source else socket.AF_INET
    if flags.proxy is not None:
        target_policy.ask_leave(flags.url.text, target_policy.behind_proxy(flags.url.host, flags.url.port))
    return target_policy.address(host, port, named=host if flags.proxy else flags.url.text, family=family)


def source(flags: AbFlags) -> str | None:
    """The address of `-B`, which may be a name; `reach.Unresolved` where it has none."""
    if flags.source is None:
        return None
    return target_policy.look_up(flags.source, 0)[0].ip


def versions(flags: AbFlags) -> tuple[Literal["1.2", "1.3"], ...]:
    """The versions of TLS that `-f` allows; () where it names only those that are broken."""
    wanted = (flags.protocols or "").upper()
    if wanted.startswith(("TLS1.2", "TLS1.3")):
        return (_VERSIONS[wanted[:6]],)
    is_old = wanted.startswith(("SSL", "TLS1"))
    return () if is_old else ("1.2", "1.3")


def plan(flags: AbFlags, head: str, where: str) -> LoadPlan:
    """The load that the flags ask for, at an address.

    ab ends at the first connection that breaks, unless `-r` or over TLS; a timeout always ends it.
    A proxy is merely connected to, and the request's target names the server: so ab does it, also
    with https.
    """
    bound = source(flags)
    # A time limit below 0 is over before the first request.
    within_ns = max(1, flags.limit_s * NS_PER_S) if flags.limit_s else None
    body_file = str(flags.body) if flags.body is not None else None
    method = "HEAD" if flags.method == "HEAD" else "GET"
    return LoadPlan(
        url=f"{'https' if flags.url.tls else 'http'}://{flags.url.bracketed}:{flags.url.port}",
        requests=(Request(method=method, head=head, body_file=body_file),),
        load=Closed(connections=flags.concurrency),
        stop=StopAtCount(count=flags.requests, within_ns=within_ns),
        timeout_ns=min(max(flags.timeout_s * NS_PER_S, _SHORTEST_TIMEOUT_NS), _LONGEST_TIMEOUT_NS),
        keep_alive=flags.keep_alive,
        http_version="1.0",
        addresses=(where,),
        source_addresses=() if bound is None else (bound,),
        tls=Tls(
            insecure=True,
            alpn=(),
            resumption=False,
            versions=versions(flags),
            asks_for_name=flags.names_server,
            certificate_file=flags.certificate,
            key_file=flags.certificate,
        ),
        request_log="answers" if flags.layout.verbosity >= 2 else "times",
        # ab tries again at once, whatever failed.
        retry_wait_max_ns=0,
        ends_on=_TIMEOUTS if flags.tolerant or flags.url.tls else (*_TIMEOUTS, *_BROKEN),
        socket_buffer_bytes=flags.buffer_bytes if flags.buffer_bytes > 0 else None,
    )


_TIMED_OUT = 70007
"""The runtime's own number for a timeout; the exit code is what is left of it in 8 bits."""
_NO_ADDRESS = 670_000
_NUMBERS = {
    "connect_refused": errno.ECONNREFUSED,
    "unreachable": errno.EHOSTUNREACH,
    "reset": errno.ECONNRESET,
    "io_error": errno.EIO,
}


def main(words: Sequence[str]) -> int:
    """Do what ab does with these words."""
    manners = front.Manners.of_environment()
    try:
        flags = command_line.read(words)
    except Ending as ending:
        return _end(ending)
    if flags.message:
        console.note(flags.message)
    console.write(texts.banner(flags.layout.html))
    if not flags.layout.html:
        console.write_part(texts.benchmarking(flags))
    try:
        return _test(flags, manners)
    except target_policy.Unresolved as problem:
        number = _NO_ADDRESS - problem.number
        console.note(f"apr_sockaddr_info_get() for {problem.host}: {problem.reason} ({number})")
        return number & 0xFF
    except AssayError as problem:
        front.tell_problem("ab", problem, _FLAGS)
    return EXIT_FAILED


_FLAGS = {
    "load.connections": "-c",
    "request_log": "-n",
    "requests[0].body_file": "-p",
    "requests[0].head": "-H",
    "socket_buffer_bytes": "-b",
    "source_addresses": "-B",
    "stop.within_ns": "-t",
    "timeout_ns": "-s",
    "tls.certificate_file": "-E",
}
"""The flag that each field of the plan is from."""


def _unwritable(flags: AbFlags) -> tuple[int, str] | None:
    """The exit code and ab's line where a file cannot be written, known before anything is sent."""
    for path, kind in ((flags.csv, "CSV"), (flags.gnuplot, "gnuplot")):
        reason = None if path is None or flags.layout.html else front.why_unwritable(path)
        if reason:
            return EXIT_FAILED, f"Cannot open {kind} output file: {reason}"
    return None


def _end(ending: Ending) -> int:
    for line in ending.lines:
        console.note(line)
    if ending.usage:
        console.note(texts.USAGE.rstrip("\n"))
    if ending.version:
        console.write(texts.banner(html=False))
    return ending.code


def _test(flags: AbFlags, manners: front.Manners) -> int:
    where = address(flags)
    refused = _refused(flags) or _unwritable(flags)
    if refused is not None:
        console.note(refused[1])
        return refused[0]
    request = head(flags, manners.strict)
    if request is None:
        console.write("Request too long")
        return EXIT_FAILED
    if flags.layout.verbosity >= 2:
        console.write(texts.request(flags, request))
    progress = AbProgress(flags)
    offered = front.offer(plan(flags, request, where), manners, watch=progress.watch)
    measured = offered.measurement
    if flags.layout.verbosity >= 2:
        for answer in offered.running.logged_answers():
            console.write(texts.answer(answer, flags.layout.verbosity))
    if flags.url.tls:
        _tell_broken(offered.running.request_log())
    fatal = _fatal(measured, offered.plan.ends_on)
    progress.end(measured, finished=not fatal and not measured.interrupted)
    code = _broke(fatal, measured) if fatal else _report(flags, manners, offered)
    front.tell("ab", offered.findings)
    if not manners.quiet:
        _remark(flags, measured, offered.running.logged_answers())
    if code == EXIT_OK and measured.interrupted:
        return EXIT_FAILED
    return code


def _tell_broken(log: bytes) -> None:
    """Say of each request whose TLS connection broke what ab says; it goes on all the same."""
    from assay.dropin.reports import columns, kind

    table = columns(log)
    for failure, status in zip(table.failure, table.status, strict=True):
        told = kind(failure)
        if told in ("connect_refused", "reset", "io_error", "closed_early", "tls_error"):
            console.note(texts.broken_tls(told, has_answer=bool(status)))


def _remark(flags: AbFlags, measured: Measurement, answers: Sequence[bytes]) -> None:
    """Say on standard error where ab's manners surprise, or ours differ from them."""
    if flags.limit_s > 0 and measured.started >= flags.requests == WITH_A_TIME:
        what = f"-t sets -n {WITH_A_TIME}, and that came first"
        console.note(f"assay ab: note: {what}; write a larger -n behind -t for the whole time")
    if flags.layout.verbosity >= 2 and flags.url.tls:
        what = "-v 2 does not print the server's certificate"
        console.note(f"assay ab: note: {what}; `openssl s_client -connect HOST:PORT` does")
    if answers and re.search(rb"(?mi)^transfer-encoding:[^\r\n]*chunked", answers[0]):
        what = "Document Length is that of the decoded document; ab counts the framing of chunks too"
        console.note(f"assay ab: note: {what}")


def _refused(flags: AbFlags) -> tuple[int, str] | None:
    """The exit code and the line where ab, or our TLS, cannot do what the flags ask for."""
    if flags.concurrency == 0:
        return EXIT_USAGE, f"apr_pollset_poll: {os.strerror(errno.EINVAL)} ({errno.EINVAL})"
    if flags.url.tls and not versions(flags):
        return EXIT_FAILED, f"ab: -f {flags.protocols}: only TLS1.2, TLS1.3 and ALL are spoken here"
    if flags.url.tls and flags.ciphers is not None:
        return EXIT_FAILED, f"ab: -Z {flags.ciphers}: cipher suites cannot be chosen here; leave -Z out"
    return None


def _fatal(measured: Measurement, ends_on: Sequence[str]) -> str:
    """The kind of failure that ended the run, or ""."""
    kinds = (outcome.kind for outcome in measured.outcomes)
    return next((kind for kind in kinds if measured.interrupted and kind in ends_on), "")


def _broke(kind: str, measured: Measurement) -> int:
    """Say what ab says when it gives up; the exit code is the error's number."""
    number = _NUMBERS.get(kind, _TIMED_OUT)
    if number == _TIMED_OUT:
        console.note(f"apr_pollset_poll: The timeout specified has expired ({number})")
    else:
        console.note(f"apr_socket_recv: {os.strerror(number)} ({number})")
    if measured.completed:
        console.write(f"Total of {measured.completed} requests completed")
    return number & 0xFF


def _report(flags: AbFlags, manners: front.Manners, offered: front.Offered) -> int:
    # Imported after the load: the figures need more than the load does.
    from assay.dropin.ab.figures import figures
    from assay.dropin.ab.report import ServerInfo, page, report, security

    log = offered.running.request_log()
    found = figures(
        offered.measurement,
        log,
        variable_length=flags.variable_length,
        tls=flags.url.tls,
        strict=manners.strict,
    )
    answers, session = offered.running.logged_answers(), offered.running.session()
    how = None if session is None else security(session, flags.url.host, flags.names_server)
    seen = ServerInfo(_software(answers[0]) if answers else "", how)
    # ab that is interrupted has its text alone.
    if flags.layout.html and not offered.measurement.interrupted:
        console.write(page(flags, seen, found))
        return EXIT_OK
    console.write(report(flags, seen, found))
    return _files(flags, found, log, offered.measurement.started_at_unix_ns) if found.done else EXIT_OK


def _files(flags: AbFlags, found: AbFigures, log: bytes, started_at_unix_ns: int) -> int:
    from assay.dropin.ab.report import Unwritable, write_csv, write_gnuplot

    try:
        if flags.csv is not None:
            write_csv(flags.csv, found)
        if flags.gnuplot is not None:
            write_gnuplot(flags.gnuplot, log, started_at_unix_ns)
    except Unwritable as problem:
        console.note(str(problem))
        return EXIT_FAILED
    return EXIT_OK


def _software(answer: bytes) -> str:
    """The `Server` field of an answer, up to its first blank."""
    field = re.search(rb"(?mi)^server:[ \t]*([^\x00-\x20]*)", answer.partition(b"\r\n\r\n")[0])
    return field[1].decode("latin-1") if field else ""
