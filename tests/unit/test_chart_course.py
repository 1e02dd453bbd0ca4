"""The course of a comparison as drawn: its ratio after each block, and the interval that narrows."""

from __future__ import annotations

import re

from made_runs import case, measurement, run, trial
from msgspec.structs import replace

from assay.model.design import ComparisonDesign
from assay.model.run import Run
from assay.report.charts import charts
from assay.report.picture import to_svg


def comparison(blocks: int) -> Run:
    """Two candidates of which the first serves about a tenth more."""
    cases = [case("a", label="A"), case("b", label="B")]
    trials = [
        trial(one.id, block, measurement(rate * (1 + 0.01 * ((block * 7) % 5 - 2))))
        for block in range(blocks)
        for one, rate in zip(cases, (11_000, 10_000), strict=True)
    ]
    made = run(cases, trials)
    design = ComparisonDesign(budget_ns=10**11, margin=0.02)
    return replace(made, header=replace(made.header, design=design))


def test_the_ratio_is_drawn_after_each_block_with_its_interval() -> None:
    chart = next(one for one in charts(comparison(8)) if one.name == "course")
    assert [row[0] for row in chart.rows] == [str(at) for at in range(1, 9)]
    assert {row[1] for row in chart.rows} == {"1.10"}
    picture = to_svg(chart, "")
    assert len(re.findall(r'class="band', picture)) == 1
    assert ">equal<" in picture and ">A / B<" in picture


def test_the_first_interval_is_a_line_while_it_is_alone() -> None:
    chart = next(one for one in charts(comparison(3)) if one.name == "course")
    picture = to_svg(chart, "")
    assert 'class="band' not in picture and len(re.findall(r'<line [^>]*class="thin', picture)) == 1


def test_one_block_has_no_course() -> None:
    assert not any(one.name.startswith("course") for one in charts(comparison(1)))
