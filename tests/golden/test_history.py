"""The index of runs and `assay history`."""

from __future__ import annotations

import html
import json
import multiprocessing
import os
import re
import threading
import time
from pathlib import Path

import pytest
import sample_run
from msgspec.structs import replace
from rich.cells import cell_len
from sample_run import stored, under

from assay import store, verdict
from assay.cli import main as cli
from assay.model.estimate import Known, Limit
from assay.model.run import Run
from assay.report import pages
from assay.report.model.answer import in_a_line
from assay.report.model.run_document import document
from assay.store.index import NAME, Filter, Index, ListedRun, rebuild

Captured = pytest.CaptureFixture[str]
DAY_NS = 86_400 * 10**9
KEPT = sorted((Path(__file__).parent / "records").glob("*/run.jsonl"))


def run_of_day(day: int, *, factor: float = 1.0, machine: str = "0f3c", study: str = "franklin") -> Run:
    """A small run made on a day, with Go's throughput scaled."""
    run = sample_run.run(trials=())
    assert run.judgement is not None
    created_ns = sample_run.CREATED_NS + day * DAY_NS
    ranking = tuple(
        replace(place, throughput=sample_run.estimate(55_100 * factor, 0.01))
        if place.case == "quotes/go"
        else place
        for place in run.judgement.ranking
    )
    header = replace(
        run.header,
        run_id=f"{study}-day{day:03}",
        study_name=study,
        created_unix_ns=created_ns,
        environment=replace(run.header.environment, machine_id=machine, git_commit=f"{day:07}abc"),
    )
    return replace(run, header=header, judgement=replace(run.judgement, ranking=ranking))


def history(results: Path, *words: str) -> int:
    return cli.main(["history", "--results", str(results), *words])


