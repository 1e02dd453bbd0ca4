"""From a stored measurement to what the rules look at in one load."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

import msgspec

from assay.model.measurement import Histogram, Measurement
from assay.model.plan import Closed, LoadPlan, StopAtCount
from assay.model.run import Environment
from assay.model.trial import Arm, GeneratorSeen, HostSeen, Link, ServerSeen, Trial
from assay.stats import quantiles, rate_per_s, recorded
from assay.verdict.load import (
    Access,
    Answers,
    Asked,
    Clocks,
    Counts,
    Load,
    Machine,
    Starts,
    StreamWaits,
    Times,
    Waiting,
)

QUANTILES = (0.5, 0.9, 0.99)


def see_load(plan: LoadPlan, measurement: Measurement, machine: Machine) -> Load:
    """One load of our own engine."""
    return Load(
        asked=Asked(
            loop=plan.load,
            threads=plan.threads,
            http_version=plan.http_version,
            http=plan.http,
            streams=plan.streams if measurement.http2 or measurement.http3 else 1,
            encodings=encodings_asked(plan),
            keep_alive=plan.keep_alive and plan.requests_per_connection is None and not _asks_to_close(plan),
            counted=isinstance(plan.stop, StopAtCount),
        ),
        counts=Counts(
            duration_ns=measurement.measured_ns,
            rate_per_s=rate_per_s(measurement),
            completed=measurement.completed,
            failed=measurement.failed,
            bytes_read=measurement.bytes_read,
            outcomes=measurement.outcomes,
        ),
        way=see_way(plan, measurement),
        starts=Starts(measurement.started, measurement.missed_starts, measurement.waited_starts or 0),
        answers=Answers(
            checked=measurement.checked,
            encodings=measurement.encodings,
            http_versions=measurement.http_versions,
            stray=measurement.stray,
            resent=measurement.resent,
        ),
        clocks=Clocks(
            service=see_times(measurement.service_time),
            response=see_times(measurement.response_time),
            send_lag=see_times(measurement.send_lag),
            first_byte=see_times(measurement.first_byte_time),
            opening_ns=sum(
                times.count * times.mean_ns
                for times in (measurement.connect_time, measurement.handshake_time)
                if times is not None
            ),
        ),
        requests=measurement.requests,
        connections=measurement.connections,
        waits=_stream_waits(measurement),
        goaways=_goaways(measurement),
        windows=tuple(window for window in measurement.windows if window.phase == "measured"),
        workers=measurement.workers,
        machine=machine,
        edges_ns=measurement.under_way.edges_ns if measurement.under_way else None,
        waiting=Waiting(recorded(measurement.under_way.ages), measurement.under_way.quiet_ns)
        if measurement.under_way
        else None,
    )


def see_way(plan: LoadPlan, measurement: Measurement) -> Access:
    """How the server was addressed, and with which statuses it answered."""
    url, expected = urlsplit(plan.url), [request.expect for request in plan.requests]
    statuses = {status for one in expected if one is not None for status in one.status}
    return Access(
        tls=url.scheme == "https",
        host=url.hostname or "",
        server_name=plan.tls.server_name if plan.tls.asks_for_name else None,
        insecure=plan.tls.insecure,
        authorized=any(
            name.lower() == "authorization" for request in plan.requests for name, _ in request.headers
        ),
        cookies=plan.cookies,
        follows=plan.redirects > 0,
        timeout_ns=plan.timeout_ns,
        handshakes=sum(measurement.handshakes.values()),
        statuses=measurement.statuses,
        any_redirect_is_right=not statuses or {200, 301, 302} <= statuses,
        bytes_are_of_answers=measurement.http2 is None and measurement.http3 is None,
    )


def _waiting_in_slices(arm: Arm) -> Waiting:
    """Of an interleaved load its own time counts: that of its last slices in which nothing was answered."""
    slices = [one for one in arm.slices if one.phase == "measured"]
    quiet = list(itertools.takewhile(lambda one: not one.completed, reversed(slices)))
    quiet_ns = sum(one.length_ns for one in quiet)
    waits = quiet[0].carried if quiet else 0
    return Waiting(((quiet_ns, waits),) if waits else (), quiet_ns)


def _stream_waits(measurement: Measurement) -> StreamWaits | None:
    """How long requests waited for streams and windows, where there are any."""
    two, three = measurement.http2, measurement.http3
    if two is not None:
        return StreamWaits(two.stream_wait_ns, two.window_stall_ns, two.streams_allowed)
    return None if three is None else StreamWaits(three.stream_limit_ns, three.flow_stall_ns)


def _goaways(measurement: Measurement) -> int:
    """Ends that the server announced and for which it had no message."""
    two, three = measurement.http2, measurement.http3
    if two is not None:
        return two.going_away.get("NO_ERROR", 0)
    return 0 if three is None else three.goaway


def see_trial(trial: Trial, measurement: Measurement, environment: Environment) -> Load:
    """The load of a trial that was measured."""
    load = see_load(trial.plan, measurement, _machine_of(trial, environment))
    arm = trial.arm
    return replace(
        load,
        server=trial.server,
        services=trial.services,
        contract=trial.contract,
        warm_up=trial.warm_up,
        generators=trial.generators,
        slices=len(arm.rounds) if arm else 1,
        edges_ns=arm.edges_ns if arm else load.edges_ns,
        waiting=_waiting_in_slices(arm) if arm else load.waiting,
        washout_ns=arm.washout_ns if arm else None,
        account=trial.account,
        parts=see_parts(trial.plan, trial.generators, environment, trial.server, trial.host),
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
        return replace(see_load(_part_of(plan, seen), seen.measurement, machine), server=server)

    return tuple(map(part, generators))


def _part_of(plan: LoadPlan, seen: GeneratorSeen) -> LoadPlan:
    asked, loop = seen.measurement.connections.asked, plan.load
    own = (
        msgspec.structs.replace(loop, connections=asked)
        if isinstance(loop, Closed)
        else msgspec.structs.replace(loop, max_connections=asked)
    )
    return msgspec.structs.replace(plan, load=own, threads=len(seen.measurement.workers))


def see_times(histogram: Histogram | None) -> Times | None:
    """A histogram's figures; None where there is none or it is empty."""
    if histogram is None or not histogram.count:
        return None
    values = {quantile.p: quantile.value_ns for quantile in quantiles(histogram, QUANTILES) if quantile}
    return Times(histogram.count, histogram.min_ns, histogram.mean_ns, histogram.max_ns, values)


def encodings_asked(plan: LoadPlan) -> frozenset[str]:
    """The content encodings that the plan's requests accept, without their weights."""
    asked = (encoding.partition(";")[0].strip().lower() for encoding in _listed(plan, "accept-encoding"))
    return frozenset(encoding for encoding in asked if encoding)


def _asks_to_close(plan: LoadPlan) -> bool:
    """Whether a request says that it is the last of its connection (RFC 9112, 9.6)."""
    return any(option.strip().lower() == "close" for option in _listed(plan, "connection"))


def _listed(plan: LoadPlan, name: str) -> Iterator[str]:
    """The elements of the requests' fields of a name (in lower case)."""
    for request in plan.requests:
        # A raw head takes the place of the fields.
        lines = (request.head or "").split("\r\n")[1:]
        raw = ((given, value) for given, _, value in (line.partition(":") for line in lines))
        for given, value in raw if request.head else request.headers:
            if given.strip().lower() == name:
                yield from value.split(",")
