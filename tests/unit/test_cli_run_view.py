"""What is said while a study runs, event by event."""

from __future__ import annotations

import io
from collections.abc import Callable

import sample_run
from msgspec.structs import replace
from rich.console import Console

from assay.design import Slot
from assay.report.run_live import RunView
from assay.values.measurement import Snapshot
from assay.values.run import Judgement, Run
from assay.values.trial import Failure


def judging(*codes: str) -> Callable[[Run], Judgement]:
    findings = tuple(sample_run.finding(code, "flagged", "quotes/go") for code in codes)
    return lambda run: replace(sample_run.JUDGEMENT, findings=findings)


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
    assert said[4].startswith("[ 1/25] block 1  quotes/go: 56.2 k/s, p50 1.14 ms; ")
    assert said[4].endswith("findings so far: W2 flagged")
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
    assert seen[-1][2] == "quotes/go  measuring 2.0 s: 55.0 k/s, 3 failed"
    view.trial_finished(sample_run.trial(0, "quotes/go", 0))
    assert any(line.split() == ["quotes/go", "56.2", "k/s", "1", "of", "5"] for line in seen[-1])
    assert seen[-1][-1] == "findings so far  W2 flagged"  # S5 holds of every unfinished run
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
