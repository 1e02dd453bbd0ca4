"""The A/A control of a study: which case, in which blocks, and what a run says of it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import case, measurement, run, steady_run, trial
from msgspec.structs import replace
from rich.console import Console
from sample_run import redesigned

from assay.core.errors import InputError
from assay.core.settings import Settings
from assay.model.design import Choices, RuleSetting
from assay.model.run import Run
from assay.plan.resolved import ResolvedRun
from assay.plan.study import load_study, resolve
from assay.plan.study.additions import spread
from assay.report import markdown, terminal
from assay.report.model.run_document import document
from assay.servers.cores import CoreSplit
from assay.verdict import judge

STUDY = """
format = 1
name = "x"
title = "X"
question = "?"
[[servers]]
server = "c/null"
[[servers]]
server = "c/a"
label = "A"
[[servers]]
server = "c/b"
[[workloads]]
name = "w"
routes = ["r"]
[profiles.fair]
blocks = 6
{more}
loads = [{{ connections = 8, measure_s = 10, warm_up_min_s = 1, warm_up_max_s = 5{load} }}]
quick = {{ blocks = 3 }}
[profiles.published]
blocks = 1
loads = [{{ connections = 8, measure_s = 10 }}]
"""
CONTRACT = """
format = 1
name = "c"
title = "C"
[[routes]]
name = "r"
target = "/"
[routes.answer]
status = 200
"""
MANIFEST = """
format = 1
title = "{name}"
language = "Python"
framework = "none"
published = ""
{role}
[version]
command = ["python3", "--version"]
[run]
command = ["python3"]
[variants.fair]
[variants.published]
"""


def study(
    folder: Path, more: str = "", load: str = "", claims: str = "", /, **choices: object
) -> ResolvedRun:
    for name in ("null", "a", "b"):
        home = folder / "servers" / "c" / name
        home.mkdir(parents=True, exist_ok=True)
        role = 'role = "ceiling"' if name == "null" else ""
        (home / "server.toml").write_text(MANIFEST.format(name=name, role=role))
    (folder / "servers" / "c" / "contract.toml").write_text(CONTRACT)
    file = folder / "x.toml"
    file.write_text(STUDY.format(more=more, load=load and f", {load}") + claims)
    settings = replace(
        Settings.resolve(here=folder, environ={}),
        server_folders=(folder / "servers",),
        study_folders=(folder,),
    )
    split = CoreSplit(client=(1,), server=(0,), cores=2)
    chosen = Choices(seed=1, **choices)  # type: ignore[arg-type]  # forwarded as given
    return resolve(load_study(str(file), settings), settings, chosen, split=split)


def test_the_first_candidate_is_entered_twice_under_the_same_plan(tmp_path: Path) -> None:
    made = study(tmp_path)
    control = made.cases[-1]
    assert (control.case.role, control.case.control_of, control.case.label) == ("control", "c/a", "A again")
    assert control.plan == next(one.plan for one in made.cases if one.case.id == "c/a")
    assert made.trials == 4 * 6
    assert "A is measured a second time in each block" in made.notes[-1] and "--no-control" in made.notes[-1]


def test_the_time_it_takes_counts_slices_and_no_watched_warm_up_after_the_second(tmp_path: Path) -> None:
    alone = study(tmp_path / "alone", interleave=False).expected_s()
    slices = study(tmp_path / "slices").expected_s()
    # Twenty-four trials of 10 s with a start of half a second and two API checks; a warm-up of 1 to 5 s, at
    # most 2.5 s from the third on. The null server warms up for the least.
    assert alone.low_s == pytest.approx(24 * (0.15 + 0.05 + 1 + 10 + 0.05))
    warm_ups_s = 3 * (2 * 5 + 4 * 2.5) + 6
    assert alone.high_s == pytest.approx(24 * (0.625 + 0.3 + 10 + 0.3) + warm_ups_s)
    # Slices of 250 ms to 2.5 s: their washout, two rounds until all measure, and a pilot of the first block.
    assert slices.low_s == pytest.approx(alone.low_s + 24 * (2 * 0.25 + 4 * 0.005))
    assert slices.high_s == pytest.approx(alone.high_s + 24 * (2 * 2.5 + 40 * 0.005) + 4 * 12 * 0.625)


def test_it_may_be_in_some_blocks_and_costs_no_more(tmp_path: Path) -> None:
    whole, part = study(tmp_path), study(tmp_path, "control_blocks = 4")
    assert part.cases[-1].case.blocks == (1, 2, 4, 5)
    assert part.trials == 3 * 6 + 4
    assert part.expected_s()[0] < whole.expected_s()[0]
    assert part.design.warm_ups.keys() == {"c/null", "c/a", "c/b", "c/a+again"}


@pytest.mark.parametrize(
    ("more", "choices"),
    [
        ("control_blocks = 0", {}),
        ("", {"control": False}),
        ("", {"profile": "published"}),  # a single block: no interval
        ("", {"blocks": 2}),
        ("", {"servers": ("c/b",)}),  # nothing is compared
    ],
)
def test_where_there_is_none(tmp_path: Path, more: str, choices: dict[str, object]) -> None:
    made = study(tmp_path, more, **choices)
    assert all(one.case.role != "control" for one in made.cases)
    assert not any("A/A" in note for note in made.notes)


def test_a_candidate_that_cannot_be_had_here_is_no_control(tmp_path: Path) -> None:
    study(tmp_path)
    wanting = tmp_path / "servers" / "c" / "a" / "server.toml"
    lacking = '[[requires]]\nenv = "ASSAY_NOWHERE"\n[version]'
    wanting.write_text(wanting.read_text().replace("[version]", lacking))
    settings = replace(
        Settings.resolve(here=tmp_path, environ={}),
        server_folders=(tmp_path / "servers",),
        study_folders=(tmp_path,),
    )
    made = resolve(load_study(str(tmp_path / "x.toml"), settings), settings, Choices(seed=1))
    assert [one.case.control_of for one in made.cases if one.case.role == "control"] == ["c/b"]


def test_two_blocks_of_it_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="control_blocks must be 0 or at least 3"):
        study(tmp_path, "control_blocks = 2")


@given(st.data())
def test_blocks_are_spread_evenly(data: st.DataObject) -> None:
    blocks = data.draw(st.integers(1, 40))
    number = data.draw(st.integers(1, blocks))
    chosen = spread(number, blocks)
    assert len(chosen) == number and chosen[-1] == blocks - 1
    gaps = [later - earlier for earlier, later in zip((-1, *chosen), chosen, strict=False)]
    assert max(gaps) - min(gaps) <= 1


def controlled(factor: float) -> Run:
    """A run whose control is `factor` of the case that it repeats."""
    made = steady_run({"a": 10_000, "b": 20_000, "a again": 10_000 * factor})
    cases = (case("a", label="Alpha"), case("b"), case("a again", role="control", control_of="a"))
    run = msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cases=cases))
    return msgspec.structs.replace(run, judgement=judge(run, 0))


def on_the_screen(run: Run) -> str:
    console = Console(width=120, force_terminal=False)
    with console.capture() as capture:
        console.print(terminal.in_full(document(run)))
    return " ".join(capture.get().split())


def test_a_control_that_holds_is_said_with_the_noise_floor() -> None:
    for shown in (on_the_screen(controlled(1.0)), markdown.render(document(controlled(1.0)))):
        assert re.search(
            r"A/A difference of Alpha: [+−]0\.\d+ % \[−0\.\d+ %, \+0\.\d+ %\]\. "
            r"Effects below 1\.0 % are not reported\.",
            shown.replace("\\", ""),
        )


def test_a_control_claims_no_more_than_its_interval_decides() -> None:
    made = controlled(1.0)
    swings = (0.7, 1.4, 0.8, 1.3, 0.75, 1.35)
    trials = tuple(
        msgspec.structs.replace(one, measurement=measurement(10_000 * swings[one.block]))
        if one.case == "a again"
        else one
        for one in made.trials
    )
    wide = msgspec.structs.replace(made, trials=trials, judgement=None)
    shown = on_the_screen(msgspec.structs.replace(wide, judgement=judge(wide, 0)))
    ends = re.search(r"A/A difference of Alpha: \S+ % \[−(\d+) %, \+(\d+) %\]\. Effects below ", shown)
    assert ends is not None and min(map(int, ends.groups())) > 20


def test_three_blocks_bound_a_bias() -> None:
    cases = [case("a"), case("b"), case("a again", role="control", control_of="a")]
    trials = [trial(one.id, block, measurement()) for block in range(3) for one in cases]
    made = run(cases, trials, 0, {"kind": "versus", "margin": 0.02})
    shown = on_the_screen(msgspec.structs.replace(made, judgement=judge(made, 0)))
    assert "A/A difference: 0 % [0 %, 0 %]" in shown


def test_a_control_that_fails_is_said_on_every_line() -> None:
    failing = controlled(1.05)
    assert failing.judgement is not None
    assert [row.rank for row in failing.judgement.ranking[:2]] == [1, 2]  # further apart than the bias
    lines = [
        line
        for line in markdown.render(document(failing)).splitlines()
        if line.startswith("| ") and "± " in line
    ]
    assert len(lines) == 3 and all("D1" in line for line in lines)
    said = "]. The run is biased (D1). Effects below 5."
    assert "A/A difference of Alpha: +4.9 % [+" in on_the_screen(failing)
    assert said in on_the_screen(failing)
    assert "Alpha is 1.04" in next(f.evidence for f in failing.judgement.findings if f.code == "D1")


def test_a_control_of_two_blocks_is_no_yardstick() -> None:
    made = controlled(1.0)
    trials = tuple(
        msgspec.structs.replace(trial, measurement=measurement(9_000 + 2_000 * trial.block))
        for trial in made.trials
        if trial.case == "a again" and trial.block < 2
    ) + tuple(trial for trial in made.trials if trial.case != "a again")
    judged = judge(msgspec.structs.replace(made, trials=trials, judgement=None), 0)
    assert [row.rank for row in judged.ranking if row.case in ("a", "b")] == [1, 2]


def test_a_threshold_that_the_study_set_shows_also_where_nothing_is_found() -> None:
    made = controlled(1.0)
    rules = {"W3": RuleSetting(thresholds={"bytes_difference": 0.05}, reason="dates differ in length")}
    shown = on_the_screen(redesigned(made, rules=rules))
    assert "Threshold of W3 (unequal answers) set by this run" in shown
    assert "bytes_difference 5 % instead of 2 %" in shown
    assert "dates differ in length" in shown
