"""What `assay load` makes of words: defaults that are no wish, what is random, rates that rest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from loading import Load
from wire import Wire, recording

from assay.cli.main import main

pytestmark = pytest.mark.beside


@pytest.fixture
def load(capsys: pytest.CaptureFixture[str]) -> Load:
    return Load(capsys)


def test_a_count_below_the_usual_connections_is_a_whole_load(capsys: pytest.CaptureFixture[str]) -> None:
    with recording() as wire:
        assert main(["load", wire.url(), "-n", "10", "-q"]) == 0
    told = capsys.readouterr().out
    assert "10 of 10 opened" in told
    assert not re.search(r"^[✗!] (G8|M1)", told, re.MULTILINE)


def marks(wire: Wire) -> set[bytes]:
    found = [re.search(rb"GET /(\S+) ", request) for request in wire.requests]
    return {one[1] for one in found if one}


def test_drawn_words_are_fresh_in_each_run_and_a_seed_repeats_them(load: Load) -> None:
    def asked(*words: str) -> tuple[set[bytes], int]:
        with recording() as wire:
            told = load.clean(wire.url("/{uuid}"), "--template", *words, count=4)
        return marks(wire), told["plan"]["seed"]

    (first, seed), (second, _), (again, _) = asked(), asked(), asked("--seed", "7")
    assert len(first) == 4 and not first & second
    assert asked("--seed", "7")[0] == again
    assert asked("--seed", str(seed))[0] == first


def test_a_load_says_by_which_seed_it_is_repeated(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = ("--save", "--results", str(tmp_path / "runs"))
    with recording() as wire:
        main(["load", wire.url("/{uuid}"), "--template", "-n", "4", "-q", "--seed", "7", *kept])
        assert "seed 7 (--seed 7 repeats it)" in capsys.readouterr().out
        main(["load", wire.url("/"), "-n", "4", "-q", "--seed", "7"])
    assert "seed" not in capsys.readouterr().out
    [report] = (tmp_path / "runs").rglob("report.md")
    assert ", seed 7, " in report.read_text()


def test_stages_begin_at_nothing_and_rest(load: Load) -> None:
    stages = ("--stage", "200ms:0..100", "--stage", "200ms:0", "--stage", "200ms:1200/m")
    with recording() as wire:
        code = main(["load", wire.url(), *stages, "-q"])
    assert code == 0
    assert 10 <= len(wire.requests) <= 14
