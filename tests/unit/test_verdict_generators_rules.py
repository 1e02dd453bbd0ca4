"""The rules on several generators: what each catches and leaves alone."""

from __future__ import annotations

import pytest
from judged import QUIET, changed, findings_of, found
from made_runs import SECOND, case, made_slice, measurement, plan, run, server, steady_run, trial
from msgspec.structs import replace

from assay.cluster import versions
from assay.core.errors import EnvironmentLacks
from assay.model.account import CoreRole, CoreTime, ProgramTime, ThreadTime, TimeAccount
from assay.model.measurement import Measurement
from assay.model.trial import Arm, ClockSeen, Failure, GeneratorSeen, HostSeen, Link
from assay.verdict.bottleneck import bottleneck_of
from assay.verdict.see import see_trial

WALL = 10 * SECOND
CLOCK = ClockSeen(offset_ns=0, uncertainty_ns=400_000, round_trip_ns=800_000)


def generator(number: int, made: Measurement | None = None, **changes: object) -> GeneratorSeen:
    """One of several, on a machine of its own."""
    fields: dict[str, object] = {
        "node": f"10.0.0.{number}",
        "cores": 4,
        "cpus": (0, 1, 2, 3),
        "first_worker": 0,
        "clock": CLOCK,
        "started_late_ns": 5_000,
        "measurement": made or measurement(),
        "host": QUIET,
    }
    return GeneratorSeen(**(fields | changes))  # type: ignore[arg-type]  # each is of its field's type


def on_cluster(*generators: GeneratorSeen, host: HostSeen = QUIET) -> dict[str, str]:
    """What is found about a load of these generators: evidence by code."""
    findings = found(measurement(), generators=generators, link=Link(same_machine=False), host=host)
    return {code: finding.evidence for code, finding in findings.items()}


def test_alike_generators_are_left_alone() -> None:
    assert on_cluster(generator(1), generator(2)) == {}


