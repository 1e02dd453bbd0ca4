"""A load that stands alone: offered, and made a run of one trial.

Imported before the load starts: what it does not need is imported by the functions that do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec.structs import replace

from assay.engine import driver, target_policy
from assay.engine.generator import EndedLoad, GoingLoad, drive, to_its_end
from assay.plan.words import settle
from assay.plan.words.load_plan import DraftedLoad

if TYPE_CHECKING:
    from assay.engine.driver import EngineRun
    from assay.engine.generator import Watching
    from assay.model.measurement import Measurement, Snapshot
    from assay.model.plan import LoadPlan
    from assay.model.run import Header, Run
    from assay.servers.watching import LoadWatch

Look: TypeAlias = "Callable[[GoingLoad, LoadPlan], object]"
"""Looks on while a load goes on, until it ends."""


def offer(load: DraftedLoad, watch: Look | None = None) -> EndedLoad[EngineRun]:
    """Offer a settled load from this process, to its end or until Ctrl-C; `watch` looks on meanwhile.

    InputError names what was given of it; EnvironmentLacks where this machine cannot offer it.
    """

    def start(plan: LoadPlan) -> EngineRun:
        with settle.named(load):
            return driver.start(plan)

    machine: list[LoadWatch] = []

    def watched() -> Watching:
        """Watch the machine from here on. Imported while the load runs already: it is not light."""
        from assay.servers.watching import LoadWatch

        machine.append(LoadWatch(load.plan))
        return machine[0]

    def to_the_end(going: EngineRun) -> None:
        sampled = _Sampled(going, machine[0])
        if watch:
            watch(sampled, load.plan)
        else:
            to_its_end(sampled)

    here = target_policy.is_this_machine(target_policy.first_hops(load.plan))
    ended = drive(load.plan, start, same_machine=here, watch=to_the_end, machine=watched)
    return replace(ended, account=machine[0].account(ended.measurement)) if machine else ended


class _Sampled(msgspec.Struct, frozen=True):
    """A load that goes on; whoever waits for its end lets the machine be looked at."""

    going: GoingLoad
    machine: LoadWatch

    def snapshot(self) -> Snapshot:
        return self.going.snapshot()

    def begin_measuring(self, at_ns: int = 0) -> None:
        self.going.begin_measuring(at_ns)

    def stop(self, at_ns: int = 0) -> None:
        self.going.stop(at_ns)

    def wait(self, timeout_s: float) -> bool:
        ended = self.going.wait(timeout_s)
        if not ended:
            self.machine.sample(self.going)
        return ended

    def result(self) -> Measurement:
        return self.going.result()


def with_costs(ended: EndedLoad[Any]) -> EndedLoad[Any]:
    """The load with what an answer costs its server, counted in loads of their own that follow it."""
    from assay.model.costs import Costs
    from assay.runner.inspecting import costs_alone
    from assay.servers.listening import listener_of

    found = listener_of(ended.plan)
    if ended.plan.hosts or found is None or not found.pids:
        hidden = found.hidden if found else "the server is on another machine"
        hidden = "requests go to several hosts" if ended.plan.hosts else hidden
        costs = Costs(answers=0, length_ns=0, missing=(f"no costs of an answer: {hidden}",))
    else:
        costs = costs_alone(driver.start, ended.plan, found.pids)
    return replace(ended, costs=costs)


def as_run(
    ended: EndedLoad[Any], name: str, *, command: Sequence[str], held_to: tuple[str, bool] = ("", False)
) -> Run:
    """The load as a run of one trial, not judged yet. `name` is its server's, `command` what was asked,
    `held_to` its limits, and whether one that cannot be told fails it."""
    from assay.model.run import Run
    from assay.model.trial import Link, Trial

    header = _header(ended, name, command, held_to)
    [(case, plan)] = header.design.plans.items()
    trial = Trial(
        number=0,
        case=case,
        block=0,
        position=0,
        started_at_unix_ns=ended.measurement.started_at_unix_ns,
        plan=plan,
        measurement=ended.measurement,
        host=ended.host,
        link=Link(same_machine=ended.same_machine),
        account=ended.account,
        costs=ended.costs,
    )
    return Run(header=header, trials=(trial,), judgement=None)


def _header(ended: EndedLoad[Any], name: str, command: Sequence[str], held_to: tuple[str, bool]) -> Header:
    from assay import store
    from assay.model.design import LoadDesign
    from assay.model.run import FORMAT, Header
    from assay.model.trial import AS_GIVEN, Case
    from assay.servers import host
    from assay.servers.cores import CoreSplit

    plan = ended.plan
    case = name or plan.url.removeprefix("http://")
    begun_ns = ended.measurement.started_at_unix_ns
    limits, unsure_fails = held_to
    design = LoadDesign(
        title=f"Load on {case}",
        plans={case: plan},
        titles={case: plan.url},
        limits=limits,
        unsure_fails=unsure_fails,
    )
    return Header(
        format=FORMAT,
        run_id=store.new_run_id("load", begun_ns),
        created_unix_ns=begun_ns,
        command=tuple(command),
        study_name="load",
        design=design,
        cases=(Case(id=case, server=case, variant="", workload=plan.requests[0].target, load=AS_GIVEN),),
        environment=host.environment(CoreSplit(plan.cpus, (), os.cpu_count() or 1), {}),
    )
