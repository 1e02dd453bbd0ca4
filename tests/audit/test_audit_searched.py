"""Conclusions whose figures are searched for: in cells, beside superlatives, against requirements."""

from __future__ import annotations

import pytest
from auditing import MACHINE, audited, codes, wrk

from assay.audit.judge import commands

BEFORE_AND_AFTER = """\
Load by wrk -c 64, on machines apart.

| Metric | Before | After | Gain |
|---|---|---|---|
| p50 | 637 ms | 20.4 ms | {first} |
| Throughput | 12.0 rps | 37.4 rps | {second} |

"""
ROUTES = """\
Load by wrk -c 64, on machines apart.

| Endpoint | Throughput |
|---|---|
| `GET /simple` | 51.1K RPS |
| `GET /fast` | 39.5K RPS |
| `PATCH /slow` | 8.0K RPS |

"""
REQUIRED = """\
# Load test

Requirements:

- RPS: 5 req/s
- p95: 300 ms

Load by k6, on machines apart.

| Metric | Required | Reached |
|---|---|---|
| RPS | ≥ 5 | 13.1 |
| Latency p95 | < 300 ms | 8.09 ms |

"""
ENDPOINTS = """\
Last von k6 mit 50 Nutzern, auf getrennten Maschinen.

### GET /search

| Szenario | Metrik | Vor Caching | Nach Caching | Verbesserung |
|---|---|---|---|---|
| Mittlere Last | Durchschn. Antwortzeit | 96.33ms | 14.97ms | 84.46% |
| Hohe Last | Anfragen/Sek | 322.82 | 632.80 | 96.02% |

### GET /list

| Szenario | Metrik | Vor Caching | Nach Caching | Verbesserung |
|---|---|---|---|---|
| Mittlere Last | Durchschn. Antwortzeit | 28.51ms | 15.89ms | 44.26% |
| Hohe Last | Anfragen/Sek | 509.18 | 537.51 | 5.56% |

"""
INSTANCES = """\
Load by wrk -c 64, on machines apart.

1 instance:
Throughput: 10,000 req/s
Latency: 45 ms

2 instances:
Throughput: {two} req/s
Latency: 45 ms

4 instances:
Throughput: {four} req/s
Latency: 45 ms

"""


def verdicts(text: str) -> dict[str, str]:
    """The verdicts by the sentences."""
    return {one.conclusion.sentence: one.verdict for one in audited(MACHINE + text).conclusions}


def verdict(sentence: str, text: str) -> str | None:
    return verdicts(text + sentence + "\n").get(sentence)


def test_a_ratio_in_a_cell_is_of_the_two_others_of_its_row() -> None:
    told = verdicts(BEFORE_AND_AFTER.format(first="**31x faster**", second="10x higher"))
    assert told == {"31x faster": "stands", "10x higher": "contradicted"}


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Throughput tripled under the same load.", "stands"),
        ("Throughput doubled under the same load.", "untold"),
        ("Throughput triples from 12 rps to 37.4 rps.", "stands"),
        ("Throughput quadruples from 12 rps to 37.4 rps.", "contradicted"),
    ],
)
def test_a_factor_is_of_two_figures_of_the_text_or_of_the_sentence(sentence: str, told: str) -> None:
    assert verdict(sentence, BEFORE_AND_AFTER.format(first="", second="")) == told


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("GET /simple is the fastest measured route at 51.1K RPS.", "stands"),
        ("GET /fast is the fastest measured route at 39.5K RPS.", "untold"),
        ("PATCH /slow reached 8.0K RPS, the slowest of the series.", "stands"),
        ("GET /fast reached 39.5K RPS and remains below GET /simple.", "stands"),
        ("PATCH /slow reached 8.0K RPS and remains above GET /simple.", None),
        ("GET /fast is one of the fastest routes at 39.5K RPS.", None),
    ],
)
def test_a_superlative_is_held_to_the_peers_of_its_figure(sentence: str, told: str | None) -> None:
    assert verdict(sentence, ROUTES) == told


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("RPS выше требуемого в 2.6 раза", "direction"),
        ("RPS выше требуемого в 7 раз", "untold"),
        ("Latency: 8.09ms p95 (37x better than required)", "direction"),
        ("Latency: 8.09ms p95 (90x better than required)", "untold"),
    ],
)
def test_a_requirement_is_a_figure_of_its_own(sentence: str, told: str | None) -> None:
    assert verdict(sentence, REQUIRED) == told


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Die durchschnittliche Antwortzeit für /search verbesserte sich um bis zu 84%", "direction"),
        ("Die Anzahl der Anfragen pro Sekunde für /search verdoppelte sich fast", "direction"),
        ("Die Anzahl der Anfragen pro Sekunde für /list verdoppelte sich fast", "untold"),
    ],
)
def test_words_choose_the_row_and_the_section(sentence: str, told: str) -> None:
    text = ENDPOINTS.replace("Last von k6", "Ein Lauf. Single run. Last von k6")
    assert verdict(sentence, text) == told


