"""What a text says about how it measured: machine, versions, repetitions, where the client ran."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

import msgspec

from assay.audit.document import TextBlock, TextDocument, texts_of
from assay.audit.lexicon import compiled, numbers, patterns
from assay.audit.tools import BY_NAME, NAMED, named

MACHINE = compiled("facts.machine")
_VERSION = compiled("facts.version")
_COMMIT = re.compile(r"\b(?=[a-f]{0,39}\d)[0-9a-f]{40}\b|[(@]\s?(?=[a-f]{0,11}\d)[0-9a-f]{7,12}\s?\)?(?!\w)")
_DATE = compiled("facts.date")
_NUMBERS = numbers("facts.numbers")
_RUNS = tuple(patterns("facts.runs"))
_REPEATED = compiled("facts.repeated")
_SAME = compiled("facts.same")
_LOADER = compiled("facts.loader")
_APART = compiled("facts.apart")
_MORE_CORES = compiled("facts.more_cores")
_CORES = re.compile(
    r"(?<!i[3579][- ])(?<!ryzen )\b(?P<n>\d{1,3})(?:[- ]|\s?[x×]\s)?"
    r"(?:(?:physical|logical|virtual|hyper-?threaded|cpu|processor) )?"
    r"(?:v?cpus?|cores?|vcores?|processors|hardware threads)\b(?!\s?(?:gpu|neural))"
    r"|\b(?P<many>\d{1,3})\s?(?:核|c\s?/\s?\d{1,3}\s?t\b)",
    re.IGNORECASE,
)
_SPREAD = compiled("facts.spread")


MOST = 2**20
"""Characters in which facts are looked for; of a longer text nothing is said to be missing."""


class Mention(msgspec.Struct, frozen=True):
    """Words of the text, where they stand, and the number in them if there is one."""

    line: int
    quote: str
    number: float = 0.0
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a text; None or empty where it does not say. `whole`: all of it was looked at."""

    machine: Mention | None
    version: Mention | None
    runs: tuple[Mention, ...]
    repeated: bool
    spread: bool
    same_machine: Mention | None
    cores: tuple[Mention, ...]
    tools: frozenset[str]
    whole: bool

    @property
    def tool_named(self) -> bool:
        """Whether it names a load-test tool, be it one that we know or not."""
        return bool(self.tools)


def facts(document: TextDocument) -> Facts:
    """Look once through all text of a document."""
    machine = version = same = None
    runs: list[Mention] = []
    cores: list[Mention] = []
    tools: set[str] = set()
    repeated = spread = False
    texts = _texts(document)
    lengths = list(accumulate(len(text) for _, text, _ in texts))
    read = bisect_right(lengths, MOST)
    whole = read == len(texts) and not document.cut
    for number, text, is_code in texts[:read]:
        machine = machine or _first(MACHINE, number, text)
        version = version or _version(number, text) or _first(_DATE, number, text)
        version = version or _first(_COMMIT, number, text)
        spread = spread or (not is_code and _SPREAD.search(text) is not None)
        # `assay ab` is not ab.
        tools |= {named(found[0]) for found in NAMED.finditer(text.replace("assay ", "assay /"))}
        for found in _CORES.finditer(text):
            cores.append(Mention(number, found[0], float(found["n"] or found["many"])))
        cores += [Mention(number, found[0], _cores(found)) for found in _MORE_CORES.finditer(text)]
        if not is_code or re.match(r"\s*(?:#|//|;)", text):
            # A whole paragraph comes after its lines: what one of them says is told there.
            told = [one.quote for one in runs[-8:]]
            runs += [said for said in _runs(number, text) if not any(said.quote in one for one in told)]
            repeated = repeated or _REPEATED.search(text) is not None
        if not is_code:
            same = same or _together(number, text)
    named_tools = frozenset(tools)
    return Facts(machine, version, tuple(runs), repeated, spread, same, tuple(cores), named_tools, whole)


def _texts(document: TextDocument) -> list[tuple[int, str, bool]]:
    found: list[tuple[int, str, bool]] = []
    for part in document.parts:
        found += texts_of(part)
        if isinstance(part, TextBlock) and part.kind == "prose" and 1 < len(part.lines) < 40:
            found.append((part.lines[0].number, part.text, False))
    return found


def _cores(found: re.Match[str]) -> float:
    if found["word"]:
        return _NUMBERS[found["word"].lower()]
    for name, cores in (("one", 1.0), ("duo", 2.0), ("quad", 4.0)):
        if found[name]:
            return cores
    return float(found["count"] or found["counted"] or found["times"] or found["told"] or found["fetched"])


def _first(pattern: re.Pattern[str], number: int, text: str) -> Mention | None:
    found = pattern.search(text)
    return Mention(number, found[0]) if found else None


def _version(number: int, text: str) -> Mention | None:
    """A version that something had, not one that it requires."""
    for found in _VERSION.finditer(text):
        begin = max(found.start() - 30, 0)
        others = _OTHERS.search(text[begin : found.start()]) or "ApacheBench" in text
        if not others and not _REQUIRED.search(text[begin : found.end() + 20]):
            return Mention(number, found[0])
    return None


_OTHERS = compiled("facts.others")
"""What stands before the version of a system or of the load tool, which is none of what is compared."""
_REQUIRED = compiled("facts.required")


_WARM_UP = re.compile(r"warm", re.IGNORECASE)
_RUNS_CUE = re.compile(
    r"run|times|trial|best|average|median|mean|iteration|round|repet|twice|taking|taken|\s[*×]\s?\d",
    re.IGNORECASE,
)


def _runs(number: int, text: str) -> list[Mention]:
    said: list[Mention] = []
    for pattern in _RUNS if _RUNS_CUE.search(text) else ():
        found = pattern.search(text)
        if not found or _WARM_UP.search(found[0]):
            continue
        if any(one.quote in found[0] or found[0] in one.quote for one in said):
            continue
        groups = {name: words for name, words in found.groupdict().items() if words}
        count = groups.get("n", "").lower()
        value = float(count) if count.isdigit() else _NUMBERS.get(count, 0.0)
        value = 2.0 if "twice" in groups else 1.0 if "once" in groups else value
        said.append(Mention(number, found[0], value, "best" if groups.keys() & {"best", "chosen"} else ""))
    return said


def _together(number: int, text: str) -> Mention | None:
    found = _SAME.search(text)
    if found is None:
        return None
    apart = _APART.search(text[max(found.start() - 30, 0) : found.start()])
    client = _LOADER.search(text[max(found.start() - 160, 0) : found.end() + 160])
    meant = found[0].lower().startswith("not ") or (client and not apart)
    return Mention(number, found[0]) if meant else None


def known_tools(seen: Facts) -> set[str]:
    """The names of the tools that we know and the text names."""
    return {BY_NAME[name].name for name in seen.tools if name in BY_NAME}
