"""Rule S2 where servers are interleaved: few slices in each of several blocks."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence

import pytest
from made_runs import SECOND, case, interleaved, run
from msgspec.structs import replace

from assay.model.finding import Finding
from assay.model.run import Run
from assay.model.trial import Case, WarmUpSeen
from assay.verdict import judge

Course = Callable[[int], float]


def level(round_number: int) -> float:
    return 1.0


def warms(round_number: int) -> float:
    return 0.7 + 0.08 * round_number


def tires(round_number: int) -> float:
    return 1.0 if round_number < 3 else 0.6


def sat(
    servers: Mapping[str, Course],
    blocks: int = 6,
    *,
    slices: int = 8,
    mood: Course = level,
    swing: float = 0.02,
    seed: int = 1,
    cases: Sequence[Case] = (),
) -> Run:
    """Servers that do these things with their age, on a machine that does `mood` to all of them."""
    noise = random.Random(seed)
    made = run(cases or [case(name) for name in servers], (), blocks)
    for number in range(blocks):
        at = {
            name: [
                10_000
                * (place + 1)
                * course(round_number)
                * mood(round_number)
                * math.exp(noise.gauss(0, swing))
                for round_number in range(slices)
            ]
            for place, (name, course) in enumerate(servers.items())
        }
        made = made.after(interleaved(at, number, number))
    return made


def about_age(made: Run) -> dict[str, Finding]:
    return {one.subject.case or "": one for one in judge(made, 0).findings if one.code == "S2"}


@pytest.mark.parametrize("slices", [6, 8])
@pytest.mark.parametrize(
    ("course", "effect", "words"),
    [(warms, "at least", "faster"), (tires, "at most", "slower")],
)
def test_a_server_that_changes_with_its_age_is_seen_in_few_slices(
    course: Course, effect: str, words: str, slices: int
) -> None:
    found = about_age(sat({"a": level, "b": course, "c": level}, slices=slices))
    assert list(found) == ["b"]
    assert (found["b"].severity, found["b"].on_throughput) == ("warning", effect)
    assert found["b"].because == f"it was still getting {words}"
    assert "over the age that 6 trials share, " in found["b"].evidence


def test_three_blocks_are_enough() -> None:
    assert about_age(sat({"a": level, "b": warms}, 3))["b"].on_throughput == "at least"


def test_a_restless_machine_alone_is_no_server_s_doing() -> None:
    warning = [
        seed
        for seed in range(40)
        if any(
            one.severity == "warning"
            for one in about_age(sat(dict.fromkeys("abc", level), swing=0.4, seed=seed)).values()
        )
    ]
    assert len(warning) <= 1


def test_what_all_servers_of_a_block_do_is_told_and_bounds_none() -> None:
    found = about_age(sat(dict.fromkeys("abc", level), mood=lambda round_number: 1.2 - 0.05 * round_number))
    assert list(found) == ["a", "b", "c"]
    assert {one.severity for one in found.values()} == {"note"}
    assert found["a"].evidence.endswith(
        "; the servers beside it did alike at the same time, so it is not this one's alone"
    )


def test_a_server_s_own_control_warms_with_it_and_excuses_nothing() -> None:
    control = case("a again", role="control", control_of="a")
    made = sat({"a": warms, "a again": warms}, cases=[case("a"), control])
    assert about_age(made)["a"].severity == "warning"


def bound(made: Run, after: int) -> Run:
    """The run in which each of the first trials was warmed up to its bound, the others as these showed."""
    watched = WarmUpSeen(steady=False, bound_ns=3 * SECOND, reason="its halves differ by 9.0 %")
    shown = WarmUpSeen(steady=True, bound_ns=SECOND)
    trials = tuple(
        replace(one, warm_up=watched if one.block < after else shown) if one.case == "a" else one
        for one in made.trials
    )
    return replace(made, trials=trials)


def test_a_bound_that_is_too_short_is_the_study_s_fault_however_few_the_slices() -> None:
    one = about_age(bound(sat({"a": level, "b": level}), 2))["a"]
    assert (one.severity, one.on_throughput) == ("note", "none")
    assert one.evidence == (
        "the warm-up was ended at its bound of 3.00 s in 2 of 2 trials (its halves differ by 9.0 %); what "
        "was measured after it is steady; that bound is too short for this server"
    )
    assert one.remedy == "raise the study's warm_up_max_s"
    warming = about_age(bound(sat({"a": warms, "b": level}), 2))["a"]
    assert warming.severity == "warning"
    assert warming.evidence.endswith("; the warm-up had reached its bound in most trials")


def test_too_few_slices_are_said_to_tell_nothing() -> None:
    few = about_age(sat({"a": warms, "b": level}, 2))["a"]
    assert (few.severity, few.evidence) == (
        "note",
        "too few slices to tell whether its level still changed: 8 in each of 2 blocks; it takes 4 in 3",
    )
    reached = about_age(bound(sat({"a": warms, "b": level}, 2), 2))["a"]
    assert "(its halves differ by 9.0 %); too few slices to tell" in reached.evidence
    assert "is steady" not in reached.evidence


def test_blocks_of_unequal_slices_are_not_said_to_have_been_compared() -> None:
    made = sat({"a": warms, "b": level})
    trials = []
    for one in made.trials:
        assert one.measurement is not None
        width = 100_000_000 * (1 + one.block % 2)
        windows = tuple(replace(window, length_ns=width) for window in one.measurement.windows)
        trials.append(replace(one, measurement=replace(one.measurement, windows=windows)))
    found = about_age(replace(made, trials=tuple(trials)))
    assert len(found) == 2
    assert all("slices of several lengths" in one.evidence for one in found.values())


def shortened(made: Run, to_ns: int) -> Run:
    """The same answers in slices of another length."""
    for number, block in enumerate(made.blocks):
        trials = []
        for trial in block.trials:
            assert trial.arm is not None and trial.measurement is not None
            slices = tuple(replace(one, length_ns=to_ns) for one in trial.arm.slices)
            windows = tuple(replace(one, length_ns=to_ns) for one in trial.measurement.windows)
            trials.append(
                replace(
                    trial,
                    arm=replace(trial.arm, slices=slices),
                    measurement=replace(trial.measurement, windows=windows),
                )
            )
        blocks = list(made.blocks)
        blocks[number] = replace(block, trials=tuple(trials))
        made = replace(made, blocks=tuple(blocks), trials=tuple(t for s in blocks for t in s.trials))
    return made


def test_short_slices_are_judged_several_at_once() -> None:
    """24 slices of 25 ms are six windows: what one of them does alone is nothing that a window does."""

    def blips(round_number: int) -> float:
        return 0.5 if round_number in (11, 12, 13) else 1.0

    long = {"a": blips, "b": level}
    assert "a" in about_age(sat(long, slices=24))
    assert "a" not in about_age(shortened(sat(long, slices=24), 25_000_000))
    falls: dict[str, Course] = {"a": lambda round_number: 1.0 if round_number < 12 else 0.6, "b": level}
    [found] = [
        one for name, one in about_age(shortened(sat(falls, slices=24), 25_000_000)).items() if name == "a"
    ]
    assert found.on_throughput == "at most" and found.severity == "warning"
