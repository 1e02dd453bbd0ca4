"""The sentences of a paragraph, each with the line that it begins on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.document import TextBlock

_SENTENCE = re.compile(r"[^.!?\n]{1,600}(?:[.](?=\w)[^.!?\n]{0,300}){0,20}[.!?]?")
_SHORT = re.compile(r"(?<=\bvs)[.](?=\s)|(?<=\bapprox)[.](?=\s)|(?<=\b[eEiI][.][ge])[.](?=\s)")
"""Full stops that end no sentence; a space for each, so that places stay."""


def sentences(block: TextBlock) -> Iterator[tuple[int, str]]:
    """The sentences of a block, and the line that each begins on."""
    text = ""
    starts: list[tuple[int, int]] = []
    for line in block.lines[:400]:
        starts.append((len(text), line.number))
        text += _SHORT.sub(" ", line.text.strip()) + " "
    for found in _SENTENCE.finditer(text):
        if found[0].strip():
            begin = found.start() + len(found[0]) - len(found[0].lstrip())
            yield max(number for at, number in starts if at <= begin), found[0].strip()
