"""A stored run as rows: what every output (terminal, Markdown, page, exports) shows of a case.

The one place where a case's figures are drawn from its trials and its findings, so that no
two outputs can drift apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from assay import stats, verdict
from assay.core import units as fmt
from assay.core.units import some
from assay.model.design import SearchDesign
from assay.model.estimate import Estimate, Known, Limit, Ranked
from assay.model.finding import Finding, Metric
from assay.model.plan import Closed
from assay.model.run import Run
from assay.model.trial import Case, Failure, ServiceSeen, Trial
from assay.verdict.effects import Bounded


class OverTrials(Estimate, frozen=True, kw_only=True):
    """An estimate over trials, with the `least` and the `most` of them."""

    least: float
    most: float


class ServiceUse(msgspec.Struct, frozen=True):
    """What a service took beside a server: the mean CPU share of all trials of which it is known, the most
    memory of any.

    `pages_shared_out`: whether pages that its processes share are told in proportion (see `ServiceSeen`).
    """

    name: str
    version: str
    cpu_share: float | None
    memory_bytes: int
    pages_shared_out: bool


class Row(msgspec.Struct, frozen=True):
    """One case as shown.

    Figures that a finding makes invalid, or that were not measured, are None. `times` is what findings
    leave of its times. `findings` are those about this case alone or about the whole run's every case.
    `alone`: no other candidate is left to compare it with, so that it is the best of nothing.
    """

    case: Case
    name: str
    place: Ranked | None
    trials: int
    failed_trials: int
    failure: Failure | None
    throughput: Estimate | None
    relative: Estimate | None
    known: Known | None
    invalid: bool
    times: Bounded
    service_p50_ns: Estimate | None
    service_p99_ns: Estimate | None
    response_p50_ns: Estimate | None
    response_p99_ns: Estimate | None
    closed_loop: bool
    error_share: float | None
    cpu_share: float | None
    peak_memory_bytes: Estimate | None
    start_ns: Estimate | None
    services: tuple[ServiceUse, ...]
    findings: tuple[Finding, ...]
    alone: bool = False

    @property
    def rank(self) -> int | None:
        """Its place in the ranking, shared by cases that cannot be told apart."""
        return self.place.rank if self.place else None

    @property
    def failed_name(self) -> str:
        """What failed: the server where it never got to a load, else the server at that load."""
        return self.name if self.failed_before_any_trial else self.case.name

    @property
    def failed_before_any_trial(self) -> bool:
        """Whether its server lacks something or did not build, which holds for all of its cases."""
        return self.failure is not None and self.failure.stage in ("requires", "build")

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of its findings above note, gravest first."""
        grave = [finding for finding in self.findings if finding.severity != "note"]
        grave.sort(key=lambda finding: finding.severity != "error")
        return tuple(dict.fromkeys(finding.code for finding in grave))


class LoadRows(msgspec.Struct, frozen=True):
    """The cases that compete: one workload at one load. `title` is empty where there is only one."""

    title: str
    rows: tuple[Row, ...]

    @property
    def candidates(self) -> tuple[Row, ...]:
        """The rows of the ranking, best first."""
        return tuple(row for row in self.rows if row.case.role == "candidate")

    @property
    def shown_apart(self) -> tuple[Row, ...]:
        """Ceiling, reference and control: shown apart."""
        return tuple(row for row in self.rows if row.case.role != "candidate")


def sections(run: Run) -> tuple[LoadRows, ...]:
    """The run's cases by workload and load, in the study's order; rows best first."""
    keys = dict.fromkeys((case.workload, case.load) for case in run.header.cases)
    found = []
    for workload, load in keys:
        cases = [case for case in run.header.cases if (case.workload, case.load) == (workload, load)]
        title = _section_title(run, workload, load) if len(keys) > 1 else ""
        rows = sorted((_row(run, case) for case in cases), key=_order)
        compared = [row for row in rows if row.case.role == "candidate" and row.relative is not None]
        alone = [replace(row, alone=True) if compared == [row] else row for row in rows]
        found.append(LoadRows(title, tuple(alone)))
    return tuple(found)


def name_of_case(run: Run, case_id: str) -> str:
    """The name a reader knows a case by, outside the section of its load."""
    case = next((case for case in run.header.cases if case.id == case_id), None)
    return case_id if case is None else case.name


def with_names(run: Run, said: str) -> str:
    """Words of the record, in which cases are called by their ids, as a reader knows them."""
    names = {case.id: case.name for case in run.header.cases}
    ids = "|".join(re.escape(one) for one in sorted(names, key=len, reverse=True))
    return (
        re.sub(rf"(?<![\w/+@-])(?:{ids})(?![\w/+@-])", lambda found: names[found[0]], said) if ids else said
    )


def short_name(case: Case) -> str:
    """Server and variant without the workload and load, which are their section's title."""
    return case.label or case.server_name


