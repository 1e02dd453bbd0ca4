"""`assay audit` as it is used: its outputs, its exit codes, its errors."""

from __future__ import annotations

import io
import json
import re
import sys
import tomllib
from pathlib import Path

import jsonschema
import msgspec
import pytest
from auditing import MACHINE, wrk

from assay.cli.main import main
from assay.core.errors import EXIT_INVALID, EXIT_OK, EXIT_USAGE
from assay.plan.study.schema import StudyFile

FLAWED = (
    "# A benchmark\n\n## foo\n\n```\n$ wrk -t12 -c400 -d30s http://localhost:8080/\n"
    + wrk(errors="  Socket errors: connect 157, read 0, write 0, timeout 0\n")
    + "```\n\n## bar\n\n```\n"
    + wrk(50000.0, mean="7.80ms", size="200MB")
    + "```\n\nfoo is 5x faster than bar.\n"
)
PLAIN = "# A parser\n\nRun `pytest`. 3x faster than before: 12 ms instead of 36 ms.\n"


@pytest.fixture
def flawed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text(FLAWED, encoding="utf-8")
    return "README.md"


def test_the_terminal_quotes_the_line_and_marks_the_words(
    flawed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", flawed, "--verbose"]) == EXIT_INVALID
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("✗ G8"))
    assert lines[at + 1] == "  seen    README.md:13: 157 of 400 connections could not be opened"
    quoted, marked = lines[at + 2], lines[at + 3]
    assert quoted.split(" | ")[0].strip() == "13"
    assert quoted[marked.index("^") : marked.rindex("^") + 1] == "connect 157"
    assert "contradicted by its own figures" in "\n".join(lines)
    assert any(line.startswith("  assay versus ") for line in lines)
    assert any(line.startswith("  assay load ") and "--rate 70000" in line for line in lines)


def test_the_screen_has_conclusions_first_then_a_line_a_cause_and_what_to_do(
    flawed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", flawed]) == EXIT_INVALID
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 80
    signs = [line[0] for line in lines if line and line[0] in "✗!·"]
    assert "foo is 5x faster than bar." in lines[4] and "contradicted by its own figures" in lines[4]
    assert lines[5].startswith("    by its times 'foo' is 2 times as fast as 'bar' (lines 7, 21), not 5")
    assert signs == sorted(signs, key="✗!·".index)
    at = lines.index("✗ G8 connections missing: line 13")
    assert lines[at + 1].startswith("  → raise the limit")


def test_where_nothing_is_decided_the_screen_has_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"```\n{wrk()}```\n\nfoo is 3x faster than qux.\n", encoding="utf-8")
    main(["audit", str(path)])
    shown = capsys.readouterr().out
    assert "cannot be told" in " ".join(shown.split()) and "foo is 3x" not in shown
    assert "\n\n\n" not in shown and "\n· R3 the machine is not named" in shown


def test_the_screen_holds_a_text_with_every_flaw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "README.md"
    path.write_text("\n".join(FLAWED.replace("foo", f"foo{n}") for n in range(30)), encoding="utf-8")
    assert main(["audit", str(path)]) == EXIT_INVALID
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 80


