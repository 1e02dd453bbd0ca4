"""`assay judge`: a stored run judged again from its record alone."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from made_runs import case, measurement, run, steady_run, trial

from assay import store
from assay.cli.main import main
from assay.values.finding import Finding, Subject
from assay.values.run import Run, TrialDone
from assay.verdict import judge

Captured = pytest.CaptureFixture[str]


def kept(results: Path, made: Run, code: str = "H2") -> Path:
    """The record of the run, with a judgement that knew one finding that no rule makes of it today."""
    header = msgspec.structs.replace(made.header, run_id="old-20260101-000000-abcd")
    gone = Finding(
        code=code, severity="flagged", subject=Subject(case="a"), title="an old rule", evidence="e",
        figures={}, meaning="m", remedy="r", source="s",
    )  # fmt: skip
    before = msgspec.structs.replace(judge(made, 0), findings=(gone,), hallmark=False, assay_version="0.0.1")
    with store.create(results, header) as run_file:
        for one in made.trials:
            run_file.append(TrialDone(trial=one))
        run_file.append(before)
        return run_file.path


def test_the_new_judgement_is_appended_and_its_changes_are_said(tmp_path: Path, capsys: Captured) -> None:
    path = kept(tmp_path, steady_run({"a": 10_000, "b": 12_000}))
    before = path.read_bytes()
    assert main(["judge", "latest", "--results", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "the judgement before was Assay 0.0.1's" in told
    assert "gone: H2 flagged, a: an old rule" in told
    assert "it now bears the hallmark" in told
    assert path.read_bytes().startswith(before)  # nothing that was stored is touched
    assert len(path.read_bytes().splitlines()) == len(before.splitlines()) + 1
    judgement = store.load(path).judgement
    assert judgement is not None and judgement.hallmark and judgement.judged_unix_ns > 0


def test_a_finding_of_an_unknown_rule_stays_and_its_case_is_ranked_with_that_mark(tmp_path: Path) -> None:
    path = kept(tmp_path, steady_run({"a": 10_000, "b": 12_000}), code="X9")
    assert main(["judge", str(path)]) == 0
    judgement = store.load(path).judgement
    assert judgement is not None and not judgement.hallmark
    [finding] = judgement.findings
    assert (finding.code, finding.on_throughput) == ("X9", "unknown")
    marked = next(row for row in judgement.ranking if row.case == "a")
    assert marked.tier == 2 and marked.known is not None
    assert [(limit.code, limit.words) for limit in marked.known.limits] == [
        ("X9", "a rule that this version does not have spoke"),
    ]


def test_a_dry_run_stores_nothing(tmp_path: Path, capsys: Captured) -> None:
    path = kept(tmp_path, steady_run({"a": 10_000, "b": 12_000}))
    before = path.read_bytes()
    assert main(["judge", "old", "--results", str(tmp_path), "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] is not None
    assert path.read_bytes() == before


def test_a_damaged_record_is_judged_on_what_is_whole_and_said(tmp_path: Path, capsys: Captured) -> None:
    path = kept(tmp_path, steady_run({"a": 10_000, "b": 12_000}))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b'{"record": "trial", "tri\n', *lines[4:-1], lines[-1][:40]]))
    assert main(["judge", str(path)]) == 0
    told = capsys.readouterr()
    assert "run.jsonl: line 4 is damaged" in told.err
    assert "the last line is torn and was left out" in told.err
    assert "and the run did not end" in told.out  # a trial is missing: no hallmark
    stored = store.read(path)
    assert len(stored.run.trials) == 11 and stored.run.judgement is not None
    assert not stored.run.judgement.complete


def test_nothing_to_judge_and_no_run(tmp_path: Path, capsys: Captured) -> None:
    path = kept(tmp_path, steady_run({"a": 10_000}))
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert main(["judge", str(path)]) == 2
    assert "there is no whole trial to judge" in capsys.readouterr().err
    assert main(["judge", "franklin", "--results", str(tmp_path)]) == 2
    assert "there is no run 'franklin'" in capsys.readouterr().err


def test_withheld_figures_are_an_exit_code(tmp_path: Path) -> None:
    trials = [trial(name, block, measurement(busy=0.99)) for block in range(6) for name in ("a", "b")]
    path = kept(tmp_path, run([case("a"), case("b")], trials))
    assert main(["judge", str(path)]) == 1
