"""Searches for a capacity within a study: their cases, their rates, their answers and what rests on them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
import pytest
from made_runs import case, measurement, run, trial
from rich.console import Console
from sample_run import begun, redesigned
from test_capacity_answer import at, seen
from test_control import study
from test_rates import settle

from assay.core.errors import InputError, ServerFailed
from assay.model.design import StudyDesign
from assay.model.estimate import ClaimVerdict
from assay.model.finding import Claim, Comparison
from assay.model.plan import Open
from assay.model.run import Run
from assay.model.trial import Failure, Search, Trial
from assay.plan.next.study import slots_of
from assay.plan.resolved import ResolvedRun
from assay.report import markdown, pages, terminal
from assay.report.charts import charts
from assay.report.model import rows
from assay.report.model.run_document import document
from assay.verdict import judge
from assay.verdict.search import answers_of

OBJECTIVE = "p99<50ms"
DOWN = Failure(stage="start", reason="down")
SEARCH = Search(case="a", objective=OBJECTIVE, trials=4, measure_ns=3_000_000_000)
ENVIRONMENT = run([], []).header.environment


@pytest.fixture
def made(tmp_path: Path) -> ResolvedRun:
    return study(tmp_path, "capacity_trials = 3", f'objective = "{OBJECTIVE}"')


def searched(truths: dict[str, float], closed_per_s: float = 10_000, blocks: int = 6) -> Run:
    """A run of searches that goes on until each has ended; a server holds below its truth."""
    cases = [case(name) for name in truths]
    cases += [
        case(f"{name}@capacity", load="l, capacity", search=msgspec.structs.replace(SEARCH, case=name))
        for name in truths
    ]
    trials: list[Trial] = []
    for block in range(blocks):
        trials += [trial(name, block, measurement(closed_per_s)) for name in truths]
        for name, truth in truths.items():
            for _ in range(SEARCH.trials):
                now = answers_of(run(cases, trials, blocks))[f"{name}@capacity"]
                assert now is not None
                if (rate := now.search.ask()) is not None:
                    late = seen(rate, 20 if rate < truth else 90)
                    trials.append(trial(f"{name}@capacity", block, late, plan=at(rate)))
    return judged(run(cases, trials, blocks))


def judged(made: Run, **study: object) -> Run:
    made = redesigned(made, **study)
    return msgspec.structs.replace(made, judgement=judge(made, 0))


def test_each_candidate_of_the_load_is_searched_in_each_block(made: ResolvedRun) -> None:
    cases = {one.case.id: one for one in made.cases if one.case.search}
    assert set(cases) == {"c/a@capacity", "c/b@capacity"}
    search = cases["c/a@capacity"].case.search
    assert search == Search(case="c/a", objective=OBJECTIVE, trials=3, measure_ns=3_000_000_000)
    assert isinstance(cases["c/a@capacity"].plan.load, Open)
    for block in range(made.blocks):
        inside = [slot.case for slot in slots_of(begun(made).header) if slot.block == block]
        assert inside.count("c/a@capacity") == inside.count("c/b@capacity") == 3
        assert not any("@" in one for one in inside[:4])
    assert made.trials == 6 * (4 + 2 * 3)


def test_a_quick_look_leaves_it_out_and_says_so(tmp_path: Path) -> None:
    made = study(tmp_path, "", f'latency = true, objective = "{OBJECTIVE}"', quick=True)
    assert not any(one.case.dependent for one in made.cases)
    assert "; left out: open loops, searches for a capacity; " in made.notes[0]


def test_the_next_rate_follows_from_the_trials_so_far(made: ResolvedRun) -> None:
    trials = [trial("c/a", 0, measurement(10_000))]
    first = settle(made, "c/a@capacity", trials)
    assert isinstance(first.plan.load, Open)
    assert first.plan.load.stages[0].to_per_s == pytest.approx(6_000)
    trials.append(trial("c/a@capacity", 0, seen(6_000, 90), plan=at(6_000)))
    second = settle(made, "c/a@capacity", trials)
    assert isinstance(second.plan.load, Open)
    assert second.plan.load.stages[0].to_per_s < 6_000


def test_a_server_whose_closed_loop_failed_is_not_searched(made: ResolvedRun) -> None:
    with pytest.raises(ServerFailed, match="no range to search"):
        settle(made, "c/a@capacity", [trial("c/a", 0, DOWN)])


def test_a_server_too_slow_for_the_objective_says_so(made: ResolvedRun) -> None:
    with pytest.raises(ServerFailed, match="p99<50ms needs 459 requests a trial"):
        settle(made, "c/a@capacity", [trial("c/a", 0, measurement(2))])


def test_a_known_truth_is_found_and_ends_the_search_early() -> None:
    made = searched({"a": 7_000})
    found = answers_of(made)["a@capacity"]
    assert found is not None and found.state == "found"
    assert found.capacity is not None and found.capacity.low is not None and found.capacity.high is not None
    assert found.capacity.low <= 7_000 <= found.capacity.high
    assert len(found.steps) < SEARCH.trials * 6
    assert made.judgement is not None and made.judgement.complete  # although blocks are without a trial of it
    place = next(one for one in made.judgement.ranking if one.case == "a@capacity")
    assert place.throughput == found.capacity and place.rank is None


def test_a_search_that_has_not_ended_leaves_the_run_incomplete() -> None:
    made = searched({"a": 7_000})
    cut = judged(msgspec.structs.replace(made, trials=made.trials[:5]))
    assert cut.judgement is not None and not cut.judgement.complete


def test_rates_beyond_the_capacity_are_nobodys_fault() -> None:
    made = searched({"a": 7_000})
    assert made.judgement is not None
    about = {one.code for one in made.judgement.findings if one.subject.case == "a@capacity"}
    assert about == {"B1"}


@pytest.mark.parametrize(
    ("truths", "expected"),
    [((8_000, 4_000), "supported"), ((4_000, 8_000), "contradicted"), ((6_000, 6_000), "inconclusive")],
)
def test_capacities_can_be_claimed(truths: tuple[float, float], expected: str) -> None:
    pair = Comparison(metric="capacity", a="a@capacity", b="b@capacity", published_ratio=2.0)
    claims = (Claim(id="c", statement="a carries twice as much", comparisons=(pair,)),)
    made = judged(searched(dict(zip("ab", truths, strict=True))), claims=claims)
    assert made.judgement is not None
    (told,) = made.judgement.claims
    assert told.verdict == expected
    assert told.measured is not None
    assert told.measured.value == pytest.approx(truths[0] / truths[1], rel=0.1)


@pytest.mark.parametrize(
    ("truths", "relation", "expected", "said"),
    [
        ((1e9, 4_000), "more", "supported", "the bound of at least 2."),
        ((1e9, 4_000), "less", "contradicted", "the bound of at least 2."),
        ((4_000, 1e9), "more", "contradicted", "the bound of at most 0."),
        ((4_000, 1e9), "equal", "contradicted", "the bound of at most 0."),
        ((1e9, 1e9), "more", "inconclusive", "not known from the sides that would bound their ratio"),
    ],
)
def test_a_capacity_known_from_one_side_decides_in_one_direction(
    truths: tuple[float, float], relation: Literal["more", "less", "equal"], expected: str, said: str
) -> None:
    pair = Comparison(metric="capacity", a="a@capacity", b="b@capacity", relation=relation)
    claims = (Claim(id="c", statement="more", comparisons=(pair,)),)
    told = _claim(judged(searched(dict(zip("ab", truths, strict=True))), claims=claims))
    assert told.verdict == expected and said in told.reason


def _claim(made: Run) -> ClaimVerdict:
    assert made.judgement is not None
    (told,) = made.judgement.claims
    return told


def test_a_claim_on_capacity_names_the_searches(tmp_path: Path) -> None:
    claim = (
        '[[claims]]\nid = "x"\nstatement = "A more"\n'
        'comparisons = [{ metric = "capacity", a = "c/a", b = "c/b" }]'
    )
    made = study(tmp_path, "capacity_trials = 3", f'objective = "{OBJECTIVE}"', claim)
    assert isinstance(made.design, StudyDesign)
    (pair,) = made.design.claims[0].comparisons
    assert (pair.a, pair.b) == ("c/a@capacity", "c/b@capacity")


def test_the_report_has_a_table_of_capacities() -> None:
    made = searched({"a": 7_000, "b": 1e9})
    page = markdown.render(document(made))
    assert page.count("## Capacity: l, capacity") == 1
    line = next(line for line in page.splitlines() if line.startswith("| a |") and " – " in line)
    assert "| 70 % |" in line or "| 69 % |" in line or "| 71 % |" in line
    assert "| b | ≥ 11,500/s |" in page
    console = Console(width=120)
    with console.capture() as capture:
        console.print(terminal.in_full(document(made)))
    assert "The highest rate at which the objective held" in " ".join(capture.get().split())


def test_the_mean_of_the_rates_is_no_figure() -> None:
    made = searched({"a": 7_000})
    unjudged = msgspec.structs.replace(made, judgement=None)
    (row,) = (row for part in rows.sections(unjudged) for row in part.rows if row.case.search)
    assert row.throughput is None and row.response_p99_ns is None


@pytest.mark.parametrize(
    ("load", "problem"),
    [
        ('objective = "fast"', "'fast' is not an objective"),
        ('objective = "p99<50ms", rate_per_s = 100', "follows a closed loop"),
    ],
)
def test_a_wrong_objective_is_refused(tmp_path: Path, load: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        study(tmp_path, "", load)


def test_the_page_and_its_charts_show_them() -> None:
    made = searched({"a": 7_000, "b": 1e9})
    page = pages.of_run(made)
    assert "<h2>Capacity: l, capacity</h2>" in page and "≥ 11,500/s" in page
    chart = next(one for one in charts(made) if one.name.startswith("capacity"))
    assert {row[0] for row in chart.rows} == {"a", "b"}
    assert next(row for row in chart.rows if row[0] == "b")[1] == "≥ 11,500/s"
    assert not any(one.name.startswith("cpu-l-capacity") for one in charts(made))
