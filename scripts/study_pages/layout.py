"""Markdown lines that fit an editor."""

from __future__ import annotations

import re
import textwrap

WIDTH = 100


def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """A paragraph of at most `WIDTH` columns; no line of it begins as a list or a heading would."""
    glued = re.sub(r" (?=(?:[-+*#>=|]|\d+[.)])(?: |$))", "\N{NO-BREAK SPACE}", text)
    glued = re.sub(r"(?<=\d) (?=(?:%|ns|µs|ms|s|[kM]?B)(?![\w/]))", "\N{NO-BREAK SPACE}", glued)
    lines = textwrap.wrap(
        glued,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def item(text: str, level: int = 0) -> list[str]:
    """A line of a list."""
    return wrapped(text, "  " * level + "- ", "  " * (level + 1))
