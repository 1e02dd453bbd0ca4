"""Findings in a line each: the reason, what it does to the answer, the rule, and whom it concerns."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from assay.core import units as fmt
from assay.model.finding import Effect, Finding
from assay.report.model.values import ORDER

MOST_WARNINGS = 3
NAME_LENGTH = 28
"""A longer name is cut in its middle: a line has 80 columns."""
_MOST_NAMES = 2
_LONGEST_REASON = 48
"""Evidence that is longer gives way to the title of its rule."""
_ROOM = 78
"""Columns of a line behind its mark. In a longer one gives way, in this order: that figures stand, evidence,
what a title has in brackets, whom it concerns."""


def short(name: str) -> str:
    """A name that leaves room for figures beside it."""
    return fmt.safe(name, NAME_LENGTH)


def warnings(
    findings: Iterable[Finding],
    name_of: Callable[[str], str] = str,
    *,
    longest: int = _LONGEST_REASON,
    told: Collection[str] = (),
    first: Sequence[str] = (),
) -> tuple[str, ...]:
    """At most three lines. Those of `first` stand first; codes that are `told` elsewhere are left out.
    Evidence of up to `longest` characters is the reason, else the title of its rule.

    Errors stand before warnings, and what changes the answer before what changes nothing. Of more than three
    the last line gives the codes.
    """
    by_code: dict[str, list[Finding]] = {}
    for one in findings:
        if one.severity != "note" and one.code not in told:
            by_code.setdefault(one.code, []).append(one)
    groups = sorted(by_code.items(), key=lambda group: (_gravity(group[1]), group[0]))
    room = MOST_WARNINGS - min(len(first), MOST_WARNINGS)
    if len(groups) > room:
        kept, more = groups[: max(room - 1, 0)], groups[max(room - 1, 0) :]
        rest = f"{fmt.counted(len(more), 'more warning')}: {' '.join(code for code, _ in more)}"
    else:
        kept, rest = groups, ""
    lines = [*first[: MOST_WARNINGS - bool(rest)], *(_line(each, name_of, longest) for _, each in kept)]
    return (*lines, rest) if rest else tuple(lines)


def bottleneck(findings: Iterable[Finding], name_of: Callable[[str], str] = str) -> tuple[str, ...]:
    """What limited the loads, in a line: "bottleneck: the server (98 % of its core)"; none where nobody
    looked."""
    limits: dict[str, list[Finding]] = {}
    for one in findings:
        if one.code == "B1":
            limits.setdefault(one.evidence.partition(" (")[0], []).append(one)
    if not limits:
        return ()
    [(what, found), *others] = limits.items()
    if others:
        told = "; ".join(f"{what}: {_whom(found, name_of)}" for what, found in limits.items())
    else:
        told = found[0].evidence.partition(" (in ")[0] if len(found) == 1 else what
    return (f"bottleneck: {fmt.safe(told)}",)


def codes_in(text: str, names: Iterable[str]) -> frozenset[str]:
    """The rules that a sentence gives in brackets, "(G1: …)"; not what stands in one of these `names`."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "") if name else text
    return frozenset(re.findall(r"\(([A-Z]\d{1,2})(?=[:;,)])", text))


def changes_answer(one: Finding) -> bool:
    """Whether a finding does anything to a figure."""
    return bool(_effect(one))


def _gravity(found: Sequence[Finding]) -> tuple[int, bool]:
    return min(ORDER.index(one.severity) for one in found), not any(map(changes_answer, found))


def _line(found: Sequence[Finding], name_of: Callable[[str], str], longest: int) -> str:
    gravest = min(found, key=lambda one: (ORDER.index(one.severity), not changes_answer(one)))
    whom = _whom(found, name_of)
    evidence = gravest.evidence.partition(" (in ")[0]
    by_name = gravest.title, gravest.title.partition(" (")[0]
    reasons = (evidence, *by_name) if len(evidence) <= longest and len(found) == 1 else by_name
    effect = _effect(gravest)
    forms = [
        *((reasons[0], one, whom) for one in ([effect] if effect else ["the figures stand", ""])),
        *((one, effect or "the figures stand", whom) for one in reasons[1:]),
        (reasons[-1], effect, ""),
    ]
    lines = [
        f"{gravest.code} {fmt.safe(reason, max(longest, 60))}{does and f': {does}'}{who and f' ({who})'}"
        for reason, does, who in forms
    ]
    return next((line for line in lines if len(line) <= _ROOM), lines[-1])


def _whom(found: Sequence[Finding], name_of: Callable[[str], str]) -> str:
    names = dict.fromkeys(short(name_of(one.subject.case)) for one in found if one.subject.case is not None)
    others = dict.fromkeys(
        short(name_of(one.subject.other_case)) for one in found if one.subject.other_case is not None
    )
    everyone = [name for name in dict.fromkeys((*names, *others)) if name]
    return ", ".join(everyone) if len(everyone) <= _MOST_NAMES else f"{len(everyone)} cases"


_ON_RATES: dict[Effect, str] = {
    "void": "no rate",
    "at least": "rates are lower bounds",
    "at most": "rates are upper bounds",
    "wider": "wider intervals",
    "one way": "wider intervals",
}
_ON_TIMES: dict[Effect, str] = {
    "void": "no times",
    "at least": "times are lower bounds",
    "at most": "times are upper bounds",
}
_ON_RATIO: dict[Effect, str] = {
    "void": "not compared",
    "one way": "holds in one direction",
    "at least": "the ratio is a lower bound",
    "wider": "wider interval of the ratio",
}


def _effect(one: Finding) -> str:
    """What it does to the answer; empty where it changes nothing."""
    on_rates, on_times = _ON_RATES.get(one.on_throughput, ""), _ON_TIMES.get(one.on_times, "")
    if on_rates and one.on_throughput != "void" and on_times:
        if one.on_throughput == one.on_times:
            return f"rates and {on_times}"
        if on_times.endswith(" bounds"):
            on_rates, on_times = on_rates.removesuffix(" bounds"), on_times.replace("are ", "")
        return f"{on_rates}, {on_times}"
    return on_rates or _ON_RATIO.get(one.on_comparison or "none", "") or on_times
