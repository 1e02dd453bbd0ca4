"""Every server of this checkout, built and held to its contract; what the machine lacks is skipped."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from assay import engine
from assay.errors import ServerFailed
from assay.settings import Settings
from assay.sut import Contract, Route, Server, list_servers, prepare, probe, read_contract, split_cores
from assay.sut.server import HOST, RunningServer, start
from assay.sut.services import Services, ServiceSpec
from assay.values.plan import Closed, LoadPlan, StopAtCount

pytestmark = pytest.mark.contract

SETTINGS = Settings.resolve(environ={})
SPLIT = split_cores()
REQUESTS = 10_000
LONGEST_LOAD_S = 30
"""A server that computes for each answer is given this long instead of all the requests."""

LEAST_ANSWERS = 100


@dataclass(frozen=True)
class Serving:
    """A server that runs, its contract, and the routes that it is held to."""

    server: Server
    contract: Contract
    routes: tuple[Route, ...]
    running: RunningServer


@contextmanager
def serving(server: Server, variant: str, folder: Path) -> Iterator[Serving]:
    """Start it with its services; afterwards it must have ended by itself within its time."""
    contract = read_contract(server.contract_folder)
    spec = server.variant(variant)
    spec = spec.overlaid({}, (), {}, tuple(contract.services))
    try:
        prepared = prepare(spec, SETTINGS, SPLIT.server_cores)
    except ServerFailed as failed:
        if failed.stage == "requires":
            pytest.skip(failed.message)
        pytest.fail(f"{failed.message}\n{failed.log_tail}")
    routes = contract.routes_of(spec.routes)
    if spec.role == "ceiling":
        routes = routes[:1]  # it has one prepared answer
    specs = [
        ServiceSpec(name=name, table=contract.services[name], contract=contract, settings={})
        for name in spec.services
    ]
    with Services(specs, SETTINGS, SPLIT, folder) as services:
        services.ensure()
        running = start(
            prepared, contract, routes[0], cpus=SPLIT.server, log=folder / "log", env=services.env
        )
        try:
            yield Serving(server, contract, routes, running)
        finally:
            killed = running.kept.stop()
    assert killed == 0, "SIGTERM did not end it within its time"


ALL = [server for server in list_servers(SETTINGS) if server.folder.is_relative_to(SETTINGS.root)]


@pytest.fixture(scope="module", params=ALL, ids=lambda server: server.id)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(request.param, "fair", tmp_path_factory.mktemp("fair")) as made:
        yield made


def test_it_keeps_its_contract(served: Serving) -> None:
    asked, problems = probe.test(served.contract, served.routes, HOST, served.running.port)
    assert problems == ()
    assert asked == len(served.routes)


def test_it_answers_again_on_the_same_connection(served: Serving) -> None:
    connection = http.client.HTTPConnection(HOST, served.running.port, timeout=30)
    connection.connect()
    ours = connection.sock.getsockname()
    route = served.routes[0]
    for _ in range(3):
        connection.request(
            route.method, route.target, served.contract.body_of(route), headers=dict(route.headers)
        )
        assert connection.sock is not None
        assert connection.sock.getsockname() == ours
        connection.getresponse().read()
    connection.close()


def raw(served: Serving, route: Route) -> bytes:
    """The request on the wire."""
    body = served.contract.body_of(route)
    lines = [f"{route.method} {route.target} HTTP/1.1", f"Host: {HOST}:{served.running.port}"]
    lines += [f"{name}: {value}" for name, value in route.headers.items()]
    lines += [f"Content-Length: {len(body)}"] if body is not None else []
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + (body or b"")


def answer(connection: socket.socket) -> http.client.HTTPResponse:
    response = http.client.HTTPResponse(connection)
    response.begin()
    response.read()
    return response


def test_it_understands_a_request_in_fragments(served: Serving) -> None:
    route = served.routes[0]
    with socket.create_connection((HOST, served.running.port), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in raw(served, route):
            connection.sendall(bytes([byte]))
        assert answer(connection).status in route.answer.statuses


def test_it_waits_for_a_body_that_comes_late(served: Serving) -> None:
    with_body = [route for route in served.routes if served.contract.body_of(route)]
    if not with_body:
        pytest.skip("no route of this contract takes a body")
    route = with_body[0]
    head, _, body = raw(served, route).partition(b"\r\n\r\n")
    with socket.create_connection((HOST, served.running.port), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(head + b"\r\n\r\n")
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(1)  # it must not answer what it has not read
        connection.settimeout(30)
        connection.sendall(body)
        assert answer(connection).status in route.answer.statuses


def test_every_answer_under_load_is_right(served: Serving) -> None:
    first_rss = load(served)
    again_rss = load(served)
    # A virtual machine takes what its heap allows; what it was given is in its manifest.
    grows_to_its_heap = any(word.startswith("-Xmx") for word in served.running.prepared.spec.command)
    allowed = 1e9 if grows_to_its_heap else 1.25 * first_rss + 16e6
    assert again_rss < allowed, "its memory grows with every request"


def load(served: Serving) -> int:
    """Ten thousand requests on 16 connections, every answer checked in full; the memory afterwards."""
    request = served.contract.request(served.routes[0])
    assert request.expect is not None
    checked = msgspec.structs.replace(request.expect, check_every=1)
    plan = LoadPlan(
        url=served.running.url,
        requests=(msgspec.structs.replace(request, expect=checked),),
        load=Closed(connections=16),
        stop=StopAtCount(count=REQUESTS),
        timeout_ns=30 * 10**9,
        cpus=SPLIT.client,
    )
    run = engine.start(plan)
    if not run.wait(LONGEST_LOAD_S):
        run.stop()
    measured = run.result()
    assert measured.outcomes == ()
    assert measured.completed == REQUESTS or (measured.interrupted and measured.completed >= LEAST_ANSWERS)
    assert measured.checked >= measured.completed
    served.running.sampler.peak_rss_bytes = 0
    served.running.sampler.sample()
    return served.running.sampler.peak_rss_bytes


@pytest.mark.parametrize("server", ALL, ids=lambda server: server.id)
def test_it_keeps_its_contract_as_published(server: Server, tmp_path: Path) -> None:
    with serving(server, "published", tmp_path) as made:
        _, problems = probe.test(made.contract, made.routes, HOST, made.running.port)
        assert problems == ()
