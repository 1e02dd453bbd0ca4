"""Installing Debian packages: what the distribution does not have keeps nothing else from being installed.

apt itself is replaced by two scripts: a test must not change the machine's packages.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.core.errors import EnvironmentLacks
from assay.servers.requires import install

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with what apt-get was asked for; it knows packages but those named `no-…`."""
    asked = tmp_path / "asked"
    programs = {
        "apt-get": f'echo "$@" >>{asked}; case "$*" in *breaks*) echo "E: broken" >&2; exit 100;; esac',
        "apt-cache": 'case "$2" in no-*) exit 100;; esac',
    }
    for name, body in programs.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return asked


def test_a_package_that_does_not_exist_here_is_named_and_the_others_installed(
    asked: Path, tmp_path: Path
) -> None:
    assert install(["one", "no-such", "two", "no-other"], tmp_path / "log") == ("no-such", "no-other")
    assert asked.read_text().splitlines() == ["update", "install -y --no-install-recommends one two"]


def test_nothing_is_installed_where_nothing_exists(asked: Path, tmp_path: Path) -> None:
    assert install(["no-such"], tmp_path / "log") == ("no-such",)
    assert asked.read_text().splitlines() == ["update"]


def test_a_failed_installation_says_why_and_how_to_do_it_by_hand(asked: Path, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentLacks, match="E: broken .*sudo apt-get install breaks"):
        install(["breaks"], tmp_path / "log")


def test_all_there_is_nothing_to_say(asked: Path, tmp_path: Path) -> None:
    assert install(["one"], tmp_path / "log") == ()
