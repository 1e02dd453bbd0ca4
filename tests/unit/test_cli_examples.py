"""Every command that the help and the documents show is one that the program takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from assay.cli import verbs
from assay.cli.main import overview
from assay.cli.parser import Parser

ROOT = Path(__file__).parents[2]
FILES = ("mix.jsonl", "ca.pem", "cat.png", "page.har", "token")
"""What examples name and a user would have."""
REDIRECT = {"|", "||", ">", ">>", "&&", "2>"}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("API_KEY", "secret")
    monkeypatch.setenv("CREDENTIALS", "ada:secret")
    for name in FILES:
        (tmp_path / name).write_text("secret\n" if name == "token" else "")


def parse(command: str) -> None:
    """Read a command line as the program would; InputError where it would refuse it."""
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    end = next((place for place, word in enumerate(words) if word in REDIRECT), len(words))
    _, name, *rest = words[:end]
    verb = verbs.find(name)
    assert verb is not None, command
    parser = Parser(f"assay {name}", "")
    verb.module().configure(parser)
    parser.read(rest)


@pytest.mark.parametrize("verb", verbs.VERBS, ids=lambda verb: verb.name)
def test_the_examples_of_each_verb(verb: verbs.Verb) -> None:
    parser = Parser(f"assay {verb.name}", "")
    verb.module().configure(parser)
    assert parser.shown_examples
    for command, _ in parser.shown_examples:
        parse(command[command.index("assay ") :])


def test_the_examples_of_the_overview() -> None:
    shown = re.findall(r"^  (assay .*)$", overview(), re.MULTILINE)
    assert shown
    for command in shown:
        parse(command)


@pytest.mark.parametrize("document", ["docs/ci-gate.md", "docs/load.md"])
def test_the_commands_of_the_documents(document: str) -> None:
    text = re.sub(r"\\\n *", "", (ROOT / document).read_text(encoding="utf-8"))
    shown = re.findall(r"^ +(?:run: )?(assay (?:run|report|compare|load|versus) .*)$", text, re.MULTILINE)
    assert len(shown) >= 4
    for command in shown:
        parse(command)
