"""A server from its start to its end: on a free port, ready when it answers rightly, gone when stopped."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import psutil
from msgspec.structs import replace

from assay.core.errors import ServerFailed
from assay.model.account import ThreadTime
from assay.servers import probe, supervised
from assay.servers.build import Prepared, program_env
from assay.servers.contract import Contract, Route
from assay.servers.manifest import Placeholders
from assay.servers.sampler import Sampler
from assay.servers.supervised import Kept, StartOrder, exit_in_words

HOST = "127.0.0.1"
_PORT_TAKEN = re.compile(
    r"address (?:is )?already in use|EADDRINUSE|bind.*in use|port \d+ (?:is|was) already", re.I
)
_PORT_NAMED = re.compile(r"(?:[:.]|\bport )(\d{2,5})\b", re.I)
_GIVEN = "it has to take the port that it is given ({port} or $PORT)"
_POLL_S = 0.002
_SLOW_POLL_S = 0.02
_PATIENCE_S = 1.0
"""A server that starts within this is looked at every 2 ms, a slower one every 20."""

_SAME_S = 5.0
"""So long a server that is at rest may answer wrongly in one and the same way, or listen elsewhere alone,
before it is given up; a sixth of its time, where that is longer."""
_LOOK_S = 0.5
_AT_REST = 0.2
"""Share of a core below which a server does not work on getting ready."""

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
    places: Placeholders = replace(prepared.places, port=port, host=host)
    if _listens(host, port):
        raise _PortTaken("start", f"port {port} is taken by another program")
    temporary = supervised.new_folder("server")
    order = StartOrder(
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
        sampler = Sampler(kept.supervisor_pid)
    except BaseException:
        kept.stop()
        raise
    start_ns, scheme = ready_ns - kept.started_ns, contract.spoken.scheme
    return RunningServer(prepared, port, cpus, kept, sampler, start_ns, host, scheme)


def _wait_until_ready(
    kept: Kept, contract: Contract, route: Route, at: tuple[str, int], timeout_s: float
) -> int:
    """The moment (monotonic ns) at which the first right answer was in."""
    begin = time.monotonic()
    problem = ""
    same = _Same(kept, max(_SAME_S, timeout_s / 6))
    asks = f"{route.method} {route.target}"
    while True:
        seen = _asked(contract, route, at, timeout_s, listens=bool(problem))
        if isinstance(seen, probe.Response):
            problem = probe.wrong(contract, route, seen)
            if not problem:
                return seen.came_ns
            # An error of its own (5xx) may well end once what it needs is there.
            if same.long_enough(problem if seen.status < 500 else ""):
                said = f"the same wrong answer to {asks} for {same.patience_s:g} s: {problem}"
                raise ServerFailed("contract", said, kept.log_tail())
        elif seen.listening:
            problem = str(seen)
        code = kept.exit()
        if code is not None:
            raise _ended(kept, code, at[1])
        waited = time.monotonic() - begin
        if waited > timeout_s:
            break
        if not problem and same.long_enough(elsewhere := same.elsewhere()):
            raise ServerFailed("start", f"the server listens on {elsewhere}: {_GIVEN}", kept.log_tail())
        time.sleep(_POLL_S if waited < _PATIENCE_S else _SLOW_POLL_S)
    raise _not_ready(kept, asks, at, timeout_s, problem)


def _not_ready(kept: Kept, asks: str, at: tuple[str, int], timeout_s: float, problem: str) -> ServerFailed:
    """Why it is not after all of its time: with a `problem` it listens."""
    if problem:
        said = f"no right answer to {asks} within {timeout_s:g} s: {problem}"
        return ServerFailed("contract", said, kept.log_tail())
    said = f"the server did not listen on {at[0]}:{at[1]} within {timeout_s:g} s"
    if others := _elsewhere(kept):
        said += f", but on {', '.join(others)}: {_GIVEN}"
    return ServerFailed("start", said, kept.log_tail())


def _asked(
    contract: Contract, route: Route, at: tuple[str, int], timeout_s: float, *, listens: bool
) -> probe.Response | probe.NoAnswer:
    """What comes of asking it once; `listens` where it is known to."""
    spoken = contract.spoken
    if not (listens or spoken.is_plain or spoken.http == "3" or _listens(*at)):
        return probe.NoAnswer("", listening=False)  # the engine takes longer to find that out
    try:
        return probe.ask(contract, route, *at, timeout_s=max(1.0, timeout_s))
    except probe.NoAnswer as error:
        return error


class _Same:
    """For how long a server has been the same, and at rest: in what is wrong with it, say."""

    def __init__(self, kept: Kept, patience_s: float) -> None:
        """It is the same for long enough after `patience_s`."""
        self.patience_s = patience_s
        self._kept = kept
        self._problem = self._where = ""
        self._since_s = self._looked_s = time.monotonic()
        self._used_s = 0.0

    def long_enough(self, problem: str) -> bool:
        """Whether it had this problem all the time; none ("") begins anew."""
        now_s = time.monotonic()
        if not problem or problem != self._problem or not self._at_rest(now_s):
            self._problem, self._since_s = problem, now_s
        return now_s - self._since_s >= self.patience_s

    def _at_rest(self, now_s: float) -> bool:
        """Whether it used little CPU since the last look, which is not that short a time ago."""
        passed_s = now_s - self._looked_s
        if passed_s < _LOOK_S:
            return True
        before_s, self._looked_s, self._used_s = self._used_s, now_s, _cpu_s(self._kept)
        return self._used_s - before_s <= _AT_REST * passed_s

    def elsewhere(self) -> str:
        """Where else it listens, for connections; looked for now and then, as it takes a while."""
        if time.monotonic() - self._looked_s >= _LOOK_S:
            self._where = ", ".join(_elsewhere(self._kept, connections_alone=True))
        return self._where


def _cpu_s(kept: Kept) -> float:
    """The CPU time of the server's processes that are there."""
    used_s = 0.0
    for process in kept.tree():
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        used_s += times.user + times.system
    return used_s


