"""Assay's part on a node. It runs inside Ray's process there and is asked by the driver (`calls.ask`).

An agent that is not asked anything for a while ends what it runs: its driver is gone or cut off, and a load
that nobody will read is only a burden.
"""

from __future__ import annotations

import contextlib
import os
import platform
import socket
import threading
import time
from pathlib import Path

import msgspec

from assay.cluster import versions
from assay.cluster.calls import Wrapped, wrapped
from assay.cluster.generators_slices import monotonic_of
from assay.core.errors import EnvironmentLacks, InputError, reason_of
from assay.core.settings import version
from assay.engine import driver
from assay.engine.target_policy import first_hops, is_this_machine, outsiders
from assay.model.account import TimeAccount
from assay.model.interleaving import Change, InterleavedPlan
from assay.model.plan import LoadPlan
from assay.model.run import About
from assay.model.trial import HostSeen
from assay.servers import account, host
from assay.servers.cores import CoreSplit, split_cores
from assay.servers.host import Watch
from assay.servers.site import ArmLooked, LocalSampling, Looking
from assay.servers.watching import MachineWatch

LINK_WRITTEN_S = 0.2
"""For how long a way is written to."""
LINK_ANSWER_S = 10.0
"""An agent that has not told of it after so long is lost: what is on a slow way arrives first."""
_CHUNK_BYTES = 1 << 18
_TIMEOUT_S = 3.0


class Sink:
    """Reads what others send, and answers each with how much that was. Ends with the process."""

    def __init__(self) -> None:
        """Listen on a free port of every address."""
        self._listener = socket.create_server(("", 0))
        self.port: int = self._listener.getsockname()[1]
        self.serving = threading.Thread(target=self._serve, name="sink", daemon=True)
        self.serving.start()

    def close(self) -> None:
        """Take no more connections."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # which wakes whoever waits in `accept`
        self._listener.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=_drain, args=(connection,), daemon=True).start()


def _drain(connection: socket.socket) -> None:
    buffer, count = bytearray(_CHUNK_BYTES), 0
    with connection, contextlib.suppress(OSError):
        connection.settimeout(_TIMEOUT_S)
        while read := connection.recv_into(buffer):
            count += read
        connection.sendall(str(count).encode())


def link_bytes_per_s(address: str, port: int, seconds: float) -> float:
    """What a sink there took from here in so many seconds. EnvironmentLacks where it cannot be reached."""
    chunk = bytes(_CHUNK_BYTES)
    try:
        with socket.create_connection((address, port), timeout=_TIMEOUT_S) as connection:
            began_s = time.monotonic()
            while time.monotonic() - began_s < seconds:
                connection.sendall(chunk)
            connection.shutdown(socket.SHUT_WR)
            taken = int(connection.recv(32) or b"0")
            return taken / (time.monotonic() - began_s)
    except OSError as error:
        raise EnvironmentLacks(f"{address}:{port} cannot be reached from here: {reason_of(error)}") from None


FORGOTTEN_S = 8.0
_LOOK_S = 0.5
_KNOCK_S = 3.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class NodeAgent:
    """What every node can be asked."""

    def __init__(self, address: str) -> None:
        """Watch the driver from now on. `address` is this node's."""
        self._address = address
        self._heard_s = time.monotonic()
        self._sinks: list[Sink] = []
        threading.Thread(target=self._watch, name="driver-watch", daemon=True).start()

    def hello(self) -> Wrapped:
        """Say that it is there, and of which Assay and engine: as they are where this process was started."""
        self._hear()
        return wrapped(versions.here)

    def now_ns(self) -> Wrapped:
        """The calendar's time here."""
        self._heard_s = time.monotonic()
        return ("ok", time.time_ns())

    def about(self) -> Wrapped:
        """What this node is (`About`, as JSON)."""
        self._hear()
        return wrapped(lambda: msgspec.json.encode(about_here()))

    def open_sink(self) -> Wrapped:
        """Take bytes from whoever measures a link; the port."""
        self._hear()

        def opened() -> int:
            self._sinks.append(Sink())
            return self._sinks[-1].port

        return wrapped(opened)

    def close_sinks(self) -> Wrapped:
        """Take no more."""
        self._hear()
        while self._sinks:
            self._sinks.pop().close()
        return wrapped(lambda: None)

    def link_to(self, address: str, port: int, seconds: float) -> Wrapped:
        """Bytes a second from here to a sink."""
        self._hear()
        return wrapped(lambda: link_bytes_per_s(address, port, seconds))

    def forgotten(self) -> None:
        """End what runs: nobody asks any more."""

    def _hear(self) -> None:
        self._heard_s = time.monotonic()

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK_S)
            if time.monotonic() - self._heard_s > FORGOTTEN_S:
                with contextlib.suppress(Exception):  # what could not be ended does not end the watch
                    self.forgotten()
                    self._hear()


