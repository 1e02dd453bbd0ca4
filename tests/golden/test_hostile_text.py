"""A record may come from anywhere: nothing in it moves a cursor, recolours or turns round what is shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sample_run

from assay.cli import main as cli
from assay.model.run import Run
from assay.verdict import judge

Captured = pytest.CaptureFixture[str]
HOSTILE = "\x1b[31m\x9b2J\x07\u202egnp.\u2066\u061c"
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]"
)
TEXTS = {
    "case",
    "claim",
    "commit",
    "cpu_model",
    "evidence",
    "git_commit",
    "governor",
    "hostname",
    "id",
    "kernel",
    "label",
    "load",
    "log_tail",
    "machine_id",
    "meaning",
    "note",
    "os",
    "profile",
    "question",
    "reason",
    "remedy",
    "run_id",
    "server",
    "source",
    "statement",
    "study_name",
    "title",
    "variant",
    "version",
    "workload",
}
"""Fields whose text comes from a study, a server or a machine."""


def hostile(value: Any, key: str = "") -> Any:  # noqa: ANN401 - data of any shape
    """The same data with the hostile characters behind each such text."""
    match value:
        case dict():
            return {
                (f"{name}{HOSTILE}" if key in ("tool_versions", "facts") else name): hostile(one, name)
                for name, one in value.items()
            }
        case list():
            return [hostile(one, key) for one in value]
        case str() if value and (key in TEXTS or key == "tool_versions"):
            return value + HOSTILE
        case str() if key == "command":
            return f"{value} {HOSTILE}"
    return value


@pytest.fixture(scope="module")
def run() -> Run:
    return msgspec.convert(hostile(msgspec.to_builtins(sample_run.run())), Run)


@pytest.fixture(scope="module")
def results(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run by the judgement in its record, and one that is judged anew."""
    folder = tmp_path_factory.mktemp("results")
    for name, one in (("judged", run), ("anew", msgspec.structs.replace(run, judgement=judge(run)))):
        path = sample_run.stored(one, folder / name)
        path.parent.rename(folder / f"run-{name}")
        (folder / name).rmdir()
    return folder


def found(text: str) -> list[str]:
    return [text[max(0, one.start() - 60) : one.end() + 20] for one in FORBIDDEN.finditer(text)]


@pytest.mark.parametrize("name", ["judged", "anew"])
@pytest.mark.parametrize("flag", ["", "--verbose", "--markdown", "--html", "--csv", "--benchstat", "--junit"])
def test_nothing_hostile_is_in_a_report(results: Path, name: str, flag: str, capsys: Captured) -> None:
    assert (
        cli.main(
            [
                "report",
                str(results / f"run-{name}"),
                *([flag] if flag == "--verbose" else [flag, "-"] if flag else []),
            ]
        )
        == 0
    )
    told = capsys.readouterr()
    assert "franklin" in told.out or "quotes" in told.out
    assert found(told.out.replace("\r\n", "\n")) == []
    assert found(told.err) == []


@pytest.mark.parametrize(
    "words",
    [
        ["history"],
        ["history", "--trend", f"quotes/go{HOSTILE}"],
        ["history", "--trend", "nobody"],
        ["judge", "run-judged", "--dry-run"],
        ["compare", "run-judged", "run-anew"],
        ["compare", "run-judged", "run-anew", "--verbose"],
        ["compare", "run-judged", "run-anew", "--markdown", "-"],
    ],
    ids=" ".join,
)
def test_nothing_hostile_is_on_a_screen(results: Path, words: list[str], capsys: Captured) -> None:
    cli.main([*words, "--results", str(results)])
    told = capsys.readouterr()
    assert "quotes" in told.out + told.err or words in (["history"], ["compare", "run-judged", "run-anew"])
    assert found(told.out) == []
    assert found(told.err) == []


def test_nothing_hostile_is_in_a_chart(run: Run) -> None:
    from assay.report.charts import about, charts
    from assay.report.picture import to_svg

    for chart in charts(run):
        assert found(to_svg(chart, about(run))) == []


def test_nothing_hostile_is_on_a_page(results: Path, run: Run) -> None:
    from assay.report import pages
    from assay.report.model.answer import in_a_line
    from assay.store.index import Filter, Index
    from assay.verdict.compare import compare

    entries = Index(results, in_a_line).runs(Filter())
    assert len(entries) == 2
    shown = [
        pages.history(entries, Filter(study=HOSTILE, server=HOSTILE), "/token"),
        pages.live(run, f"folder{HOSTILE}", "/token", ended=True),
        pages.of_comparison(compare(run, run, {})),
        pages.message(HOSTILE, "/token"),
    ]
    for text in shown:
        assert found(text) == []
