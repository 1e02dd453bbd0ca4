"""One sitting: all servers of a block started, tested, loaded in turns, tested again, handed on."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from assay.core.errors import EnvironmentLacks, ServerFailed
from assay.engine.generator import GoingTurns, lane_generators_of
from assay.model.block import Lengths, Sitting, TurnSeen
from assay.model.interleaving import LaneMeasurement, Slice, WovenMeasurement, WovenPlan, WovenSnapshot
from assay.model.plan import LoadPlan, StopAfter
from assay.model.trial import Failure, GeneratorSeen, HostSeen, Lane, Phase, ServiceSeen, Trial
from assay.plan.next import Due, DueSitting
from assay.plan.next.lengths import lengths_for, warming_ns
from assay.plan.resolved import ResolvedCase
from assay.runner.bench import Bench
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
from assay.runner.side_by_side import MOST_PHASE_NS
from assay.runner.slices import LaneWatched, Turns
from assay.runner.warm_pool import Running
from assay.servers import probe
from assay.servers.build import Prepared
from assay.servers.external import Standing, StandingServer
from assay.servers.sampling import Looks

Ready = Prepared | Standing


class Asked(NamedTuple):
    """A lane to be: its trial so far, what it is of, and its server."""

    trial: Trial
    case: ResolvedCase
    due: Due
    server: Ready


@dataclass
class _Lane:
    """A lane with its server running; `failed` says why it has no measurement, once that is known."""

    asked: Asked
    running: Running
    plan: LoadPlan
    before: int
    failed: ServerFailed | None = None

    def died(self) -> bool:
        """Whether the process has ended by itself; what is known of that is kept."""
        if self.failed is None:
            self.failed = self.running.died()
        return self.failed is not None


@dataclass(frozen=True)
class _Offered:
    """What came of the turns; of `services` what they are, and took at their end."""

    turns: Turns
    measured: WovenMeasurement
    seen: tuple[TurnSeen, ...]
    hosts: tuple[HostSeen, ...]
    generators: tuple[tuple[GeneratorSeen, ...], ...]
    services: tuple[ServiceSeen, ...]
    cut: bool


def run_sitting(due: DueSitting, asked: Sequence[Asked], bench: Bench) -> Sitting | None:
    """Run a sitting. Whatever a server does wrong becomes its trial's failure, and the others go on. Servers
    that were measured stand on (`bench.held`); no other process is left.

    Ctrl-C ends it: it is `cut`, or None where too few cycles were whole to count.
    """
    began_ns = time.time_ns()
    failed: dict[str, Trial] = {}
    with _started(asked, failed, bench) as lanes:
        offered = None
        if lanes:
            try:
                offered = _offer(due, lanes, bench)
            except EnvironmentLacks as lacking:  # a load that this machine cannot offer: others it can
                for lane in lanes:
                    lane.failed = ServerFailed(lacking.stage, str(lacking))
            if offered is not None and offered.cut and not offered.turns.whole:
                return None
        after = [_trial_of(due, lane, place, offered, bench) for place, lane in enumerate(lanes)]
        _hand_on(lanes, after, bench)
    done = {**failed, **{trial.case: trial for trial in after}}
    order = [trial.case for trial in after] + list(failed)  # lanes first: their numbers are places in `turns`
    lengths = offered.turns.lengths if offered else (due.lengths or _unknown(due))
    return Sitting(
        number=due.number,
        block=due.block,
        started_at_unix_ns=began_ns,
        lengths=lengths,
        trials=tuple(done[case] for case in order),
        turns=offered.seen if offered else (),
        pilot=offered.turns.pilot if offered else None,
        cut=offered.cut if offered else False,
    )


@contextlib.contextmanager
def _started(asked: Sequence[Asked], failed: dict[str, Trial], bench: Bench) -> Iterator[list[_Lane]]:
    """The lanes whose servers run and keep their contract; why others do not goes to `failed`. All that are
    still among them at the end are stopped."""
    lanes: list[_Lane] = []
    try:
        for one in asked:
            try:
                lanes.append(_start(one, bench))
            except ServerFailed as problem:
                failed[one.trial.case] = msgspec.structs.replace(one.trial, failure=failure_of(problem))
            except EnvironmentLacks as lacking:  # the machine that it is on is lost, or lacks something
                why = Failure(stage=lacking.stage, reason=str(lacking))
                failed[one.trial.case] = msgspec.structs.replace(one.trial, failure=why)
        yield lanes
    finally:
        for lane in lanes:
            try:
                lane.running.stop()
            except ServerFailed as problem:
                bench.observer.note(f"{lane.asked.trial.case}: {problem.reason}")


def _hand_on(lanes: list[_Lane], after: Sequence[Trial], bench: Bench) -> None:
    """Give the servers that were measured away, to be stopped where nothing follows; the others stay here."""
    _tell(bench, lanes, "stop")
    measured = {trial.case: trial for trial in after if trial.measurement is not None}
    for lane in lanes:
        if (trial := measured.get(lane.asked.trial.case)) is not None:
            bench.held.keep(trial.case, lane.running, trial.warm_up)
    lanes[:] = [lane for lane in lanes if lane.asked.trial.case not in measured]


def _start(asked: Asked, bench: Bench) -> _Lane:
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
        return _Lane(asked, running, planned(case, asked.due.plan, bench, running.url), before)
    except BaseException:
        running.stop()
        raise


def _offer(due: DueSitting, lanes: Sequence[_Lane], bench: Bench) -> _Offered:
    """The turns, from the first to the last. EnvironmentLacks where the load cannot be offered."""
    slots = tuple(lane.asked.due.slot for lane in lanes)

    def begins() -> None:
        _tell(bench, lanes, "measure")

    def looked(snapshot: WovenSnapshot) -> None:
        bench.observer.turns(slots, snapshot)
        for lane in lanes:
            lane.running.sampler.sample()
        looks.refresh()
        gone = bench.services.died()
        if gone:
            raise ServerFailed("service", f"{gone} under load")

    _tell(bench, lanes, "warm-up")
    run = bench.where.generator.start_woven(_woven_plan(due, lanes))
    looks = _looks_at(run, lanes, bench)
    watched = [LaneWatched(lane.asked.trial.case, lane.asked.due.warm_up) for lane in lanes]
    turns = Turns(run, due, watched, looks, begins, looked)
    cut = _gone_through(turns, lanes)
    measured, hosts = run.result(), looks.hosts()
    for lane in lanes:
        lane.running.sampler.sample()
    generators = tuple(lane_generators_of(run, place) for place in range(len(lanes)))
    return _Offered(turns, measured, tuple(looks.seen), hosts, generators, bench.services.seen(), cut)


def _looks_at(run: GoingTurns, lanes: Sequence[_Lane], bench: Bench) -> Looks:
    """Who looks at the servers; the run is stopped where nobody can."""
    try:
        return bench.where.site.looks(run, lanes, bench.services, bench.split)
    except BaseException:
        run.stop()
        raise


def _gone_through(turns: Turns, lanes: Sequence[_Lane]) -> bool:
    """Go through the turns to their end, and stop the run whatever comes; whether Ctrl-C did."""
    try:
        turns.go()
    except KeyboardInterrupt:
        return True
    except ServerFailed as failed:  # a service that all of them need
        for lane in lanes:
            lane.failed = lane.failed or failed
    finally:
        turns.run.stop()
        while not turns.run.wait(0.1):
            pass
    return False


def _woven_plan(due: DueSitting, lanes: Sequence[_Lane]) -> WovenPlan:
    """The lanes' plans, whose phases are ended from outside."""
    warms = any(lane.asked.due.warm_up.max_ns for lane in lanes)
    plans = tuple(
        msgspec.structs.replace(
            lane.plan, stop=StopAfter(ns=MOST_PHASE_NS), warmup_max_ns=MOST_PHASE_NS if warms else 0
        )
        for lane in lanes
    )
    known = due.lengths or _unknown(due)
    first_ns = min(warming_ns(due.lengths), known.slice_ns) if warms else known.slice_ns
    return WovenPlan(lanes=plans, slice_ns=first_ns, settle_ns=known.settle_ns, seed=due.seed)


