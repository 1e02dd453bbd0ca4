"""What a run is run with: who watches it, where its servers are, which stay warm, how many run side by side.

An open loop at a share of what a server can do, or a trial of a search, wants a warm server, and a JVM takes
longer to get warm than any such trial lasts. Those of the block are warm, and are those whose throughput
the share is of.
"""

from __future__ import annotations

import contextlib
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self

import msgspec
from msgspec.structs import replace

from assay.core.errors import EXIT_INTERRUPTED, AssayError, EnvironmentLacks, ServerFailed
from assay.core.settings import Settings, working_folder
from assay.core.units import counted
from assay.engine.generator import Generator, ThisProcess
from assay.model.block import Block
from assay.model.design import CandidatesDesign, Commands
from assay.model.interleaving import InterleavedSnapshot
from assay.model.measurement import Snapshot
from assay.model.run import Run
from assay.model.trial import Phase, Trial, WarmUpSeen
from assay.plan.forecast import Cost
from assay.plan.next import Slot, next_trial
from assay.plan.resolved import ResolvedCase, ResolvedRun
from assay.servers import host, supervised
from assay.servers.build import Prepared
from assay.servers.cores import CoreSplit, kept_on
from assay.servers.emulation import Ways
from assay.servers.hooks import Hooks
from assay.servers.server import ExternalServer, RunningServer
from assay.servers.services import Services
from assay.servers.site import Site
from assay.servers.supervised import stop_all
from assay.verdict.see_runs import trials_of


class Observer(Protocol):
    """Told what happens, always from the thread that runs it; nothing it does changes the run.

    By themselves its methods do nothing: a subclass has those that it needs.
    """

    def run_started(self, run: Run, costs: Mapping[str, Cost]) -> None:
        """The run begins, or goes on after the trials that it has. `costs` are what each case's trials cost
        beyond their plans."""
        return

    def server_preparing(self, server: str, step: str) -> None:
        """A server (id and variant) is being made ready: "checking", "building", "waiting for …"."""
        return

    def server_prepared(self, server: str, version: str, built_s: float | None) -> None:
        """A server is ready; `built_s` is None where nothing had to be built."""
        return

    def server_failed(self, server: str, reason: str) -> None:
        """A server cannot be had; its trials become rows with the reason."""
        return

    def trial_started(self, slot: Slot) -> None:
        """A trial begins."""
        return

    def phase(self, slot: Slot, phase: Phase) -> None:
        """The trial enters a phase."""
        return

    def snapshot(self, slot: Slot, snapshot: Snapshot) -> None:
        """The load as it stands, a few times a second."""
        return

    def trial_finished(self, trial: Trial) -> None:
        """The trial is stored."""
        return

    def block_started(self, slots: Sequence[Slot]) -> None:
        """An interleaved block begins, in which these are interleaved; phases are told of each."""
        return

    def slices(self, slots: Sequence[Slot], snapshot: InterleavedSnapshot) -> None:
        """The slices as they stand, about twice a second. `slots` are those of the arms, in their order."""
        return

    def block_finished(self, block: Block) -> None:
        """The block is stored."""
        return

    def note(self, text: str) -> None:
        """Something a reader should know, in one line."""
        return


class Silent(Observer):
    """An observer that shows nothing; a base for those that show a part."""


class CutShort(AssayError):
    """The run ended before its time: what is finished is stored and in `run`; nothing is left running."""

    def __init__(self, run: Run, message: str, remedy: str) -> None:
        """`run` holds the finished trials."""
        super().__init__(message, remedy)
        self.run = run


def how_to_go_on(run: Run) -> str:
    """What to do with a run that ended before its time, as its end says."""
    if next_trial(run) is None:
        return f"show it with: assay report {run.header.run_id}{_folder(run)}"
    if run.header.nodes:
        return "a run on a cluster cannot be gone on with: make a new one"
    return f"go on with: assay run --resume {run.header.run_id}{_folder(run)}"


def _folder(run: Run) -> str:
    """The flag that names the folder of runs, where the run was given one."""
    words = run.header.command
    given = [after for word, after in pairwise(words) if word == "--results"]
    given += [word.removeprefix("--results=") for word in words if word.startswith("--results=")]
    return f" --results {shlex.quote(given[-1])}" if given else ""


