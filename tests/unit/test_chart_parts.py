"""What charts are drawn with: scales whose ticks are round and within, words that fit, marks that differ."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
import sample_run
from hypothesis import given
from hypothesis import strategies as st
from made_runs import case, measurement, run, trial

from assay.core.errors import EnvironmentLacks
from assay.model.measurement import Window
from assay.report import picture as pictures
from assay.report import svg
from assay.report.charts import charts
from assay.report.charts.drawings import Axis, Strip, draw
from assay.report.picture import to_png, to_svg
from assay.report.svg import FAR, linear, logarithmic, near, proportional

POSITIVE = st.floats(1e-6, 1e12)


@given(st.lists(POSITIVE, min_size=1, max_size=5), st.integers(2, 12), st.booleans())
def test_ticks_lie_within_the_scale_in_order_and_are_few(values: list[float], most: int, log: bool) -> None:
    scale = (logarithmic if log else linear)(values, 0, 500)
    ticks = scale.ticks(most)
    assert ticks == sorted(set(ticks)) and len(ticks) <= most + 1
    assert all(scale.low * 0.999999 <= tick <= scale.high * 1.000001 for tick in ticks)
    assert all(0 <= scale(value) <= 500 for value in values)
    ordered = sorted(values)
    assert [scale(value) for value in ordered] == sorted(scale(value) for value in ordered)


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=5))
def test_an_axis_begins_at_zero_unless_its_values_are_far_apart_and_then_says_so(values: list[float]) -> None:
    scale = proportional(values, 0, 500)
    far = max(values) > FAR * min(values)
    assert scale.log == far and (far or scale.low == 0)
    assert scale.named("time") == ("time (logarithmic)" if far else "time")
    around = near([*values, 1.0], 0, 500)
    assert around.log == (max(*values, 1.0) > FAR) and around.low < 1.0 < around.high


def test_a_label_is_wrapped_and_never_cut_at_its_number() -> None:
    label = (
        "the generator was saturated by 97 other programs on its cores: at least 121,000/s, at most 174,000/s"
    )
    for width in (358.0, 530.0, 900.0):
        drawn = draw([Strip("a", 0, label, value=1.0)], Axis(linear, "{:g}".format, "ratio"), width)
        picture = ET.fromstring(f"<svg>{''.join(drawn.parts)}</svg>")
        words = " ".join("".join(one.itertext()) for one in picture.iter("text"))
        assert "…" not in words and "at least 121,000/s, at most 174,000/s" in words


@pytest.mark.parametrize("trials", [1, 3])
def test_a_note_explains_no_mark_that_is_not_there(trials: int) -> None:
    made = charts(run([case("a")], [trial("a", block) for block in range(trials)]))
    notes = " ".join(chart.note.lower() for chart in made)
    assert ("small dots" in notes) == ("mark: their mean" in notes) == (trials > 1)
    for absent in ("hatched", "shaded", "triangle", "dashed"):
        assert absent not in notes


@given(st.text(max_size=300), st.floats(20, 500))
def test_what_is_cut_fits_and_keeps_both_ends(text: str, width: float) -> None:
    short = svg.cut(text, width)
    assert svg.width_of(short) <= width + 1e-6
    head, _, tail = short.partition("…")
    assert short == text or "…" in text or (text.startswith(head) and text.endswith(tail))


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_makes_well_formed_elements(words: str, name: str) -> None:
    for element in (svg.text(0, 0, words, "small", whole=name), svg.mark(1, 2, 3, "fill", tip=words)):
        ET.fromstring(element)


@pytest.mark.parametrize(
    ("words", "short"),
    [("50.0 ms", "50 ms"), ("50,000/s", "50,000/s"), ("0/s", "0"), ("0.050", "0.05"),
     ("1.00", "1"), ("200/s", "200/s"), ("1.25 ms", "1.25 ms"), ("100", "100"), ("p99.9", "p99.9")],
)  # fmt: skip
def test_a_tick_says_no_zeros_that_mean_nothing(words: str, short: str) -> None:
    assert svg.short(words) == short


def test_the_second_round_of_colours_has_other_marks() -> None:
    looks = {(pictures.colour(place), pictures.shape(place) % svg.SHAPES) for place in range(16)}
    assert len(looks) == 16


def test_a_machine_without_fonts_is_told_and_no_picture_without_words_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pictures, "_has_fonts", lambda: False)
    chart = charts(run([case("a")], [trial("a", 0)]))[0]
    with pytest.raises(EnvironmentLacks, match="no font"):
        to_png(chart, "")


def test_a_server_that_was_loaded_in_slices_has_a_course_too() -> None:
    slices = tuple(
        Window(
            start_ns=place * 300_000_000,
            length_ns=100_000_000,
            phase="measured",
            started=100,
            completed=100,
            failed=0,
            bytes_read=0,
        )
        for place in range(400)
    )
    chart = next(
        one
        for one in charts(run([case("a")], [trial("a", 0, measurement(windows=slices))]))
        if one.name == "over-time"
    )
    assert {row[2] for row in chart.rows} == {"1,000/s"} and len(chart.rows) > 20
    assert "curve" in to_svg(chart, "")


def test_a_server_that_is_compared_with_none_is_not_drawn_as_the_best() -> None:
    cases = [case("a"), case("b"), case("c", load="alone")]
    drawn = charts(run(cases, [trial(one.id, block) for one in cases for block in range(3)]))
    assert not any("best" in cell for one in drawn for row in one.rows for cell in row)
    assert {row[0] for one in drawn if one.name == "throughput-alone" for row in one.rows} == {"c"}


def test_the_answer_s_axis_counts_how_many_times_as_fast_the_best_is() -> None:
    first = charts(sample_run.run())[0]
    drawn = "".join(first.draw(760).parts)
    assert "the best's throughput over its own: left is faster" in drawn
    behind = next(row for row in first.rows if row[0] == "quotes/ruby-sinatra")
    assert behind[1].startswith("the best is 20.")
    ticks = re.findall(r'class="t soft small">([\d.]+)</text>', drawn)
    assert ticks and all(float(tick) >= 1 for tick in ticks)
