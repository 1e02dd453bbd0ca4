"""What a user has said yes to is remembered: the newest thousand, whole at any time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.model.design import Candidate, Commands, ComparisonDesign
from assay.runner import consent

SELF = """
import sys
from test_consent_kept import remember
for number in range(int(sys.argv[1]), int(sys.argv[1]) + 40):
    remember(number)
"""


def remember(number: int) -> None:
    """Leave for a record that nothing else is like."""
    consent.remember_record(f"run-{number}", made())


def made() -> ComparisonDesign:
    return ComparisonDesign(
        title="t",
        question="q",
        seed=1,
        plans={},
        warm_ups={},
        titles={},
        candidates=(Candidate(name="a", command="./a"),),
        commands=Commands(),
        margin=0.01,
        budget_ns=1,
        measure_ns=1,
    )


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where leaves are remembered."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "assay" / "consent"


def test_the_newest_thousand_are_remembered(kept: Path) -> None:
    kept.parent.mkdir()
    kept.write_text("".join(f"{number:064x}\n" for number in range(1_200)))
    remember(1)
    lines = kept.read_text().splitlines()
    assert len(lines) == 1_000
    assert lines[:-1] == [f"{number:064x}" for number in range(201, 1_200)]
    remember(1)
    assert kept.read_text().splitlines() == lines


def test_a_leave_that_is_used_again_is_a_new_one(kept: Path) -> None:
    remember(1)
    own = kept.read_text()
    kept.write_text(own + "".join(f"{number:064x}\n" for number in range(999)))
    remember(1)
    remember(2)
    assert own in kept.read_text() and len(kept.read_text().splitlines()) == 1_000


def test_it_is_the_users_alone_and_a_torn_write_leaves_it_whole(kept: Path) -> None:
    remember(1)
    before = kept.read_bytes()
    assert kept.stat().st_mode & 0o077 == 0
    first = kept.stat().st_ino
    remember(2)
    assert kept.stat().st_ino != first and kept.read_bytes().startswith(before)
    assert sorted(path.name for path in kept.parent.iterdir()) == ["consent", "consent.lock"]


def test_several_that_remember_at_once_lose_nothing(kept: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    begun = [subprocess.Popen([sys.executable, "-c", SELF, str(at)], env=env) for at in (0, 40, 80)]
    assert [one.wait(60) for one in begun] == [0, 0, 0]
    assert len(set(kept.read_text().splitlines())) == 120
