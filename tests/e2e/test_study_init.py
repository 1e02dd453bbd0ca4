"""A study of one's own runs as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.core.errors import InputError
from assay.core.settings import Settings
from assay.plan.study import load_study, resolve
from assay.plan.study.load import write_example
from assay.servers import check_all, prepare, probe
from assay.servers.server import HOST, start

pytestmark = pytest.mark.beside


def settings(folder: Path) -> Settings:
    """The person's own folder; the cache is the checkout's, where the null server may be built already."""
    return replace(Settings.resolve(here=folder, environ={}), lock=folder / "lock")


def test_every_server_of_the_example_keeps_the_contract(tmp_path: Path) -> None:
    written = write_example("mine", tmp_path)
    assert all(path.is_file() for path in written)
    study = resolve(load_study("mine", settings(tmp_path)), settings(tmp_path))
    ids = [case.case.id for case in study.cases]
    assert ids == ["mine/example", "mine/example+padded", "mine/null", "mine/example+again"]
    for case in study.cases:
        if not all(one.fulfilled for one in check_all(case.server.requires)):
            continue
        prepared = prepare(case.server, settings(tmp_path), 1)
        running = start(prepared, case.contract, case.routes[0], cpus=(), log=tmp_path / "log")
        try:
            routes = case.routes if case.server.role == "ceiling" else case.contract.file.routes
            assert probe.test(case.contract, routes, HOST, running.port)[1] == ()
        finally:
            assert running.kept.stop() == 0


def test_nothing_is_written_over(tmp_path: Path) -> None:
    write_example("mine", tmp_path)
    study = tmp_path / "studies" / "mine.toml"
    study.write_text("my work")
    with pytest.raises(InputError, match="mine.toml is there already"):
        write_example("mine", tmp_path)
    assert study.read_text() == "my work"


@pytest.mark.parametrize("name", ["", "Mine", "a/b", "../x", "a b", "1st"])
def test_a_name_must_be_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is no name for a study"):
        write_example(name, tmp_path)
    assert list(tmp_path.iterdir()) == []
