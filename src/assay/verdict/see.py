"""From a stored measurement to what the rules look at in one load."""

from __future__ import annotations

from assay.stats import quantiles, rate_per_s
from assay.values.measurement import Histogram, Measurement
from assay.values.plan import Closed, LoadPlan
from assay.values.run import Environment
from assay.values.trial import ContractSeen, HostSeen, Link, ServerSeen, ServiceSeen, Trial
from assay.verdict.seen import Load, Times

QUANTILES = (0.5, 0.9, 0.99)


def see_load(
    plan: LoadPlan,
    measurement: Measurement,
    *,
    cores: int | None,
    link: Link,
    environment: Environment | None = None,
    client_cpus: tuple[int, ...] = (),
    server_cpus: tuple[int, ...] = (),
    role: str = "candidate",
    contract: ContractSeen | None = None,
    server: ServerSeen | None = None,
    services: tuple[ServiceSeen, ...] = (),
    host: HostSeen | None = None,
) -> Load:
    """One load of our own engine."""
    closed = plan.load if isinstance(plan.load, Closed) else None
    opened = None if isinstance(plan.load, Closed) else plan.load
    workers = measurement.workers
    return Load(
        role=role,
        closed=closed is not None,
        connections=plan.load.connections if isinstance(plan.load, Closed) else plan.load.max_connections,
        think_time_ns=closed.think_time_ns if closed else 0,
        opening_ns=sum(
            times.count * times.mean_ns
            for times in (measurement.connect_time, measurement.handshake_time)
            if times is not None
        ),
        open_load=opened,
        threads=plan.threads,
        duration_ns=measurement.measured_ns,
        rate_per_s=rate_per_s(measurement),
        started=measurement.started,
        completed=measurement.completed,
        failed=measurement.failed,
        missed_starts=measurement.missed_starts,
        bytes_read=measurement.bytes_read,
        outcomes=measurement.outcomes,
        encodings=measurement.encodings,
        encodings_asked=encodings_asked(plan),
        http_asked=plan.http_version,
        http_versions=measurement.http_versions,
        checked=measurement.checked,
        stray=measurement.stray,
        service_time=see_times(measurement.service_time),
        response_time=see_times(measurement.response_time),
        send_lag=see_times(measurement.send_lag),
        books=measurement.books,
        windows=tuple(window for window in measurement.windows if window.phase == "measured"),
        worker_completed=sum(worker.completed for worker in workers) if workers else None,
        worker_busy_shares=tuple(worker.cpu_ns / worker.wall_ns for worker in workers if worker.wall_ns > 0),
        worker_stalls_ns=tuple(worker.largest_stall_ns for worker in workers),
        paced_by_spinning=opened is not None and opened.pacer == "spin",
        connections_opened=measurement.connections.opened,
        connections_answered=measurement.connections.answered,
        connections_busy_peak=measurement.connections.busy_peak,
        connections_reopened=measurement.connections.reopened,
        kept_alive=plan.keep_alive and plan.requests_per_connection is None,
        client_cpus=client_cpus,
        server_cpus=server_cpus,
        machine_cores=cores,
        smt_siblings=environment.smt_siblings if environment else (),
        same_machine=link.same_machine,
        link_bytes_per_s=link.bytes_per_s,
        environment=environment,
        contract=contract,
        server=server,
        services=services,
        host=host,
    )


def link_of(trial: Trial, environment: Environment) -> Link:
    """The trial's link; of an older record what was taken for granted then."""
    return trial.link or Link(same_machine=True, bytes_per_s=environment.loopback_bytes_per_s)


def see_times(histogram: Histogram | None) -> Times | None:
    """A histogram's figures; None where there is none or it is empty."""
    if histogram is None or not histogram.count:
        return None
    found = {q.p: q.value_ns for q in quantiles(histogram, QUANTILES) if q is not None}
    return Times(histogram.count, histogram.min_ns, histogram.mean_ns, histogram.max_ns, found)


def encodings_asked(plan: LoadPlan) -> frozenset[str]:
    """The content encodings that the plan's requests accept, without their weights."""
    return frozenset(
        encoding.partition(";")[0].strip().lower()
        for request in plan.requests
        for name, value in request.headers
        if name.lower() == "accept-encoding"
        for encoding in value.split(",")
        if encoding.strip()
    )
