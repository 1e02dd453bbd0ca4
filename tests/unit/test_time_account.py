"""The division of cores' time, on synthetic readings: each nanosecond counts once, and unknown is not 0."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from assay.model.account import ENDED, HARNESS, REST, CoreTime, ProgramTime
from assay.servers.account import Clocked, core_sets, core_times, trimmed
from assay.servers.cores import CoreSplit
from assay.servers.host import CpuClocks, HostClocks

S = 1_000_000_000
TICK = S // 100


def clocks(*busy: float, length_ns: int = S, stolen: float = 0.0, interrupts: float = 0.0) -> HostClocks:
    """One CPU for each share that is busy, the host's and the kernel's included."""
    cpus = tuple(
        CpuClocks(
            idle_ns=round((1 - share) * length_ns),
            stolen_ns=round(stolen * length_ns),
            interrupts_ns=round(interrupts * length_ns),
            total_ns=length_ns,
        )
        for share in busy
    )
    return HostClocks(length_ns, 0, cpus)


def programs(**shares: float) -> tuple[ProgramTime, ...]:
    return tuple(ProgramTime(name=name, ns=round(share * S)) for name, share in shares.items())


APART = core_sets(CoreSplit((1,), (0,), 2), smt=())
SEEN = Clocked(server=(S // 2, S // 4), generator=(S // 10, S // 10), services_ns=0, programs=())


def adds_up(core: CoreTime) -> bool:
    parts = [ns for ns in core.parts.values() if ns is not None]
    return all(ns >= 0 for ns in parts) and abs(sum(parts) - core.time_ns) <= 0.01 * core.time_ns


@pytest.mark.parametrize("seed", range(200))
def test_the_shares_of_each_core_add_up_whatever_is_read(seed: int) -> None:
    draw = random.Random(seed)
    number, length_ns = draw.choice([1, 2, 8, 128]), draw.choice([25, 250, 2000]) * S // 1000
    server = tuple(range(max(1, number // 2)))
    split = draw.choice(
        [CoreSplit((), (), number), CoreSplit(tuple(range(len(server), number)), server, number)]
    )

    def ns(most: float) -> int:
        return draw.choice([0, round(draw.random() * most * length_ns)])

    def cpu() -> CpuClocks:
        idle_ns, stolen_ns = TICK * (ns(0.7) // TICK), TICK * (ns(0.7) // TICK)
        return CpuClocks(idle_ns, stolen_ns, ns(0.2), draw.choice([0, length_ns, ns(1)]))

    host = HostClocks(length_ns, 0, tuple(cpu() for _ in range(number)))
    clocked = Clocked(
        server=draw.choice([None, (ns(number), ns(number))]),
        services_ns=draw.choice([None, ns(1)]),
        generator=draw.choice([None, (ns(1), ns(1))]),
        harness_ns=ns(0.1),
        resting_ns=ns(0.5),
        programs=draw.choice([None, tuple(ProgramTime(name=str(one), ns=ns(1)) for one in range(20))]),
        kernel_threads_ns=ns(0.1),
        exact=draw.choice([True, False]),
        server_hidden=draw.choice([True, False]),
    )
    cores = core_times(core_sets(split, smt=()), host, clocked)
    assert all(map(adds_up, cores)), cores


def test_who_has_a_clock_comes_first_and_the_rest_is_other_programs_by_name() -> None:
    server, generator = core_times(
        APART, clocks(0.95, 0.5), replace(SEEN, programs=programs(cc1=0.4, ld=0.05))
    )
    assert (server.server_user_ns, server.server_kernel_ns) == (S // 2, S // 4)
    assert (server.generator_user_ns, server.idle_ns) == (None, round(0.05 * S))
    assert server.programs is not None and generator.programs is not None
    assert [one.name for one in server.programs] == ["cc1", "ld", ENDED]
    named = sum(one.ns for core in (server, generator) for one in core.programs or () if one.name == "cc1")
    assert named == pytest.approx(0.4 * S, rel=0.01)
    assert (server.unknown_ns, generator.unknown_ns) == (0, 0)


def test_what_no_count_saw_is_of_ended_programs_where_counts_are_of_this_time_alone() -> None:
    for exact, name in ((True, ENDED), (False, REST)):
        [server, _] = core_times(APART, clocks(0.95, 0.2), replace(SEEN, exact=exact))
        assert server.programs == (ProgramTime(name=name, ns=round(0.2 * S)),)


def test_interrupts_are_the_kernel_s_for_nobody_as_far_as_nobody_has_them() -> None:
    [server, generator] = core_times(APART, clocks(0.85, 0.2, interrupts=0.3), SEEN)
    assert (server.kernel_ns, generator.kernel_ns) == (round(0.1 * S), 0)


def test_a_server_that_cannot_be_seen_leaves_its_time_unknown_and_blames_nobody() -> None:
    hidden = replace(SEEN, server=None, server_hidden=True, programs=programs(cc1=0.1))
    [server, _] = core_times(APART, clocks(0.9, 0.2), hidden)
    assert server.server_ns is None
    assert server.others_ns is not None and server.others_ns <= 0.1 * S
    assert server.unknown_ns >= 0.8 * S


def test_without_a_list_of_processes_their_time_is_unknown() -> None:
    [server, _] = core_times(APART, clocks(0.95, 0.2), replace(SEEN, programs=None))
    assert server.programs is None and server.others_ns is None
    assert server.unknown_ns == round(0.2 * S)


def test_clocks_that_stand_still_tell_nothing() -> None:
    still = HostClocks(S, 0, (CpuClocks(0, None, 0, 0),) * 2)
    [server, _] = core_times(APART, still, SEEN)
    assert (server.idle_ns, server.stolen_ns, server.kernel_ns) == (None, None, None)
    assert server.unknown_ns == S // 4


def test_a_host_that_tells_of_no_steal_leaves_it_unknown() -> None:
    host = clocks(0.9, 0.2)
    host = host._replace(cpus=tuple(cpu._replace(stolen_ns=None) for cpu in host.cpus))
    assert [core.stolen_ns for core in core_times(APART, host, SEEN)] == [None, None]
    assert [core.stolen_ns for core in core_times(APART, clocks(0.9, 0.2, stolen=0.1), SEEN)] == [S // 10] * 2


def test_this_process_and_resting_servers_are_told_apart_from_others() -> None:
    own = replace(SEEN, harness_ns=S // 20, resting_ns=S // 20)
    [server, generator] = core_times(APART, clocks(0.8, 0.25), own)
    assert [one.name for one in server.programs or ()] == ["resting servers"]
    assert generator.programs == (ProgramTime(name=HARNESS, ns=S // 20),)


def test_a_few_programs_are_named_and_the_rest_are_others() -> None:
    many = tuple(ProgramTime(name=f"p{one}", ns=S // 50 - one) for one in range(9))
    [server, _] = core_times(APART, clocks(1.0, 0.2), replace(SEEN, programs=many))
    assert server.programs is not None
    assert [one.name for one in server.programs] == [ENDED, "p0", "p1", "p2", "p3", REST]


def test_cores_that_client_and_server_share_are_one_set() -> None:
    assert [one.role for one in core_sets(CoreSplit((0,), (0,), 1))] == ["shared"]
    [one] = core_sets(CoreSplit((), (), 128))
    assert (one.role, len(one.cpus)) == ("shared", 128)
    [core] = core_times([one], clocks(*[0.01] * 128), replace(SEEN, programs=programs(java=0.5)))
    assert core.time_ns == 128 * S and adds_up(core)
    assert core.server_ns == 3 * S // 4 and core.generator_ns == S // 5


def test_siblings_on_one_physical_core_are_named() -> None:
    server, client = core_sets(CoreSplit((2, 3), (0, 1), 4), smt=((0, 2), (1,), (3,)))
    assert (server.siblings, client.siblings) == ((2,), (0,))


def test_the_moment_after_the_load_is_left_out_where_it_was_idle() -> None:
    late = clocks(0.5, 0.5, length_ns=2 * S)
    assert trimmed(late, 2 * S - TICK).elapsed_ns == 2 * S - TICK
    assert trimmed(late, 2 * S) == late
    assert trimmed(clocks(1.0, 1.0), S - TICK).elapsed_ns == S
