"""A new kind of run is one design and one file of its own words: this one is both, and everything else holds.

A soak offers one server the same load a number of times and says whether it became slower.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import made_servers
import msgspec
import pytest
from made_candidates import command
from msgspec.structs import replace
from rich.console import Console

from assay import runner as trial
from assay import store
from assay.model.design import Candidate, CandidatesDesign, Design, Terms, WarmUp
from assay.model.plan import Closed, LoadPlan, StopAfter
from assay.model.run import Header, Judgement, Run, TrialDone
from assay.plan.next import NEXT, Due, Slot, next_trial
from assay.plan.words.case import cores_for, drafted, resolve
from assay.report import markdown, run_live, terminal
from assay.report.live_words import LiveWords, RunProgress
from assay.report.model import answer
from assay.report.model.run_document import document
from assay.report.model.values import Answer
from assay.report.run_live import RunView
from assay.stats import rate_per_s
from assay.store import lines
from assay.verdict import judge

# --- the design ---------------------------------------------------------------------------


class SoakDesign(CandidatesDesign, frozen=True, kw_only=True, tag="soak", tag_field="kind"):
    """Does the server become slower? The same load, so many `times`."""

    times: int


def next_of_soak(run: Run) -> Due | None:
    """The same again, until it was asked often enough."""
    design, number = run.header.design, len(run.trials)
    assert isinstance(design, SoakDesign)
    [case] = run.header.cases
    slot = Slot(number, number, 0, case.id)
    return Due(slot, design.plans[case.id], design.warm_ups[case.id]) if number < design.times else None


# --- its words ----------------------------------------------------------------------------


def sentences(run: Run) -> Answer:
    """How the last trial compares with the first."""
    rates = [rate_per_s(one.measurement) for one in run.trials if one.measurement]
    return Answer(
        headline=(f"soaked {len(rates)} times: the last is {rates[-1] / rates[0]:.1f} of the first",)
    )


class SoakWords(LiveWords):
    """A line a trial."""

    def ended(self, seen: RunProgress) -> str:
        """Which time it was."""
        return f"soaked once more ({len(seen.run.trials)})"


# --- what a line in each table does -------------------------------------------------------


class SoakHeader(Header, frozen=True, kw_only=True, tag="header", tag_field="record"):
    """The union of designs with one more."""

    design: Design | SoakDesign  # type: ignore[assignment]  # what a line in `Design` would say


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The lines that a new kind adds to the tables."""
    tables: Any = (NEXT, answer.SENTENCES, run_live.WORDS)
    for table, words in zip(tables, (next_of_soak, sentences, SoakWords()), strict=True):
        monkeypatch.setitem(table, SoakDesign, words)
    monkeypatch.setattr(lines, "_PRESENT", msgspec.json.Decoder(SoakHeader | TrialDone | Judgement))
    yield


def soak(folder: Path, times: int = 3) -> SoakDesign:
    plan = LoadPlan(url="http://127.0.0.1/", load=Closed(connections=2), stop=StopAfter(ns=150_000_000))
    design = SoakDesign(
        title="Soaked",
        candidates=(Candidate(name="server", command=command(folder)),),
        terms=Terms(url="http://127.0.0.1:{port}/", folder=str(folder), ready_timeout_s=20),
        budget_ns=0,
        times=times,
    )
    return drafted(design, plan, WarmUp(min_ns=0, max_ns=0))


def test_it_is_run_stored_read_judged_and_told_like_any_other(tmp_path: Path) -> None:
    settings, design, said = made_servers.settings(tmp_path), soak(tmp_path), list[str]()
    resolved = resolve("soak", design, cores_for(design.candidates))
    with trial.machine_lock(settings):
        run = trial.begin(resolved, settings, RunView(said.append, judge), command=["test"])
    assert [one.failure for one in run.trials] == [None] * 3
    assert said[-3:] == [f"soaked once more ({number})" for number in (1, 2, 3)]
    stored = store.load(store.find(settings.results, "latest"))
    assert isinstance(stored.header.design, SoakDesign)
    assert (stored.trials, stored.judgement) == (run.trials, run.judgement)
    assert stored.judgement is not None and stored.judgement.complete
    screen = io.StringIO()
    Console(file=screen, width=100).print(terminal.in_full(document(stored)))
    for shown in (screen.getvalue(), markdown.render(document(stored))):
        assert "soaked 3 times: the last is" in shown


def test_it_is_gone_on_with_where_it_was_cut_off(tmp_path: Path) -> None:
    class AfterOne(trial.Silent):
        def trial_finished(self, trial: object) -> None:
            raise KeyboardInterrupt

    settings, design = made_servers.settings(tmp_path), soak(tmp_path)
    resolved = resolve("soak", design, cores_for(design.candidates))
    with pytest.raises(trial.Interrupted, match="interrupted after 1 trial"):
        trial.begin(resolved, settings, AfterOne(), command=["test"])
    with trial.resume(store.find(settings.results, "latest"), settings) as resumed:
        run = trial.go_on(resumed, settings)
    assert [one.number for one in run.trials] == [0, 1, 2] and next_trial(run) is None
    assert replace(resumed.resolved, cases=()).design == design
