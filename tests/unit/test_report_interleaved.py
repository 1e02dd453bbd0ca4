"""An interleaved run in its forms: how its slices went round is told, an interleaved block and each ratio's
course are drawn."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence

import pytest
from made_runs import LENGTHS, ROUNDS, case, interleaved, interleaved_pair
from msgspec.structs import replace
from rich.console import Console

from assay.core.units import times
from assay.model.block import UNLIKE_NS, Interleaving
from assay.model.run import Run
from assay.report import markdown, pages, terminal
from assay.report.charts import charts
from assay.report.document import Chart
from assay.report.model.circumstances import circumstances, sentences, title
from assay.report.model.run_document import document
from assay.verdict import judge
from assay.verdict.answer import answer


def named(made: Run, name: str) -> Chart:
    return next(chart for chart in charts(made) if chart.name == name)


@pytest.mark.parametrize("kind", ["study", "comparison"])
def test_the_end_screen_of_a_interleaved_run(kind: str, golden: Callable[[str, str], None]) -> None:
    console = Console(file=io.StringIO(), width=80, color_system=None, markup=False, highlight=False)
    with console.capture() as shown:
        console.print(terminal.in_full(document(interleaved_pair(kind))))
    text = "\n".join(line.rstrip() for line in shown.get().splitlines()) + "\n"
    assert max(map(len, text.splitlines())) <= 80
    golden(f"interleaved-{kind}.txt", text)


def test_the_markdown_says_how_it_was_interleaved() -> None:
    text = " ".join(markdown.render(document(interleaved_pair("study"))).split())
    assert (
        "Interleaved: 6 blocks of 2 servers at once, loaded in slices of 100 ms (the ratios agree with"
        in text
    )
    assert "a fresh process for each block" in text


def test_what_settled_the_lengths_is_told_with_the_names_of_servers() -> None:
    why = "25 service times of go; a pilot told another ratio of go and node, go+node's unlike them"
    made = interleaved_pair("study")
    last = replace(made.blocks[-1], lengths=replace(LENGTHS, why=why))
    [slices, _] = sentences(replace(made, blocks=(*made.blocks[:-1], last)))
    assert (
        "(25 service times of Go; a pilot told another ratio of Go and Node, go+node's unlike them)" in slices
    )


def test_that_ratios_of_unlike_programs_leave_out_what_a_switch_costs_is_told() -> None:
    made = interleaved_pair("study")
    assert "first fifth" not in next(sentences(made))
    design = replace(made.header.design, interleave=Interleaving(least_slice_ns=UNLIKE_NS))
    unlike = replace(made, header=replace(made.header, design=design))
    [slices, _] = sentences(unlike)
    assert slices.endswith("; ratios leave out the first fifth of each slice, which pays for the switch.")


def with_load(made: Run, load: str, slice_ns: int) -> Run:
    """The run with blocks of another load, as those of its first, in slices of another length."""
    first = [one for one in made.header.cases if one.load == made.header.cases[0].load]
    others = tuple(replace(one, id=f"{one.id}@{load}", load=load) for one in first)
    both = replace(made, header=replace(made.header, cases=(*made.header.cases, *others)))
    for one in made.blocks[:6]:
        trials = tuple(replace(trial, case=f"{trial.case}@{load}") for trial in one.trials)
        lengths = replace(LENGTHS, slice_ns=slice_ns)
        both = both.after(replace(one, number=len(both.blocks), lengths=lengths, trials=trials))
    return replace(both, judgement=judge(both, 0))


def test_loads_of_unlike_lengths_are_told_apart() -> None:
    first, second, *_ = sentences(with_load(interleaved_pair("study"), "c500", 500_000_000))
    assert first.startswith("Interleaved, l: 6 blocks of 2 servers at once, loaded in slices of 100 ms (")
    assert second.startswith("Interleaved, c500: 6 blocks of 2 servers at once, loaded in slices of 500 ms (")
    assert "earlier ones" not in first + second


def test_the_slices_of_many_loads_are_told_in_a_sentence_and_each_where_all_is_told() -> None:
    made = with_load(with_load(interleaved_pair("study"), "c500", 500_000_000), "c800", 250_000_000)
    first, _ = sentences(made)
    assert first.startswith(
        "Interleaved: 6 blocks of each of 3 loads, its servers at once, loaded in slices of "
    )
    assert " of 100 ms to 500 ms, 5 ms of washout before each" in first
    slices = [how for what, how in circumstances(made) if what == "slices"]
    assert [one.partition(":")[0] for one in slices] == [
        "Interleaved, l",
        "Interleaved, c500",
        "Interleaved, c800",
    ]


def test_what_would_narrow_the_ratio_is_told_until_it_is_narrow() -> None:
    [_, few] = sentences(interleaved_pair("study", blocks=5))
    assert few.startswith("Widest interval: Go / Node, ± 1.1 %. It deviates by ")
    assert re.search(r"\. For ± 1\.0 %: about \d+ more blocks\.$", few)
    [_, many] = sentences(interleaved_pair("study", blocks=100))
    assert "Go / Node, ± " in many and "more block" not in many
    # What would settle a comparison its answer says: two forecasts of one run would contradict each other.
    [_, compared] = sentences(interleaved_pair("comparison", blocks=5))
    assert "Go / Node, ± " in compared and "more block" not in compared
    alone = interleaved_pair("comparison", blocks=1)
    assert len(list(sentences(alone))) == 1


@pytest.mark.parametrize(
    ("sizes", "servers", "cases"),
    [
        ((3, 3), "3 servers", "3 cases"),
        ((3, 2), "2 to 3 servers", "2 to 3 cases"),
        ((2, 3, 1), "1 to 3 servers", "1 to 3 cases"),
    ],
)
def test_blocks_that_servers_have_left_are_not_told_as_the_last_one_is(
    sizes: Sequence[int], servers: str, cases: str
) -> None:
    names = ("a", "b", "c")
    pair = interleaved_pair("comparison")
    header = replace(pair.header, cases=tuple(case(name) for name in names))
    made = replace(pair, header=header, trials=(), blocks=(), judgement=None)
    for number, size in enumerate(sizes):
        rates = {name: [1000.0] * 10 for name in names[:size]}
        made = made.after(interleaved(rates, number, number, lengths=LENGTHS))
    assert next(sentences(made)).startswith(f"Interleaved: {len(sizes)} blocks of {servers} at once, ")
    assert f"versus, {len(sizes)} blocks of {cases}, seed " in title(made)


def cold(made: Run, name: str, left: float) -> Run:
    """The run with only so much of what the first fifths of a server's slices should have had."""
    again = replace(made, trials=(), blocks=(), judgement=None)
    for block in made.blocks:
        trials = []
        for trial in block.trials:
            assert trial.arm is not None
            early = [round(left * one.early_completed) for one in trial.arm.slices]
            slices = tuple(
                replace(one, completed=one.completed - one.early_completed + at, early_completed=at)
                for one, at in zip(trial.arm.slices, early, strict=True)
            )
            arm = replace(trial.arm, slices=slices if trial.case == name else trial.arm.slices)
            trials.append(replace(trial, arm=arm))
        again = again.after(replace(block, trials=tuple(trials)))
    return replace(again, judgement=judge(again, 0))


