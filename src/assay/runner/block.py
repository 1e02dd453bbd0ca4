"""One block: all servers of a block started, tested, loaded in slices, tested again, handed on."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from assay.core import units
from assay.core.errors import EnvironmentLacks, ServerFailed
from assay.engine.generator import GoingSlices, arm_account_of, arm_generators_of
from assay.model.account import TimeAccount
from assay.model.block import Block, Lengths, ServerSlice
from assay.model.costs import CountedCosts
from assay.model.interleaving import (
    ArmMeasurement,
    InterleavedMeasurement,
    InterleavedPlan,
    InterleavedSnapshot,
    Slice,
)
from assay.model.plan import LoadPlan, StopAfter
from assay.model.trial import Arm, Failure, GeneratorSeen, HostSeen, Phase, ServiceSeen, Trial
from assay.plan.next import Due, DueBlock
from assay.plan.next.lengths import lengths_for, warming_ns
from assay.plan.resolved import ResolvedCase
from assay.runner.bench import MOST_PHASE_NS, Bench, Running
from assay.runner.inspecting import costs_in, explained
from assay.runner.one_trial import (
    contract_seen,
    failure_of,
    link_to,
    planned,
    server_seen,
    start,
    tested_routes,
    wrong_answers,
)
from assay.runner.steering import ArmWatched, Progress, Steering, Transitions
from assay.servers import probe
from assay.servers.build import Prepared
from assay.servers.server import ExternalAddress, ExternalServer
from assay.servers.site import Sampling

Ready = Prepared | ExternalAddress


class PlannedArm(NamedTuple):
    """An arm to be: its trial so far, what it is of, and its server."""

    trial: Trial
    case: ResolvedCase
    due: Due
    server: Ready


@dataclass
class _RunningArm:
    """An arm with its server running; `failed` says why it has no measurement, once that is known."""

    asked: PlannedArm
    running: Running
    plan: LoadPlan
    before: int
    failed: ServerFailed | None = None

    def died(self) -> bool:
        """Whether the process has ended by itself; what is known of that is kept."""
        if self.failed is None:
            self.failed = self.running.died()
        return self.failed is not None


class _OfferedSlices(msgspec.Struct, frozen=True):
    """What came of the slices; of `services` what they are, and took at their end."""

    progress: Progress
    measured: InterleavedMeasurement
    samples: tuple[ServerSlice, ...]
    hosts: tuple[HostSeen, ...]
    generators: tuple[tuple[GeneratorSeen, ...], ...]
    services: tuple[ServiceSeen, ...]
    counted_costs: tuple[CountedCosts | None, ...]
    cut: bool
    accounts: tuple[TimeAccount | None, ...]


def run_block(due: DueBlock, asked: Sequence[PlannedArm], bench: Bench) -> Block | None:
    """Run an interleaved block. Whatever a server does wrong becomes its trial's failure, and the others go
    on. Servers that were measured stand on (`bench.held`); no other process is left.

    Ctrl-C ends it: it is `cut`, or None where too few rounds were whole to count.
    """
    began_ns = time.time_ns()
    failed: dict[str, Trial] = {}
    with _started(asked, failed, bench) as arms:
        offered = None
        if arms:
            try:
                offered = _offer(due, arms, bench)
            except EnvironmentLacks as lacking:  # a load that this machine cannot offer: others it can
                for arm in arms:
                    arm.failed = ServerFailed(lacking.stage, str(lacking))
            if offered is not None and offered.cut and not offered.progress.is_whole:
                return None
        after = [_trial_of(due, arm, place, offered, bench) for place, arm in enumerate(arms)]
        _hand_on(arms, after, bench)
    done = {**failed, **{trial.case: trial for trial in after}}
    order = [trial.case for trial in after] + list(failed)  # arms first: their numbers are places in `turns`
    lengths = offered.progress.lengths if offered else (due.lengths or _unknown(due))
    if due.lengths is None and lengths.slice_ns > (due.interleave.given_slice_ns or lengths.slice_ns):
        bench.observer.note(f"slices of {units.time(lengths.slice_ns)}, the least here: {lengths.why}")
    return Block(
        number=due.number,
        block=due.block,
        started_at_unix_ns=began_ns,
        lengths=lengths,
        trials=tuple(done[case] for case in order),
        server_slices=offered.samples if offered else (),
        pilot=offered.progress.pilot if offered else None,
        cut=offered.cut if offered else False,
    )


@contextlib.contextmanager
def _started(
    asked: Sequence[PlannedArm], failed: dict[str, Trial], bench: Bench
) -> Iterator[list[_RunningArm]]:
    """The arms whose servers run and keep their contract; why others do not goes to `failed`. All that are
    still among them at the end are stopped."""
    arms: list[_RunningArm] = []
    try:
        for one in asked:
            try:
                arms.append(_start(one, bench))
            except ServerFailed as problem:
                failed[one.trial.case] = msgspec.structs.replace(one.trial, failure=failure_of(problem))
            except EnvironmentLacks as lacking:  # the machine that it is on is lost, or lacks something
                why = Failure(stage=lacking.stage, reason=str(lacking))
                failed[one.trial.case] = msgspec.structs.replace(one.trial, failure=why)
        yield arms
    finally:
        for arm in arms:
            try:
                arm.running.stop()
            except ServerFailed as problem:
                bench.observer.note(f"{arm.asked.trial.case}: {problem.reason}")


def _hand_on(arms: list[_RunningArm], after: Sequence[Trial], bench: Bench) -> None:
    """Give the servers that were measured away, to be stopped where nothing follows; the others stay here."""
    _tell(bench, arms, "stop")
    measured = {trial.case: trial for trial in after if trial.measurement is not None}
    for arm in arms:
        if (trial := measured.get(arm.asked.trial.case)) is not None:
            bench.warm_pool.keep(trial.case, arm.running, trial.warm_up)
    arms[:] = [arm for arm in arms if arm.asked.trial.case not in measured]


def _start(asked: PlannedArm, bench: Bench) -> _RunningArm:
    """One server, started and tested. ServerFailed where that does not work out."""
    slot, case = asked.due.slot, asked.case
    bench.services.ensure(lambda name, step: bench.observer.note(f"service {name}: {step}"))
    bench.observer.phase(slot, "start")
    running = start(case, asked.server, bench, f"{slot.case}-{slot.block}")
    try:
        bench.observer.phase(slot, "contract")
        before, wrong = probe.test(case.contract, tested_routes(case), running.host, running.port)
        if wrong:
            raise ServerFailed("contract", wrong_answers(before, wrong), running.log_tail())
        return _RunningArm(asked, running, planned(case, asked.due.plan, bench, running.url), before)
    except BaseException:
        running.stop()
        raise


def _offer(due: DueBlock, arms: Sequence[_RunningArm], bench: Bench) -> _OfferedSlices:
    """The slices, from the first to the last. EnvironmentLacks where the load cannot be offered."""
    slots = tuple(arm.asked.due.slot for arm in arms)

    def begins() -> None:
        _tell(bench, arms, "measure")
        for arm in arms:
            arm.running.sampler.begin_threads()

    def looked(snapshot: InterleavedSnapshot) -> None:
        bench.observer.slices(slots, snapshot)
        for arm in arms:
            arm.running.sampler.sample()
        looks.refresh()
        gone = bench.services.died()
        if gone:
            raise ServerFailed("service", f"{gone} under load")

    _tell(bench, arms, "warm-up")
    run = bench.where.generator.start_interleaved(_interleaved_plan(due, arms, bench))
    looks = _looks_at(run, arms, bench)
    watched = [ArmWatched(arm.asked.trial.case, arm.asked.due.warm_up) for arm in arms]
    transitions = Transitions(due, watched, run.least_washout_ns)
    steering = Steering(run, transitions, looks, begins, looked)
    cut = _gone_through(steering, arms)
    measured, hosts = run.result(), looks.hosts()
    accounts = tuple(
        arm_account_of(run, place, own) for place, own in enumerate(looks.accounts(measured.arms))
    )
    for arm in arms:
        arm.running.sampler.sample()
    generators = tuple(arm_generators_of(run, place) for place in range(len(arms)))
    return _OfferedSlices(
        steering.progress,
        measured,
        tuple(looks.samples),
        hosts,
        generators,
        bench.services.observed(),
        looks.counted_costs(),
        cut,
        accounts,
    )


def _looks_at(run: GoingSlices, arms: Sequence[_RunningArm], bench: Bench) -> Sampling:
    """Who looks at the servers; the run is stopped where nobody can."""
    try:
        return bench.where.site.sample_slices(run, arms, bench.services, bench.split, why=bench.why)
    except BaseException:
        run.stop()
        raise


def _gone_through(steering: Steering, arms: Sequence[_RunningArm]) -> bool:
    """Go through the slices to their end, and stop the run whatever comes; whether Ctrl-C did."""
    try:
        steering.go()
    except KeyboardInterrupt:
        return True
    except ServerFailed as failed:  # a service that all of them need
        for arm in arms:
            arm.failed = arm.failed or failed
    finally:
        steering.run.stop()
        while not steering.run.wait(0.1):
            pass
    return False


def _interleaved_plan(due: DueBlock, arms: Sequence[_RunningArm], bench: Bench) -> InterleavedPlan:
    """The arms' plans, whose phases are ended from outside."""
    warms = any(arm.asked.due.warm_up.max_ns for arm in arms)
    plans = tuple(
        msgspec.structs.replace(
            arm.plan, stop=StopAfter(ns=MOST_PHASE_NS), warmup_max_ns=MOST_PHASE_NS if warms else 0
        )
        for arm in arms
    )
    known = due.lengths or _unknown(due)
    first_ns = known.slice_ns
    if warms:
        least_ns = min(arm.asked.due.warm_up.min_ns for arm in arms)
        first_ns = min(first_ns, warming_ns(due.lengths, least_ns, far=bool(bench.where.nodes)))
    washout_ns = min(known.washout_ns, first_ns // 4)
    return InterleavedPlan(arms=plans, slice_ns=first_ns, washout_ns=washout_ns, seed=due.seed)


def _unknown(due: DueBlock) -> Lengths:
    return lengths_for(due.interleave, {})


def _trial_of(
    due: DueBlock, arm: _RunningArm, place: int, offered: _OfferedSlices | None, bench: Bench
) -> Trial:
    """What an arm's trial has become; the contract is tested once more."""
    asked = arm.asked
    trial = msgspec.structs.replace(asked.trial, plan=arm.plan)
    if offered is None:
        assert arm.failed is not None  # nothing was offered, and it is known why
        return msgspec.structs.replace(trial, failure=failure_of(arm.failed))
    seen = offered.measured.arms[place]
    external = isinstance(arm.running, ExternalServer)
    interleaved = Arm(
        block=due.number, slices=_kept(seen, offered), late=seen.late, ended=seen.ended, external=external
    )
    trial = msgspec.structs.replace(trial, arm=interleaved)
    try:
        _check(arm, seen)
        bench.observer.phase(asked.due.slot, "contract again")
        routes = tested_routes(asked.case)
        after, wrong = probe.test(asked.case.contract, routes, arm.running.host, arm.running.port)
        _check(arm, seen)
    except ServerFailed as failed:
        return msgspec.structs.replace(trial, failure=failure_of(failed))
    except EnvironmentLacks as lacking:
        return msgspec.structs.replace(trial, failure=Failure(stage=lacking.stage, reason=str(lacking)))
    measured = seen.measurement
    cpu_ns = used_ns(offered.samples, place, measured.measured_ns)
    services_ns = services_used_ns(offered.samples, place, measured.measured_ns)
    trial = msgspec.structs.replace(
        trial,
        measurement=measured,
        server=server_seen(arm.running, measured, cpu_ns, bench.split),
        contract=contract_seen(arm.before, measured, after, wrong),
        host=offered.hosts[place],
        services=bench.services.used(offered.services, services_ns, measured.measured_ns),
        warm_up=offered.progress.warm.get(place),
        link=link_to(arm.running, bench),
        generators=offered.generators[place],
        account=offered.accounts[place],
    )
    costs = costs_in(offered.counted_costs[place], trial)
    return explained(msgspec.structs.replace(trial, costs=costs), arm.running, bench)


def used_ns(slices: Iterable[ServerSlice], arm: int, measured_ns: int) -> int | None:
    """The CPU time that an arm's server used while it was measured: as in those of its slices that were
    looked at in time, which on a busy machine are not all; None where none was."""
    looked = [(one.cpu_ns[arm], one.length_ns) for one in slices if one.arm == arm]
    return _in_all([(cpu_ns, length_ns) for cpu_ns, length_ns in looked if cpu_ns is not None], measured_ns)


def services_used_ns(slices: Iterable[ServerSlice], arm: int, measured_ns: int) -> dict[str, int]:
    """The same of each service: what it used in that arm's slices is what it did for that arm's server.
    One that was never looked at in time is missing."""
    looked: dict[str, list[tuple[int, int]]] = {}
    for one in slices:
        if one.arm == arm:
            for name, cpu_ns in one.services_cpu_ns.items():
                looked.setdefault(name, []).append((cpu_ns, one.length_ns))
    used = {name: _in_all(known, measured_ns) for name, known in looked.items()}
    return {name: used_ns for name, used_ns in used.items() if used_ns is not None}


def _in_all(looked: Sequence[tuple[int, int]], measured_ns: int) -> int | None:
    """What was used in slices of which some were looked at: CPU time and length of each of those; None where
    none was."""
    looked_ns = sum(length_ns for _, length_ns in looked)
    return round(sum(cpu_ns for cpu_ns, _ in looked) * measured_ns / looked_ns) if looked_ns else None


def _kept(seen: ArmMeasurement, offered: _OfferedSlices) -> tuple[Slice, ...]:
    """Its slices; of an interleaved block that was cut without the round that was under way."""
    if not offered.cut or not seen.slices:
        return seen.slices
    last = max(one.round for arm in offered.measured.arms for one in arm.slices)
    return tuple(one for one in seen.slices if one.round < last)


def _check(arm: _RunningArm, seen: ArmMeasurement) -> None:
    """ServerFailed where the arm is no measurement of a server that lived."""
    if arm.died() and arm.failed is not None:
        raise arm.failed
    if seen.ended == "unreachable":
        raise ServerFailed("load", "nobody answered any more in a whole slice", arm.running.log_tail())
    if seen.ended == "failure":
        raise ServerFailed("load", "a failure came on which its load ends", arm.running.log_tail())


def _tell(bench: Bench, arms: Iterable[_RunningArm], phase: Phase) -> None:
    for arm in arms:
        bench.observer.phase(arm.asked.due.slot, phase)
