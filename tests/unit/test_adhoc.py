"""Words of a command line as candidates, and whether their answers are alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from assay.core.errors import InputError
from assay.model.block import ALIKE_NS, UNLIKE_NS, Interleaving
from assay.model.design import WarmUp
from assay.plan.next.comparison import order_of_block
from assay.plan.words.case import candidates_of, parse_scan
from assay.plan.words.drafts import affordable, usual_measure_ns
from assay.runner.first_check import SampledAnswers, aside, differences


def answers(
    status: int = 200, encoding: str = "identity", lengths: tuple[int, int] = (100, 100), body: bytes = b"a"
) -> SampledAnswers:
    return SampledAnswers(
        statuses=(status,),
        encodings=(encoding,),
        types=("text/plain",),
        shortest=lengths[0],
        longest=lengths[1],
        body=body,
    )


def test_commands_and_urls_are_told_apart_and_named() -> None:
    found = candidates_of(["./a  --port {port}", "http://localhost:1/"], ["one"], ())
    assert [(candidate.name, candidate.command, candidate.url) for candidate in found] == [
        ("one", "./a  --port {port}", ""),
        ("http://localhost:1/", "", "http://localhost:1/"),
    ]


def test_one_command_given_twice_is_two_candidates() -> None:
    assert [candidate.name for candidate in candidates_of(["./a", "./a"], (), ())] == ["./a", "./a (2)"]


def test_scans_are_combined_and_fill_commands_and_hooks() -> None:
    scans = [parse_scan("w=1..3"), parse_scan("gc=on,off")]
    found = candidates_of(["srv {w} {gc} ${w} {port}", "other {w}"], ["srv"], scans)
    assert len(found) == 6 + 3
    assert found[0].name == "srv (w=1, gc=on)"
    assert found[0].command == "srv 1 on ${w} {port}"  # ${w} is the shell's
    assert found[5].fill("prepare {w}/{gc}/{other}") == "prepare 3/off/{other}"
    assert [candidate.name for candidate in found[6:]] == ["other 1", "other 2", "other 3"]


@pytest.mark.parametrize("word", ["w", "w=", "=1", "w=1,,2", "w=2..1", "w=1..99999", "port=1", "w=1,1"])
def test_a_scan_that_is_none(word: str) -> None:
    with pytest.raises(ValueError):
        parse_scan(word)


@given(st.lists(st.text("abc", min_size=1), min_size=1, max_size=5, unique=True))
def test_a_scan_holds_its_values_in_order(values: list[str]) -> None:
    assert parse_scan(f"x={','.join(values)}").values == tuple(values)


def test_more_names_than_commands() -> None:
    with pytest.raises(InputError, match="3 names for 2 commands"):
        candidates_of(["a", "b"], ["x", "y", "z"], ())


def test_more_headers_around_like_bodies_are_told_and_are_no_difference() -> None:
    few, many = (structs.replace(answers(), head_bytes=size) for size in (73, 136))
    assert differences(few, many) == ()
    assert aside(few, many) == "headers of 73 / 136 bytes"
    assert aside(many, structs.replace(many, head_bytes=137)) == ""


def test_like_answers_show_no_difference() -> None:
    assert differences(answers(), answers(lengths=(101, 101))) == ()
    varying = answers(lengths=(40, 200))  # a random quotation
    assert differences(varying, answers(lengths=(60, 150))) == ()


def test_each_difference_is_shown() -> None:
    other = answers(404, "gzip", (300, 310))
    assert differences(answers(), other) == (
        "status 200 / 404",
        "encoding identity / gzip",
        "body 100 / 300-310 bytes",
    )


def test_a_smaller_difference_is_said_aside() -> None:
    said = aside(answers(body=b"hello world"), answers(body=b"hello World"))
    assert said == "bodies differ from byte 7 on: 'world' / 'World'"
    assert aside(answers(), answers()) == ""


@given(st.integers(2, 7), st.integers(0, 10), st.integers(0, 2**31))
def test_over_two_blocks_every_case_has_the_same_mean_place(cases: int, pair: int, seed: int) -> None:
    names = [str(number) for number in range(cases)]
    first, second = (order_of_block(names, 2 * pair + half, seed) for half in (0, 1))
    assert sorted(first) == sorted(second) == names
    assert {first.index(name) + second.index(name) for name in names} == {cases - 1}


def test_the_order_is_drawn_from_the_seed() -> None:
    orders = {order_of_block("abcdef", 0, seed) for seed in range(20)}
    assert len(orders) > 10
    assert order_of_block("abcdef", 4, 7) == order_of_block("abcdef", 4, 7)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["./old --port {port}", "./new --port {port}"], ["old", "new"]),
        (["PORT={port} node a.js", "PORT={port} node b.js"], ["a.js", "b.js"]),
        (["http://127.0.0.1:8001/", "http://127.0.0.1:8002/"], ["127.0.0.1:8001", "127.0.0.1:8002"]),
        (["http://h:1/old", "http://h:1/new"], ["h:1/old", "h:1/new"]),
        (["./build/srv {port}", "./build2/srv {port}"], ["./build/srv", "./build2/srv"]),
        (["cd /srv/go && ./server $PORT", "http://127.0.0.1:1/"], ["server", "http://127.0.0.1:1"]),
        (["./a 1", "./a 1"], ["./a 1", "./a 1 (2)"]),
    ],
)
def test_candidates_without_names_are_called_by_what_sets_them_apart(
    words: list[str], names: list[str]
) -> None:
    assert [candidate.name for candidate in candidates_of(words, (), ())] == names


@pytest.mark.parametrize(
    ("budget_s", "expected"),
    [
        (None, (1.05 * 144, 10.0)),  # four blocks of three trials of two seconds, warmed for ten
        (600, (600, 10.0)),
        (60, (60, 60 / 1.05 / 12 - 2)),  # a warm-up that would leave three blocks is cut
        (30, (30, 0.5)),
    ],
)
def test_a_comparison_can_afford_the_blocks_that_settle_something(
    budget_s: int | None, expected: tuple[float, float]
) -> None:
    second = 1_000_000_000
    given = WarmUp(min_ns=second // 2, max_ns=10 * second)
    budget_ns, warm_up = affordable(None if budget_s is None else budget_s * second, 3, 2 * second, given)
    assert (budget_ns / second, warm_up.max_ns / second) == pytest.approx(expected)
    assert warm_up.min_ns == given.min_ns


ALIKE = Interleaving(least_slice_ns=ALIKE_NS, alike=True)
LEAST = WarmUp(min_ns=300_000_000, max_ns=10_000_000_000)


@pytest.mark.parametrize(
    ("budget_s", "entries", "measure_ms", "blocks"),
    [(15, 2, 400, 8), (15, 3, 400, 5), (30, 2, 600, 8), (300, 3, 600, 8), (2, 2, 400, 1)],
)
def test_a_budget_for_builds_of_one_program_is_laid_out_for_eight_blocks(
    budget_s: int, entries: int, measure_ms: int, blocks: int
) -> None:
    budget_ns = budget_s * 1_000_000_000
    measure_ns = usual_measure_ns(ALIKE, budget_ns, entries, LEAST)
    assert measure_ns == measure_ms * 1_000_000
    if blocks < 4:
        with pytest.raises(InputError, match="8 trials and at least 5.6 s"):
            affordable(budget_ns, entries, measure_ns, LEAST, 0, ALIKE)
        return
    kept_ns, warm_up = affordable(budget_ns, entries, measure_ns, LEAST, 0, ALIKE)
    first_ns = entries * (measure_ns + warm_up.max_ns)
    others_ns = entries * (measure_ns + warm_up.min_ns)
    assert kept_ns == budget_ns and warm_up.max_ns >= 0.7e9
    assert first_ns + (blocks - 1) * others_ns <= budget_ns
    assert 4 * first_ns <= budget_ns  # where the machine never lets them be seen steady
    unlike = affordable(budget_ns, entries, measure_ns, LEAST)[1]
    assert warm_up.max_ns <= unlike.max_ns


def test_slices_asked_for_by_hand_are_charged_whole() -> None:
    minute = replace(ALIKE, given_slice_ns=60_000_000_000)
    with pytest.raises(InputError, match=r"12 trials and at least 2,884 s of load"):
        affordable(160_000_000_000, 3, 600_000_000, LEAST, 0, minute)
    budget_ns, _ = affordable(None, 3, 600_000_000, LEAST, 0, minute)
    assert budget_ns >= 12 * 240_000_000_000
    short = Interleaving(least_slice_ns=UNLIKE_NS, given_slice_ns=40_000_000)
    assert affordable(4_000_000_000, 2, 160_000_000, LEAST, 0, short) == affordable(
        4_000_000_000, 2, 160_000_000, LEAST
    )


def test_a_budget_that_affords_no_such_blocks_is_refused() -> None:
    with pytest.raises(InputError, match=r"12 trials and at least 30 s of load"):
        affordable(29_000_000_000, 3, 2_000_000_000, WarmUp(min_ns=500_000_000, max_ns=10_000_000_000))
