"""Assay's part on a server node: the same code builds, starts, samples and stops servers there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import psutil
from msgspec import structs

from assay.cluster import shipping
from assay.cluster.agent import NodeAgent, unheard
from assay.cluster.calls import Wrapped, wrapped
from assay.cluster.generators_slices import AgreedCourse
from assay.core.errors import ServerFailed
from assay.core.settings import Settings
from assay.model.interleaving import Change, InterleavedPlan
from assay.plan.resolved import ResolvedRun
from assay.runner import doctor
from assay.runner.doctor import Fitness, Need
from assay.servers import account, build, host, requires, server, supervised
from assay.servers.account import CoreSet
from assay.servers.build import Prepared
from assay.servers.contract import Contract, Route
from assay.servers.cores import CoreSplit
from assay.servers.cost_counting import counters_of, processes_of
from assay.servers.counters import Counters
from assay.servers.host import Watch
from assay.servers.inspection import Inspector, Step
from assay.servers.manifest import Requirement, ServerSpec
from assay.servers.server import RunningServer
from assay.servers.services import Services
from assay.servers.services.own import ServiceSpec
from assay.servers.site import ArmLooked, LocalSampling, Looking, looked_at, tops_of_services, watched
from assay.servers.supervised import stop_all
from assay.servers.watching import MachineWatch


class ServerAgent(NodeAgent):
    """Holds the servers and services of a run. All of them end with it: their supervisors see to that."""

    def __init__(self, address: str) -> None:
        """`address` is this node's, where servers listen."""
        super().__init__(address)
        supervised.sweep()
        self._settings = Settings.resolve()
        self._moves: list[tuple[Path, Path]] = []
        self._logs = supervised.new_folder("cluster")
        self._running: dict[int, RunningServer] = {}
        self._ending = threading.Lock()
        self._given_up: set[int] = set()
        self._started = 0
        self._services: Services | None = None
        self._watched: MachineWatch | None = None
        self._course: AgreedCourse | None = None
        self._looking: Looking | None = None
        self._counting: dict[int, Counters] = {}
        self._inspecting: dict[int, Inspector] = {}

    def environment(self, split: CoreSplit, tools: Sequence[Requirement]) -> Wrapped:
        """This machine's, with the versions that these tools have here, as JSON."""
        self._hear()
        return wrapped(lambda: msgspec.json.encode(host.environment(split, requires.versions(tools))))

    def receive(self, folders: tuple[Path, ...], content: bytes, digest: str) -> Wrapped:
        """Take the sources of servers."""
        self._hear()

        def received() -> None:
            place = self._settings.cache / "cluster" / shipping.place_of(folders, self._address)
            shipping.renew(content, digest, place)
            self._moves = [(folder, place / str(number)) for number, folder in enumerate(folders)]
            came = tuple(there for _, there in self._moves)
            self._settings = structs.replace(self._settings, server_folders=came)  # upstreams, too

        return wrapped(received)

    def prepare(self, spec: ServerSpec, cores: int) -> Wrapped:
        """Build a server."""
        self._hear()
        return wrapped(lambda: build.prepare(shipping.moved(spec, self._moves), self._settings, cores))

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

        return wrapped(examined)

    def open_services(self, specs: tuple[ServiceSpec, ...], split: CoreSplit) -> Wrapped:
        """Have services ready to be started."""
        self._hear()

        def opened() -> None:
            there = shipping.moved(specs, self._moves)
            self._services = Services(there, self._settings, split, self._logs)

        return wrapped(opened)

    def ensure_services(self) -> Wrapped:
        """Start what does not run; what there is to tell."""
        self._hear()
        said: list[tuple[str, str]] = []

        def ensured() -> list[tuple[str, str]]:
            if self._services is not None:
                self._services.ensure(lambda name, step: said.append((name, step)))
            return said

        return wrapped(ensured)

    def services_seen(self) -> Wrapped:
        """What services are, and take now, as JSON."""
        self._hear()
        return wrapped(
            lambda: msgspec.json.encode(self._services.observed() if self._services is not None else ())
        )

    def start(
        self, prepared: Prepared, contract: Contract, route: Route, cpus: tuple[int, ...], log: str
    ) -> Wrapped:
        """Start a server and wait for its first right answer: its number, port, pid, start time."""
        self._hear()

        def started() -> tuple[int, int, int, int]:
            if not prepared.places.source.is_dir():  # a command's own folder is nobody's to send
                raise ServerFailed("start", f"{prepared.places.source} is not on node {self._address}")
            running = server.start(
                prepared,
                shipping.moved(contract, self._moves),
                route,
                cpus=cpus,
                log=self._logs / log,
                env=self._services.env if self._services is not None else {},
                host=self._address,
            )
            self._started += 1
            self._running[self._started] = running
            return self._started, running.port, running.kept.pid, running.start_ns

        return wrapped(started)

    def state(self, number: int) -> Wrapped:
        """Which service died, if one did; ServerFailed where that server did by itself."""
        self._hear()

        def looked() -> str:
            self._refuse_given_up(number)
            failed = self._running[number].died() if number in self._running else None
            if failed is not None:
                raise failed
            return self._services.died() if self._services is not None else ""

        return wrapped(looked)

    def cpu_ns(self, number: int) -> Wrapped:
        """CPU time that a server has used so far."""
        self._hear()
        return wrapped(lambda: self._alive(number).sampler.cpu_ns())

    def services_cpu_ns(self) -> Wrapped:
        """CPU time that each service has used so far."""
        self._hear()
        return wrapped(lambda: self._services.cpu_ns() if self._services is not None else {})

    def begin_threads(self, number: int) -> Wrapped:
        """Count what a server's threads do from now on."""
        self._hear()
        return wrapped(lambda: self._alive(number).sampler.begin_threads())

    def idle_cores(self, number: int) -> Wrapped:
        """How many cores a server keeps busy at this moment."""
        self._hear()
        return wrapped(lambda: self._alive(number).sampler.idle_cores())

    def watch(self, split: CoreSplit, number: int | None) -> Wrapped:
        """Look at a server, or at the host alone, from now on."""
        self._hear()

        def begun() -> None:
            running = None if number is None else self._alive(number)
            self._watched = watched(running, self._services, split, self._sets(split))

        return wrapped(begun)

    def watched(self) -> Wrapped:
        """The host since that look began, as JSON."""
        self._hear()
        return wrapped(lambda: msgspec.json.encode(self._watched and self._watched.observed()))

    def accounted(self, looked_ns: int) -> Wrapped:
        """Where the time of the server's cores went meanwhile, as JSON."""
        self._hear()
        look = self._watched
        return wrapped(lambda: msgspec.json.encode(look and look.account(None, looked_ns=looked_ns)))

    def follow(
        self,
        plan: InterleavedPlan,
        starts_at_unix_ns: int,
        numbers: Sequence[int | None],
        split: CoreSplit,
        why: bool = False,
    ) -> Wrapped:
        """Look at servers, of each arm its own, and at all services, from now on while they are interleaved
        from that instant on. `why`: count what each server does, too."""
        self._hear()

        def following() -> None:
            self._look_no_more()
            self._course = AgreedCourse(plan, starts_at_unix_ns)
            arms = tuple(self._looked_at(number, split, why) for number in numbers)
            clocks = self._services.clocks() if self._services is not None else {}
            above = tops_of_services(self._services) if self._services is not None else {}
            looks = LocalSampling(arms, self._course.zero_ns, self._sets(split), clocks, above)
            self._looking = Looking(self._course, looks)

        return wrapped(following)

    def change(self, change_json: bytes, from_round: int) -> Wrapped:
        """Follow other slices from a round on; which one it could be."""
        self._hear()
        change = msgspec.json.decode(change_json, type=Change)
        return wrapped(lambda: self._course.agreed.change(change, from_round) if self._course else from_round)

    def slices_seen(self, first: int) -> Wrapped:
        """The slices that were looked at, from one on, as JSON; and the arms whose servers ended."""
        self._hear()

        def state() -> tuple[bytes, tuple[int, ...]]:
            looking = self._looking
            if looking is None:
                return msgspec.json.encode(()), ()
            return msgspec.json.encode(looking.looks.samples[first:]), looking.dead

        return wrapped(state)

    def slices_counted(self) -> Wrapped:
        """What each arm's server did in its slices, as JSON."""
        self._hear()

        def counted() -> bytes:
            looking = self._looking
            return msgspec.json.encode(looking.looks.counted_costs() if looking is not None else ())

        return wrapped(counted)

    def count(self, number: int, step: str) -> Wrapped:
        """Begin to count what a server does, or add what came since; all of it so far, as JSON."""
        self._hear()

        def counted() -> bytes:
            running = self._alive(number)
            if number not in self._counting:
                self._counting[number] = counters_of(running)
            counters = self._counting[number]
            if step == "begins":
                counters.refresh()
                counters.begins()
            elif step == "ends":
                counters.ends()
            return msgspec.json.encode(counters.counted())

        return wrapped(counted)

    def inspect(self, number: int, step: Step, period: int) -> Wrapped:
        """Inspect a server from here on."""
        self._hear()

        def begun() -> None:
            running = self._alive(number)
            self._inspecting[number] = Inspector(processes_of(running))
            self._inspecting[number].begins(step, period)

        return wrapped(begun)

    def inspected(self, number: int) -> Wrapped:
        """What was seen of it, as JSON."""
        self._hear()
        return wrapped(lambda: msgspec.json.encode(self._inspecting.pop(number).ends()))

    def followed(self) -> Wrapped:
        """Look no more; the host in each arm's slices, and where its server's cores' time went in them, as
        JSON."""
        self._hear()

        def hosts() -> tuple[bytes, bytes]:
            looking = self._looking
            self._look_no_more()
            if looking is None:
                return msgspec.json.encode(()), msgspec.json.encode(())
            looks = looking.looks
            each = zip(looks.arms, looks.accounts(), strict=True)
            known = [one if arm.clock is not None else None for arm, one in each]
            return msgspec.json.encode(looks.hosts()), msgspec.json.encode(known)

        return wrapped(hosts)

    def sample(self, number: int) -> Wrapped:
        """Look at memory and threads; the peaks."""
        self._hear()

        def sampled() -> tuple[int, int]:
            sampler = self._alive(number).sampler
            sampler.sample()
            return sampler.peak_rss_bytes, sampler.threads

        return wrapped(sampled)

    def log_tail(self, number: int) -> Wrapped:
        """The last lines that a server wrote."""
        self._hear()
        return wrapped(lambda: self._running[number].log_tail() if number in self._running else "")

    def free_bytes(self) -> Wrapped:
        """How much memory is free."""
        self._hear()
        return wrapped(lambda: psutil.virtual_memory().available)

    def stop_server(self, number: int) -> Wrapped:
        """End a server and all it started."""
        self._hear()

        def stopped() -> None:
            with self._ending:  # who asks again waits for whoever has asked before
                self._look_no_more()
                self._counting.pop(number, None)
                if (inspector := self._inspecting.pop(number, None)) is not None:
                    inspector.close()
                running = self._running.pop(number, None)
                if running is not None:
                    running.stop()

        return wrapped(stopped)

    def stop_services(self) -> Wrapped:
        """End the services."""
        self._hear()

        def stopped() -> None:
            services, self._services = self._services, None
            if services is not None:
                services.stop()

        return wrapped(stopped)

    def forgotten(self) -> None:
        """End every program, and remember that none did so by itself."""
        self._given_up |= set(self._running)
        stop_all()

    def _looked_at(self, number: int | None, split: CoreSplit, why: bool) -> ArmLooked:
        """An arm's server as it is looked at; nothing is seen of one that stands elsewhere."""
        watch = Watch(split, begins=False)
        if number is None:
            return ArmLooked(watch)
        running = self._alive(number)
        return looked_at(running, self._died(running), watch, why=why)

    def _sets(self, split: CoreSplit) -> tuple[CoreSet, ...]:
        return account.side("server", split.server, self._address)

    def _died(self, running: RunningServer) -> Callable[[], bool]:
        services = self._services
        return lambda: running.died() is not None or bool(services is not None and services.died())

    def _look_no_more(self) -> None:
        looking, self._looking = self._looking, None
        if looking is not None and self._course is not None:
            self._course.end()
            looking.end()
        self._course = None

    def _alive(self, number: int) -> RunningServer:
        self._refuse_given_up(number)
        if number not in self._running:
            raise ServerFailed("load", "the server was stopped")
        return self._running[number]

    def _refuse_given_up(self, number: int) -> None:
        """EnvironmentLacks where the server was ended because nobody asked any more: nothing that it did."""
        if number in self._given_up:
            raise unheard("its servers")