@pytest.mark.parametrize("name", ["go", "node"])
def test_what_is_drawn_is_what_is_said_where_first_fifths_are_left_out(name: str) -> None:
    made = cold(interleaved_pair("comparison", apart=1.2), name, 0.8)
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


def test_a_block_is_drawn_slice_by_slice_on_one_axis_of_time() -> None:
    made = interleaved_pair("study")
    chart = named(made, "block")
    assert [row[:2] for row in chart.rows] == [("Go", "30"), ("Node", "30")]
    drawn = "".join(chart.draw(900).parts)
    assert drawn.count("H") >= 60 and 'class="curve s0"' in drawn and 'class="curve s1"' in drawn
    assert "100 ms" in chart.note


def warmed_for(made: Run, rounds: int) -> Run:
    """The run with so many rounds of warm-up, at a tenth of the rates, before its last block measured."""
    last = made.blocks[-1]
    late_ns = rounds * 2 * 105_000_000
    trials = []
    for place, trial in enumerate(last.trials):
        assert trial.arm is not None
        slices = trial.arm.slices
        warm = tuple(
            replace(
                slices[0], phase="warmup", start_ns=(2 * round_number + place) * 105_000_000, completed=100
            )
            for round_number in range(rounds)
        )
        slices = warm + tuple(replace(one, start_ns=one.start_ns + late_ns) for one in slices)
        trials.append(replace(trial, arm=replace(trial.arm, slices=slices)))
    return replace(made, blocks=(*made.blocks[:-1], replace(last, trials=tuple(trials))))


def test_a_warm_up_longer_than_what_was_measured_does_not_fill_the_chart_of_slices() -> None:
    chart = named(warmed_for(interleaved_pair("study"), 100), "block")
    assert "Faint: the last of its warm-up; the 20 s before that are left out." in chart.note
    [measured] = re.findall(r'd="(M[^"]*)" class="curve s0"', "".join(chart.draw(900).parts))
    drawn = [float(x) for x in re.findall(r"H([\d.]+)", measured)]
    assert len(drawn) == ROUNDS and max(drawn) - min(drawn) > 600  # of 900 pixels
    assert "seconds since measuring began" in "".join(chart.draw(900).parts)


def test_a_short_warm_up_is_drawn_whole_and_a_block_without_measured_slices_too() -> None:
    short = named(warmed_for(interleaved_pair("study"), 2), "block")
    assert "Faint: its warm-up." in short.note
    made = warmed_for(interleaved_pair("study"), 100)
    last = made.blocks[-1]
    cold = []
    for trial in last.trials:
        assert trial.arm is not None
        warm = tuple(one for one in trial.arm.slices if one.phase == "warmup")
        cold.append(replace(trial, arm=replace(trial.arm, slices=warm)))
    alone = replace(made, blocks=(replace(last, trials=tuple(cold)),))
    chart = named(alone, "block")
    assert "seconds since the block began" in "".join(chart.draw(900).parts)
    assert [row[1] for row in chart.rows] == ["0", "0"]


@pytest.mark.parametrize("kind", ["study", "comparison"])
def test_the_course_of_a_ratio_narrows_block_by_block(kind: str) -> None:
    chart = named(interleaved_pair(kind), "course")
    assert [row[0] for row in chart.rows] == [str(at) for at in range(1, 7)]
    assert chart.heads[0] == "blocks"
    widths = [float(row[3]) - float(row[2]) for row in chart.rows if row[2] != "–"]
    assert widths[-1] < widths[0]


def test_the_page_has_both_and_stays_small() -> None:
    page = pages.of_run(interleaved_pair("study"))
    assert 'id="block"' in page and 'id="course"' in page and "<script" not in page
    assert len(page) < 300_000


def test_trials_one_after_the_other_have_no_slices_to_tell() -> None:
    from sample_run import run as sample

    made = sample()
    assert not list(sentences(made)) and not any(chart.name == "block" for chart in charts(made))
