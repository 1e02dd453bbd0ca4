"""A run in other tools' formats: CSV, JUnit XML, benchstat, Bencher's, and HdrHistogram's percentiles."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as xml

from assay import stats, verdict
from assay.core import units as fmt
from assay.model.design import LoadDesign, SearchDesign
from assay.model.estimate import Estimate, Limit
from assay.model.measurement import Histogram, Measurement
from assay.model.run import Run
from assay.model.trial import Failure, Trial
from assay.report.model.rows import Row, failure_words, interval_words, sections, throughput_words

_PS = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}


def rows(run: Run) -> Iterator[dict[str, Any]]:
    """One row a trial, in the order of the run; unknown figures are None.

    These are the raw figures of every trial; `invalid_by` names the rules of the error that stands against
    figures of its case, `limited_by` those that made its throughput a bound, `times_limited_by` its times.
    """
    shown = {row.case.id: row for section in sections(run) for row in section.rows}
    for trial in run.trials:
        row, case = shown[trial.case], shown[trial.case].case
        errors = dict.fromkeys(one.code for one in row.findings if one.severity == "error")
        yield {
            "run_id": run.header.run_id,
            "study": run.header.study_name,
            "profile": run.header.profile,
            "case": trial.case,
            "server": case.server,
            "variant": case.variant,
            "workload": case.workload,
            "load": case.load,
            "role": case.role,
            "trial": trial.number,
            "block": trial.block,
            "position": trial.position,
            "started_at_unix_ns": trial.started_at_unix_ns,
            **_measured(trial),
            **_observed(trial),
            "failure": f"{trial.failure.stage}: {trial.failure.reason}" if trial.failure else None,
            "invalid_by": " ".join(errors),
            "limited_by": " ".join(limit.code for limit in (row.known.limits if row.known else ())),
            "times_limited_by": " ".join(limit.code for limit in row.times.limits),
        }


def as_csv(run: Run) -> str:
    """The rows as CSV (RFC 4180) with a header line."""
    out = io.StringIO(newline="")
    found = list(rows(run))
    writer = csv.DictWriter(out, fieldnames=list(found[0] if found else ["run_id"]), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: cell(value) for name, value in row.items()} for row in found)
    return out.getvalue()


def cell(value: object) -> object:
    """A cell that no spreadsheet takes for a formula: text that came from a server or a file may begin so."""
    if not isinstance(value, str):
        return value
    shown = fmt.visible(value)  # tabs and returns, which are skipped before a formula, too
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown


def _measured(trial: Trial) -> dict[str, Any]:
    measured = trial.measurement
    if measured is None:
        totals = dict.fromkeys(
            ("throughput_per_s", "measured_ns", "completed", "failed", "bytes_read", "client_cpu_ns")
        )
        return {**totals, **_times("service_time", None), **_times("response_time", None)}
    return {
        "throughput_per_s": stats.rate_per_s(measured),
        "measured_ns": measured.measured_ns,
        "completed": measured.completed,
        "failed": measured.failed,
        "bytes_read": measured.bytes_read,
        "client_cpu_ns": sum(worker.cpu_ns for worker in measured.workers),
        **_times("service_time", measured.service_time),
        **_times("response_time", measured.response_time),
    }


def _times(clock: str, times: Histogram | None) -> dict[str, Any]:
    found = stats.quantiles(times, tuple(_PS.values())) if times is not None else (None,) * len(_PS)
    named = {
        f"{clock}_{name}_ns": None if quantile is None else quantile.value_ns
        for name, quantile in zip(_PS, found, strict=True)
    }
    counted = times if times is not None and times.count else None
    named[f"{clock}_mean_ns"] = counted.mean_ns if counted else None
    named[f"{clock}_max_ns"] = float(counted.max_ns) if counted else None
    return named


def _observed(trial: Trial) -> dict[str, Any]:
    server, host = trial.server, trial.host
    return {
        "server_version": server.version if server else None,
        "start_ns": server.start_ns if server else None,
        "server_cpu_ns": server.cpu_ns if server else None,
        "server_cpu_share": server.cpu_share if server else None,
        "peak_rss_bytes": server.peak_rss_bytes if server else None,
        "threads": server.threads if server else None,
        "load_average_1m": host.load_average_1m if host else None,
        "steal_share": host.steal_share if host else None,
    }


_UNITS = (
    "Unit req/s better=higher",
    "Unit p50-ns better=lower",
    "Unit p99-ns better=lower",
    "Unit rss-bytes better=lower",
    "Unit start-ns better=lower",
)


def benchstat(run: Run) -> str:
    """One line a trial, in the Go benchmark format: benchstat makes its own statistics of them."""
    header = run.header
    lines = [f"study: {_value(header.study_name)}", f"profile: {_value(header.profile)}"]
    lines += [f"cpu: {_value(header.environment.cpu_model)}", f"run: {_value(header.run_id)}", *_UNITS, ""]
    shown = {row.case.id: row for section in sections(run) for row in section.rows if not row.invalid}
    for trial in run.trials:
        row = shown.get(trial.case)
        if row is not None and trial.measurement is not None:
            lines += _line(row, trial)
    return "\n".join(lines) + "\n"


def bmf(run: Run) -> str:
    """Bencher Metric Format: a benchmark a case, a measure with its interval a metric."""
    document: dict[str, dict[str, dict[str, float]]] = {}
    for section in sections(run):
        for row in section.rows:
            measures = dict(_measures(row))
            if measures and not row.invalid:
                document[row.case.id] = measures
    return fmt.as_json(document)


def left_out(run: Run) -> str:
    """Which figures are in neither format because they are bounds, and why; empty where there is none."""
    said = [
        f"{what} of {fmt.safe(row.case.name, 80)} ({verdict.words_of(limits) or 'known from one side'})"
        for section in sections(run)
        for row in section.rows
        if not row.invalid
        for what, limits in (("throughput", _throughput_limits(row)), ("times", _time_limits(row)))
        if limits is not None
    ]
    return f"left out, for they are bounds and the format holds none: {'; '.join(said)}" if said else ""


def _throughput_limits(row: Row) -> tuple[Limit, ...] | None:
    """What makes the throughput a bound, also of a capacity beyond the range; None where it is none."""
    found = row.throughput
    if found is None:
        return None
    limits = row.known.limits if row.known else ()
    return limits if limits or (found.low is None) != (found.high is None) else None


def _time_limits(row: Row) -> tuple[Limit, ...] | None:
    """What makes the times bounds; None where they are none, or not shown at all."""
    if row.service_p50_ns is None and row.response_p50_ns is None:
        return None
    return row.times.limits or None


def _line(row: Row, trial: Trial) -> Iterator[str]:
    """The trial's line; none where nothing is left of it, which the format does not allow."""
    measured = trial.measurement
    assert measured is not None  # the caller asked
    name = fmt.visible(re.sub(r"\s+", "_", trial.case))
    figures = list(_figures(row, trial, measured))
    if figures:
        yield "\t".join((f"BenchmarkServe/{name}", str(max(1, measured.completed)), *figures))


