"""Asking a server by hand: is it ready, and does it answer as its contract says?

HTTP/1.1 without TLS is asked by Python's own client, as foreign to the engine as the servers are; what else a
load may speak (HTTP/2, TLS) by the engine, one request at a time.
"""

from __future__ import annotations

import gzip
import http.client
import json
import re
import time
import zlib
from collections.abc import Iterable

import msgspec

from assay.core.credentials import hidden_request
from assay.core.errors import reason_of
from assay.core.units import counted
from assay.core.vault import scrubbed
from assay.engine import driver
from assay.model.plan import Closed, LoadPlan, Request, StopAtCount
from assay.servers.contract import BodyRule, Contract, ExpectedAnswer, Route

_TIMEOUT_S = 10.0
_SHOWN = 100
_MOST_STATUSES = 4
_DAMAGED = (zlib.error, EOFError)
"""What a body that is not in the content coding that it names comes to."""


class Response(msgspec.Struct, frozen=True):
    """An answer: header names in lower case, the body without its content coding; `came_ns` is the moment
    (monotonic) at which it was in."""

    status: int
    headers: dict[str, str]
    body: bytes
    came_ns: int = 0


class NoAnswer(Exception):
    """Nobody listens, or what came was no HTTP answer; the text says which."""

    def __init__(self, problem: str, *, listening: bool) -> None:
        """`listening` is False where the connection was refused."""
        super().__init__(problem)
        self.listening = listening


def ask(contract: Contract, route: Route, host: str, port: int, timeout_s: float = _TIMEOUT_S) -> Response:
    """Send one request on a connection of its own. NoAnswer where there is no whole answer."""
    _hidden(route)  # an answer may repeat what it was asked with
    if contract.spoken.is_plain:
        return _ask_plainly(contract, route, host, port, timeout_s)
    return _ask_by_engine(contract, route, host, port, timeout_s)


def _ask_plainly(contract: Contract, route: Route, host: str, port: int, timeout_s: float) -> Response:
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        try:
            connection.connect()
        except OSError as error:
            refused = isinstance(error, ConnectionRefusedError)
            raise NoAnswer(reason_of(error), listening=not refused) from error
        _send(connection, contract, route)
        answer = connection.getresponse()
        body = answer.read()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return _response(answer.status, headers, body, time.monotonic_ns())
    except TimeoutError as error:
        raise NoAnswer(f"no answer within {timeout_s:g} s", listening=True) from error
    except (OSError, http.client.HTTPException, *_DAMAGED) as error:
        raise _not_right(error) from error
    finally:
        connection.close()


def _ask_by_engine(contract: Contract, route: Route, host: str, port: int, timeout_s: float) -> Response:
    spoken, where = contract.spoken, f"[{host}]" if ":" in host else host
    plan = LoadPlan(
        url=f"{spoken.scheme}://{where}:{port}/",
        requests=(msgspec.structs.replace(contract.request(route), expect=None),),
        load=Closed(connections=1),
        stop=StopAtCount(count=1),
        timeout_ns=round(timeout_s * 1e9),
        http=spoken.http,
        tls=spoken.tls,
    )
    begun_ns = time.monotonic_ns()
    try:
        reply = driver.ask(plan)
        return _response(reply.status, reply.headers, reply.body, begun_ns + reply.took_ns)
    except driver.NotAnswered as error:
        if error.kind == "connect_refused":
            raise NoAnswer(str(error), listening=False) from error
        if error.kind in ("connect_timeout", "timeout"):
            raise NoAnswer(f"no answer within {timeout_s:g} s", listening=True) from error
        raise _not_right(error) from error
    except _DAMAGED as error:
        raise _not_right(error) from error


def _response(status: int, headers: dict[str, str], body: bytes, came_ns: int) -> Response:
    return Response(status, headers, decoded(body, headers.get("content-encoding", "")), came_ns)


def _not_right(error: Exception) -> NoAnswer:
    said = str(error) or type(error).__name__
    return NoAnswer(f"no right HTTP answer: {_short(said)}", listening=True)


def wrong(contract: Contract, route: Route, response: Response) -> str:
    """What is wrong with an answer, in one line; empty where it is right."""
    answer = route.answer
    if response.status not in answer.statuses:
        return f"status {response.status} instead of {_statuses(answer.statuses)}"
    for name, pattern in answer.headers.items():
        value = response.headers.get(name.lower())
        if value is None:
            return f"header {name} is missing"
        if not re.search(pattern, value):
            return f"header {name} is {_short(value)!r}, which does not match {pattern!r}"
    return _wrong_body(contract, answer, response.body)