def test_one_that_did_less_than_its_part_is_named() -> None:
    slow = changed(completed=measurement().completed // 2)
    evidence = on_cluster(generator(1), generator(2), generator(3, slow))["G10"]
    assert evidence.startswith("generator 10.0.0.3 had 60 %")
    near = changed(completed=int(measurement().completed * 0.8))
    assert "G10" not in on_cluster(generator(1), generator(2), generator(3, near))


def test_a_late_start_and_an_unknown_clock_are_told() -> None:
    unsure = ClockSeen(offset_ns=0, uncertainty_ns=20_000_000, round_trip_ns=40_000_000)
    assert "its clock is known to 20" in on_cluster(generator(1), generator(2, clock=unsure))["G11"]
    assert "G11" in on_cluster(generator(1), generator(2, started_late_ns=11_000_000))
    assert "G11" not in on_cluster(generator(1), generator(2, started_late_ns=9_000_000))


def test_a_clock_that_moved_or_was_lost_sight_of_under_load_is_told() -> None:
    """It is looked at once more behind the load; what the two looks are unsure of explains no move."""
    unsure = ClockSeen(offset_ns=0, uncertainty_ns=20_000_000, round_trip_ns=40_000_000)
    assert "its clock is known to 20" in on_cluster(generator(1), generator(2, clock_after=unsure))["G11"]
    moved = ClockSeen(offset_ns=15_000_000, uncertainty_ns=400_000, round_trip_ns=800_000)
    assert "its clock is known to 14.6" in on_cluster(generator(1), generator(2, clock_after=moved))["G11"]
    hardly = ClockSeen(offset_ns=1_000_000, uncertainty_ns=400_000, round_trip_ns=800_000)
    assert "G11" not in on_cluster(generator(1), generator(2, clock_after=hardly))


def test_who_had_a_generator_s_cores_is_a_program_of_its_host() -> None:
    """A program of the server's host that nobody waited for took nothing of a generator's."""

    def cores(role: CoreRole, host: str, name: str, ns: int) -> CoreTime:
        programs = (ProgramTime(name=name, ns=ns),)
        seen = CoreTime(
            cpus=(0,), role=role, time_ns=WALL, stolen_ns=0, unknown_ns=0, host=host, programs=programs
        )
        return replace(seen, **{f"{role}_{mode}_ns": WALL // 10 for mode in ("user", "kernel")})

    account = TimeAccount(
        wall_ns=WALL,
        cores=(
            cores("server", "10.0.1.1", "idle priority", 8 * WALL // 10),
            cores("generator", "10.0.0.1", "nothing", 0),
            cores("generator", "10.0.0.2", "backup", 7 * WALL // 10),
        ),
        server=ThreadTime(threads=1, ran_ns=WALL // 5, waited_ns=0),
    )
    made = trial(
        "a",
        0,
        measurement(busy=0.2),
        server=server(cpu_share=0.2, cpu_ns=WALL // 5),
        account=account,
        generators=(generator(1, measurement(busy=0.2)), generator(2, measurement(busy=0.2))),
        link=Link(same_machine=False),
    )
    assert made.measurement is not None
    found = bottleneck_of(see_trial(made, made.measurement, steady_run({"a": 1_000}).header.environment))
    assert (found.who, found.name) == ("others", "backup")


def interleaved(*generators: GeneratorSeen) -> dict[str, str]:
    """As `on_cluster`, of an arm with washout of 5 ms."""
    slices = tuple(
        made_slice(number=2 * round_number, round_number=round_number, place=0, rate=10_000.0)
        for round_number in range(4)
    )
    arm = Arm(block=0, slices=slices)
    findings = found(measurement(), generators=generators, link=Link(same_machine=False), arm=arm)
    return {code: finding.evidence for code, finding in findings.items()}


def test_clocks_that_may_be_further_apart_than_a_settle_time_are_told() -> None:
    assert "G11" not in interleaved(generator(1), generator(2))
    unsure = ClockSeen(offset_ns=0, uncertainty_ns=2_600_000, round_trip_ns=5_200_000)
    said = interleaved(generator(1), generator(2, clock=unsure))["G11"]
    assert said.startswith("generator 10.0.0.2's clock is known to 2.6")
    moved = ClockSeen(offset_ns=6_000_000, uncertainty_ns=400_000, round_trip_ns=800_000)
    assert "moved by 5.2" in interleaved(generator(1), generator(2, clock_after=moved))["G11"]
    # Looked at once more on a busy network: that the clock has moved is not shown.
    vague = ClockSeen(offset_ns=6_000_000, uncertainty_ns=6_000_000, round_trip_ns=12_000_000)
    assert "G11" not in interleaved(generator(1), generator(2, clock_after=vague))


def test_a_start_that_is_late_is_told_where_it_reaches_into_what_was_measured() -> None:
    warm = changed(warmup_ns=20_000_000)
    assert "G11" not in interleaved(generator(1, warm), generator(2, warm, started_late_ns=19_000_000))
    said = interleaved(generator(1, warm), generator(2, warm, started_late_ns=32_000_000))["G11"]
    assert said.startswith("generator 10.0.0.2 began 12.0 ms after its measured time")


def test_a_generator_that_stalls_or_has_no_time_is_named() -> None:
    workers = measurement().workers
    stalled = changed(workers=tuple(replace(one, largest_stall_ns=300_000_000) for one in workers))
    assert on_cluster(generator(1), generator(2, stalled))["H2"].startswith("generator 10.0.0.2: ")
    busy = changed(workers=tuple(replace(one, cpu_ns=one.wall_ns) for one in workers))
    assert on_cluster(generator(1), generator(2, busy))["G1"].startswith("generator 10.0.0.2: ")


def test_cores_and_disturbances_are_looked_at_machine_by_machine() -> None:
    crowded = changed(workers=measurement().workers * 2)
    assert on_cluster(generator(1), generator(2, crowded, cpus=(0,)))["H1"].startswith("generator 10.0.0.2: ")
    stolen = replace(QUIET, steal_share=0.05)
    assert on_cluster(generator(1, host=stolen), generator(2))["H2"].startswith("generator 10.0.0.1: ")
    there = on_cluster(generator(1), generator(2), host=stolen)["H2"]
    assert there.startswith("the server's machine: 5.0 % of the CPU time was stolen")


def test_several_versions_are_no_one_load() -> None:
    other = changed(engine_version="9.9")
    assert "9.9" in on_cluster(generator(1), generator(2, other))["G12"]


def test_a_trial_that_lost_a_machine_is_told() -> None:
    lost = Failure(stage="cluster", reason="node 10.0.0.2 is lost: its Ray node is gone")
    trials = [trial("a", block, lost if block == 1 else None) for block in range(6)]
    evidence = findings_of(run([case("a")], trials))["G9"].evidence
    assert evidence == "1 trial of 6 ended so: node 10.0.0.2 is lost: its Ray node is gone"
    elsewhere = Failure(stage="start", reason="no")
    other = [trial("a", block, elsewhere if block == 1 else None) for block in range(6)]
    assert "G9" not in findings_of(run([case("a")], other))


def test_a_node_of_another_version_is_refused() -> None:
    with pytest.raises(EnvironmentLacks, match=r"node 10\.0\.0\.9 has Assay 0\.0\.1 .*same version"):
        versions.refuse_other("10.0.0.9", ("0.0.1", "0.0.1"))


def test_the_link_takes_the_place_of_the_loopback() -> None:
    full = Link(same_machine=False, bytes_per_s=measurement().bytes_read / 10)
    findings = found(measurement(), plan(), generators=(generator(1), generator(2)), link=full)
    assert "that the link carries here" in findings["G6"].evidence
