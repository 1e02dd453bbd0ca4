"""Assay's part on a server node: the same code builds, starts, samples and stops servers there."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import msgspec

from assay import doctor, host
from assay.cluster import shipping
from assay.cluster.agent import NodeAgent
from assay.cluster.calls import Wrapped, told
from assay.doctor import Fitness, Need
from assay.errors import ServerFailed
from assay.host import Watch
from assay.resolved import ResolvedRun
from assay.settings import Settings
from assay.sut import build, leftovers, server
from assay.sut.build import Prepared
from assay.sut.contract import Contract, Route
from assay.sut.cores import CoreSplit
from assay.sut.kept import stop_all
from assay.sut.manifest import ServerSpec
from assay.sut.server import RunningServer
from assay.sut.services import Services
from assay.sut.services.manifest import ServiceSpec


class ServerAgent(NodeAgent):
    """Holds the servers and services of a run. All of them end with it: their keepers see to that."""

    def __init__(self, address: str) -> None:
        """`address` is this node's, where servers listen."""
        super().__init__(address)
        leftovers.sweep()
        self._settings = Settings.resolve()
        self._moves: list[tuple[Path, Path]] = []
        self._logs = leftovers.new_folder("cluster")
        self._running: RunningServer | None = None
        self._services: Services | None = None
        self._looks: list[Watch] = []

    def environment(self, split: CoreSplit, tool_versions: Mapping[str, str]) -> Wrapped:
        """This machine's, as JSON."""
        self._hear()
        return told(lambda: msgspec.json.encode(host.environment(split, tool_versions)))

    def receive(self, folders: tuple[Path, ...], content: bytes, digest: str) -> Wrapped:
        """Take the sources of servers."""
        self._hear()

        def received() -> None:
            place = self._settings.cache / "cluster" / digest
            if not (place / "complete").exists():
                shipping.unpack(content, place)
                (place / "complete").touch()
            self._moves = [(folder, place / str(number)) for number, folder in enumerate(folders)]
            came = tuple(there for _, there in self._moves)
            self._settings = dataclasses.replace(self._settings, server_folders=came)  # upstreams, too

        return told(received)

    def prepare(self, spec: ServerSpec, cores: int) -> Wrapped:
        """Build a server."""
        self._hear()
        return told(lambda: build.prepare(shipping.moved(spec, self._moves), self._settings, cores))

    def examine(self, study: ResolvedRun | None) -> Wrapped:
        """What is there and what is missing: needs, and fitness. Roles say which cores are whose."""
        self._hear()

        def examined() -> tuple[tuple[Need, ...], tuple[Fitness, ...]]:
            there = shipping.moved(study, self._moves)
            needs: tuple[Need, ...] = ()
            if there is not None:
                needs = doctor.server_needs(there.servers, self._settings) + doctor.service_needs(there)
            fit = doctor.machine(self._settings, there)
            return needs, tuple(one for one in fit if one.name != "cores")

        return told(examined)

    def open_services(self, specs: tuple[ServiceSpec, ...], split: CoreSplit) -> Wrapped:
        """Have services ready to be started."""
        self._hear()

        def opened() -> None:
            there = shipping.moved(specs, self._moves)
            self._services = Services(there, self._settings, split, self._logs)

        return told(opened)

    def ensure_services(self) -> Wrapped:
        """Start what does not run; what there is to tell."""
        self._hear()
        said: list[tuple[str, str]] = []

        def ensured() -> list[tuple[str, str]]:
            if self._services is not None:
                self._services.ensure(lambda name, step: said.append((name, step)))
            return said

        return told(ensured)

    def services_seen(self, begin: dict[str, int], end: dict[str, int], wall_ns: int) -> Wrapped:
        """What services used, as JSON."""
        self._hear()
        return told(
            lambda: msgspec.json.encode(
                self._services.seen(begin, end, wall_ns) if self._services is not None else ()
            )
        )

    def start(
        self, prepared: Prepared, contract: Contract, route: Route, cpus: tuple[int, ...], log: str
    ) -> Wrapped:
        """Start a server and wait for its first right answer: port, pid, start time."""
        self._hear()

        def started() -> tuple[int, int, int]:
            if not prepared.places.source.is_dir():  # a command's own folder is nobody's to send
                raise ServerFailed("start", f"{prepared.places.source} is not on node {self._address}")
            self._running = server.start(
                prepared,
                shipping.moved(contract, self._moves),
                route,
                cpus=cpus,
                log=self._logs / log,
                env=self._services.env if self._services is not None else {},
                host=self._address,
            )
            return self._running.port, self._running.kept.pid, self._running.start_ns

        return told(started)

    def state(self) -> Wrapped:
        """Which service died, if one did; ServerFailed where the server did."""
        self._hear()

        def looked() -> str:
            failed = self._running.died() if self._running is not None else None
            if failed is not None:
                raise failed
            return self._services.died() if self._services is not None else ""

        return told(looked)

    def cpu_ns(self) -> Wrapped:
        """CPU time that the server has used so far."""
        self._hear()
        return told(lambda: self._alive().sampler.cpu_ns())

    def services_cpu_ns(self) -> Wrapped:
        """CPU time that each service has used so far."""
        self._hear()
        return told(lambda: self._services.cpu_ns() if self._services is not None else {})

    def watch(self, split: CoreSplit) -> Wrapped:
        """Look at the host from now on; the number of the look."""
        self._hear()

        def begun() -> int:
            self._looks.append(Watch(split))
            return len(self._looks) - 1

        return told(begun)

    def watched(self, number: int) -> Wrapped:
        """The host since that look began, as JSON."""
        self._hear()
        return told(lambda: msgspec.json.encode(self._looks[number].seen()))

    def sample(self) -> Wrapped:
        """Look at memory and threads; the peaks."""
        self._hear()

        def sampled() -> tuple[int, int]:
            sampler = self._alive().sampler
            sampler.sample()
            return sampler.peak_rss_bytes, sampler.threads

        return told(sampled)

    def log_tail(self) -> Wrapped:
        """The last lines that the server wrote."""
        self._hear()
        return told(lambda: self._running.log_tail() if self._running is not None else "")

    def stop_server(self) -> Wrapped:
        """End the server and all it started."""
        self._hear()

        def stopped() -> None:
            running, self._running = self._running, None
            if running is not None:
                running.stop()

        return told(stopped)

    def stop_services(self) -> Wrapped:
        """End the services."""
        self._hear()

        def stopped() -> None:
            services, self._services = self._services, None
            if services is not None:
                services.stop()

        return told(stopped)

    def forgotten(self) -> None:
        """End every program."""
        stop_all()

    def _alive(self) -> RunningServer:
        if self._running is None:
            raise ServerFailed(
                "load", "the server is gone: its node heard nothing of the driver for too long"
            )
        return self._running
