"""One trial: a server, fresh or warm from its block, tested, warmed, measured, tested again."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import msgspec

from assay.core.errors import EnvironmentLacks, ServerFailed
from assay.core.vault import scrubbed
from assay.engine import target_policy
from assay.engine.generator import GoingLoad, account_of, generators_of
from assay.model.account import TimeAccount
from assay.model.costs import CountedCosts
from assay.model.design import WarmUp
from assay.model.measurement import Measurement, Snapshot
from assay.model.plan import LoadPlan
from assay.model.trial import (
    Carried,
    ContractSeen,
    Failure,
    GeneratorSeen,
    HostSeen,
    Link,
    ServerSeen,
    ServiceSeen,
    Trial,
    WarmUpSeen,
)
from assay.plan.next import Due, Slot
from assay.plan.next.warming import warmed_up
from assay.plan.resolved import ResolvedCase
from assay.runner.bench import Bench, Running, Warm
from assay.runner.inspecting import costs_in, explained
from assay.servers import probe
from assay.servers.build import Prepared
from assay.servers.contract import Route
from assay.servers.cores import CoreSplit
from assay.servers.emulation import HERE, PEER, NetworkPath
from assay.servers.server import HOST, ExternalAddress, ExternalServer
from assay.servers.site import Watched

_LOOK_S = 0.1
_SAMPLE_EVERY_S = 0.5
_UNFIT = re.compile(r"[^\w.+@-]+")
"""What a case's name may hold and its log's name should not."""


class _Observation(msgspec.Struct, frozen=True):
    """What was seen while the load ran; `carried` by a link with a delay, where there is one."""

    measurement: Measurement
    cpu_ns: int
    host: HostSeen
    services: tuple[ServiceSeen, ...]
    warm_up: WarmUpSeen | None
    generators: tuple[GeneratorSeen, ...]
    carried: Carried | None
    account: TimeAccount | None
    counted: CountedCosts | None


def run_trial(
    trial: Trial, case: ResolvedCase, prepared: Prepared | ExternalAddress, due: Due, bench: Bench
) -> Trial:
    """Run a trial. Whatever the server does wrong becomes the trial's failure; no process is left."""
    trial = msgspec.structs.replace(trial, plan=planned(case, due.plan, bench, due.plan.url))
    try:
        with bench.ways.to(case.case.emulation) as way:
            return _measured(trial, case, prepared, due, bench, way)
    except ServerFailed as failed:
        return msgspec.structs.replace(trial, failure=failure_of(failed))
    except EnvironmentLacks as lacking:  # a load that this machine cannot offer: others of the run it can
        return msgspec.structs.replace(trial, failure=Failure(stage=lacking.stage, reason=str(lacking)))


def failure_of(failed: ServerFailed) -> Failure:
    """What a record keeps of it."""
    reason, log_tail = scrubbed(failed.reason), scrubbed(failed.log_tail)  # a server may say what it was told
    return Failure(stage=failed.stage, reason=reason, log_tail=log_tail)


def start(
    case: ResolvedCase, prepared: Prepared | ExternalAddress, bench: Bench, log: str, host: str = HOST
) -> Running:
    """The server, ready: started, or met where it stands, after the command that has to run before that.

    ServerFailed where that does not work out, InputError where the command fails.
    """
    if case.candidate is not None:
        bench.hooks.before_start(case.candidate)
    if isinstance(prepared, ExternalAddress):
        return prepared.meet(case.contract, case.routes[0])
    return bench.where.site.start(
        prepared,
        case.contract,
        case.routes[0],
        cpus=bench.split.server,
        log=bench.logs / f"{_UNFIT.sub('-', log)[:120]}.log",
        env=bench.services.env,
        host=host,
    )


def _fresh(
    case: ResolvedCase, prepared: Prepared | ExternalAddress, due: Due, bench: Bench, way: NetworkPath | None
) -> Warm:
    """The server, started, and warmed by nobody yet."""
    bench.observer.phase(due.slot, "start")
    host = HERE if way else HOST
    return Warm(start(case, prepared, bench, f"{due.slot.case}-{due.slot.block}", host), None)


