"""`assay run` as a person runs it: screens, files, exit codes, Ctrl-C, resuming."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import made_servers
import made_studies
import msgspec
import pytest
from interrupting import interrupted

from assay import store
from assay.model.run import Run

ASSAY = [sys.executable, "-m", "assay.cli.main"]
PATIENCE_S = 200


def environment(folder: Path) -> dict[str, str]:
    """The study's own folders, cache and lock: tests may run beside each other."""
    (folder / "runtime").mkdir(exist_ok=True)
    own = {"ASSAY_CACHE": str(folder / "cache"), "ASSAY_LOCK": str(folder / "lock"), "CI": "1"}
    return os.environ | own


def assay(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ASSAY, *words],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
    )


def the_run(folder: Path) -> Path:
    [path] = (folder / "results").glob("*/run.jsonl")
    return path


@pytest.mark.beside
def test_a_study_ends_in_a_screen_a_report_and_a_record(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "exits"])
    ended = assay(tmp_path, "run", "small", "--seed", "7")
    assert ended.returncode == 1  # one of the two servers failed
    assert "Traceback" not in ended.stderr
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert len(ended.stdout.splitlines()) <= 24
    for told in ("greeting/right", "! greeting/exits did not start", "S5 ", "report.md"):
        assert told in ended.stdout
    assert "[2/2] block 2" in ended.stderr
    path = the_run(tmp_path)
    assert json.loads(path.read_text().splitlines()[-1])["record"] == "judgement"
    report = path.with_name("report.md").read_text()
    assert report.startswith("# Small servers\n")
    again = assay(tmp_path, "report", "latest")
    assert again.returncode == 0
    assert again.stdout == ended.stdout
    whole = assay(tmp_path, "report", "latest", "--verbose").stdout
    assert all(told in whole for told in ("seed 7", "greeting/exits: did not start", "S5 warning"))


@pytest.mark.beside
def test_a_wrong_answer_is_told_while_another_server_is_still_built(tmp_path: Path) -> None:
    """The build waits for the other server to have been started; by itself it gives up after a while."""
    made_studies.write(tmp_path, ["wrong body", "right"], blocks=1, ready_timeout_s=1)
    told, servers = tmp_path / "told", tmp_path / "servers" / "greeting"
    wrong = servers / "wrong-body" / "server.py"
    wrong.write_text(f"open({str(told)!r}, 'w').close()\n" + made_servers.PROGRAM)
    waits = f"for i in $(seq 300); do [ -e {told} ] && exit 0; sleep 0.1; done; exit 1"
    with (servers / "right" / "server.toml").open("a") as manifest:
        manifest.write(f'[build]\ncommand = ["/bin/sh", "-c", "{waits}"]\n')
    ended = assay(tmp_path, "run", "small", "--no-control")
    early = next(line for line in ended.stderr.splitlines() if "seen while others are still built" in line)
    assert early.startswith("greeting/wrong-body (fair): no right answer to GET /hello")
    assert ended.stderr.index(early) < ended.stderr.index("greeting/right (fair): ready")


@pytest.mark.beside
def test_json_is_the_whole_run_on_standard_output(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1)
    ended = assay(tmp_path, "run", "small", "--json", "--blocks", "2")
    document = json.loads(ended.stdout)
    assert document.pop("answer")  # in words, before the record
    run = msgspec.convert(document, Run)
    assert len(run.trials) == run.header.blocks == 2
    assert run.judgement is not None
    assert run.header.command[-3:] == ("--json", "--blocks", "2")


