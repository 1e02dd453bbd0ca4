"""Where a statistic begins or ceases to speak: exactly at its limit, one before it and one behind."""

from __future__ import annotations

import numpy as np
import pytest
from judged import windowed
from msgspec.structs import replace
from test_study_size import RESTLESS, study

from assay.model.measurement import Window
from assay.stats.ageing import FEWEST_TRIALS, ageing
from assay.stats.quantiles import constant_fit
from assay.stats.sequential import LEAST_BLOCKS
from assay.stats.steady import FEWEST_TO_WIDEN, WIDEST_NS, steady_state
from assay.verdict.see_runs import added

HALF_NS = WIDEST_NS // 2


def wandering(count: int, length_ns: int) -> list[Window]:
    """Windows whose noise correlates strongly from one to the next."""
    rng = np.random.default_rng(5)
    noise = np.zeros(count)
    for place in range(1, count):
        noise[place] = 0.9 * noise[place - 1] + rng.normal(0, 0.01)
    counts = [round(5_000 * (1 + x)) for x in noise]
    return [
        replace(one, start_ns=place * length_ns, length_ns=length_ns)
        for place, one in enumerate(windowed(counts))
    ]


@pytest.mark.parametrize(
    ("count", "length_ns", "judged_at"),
    [
        (2 * FEWEST_TO_WIDEN, HALF_NS, 2 * HALF_NS),
        (2 * FEWEST_TO_WIDEN - 1, HALF_NS, HALF_NS),
        (2 * FEWEST_TO_WIDEN, HALF_NS + 1, HALF_NS + 1),
    ],
)
def test_windows_are_widened_up_to_a_second_and_while_twenty_are_left(
    count: int, length_ns: int, judged_at: int
) -> None:
    assert steady_state(wandering(count, length_ns)).window_ns == judged_at


@pytest.mark.parametrize(("off", "index"), [(0, 0.0), (1, 0.0), (3, 0.4), (5, 1.6)])
def test_rounding_to_whole_requests_is_no_scatter_of_constant_arrivals(off: int, index: float) -> None:
    fit = constant_fit([10 + off, 10 - off] * 10, [10.0] * 20)
    assert fit is not None
    assert fit.statistic == pytest.approx(index)
    assert fit.fits == (index < 1)


def test_a_course_takes_three_trials_that_all_have_windows_of_one_length() -> None:
    rng = np.random.default_rng(2)
    made = [windowed([round(x) for x in rng.normal(5_000, 50, 100)]) for _ in range(FEWEST_TRIALS)]
    assert ageing(made) is not None
    assert ageing(made[1:]) is None
    assert ageing([*made, ()]) is None
    longer = tuple(replace(one, length_ns=2 * one.length_ns) for one in made[0])
    assert ageing([*made[1:], longer]) is None
    assert ageing([*made, longer]) is None


def test_three_blocks_in_common_tell_how_many_more_there_must_be() -> None:
    assert added(study(RESTLESS[:LEAST_BLOCKS], first=LEAST_BLOCKS)) is not None
    few = LEAST_BLOCKS - 1
    assert added(study(RESTLESS[:few], first=few)) is None
