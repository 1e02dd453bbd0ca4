"""Rounds in which another program kept the client from its core: left out of ratios, where enough are left
and no server can have had a hand in it."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence

import pytest
from made_runs import case, interleaved, measurement, plan, run, server
from msgspec.structs import replace

from assay.model.interleaving import Slice
from assay.model.run import Run
from assay.model.trial import ClockSeen, GeneratorSeen, HostSeen, ServiceSeen
from assay.report.model.circumstances import sentences
from assay.stats.interleaved import unpreempted
from assay.stats.pairing import pair
from assay.stats.sides import Side, left_out, paired_logs
from assay.verdict import judge
from assay.verdict.see_runs import see_run

ROUNDS = 12
CALM, PREEMPTED = 0.01, 0.4


def side(rates: Mapping[int, Sequence[float]], delays: Mapping[int, Sequence[float]]) -> Side:
    """A server with these rates, and what its client lacked of a core, by block and round."""
    rounds = {block: dict(enumerate(each)) for block, each in rates.items()}
    return Side(
        {block: statistics.fmean(each) for block, each in rates.items()},
        rounds=rounds,
        delays={block: dict(enumerate(each)) for block, each in delays.items()},
    )


def sides(
    delays: Sequence[float], other: Sequence[float] | None = None, blocks: int = 4
) -> tuple[Side, Side]:
    """Two servers of which one is a tenth faster where its client had its core, and none where it had not."""
    fast = [1000.0 if lacked > 0.1 else 1100.0 for lacked in delays]
    numbers = range(blocks)
    return (
        side(dict.fromkeys(numbers, fast), dict.fromkeys(numbers, delays)),
        side(dict.fromkeys(numbers, [1000.0] * len(delays)), dict.fromkeys(numbers, other or delays)),
    )


def test_a_ratio_is_that_of_the_rounds_in_which_the_client_had_its_core() -> None:
    a, b = sides([CALM, PREEMPTED] * (ROUNDS // 2))
    assert paired_logs(a, b) == pytest.approx([math.log(1.1)] * 4)
    assert left_out(a, b) == pytest.approx(0.5)
    made = pair(a, b)
    assert made is not None
    assert made.ratio.method.endswith("of unpreempted rounds, or of all")
    # All rounds say 1.05, ever again: it may be the servers that preempt them, and either may be right.
    assert made.low == pytest.approx(1.05, abs=0.002) and made.high == pytest.approx(1.1)


def test_rounds_that_others_preempted_by_chance_are_left_out() -> None:
    """Where that moved the ratio now here, now there, it is noise of all rounds."""
    rates = {n: [1000.0 + 300 * (n - 1.5) * (r % 2) for r in range(ROUNDS)] for n in range(4)}
    delays = {n: [CALM, PREEMPTED] * (ROUNDS // 2) for n in range(4)}
    a = side({n: [1.1 * rate for rate in each] for n, each in rates.items()}, delays)
    b = side({n: [1000.0] * ROUNDS for n in range(4)}, delays)
    made = pair(a, b)
    assert made is not None and made.ratio.method.endswith("of unpreempted rounds")
    assert made.ratio.low == pytest.approx(1.1) == made.ratio.high


def test_a_round_is_preempted_where_either_of_the_two_was() -> None:
    calm, late = [CALM] * ROUNDS, [CALM] * (ROUNDS - 1) + [PREEMPTED]
    assert unpreempted({0: dict(enumerate(calm))}, {0: dict(enumerate(late))}) == {0: list(range(ROUNDS - 1))}


@pytest.mark.parametrize("delays", [[0.3] * ROUNDS, [0.3 + 0.004 * n for n in range(ROUNDS)]])
def test_what_always_waits_disturbs_no_round(delays: list[float]) -> None:
    a, b = sides(delays)
    assert left_out(a, b) == 0
    assert paired_logs(a, b) == [0.0] * 4


def test_all_rounds_count_where_too_few_blocks_have_others() -> None:
    a, b = sides([CALM] * 3 + [PREEMPTED] * (ROUNDS - 3))
    assert left_out(a, b) == 0
    assert paired_logs(a, b)[0] == pytest.approx(math.log((3 * 1100 + 9 * 1000) / (12 * 1000)))


def test_a_block_that_was_preempted_throughout_is_left_out() -> None:
    calm, noisy = [CALM] * ROUNDS, [PREEMPTED] * ROUNDS
    rates = {block: [1100.0] * ROUNDS for block in range(4)}
    delays = {0: calm, 1: calm, 2: noisy, 3: calm}
    assert len(paired_logs(side(rates, delays), side(rates, delays))) == 3


def test_where_nothing_is_known_of_the_core_all_rounds_count() -> None:
    a, b = sides([CALM, PREEMPTED] * (ROUNDS // 2))
    assert paired_logs(Side(a.values, rounds=a.rounds), b)[0] == pytest.approx(math.log(1.05))


def test_leaving_preempted_rounds_out_favours_nobody_and_tells_more() -> None:
    random_ = random.Random(8)
    whole, calm = [], []
    for _ in range(300):
        a, b = _beside_a_program(random_, 1.04)
        calm += paired_logs(a, b)
        whole += paired_logs(Side(a.values, rounds=a.rounds), Side(b.values, rounds=b.rounds))
    error = statistics.stdev(calm) / math.sqrt(len(calm))
    assert abs(statistics.fmean(calm) - math.log(1.04)) < 4 * error
    assert statistics.stdev(calm) < statistics.stdev(whole) / 2


def _beside_a_program(random_: random.Random, ratio: float) -> tuple[Side, Side]:
    """Four blocks beside a program that comes and goes, on the client's core: where it is there, the client
    sets the pace of either server."""
    rates: tuple[dict[int, list[float]], ...] = ({}, {})
    delays: tuple[dict[int, list[float]], ...] = ({}, {})
    for block in range(4):
        is_there = False
        for each in (*rates, *delays):
            each[block] = []
        for _ in range(20):
            for place, own in enumerate((ratio, 1.0)):
                is_there ^= random_.random() < 0.15
                noise = random_.gauss(1, 0.03)
                rates[place][block].append((500 if is_there else 1000 * own) * noise)
                delays[place][block].append(
                    random_.uniform(0.3, 0.6) if is_there else random_.uniform(0, 0.03)
                )
    return side(rates[0], delays[0]), side(rates[1], delays[1])


# --- whose hand it may have been ------------------------------------------------------------


def sat(**changes: object) -> Run:
    """Two servers in four blocks, in each of whose second rounds the client lacked its core."""
    made = run([case("a"), case("b")], (), 4)
    for number in range(4):
        block = interleaved({"a": [1100.0, 1000.0] * 6, "b": [1000.0] * 12}, number, number)
        trials = tuple(
            replace(
                trial,
                arm=trial.arm and replace(trial.arm, slices=tuple(map(_lacking, trial.arm.slices))),
                **changes,
            )
            for trial in block.trials
        )
        made = made.after(replace(block, trials=trials))
    return made


def _lacking(one: Slice) -> Slice:
    return replace(one, client_delayed_ns=round(one.length_ns * (PREEMPTED if one.round % 2 else CALM)))


def generator(cpus: tuple[int, ...], *, same_machine: bool) -> GeneratorSeen:
    return GeneratorSeen(
        node="10.0.0.2",
        cores=1,
        cpus=cpus,
        first_worker=0,
        clock=ClockSeen(offset_ns=0, uncertainty_ns=0, round_trip_ns=0),
        started_late_ns=0,
        measurement=measurement(),
        host=HostSeen(load_average_1m=0.0, steal_share=0.0, client_cpus_idle_share=0.5),
        same_machine=same_machine,
    )


ALONE = {
    "cores of its own": {},
    "a machine of its own": {"generators": (generator((0,), same_machine=False),)},
}
NOT_ALONE = {
    "the server has the same core": {"server": server(cpus=(0, 1))},
    "more threads than cores": {"plan": plan(threads=2)},
    "a service is about": {
        "services": (
            ServiceSeen(name="postgres", version="15", cpus=(1,), memory_bytes=1, pages_shared_out=True),
        )
    },
    "a generator on the server's machine": {"generators": (generator((0,), same_machine=True),)},
}


@pytest.mark.parametrize("changes", ALONE.values(), ids=ALONE)
def test_rounds_are_left_out_where_the_client_has_its_cores_for_itself(changes: dict[str, object]) -> None:
    seen = see_run(sat(**changes))
    assert left_out(*(one.side() for one in seen.cases)) == pytest.approx(0.5)


@pytest.mark.parametrize("changes", NOT_ALONE.values(), ids=NOT_ALONE)
def test_none_is_where_a_server_may_have_had_a_hand_in_it(changes: dict[str, object]) -> None:
    seen = see_run(sat(**changes))
    assert left_out(*(one.side() for one in seen.cases)) == 0


def test_the_report_says_how_many_rounds_ratios_leave_out() -> None:
    made = sat()
    told = list(sentences(replace(made, judgement=judge(made, 0))))
    said = "Ratios leave out rounds in which other programs kept the client from its core: 50 % of them."
    assert said in told
