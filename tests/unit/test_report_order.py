"""The answer in words: who is fastest, by how much at least and at most, and what limits that."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from judged import windowed
from made_runs import case, measurement, run, server, steady_run, trial, with_trials

from assay import store
from assay.cli.main import main
from assay.model.run import Run, TrialDone
from assay.model.trial import ContractSeen
from assay.report import markdown
from assay.report.model import answer
from assay.report.model.rows import sections
from assay.report.model.run_document import document
from assay.verdict import judge

W6 = "W6: unequal cores, workers or pools"
WRONG = ContractSeen(before=5, before_wrong=1, during=1000, during_wrong=0, after=5, after_wrong=0)


def said(made: Run) -> tuple[str, ...]:
    judged = msgspec.structs.replace(made, judgement=judge(made, 0))
    told = answer.answer(judged, sections(judged))
    return (*told.headline, *told.more)


def busy(made: Run, per_s: dict[str, float], share: float | None) -> Run:
    """The run with a full generator in front of these servers, whose cores were busy for that share."""
    seen = None if share is None else server(cpu_share=share)
    trials = tuple(
        msgspec.structs.replace(one, measurement=measurement(per_s[one.case], busy=0.99), server=seen)
        if one.case in per_s
        else one
        for one in made.trials
    )
    return msgspec.structs.replace(made, trials=trials)


def unequal(made: Run, workers: dict[str, int]) -> Run:
    """The run with servers that have so many workers, which their cases say."""
    cases = tuple(
        msgspec.structs.replace(one, facts={"workers": workers[one.id]} if one.id in workers else {})
        for one in made.header.cases
    )
    return msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cases=cases))


def at_a_load(made: Run) -> Run:
    """The run as one of a study of several loads, whose cases bear the load's name."""
    cases = tuple(
        msgspec.structs.replace(one, id=f"{one.id}@c500", entry=one.id, where=("c500",))
        for one in made.header.cases
    )
    trials = tuple(msgspec.structs.replace(one, case=f"{one.case}@c500") for one in made.trials)
    header = msgspec.structs.replace(made.header, cases=cases)
    return msgspec.structs.replace(made, header=header, trials=trials)


def test_the_order_is_told_from_the_first_to_the_last_with_both_ends() -> None:
    first, sure = said(steady_run({"ruby": 9_000, "go": 84_000, "java": 134_000}))
    assert first == "java is fastest: 1.59× go [1.58, 1.60], 14.9× ruby [14.8, 15.0]"
    assert sure == (
        "95 % CI of each ratio, paired over 6 blocks; Holm covers each shown difference; "
        "effects below 1.0 % are not reported."
    )


def test_a_full_generator_before_a_server_with_time_to_spare_gives_both_ends_of_a_bound() -> None:
    made = busy(steady_run({"go": 84_000, "java": 134_000}), {"java": 134_000}, 0.94)
    first, _, limits = said(made)
    assert first == "java is fastest: 1.58 – 1.93× go"
    assert limits == "What limits it: its generator was full (G1: java)."
    judged = msgspec.structs.replace(made, judgement=judge(made, 0))
    assert "134,000 – 161,000" in markdown.render(document(judged))


def test_the_idle_server_bounds_itself_whoever_held_it_back() -> None:
    """At 80 % M7 speaks beside G1: the utilisation law holds for both."""
    made = busy(steady_run({"go": 84_000, "java": 134_000}), {"java": 134_000}, 0.80)
    first, *_ = said(made)
    assert first == "java is fastest: 1.58 – 3.14× go"
    judged = msgspec.structs.replace(made, judgement=judge(made, 0))
    assert "134,000 – 262,000" in markdown.render(document(judged))


def test_a_server_that_nobody_looked_at_is_at_least_so_fast() -> None:
    first, *_ = said(busy(steady_run({"go": 84_000, "java": 134_000}), {"java": 134_000}, None))
    assert first == "java is fastest: ≥ 1.58× go"


def test_a_slower_server_that_might_be_faster_shares_the_first_place_with_the_reason() -> None:
    first, _, why, *_ = said(busy(steady_run({"a": 84_000, "b": 80_000}), {"b": 80_000}, None))
    assert first == "a and b share rank 1: no difference shown"
    assert why == (
        "a and b share rank 1: no difference between them was shown (its generator was full (G1))."
    )


def test_a_pair_that_may_not_be_compared_is_no_tie() -> None:
    workers = {"a": 1, "b": 4}

    def told(rates: dict[str, float]) -> tuple[str, ...]:
        return said(unequal(steady_run(rates), workers))

    first, _, why, *_ = told({"a": 90_000, "b": 30_000, "c": 9_000})
    assert first.startswith("a and b share rank 1: they may not be compared; a is ")
    assert why == f"a and b share rank 1: they may not be compared ({W6})."
    first, _, why, *_ = told({"a": 90_000, "b": 89_950, "d": 90_020, "c": 9_000})
    assert first.startswith("3 servers share rank 1: no difference shown; b is ")
    assert why == (
        f"b, a and d share rank 1: b and a may not be compared ({W6}), "
        "else no difference between them was shown."
    )


