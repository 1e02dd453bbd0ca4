"""The judgement of whole runs: ranks, clean, claims, and words for every rule."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from judged import noted_else
from made_runs import case, measurement, run, steady_run, trial, uniform_histogram, with_trials

from assay.core.errors import InputError
from assay.model.estimate import ClaimVerdict, Ranked
from assay.model.run import Judgement, Run
from assay.model.trial import ContractSeen, Failure
from assay.verdict import RULES, bounded, explain, invalid, judge, void_by

FRANKLIN = {"ruby": 3_000, "go": 85_000, "java": 106_000}


def rows(judged: Judgement) -> dict[str, Ranked]:
    return {row.case: row for row in judged.ranking}


def with_roles(made: Run, **roles: dict[str, Any]) -> Run:
    cases = tuple(msgspec.structs.replace(c, **roles.get(c.id, {})) for c in made.header.cases)
    return msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cases=cases))


class TestRanking:
    def test_clear_differences_make_ranks_best_first(self) -> None:
        judged = judge(steady_run(FRANKLIN), 0)
        assert [(row.case, row.rank) for row in judged.ranking] == [("java", 1), ("go", 2), ("ruby", 3)]
        assert judged.clean and judged.complete and noted_else(judged.findings) == ()
        go = rows(judged)["go"].relative_to_best
        assert go is not None and go.low is not None and go.high is not None
        assert go.low < 0.8059 < go.high and go.high - go.low < 0.05

    def test_cases_that_cannot_be_told_apart_share_a_rank(self) -> None:
        judged = judge(steady_run({"a": 10_000, "b": 10_020, "c": 5_000}), 0)
        assert {row.case: row.rank for row in judged.ranking} == {"a": 1, "b": 1, "c": 2}

    def test_ceiling_reference_and_control_are_shown_but_not_ranked(self) -> None:
        made = steady_run({"null": 400_000, "ref": 200_000, "a": 90_000, "b": 80_000, "a again": 90_000})
        made = with_roles(
            made,
            null={"role": "ceiling"},
            ref={"role": "reference"},
            **{"a again": {"role": "control", "control_of": "a"}},
        )
        judged = judge(made, 0)
        assert [(row.case, row.rank) for row in judged.ranking][:2] == [("a", 1), ("b", 2)]
        assert {row.case: row.rank for row in judged.ranking[2:]} == {
            "null": None,
            "ref": None,
            "a again": None,
        }
        null = rows(judged)["null"]
        assert "ceiling" in null.reason and null.relative_to_best is not None
        assert null.relative_to_best.value == pytest.approx(400 / 90, rel=0.01)

    def test_void_cases_lose_rank_and_ratio_and_the_others_go_on(self) -> None:
        made = steady_run(FRANKLIN)
        wrong = ContractSeen(before=5, before_wrong=1, during=1000, during_wrong=0, after=5, after_wrong=0)
        judged = judge(with_trials(made, {"java": {"contract": wrong}}), 0)
        java = rows(judged)["java"]
        assert (java.rank, java.relative_to_best, java.invalid) == (None, None, True)
        assert java.reason == "void: W1" and not judged.clean
        assert (rows(judged)["go"].rank, rows(judged)["ruby"].rank) == (1, 2)
        best = rows(judged)["go"].relative_to_best
        assert best is not None and best.value == 1.0

    def test_wrong_times_do_not_touch_the_throughput(self) -> None:
        made = steady_run(FRANKLIN)
        off = tuple(
            msgspec.structs.replace(
                t, measurement=measurement(106_000, service_time=uniform_histogram(1_060_000, 1e6))
            )
            if t.case == "java"
            else t
            for t in made.trials
        )
        judged = judge(msgspec.structs.replace(made, trials=off), 0)
        assert {finding.code for finding in noted_else(judged.findings)} == {"M1"}
        assert rows(judged)["java"].rank == 1 and not judged.clean
        assert invalid(judged.findings, "java", "times")
        assert not invalid(judged.findings, "java", "throughput")

    def sending(self, body: int, encodings: dict[str, int] | None = None) -> Judgement:
        """The run in which java sends bodies of so many bytes, the others of 60."""
        made = steady_run(FRANKLIN)
        odd = tuple(
            msgspec.structs.replace(
                t,
                measurement=measurement(
                    106_000, bytes_each=body + 90, encodings=encodings, body_bytes=body * 1_060_000
                ),
            )
            if t.case == "java"
            else t
            for t in made.trials
        )
        return judge(msgspec.structs.replace(made, trials=odd), 0)

    def test_who_sends_more_and_is_faster_all_the_same_is_faster(self) -> None:
        judged = self.sending(100)
        assert {row.case: row.rank for row in judged.ranking} == {"java": 1, "go": 2, "ruby": 3}
        pair = next(one for one in judged.comparisons if (one.a, one.b) == ("java", "go"))
        assert pair.shown and pair.known is not None and pair.known.high is None
        assert pair.known.low == pytest.approx(1.24, rel=0.01) and pair.known.limits[0].code == "W3"

    def test_who_is_faster_and_sends_less_is_not_shown_faster(self) -> None:
        judged = self.sending(37)
        assert {row.case: row.rank for row in judged.ranking} == {"java": 1, "go": 1, "ruby": 2}
        pair = next(one for one in judged.comparisons if (one.a, one.b) == ("java", "go"))
        assert not pair.shown and pair.known is not None and pair.known.low is None

    def test_answers_in_another_encoding_are_not_compared_and_only_that_pair_is_lost(self) -> None:
        judged = self.sending(60, encodings={"gzip": 1_060_000})
        assert {row.case: row.rank for row in judged.ranking} == {"go": 1, "ruby": 2, "java": None}
        assert "W5" in rows(judged)["java"].reason  # nobody asked for it
        made = steady_run({"a": 100, "b": 50})
        facts = {"a": {"facts": {"workers": 1}}, "b": {"facts": {"workers": 4}}}
        judged = judge(with_roles(made, **facts), 0)
        assert {row.rank for row in judged.ranking} == {None}
        assert "may not be compared with b: W6" in rows(judged)["a"].reason

    def test_three_blocks_order_and_two_do_not(self) -> None:
        judged = judge(steady_run(FRANKLIN, blocks=3), 0)
        assert [(row.case, row.rank) for row in judged.ranking] == [("java", 1), ("go", 2), ("ruby", 3)]
        assert not judged.clean and [one.code for one in judged.findings if one.severity != "note"] == ["S5"]
        judged = judge(steady_run(FRANKLIN, blocks=2), 0)
        assert {row.rank for row in judged.ranking} == {None}
        assert all("2 blocks shared with another; an order needs 3" in row.reason for row in judged.ranking)
        (one,) = {row.reason for row in judge(steady_run(FRANKLIN, blocks=1), 0).ranking}
        assert one == "1 block shared with another; an order needs 3"

    def test_each_load_has_its_own_ranking(self) -> None:
        made = steady_run({"a": 100, "b": 50, "c": 10, "d": 20})
        judged = judge(with_roles(made, c={"load": "2"}, d={"load": "2"}), 0)
        assert [(row.case, row.rank) for row in judged.ranking] == [("a", 1), ("b", 2), ("d", 1), ("c", 2)]

    def test_the_a_a_control_sets_the_noise_floor(self) -> None:
        made = steady_run({"a": 10_000, "b": 10_300, "a again": 10_000})
        assert rows(judge(made, 0))["b"].rank == 1 and rows(judge(made, 0))["a"].rank == 2
        wild = tuple(
            msgspec.structs.replace(t, measurement=measurement(10_000 * (1 + 0.02 * (-1) ** t.block)))
            if t.case == "a again"
            else t
            for t in made.trials
        )
        control = {"a again": {"role": "control", "control_of": "a"}}
        noisy = with_roles(msgspec.structs.replace(made, trials=wild), **control)
        assert rows(judge(noisy, 0))["a"].rank == 2  # a control asks for bias; its width is no floor
        biased = with_roles(steady_run({"a": 10_000, "b": 10_300, "a again": 10_400}), **control)
        judged = judge(biased, 0)
        assert {rows(judged)[name].rank for name in ("a", "b")} == {1}
        assert judged.minimum_effect == pytest.approx(0.045, abs=0.01)
        assert [one.on_comparison for one in judged.findings if one.code == "D1"] == ["wider"]
        far = with_roles(steady_run({"a": 10_000, "b": 12_000, "a again": 10_400}), **control)
        assert rows(judge(far, 0))["a"].rank == 2


class TestFailures:
    def test_a_case_without_any_measurement_is_a_row_with_its_reason(self) -> None:
        made = steady_run({"a": 100, "b": 50})
        failed = [trial("x", b, Failure(stage="build", reason="go: not found")) for b in range(6)]
        made = run([*made.header.cases, case("x")], [*made.trials, *failed])
        judged = judge(made, 0)
        row = rows(judged)["x"]
        assert (row.rank, row.throughput) == (None, None)
        assert "6 of 6 trials failed (build: go: not found)" in row.reason
        assert rows(judged)["a"].rank == 1 and not judged.clean

    def test_an_unfinished_run_is_judged_on_what_is_there(self) -> None:
        made = steady_run({"a": 100, "b": 50}, blocks=8)
        judged = judge(msgspec.structs.replace(made, trials=made.trials[:-1]), 0)
        assert not judged.complete and not judged.clean
        assert {row.case: row.rank for row in judged.ranking} == {"a": 1, "b": 2}

    def test_a_run_without_trials(self) -> None:
        judged = judge(run([case("a")], []), 0)
        assert not judged.complete and rows(judged)["a"].throughput is None


def claim(relation: str = "more", ratio: float | None = None, **extra: object) -> dict[str, Any]:
    pair = {"a": "a", "b": "b", "relation": relation, "published_ratio": ratio, **extra}
    return {"claims": [{"id": "c", "statement": "a against b", "comparisons": [pair]}]}


def verdict(rates: dict[str, float], study: dict[str, Any], blocks: int = 6) -> ClaimVerdict:
    (judged,) = judge(steady_run(rates, blocks, study), 0).claims
    return judged


class TestClaims:
    @pytest.mark.parametrize(
        ("rates", "relation", "expected"),
        [
            ((13_000, 10_000), "more", "supported"),
            ((10_000, 13_000), "more", "contradicted"),
            ((10_000, 13_000), "less", "supported"),
            ((13_000, 10_000), "less", "contradicted"),
            ((10_040, 10_000), "more", "contradicted"),  # at most a difference below the minimum effect
            ((10_130, 10_000), "more", "inconclusive"),  # reaches across the minimum effect
            ((10_000, 10_000), "equal", "supported"),
            ((13_000, 10_000), "equal", "contradicted"),
            ((10_500, 10_000), "equal", "inconclusive"),
        ],
    )
    def test_the_interval_decides(self, rates: tuple[float, float], relation: str, expected: str) -> None:
        assert verdict({"a": rates[0], "b": rates[1]}, claim(relation)).verdict == expected

    def test_direction_and_distance_from_the_published_factor_are_said_apart(self) -> None:
        judged = verdict({"a": 13_000, "b": 10_000}, claim(ratio=28.0))
        assert judged.verdict == "supported" and judged.published_ratio == 28.0
        assert judged.measured is not None and judged.measured.value == pytest.approx(1.3, rel=0.01)
        assert "the published 28.0" in judged.reason and "does not fit it" in judged.reason
        assert "3 %) fits it" in verdict({"a": 13_000, "b": 10_000}, claim(ratio=1.3)).reason

    def with_busy_client(self, busy: str, rates: dict[str, float], relation: str = "more") -> ClaimVerdict:
        """The claim where the generator had no time to spare in front of the servers in `busy`, and nobody
        looked at their cores."""
        made = steady_run(rates, study=claim(relation))
        trials = tuple(
            msgspec.structs.replace(t, measurement=measurement(rates[t.case], busy=0.99), server=None)
            if t.case in busy
            else t
            for t in made.trials
        )
        (judged,) = judge(msgspec.structs.replace(made, trials=trials), 0).claims
        return judged

    def test_void_figures_settle_nothing(self) -> None:
        made = steady_run({"a": 13_000, "b": 10_000}, study=claim())
        wrong = ContractSeen(before=5, before_wrong=1, during=1000, during_wrong=0, after=5, after_wrong=0)
        (judged,) = judge(with_trials(made, {"b": {"contract": wrong}}), 0).claims
        assert (judged.verdict, judged.reason) == (
            "inconclusive", "the figures of the two are no results: W1",
        )  # fmt: skip

    def test_a_slower_server_that_the_client_held_back_leaves_the_direction_open(self) -> None:
        judged = self.with_busy_client("b", {"a": 13_000, "b": 10_000})
        assert judged.verdict == "inconclusive" and "at most 1.31" in judged.reason
        assert "its generator was full (G1)" in judged.reason
        judged = self.with_busy_client("a", {"a": 10_000, "b": 10_000}, "equal")
        assert judged.verdict == "inconclusive"

    def test_two_sides_that_are_both_bounded_leave_nothing_in_one_sentence(self) -> None:
        judged = self.with_busy_client("ab", {"a": 13_000, "b": 10_000})
        assert judged.verdict == "inconclusive"
        assert judged.reason == "limits on both sides leave the ratio open: its generator was full (G1)"

    def test_a_faster_server_that_the_client_held_back_gives_a_bound(self) -> None:
        judged = self.with_busy_client("a", {"a": 13_000, "b": 10_000})
        assert judged.verdict == "supported" and "at least 1.29" in judged.reason and "G1" in judged.reason
        assert judged.measured is not None and judged.measured.low == pytest.approx(1.29, rel=0.01)
        assert judged.measured.high is None
        judged = self.with_busy_client("b", {"a": 10_000, "b": 13_000}, "less")
        assert judged.verdict == "supported" and "at most 0.77" in judged.reason

    def test_a_bound_contradicts_only_what_lies_beyond_it(self) -> None:
        judged = self.with_busy_client("a", {"a": 10_000, "b": 13_000})
        assert judged.verdict == "inconclusive" and "leaves the direction open" in judged.reason
        judged = self.with_busy_client("b", {"a": 10_000, "b": 13_000})
        assert judged.verdict == "contradicted" and "at most 0.77" in judged.reason

    def test_two_blocks_are_too_few_and_a_missing_case_is_named(self) -> None:
        assert "3 are needed" in verdict({"a": 13_000, "b": 10_000}, claim(), blocks=2).reason
        assert "b is not part of this run" in verdict({"a": 13_000}, claim()).reason

    def test_a_case_without_a_measurement_is_named_with_its_reason(self) -> None:
        made = steady_run({"a": 13_000, "b": 10_000}, 3, claim())
        down = Failure(stage="requires", reason="b not found: set B")
        trials = tuple(one if one.case == "a" else trial("b", one.block, down) for one in made.trials)
        (judged,) = judge(msgspec.structs.replace(made, trials=trials), 0).claims
        assert (judged.verdict, judged.reason) == (
            "inconclusive", "b was not measured: b not found: set B",
        )  # fmt: skip

    def test_flags_are_named_beside_the_verdict(self) -> None:
        judged = verdict({"a": 13_000, "b": 10_000}, claim(), blocks=4)
        assert judged.verdict == "supported" and "warning: S5" in judged.reason

    @pytest.mark.parametrize(
        ("rates", "expected"),
        [((30, 20, 10), "supported"), ((30, 10, 20), "contradicted"), ((30, 20.02, 20), "inconclusive")],
    )
    def test_a_claim_of_several_parts_needs_them_all(
        self, rates: tuple[float, float, float], expected: str
    ) -> None:
        parts = [{"a": "a", "b": "b"}, {"a": "b", "b": "c"}]
        study = {"claims": [{"id": "c", "statement": "a > b > c", "comparisons": parts}]}
        thousands = dict(zip("abc", (rate * 1000 for rate in rates), strict=True))
        judged = verdict(thousands, study)
        assert judged.verdict == expected and judged.measured is None
        assert [part.statement for part in judged.parts] == ["a / b", "b / c"]
        assert judged.parts[1].verdict == expected and f"{expected} in" in judged.reason
        assert [part.measured.value for part in judged.parts if part.measured] == pytest.approx(
            [rates[0] / rates[1], rates[1] / rates[2]], rel=0.01
        )

    def test_a_claim_about_loads_of_the_other_profile_says_so(self) -> None:
        study = {"claims": [{"id": "c", "statement": "flat at any load", "comparisons": []}]}
        judged = verdict({"a": 13_000, "b": 10_000}, study)
        assert judged.verdict == "inconclusive" and "this profile measures nothing" in judged.reason

    def test_a_part_says_what_was_compared_where_it_is_not_throughput(self) -> None:
        parts = [{"a": "a", "b": "b"}, {"a": "a", "b": "b", "metric": "start_time", "relation": "less"}]
        study = {"claims": [{"id": "c", "statement": "better", "comparisons": parts}]}
        judged = verdict({"a": 13_000, "b": 10_000}, study)
        assert [part.statement for part in judged.parts] == ["a / b", "start time, a / b"]

    def test_start_times_are_compared_whatever_the_load_was_worth(self) -> None:
        made = steady_run({"a": 10_000, "b": 10_000}, study=claim("less", metric="start_time"))
        trials = []
        for one in made.trials:
            start = (100 if one.case == "a" else 8_100) * (1_000_000 + 1_000 * one.block)
            assert one.server is not None
            server = msgspec.structs.replace(one.server, start_ns=start)
            busy = measurement(10_000, busy=0.99)
            trials.append(msgspec.structs.replace(one, server=server, measurement=busy))
        (judged,) = judge(msgspec.structs.replace(made, trials=tuple(trials)), 0).claims
        assert judged.verdict == "supported" and judged.measured is not None
        assert judged.measured.value == pytest.approx(1 / 81, rel=0.01)

    @pytest.mark.parametrize(("metric", "ratio"), [("server_cpu", 0.4), ("client_cpu", 1 / 3)])
    def test_cpu_time_is_compared_by_the_answer(self, metric: str, ratio: float) -> None:
        study = claim("less", metric=metric)
        study["claims"][0]["comparisons"] *= 2  # a claim of one comparison has no parts
        made = steady_run({"a": 20_000, "b": 10_000}, study=study)
        trials = []
        for one in made.trials:
            assert one.server is not None
            server = msgspec.structs.replace(one.server, cpu_ns=8 * 10**9 if one.case == "a" else 10**10)
            busy = measurement(20_000, busy=0.4) if one.case == "a" else measurement(10_000, busy=0.6)
            trials.append(msgspec.structs.replace(one, server=server, measurement=busy))
        (judged,) = judge(msgspec.structs.replace(made, trials=tuple(trials)), 0).claims
        part = judged.parts[0]
        assert part.verdict == "supported" and part.measured is not None
        assert part.measured.value == pytest.approx(ratio, rel=0.01)
        assert part.statement == f"{metric.partition('_')[0]} CPU time an answer, a / b"


class TestRegistry:
    def test_every_rule_tells_its_whole_story(self) -> None:
        for code, rule in RULES.items():
            assert rule.code == code
            for text in (rule.title, rule.meaning, rule.remedy, rule.source, rule.example):
                assert text.strip() == text and len(text) > 3
            assert rule.meaning.endswith(".") and rule.severities
            takes = any("void" in one.words or one.times == "at most" for one in rule.effects)
            flags = code in ("W6", "D2", "H2")  # on both servers and no comparison; others, who pass
            assert ("error" in rule.severities) == takes or flags

    def test_explain_takes_any_case_and_names_the_nearest(self) -> None:
        assert explain("w3").title == "unequal answers"
        with pytest.raises(InputError, match="G1"):
            explain("G111")

    @pytest.mark.parametrize(
        "setting",
        [
            {"X9": {"thresholds": {}, "reason": "r"}},
            {"G1": {"thresholds": {"idel": 1}, "reason": "r"}},
            {"G1": {"thresholds": {"idle": 0.1}}},
        ],
    )
    def test_a_wrong_threshold_is_bad_input(self, setting: dict[str, Any]) -> None:
        with pytest.raises(InputError):
            judge(steady_run({"a": 1}, study={"rules": setting}), 0)


def test_the_effects_on_one_case_leave_the_other_alone() -> None:
    made = steady_run({"a": 10_000, "b": 10_000})
    busy = tuple(
        msgspec.structs.replace(t, measurement=measurement(10_000, busy=0.99)) if t.case == "a" else t
        for t in made.trials
    )
    findings = noted_else(judge(msgspec.structs.replace(made, trials=busy), 0).findings)
    assert {one.subject.case for one in findings if one.severity != "note"} == {"a"}
    assert [limit.code for limit in bounded(findings, "a", "times").limits] == ["G1"]
    assert bounded(findings, "b", "times").limits == ()
    assert void_by(findings, "a") == void_by(findings, "a", "times") == ()


def test_a_judgement_survives_its_stored_form() -> None:
    judged = judge(steady_run(FRANKLIN, study=claim() | {}), 5)
    assert msgspec.json.decode(msgspec.json.encode(judged), type=Judgement) == judged
