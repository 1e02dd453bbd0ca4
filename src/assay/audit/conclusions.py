"""Conclusions in sentences: who is said to be better than whom, and by how much."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from assay.audit.document import TextDocument, sentences
from assay.audit.interval import FRACTIONS, NUMBER, Bound, FactorReading, Interval, factors
from assay.audit.names import is_version, places

Metric = Literal["rate", "times", "any", "other"]

_BETTER = (
    r"faster|quicker|more|higher|better|greater|increase|improvement|speed-?up|the (?:performance"
    r"|throughput|speed|requests|rps)|as (?:fast|many|much|quick)|throughput|performance|boost|gain"
    r"|advantage|lead"
)
_WORSE = r"slower|fewer|less|lower|worse"
_BY = (
    re.compile(
        rf"(?P<n>{NUMBER})\s?(?:x|×|-?times|-?fold)\s(?:\w+\s){{0,2}}?(?P<way>{_BETTER}|{_WORSE})\b", re.I
    ),
    re.compile(
        rf"\b(?P<way>{_BETTER}|leads|ahead|reduc(?:es|ed)|cuts?|lower(?:s|ed)|boosts?|beats?"
        rf"|out-?perform(?:s|ed|ing)?|exceed(?:s|ed)|lags|behind"
        rf"|{_WORSE})\s(?:[\w.+@/-]+\s){{0,4}}?(?:by|of)\s(?:a factor of\s)?(?:\w+\s){{0,2}}?[~≈+]?"
        rf"(?P<n>{NUMBER})\s?(?P<unit>x|×|times|%)",
        re.I,
    ),
    re.compile(
        rf"(?P<n>{NUMBER})\s?(?P<unit>%|percent|per cent)\s(?:\w+\s){{0,2}}?(?P<way>{_BETTER}|{_WORSE})\b",
        re.I,
    ),
    re.compile(
        rf"\b(?P<word>twice|double|triple|thrice|half|third|quarter|tenth|order of magnitude"
        rf"|orders of magnitude)"
        rf"\s(?:\w+\s){{0,2}}?(?P<way>{_BETTER}|{_WORSE}|that of|of)\b"
        r"|\b(?P<word2>doubles|doubled|triples|tripled|quadruples|quadrupled|halves|halved)\b(?P<way2>)",
        re.I,
    ),
    re.compile(
        r"\b(?P<word>two|three|four|five|six|seven|eight|nine|ten"
        r"|hundred)\stimes\s(?:\w+\s){0,2}?(?P<way>that of|those of|" + _BETTER + "|" + _WORSE + r")\b",
        re.I,
    ),
)
_ORDER = re.compile(
    r"\b(?P<way>out-?perform(?:s|ed|ing)?|beats?|beating|surpass(?:es|ed)?|exceeds?"
    r"|(?:much |significantly |slightly |considerably |far |way )?(?:faster|quicker)(?:\s\w+){0,3}? than"
    r"|(?:higher|better|more|greater) (?:(?!versions?\b)\w+ ){0,3}?than(?! \d)|performs? better than"
    r"|ahead of|faster compared (?:to|with)"
    r"|wins? (?:over|against)|superior to|blows|crushes|destroys|smokes|(?:lower|less) latency than"
    r"|slower(?:\s\w+){0,2}? than"
    r"|slower compared (?:to|with)"
    r"|(?:fewer|worse|lower|less) (?:(?!versions?\b)\w+ ){0,3}?than(?! \d)|lags? behind|falls? behind"
    r"|can(?:not|'t|’t) keep up with)",
    re.I,
)
_TOP = re.compile(
    r"\b(?:is|was|are|being|were|remains|as) (?:by far |clearly |still |also "
    r"|definitely )?(?:the )?(?:clear |overall )?"
    r"(?P<way>fastest|quickest|slowest|winner|most performant|best[- ]performing)\b"
    r"|\b(?:performs?|performed|did|does) (?:by far )?(?:the )?(?P<way5>best|worst)\b"
    r"|\b(?P<way2>wins|won|comes? (?:out )?(?:on top|first|in first)|takes? (?:the )?(?:lead|crown"
    r"|first)|leads|dominates"
    r"|is unbeatable|(?:has|had|delivers|achieves|shows|offers|gets|with) (?:by far )?the (?:best"
    r"|highest|lowest)"
    r" (?:\w+ )?(?:performance|throughput|rps|latency|latencies|req\w*|response times?|speed))\b"
    r"|\bwe have a (?P<way4>(?:clear )?winner)\b"
    r"|\b(?P<way3>(?:winner|fastest|best performance|best throughput|highest throughput"
    r"|slowest)(?: \w+){0,3}?"
    r"(?: is\b| was\b|:| goes to\b))",
    re.I,
)
_ALIKE = re.compile(
    r"\b(?P<way>(?:the same|similar|comparable|equal|identical|equivalent) (?:\w+ )?(?:performance"
    r"|speed|throughput"
    r"|results?|numbers|rps|req\w*|latenc\w+)|on par|(?:as fast|equally fast|just as fast) as"
    r"|no (?:\w+ )?(?:difference|gap)|perform(?:s|ed)? (?:\w+ )?(?:equally|the same|similarly|alike)"
    r"|neck and neck)\b",
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
    r"faster|slower|quicker|out-?perform|beat|surpass|twice|double|triple|thrice|half|third|quarter"
    r"|tenth|halve|quadruple|fold|times|better|worse|superior|blows|crushes|equally|worst|keep up"
    r"|\d\s?[x×%]|percent|per cent|fastest|quickest|slowest|winner|wins|won|\bon top|leads?\b"
    r"|dominate|than|ahead|behind"
    r"|similar|same|on par|comparable|identical|difference|magnitude|\bbest\b|highest|lowest"
    r"|performant|unbeatable",
    re.I,
)
"""Words without which no sentence is a conclusion: looked for first, since that is fast."""
_HEDGED = re.compile(
    r"\b(?:if|would|should|could|might|may|can be|expect|not|n't|never|claim|whether|why|how"
    r"|than before|goal|aim|want|try)\b",
    re.I,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A sentence that ranks: `better` is said to beat `worse`, by a factor if there are `readings`.

    `bound` says whether the factor is one from below ("more than"), from above ("up to") or neither.
    `top` says that it is the best (or worst) of all that the text has results of.
    `readings` are all the factors that the words can mean: "200 % faster" is said of 2 and of 3.
    """

    line: int
    quote: str
    sentence: str
    better: str
    worse: str
    readings: tuple[FactorReading, ...] = ()
    bound: Bound = "about"
    metric: Metric = "any"
    hedged: bool = False
    top: bool = False


