"""What a comparison has come to, from records of known content, and the sentences that say it."""

from __future__ import annotations

import msgspec
import pytest
from made_runs import WOBBLE, case, measurement, run, trial, with_trials

from assay.core.units import times
from assay.model.measurement import Measurement, Outcome
from assay.model.run import Run
from assay.model.trial import ContractSeen, Failure
from assay.report.charts import charts
from assay.report.model import comparison
from assay.report.model.answer import state
from assay.verdict import judge
from assay.verdict.answer import answer
from assay.verdict.compare import compare
from assay.verdict.see_runs import load_ns


def compared(
    rates: dict[str, float],
    blocks: int = 8,
    *,
    noise: float = 1.0,
    control: bool = False,
    judged: bool = True,
) -> Run:
    """A comparison's record: each candidate at its rate, give or take a wobble of about `noise` x 0.6 %."""
    rules = {
        "S5": {"thresholds": {"trials": 4.0}, "reason": "r"},
        "S7": {"thresholds": {"window": 2e9}, "reason": "r"},
    }
    study = {"kind": "versus", "margin": 0.02, "rules": rules}
    cases = [case(name) for name in rates]
    if control:
        first = next(iter(rates))
        cases.append(case(f"{first} (again)", role="control", control_of=first))
        rates = {**rates, f"{first} (again)": rates[first]}
    trials = [
        trial(name, block, rate_at(per_s, block * (place + 1) + place, noise), started_at_unix_ns=block)
        for block in range(blocks)
        for place, (name, per_s) in enumerate(rates.items())
    ]
    made = run(cases, trials, 0, study)
    return msgspec.structs.replace(made, judgement=judge(made, 0)) if judged else made


def rate_at(per_s: float, step: int, noise: float) -> Measurement:
    return measurement(per_s * (1 + noise * WOBBLE[step % len(WOBBLE)]))


def test_a_clear_difference_is_a_sentence_to_quote() -> None:
    made = compared({"B": 10_000, "A": 13_100}, control=True)
    found = answer(made)
    assert found.best is not None and found.best.id == "A"
    assert [pair.settled for pair in found.pairs] == ["different"]
    assert made.judgement is not None and made.judgement.clean
    told = comparison.in_sentences(made)
    assert told.headline == ("A is faster: 1.32× B [1.31, 1.33]",)
    assert told.more[0].startswith("95 % CI of all ratios together, paired over 8 blocks,")
    assert state(made).startswith("clean: ") and not told.advice


def test_the_interval_is_the_one_that_allows_for_looking() -> None:
    made = compared({"A": 12_000, "B": 10_000})
    ratio = answer(made).pairs[0].ratio
    assert ratio is not None and ratio.method.startswith("repeated t interval")
    assert made.judgement is not None
    [_, slower] = made.judgement.ranking
    assert slower.relative_to_best is not None
    assert slower.relative_to_best.method == ratio.method  # the ranking's, too
    assert [place.rank for place in made.judgement.ranking] == [1, 2]


def with_budget(made: Run, budget_ns: int) -> Run:
    """The same trials of a comparison with this budget, judged."""
    design = msgspec.structs.replace(made.header.design, budget_ns=budget_ns)
    made = msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, design=design))
    return msgspec.structs.replace(made, judgement=judge(made, 0))


def test_the_last_look_has_all_of_the_error_that_is_left() -> None:
    made = compared({"A": 10_600, "B": 10_000}, noise=5, judged=False)
    room, ended = with_budget(made, 4 * load_ns(made)), with_budget(made, load_ns(made))
    [on_the_way], [last] = answer(room).pairs, answer(ended).pairs
    assert on_the_way.settled is None and last.settled == "different"
    assert last.ratio is not None and on_the_way.ratio is not None
    assert (last.ratio.low or 0) > (on_the_way.ratio.low or 0)
    assert ended.judgement is not None
    assert [place.rank for place in ended.judgement.ranking] == [1, 2]
    looks = [one for one in charts(ended) if one.name == "course"][0].rows
    assert looks[:2] == [one for one in charts(room) if one.name == "course"][0].rows[:2]


def test_alike_says_what_was_excluded_and_what_would_have_been_seen() -> None:
    made = compared({"A": 10_010, "B": 10_000}, blocks=10)
    found = answer(made)
    assert found.settled and found.pairs[0].settled == "alike"
    told = comparison.in_sentences(made)
    assert told.headline[0].startswith("B and A are equivalent: 1.00× [0.998, 1.0")
    assert told.more[1].startswith("B / A: equivalent to within 2.0 %; this run would have seen ")


