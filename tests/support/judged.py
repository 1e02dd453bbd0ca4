"""Loads and runs made by hand, and the findings about them by code."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from made_runs import (
    SECOND,
    case,
    measurement,
    plan,
    run,
    trial,
    uniform_histogram,
)

from assay.model.finding import Finding
from assay.model.measurement import Measurement, Window
from assay.model.plan import LoadPlan, Open, Stage
from assay.model.run import Run
from assay.model.trial import Case, HostSeen
from assay.verdict import judge
from assay.verdict.load import Load, Machine
from assay.verdict.see import see_load

QUIET = HostSeen(load_average_1m=1, steal_share=0, client_cpus_idle_share=0.55)


def findings_of(made: Run) -> dict[str, Finding]:
    """By code, but for the note of what limited a load, which each has."""
    return {finding.code: finding for finding in noted_else(judge(made, 0).findings)}


def noted_else(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings but for the note of what limited a load (B1)."""
    return tuple(finding for finding in findings if finding.code != "B1")


def found(
    made: Measurement, load_plan: LoadPlan | None = None, entered: Case | None = None, **changes: object
) -> dict[str, Finding]:
    """The findings about one case of six such trials, by code."""
    fields = {"plan": load_plan or plan(), **changes}
    return findings_of(run([entered or case("a")], [trial("a", b, made, **fields) for b in range(6)]))


def changed(**changes: object) -> Measurement:
    return msgspec.structs.replace(measurement(), **changes)


def open_plan(per_s: float = 10_000, to_per_s: float | None = None, **changes: object) -> LoadPlan:
    stages = (Stage(duration_ns=10 * SECOND, from_per_s=per_s, to_per_s=to_per_s or per_s),)
    load = msgspec.structs.replace(Open(stages=stages, max_connections=1000), **changes)
    return plan(load=load)


def open_measurement(**changes: object) -> Measurement:
    """100,000 requests at 10,000/s, never late, on at most 20 of 1,000 connections."""
    times = uniform_histogram(100_000, 500_000)
    connections = msgspec.structs.replace(
        measurement().connections, asked=1000, opened=20, answered=20, peak=20
    )
    made = changed(
        started=100_000,
        service_time=times,
        response_time=times,
        send_lag=uniform_histogram(100_000, 20_000),
        connections=connections,
    )
    return msgspec.structs.replace(made, **changes)


def load_seen() -> Load:
    """100,000 answers in 10 s on 64 connections, of which nobody knows where they were made."""
    return see_load(plan(), measurement(), Machine())


def windowed(counts: list[int]) -> tuple[Window, ...]:
    width = 10 * SECOND // len(counts)
    return tuple(
        Window(
            start_ns=place * width,
            length_ns=width,
            phase="measured",
            started=count,
            completed=count,
            failed=0,
            bytes_read=0,
        )
        for place, count in enumerate(counts)
    )
