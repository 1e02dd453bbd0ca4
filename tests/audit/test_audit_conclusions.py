"""Conclusions are tied to the figures that they rest on, and get the verdict that these allow."""

from __future__ import annotations

import pytest
from auditing import MACHINE, audited

TABLE = """\
Load by wrk -c 64, on machines apart.

| framework | req/s |
|---|---|
| Foo | 30,000 ± 100 |
| Bar | 10,000 ± 100 |
| Baz | 9,990 ± 90 |

"""


def verdict(sentence: str, text: str = MACHINE + TABLE) -> str | None:
    found = audited(text + sentence + "\n").conclusions
    return found[0].verdict if found else None


@pytest.mark.parametrize(
    "sentence",
    [
        "Foo is 3x faster than Bar.",
        "Foo is three times as fast as Bar.",
        "Foo handles 200% more requests than Bar.",
        "Foo is up to 3 times faster than Bar.",
        "Foo serves more than 2.5x the requests of Bar.",
        "Foo outperforms Bar.",
        "Bar is slower than Foo.",
        "Foo is about 3 times faster than Bar!",
        "As you can see, Foo is faster than Bar.",
    ],
)
def test_what_the_figures_say_stands(sentence: str) -> None:
    assert verdict(sentence) == "stands"


@pytest.mark.parametrize(
    "sentence",
    [
        "Foo is 10x faster than Bar.",
        "Foo is 50% faster than Bar.",
        "Bar outperforms Foo.",
        "Foo is slower than Bar.",
        "Foo is twice as fast as Bar.",
        "Bar is 2x faster than Foo.",
    ],
)
def test_what_they_do_not_say_is_contradicted(sentence: str) -> None:
    assert verdict(sentence) == "contradicted"


@pytest.mark.parametrize(
    "sentence",
    [
        "Foo uses 10x less memory than Bar.",
        "Foo is 10x faster than Qux.",
        "Foo should be 10x faster than Bar one day.",
        "We want Foo to be 10x faster than Bar.",
    ],
)
def test_what_rests_on_no_figure_or_is_no_statement_is_not_contradicted(sentence: str) -> None:
    assert verdict(sentence) in ("untold", None)


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Compared to Bar, Foo is 3x faster.", "stands"),
        ("Foo is 3x faster.", "stands"),
        ("It is 10x faster than Bar.", "contradicted"),
    ],
)
def test_of_two_the_other_is_meant(sentence: str, told: str) -> None:
    two = MACHINE + TABLE.replace("| Baz | 9,990 ± 90 |\n", "")
    assert verdict(sentence, two) == told


def test_a_factor_that_single_runs_cannot_show_leaves_the_direction() -> None:
    text = MACHINE.replace("Mean of 8 runs", "One run each") + TABLE.replace(" ± 100", "").replace(
        " ± 90", ""
    )
    assert verdict("Foo is 3x faster than Bar.", text) == "direction"


def test_a_gap_within_what_the_flaws_move_cannot_be_told() -> None:
    assert verdict("Bar is faster than Baz.") == "untold"


def test_figures_that_are_invalid_carry_nothing() -> None:
    text = (MACHINE + TABLE).replace("req/s |", "req/s | errors (%) |").replace("---|---|", "---|---|---|")
    text = text.replace("± 100 |", "± 100 | 5 |").replace("± 90 |", "± 90 | 0 |")
    assert verdict("Foo is 3x faster than Bar.", text) == "untold"


