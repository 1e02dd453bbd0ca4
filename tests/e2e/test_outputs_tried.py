"""Places to write to are tried before a load is offered: what cannot be written costs no measuring."""

from __future__ import annotations

from pathlib import Path

import pytest
from wire import recording

from assay.cli.main import main
from assay.cli.report_outputs import OUTPUTS, Output

pytestmark = pytest.mark.beside

VERBS = {"load": ("-n", "4"), "versus": (), "capacity": ("--slo", "p99<50ms")}
NOWHERE = {"no folder": "none/page", "below a file": "file/page", "a folder": "folder"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_LOCK", str(tmp_path / "lock"))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    return tmp_path


def refused(verb: str, *words: str) -> None:
    """Nothing was asked of the server, nor of its second one."""
    with recording() as one, recording() as other:
        urls = (one.url(), other.url()) if verb == "versus" else (one.url(),)
        assert main([verb, *urls, *VERBS[verb], *words]) == 2
        assert not one.requests and not other.requests


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: output.flag)
@pytest.mark.parametrize("place", NOWHERE.values(), ids=NOWHERE)
def test_what_cannot_be_written_is_told_before_the_load(
    verb: str, output: Output, place: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if output.folder and place != "file/page":
        pytest.skip("a folder is made where there is none")
    before = sorted(folder.rglob("*"))
    refused(verb, f"--{output.flag}", place)
    told = capsys.readouterr().err.splitlines()
    assert told[-1].startswith(f"assay: cannot write {place}: ")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("verb", VERBS)
def test_the_folder_of_runs_is_tried_too(verb: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(verb, *(("--save",) if verb == "load" else ()), "--results", "file/runs")
    assert f"cannot write {folder / 'file' / 'runs'}: " in capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_a_step_summary_outside_of_a_step_is_told_before_the_load(
    verb: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(verb, "--step-summary")
    assert "GITHUB_STEP_SUMMARY is not set" in capsys.readouterr().err


def test_what_is_there_and_pipes_are_left_as_they_are(folder: Path) -> None:
    (folder / "page").write_text("before")
    with recording() as wire:
        words = ("--html", "page", "--csv", "/dev/null", "--markdown", "-", "-q")
        assert main(["load", wire.url(), "-n", "4", *words]) == 0
    assert "<html" in (folder / "page").read_text()
