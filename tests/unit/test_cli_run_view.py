"""What is said while a study runs, event by event."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
import sample_run
from made_runs import WOBBLE, case, interleaved, plan, run
from msgspec.structs import replace
from rich.console import Console

from assay.model.design import WarmUp
from assay.model.interleaving import ArmSnapshot, InterleavedSnapshot, SliceTimes
from assay.model.measurement import Snapshot
from assay.model.run import Judgement, Run
from assay.model.trial import Failure
from assay.plan.forecast import Cost, Left
from assay.plan.next import Slot
from assay.report import run_live
from assay.report.live_words import left_words
from assay.report.run_live import RunView


def judging(*codes: str) -> Callable[[Run], Judgement]:
    findings = tuple(sample_run.finding(code, "warning", "quotes/go") for code in codes)
    return lambda run: replace(sample_run.judgement(), findings=findings)


def planned(made: Run) -> Run:
    """The run with the plans and warm-ups that one which goes on has."""
    cases = [one.id for one in made.header.cases]
    warm_up = WarmUp(min_ns=1_000_000_000, max_ns=2_000_000_000)
    design = replace(
        made.header.design, plans=dict.fromkeys(cases, plan()), warm_ups=dict.fromkeys(cases, warm_up)
    )
    return replace(made, header=replace(made.header, design=design))


BEGUN = planned(sample_run.run(trials=(), judgement=None))
SLOTS = tuple(
    Slot(number, number // 5, number % 5, case.id) for number, case in enumerate(sample_run.CASES * 5)
)


def screen(view: RunView) -> list[str]:
    return screen_of(view, 80)


def screen_of(view: RunView, width: int) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(view.render())
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


BLOCK_OF_FIVE = [sample_run.trial(number, one.id, 0) for number, one in enumerate(sample_run.CASES)]


def test_a_log_has_a_line_a_block() -> None:
    said: list[str] = []
    view = RunView(said.append, judging("W2"))
    view.run_started(BEGUN, {})
    view.server_preparing("quotes/go (fair)", "checking")
    view.server_preparing("quotes/go (fair)", "building")
    view.server_prepared("quotes/go (fair)", "1.26", 3.2)
    view.server_prepared("quotes/null (fair)", "1", None)
    view.server_failed("quotes/crystal", "crystal not found: install it with: apt-get install crystal")
    for slot, done in zip(SLOTS, BLOCK_OF_FIVE, strict=False):
        view.trial_started(slot)
        view.phase(slot, "measure")
        view.snapshot(slot, snapshot(1000))
        view.trial_finished(done)
    view.note("something\x1b[2J")
    assert said[0].startswith("franklin: 5 cases in 5 blocks, about ")
    assert said[0].endswith(" of measuring; run franklin-20251121-080000-3f2a")
    assert said[1:4] == [
        "quotes/go (fair): building",
        "quotes/go (fair): ready (1.26, built in 3 s)",
        "quotes/crystal: crystal not found: install it with: apt-get install crystal",
    ]
    assert said[4].startswith("[1/5] block 1")
    assert "56,200/s" in said[4] and ", 1 more, 1 not measured; " in said[4]
    assert said[4].endswith(" left; findings so far: W2 warning")
    assert said[5:] == ["something\\x1b[2J"]


def test_a_server_with_several_rows_is_told_of_once() -> None:
    said: list[str] = []
    view = RunView(said.append, judging())
    for _ in range(3):
        view.server_preparing("heroes/go (fair)", "building")
        view.server_prepared("heroes/go (fair)", "1.26", 2.0)
        view.server_failed("heroes/lua", "no lua")
    ready = "heroes/go (fair): ready (1.26, built in 2 s)"
    assert said == ["heroes/go (fair): building", ready, "heroes/lua: no lua"]


COSTS = {one.id: Cost(start_s=1.0, server=f"{one.id} (fair)") for one in sample_run.CASES}


def test_a_terminal_has_one_line_that_moves_from_the_first_second_on() -> None:
    said: list[str] = []
    now_s = 100.0
    view = RunView(said.append, judging("W2"), live=True, clock=lambda: now_s)
    view.server_preparing("quotes/go (fair)", "asking it")
    assert screen(view) == ["quotes/go (fair): asking it, 0 s"]
    view.run_started(BEGUN, COSTS)
    view.server_prepared("quotes/null (fair)", "1", None)
    view.server_preparing("quotes/go (fair)", "building")
    now_s += 34
    [building] = screen(view)
    assert "1 of 5 servers ready; quotes/go (fair): building, 34 s" in building
    built_s = now_s
    view.trial_started(SLOTS[0])
    view.phase(SLOTS[0], "start")
    shown = []
    for _ in range(4):
        now_s += 0.5
        shown += screen(view)
    assert all(" left  block 1 of 5, starting quotes/" in line for line in shown)
    assert shown[-1][0] in "▏▎▍▌▋▊▉█" and len(set(shown)) > 1
    view.phase(SLOTS[0], "measure")
    view.snapshot(SLOTS[0], snapshot(110_000))
    assert "measuring quotes/go: 55,000/s, 3 failed" in screen_of(view, 200)[0]
    for slot, done in zip(SLOTS, BLOCK_OF_FIVE, strict=False):
        view.trial_started(slot)
        view.trial_finished(done)
    assert screen(view)[1].startswith(f"[1/5] block 1 in {now_s - built_s:.0f} s: ")  # the build aside
    assert len(said) == 1
    assert max(map(len, screen(view))) <= 80


def test_the_bar_is_full_at_the_end() -> None:
    view = RunView(lambda line: None, judging(), live=True)
    made = sample_run.run()
    view.run_started(replace(BEGUN, trials=made.trials[:-1]), COSTS)
    view.trial_started(SLOTS[24])
    view.trial_finished(made.trials[-1])
    line = screen(view)[0]
    assert line.startswith("█" * run_live.BAR_WIDTH) and "0 s left" in line


def test_a_failing_case_is_said_once() -> None:
    said: list[str] = []
    view = RunView(said.append, judging(), live=True)
    view.run_started(BEGUN, {})
    failure = Failure(stage="start", reason="it exited with 1")
    for number in (0, 5, 10):
        view.trial_started(SLOTS[number])
        view.trial_finished(replace(sample_run.trial(number, "quotes/crystal", number // 5), failure=failure))
    assert said[1:] == ["quotes/crystal: start failed: it exited with 1"]


def test_a_resumed_run_counts_what_was_done() -> None:
    done = sample_run.run().trials[:10]
    view = RunView(lambda line: None, judging(), live=True)
    view.run_started(replace(BEGUN, trials=done), {})
    view.trial_started(SLOTS[10])
    assert "block 3 of 5" in screen(view)[0]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.0, 0.0, "0 s left"),
        (12.2, 14.0, "13 s left"),
        (20.0, 50.0, "20 s to 50 s left"),
        (0.0, 90.0, "at most 1 min 30 s left"),
        (181.0, 204.0, "3 min 12 s left"),
        (181.0, 301.0, "3 min 00 s to 5 min 00 s left"),
        (3601.0, 7300.0, "1 h 00 min to 2 h 01 min left"),
    ],
)
def test_the_time_left_is_told_as_sure_as_it_is(low: float, high: float, said: str) -> None:
    assert left_words(Left(low, high)) == said


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


def test_the_line_says_how_many_servers_are_measured() -> None:
    view = RunView(lambda text: None, judging(), live=True)
    view.run_started(BEGUN, {})
    view.block_started(SLOTS[:2])
    cold = snapshot_of(1)
    cold = replace(cold, arms=tuple(replace(arm, slices=()) for arm in cold.arms))
    view.slices(SLOTS[:2], cold)
    assert "block 1 of 5, starting 2 servers" in screen_of(view, 200)[0]
    for slot in SLOTS[:2]:
        view.phase(slot, "measure")
    view.slices(SLOTS[:2], cold)
    assert screen_of(view, 200)[0].endswith("measuring 2 servers")
    view.slices(SLOTS[:2], snapshot_of(24))
    assert "block 1 of 5, measuring 2 servers, 24 rounds" in screen_of(view, 200)[0]


def test_a_log_tells_a_comparison_s_blocks_as_such() -> None:
    said: list[str] = []
    cases = [case("one"), case("two")]
    made = planned(run(cases, (), 0, {"kind": "versus", "margin": 0.02}))
    view = RunView(said.append, judging())
    view.run_started(made, {})
    for number in range(2):
        rates = {name: [rate] * 8 for name, rate in RATES.items()}
        view.block_started(
            [Slot(2 * number + place, number, place, one.id) for place, one in enumerate(cases)]
        )
        view.block_finished(interleaved(rates, number, number))
    assert said[-1].startswith("2 blocks, 3 s of load: one / two 1.10")
