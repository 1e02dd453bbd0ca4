"""A server from its start to its end: on a free port, ready when it answers rightly, gone when stopped."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import psutil

from assay.errors import ServerFailed
from assay.sut import leftovers, probe
from assay.sut.build import Prepared, program_env
from assay.sut.contract import Contract, Route
from assay.sut.kept import Kept, Order, exit_in_words
from assay.sut.manifest import Places
from assay.sut.sampler import Sampler

HOST = "127.0.0.1"
_PORT_TAKEN = re.compile(
    r"address (?:is )?already in use|EADDRINUSE|bind.*in use|port \d+ (?:is|was) already", re.I
)
_POLL_S = 0.002
_SLOW_POLL_S = 0.02
_PATIENCE_S = 1.0
"""A server that starts within this is looked at every 2 ms, a slower one every 20."""

PickPort = Callable[[], int]


def free_port(host: str = HOST) -> int:
    """A port that nobody listens on now. The system does not soon give the same one twice."""
    with socket.socket() as listener:
        listener.bind((host, 0))
        port: int = listener.getsockname()[1]
        return port


@dataclass
class RunningServer:
    """A server that has given its first right answer."""

    prepared: Prepared
    port: int
    cpus: tuple[int, ...]
    kept: Kept
    sampler: Sampler
    start_ns: int
    host: str = HOST
    scheme: str = "http"

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"{self.scheme}://{self.host}:{self.port}/"

    def died(self) -> ServerFailed | None:
        """The failure, if the program has ended by itself."""
        code = self.kept.exit()
        if code is None:
            return None
        return ServerFailed("load", f"the server {exit_in_words(code)} under load", self.kept.log_tail())

    def log_tail(self) -> str:
        """The last lines that it wrote."""
        return self.kept.log_tail()

    def stop(self) -> None:
        """End it and all it started. ServerFailed (stage "stop") where its port stays taken."""
        self.kept.stop()
        if _listens(self.host, self.port):
            raise ServerFailed("stop", f"port {self.port} is still listened on after the server's end")


def start(
    prepared: Prepared,
    contract: Contract,
    route: Route,
    *,
    cpus: tuple[int, ...],
    log: Path,
    env: Mapping[str, str] | None = None,
    pick_port: PickPort | None = None,
    host: str = HOST,
) -> RunningServer:
    """Start a server and wait until it answers `route` rightly, on this machine's address `host`.

    A port that was taken in the meantime is tried once more with another, unless the server insists on it.
    ServerFailed with stage "start"
    (it ended, or never listened) or "contract" (it listens and answers wrongly), with its log's end.
    """
    pick = pick_port or partial(free_port, host)
    order = partial(_start_on, host, prepared, contract, route, cpus, log, env or {})
    if prepared.only_port is not None:
        return order(prepared.only_port)
    try:
        return order(pick())
    except _PortTaken:
        return order(pick())


class _PortTaken(ServerFailed):
    """Somebody else has the port."""


def _start_on(
    host: str,
    prepared: Prepared,
    contract: Contract,
    route: Route,
    cpus: tuple[int, ...],
    log: Path,
    env: Mapping[str, str],
    port: int,
) -> RunningServer:
    spec = prepared.spec
    places: Places = replace(prepared.places, port=port, host=host)
    if _listens(host, port):
        raise _PortTaken("start", f"port {port} is taken by another program")
    temporary = leftovers.new_folder("server")
    order = Order(
        command=places.fill_all(spec.command),
        env=program_env(spec, places, {"TMPDIR": str(temporary), **env}),
        cwd=places.source,
        remove=temporary,  # `go run` that is ended leaves its program there
        log=log,
        cpus=cpus,
        grace_s=spec.stop_timeout_s,
    )
    kept = Kept(order)
    try:
        ready_ns = _wait_until_ready(kept, contract, route, (host, port), spec.ready_timeout_s)
        _check_owner(kept, port)
        sampler = Sampler(kept.keeper_pid)
    except BaseException:
        kept.stop()
        raise
    start_ns, scheme = ready_ns - kept.started_ns, contract.spoken.scheme
    return RunningServer(prepared, port, cpus, kept, sampler, start_ns, host, scheme)


def _wait_until_ready(
    kept: Kept, contract: Contract, route: Route, at: tuple[str, int], timeout_s: float
) -> int:
    """The moment (monotonic ns) at which the first right answer was in."""
    host, port = at
    begin = time.monotonic()
    problem, listening = "it does not listen", False
    while True:
        try:
            spoken = contract.spoken
            if not (listening or spoken.is_plain or spoken.http == "3" or _listens(host, port)):
                raise probe.NoAnswer("", listening=False)  # the engine takes longer to find that out
            response = probe.ask(contract, route, host, port, timeout_s=max(1.0, timeout_s))
            problem, listening = probe.wrong(contract, route, response), True
            if not problem:
                return response.came_ns
        except probe.NoAnswer as error:
            if error.listening:
                problem, listening = str(error), True
        code = kept.exit()
        if code is not None:
            raise _ended(kept, code, port)
        waited = time.monotonic() - begin
        if waited > timeout_s:
            break
        time.sleep(_POLL_S if waited < _PATIENCE_S else _SLOW_POLL_S)
    if listening:
        said = f"no right answer to {route.method} {route.target} within {timeout_s:g} s: {problem}"
        raise ServerFailed("contract", said, kept.log_tail())
    elsewhere = _elsewhere(kept)
    said = f"the server did not listen on {host}:{port} within {timeout_s:g} s"
    if elsewhere:
        said += f", but on {', '.join(elsewhere)}: it has to take the port that it is given (PORT)"
    raise ServerFailed("start", said, kept.log_tail())


def _elsewhere(kept: Kept) -> list[str]:
    try:
        return sorted(_listened_on(kept))
    except psutil.AccessDenied:
        return []


def _ended(kept: Kept, code: int, port: int) -> ServerFailed:
    tail = kept.log_tail()
    said = f"the server {exit_in_words(code)} before its first right answer"
    if _PORT_TAKEN.search(tail):
        return _PortTaken("start", f"{said}: port {port} is taken", tail)
    return ServerFailed("start", said, tail)


def _check_owner(kept: Kept, port: int) -> None:
    """That the answers on the port are this server's: another program may have come first."""
    try:
        if any(address.rpartition(":")[2] == str(port) for address in _listened_on(kept)):
            return
    except psutil.AccessDenied:
        return  # a server under another user: it cannot be looked at
    raise _PortTaken(
        "start", f"port {port} is answered by a program that is not this server", kept.log_tail()
    )


def _listened_on(kept: Kept) -> set[str]:
    """Every address that the server's processes listen on, or take datagrams at. AccessDenied where they are
    another user's."""
    found: set[str] = set()
    for process in kept.tree():
        try:
            sockets = process.net_connections(kind="inet")
        except psutil.NoSuchProcess:
            continue
        open_ones = (
            one.laddr
            for one in sockets
            if one.status == psutil.CONN_LISTEN or (one.type == socket.SOCK_DGRAM and not one.raddr)
        )
        found |= {f"{address.ip}:{address.port}" for address in open_ones if address}
    return found


def _listens(host: str, port: int) -> bool:
    with socket.socket() as caller:
        caller.settimeout(1.0)
        return caller.connect_ex((host, port)) == 0