def _elsewhere(kept: Kept, *, connections_alone: bool = False) -> list[str]:
    try:
        return sorted(_listened_on(kept, connections_alone=connections_alone))
    except psutil.AccessDenied:
        return []


def _ended(kept: Kept, code: int, port: int) -> ServerFailed:
    tail = kept.log_tail()
    said = f"the server {exit_in_words(code)} before its first right answer"
    taken = [line for line in tail.splitlines() if _PORT_TAKEN.search(line)]
    if not taken:
        return ServerFailed("start", said, tail)
    named = [int(number) for line in taken for number in _PORT_NAMED.findall(line)]
    if named and port not in named:
        return ServerFailed("start", f"{said}: port {named[-1]} is taken, and {_GIVEN}", tail)
    return _PortTaken("start", f"{said}: its port is taken (it was given {port}, and {_GIVEN})", tail)


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


def _listened_on(kept: Kept, *, connections_alone: bool = False) -> set[str]:
    """Every address that the server's processes listen on, or (unless it is `connections_alone`) take
    datagrams at. AccessDenied where they are another user's."""
    found: set[str] = set()
    for process in kept.tree():
        try:
            sockets = process.net_connections(kind="inet")
        except psutil.NoSuchProcess:
            continue
        open_ones = (
            one.laddr
            for one in sockets
            if one.status == psutil.CONN_LISTEN
            or (not connections_alone and one.type == socket.SOCK_DGRAM and not one.raddr)
        )
        found |= {f"{address.ip}:{address.port}" for address in open_ones if address}
    return found


def _listens(host: str, port: int) -> bool:
    with socket.socket() as caller:
        caller.settimeout(1.0)
        return caller.connect_ex((host, port)) == 0


class Unsampled:
    """What can be seen of a process that may run anywhere: nothing."""

    def sample(self) -> None:
        """Look at nothing."""

    def begin_threads(self) -> None:
        """Count nothing."""

    def thread_time(self) -> ThreadTime | None:
        """No thread is known."""
        return None

    def idle_cores(self) -> float | None:
        """Nor what it does without a load."""
        return None

    def cpu_ns(self) -> int:
        """No CPU time is known."""
        return 0


class ExternalServer(msgspec.Struct, frozen=True):
    """A server at an address that has given a right answer, `named` so in requests."""

    host: str
    port: int
    named: str
    scheme: str = "http"
    sampler: Unsampled = msgspec.field(default_factory=Unsampled)

    @property
    def url(self) -> str:
        """Where it is said to be, without a path."""
        named = f"[{self.named}]" if ":" in self.named else self.named
        return f"{self.scheme}://{named}:{self.port}/"

    def died(self) -> ServerFailed | None:
        """Nothing is known of its process: that it no longer answers shows in the answers."""
        return None

    def log_tail(self) -> str:
        """Its log is not ours to read."""
        return ""

    def stop(self) -> None:
        """It stands before us and after us."""


class ExternalAddress(msgspec.Struct, frozen=True):
    """Where a server stands: at a numeric address, `named` so in requests."""

    host: str
    port: int
    named: str

    def meet(self, contract: Contract, route: Route) -> ExternalServer:
        """The server, once it has answered `route` rightly.

        ServerFailed with stage "start" (nobody listens) or "contract" (a wrong answer).
        """
        where = f"{self.host}:{self.port}"
        try:
            problem = probe.wrong(contract, route, probe.ask(contract, route, self.host, self.port))
        except probe.NoAnswer as error:
            if not error.listening:
                raise ServerFailed(
                    "start", f"nobody listens on {where}; start it, or check the port"
                ) from error
            problem = str(error)
        if problem:
            raise ServerFailed("contract", f"no right answer to {route.method} {route.target}: {problem}")
        return ExternalServer(self.host, self.port, self.named, contract.spoken.scheme)