def _measured(
    trial: Trial,
    case: ResolvedCase,
    prepared: Prepared | ExternalAddress,
    due: Due,
    bench: Bench,
    way: NetworkPath | None,
) -> Trial:
    """The trial. Over an emulated network the server is tested where it is, and loaded over the way to it."""
    slot, routes = due.slot, tested_routes(case)
    if way is None:  # services are where all other servers are, and those over an emulated network need none
        bench.services.ensure(lambda name, step: bench.observer.note(f"service {name}: {step}"))
    running, warmed = bench.warm_pool.take(due.follows) or _fresh(case, prepared, due, bench, way)
    url = f"{running.scheme}://{PEER}:{running.port}/" if way else running.url
    try:
        bench.observer.phase(slot, "contract")
        before, wrong = probe.test(case.contract, routes, running.host, running.port)
        if wrong:
            raise ServerFailed("contract", wrong_answers(before, wrong), running.log_tail())
        if due.warming is not None and warmed is None:
            first = planned(case, due.warming.plan, bench, url)
            warmed = _warm(slot, first, due.warming.rule, running, bench)
        plan = planned(case, due.plan, bench, url)
        loaded = _load(due, plan, running, bench, way)
        bench.observer.phase(slot, "contract again")
        after, wrong_after = probe.test(case.contract, routes, running.host, running.port)
        _check_alive(running, bench)
        measured = loaded.measurement
        trial = msgspec.structs.replace(
            trial,
            plan=plan,
            measurement=measured,
            server=server_seen(running, measured, loaded.cpu_ns, bench.split),
            contract=contract_seen(before, measured, after, wrong_after),
            host=loaded.host,
            services=loaded.services,
            warm_up=warmed or loaded.warm_up,
            link=way.link(loaded.carried) if way else link_to(running, bench),
            generators=loaded.generators,
            account=loaded.account,
        )
        costs = costs_in(loaded.counted, trial)
        trial = explained(msgspec.structs.replace(trial, costs=costs), running, bench)
    except BaseException:
        running.stop()
        raise
    if due.follows:
        bench.warm_pool.keep(due.follows, running, warmed)
    else:
        bench.observer.phase(slot, "stop")
        running.stop()
    return trial


def contract_seen(
    before: int, measured: Measurement, after: int, wrong_after: tuple[str, ...]
) -> ContractSeen:
    """The answers of a trial, of which none was wrong before the load."""
    return ContractSeen(
        before=before,
        before_wrong=0,
        during=measured.checked,
        during_wrong=sum(outcome.count for outcome in measured.outcomes if outcome.origin == "plan"),
        after=after,
        after_wrong=len(wrong_after),
        examples=wrong_after[:3],
    )


def link_to(running: Running, bench: Bench) -> Link:
    """A server that we start is on this machine; of one that stands its address tells."""
    if isinstance(running, ExternalServer) and not target_policy.is_this_machine((running.host,)):
        return Link(same_machine=False)
    if bench.where.nodes:
        return Link(same_machine=bench.where.same_machine, bytes_per_s=bench.where.link_bytes_per_s)
    return Link(same_machine=True, bytes_per_s=bench.loopback_bytes_per_s)


def tested_routes(case: ResolvedCase) -> tuple[Route, ...]:
    """The contract's routes. A ceiling has one prepared answer: it is held to what it is asked for."""
    if case.server.role == "ceiling":
        return case.routes
    return case.contract.routes_of(case.server.routes)


def planned(case: ResolvedCase, plan: LoadPlan, bench: Bench, url: str) -> LoadPlan:
    """What is asked of the generator, at that server."""
    whole = msgspec.structs.replace(plan, url=url, cpus=bench.split.client)
    return bench.where.generator.planned(whole, case.threads)


def wrong_answers(asked: int, wrong: tuple[str, ...]) -> str:
    """What is wrong, by the first of these."""
    more = f" (and {len(wrong) - 1} more of {asked} answers)" if len(wrong) > 1 else ""
    return f"does not keep its contract: {wrong[0]}{more}"


class _Edge(msgspec.Struct, frozen=True):
    """The CPU clocks at one edge of the measured phase, and what a link with a delay has carried since the
    edge before."""

    server_ns: int
    services_ns: dict[str, int]
    carried: Carried | None


def _edge(running: Running, bench: Bench, way: NetworkPath | None) -> _Edge:
    return _Edge(running.sampler.cpu_ns(), bench.services.cpu_ns(), way.carried() if way else None)


