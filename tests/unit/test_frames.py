"""`frames()`: tidy tables of plain values, the same whatever kind of run they are of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT

import assay
from assay.report.frames import TABLES

RECORDS = sorted((ROOT / "tests" / "golden" / "records").rglob("run.jsonl*"))


def frames_of(path: Path) -> dict[str, dict[str, list[Any]]]:
    return assay.read_run(path).frames()


@pytest.fixture(params=RECORDS, ids=lambda path: path.parent.name)
def frames(request: pytest.FixtureRequest) -> dict[str, dict[str, list[Any]]]:
    return frames_of(request.param)


def test_each_table_has_its_columns_all_of_one_length(frames: dict[str, dict[str, list[Any]]]) -> None:
    assert list(frames) == list(TABLES)
    for name, columns in frames.items():
        assert set(TABLES[name]) <= set(columns)
        assert len({len(values) for values in columns.values()}) == 1


def test_values_are_plain(frames: dict[str, dict[str, list[Any]]]) -> None:
    values = [one for columns in frames.values() for column in columns.values() for one in column]
    assert {type(one) for one in values} <= {str, int, float, bool, type(None)}


def test_rows_say_whose_they_are(frames: dict[str, dict[str, list[Any]]]) -> None:
    cases = set(frames["cases"]["case"])
    for name in ("trials", "latency", "windows", "slices"):
        assert set(frames[name]["case"]) <= cases
    assert set(frames["findings"]["case"]) <= {*cases, None}
    trials = set(frames["trials"]["trial"])
    assert all(set(frames[name]["trial"]) <= trials for name in ("latency", "windows", "slices"))


def test_windows_add_up_to_their_trials(frames: dict[str, dict[str, list[Any]]]) -> None:
    windows, trials = frames["windows"], frames["trials"]
    measured = [place for place, phase in enumerate(windows["phase"]) if phase == "measured"]
    for number, completed in zip(trials["trial"], trials["completed"], strict=True):
        mine = [windows["completed"][place] for place in measured if windows["trial"][place] == number]
        assert not mine or sum(mine) == pytest.approx(completed, rel=1e-3)


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "docs" / "frames.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    try:
        for number, cell in enumerate(cells):
            exec(compile(cell, f"cell {number}", "exec"), names)
    finally:
        names["server"].kill()
    assert names["frames"]["latency"]["latency_ns"]
