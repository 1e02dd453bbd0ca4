"""A woven run in its forms: how its turns went round is told, a sitting and each ratio's course are drawn."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from made_runs import WOBBLE, case, plan, run, woven
from msgspec.structs import replace
from rich.console import Console

from assay.core.units import times
from assay.model.block import UNLIKE_NS, Lengths, Weave
from assay.model.design import ContestDesign, WarmUp
from assay.model.run import Run
from assay.report import html, markdown, terminal
from assay.report.charts import Chart, charts
from assay.report.model.circumstances import circumstances
from assay.report.model.woven import told
from assay.verdict import judge
from assay.verdict.answer import answer

CYCLES = 30
LENGTHS = Lengths(
    slice_ns=100_000_000, settle_ns=5_000_000, why="the ratios agree with those in turns of 500 ms"
)


def sat(kind: str, sittings: int = 6, apart: float = 1.03) -> Run:
    """Two servers, one a little faster, on a machine whose mood both share; judged."""
    names = {"go": 10_000.0 * apart, "node": 10_000.0}
    made = run([case(name, label=name.title()) for name in names], (), sittings if kind == "study" else 0)
    if kind == "contest":
        design = ContestDesign(
            title="Go against Node",
            budget_ns=10**11,
            sought=0.02,
            seed=7,
            plans=dict.fromkeys(names, plan()),
            warm_ups=dict.fromkeys(names, WarmUp(min_ns=0, max_ns=0)),
        )
        made = replace(made, header=replace(made.header, study_name="versus", design=design))
    for number in range(sittings):
        mood = [1 + 12 * WOBBLE[(cycle // 4 + number) % 10] for cycle in range(CYCLES)]
        rates = {
            name: [
                per_s * mood[cycle] * (1 + WOBBLE[(cycle * (3 * place + 1) + number) % 10] * 1.5)
                for cycle in range(CYCLES)
            ]
            for place, (name, per_s) in enumerate(names.items())
        }
        made = made.after(woven(rates, number, number, lengths=LENGTHS))
    return replace(made, judgement=judge(made, 0))


def named(made: Run, name: str) -> Chart:
    return next(chart for chart in charts(made) if chart.name == name)


@pytest.mark.parametrize("kind", ["study", "contest"])
def test_the_end_screen_of_a_woven_run(kind: str, golden: Callable[[str, str], None]) -> None:
    console = Console(file=io.StringIO(), width=80, color_system=None, markup=False, highlight=False)
    with console.capture() as shown:
        console.print(terminal.summary(sat(kind), ()))
    text = "\n".join(line.rstrip() for line in shown.get().splitlines()) + "\n"
    assert max(map(len, text.splitlines())) <= 80
    golden(f"woven-{kind}.txt", text)


def test_the_markdown_says_how_it_was_woven() -> None:
    text = " ".join(markdown.render(sat("study")).split())
    assert "Woven: 6 sittings of 2 servers at once, loaded in turns of 100 ms (the ratios agree with" in text
    assert "a fresh process for each sitting" in text


def test_what_settled_the_lengths_is_told_with_the_names_of_servers() -> None:
    why = "25 service times of go; a pilot told another ratio of go and node, go+node's unlike them"
    made = sat("study")
    last = replace(made.sittings[-1], lengths=replace(LENGTHS, why=why))
    [turns, _] = told(replace(made, sittings=(*made.sittings[:-1], last)))
    assert (
        "(25 service times of Go; a pilot told another ratio of Go and Node, go+node's unlike them)" in turns
    )


def test_that_ratios_of_unlike_programs_leave_out_what_a_switch_costs_is_told() -> None:
    made = sat("study")
    assert "first fifth" not in next(told(made))
    design = replace(made.header.design, weave=Weave(least_slice_ns=UNLIKE_NS))
    unlike = replace(made, header=replace(made.header, design=design))
    [turns, _] = told(unlike)
    assert turns.endswith("; ratios leave out the first fifth of each slice, which pays for the switch.")


def with_load(made: Run, load: str, slice_ns: int) -> Run:
    """The run with sittings of another load, as those of its first, in slices of another length."""
    first = [one for one in made.header.cases if one.load == made.header.cases[0].load]
    others = tuple(replace(one, id=f"{one.id}@{load}", load=load) for one in first)
    both = replace(made, header=replace(made.header, cases=(*made.header.cases, *others)))
    for one in made.sittings[:6]:
        trials = tuple(replace(trial, case=f"{trial.case}@{load}") for trial in one.trials)
        lengths = replace(LENGTHS, slice_ns=slice_ns)
        both = both.after(replace(one, number=len(both.sittings), lengths=lengths, trials=trials))
    return replace(both, judgement=judge(both, 0))


def test_loads_of_unlike_lengths_are_told_apart() -> None:
    first, second, *_ = told(with_load(sat("study"), "c500", 500_000_000))
    assert first.startswith("Woven, l: 6 sittings of 2 servers at once, loaded in turns of 100 ms (")
    assert second.startswith("Woven, c500: 6 sittings of 2 servers at once, loaded in turns of 500 ms (")
    assert "earlier ones" not in first + second


def test_the_turns_of_many_loads_are_told_in_a_sentence_and_each_where_all_is_told() -> None:
    made = with_load(with_load(sat("study"), "c500", 500_000_000), "c800", 250_000_000)
    first, _ = told(made)
    assert first.startswith("Woven: 6 sittings of each of 3 loads, its servers at once, loaded in turns of ")
    assert " of 100 ms to 500 ms, 5 ms to settle before each" in first
    turns = [how for what, how in circumstances(made) if what == "turns"]
    assert [one.partition(":")[0] for one in turns] == ["Woven, l", "Woven, c500", "Woven, c800"]


def test_what_would_narrow_the_ratio_is_told_until_it_is_narrow() -> None:
    [_, few] = told(sat("contest", sittings=5))
    assert few.startswith("The ratio that scatters most (Go / Node) deviates by ")
    assert " more sitting" in few and "would probably bring it to ± 2.0 %" in few
    [_, many] = told(sat("contest", sittings=12))
    assert "; it is known to ± " in many
    alone = sat("contest", sittings=1)
    assert len(list(told(alone))) == 1


def cold(made: Run, name: str, left: float) -> Run:
    """The run with only so much of what the first fifths of a server's slices should have had."""
    again = replace(made, trials=(), sittings=(), judgement=None)
    for sitting in made.sittings:
        trials = []
        for trial in sitting.trials:
            assert trial.lane is not None
            early = [round(left * one.early_completed) for one in trial.lane.slices]
            slices = tuple(
                replace(one, completed=one.completed - one.early_completed + at, early_completed=at)
                for one, at in zip(trial.lane.slices, early, strict=True)
            )
            lane = replace(trial.lane, slices=slices if trial.case == name else trial.lane.slices)
            trials.append(replace(trial, lane=lane))
        again = again.after(replace(sitting, trials=tuple(trials)))
    return replace(again, judgement=judge(again, 0))


