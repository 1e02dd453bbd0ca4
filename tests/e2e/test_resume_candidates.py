"""`assay run --resume` of a comparison and of a search that were cut off: they go on where they were."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from interrupting import interrupted
from made_candidates import ASSAY, QUICK, assay, command, environment, left_of, records

from assay import store
from assay.model.run import Run

KEPT = Path(__file__).parents[1] / "golden" / "records"


def stored(folder: Path) -> Run:
    return store.load(store.find(folder / "results", "latest"))


def torn(folder: Path) -> None:
    """Let the record end in the middle of a line, as after a loss of power."""
    path = store.find(folder / "results", "latest")
    content = path.read_bytes()
    path.write_bytes(content + content.splitlines()[1][:1000])


@pytest.mark.beside
def test_a_comparison_goes_on_in_the_block_where_it_was_cut_off(tmp_path: Path) -> None:
    hooks = ("--setup", "echo setup >>h", "--prepare", "echo prepare >>h", "--cleanup", "echo cleanup >>h")
    words = [command(tmp_path, "--delay-s", "0.02"), command(tmp_path), "--name", "slow", "--name", "fast"]
    flags = (*hooks, *QUICK, "--budget", "8s", "--margin", "0.001%", "--seed", "4")
    started = [*ASSAY, "versus", *words, *flags]
    stopped = interrupted(started, tmp_path, environment(tmp_path), "1 block")
    assert stopped.returncode == 130, stopped.stderr
    before = stored(tmp_path)
    assert f"go on with: assay run --resume {before.header.run_id}" in stopped.stderr
    torn(tmp_path)
    ended = assay(tmp_path, "run", "--resume", "latest")
    assert ended.returncode in (0, 1) and "the last line is torn" in ended.stderr
    after = stored(tmp_path)
    assert after.trials[: len(before.trials)] == before.trials
    assert len(after.trials) > len(before.trials)
    assert [trial.number for trial in after.trials] == list(range(len(after.trials)))
    numbers = sorted({one.block for one in after.trials})
    assert numbers == list(range(len(numbers))) and len(numbers) >= 2  # a busy machine uses the budget up
    blocks = [[one.case for one in after.trials if one.block == block] for block in numbers]
    trials = [
        (one.block, one.case, one.failure, one.measurement and one.measurement.completed)
        for one in after.trials
    ]
    assert all(sorted(block) == ["fast", "slow", "slow (again)"] for block in blocks), trials
    assert blocks[1] == blocks[0][::-1]
    said = (tmp_path / "h").read_text().split()
    assert (said.count("setup"), said.count("cleanup")) == (4, 4)  # each candidate, in both parts
    assert "fast is faster: " in ended.stdout or "not told apart" in ended.stdout
    again = assay(tmp_path, "run", "--resume", "latest")
    assert again.returncode == 2 and "has ended" in again.stderr


@pytest.mark.beside
def test_a_search_goes_on_with_the_rate_that_is_due(tmp_path: Path) -> None:
    words = ("--command", command(tmp_path, "--delay-s", "0.03"), "--name", "late", "--slo", "p50<1ms")
    flags = ("-d", "300ms", "--warm-up", "0", "-t", "1", "--resolution", "60%", "--from", "50", "--to", "400")
    stopped = interrupted([*ASSAY, "capacity", *words, *flags], tmp_path, environment(tmp_path), "[ 1]")
    assert stopped.returncode == 130, stopped.stderr
    before = stored(tmp_path)
    torn(tmp_path)
    ended = assay(tmp_path, "run", "--resume", before.header.run_id)
    assert "the last line is torn" in ended.stderr
    after = stored(tmp_path)
    assert after.trials[: len(before.trials)] == before.trials and len(after.trials) > len(before.trials)
    assert ended.stdout.startswith("p50<1ms does not hold even at 50.0/s")
    assert ended.returncode == 1 and left_of(tmp_path) == []
    assert records(tmp_path)[-1]["record"] == "judgement"


@pytest.mark.beside
@pytest.mark.parametrize("kind", ["versus", "capacity"])
def test_a_record_that_does_not_say_how_its_servers_are_had_is_not_gone_on_with(
    tmp_path: Path, kind: str
) -> None:
    shutil.copytree(KEPT / kind, tmp_path / "results" / "run")
    ended = assay(tmp_path, "run", "--resume", "results/run")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert len(ended.stderr.splitlines()) == 1
    assert "its record does not say how its servers are had; make a new run" in ended.stderr