def _unknown(due: DueSitting) -> Lengths:
    return lengths_for(due.weave, {})


def _trial_of(due: DueSitting, lane: _Lane, place: int, offered: _Offered | None, bench: Bench) -> Trial:
    """What a lane's trial has become; the contract is tested once more."""
    asked = lane.asked
    trial = msgspec.structs.replace(asked.trial, plan=lane.plan)
    if offered is None:
        assert lane.failed is not None  # nothing was offered, and it is known why
        return msgspec.structs.replace(trial, failure=failure_of(lane.failed))
    seen = offered.measured.lanes[place]
    standing = isinstance(lane.running, StandingServer)
    woven = Lane(
        sitting=due.number, slices=_kept(seen, offered), late=seen.late, ended=seen.ended, standing=standing
    )
    trial = msgspec.structs.replace(trial, lane=woven)
    try:
        _check(lane, seen)
        bench.observer.phase(asked.due.slot, "contract again")
        routes = tested_routes(asked.case)
        after, wrong = probe.test(asked.case.contract, routes, lane.running.host, lane.running.port)
        _check(lane, seen)
    except ServerFailed as failed:
        return msgspec.structs.replace(trial, failure=failure_of(failed))
    except EnvironmentLacks as lacking:
        return msgspec.structs.replace(trial, failure=Failure(stage=lacking.stage, reason=str(lacking)))
    measured = seen.measurement
    cpu_ns = used_ns(offered.seen, place, measured.measured_ns)
    services_ns = services_used_ns(offered.seen, place, measured.measured_ns)
    return msgspec.structs.replace(
        trial,
        measurement=measured,
        server=server_seen(lane.running, measured, cpu_ns, bench.split),
        contract=contract_seen(lane.before, measured, after, wrong),
        host=offered.hosts[place],
        services=bench.services.used(offered.services, services_ns, measured.measured_ns),
        warm_up=offered.turns.warm.get(place),
        link=link_to(lane.running, bench),
        generators=offered.generators[place],
    )


