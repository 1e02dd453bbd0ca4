"""The page of injected flaws: what it keeps of earlier looks, and what a look that is cut off leaves."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import planting
import pytest
import sample_run
from planting import Injected, page, plants
from planting.page import Found, Held, kept

from assay.core.errors import ServerFailed
from assay.model.estimate import Known
from assay.model.finding import Severity
from assay.model.run import Judgement

PAGE = Path(__file__).parents[2] / "docs" / "injected-flaws.md"


def bench() -> ModuleType:
    path = Path(__file__).parents[2] / "benches" / "injected.py"
    spec = importlib.util.spec_from_file_location("injected", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def judged(*found: tuple[str, Severity]) -> Judgement:
    findings = tuple(sample_run.finding(code, severity, None) for code, severity in found)
    return Judgement(
        judged_unix_ns=0, assay_version="1", complete=True, ranking=(), claims=(), findings=findings,
        clean=False,
    )  # fmt: skip


def looks(monkeypatch: pytest.MonkeyPatch, run: Callable[[Injected], Judgement], *words: str) -> int:
    """What the bench comes to with these words, where planting a flaw does that."""
    monkeypatch.setattr(planting, "run", lambda plant, folder: run(plant))
    monkeypatch.setattr(sys, "argv", ["injected.py", *words])
    code: int = bench().main()
    return code


def test_a_page_is_read_as_it_was_written() -> None:
    held = {"H1": Held(19, 20, 17), "H2": Held(20, 20)}
    found = Found(caught={"G1": "error", "T2": "hidden (G1, H2)"}, held=held)
    found.silent(20, ["G1", "G1", "S2"], whole=True)
    again = kept(found.page())
    assert again == found
    assert found.clean["G1"] == "18 of 20" and found.clean["W1"] == "20 of 20"


def test_the_page_that_is_kept_loses_no_row_of_a_flaw_that_is_still_injected() -> None:
    before = PAGE.read_text(encoding="utf-8")
    again = kept(before).page()
    flaws = {plant.code: plant.flaw for plant in plants.ALL}
    for line in before.splitlines():
        code = line.removeprefix("| ").split(" ")[0]
        if code in flaws and f"| {flaws[code]} |" in line:
            assert line.split(" | ")[-2:] == next(
                one.split(" | ")[-2:] for one in again.splitlines() if one.startswith(f"| {code} ")
            )


def test_clean_runs_of_an_earlier_look_keep_the_words_about_them() -> None:
    before = Found(caught={"G1": "error"}, head="# Injected flaws\n\nClean runs of another kind.\n\n")
    before.clean = {"G1": "3 of 5"}
    again = kept(before.page())
    assert again.page() == before.page()
    again.silent(20, [], whole=True)
    assert "another kind" not in again.page() and "every second interleaved" in again.page()


def test_a_second_flaw_of_a_rule_has_a_row_of_its_own() -> None:
    found = Found(caught={"W5": "error", "W5 over HTTP/2": "missed"})
    assert kept(found.page()).caught == found.caught
    assert len({plant.name for plant in plants.EVERY}) == len(plants.EVERY)


def test_what_was_said_of_another_flaw_is_not_kept() -> None:
    text = Found(caught={"T1": "warning"}).page()
    [plant] = [plant for plant in plants.ALL if plant.code == "T1"]
    assert kept(text.replace(plant.flaw, "a server that sings while it rests")).caught == {}


def test_a_part_of_the_flaws_leaves_the_other_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page.md"
    before = Found(caught={"G1": "error", "D4": "missed"})
    before.silent(20, ["G1"], whole=True)
    out.write_text(before.page())

    def found(plant: Injected) -> Judgement:
        if plant.code == "T2":
            raise ServerFailed("start", "there is no such server")
        return judged((plant.code, plant.least))

    assert looks(monkeypatch, found, "--only", "D4", "T2", "--out", str(out)) == 1  # T2 could not be injected
    after = kept(out.read_text())
    assert after.caught == {"G1": "error", "D4": "note"}
    assert after.clean == before.clean
    told = capsys.readouterr()
    assert "[1/2] D4: " in told.err and "[2/2] T2: " in told.err
    assert "not run: there is no such server; nothing is known" in told.err
    assert told.out == out.read_text()


def test_a_flaw_that_is_injected_often_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, runs = tmp_path / "page.md", itertools.count()

    def found(plant: Injected) -> Judgement:
        return judged(("S5" if next(runs) == 1 else plant.code, plant.least))

    assert looks(monkeypatch, found, "--only", "D4", "--times", "3", "--out", str(out)) == 1
    assert kept(out.read_text()).caught == {"D4": "note, 2 of 3"}
    assert looks(monkeypatch, found, "--only", "D4", "--times", "2", "--out", str(out)) == 0
    assert kept(out.read_text()).caught == {"D4": "note, 2 of 2"}


def test_a_look_that_is_cut_off_keeps_what_it_saw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def found(plant: Injected) -> Judgement:
        if plant.code == "G4":
            raise KeyboardInterrupt
        return judged((plant.code, plant.least))

    out = tmp_path / "page.md"
    assert looks(monkeypatch, found, "--out", str(out)) == 130
    assert kept(out.read_text()).caught == {"G1": "error", "G3": "error"}
    assert "interrupted: what was measured is kept" in capsys.readouterr().err


def test_clean_runs_that_are_cut_off_are_counted_as_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = iter((judged(), judged(("H2", "warning")), KeyboardInterrupt()))

    def found(plant: Injected) -> Judgement:
        if plant.code != "clean":
            return judged((plant.code, plant.least))
        one = next(runs)
        if isinstance(one, KeyboardInterrupt):
            raise one
        return one

    out = tmp_path / "page.md"
    words = ("--only", "G1", "--clean", "5", "--out", str(out))
    assert looks(monkeypatch, found, *words) == 130
    assert kept(out.read_text()).clean["H2"] == "1 of 2"
    more = page.kept(out.read_text())
    more.silent(1, [], whole=False)
    assert more.clean["H2"] == "1 of 2"  # fewer runs, of which more are to come, take nothing away


def test_a_clean_figure_lies_within_or_its_interval_meets_what_is_known() -> None:
    """Both counts stand on the page; an earlier page had the second alone."""
    holds = bench()._holds
    known = Known(low=1.0, high=1.2)
    assert not holds(known, 1.25, 1.25) and holds(known, 1.15, 1.35)
    page = Found(held={"H1": Held(met=5, of=6, within=4)}).page()
    assert "| rule | within | met |" in page and "| H1 | 4 of 6 | 5 of 6 |\n| all | 4 of 6 | 5 of 6 |" in page
    assert kept("| H2 | 19 of 20 |\n").held == {"H2": Held(19, 20)}
