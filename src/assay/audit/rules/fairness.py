"""W6 and W7: whether what is compared was treated alike."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from assay.audit.document import Figure, Reported, TextBlock, sentences
from assay.audit.evidence import Evidence
from assay.audit.finding import AuditHit, audit_rule, hit_at, number
from assay.audit.interval import exactly
from assay.audit.lexicon import compiled, numbers
from assay.audit.names import aliases, distinct, key_of, places

_LOADS = ("connections", "threads", "workers")


_MEANS = compiled("fairness.means")
_STARTED = compiled("fairness.started")
_NUMBERS = numbers("facts.numbers")


def _means(text: str) -> dict[str, float]:
    """Workers, cores and the like that a name or sentence tells, by kind."""
    found: dict[str, float] = {}
    for each in _MEANS.finditer(text):
        count = (each["count"] or each["count2"] or each["count3"]).lower()
        kind = "connection" if each["kind3"] else (each["kind"] or each["kind2"]).lower().removeprefix("v")
        found.setdefault("core" if kind == "cpu" else kind, _NUMBERS.get(count) or float(count or 0))
    return found


def _started(seen: Evidence) -> dict[int, Figure]:
    """The workers with which the servers of outputs were started, by commands above them."""
    texts, found, last = seen.document.text_at, {}, 0
    for result in seen.outputs:
        section = seen.sections.at(result.line)
        for line in range(max(last + 1, section.line if section else 1), result.line):
            if told := _STARTED.search(texts.get(line, "")):
                found[result.line] = Figure(exactly(float(told["one"] or told["two"])), line, told[0])
        last = result.last
    return found


def _loads(one: Reported, started: dict[int, Figure], sure: bool) -> dict[str, Figure]:
    """What a result had of connections, workers and the like: by its name and, if it is compared, figures."""
    by_name = _means(one.label).items() if one.table else ()
    told = {f"{kind}s": Figure(exactly(count), one.line, one.label) for kind, count in by_name}
    if sure and (one.table or one.get("duration") is not None):
        told |= {name: figure for name in _LOADS if (figure := one.get(name)) is not None}
    return told | ({"workers": started[one.line]} if sure and one.line in started else {})


def unequal_loads(seen: Evidence) -> Iterator[AuditHit]:
    """W6: means that two compared names do not share in any result."""
    compared = list(dict.fromkeys((one.line, one.label) for pair in seen.certain() for one in pair))
    started = _started(seen)
    groups: dict[int, dict[str, _Side]] = defaultdict(lambda: defaultdict(list))
    for one in (*(row for grid in seen.grids for row in grid.results[:60]), *seen.outputs):
        sure = (one.line, one.label) in compared
        if sure or one.table:
            name = " ".join(_MEANS.sub(" ", one.label).split())
            groups[one.table][name].append((one, _loads(one, started, sure)))
    for sides in groups.values():
        pairs = combinations(list(sides.values())[:60], 2)
        yield from next(filter(None, (_uneven(*pair) for pair in pairs)), [])


_Side = list[tuple[Reported, dict[str, Figure]]]
"""The results of one name, each with its means."""


def _uneven(first: _Side, second: _Side) -> list[AuditHit]:
    """Where each result of both tells a number of the same, and no two agree."""
    (a, mine), (b, theirs) = first[0], second[0]
    for kind, one in mine.items():
        if not all(kind in told for _, told in (*first, *second)):
            continue
        # Routes may be named with their connections, too: "GET (c64)".
        named = kind == "connections" and one.quote == a.label
        if not (named or distinct(a.label, b.label)):
            continue
        if {told[kind].value for _, told in first} & {told[kind].value for _, told in second}:
            continue
        other = theirs[kind]
        words = f"{number(one.value.middle)} {kind} for {a.label!r}, "
        return [hit_at(other, f"{words}{number(other.value.middle)} for {b.label!r}", a.line, b.line)]
    return []


_ALONE = re.compile(
    r"\b(?:single|one)[- ](?:core|thread(?:ed)?|process|worker|instance)\b|\bsingle[- ]threaded\b",
    re.IGNORECASE,
)
_MANY = compiled("fairness.many")


def unequal_words(seen: Evidence) -> Iterator[AuditHit]:
    """W6: a sentence that says one of two compared has one core or worker, and the other several."""
    names = aliases(list(dict.fromkeys(one.label for pair in seen.compared for one in pair))[:80])
    for block in seen.document.blocks if len(names) > 1 else ():
        for line, sentence in sentences(block) if block.kind == "prose" else ():
            counts = [
                _means(part)
                for part in re.split(r"\b(?:while|whereas|and|but|vs\.?|versus|against)\b|[,;]", sentence)
            ]
            kinds = {kind for told in counts for kind in told if kind not in ("connection", "client")}
            apart = any(len({told[kind] for told in counts if kind in told}) > 1 for kind in kinds)
            if not apart and not (_ALONE.search(sentence) and _MANY.search(sentence)):
                continue
            named = {label for name, label in names.items() if places(name, sentence)}
            if len({key_of(label) for label in named}) > 1:
                yield AuditHit(line, sentence[:60], "the text says that they did not have the same means")
                return


@audit_rule("W6")
def unequal_means(seen: Evidence) -> Iterator[AuditHit]:
    """What is compared did not have the same load or the same means: the difference is also theirs."""
    yield from unequal_loads(seen)
    yield from unequal_words(seen)


_HANDICAPS = compiled("fairness.handicaps")
_RIGHT = compiled("fairness.right")
_DEVELOPS = re.compile(r"develop|contribut|hacking|tests?\b(?! (?:setup|environment|server))", re.IGNORECASE)
_MEASURES = compiled("fairness.measures")


def _own_words(text: str, found: re.Match[str]) -> str:
    """The command of a line with several that the words stand in."""
    begin = max(text.rfind(sign, 0, found.start()) for sign in ("&&", ";", "|"))
    ends = [at for sign in ("&&", ";", "|") if (at := text.find(sign, found.end())) >= 0]
    return text[max(begin, 0) : min(ends, default=len(text))]


@audit_rule("W7")
def handicapped(seen: Evidence) -> Iterator[AuditHit]:
    """A debug build, a development mode or a build tool in the way does other work than what people run: the
    figure is not the server's."""
    measuring = {section.line for result in seen.results if (section := seen.sections.at(result.line))}
    measuring |= {section.line for call in seen.commands if (section := seen.sections.at(call.line))}
    for part in seen.document.parts:
        if not isinstance(part, TextBlock):
            continue
        for line in part.lines:
            found = _HANDICAPS.search(line.text)
            if (
                not found
                or _RIGHT.search(_own_words(line.text, found))
                or (part.kind != "code" and "`" in line.text)
            ):
                continue
            section = seen.sections.at(line.number)
            if (
                section is None
                or section.line in measuring
                or (
                    seen.results
                    and any(_MEASURES.search(title) for title in section.path)
                    and not _DEVELOPS.search(section.title)
                )
            ):
                yield AuditHit(line.number, found[0], f"{found[0]!r} is for developing")