def test_the_list_is_newest_first_and_fits_80_columns(tmp_path: Path, capsys: Captured) -> None:
    for day in range(3):
        stored(run_of_day(day), tmp_path)
    assert history(tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    rows = lines[2:]  # below the heads and their rule: a row, and its run's answer
    assert [line.split()[0] for line in rows[::2]] == [
        "franklin-day002",
        "franklin-day001",
        "franklin-day000",
    ]
    assert [line.split()[:3] for line in rows[1::2]] == [["quotes/java-vertx", "is", "fastest:"]] * 3


def told_by_report(run: Run) -> str:
    """All that the report's own sentences answer."""
    return "; ".join(document(verdict.judged(run)).headline)


def begins(shown: str, whole: str) -> bool:
    """Whether it is the text, or its beginning up to the end of a word."""
    head, cut, _ = shown.partition(" …")
    return bool(head) and (whole.startswith(f"{head} ") if cut else whole == head)


@pytest.mark.parametrize("record", KEPT, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("columns", [80, 50, 300])
def test_a_listed_run_says_what_its_report_answers(
    record: Path, columns: int, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "run.jsonl").write_bytes(record.read_bytes())
    whole = told_by_report(store.load(record))
    assert history(tmp_path, "--json") == 0
    [listed] = json.loads(capsys.readouterr().out)
    assert begins(listed["answer"], whole)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert history(tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert begins(lines[-1].strip(), whole)
    entries = Index(tmp_path, in_a_line).runs(Filter())
    shown = re.findall(r'<p class="which">(.*?)</p>', pages.history(entries, Filter(), "/token"))
    assert [html.unescape(text) for text in shown] == [listed["answer"]]


def test_a_name_of_wide_letters_is_cut_to_the_width(tmp_path: Path, capsys: Captured) -> None:
    run = run_of_day(0)
    cases = tuple(replace(case, label=f"服务器{case.server}" * 9) for case in run.header.cases)
    stored(replace(run, header=replace(run.header, cases=cases)), tmp_path)
    assert history(tmp_path) == 0
    assert max(map(cell_len, capsys.readouterr().out.splitlines())) <= 80


def test_a_run_that_nobody_judged_says_so_until_somebody_does(tmp_path: Path, capsys: Captured) -> None:
    run = sample_run.run()
    path = stored(replace(run, judgement=None), tmp_path)
    assert history(tmp_path) == 0
    assert capsys.readouterr().out.splitlines()[-1].strip() == "not judged"
    cli.main(["judge", path.parent.name, "--results", str(tmp_path)])
    capsys.readouterr()
    assert history(tmp_path) == 0
    assert begins(capsys.readouterr().out.splitlines()[-1].strip(), told_by_report(store.load(path)))


def test_a_run_in_which_nothing_was_measured_says_so(tmp_path: Path, capsys: Captured) -> None:
    run = sample_run.run()
    trials = tuple(sample_run.trial(number, case.id, 0, {}) for number, case in enumerate(run.header.cases))
    failed = replace(run, trials=trials, judgement=None)
    failed = verdict.judged(failed)
    stored(failed, tmp_path)
    assert history(tmp_path) == 0
    last = capsys.readouterr().out.splitlines()[-1].strip()
    assert begins(last, told_by_report(failed)) and "fastest" not in last


def test_sentences_of_another_version_are_made_anew(tmp_path: Path) -> None:
    """A report of this version says them in its own words."""
    stored(run_of_day(0), tmp_path)
    [first] = Index(tmp_path, in_a_line).runs(Filter())
    kept = json.loads((tmp_path / NAME).read_text())
    assert [entry[1]["answer"] for entry in kept["entries"].values()] == [first.answer]
    for told_by, said in ((kept["told_by"], "as it was"), ("0.0.1", first.answer)):
        for entry in kept["entries"].values():
            entry[1]["answer"] = "as it was"
        (tmp_path / NAME).write_text(json.dumps(kept | {"told_by": told_by}))
        [again] = Index(tmp_path, in_a_line).runs(Filter())
        assert again.answer == said


@pytest.mark.parametrize(
    ("words", "days"),
    [
        (("--study", "other"), [3]),
        (("--study", "nothing"), []),
        (("--machine", "ffff"), [2]),
        (("--commit", "0000001"), [1]),
        (("--server", "quotes/go"), [3, 2, 1, 0]),
        (("--server", "quotes/perl"), []),
        (("--since", "2025-11-22", "--until", "2025-11-23"), [2, 1]),
    ],
)
def test_filters(words: tuple[str, ...], days: list[int], tmp_path: Path, capsys: Captured) -> None:
    stored(run_of_day(0), tmp_path)
    stored(run_of_day(1), tmp_path)
    stored(run_of_day(2, machine="ffff"), tmp_path)
    stored(run_of_day(3, study="other"), tmp_path)
    assert history(tmp_path, "--json", *words) == 0
    told = json.loads(capsys.readouterr().out)
    assert [int(entry["run_id"][-3:]) for entry in told] == days


def test_the_trend_marks_where_the_level_changed(tmp_path: Path, capsys: Captured) -> None:
    for day in range(12):
        stored(run_of_day(day, factor=(1.0 if day < 7 else 0.85) * (1 + 0.004 * (day % 3))), tmp_path)
    assert history(tmp_path, "--trend", "quotes/go") == 0
    lines = capsys.readouterr().out.splitlines()
    changes = [index for index, line in enumerate(lines) if "change:" in line]
    assert changes == [10]  # below the title, the heads, their rule and the seven days before it
    assert "0.85 times" in lines[10]


def test_the_trend_shows_a_bound_as_one(tmp_path: Path, capsys: Captured) -> None:
    run = run_of_day(0)
    assert run.judgement is not None
    known = Known(low=54_000.0, high=None, limits=(Limit(code="G1", words="its generator was full"),))
    ranking = tuple(
        replace(place, known=known) if place.case == "quotes/go" else place for place in run.judgement.ranking
    )
    stored(replace(run, judgement=replace(run.judgement, ranking=ranking)), tmp_path)
    stored(run_of_day(1), tmp_path)
    assert history(tmp_path, "--trend", "quotes/go") == 0
    *_, first, second = capsys.readouterr().out.splitlines()
    assert "≥ 54,000/s" in first and "±" not in first
    assert "55,100/s" in second and "± 1.0 %" in second


def test_a_level_history_has_no_change(tmp_path: Path, capsys: Captured) -> None:
    for day in range(20):
        stored(run_of_day(day, factor=1 + 0.01 * ((day * 7) % 5 - 2)), tmp_path)
    history(tmp_path, "--trend", "quotes/go")
    assert "change:" not in capsys.readouterr().out


def test_machines_are_not_compared_without_a_warning(tmp_path: Path, capsys: Captured) -> None:
    for day in range(12):
        stored(run_of_day(day, factor=1.0 if day < 6 else 2.0, machine="a" if day < 6 else "b"), tmp_path)
    history(tmp_path, "--trend", "quotes/go")
    told = capsys.readouterr().out
    assert told.count("another machine") == 1
    assert "change:" not in told


def test_what_is_new_changed_or_gone_is_noticed(tmp_path: Path) -> None:
    first, second = (stored(run_of_day(day), tmp_path) for day in (0, 1))
    assert [entry.run_id for entry in Index(tmp_path, in_a_line).runs(Filter())] == [
        "franklin-day001",
        "franklin-day000",
    ]
    second.unlink()
    first.unlink()
    first.parent.rmdir()
    stored(under("published", run_of_day(0)), tmp_path)
    [left] = Index(tmp_path, in_a_line).runs(Filter())
    assert (left.run_id, left.profile) == ("franklin-day000", "published")


def test_the_index_is_made_again_from_the_files(tmp_path: Path, capsys: Captured) -> None:
    stored(run_of_day(0), tmp_path)
    history(tmp_path)
    of_another_version = b'{"version": 99, "entries": {"franklin-day000": 1}}'
    for damage in (b"this is no index at all" * 20, b"", b"\xff", b"[" * 9999, of_another_version):
        (tmp_path / NAME).write_bytes(damage)
        capsys.readouterr()
        assert history(tmp_path) == 0
        assert "franklin-day000" in capsys.readouterr().out
    assert history(tmp_path, "--reindex") == 0
    assert "franklin-day000" in capsys.readouterr().out
    rebuild(tmp_path)
    assert not (tmp_path / NAME).exists()


def test_a_damaged_run_is_listed_as_such_and_hides_no_other(tmp_path: Path, capsys: Captured) -> None:
    stored(run_of_day(0), tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.jsonl").write_bytes(b"\x00\xff{\n")
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "run.jsonl").write_bytes(b'{"record":"header","format":999}\n')
    assert history(tmp_path) == 0
    told = capsys.readouterr().out
    assert "franklin-day000" in told
    assert "no header of a run record" in told
    assert "format 999" in told


def test_damaged_lines_are_told_in_the_list(tmp_path: Path, capsys: Captured) -> None:
    path = stored(sample_run.run(), tmp_path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"number":3,', b'"number":8,', 1))
    assert history(tmp_path) == 0
    told = capsys.readouterr().out
    assert "! franklin-20251121-080000-3f2a: 1 line of its record cannot be used" in told
    assert "damaged" in told.splitlines()[2]
    entries = Index(tmp_path, in_a_line).runs(Filter())
    page = pages.history(entries, Filter(), "/token")
    assert ">damaged<" in page and "1 line of its record cannot be used" in page
    path.write_bytes(content)
    assert history(tmp_path) == 0
    assert "cannot be used" not in capsys.readouterr().out


def test_what_is_no_file_is_listed_and_waited_for_by_nobody(tmp_path: Path, capsys: Captured) -> None:
    stored(run_of_day(0), tmp_path)
    for name, put in (("pipe", os.mkfifo), ("folder", Path.mkdir)):
        (tmp_path / name).mkdir()
        put(tmp_path / name / "run.jsonl")
    assert history(tmp_path) == 0
    told = capsys.readouterr().out
    assert "franklin-day000" in told
    assert told.count("it is not a regular file") == 2
    for name in ("pipe", "folder"):
        assert cli.main(["report", str(tmp_path / name)]) == 2
        assert cli.main(["report", name, "--results", str(tmp_path)]) == 2
    assert cli.main(["report", "latest", "--results", str(tmp_path)]) == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_is_indexed_in_memory(tmp_path: Path, capsys: Captured) -> None:
    stored(run_of_day(0), tmp_path)
    tmp_path.chmod(0o500)
    try:
        assert history(tmp_path) == 0
    finally:
        tmp_path.chmod(0o700)
    assert "franklin-day000" in capsys.readouterr().out


def open_index(results: Path) -> int:
    return len(Index(results, in_a_line).runs(Filter()))


def test_several_processes_may_open_a_new_index_at_once(tmp_path: Path) -> None:
    for day in range(5):
        stored(run_of_day(day), tmp_path)
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert pool.map(open_index, [tmp_path] * 8) == [5] * 8


def test_an_empty_or_missing_folder_is_an_empty_history(tmp_path: Path, capsys: Captured) -> None:
    assert history(tmp_path) == 0
    assert history(tmp_path / "none") == 0
    assert capsys.readouterr().out == "no run fits\nno run fits\n"


def test_bad_input_is_one_line(tmp_path: Path, capsys: Captured) -> None:
    stored(run_of_day(0), tmp_path)
    for words, said in (
        (("--trend", "perl"), "no case is called 'perl'"),
        (("--since", "yesterday"), "is not a date"),
    ):
        assert history(tmp_path, *words) == 2
        told = capsys.readouterr()
        assert said in told.err
        assert told.err.count("\n") == 1


def test_ten_thousand_runs_are_listed_from_the_index(tmp_path: Path) -> None:
    stored(run_of_day(0), tmp_path)
    template = (tmp_path / "franklin-day000" / "run.jsonl").read_bytes()
    for number in range(10_000):
        folder = tmp_path / f"r{number:05}"
        folder.mkdir()
        (folder / "run.jsonl").write_bytes(template)
    Index(tmp_path, in_a_line)
    began = time.monotonic()
    entries = Index(tmp_path, in_a_line).runs(Filter())
    took_s = time.monotonic() - began
    assert len(entries) == 10_001
    # No timing bound here: a busy machine would break it. The figure is for the reader of a failure.
    print(f"listed in {took_s:.2f} s")


def test_two_runs_of_one_study_are_chosen_to_begin_with() -> None:
    studies = ("franklin", "heroes", "franklin", "franklin")
    entries = [
        ListedRun(folder=f"run-{place}", run_id=f"run-{place}", study=study)
        for place, study in enumerate(studies)
    ]
    page = pages.history(entries, Filter(), "/token")
    chosen = re.findall(r'name="(base|new)" value="([^"]+)"[^>]*checked', page)
    assert chosen == [("new", "run-0"), ("base", "run-2")]


def test_links_and_pipes_in_the_place_of_the_index_are_not_followed(tmp_path: Path) -> None:
    """A folder of runs that others may write into: what lies there must lead nowhere."""
    results, other = tmp_path / "results", tmp_path / "other"
    stored(run_of_day(0), results)
    for injected in ("link", "pipe"):
        (results / NAME).unlink(missing_ok=True)
        if injected == "link":
            other.write_text("mine")
            (results / NAME).symlink_to(other)
            for name in (str(threading.get_native_id()), "new", "tmp"):
                (results / f"{NAME}.{name}").symlink_to(other)
        else:
            os.mkfifo(results / NAME)
        assert len(Index(results, in_a_line).runs(Filter())) == 1
        assert not (results / NAME).is_symlink() and (results / NAME).is_file()
        assert other.read_text() == "mine"
