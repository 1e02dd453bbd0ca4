"""Results in sentences: "Alder handled 87,077 requests per second, Elm 47,077 req/s"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.document import Figure, Reported, TextDocument, sentences
from assay.audit.headings import RATE
from assay.audit.interval import NUMBER, printed
from assay.audit.listed import grouped
from assay.audit.names import OURS, is_scenario, key_of
from assay.audit.tables import Grid
from assay.audit.tools import NAMED

_NUMBER = rf"(?<![\w.,])(?P<number>{NUMBER})\s?(?P<multiple>k|K|M|million|thousand)?\b"
_BEFORE = re.compile(rf"{_NUMBER}\+?\s{{0,2}}(?={RATE.pattern})", re.IGNORECASE)
_VERB = (
    r"(?:handl|achiev|reach|serv|process|deliver|averag|manag|produc|sustain|clock|peak|hit|yield|scor"
    r"|perform|respond|complet|answer)(?:es|ed|e|s)?|got|gets?|did|does|gave|gives|came|comes|made"
    r"|makes|went|goes|had|has|was|is"
)
_NAMED = re.compile(
    rf"(?P<name>[A-Za-z@][\w@.+#/-]{{0,30}}(?:\s[\w@.+#/()-]{{1,30}}){{0,3}}?)(?:['’]s)?"
    rf"\s?(?:\s(?:(?:only|also|just|even|easily|consistently|still|then|has|have|is|was|can|to|average)\s){{0,2}}?"
    rf"(?:{_VERB})\b|\s(?:at|with|only|just|about|around|roughly)\b|:|=|\(|\s[-–—]\s|,|\s$)[^.;]{{0,40}}$",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:and|while|but|whereas|the|with|vs\.?|versus|than|to|from|compared|against|so|then|our"
    r"|for|only|where|when"
    r"|however|meanwhile|similarly|both|by|of|in|as|a|an)\b[\s,]*)+",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"\b(?:it|we|i|they|this|that|these|which|you|he|she|there|results?|server|throughput|test"
    r"|benchmark|average|performance"
    r"|better|worse|bad|good|great|nice|time|most|only|now|still|here|seen|peak|sustained|more|less"
    r"|second|both|each|all|latency|requests?|rate|load|total|up|about|around|rps)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"(?:on|at|under|over|from|per|via|my|your|our|their)\b", re.IGNORECASE)
"""What begins so says where, and not what."""
_NO_RESULT = re.compile(
    r"\b(?:limit\w*|quota|throttl\w*|target\w*|could|should|would|need\w*|want\w*|expect\w*|if"
    r"|configur\w*|per user|assum\w*"
    r"|goal|e\.g|example|imagine|suppose|cost\w*)\b",
    re.IGNORECASE,
)


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


_MEASURED = re.compile(
    r"\b(?:handled|achieved|achieves|reached|reaches|sustained|served|delivered|measured|managed|averaged|peaked"
    r"|clocked|hit|got|get|gets|saw|seeing|yields?|yielded|resulted|benchmarked|showed|shows)\b",
    re.IGNORECASE,
)
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


_ITSELF = re.compile(
    rf"\b(?:it|we|ours|this server)\s(?:\w+\s){{0,2}}?(?:{_VERB})\s(?:\w+\s){{0,2}}[~≈]?$", re.IGNORECASE
)
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
