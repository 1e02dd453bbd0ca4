"""A capacity as a metric of a study: real servers, searched a few trials a block."""

from __future__ import annotations

from pathlib import Path

import made_studies
import msgspec
import pytest

from assay import store
from assay.model.plan import Open
from assay.model.run import Run
from assay.report import markdown
from assay.report.model.run_document import document
from assay.verdict import judge
from assay.verdict.search import answers_of

OBJECTIVE = "mean<10s,errors<50%"
"""Held by whatever keeps up with the rate: what is found is what the server carries."""
TRIALS = 3


def write(folder: Path, *modes: str) -> None:
    made_studies.write(folder, modes, blocks=2, connections=2, warm_up_s=0)
    file = folder / "studies" / "small.toml"
    head, loads, load = file.read_text().partition("[[profiles.fair.loads]]")
    sizes = f"capacity_trials = {TRIALS}\ncapacity_s = 0.3\n"
    file.write_text(f'{head}{sizes}{loads}{load}objective = "{OBJECTIVE}"\n')


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("capacity")
    write(folder, "right", "dies")
    finished = made_studies.run(folder)
    return msgspec.structs.replace(finished, judgement=judge(finished, 0))


def test_the_search_follows_the_closed_loop_of_its_block_at_rates_of_its_own(run: Run) -> None:
    order = [trial.case for trial in run.trials if "right" in trial.case]
    assert order == ["greeting/right", *["greeting/right@capacity"] * TRIALS] * 2
    rates = [
        trial.plan.load.stages[0].to_per_s
        for trial in run.trials
        if trial.case == "greeting/right@capacity" and isinstance(trial.plan.load, Open)
    ]
    assert len(rates) == 2 * TRIALS
    assert len(set(rates)) > TRIALS  # one goes on from block to block; at an end of its range it asks twice


def test_its_answer_is_in_the_record_and_in_the_report(run: Run) -> None:
    found = answers_of(run)["greeting/right@capacity"]
    assert found is not None and found.capacity is not None
    assert sum(step.holds is not None for step in found.steps) == found.capacity.n
    assert run.judgement is not None and run.judgement.complete
    place = next(one for one in run.judgement.ranking if one.case == "greeting/right@capacity")
    assert place.throughput == found.capacity
    page = markdown.render(document(run)).replace("\\", "")
    assert f"\n## Capacity: c2, {OBJECTIVE}\n" in page
    assert any(line.startswith("| greeting/right | ") and " | 6 | " in line for line in page.splitlines())


def test_a_server_that_fails_its_closed_loop_is_a_row_with_the_reason(run: Run) -> None:
    failures = [t.failure for t in run.trials if t.case == "greeting/dies@capacity"]
    assert failures and all(one is not None and "no range to search" in one.reason for one in failures)
    assert answers_of(run)["greeting/dies@capacity"] is None


@pytest.mark.beside
def test_a_search_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    write(tmp_path, "right")
    whole = made_studies.run(tmp_path)
    path = store.find(tmp_path / "results", "latest")
    file = path if path.is_file() else path / "run.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:4]))  # the header, the closed loop, two trials of the search
    again = made_studies.go_on(tmp_path)
    assert [trial.case for trial in again.trials] == [trial.case for trial in whole.trials]
    assert again.trials[:3] == whole.trials[:3]
