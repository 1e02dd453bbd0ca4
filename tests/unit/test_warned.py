"""Warnings take a line of the screen each, and say what they do to the answer."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assay.model.finding import Effect, Finding, Subject
from assay.report.model.warned import NAME_LENGTH, changes_answer, warnings
from assay.verdict.rules import RULES

COLUMNS = 80
RULE = st.sampled_from([(rule.code, rule.title) for rule in RULES.values()])
EFFECTS = get_args(Effect)


def finding(
    title: str, evidence: str, names: tuple[str | None, str | None], *, code: str = "H12", **effects: Effect
) -> Finding:
    subject = Subject(case=names[0], other_case=names[1])
    made = Finding(
        code=code,
        severity="warning",
        subject=subject,
        title=title,
        evidence=evidence,
        figures={},
        meaning="",
        remedy="",
        source="",
    )
    return replace(made, **effects)


NAMES = st.none() | st.text("abc/ ü", min_size=1, max_size=60)


@given(
    RULE,
    st.text("e n,%", min_size=1, max_size=90),
    st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=5),
    st.fixed_dictionaries(
        {name: st.sampled_from(EFFECTS) for name in ("on_throughput", "on_times", "on_comparison")}
    ),
)
def test_each_fits_on_a_line_with_its_effect(
    rule: tuple[str, str],
    evidence: str,
    names: list[tuple[str | None, str | None]],
    effects: dict[str, Effect],
) -> None:
    code, title = rule
    found = [finding(title, evidence, each, code=code, **effects) for each in names]
    [line] = warnings(found)
    assert len(f"! {line}") <= COLUMNS
    if changes_answer(found[0]):
        assert warnings([finding("t", "t", (None, None), **effects)])[0].removeprefix("H12 t") in line


@pytest.mark.parametrize(
    ("evidence", "name", "effect", "said"),
    [
        ("31 of 29,725 failed", "go", "none", "31 of 29,725 failed: the figures stand (go)"),
        ("31 of 29,725 requests failed: reset 31", "x" * 20, "none", "{evidence} ({name})"),
        ("a log line for each request", "go", "at least", "{evidence}: rates are lower bounds (go)"),
        ("a log line is written for each request", "x" * 20, "at least", "{short}: {lower} ({name})"),
        ("e" * 49, "x" * NAME_LENGTH, "at least", "{short}: {lower}"),
    ],
)
def test_what_does_not_fit_gives_way_in_its_order(
    evidence: str, name: str, effect: Effect, said: str
) -> None:
    title = "a handicapped server (so it is)"
    [line] = warnings([finding(title, evidence, (name, None), on_throughput=effect)])
    short = title if len(title + name) < 35 else "a handicapped server"
    wanted = said.format(evidence=evidence, name=name, short=short, lower="rates are lower bounds")
    assert line == f"H12 {wanted}"


def test_both_bounds_are_said_shortly() -> None:
    one = finding("busy", "busy", ("a", None), on_throughput="at least", on_times="at most")
    assert warnings([one]) == ("H12 busy: rates are lower, times upper bounds (a)",)
