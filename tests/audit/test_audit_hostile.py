"""Hostile and broken input: read safely, within bounds, and never with a traceback."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path

import pytest
from auditing import WRK, audited, codes, wrk
from hypothesis import given, settings
from hypothesis import strategies as st
from mutants import NAMES, SAMPLES, mutant, survive

from assay.audit import audit, read
from assay.audit.tables import MOST_COLUMNS
from assay.cli.main import main
from assay.core.errors import EXIT_USAGE, InputError

MEGABYTE = 2**20


def test_a_binary_file_gets_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(1000))
    assert main(["audit", str(path)]) == EXIT_USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert "is not a text" in line


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_other_encodings_are_read(encoding: str) -> None:
    text = (
        "Résumé\n\n```\n" + wrk(errors="  Socket errors: connect 9, read 0, write 0, timeout 0\n") + "```\n"
    )
    found = audit(read("x.md", text.encode(encoding)))
    assert "G8" in {remark.code for remark in found.remarks}


def test_a_notebook_that_is_none_gets_one_line() -> None:
    with pytest.raises(InputError, match="no notebook"):
        read("x.ipynb", b"[1, 2]")
    with pytest.raises(InputError, match="no notebook"):
        read("x.ipynb", b'{"cells":[' * 100_000)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.md", "a" * (20 * MEGABYTE) + " 12 req/s"),
        ("x.md", "|" + "| req/s " * 5000 + "|\n|" + "---|" * 5001 + "\n|" + "| 123 " * 5000 + "|\n"),
        ("x.md", "1" * MEGABYTE + " req/s wrk -c 3 http://a"),
        ("x.md", "1," * (MEGABYTE // 2) + " req/s"),
        ("x.md", "wrk -c " + " " * MEGABYTE + "-t3\nLatency" + " " * MEGABYTE),
        ("x.md", "[" * 200_000 + " req/s wrk"),
        ("x.md", ">" * 20_000 + " req/s wrk"),
        ("x.md", "wrk -c3 http://a \\\n" * 5000),
        ("x.html", "<div>" * 100_000 + "12 req/s"),
        ("x.html", "<!--" * 100_000 + "12 req/s"),
        ("x.json", '{"a":' * 50_000 + "1" + "}" * 50_000),
        ("x.csv", '"' * MEGABYTE),
        ("x.rst", "=" * 100_000 + "\n" + "+-" * 100_000),
    ],
    ids=lambda value: value if len(value) < 10 else f"{value[:12]!r}…",
)  # fmt: skip
def test_the_worst_of_texts_end(name: str, text: str) -> None:
    audited(text, name)


def test_of_a_table_without_end_some_columns_are_read() -> None:
    wide = "| name |" + " req/s |" * 5000 + "\n|" + "---|" * 5001 + "\n| foo |" + " 123 |" * 5000 + "\n"
    assert 0 < len(audited(wide).results) <= MOST_COLUMNS


def test_a_row_may_end_before_the_column_of_names() -> None:
    found = audited("index,name,rps\n1,foo,100\n2\n3,bar,300\n", "x.csv").results
    assert [one.result.label for one in found] == ["foo", "bar"]


def test_what_was_left_unread_is_told() -> None:
    from assay.report.model.audit_document import summary

    found = audited("words\n" * MEGABYTE)
    assert found.document.cut and "only the first 2 million characters were read" in summary(found)


def test_an_output_given_twice_is_two_results_and_no_contradiction() -> None:
    text = "On 16 cores.\n\n```\n" + wrk() + wrk() + "```\n"
    assert len(audited(text).results) == 2
    assert codes(text) == set()


def test_units_that_are_missing_make_no_figure() -> None:
    text = "```\n" + wrk().replace("3.90ms", "3.90").replace("400.00MB", "400.00") + "```\n"
    assert "M1" not in codes(text) and "W3" not in codes(text)


def test_numbers_of_another_locale_are_read_as_they_are_meant() -> None:
    text = "Last mit wrk -c 64.\n\n| Server | Anfragen/s |\n|---|---|\n| foo | 1.234,5 |\n| bar | 2.345 |\n"
    assert [one.result.figures["rate"].value.middle for one in audited(text).results] == [1234.5, 2345]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SAMPLES), st.integers(0, 2**32), st.sampled_from(NAMES))
def test_damaged_outputs_are_read_or_left_alone(path: Path, seed: int, name: str) -> None:
    """Lines dropped, doubled, swapped and cut: a parser of foreign text may find less, and never fails."""
    chance = random.Random(seed)
    lines = path.read_text(encoding="utf-8").splitlines()
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(lines))
        match chance.randrange(4):
            case 0:
                lines[at] = lines[at][: chance.randint(0, len(lines[at]))]
            case 1:
                lines.insert(at, chance.choice(lines))
            case 2:
                lines[at] = "".join(chance.sample(lines[at], len(lines[at])))
            case _:
                lines[at] = lines[at].replace("0", chance.choice(["9" * 30, "-", "é", "\x1b[31m", "%"]))
    for remark in audited("\n".join(lines), name).remarks:
        assert remark.line >= 1


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SAMPLES), st.integers(0, 2**32), st.sampled_from(NAMES))
def test_mutated_texts_are_audited_and_told(path: Path, seed: int, name: str) -> None:
    """Characters lost, doubled and turned, signs of other languages between: told, whatever it is.

    Ten thousand of them: `python benches/audit_mutants.py`.
    """
    survive(mutant(path, seed), name)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=400), st.sampled_from(NAMES))
def test_any_text_is_read(text: str, name: str) -> None:
    with contextlib.suppress(InputError):  # a zero byte makes it no text
        audit(read(name, ("```\nRequests/sec: 5\n" + text).encode("utf-8", "surrogatepass")))


_CELLS = st.lists(
    st.one_of(
        st.sampled_from(
            ["foo", "bar", "12,345", "1.2k", "3 ms", "±", "99%", "-", "", "1.234,5", "req/s", "p99 (ms)"]
        ),
        st.text("0123456789.,kM ±%ms/|", max_size=12),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(_CELLS, min_size=2, max_size=6))
def test_any_table_is_read(rows: list[list[str]]) -> None:
    head, *rest = ["| " + " | ".join(cell.replace("|", "") for cell in row) + " |" for row in rows]
    text = "\n".join([head, "|" + "---|" * len(rows[0]), *rest]) + "\n"
    for one in audited(text).results:
        assert all(figure.value.low <= figure.value.high for figure in one.result.figures.values())


def test_the_sample_of_these_tests_is_sound() -> None:
    assert WRK.count("{") == 6
    assert audited("```\n" + wrk() + "```\n").results


def test_a_notebook_whose_pictures_are_large_is_read_whole() -> None:
    said = "    Requests/sec:  12345.67\n"
    picture = {"output_type": "display_data", "data": {"image/png": "A" * (3 * 2**20)}}
    cells = [
        {"cell_type": "code", "source": ["draw()"], "outputs": [picture]},
        {"cell_type": "code", "source": ["!wrk"], "outputs": [{"output_type": "stream", "text": [said]}]},
    ]
    content = json.dumps({"cells": cells, "nbformat": 4}, indent=1).encode()
    found = audit(read("n.ipynb", content))
    assert len(found.results) == 1 and not found.document.cut
    told = [{"cell_type": "markdown", "source": ["word " * 100_000 + "\n"]} for _ in range(6)]
    assert read("n.ipynb", json.dumps({"cells": told}).encode()).cut
