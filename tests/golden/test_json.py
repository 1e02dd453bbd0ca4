"""The JSON of every verb that has one and measures nothing: its keys, types and values, by stored records.

Of verbs that measure tests/e2e/test_json_of_measuring.py holds keys and types.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import fake_ray
import json_outline
import pytest
import sample_run

from assay.cli import main as cli
from assay.cli import verbs
from assay.report import load
from assay.verdict import judge_load

HERE = Path(__file__).parent
RECORDS = HERE / "records"
KINDS = ("sample", "capacity", "franklin", "versus")
SAMPLES = HERE.parent / "audit" / "samples"
OTHER_FORMS = {"load-figures", "report-bmf", "audit-sarif", "schema", "bombardier"}
"""Golden files of JSON that is not had by `--json`."""

STORED: dict[str, list[tuple[str, ...]]] = {
    "report": [("report", "{records}/" + kind, "--json") for kind in KINDS],
    "report-bmf": [("report", "{records}/" + kind, "--bmf", "-") for kind in KINDS],
    "judge": [("judge", "{records}/" + kind, "--dry-run", "--json") for kind in KINDS],
    "compare": [
        ("compare", "{records}/franklin", "{records}/sample", "--json"),
        ("compare", "{sample}:quotes/java-vertx", "{sample}:quotes/go", "--json"),
    ],
    "history": [
        ("history", "--results", "{records}", "--json"),
        ("history", "--results", "{records}", "--trend", "quotes/go", "--json"),
    ],
    "rules": [("rules", "--json")],
    "explain": [("explain", "T2", "R8", "--json")],
    "audit": [("audit", "ab.txt", "k6.txt", "--json")],
    "audit-sarif": [("audit", "ab.txt", "k6.txt", "--sarif", "-")],
}
"""What is said to Assay for each golden file. Exit codes are held elsewhere."""

Captured = pytest.CaptureFixture[str]
Golden = Callable[[str, str], None]


@pytest.mark.parametrize("name", STORED)
def test_the_json_of_what_is_stored(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, golden: Golden
) -> None:
    monkeypatch.chdir(SAMPLES)
    places = {
        "records": shutil.copytree(RECORDS, tmp_path / "records"),
        "sample": sample_run.stored(sample_run.run(), tmp_path / "sample"),
    }
    told = []
    for words in STORED[name]:
        cli.main([word.format_map(places) for word in words])
        told.append(json.loads(capsys.readouterr().out))
    golden(f"json/{name}.json", json_outline.outline(told))


def test_the_json_of_the_formats(capsys: Captured, golden: Golden) -> None:
    told = {}
    for form in ("run", "study", "server", "contract"):
        assert cli.main(["schema", form]) == 0
        told[form] = json_outline.of_schema(json.loads(capsys.readouterr().out))
    golden("json/schema.json", json_outline.text(told))


def test_the_json_of_the_figures_of_a_load(golden: Golden) -> None:
    whole = sample_run.measurement(3_030, response_time=sample_run.histogram(2e6))
    failing = sample_run.whole(3_030, failed=31)
    found = judge_load(sample_run.PLAN, failing, cores=2, same_machine=True)
    taken = sample_run.finding("W1", "error", None, on_throughput="void", on_times="void")
    told = [
        json.loads(load.as_json(sample_run.OPEN_PLAN, whole, ())),
        json.loads(load.as_json(sample_run.PLAN, failing, found)),
        json.loads(load.as_json(sample_run.PLAN, failing, (taken,))),
    ]
    golden("json/load-figures.json", json_outline.outline(told, cut={"[].measurement"}))


def test_the_json_of_the_nodes_of_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, golden: Golden
) -> None:
    with fake_ray.three_nodes(monkeypatch, tmp_path):
        cli.main(["nodes", "--ray", fake_ray.ADDRESS, "--json"])
    told = json.loads(capsys.readouterr().out)
    golden("json/nodes.json", json_outline.outline(told, only=("roles",)))


def test_every_verb_with_json_has_a_golden_file() -> None:
    with_json = {verb.name for verb in verbs.VERBS if verb.has_parser and verb.parser().takes("--json")}
    held = {path.stem for path in (HERE / "expected" / "json").glob("*.json")}
    assert held == with_json | OTHER_FORMS
