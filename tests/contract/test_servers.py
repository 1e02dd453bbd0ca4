"""Every server of this checkout, built and held to its contract; what the machine lacks is skipped.

Loads are bounded so that the suite takes minutes. Where ASSAY_LONG=1 every server answers all of the ten
thousand requests, however long it takes, and its memory is watched over a whole minute.
"""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator

import msgspec
import pytest
from msgspec.structs import replace
from serving import ALL, LONG, PATIENCE_S, TRUSTING, Serving, load_plan, serving

from assay.engine import driver
from assay.model.measurement import Measurement
from assay.model.plan import Closed, Http, LoadPlan, StopAfter, StopAtCount
from assay.servers import probe
from assay.servers.contract import Spoken
from assay.servers.server import HOST

pytestmark = [pytest.mark.contract, pytest.mark.timeout(900)]

REQUESTS = 10_000
ENOUGH_LOAD_S, LONGEST_LOAD_S = (800, 800) if LONG else (5, 60)
"""A server that computes for each answer is given this long instead of all the requests: the first, and up to
the second until it has given the least number of answers."""

LEAST_ANSWERS = 100
MEMORY_S = 60 if LONG else 3
HEAP_OVERHEAD_BYTES = 500_000_000
"""Of a virtual machine over its heap: code, threads, buffers, its own accounting."""


SAME_WORK = 0.02
"""How far the bytes of compared answers may lie apart: the limit of rule W3."""

HEADS: dict[str, dict[str, float]] = {}
"""Of each contract, by server: what is no content in an answer, in bytes; of those tested so far."""

HANGS_AFTER_ERRORS = {"delay/spring-webflux", "hello/spring-webflux", "heroes/spring-webflux-r2dbc"}
"""Reactor Netty 1.2.18, the last of its line, may stop reading a connection on which a request came before
the one ahead of it had ended and was answered at once, as an error is (its issues 4347 and 4361)."""


FIRST = [server for server in ALL if server.id.startswith(("delay/", "hello/", "protocols/", "upstream/"))]
"""A worker takes whole files, so servers of the other contracts are those of `test_servers_others.py`."""


@pytest.fixture(scope="module", params=FIRST, ids=lambda server: server.id)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(request.param, "fair", tmp_path_factory.mktemp("fair")) as made:
        yield made


def test_it_keeps_its_contract(served: Serving) -> None:
    asked, problems = probe.test(served.contract, served.routes, HOST, served.running.port)
    assert problems == ()
    assert asked == len(served.routes)


def test_behind_tls_it_keeps_its_contract_over_every_http(served: Serving) -> None:
    if served.running.scheme == "http":
        pytest.skip("it speaks HTTP/1.1 alone")
    versions: tuple[Http, ...] = ("2", "3") if served.running.prepared.spec.facts.get("http3") else ("2",)
    for spoken_http in versions:
        spoken = Spoken(scheme="https", http=spoken_http, tls=TRUSTING)
        over_it = replace(served.contract, spoken=spoken)
        asked, problems = probe.test(over_it, served.routes, HOST, served.running.port)
        assert problems == (), f"HTTP/{spoken_http}"
        assert asked == len(served.routes)


def test_it_answers_every_route_on_one_connection(served: Serving) -> None:
    """Only after an error may a server hang up."""
    connection = served.connect()
    for route in (*served.routes, *served.routes):
        if connection.sock is None:
            connection.connect()
        ours = connection.sock.getsockname()
        answer = served.ask(connection, route)
        body = answer.read()
        assert served.right(route, answer, body) == "", route.name
        if answer.status >= 400 and served.server.id in HANGS_AFTER_ERRORS:
            connection.close()
        if connection.sock is None:
            assert answer.status >= 400, f"{route.name}: it hung up after a right answer"
        else:
            assert connection.sock.getsockname() == ours
    connection.close()


def test_head_is_the_head_of_get(served: Serving) -> None:
    if served.ceiling:
        pytest.skip("it has one prepared answer")
    connection = served.connect()
    for route in served.harmless:
        head = served.ask(connection, route, method="HEAD")
        assert head.read() == b""
        get = served.ask(connection, route)
        body = get.read()
        assert served.right(route, get, body) == "", f"{route.name}: the answer after HEAD"
        assert head.status == get.status, route.name
        assert head.getheader("content-type") == get.getheader("content-type"), route.name
    connection.close()
    with served.socket() as bare:  # a client library would not see a body where none may be
        bare.sendall(served.raw(served.routes[0], method="HEAD"))
        said = b"".join(iter(lambda: bare.recv(65536), b""))
    assert said.startswith(b"HTTP/1.1 ")
    assert said.endswith(b"\r\n\r\n"), "a body follows the answer to HEAD"


def test_it_compresses_where_that_is_asked_for_and_nowhere_else(served: Serving) -> None:
    compresses = served.running.prepared.spec.facts.get("compression") == "gzip"
    if served.ceiling and compresses:
        pytest.skip("its prepared answer is compressed")
    connection = served.connect()
    for route in served.harmless:
        plain = served.ask(connection, route, headers={})
        assert plain.getheader("content-encoding") is None, f"{route.name}: compressed unasked"
        whole = plain.read()
        asked = served.ask(connection, route, headers={"accept-encoding": "gzip"})
        coding, body = asked.getheader("content-encoding"), asked.read()
        if not compresses:
            assert coding is None, f"{route.name}: its manifest does not say that it compresses"
        elif coding is not None:
            assert coding == "gzip"
            assert probe.decoded(body, coding) == whole, f"{route.name}: the compressed answer is another one"
            assert len(body) < len(whole)
            assert "accept-encoding" in (asked.getheader("vary") or "").lower()
    if compresses:
        first = served.ask(connection, served.routes[0])
        assert first.getheader("content-encoding") == "gzip"
        first.read()
    connection.close()


