"""The workflows cannot be run here: they parse, and what they call is there."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_what_a_runner_needs(path: Path) -> None:
    found = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # "on" is no truth value
    assert {"name", "on", "permissions", "jobs"} <= set(found)
    for name, job in found["jobs"].items():
        assert job["runs-on"], name
        assert set(job.get("needs", "").split()) <= set(found["jobs"])
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), step
            assert re.fullmatch(r"[\w./-]+@v\d+", step.get("uses", "some/action@v1")), step


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_calls_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", text)) <= targets
    for script in re.findall(r"\bscripts/[\w.-]+", text):
        assert os.access(ROOT / script, os.X_OK), script


def test_the_platforms_that_are_promised() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    for needed in ("ubuntu-24.04-arm", "macos", "sha256sum", "attest-build-provenance"):
        assert needed in text
