"""A look at the machine before a run: what it says, what it waits for, and when it refuses."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from assay.cli import before_run, run
from assay.cli.parser import Parser
from assay.core.errors import EnvironmentLacks, InputError
from assay.servers import host
from assay.servers.host import BackgroundLoad

HOUR_NS = 3_600_000_000_000
QUIET, BUSY = BackgroundLoad(0.1), BackgroundLoad(1.3, ("chromium", "python3"))


def looks(*seen: BackgroundLoad) -> tuple[Callable[[float], BackgroundLoad], list[BackgroundLoad]]:
    """A look that sees these in turn, and what is left to be seen."""
    left = list(seen)
    return lambda seconds: left.pop(0), left


def test_a_quiet_machine_is_glanced_at_and_nothing_said(capsys: pytest.CaptureFixture[str]) -> None:
    look, _ = looks()
    before_run.check_quiet(None, looks(QUIET)[0], look)
    before_run.check_quiet(None, looks(BUSY)[0], looks(QUIET)[0])  # a moment's work is no company
    assert capsys.readouterr().err == ""


def test_a_busy_machine_is_said_by_name_and_measured_on(capsys: pytest.CaptureFixture[str]) -> None:
    before_run.check_quiet(None, looks(BUSY)[0], looks(BUSY)[0])
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "keep 1.3 of" in said and "(chromium, python3)" in said and "--wait-quiet" in said


def test_quiet_is_waited_for_until_it_lasts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    look, left = looks(BUSY, BUSY, QUIET, BUSY, QUIET, QUIET)
    before_run.check_quiet(HOUR_NS, looks(BUSY)[0], look)
    assert left == []
    assert capsys.readouterr().err.endswith("waiting for quiet\n")


def test_a_machine_that_stays_busy_is_refused() -> None:
    with pytest.raises(EnvironmentLacks, match=r"chromium.* did not get quiet within 1e-09 s"):
        before_run.check_quiet(1, looks(BUSY)[0], looks(BUSY)[0])


@pytest.mark.parametrize(
    "words",
    [
        ("nothing", "none"),
        ("nothing", "--profile", "both"),
        ("nothing",),
        ("franklin", "heroes", "--server", "quotes/go"),
        ("--resume", "latest"),
    ],
)
def test_nobody_waits_for_quiet_where_nothing_can_be_run(
    words: Sequence[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def look(_: Namespace) -> None:
        raise AssertionError("the machine was looked at")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(before_run, "wait_until_quiet", look)
    parser = Parser("assay run", "")
    run.configure(parser)
    args = parser.read([*words, "--wait-quiet", "5m"])
    with pytest.raises(InputError):
        run.run(args)


def test_who_is_busy_is_named() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinning:
        try:
            while not (seen := host.measure(0.2)).programs:
                pass
        finally:
            spinning.kill()
    assert any("python" in name for name in seen.programs) or len(seen.programs) == 3
    assert seen.cores_busy > 0