def test_too_noisy_to_settle_says_what_would() -> None:
    made = with_budget(compared({"A": 10_200, "B": 10_000}, blocks=5, noise=5), 10**12)
    found = answer(made)
    assert not found.settled
    told = comparison.in_sentences(made)
    [first], second = told.headline, told.advice
    assert first == "B and A are not told apart: B / A 1.00× [0.89, 1.12]"
    assert second.startswith("Not settled: about ") and "--budget" in second
    more = int(second.split()[3])
    assert found.pairs[0].blocks_needed == 5 + more


def test_the_a_a_control_raises_the_floor() -> None:
    quiet, loud = (compared({"A": 10_300, "B": 10_000}, control=True, noise=noise) for noise in (0.2, 3.5))
    assert answer(quiet).pairs[0].settled == "different"
    assert answer(loud).pairs[0].settled is None


def test_candidates_nearer_than_one_is_to_itself_are_not_called_alike() -> None:
    made = compared({"A": 10_000, "B": 10_000}, blocks=10, control=True, judged=False)
    unlike = tuple(
        msgspec.structs.replace(one, measurement=rate_at(10_700, one.block, 0.2))
        if one.case == "A (again)"
        else one
        for one in made.trials
    )
    made = msgspec.structs.replace(made, trials=unlike)
    made = msgspec.structs.replace(made, judgement=judge(made, 0))
    [pair] = answer(made).pairs
    assert pair.settled is None and pair.blocks_needed is None  # no number of blocks takes the bias away
    assert pair.detectable is not None and pair.detectable > 1.07
    assert pair.ratio is not None and pair.ratio.low is not None and pair.ratio.low < 0.95
    [chart] = [one for one in charts(made) if one.name == "course"]
    assert chart.rows[-1][2] == times(pair.ratio.low)  # what is drawn is wider as well


def test_several_candidates_share_the_error() -> None:
    made = compared({"A": 12_000, "B": 10_000, "C": 9_000})
    alone = compared({"A": 12_000, "B": 10_000})
    pairs = {pair.other.id: pair.ratio for pair in answer(made).pairs}
    single = answer(alone).pairs[0].ratio
    assert pairs.keys() == {"B", "C"}
    assert single is not None and single.low is not None and single.high is not None
    shared = pairs["B"]
    assert shared is not None and shared.low is not None and shared.high is not None
    assert shared.low < single.low and shared.high > single.high


def test_sentence_table_and_record_show_one_interval_of_a_pair_also_where_a_candidate_is_void() -> None:
    made = compared({"A": 12_000, "B": 10_000, "C": 9_000}, judged=False)
    wrong = ContractSeen(before=5, before_wrong=1, during=1000, during_wrong=0, after=5, after_wrong=0)
    made = with_trials(made, {"C": {"contract": wrong}})
    made = msgspec.structs.replace(made, judgement=judge(made, 0))
    assert made.judgement is not None
    (kept,) = made.judgement.comparisons
    told = next(pair.ratio for pair in answer(made).pairs if pair.other.id == "B")
    row = next(row.relative_to_best for row in made.judgement.ranking if row.case == "B")
    [chart] = [one for one in charts(made) if one.name.startswith("course")]
    assert kept.known is not None and told is not None and row is not None
    assert (kept.known.low, kept.known.high) == (told.low, told.high)
    assert row.low == pytest.approx(1 / (told.high or 0)) and row.high == pytest.approx(1 / (told.low or 0))
    assert chart.rows[-1][2:] == (times(told.low or 0), times(told.high or 0))
    (change, *_) = compare(made, made, {}, [("B", "A")]).changes
    assert change.change == told


def test_a_candidate_that_was_never_measured_is_said() -> None:
    failed = Failure(stage="start", reason="it ended")
    trials = [trial("A", block, measurement(1000)) for block in range(4)]
    trials += [trial("B", block, failed) for block in range(2)]
    made = run([case("A"), case("B")], trials, 0, {"kind": "versus"})
    made = msgspec.structs.replace(made, judgement=judge(made, 0))
    assert not answer(made).settled
    assert comparison.in_sentences(made).headline == (
        "B was not measured: start failed: it ended, and it was tried no more",
        "Nothing can be compared",
    )


