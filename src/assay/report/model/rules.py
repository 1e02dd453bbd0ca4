"""The verdict rules as a person reads them: the list, one in full, and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import resources
from typing import TYPE_CHECKING

from assay.core import units as fmt
from assay.model.finding import Severity
from assay.report.document import Cell, Column, Labelled, Paragraph, Section, TableLine, Tone, table
from assay.report.model.answer import threshold_words
from assay.report.model.values import ORDER
from assay.verdict import RULES, Rule
from assay.verdict.rule import NONE

if TYPE_CHECKING:
    from assay.audit.finding import AuditRule

NOTES = resources.files("assay.verdict").joinpath("notes")
"""What is written by hand of a rule beyond its code: a Markdown file of its code's name."""

_LISTS = ("details", "evidence")

_LEGEND = (
    "What each rule usually does to what is known: `assay explain G1` says all that it may do, and when. "
    "void: the figure is of something else; at least, at most: the truth may be higher, or lower; wider: the "
    "interval is enlarged; one way: in one direction only; holds: the paired ratio stands all the same."
)


_COLUMNS = tuple(
    Column(name, name, key=True)
    for name in ("rule", "gravest", "throughput", "times", "comparison", "what it finds")
)


def listing() -> Section:
    """Every rule in a line: code, gravest severity, what it usually does to each figure, what is wrong."""
    return Section(
        "rules", "", (table("", _COLUMNS, map(_line, RULES.values())), Paragraph(_LEGEND, "faint"))
    )


def _line(rule: Rule) -> TableLine:
    gravest, usual = min(rule.severities, key=ORDER.index), rule.effects[0]
    compared = "holds" if usual.comparison == "none" else usual.comparison or ""
    return TableLine(
        (
            Cell(rule.code, "strong"),
            Cell(gravest, _TONES[gravest]),
            *map(Cell, (usual.throughput, usual.times, compared, rule.title)),
        )
    )


_TONES: dict[Severity, Tone] = {"error": "bad", "warning": "warn", "note": "plain"}


def page(rule: Rule | AuditRule) -> dict[str, tuple[str, ...]]:
    """All there is to say about a rule: sections by name, in their order, each of one or more paragraphs.

    They come from what the code says and what `verdict/notes` adds; there are no empty ones.
    """
    sections = _of_verdicts(rule) if isinstance(rule, Rule) else _of_audits(rule)
    return {name: items for name, items in sections.items() if any(items)}


def _of_verdicts(rule: Rule) -> dict[str, tuple[str, ...]]:
    as_note = ("none (as a note)",) if "note" in rule.severities and rule.effects != (NONE,) else ()
    named = ", ".join(f"{threshold.name} = …" for threshold in rule.thresholds)
    setting = f'`[rules.{rule.code}] thresholds = {{ {named} }}, reason = "…"`'
    notes = _notes(rule.code)
    return {
        "severity": (" or ".join(rule.severities),),
        "effect": (*(effects.words for effects in rule.effects), *as_note),
        "meaning": (rule.meaning,),
        "remedy": (rule.remedy,),
        "thresholds": tuple(
            f"`{one.name}` = {threshold_words(one.unit, one.value)}: {one.meaning}" for one in rule.thresholds
        ),
        "in a study": (f"{setting}; each finding of the rule then says why" if rule.thresholds else "",),
        "exempt": (f"servers of role {', '.join(sorted(rule.exempt))}" if rule.exempt else "",),
        "passing": ("met in at most one trial of five it is a note" if rule.passing else "",),
        "details": notes.get("details", ()),
        "example": (rule.example,),
        "evidence": notes.get("evidence", ()),
        "source": (rule.source,),
    }


def _of_audits(rule: AuditRule) -> dict[str, tuple[str, ...]]:
    return {
        "effect": (f"stands against {rule.takes}",),
        "meaning": (rule.meaning,),
        "remedy": (rule.remedy,),
        "where": ("`assay audit`: what a text says of a benchmark",),
        "source": (rule.source,),
    }


def _notes(code: str) -> dict[str, tuple[str, ...]]:
    """What is written by hand of a rule: the items of the lists under *Details* and *Evidence*."""
    path = NOTES / f"{code}.md"
    if not path.is_file():
        return {}
    sections = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {
        name.lower(): tuple(" ".join(item.split()) for item in re.split(r"^- ", text, flags=re.MULTILINE)[1:])
        for name, _, text in (section.partition("\n") for section in sections)
    }


def in_full(rule: Rule | AuditRule) -> Section:
    """A rule's page, without Markdown."""
    lines = []
    for name, items in page(rule).items():
        mark = "- " if name in _LISTS and len(items) > 1 else ""
        for number, item in enumerate(items):
            lines.append((name if number == 0 else "", mark + item.replace("`", "")))
    return Section(rule.code, f"{rule.code}  {rule.title}", (Labelled(tuple(lines)),))


def pages_as_json(rules: Iterable[Rule | AuditRule]) -> str:
    """Rules with all that their pages say, as a JSON list."""
    return fmt.as_json([_in_full_for_programs(rule) for rule in rules])


def _in_full_for_programs(rule: Rule | AuditRule) -> dict[str, object]:
    if not isinstance(rule, Rule):
        names = ("code", "title", "takes", "meaning", "remedy", "source")
        return {name: getattr(rule, name) for name in names}
    notes = {name: _notes(rule.code).get(name, ()) for name in ("details", "evidence")}
    more = {"example": rule.example, "exempt": sorted(rule.exempt), "passing": rule.passing}
    return {**_for_programs(rule), **more, **notes}


def as_json() -> str:
    """The registry as JSON: what a rule says and its thresholds; not how it decides."""
    return fmt.as_json([_for_programs(rule) for rule in RULES.values()])


def _for_programs(rule: Rule) -> dict[str, object]:
    return {
        "code": rule.code,
        "title": rule.title,
        "severities": rule.severities,
        "effects": [
            {
                "on_throughput": effects.throughput,
                "on_times": effects.times,
                "on_comparison": effects.comparison,
                "because": effects.because,
                "when": effects.when,
                "way": effects.way,
                "held_back": effects.held_back,
            }
            for effects in rule.effects
        ],
        "meaning": rule.meaning,
        "remedy": rule.remedy,
        "source": rule.source,
        "thresholds": rule.thresholds,
    }
