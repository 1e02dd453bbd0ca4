"""Conclusions in sentences: who is said to be better than whom, and by how much."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal

import msgspec
from msgspec.structs import replace

from assay.audit.document import Reported
from assay.audit.figures import PlacedFigure, stems
from assay.audit.interval import Interval
from assay.audit.lexicon import compiled
from assay.audit.names import is_version, places
from assay.audit.quantities import WrittenQuantity, quantities
from assay.audit.ratios import LESS, NEAR, Bound, FactorReading, Ratio, ratios

Metric = Literal["rate", "times", "any", "other"]

_ORDER = compiled("claims.order")
_TOP = compiled("claims.top")
_ALIKE = compiled("claims.alike")
_RATE = compiled("claims.rate")
_TIMES = compiled("claims.times")
_OTHER = compiled("claims.other")
_CUE = compiled("claims.cue")
"""Words without which no sentence is a conclusion: looked for first, since that is fast."""
_HEDGED = compiled("claims.hedged")
_UNREAD = re.compile(r"\d\s?(?:x|×|倍|fold|%|％|times)(?!\w)|\bfactor of\b|\bmagnitude\b", re.I)


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence that ranks: `better` is said to beat `worse`, by a factor if there are `readings`.

    `bound` says whether the factor is one from below ("more than"), from above ("up to") or neither.
    `top` says that it is the best (or worst) of all that the text has results of. `readings` are all the
    factors that the words can mean: "200 % faster" is said of 2 and of 3. `unread`: it has a factor that
    was not understood.
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
    unread: bool = False


def is_hedged(sentence: str) -> bool:
    """Whether a sentence is no plain statement."""
    return _HEDGED.search(sentence) is not None


Verdict = Literal["stands", "direction", "untold", "contradicted"]
"""Stands; at least in this direction; cannot be told; contradicted by its own figures."""


class Weight(msgspec.Struct, frozen=True):
    """A conclusion with its verdict, the arithmetic behind it, and the results that it rests on."""

    conclusion: Conclusion
    verdict: Verdict
    why: str
    rests_on: tuple[Reported, ...] = ()
    ratio: float = 0.0


def concludes(sentence: str) -> bool:
    """Whether a sentence has words without which none is a conclusion."""
    return _CUE.search(sentence) is not None


class CitedSentence(msgspec.Struct, frozen=True, dict=True):
    """A sentence with its lines (as `placed_sentences` has them), what its paragraph said before it, the
    headings above it, and the names that it may use.

    `names` are labels of results by the names for them; `own` is the label of what the document is about:
    "it" and "we" mean that one.
    """

    text: str
    lines: tuple[tuple[int, int], ...]
    before: str = ""
    path: tuple[str, ...] = ()
    names: Mapping[str, str] = msgspec.field(default_factory=dict)
    own: str = ""

    @cached_property
    def placed(self) -> list[tuple[int, str]]:
        """Where it has which label's name."""
        return sorted((at, label) for name, label in self.names.items() for at in places(name, self.text)[:3])

    @cached_property
    def stems(self) -> frozenset[str]:
        """The beginnings of its words."""
        return stems(self.text)

    @cached_property
    def metric(self) -> Metric:
        """What it is about."""
        return metric_of(self.text)

    def line(self, at: int) -> int:
        """The line on which its character `at` stands."""
        return max(number for start, number in self.lines if start <= at)

    def figures(self, told: Ratio | None = None) -> list[PlacedFigure]:
        """The figures that stand in it, but for the ratio that it tells."""
        return [
            figure_in(each, self.text, self.line(each.start))
            for each in quantities(self.text)
            if told is None or each.end <= told.start or each.start >= told.end
        ]

    def concluded(
        self,
        quote: str,
        better: str,
        worse: str,
        readings: tuple[FactorReading, ...] = (),
        bound: Bound = "about",
        metric: Metric | None = None,
    ) -> Conclusion:
        """The conclusion that words of it draw."""
        return Conclusion(
            line=self.line(max(self.text.find(quote), 0)),
            quote=quote,
            sentence=self.text,
            better=better,
            worse=worse,
            readings=readings,
            bound=bound,
            metric=metric or self.metric,
            hedged=is_hedged(self.text),
        )


