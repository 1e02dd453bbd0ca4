"""Where things are."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.settings import BUNDLE, Settings


def test_flags_come_before_variables_and_variables_before_defaults(tmp_path: Path) -> None:
    assert Settings.resolve(here=tmp_path, environ={}).results == tmp_path / "results"
    environ = {"ASSAY_RESULTS": "r", "ASSAY_SERVERS": "s:/t", "ASSAY_STUDIES": "u", "ASSAY_CACHE": "/v"}
    made = Settings.resolve(here=tmp_path, environ=environ)
    assert made.results == tmp_path / "r"
    assert made.cache == Path("/v")
    assert made.server_folders[:2] == (tmp_path / "s", Path("/t"))
    assert made.study_folders[0] == tmp_path / "u"
    assert Settings.resolve(here=tmp_path, environ=environ, results="/x").results == Path("/x")


def test_the_checkouts_servers_and_studies_are_always_there(tmp_path: Path) -> None:
    made = Settings.resolve(here=tmp_path, environ={"ASSAY_SERVERS": "mine"})
    assert (made.server_folders[-1] / "quotes" / "contract.toml").is_file()
    assert (made.study_folders[-1] / "franklin.toml").is_file()
    assert made.root == made.server_folders[-1].parent


def test_the_lock_is_one_for_the_machine(tmp_path: Path) -> None:
    own = {"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}
    assert Settings.resolve(environ=own).lock == Settings.resolve(environ={}).lock == Path("/tmp/assay.lock")
    assert Settings.resolve(here=tmp_path, environ={"ASSAY_LOCK": "mine"}).lock == tmp_path / "mine"


def test_an_installed_assay_builds_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.core.settings.checkout", lambda: None)
    made = Settings.resolve(here=tmp_path, environ={"XDG_CACHE_HOME": "/caches"})
    assert made.cache == Path("/caches/assay")
    assert made.server_folders == (tmp_path / "servers", BUNDLE / "servers")
    assert made.study_folders == (tmp_path / "studies", BUNDLE / "studies")
