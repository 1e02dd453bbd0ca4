"""The result of `assay load` as JSON: the figures a script asks for, and all they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay import verdict
from assay.core import units as fmt
from assay.model.finding import Finding
from assay.model.measurement import Histogram, Measurement
from assay.model.plan import LoadPlan
from assay.model.trial import GeneratorSeen
from assay.report.model.loads import PERCENTILES, is_invalid, known_throughput, percentile_name
from assay.stats import kept_per_s, quantiles

FORMAT = 3
"""Raised whenever a key changes its meaning or goes."""


def encode(
    plan: LoadPlan,
    measurement: Measurement,
    findings: Sequence[Finding],
    generators: Sequence[GeneratorSeen] = (),
) -> str:
    """Write the document, indented. Invalid figures are null; what was seen is in `measurement`."""
    times = not is_invalid(findings, "times")
    response, shaken = measurement.response_time, measurement.handshake_time
    document = {
        "format": FORMAT,
        "clean": all(finding.severity == "note" for finding in findings),
        "throughput_per_s": None if is_invalid(findings) else kept_per_s(plan, measurement),
        "throughput_known": None if is_invalid(findings) else known_throughput(plan, measurement, findings),
        "times_known": _times_known(findings) if times else None,
        "completed": measurement.completed,
        "failed": measurement.failed,
        "service_time_ns": _percentiles(measurement.service_time) if times else None,
        "response_time_ns": _percentiles(response) if times and response is not None else None,
        "connect_time_ns": _percentiles(measurement.connect_time) if times else None,
        "handshake_time_ns": _percentiles(shaken) if times and shaken is not None else None,
        "first_byte_time_ns": _percentiles(measurement.first_byte_time) if times else None,
        "findings": findings,
        "plan": plan,
        "measurement": measurement,
        **({"generators": generators} if generators else {}),
    }
    return fmt.as_json(document)


def _times_known(findings: Sequence[Finding]) -> dict[str, Any]:
    """Whether the times are what was measured, or at least that, or at most; and why."""
    left = verdict.bounded(findings, "", "times")
    return {
        "at_least": left.slack.up > 1,
        "at_most": left.slack.down < 1,
        "limits": left.limits,
    }


def _percentiles(times: Histogram) -> dict[str, Any]:
    """Percentiles with enough requests behind them; null for the others."""
    found = quantiles(times, PERCENTILES)
    named = {
        percentile_name(p): value and value.value_ns for p, value in zip(PERCENTILES, found, strict=True)
    }
    return named | {"mean": times.mean_ns, "max": times.max_ns}
