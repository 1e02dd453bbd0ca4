"""The rate that a load kept: over the time that it was to take, and none where nothing was measured."""

from __future__ import annotations

import json

import pytest
from made_runs import SECOND, changed, measurement, plan
from msgspec.structs import replace
from rich.console import Console

from assay import stats
from assay.model.measurement import Measurement
from assay.model.plan import LoadPlan, Open, Stage, StopAfter, StopAtCount
from assay.report import load, terminal
from assay.report.model.load_document import document

FIVE = replace(
    plan(),
    load=Open(stages=(Stage(duration_ns=SECOND, from_per_s=5, to_per_s=5),), max_connections=5),
    stop=StopAtCount(count=5),
)


def answered(count: int, seconds: float, failed: int = 0) -> Measurement:
    return replace(
        changed(completed=count, failed=failed, started=count + failed), measured_ns=int(seconds * SECOND)
    )


@pytest.mark.parametrize(
    ("asked", "seen", "kept"),
    [
        (FIVE, answered(5, 0.8), 5.0),
        (FIVE, answered(5, 2.0), 2.5),  # the server did not keep up
        (FIVE, answered(4, 0.8, failed=1), 4.0),
        (FIVE, answered(3, 0.5), 6.0),  # interrupted: nobody knows of which interval
        (replace(FIVE, stop=StopAfter(ns=SECOND)), answered(5, 1.0), 5.0),
        (plan(), answered(5, 0.8), 6.25),  # a closed loop has no intervals
        (FIVE, answered(0, 0.0), None),
    ],
)
def test_a_counted_load_at_a_rate_says_the_rate_that_it_kept(
    asked: LoadPlan, seen: Measurement, kept: float | None
) -> None:
    assert stats.kept_per_s(asked, seen) == kept
    assert json.loads(load.as_json(asked, seen, ()))["throughput_per_s"] == kept


def test_a_load_that_ended_in_its_warm_up_has_no_throughput() -> None:
    seen = replace(measurement(), measured_ns=0, completed=0, interrupted=True)
    console = Console(width=100)
    with console.capture() as capture:
        console.print(terminal.in_full(document(plan(), seen, ())))
    assert "no rate: it ended before anything was measured" in capture.get()
    assert "0/s" not in capture.get().split("answers")[0]
    assert json.loads(load.as_json(plan(), seen, ()))["throughput_known"] is None
