"""A run as a Python program gets it: figures with what is known of them, findings, tables, and reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import msgspec

from assay import stats, store, verdict
from assay.core.errors import InputError
from assay.core.settings import Settings
from assay.model.estimate import Estimate
from assay.model.finding import Finding
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.frames import Frames, frames_of
from assay.report.model.rows import Row, sections
from assay.verdict import exit_codes
from assay.verdict.compare import RunComparison, Watched, compare

_PERCENT = 100.0
Side: TypeAlias = "tuple[Run, str | None]"
"""A run, and the case of it that is meant; None means all."""


class CaseResult(msgspec.Struct, frozen=True):
    """One server at one load. Figures that a rule makes invalid, or that were not measured, are None.

    >>> [case] = assay.load(url, duration=0.2, rate=500).cases.values()
    >>> case.throughput_per_s > 0, case.latency_s(50) <= case.latency_s(90)
    (True, True)
    """

    name: str
    row: Row
    """What every report shows of the case: estimates with intervals, ranks, memory, CPU."""
    trials: tuple[Trial, ...]
    """Everything that was seen, one a trial."""

    @property
    def throughput_per_s(self) -> float | None:
        """Right answers a second: the mean of the trials; of a search the capacity that it found."""
        return self.row.throughput.value if self.row.throughput else None

    @property
    def bounds_per_s(self) -> tuple[float | None, float | None]:
        """Between which the throughput lies, as far as it is known: the ends of the 95 % interval, moved or
        opened by findings. An end that is None is open: (121e3, None) is "at least 121 k/s"."""
        if self.row.known is not None:
            return self.row.known.low, self.row.known.high
        found = self.row.throughput
        return (found.low, found.high) if found else (None, None)

    def latency_s(self, percentile: float) -> float | None:
        """A percentile (0 to 100) of latency in seconds: the mean of the trials' own.

        In an open loop from the intended start of a request (response time), in a closed loop from its send
        (service time). None where too few requests stand behind it, or a rule makes times invalid.
        """
        found = self._quantile(percentile)
        return found.value / 1e9 if found else None

    def latency_bounds_s(self, percentile: float) -> tuple[float | None, float | None]:
        """Between which that percentile lies, as far as it is known, in seconds; None is an open end."""
        known = verdict.known(self._quantile(percentile), self.row.times)
        ends = (known.low, known.high) if known else (None, None)
        low, high = (None if end is None else end / 1e9 for end in ends)
        return low, high

    def _quantile(self, percentile: float) -> Estimate | None:
        if self.row.service_p50_ns is None and self.row.response_p50_ns is None:
            return None
        measured = [trial.measurement for trial in self.trials if trial.measurement]
        times = [one.response_time or one.service_time for one in measured]
        return stats.case_quantile(times, percentile / _PERCENT)

    @property
    def error_share(self) -> float | None:
        """Requests that failed, wrong answers among them, as a share of all that ended."""
        return self.row.error_share

    @property
    def invalid(self) -> bool:
        """Whether a rule leaves nothing of its throughput."""
        return self.row.invalid

    @property
    def rank(self) -> int | None:
        """Its place, from 1; servers that cannot be told apart share one."""
        return self.row.rank

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What rules found of this case, or of every case of the run; errors and warnings first."""
        return self.row.findings


class RunResult(msgspec.Struct, frozen=True, dict=True):
    """A judged run, from `load`, `versus`, `capacity`, `run` or `read_run`.

    >>> result = assay.load(url, duration=0.2, rate=500)
    >>> result.exit_code, len(result.cases), sorted(result.frames())
    (0, 1, ['cases', 'findings', 'latency', 'slices', 'trials', 'windows'])
    """

    run: Run
    """The whole record: its design, environment, trials, and judgement."""
    folder: Path | None = None
    """Where it is kept; None where it is not."""
    notes: tuple[str, ...] = ()
    """What of its record could not be read, in a line each."""

    @cached_property
    def cases(self) -> dict[str, CaseResult]:
        """Each case by its id, those of one workload and load together, best first."""
        trials = self.run.trials
        return {
            row.case.id: CaseResult(
                row.name, row, tuple(trial for trial in trials if trial.case == row.case.id)
            )
            for section in sections(self.run)
            for row in section.rows
        }

    @property
    def answer(self) -> tuple[str, ...]:
        """The answer in sentences, as a report begins with it."""
        from assay.report.model.answer import answer

        return answer(self.run, sections(self.run)).sentences

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What rules found, gravest first."""
        return self.run.judgement.findings if self.run.judgement else ()

    @property
    def exit_code(self) -> int:
        """What the command line would end with: 0 answered, 1 not answered, 3 a limit is missed."""
        return exit_codes.of(self.run)

    @property
    def ok(self) -> bool:
        """Whether the question is answered by figures that stand."""
        return self.exit_code == 0

    def frames(self) -> Frames:
        """Tables as columns, which pandas and polars take as they are: `DataFrame(frames["trials"])`."""
        return frames_of(self.run)

    def markdown(self) -> str:
        """The whole report in Markdown."""
        from assay.report import markdown
        from assay.report.model.run_document import document

        return markdown.render(document(self.run))

    def html(self) -> str:
        """The report as one page with charts, readable without a network."""
        from assay.report import pages

        return pages.of_run(self.run)

    def __repr__(self) -> str:
        """Its id, and the answer."""
        return f"<{self.run.header.run_id}: {' '.join(self.answer)}>"


def read(word: str | PathLike[str], results: str | PathLike[str] | None) -> RunResult:
    """The run that a word means: latest, an id or its beginning, a path. InputError where there is none."""
    notes: list[str] = []
    settings = Settings.resolve(results=results)
    run, path = _read(store.find(settings.results, str(word), notes.append), notes.append)
    return RunResult(run, path.parent, tuple(notes))


def side(of: RunResult | str | PathLike[str], results: str | PathLike[str] | None) -> Side:
    """A side of a comparison: a run, or a word that means one, or a case of one. InputError as of `read`."""
    if isinstance(of, RunResult):
        return of.run, None
    return open_side(str(of), Settings.resolve(results=results), lambda text: None)


def open_side(word: str, settings: Settings, note: Callable[[str], None]) -> Side:
    """The judged run that a word means, and the case of it that was named by RUN:CASE.

    `note` is told each line that cannot be read. InputError says which runs, or cases, there are.
    """
    try:
        return _read(store.find(settings.results, word, note), note)[0], None
    except InputError:
        name, colon, case = word.partition(":")
        if not colon:
            raise
    run, _ = _read(store.find(settings.results, name, note), note)
    cases = [one.id for one in run.header.cases]
    if case not in cases:
        raise InputError(f"run {run.header.run_id} has no case {case!r}", f"it has: {', '.join(cases)}")
    return run, case


def compared(base: Side, new: Side, limits: Mapping[Watched, float]) -> RunComparison:
    """The two against each other. InputError where they have no case in common."""
    (one, base_case), (other, new_case) = base, new
    if (base_case is None) != (new_case is None):
        raise InputError(
            "one side names a case and the other does not", "write RUN:CASE on both sides, or on neither"
        )
    pairs = [(base_case, new_case)] if base_case is not None and new_case is not None else None
    found = compare(one, other, limits, pairs)
    if not found.changes:
        raise InputError("the runs have no case in common", "name one on each side: RUN:CASE")
    return found


def _read(path: Path, note: Callable[[str], None]) -> tuple[Run, Path]:
    stored = store.read(path)
    for text in stored.notes:
        note(f"assay: {text}")
    return verdict.judged(stored.run), stored.path
