"""The answer of a run in a sentence, and the line that says which run it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from assay.report import capacity, versus
from assay.report import format as fmt
from assay.report.model import order
from assay.report.model.rows import Section
from assay.values.design import AnyDesign, ContestDesign, SearchDesign
from assay.values.run import Run

SENTENCES: dict[type[AnyDesign], Callable[[Run], tuple[str, ...]]] = {
    ContestDesign: versus.sentences,
    SearchDesign: capacity.sentences,
}
"""The answer of a kind of run that has one of its own."""

ASIDES = ("How sure:", "What limits it:")
"""How the sentences begin that stand beside an answer."""


def answers(run: Run, found: Iterable[Section]) -> tuple[str, ...]:
    """One sentence for each workload and load: who is fastest, by how much, or why no one is; then how sure
    that is, and what limits it. Or the run's own answer."""
    own = SENTENCES.get(type(run.header.design))
    if own is not None:
        return own(run)
    shown = list(found)
    closed = [section for section in shown if any(row.closed_loop for row in section.rows)] or shown
    return (*(_answer(run, section) for section in closed), *_sureness(run, closed))


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


def _answer(run: Run, section: Section) -> str:
    where = f"{section.title}: " if section.title else ""
    return where + order.sentence(run, section)


def _sureness(run: Run, shown: Sequence[Section]) -> Iterator[str]:
    """How sure the answers are; and what limits them, each cause once with the cases that it met."""
    judgement = run.judgement
    ratios = [one.ratio for one in judgement.comparisons if one.ratio] if judgement else []
    ordered = [row for section in shown for row in section.candidates if row.tier is not None]
    if judgement is not None and ratios and ordered:
        blocks = min(ratio.n for ratio in ratios)
        floor = f"{fmt.significant(100 * judgement.noise_floor, 2)} %"
        yield (
            f"How sure: 95 % intervals of ratios, paired over {blocks} blocks; the order holds for all pairs "
            f"together (Holm), and no difference below {floor} is claimed."
        )
    met: dict[tuple[str, str], list[str]] = {}
    for code, words, name in (one for section in shown for one in order.limits_of(section)):
        names = met.setdefault((code, words), [])
        if name not in names:
            names.append(name)
    if met:
        said = "; ".join(
            f"{words or 'its effect is unknown'} ({code}: {', '.join(names)})"
            for (code, words), names in met.items()
        )
        yield f"What limits it: {said}."
