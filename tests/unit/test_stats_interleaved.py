"""Blocks: pairs of neighbouring slices, spreads, batches, and how much more would tell."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats import interleaved
from assay.stats.pairing import ALPHA, course, half_width, pair, settled
from assay.stats.scatter import ASSUMED, widening
from assay.stats.sequential import most_deviation
from assay.stats.sides import Side

rates = st.dictionaries(st.integers(0, 30), st.floats(1, 1e6), min_size=1, max_size=20)


@given(rates, rates)
def test_the_ratio_turned_round_is_the_same_distance_away(a: dict[int, float], b: dict[int, float]) -> None:
    there, back = interleaved.ratio_by_round(a, b), interleaved.ratio_by_round(b, a)
    assert there == pytest.approx([-one for one in back])
    assert len(there) == len(a.keys() & b.keys())


@given(rates, st.floats(0.01, 100), st.dictionaries(st.integers(0, 30), st.floats(0.1, 10)))
def test_what_meets_both_slices_of_a_round_cancels(
    a: dict[int, float], ratio: float, machine: dict[int, float]
) -> None:
    one = {round_number: rate * machine.get(round_number, 1.0) for round_number, rate in a.items()}
    other = {round_number: rate / ratio for round_number, rate in one.items()}
    assert interleaved.ratio_by_round(one, other) == pytest.approx([math.log(ratio)] * len(a))


@pytest.mark.parametrize(("left", "costs"), [(200.0, 0.02), (0.0, 0.025)])
def test_a_pause_costs_what_it_took_of_the_answers_even_where_it_took_a_whole_slice(
    left: float, costs: float
) -> None:
    even = dict.fromkeys(range(40), 1000.0)
    paused = {
        **even,
        7: left,
    }  # of a slice of 250 ms the 200 ms in which a collector stops the program, or all
    said = interleaved.ratio_by_round(paused, even)
    assert len(said) == 40
    assert statistics.fmean(said) == pytest.approx(math.log(1 - costs))
    assert statistics.fmean(interleaved.ratio_by_round(even, paused)) == pytest.approx(-math.log(1 - costs))


@given(rates, rates)
def test_a_block_says_the_ratio_of_totals(a: dict[int, float], b: dict[int, float]) -> None:
    common = a.keys() & b.keys()
    said = interleaved.ratio_by_round(a, b)
    if common:
        totals = math.fsum(a[round_number] for round_number in common) / math.fsum(
            b[round_number] for round_number in common
        )
        assert statistics.fmean(said) == pytest.approx(math.log(totals), abs=1e-9)


@given(rates)
def test_a_server_that_answered_nothing_has_no_ratio(a: dict[int, float]) -> None:
    silent = dict.fromkeys(a, 0.0)
    assert interleaved.ratio_by_round(a, silent) == interleaved.ratio_by_round(silent, a) == []


def test_the_spread_of_the_rounds_is_that_of_the_ratio_of_totals() -> None:
    draw, errors, seen = random.Random(6), [], []
    for _ in range(400):
        a = {round_number: 1000 * math.exp(draw.gauss(0, 0.2)) for round_number in range(30)}
        b = dict.fromkeys(a, 1000.0)
        stops = {round_number: 0.0 for round_number in a if draw.random() < 0.05}
        said = interleaved.ratio_by_round({**a, **stops}, b)
        seen.append(statistics.fmean(said))
        errors.append(statistics.stdev(said) / math.sqrt(len(said)))
    assert statistics.stdev(seen) == pytest.approx(statistics.fmean(errors), rel=0.12)


def _blocks(
    draw: random.Random, number: int, rounds: int, within: float, between: float, ratio: float = 1.0
) -> tuple[Side, Side]:
    """Two servers under a machine that wanders by 10 % from round to round, both alike."""
    a: dict[int, dict[int, float]] = {}
    b: dict[int, dict[int, float]] = {}
    for block in range(number):
        own = draw.gauss(math.log(ratio), between)
        for round_number in range(rounds):
            machine = 1000 * math.exp(draw.gauss(0, 0.1))
            a.setdefault(block, {})[round_number] = machine * math.exp(own + draw.gauss(0, within))
            b.setdefault(block, {})[round_number] = machine

    def side(rounds_by_block: dict[int, dict[int, float]]) -> Side:
        whole = {block: statistics.fmean(made.values()) for block, made in rounds_by_block.items()}
        return Side(whole, rounds=rounds_by_block)

    return side(a), side(b)


def test_the_interval_comes_from_the_blocks_not_from_their_slices() -> None:
    draw, held, n = random.Random(1), 0, 300
    for _ in range(n):
        made = pair(*_blocks(draw, 6, 20, 0.02, 0.02, 1.05))
        assert made is not None and made.ratio.low is not None and made.ratio.high is not None
        assert made.ratio.n == 6
        held += made.ratio.low <= 1.05 <= made.ratio.high
    assert held / n > 0.92  # 95 % less three standard errors; slices as samples would hold it in half


def test_interleaved_blocks_are_paired_by_slices_and_say_so() -> None:
    a, b = _blocks(random.Random(2), 5, 30, 0.01, 0.0)
    made = pair(a, b)
    assert made is not None
    assert "slices" in made.ratio.method
    apart = pair(Side(a.values), Side({block: b.values[(block + 1) % 5] for block in b.values}))
    assert apart is not None
    assert statistics.stdev(made.logs) < statistics.stdev(apart.logs) / 2


def test_the_course_ends_where_the_pair_is_and_narrows() -> None:
    a, b = _blocks(random.Random(3), 8, 20, 0.01, 0.01)
    went = course(a, b)
    made = pair(a, b)
    assert made is not None and went[-1] == made.ratio
    assert [one.n for one in went] == list(range(1, 9))
    widths = [one.high - one.low for one in went if one.high is not None and one.low is not None]
    assert widths[-1] < widths[0]


def test_both_parts_of_the_spread_are_found() -> None:
    draw = random.Random(4)
    a, b = _blocks(draw, 200, 25, 0.04, 0.01)
    rows = [interleaved.ratio_by_round(a.rounds[block], b.rounds[block]) for block in a.rounds]
    found = interleaved.spread(rows)
    assert found is not None
    assert found.within == pytest.approx(0.04, rel=0.15)
    assert found.between == pytest.approx(0.01, rel=0.35)
    assert found.deviation(25) == pytest.approx(statistics.stdev(map(statistics.fmean, rows)), rel=0.1)


def test_one_block_has_no_spread_between() -> None:
    assert interleaved.spread([[0.1] * 10]) is None
    assert interleaved.spread([[0.1] * 10, [0.2] * 3]) is None


@settings(max_examples=50)
@given(st.floats(0.002, 0.1), st.floats(0, 0.05), st.floats(0.002, 0.05))
def test_what_is_needed_is_the_least_that_is_enough(within: float, between: float, wanted: float) -> None:
    seen = interleaved.Spread(within, between, 20, 6)
    more = interleaved.more_needed(seen, wanted, half_width)
    deviation = widening(ASSUMED) * most_deviation(seen.deviation(20), 6)
    assert more is not None and (half_width(more) or 9e9) * deviation <= wanted
    assert more == 2 or (half_width(more - 1) or 9e9) * deviation > wanted


def test_so_many_blocks_narrow_the_interval_in_four_cases_of_five() -> None:
    draw, runs, narrow = random.Random(7), 400, 0
    for _ in range(runs):
        found = interleaved.Spread(0.0, statistics.stdev(draw.gauss(0, 0.03) for _ in range(6)), 20, 6)
        blocks = interleaved.more_needed(found, 0.01, half_width)
        assert blocks is not None
        again = statistics.stdev(draw.gauss(0, 0.03) for _ in range(blocks))
        narrow += (half_width(blocks) or 9e9) * again <= 0.01
    assert narrow / runs >= 0.8 - 2 * math.sqrt(0.16 / runs)


def _autocorrelated(draw: random.Random, n: int, r: float) -> list[float]:
    values, at = [], 0.0
    for _ in range(n):
        at = r * at + draw.gauss(0, 0.02)
        values.append(0.05 + at)
    return values


def test_batches_of_a_standing_block_hold_the_truth_where_rounds_depend_on_each_other() -> None:
    draw, held, naive, n = random.Random(5), 0, 0, 300
    for _ in range(n):
        logs = _autocorrelated(draw, 400, 0.6)
        standing = [Side({0: 1.0}, rounds={0: _rates(logs)}, external=True), _even(len(logs))]
        made = pair(*standing)
        assert made is not None and made.ratio.low is not None and made.ratio.high is not None
        held += made.ratio.low <= math.exp(0.05) <= made.ratio.high
        centre, half = statistics.fmean(logs), 1.97 * statistics.stdev(logs) / 20
        naive += centre - half <= 0.05 <= centre + half
    assert held / n > 0.90
    assert naive / n < 0.80  # rounds as samples: what the batches are there for


def _rates(logs: Sequence[float]) -> dict[int, float]:
    return {round_number: math.exp(log) for round_number, log in enumerate(logs)}


def _even(rounds: int) -> Side:
    return Side({0: 1.0}, rounds={0: dict.fromkeys(range(rounds), 1.0)}, external=True)


def test_batches_use_all_rounds_but_a_few_and_tell_their_correlation() -> None:
    found = interleaved.batched([float(n % 7) for n in range(100)])
    assert found is not None
    assert len(found.means) <= interleaved.MOST_BATCHES
    assert interleaved.batched([1.0] * 7) is None
    climbing = interleaved.batched([float(n) for n in range(100)])
    assert climbing is not None and not climbing.independent
    assert len(climbing.means) == interleaved.FEWEST_BATCHES


def test_batches_that_still_depend_on_each_other_are_known_less_well() -> None:
    a, b = Side({0: 1.0}, rounds={0: _rates([0.001 * n for n in range(100)])}, external=True), _even(100)
    found = interleaved.batched(interleaved.ratio_by_round(a.rounds[0], b.rounds[0]))
    made = pair(a, b)
    assert found is not None and made is not None and made.batches and made.ratio.high is not None
    factor, r = half_width(len(found.means)), found.correlation
    assert factor is not None and r > 0.5
    half = factor * statistics.stdev(found.means) * math.sqrt((1 + r) / (1 - r))
    assert math.log(made.ratio.high / made.ratio.value) == pytest.approx(half)


def test_independent_batches_cut_anew_at_each_look_keep_the_error() -> None:
    draw, runs, wrong = random.Random(6), 200, 0
    for _ in range(runs):
        logs = [draw.gauss(0, 0.02) for _ in range(30 * 12)]
        for blocks in range(1, 31):
            seen = logs[: 12 * blocks]
            side = Side({0: 1.0}, rounds={0: _rates(seen)}, external=True)
            looks = [block / 30 for block in range(1, blocks + 1)]
            made = pair(side, _even(len(seen)), manner="looked at", alpha=0.03, looks=looks)
            if settled(made, 0.0, 0.0) == "different":
                wrong += 1
                break
    assert wrong / runs <= 0.03 + 2 * math.sqrt(0.03 * 0.97 / runs)


def test_the_reach_is_that_of_the_interval() -> None:
    logs = [0.01, 0.03, -0.01, 0.02, 0.015]
    values = {block: math.exp(log) for block, log in enumerate(logs)}
    made = pair(Side(values), Side(dict.fromkeys(values, 1.0)))
    assert made is not None and made.ratio.high is not None
    factor = half_width(5, ALPHA)
    assert factor is not None
    assert math.log(made.ratio.high / made.ratio.value) == pytest.approx(
        math.sqrt(2) * factor * statistics.stdev(logs)
    )
