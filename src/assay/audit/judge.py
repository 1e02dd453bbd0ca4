"""From what was found in a document to what it can be believed for, and the commands that settle more."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from assay.audit.claims import Weight
from assay.audit.document import Reported, TextDocument
from assay.audit.evidence import Evidence, see
from assay.audit.finding import Remark
from assay.audit.names import is_name, key_of
from assay.audit.rules import AUDIT_RULES
from assay.audit.weighing import weighed
from assay.model.finding import Severity

Belief = Literal["throughput", "times", "throughput and times", "nothing"]

_GRAVITY: dict[Severity, int] = {"error": 2, "warning": 1, "note": 0}
_PLAIN = 1.1
"""A ratio below this is within what the flaws of a single run move; S3 warns of a deviation above it."""


class Believed(msgspec.Struct, frozen=True):
    """A result, what it is believable for, and the codes that took the rest away."""

    result: Reported
    belief: Belief
    codes: tuple[str, ...]


class Audit(msgspec.Struct, frozen=True):
    """All that there is to say about a document."""

    name: str
    document: TextDocument
    evidence: Evidence
    remarks: tuple[Remark, ...]
    results: tuple[Believed, ...]
    conclusions: tuple[Weight, ...]

    @property
    def against(self) -> bool:
        """Whether something stands against a figure: a remark that is more than a note."""
        return any(remark.severity != "note" for remark in self.remarks)


def audit(document: TextDocument, ignored: frozenset[str] = frozenset()) -> Audit:
    """Judge a document; rules whose codes are `ignored` are left out."""
    seen = see(document)
    if not seen.results:
        return Audit(document.name, document, seen, (), (), ())
    remarks = tuple(sorted(_remarks(seen, ignored), key=lambda remark: (remark.line, remark.code)))
    by_line: _ByLine = defaultdict(list)
    for one in remarks:
        for line in one.about or (0,):
            by_line[line].append(one)
    return Audit(
        document.name,
        document,
        seen,
        remarks,
        tuple(_believed(result, by_line) for result in seen.results),
        tuple(_settled(weight, by_line) for weight in weighed(seen)),
    )


def _remarks(seen: Evidence, ignored: frozenset[str]) -> Iterator[Remark]:
    for rule in AUDIT_RULES.values():
        hits = list(dict.fromkeys(rule.check(seen))) if rule.code not in ignored else []
        found = [
            Remark(hit.line, hit.quote, hit.arithmetic, hit.severity, hit.about, rule=rule) for hit in hits
        ]
        if rule.once and found:
            about = tuple(sorted({line for hit in hits for line in hit.about}))
            worst = max(found, key=lambda hit: (_GRAVITY[hit.severity], -hit.line))
            also = tuple(sorted({hit.line for hit in hits} - {worst.line}))
            found = [replace(worst, about=about, also=also)]
        yield from found


_ByLine = dict[int, list[Remark]]
"""The remarks by the results that they are about; under 0 those about the whole text."""


def _believed(result: Reported, remarks: _ByLine) -> Believed:
    """A closed loop tells throughput, an open one times; what is invalid tells neither."""
    everywhere = [one for one in remarks[0] if one.rule.takes == "everything"]
    own = [*everywhere, *remarks[result.line]]
    gone = {one.rule.takes for one in own if one.severity == "error"}
    codes = tuple(dict.fromkeys(one.code for one in own if one.severity != "note"))
    rate = "rate" in result.figures and result.closed is not False
    times = bool(result.percentiles or result.figures.keys() & {"mean", "time"}) and result.closed is False
    if "everything" in gone:
        return Believed(result, "nothing", codes)
    if rate:
        return Believed(result, "throughput", codes)
    return Believed(result, "times" if times and "times" not in gone else "nothing", codes)


def _settled(weight: Weight, remarks: _ByLine) -> Weight:
    """The verdict on a conclusion once the flaws of what it rests on are known."""
    if weight.verdict != "stands":
        return weight
    lines = {result.line for result in weight.rests_on}
    own = [
        one
        for result in weight.rests_on
        for one in (*remarks[0], *remarks[result.line])
        # What is between two results concerns the conclusion only if it is about just these.
        if one.code != "R8"
        and (one.rule.takes != "comparison" or not one.about or len(lines & set(one.about)) > 1)
    ]
    by_times = weight.conclusion.metric == "times" or not all(
        "rate" in one.figures for one in weight.rests_on
    )
    voided = {"everything", "times"} if by_times else {"everything"}
    gone = sorted({one.code for one in own if one.severity == "error" and one.rule.takes in voided})
    if gone:
        return replace(
            weight, verdict="untold", why=f"{weight.why}, but {', '.join(gone)} makes that figure invalid"
        )
    weak = sorted({one.code for one in own if one.severity != "note" or one.rule.direction})
    if not weak:
        return weight
    codes = ", ".join(weak)
    if weight.ratio > _PLAIN:
        return replace(weight, verdict="direction", why=f"{weight.why}; the factor is open ({codes})")
    return replace(weight, verdict="untold", why=f"{weight.why}, which is within what {codes} can move")


_SHARE = 0.7
"""The share of a measured throughput at which times are worth measuring: below capacity, and busy."""


def commands(found: Audit) -> tuple[str, ...]:
    """`assay versus` for what is compared, and `assay load --rate` for its times; empty without results."""
    if not found.results:
        return ()
    sides = compared(found)
    lines = [_versus(sides)] if len(sides) > 1 else []
    of = max(sides or [one.result for one in found.results], key=_rate)
    if _rate(of) or not lines:
        rate = f" --rate {_rounded(_SHARE * _rate(of))}" if _rate(of) else ""
        lines.append(f"assay load {shlex.quote(_address(of.url))}{rate} -d 30s --warm-up 10s")
    return tuple(lines)


def compared(found: Audit, most: int = 6) -> list[Reported]:
    """One result of each name that the text compares, at most so many, in their order."""
    sides: dict[str, Reported] = {}
    for a, b in found.evidence.certain():
        for one in (a, b):
            sides.setdefault(key_of(one.label), one)
    return sorted(sides.values(), key=lambda one: (one.line, one.label))[:most]


def _versus(sides: list[Reported]) -> str:
    connections = next((figure for one in sides if (figure := one.get("connections"))), None)
    addresses = [_address(one.url) for one in sides]
    words = ["assay", "versus"]
    if all(one.url for one in sides) and len(set(addresses)) == len(sides):
        words += addresses
    else:
        # The text says how to ask them, not how to start them: that is left to its reader.
        # What is taken from it is quoted twice: `assay versus` hands the word to a shell.
        words += [
            f"START {shlex.quote(_plain(one.label)) if is_name(one.label) else ''}".strip() + " ON {port}"
            for one in sides
        ]
        path = next((path_of(_address(one.url)) for one in sides if one.url), "/")
        words += ["--url", f"http://127.0.0.1:{{port}}{path or '/'}"]
    for one in sides if all(is_name(one.label) for one in sides) else ():
        name = _plain(one.label[:30])
        words += [f"--name={name}"] if name.startswith("-") else ["--name", name]
    if connections is not None:
        words += ["-c", f"{connections.value.middle:.0f}"]
    return shlex.join(words)


def path_of(url: str) -> str:
    """The path of an address; "/" where the text has none that is one."""
    try:
        return urlsplit(url).path
    except ValueError:
        return "/"


def _address(url: str) -> str:
    """The text's address as a URL; what is none (a flag, a file) cannot come of it."""
    if not url:
        return "http://127.0.0.1:8080/"
    return _plain(url if url.startswith(("http://", "https://")) else f"http://{url}")


def _plain(text: str) -> str:
    """The text without what would move a terminal's cursor, or begin another line."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _rate(result: Reported) -> float:
    figure = result.figures.get("rate")
    return figure.value.middle if figure is not None else 0.0


def _rounded(rate: float) -> str:
    return f"{float(f'{rate:.2g}'):.0f}" if rate >= 10 else f"{rate:.2g}"