class Interrupted(CutShort):
    """Ctrl-C."""

    exit_code = EXIT_INTERRUPTED

    def __init__(self, run: Run) -> None:
        """`run` holds the finished trials."""
        done, planned = len(run.trials), trials_of(run)
        super().__init__(
            run,
            f"interrupted after {counted(done, 'trial')}"
            if planned is None
            else f"interrupted after {done} of {counted(planned, 'trial')}",
            f"what was measured is kept; {how_to_go_on(run)}",
        )


Running = RunningServer | ExternalServer


class Warm(NamedTuple):
    """A server that has been under load, and how its warm-up ended."""

    running: Running
    warm_up: WarmUpSeen | None


@dataclass
class WarmPool:
    """The servers that stand, by the closed loop's case that each has served. Left, it stops them all."""

    note: Callable[[str], None]
    _warm: dict[str, Warm] = field(default_factory=dict)
    _leaving: dict[str, Future[ServerFailed | None]] = field(default_factory=dict)

    def keep(self, case: str, running: Running, warm_up: WarmUpSeen | None) -> None:
        """Take a server over: it is stopped from here."""
        self._warm[case] = Warm(running, warm_up)

    def take(self, case: str) -> Warm | None:
        """Give that server away, if it stands; one that ended while nobody asked it anything is told.

        EnvironmentLacks where its machine does not say: it is to be ended before another starts there.
        """
        warm = self._warm.get(case)
        if warm is None:
            return None
        others = self._warm.keys() - {case}
        try:
            if warm.running.died() is None:
                return self._warm.pop(case)
        except EnvironmentLacks:
            self.only(others)
            raise
        self.note(f"{case}: its server ended while it rested, and is started again")
        self.only(others)
        return None

    def dismiss_but(self, cases: Collection[str]) -> None:
        """Begin to stop all but those: together, so that none waits for another's end. `only` waits for
        theirs."""
        leaving = [case for case in self._warm if case not in cases]
        pool = ThreadPoolExecutor(len(leaving) or 1, thread_name_prefix="stop")
        self._leaving |= {case: pool.submit(_stopped, self._warm.pop(case)) for case in leaving}
        pool.shutdown(wait=False)

    def only(self, cases: Collection[str]) -> None:
        """Stop all but those, and wait until they are gone."""
        self.dismiss_but(cases)
        while self._leaving:
            case, ending = self._leaving.popitem()
            if (problem := ending.result()) is not None:
                self.note(f"{case}: {problem.reason}")

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop them all."""
        self.only(())


def _stopped(warm: Warm) -> ServerFailed | None:
    """What went wrong at its end, if anything did."""
    try:
        warm.running.stop()
    except ServerFailed as problem:
        return problem
    return None


class Where(msgspec.Struct, frozen=True):
    """This process and this machine, unless a cluster takes their place.

    `link_bytes_per_s` is what the way between them was measured to carry, `same_machine` whether they share
    one; both are known of a cluster alone, here the loopback is measured.
    """

    generator: Generator = msgspec.field(default_factory=ThisProcess)
    site: Site = msgspec.field(default_factory=Site)
    same_machine: bool = True
    link_bytes_per_s: float | None = None
    nodes: tuple[str, ...] = ()


HERE = Where()


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """Until there is a record, the servers' logs go to a folder that does not last, and no service runs.
    `why` counts what answers cost."""

    settings: Settings
    split: CoreSplit
    logs: Path
    observer: Observer
    services: Services
    hooks: Hooks
    warm_pool: WarmPool
    ways: Ways
    loopback_bytes_per_s: float | None = None
    where: Where = HERE
    why: bool = False

    def expects(self, starts: int) -> None:
        """So many servers will be started here next, and nothing is measured now: whoever stands over them
        starts meanwhile, on the cores that idle."""
        if not self.where.nodes:
            with kept_on(self.split.server):
                supervised.make_ready(starts)


@contextlib.contextmanager
def open_bench(
    run: ResolvedRun, settings: Settings, observer: Observer, where: Where = HERE
) -> Iterator[Bench]:
    """The bench of a run: the harness keeps off the servers' cores, and each candidate is set up.

    Leaving it ends every process and runs the clean-ups, whatever has happened. InputError where a command
    fails.
    """
    design = run.design
    commands, folder = Commands(), working_folder()
    if isinstance(design, CandidatesDesign) and design.terms is not None:
        commands, folder = design.commands, Path(design.terms.folder)
    with contextlib.ExitStack() as opened:
        logs = opened.enter_context(supervised.folder("bench"))
        ways = opened.enter_context(Ways(design.seed))
        opened.callback(stop_all)
        hooks = opened.enter_context(Hooks(commands, logs, folder))
        _raise_limits(observer)
        opened.enter_context(kept_on(run.split.client))
        candidates = design.candidates if isinstance(design, CandidatesDesign) else ()
        none = Services((), settings, run.split, logs)
        bench = Bench(
            settings=settings,
            split=run.split,
            logs=logs,
            observer=observer,
            services=none,
            hooks=hooks,
            warm_pool=WarmPool(observer.note),
            ways=ways,
            where=where,
            why=design.why,
        )
        bench.expects(sum(bool(one.command) for one in candidates))
        hooks.before_first(candidates)
        yield bench


def _raise_limits(observer: Observer) -> None:
    """Allow as many open files as there may be, and say so."""
    was, now = host.raise_descriptor_limit()
    if was != now:
        observer.note(f"raised the limit of open files from {was} to {now}")


MOST_ARMS = 64
"""Of the engine's (`crates/engine/src/plan/interleaved.rs`)."""
_HOUR_NS = 3_600_000_000_000
MOST_PHASE_NS = 12 * _HOUR_NS
"""The engine's own bound of each phase of an interleaved block, the most that it takes: it is we who end
them, by what was seen. That of the warm-up counts while anybody has turns."""
_BESIDE = 2
"""Times their own warm-ups is what all of them may take: washout, a pilot, and what is lent."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def settled(run: ResolvedRun, where: Where, free_bytes: int | None = None) -> ResolvedRun:
    """The run as it can be had: interleaved if it is to be and its servers fit, else with a line why not."""
    if run.design.interleave is None:
        return run
    free = where.site.free_bytes() if free_bytes is None else free_bytes
    problem = next(_problems(run, free), None)
    if problem is None:
        return run
    design = msgspec.structs.replace(run.design, interleave=None, sequential=problem)
    return replace(run, design=design)


def _problems(run: ResolvedRun, free_bytes: int) -> Iterator[str]:
    groups = [group for group in run.interleaved if len(group) > 1]
    if not groups:
        yield "there are no two closed loops for a set time, and other loads are not interleaved"
    for arms in groups:
        yield from _problems_of(arms)
    if run.services and any(_writes(case) for arms in groups for case in arms):
        yield f"the servers write to one {run.services[0].name}"
    needed = run.memory_at_once
    if needed > free_bytes:
        told = f"{needed / 1e9:.1f} GB of memory, {free_bytes / 1e9:.1f} GB are free"
        yield f"all servers at once would take {told}"


def _problems_of(arms: Sequence[ResolvedCase]) -> Iterator[str]:
    """Of those that would be alive at once."""
    if len(arms) > MOST_ARMS:
        yield f"{len(arms)} servers are more than the {MOST_ARMS} that can be interleaved"
    warm_ns = sum(case.warm_up.max_ns for case in arms)
    if warm_ns > MOST_PHASE_NS / _BESIDE:
        hours = f"{warm_ns / _HOUR_NS:.0f} h, and may take {MOST_PHASE_NS / _BESIDE / _HOUR_NS:.0f} h"
        yield f"an interleaved warm-up could take {hours}"
    ports = Counter(case.ready.only_port for case in arms if isinstance(case.ready, Prepared))
    taken = [port for port, number in ports.items() if port is not None and number > 1]
    if taken:
        yield f"port {taken[0]} is given for several servers, and only one can have it"


def _writes(case: ResolvedCase) -> bool:
    return any(request.method not in _SAFE for request in case.plan.requests)
