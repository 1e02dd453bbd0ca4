"""What is said where a package of an extra is not installed."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from assay.cli.main import guarded
from assay.core import extras
from assay.core.errors import EXIT_INTERNAL, EXIT_USAGE

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", extras.PACKAGES)
def test_a_missing_package_is_one_line_that_says_what_to_install(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed

    def asks() -> int:
        __import__(f"{module}.anything")
        return 0

    assert guarded(asks, ["report"]) == EXIT_USAGE
    told = capsys.readouterr().err
    extra = extras.PACKAGES[module][0]
    assert told.count("\n") <= 2
    offered = " ".join(f"'{one}'" for one in PROJECT["project"]["optional-dependencies"][extra])
    assert f"is not installed; pip install {offered}" in " ".join(told.split())
    assert "assay-http" not in told  # which no index has


def test_a_module_that_no_extra_brings_is_a_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def asks() -> int:
        __import__("nothing_of_that_name")
        return 0

    assert guarded(asks, ["report"]) == EXIT_INTERNAL


def test_every_package_is_one_of_the_extra_that_is_named() -> None:
    offered = PROJECT["project"]["optional-dependencies"]
    for module, (extra, _) in extras.PACKAGES.items():
        named = " ".join(offered[extra]).replace("-python", "").replace("-", "_")
        assert module in named


def test_documents_install_what_can_be_had_without_an_index() -> None:
    """A wheel or a checkout, and an extra's own packages, in the versions that the project asks for."""
    root = Path(__file__).parents[2]
    texts = {path: path.read_text(encoding="utf-8") for path in (root / "README.md", *root.glob("docs/*.md"))}
    assert [path.name for path, text in texts.items() if "assay-http[" in text] == []
    [ray] = PROJECT["project"]["optional-dependencies"]["ray"]
    assert f"pip install '{ray}'" in texts[root / "docs" / "many-machines.md"]