@pytest.mark.parametrize(
    ("failed", "why"),
    [
        (20_000, "all of its 40,000 requests failed (unexpected status, timeout)"),
        (0, "none of its answers came within the time that was measured"),
    ],
)
def test_a_candidate_of_which_no_answer_was_right_is_said_with_what_became_of_them(
    failed: int, why: str
) -> None:
    counts = {"timeout": 1, "unexpected_status": failed - 1}
    kinds = tuple(Outcome(origin="peer", kind=kind, count=n) for kind, n in counts.items())
    wrong = measurement(completed=0, failed=failed, outcomes=kinds if failed else ())
    trials = [trial(name, 0, measurement(1000) if name == "A" else wrong) for name in ("A", "B", "B")]
    made = run([case("A"), case("B")], trials, 0, {"kind": "versus"})
    assert comparison.in_sentences(made).headline == (
        f"B was not measured: {why}, and it was tried no more",
        "Nothing can be compared",
    )
    assert comparison.state(made).endswith(f" of load: B: {why}")


def spoilt(case: str, per_s: int, **changes: object) -> Run:
    """A comparison with a full generator in front of one candidate."""
    made = compared({"A": 12_000, "B": 10_000}, judged=False)
    busy = measurement(per_s, busy=0.95)
    trials = tuple(
        msgspec.structs.replace(one, measurement=busy, **changes) if one.case == case else one
        for one in made.trials
    )
    made = msgspec.structs.replace(made, trials=trials)
    return msgspec.structs.replace(made, judgement=judge(made, 0))


def test_a_full_generator_in_front_of_a_full_server_takes_nothing_from_the_answer() -> None:
    made = spoilt("B", 10_000)
    assert comparison.in_sentences(made).headline == ("A is faster: 1.20× B [1.19, 1.21]",)
    assert state(made).startswith("not clean: G1 error")


def test_a_candidate_that_the_generator_held_back_gives_a_bound() -> None:
    told = comparison.in_sentences(spoilt("A", 12_000, server=None))
    assert told.headline == ("A is faster: ≥ 1.19× B",)
    assert told.more[1].startswith("A / B: limited by: its generator was full (G1)")
    made = spoilt("B", 10_000, server=None)
    [said] = comparison.in_sentences(made).headline
    assert said == "A and B are not told apart: A / B ≤ 1.21×"
    assert not answer(made).settled


def test_the_best_is_the_fastest_of_those_whose_throughput_is_a_result() -> None:
    made = compared({"A": 20_000, "B": 13_000, "C": 10_000}, judged=False)
    wrong = ContractSeen(before=5, before_wrong=1, during=1000, during_wrong=0, after=5, after_wrong=0)
    made = with_trials(made, {"A": {"contract": wrong}})
    made = msgspec.structs.replace(made, judgement=judge(made, 0))
    found = answer(made)
    assert found.best is not None and found.best.id == "B"
    assert {pair.other.id: (pair.settled, pair.void) for pair in found.pairs} == {
        "A": (None, ("W1",)),
        "C": ("different", ()),
    }
    said = comparison.in_sentences(made).headline
    assert said == ("B is faster: 1.31× C [1.29, 1.32]", "B and A may not be compared (W1: wrong answers)")
    assert not found.settled  # what A serves is not known


def test_what_widens_a_ratio_is_the_reason_why_no_difference_is_shown() -> None:
    made = compared({"A": 10_300, "B": 10_000}, control=True, noise=0.2, judged=False)
    trials = tuple(
        msgspec.structs.replace(one, measurement=rate_at(10_900, one.block, 0.2))
        if one.case == "A (again)"
        else one
        for one in made.trials
    )
    made = msgspec.structs.replace(made, trials=trials)
    made = msgspec.structs.replace(made, judgement=judge(made, 0))
    told = comparison.in_sentences(made)
    assert told.headline[0].startswith("A and B are not told apart: A / B ")
    assert "limited by: a server differed from itself (D1)" in told.more[1]


def test_an_unfinished_block_takes_the_clean() -> None:
    made = compared({"A": 12_000, "B": 10_000}, judged=False)
    made = msgspec.structs.replace(made, trials=made.trials[:-1])
    judgement = judge(made, 0)
    assert not judgement.complete and not judgement.clean


def test_a_record_without_a_trial_has_an_answer_too() -> None:
    made = run([case("A"), case("B")], [], 0, {"kind": "versus"})
    assert answer(made).best is None
    assert not judge(made, 0).complete


@pytest.mark.parametrize("blocks", [1, 2])
def test_nothing_is_settled_early(blocks: int) -> None:
    found = answer(compared({"A": 20_000, "B": 10_000}, blocks))
    assert not found.settled
