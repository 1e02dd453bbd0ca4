"""Results in sentences: "Alder handled 87,077 requests per second, Elm 47,077 req/s"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.document import Figure, Reported, TextDocument, sentences
from assay.audit.headings import RATE
from assay.audit.interval import printed
from assay.audit.lexicon import compiled, source
from assay.audit.listed import grouped
from assay.audit.names import OURS, is_scenario, key_of
from assay.audit.tables import Grid
from assay.audit.tools import NAMED

_NUMBER = source("spoken.number")
_BEFORE = re.compile(rf"{_NUMBER}\+?\s{{0,2}}(?={RATE.pattern})", re.IGNORECASE)
_VERB = source("spoken.verb")
_NAMED = compiled("spoken.named")
_LEAD = re.compile(
    r"^(?:(?:and|while|but|whereas|the|with|vs\.?|versus|than|to|from|compared|against|so|then|our"
    r"|for|only|where|when"
    r"|however|meanwhile|similarly|both|by|of|in|as|a|an)\b[\s,]*)+",
    re.IGNORECASE,
)
_NO_NAME = compiled("spoken.no_name")
_PLACE = re.compile(r"(?:on|at|under|over|from|per|via|my|your|our|their)\b", re.IGNORECASE)
"""What begins so says where, and not what."""
_NO_RESULT = compiled("spoken.no_result")


def spoken(document: TextDocument, taken: frozenset[int]) -> Iterator[Grid]:
    """Groups of at least two names with their rates, told in sentences that follow each other."""
    title = next((block.text for block in document.blocks if block.kind == "heading"), "")
    own = title if key_of(title) and len(title.split()) <= 4 and not is_scenario(title) else OURS
    yield from grouped(
        found
        for block in document.blocks
        for number, sentence in (sentences(block) if block.kind == "prose" else ())
        if number not in taken and not _NO_RESULT.search(sentence) and RATE.search(sentence)
        for found in _reported(number, sentence, own)
    )


_MEASURED = compiled("spoken.measured")
_MAY = re.compile(
    r"\b(?:can|able|capable|will|may|might|never|not|than|previous\w*|used to)\b|n['’]t\b", re.IGNORECASE
)


def alone(document: TextDocument) -> Iterator[Reported]:
    """A rate in a sentence that says it was measured: all that some texts tell of their load test."""
    for block in document.blocks:
        for number, sentence in sentences(block) if block.kind == "prose" else ():
            found = _BEFORE.search(sentence[:600])
            if found is None or not _MEASURED.search(sentence):
                continue
            value = printed(found["number"], found["multiple"] or "")
            if value is not None and not _NO_RESULT.search(sentence) and not _MAY.search(sentence):
                figure = Figure(value, number, found[0].strip())
                yield Reported(tool="figures", line=number, last=number, figures={"rate": figure})


_ITSELF = compiled("spoken.itself")
"""What goes before a rate of the very thing that the text is about."""


def _reported(number: int, sentence: str, own: str) -> Iterator[Reported]:
    begin = 0
    for found in _BEFORE.finditer(sentence[:600]):
        before = sentence[begin : found.start()]
        begin = after.end() if (after := RATE.match(sentence, found.end())) else found.end()
        named = _NAMED.search(before.rsplit(", ", 1)[-1]) or _NAMED.search(before)
        value = printed(found["number"], found["multiple"] or "")
        itself = _ITSELF.search(before)
        if value is None or (named is None and not itself):
            continue
        name = own if itself or named is None else _LEAD.sub("", named["name"]).strip(" ()-,:")
        if NAMED.search(name) or len(name.split()) > 4:
            continue
        if _PLACE.match(name):
            continue
        if key_of(name) and (itself or not _NO_NAME.search(name)) and not is_scenario(name):
            figure = Figure(value, number, found[0].strip())
            yield Reported(
                tool="table", line=number, last=number, label=name, figures={"rate": figure}, table=number
            )
