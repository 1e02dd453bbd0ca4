"""METHODOLOGY.md says what the code does: codes, titles, severities, scopes and thresholds."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.verdict import RULES, Rule, Threshold
from assay.verdict.rule import exact_duration, exact_percent

VALIDITY = Path(__file__).parents[2] / "docs" / "method" / "validity.md"
PAGE = Path(__file__).parents[2] / "METHODOLOGY.md"


def rows() -> dict[str, list[str]]:
    """The cells of each rule's row by its code."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    return {row[0]: row for row in cells if len(row) == 6 and row[0][1:].isdigit()}


def written(threshold: Threshold) -> str:
    match threshold.unit:
        case "share":
            value = exact_percent(threshold.value)
        case "ns":
            value = exact_duration(threshold.value)
        case _:
            value = f"{threshold.value:g}"
    return f"`{threshold.name}` {value}"


def test_the_page_lists_the_registry_s_rules_in_its_order() -> None:
    assert list(rows()) == list(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_a_rule_s_row_is_the_code_s(rule: Rule) -> None:
    _, title, severities, effects, thresholds, source = rows()[rule.code]
    assert title == rule.title
    assert severities.split(", ") == list(rule.severities)
    assert effects == rule.effect_words
    assert thresholds == (", ".join(written(each) for each in rule.thresholds) or "–")
    assert source == rule.source


def test_exemptions_and_passing_rules_are_those_of_the_page() -> None:
    text = " ".join(VALIDITY.read_text(encoding="utf-8").split())
    passing = ", ".join(rule.code for rule in RULES.values() if rule.passing)
    assert f"**Passing** disturbances ({passing})" in text
    exempt = [rule.code for rule in RULES.values() if "ceiling" in rule.exempt]
    assert f"{', '.join(exempt[:-1])} and {exempt[-1]} do not apply to it" in text
