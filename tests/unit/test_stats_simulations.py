"""docs/method/statistics.md, simulated at a size of seconds; `benches/simulate.py` is the full size."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

from assay.stats.pairing import Side


def _simulations() -> ModuleType:
    path = Path(__file__).parents[2] / "benches" / "simulations.py"
    spec = importlib.util.spec_from_file_location("simulations", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulations"] = module
    spec.loader.exec_module(module)
    return module


simulations = _simulations()
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
    assert simulations.differences_found(one_after_the_other, RUNS) > 0.9


@pytest.mark.parametrize(
    ("effect", "deviation", "blocks"), [(1.02, 0.01, 7), (1.02, 0.02, 20), (1.05, 0.02, 5)]
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
    assert found >= 0.95 and blocks <= 9


def test_a_mean_covers_the_truth_where_trials_are_independent() -> None:
    for name in ("normal", "heavy tails (t, 3)"):
        assert simulations.mean_coverage(simulations.NOISES[name], 10, RUNS) >= 0.95 - chance(0.95)


def test_orders_are_seldom_false_and_mostly_found() -> None:
    normal = simulations.NOISES["normal"]
    seen = [simulations.orders(normal, blocks, 5, spread, 30) for blocks in (3, 10) for spread in (0.0, 0.2)]
    assert sum(one.wrong for one in seen) / len(seen) <= 0.01
    assert seen[-1].shown >= 0.8