@pytest.mark.beside
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_keeps_what_is_measured_and_resume_goes_on(tmp_path: Path, how: signal.Signals) -> None:
    """And so do SIGTERM, which is all that a job in the background, a container or a service hears, and
    SIGHUP, which the end of a terminal sends."""
    made_studies.write(tmp_path, ["right"], blocks=3)
    heard = ["env", "--default-signal=HUP", *ASSAY]  # a suite under nohup hands on that it is ignored
    stopped = interrupted([*heard, "run", "small"], tmp_path, environment(tmp_path), "[1/3]", how)
    assert stopped.returncode == 130
    assert "go on with: assay run --resume" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert "greeting/right" in stopped.stdout
    ended = assay(tmp_path, "run", "--resume", "latest")
    assert "[3/3]" in ended.stderr
    assert "[1/3]" not in ended.stderr
    assert len(json.loads(assay(tmp_path, "report", "latest", "--json").stdout)["trials"]) == 3
    ended = assay(tmp_path, "run", "--resume", "latest")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "has ended" in ended.stderr


def spoiled(folder: Path, spoil: str) -> subprocess.CompletedProcess[str]:
    """A run of three trials whose second server, as it starts, does something to the folder of runs."""
    made_studies.write(folder, ["right"], blocks=3)
    (folder / "starts").write_text("")
    (folder / "servers" / "greeting" / "right" / "server.py").write_text(
        f"import os, pathlib, shutil\nfolder = pathlib.Path({str(folder)!r})\n"
        "starts = folder / 'starts'\nstarts.write_text(starts.read_text() + 'x')\n"
        f"if starts.read_text() == 'xx':\n    {spoil}\n" + made_servers.PROGRAM
    )
    return assay(folder, "run", "small", "--no-control", "--seed", "1")


def test_a_run_whose_folder_is_removed_puts_it_back_with_all_trials(tmp_path: Path) -> None:
    ended = spoiled(tmp_path, "shutil.rmtree(folder / 'results')")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("the run's folder was removed while the run went on; it is there again") == 1
    assert "greeting/right" in ended.stdout
    kept = store.read(the_run(tmp_path))
    assert kept.notes == ()
    assert [trial.number for trial in kept.run.trials] == [0, 1, 2]
    assert kept.run.judgement is not None
    assert the_run(tmp_path).with_name("report.md").is_file()


def test_figures_are_shown_whatever_happens_to_the_files(tmp_path: Path) -> None:
    ended = spoiled(tmp_path, "shutil.rmtree(folder / 'results'); (folder / 'results').write_text('')")
    assert ended.returncode == 2
    assert re.search(r"^ +greeting/right +(about |≥ |≤ )?\d", ended.stdout, re.MULTILINE)
    assert "run.jsonl" not in ended.stdout  # it is not there
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("assay: cannot write ") and "go on with: assay run --resume small-" in last
    assert "Traceback" not in ended.stderr


@pytest.mark.beside
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run",), "no study was named; one of: "),
        (("run", "smal"), "small"),
        (("run", "small", "--profile", "unfair"), "fair"),
        (("run", "small", "--server", "greeting/perl"), "greeting/perl"),
        (("run", "small", "--resume", "latest"), "cannot change"),
        (("run", "--resume", "latest"), "there is no run"),
        (("run", "small", "--results", "studies/small.toml"), "studies/small.toml"),
        (("run", "small", "--blocks", "0"), "--blocks"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_run(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"])
    ended = assay(tmp_path, *words)
    assert ended.returncode == 2
    assert said in ended.stderr
    busy = "other programs keep"  # said before anything else, where it is so
    assert [line[:7] for line in ended.stderr.splitlines() if not line.startswith(busy)] == ["assay: "]
    assert ended.stdout == ""
    assert not list(tmp_path.glob("results/*/run.jsonl"))


@pytest.mark.beside
def test_a_second_run_at_once_is_refused_by_name(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"], measure_s=30)
    command = [*ASSAY, "run", "small"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline()
        ended = assay(tmp_path, "run", "small")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
    assert ended.returncode == 2
    assert "another run measures on this machine" in ended.stderr
    assert str(process.pid) in ended.stderr


@pytest.mark.beside
@pytest.mark.parametrize("name", ["run", "study", "server", "contract"])
def test_schemas_are_json(name: str, tmp_path: Path) -> None:
    ended = assay(tmp_path, "schema", name)
    assert ended.returncode == 0
    assert "$defs" in json.loads(ended.stdout)
