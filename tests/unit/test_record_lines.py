"""A record holds each of its lines once, and none of another run: what was copied into it changes no figure.

Every line of such a record is whole, so that no checksum tells.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import sample_run
from msgspec.structs import replace

from assay import store
from assay.cli import main as cli
from assay.model.run import Run, TrialDone

Captured = pytest.CaptureFixture[str]
OLD = Path(__file__).parents[1] / "golden" / "records"


def record(folder: Path, run_id: str = "franklin-20251121-080000-3f2a", **per_s: float) -> tuple[Path, Run]:
    """A record of ten trials and their judgement, and its run as it is read."""
    made = sample_run.judged(
        Run(
            header=replace(sample_run.run().header, run_id=run_id),
            trials=sample_run.trials(2, **per_s),
            judgement=None,
        )
    )
    path = sample_run.stored(made, folder / "results")
    return path, store.load(path)


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_lines_that_are_there_twice_count_once(tmp_path: Path) -> None:
    path, before = record(tmp_path)
    first, *rest = lines_of(path)
    draw = random.Random(7)
    for _ in range(50):
        doubled = [line for line in rest for _ in range(draw.choice((1, 1, 2, 3)))]
        if draw.random() < 0.5:  # all of them, as where a file was put behind itself
            doubled = [*rest, *rest[draw.randrange(len(rest)) :]]
        path.write_bytes(b"".join([first, *doubled]))
        read = store.read(path)
        assert read.run.trials == before.trials
        assert len(read.notes) == len(doubled) - len(rest)
        assert all("once more) and was left out" in note for note in read.notes)


def test_lines_of_another_run_are_left_out_and_told(tmp_path: Path) -> None:
    path, before = record(tmp_path)
    other, _ = record(tmp_path, "franklin-20251122-080000-0001", go=90_000.0)
    content, foreign = path.read_bytes(), lines_of(other)
    for place in range(1, len(foreign)):
        mine = content.splitlines(keepends=True)
        mine.insert(place, foreign[place])
        path.write_bytes(b"".join(mine))
        read = store.read(path)
        assert read.run.trials == before.trials
        [note] = read.notes
        assert "it is of the run franklin-20251122-080000-0001" in note


def test_missing_lines_are_told(tmp_path: Path) -> None:
    path, before = record(tmp_path)
    lines = lines_of(path)
    path.write_bytes(b"".join([*lines[:3], *lines[5:-1]]))
    read = store.read(path)
    assert read.notes == (f"{path}: lines 4 to 5 are missing",)
    assert read.run.trials == (*before.trials[:2], *before.trials[4:])


def test_a_header_of_another_record_is_refused(tmp_path: Path, capsys: Captured) -> None:
    path, _ = record(tmp_path)
    lines = lines_of(path)
    path.write_bytes(b"".join([lines[0].replace(b'"line":1,', b'"line":9,', 1), *lines[1:]]))
    assert cli.main(["report", str(path)]) == 2
    assert "run.jsonl:1: no header of a run record" in capsys.readouterr().err


def test_the_numbers_go_on_where_a_damaged_record_is_gone_on_with(tmp_path: Path) -> None:
    path, before = record(tmp_path)
    lines = lines_of(path)
    lines[2] = lines[2].replace(b'"number":1,', b'"number":7,', 1)
    path.write_bytes(b"".join(lines[:4]) + lines[4][:50])  # and the last of them is torn
    for trial in before.trials[3:6]:
        again, _ = store.reopen(path)
        with again:
            again.append(TrialDone(trial=trial))
    read = store.read(path)
    assert read.run.trials == (before.trials[0], *before.trials[2:6])
    assert read.notes == (f"{path}: line 3 is damaged (its checksum does not fit) and was left out",)


def test_a_comparison_says_in_every_form_what_is_damaged(tmp_path: Path, capsys: Captured) -> None:
    base, _ = record(tmp_path)
    new, _ = record(tmp_path, "franklin-20251122-080000-0001")
    lines = lines_of(new)
    new.write_bytes(b"".join([*lines[:3], lines[2], *lines[3:]]))
    for form in ([], ["--json"], ["--markdown", "-"], ["--html", "-"]):
        cli.main(["compare", str(base), str(new), *form])
        out = " ".join(capsys.readouterr().out.split())
        assert "the record of new: line 4 is damaged (it is line 3 once more) and was" in out.replace(
            "\\", ""
        )