def _warm(slot: Slot, plan: LoadPlan, rule: WarmUp, running: Running, bench: Bench) -> WarmUpSeen:
    """Warm the server up by a load that is not measured; how that ended."""
    bench.observer.phase(slot, "warm-up")
    load = bench.where.generator.start(plan)
    seen = None
    try:
        for snapshot in _shown(load, slot, running, bench):
            if (seen := warmed_up(snapshot.windows, rule)) is not None:
                break
    finally:
        _end(load)
    return seen or WarmUpSeen(steady=False, bound_ns=rule.max_ns, reason="its closed loop ended early")


def _shown(load: GoingLoad, slot: Slot, running: Running, bench: Bench) -> Iterator[Snapshot]:
    """What the load shows until it ends. The server is looked at less often: it may be on another machine,
    whose time each look takes. ServerFailed where it does not live to see the end."""
    sampled_s = time.monotonic()
    while not load.wait(_LOOK_S):
        snapshot = load.snapshot()
        bench.observer.snapshot(slot, snapshot)
        yield snapshot
        if time.monotonic() - sampled_s >= _SAMPLE_EVERY_S:
            sampled_s = time.monotonic()
            _check_alive(running, bench)
            running.sampler.sample()
    _check_alive(running, bench)


def _end(load: GoingLoad) -> None:
    load.stop()
    while not load.wait(_LOOK_S):
        pass


def _load(due: Due, plan: LoadPlan, running: Running, bench: Bench, way: NetworkPath | None) -> _Observation:
    """Offer the load; CPU clocks are read at the edges of the measured phase."""
    observer, slot = bench.observer, due.slot
    warm_up, idle = warmed_up((), due.warm_up), _idle_share(running, bench)
    counts = bench.where.site.counts(running) if bench.why and not due.follows and not way else None

    def begins() -> tuple[_Edge, Watched]:
        if counts:
            counts.refresh()
            counts.begins()
        edge = _edge(running, bench, way)
        return edge, bench.where.site.watch(running, bench.services, bench.split)

    begin, watch = begins()
    load = bench.where.generator.start(plan)
    try:
        watch.follow(load)
        observer.phase(slot, "warm-up" if warm_up is None else "measure")
        for snapshot in _shown(load, slot, running, bench):
            if warm_up is None and (warm_up := warmed_up(snapshot.windows, due.warm_up)) is not None:
                begin, watch = begins()
                load.begin_measuring()
                watch.follow(load)
                observer.phase(slot, "measure")
            elif counts and warm_up is not None and counts.is_due():
                counts.ends()
                counts.refresh()
        seen = watch.observed()
        if counts:
            counts.ends()
        running.sampler.sample()
        end = _edge(running, bench, way)
        measured = load.result()
        both = end.services_ns.keys() & begin.services_ns.keys()
        services_ns = {name: end.services_ns[name] - begin.services_ns[name] for name in both}
        services = bench.services.used(bench.services.observed(), services_ns, measured.measured_ns)
        used_ns = end.server_ns - begin.server_ns
        found = watch.account(measured, way.emulation if way else None)
        if found is not None:
            shares = [share for share in (idle, _idle_share(running, bench)) if share is not None]
            found = msgspec.structs.replace(found, idle_cpu_share=min(shares, default=None))
        counted = counts.counted() if counts else None
        return _Observation(
            measured,
            used_ns,
            seen,
            services,
            warm_up,
            generators_of(load),
            end.carried,
            account_of(load, found),
            counted,
        )
    except BaseException:
        _end(load)
        raise


def _idle_share(running: Running, bench: Bench) -> float | None:
    """The server's CPU use at this moment without a load, of its cores; None where it is not seen."""
    busy = running.sampler.idle_cores()
    return None if busy is None else busy / bench.split.server_cores


def _check_alive(running: Running, bench: Bench) -> None:
    failed = running.died()
    if failed is not None:
        raise failed
    gone = bench.services.died()
    if gone:
        raise ServerFailed("service", f"{gone} under load")


def server_seen(
    running: Running, measured: Measurement, cpu_ns: int | None, split: CoreSplit
) -> ServerSeen | None:
    """What was seen of the process; None where it is not ours to look at."""
    if isinstance(running, ExternalServer):
        return None
    wall_ns = measured.measured_ns * split.server_cores
    return ServerSeen(
        version=running.prepared.version,
        pid=running.kept.pid,
        cpus=running.cpus,
        start_ns=running.start_ns,
        cpu_ns=cpu_ns,
        cpu_share=cpu_ns / wall_ns if cpu_ns is not None and wall_ns else None,
        peak_rss_bytes=running.sampler.peak_rss_bytes,
        threads=running.sampler.threads,
    )