def test_servers_that_the_same_rule_keeps_from_all_others_are_told_once_by_their_names() -> None:
    rates = {"Vert.x": 90_000, "Netty": 80_000, "Spring MVC, Undertow": 11_000, "Armeria": 12_000}
    workers = {"Vert.x": 20, "Netty": 10, "Spring MVC, Undertow": 64, "Armeria": 8, "Armeria on Netty": 8}
    made = at_a_load(unequal(steady_run({**rates, "Armeria on Netty": 6_000}), workers))
    first, _, left_out, *_ = said(made)
    assert re.fullmatch(r"Armeria is fastest: 2\.0\d× Armeria on Netty \[2.01, 2.03\]", first)
    assert left_out == (
        "Vert.x, Netty and “Spring MVC, Undertow” are not ranked: "
        f"they may be compared with none of the others ({W6})."
    )
    reasons = {row.case: row.reason for row in judge(made, 0).ranking}
    assert reasons["Vert.x@c500"] == "may be compared with none of the others: W6"


def test_where_nobody_may_be_compared_that_is_the_whole_answer() -> None:
    rates = {"a": 10_000.0, "b, c": 9_000.0, "d": 8_000.0}
    workers = {"a": 1, "b, c": 2, "d": 3}
    assert said(unequal(steady_run(rates), workers)) == (
        f"No ranking: none may be compared with another ({W6})",
    )
    two = steady_run({"a": 10_000, "b, c": 9_000})
    assert said(unequal(two, workers)) == (
        f"No ranking: a and “b, c” may not be compared with each other ({W6})",
    )
    wrong = with_trials(unequal(steady_run(rates), workers), {"d": {"contract": WRONG}})
    assert said(wrong) == (
        f"No ranking: a and “b, c” may not be compared with each other ({W6}); "
        "the throughput of d is void (W1: wrong answers)",
    )


def test_who_may_be_compared_with_some_is_told_with_whom_not_and_briefly() -> None:
    """Of a run that was cut off, whatever may be compared has too few blocks in common."""
    rates = {name: 10_000.0 - 500 * place for place, name in enumerate("abcdef")}
    workers = {"a": 1, "b": 1, "c": 2, "d": 2, "e": 2}
    assert said(unequal(steady_run(rates, blocks=2), workers)) == (
        f"No ranking: a and b may not be compared with c, d or e ({W6}) and share too few blocks with the "
        f"rest; c, d and e may not be compared with a or b ({W6}) and share too few blocks with the rest; "
        "f: 2 blocks shared with another; an order needs 3",
    )
    alike = steady_run(dict.fromkeys("abcd", 10_000.0))
    assert said(unequal(alike, {"a": 1, "b": 1, "c": 2, "d": 2}))[2] == (
        f"d, b, a and c share rank 1: d and c may not be compared with b or a ({W6}), else no "
        "difference between them was shown."
    )
    told = said(unequal(alike, {"a": 1, "b": 3, "c": 2, "d": 2}))
    assert told[0] == "d and c share rank 1: no difference shown"
    assert told[2:4] == (
        "d and c share rank 1: no difference between them was shown.",
        f"b and a are not ranked: they may be compared with none of the others ({W6}).",
    )
    alike = steady_run(dict.fromkeys("abcdefg", 10_000.0))
    groups = unequal(alike, {"a": 1, "b": 3, "c": 2, "d": 2, "e": 1, "f": 3})
    assert said(groups)[2] == (
        "d, b, f, g, a, c and e share rank 1: no server of one of these groups may be compared with "
        f"one of another: d and c / b and f / a and e ({W6}), else no difference between them was shown."
    )


def test_no_list_of_names_is_cut_however_many_there_are() -> None:
    names = [f"server {number}, pool of {number}" for number in range(20)]
    rates = dict.fromkeys(names, 10_000.0)
    workers = {name: number for number, name in enumerate(names)}
    alike = {"x": 9_000.0, "y": 9_000.0}
    told = said(unequal(steady_run({**rates, **alike}), {**workers, "x": 99, "y": 99}))
    [left_out] = [one for one in told if "not ranked" in one]
    assert " … " not in left_out and len(left_out) < 600
    assert left_out.endswith(
        f" and 13 others are not ranked: they may be compared with none of the others ({W6})."
    )


def test_what_limits_every_server_is_told_without_their_names() -> None:
    def limits(names: str) -> str:
        rates = {name: 9_000.0 - 700 * place for place, name in enumerate(names)}
        made = busy(steady_run(rates), {name: rates[name] for name in names[:4]}, None)
        return next(one for one in said(made) if one.startswith("What limits it"))

    assert limits("abcd") == "What limits it: its generator was full (G1: all servers)."
    assert limits("abcde") == "What limits it: its generator was full (G1: a, b, c, d)."


