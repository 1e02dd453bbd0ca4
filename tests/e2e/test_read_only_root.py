"""A root file system that cannot be written: what needs to write is told where, and the rest works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from wire import recording

pytestmark = [
    pytest.mark.beside,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes mount namespaces"),
]

READ_ONLY = (
    'mount --make-rprivate / && mount -t tmpfs none "$1" && mount -o remount,ro,bind / && shift && "$@"'
)


def beside(folder: Path, *words: str, where: str) -> subprocess.CompletedProcess[str]:
    """`assay` in a namespace whose root is read-only but for the folder "free"; it works in `where`."""
    (folder / "free").mkdir(exist_ok=True)
    script = f'cd "$0/{where}" && exec {sys.executable} -m assay.cli.main "$@"'
    inner = ("bash", "-c", script, str(folder), *words)
    ended = subprocess.run(
        ("unshare", "-m", "bash", "-c", READ_ONLY, "bash", str(folder / "free"), *inner),
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "ASSAY_LOCK": str(folder / "lock")},
    )
    if "unshare" in ended.stderr or "mount:" in ended.stderr:
        pytest.skip(f"no mount namespaces here: {ended.stderr.strip()}")
    return ended


@pytest.mark.parametrize(
    "words",
    [
        ("versus", "http://127.0.0.1:9/", "http://127.0.0.1:8/"),
        ("capacity", "http://127.0.0.1:9/", "--slo", "p99<50ms"),
        ("load", "http://127.0.0.1:9/", "-n", "1", "--save"),
    ],
)
def test_what_keeps_a_record_is_told_in_a_line_before_the_load(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    ended = beside(tmp_path, *words, where=".")
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].startswith(f"assay: cannot write {tmp_path}/results: read-only")


def test_doctor_names_what_cannot_be_written(tmp_path: Path) -> None:
    ended = beside(tmp_path, "doctor", where=".")
    assert ended.returncode in (0, 1)
    assert "Traceback" not in ended.stderr


def test_a_folder_of_its_own_is_enough(tmp_path: Path) -> None:
    with recording() as wire:
        ended = beside(tmp_path, "load", wire.url(), "-n", "4", "-q", "--save", where="free")
    assert ended.returncode == 0, ended.stderr
    assert "kept as run" in ended.stderr