def _figures(row: Row, trial: Trial, measured: Measurement) -> Iterator[str]:
    if _throughput_limits(row) is None:
        yield f"{stats.rate_per_s(measured):.2f} req/s"
    bounds = _time_limits(row) is not None
    times = measured.response_time or measured.service_time
    medians = None if bounds else row.response_p50_ns or row.service_p50_ns
    tails = None if bounds else row.response_p99_ns or row.service_p99_ns
    for known, p, unit in ((medians, 0.5, "p50-ns"), (tails, 0.99, "p99-ns")):
        quantile = stats.quantiles(times, (p,))[0] if known else None
        if quantile is not None:
            yield f"{quantile.value_ns:.0f} {unit}"
    if trial.server is not None:
        yield f"{trial.server.peak_rss_bytes} rss-bytes"
        yield f"{trial.server.start_ns} start-ns"


def _measures(row: Row) -> Iterator[tuple[str, dict[str, float]]]:
    named = {"peak-memory": row.peak_memory_bytes, "start-time": row.start_ns}
    if _throughput_limits(row) is None:
        named["throughput"] = row.throughput
    if _time_limits(row) is None:
        named |= {
            "service-time-p50": row.service_p50_ns,
            "service-time-p99": row.service_p99_ns,
            "response-time-p50": row.response_p50_ns,
            "response-time-p99": row.response_p99_ns,
        }
    for name, estimate in named.items():
        if estimate is not None:
            yield name, _metric(estimate)


def _metric(estimate: Estimate) -> dict[str, float]:
    metric = {"value": estimate.value}
    if estimate.low is not None and estimate.high is not None:
        metric |= {"lower_value": estimate.low, "upper_value": estimate.high}
    return metric


