"""The answer of a run in a sentence, and the line that says which run it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from assay.report import capacity, versus
from assay.report import format as fmt
from assay.report.rows import Row, Section
from assay.values.design import AnyDesign, ContestDesign, SearchDesign
from assay.values.run import Run

SENTENCES: dict[type[AnyDesign], Callable[[Run], tuple[str, ...]]] = {
    ContestDesign: versus.sentences,
    SearchDesign: capacity.sentences,
}
"""The answer of a kind of run that has one of its own."""


def answers(run: Run, found: Iterable[Section]) -> tuple[str, ...]:
    """One sentence for each workload and load: who is fastest, by how much, or why no one is; or the run's
    own answer."""
    own = SENTENCES.get(type(run.header.design))
    if own is not None:
        return own(run)
    shown = list(found)
    closed = [section for section in shown if any(row.closed_loop for row in section.rows)]
    return tuple(_answer(section) for section in closed or shown)


def standing(run: Run) -> str:
    """Say whether the run bears the hallmark, or how much stands against it."""
    judgement = run.judgement
    if judgement is None:
        return "not judged: the run ended before its verdict"
    if judgement.hallmark:
        return "hallmark: no rule stands against this run"
    grave = dict.fromkeys(("withheld", "flagged"), 0)
    for finding in judgement.findings:
        if finding.severity in grave:
            grave[finding.severity] += 1
    said = [f"{number} {severity}" for severity, number in grave.items() if number]
    cut = "" if judgement.complete else ", and the run did not end"
    return f"no hallmark: {' and '.join(said) or 'nothing was measured'}{cut}"


def title(run: Run) -> str:
    """Which run this is: study, profile, size, seed and time."""
    header = run.header
    when = datetime.fromtimestamp(header.created_unix_ns / 1e9, UTC)
    size = f"{blocks_of(run)} blocks of {len(header.cases)} cases"
    if isinstance(header.design, SearchDesign):
        size = f"{len(run.trials)} trials"
    profile = f", profile {header.profile}{' (quick)' if header.quick else ''}" if header.profile else ""
    return f"{header.study_name}{profile}, {size}, seed {header.design.seed}, {when:%Y-%m-%d %H:%M} UTC"


def blocks_of(run: Run) -> int:
    """How many blocks the run has, or has had so far where it ends when it is settled."""
    return run.header.blocks or len({trial.block for trial in run.trials})


def name(run: Run) -> str:
    """What the study calls itself."""
    return run.header.design.title or run.header.study_name


def question(run: Run) -> str:
    """What the study asks, in its own words; empty where it does not say."""
    return " ".join(run.header.design.question.split())


def machine(run: Run) -> str:
    """The machine in a line: what the figures belong to."""
    seen = run.header.environment
    split = f"client on {_cores(seen.client_cpus)}, servers on {_cores(seen.server_cpus)}"
    hardware = f"{seen.cpu_model}, {seen.cores} cores, {fmt.size(seen.memory_bytes)}"
    return f"{hardware}, {seen.os} ({seen.kernel}); {split}"


def _cores(cpus: tuple[int, ...]) -> str:
    if not cpus:
        return "any core"
    return f"core{'' if len(cpus) == 1 else 's'} {', '.join(map(str, cpus))}"


def _answer(section: Section) -> str:
    where = f"{section.title}: " if section.title else ""
    return where + _sentence(section)


def _sentence(section: Section) -> str:
    ranked = [row for row in section.candidates if row.tier is not None]
    best = [row for row in ranked if row.tier == 1]
    if not best:
        return _no_ranking(section)
    rest = [row for row in ranked if row.tier != 1]
    if len(best) > 1:
        names = ", ".join(row.name for row in best[:-1]) + f" and {best[-1].name}"
        return f"{names} share the first place: no difference between them was shown.{_left_out(section)}"
    said = f"{best[0].name} is fastest, with {_throughput(best[0])}"
    if rest and rest[0].relative:
        said += f": {_ahead(rest[0])}"
    left_out = _left_out(section)
    return f"Of those that can be ranked, {said}.{left_out}" if left_out else f"{said}."


def _left_out(section: Section) -> str:
    """Who was measured, is not in the ranking, and may be ahead of all that are."""
    places = [(row.name, row.place) for row in section.candidates if row.tier is None and row.place]
    said = [
        f"{name} ({place.reason})" if place.reason else name for name, place in places if place.throughput
    ]
    return f" Not ranked: {', '.join(said)}." if said else ""


def _no_ranking(section: Section) -> str:
    measured = [row for row in section.candidates if row.throughput]
    if not measured:
        return "Nothing was measured that may be shown." if section.candidates else "Nothing competes here."
    reasons = list(dict.fromkeys(row.place.reason for row in measured if row.place and row.place.reason))
    because = f": {'; '.join(reasons)}" if reasons else ""
    return f"No ranking{because}."


def _throughput(row: Row) -> str:
    if row.throughput is None:
        return fmt.UNKNOWN
    return f"{fmt.rate(row.throughput.value)} {fmt.plus_minus(row.throughput)}".strip()


def _ahead(second: Row) -> str:
    """How far the first is ahead: `relative` is second over first, so it is turned round."""
    ratio = second.relative
    assert ratio is not None  # the caller asked
    ahead = fmt.times(1 / ratio.value)
    if ratio.low is None or ratio.high is None or ratio.low <= 0:
        return f"{ahead} times as fast as {second.name}"
    return f"{ahead} [{fmt.times(1 / ratio.high)}, {fmt.times(1 / ratio.low)}] times as fast as {second.name}"
