"""Commands that came with a folder or a record run only after somebody has said yes to them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from made_candidates import ASSAY, PATIENCE_S, QUICK, command
from made_servers import CONTRACT, write_server
from made_studies import write
from test_cli_load import Terminal

from assay import store

pytestmark = pytest.mark.beside

SERVER = """
format = 1
title = "somebody's server"
language = "shell"
framework = "none"
[build]
command = ["sh", "-c", "{build}"]
[version]
command = ["sh", "-c", "touch {marker}; echo 1"]
[run]
command = ["sh", "-c", "exec sleep 60"]
"""
EVERY_WAY = pytest.mark.parametrize(
    "words",
    [
        ("run", "small"),
        ("run", "small", "other"),
        ("run", "small", "--profile", "both"),
        ("setup", "small"),
        ("setup", "greeting/small"),
        ("setup", "--all", "--no-install"),
        ("doctor", "small"),
    ],
    ids=" ".join,
)


def environment(folder: Path, state: str = "state") -> dict[str, str]:
    """A user who has said yes to nothing yet, and whose state is kept here."""
    kept = {name: word for name, word in os.environ.items() if not name.startswith("ASSAY_")}
    own = {"XDG_STATE_HOME": str(folder / state), "ASSAY_CACHE": str(folder / "cache")}
    return kept | own | {"ASSAY_LOCK": str(folder / "lock")}


def assay(folder: Path, *words: str, state: str = "state") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ASSAY, *words], cwd=folder, env=environment(folder, state), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What the commands of a study and its server in this folder leave behind, wherever they run."""
    marker = tmp_path / "ran"
    write(tmp_path, ["right"], blocks=1)
    study = tmp_path / "studies" / "small.toml"
    study.with_name("other.toml").write_text(study.read_text().replace('"small"', '"other"', 1))
    shutil.rmtree(tmp_path / "servers")
    manifest(tmp_path, marker)
    return marker


def manifest(folder: Path, marker: Path, build: str = "true") -> None:
    home = folder / "servers" / "greeting" / "small"
    home.mkdir(parents=True, exist_ok=True)
    (home.parent / "contract.toml").write_text(CONTRACT)
    needs = f'[[requires]]\ncommand = "sh"\nversion = ["sh", "-c", "touch {marker}; echo 1"]\n'
    (home / "server.toml").write_text(SERVER.format(build=build, marker=marker) + needs)
    study = folder / "studies" / "small.toml"
    for path in (study, study.with_name("other.toml")):
        path.write_text(path.read_text().replace("greeting/right", "greeting/small"))


def refused(ended: subprocess.CompletedProcess[str], *named: str) -> bool:
    """Whether it ended with one line that says what would have run, from where, and what allows it."""
    lines = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout, len(lines)) == (2, "", 1), ended
    return all(word in lines[0] for word in ("pass --yes", *named))


@EVERY_WAY
def test_commands_of_a_folder_are_not_run_without_a_yes(
    words: tuple[str, ...], marker: Path, tmp_path: Path
) -> None:
    ended = assay(tmp_path, *words)
    assert refused(ended, "build `sh -c true`", "servers/greeting/small/server.toml")
    assert not marker.exists()


def test_a_yes_is_asked_for_once_and_again_when_anything_changed(marker: Path, tmp_path: Path) -> None:
    setup = ("setup", "greeting/small", "--no-install")
    assert assay(tmp_path, *setup, "--yes").returncode == 0
    assert marker.exists()
    assert assay(tmp_path, *setup).returncode == 0
    kept = tmp_path / "state" / "assay" / "consent"
    assert kept.stat().st_mode & 0o777 == 0o600

    marker.unlink()
    assert refused(assay(tmp_path, *setup, state="another"))
    (tmp_path / "servers" / "greeting" / "small" / "more.sh").write_text("true")
    assert refused(assay(tmp_path, *setup))
    assert assay(tmp_path, *setup, "--yes").returncode == 0
    marker.unlink()
    manifest(tmp_path, marker, build="echo changed")
    assert refused(assay(tmp_path, *setup), "echo changed")
    assert not marker.exists()


