"""git is asked without running anything that the configuration of a folder, or of a variable, names."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from assay.servers import build, host

PROGRAMS = {
    "fsmonitor": "core.fsmonitor",
    "hooks": "core.hooksPath",
    "clean": "filter.evil.clean",
    "process": "filter.evil.process",
    "external": "diff.external",
    "textconv": "diff.evil.textconv",
    "pager": "core.pager",
    "ssh": "core.sshCommand",
}


def hostile(tmp_path: Path) -> tuple[Path, Path]:
    """A repository whose configuration runs a program wherever git would; and what that program makes."""
    repository, mark = tmp_path / "cloned", tmp_path / "ran"
    repository.mkdir()
    (repository / "server.toml").write_text("x = 1\n")
    git = ("git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "one")):
        subprocess.run((*git, *words), check=True, capture_output=True)
    for name, key in PROGRAMS.items():
        program = tmp_path / "hooks" / ("post-index-change" if name == "hooks" else name)
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho {name} >>{mark}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        value = program.parent if name == "hooks" else program
        subprocess.run((*git, "config", key, str(value)), check=True)
    (repository / ".git/info/attributes").write_text("* filter=evil diff=evil\n")
    (repository / "server.toml").write_text("x = 2\n")  # as large as before: its content has to be looked at
    os.utime(repository / "server.toml", (1, 1))
    return repository, mark


def test_a_hostile_repository_runs_nothing(tmp_path: Path) -> None:
    repository, mark = hostile(tmp_path)
    assert build.tracked(repository) == frozenset({repository / "server.toml"})
    assert host.git_commit(repository)
    assert not mark.exists(), mark.read_text()


def test_variables_of_the_environment_lead_git_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, mark = hostile(tmp_path)
    plain = tmp_path / "plain"
    plain.mkdir()
    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(tmp_path / "hooks/external"))
    assert host.git_commit(plain) is None
    assert build.tracked(plain) is None
    assert not mark.exists(), mark.read_text()


def test_doctor_runs_nothing_of_the_folder_that_it_is_called_in(tmp_path: Path) -> None:
    repository, mark = hostile(tmp_path)
    (repository / "servers/a/b").mkdir(parents=True)
    env = os.environ | {"ASSAY_LOCK": str(tmp_path / "lock"), "ASSAY_CACHE": str(tmp_path / "cache")}
    subprocess.run(
        [sys.executable, "-m", "assay.cli.main", "doctor"],
        cwd=repository, env=env, capture_output=True, check=False, timeout=240, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert not mark.exists(), mark.read_text()
