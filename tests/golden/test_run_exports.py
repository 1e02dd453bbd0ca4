"""Each export, read back by a consumer of its format or held against its published schema."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import junitparser
import pytest
import sample_run
from msgspec.structs import replace
from sample_run import stored
from test_run_output import HOSTILE, hostile_run

from assay.cli import main as cli
from assay.model.run import Run
from assay.model.trial import Case, Failure, Trial
from assay.report import exports
from assay.verdict import exit_codes

BENCHSTAT = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"
# Published as bencher.dev/bmf.json.
BMF_SCHEMA = {
    "type": "object",
    "patternProperties": {
        ".+": {
            "type": "object",
            "patternProperties": {
                ".+": {
                    "type": "object",
                    "properties": {
                        "value": {"type": "number"},
                        "lower_value": {"type": "number"},
                        "upper_value": {"type": "number"},
                    },
                    "required": ["value"],
                }
            },
        }
    },
}


def invalid_run() -> Run:
    return sample_run.with_wrong_answers("quotes/go", HOSTILE)


def changed(case: str, change: Callable[[Trial], Trial]) -> Run:
    """The sample, judged, where each trial of a case is another."""
    run = sample_run.run()
    trials = tuple(change(one) if one.case == case else one for one in run.trials)
    return sample_run.judged(replace(run, trials=trials, judgement=None))


def held_back(trial: Trial) -> Trial:
    """With a full generator, in front of a server of which nobody saw how busy it was."""
    return replace(full(trial), server=None)


def full(trial: Trial) -> Trial:
    """With a full generator."""
    assert trial.measurement is not None and trial.host is not None
    [worker] = trial.measurement.workers
    busy = replace(worker, cpu_ns=int(0.97 * worker.wall_ns))
    return replace(
        trial,
        measurement=replace(trial.measurement, workers=(busy,)),
        host=replace(trial.host, client_cpus_idle_share=0.03),
    )


def test_csv_has_a_row_a_trial() -> None:
    rows = list(csv.DictReader(io.StringIO(exports.as_csv(sample_run.run()), newline="")))
    assert len(rows) == 25
    go = [row for row in rows if row["case"] == "quotes/go"]
    assert float(go[0]["throughput_per_s"]) == 56202.0
    assert go[0]["response_time_p50_ns"] == ""
    assert {row["failure"] for row in rows if row["case"] == "quotes/crystal"} == {
        "build: crystal build ended with status 1"
    }


def test_csv_holds_no_formula() -> None:
    run = sample_run.run()
    trials = tuple(
        replace(trial, failure=Failure(stage="=cmd()", reason="x")) if trial.failure else trial
        for trial in run.trials
    )
    rows = csv.DictReader(io.StringIO(exports.as_csv(replace(run, trials=trials)), newline=""))
    assert not any(cell.startswith("=") for row in rows for cell in row.values())


def test_csv_says_what_withholds_a_case() -> None:
    rows = csv.DictReader(io.StringIO(exports.as_csv(invalid_run()), newline=""))
    assert {row["invalid_by"] for row in rows if row["case"] == "quotes/go"} == {"W1"}


def test_hgrm_ends_at_the_maximum_and_counts_every_request() -> None:
    files = dict(exports.hgrm_files(sample_run.run()))
    assert len(files) == 20
    assert all(re.fullmatch(r"[\w.+-]+\.hgrm", name) for name in files)
    text = files["quotes-go-block1-service.hgrm"].decode()
    lines = [line.split() for line in text.splitlines() if re.match(r" *\d", line)]
    values = [float(line[0]) for line in lines]
    assert values == sorted(values)
    measured = sample_run.trial(0, "quotes/go", 0).measurement
    assert measured is not None
    assert values[-1] == pytest.approx(measured.service_time.max_ns / 1e6, rel=0.002)
    assert int(lines[-1][2]) == measured.service_time.count
    footer = dict(re.findall(r"(Mean|StdDeviation) *= *([\d.]+)", text))
    assert float(footer["Mean"]) == pytest.approx(measured.service_time.mean_ns / 1e6, rel=0.01)
    assert float(footer["StdDeviation"]) == pytest.approx(measured.service_time.stdev_ns / 1e6, rel=0.01)


def test_benchstat_reads_its_format(tmp_path: Path) -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is not installed")
    path = tmp_path / "new.txt"
    path.write_text(exports.benchstat(sample_run.run()))
    read = subprocess.run(
        [go, "run", BENCHSTAT, "-format", "csv", str(path)],
        capture_output=True, text=True, check=True, timeout=250,
        cwd=tmp_path, env=os.environ | {"GOFLAGS": "-mod=mod"},
    )  # fmt: skip
    assert "study: franklin" in read.stdout
    rates = next(part for part in read.stdout.split("\n\n") if "req/s" in part)
    medians = {
        line.split(",")[0]: float(line.split(",")[1])
        for line in rates.splitlines()
        if line.startswith("Serve")
    }
    assert medians["Serve/quotes/go"] == pytest.approx(55_100, rel=0.01)


def test_benchstat_lines_keep_their_shape_and_leave_out_what_is_invalid() -> None:
    lines = exports.benchstat(invalid_run()).splitlines()
    results = [line for line in lines if line.startswith("Benchmark")]
    assert len(results) == 15
    assert all(re.fullmatch(r"BenchmarkServe/\S+\t\d+(\t[\d.]+ [a-z0-9/-]+)+", line) for line in results)
    assert not any("quotes/go" in line for line in results)


def test_bencher_metric_format_fits_its_schema() -> None:
    document = json.loads(exports.bmf(sample_run.run()))
    jsonschema.validate(document, BMF_SCHEMA)
    metric = document["quotes/go"]["throughput"]
    assert metric["value"] == pytest.approx(55_100)
    assert metric["lower_value"] < metric["value"] < metric["upper_value"]
    assert "quotes/go" not in json.loads(exports.bmf(invalid_run()))


def test_a_bound_is_in_no_format_that_has_no_place_for_one() -> None:
    run = changed("quotes/java-vertx", held_back)
    document = json.loads(exports.bmf(run))
    assert document.keys() == {"quotes/go", "quotes/ruby-sinatra", "quotes/null"}
    names = [line.split("\t")[0] for line in exports.benchstat(run).splitlines() if "\t" in line]
    assert {name.removeprefix("BenchmarkServe/") for name in names} == document.keys()
    assert exports.left_out(run) == (
        "left out, for they are bounds and the format holds none: "
        "throughput of quotes/java-vertx (its generator was full (G1)); "
        "times of quotes/java-vertx (its generator was full (G1))"
    )
    assert exports.left_out(sample_run.run()) == ""


def test_what_is_no_bound_of_the_same_case_is_exported() -> None:
    def logging(case: Case) -> Case:
        return replace(case, facts={**case.facts, "request_log": True}) if case.id == "quotes/go" else case

    run = sample_run.run()
    header = replace(run.header, cases=tuple(map(logging, run.header.cases)))
    run = sample_run.judged(replace(run, header=header))
    go = json.loads(exports.bmf(run))["quotes/go"]
    assert "throughput" not in go
    assert {"service-time-p50", "service-time-p99", "peak-memory", "start-time"} <= go.keys()
    lines = [
        line for line in exports.benchstat(run).splitlines() if line.startswith("BenchmarkServe/quotes/go")
    ]
    assert len(lines) == 5
    assert all("p50-ns" in line and "rss-bytes" in line and "req/s" not in line for line in lines)


def test_a_full_generator_in_front_of_a_full_server_takes_the_times_alone() -> None:
    go = json.loads(exports.bmf(changed("quotes/go", full)))["quotes/go"]
    assert go["throughput"]["value"] == pytest.approx(55_100)
    assert not any("time-p" in name for name in go)


@pytest.mark.parametrize("flag", ["--bmf", "--benchstat"])
def test_who_looks_for_a_bound_there_is_told_on_standard_error(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(changed("quotes/java-vertx", held_back), tmp_path)
    assert report(flag, "-", results=tmp_path) == 0
    told = capsys.readouterr()
    assert f"assay: {flag}: left out, for they are bounds" in told.err and told.err.count("\n") == 1
    assert "quotes/go" in told.out and "left out" not in told.out


def as_junit(run: Run) -> bytes:
    return exports.as_junit(run, exit_codes.failing(run))


@pytest.mark.parametrize(
    ("change", "failures"), [(full, 0), (held_back, 0)], ids=["the server set the pace", "a bound"]
)
def test_junit_fails_on_what_the_exit_code_fails_on(
    change: Callable[[Trial], Trial], failures: int, tmp_path: Path
) -> None:
    run = changed("quotes/go", change)
    assert run.judgement is not None
    assert ("G1", "error") in {(one.code, one.severity) for one in run.judgement.findings}
    path = tmp_path / "junit.xml"
    path.write_bytes(as_junit(run))
    [suite] = list(junitparser.JUnitXml.fromfile(str(path)))
    assert (suite.failures, suite.errors) == (failures, 1)  # crystal never built


def test_who_this_machine_lacks_something_for_is_skipped_as_the_exit_code_does(tmp_path: Path) -> None:
    def lacking(trial: Trial) -> Trial:
        return replace(trial, failure=Failure(stage="requires", reason="crystal not found"))

    run = changed("quotes/crystal", lacking)
    assert exit_codes.of(run) == 0
    path = tmp_path / "junit.xml"
    path.write_bytes(as_junit(run))
    [suite] = list(junitparser.JUnitXml.fromfile(str(path)))
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (5, 0, 0, 1)


def test_junit_is_read_as_one_error_and_one_failure(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    path.write_bytes(as_junit(invalid_run()))
    assert exit_codes.of(invalid_run()) == 1
    suites = junitparser.JUnitXml.fromfile(str(path))
    [suite] = list(suites)
    assert (suite.tests, suite.failures, suite.errors) == (5, 1, 1)
    results = {case.name: case.result for case in suite}
    assert isinstance(results["quotes/go"][0], junitparser.Failure)
    assert results["quotes/go"][0].type == "W1"
    assert isinstance(results["quotes/crystal"][0], junitparser.Error)
    assert results["quotes/java-vertx"] == []


def test_exports_of_hostile_text_stay_readable(tmp_path: Path) -> None:
    run = hostile_run()
    (tmp_path / "junit.xml").write_bytes(as_junit(run))
    assert junitparser.JUnitXml.fromfile(str(tmp_path / "junit.xml"))
    jsonschema.validate(json.loads(exports.bmf(run)), BMF_SCHEMA)
    assert len(list(csv.DictReader(io.StringIO(exports.as_csv(run), newline="")))) == 25


def report(*words: str, results: Path) -> int:
    return cli.main(["report", "latest", "--results", str(results), *words])


def test_the_report_verb_writes_every_form_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(sample_run.run(), tmp_path / "results")
    flags = [
        "--csv",
        str(tmp_path / "t.csv"),
        "--html",
        str(tmp_path / "r.html"),
        "--svg",
        str(tmp_path / "charts"),
    ]
    assert report(*flags, results=tmp_path / "results") == 0
    told = capsys.readouterr()
    assert "quotes/java-vertx is fastest" in told.out  # files silence no answer
    assert told.err.count("wrote ") == 3
    assert {path.name for path in (tmp_path / "charts").iterdir()} >= {"throughput.svg", "percentiles.svg"}
    assert not list(tmp_path.glob(".*"))


def test_a_report_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(sample_run.run(), tmp_path / "results")
    assert report("--csv", str(tmp_path / "none" / "t.csv"), results=tmp_path / "results") == 2
    assert capsys.readouterr().err.startswith("assay: cannot write ")


def test_the_step_summary_is_added_to_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(sample_run.run(), tmp_path / "results")
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert report("--step-summary", results=tmp_path / "results") == 0
    text = summary.read_text()
    assert text.startswith("before\n# A random quote")
    assert "Every trial" not in text


def test_a_cut_off_run_is_judged_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = sample_run.run()
    path = stored(replace(run, trials=run.trials[:12], judgement=None), tmp_path)
    with path.open("ab") as file:
        file.write(b'{"record": "trial", "tri')
    assert report(results=tmp_path) == 0
    told = capsys.readouterr()
    assert "torn" in told.err
    assert "the run did not end" in told.out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no run record"),
        (b"not json\n", "no header of a run record"),
        (b'{"record": "header", "format": 999}\n', "update Assay"),
    ],
)
def test_what_is_no_record_is_refused_in_a_line(
    content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "run.jsonl").write_bytes(content)
    assert report(results=tmp_path) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
