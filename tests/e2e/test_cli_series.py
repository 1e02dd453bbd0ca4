"""Several runs from one command: both profiles, every study, cut off and gone on with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import made_servers
import made_studies
import pytest
from interrupting import interrupted
from test_cli_run import ASSAY, assay, environment

from assay.cli.run_series import parts_of

pytestmark = pytest.mark.beside

FIGURE = 'server = "greeting/right"\nfigures = [{ throughput_per_s = 1000 }]'


def write_studies(folder: Path, *names: str, blocks: int = 1, modes: Sequence[str] = ("right",)) -> None:
    """Studies of small servers, each with both profiles; `small` is always there."""
    made_studies.write(folder, modes, blocks=blocks)
    path = folder / "studies" / "small.toml"
    text = path.read_text().replace('server = "greeting/right"', FIGURE)
    fair = text[text.index("[profiles.fair]") :]
    text += fair.replace("profiles.fair", "profiles.published")
    path.write_text(text)
    for name in names:
        path.with_name(f"{name}.toml").write_text(text.replace('name = "small"', f'name = "{name}"'))


def the_series(folder: Path) -> dict[str, Any]:
    [path] = (folder / "results").glob("*/series.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def states(folder: Path) -> list[tuple[str, str, str]]:
    return [(part["study"], part["profile"], part["state"]) for part in the_series(folder)["parts"]]


def test_both_profiles_end_side_by_side(tmp_path: Path) -> None:
    write_studies(tmp_path, modes=["right", "exits"])
    ended = assay(tmp_path, "run", "small", "--profile", "both")
    assert ended.returncode == 1  # one of the two servers does not start
    assert "Traceback" not in ended.stderr
    estimate = ended.stderr.index("2 runs, about ")
    assert estimate < ended.stderr.index("[2/2] small, profile published")
    assert "Published against fair\n  published  small, profile published, " in ended.stdout
    assert "1,000/s" in ended.stdout
    assert states(tmp_path) == [("small", "fair", "ended"), ("small", "published", "ended")]
    folder = tmp_path / "results" / the_series(tmp_path)["series_id"]
    assert "## Published against fair" in (folder / "small.md").read_text()
    assert 'id="beside"' in (folder / "small.html").read_text()
    # Each run of the pair finds the other one again, from the records alone.
    for part in the_series(tmp_path)["parts"]:
        again = assay(tmp_path, "report", part["run"])
        assert "Published against fair" in again.stdout
        assert "Published against fair" in assay(tmp_path, "report", part["run"], "--markdown", "-").stdout


def test_of_all_studies_one_that_was_never_published_has_its_fair_profile_alone(tmp_path: Path) -> None:
    write_studies(tmp_path, "other")
    path = tmp_path / "studies" / "other.toml"
    text = path.read_text()
    path.write_text(text[: text.index("[profiles.published]")])
    parts = parts_of(["other", "small"], ("fair", "published"), made_servers.settings(tmp_path))
    assert [(part.study, part.profile) for part in parts] == [
        ("other", "fair"),
        ("small", "fair"),
        ("small", "published"),
    ]


def test_any_two_runs_of_a_study_can_be_set_side_by_side(tmp_path: Path) -> None:
    write_studies(tmp_path, "other")
    for words in (("small",), ("small", "--profile", "published"), ("other",)):
        assay(tmp_path, "run", *words)
    fair, published, other = sorted(
        (path.parent.name for path in tmp_path.glob("results/*/run.jsonl")), key=lambda name: "other" in name
    )
    assert "Published against fair" not in assay(tmp_path, "report", fair).stdout
    assert "Published against fair" in assay(tmp_path, "report", fair, "--beside", published).stdout
    refused = assay(tmp_path, "report", fair, "--beside", other)
    assert refused.returncode == 2
    assert "the runs are of two studies" in refused.stderr


def test_a_study_that_cannot_be_run_does_not_stop_the_others(tmp_path: Path) -> None:
    write_studies(tmp_path, "torn")
    path = tmp_path / "studies" / "torn.toml"
    path.write_text(path.read_text().replace("greeting/right", "greeting/wrong"))
    ended = assay(tmp_path, "run", "torn", "small")
    assert ended.returncode == 1
    assert "there is no server 'greeting/wrong'" in ended.stderr
    assert states(tmp_path) == [("torn", "fair", "failed"), ("small", "fair", "ended")]
    assert "[1/1]" in ended.stderr
    screen = ended.stdout[ended.stdout.index("\nSeries ") :]
    assert "there is no server" in " ".join(screen.split())


def test_nothing_begins_where_no_study_can_be_run(tmp_path: Path) -> None:
    write_studies(tmp_path)
    ended = assay(tmp_path, "run", "nothing", "none")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_ctrl_c_keeps_what_is_measured_and_the_series_goes_on(tmp_path: Path) -> None:
    write_studies(tmp_path, blocks=2)
    stopped = interrupted(
        [*ASSAY, "run", "small", "--profile", "both"], tmp_path, environment(tmp_path), "[1/2] block 1"
    )
    assert stopped.returncode == 130
    assert "go on with: assay run --resume" in stopped.stderr
    assert "greeting/right" in stopped.stdout
    assert states(tmp_path) == [("small", "fair", "begun"), ("small", "published", "to do")]
    ended = assay(tmp_path, "run", "--resume", "latest")
    assert ended.returncode in (0, 1)
    assert "[1/2] block 1" in ended.stderr.split("[2/2] small, profile published")[1]
    assert "[1/2] block 1" not in ended.stderr.split("[2/2] small, profile published")[0]
    assert [state for *_, state in states(tmp_path)] == ["ended", "ended"]
    assert "Published against fair" in ended.stdout
    for part in the_series(tmp_path)["parts"]:
        assert len(json.loads(assay(tmp_path, "report", part["run"], "--json").stdout)["trials"]) == 2
    again = assay(tmp_path, "run", "--resume", the_series(tmp_path)["series_id"])
    assert again.returncode == 2
    assert "has ended" in again.stderr


def test_json_is_a_document_for_each_run(tmp_path: Path) -> None:
    write_studies(tmp_path, "other")
    ended = assay(tmp_path, "run", "small", "other", "--json")
    decoder, rest, studies = json.JSONDecoder(), ended.stdout, []
    while rest.strip():
        run, end = decoder.raw_decode(rest.lstrip())
        studies.append(run["header"]["study_name"])
        rest = rest.lstrip()[end:]
    assert studies == ["small", "other"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "small", "--all"), "'small' is one of them"),
        (("run", "small", "other", "--server", "greeting/right"), "--server names servers of one study"),
        (("run", "--all", "--resume", "latest"), "'all' cannot change"),
    ],
)
def test_what_cannot_be_meant_is_one_line(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    write_studies(tmp_path, "other")
    ended = assay(tmp_path, *words)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_series_file_that_is_damaged_is_told(tmp_path: Path) -> None:
    write_studies(tmp_path)
    (tmp_path / "results" / "series-1").mkdir(parents=True)
    (tmp_path / "results" / "series-1" / "series.json").write_text('{"format": 1')
    ended = assay(tmp_path, "run", "--resume", "series-1")
    assert ended.returncode == 2
    assert "no series of runs" in ended.stderr
