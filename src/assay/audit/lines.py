"""Results in lines: lists of them, and sentences. A rate or time of a load test, and the name beside it.

What differs is only where the name of a quantity stands: before a sign, before blanks, behind it, in
brackets, or as the subject of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from assay.audit.document import Figure, Reported, TextDocument, TextTable, sentences
from assay.audit.headings import RATE
from assay.audit.interval import NUMBER, printed, size_in
from assay.audit.lexicon import compiled
from assay.audit.names import OURS, is_scenario, key_of
from assay.audit.quantities import WrittenQuantity, quantities
from assay.audit.tables import Grid
from assay.audit.tools import NAMED

_BULLET = r"[\s*•+>#-]{0,12}"
_SIGN = r"\s{0,20}(?::|=>|=|–|—|\s-|→)\s{0,20}"
_BEFORE = re.compile(
    rf"{_BULLET}(?:(?P<name>(?:[A-Za-z@]|\d{{1,5}}\s(?=[^\W\d_]))[^:=|\n]{{1,60}}?)(?:{_SIGN}|\s{{0,9}}\.{{2,40}}\s{{0,9}})"
    r"|(?P<spaced>[A-Za-z@][\w@./+()-]{0,30}(?:\s[\w@./+()-]{1,20}){0,3}?)\s{1,40})[~≈]?\s?"
)
"""A name, and what stands between it and its figure."""
_NOTHING = re.compile(rf"{_BULLET}(?:[\d/.-]{{6,12}}:?\s)?\s{{0,4}}")
_BEHIND = re.compile(
    r"\s{0,3}(?:-|–|—|:|\(|\[|by|with|for)\s{0,3}(?P<name>[A-Za-z@][\w@./ +-]{1,60})"
    r"|.{0,50}\s[\[(](?P<last>[A-Za-z][\w@./ +-]{1,40})[\])]\s{0,4}$"
)
_BARE = re.compile(
    rf"{_BULLET}(?P<name>[A-Za-z@][^:=|\n]{{1,60}}?){_SIGN}[~≈]?\s?(?P<number>{NUMBER})\s?(?P<multiple>k|K|M)?"
)
"""An entry of a list whose heading says what all its figures are."""
_MOVED = re.compile(r"(?P<size>[\d.,]{1,12}\s?[kKMG]i?B)(?:ytes)?\s?(?:/|per )\s?s")
_SHORT = 50
"""Characters behind a figure that only blanks set apart from its name: what has more is a sentence."""
_FAR = 3
"""Lines between two entries of one list."""


def _result(number: int, label: str, figures: dict[str, Figure]) -> Reported:
    return Reported(tool="table", line=number, last=number, label=label, figures=figures, table=number)


def rates(text: str) -> Iterator[WrittenQuantity]:
    """The requests a second of a text."""
    return (one for one in quantities(text) if one.kind == "rate" and RATE.match(one.unit))


def listed(document: TextDocument, taken: frozenset[int]) -> Iterator[Grid]:
    """The lists of at least two results; lines that are `taken` belong to a tool's output."""
    for block in document.blocks:
        if block.kind != "heading":
            lines = [one for one in block.lines if one.number not in taken and len(one.text) <= 200]
            yield from _grouped(filter(None, (_entry(line.number, line.text) for line in lines)))
    yield from _grouped(_single(document, taken))


def _grouped(entries: Iterable[Reported | None]) -> Iterator[Grid]:
    """The lists that entries make which follow each other; None ends one."""
    held: list[Reported] = []
    for found in entries:
        if found is None or (held and found.line - held[-1].line > _FAR):
            yield from _listing(held)
            held = []
        if found is not None:
            held.append(found)
    yield from _listing(held)


def _listing(held: list[Reported]) -> Iterator[Grid]:
    """The results of several names that follow each other, as one table."""
    if len({key_of(one.label) for one in held}) > 1:
        first = held[0].line
        yield Grid(TextTable(first, (), ()), tuple(replace(one, table=first) for one in held))


def _single(document: TextDocument, taken: frozenset[int]) -> Iterator[Reported | None]:
    """Markdown makes a block of each item of a list: items that follow each other are one list."""
    above = ""
    for block in document.blocks:
        single = len(block.lines) == 1 and block.kind == "prose" and block.lines[0].number not in taken
        found = _entry(block.lines[0].number, block.lines[0].text, above) if single else None
        if found is None:
            above = block.text if block.kind != "code" and len(block.text) <= 120 else ""
        yield found