class GeneratorAgent(NodeAgent):
    """Offers its part of a load, with the same engine as everywhere."""

    def __init__(self, address: str) -> None:
        """No load goes on yet."""
        super().__init__(address)
        self._load: driver.EngineRun | None = None
        self._slices: driver.InterleavedRun | None = None
        self._looking: Looking | None = None
        self._given_up = False
        self._cpus: tuple[int, ...] = ()
        self._watched: MachineWatch | None = None
        self._zero_ns = self._early_ns = 0

    def knock(self, address: str, port: int) -> Wrapped:
        """Whether somebody listens there, as seen from here: empty, or what came instead."""
        self._hear()

        def knocked() -> str:
            try:
                socket.create_connection((address, port), timeout=_KNOCK_S).close()
            except OSError as error:
                return reason_of(error)
            return ""

        return wrapped(knocked)

    def is_among(self, hosts: tuple[str, ...]) -> Wrapped:
        """Whether one of these is this machine, so that a load on it competes with its server."""
        self._hear()
        return wrapped(lambda: is_this_machine(hosts))

    def start(self, plan_json: bytes, allowed: bool) -> Wrapped:  # noqa: FBT001 - Ray hands on positions
        """Start the part at its instant; whether its first worker stands."""
        self._hear()

        def started() -> None:
            host.raise_descriptor_limit()
            plan = msgspec.json.decode(plan_json, type=LoadPlan)
            _refuse_strangers(plan, allowed=allowed)
            self._end_the_last()
            self._cpus, self._early_ns = plan.cpus, 0
            self._zero_ns = monotonic_of(plan.part.starts_at_unix_ns) if plan.part else time.monotonic_ns()
            self._watched = self._watch_cores()
            self._load = driver.start(plan)

        return wrapped(started)

    def start_slices(self, plan_json: bytes, allowed: bool) -> Wrapped:  # noqa: FBT001 - Ray hands on positions
        """Start the part of arms that are interleaved at its instant; whether its first worker stands."""
        self._hear()

        def started() -> None:
            host.raise_descriptor_limit()
            plan = msgspec.json.decode(plan_json, type=InterleavedPlan)
            for arm in plan.arms:
                _refuse_strangers(arm, allowed=allowed)
            cores = CoreSplit(plan.arms[0].cpus, (), os.cpu_count() or 1)
            sets = account.side("generator", cores.client, self._address)
            self._end_the_last()
            self._slices = driver.start_interleaved(plan)
            arms = tuple(ArmLooked(Watch(cores, begins=False)) for _ in plan.arms)
            looks = LocalSampling(arms, self._slices.started_at_monotonic_ns(), sets)
            self._looking = Looking(self._slices, looks)

        return wrapped(started)

    def change(self, change_json: bytes, from_round: int) -> Wrapped:
        """Change the slices from a round on; which one it could be."""
        self._hear()
        change = msgspec.json.decode(change_json, type=Change)
        return wrapped(lambda: self._interleaved().change(change, from_round))

    def look_at_slices(self) -> Wrapped:
        """The live view of arms that are interleaved, as JSON."""
        self._hear()
        return wrapped(lambda: msgspec.json.encode(self._interleaved().snapshot()))

    def finish_slices(self) -> Wrapped:
        """Wait for the end of the slices; the measurement, the host in each arm's slices and where its own
        cores' time went in them, as JSON."""

        def finished() -> tuple[bytes, bytes, bytes]:
            slices, looking = self._interleaved(), self._looking
            while not slices.wait(_LOOK_S):
                pass
            self._refuse_given_up()
            seen: tuple[HostSeen, ...] = ()
            accounts: tuple[TimeAccount, ...] = ()
            measured = slices.result()
            if looking is not None:
                looking.end()
                seen, accounts = looking.looks.hosts(), looking.looks.accounts(measured.arms)
            return msgspec.json.encode(measured), msgspec.json.encode(seen), msgspec.json.encode(accounts)

        return wrapped(finished)

    def live_view(self) -> Wrapped:
        """The live view, as JSON."""
        self._hear()
        return wrapped(lambda: msgspec.json.encode(self._going().snapshot()))

    def begin_measuring(self, at_ns: int) -> Wrapped:
        """End the warm-up at an instant after the start."""
        self._hear()

        def begun() -> None:
            self._going().begin_measuring(at_ns)
            self._watched = self._watch_cores()
            self._early_ns = max(0, self._zero_ns + at_ns - self._watched.early_ns)

        return wrapped(begun)

    def stop(self, at_ns: int) -> Wrapped:
        """End the load at an instant after the start."""
        self._hear()
        return wrapped(lambda: (self._slices or self._going()).stop(at_ns))

    def finish(self) -> Wrapped:
        """Wait for the end; the measurement, and since the warm-up the host's state and where its own cores'
        time went, as JSON."""

        def finished() -> tuple[bytes, bytes, bytes]:
            load = self._going()
            while not load.wait(_LOOK_S):
                pass
            self._refuse_given_up()
            assert self._watched is not None  # since the load began
            seen, measured = self._watched.observed(), load.result()
            found = self._watched.account(measured, looked_ns=measured.measured_ns + self._early_ns)
            return msgspec.json.encode(measured), msgspec.json.encode(seen), msgspec.json.encode(found)

        return wrapped(finished)

    def forgotten(self) -> None:
        """Stop the load, and remember that it was not the plan's end."""
        going = [load for load in (self._load, self._slices) if load is not None and not load.wait(0)]
        self._given_up = self._given_up or bool(going)
        self._stop_loads()

    def _watch_cores(self) -> MachineWatch:
        """Look at this machine from now on."""
        split = CoreSplit(self._cpus, (), os.cpu_count() or 1)
        return MachineWatch(split, account.side("generator", self._cpus, self._address))

    def _stop_loads(self) -> None:
        for load in (self._load, self._slices):
            if load is not None:
                load.stop()

    def _end_the_last(self) -> None:
        """A driver that was cut off for a moment has given that load up: no two go on at once."""
        self._stop_loads()
        for load in (self._load, self._slices):
            while load is not None and not load.wait(_LOOK_S):
                pass
        if self._looking is not None:
            self._looking.end()
        self._load, self._slices, self._looking, self._given_up = None, None, None, False

    def _going(self) -> driver.EngineRun:
        self._refuse_given_up()
        if self._load is None:
            raise InputError("no load goes on here", "start one")
        return self._load

    def _interleaved(self) -> driver.InterleavedRun:
        self._refuse_given_up()
        if self._slices is None:
            raise InputError("no slices are taken here", "start them")
        return self._slices

    def _refuse_given_up(self) -> None:
        """EnvironmentLacks where the load ended because nobody asked any more: that is no measurement."""
        if self._given_up:
            raise unheard("its load")


