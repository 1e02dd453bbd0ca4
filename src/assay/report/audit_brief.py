"""An audit on one screen: conclusions first, then each cause with its places and what to do about it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rich.text import Text

from assay.audit.claims import Verdict, Weight
from assay.audit.finding import Remark
from assay.audit.judge import Audit
from assay.core.units import safe
from assay.report.audit import VERDICTS, plural, summary
from assay.report.model.values import ORDER
from assay.report.style import FAINT, HEADING, SEVERITY_MARK, SEVERITY_STYLE

_WIDTH = 78
_MOST_CONCLUSIONS = 3
_MOST_CAUSES = 5
_MOST_PLACES = 6
_SIGNS: dict[Verdict, tuple[str, str]] = {
    "contradicted": ("✗", SEVERITY_STYLE["error"]),
    "direction": ("~", ""),
    "stands": ("✓", "green"),
}
"""The verdicts that are shown, in this order; of what cannot be told there is the number alone."""


def brief(found: Audit) -> Text:
    """At most 25 lines of one document. `--verbose` has quotes, arithmetic and commands."""
    text = Text(overflow="ellipsis")
    for line in textwrap.wrap(summary(found), _WIDTH, break_long_words=False)[:3]:
        text.append(f"{line}\n", HEADING)
    if not found.results:
        return text
    conclusions, causes = list(_conclusions(found)), list(_causes(found))
    if conclusions:
        text.append("\n")
    for sign, style, words in conclusions:
        text.append(f"{sign} ", style)
        lines = textwrap.wrap(words, _WIDTH - 4, break_long_words=False)
        text.append(f"{lines[0]}\n")
        if len(lines) > 1:
            text.append(f"  {_cut(' '.join(lines[1:]), 2)}\n")
    if causes:
        text.append("\n")
    for first, head, remedy in causes[:_MOST_CAUSES]:
        text.append(f"{SEVERITY_MARK[first.severity]} ", SEVERITY_STYLE[first.severity])
        text.append(f"{_cut(head, 2)}\n")
        text.append(f"  → {_cut(remedy, 4)}\n", FAINT)
    if len(causes) > _MOST_CAUSES:
        codes = " ".join(first.code for first, _, _ in causes[_MOST_CAUSES:])
        text.append(f"{plural(len(causes) - _MOST_CAUSES, 'more cause')}: {codes}\n", FAINT)
    text.append("\nmore: --verbose, assay explain CODE\n", FAINT)
    return text


def _conclusions(found: Audit) -> Iterator[tuple[str, str, str]]:
    """The conclusions that were decided, the worst first, each as sign, style and words."""
    decided = [
        (*sign, weight)
        for verdict, sign in _SIGNS.items()
        for weight in found.conclusions
        if weight.verdict == verdict
    ]
    for sign, style, weight in decided[:_MOST_CONCLUSIONS]:
        yield sign, style, _decided(weight)
    if len(decided) > _MOST_CONCLUSIONS:
        yield " ", "", f"{plural(len(decided) - _MOST_CONCLUSIONS, 'more decided conclusion')}: --verbose"


def _decided(weight: Weight) -> str:
    quote = safe(weight.conclusion.sentence, longest=60)
    return f"line {weight.conclusion.line} {VERDICTS[weight.verdict]}: {safe(weight.why, 200)} (“{quote}”)"


def _causes(found: Audit) -> Iterator[tuple[Remark, str, str]]:
    """Each rule that found something, the gravest first, with its places and what to do."""
    by_code: dict[str, list[Remark]] = {}
    for remark in found.remarks:
        by_code.setdefault(remark.code, []).append(remark)
    for code, each in sorted(by_code.items(), key=lambda item: (_gravity(item[1]), item[0])):
        gravest = min(each, key=lambda one: ORDER.index(one.severity))
        lines = sorted({line for one in each for line in (one.line, *one.also)})
        yield gravest, f"{code} {gravest.rule.title}: {_places(lines)}", gravest.rule.remedy


def _gravity(each: Sequence[Remark]) -> int:
    return min(ORDER.index(one.severity) for one in each)


def _places(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:_MOST_PLACES]))
    more = f" and {len(lines) - _MOST_PLACES} more" if len(lines) > _MOST_PLACES else ""
    return f"line{'' if len(lines) == 1 else 's'} {shown}{more}"


def _cut(words: str, before: int) -> str:
    """Words that fit on their line behind so many columns."""
    room = _WIDTH - before
    return words if len(words) <= room else words[: room - 2].rstrip() + " …"