def _value(text: str) -> str:
    """A configuration value ends with its line."""
    return fmt.visible(re.sub(r"\s+", " ", text).strip())


_NS_PER_MS = 1_000_000


def hgrm_files(run: Run) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file; values are milliseconds."""
    for trial in run.trials:
        if trial.measurement is None:
            continue
        stem = f"{re.sub(r'[^A-Za-z0-9._+-]+', '-', trial.case)}-block{trial.block + 1}"
        for clock, times in (
            ("service", trial.measurement.service_time),
            ("response", trial.measurement.response_time),
        ):
            if times is not None and times.count:
                yield f"{stem}-{clock}.hgrm", hgrm_text(times)


def hgrm_text(times: Histogram) -> bytes:
    """One histogram as percentile text, as HdrHistogram's plotter reads it."""
    lines = [f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}", ""]
    for time_ns, percent, below in stats.spectrum(times):
        line = f"{time_ns / _NS_PER_MS:12.3f} {percent / 100:2.12f} {below:10d}"
        lines.append(line if percent == 100 else f"{line} {100 / (100 - percent):14.2f}")
    mean, deviation, most = (ns / _NS_PER_MS for ns in (times.mean_ns, times.stdev_ns, times.max_ns))
    lines += [
        f"#[Mean    = {mean:12.3f}, StdDeviation   = {deviation:12.3f}]",
        f"#[Max     = {most:12.3f}, TotalCount     = {times.count:12d}]",
    ]
    return ("\n".join(lines) + "\n").encode()


# Characters that XML 1.0 cannot hold, not even escaped (section 2.2).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(run: Run, failing: Mapping[str, str]) -> bytes:
    """The run as a test suite. `failing` are the cases for whose sake its exit code is not 0, and why: both
    are decided in one place, so that no build fails by one and passes by the other."""
    rows = [row for section in sections(run) for row in section.rows]
    suite = xml.Element("testsuite", name=_text(run.header.study_name))
    for row in rows:
        _case(xml.SubElement(suite, "testcase"), run, row, fails=failing.get(row.case.id))
    suite.set("tests", str(len(rows)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    root = xml.Element("testsuites", name="assay")
    root.append(suite)
    out = io.BytesIO()
    xml.ElementTree(root).write(out, encoding="utf-8", xml_declaration=True)
    return out.getvalue()


def _case(test: xml.Element, run: Run, row: Row, *, fails: str | None) -> None:
    test.set("classname", _text(run.header.study_name))
    test.set("name", _text(row.case.id))
    spent = sum(
        trial.measurement.measured_ns
        for trial in run.trials
        if trial.case == row.case.id and trial.measurement
    )
    test.set("time", f"{spent / 1e9:.3f}")
    if row.failure is not None and not row.trials:
        _never_measured(test, row.failure, fails=fails is not None)
    elif fails is not None:
        _fails(test, run, row, fails)
    said = [f"throughput {throughput_words(row)} {interval_words(row)}".rstrip()] if row.throughput else []
    said += [failure_words(row)] if row.failure is not None and row.trials else []
    said += [f"{one.code} {one.severity}: {one.evidence}" for one in row.findings]
    xml.SubElement(test, "system-out").text = _text("\n".join(said))


def _never_measured(test: xml.Element, failure: Failure, *, fails: bool) -> None:
    """An error; where nobody counts on the case, it was skipped."""
    told = f"{failure.stage} failed: {failure.reason}"
    if not fails:
        xml.SubElement(test, "skipped", message=_text(told))
        return
    error = xml.SubElement(test, "error", type=_text(failure.stage), message=_text(told))
    error.text = _text(failure.log_tail)


def _fails(test: xml.Element, run: Run, row: Row, why: str) -> None:
    """A failure, named by the rule that took what was asked for, where one did."""
    found = [finding for finding in row.findings if finding.severity == "error"]
    timed = isinstance(run.header.design, SearchDesign | LoadDesign)
    took = next((one for one in found if one.on_throughput == "void"), None)
    if took is None and timed:
        took = next((one for one in found if one.on_times == "void"), None)
    failure = xml.SubElement(
        test,
        "failure",
        type=took.code if took else "unanswered",
        message=_text(f"{took.code} {took.title}" if took else why),
    )
    failure.text = _text("\n".join((why, *(f"{one.code}: {one.evidence}. {one.remedy}" for one in found))))


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", fmt.visible(text, lines=True))
