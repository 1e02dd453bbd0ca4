"""`assay versus` as it is asked unless it is told otherwise: candidates that are alive at once and take
turns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from made_candidates import ASSAY, PATIENCE_S, assay, command, environment, left_of
from test_cli_versus import SLOW, port, standing, stored

from assay.model.run import Run
from assay.verdict.answer import answer

QUICK = ("-d", "160ms", "--warm-up", "300ms", "-c", "2", "-t", "1", "--slice", "40ms", "--no-control")


def arms_of(run: Run) -> list[set[str]]:
    assert all(trial.arm and trial.measurement for trial in run.trials)
    return [{trial.case for trial in block.trials} for block in run.blocks]


def test_two_commands_take_slices_until_it_is_settled(tmp_path: Path) -> None:
    words = (command(tmp_path, "--delay-s", "0.004"), command(tmp_path), "--name", "slow", "--name", "fast")
    ended = assay(tmp_path, "versus", *words, *QUICK, "--budget", "30s", "--seed", "4")
    assert ended.returncode in (0, 1)  # 1 where other programs on this machine had the generator's core
    run = stored(tmp_path)
    assert arms_of(run) == [{"slow", "fast"}] * len(run.blocks) and len(run.blocks) >= 3
    assert "as 40.0 ms would be too short" in run.blocks[0].lengths.why
    assert "the least here: 25 service times of slow, as 40.0 ms would be too short" in ended.stderr
    assert run.blocks[0].lengths.slice_ns >= 25 * 4_000_000
    told = " ".join(ended.stdout.split())
    assert "fast is faster: " in told or "fast and slow are not told apart" in told
    assert assay(tmp_path, "report", "latest").stdout == ended.stdout


def test_a_candidate_given_twice_is_a_build_of_one_program_and_no_difference(tmp_path: Path) -> None:
    ended = assay(tmp_path, "versus", *[command(tmp_path)] * 2, *QUICK, "--budget", "4s", "--margin", "0.1%")
    run = stored(tmp_path)
    assert run.header.design.interleave is not None and run.header.design.interleave.alike
    assert arms_of(run)[0] == {case.id for case in run.header.cases}
    assert run.header.cases[1].id == f"{run.header.cases[0].id} (2)"
    assert "is faster" not in ended.stdout


@pytest.mark.beside
def test_candidates_end_together_once_they_have_been_asked_and_after_each_block(tmp_path: Path) -> None:
    ended = assay(tmp_path, "versus", *[command(tmp_path, "--meets", ".")] * 2, *QUICK, "--budget", "4s")
    assert ended.returncode in (0, 1), ended.stderr
    met, ends = ({one.name.partition("-")[2] for one in tmp_path.glob(f"{of}-*")} for of in ("met", "ends"))
    measured = [trial.server.pid for trial in stored(tmp_path).trials if trial.server]
    assert met == ends and len(ends) == 2 + len(measured)


@pytest.mark.beside
def test_a_candidate_that_answers_nothing_right_sits_once(tmp_path: Path) -> None:
    words = (command(tmp_path, "--fail-after", "8"), command(tmp_path), "--name", "full", "--name", "sound")
    ended = assay(tmp_path, "versus", *words, *QUICK, "--budget", "30s")
    assert ended.returncode == 1
    assert len(stored(tmp_path).blocks) == 1
    told = " ".join(ended.stdout.split())
    assert "full was not measured: all of its " in told
    assert "requests failed (unexpected status), and it was tried no more" in told
    assert ": full: all of its " in " ".join(ended.stderr.split())


@pytest.mark.beside
def test_a_dozen_candidates_sit_together(tmp_path: Path) -> None:
    words = (command(tmp_path, "--body-bytes", "{size}"), "--scan", "size=1..12", "--unlike", "--name", "of")
    brief = ("--warm-up", "0", "-d", "80ms", "--slice", "20ms", "--budget", "4s")
    assay(tmp_path, "versus", *words, *QUICK, *brief)
    run = stored(tmp_path)
    assert [len(arms) for arms in arms_of(run)] == [12] * len(run.blocks)
    assert len({trial.server.pid for trial in run.blocks[0].trials if trial.server}) == 12


def test_servers_that_stand_have_one_long_block_in_parts(tmp_path: Path) -> None:
    with standing(tmp_path, "--delay-s", "0.004") as slow, standing(tmp_path) as fast:
        urls = [f"http://127.0.0.1:{port(server)}/" for server in (slow, fast)]
        ended = subprocess.run(
            [*ASSAY, "versus", *urls, *QUICK, "--budget", "30s"],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert "Traceback" not in ended.stderr
        assert slow.poll() is None and fast.poll() is None  # they are not ours to stop
        slow.terminate()
        fast.terminate()
    run = stored(tmp_path)
    assert all(trial.arm and trial.arm.external and trial.server is None for trial in run.trials)
    best = answer(run).best
    assert best is not None and best.id == urls[1].removeprefix("http://").rstrip("/")
    assert run.judgement is not None
    (pair,) = run.judgement.comparisons
    assert pair.ratio is not None and pair.ratio.n >= 8  # batches of rounds, not blocks


@pytest.mark.beside
def test_one_port_for_two_servers_is_said_and_they_follow_one_another(tmp_path: Path) -> None:
    with standing(tmp_path) as taken:
        fixed = port(taken)
        taken.terminate()
    words = (command(tmp_path, "--port", str(fixed)), command(tmp_path, "--port", str(fixed), *SLOW))
    url = ("--url", f"http://127.0.0.1:{fixed}/")
    ended = assay(tmp_path, "versus", *words, *QUICK, *url, "--budget", "4s")
    said = f"one after the other: port {fixed} is given for several servers, and only one can have it"
    assert said in ended.stderr
    assert stored(tmp_path).blocks == ()
    assert left_of(tmp_path) == []


def test_servers_that_are_told_from_the_best_leave_the_blocks(tmp_path: Path) -> None:
    """Two null servers that nothing tells apart, beside two that work for each answer."""
    null = f"{sys.executable} -m assay.servers.null_server --port {{port}} --cost-ns"
    words = [f"{null} {cost_ns}" for cost_ns in (0, 1, 200_000, 600_000)]
    names = [word for name in ("one", "again", "slow", "slower") for word in ("--name", name)]
    limits = ("--warm-up", "0", "--margin", "0.1%", "--budget", "4s", "--seed", "4")
    ended = assay(tmp_path, "versus", *words, *names, *QUICK, *limits)
    assert ended.returncode in (0, 1)  # on a busy machine two that are alike may seem different
    run = stored(tmp_path)
    blocks = arms_of(run)
    assert blocks[:3] == [{"one", "again", "slow", "slower"}] * 3
    assert blocks[-1] == {"one", "again"}
    assert run.judgement is not None and run.judgement.load_ns < run.judgement.even_load_ns
    told = assay(tmp_path, "report", "latest", "--verbose").stdout
    assert "Decided servers left the blocks: " in " ".join(told.split())
    assert f"{len(blocks)} blocks, " in ended.stderr  # each block has its line