def test_explain_says_what_a_finding_means(flawed: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", flawed])
    short = capsys.readouterr().out
    main(["audit", flawed, "--explain"])
    long = capsys.readouterr().out
    meaning = "fewer connections than the text says"
    assert meaning not in " ".join(short.split()) and meaning in " ".join(long.split())


def test_json_has_everything(flawed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", flawed, "--json"]) == EXIT_INVALID
    (told,) = json.loads(capsys.readouterr().out)["documents"]
    assert told["against"] is True
    assert {"G8", "A2", "R8"} <= {one["code"] for one in told["findings"]}
    assert [one["believable_for"] for one in told["results"]] == ["nothing", "throughput"]
    assert told["conclusions"][0]["verdict"] == "contradicted by its own figures"
    assert told["commands"]


def test_markdown_is_a_comment(flawed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", flawed, "--markdown", "-"]) == EXIT_INVALID
    told = capsys.readouterr().out
    assert told.startswith("# README.md\n\n**2 results, believable: ")
    assert told.index("| contradicted by its own figures |") < told.index(
        "- **G8 error: connections missing.**"
    )
    assert "  - README.md:13: 157 of 400 connections could not be opened: `connect 157`" in told
    assert "  - *What to do:* raise the limit" in told
    assert "\n```sh\nassay versus " in told


def test_a_page_marks_the_words_that_are_meant(flawed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", flawed, "--html", "-"]) == EXIT_INVALID
    told = capsys.readouterr().out
    assert "13 |   Socket errors: <mark>connect 157</mark>, read 0" in told
    assert "fewer connections than the text says" in told  # what it means unfolds
    assert "<pre>assay load http://" in told


def test_of_several_texts_each_is_a_section_of_one_page(
    flawed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("other.md").write_text(FLAWED, encoding="utf-8")
    Path("plain.md").write_text(PLAIN, encoding="utf-8")
    assert main(["audit", ".", "--html", "-"]) == EXIT_INVALID
    told = capsys.readouterr().out
    assert "2 texts with results of a load test" in told and "1 text without a result" in told
    anchors = re.findall(r'\bid="([^"]+)"', told)
    assert {"text-1", "text-2", "G8"} <= set(anchors) and len(set(anchors)) == len(anchors)
    main(["audit", ".", "--markdown", "-"])
    told = capsys.readouterr().out
    assert told.index("\n## README.md\n") < told.index("\n## other.md\n")


def test_a_reason_is_told_to_its_end_and_a_command_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "a-server-of-a-rather-long-name"
    path = tmp_path / "README.md"
    path.write_text(FLAWED.replace("foo", name).replace("bar", f"other-{name}"), encoding="utf-8")
    main(["audit", str(path), "--verbose"])
    told = capsys.readouterr().out
    assert "not 5 or 6" in " ".join(told.split())
    assert any(len(line) > 100 for line in told.splitlines() if line.startswith("  assay versus "))


def test_sarif_meets_its_schema(flawed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", flawed, "--sarif", "-"]) == EXIT_INVALID
    told = json.loads(capsys.readouterr().out)
    schema = json.loads(Path(__file__).with_name("sarif-part.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(told)
    (run,) = told["runs"]
    rules = run["tool"]["driver"]["rules"]
    missing = next(one for one in run["results"] if one["ruleId"] == "G8")
    assert rules[missing["ruleIndex"]]["id"] == "G8" and missing["level"] == "error"
    where = missing["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == "README.md"
    line = FLAWED.splitlines()[where["region"]["startLine"] - 1]
    marked = line[where["region"]["startColumn"] - 1 : where["region"]["endColumn"] - 1]
    assert marked == "connect 157"


def test_a_study_is_written_that_can_be_loaded(flawed: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", flawed, "--study", "again.toml"])
    capsys.readouterr()
    told = Path("again.toml").read_text(encoding="utf-8")
    study = msgspec.convert(tomllib.loads(told), StudyFile)
    assert [entry.server for entry in study.servers] == ["again/foo", "again/bar"]
    assert study.servers[0].figures[0].throughput_per_s == 100000
    assert study.claims[0].comparisons[0].published_ratio == 5
    assert study.profiles["published"].loads[0].connections == 400


def test_a_text_about_something_else_yields_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "README.md"
    path.write_text(PLAIN, encoding="utf-8")
    assert main(["audit", str(path)]) == EXIT_OK
    assert "no result of a load test" in " ".join(capsys.readouterr().out.split())


def test_notes_alone_do_not_fail(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("```\n" + wrk() + "```\n", encoding="utf-8")
    assert main(["audit", str(path)]) == EXIT_OK


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FLAWED.encode())))
    assert main(["audit", "-"]) == EXIT_INVALID
    assert "stdin" in capsys.readouterr().out


def test_a_folder_is_searched_and_what_is_no_text_is_told(
    flawed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "README.md").write_text(FLAWED, encoding="utf-8")
    (tmp_path / "a.txt").write_bytes(b"\0\1\2")
    (tmp_path / "b.md").write_text(PLAIN, encoding="utf-8")
    assert main(["audit", "."]) == EXIT_INVALID
    told = capsys.readouterr()
    assert told.out.count("G8 connections missing") == 1
    assert "1 text without a result" in told.out
    assert "a.txt is not a text" in told.err


def test_a_rule_may_be_left_out(flawed: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", flawed, "--ignore", "g8"])
    assert "G8" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["missing.md"], "cannot read missing.md: no such file or directory"),
        (["--ignore", "X9", "."], "there is no rule 'X9' in an audit"),
        ([".", "--study", "x.txt"], "--study writes TOML"),
        ([".", "--study", "x.toml"], "a study is of one text, and 0 of these have results"),
    ],
)
def test_bad_usage_gets_one_line(
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["audit", *words]) == EXIT_USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("assay: ") and told in line


def test_foreign_words_move_no_cursor_and_mark_nothing_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = FLAWED.replace("## foo", "## foo\x07\u202e <script>|@all `").replace("connect 157", "connect 157")
    path = tmp_path / "README.md"
    path.write_text(evil, encoding="utf-8")
    main(["audit", str(path)])
    shown = capsys.readouterr().out
    assert "\x07" not in shown and "\u202e" not in shown
    main(["audit", str(path), "--markdown", "-"])
    assert "<script>" not in capsys.readouterr().out.replace("\\<script\\>", "")
    main(["audit", str(path), "--html", "-"])
    shown = capsys.readouterr().out
    assert "<script" not in shown and "\u202e" not in shown


def test_a_rule_of_reporting_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "r8"]) == EXIT_OK
    assert "a conclusion against its own figures" in capsys.readouterr().out


def test_so_is_a_rule_that_only_texts_can_break(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "D3"]) == EXIT_OK
    assert "averages of what has no average" in capsys.readouterr().out


def test_a_text_with_all_it_should_say_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "README.md"
    path.write_text(MACHINE + "```\n" + wrk() + "```\n", encoding="utf-8")
    assert main(["audit", str(path)]) == EXIT_OK
    assert "1 result, believable: 1 for throughput" in " ".join(capsys.readouterr().out.split())


def test_the_page_shows_what_the_example_yields(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    monkeypatch.delenv("COLUMNS", raising=False)
    main(["audit", "docs/audit-example/hasty.md", "--verbose"])
    assert capsys.readouterr().out.rstrip() in (root / "docs" / "audit.md").read_text(encoding="utf-8")
    assert main(["audit", "docs/audit-example/sound.md"]) == EXIT_OK
    assert main(["audit", "docs/audit-example/partly.md"]) == EXIT_INVALID


def test_the_page_lists_every_rule() -> None:
    from assay.audit import AUDIT_RULES

    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
    assert [code for code in AUDIT_RULES if f"| {code} | " not in page] == []


def test_a_place_of_a_long_path_is_not_folded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / ("a" * 60)
    folder.mkdir()
    (folder / "hasty.md").write_text(FLAWED, encoding="utf-8")
    main(["audit", "--verbose", str(folder / "hasty.md")])
    assert re.search(
        r"^  seen    hasty\.md:\d+: 157 of 400 connections", capsys.readouterr().out, re.MULTILINE
    )