def test_rows_of_one_server_that_share_a_rank_are_counted() -> None:
    pools = ("", ", pool of 10", ", pool of 3")
    per_s = {"Go, pgx": 90_000.0, "Gin, Bun": 40_000.0, "Spring": 20_000.0}
    names = {f"{name}{pool}": name for name in ("Go, pgx", "Gin, Bun") for pool in pools}
    made = steady_run({**{name: per_s[server] for name, server in names.items()}, "Spring": 20_000})
    cases = tuple(
        msgspec.structs.replace(one, server=names.get(one.id, one.server)) for one in made.header.cases
    )
    made = msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cases=cases))
    first, _, one, two, *_ = said(made)
    assert first.startswith("3 servers share rank 1: no difference shown; “Go, pgx")
    assert one == "3 rows of “Go, pgx” share rank 1: no difference between them was shown."
    assert two.startswith("“Gin, Bun” and “Gin, Bun, pool of 3” share rank 2: ")  # two are told in full


def test_a_tie_that_a_biased_run_makes_says_so() -> None:
    made = steady_run({"a": 10_000, "b": 10_300, "a again": 10_600})
    control = msgspec.structs.replace(case("a again"), role="control", control_of="a")
    header = msgspec.structs.replace(made.header, cases=(*made.header.cases[:2], control))
    told = said(msgspec.structs.replace(made, header=header))
    assert told[2] == (
        "b and a share rank 1: no difference between them was shown (a server differed from itself (D1))."
    )


def test_limits_in_both_directions_leave_nothing_and_say_so_in_one_sentence() -> None:
    counts = [(1000 if place < 50 else 700) + place % 7 for place in range(100)]
    falling = measurement(sum(counts) / 10, windows=windowed(counts), busy=0.99)
    trials = [trial("a", block, falling, server=None) for block in range(6)]
    trials += [trial("b", block, measurement(5_000)) for block in range(6)]
    told = " ".join(said(run([case("a"), case("b")], trials)))
    assert (
        "limits in both directions leave nothing known: its generator was full (G1), it was still getting"
        in told
    )


def test_no_ranking_only_where_every_figure_is_void_and_then_with_what_to_do() -> None:
    made = steady_run({"a": 84_000, "b": 80_000})
    wrong = with_trials(made, {"a": {"contract": WRONG}, "b": {"contract": WRONG}})
    assert said(wrong) == ("No ranking: the throughputs of a and b are void (W1: wrong answers)",)
    judged = msgspec.structs.replace(wrong, judgement=judge(wrong, 0))
    assert answer.answer(judged, sections(judged)).advice == (
        "make the server meet its contract, or correct the contract, then measure again (W1)"
    )
    few = steady_run({"a": 84_000, "b": 80_000}, blocks=1)
    assert said(few) == ("No ranking: 1 block shared with another; an order needs 3",)
    judged = msgspec.structs.replace(few, judgement=judge(few, 0))
    told = answer.answer(judged, sections(judged))
    assert told.advice == "run more blocks (--blocks)"


def test_where_one_figure_alone_is_a_result_it_is_told_and_so_is_why_the_others_are_none() -> None:
    made = steady_run({"a": 84_000, "b": 80_000, "c": 70_000})
    wrong = with_trials(made, {"a": {"contract": WRONG}, "c": {"contract": WRONG}})
    (first, *others) = said(wrong)
    assert first == "b serves 80,300/s ± 0.56 %; nothing is left to compare it with"
    assert "a and c are not ranked: their throughputs are void (W1: wrong answers)." in others


def test_the_answer_stands_first_in_markdown_and_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = steady_run({"go": 84_000, "java": 134_000})
    judgement = judge(made, 0)
    judged = msgspec.structs.replace(made, judgement=judgement)
    lines = [line for line in markdown.render(document(judged)).splitlines() if line]
    assert lines[1].startswith("**java is fastest: 1.60× go")
    with store.create(tmp_path, made.header) as run_file:
        for one in made.trials:
            run_file.append(TrialDone(trial=one))
        run_file.append(judgement)
    assert main(["report", str(run_file.path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert next(iter(told)) == "answer" and told["answer"][0].startswith("java is fastest: 1.60× go")
    assert told["judgement"]["comparisons"][0]["shown"] is True


def test_a_tie_that_all_pairs_together_make_tells_the_pair_that_is_apart_by_itself() -> None:
    made = steady_run(dict.fromkeys("abcdefg", 10_000))
    scattered = iter([2_000, 9_000, 4_000, 8_000, 3_000, 8_500])
    trials = tuple(
        msgspec.structs.replace(one, measurement=measurement(next(scattered))) if one.case == "g" else one
        for one in made.trials
    )
    told = " ".join(said(msgspec.structs.replace(made, trials=trials)))
    assert " and g share rank 1: no difference between them was shown " in told
    assert " after Holm's correction, though by itself d is 2.03× g [1.06, 3.88]." in told
    assert "by itself" not in " ".join(said(steady_run({"a": 10_000, "b": 10_000})))
