"""docs/method/statistics.md, simulated at a size of seconds; `benches/simulate.py` is the full size."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from assay.stats.pairing import pair
from assay.stats.scatter import allowed_correlation, widening
from assay.stats.sequential import SPENT_ERROR
from assay.stats.sides import Side


def _bench(name: str) -> ModuleType:
    path = Path(__file__).parents[2] / "benches" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


simulations, decisions = _bench("simulations"), _bench("decisions")
RUNS = 600


def chance(share: float) -> float:
    """Two standard errors of a share counted in RUNS runs."""
    return 2 * math.sqrt(share * (1 - share) / RUNS)


@pytest.mark.parametrize("noise", simulations.NOISES.values(), ids=simulations.NOISES)
@pytest.mark.parametrize("blocks", [5, 10])
def test_ratios_cover_the_truth_whatever_the_noise(noise: object, blocks: int) -> None:
    setting = simulations.Setting((1.05, 1.0), blocks, noise=noise)
    assert simulations.ratio_coverage(setting, RUNS) >= 0.95 - chance(0.95)
    if blocks >= 6:
        assert simulations.ratio_coverage(setting, RUNS, median=True) >= 0.95 - chance(0.95)


@pytest.mark.parametrize("deviation", [0.02, 0.05, 0.07])
def test_ratios_of_a_study_that_grows_cover_the_truth(deviation: float) -> None:
    """What is lost by choosing how many blocks there are from what the first show is a percent or two."""
    assert simulations.growing_coverage(deviation, 6, 2, 0.05, RUNS) >= 0.93 - chance(0.93)


@pytest.mark.parametrize(
    ("n", "ranks"),
    # Conover, Practical Nonparametric Statistics: 95 % intervals of the median.
    [(5, None), (6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (10, (2, 9)), (20, (6, 15)), (50, (18, 33))],
)
def test_ranks_around_the_median_are_the_table_s(n: int, ranks: tuple[int, int] | None) -> None:
    assert simulations.median_ranks(n) == ranks


def test_the_median_holds_up_under_one_wild_trial() -> None:
    calm = {block: 100.0 + block for block in range(9)}
    even = Side(dict.fromkeys(range(10), 1.0))
    estimate = simulations.median_ratio(Side(calm | {9: 1e9}), even)
    assert estimate is not None and estimate.high is not None and estimate.high < 110


@pytest.mark.parametrize("noise", simulations.NOISES.values(), ids=simulations.NOISES)
def test_identical_servers_are_rarely_called_different(noise: object) -> None:
    assert simulations.differences_found(simulations.Setting((1.0, 1.0), noise=noise), RUNS) <= 0.05 + chance(
        0.05
    )


def test_no_pair_of_five_identical_servers_either() -> None:
    assert simulations.differences_found(simulations.Setting((1.0,) * 5), RUNS) <= 0.05 + chance(0.05)


def test_blocks_are_what_protects_from_drift() -> None:
    one_after_the_other = simulations.Setting((1.0, 1.0), deviation=0.01, interleaved=False)
    assert simulations.differences_found(one_after_the_other, RUNS) > 0.8


@pytest.mark.parametrize(
    ("effect", "deviation", "blocks"), [(1.02, 0.01, 10), (1.02, 0.02, 34), (1.05, 0.02, 8)]
)
def test_the_promised_blocks_find_the_promised_difference(
    effect: float, deviation: float, blocks: int
) -> None:
    found = simulations.differences_found(simulations.Setting((effect, 1.0), blocks, deviation), RUNS)
    assert found >= 0.8 - chance(0.8)


@pytest.mark.parametrize("noise", ["normal", "heavy tails (t, 3)"])
def test_a_comparison_that_stops_by_itself_keeps_its_error_rate(noise: str) -> None:
    different, _, _ = simulations.sequential_answers(1.0, 0.02, simulations.NOISES[noise], 200)
    assert different <= 0.05
    found, _, blocks = simulations.sequential_answers(1.05, 0.028, simulations.NOISES[noise], 100)
    assert found >= 0.95 and blocks <= 11


def test_a_mean_covers_the_truth_where_trials_are_independent() -> None:
    for name in ("normal", "heavy tails (t, 3)"):
        assert simulations.mean_coverage(simulations.NOISES[name], 10, RUNS) >= 0.95 - chance(0.95)


def test_orders_are_seldom_false_and_mostly_found() -> None:
    normal = simulations.NOISES["normal"]
    seen = [simulations.orders(normal, blocks, 5, spread, 30) for blocks in (3, 10) for spread in (0.0, 0.2)]
    assert sum(one.wrong for one in seen) / len(seen) <= 0.01
    assert seen[-1].shown >= 0.8


def test_simulated_looks_are_as_wide_as_those_of_a_run() -> None:
    rows = decisions.correlated(np.random.default_rng(2), (3, 4, 9))
    made = decisions.widenings(rows, 2)
    expected = [widening(allowed_correlation(rows[:, run].tolist(), 2 * 8)) for run in range(4)]
    assert made == pytest.approx(expected)
    found = decisions.reading(rows[:2], 9, alike=False)
    for run in range(4):
        a, b = (Side(dict(enumerate(np.exp(row[run]).tolist()))) for row in rows[:2])
        met = pair(a, b, manner="looked at", alpha=SPENT_ERROR, looks=[n / 9 for n in range(1, 10)])
        assert met is not None and met.high is not None
        assert math.log(met.high) == pytest.approx(found.centre[run] + found.half[run])


@pytest.mark.parametrize("noise", decisions.NOISES.values(), ids=decisions.NOISES)
@pytest.mark.parametrize("alike", [False, True], ids=["unlike", "builds"])
def test_identical_servers_beside_a_control_are_told_apart_in_three_runs_of_a_hundred(
    noise: object, alike: bool
) -> None:
    found = decisions.decide(0.0, 0.02, 11, noise, 2000, control=True, alike=alike)
    assert found.covered >= 0.93
    if noise is not decisions.bursts:  # which make the first server slower
        assert found.different <= 0.03 + 2 * math.sqrt(0.03 * 0.97 / 2000)


@pytest.mark.parametrize(("alike", "blocks"), [(False, 1.1), (True, 0.97)])
def test_what_that_costs_in_blocks(alike: bool, blocks: float) -> None:
    """Against an interval that takes blocks as independent, without a control."""
    settings = ((0.05, 0.008), (0.05, 0.02), (0.05, 0.04), (0.02, 0.014))
    relative = []
    for effect, deviation in settings:
        run = math.log1p(effect), deviation, 11, decisions.normal, 1000
        before = decisions.decide(*run, widened=False)
        relative.append(decisions.decide(*run, control=True, alike=alike).blocks / before.blocks)
    assert sum(relative) / len(relative) <= blocks


@pytest.mark.parametrize("noise", decisions.NOISES.values(), ids=decisions.NOISES)
@pytest.mark.parametrize("blocks", [3, 6, 12])
def test_studies_cover_the_truth_though_their_blocks_depend_on_each_other(noise: object, blocks: int) -> None:
    for servers in (2, 3, 12):
        assert decisions.covers(noise, servers, blocks, 2000) >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / 2000)


@pytest.mark.parametrize("noise", ["normal", "heavy tails (t, 3)", "skewed"])
def test_twelve_unlike_servers_tell_in_three_blocks_what_took_six(noise: str) -> None:
    made = [
        simulations.orders(simulations.NOISES[noise], blocks, 12, 0.33, 25, pooled=pooled)
        for blocks, pooled in ((3, True), (3, False))
    ]
    assert made[0].wrong <= 0.001 and made[0].shown > 0.35 > 0.2 > made[1].shown


def test_what_follows_slices_that_show_warmth_is_measured_without_bias_and_those_are_not() -> None:
    # Why a warm-up is no measurement: a rise that the judge misses stays in what it kept.
    found = simulations.blocks_kept(0.3, 1.0, 0.02, 20_000)
    assert abs(found.following) < 0.002
    assert found.same < -0.01
    paused = simulations.blocks_kept(0.0, 1.0, 0.03, 20_000, pausing=True)
    assert paused.same > 0.002