def answer(connection: socket.socket) -> tuple[http.client.HTTPResponse, bytes]:
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response, response.read()


def test_it_understands_a_request_in_fragments(served: Serving) -> None:
    route = served.routes[0]
    with served.socket() as connection:
        for byte in served.raw(route):
            connection.sendall(bytes([byte]))
        assert served.right(route, *answer(connection)) == ""


def test_it_waits_for_a_body_that_comes_late(served: Serving) -> None:
    with_body = [route for route in served.routes if served.contract.body_of(route)]
    if not with_body:
        pytest.skip("no route of this contract takes a body")
    route = with_body[0]
    head, _, body = served.raw(route).partition(b"\r\n\r\n")
    half = len(body) // 2
    with served.socket() as connection:
        connection.sendall(head + b"\r\n\r\n" + body[:half])
        connection.settimeout(0.3)
        if not served.ceiling:
            with pytest.raises(TimeoutError):
                connection.recv(1)  # it must not answer what it has not read
        connection.settimeout(PATIENCE_S)
        connection.sendall(body[half:])
        assert served.right(route, *answer(connection)) == ""


def test_an_old_client_gets_its_answer_and_the_end_of_the_connection(served: Serving) -> None:
    """HTTP/1.0 without keep-alive, as some load generators speak it: no chunks, and the server hangs up."""
    route = served.routes[0]
    with served.socket() as connection:
        connection.sendall(served.raw(route, version="1.0", connection=""))
        response, body = answer(connection)
        assert served.right(route, response, body) == ""
        assert response.getheader("transfer-encoding") is None
        assert connection.recv(1) == b""


def test_every_answer_under_load_is_right(served: Serving) -> None:
    """Ten thousand requests on 16 connections, every answer checked."""
    measured = run(load(served, StopAtCount(count=REQUESTS)))
    assert measured.outcomes == ()
    assert measured.completed == REQUESTS or (measured.interrupted and measured.completed >= LEAST_ANSWERS)
    assert measured.checked >= measured.completed


def test_it_says_as_much_around_an_answer_as_the_others(served: Serving) -> None:
    """In the fair profile; else no two of the contract's candidates could be compared."""
    if served.server.manifest.role != "candidate":
        pytest.skip("it is not compared with the others")
    request = served.contract.request(served.routes[0])
    plan = load_plan(served, (request,), Closed(connections=1), StopAtCount(count=20))
    seen = run(plan)
    for _ in range(2):  # a load that was ended early leaves a server with work that it may finish first
        seen = seen if seen.completed else run(plan)
    assert seen.completed, seen.outcomes
    whole, head = (size / seen.completed for size in (seen.bytes_read, seen.bytes_read - seen.body_bytes))
    others = HEADS.setdefault(served.contract.name, {})
    apart = {name: head - other for name, other in others.items() if abs(head - other) > SAME_WORK * whole}
    others[served.server.id] = head
    assert not apart, f"{head:g} bytes beside the content, more than others by {apart}"


def test_its_memory_does_not_grow_under_load(served: Serving) -> None:
    """After the ten thousand requests: what it takes at the end of another load against the first half."""
    plan = load(served, StopAfter(ns=MEMORY_S * 10**9))
    under_way = driver.start(plan)
    seen: list[int] = []
    while not under_way.wait(0.2):
        seen.append(memory(served))
    assert under_way.result().outcomes == ()
    seen.append(memory(served))
    first, last = max(seen[: len(seen) // 2 + 1]), max(seen[-max(1, len(seen) // 4) :])
    heap = heap_bytes(served.running.prepared.spec.command)
    if heap is not None:  # a virtual machine takes what its heap allows, and keeps it
        assert last < heap + HEAP_OVERHEAD_BYTES, "it takes more than its heap explains"
    else:
        assert last < 1.1 * first + 16e6, f"its memory grows with every request: {first:,} to {last:,} bytes"


def memory(served: Serving) -> int:
    sampler = served.running.sampler
    sampler.peak_rss_bytes = 0
    sampler.sample()
    return sampler.peak_rss_bytes


def heap_bytes(command: tuple[str, ...]) -> int | None:
    """What -Xmx allows: "-Xmx512m"."""
    [*given] = (word.removeprefix("-Xmx") for word in command if word.startswith("-Xmx"))
    units = {"k": 2**10, "m": 2**20, "g": 2**30}
    return int(given[-1][:-1]) * units[given[-1][-1].lower()] if given else None


def load(served: Serving, stop: StopAtCount | StopAfter) -> LoadPlan:
    """The routes that change nothing in turn, or the first one, every answer checked."""
    requests = [served.contract.request(route) for route in served.harmless or served.routes[:1]]
    checked = []
    for request in requests:
        assert request.expect is not None
        expect = msgspec.structs.replace(request.expect, check_every=1)
        checked.append(msgspec.structs.replace(request, expect=expect))
    return load_plan(served, tuple(checked), Closed(connections=16), stop)


def run(plan: LoadPlan) -> Measurement:
    under_way, waited_s = driver.start(plan), 0
    while not under_way.wait(1):
        waited_s += 1
        has_least = under_way.snapshot().completed >= LEAST_ANSWERS
        if waited_s >= (ENOUGH_LOAD_S if has_least else LONGEST_LOAD_S):
            under_way.stop()
    return under_way.result()
