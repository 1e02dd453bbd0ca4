"""Several generators' arms as one: slices by the number of their slice, and nothing of parts that differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import measurement
from msgspec.structs import replace

from assay.engine.merge import NotOneLoad, arm_together, merged_slices
from assay.model.interleaving import ArmMeasurement, ArmSnapshot, Ended, InterleavedMeasurement, Slice
from assay.model.measurement import Snapshot


def made(times: int, completed: int = 100, *, p50_ns: int = 1_000, shift_ns: int = 0) -> Slice:
    return Slice(
        number=times,
        round=times // 2,
        place=times % 2,
        phase="measured",
        washout_ns=5,
        start_ns=times * 105 + 5 + shift_ns,
        length_ns=100,
        started=completed + 1,
        completed=completed,
        failed=2,
        bytes_read=10 * completed,
        early_completed=completed // 5,
        service_time_sum_ns=completed * 1_000,
        service_time_p50_ns=p50_ns,
        carried=3,
        unsettled=1,
        late=4,
        reopened=5,
        client_cpu_ns=40,
        edges_ns=-6,
        client_delayed_ns=8,
    )


def part(*arms: tuple[Slice, ...], late_ns: int = 0, ended: Ended | None = None) -> InterleavedMeasurement:
    return InterleavedMeasurement(
        started_at_unix_ns=1,
        started_at_monotonic_ns=1,
        started_late_ns=late_ns,
        length_ns=1_000,
        interrupted=False,
        arms=tuple(
            ArmMeasurement(measurement=measurement(), late=7, ended=ended, slices=slices) for slices in arms
        ),
    )


counts = st.lists(st.integers(0, 10_000), min_size=1, max_size=6)


@given(st.lists(counts, min_size=1, max_size=4))
def test_a_slice_of_the_whole_has_what_was_done_in_it_by_all(parts: list[list[int]]) -> None:
    fewest = min(map(len, parts))
    whole = merged_slices(
        [part(tuple(made(times, one[times]) for times in range(fewest)), late_ns=len(one)) for one in parts]
    )
    [arm] = whole.arms
    for times, one in enumerate(arm.slices):
        assert one.completed == sum(each[times] for each in parts)
        assert one.started == one.completed + len(parts)
        assert one.service_time_sum_ns == 1_000 * one.completed
        assert one.service_time_p50_ns == (1_000 if one.completed else 0)
        assert (
            one.carried,
            one.unsettled,
            one.late,
            one.reopened,
            one.client_cpu_ns,
            one.client_delayed_ns,
            one.edges_ns,
        ) == tuple(len(parts) * each for each in (3, 1, 4, 5, 40, 8, -6))
    assert [window.completed for window in arm.measurement.windows] == [one.completed for one in arm.slices]
    assert arm.late == 7 * len(parts)
    assert arm.measurement.requests.started == len(parts) * measurement().requests.started
    assert whole.started_late_ns == max(map(len, parts))


def test_what_one_generator_does_not_know_is_not_known_of_the_whole() -> None:
    one, other = made(0), replace(made(0), client_delayed_ns=None)
    assert merged_slices([part((one,)), part((other,))]).arms[0].slices[0].client_delayed_ns is None


def test_the_median_is_the_mean_of_theirs_by_answers() -> None:
    [arm] = merged_slices([part((made(0, 100, p50_ns=1_000),)), part((made(0, 300, p50_ns=2_000),))]).arms
    assert arm.slices[0].service_time_p50_ns == 1_750


@pytest.mark.parametrize(
    "other",
    [
        (made(0),),
        (made(0), made(2)),
        (made(0), made(1, shift_ns=1)),
        (made(0), replace(made(1), phase="warmup")),
    ],
)
def test_generators_that_took_other_slices_are_no_one_load(other: tuple[Slice, ...]) -> None:
    with pytest.raises(NotOneLoad, match="did not take the same slices"):
        merged_slices([part((made(0), made(1))), part(other)])
    with pytest.raises(NotOneLoad, match="no generator"):
        merged_slices([])


def test_a_arm_that_ended_did_so_on_all_of_them() -> None:
    assert merged_slices([part((made(0),), ended="failure")] * 2).arms[0].ended == "failure"


def looked(*slices: Slice, phase: str = "measured") -> ArmSnapshot:
    snapshot = Snapshot(
        phase="measured" if phase == "measured" else "warmup",
        elapsed_ns=1,
        started=10,
        completed=9,
        failed=0,
        bytes_read=1,
        open_connections=2,
        service_time_p50_ns=1,
        service_time_p99_ns=2,
        service_time_max_ns=3,
        send_lag_p99_ns=None,
        client_cpu=0.5,
        windows=(),
    )
    return ArmSnapshot(snapshot=snapshot, ended=None, slices=slices)


def test_the_live_view_shows_the_slices_that_all_have_ended() -> None:
    seen = arm_together([looked(made(0), made(2)), looked(made(0))])
    assert seen.slices == merged_slices([part((made(0),))] * 2).arms[0].slices
    assert (seen.snapshot.started, seen.snapshot.open_connections) == (20, 4)
    # One has heard of the measured phase, the other is about to: there is no slice of one phase yet.
    assert arm_together([looked(made(0)), looked(made(0), phase="warmup")]).slices == ()
