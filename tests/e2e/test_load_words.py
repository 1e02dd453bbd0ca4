"""What `assay load` makes of words: defaults that are no wish, what is random, rates that rest."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from loading import Load
from wire import Wire, recording

from assay.cli.main import main

HERE = "http://127.0.0.1:9"

pytestmark = pytest.mark.beside


@pytest.fixture
def load(capsys: pytest.CaptureFixture[str]) -> Load:
    return Load(capsys)


def test_a_count_below_the_usual_connections_is_a_whole_load(capsys: pytest.CaptureFixture[str]) -> None:
    with recording() as wire:
        assert main(["load", wire.url(), "-n", "10", "-q", "--verbose"]) == 0
    told = capsys.readouterr().out
    assert "10 of 10 opened" in told
    assert not re.search(r"^[✗!] (G8|M1)", told, re.MULTILINE)


def self_signed(folder: Path) -> None:
    new = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=own"
    words = ["openssl", *new.split(), "-keyout", "own.key", "-out", "own.pem"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)


def marks(wire: Wire) -> set[bytes]:
    found = [re.search(rb"GET (\S+) ", request) for request in wire.requests]
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
        assert "--seed 7 repeats it" in " ".join(capsys.readouterr().out.split())
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((f"{HERE}/a b",), "the path '/a b' of the URL: must be a path"),
        ((HERE, "--requests", "MIX"), "mix.txt, line 3, path '/a b': must be a path"),
        ((HERE, "-c", "1", "-t", "2"), "--threads: must be"),
        ((HERE, "-c", "9m"), "--connections: must be"),
        ((HERE, "-r", "9", "-c", "9m"), "--connections: must be"),
        ((HERE, "-r", "900m"), "--rate: rates must be"),
        ((HERE, "--stage", "1s:900m"), "--stage: rates must be"),
        ((HERE, "--timeout", "1ns"), "--timeout: must be"),
        ((HERE, "--warm-up", "90h"), "--duration: warm-up and measured phase together"),
        ((HERE, "--cpus", "9999"), "--cpus: "),
        ((f"{HERE}/{{random:9-1}}", "--template"), "--template: {random:9-1} is no range"),
        ((HERE, "--expect-match", "("), "--expect-match: is no regular expression"),
        ((HERE, "--expect-header", "A: ("), "--expect-header: is no regular expression"),
        ((HERE.replace("http", "https"), "--sni", "a b"), "--sni: 'a b' is neither"),
        ((HERE.replace("http", "https"), "--cert", "CERT", "--key", "EMPTY"), "--key: holds no key"),
        ((HERE.replace("http", "https"), "--cacert", "EMPTY"), "--cacert: "),
    ],
)
def test_a_refusal_names_what_was_typed(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mix.txt").write_text('/\n\n{"path": "/a b"}\n')
    (tmp_path / "empty").touch()
    self_signed(tmp_path)
    files = {"MIX": "mix.txt", "EMPTY": "empty", "CERT": "own.pem"}
    typed = [str(tmp_path / files[word]) if word in files else word for word in words]
    assert main(["load", *typed]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not re.search(r"requests\[|load plan|items found|tls\.", told)


def test_requests_come_from_standard_input(
    load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "list").write_text("/a\n/b\n")
    with recording() as wire, (tmp_path / "list").open() as listed:
        monkeypatch.setattr("sys.stdin", listed)
        load.clean(wire.url(), "--requests", "-", count=4)
    assert marks(wire) == {b"/a", b"/b"}
