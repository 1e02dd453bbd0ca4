"""Whatever is cut off a record or turned over in it: nothing fails, and no figure changes in silence.

A record is read in one place. So each of a thousand cuts and a thousand turned bits is read, and what comes
of it is held against the whole record; the verbs are run once on everything different that came of it.
"""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import sample_run
from msgspec.structs import replace

from assay import store
from assay.cli import main as cli
from assay.core.errors import InputError
from assay.model.run import Run, TrialDone
from assay.store.lines import LinePlace, seal

Captured = pytest.CaptureFixture[str]
CUTS = FLIPS = 1000
RECORDS = Path(__file__).parents[1] / "golden" / "records"
OLD = RECORDS / "sample" / "run.jsonl"


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A record of three trials and their judgement, in a folder of runs."""
    made = sample_run.run()
    return sample_run.stored(replace(made, trials=made.trials[:3]), tmp_path / "results")


def changed(content: bytes) -> Iterator[bytes]:
    """The content cut off, and with one bit turned over, a thousand times each."""
    draw = random.Random(20)
    for _ in range(CUTS):
        yield content[: draw.randrange(len(content))]
    for _ in range(FLIPS):
        place = draw.randrange(8 * len(content))
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        yield bytes(flipped)


def outcome(path: Path) -> store.Stored | str:
    """What is read, or why nothing is."""
    try:
        return store.read(path)
    except InputError as problem:
        return str(problem)


def different(path: Path) -> Iterator[tuple[store.Stored | str, bytes]]:
    """Everything different that comes of the changes, each with one change that brings it about."""
    content, before = path.read_bytes(), store.load(path)
    seen: set[object] = set()
    for damaged in changed(content):
        path.write_bytes(damaged)
        read = outcome(path)
        if isinstance(read, store.Stored):
            check_told(before, read, content.startswith(damaged) and damaged.endswith(b"\n"))
        told = read if isinstance(read, str) else (read.notes, len(read.run.trials), bool(read.run.judgement))
        if told not in seen:
            seen.add(told)
            yield read, damaged
    path.write_bytes(content)


def check_told(before: Run, read: store.Stored, cut_between_lines: bool) -> None:
    """All that is left is what was written, and what is not left is told."""
    assert read.run.header == before.header
    assert all(trial in before.trials for trial in read.run.trials)
    assert read.run.judgement in (before.judgement, None)
    lost = read.run.trials != before.trials or read.run.judgement is None
    assert bool(read.notes) or not lost or cut_between_lines


def test_no_verb_fails_on_damage_and_none_is_silent(whole: Path, capsys: Captured) -> None:
    before = store.load(whole)
    results = whole.parents[1]
    other = replace(before.header, run_id="other-20251120-080000-aaaa")
    beside = sample_run.stored(replace(before, header=other), results)
    kinds = 0
    for read, damaged in different(whole):
        kinds += 1
        whole.write_bytes(damaged)
        readable = isinstance(read, store.Stored)
        for words in (
            ["report", str(whole)],
            ["judge", str(whole), "--dry-run"],
            ["compare", str(beside), str(whole)],
            ["run", "--resume", str(whole)],
            ["history"],
            ["report", str(beside)],
        ):
            given = [] if words[0] != "history" else ["--results", str(results)]
            code = cli.main([*words, *given])
            told = capsys.readouterr()
            assert code in (0, 1, 2), (words, told.err)
            assert "Traceback" not in told.err
            if words[-1] == str(whole) and words[0] != "run":
                assert readable or (code == 2 and told.err.count("\n") == 1)
            if words[0] == "history" or words[-1] == str(beside):
                assert code == 0 and "other-20251120" in told.out  # it is in nobody else's way
            if words[0] == "history" and not readable:
                assert "\n!" in told.out
    assert 10 < kinds < 60


def test_a_damaged_record_is_gone_on_with_behind_what_is_whole(whole: Path) -> None:
    next_trial = TrialDone(trial=sample_run.run().trials[3])
    for read, damaged in different(whole):
        if isinstance(read, str):
            continue
        whole.write_bytes(damaged)
        file, _ = store.reopen(whole)
        with file:
            file.append(next_trial)
        assert store.load(whole).trials == (*read.run.trials, next_trial.trial)


@pytest.mark.parametrize("kept", ["sample", "capacity", "franklin", "versus"])
def test_a_record_whose_header_has_no_cases_is_told_in_a_line(
    kept: str, tmp_path: Path, capsys: Captured
) -> None:
    header = msgspec.structs.replace(store.load(RECORDS / kept).header, cases=())
    with store.create(tmp_path, header) as file:
        pass
    (tmp_path / "run.jsonl").write_bytes(file.path.read_bytes())
    for words in (["report"], ["report", "--json"], ["judge", "--dry-run"]):
        code = cli.main([words[0], str(tmp_path), *words[1:]])
        told = capsys.readouterr()
        assert code in (0, 2), told.err
        assert kept != "capacity" or (code, told.err.count("\n")) == (2, 1)
        assert kept != "capacity" or "a search is of one case, and it has 0 cases" in told.err


def test_the_damage_is_told_in_every_form(whole: Path, capsys: Captured) -> None:
    content = whole.read_bytes()
    whole.write_bytes(content.replace(b'"number":1,', b'"number":7,', 1))
    said = "line 3 is damaged (its checksum does not fit) and was left out"
    for flag in ("--json", "--markdown", "--html", "--junit", "--csv", "--benchstat"):
        words = [flag] if flag == "--json" else [flag, "-"]
        assert cli.main(["report", str(whole), *words]) == 0
        told = capsys.readouterr()
        assert said in told.err
        assert flag != "--json" or json.loads(told.out)["damage"] == [said]
        if flag in ("--markdown", "--html"):
            assert "D5" in told.out and "its checksum does not fit" in told.out.replace("\\", "")


def test_a_damaged_series_or_other_profile_is_in_no_runs_way(whole: Path, capsys: Captured) -> None:
    run = store.load(whole)
    results = whole.parents[1]
    header = replace(run.header, series="series-1")
    whole.write_bytes(seal(header, LinePlace(header.run_id, 1)) + whole.read_bytes().partition(b"\n")[2])
    (results / "series-1").mkdir()
    (results / "series-1" / "series.json").write_bytes(b"\xff{")
    assert cli.main(["report", str(whole)]) == 0
    told = capsys.readouterr()
    assert "shown without the other profile: " in told.err and "no series of runs" in told.err
    assert "quotes/go" in told.out


def test_ends_that_cross_are_told_in_one_sentence(whole: Path) -> None:
    """Nothing lies between them: the judgement is none, and is made anew from the trials."""
    judgement = store.load(whole).judgement
    assert judgement is not None
    written = json.loads(seal(judgement, LinePlace(store.load(whole).header.run_id, 6)))
    del written["crc32"]
    written["ranking"][0]["known"] = {"low": 161_000.0, "high": 134_000.0, "limits": []}
    rest = json.dumps(written, separators=(",", ":")).encode()[1:]
    whole.write_bytes(whole.read_bytes() + b'{"crc32":"%08x",%s\n' % (zlib.crc32(rest), rest))
    read = store.read(whole)
    [note] = read.notes
    assert "the ends of what is known cross: at least 161000 and at most 134000" in note
    assert note.endswith("was left out") and read.run.judgement is None
