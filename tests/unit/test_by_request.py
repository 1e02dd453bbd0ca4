"""The requests of a mix by their names: the table of a load, of a run, and JSON."""

from __future__ import annotations

import json
from typing import Any

from made_runs import case, run, trial
from msgspec.structs import replace
from sample_load import PLAN, histogram, measurement

from assay.model.measurement import Measurement, RequestFigures
from assay.report import markdown
from assay.report.load import as_json
from assay.report.model import by_request, load_document, run_document

HOSTILE = 'a "name", of\r\nmore = lines\\'


def figures(name: str, completed: int, **changes: object) -> RequestFigures:
    fields: dict[str, Any] = {
        "name": name,
        "completed": completed,
        "failed": 0,
        "statuses": {"200": completed},
        "failures": {},
        "service_time": histogram(2e6, count=completed),
    }
    return RequestFigures(**(fields | changes))


def mixed() -> Measurement:
    failed = figures("gone", 5000, failed=7, statuses={"200": 5000, "404": 7}, failures={"reset": 7})
    return measurement(2000, by_request=(figures("GET /", 15_000), failed, figures(HOSTILE, 5000)))


def test_a_line_each_has_counts_times_and_what_was_wrong() -> None:
    found = by_request.of_load(mixed(), times=True)
    assert found is not None
    assert [one.name for one in found.columns][:2] == ["request", "throughput"], "one load has one server"
    assert found.texts("request") == ("GET /", "gone", 'a "name", of\\r\\nmore = lines\\')
    assert found.texts("throughput")[0] == "1,500"
    assert found.texts("failed") == ("0", "7", "0")
    assert found.texts("unusual") == ("", "200: 5,000, 404: 7, reset: 7", "")
    assert all(found.texts("p99"))
    invalid = by_request.of_load(mixed(), times=False)
    assert invalid is not None and not invalid.texts("p99") and not invalid.texts("max")


def test_one_name_makes_no_table() -> None:
    assert by_request.of_load(measurement(2000), times=True) is None
    assert all(one.name != "requests" for one in load_document.document(PLAN, measurement(2000), ()).sections)


def test_the_full_report_and_json_have_them() -> None:
    told = load_document.document(PLAN, mixed(), ())
    assert any(one.title == "By request" for one in told.sections)
    found = json.loads(as_json(PLAN, mixed(), ()))["by_request"]
    assert [one["completed"] for one in found] == [15_000, 5000, 5000]
    assert found[2]["name"] == HOSTILE and found[0]["service_time_ns"]["p50"] > 0


def test_a_run_has_those_of_all_trials_of_each_case() -> None:
    one, other = case("a"), case("b")
    trials = [replace(trial(case, number), measurement=mixed()) for case in "ab" for number in (0, 1)]
    made = run([one, other], trials)
    text = markdown.render(run_document.document(made))
    assert "By request" in text and "30,000" in text
    assert "| server | request |" in text