def test(contract: Contract, routes: Iterable[Route], host: str, port: int) -> tuple[int, tuple[str, ...]]:
    """Ask every route once: how many were asked, and a line for each that is wrong."""
    asked, problems = 0, []
    for route in routes:
        asked += 1
        try:
            problem = wrong(contract, route, ask(contract, route, host, port))
        except NoAnswer as error:
            problem = str(error)
        if problem:
            problems.append(f"{route.name} ({route.method} {_hidden(route).target}): {problem}")
    return asked, tuple(problems)


def _hidden(route: Route) -> Request:
    """What the route asks, without credentials, which this process knows from now on."""
    headers = tuple(route.headers.items())
    return hidden_request(Request(target=route.target, headers=headers, body=route.body))


def _statuses(statuses: tuple[int, ...]) -> str:
    """A few by their codes, many by their classes: "204 or 404", "2xx or 3xx"."""
    if len(statuses) > _MOST_STATUSES:
        return " or ".join(dict.fromkeys(f"{status // 100}xx" for status in statuses))
    return " or ".join(map(str, statuses))


def _send(connection: http.client.HTTPConnection, contract: Contract, route: Route) -> None:
    body = contract.body_of(route)
    names_host = any(name.lower() == "host" for name in route.headers)
    connection.putrequest(route.method, route.target, skip_host=names_host, skip_accept_encoding=True)
    for name, value in route.headers.items():
        connection.putheader(name, value)
    connection.putheader("Connection", "close")
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)


def decoded(body: bytes, coding: str) -> bytes:
    """A body without its content coding. zlib.error for one that is damaged or was not asked for."""
    if not body or coding in ("", "identity"):
        return body
    if coding in ("gzip", "x-gzip"):
        return gzip.decompress(body)
    if coding == "deflate":
        return zlib.decompress(body)
    raise zlib.error(f"the content coding {coding!r} was not asked for")


def _wrong_body(contract: Contract, answer: ExpectedAnswer, body: bytes) -> str:
    rule = answer.body
    if rule is None:
        return ""
    size = _wrong_size(rule, len(body))
    if size:
        return size
    text = body.decode(errors="replace")
    if rule.equals is not None and text != rule.equals:
        return f"body {_short(text)!r} instead of {_short(rule.equals)!r}"
    if rule.one_of_lines is not None and text.removesuffix("\n") not in contract.lines(rule.one_of_lines):
        return f"body {_short(text)!r} is no line of {rule.one_of_lines}"
    for pattern in rule.patterns:
        if not re.search(pattern, text):
            return f"{pattern!r} is not found in body {_short(text)!r}"
    return "" if rule.json is None else _wrong_json(rule.json, text)


def _wrong_size(rule: BodyRule, size: int) -> str:
    if rule.min_bytes is not None and size < rule.min_bytes:
        return f"body of {counted(size, 'byte')}; at least {rule.min_bytes} are right"
    if rule.max_bytes is not None and size > rule.max_bytes:
        return f"body of {counted(size, 'byte')}; at most {rule.max_bytes} are right"
    return ""


def _wrong_json(wanted: object, text: str) -> str:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return f"body {_short(text)!r} is not JSON"
    return _differs(wanted, given, "")


def _differs(wanted: object, given: object, at: str) -> str:
    """Where `given` is not what is wanted; an object may hold more than is asked for."""
    if isinstance(wanted, dict):
        if not isinstance(given, dict):
            return f"JSON{at} is {_short(json.dumps(given))}, not an object"
        for key, value in wanted.items():
            if key not in given:
                return f"JSON{at}.{key} is missing"
            problem = _differs(value, given[key], f"{at}.{key}")
            if problem:
                return problem
        return ""
    if isinstance(wanted, list):
        if not isinstance(given, list) or len(given) != len(wanted):
            return f"JSON{at} is {_short(json.dumps(given))}, not a list of {len(wanted)}"
        found = (
            _differs(one, other, f"{at}[{n}]")
            for n, (one, other) in enumerate(zip(wanted, given, strict=True))
        )
        return next(filter(None, found), "")
    if isinstance(wanted, str) and wanted.startswith("~"):
        said = given if isinstance(given, str) else json.dumps(given)
        return (
            ""
            if re.search(wanted[1:], said)
            else f"JSON{at} is {_short(said)!r}, which does not match {wanted[1:]!r}"
        )
    same = wanted == given and isinstance(wanted, bool) == isinstance(given, bool)
    return "" if same else f"JSON{at} is {_short(json.dumps(given))} instead of {json.dumps(wanted)}"


def _short(text: str) -> str:
    """The begin of what a server said; first without secrets, of which the cut would leave a part."""
    text = scrubbed(text)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
