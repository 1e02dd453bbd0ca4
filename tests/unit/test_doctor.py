"""What is said of servers and the machine, against what can be checked of it."""

from __future__ import annotations

import os
import re
import resource
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.core.settings import Settings
from assay.plan.resolved import ResolvedRun
from assay.plan.study import load_study, resolve
from assay.plan.study.load import write_example
from assay.runner import doctor
from assay.runner.doctor import Fitness
from assay.servers import CoreSplit

SPLIT = CoreSplit(client=(1,), server=(0,), cores=2)


def study(folder: Path, connections: int = 16, split: CoreSplit = SPLIT) -> tuple[Settings, ResolvedRun]:
    settings = replace(Settings.resolve(here=folder, environ={}), cache=folder / "cache")
    path = write_example("mine", folder)[0]
    path.write_text(path.read_text().replace("connections = 16", f"connections = {connections}"))
    return settings, resolve(load_study("mine", settings), settings, split=split)


def fitness(folder: Path, connections: int = 16, split: CoreSplit = SPLIT) -> dict[str, Fitness]:
    return {one.name: one for one in doctor.machine(*study(folder, connections, split))}


def test_servers_tell_what_they_need_and_whether_they_are_built(tmp_path: Path) -> None:
    settings, _ = study(tmp_path)
    manifest = tmp_path / "servers" / "mine" / "null" / "server.toml"
    manifest.write_text(manifest.read_text() + '\n[build]\ncommand = ["true"]\n')
    resolved = resolve(load_study("mine", settings), settings, split=SPLIT)
    needs = {need.name: need for need in doctor.server_needs(resolved.servers, settings)}
    example = needs["mine/example (fair)"]
    assert [(one.requirement.name, one.fulfilled) for one in example.checked] == [("python3", True)]
    assert (example.built, example.ready) == (None, True)
    null = needs["mine/null (fair)"]
    assert (null.built, null.ready) == (False, False)


def test_connections_that_cannot_be_opened_are_told(tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    seen = fitness(tmp_path, connections=hard)["open files"]
    assert not seen.fit
    assert f"{hard} at most, {hard + 64} needed" in seen.state
    assert seen.remedy == f"raise the hard limit: ulimit -Hn {hard + 64}"


def test_more_connections_than_ports_are_told(tmp_path: Path) -> None:
    assert not fitness(tmp_path, connections=60_000)["ports"].fit


@pytest.mark.parametrize(
    ("split", "fit"), [(SPLIT, True), (CoreSplit((0,), (0,), 1), False), (CoreSplit((), (), 4), False)]
)
def test_cores_that_are_shared_or_not_pinned_are_told(tmp_path: Path, split: CoreSplit, fit: bool) -> None:
    assert fitness(tmp_path, split=split)["cores"].fit is fit


def test_shares_and_sizes_are_of_this_machine(tmp_path: Path) -> None:
    seen = fitness(tmp_path)
    assert float(seen["steal"].state.rstrip("%")) >= 0
    assert re.search(r"GB free; interleaved servers take about \d+\.\d GB at once$", seen["memory"].state)
    assert str(tmp_path) in seen["results"].state


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    settings, resolved = study(tmp_path)
    (tmp_path / "file").touch()
    told = {one.name: one for one in doctor.machine(replace(settings, results=tmp_path / "file"), resolved)}
    assert not told["results"].fit
    assert os.fspath(tmp_path / "file") in told["results"].state
