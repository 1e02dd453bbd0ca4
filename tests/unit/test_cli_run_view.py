"""What is said while a study runs, event by event."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
import sample_run
from made_runs import WOBBLE, case, interleaved, run
from msgspec.structs import replace
from rich.console import Console

from assay.model.design import WarmUp
from assay.model.interleaving import ArmSnapshot, InterleavedSnapshot, SliceTimes
from assay.model.measurement import Snapshot
from assay.model.run import Judgement, Run
from assay.model.trial import Failure, WarmUpSeen
from assay.plan.next import Slot
from assay.report import run_live
from assay.report.run_live import RunView


def judging(*codes: str) -> Callable[[Run], Judgement]:
    findings = tuple(sample_run.finding(code, "warning", "quotes/go") for code in codes)
    return lambda run: replace(sample_run.judgement(), findings=findings)


BEGUN = sample_run.run(trials=(), judgement=None)
SLOTS = tuple(
    Slot(number, number // 5, number % 5, case.id) for number, case in enumerate(sample_run.CASES * 5)
)


def screen(view: RunView) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=80, color_system=None).print(view.render())
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def snapshot(completed: int) -> Snapshot:
    return Snapshot(
        phase="measured",
        elapsed_ns=2_000_000_000,
        started=completed,
        completed=completed,
        failed=3,
        bytes_read=0,
        open_connections=64,
        service_time_p50_ns=1,
        service_time_p99_ns=1,
        service_time_max_ns=1,
        client_cpu=0.5,
        windows=(),
    )


def test_a_log_has_a_line_for_every_event() -> None:
    said: list[str] = []
    view = RunView(said.append, judging("W2"))
    view.run_started(BEGUN, {})
    view.server_preparing("quotes/go (fair)", "building")
    view.server_prepared("quotes/go (fair)", "1.26", 3.2)
    view.server_failed("quotes/crystal", "crystal not found: install it with: apt-get install crystal")
    view.trial_started(SLOTS[0])
    view.phase(SLOTS[0], "measure")
    view.snapshot(SLOTS[0], snapshot(1000))
    view.trial_finished(sample_run.trial(0, "quotes/go", 0))
    view.note("something\x1b[2J")
    assert said[0].startswith("franklin: ")
    assert said[0].endswith("; run franklin-20251121-080000-3f2a")
    assert said[1:4] == [
        "quotes/go (fair): building",
        "quotes/go (fair): ready (1.26, built in 3 s)",
        "quotes/crystal: crystal not found: install it with: apt-get install crystal",
    ]
    assert said[4].startswith("[ 1/25] block 1  quotes/go: 56,200/s, p50 1.05 ms; ")
    assert said[4].endswith("findings so far: W2 warning")
    assert said[5:] == ["something\\x1b[2J"]


def test_a_server_with_several_rows_is_told_of_once() -> None:
    said: list[str] = []
    view = RunView(said.append, judging())
    for _ in range(3):
        view.server_preparing("heroes/go (fair)", "checking")
        view.server_prepared("heroes/go (fair)", "1.26", None)
        view.server_failed("heroes/lua", "no lua")
    assert said == ["heroes/go (fair): checking", "heroes/go (fair): ready (1.26)", "heroes/lua: no lua"]


def test_a_live_screen_shows_where_it_stands_and_says_only_what_is_notable() -> None:
    said: list[str] = []
    seen: list[list[str]] = []
    view = RunView(said.append, judging("W2", "S5"), refresh=lambda view: seen.append(screen(view)))
    view.run_started(BEGUN, {})
    view.server_preparing("quotes/go (fair)", "building")
    assert "preparing the servers" in seen[-1][1]
    assert seen[-1][2] == "quotes/go (fair): building"
    view.trial_started(SLOTS[0])
    view.phase(SLOTS[0], "measure")
    view.snapshot(SLOTS[0], snapshot(110_000))
    assert "block 1 of 5, trial 1 of 25" in seen[-1][1]
    assert seen[-1][2] == "quotes/go  measuring 2.0 s: 55,000/s, 3 failed"
    view.trial_finished(sample_run.trial(0, "quotes/go", 0))
    assert any(line.split() == ["quotes/go", "56,200/s", "1", "of", "5"] for line in seen[-1])
    assert seen[-1][-1] == "findings so far  W2 warning"  # S5 holds of every unfinished run
    assert len(said) == 1
    assert max(len(line) for lines in seen for line in lines) <= 80


def test_a_failing_case_is_said_once() -> None:
    said: list[str] = []
    view = RunView(said.append, judging(), refresh=lambda view: None)
    view.run_started(BEGUN, {})
    failure = Failure(stage="start", reason="it exited with 1")
    for number in (0, 5, 10):
        view.trial_started(SLOTS[number])
        view.trial_finished(replace(sample_run.trial(number, "quotes/crystal", number // 5), failure=failure))
    assert said[1:] == ["quotes/crystal: start failed: it exited with 1"]


def test_a_resumed_run_counts_what_was_done() -> None:
    seen: list[list[str]] = []
    done = sample_run.run().trials[:10]
    view = RunView(lambda line: None, judging(), lambda view: seen.append(screen(view)))
    view.run_started(replace(BEGUN, trials=done), {})
    view.trial_started(SLOTS[10])
    assert "block 3 of 5, trial 11 of 25" in seen[-1][1]


def snapshot_of(rounds: int, loaded: int = 0) -> InterleavedSnapshot:
    """Two arms after so many measured rounds; the first serves a tenth more."""
    block = interleaved(
        {
            name: [rate * (1 + WOBBLE[(n * place) % 10]) for n in range(rounds)]
            for place, (name, rate) in enumerate(RATES.items())
        }
    )
    slices = [trial.arm.slices for trial in block.trials if trial.arm]
    times = SliceTimes(
        number=2 * rounds,
        round=rounds,
        place=0,
        arm=loaded,
        phase="measured",
        begin_ns=0,
        start_ns=0,
        end_ns=1,
    )
    arms = tuple(ArmSnapshot(snapshot=snapshot(1000), ended=None, slices=each) for each in slices)
    return InterleavedSnapshot(elapsed_ns=3_000_000_000, slice=times, arms=arms)


RATES = {"one": 11_000.0, "two": 10_000.0}


def test_the_live_screen_shows_whose_slice_it_is_and_how_the_ratio_s_interval_shrinks() -> None:
    view = RunView(lambda text: None, judging(), refresh=lambda view: None)
    view.run_started(BEGUN, {})
    view.block_started(SLOTS[:2])
    widths = []
    for rounds in (1, 2, 6, 24):
        view.slices(SLOTS[:2], snapshot_of(rounds, loaded=1))
        shown = screen(view)
        [own] = [line for line in shown if line.startswith("▶")]
        assert own.startswith(f"▶ {sample_run.CASES[1].name}")
        pairs = [line for line in shown if "in this block" in line]
        assert len(pairs) == (rounds >= 6)
        widths += [
            float(high) - float(low) for low, high in re.findall(r"\[([\d.]+), ([\d.]+)\]", "".join(pairs))
        ]
    assert any(line.endswith("24 slices") and "measuring: 11,000/s" in line for line in shown)
    assert "in slices of 100 ms for 3.0 s, 24 rounds measured" in "\n".join(shown)
    assert widths[1] < widths[0] < 0.1
    assert max(map(len, shown)) <= 80


def test_of_many_candidates_the_screen_shows_the_first_pairs() -> None:
    many = snapshot_of(10)
    arms = many.arms * 5
    said = [
        line.plain
        for line in run_live.slice_lines([f"server {n}" for n in range(10)], replace(many, arms=arms))
    ]
    assert said[-1].strip() == "and 4 more pairs"
    assert len(said) == 1 + 10 + 5 + 1


def test_a_arm_that_ended_or_waits_is_told_so() -> None:
    seen = snapshot_of(5)
    gone = replace(seen.arms[1], ended="failure")
    waits = replace(seen.arms[0], slices=())
    told = [line.plain for line in run_live.slice_lines(["a", "b"], replace(seen, arms=(waits, gone)))]
    assert told[1].endswith("waiting for its first slice") and told[2].endswith("ended")


def test_a_log_tells_a_comparison_s_blocks_as_such() -> None:
    said: list[str] = []
    cases = [case("one"), case("two")]
    made = run(cases, (), 0, {"kind": "versus", "margin": 0.02})
    view = RunView(said.append, judging())
    view.run_started(made, {})
    for number in range(2):
        rates = {name: [rate] * 8 for name, rate in RATES.items()}
        view.block_started(
            [Slot(2 * number + place, number, place, one.id) for place, one in enumerate(cases)]
        )
        view.block_finished(interleaved(rates, number, number))
    assert said[-1].startswith("2 blocks, 3 s of load: one / two 1.10")


def test_the_time_left_counts_a_block_once_not_for_each_of_its_arms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    view = RunView(said.append, judging())
    made = run([case("one"), case("two")], (), blocks=4)
    view.run_started(made, {})
    now_s = 100.0
    monkeypatch.setattr("assay.report.run_live.time.monotonic", lambda: now_s)
    view.block_started([Slot(place, 0, place, name) for place, name in enumerate(RATES)])
    now_s = 160.0
    view.block_finished(interleaved({name: [rate] * 8 for name, rate in RATES.items()}))
    assert "3 min 00 s left" in said[-1]  # three more blocks


def test_the_time_left_does_not_count_on_another_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    view = RunView(said.append, judging())
    made = run([case("one"), case("two")], (), blocks=4)
    warm_ups = dict.fromkeys(RATES, WarmUp(min_ns=1_000_000_000, max_ns=2_000_000_000))
    view.run_started(
        replace(made, header=replace(made.header, design=replace(made.header.design, warm_ups=warm_ups))), {}
    )
    now_s = 100.0
    monkeypatch.setattr("assay.report.run_live.time.monotonic", lambda: now_s)
    view.block_started([Slot(place, 0, place, name) for place, name in enumerate(RATES)])
    now_s = 160.0
    sat = interleaved({name: [rate] * 100 for name, rate in RATES.items()})
    trials = []
    for one in sat.trials:
        assert one.arm is not None and one.measurement is not None
        slices = tuple(
            replace(each, phase="warmup" if each.round < 60 else "measured") for each in one.arm.slices
        )
        trials.append(
            replace(
                one,
                arm=replace(one.arm, slices=slices),
                measurement=replace(one.measurement, measured_ns=4_000_000_000),
                warm_up=WarmUpSeen(steady=True, bound_ns=2_000_000_000),
            )
        )
    view.block_finished(replace(sat, trials=tuple(trials)))
    assert "2 min 36 s left" in said[-1]  # of each server's 10 s of load the pilot had 4