def _entry(number: int, text: str, above: str = "") -> Reported | None:
    """A result of one line; where it names no unit, the line above the list may: "Requests per second:"."""
    bare = _BARE.fullmatch(text) if RATE.search(above) and not re.search(r"\d", above) else None
    value = printed(bare["number"], bare["multiple"] or "") if bare else None
    if bare is not None and value is not None:
        return _named(number, bare["name"], {"rate": Figure(value, number, bare["number"])})
    one = next(rates(text), None)
    if one is None:
        return None
    lead, trail = text[: one.start], text[one.end :]
    found = _BEFORE.fullmatch(lead) or (_BEHIND.match(trail) if _NOTHING.fullmatch(lead) else None)
    if found is None or ("spaced" in found.groupdict() and found["spaced"] and len(trail) > _SHORT):
        return None
    figures = {"rate": Figure(one.value, number, one.quote)}
    if (moved := _MOVED.search(trail)) and (size := size_in(moved["size"], binary=False)) is not None:
        figures["transfer"] = Figure(size, number, moved[0])
    return _named(number, next(filter(None, found.groups())), figures)


def _named(number: int, name: str, figures: dict[str, Figure]) -> Reported | None:
    return _result(number, name.strip(" .*-"), figures) if key_of(name) else None


_SUBJECT = re.compile(
    r"(?P<name>[A-Z][\w.+#/-]{1,30}(?:\s\([^()]{1,30}\))?)\s?(?::|=|-|–|—|took|needed|in)?\s{0,3}[~≈]?$"
)
_ASKED = re.compile(r"\b(?:requests?|reqs?|concurren\w+|load[- ]test\w*|connections)\b", re.IGNORECASE)


def timed(document: TextDocument, taken: frozenset[int]) -> Iterator[Grid]:
    """Lines that tell how long each of several took for the same requests: "Foo 23 s, Bar 30 s"."""
    for line in document.lines:
        if line.number not in taken and len(line.text) <= 200 and _ASKED.search(line.text):
            yield from _listing(
                [
                    _result(line.number, found["name"], {"time": Figure(one.value, line.number, one.quote)})
                    for one in quantities(line.text)
                    if one.kind == "time" and (found := _SUBJECT.search(line.text[: one.start]))
                ]
            )


_TELLING = compiled("sentences.named")
_ITSELF = compiled("sentences.itself")
"""What goes before a rate of the very thing that the text is about."""
_LEADING = compiled("sentences.leading")
_NO_NAME = compiled("sentences.no_name")
_PLACE = compiled("sentences.place")
"""What begins so says where, and not what."""
_NO_RESULT = compiled("sentences.no_result")
_MEASURED = compiled("sentences.measured")
_MAY = compiled("sentences.may")


def spoken(document: TextDocument, taken: frozenset[int]) -> Iterator[Grid]:
    """Groups of at least two names with their rates, told in sentences that follow each other."""
    title = next((block.text for block in document.blocks if block.kind == "heading"), "")
    own = title if key_of(title) and len(title.split()) <= 4 and not is_scenario(title) else OURS
    yield from _grouped(
        found
        for number, sentence in _sentences(document)
        if number not in taken
        for found in _reported(number, sentence, own)
    )


def alone(document: TextDocument) -> Iterator[Reported]:
    """A rate in a sentence that says it was measured: all that some texts tell of their load test."""
    for number, sentence in _sentences(document):
        one = next(rates(sentence), None) if _MEASURED.search(sentence) else None
        if one is not None and not _MAY.search(sentence):
            figure = Figure(one.value, number, one.quote)
            yield Reported(tool="figures", line=number, last=number, figures={"rate": figure})


def _sentences(document: TextDocument) -> Iterator[tuple[int, str]]:
    """The sentences that may tell a result."""
    for block in document.blocks:
        for number, sentence in sentences(block) if block.kind == "prose" else ():
            if RATE.search(sentence) and not _NO_RESULT.search(sentence):
                yield number, sentence


def _reported(number: int, sentence: str, own: str) -> Iterator[Reported]:
    """Each rate of a sentence with the name that it is said of; `own`: what "it" and "we" mean."""
    begin = 0
    for one in rates(sentence):
        before = sentence[begin : one.start]
        begin = one.end
        itself = _ITSELF.search(before)
        named = _TELLING.search(before.rsplit(", ", 1)[-1]) or _TELLING.search(before)
        name = own if itself else _LEADING.sub("", named["name"]).strip(" ()-,:") if named else ""
        if not key_of(name) or NAMED.search(name) or len(name.split()) > 4 or _PLACE.match(name):
            continue
        if (itself or not _NO_NAME.search(name)) and not is_scenario(name):
            yield _result(number, name, {"rate": Figure(one.value, number, one.quote)})