def test_on_a_terminal_it_is_asked_and_no_is_the_default(marker: Path, tmp_path: Path) -> None:
    folders = {"ASSAY_SERVERS": str(tmp_path / "servers"), "ASSAY_STUDIES": str(tmp_path / "studies")}
    asked = environment(tmp_path) | folders | {"ASSAY_TRUST": "0"}
    for answer, code in ((b"\n", 2), (b"y\n", 0)):
        terminal = Terminal("setup", "greeting/small", "--no-install", **asked)
        terminal.read_until(r"run them\? \[y/N\]")
        assert "build `sh -c true`" in terminal.text and not marker.exists()
        os.write(terminal.fd, answer)
        assert terminal.end() == code, terminal.text
    assert marker.exists()


def test_what_a_study_adds_to_a_server_of_ours_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, ["right"], blocks=1)
    study = tmp_path / "studies" / "small.toml"
    ours = study.read_text().replace("greeting/right", "quotes/go").replace('["hello"]', '["franklin-says"]')
    head, entry, rest = ours.partition('server = "quotes/go"')
    study.write_text(head + entry + '\nenv = { GOFLAGS = "-toolexec=sh" }' + rest)
    assert refused(assay(tmp_path, "doctor", "small"), "GOFLAGS=-toolexec=sh")


def test_assays_own_servers_and_what_it_has_just_written_are_not_asked_for(tmp_path: Path) -> None:
    assert "pass --yes" not in assay(tmp_path, "doctor", "franklin").stderr
    assert assay(tmp_path, "init", "shop").returncode == 0
    assert "pass --yes" not in assay(tmp_path, "doctor", "shop").stderr
    server = tmp_path / "servers" / "shop" / "example" / "server.py"
    server.write_text(server.read_text() + "# changed\n")
    assert refused(assay(tmp_path, "doctor", "shop"))


@pytest.mark.parametrize("there", ["", "a file in the way"])
def test_a_record_of_somebody_else_is_asked_for_and_ones_own_is_not(there: str, tmp_path: Path) -> None:
    if there:  # nothing can be remembered: the run goes on, and a later resume asks
        (tmp_path / "state").write_text(there)
    words = ("versus", command(tmp_path), command(tmp_path, "--body-bytes", "5"), "--prepare", "echo >>ran")
    ended = assay(tmp_path, *words, *QUICK, "--budget", "2s", "--no-control", "--margin", "90%")
    path = store.find(tmp_path / "results", "latest")
    assert path.is_file() or path.is_dir(), ended.stderr
    record = path / "run.jsonl" if path.is_dir() else path
    begun = b"".join(record.read_bytes().splitlines(keepends=True)[:2])
    record.write_bytes(begun)
    (tmp_path / "ran").unlink()

    foreign = assay(tmp_path, "run", "--resume", "latest", state="of-somebody-else")
    assert refused(foreign, "prepare `echo >>ran`")
    assert not (tmp_path / "ran").exists() and record.read_bytes() == begun
    own = assay(tmp_path, "run", "--resume", "latest", *(("--yes",) if there else ()))
    assert own.returncode in (0, 1), own.stderr
    assert (tmp_path / "ran").exists()
    if there:
        record.write_bytes(begun)
        assert refused(assay(tmp_path, "run", "--resume", "latest"))


def test_a_servers_name_cannot_move_the_cursor(tmp_path: Path) -> None:
    write_server(tmp_path, "right")
    toml = tmp_path / "servers" / "greeting" / "small" / "server.toml"
    toml.write_text(toml.read_text().replace('"--version"', '"--version", "\\u001b[2K\\r"'))
    ended = assay(tmp_path, "setup", "greeting/small")
    assert refused(ended, "\\x1b[2K") and "\x1b" not in ended.stderr
