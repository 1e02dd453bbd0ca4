"""The verdict rules as a person reads them: the list, one in full, and JSON."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.report import format as fmt
from assay.report.model.remarks import threshold_words
from assay.report.style import FAINT, HEADING, SEVERITY_STYLE
from assay.verdict import RULES, Rule, Threshold


def listing() -> RenderableType:
    """Every rule in a line: code, gravest severity, what is wrong, what it does to throughput."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for rule in RULES.values():
        severities = Text(" or ").join(
            Text(severity, SEVERITY_STYLE[severity]) for severity in rule.severities
        )
        table.add_row(Text(rule.code, HEADING), severities, Text(_gravest(rule), FAINT), rule.title)
    return table


def _gravest(rule: Rule) -> str:
    """The usual effect of a rule in a word or two: on throughput, else on the comparison, else on times."""
    usual = rule.effects[0]
    if usual.throughput != "none":
        return usual.throughput
    if usual.comparison:
        return f"comparison {usual.comparison}"
    return f"times {usual.times}" if usual.times != "none" else "–"


def in_full(rule: Rule) -> RenderableType:
    """All there is to say about a rule."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(style=FAINT, no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    table.add_row("severity", " or ".join(rule.severities))
    for number, effects in enumerate(rule.effects):
        table.add_row("effect" if number == 0 else "", effects.words)
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
    head = Text.assemble((rule.code, HEADING), "  ", (rule.title, HEADING))
    return Group(head, Padding(table, (0, 0, 1, 2)))


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
