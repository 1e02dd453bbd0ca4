"""Starting servers of this checkout for their contract tests, and speaking HTTP to them by hand."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec import structs
from msgspec.structs import replace

from assay.core.errors import ServerFailed
from assay.core.settings import Settings
from assay.engine import driver
from assay.model.plan import Closed, LoadPlan, Request, StopAfter, Tls
from assay.servers import (
    Contract,
    CoreSplit,
    Route,
    Server,
    list_servers,
    prepare,
    probe,
    read_contract,
    split_cores,
)
from assay.servers.contract import Spoken
from assay.servers.server import HOST, RunningServer, start
from assay.servers.services import Services, ServiceSpec

SETTINGS = Settings.resolve(environ={})
LONG = os.environ.get("ASSAY_LONG") == "1"


def _split() -> CoreSplit:
    """The machine's split, for every second worker the other way round: starting is nearly all work, so two
    workers that start servers on the same cores would leave the others idle."""
    split = split_cores()
    is_second = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 2 == 1
    return structs.replace(split, client=split.server, server=split.client) if is_second else split


SPLIT = _split()
TRUSTING = Tls(insecure=True)
"""A server behind TLS has a certificate of its own."""
PATIENCE_S = 60
QUICK = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"}
"""A JVM that compiles less starts in half the CPU time (Spring: 7.5 s of 16), and answers the same."""
STOP_S = 5.0
"""How long a server has from SIGTERM to its end: the contract of every manifest. Beside other tests it has
`PATIENCE_S`: there five seconds of a clock say how busy the machine is."""

ALL = [server for server in list_servers(SETTINGS) if server.folder.is_relative_to(SETTINGS.root)]
PROFILES = ("fair", "published")


def variants(server: Server) -> list[str]:
    """Both profiles and every other setting of its manifest; of those that come to the same, the first."""
    every = dict.fromkeys((*PROFILES, *server.manifest.variants))
    return list(dict.fromkeys(same_setting(server, name) for name in every))


def same_setting(server: Server, name: str) -> str:
    """The first of the server's settings that comes to the same as this one."""
    asked, every = server.variant(name), (*PROFILES, *server.manifest.variants)
    return next(one for one in every if replace(server.variant(one), variant=name) == asked)


@dataclass(frozen=True)
class Serving:
    """A server that runs, its contract, and the routes that it is held to."""

    server: Server
    contract: Contract
    routes: tuple[Route, ...]
    running: RunningServer

    @property
    def ceiling(self) -> bool:
        """Whether it has one prepared answer to whatever it is asked."""
        return self.server.manifest.role == "ceiling"

    @property
    def harmless(self) -> tuple[Route, ...]:
        """Routes that change nothing and answer well: these can be asked any number of times."""
        return tuple(route for route in self.routes if route.method == "GET" and 200 in route.answer.statuses)

    def connect(self) -> http.client.HTTPConnection:
        """A connection of its own."""
        if self.running.scheme == "https":
            port = self.running.port
            return http.client.HTTPSConnection(HOST, port, timeout=PATIENCE_S, context=trusting())
        return http.client.HTTPConnection(HOST, self.running.port, timeout=PATIENCE_S)

    def socket(self) -> socket.socket:
        """The same, without a protocol; small segments are sent at once."""
        connection = socket.create_connection((HOST, self.running.port), timeout=PATIENCE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return trusting().wrap_socket(connection) if self.running.scheme == "https" else connection

    def ask(
        self,
        connection: http.client.HTTPConnection,
        route: Route,
        *,
        method: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        """Send a route's request, with other headers if any are given; the answer's head is read."""
        body = self.contract.body_of(route)
        connection.putrequest(method or route.method, route.target, skip_accept_encoding=True)
        for name, value in (route.headers if headers is None else headers).items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        return connection.getresponse()

    def right(self, route: Route, answer: http.client.HTTPResponse, body: bytes) -> str:
        """What is wrong with an answer that was read by hand; empty where it is right."""
        headers = {name.lower(): value for name, value in answer.getheaders()}
        decoded = probe.decoded(body, headers.get("content-encoding", ""))
        return probe.wrong(self.contract, route, probe.Response(answer.status, headers, decoded))

    def raw(self, route: Route, version: str = "1.1", connection: str = "close", method: str = "") -> bytes:
        """The request on the wire."""
        body = self.contract.body_of(route)
        lines = [
            f"{method or route.method} {route.target} HTTP/{version}",
            f"Host: {HOST}:{self.running.port}",
        ]
        lines += [f"{name}: {value}" for name, value in route.headers.items()]
        lines += [f"Content-Length: {len(body)}"] if body is not None else []
        lines += [f"Connection: {connection}"] if connection else []
        return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def trusting() -> ssl.SSLContext:
    """Takes any certificate: a server's own."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@contextmanager
def serving(server: Server, variant: str, folder: Path) -> Iterator[Serving]:
    """Start it with its services. At the end it is asked to stop while clients are at work, and has to go by
    itself."""
    contract = read_contract(server.contract_folder)
    spec = server.variant(variant).overlaid({}, (), {}, tuple(contract.services))
    contract = replace(contract, spoken=Spoken(scheme=spec.scheme, tls=TRUSTING))
    assert spec.stop_timeout_s <= STOP_S, "its manifest gives it longer to stop than the contract does"
    spec = replace(spec, stop_timeout_s=PATIENCE_S)
    try:
        prepared = prepare(spec, SETTINGS, SPLIT.server_cores)
    except ServerFailed as failed:
        if failed.stage == "requires":
            pytest.skip(failed.message)
        pytest.fail(f"{failed.message}\n{failed.log_tail}")
    routes = contract.routes_of(spec.routes)
    if spec.role == "ceiling":
        routes = routes[:1]
    specs = [
        ServiceSpec(name=name, table=contract.services[name], contract=contract, settings={})
        for name in spec.services
    ]
    with Services(specs, SETTINGS, SPLIT, folder) as services:
        services.ensure()
        log = folder / "log"
        env = ({} if contract.name == "workflow" else QUICK) | services.env
        running = start(prepared, contract, routes[0], cpus=SPLIT.server, log=log, env=env)
        made = Serving(server, contract, routes, running)
        try:
            yield made
            with at_work(made):
                killed = running.kept.stop()
        finally:
            running.kept.stop()
    assert killed == 0, f"SIGTERM did not end {server.id} ({variant}) within {PATIENCE_S} s"


@contextmanager
def at_work(served: Serving) -> Iterator[None]:
    """Four clients in the middle of their requests, and a connection that says nothing."""
    request = served.contract.request(served.routes[0])
    run = driver.start(load_plan(served, (request,), Closed(connections=4), StopAfter(ns=60 * 10**9)))
    with served.socket():
        waiting = threading.Event()
        while run.snapshot().completed == 0 and not waiting.wait(0.02):
            assert served.running.died() is None
        try:
            yield
        finally:
            run.stop()
            run.wait(PATIENCE_S)


def load_plan(
    served: Serving, requests: tuple[Request, ...], load: Closed, stop: object, **changes: object
) -> LoadPlan:
    """A load on the client's cores that gives every answer time."""
    fields = {"url": served.running.url, "tls": TRUSTING, "requests": requests, "load": load, "stop": stop}
    return LoadPlan(**(fields | {"timeout_ns": 30 * 10**9, "cpus": SPLIT.client} | changes))  # type: ignore[arg-type]
