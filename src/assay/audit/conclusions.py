"""Conclusions in sentences: who is said to be better than whom, and by how much."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from assay.audit.document import Block, Document
from assay.audit.interval import NUMBER, Interval, printed
from assay.audit.names import places

Metric = Literal["rate", "times", "any", "other"]

_SENTENCE = re.compile(r"[^.!?\n]{1,600}(?:[.](?=\w)[^.!?\n]{0,300}){0,20}[.!?]?")
_BETTER = (
    r"faster|quicker|more|higher|better|greater|increase|improvement|speed-?up|the (?:performance"
    r"|throughput|speed|requests)|as (?:fast|many|much|quick)|throughput|performance"
)
_WORSE = r"slower|fewer|less|lower|worse"
_BY = (
    re.compile(
        rf"(?P<n>{NUMBER})\s?(?:x|×|-?times|-?fold)\s(?:\w+\s){{0,2}}?(?P<way>{_BETTER}|{_WORSE})\b", re.I
    ),
    re.compile(
        rf"\b(?P<way>{_BETTER}"
        rf"|{_WORSE})\s(?:\w+\s){{0,4}}?by\s(?:a factor of\s)?(?:\w+\s){{0,2}}?"
        rf"(?P<n>{NUMBER})\s?(?P<unit>x|×|times|%)",
        re.I,
    ),
    re.compile(
        rf"(?P<n>{NUMBER})\s?(?P<unit>%|percent|per cent)\s(?:\w+\s){{0,2}}?(?P<way>{_BETTER}|{_WORSE})\b",
        re.I,
    ),
    re.compile(
        rf"\b(?P<word>twice|double|triple|thrice|half)\s(?:\w+\s){{0,2}}?(?P<way>{_BETTER}|{_WORSE}"
        rf"|that of|of)\b",
        re.I,
    ),
    re.compile(
        r"\b(?P<word>two|three|four|five|ten|hundred)\stimes\s(?:\w+\s){0,2}?(?P<way>"
        + _BETTER
        + "|"
        + _WORSE
        + r")\b",
        re.I,
    ),
)
_ORDER = re.compile(
    r"\b(?P<way>outperform(?:s|ed|ing)?|beats?|surpass(?:es|ed)?|faster than|quicker than"
    r"|higher (?:throughput|performance) than|slower than)\b",
    re.I,
)
_TOP = re.compile(r"\b(?:is|was|are|being) (?:by far )?the (?P<way>fastest|quickest|slowest)\b", re.I)
_FACTORS = {
    "twice": 2.0,
    "double": 2.0,
    "two": 2.0,
    "triple": 3.0,
    "thrice": 3.0,
    "three": 3.0,
    "half": 0.5,
    "four": 4.0,
    "five": 5.0,
    "ten": 10.0,
    "hundred": 100.0,
}
_LEAST = re.compile(r"\b(?:over|more than|at least|exceed\w*|above|greater than|>)\s?(?:\w+\s)?$|>\s?$", re.I)
_MOST = re.compile(r"\b(?:up to|as much as|at most|maximum of|as many as)\s(?:\w+\s)?$", re.I)
_ROUGHLY = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|close to|some)\s(?:\w+\s)?"
    r"|[~≈]\s?)$",
    re.I,
)
_RATE = re.compile(r"\breq(?:uest)?s?\b|\bthroughput\b|\brps\b|\bqps\b|req/s", re.I)
_TIMES = re.compile(r"\blatenc|\bresponse times?\b|\bp9\d\b|\bpercentile", re.I)
_OTHER = re.compile(
    r"\bmemory\b|\bram\b|\bcpu\b|\bsize\b|\bstart(?:up|s|ing)?\b|\bcompil|\bbuild|\ballocat|\bcode\b"
    r"|\bbinary\b|\binstall|\bdevelop|\bcost|\bcheaper"
    r"|\bparsing\b|\bserializ|\brout(?:ing|er)\b|\bquer(?:y|ies)\b|\bbundle|\bbandwidth\b|\bdownload"
    r"|\bcompress|\bdatabase\b|\bcores\b|\bworkers\b|\bthreads\b",
    re.I,
)
_CUE = re.compile(
    r"faster|slower|quicker|outperform|beat|surpass|twice|double|triple|thrice|half|fold|times"
    r"|\d\s?[x×%]|percent|per cent",
    re.I,
)
"""Words without which no sentence is a conclusion: looked for first, since that is fast."""
_COMPARED = re.compile(r"(?:when |as )?compared (?:to|with) [^,]{2,60},\s", re.I)
_HEDGED = re.compile(
    r"\b(?:if|would|should|could|might|may|can be|expect|not|n't|never|claim|whether|why|how"
    r"|than before|goal|aim|want|try)\b",
    re.I,
)


Bound = Literal["about", "least", "most"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A factor that words may mean, and what still agrees with it."""

    said: float
    agrees: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A sentence that ranks: `better` is said to beat `worse`, by a factor if there are `readings`.

    `bound` says whether the factor is one from below ("more than"), from above ("up to") or neither.
    `readings` are all the factors that the words can mean: "200 % faster" is said of 2 and of 3.
    """

    line: int
    quote: str
    sentence: str
    better: str
    worse: str
    readings: tuple[Reading, ...] = ()
    bound: Bound = "about"
    metric: Metric = "any"
    hedged: bool = False


def conclusions(document: Document, names: dict[str, str]) -> Iterator[Conclusion]:
    """The conclusions about things that results are labelled with, in order; `names`: label by name."""
    for block in document.blocks if names else ():
        if block.kind != "code":
            for number, sentence in sentences(block):
                yield from _concluded(number, sentence, names)


def sentences(block: Block) -> Iterator[tuple[int, str]]:
    """The sentences of a block, and the line that each begins on."""
    text = ""
    starts: list[tuple[int, int]] = []
    for line in block.lines[:400]:
        starts.append((len(text), line.number))
        text += line.text.strip() + " "
    for found in _SENTENCE.finditer(text):
        if found[0].strip():
            begin = found.start() + len(found[0]) - len(found[0].lstrip())
            yield max(number for at, number in starts if at <= begin), found[0].strip()


def _concluded(number: int, sentence: str, names: dict[str, str]) -> Iterator[Conclusion]:
    if not _CUE.search(sentence):
        return
    for pattern in _BY:
        found = pattern.search(sentence)
        if found:
            readings, bound = _factors(found, sentence)
            if readings:
                yield from _ranked(number, sentence, found, names, readings, bound)
            return
    found = _ORDER.search(sentence) or _TOP.search(sentence)
    if found:
        yield from _ranked(number, sentence, found, names, (), "about")


def _factors(found: re.Match[str], sentence: str) -> tuple[tuple[Reading, ...], Bound]:
    """All that the words may mean as better ÷ worse."""
    groups = found.groupdict()
    way = (groups.get("way") or "").lower()
    start = found.start("n") if groups.get("n") else found.start()
    before = sentence[max(found.start() - 30, 0) : start]
    bound: Bound = "least" if _LEAST.search(before) else "most" if _MOST.search(before) else "about"
    slack = 0.25 if _ROUGHLY.search(before) else 0.1
    if groups.get("word"):
        value = _FACTORS[groups["word"].lower()]
        return _as_factor(Interval(value * 0.95, value * 1.15), value, slack, way), bound
    number = printed(groups["n"])
    if number is None or number.middle <= 0:
        return (), bound
    if groups.get("unit", "x") in ("%", "percent", "per cent"):
        return _as_share(number.times(0.01), slack), bound
    return (() if number.middle < 1 else _as_factor(number, number.middle, slack, way)), bound


def _as_factor(number: Interval, said: float, slack: float, way: str) -> tuple[Reading, ...]:
    """ "3 times faster" is said of 3 and of 4; "3 times as fast" of 3 only."""
    kept = [Reading(said, number.widened(slack))]
    if way.endswith("er") and said > 1:
        kept.append(Reading(said + 1, Interval(number.low + 1, number.high + 1).widened(slack)))
    return tuple(kept)


def _as_share(share: Interval, slack: float) -> tuple[Reading, ...]:
    """ "50 % faster" is 1.5 times the rate, or half of the time; "200 % faster" is said of 2 and of 3."""
    kept = [Interval(1 + share.low, 1 + share.high)]
    if share.high < 1:
        kept.append(Interval(1 / (1 - share.low), 1 / (1 - share.high)))
    if share.low > 1:
        kept.append(share)
    # "20 % faster" is held to its 20 %: the tolerance is a part of the excess, and a little of the whole.
    eased = [max(0.3 * slack, 0.25 * (each.middle - 1)) for each in kept]
    return tuple(
        Reading(each.middle, Interval(each.low - more, each.high + more))
        for each, more in zip(kept, eased, strict=True)
    )


def _ranked(
    number: int,
    sentence: str,
    found: re.Match[str],
    names: dict[str, str],
    readings: tuple[Reading, ...],
    bound: Bound,
) -> Iterator[Conclusion]:
    named = sorted((at, label) for name, label in names.items() for at in places(name, sentence)[:3])
    against = _COMPARED.match(sentence)
    begin = against.end() if against else 0
    first = next((label for at, label in named if begin <= at < found.start()), "")
    others: list[str] = []
    for at, label in named:
        if (at >= found.end() or at < begin) and label != first and label not in others:
            others.append(label)
    than = re.search(r"\b(?:than|compared to|compared with|over|vs\.?|versus)\b", sentence[found.start() :])
    way = found["way"].lower() if found["way"] else ""
    inverse = (
        bool(re.fullmatch(_WORSE + r"|slower than|slowest", way))
        or (found.groupdict().get("word") or "") == "half"
    )
    metric = _metric(sentence)
    if metric in ("times", "other") and re.match(r"less|lower|fewer", way):
        inverse = False  # a lower latency is the better one
    pairs = [(first, other) for other in others[:1]] if than or _ORDER.fullmatch(found[0]) or others else []
    if not pairs:
        pairs = [(first, "")]
    labels = list(dict.fromkeys(names.values()))
    if len(labels) == 2 and bool(pairs[0][0]) != bool(pairs[0][1]):
        named_one = pairs[0][0] or pairs[0][1]  # of two, the other is meant
        left = labels[1] if labels[0] == named_one else labels[0]
        pairs = [(pairs[0][0] or left, pairs[0][1] or left)]
    for one, other in pairs:
        better, worse = (other, one) if inverse else (one, other)
        yield Conclusion(
            line=number,
            quote=found[0],
            sentence=sentence,
            better=better,
            worse=worse,
            readings=readings,
            bound=bound,
            metric=metric,
            hedged=_HEDGED.search(sentence) is not None,
        )


def _metric(sentence: str) -> Metric:
    if _OTHER.search(sentence):
        return "other"
    rate, times = _RATE.search(sentence), _TIMES.search(sentence)
    if rate and not times:
        return "rate"
    return "times" if times and not rate else "any"