def unheard(what: str) -> EnvironmentLacks:
    """What an agent ended because its driver was silent for too long."""
    return EnvironmentLacks(
        f"it heard nothing of the driver for {FORGOTTEN_S:g} s and ended {what}",
        "keep the driver running (no Ctrl-Z) and in reach of all nodes",
    )


def about_here() -> About:
    """What this machine is to a cluster."""
    split = split_cores()
    seen = host.environment(split, {})
    return About(
        hostname=socket.gethostname(),
        os=seen.os,
        kernel=seen.kernel,
        cpu_model=seen.cpu_model,
        cores=seen.cores,
        cpus=tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else (),
        client_cpus=split.client,
        server_cpus=split.server,
        kernel_id=_kernel_id(),
        assay_version=version(),
        engine_version=driver.version(),
        python=platform.python_version(),
    )


def _kernel_id() -> str:
    """The same for all that run under this kernel since it was started, whatever container they are in."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return platform.node()


def _refuse_strangers(plan: LoadPlan, *, allowed: bool) -> None:
    """The driver asked for leave and says so; without its word nothing is sent beyond private addresses."""
    outside = () if allowed else outsiders(first_hops(plan))
    if outside:
        raise InputError(
            f"{outside[0]} is neither loopback nor private, and the driver has no leave to load it",
            "give it there: --yes",
        )
