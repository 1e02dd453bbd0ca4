"""Values over time for other tools: any name stays in its place, and every reader reads them."""

from __future__ import annotations

import csv
import io
import re

import pytest
import sample_run
from hypothesis import example, given
from hypothesis import strategies as st
from made_runs import case, run, trial
from msgspec.structs import replace
from test_by_request import figures, mixed

from assay.core.units import visible
from assay.model.run import Run
from assay.report import metrics, series

parser = pytest.importorskip("prometheus_client.openmetrics.parser")
NAMES = st.text(min_size=1, max_size=20)


def named(name: str) -> Run:
    one = replace(mixed(), by_request=(figures(name, 5000), figures("other", 500)))
    return run([case("a")], [replace(trial("a", 0), measurement=one)])


def test_each_row_is_a_value_at_a_time() -> None:
    rows = list(csv.DictReader(io.StringIO(series.windows_csv(sample_run.run()), newline="")))
    assert list(rows[0]) == ["time", "case", "request", "metric", "value"]
    assert {row["metric"] for row in rows} >= {"started", "completed", "failed", "throughput_per_s"}
    assert {row["case"] for row in rows} == {one.case for one in sample_run.run().trials if one.measurement}
    assert all(re.fullmatch(r"\d+\.\d{9}", row["time"]) for row in rows)


@given(NAMES)
@example("\r")
@example("\t=1+1")
def test_csv_keeps_any_name_in_its_cell(name: str) -> None:
    rows = list(csv.DictReader(io.StringIO(series.windows_csv(named(name)), newline="")))
    shown = visible(name)
    wanted = f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown
    assert {row["request"] for row in rows} == {"", "other", wanted}
    assert all(None not in row and None not in row.values() for row in rows)


def tags(line: str) -> dict[str, str]:
    """The tags of a line, read as Influx reads them."""
    head = re.match(r"(?:\\.|[^\\ ]|\\)*? ", line)
    assert head is not None
    parts = re.split(r"(?<!\\),", line[: head.end() - 1])
    pairs = [re.split(r"(?<!\\)=", part, maxsplit=1) for part in parts[1:]]
    return {name: re.sub(r"\\([,= ])", r"\1", value) for name, value in pairs}


@given(NAMES)
def test_a_tag_of_influx_keeps_any_name(name: str) -> None:
    lines = series.line_protocol(named(name)).split("\n")
    assert lines.pop() == ""
    wanted = visible(name).replace("\\", "\uff3c")
    found = [line for line in lines if line.startswith("assay,") and ",request=" in line]
    assert wanted in {tags(line)["request"] for line in found}
    assert all(re.search(r" [a-z0-9_]+=[0-9.eE+-]+i?(,[a-z0-9_]+=[0-9.eE+-]+i?)* \d+$", one) for one in lines)


@given(NAMES)
def test_open_metrics_keeps_any_name(name: str) -> None:
    text = metrics.open_metrics(named(name))
    read = list(parser.text_string_to_metric_families(text))
    found = {one.labels["request"] for family in read for one in family.samples}
    assert found == {visible(name), "other"}
    times = next(one for one in read if one.name == "assay_request_duration_seconds")
    counts = [s.value for s in times.samples if s.name.endswith("_bucket") and s.labels["request"] == "other"]
    assert counts == sorted(counts) and counts[-1] == 500
