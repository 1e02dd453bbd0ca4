"""`assay versus` as a person runs it: real commands, real sockets on loopback, tiny budgets."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import msgspec
import pytest
from interrupting import interrupted
from made_candidates import ASSAY, QUICK, assay, command, environment, left_of, records

from assay import store
from assay.model.run import Run
from assay.verdict.answer import answer

SLOW = ("--delay-s", "0.02")
"""Forty times slower than without: told apart on the noisiest machine."""


def test_commands_are_compared_until_it_is_settled(tmp_path: Path) -> None:
    words = (command(tmp_path, *SLOW), command(tmp_path), "--name", "slow", "--name", "fast")
    ended = assay(tmp_path, "versus", *words, *QUICK, "--budget", "20s", "--seed", "4")
    assert ended.returncode in (0, 1)  # 1 where other programs on this machine had the generator's core
    told = " ".join(ended.stdout.split())
    assert "fast is faster: " in told or "fast and slow are not told apart" in told
    assert len(ended.stdout.splitlines()) <= 14
    lines = records(tmp_path)
    assert [line["record"] for line in lines[:2]] == ["header", "trial"]
    assert lines[-1]["record"] == "judgement"
    run = stored(tmp_path)
    found = answer(msgspec.structs.replace(run, judgement=None))  # as it was when the run ended
    assert found.best is not None and found.best.id == "fast"
    assert [pair.settled for pair in found.pairs] == ["different"]
    assert found.settled and found.blocks >= 3
    blocks = [[trial.case for trial in run.trials if trial.block == block] for block in range(found.blocks)]
    assert all(sorted(block) == ["fast", "slow", "slow (again)"] for block in blocks)
    assert blocks[1] == blocks[0][::-1] and blocks[3:4] in ([], [blocks[2][::-1]])
    checked = run.trials[0].plan.requests[0].expect
    assert checked is not None and "length" in msgspec.json.encode(checked.body).decode()
    again = assay(tmp_path, "report", "latest")
    assert (again.returncode, again.stdout) == (0, ended.stdout)
    whole = " ".join(assay(tmp_path, "report", "latest", "--verbose").stdout.split())
    assert "A/A difference of slow: " in whole
    assert "fast is faster: " in whole or "fast and slow " in whole or "slow and fast " in whole


@pytest.mark.beside
def test_what_was_measured_is_exported_judged_and_compared(tmp_path: Path) -> None:
    words = (command(tmp_path), command(tmp_path, *SLOW), "--name", "fast", "--name", "slow", "--no-control")
    out = ("--json", "--markdown", "out.md", "--csv", "out.csv")
    gate = ("--fail-if-slower", "50%")
    ended = assay(tmp_path, "versus", *words, *QUICK, "--budget", "20s", *gate, *out)
    document = json.loads(ended.stdout)
    assert document.pop("answer")  # in words, before the record
    run = msgspec.convert(document, Run)
    assert {case.id for case in run.header.cases} == {"slow", "fast"}
    assert "fast" in (tmp_path / "out.md").read_text()
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + len(run.trials)
    before = len(records(tmp_path))
    judged = assay(tmp_path, "judge", "latest")
    assert "nothing changed" in judged.stdout
    assert [line["record"] for line in records(tmp_path)[before:]] == ["judgement"]
    dry = assay(tmp_path, "judge", "latest", "--dry-run", "--json")
    assert json.loads(dry.stdout)["record"] == "judgement"
    assert len(records(tmp_path)) == before + 1
    compared = assay(tmp_path, "compare", "latest:fast", "latest:slow", *gate)
    assert (
        "throughput" in compared.stdout
        or "throughput" in assay(tmp_path, "compare", "latest:fast", "latest:slow", "--verbose").stdout
    )
    unbounded = run.judgement is None or any(one.on_throughput != "none" for one in run.judgement.findings)
    assert ended.returncode == compared.returncode  # of one record both say the same, also on a busy machine
    told = " ".join((tmp_path / "out.md").read_text().split())
    assert unbounded or (ended.returncode == 3 and "the limit of 50 % is broken" in told)
    listed = assay(tmp_path, "history")
    assert "versus" in listed.stdout


@pytest.mark.beside
def test_a_scan_compares_one_command_with_itself_and_hooks_run_around_it(tmp_path: Path) -> None:
    hooks = ("--setup", "echo setup {delay} >>h", "--prepare", "echo prepare {delay} >>h")
    words = (command(tmp_path, "--delay-s", "{delay}"), "--scan", "delay=0.02,0", "--name", "candidate")
    cleanup = ("--cleanup", "echo cleanup {delay} >>h")
    ended = assay(
        tmp_path, "versus", *words, *hooks, *cleanup, *QUICK, "--budget", "20s", "--no-control", "--seed", "1"
    )
    assert ended.returncode in (0, 1), ended.stderr
    run = stored(tmp_path)
    assert [case.id for case in run.header.cases] == ["candidate (delay=0.02)", "candidate (delay=0)"]
    said = (tmp_path / "h").read_text().split("\n")[:-1]
    assert said[:2] == ["setup 0.02", "setup 0"]
    assert said[-2:] == ["cleanup 0.02", "cleanup 0"]
    starts = [line for line in said if line.startswith("prepare")]
    assert len(starts) == 2 + len(run.trials)  # each was looked at once before the first block


@pytest.mark.beside
def test_ctrl_c_keeps_what_was_measured_and_ends_every_process(tmp_path: Path) -> None:
    words = [command(tmp_path, "--helper"), command(tmp_path, "--helper", "--body-bytes", "5")]
    flags = ("--budget", "10m", "--margin", "0.001%", "--cleanup", "echo >>done")
    stopped = interrupted(
        [*ASSAY, "versus", *words, *QUICK, *flags], tmp_path, environment(tmp_path), "1 block"
    )
    assert stopped.returncode == 130, stopped.stderr
    assert "what was measured is kept" in stopped.stderr and "Traceback" not in stopped.stderr
    assert "more: --verbose, results/versus-" in " ".join(stopped.stdout.split())
    assert left_of(tmp_path) == []
    assert len((tmp_path / "done").read_text().splitlines()) == 2
    lines = records(tmp_path)
    assert len(lines) >= 5 and lines[-1]["record"] == "judgement"


@pytest.mark.beside
def test_a_candidate_that_dies_under_load_is_a_row_and_the_answer_is_invalid(tmp_path: Path) -> None:
    words = (command(tmp_path, "--die-after", "8"), command(tmp_path), "--name", "mortal", "--name", "sound")
    ended = assay(tmp_path, "versus", *words, *QUICK, "--budget", "20s", "--no-control")
    assert ended.returncode == 1
    told = " ".join(ended.stdout.split())
    assert "mortal was not measured" in told
    assert "the server ended with exit code 3 under load" in told
    run = stored(tmp_path)
    assert sum(trial.case == "mortal" for trial in run.trials) == 2  # it is not tried for ever
    assert any(trial.measurement for trial in run.trials if trial.case == "sound")


@pytest.mark.beside
def test_candidates_that_answer_differently_are_not_compared_unless_that_is_meant(tmp_path: Path) -> None:
    words = (command(tmp_path), command(tmp_path, "--body-bytes", "500"), "--name", "a", "--name", "b")
    ended = assay(tmp_path, "versus", *words, *QUICK)
    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("assay: a and b answer differently: body 5 / 500 bytes; ")
    assert not (tmp_path / "results").exists()
    ended = assay(
        tmp_path, "versus", *words, *QUICK, "--unlike", "--budget", "3s", "--no-control", "--verbose"
    )
    assert "a / b: body 5 / 500 bytes" in ended.stderr
    assert ended.returncode in (0, 1)  # 0 where they are told apart
    assert "one sends more bytes (W3)" not in " ".join(ended.stdout.split())
    run = stored(tmp_path)
    assert run.judgement is not None
    [unequal] = [one for one in run.judgement.findings if one.code == "W3"]
    assert unequal.severity == "note" and unequal.evidence.endswith("compared all the same (--unlike)")


@pytest.mark.beside
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--port", "0"), "but on 127.0.0.1:"),
        (("--no-such-flag",), "the server ended with exit code 2 before its first right answer; it said: "),
        (("--status", "'500 Oops'"), "status 500 instead of 2xx or 3xx"),
        (("--encoding", "gzip"), "no right HTTP answer: "),
    ],
)
def test_a_candidate_that_does_not_answer_is_one_line(
    tmp_path: Path, flags: tuple[str, ...], said: str
) -> None:
    words = (command(tmp_path, *flags), command(tmp_path), "--name", "odd", "--name", "even")
    ended = assay(tmp_path, "versus", *words, *QUICK, "--ready-timeout", "1.5s", "--cleanup", "echo >>done")
    assert (ended.returncode, ended.stdout) == (2, "")
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("assay: odd: ") and said in last
    assert not (tmp_path / "results").exists()
    assert (tmp_path / "done").exists()  # what was set up is cleaned up


@pytest.mark.beside
def test_a_command_that_never_listens_and_a_url_where_nobody_does(tmp_path: Path) -> None:
    ended = assay(tmp_path, "versus", "sleep 60", command(tmp_path), *QUICK, "--ready-timeout", "1s")
    assert ended.returncode == 2
    assert "assay: sleep 60: the server did not listen on 127.0.0.1:" in ended.stderr
    ended = assay(tmp_path, "versus", "http://127.0.0.1:9/", command(tmp_path), *QUICK)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "nobody listens on 127.0.0.1:9" in ended.stderr
    ended = assay(tmp_path, "versus", "a", "b", "--setup", "echo no such database; exit 4", *QUICK)
    assert ended.returncode == 2
    assert "--setup for a ended with exit code 4: no such database" in ended.stderr


@pytest.mark.beside
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing was given to compare"),
        (("./a",), "only './a' was given"),
        (("./a", " "), "a command is empty"),
        (("./a", "./b", "--budget", "3s"), "--budget is too short"),
        (("./a", "./b", "--scan", "workers=1,2"), "no command has {workers}"),
        (("./a {n}", "--scan", "n=1,1"), "has an empty value, or one twice"),
        (("./a {n}", "--scan", "port=1"), "is not a scan"),
        (("./a", "./b", "--name", "a", "--name", "b", "--name", "c"), "3 names for 2 commands"),
        (("./a", "./b", "--url", "127.0.0.1"), "is not a URL"),
        (("./a", "./b", "--url", "http://127.0.0.1/"), "names no port"),
        (("./a", "./b", "--url", "http://example.org:{port}/"), "runs on this machine"),
        (("./a", "./b", "--margin", "0"), "is not above zero"),
        (("./a", "./b", "--fail-if-slower", "2x"), "--fail-if-slower: '2x' is not a share such as 5%"),
        (("./a", "./b", "./c", "--fail-if-slower", "2%"), "and 3 were given; give BASE and HEAD alone"),
        (("http://192.0.2.1/", "./b"), "neither loopback nor private"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    ended = assay(tmp_path, "versus", *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert len(ended.stderr.splitlines()) == 1
    assert said in ended.stderr


def stored(folder: Path) -> Run:
    return store.load(store.find(folder / "results", "latest"))


def standing(folder: Path, *flags: str) -> subprocess.Popen[str]:
    line = command(folder, "--port", "0", *flags)
    return subprocess.Popen(line.split(), stdout=subprocess.PIPE, text=True)


def port(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    return server.stdout.readline().split()[-1]