def hues(cases: Sequence[Case]) -> dict[str, int | None]:
    """The place of each name's colour; None (grey) for what does not compete."""
    found: dict[str, int | None] = {short_name(case): None for case in cases}
    return found | {name: place for place, name in enumerate(competing(cases))}


def competing(cases: Sequence[Case]) -> tuple[str, ...]:
    """The names of the servers that compete, in the study's order."""
    return tuple(dict.fromkeys(short_name(case) for case in cases if case.role == "candidate"))


def ordered_findings(run: Run) -> tuple[Finding, ...]:
    """All findings of the run's judgement."""
    return run.judgement.findings if run.judgement else ()


_WIDE_NOTE = (
    f"; {fmt.WIDE}: trials differ too much for their interval to give a bound that tells anything, so that "
    "their mean is shown, with the least and the most of them"
)
_FEW_NAMES = 3
"""Names that are told even where they are all there are."""
_STAGES = {
    "requires": "something it needs is missing",
    "build": "did not build",
    "version": "did not say its version",
    "start": "did not start",
    "contract": "answered wrongly",
    "load": "failed under load",
    "stop": "did not stop",
}


def failed_rows(found: Iterable[LoadRows]) -> tuple[Row, ...]:
    """The rows that were not measured in every block; what failed before any trial is one row a server."""
    rows: dict[tuple[str, str], Row] = {}
    for row in (row for section in found for row in section.rows):
        if row.failure is not None:
            once = row.failed_before_any_trial
            rows.setdefault((row.name, row.failure.reason) if once else (row.case.id, ""), row)
    return tuple(rows.values())


def failure_words(row: Row) -> str:
    """What went wrong with a case, and how often; empty where nothing did."""
    if row.failure is None:
        return ""
    said = _STAGES.get(row.failure.stage, f"failed ({row.failure.stage})")
    of = row.trials + row.failed_trials
    counted = f"{said} in {row.failed_trials} of {of} trials"
    return said if row.failed_before_any_trial else counted


def throughput_words(row: Row) -> str:
    """The case's throughput, as a bound where it is one, or in a word why there is none."""
    if row.invalid:
        return "invalid"
    if row.throughput is not None:
        return one_sided(row.throughput) + fmt.known_rate(row.known, row.throughput.value)
    if row.failure is None:
        return fmt.UNKNOWN
    return "missing" if row.failure.stage == "requires" else "failed"


def one_sided(found: Estimate) -> str:
    """The sign before a figure that was found from one side only, as a capacity beyond its range is."""
    if (found.low is None) == (found.high is None):
        return ""
    return "≥ " if found.high is None else "≤ "


def time_words(row: Row, found: Estimate | None, median: Estimate | None = None) -> str:
    """One of the case's times, as a bound where it is one; a tail's bound is none below that of the `median`
    of the same clock."""
    if found is None:
        return fmt.UNKNOWN
    least = verdict.known(median, row.times)
    told = least is not None and median is not None and least.limits and fmt.tells(least, median.value)
    trials = (found.least, found.most) if isinstance(found, OverTrials) else None
    least_ns = (least.low or 0) if told and least else 0
    return fmt.known_time(verdict.known(found, row.times), found.value, trials, least_ns)


def response_words(row: Row) -> tuple[str, str]:
    """The p50 and p99 of its response time."""
    return time_words(row, row.response_p50_ns), time_words(row, row.response_p99_ns, row.response_p50_ns)


def service_words(row: Row) -> tuple[str, str]:
    """The p50 and p99 of its service time."""
    return time_words(row, row.service_p50_ns), time_words(row, row.service_p99_ns, row.service_p50_ns)


def times_limited(rows: Iterable[Row]) -> str:
    """Why times that are shown are bounds, for the note of their table; empty where none is."""
    everyone = list(rows)
    shown = [row for row in everyone if row.service_p50_ns is not None or row.response_p50_ns is not None]
    met = ((limit, row.name) for row in shown for limit in row.times.limits)
    said = limits_words(met, rows=len(everyone))
    told = (words for row in shown for words in (*response_words(row), *service_words(row)))
    wide = _WIDE_NOTE if any(fmt.WIDE in words for words in told) else ""
    return said and f"what makes times bounds: {said}{wide}"


def limits_words(met: Iterable[tuple[Limit, str]], rows: int = 0) -> str:
    """Each cause once, with the names of the cases that it met; or that it met all of so many `rows`."""
    causes: dict[Limit, list[str]] = {}
    for limit, name in met:
        causes.setdefault(limit, []).append(name)
    return "; ".join(
        f"{limit.words or 'its effect is unknown'} ({limit.code}: {_whom(names, rows)})"
        for limit, names in causes.items()
    )