def figure_in(each: WrittenQuantity, text: str, line: int) -> PlacedFigure:
    """A quantity of running text as a figure of it."""
    return PlacedFigure(each.kind, each.name, each.value, line, each.quote, text[: each.start][-40:])


def conclusions(said: CitedSentence) -> Iterator[Conclusion]:
    """The conclusions of a sentence about names."""
    told = list(ratios(said.text, [at for at, _ in said.placed]))
    yield from (_ranked(said, one) for one in told)
    if not told:
        alike = _ALIKE.search(said.text)
        yield from _alike(said, alike) if alike else _plainly(said)


def _alike(said: CitedSentence, found: re.Match[str]) -> Iterator[Conclusion]:
    labels = list(dict.fromkeys(label for _, label in said.placed))
    if len(labels) > 1 and not _NOT_ALIKE.search(said.text):
        reading = FactorReading(1.0, Interval(1 / 1.5, 1.5))
        yield said.concluded(found[0], labels[0], labels[1], (reading,))


def _plainly(said: CitedSentence) -> Iterator[Conclusion]:
    """A ranking without a factor."""
    if (found := _ORDER.search(said.text)) and (
        not _ANY_MORE.match(found["way"]) or _MEANT.search(said.text)
    ):
        yield _ranked(said, Ratio(found.start(), found.end(), "", found["way"].lower()))
    elif found := _TOP.search(said.text):
        if not _ONE_OF.search(said.text):
            yield _topped(said, found)
    elif (found := _BARE.search(said.text)) and any(at < found.start() for at, _ in said.placed):
        yield _ranked(said, Ratio(found.start(), found.end(), "", found["way"].lower()))


_ANY_MORE = re.compile(r"(?:higher|better|more|greater|fewer|worse|lower|less)\b", re.I)
_MEANT = re.compile(r"perform|throughput|\breq|latenc|speed|fast|slow|\brps\b|\bqps\b|response|scal", re.I)
"""What "more than" must be said of: servers differ in other ways, too."""
_BARE = compiled("claims.bare")
_NOT_ALIKE = re.compile(r"\b(?:nowhere|not|n't|never|far from|if)\b", re.I)
_ONE_OF = compiled("claims.one_of")
_THAN = compiled("claims.than")
_SELF = re.compile(r"\b(?:it|it's|its|we|our|ours|us|my|mine|this)\b", re.I)
_ASIDE = compiled("claims.aside")
_COMPARED_WITH = compiled("claims.compared_with")
"""What stands before the name that something is compared with: no sentence goes on to speak of that one."""
_FOREIGN = re.compile(r"[\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff]")
"""Languages in which no word that we know stands before what something is compared with."""
_NEXT = 16
"""Characters behind a factor that may say of what it is: "3x lower latency"."""
ELSEWHERE = compiled("claims.elsewhere")
"""A comparison with something that has a name, which is none of ours."""


def _subject(said: CitedSentence, end: int) -> str:
    """The name that a comparison is about: the first one of the nearest clause before it that has one."""
    named = [(at, label) for at, label in said.placed if not _COMPARED_WITH.search(said.text[:at])]
    pauses = re.finditer(r"[,;:(]\s|\b(?:but|and|while|whereas)\s", said.text[:end])
    starts = [0, *(found.end() for found in pauses)]
    asides = ""
    for begin, stop in zip(reversed(starts), [end, *reversed(starts[1:])], strict=True):
        own = next((label for at, label in named if begin <= at < stop), "")
        if own and not _ASIDE.match(said.text, begin):
            return own
        asides = asides or own
    return "" if asides else said.own if not named or _SELF.search(said.text[:end]) else ""


