"""Mutants of tools' outputs: texts that nobody wrote, which an audit has to survive and to tell of."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from random import Random

from rich.console import Console

from assay.audit import audit, read
from assay.core.errors import InputError
from assay.report import html, markdown
from assay.report.audit import as_json, as_sarif
from assay.report.model.audit_document import document
from assay.report.terminal import in_full, on_screen

SAMPLES = sorted((Path(__file__).parents[1] / "audit" / "samples").iterdir())
NAMES = ["x.md", "x.html", "x.rst", "x.txt", "x.csv", "x.json"]
PIECES = [
    *["9" * 25, "-", "±", "%", "|", "```", "\n", "×", "倍", " 3 times faster than ", "1.2k", "\x1b[31m"],
    *["\u202e", "{", "}", "e308", "inf", "NaN", "#", "req/s", "ms", "é", "١٢٣", "½", "²", "①", "请求/秒"],
    "раза",
]
"""What is put between the characters of a text."""


def mutant(path: Path, seed: int) -> str:
    """A sample with up to thirty pieces lost, doubled, turned, or put in between."""
    chance = Random(seed)
    text = "# Foo\n\nFoo is 3x faster than Bar.\n\n```\n" + path.read_text(encoding="utf-8") + "```\n"
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(text))
        end = at + chance.randint(0, 60)
        put = chance.choice([chance.choice(PIECES), text[at:end] * 2, "", text[at:end][::-1]])
        text = text[:at] + put + text[end:] + " "
    return text


def survive(text: str, name: str) -> None:
    """Audit a text and tell of it in every form; `InputError` is an answer."""
    with contextlib.suppress(InputError):
        found = audit(read(name, text.encode()))
        told = document(found, explain=True)
        screen = Console(width=80, record=True, file=io.StringIO())
        screen.print(on_screen(told))
        assert len(screen.export_text().splitlines()) <= 25
        screen.print(in_full(told))
        assert as_json([found]) and as_sarif([found]) and markdown.render(told) and html.render(told)
