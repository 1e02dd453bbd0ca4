"""The rates of open loops that follow closed ones."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from made_runs import measurement, trial
from sample_run import begun
from test_control import study

from assay.core.errors import ServerFailed
from assay.model.plan import Open
from assay.model.trial import Failure, Trial
from assay.plan.next import Due, Slot
from assay.plan.next.schedule import settled
from assay.plan.next.study import slots_of
from assay.plan.resolved import ResolvedRun

DOWN = Failure(stage="start", reason="down")


@pytest.fixture
def made(tmp_path: Path) -> ResolvedRun:
    return study(tmp_path, latency=True)


def settle(made: ResolvedRun, case_id: str, trials: list[Trial], block: int = 0) -> Due:
    case = next(one for one in made.cases if one.case.id == case_id)
    due = Due(Slot(0, block, 0, case_id), case.plan, case.warm_up)
    return settled(due, case.case, begun(made, trials))


def rate(made: ResolvedRun, case_id: str, block: int, trials: list[Trial]) -> float:
    now = settle(made, case_id, trials, block)
    assert isinstance(load := now.plan.load, Open)
    return load.stages[0].from_per_s


def test_a_share_is_of_the_same_block_s_closed_loop(made: ResolvedRun) -> None:
    trials = [trial("c/a", 0, measurement(10_000)), trial("c/a", 1, measurement(8_000))]
    assert rate(made, "c/a@50%", 1, trials) == pytest.approx(4_000)
    assert rate(made, "c/a@90%", 0, trials) == pytest.approx(9_000)


def test_a_block_that_failed_leaves_the_one_before(made: ResolvedRun) -> None:
    trials = [trial("c/a", 0, measurement(10_000)), trial("c/a", 1, DOWN)]
    assert rate(made, "c/a@50%", 1, trials) == pytest.approx(5_000)


def test_the_common_rate_is_settled_by_the_first_block(made: ResolvedRun) -> None:
    trials = [
        trial("c/a", 0, measurement(10_000)),
        trial("c/b", 0, measurement(2_000)),
        trial("c/null", 0, measurement(100)),
        trial("c/b", 1, measurement(1_000)),
    ]
    for block in (0, 1):
        for server in ("c/a", "c/b"):
            assert rate(made, f"{server}@common", block, trials) == pytest.approx(1_000)


@pytest.mark.parametrize("case_id", ["c/a@25%", "c/a@common"])
def test_without_a_capacity_there_is_no_rate(made: ResolvedRun, case_id: str) -> None:
    with pytest.raises(ServerFailed, match="capacity was (not )?measured"):
        settle(made, case_id, [trial("c/a", 0, DOWN), trial("c/b", 0, DOWN)])


def test_a_server_that_answered_nothing_has_no_rate(made: ResolvedRun) -> None:
    with pytest.raises(ServerFailed, match="answered nothing"):
        silent = msgspec.structs.replace(measurement(1), completed=0)
        settle(made, "c/a@25%", [trial("c/a", 0, silent)])


def test_a_closed_loop_stays_as_it_is(made: ResolvedRun) -> None:
    case = next(one for one in made.cases if one.case.id == "c/a")
    assert settle(made, "c/a", []).plan == case.plan


def test_open_loops_follow_in_their_block_and_run_in_some_of_them(made: ResolvedRun) -> None:
    slots = slots_of(begun(made).header)
    for block in range(made.blocks):
        inside = [slot.case for slot in slots if slot.block == block]
        assert all("@" not in one for one in inside[:4])
        assert len(inside) == (4 + 10 if block in (1, 3, 5) else 4)


@pytest.mark.parametrize("case_id", ["c/a@50%", "c/a@common", "c/b@common"])
def test_the_server_of_an_open_loop_is_warmed_by_its_own_closed_one(made: ResolvedRun, case_id: str) -> None:
    own = next(one for one in made.cases if one.case.id == case_id.partition("@")[0])
    due = settle(made, case_id, [trial("c/a", 0), trial("c/b", 0)])
    assert due.warming is not None and due.warming.rule == own.warm_up
    assert due.warming.plan.load == own.plan.load
    assert due.warming.plan.warmup_max_ns == own.warm_up.engine_bound_ns
    least_ns = own.warm_up.min_ns
    assert (due.warm_up.min_ns, due.warm_up.max_ns) == (least_ns, least_ns)
    assert due.plan.warmup_max_ns == due.warm_up.engine_bound_ns


@pytest.mark.parametrize(("interleave", "follows"), [(True, "c/a"), (False, "")])
def test_only_behind_a_block_does_it_ask_the_server_that_stands(
    tmp_path: Path, follows: str, *, interleave: bool
) -> None:
    due = settle(
        study(tmp_path, latency=True, interleave=interleave), "c/a@50%", [trial("c/a", 0), trial("c/b", 0)]
    )
    assert due.follows == follows


def test_nothing_is_warmed_where_no_warm_up_was_asked_for(tmp_path: Path) -> None:
    cold = study(tmp_path, latency=True, profile="published")
    due = settle(cold, "c/a@50%", [trial("c/a", 0)])
    assert due.warming is None and due.warm_up.max_ns == 0


def test_a_common_rate_needs_a_measured_candidate(made: ResolvedRun) -> None:
    with pytest.raises(ServerFailed, match="no common rate"):
        settle(made, "c/a@common", [])