def conclusions(document: TextDocument, names: dict[str, str], own: str = "") -> Iterator[Conclusion]:
    """The conclusions of a document that has results, in order.

    `names` are labels of results by the names for them; `own` is the label of what the document is about:
    "it" and "we" mean that one.
    """
    for block in document.blocks if names else ():
        if block.kind != "code":
            for number, sentence in sentences(block):
                yield from _concluded(_Sentence(number, sentence, names, own))


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence, and the names that it may use."""

    number: int
    text: str
    names: dict[str, str]
    own: str


def _concluded(said: _Sentence) -> Iterator[Conclusion]:
    sentence = said.text
    if not _CUE.search(sentence):
        return
    told = [found for pattern in _BY for found in pattern.finditer(sentence)]
    kept = [each for at, each in enumerate(told) if not any(_overlap(each, other) for other in told[:at])]
    for found in sorted(kept, key=lambda each: each.start()):
        readings, bound = factors(found, sentence)
        if readings:
            yield _ranked(said, found, readings, bound)
    if kept:
        return
    named = _TIMES_NAME.search(sentence)
    if named and any(0 <= at - named.end() <= 1 for at, _ in _placed(said)):
        readings, bound = factors(named, sentence)
        yield _ranked(said, named, readings, bound)
        return
    alike = _ALIKE.search(sentence)
    yield from _alike(said, alike) if alike else _plainly(said)


def _overlap(one: re.Match[str], other: re.Match[str]) -> bool:
    return one.start() < other.end() and other.start() < one.end()


def _alike(said: _Sentence, found: re.Match[str]) -> Iterator[Conclusion]:
    labels = list(dict.fromkeys(label for _, label in _placed(said)))
    if len(labels) > 1 and not _NOT_ALIKE.search(said.text):
        reading = FactorReading(1.0, Interval(1 / 1.5, 1.5))
        yield _conclusion(said, found[0], labels[0], labels[1], (reading,), "about", _metric(said.text))


def _plainly(said: _Sentence) -> Iterator[Conclusion]:
    """A ranking without a factor."""
    if (found := _ORDER.search(said.text)) and (
        not _ANY_MORE.match(found["way"]) or _MEANT.search(said.text)
    ):
        yield _ranked(said, found, (), "about")
    elif found := _TOP.search(said.text):
        if not _ONE_OF.search(said.text):
            yield _topped(said, found)
    elif (found := _BARE.search(said.text)) and _placed_before(said, found):
        yield _ranked(said, found, (), "about")


_ANY_MORE = re.compile(r"(?:higher|better|more|greater|fewer|worse|lower|less)\b", re.I)
_MEANT = re.compile(r"perform|throughput|\breq|latenc|speed|fast|slow|\brps\b|\bqps\b|response|scal", re.I)
"""What "more than" must be said of: servers differ in other ways, too."""
_BARE = re.compile(
    r"\b(?:is|was|are|were|performs?|performed|runs|ran)\s(?:\w+\s){0,2}?(?P<way>faster|slower"
    r"|quicker|more performant"
    r"|better|worse)\b(?!\s(?:to|for|if|when|suited|documented))",
    re.I,
)


_TIMES_NAME = re.compile(
    rf"(?<!ran )(?<!run )(?P<n>{NUMBER})\s?(?:x|×|times)"
    r"(?P<way>\s(?:that of|those of|as many as|over|of))?\s(?=\S)",
    re.I,
)
"""Followed by a name: "3 times Express"."""
_NOT_ALIKE = re.compile(r"\b(?:nowhere|not|n't|never|far from|if)\b", re.I)
_ONE_OF = re.compile(
    r"\b(?:one of|among the|some of|second|third|two|three|next|probably|in terms of)\b", re.I
)


_THAN = re.compile(
    r"\b(?:than|compared (?:to|with)|over|vs|versus|against|as|of|to|with|behind|ahead|beats?|beating"
    r"|exceeds?"
    r"|out-?perform\w*|surpass\w*)\b",
    re.I,
)
_SELF = re.compile(r"\b(?:it|it's|its|we|our|ours|us|my|mine|this)\b", re.I)
_ASIDE = re.compile(
    r"\s*(?:unlike|compared|versus|vs|instead|than|in contrast|relative|as opposed|contrary|next to"
    r"|while|whereas|although"
    r"|though|when compared)\b",
    re.I,
)


_COMPARED_WITH = re.compile(
    r"\b(?:than|over|vs\.?|versus|against|ahead of|behind|beats|beating|out-?performs?|surpass(?:es)?"
    r"|as (?:fast|many|much|quick)\w{0,3} as)\s(?:the |a |plain |raw |vanilla )?$",
    re.I,
)
"""What stands before the name that something is compared with: no sentence goes on to speak of that one."""
_NEXT = 16
"""Characters behind a factor that may say of what it is: "3x lower latency"."""
_NEAR = 45
"""Characters between "than" and the name that it is followed by."""


def _subject(said: _Sentence, end: int) -> str:
    """The name that a comparison is about: the first one of the nearest clause before it that has one."""
    named = [(at, label) for at, label in _placed(said) if not _COMPARED_WITH.search(said.text[:at])]
    starts = [
        0,
        *(found.end() for found in re.finditer(r"[,;:(]\s|\b(?:but|and|while|whereas)\s", said.text[:end])),
    ]
    asides = ""
    for begin, stop in zip(reversed(starts), [end, *reversed(starts[1:])], strict=True):
        own = next((label for at, label in named if begin <= at < stop), "")
        if own and not _ASIDE.match(said.text, begin):
            return own
        asides = asides or own
    return "" if asides else said.own if not named or _SELF.search(said.text[:end]) else ""


def _placed(said: _Sentence) -> list[tuple[int, str]]:
    return sorted((at, label) for name, label in said.names.items() for at in places(name, said.text)[:3])


def _object(said: _Sentence, found: re.Match[str], subject: str) -> str:
    """The name that it is compared with: after "than" and its like, or else in an aside before."""
    named = [(at, label) for at, label in _placed(said) if label != subject]
    if beside := next((label for at, label in named if 0 <= at - found.end() <= 1), ""):
        return beside
    for than in _THAN.finditer(said.text, found.start()):
        for at, label in named:
            if 0 <= at - than.end() <= _NEAR and not re.search(r"[,;:()]", said.text[than.end() : at]):
                return label
    before = [at for at, _ in named if at < found.start()]
    aside = next((each for each in re.finditer(_ASIDE.pattern, said.text[: found.start()], re.I)), None)
    if before and aside:
        return next((label for at, label in named if aside.start() < at < found.start()), "")
    return ""


def _ranked(
    said: _Sentence, found: re.Match[str], readings: tuple[FactorReading, ...], bound: Bound
) -> Conclusion:
    one = _subject(said, found.start()) or _with(said)
    other = _object(said, found, one)
    if not one and other and (_SELF.search(said.text[: found.start()]) or not _placed_before(said, found)):
        one = said.own if said.own != other else ""
    one, other = _of_two(said, one, other, found.start())
    metric = _metric(said.text[found.start() : found.end() + _NEXT])
    metric = _metric(said.text) if metric == "any" else metric
    better, worse = (other, one) if _inverse(found, metric) else (one, other)
    return _conclusion(said, found[0], better, worse, readings, bound, metric)


def _inverse(found: re.Match[str], metric: Metric) -> bool:
    """Whether the words call their subject the worse one: less throughput, or more latency."""
    groups = found.groupdict()
    way = (groups.get("way") or "").lower()
    word = (groups.get("word") or groups.get("word2") or "").lower()
    if re.match(r"slower|slowest|worse|lags|falls|behind|can", way):
        return True
    less = word in FRACTIONS or re.match(r"less|lower|fewer|reduc|cuts?", way) is not None
    if metric == "times":
        more = re.match(r"more|higher|greater|increase|that of|those of|of|exceed", way)
        return not less and (more is not None or bool(groups.get("word2")))
    return less and metric != "other"


def _with(said: _Sentence) -> str:
    """The name after "with" or "using", where none stands before: "Latency is lower with Foo"."""
    for found in re.finditer(r"\b(?:with|using)\s", said.text):
        for at, label in _placed(said):
            if 0 <= at - found.end() <= 4 and not re.search(r"compared\s$", said.text[: found.start()]):
                return label
    return ""


def _placed_before(said: _Sentence, found: re.Match[str]) -> bool:
    return any(at < found.start() for at, _ in _placed(said))


_ELSE = re.compile(
    r"\b(?:than|compared (?:to|with)|over|vs\.?|versus|against)\s(?:the |a )?(?-i:[A-Z@])", re.I
)
"""A comparison with something that has a name, which is none of ours."""


def _of_two(said: _Sentence, one: str, other: str, end: int) -> tuple[str, str]:
    """Of two, the other is meant, unless the sentence goes on to name a third."""
    labels = list(dict.fromkeys(said.names.values()))
    if not other and _ELSE.search(said.text, end):
        return one, other
    if len(labels) == 2 and not any(map(is_version, labels)) and bool(one) != bool(other):
        left = labels[1] if labels[0] == (one or other) else labels[0]
        return one or left, other or left
    return one, other


def _topped(said: _Sentence, found: re.Match[str]) -> Conclusion:
    """The best, or the slowest, of all: the one name of the sentence, or the nearest before the word."""
    way = (found["way"] or found["way2"] or found["way3"] or found["way4"] or found["way5"] or "").lower()
    if found["way3"]:
        one = next((label for at, label in _placed(said) if at >= found.end()), "")
    else:
        one = _subject(said, found.start())
    slow = "slowest" in way or way == "worst"
    pair = ("", one) if slow else (one, "")
    return replace(_conclusion(said, found[0], *pair, (), "about", _metric(said.text)), top=True)


def _conclusion(
    said: _Sentence,
    quote: str,
    better: str,
    worse: str,
    readings: tuple[FactorReading, ...],
    bound: Bound,
    metric: Metric,
) -> Conclusion:
    return Conclusion(
        line=said.number,
        quote=quote,
        sentence=said.text,
        better=better,
        worse=worse,
        readings=readings,
        bound=bound,
        metric=metric,
        hedged=_HEDGED.search(said.text) is not None,
    )


def _metric(sentence: str) -> Metric:
    if _OTHER.search(sentence):
        return "other"
    rate, times = _RATE.search(sentence), _TIMES.search(sentence)
    if rate and not times:
        return "rate"
    return "times" if times and not rate else "any"