@pytest.mark.parametrize(
    ("two", "four", "told"),
    [("20,000", "40,000", "direction"), ("15,000", "18,000", "untold")],
)
def test_linear_scaling_is_held_to_the_rates_by_number(two: str, four: str, told: str) -> None:
    assert verdict("Throughput scales linearly.", INSTANCES.format(two=two, four=four)) == told


def test_what_several_pairs_may_mean_is_not_decided_by_chance() -> None:
    rows = "".join(f"| Server {name} | {1000 + 137 * at} |\n" for at, name in enumerate("ABCDEFGHIJKL"))
    text = f"Load by wrk -c 64, on machines apart.\n\n| server | req/s |\n|---|---|\n{rows}\n"
    assert verdict("Throughput rose by 30%.", text) in ("untold", None)


def test_a_blank_cell_is_the_one_above_it() -> None:
    text = (
        "Load by wrk -c 64, on machines apart.\n\n| Scenario | Framework | req/s |\n|---|---|---|\n"
        "| Hello | Foo | 1,900 |\n| | Bar | 9,000 |\n| Search | Foo | 1,500 |\n| | Bar | 8,900 |\n\n"
    )
    results = audited(MACHINE + text).evidence.results
    assert [(one.label, one.group) for one in results] == [
        ("Foo", "Hello"),
        ("Bar", "Hello"),
        ("Foo", "Search"),
        ("Bar", "Search"),
    ]
    assert verdict("Bar consistently outperforms Foo.", text) == "stands"


def test_rules_about_pairs_are_silent_where_names_are_none() -> None:
    """Headings that say what was done, and not what was measured, name nothing that could be compared."""
    first, second = wrk(10000.0, size="40MB"), wrk(20000.0, size="400MB")
    text = "# {}\n\n```\n" + first + "```\n\n# {}\n\n```\n" + second + "```\n"
    assert "W3" in codes(text.format("Alder", "Elm"))
    assert "W3" not in codes(text.format("结果解析", "测试本机程序"))
    assert "W3" not in codes(text.format("第一次", "第二次"))
    assert "R5" not in codes(text.format("第一次", "第二次"))


def test_what_surely_has_no_name_gets_none_in_a_command() -> None:
    rows = "| 测试本机程序 | 30,000 |\n| 优化连接以后 | 10,000 |\n"
    lines = commands(audited(MACHINE + "wrk -c 64\n\n| server | req/s |\n|---|---|\n" + rows))
    assert "--name" not in " ".join(lines) and "测试" not in " ".join(lines)
    named = f"# Alder\n\n```\n{wrk(10000.0)}```\n\n# Elm\n\n```\n{wrk(20000.0)}```\n"
    assert "--name Alder --name Elm" in commands(audited(named))[0]
