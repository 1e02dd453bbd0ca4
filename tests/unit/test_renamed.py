"""Words of earlier versions, and an engine of one: each is refused in one line that says what to do."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from checkout import ROOT

from assay import _engine
from assay.cli.verbs import find
from assay.core import toml
from assay.core.errors import InputError
from assay.engine import driver
from assay.plan.study.schema import StudyFile

STUDY = (ROOT / "src/assay/plan/study/example/study.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("present", "old", "line"),
    [
        (
            "[profiles.fair]\n",
            "[profiles.fair]\nwoven = false\n",
            "profiles.fair.woven: unknown key; it is called 'interleaved' now",
        ),
        (
            "connections = 16, ",
            "connections = 16, distance = { round_trip_ms = 20 }, ",
            "profiles.fair.loads[0].distance: unknown key; it is called 'emulation' now",
        ),
    ],
)
def test_an_old_key_is_told_its_present_name(tmp_path: Path, present: str, old: str, line: str) -> None:
    path = tmp_path / "old.toml"
    assert present in STUDY
    path.write_text(STUDY.replace(present, old), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        toml.read(path, StudyFile, "study")
    assert str(refused.value).endswith(line) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("words", "present"),
    [
        (["run", "franklin", "--no-weave"], "--sequential"),
        (["versus", "a", "b", "--no-weave"], "--sequential"),
        (["versus", "a", "b", "--within", "0.05"], "--margin"),
        (["versus", "a", "b", "--within=0.05"], "--margin"),
        (["capacity", "a", "--slo", "p99<10ms", "--within", "0.05"], "--resolution"),
    ],
)
def test_an_old_flag_is_told_its_present_name(words: list[str], present: str) -> None:
    verb = find(words[0])
    assert verb is not None
    with pytest.raises(InputError) as refused:
        verb.parser().read(words[1:])
    assert str(refused.value).startswith("unknown flag '--")
    assert refused.value.remedy == f"it is called {present} now"


def test_an_engine_of_another_version_is_refused_in_one_line() -> None:
    code = (
        "import sys, types, assay\n"
        "engine = types.ModuleType('assay._engine')\n"
        "engine.version = lambda: '0.0.9'\n"
        "assay._engine = sys.modules['assay._engine'] = engine\n"
        "from assay.cli.main import main\n"
        "sys.exit(main(['load', 'http://127.0.0.1:1/']))"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, "")
    [line] = ended.stderr.splitlines()
    assert f"the load engine is of version 0.0.9, and this Assay needs {driver.VERSION}" in line
    assert "install Assay anew" in line and "make setup" in line


def test_all_parts_are_of_one_version() -> None:
    package, crates = (
        tomllib.loads((ROOT / name).read_text(encoding="utf-8")) for name in ("pyproject.toml", "Cargo.toml")
    )
    versions = {package["project"]["version"], crates["workspace"]["package"]["version"]}
    assert {*versions, _engine.version()} == {driver.VERSION}
