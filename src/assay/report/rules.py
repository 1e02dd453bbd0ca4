"""The verdict rules as a person reads them: the list, one in full, and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.core import units as fmt
from assay.report.model.answer import threshold_words
from assay.report.model.values import ORDER
from assay.report.style import FAINT, HEADING, SEVERITY_STYLE, plain_table
from assay.verdict import RULES, Rule, Threshold
from assay.verdict.rule import NONE

if TYPE_CHECKING:
    from assay.audit.finding import AuditRule

_LEGEND = (
    "What each rule usually does to what is known: `assay explain G1` says all that it may do, and when. "
    "void: the figure is of something else; at least, at most: the truth may be higher, or lower; wider: the "
    "interval is enlarged; one way: in one direction only; holds: the paired ratio stands all the same."
)


def listing() -> RenderableType:
    """Every rule in a line: code, gravest severity, what it usually does to each figure, what is wrong."""
    table = plain_table()
    for head in ("rule", "gravest", "throughput", "times", "comparison"):
        table.add_column(head, no_wrap=True)
    table.add_column("what it finds", overflow="fold")
    for rule in RULES.values():
        gravest, usual = min(rule.severities, key=ORDER.index), rule.effects[0]
        table.add_row(
            Text(rule.code, HEADING),
            Text(gravest, SEVERITY_STYLE[gravest]),
            usual.throughput,
            usual.times,
            "holds" if usual.comparison == "none" else usual.comparison or "",
            rule.title,
        )
    return Group(table, Text(f"\n{_LEGEND}", FAINT))


def in_full(rule: Rule) -> RenderableType:
    """All there is to say about a rule."""
    table = _facts()
    table.add_row("severity", " or ".join(rule.severities))
    for number, effects in enumerate(rule.effects):
        table.add_row("effect" if number == 0 else "", effects.words)
    if "note" in rule.severities and rule.effects != (NONE,):
        table.add_row("", "none (as a note)")
    table.add_row("means", rule.meaning)
    table.add_row("do", rule.remedy)
    for number, threshold in enumerate(rule.thresholds):
        said = f"{threshold.name} = {_written(threshold)}: {threshold.meaning}"
        table.add_row("thresholds" if number == 0 else "", said)
    if rule.thresholds:
        named = ", ".join(f"{threshold.name} = …" for threshold in rule.thresholds)
        setting = f'[rules.{rule.code}] thresholds = {{ {named} }}, reason = "…"'
        table.add_row("in a study", Text(f"{setting}; each finding of the rule then says why"))
    if rule.exempt:
        table.add_row("spares", f"servers of role {', '.join(sorted(rule.exempt))}")
    if rule.passing:
        table.add_row("passing", "met in at most one trial of five it is a note")
    table.add_row("example", rule.example)
    table.add_row("source", rule.source)
    return _headed(rule.code, rule.title, table)


def of_audits(rule: AuditRule) -> RenderableType:
    """All there is to say about a rule that only audits have."""
    table = _facts()
    table.add_row("effect", f"stands against {rule.takes}")
    table.add_row("means", rule.meaning)
    table.add_row("do", rule.remedy)
    table.add_row("where", "`assay audit`: what a text says of a benchmark")
    table.add_row("source", rule.source)
    return _headed(rule.code, rule.title, table)


def _facts() -> Table:
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(style=FAINT, no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    return table


def _headed(code: str, title: str, table: Table) -> RenderableType:
    return Group(Text(f"{code}  {title}", HEADING), Padding(table, (0, 0, 1, 2)))


def as_json() -> str:
    """The registry as JSON: what a rule says and its thresholds; not how it decides."""
    rules = [
        {
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
        for rule in RULES.values()
    ]
    return fmt.as_json(rules)


def _written(threshold: Threshold) -> str:
    return threshold_words(threshold.unit, threshold.value)
