"""What is written in a document: its sentences, without tables, headings and code."""

from __future__ import annotations

import re
from itertools import pairwise

from markdown_it import MarkdownIt

LONGEST_SENTENCE = 25
"""Words of a sentence that is read once."""


def long_sentences(text: str) -> list[str]:
    """Those of more than `LONGEST_SENTENCE` words."""
    return [one for one in sentences(text) if len(one.split()) > LONGEST_SENTENCE]


def sentences(text: str) -> list[str]:
    """The sentences of paragraphs and lists."""
    blocks = MarkdownIt("commonmark").enable("table").parse(text)
    written = [
        block.content
        for before, block in pairwise(blocks)
        if block.type == "inline" and before.type == "paragraph_open"
    ]
    return [one for each in written for one in re.split(r"(?<=[.:;?!])\*{0,2}\s", each)]
