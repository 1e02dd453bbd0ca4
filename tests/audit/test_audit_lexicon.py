"""What headings mean: languages, units, and what their figures count for or against."""

from __future__ import annotations

import re
import tomllib

import pytest
from auditing import codes, results
from checkout import ROOT

from assay.audit.headings import heading


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("Anfragen pro Sekunde", "rate"),
        ("requêtes/seconde", "rate"),
        ("Peticiones por segundo", "rate"),
        ("Requisições/seg", "rate"),
        ("Запросов/сек", "rate"),
        ("每秒请求数", "rate"),
        ("リクエスト/秒", "rate"),
        ("QPS", "rate"),
        ("Antwortzeit Mittel (ms)", "mean"),
        ("Latence moyenne (ms)", "mean"),
        ("Latência média", "mean"),
        ("平均响应时间 (ms)", "mean"),
        ("Средняя задержка, мс", "mean"),
        ("レイテンシ 最大", "max"),
        ("Latencia máxima", "max"),
        ("TP99", "percentile"),
        ("99% 分位延迟", "percentile"),
        ("Mediana de latência", "percentile"),
        ("Fehlerrate", "error_share"),
        ("Taxa de erros", "error_share"),
        ("错误率", "error_share"),
        ("Falhas", "errors"),
        ("Ошибки", "errors"),
        ("失败", "errors"),
        ("Success rate", "good_share"),
        ("成功率", "good_share"),
        ("Taux de succès réussi", "good_share"),
        ("并发数", "connections"),
        ("同時接続数", "connections"),
        ("Usuarios", "connections"),
        ("Speicher (MB)", "memory"),
        ("内存", "memory"),
    ],
)
def test_a_heading_is_read_in_its_language(text: str, figure: str) -> None:
    found = heading(text)
    assert found is not None and found.figure == figure


TABLE = (
    "By wrk -c 64, 16 cores, foo 1.2.3.\n\n| server | req/s | {head} |\n|---|---|---|\n"
    "| foo | 12,000 | {cell} |\n"
)


@pytest.mark.parametrize(
    ("head", "cell", "failed"),
    [
        ("Success rate", "100 %", False),
        ("Success rate", "92.5 %", True),
        ("成功率", "99%", True),
        ("Erfolgsquote", "100,0 %", False),
        ("Failed", "23 (22.55%)", True),
        ("Failed", "0 (0%)", False),
        ("Errors", "0.00%", False),
        ("Errors", "5%", True),
        ("Error rate", "5", True),
    ],
)
def test_success_is_what_failures_leave(head: str, cell: str, failed: bool) -> None:
    assert ("W2" in codes(TABLE.format(head=head, cell=cell))) is failed


def test_a_table_of_values_is_of_what_its_section_names() -> None:
    text = (
        "By wrk -c 64.\n\n## {}\n\n| Metric | Value |\n|---|---|\n| Requests/sec | {} |\n"
        "| Avg latency | 1 ms |\n\n"
    )
    told = results(text.format("Foo", "12,000") + text.format("Bar", "9,000"))
    assert [one.label for one in told] == ["Foo", "Bar"]
    assert "R5" in codes(text.format("Foo", "12,000") + text.format("Bar", "9,000"))


def test_tables_of_one_row_under_headings_of_a_level_are_compared() -> None:
    text = "By wrk -c 64.\n\n"
    for name in ("axle", "bolt"):
        text += f"## Results for 64 users\n\n| Framework | Requests/sec |\n|---|---|\n| {name} | 9000 |\n\n"
    assert "R5" in codes(text)


def test_a_time_stamp_is_a_date() -> None:
    text = "By wrk -c 64.\n\n{}\n\n| server | req/s |\n|---|---|\n| foo | 12,000 |\n| bar | 9,000 |\n"
    assert "R4" in codes(text.format("Long ago"))
    assert "R4" not in codes(text.format("Date: Mon Mar  9 14:50:18 2020"))
    assert "R4" not in codes(text.format("foo at a677dc8a92003405a8f2331e6126e1f685e5acaa"))


@pytest.mark.parametrize(
    ("one", "other"),
    [("第一次", "第二次"), ("Запуск с кэшем", "Запуск без кеша"), ("Вход", "Поиск"), ("direct", "proxied")],
)
def test_runs_and_routes_are_no_software(one: str, other: str) -> None:
    assert "R4" not in codes(
        f"By wrk -c 64.\n\n| x | req/s |\n|---|---|\n| {one} | 12,000 |\n| {other} | 9,000 |\n"
    )


def test_tens_of_thousands_are_read_and_cores_are_a_machine() -> None:
    text = (
        "测试环境: 8核8G\n\nBy wrk -c 64.\n\n| 框架 | QPS |\n|---|---|\n| foo | 12.5万 |\n| bar | 110,000 |\n"
    )
    assert results(text)[0].figures["rate"].value.middle == pytest.approx(125_000)
    assert "R3" not in codes(text)


AUDIT = ROOT / "src" / "assay" / "audit"
LEXICON = sorted((AUDIT / "lexicon").glob("*.toml"))


def entries() -> list[str]:
    tables = [table for path in LEXICON for table in tomllib.loads(path.read_text(encoding="utf-8")).items()]
    return [f"{name}.{key}" for name, table in tables for key in table]


def test_a_table_of_the_lexicon_stands_in_one_file() -> None:
    assert len(entries()) == len(set(entries())) > 100


def test_every_entry_of_the_lexicon_is_looked_up() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in AUDIT.rglob("*.py"))
    data = "".join(path.read_text(encoding="utf-8") for path in LEXICON)
    whole = set(re.findall(r'table\("(\w+)"\)|f"(\w+)\.\{', code))
    tables = {name for pair in whole for name in pair}
    unused = [
        name
        for name in entries()
        if f'"{name}"' not in code and f"{{{name}}}" not in data and name.partition(".")[0] not in tables
    ]
    assert unused == []
