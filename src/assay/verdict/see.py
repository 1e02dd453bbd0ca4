"""From a stored measurement to what the rules look at in one load."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from assay.model.account import TimeAccount
from assay.model.measurement import Measurement
from assay.model.plan import Closed, LoadPlan
from assay.model.run import Environment
from assay.model.trial import Arm, GeneratorSeen, HostSeen, Link, ServerSeen, Trial
from assay.verdict.load import Load, Machine


def see_load(plan: LoadPlan, measurement: Measurement, machine: Machine) -> Load:
    """One load of our own engine."""
    windows = tuple(window for window in measurement.windows if window.phase == "measured")
    return Load(plan=plan, measured=measurement, windows=windows, machine=machine)


def see_trial(trial: Trial, measurement: Measurement, environment: Environment) -> Load:
    """The load of a trial that was measured."""
    return replace(
        see_load(trial.plan, measurement, _machine_of(trial, environment)),
        arm=trial.arm,
        server=trial.server,
        services=trial.services,
        contract=trial.contract,
        warm_up=trial.warm_up,
        generators=trial.generators,
        account=trial.account,
        parts=see_parts(trial.plan, trial.generators, environment, trial.server, trial.host, trial.account),
    )


def _machine_of(trial: Trial, environment: Environment) -> Machine:
    return Machine(
        cores=environment.cores,
        client_cpus=trial.plan.cpus or environment.client_cpus,
        server_cpus=trial.server.cpus if trial.server else environment.server_cpus,
        # Where no link is recorded, client and server are on one machine.
        link=trial.link or Link(same_machine=True, bytes_per_s=environment.loopback_bytes_per_s),
        environment=environment,
        host=trial.host,
    )


def see_delays(trials: Sequence[Trial], environment: Environment) -> dict[int, dict[int, float]]:
    """How much of a core the client lacked in each round of its arms, by block: of trials in which no server
    can have had a hand in that."""
    return {
        trial.block: trial.arm.delays
        for trial in trials
        if trial.arm and trial.measurement and _client_is_alone(trial, trial.arm, environment)
    }


def _client_is_alone(trial: Trial, arm: Arm, environment: Environment) -> bool:
    """Whether each of the client's threads had a core on which nothing ran that works for a server: not the
    server, no service of it, and no link of ours."""
    if arm.external or trial.services or (trial.link and trial.link.emulation):
        return False
    if trial.generators:
        return all(
            not one.same_machine and len(one.measurement.workers) <= (len(one.cpus) or one.cores)
            for one in trial.generators
        )
    machine = _machine_of(trial, environment)
    return machine.cores_apart and trial.plan.threads <= len(machine.client_cpus)


def see_parts(
    plan: LoadPlan,
    generators: tuple[GeneratorSeen, ...],
    environment: Environment | None = None,
    server: ServerSeen | None = None,
    server_host: HostSeen | None = None,
    account: TimeAccount | None = None,
) -> tuple[Load, ...]:
    """What each of several generators had of a load, on its own machine."""
    idle = server_host.server_cpus_idle_share if server_host is not None else None

    def part(seen: GeneratorSeen) -> Load:
        machine = Machine(
            cores=seen.cores,
            client_cpus=seen.cpus,
            server_cpus=server.cpus if server is not None and seen.same_machine else (),
            link=Link(same_machine=seen.same_machine, bytes_per_s=seen.link_bytes_per_s),
            environment=environment if seen.same_machine else None,
            host=msgspec.structs.replace(seen.host, server_cpus_idle_share=idle),
        )
        own = account.of_generator(seen.node, seen.measurement.workers) if account else None
        return replace(see_load(_part_of(plan, seen), seen.measurement, machine), server=server, account=own)

    return tuple(map(part, generators))


def _part_of(plan: LoadPlan, seen: GeneratorSeen) -> LoadPlan:
    asked, loop = seen.measurement.connections.asked, plan.load
    own = (
        msgspec.structs.replace(loop, connections=asked)
        if isinstance(loop, Closed)
        else msgspec.structs.replace(loop, max_connections=asked)
    )
    return msgspec.structs.replace(plan, load=own, threads=len(seen.measurement.workers))
