"""`assay judge`: a stored run judged again from its record alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as xml

import msgspec
import pytest
from judged import noted_else
from made_runs import case, measurement, run, steady_run, trial, with_trials

from assay import store
from assay.cli.main import main
from assay.model.design import LoadDesign
from assay.model.finding import Finding, Subject
from assay.model.run import Run, TrialDone
from assay.model.trial import ContractSeen, Failure, Trial
from assay.report import exports
from assay.verdict import exit_codes, judge

Captured = pytest.CaptureFixture[str]


def kept(results: Path, made: Run, code: str = "H2") -> Path:
    """The record of the run, with a judgement that knew one finding that no rule makes of it today."""
    header = msgspec.structs.replace(made.header, run_id="old-20260101-000000-abcd")
    gone = Finding(
        code=code, severity="warning", subject=Subject(case="a"), title="an old rule", evidence="e",
        figures={}, meaning="m", remedy="r", source="s",
    )  # fmt: skip
    before = msgspec.structs.replace(judge(made, 0), findings=(gone,), clean=False, assay_version="0.0.1")
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
    assert "gone: H2 warning, a: an old rule" in told
    assert "it now is clean" in told
    assert path.read_bytes().startswith(before)  # nothing that was stored is touched
    assert len(path.read_bytes().splitlines()) == len(before.splitlines()) + 1
    judgement = store.load(path).judgement
    assert judgement is not None and judgement.clean and judgement.judged_unix_ns > 0


def test_a_finding_of_an_unknown_rule_stays_and_its_case_is_ranked_with_that_mark(tmp_path: Path) -> None:
    path = kept(tmp_path, steady_run({"a": 10_000, "b": 12_000}), code="X9")
    assert main(["judge", str(path)]) == 0
    judgement = store.load(path).judgement
    assert judgement is not None and not judgement.clean
    [finding] = noted_else(judgement.findings)
    assert (finding.code, finding.on_throughput) == ("X9", "unknown")
    marked = next(row for row in judgement.ranking if row.case == "a")
    assert marked.rank == 2 and marked.known is not None
    assert [(limit.code, limit.words) for limit in marked.known.limits] == [
        ("X9", "a rule that this version does not have spoke"),
    ]


def test_what_an_unknown_rule_found_is_shown_with_its_mark(tmp_path: Path, capsys: Captured) -> None:
    path = kept(tmp_path, steady_run({"a": 10_000, "b": 12_000}), code="X9")
    assert main(["report", str(path), "--verbose"]) == 0
    assert "X9 warning an old rule" in " ".join(capsys.readouterr().out.split())
    assert main(["judge", str(path), "--verbose"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "What limits it: a rule that this version does not have spoke (X9: a)." in shown
    assert "not known to this version: ranked with this mark" in shown
    assert main(["explain", "X9"]) == 2
    assert capsys.readouterr().err.startswith("assay: there is no rule 'X9'")


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
    assert "the run did not end" in told.out  # a trial is missing: not clean
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


def busy(name: str, block: int, **changes: object) -> Trial:
    """A trial with a full generator in front of a server whose cores are full, too."""
    return trial(name, block, measurement(busy=0.99), **changes)


def test_times_that_are_invalid_are_no_exit_code_where_throughputs_stand(tmp_path: Path) -> None:
    made = run([case("a"), case("b")], [busy(name, block) for block in range(6) for name in ("a", "b")])
    path = kept(tmp_path, made)
    assert main(["judge", str(path)]) == 0
    now = store.load(path)
    assert now.judgement is not None
    assert {(one.code, one.severity) for one in now.judgement.findings if one.code == "G1"} == {
        ("G1", "error")
    }
    assert exit_codes.of(now) == 0 and exit_codes.failing(now) == {}


def test_a_throughput_that_is_void_is_an_exit_code(tmp_path: Path) -> None:
    wrong = ContractSeen(before=5, before_wrong=1, during=1000, during_wrong=0, after=5, after_wrong=0)
    made = with_trials(steady_run({"a": 10_000, "b": 12_000}), {"a": {"contract": wrong}})
    path = kept(tmp_path, made)
    assert main(["judge", str(path)]) == 1
    assert exit_codes.failing(store.load(path)) == {"a": "its throughput is invalid"}


def told_by_junit(made: Run) -> dict[str, str]:
    """The cases that its JUnit XML fails, and by what."""
    suite = xml.fromstring(exports.as_junit(made, exit_codes.failing(made)))
    return {
        test.get("name", ""): found.get("message", "")
        for test in suite.iter("testcase")
        for found in test
        if found.tag in ("failure", "error")
    }


def comparison(
    rates: Mapping[str, Sequence[float | None]], workers: Sequence[int] = (1, 1, 1), **changes: object
) -> Run:
    """Candidates at these rates, block by block (None: it did not start), looked at after each; judged."""
    trials = [
        trial(
            name,
            block,
            measurement(per_s) if per_s else Failure(stage="start", reason="it ended"),
            started_at_unix_ns=len(rates) * block + place,
        )
        for place, (name, each) in enumerate(rates.items())
        for block, per_s in enumerate(each)
    ]
    cases = [case(name, facts={"workers": of}) for name, of in zip(rates, workers, strict=False)]
    made = run(cases, trials, 0, {"kind": "versus", "margin": 0.02})
    design = msgspec.structs.replace(made.header.design, **changes)
    made = msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, design=design))
    return msgspec.structs.replace(made, judgement=judge(made, 0))


STEADY = [10_000 + 10 * block for block in range(8)]
FASTER = [20_000 - 10 * block for block in range(8)]
SWINGING = [10_000 * (1 + 0.2 * (-1) ** block) for block in range(8)]


@pytest.mark.parametrize(
    ("made", "code", "failing"),
    [
        (comparison({"a": STEADY, "b": FASTER}), 0, {}),
        (comparison({"a": SWINGING, "b": STEADY}), 1, {"a": "whether it differs from b is not settled"}),
        (
            comparison({"a": STEADY, "b": FASTER, "c": [1.9 * per_s for per_s in SWINGING]}),
            1,
            {"c": "whether it differs from b is not settled"},
        ),
        (comparison({"a": STEADY, "b": [None] * 8}), 1, {"b": "it was not measured"}),
        (comparison({"a": STEADY, "b": FASTER}, slower_allowed=0.02), 0, {}),
        (
            comparison({"a": FASTER, "b": STEADY}, slower_allowed=0.02),
            3,
            {"b": "it is slower than its limit allows"},
        ),
        (comparison({"a": SWINGING, "b": STEADY}, slower_allowed=0.02), 0, {}),
        (
            comparison({"a": SWINGING, "b": STEADY}, slower_allowed=0.02, unsure_fails=True),
            1,
            {"b": "whether it is slower than its limit allows cannot be told"},
        ),
        (comparison({"a": STEADY, "b": FASTER}, slower_allowed=0.02, unsure_fails=True), 0, {}),
    ],
    ids=["settled", "open", "one of two open", "dead", "kept", "broken", "unsure", "unsure fails", "sure"],
)
def test_junit_fails_the_cases_for_whose_sake_the_exit_code_does(
    made: Run, code: int, failing: dict[str, str]
) -> None:
    assert exit_codes.of(made) == code
    assert exit_codes.failing(made) == failing
    assert told_by_junit(made).keys() == failing.keys()


@pytest.mark.parametrize("allowed", [None, 0.02])
def test_a_comparison_that_a_rule_forbids_fails_in_junit_too(allowed: float | None) -> None:
    made = comparison({"a": STEADY, "b": FASTER}, workers=(1, 2), slower_allowed=allowed)
    assert exit_codes.of(made) == 1
    [said] = told_by_junit(made).values()
    assert said.endswith(": W6")


@pytest.mark.parametrize("allowed", [None, 0.02])
def test_candidates_that_are_all_void_leave_nothing_to_compare(
    allowed: float | None, tmp_path: Path, capsys: Captured
) -> None:
    wrong = ContractSeen(before=5, before_wrong=1, during=1000, during_wrong=0, after=5, after_wrong=0)
    made = comparison({"a": STEADY, "b": FASTER}, slower_allowed=allowed)
    made = with_trials(made, {"a": {"contract": wrong}, "b": {"contract": wrong}})
    path = kept(tmp_path, msgspec.structs.replace(made, judgement=None))
    assert main(["judge", str(path)]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "b and a may not be compared (W1: wrong answers)" in shown
    assert told_by_junit(store.load(path)) == dict.fromkeys("ab", "W1 wrong answers")


def test_a_run_of_which_nothing_could_be_measured_fails_in_junit_too() -> None:
    lacking = Failure(stage="requires", reason="the program is not installed")
    made = run([case("a"), case("b")], [trial("a", 0, lacking), trial("b", 0, lacking)], 1)
    made = msgspec.structs.replace(made, judgement=judge(made, 0))
    assert exit_codes.of(made) == 1
    assert told_by_junit(made).keys() == {"a", "b"}


def test_a_comparison_that_is_judged_again_ends_as_it_did(tmp_path: Path) -> None:
    open_yet = kept(tmp_path / "open", comparison({"a": STEADY[:1], "b": STEADY[:1]}))
    assert main(["judge", str(open_yet)]) == 1  # one block settles nothing
    settled = kept(tmp_path / "settled", comparison({"a": STEADY, "b": FASTER}))
    assert main(["judge", str(settled)]) == 0


def test_a_limit_that_is_broken_fails_the_candidate_that_breaks_it(tmp_path: Path) -> None:
    path = kept(
        tmp_path, comparison({"base": STEADY, "head": [0.8 * x for x in STEADY]}, slower_allowed=0.05)
    )
    assert main(["judge", str(path)]) == 3
    assert exit_codes.failing(store.load(path)) == {"head": "it is slower than its limit allows"}


def test_a_load_is_asked_for_its_times_too(tmp_path: Path) -> None:
    made = run([case("a")], [busy("a", 0)], 1)
    header = msgspec.structs.replace(made.header, design=LoadDesign(title="Load"))
    path = kept(tmp_path, msgspec.structs.replace(made, header=header))
    assert main(["judge", str(path)]) == 0  # a full client leaves bounds, and bounds are an answer
    judgement = store.load(path).judgement
    assert judgement is not None and ("G1", "error") in {(f.code, f.severity) for f in judgement.findings}
    lost = [msgspec.structs.replace(one, on_times="void") for one in judgement.findings]
    assert exit_codes.of_load(judgement.findings) == exit_codes.of_load(()) == 0
    assert exit_codes.of_load(lost) == 1
