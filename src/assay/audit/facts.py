"""What a text says about how it measured: machine, versions, repetitions, where the client ran."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

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


@dataclass(frozen=True, slots=True)
class Mention:
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
    tool_named: bool
    whole: bool


def facts(document: TextDocument) -> Facts:
    """Look once through all text of a document."""
    machine = version = same = None
    runs: list[Mention] = []
    cores: list[Mention] = []
    tools: set[str] = set()
    tool_named = repeated = spread = False
    texts = _texts(document)
    lengths = list(accumulate(len(text) for _, text, _ in texts))
    read = bisect_right(lengths, MOST)
    whole = read == len(texts) and not document.cut
    for number, text, is_code in texts[:read]:
        machine = machine or _first(MACHINE, number, text)
        version = version or _version(number, text) or _first(_DATE, number, text)
        version = version or _first(_COMMIT, number, text)
        spread = spread or (not is_code and _SPREAD.search(text) is not None)
        for found in NAMED.finditer(text.replace("assay ", "assay /")):  # `assay ab` is not ab
            tool_named = True
            tools.add(named(found[0]))
        cores += [
            Mention(number, found[0], float(found["n"] or found["many"])) for found in _CORES.finditer(text)
        ]
        cores += [Mention(number, found[0], _cores(found)) for found in _MORE_CORES.finditer(text)]
        if not is_code or re.match(r"\s*(?:#|//|;)", text):
            # A whole paragraph comes after its lines: what one of them says is told there.
            runs += [
                said for said in _runs(number, text) if not any(said.quote in one.quote for one in runs[-8:])
            ]
            repeated = repeated or _REPEATED.search(text) is not None
        if not is_code:
            same = same or _together(number, text)
    return Facts(
        machine,
        version,
        tuple(runs),
        repeated,
        spread,
        same,
        tuple(cores),
        frozenset(tools),
        tool_named,
        whole,
    )


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
        before = text[max(found.start() - 30, 0) : found.start()]
        if _OTHERS.search(before):
            continue
        if "ApacheBench" not in text and not _REQUIRED.search(
            before + text[found.start() : found.end() + 20]
        ):
            return Mention(number, found[0])
    return None


_OTHERS = compiled("facts.others")
"""What stands before the version of a system or of the load tool, which is none of what is compared."""
_REQUIRED = compiled("facts.required")


_WARM_UP = re.compile(r"warm", re.IGNORECASE)


def _runs(number: int, text: str) -> list[Mention]:
    if not re.search(
        r"run|times|trial|best|average|median|mean|iteration|round|repet|twice|taking|taken|\s[*×]\s?\d",
        text,
        re.IGNORECASE,
    ):
        return []
    said: list[Mention] = []
    for pattern in _RUNS:
        found = pattern.search(text)
        if not found or _WARM_UP.search(found[0]):
            continue
        if any(one.quote in found[0] or found[0] in one.quote for one in said):
            continue
        groups = found.groupdict()
        count = groups.get("n") or ""
        value = float(count) if count.isdigit() else _NUMBERS.get(count.lower(), 0.0)
        if groups.get("once"):
            value = 1.0
        if groups.get("twice"):
            value = 2.0
        said.append(
            Mention(number, found[0], value, "best" if groups.get("best") or groups.get("chosen") else "")
        )
    return said


def _together(number: int, text: str) -> Mention | None:
    found = _SAME.search(text)
    if not found:
        return None
    if found[0].lower().startswith("not "):
        return Mention(number, found[0])
    around = text[max(found.start() - 160, 0) : found.end() + 160]
    if _APART.search(text[max(found.start() - 30, 0) : found.start()]):
        return None
    return Mention(number, found[0]) if _LOADER.search(around) else None


def known_tools(seen: Facts) -> set[str]:
    """The names of the tools that we know and the text names."""
    return {BY_NAME[name].name for name in seen.tools if name in BY_NAME}