@pytest.mark.parametrize("name", ["go", "node"])
def test_what_is_drawn_is_what_is_said_where_first_fifths_are_left_out(name: str) -> None:
    made = cold(sat("contest", apart=1.2), name, 0.8)
    [pair] = answer(made).pairs
    assert pair.ratio is not None and pair.ratio.low is not None and pair.ratio.high is not None
    assert pair.ratio.method.endswith("without their first fifths")
    assert pair.ratio.low < 1.2 < pair.ratio.high
    further = pair.ratio.high / 1.2 > 1.2 / pair.ratio.low
    assert further is (name == "go")  # in favour of the one that was cold
    chart = named(made, "course")
    assert chart.rows[-1][1:] == tuple(
        times(one) for one in (pair.ratio.value, pair.ratio.low, pair.ratio.high)
    )


def test_a_sitting_is_drawn_slice_by_slice_on_one_axis_of_time() -> None:
    made = sat("study")
    chart = named(made, "sitting")
    assert [row[:2] for row in chart.rows] == [("Go", "30"), ("Node", "30")]
    drawn = "".join(chart.draw(900).parts)
    assert drawn.count("H") >= 60 and 'class="curve s0"' in drawn and 'class="curve s1"' in drawn
    assert "100 ms" in chart.note


def warmed_for(made: Run, cycles: int) -> Run:
    """The run with so many cycles of warm-up, at a tenth of the rates, before its last sitting measured."""
    last = made.sittings[-1]
    late_ns = cycles * 2 * 105_000_000
    trials = []
    for place, trial in enumerate(last.trials):
        assert trial.lane is not None
        slices = trial.lane.slices
        warm = tuple(
            replace(slices[0], phase="warmup", start_ns=(2 * cycle + place) * 105_000_000, completed=100)
            for cycle in range(cycles)
        )
        slices = warm + tuple(replace(one, start_ns=one.start_ns + late_ns) for one in slices)
        trials.append(replace(trial, lane=replace(trial.lane, slices=slices)))
    return replace(made, sittings=(*made.sittings[:-1], replace(last, trials=tuple(trials))))


def test_a_warm_up_longer_than_what_was_measured_does_not_fill_the_chart_of_turns() -> None:
    chart = named(warmed_for(sat("study"), 100), "sitting")
    assert "Faint: the last of its warm-up; the 20 s before that are left out." in chart.note
    [measured] = re.findall(r'd="(M[^"]*)" class="curve s0"', "".join(chart.draw(900).parts))
    drawn = [float(x) for x in re.findall(r"H([\d.]+)", measured)]
    assert len(drawn) == CYCLES and max(drawn) - min(drawn) > 600  # of 900 pixels
    assert "seconds since measuring began" in "".join(chart.draw(900).parts)


def test_a_short_warm_up_is_drawn_whole_and_a_sitting_without_measured_slices_too() -> None:
    short = named(warmed_for(sat("study"), 2), "sitting")
    assert "Faint: its warm-up." in short.note
    made = warmed_for(sat("study"), 100)
    last = made.sittings[-1]
    cold = []
    for trial in last.trials:
        assert trial.lane is not None
        warm = tuple(one for one in trial.lane.slices if one.phase == "warmup")
        cold.append(replace(trial, lane=replace(trial.lane, slices=warm)))
    alone = replace(made, sittings=(replace(last, trials=tuple(cold)),))
    chart = named(alone, "sitting")
    assert "seconds since the sitting began" in "".join(chart.draw(900).parts)
    assert [row[1] for row in chart.rows] == ["0", "0"]


@pytest.mark.parametrize("kind", ["study", "contest"])
def test_the_course_of_a_ratio_narrows_sitting_by_sitting(kind: str) -> None:
    chart = named(sat(kind), "course")
    assert [row[0] for row in chart.rows] == [str(at) for at in range(1, 7)]
    assert chart.heads[0] == "sittings"
    widths = [float(row[3]) - float(row[2]) for row in chart.rows if row[2] != "–"]
    assert widths[-1] < widths[0]


def test_the_page_has_both_and_stays_small() -> None:
    page = html.render(sat("study"))
    assert 'id="sitting"' in page and 'id="course"' in page and "<script" not in page
    assert len(page) < 300_000


def test_trials_one_after_the_other_have_no_turns_to_tell() -> None:
    from sample_run import run as sample

    made = sample()
    assert not list(told(made)) and not any(chart.name == "sitting" for chart in charts(made))