def test_names_of_sections_are_those_of_sentences() -> None:
    from auditing import wrk

    text = (
        MACHINE
        + "Hono is 3.5 times faster than Express.\n\nExpress:\n\n```\n"
        + wrk(10000.0, mean="39ms", size="40MB")
    )
    text += (
        "```\n\nHono + `@hono/node-server`:\n\n```\n" + wrk(35000.0, mean="11.4ms", size="140MB") + "```\n"
    )
    (one,) = audited(text).conclusions
    assert one.verdict == "stands"
    assert one.conclusion.better.startswith("Hono") and one.conclusion.worse.startswith("Express")


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Foo is the fastest.", "stands"),
        ("Bar is the fastest framework of all.", "contradicted"),
        ("Winner: Foo.", "stands"),
        ("The winner is Bar.", "contradicted"),
        ("Baz is the slowest here.", "untold"),
        ("Foo has the highest throughput.", "stands"),
        ("Foo leads by +200% over Bar.", "stands"),
        ("Foo beats Bar by a factor of 3.", "stands"),
        ("Bar beats Foo by 20%.", "contradicted"),
        ("Foo is 2-4x faster than Bar.", "stands"),
        ("While Bar is slow, Foo is 3x faster.", "stands"),
        ("Foo, unlike Bar, is 3x faster.", "stands"),
        ("Foo and Bar have similar throughput.", "contradicted"),
        ("Foo has similar throughput to Bar.", "contradicted"),
        ("Bar is on par with Baz.", "untold"),
        ("Foo is one of the fastest.", None),
        ("Foo vs. Bar: Foo has 3x the throughput of Bar.", "stands"),
        ("Foo is an order of magnitude faster than Bar.", "contradicted"),
        ("Foo needs a Node version greater than 18.", None),
        ("We got 40% more requests.", "untold"),
        ("We have a winner.", "untold"),
        ("Foo serves 3 times Bar!", "stands"),
        ("Foo is clearly faster.", "untold"),
        ("Foo reduces latency by 66% compared to Bar.", "untold"),
        ("Foo has 3x higher latency than Bar.", "untold"),
        ("The throughput of Foo is three times that of Bar.", "stands"),
        ("Bar reaches a third of the throughput of Foo.", "stands"),
        ("Bar is half as fast as Foo.", "contradicted"),
        ("Foo triples the throughput of Bar.", "stands"),
        ("Foo doubles Bar's throughput.", "contradicted"),
        ("Foo performed best, followed by Bar.", "stands"),
        ("Bar performed the worst.", "untold"),
        ("Throughput is 3x higher with Foo than with Bar.", "stands"),
        ("There is no significant difference between Bar and Baz.", "untold"),
        ("Bar can't keep up with Foo.", "stands"),
        ("Foo makes 2 times that of Bar.", "contradicted"),
        ("Foo was run 3 times, Bar as well.", None),
    ],
)
def test_wordings_of_a_ranking(sentence: str, told: str | None) -> None:
    assert verdict(sentence) == told


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("It is 3x faster than Bar.", "stands"),
        ("We are 3 times faster than Bar!", "stands"),
        ("Up to 3x faster than Bar.", "stands"),
        ("Outperforms Bar and Baz.", "stands"),
        ("It is slower than Bar.", "contradicted"),
    ],
)
def test_it_is_what_the_document_is_about(sentence: str, told: str) -> None:
    assert verdict(sentence, "# Foo, a server\n\n" + MACHINE + TABLE) == told


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ("Python (Quux)", "Quux is 3x faster than Bar."),
        ("node.js + quux", "quux is 3x faster than Bar."),
        ("go-quux v1.2.3", "quux is 3x faster than Bar."),
    ],
)
def test_a_result_is_named_by_a_word_of_its_label(label: str, sentence: str) -> None:
    assert verdict(sentence, MACHINE + TABLE.replace("Foo", label)) == "stands"


def test_more_latency_is_worse_and_less_is_better() -> None:
    table = (
        MACHINE + "Load by wrk -c 64.\n\n| server | req/s | latency avg (ms) |\n|---|---|---|\n"
        "| Foo | 30,000 | 2.0 |\n| Bar | 10,000 | 6.0 |\n| Baz | 9,000 | 7.0 |\n\n"
    )
    assert verdict("Bar has 3x higher latency than Foo.", table) == "stands"
    assert verdict("Foo has 3x lower latency than Bar.", table) == "stands"
    assert verdict("Foo halves the latency of Bar.", table) == "contradicted"
    assert verdict("Foo has 3x higher latency than Bar.", table) == "contradicted"


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Foo outperforms Bar on this machine by a factor of 3.", "stands"),
        ("Baz outperforms Bar by a factor of 3.", "contradicted"),
        ("Foo outperforms Bar, with 7x in sight.", "untold"),
        ("Foo ist um den Faktor 3 schneller als Bar.", "stands"),
        ("Foo est 3 fois plus rapide que Bar.", "stands"),
        ("Foo es 5 veces más rápido que Bar.", "contradicted"),
        ("Foo é 3 vezes mais rápido que Bar.", "stands"),
        ("Foo быстрее Bar в 3 раза.", "stands"),
        ("Foo 的性能是 Bar 的 3 倍", "stands"),
        ("Foo 的性能比 Bar 高 200%", "stands"),
        ("Foo 的性能比 Bar 高 20%", "contradicted"),
        ("Bar reaches 33% of the throughput of Foo.", "stands"),
        ("Bar reaches 80% of the throughput of Foo.", "contradicted"),
        ("The fastest one serves 3x more requests.", "untold"),
        ("Bar ist doppelt so schnell wie Foo.", "contradicted"),
        ("Foo is 3x faster than Bar, with a p99 latency of 12 ms.", "direction"),
        ("Bar verliert um den Faktor 3 gegen Foo.", None),
    ],
)
def test_a_ratio_is_found_however_it_is_told(sentence: str, told: str) -> None:
    assert verdict(sentence) == told


def test_of_two_results_a_sentence_without_names_means_these() -> None:
    two = MACHINE + TABLE.replace("| Baz | 9,990 ± 90 |\n", "")
    assert verdict("That is 200% more requests per second.", two) == "stands"
    assert verdict("That is 20% more requests per second.", two) == "untold"
