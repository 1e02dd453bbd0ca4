"""The count of runs that give an answer: kept from start to start, interleaved, broken off without a
trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import sample_run
from msgspec.structs import replace

BENCHES = Path(__file__).parents[2] / "benches"

_MAKES = """
import os, shutil, sys
from pathlib import Path
results = Path(os.environ["ASSAY_RESULTS"])
done = Path({done!r})
with done.open("a") as file:
    file.write(results.parent.name + "\\n")
if len(done.read_text().split()) > {most}:
    (results / "half").mkdir()
    shutil.copy({record!r}, results / "half" / "run.jsonl")
    print("broken off", file=sys.stderr)
    sys.exit(130)
made = results / f"made-{{len(done.read_text().split())}}"
made.mkdir()
shutil.copy({record!r}, made / "run.jsonl")
sys.exit(1)
"""

_HANGS = """
import os, signal, subprocess, sys
from pathlib import Path
server = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
try:
    (Path(os.environ["ASSAY_RESULTS"]) / "half").mkdir()
    Path({told!r}).write_text(str(server.pid))
    os.kill(os.getppid(), signal.{how})
    signal.pause()
except KeyboardInterrupt:
    server.kill()
    server.wait()
    Path({told!r}).write_text("stopped its server")
    sys.exit(130)
"""


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHES))
    import importlib

    return importlib.import_module("answers")


def made(tmp_path: Path, most: int) -> list[str]:
    """A command that leaves a record of a run, so often; then it is broken off."""
    record = tmp_path / "kept"
    if not record.exists():
        sample_run.stored(replace(sample_run.run(), judgement=None), tmp_path / "records").rename(record)
    script = _MAKES.format(done=str(tmp_path / "done"), most=most, record=str(record))
    return [sys.executable, "-c", script]


def test_a_count_that_was_broken_off_goes_on_behind_what_was_measured(
    answers: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "answers"
    with pytest.raises(answers.Unavailable, match="ended with 130: broken off"):
        answers.fresh(made(tmp_path, 3), 3, kept)
    assert (tmp_path / "done").read_text().split() == ["alone", "beside", "alone", "beside"]
    assert {name: len(list((kept / name).iterdir())) for name in ("alone", "beside")} == {
        "alone": 2, "beside": 1,
    }  # fmt: skip
    capsys.readouterr()
    told = answers.fresh(made(tmp_path, 99), 3, kept)
    said = capsys.readouterr().err
    assert "2 of 3 alone were measured before, by Assay " in said
    assert "1 of 3 beside were measured before, by Assay " in said
    assert f"a new count begins by removing {kept}" in said
    assert (tmp_path / "done").read_text().split()[4:] == ["beside", "alone", "beside"]
    assert [len(told[name]) for name in ("alone", "beside")] == [3, 3]
    # Kept and fresh ones are counted by the same judge, though the run itself was told nothing.
    assert len({one for runs in told.values() for one in runs}) == 1


def test_of_a_count_that_cannot_go_on_the_figures_so_far_are_told(
    answers: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_RECORDS", str(tmp_path / "none"))
    effort = answers.Effort(rounds=1, share=1.0, tries=2)
    found = answers.run(effort, made(tmp_path, 1), tmp_path / "answers")
    assert any("broken off" in one for one in found.missing)
    assert [figure.name for figure in found.figures if "of 1)" in figure.name] != []
    assert not any("beside" in figure.name for figure in found.figures)


@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM"])
def test_an_interrupted_count_leaves_no_server_and_no_half_run(
    answers: ModuleType, tmp_path: Path, how: str
) -> None:
    told = tmp_path / "told"
    before = signal.getsignal(signal.SIGTERM)
    script = _HANGS.format(told=str(told), how=how)
    with pytest.raises(KeyboardInterrupt), answers.terminated_as_interrupted():
        answers.fresh([sys.executable, "-c", script], 1, tmp_path / "answers")
    assert told.read_text() == "stopped its server"
    assert list((tmp_path / "answers" / "alone").iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) == before


def test_main_says_that_it_was_interrupted_and_no_more(tmp_path: Path) -> None:
    script = "import sys, answers, run; from dataclasses import replace\n"
    script += "def interrupted(effort): raise KeyboardInterrupt\n"
    script += "run.BENCHMARKS = (replace(answers.BENCHMARK, run=interrupted),)\n"
    script += "sys.argv = ['run.py', '--only', 'answers']\nsys.exit(run.main())\n"
    environment = {**os.environ, "PYTHONPATH": str(BENCHES)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 130 and done.stderr.endswith("interrupted\n") and "Traceback" not in done.stderr
