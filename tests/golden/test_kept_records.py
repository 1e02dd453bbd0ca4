"""Records of every kind of run, kept as they were measured, are read, judged and shown."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import get_args

import jsonschema
import pytest

from assay import store
from assay.cli import main as cli
from assay.model.design import Design, LoadDesign
from assay.model.run import FORMAT

RECORDS = Path(__file__).parent / "records"
KEPT = sorted(RECORDS.glob("*/run.jsonl"))
SAID = {
    "sample": (5, "quotes/java-vertx is fastest: 1.11× quotes/go [1.07, 1.15]"),
    "capacity": (10, "p99<50ms"),
    "franklin": (4, "No ranking: "),
    "versus": (12, "a and b may not be compared"),
}
"""How many trials each record holds, and what its report says."""


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.parent.name)
def test_a_kept_record_is_reported_in_every_form(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = store.read(path)
    trials, said = SAID[path.parent.name]
    assert read.notes == ()
    assert len(read.run.trials) == trials
    assert read.run.judgement is not None
    assert read.run.header.format == FORMAT
    flags = [
        "--html",
        str(tmp_path / "r.html"),
        "--markdown",
        str(tmp_path / "r.md"),
        "--csv",
        str(tmp_path / "r.csv"),
    ]
    assert cli.main(["report", str(path)]) == 0
    assert said in capsys.readouterr().out
    assert cli.main(["report", str(path), *flags]) == 0
    assert len(list(tmp_path.iterdir())) == 3
    assert cli.main(["judge", str(path), "--dry-run"]) in (0, 1)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.parent.name)
def test_a_kept_record_is_compared(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a copy of itself: what may be compared is the same."""
    other = tmp_path / "run.jsonl"
    other.write_bytes(path.read_bytes())
    assert cli.main(["compare", str(path), str(other), "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)["changes"]
    same = {"throughput": 1.0, "p99": 1.0, "memory": 1.0, "start": 1.0, "errors": 0.0}
    assert {change["metric"] for change in changes} == same.keys()
    for change in changes:
        assert change["change"] is None or change["change"]["value"] == same[change["metric"]]


def test_the_schema_is_that_of_a_stored_line() -> None:
    validator = jsonschema.Draft202012Validator(store.json_schema())
    path = RECORDS / "sample" / "run.jsonl"
    for line in map(json.loads, path.read_bytes().splitlines()):
        validator.validate(line)
        del line["crc32"]
        assert not validator.is_valid(line)


def test_a_line_is_checked_as_its_document_says() -> None:
    """The recipe of ARCHITECTURE.md, by hand: CRC-32 of what follows the first comma."""
    path = RECORDS / "sample" / "run.jsonl"
    for line in path.read_bytes().splitlines():
        _, _, rest = line.partition(b",")
        stored = json.loads(line)
        assert re.fullmatch("[0-9a-f]{8}", stored["crc32"])
        assert int(stored["crc32"], 16) == zlib.crc32(rest)
        assert stored["format"] == FORMAT


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.parent.name)
def test_a_record_that_is_cut_off_in_mid_line_is_read_up_to_there(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    trials = [line for line in lines if b'"record":"trial"' in line[:120]]
    cut = tmp_path / "cut" / "run.jsonl"
    cut.parent.mkdir()
    cut.write_bytes(b"".join([lines[0], *trials[:2], trials[2][: len(trials[2]) // 2]]))
    read = store.read(cut)
    assert [note.rpartition(": ")[2] for note in read.notes] == ["the last line is torn and was left out"]
    assert len(read.run.trials) == 2 and read.run.judgement is None
    assert cli.main(["report", str(cut)]) == 0
    assert "torn" in capsys.readouterr().err
    assert cli.main(["judge", str(cut), "--dry-run"]) in (0, 1)


def test_the_kept_records_are_of_every_kind_of_run() -> None:
    kinds = {type(store.load(path).header.design) for path in KEPT}
    assert kinds == set(get_args(Design)) - {LoadDesign}