def _whom(names: Sequence[str], rows: int) -> str:
    everyone = len(names) == rows and len(set(names)) > _FEW_NAMES
    return "all servers" if everyone else ", ".join(some(names))


def interval_words(row: Row) -> str:
    """The interval beside the throughput; empty where the figure is a bound, which holds it already."""
    bounded = row.known is not None and any(limit.words for limit in row.known.limits)
    return "" if row.throughput is None or bounded else fmt.plus_minus(row.throughput)


def _section_title(run: Run, workload: str, load: str) -> str:
    workloads = {case.workload for case in run.header.cases}
    loads = {case.load for case in run.header.cases}
    parts = ([workload] if len(workloads) > 1 else []) + ([load] if len(loads) > 1 else [])
    return ", ".join(parts)


def _order(row: Row) -> tuple[bool, int, float]:
    value = row.throughput.value if row.throughput else float("-inf")
    return row.case.role != "candidate", row.rank or 10**6, -value


def _row(run: Run, case: Case) -> Row:
    trials = [trial for trial in run.trials if trial.case == case.id]
    measured = [trial for trial in trials if trial.measurement]
    ranking = run.judgement.ranking if run.judgement else ()
    place = next((place for place in ranking if place.case == case.id), None)
    findings = verdict.concerning(ordered_findings(run), case.id)
    invalid = verdict.invalid(findings, case.id) or bool(place and place.invalid)
    # The trials of a search are at many rates: their times have no common quantile, their rates no mean.
    searched = isinstance(run.header.design, SearchDesign) or case.search is not None
    found = place.throughput if place else None if searched else stats.throughput(measured)
    no_times = searched or invalid or verdict.invalid(findings, case.id, "times")
    failures = [trial.failure for trial in trials if trial.failure]
    return Row(
        case=case,
        name=short_name(case),
        place=place,
        trials=len(measured),
        failed_trials=len(failures),
        failure=failures[-1] if failures else None,
        throughput=None if invalid else found,
        relative=place.relative_to_best if place and not invalid else None,
        known=place.known if place and not invalid else None,
        invalid=invalid,
        times=verdict.bounded(findings, case.id, "times"),
        service_p50_ns=None if no_times else _quantile(measured, 0.5, response=False),
        service_p99_ns=None if no_times else _quantile(measured, 0.99, response=False),
        response_p50_ns=None if no_times else _quantile(measured, 0.5, response=True),
        response_p99_ns=None if no_times else _quantile(measured, 0.99, response=True),
        closed_loop=all(isinstance(trial.plan.load, Closed) for trial in trials),
        error_share=_error_share(measured),
        cpu_share=_mean(_cpu_shares(measured)),
        peak_memory_bytes=_estimate(measured, "peak_memory"),
        start_ns=_estimate(measured, "start_time"),
        services=tuple(_services(measured)),
        findings=findings,
    )


def _cpu_shares(trials: Iterable[Trial]) -> Iterator[float]:
    """The servers' shares of their cores, of the trials in which somebody could look in time."""
    for trial in trials:
        if trial.server is not None and trial.server.cpu_share is not None:
            yield trial.server.cpu_share


def _quantile(trials: Sequence[Trial], p: float, *, response: bool) -> OverTrials | None:
    measurements = [trial.measurement for trial in trials if trial.measurement]
    clocks = [measured.response_time if response else measured.service_time for measured in measurements]
    histograms = [clock for clock in clocks if clock is not None]
    found = stats.case_quantile(histograms, p) if len(histograms) == len(clocks) else None
    if found is None:
        return None
    each = [one.value_ns for clock in histograms for one in stats.quantiles(clock, (p,)) if one is not None]
    return OverTrials(**msgspec.structs.asdict(found), least=min(each), most=max(each))


def _error_share(trials: Sequence[Trial]) -> float | None:
    failed = sum(trial.measurement.failed for trial in trials if trial.measurement)
    completed = sum(trial.measurement.completed for trial in trials if trial.measurement)
    return failed / (failed + completed) if failed + completed else None


def _services(trials: Sequence[Trial]) -> Iterator[ServiceUse]:
    seen: dict[str, list[ServiceSeen]] = {}
    for service in (service for trial in trials for service in trial.services):
        seen.setdefault(service.name, []).append(service)
    for name, each in seen.items():
        share = _mean(one.cpu_share for one in each if one.cpu_share is not None)
        memory_bytes = max(one.memory_bytes for one in each)
        shared_out = all(one.pages_shared_out for one in each)
        yield ServiceUse(name, each[-1].version, share, memory_bytes, shared_out)


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None


def _estimate(trials: Sequence[Trial], metric: Metric) -> Estimate | None:
    values = [stats.value_of(trial, metric) for trial in trials]
    unit = stats.UNITS.get(metric, "ns")
    return stats.positive_mean([value for value in values if value is not None], unit)