def used_ns(turns: Iterable[TurnSeen], lane: int, measured_ns: int) -> int | None:
    """The CPU time that a lane's server used while it was measured: as in those of its slices that were
    looked at in time, which on a busy machine are not all; None where none was."""
    looked = [(one.cpu_ns[lane], one.length_ns) for one in turns if one.lane == lane]
    return _in_all([(cpu_ns, length_ns) for cpu_ns, length_ns in looked if cpu_ns is not None], measured_ns)


def services_used_ns(turns: Iterable[TurnSeen], lane: int, measured_ns: int) -> dict[str, int]:
    """The same of each service: what it used in that lane's slices is what it did for that lane's server.
    One that was never looked at in time is missing."""
    looked: dict[str, list[tuple[int, int]]] = {}
    for one in turns:
        if one.lane == lane:
            for name, cpu_ns in one.services_cpu_ns.items():
                looked.setdefault(name, []).append((cpu_ns, one.length_ns))
    used = {name: _in_all(known, measured_ns) for name, known in looked.items()}
    return {name: used_ns for name, used_ns in used.items() if used_ns is not None}


def _in_all(looked: Sequence[tuple[int, int]], measured_ns: int) -> int | None:
    """What was used in slices of which some were looked at: CPU time and length of each of those; None where
    none was."""
    looked_ns = sum(length_ns for _, length_ns in looked)
    return round(sum(cpu_ns for cpu_ns, _ in looked) * measured_ns / looked_ns) if looked_ns else None


def _kept(seen: LaneMeasurement, offered: _Offered) -> tuple[Slice, ...]:
    """Its slices; of a sitting that was cut without the cycle that was under way."""
    if not offered.cut or not seen.slices:
        return seen.slices
    last = max(one.cycle for lane in offered.measured.lanes for one in lane.slices)
    return tuple(one for one in seen.slices if one.cycle < last)


def _check(lane: _Lane, seen: LaneMeasurement) -> None:
    """ServerFailed where the lane is no measurement of a server that lived."""
    if lane.died() and lane.failed is not None:
        raise lane.failed
    if seen.ended == "unreachable":
        raise ServerFailed("load", "nobody answered any more in a whole slice", lane.running.log_tail())
    if seen.ended == "failure":
        raise ServerFailed("load", "a failure came on which its load ends", lane.running.log_tail())


def _tell(bench: Bench, lanes: Iterable[_Lane], phase: Phase) -> None:
    for lane in lanes:
        bench.observer.phase(lane.asked.due.slot, phase)