def _object(said: CitedSentence, found: Ratio, subject: str) -> str:
    """The name that it is compared with: after "than" and its like, or else in an aside before."""
    named = [(at, label) for at, label in said.placed if label != subject]
    if beside := next((label for at, label in named if 0 <= at - found.end <= 1), ""):
        return beside
    for than in _THAN.finditer(said.text, found.start):
        for at, label in named:
            if 0 <= at - than.end() <= NEAR and not re.search(r"[,;:()]", said.text[than.end() : at]):
                return label
    others = list(dict.fromkeys(label for _, label in named))
    if _FOREIGN.search(said.text) and subject and len(others) == 1:
        return others[0]
    before = [at for at, _ in named if at < found.start]
    aside = re.search(_ASIDE.pattern, said.text[: found.start], re.I)
    if before and aside:
        return next((label for at, label in named if aside.start() < at < found.start), "")
    return ""


def _ranked(said: CitedSentence, found: Ratio) -> Conclusion:
    one = _subject(said, found.start) or _with(said)
    other = _object(said, found, one)
    placed_before = any(at < found.start for at, _ in said.placed)
    if not one and other and (_SELF.search(said.text[: found.start]) or not placed_before):
        one = said.own if said.own != other else ""
    one, other = _of_two(said, one, other, found.start)
    metric = metric_of(said.text[found.start : found.end + _NEXT])
    if metric == "any":
        faster = found.way.startswith(("faster", "quicker", "slower")) and said.metric != "other"
        metric = metric if faster else said.metric
    better, worse = (other, one) if found.part or _inverse(found, metric) else (one, other)
    quote = said.text[found.start : found.end]
    made = said.concluded(quote, better, worse, found.readings, found.bound, metric)
    return made if found.readings else replace(made, unread=_UNREAD.search(said.text) is not None)


def _inverse(found: Ratio, metric: Metric) -> bool:
    """Whether the words call their subject the worse one: less throughput, or more latency."""
    way, word = found.way, found.word
    if re.match(
        r"slower|slowest|worse|lags|falls|behind|can|langsamer|plus lent|m[aá]i?s lent|медленнее", way
    ):
        return True
    fraction = word.startswith(("hal", "third", "quarter", "tenth"))
    less = fraction or re.match(rf"{LESS}|lower", way) is not None
    if metric == "times":
        more = re.match(r"more|higher|greater|increase|that of|those of|of|exceed|as much", way)
        return not less and (more is not None or not way)
    return less and metric != "other"


def _with(said: CitedSentence) -> str:
    """The name after "with" or "using", where none stands before: "Latency is lower with Foo"."""
    for found in re.finditer(r"\b(?:with|using)\s", said.text):
        for at, label in said.placed:
            if 0 <= at - found.end() <= 4 and not re.search(r"compared\s$", said.text[: found.start()]):
                return label
    return ""


def _of_two(said: CitedSentence, one: str, other: str, end: int) -> tuple[str, str]:
    """Of two, the other is meant, unless the sentence goes on to name a third."""
    labels = list(dict.fromkeys(said.names.values()))
    if not other and ELSEWHERE.search(said.text, end):
        return one, other
    if len(labels) == 2 and not any(map(is_version, labels)) and bool(one) != bool(other):
        left = labels[1] if labels[0] == (one or other) else labels[0]
        return one or left, other or left
    return one, other


def _topped(said: CitedSentence, found: re.Match[str]) -> Conclusion:
    """The best, or the slowest, of all: the one name of the sentence, or the nearest before the word."""
    way = next((told for told in found.groupdict().values() if told), "").lower()
    if found["way3"]:
        one = next((label for at, label in said.placed if at >= found.end()), "")
    else:
        one = _subject(said, found.start())
    pair = ("", one) if "slowest" in way or way == "worst" else (one, "")
    return replace(said.concluded(found[0], *pair), top=True)


def metric_of(sentence: str) -> Metric:
    """What a sentence is about: throughput, times, either, or something else."""
    if _OTHER.search(sentence):
        return "other"
    rate, times = _RATE.search(sentence), _TIMES.search(sentence)
    if rate and not times:
        return "rate"
    return "times" if times and not rate else "any"
