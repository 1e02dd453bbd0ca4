"""Every flag of bombardier beside its recorded answers, and each difference beside its row."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import differential
import pytest
from bombardier_cases import CASES, Case
from bombardier_pair import ASSAY, RECORDED, Told, built, made, of_2_0, tell

from assay.core.settings import Settings

pytestmark = pytest.mark.beside

TOLD = {name: Told(**told) for name, told in json.loads(RECORDED.read_text("utf-8")).items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("files"))


def differences(case: Case, folder: Path, strict: bool) -> dict[str, str]:
    """In what the two differ: what they say, their exit codes, and what they send."""
    theirs, ours = TOLD[case.name], tell(ASSAY, case, folder, strict=strict)
    respects = {
        "exit code": (theirs.code, ours.code),
        "lines": (list(theirs.lines), list(ours.lines)),
        "standard error": (list(theirs.err), list(ours.err)),
        "requests": (list(theirs.requests), list(ours.requests)),
    }
    return {
        what: f"{what}:\n  bombardier {one!r}\n  here       {other!r}"
        for what, (one, other) in respects.items()
        if one != other
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_alike_or_told(case: Case, folder: Path) -> None:
    differential.check("bombardier", case, lambda strict: differences(case, folder, strict))


@pytest.fixture(scope="module")
def original() -> Path:
    """The program itself, built through Go's module proxy."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed, so bombardier cannot be built")
    try:
        return built(Settings.resolve().cache)
    except subprocess.CalledProcessError:
        pytest.skip("bombardier cannot be had through Go's module proxy")


@pytest.mark.skipif(os.environ.get("ASSAY_LONG") != "1", reason="long: builds a program of Go's proxy")
@pytest.mark.parametrize("case", [case for case in CASES if not of_2_0(case)], ids=lambda case: case.name)
def test_what_is_recorded_is_what_the_program_says(case: Case, original: Path, folder: Path) -> None:
    """Long: the program takes a minute of a core to build, and neither its version nor the record changes.

    In CI our answers are held to the record in each case (above).
    """
    assert tell((str(original),), case, folder) == TOLD[case.name]


def test_every_flag_and_every_row_has_a_case() -> None:
    usage = "\n".join(TOLD["--help "].err)
    flags = re.findall(r"(?m)^ {2}(?:(-\w), | {4})(--[\w-]+)", usage)
    assert len(flags) > 20
    for names in flags:
        given = [name for name in names if name]
        assert len(differential.without_case(given, CASES)) < len(given), names
    assert differential.rows_without_case("bombardier", CASES) == []
