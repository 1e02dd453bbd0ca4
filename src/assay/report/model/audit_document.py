"""The document of an audit: its conclusions, each cause with its places, and what would settle it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from assay.audit.claims import Verdict, Weight
from assay.audit.finding import Remark, Takes
from assay.audit.judge import Audit, commands
from assay.core import units as fmt
from assay.report.document import (
    Cell,
    Column,
    Document,
    FindingGroup,
    Findings,
    FindingSubject,
    Quotation,
    ShellCommands,
    Table,
    TableLine,
    Tone,
    nested,
    section,
    table,
)
from assay.report.model.values import ORDER

VERDICTS: dict[Verdict, str] = {
    "contradicted": "contradicted by its own figures",
    "direction": "at least in this direction",
    "stands": "stands",
    "untold": "cannot be told",
}
"""The worst first."""
_TONES: dict[Verdict, Tone] = {"contradicted": "bad", "stands": "good", "untold": "faint"}
_MOST_CONCLUSIONS = 3
_MOST_LINES = 6
"""So many lines of a cause are named before the rest is counted."""
_MOST_NAME = 40
"""Signs of a text's path: a longer one would be folded, and its last part is enough below its title."""
_QUOTED = 60
"""Signs of a quoted line: with its number and what stands before it a terminal of 80 columns holds it."""
_CONCLUSIONS = (
    Column("line", "line", right=True),
    Column("conclusion", "conclusion", sentence=True),
    Column("verdict", "verdict"),
    Column("why", "by its figures", below=True),
)
_RESULTS = (
    Column("line", "line", right=True),
    Column("result", "result"),
    Column("believable for", "believable for"),
    Column("because", "because of"),
)
_AGAINST: dict[Takes, str] = {
    "everything": "stands against every figure of the result",
    "times": "stands against its times",
    "percentiles": "stands against its percentiles",
    "comparison": "stands against the comparison",
    "nothing": "stands against no figure",
}


def document(found: Audit, *, explain: bool = False) -> Document:
    """What the results of one text are believable for. `explain` adds what each finding means, and the source
    of its rule."""
    worst = Counter(remark.severity for remark in found.remarks)
    counts = [fmt.counted(worst[severity], severity) for severity in ORDER if worst[severity]]
    causes = Findings(tuple(_causes(found, explain=explain)), answer=True)
    settling = ShellCommands(tuple(fmt.safe(line, 2000) for line in commands(found)))
    return Document(
        title=fmt.safe(found.name),
        headline=(summary(found),),
        table=_conclusions(found.conclusions) if found.conclusions else None,
        state=", ".join(counts),
        tone="bad" if worst["error"] else "warn" if worst["warning"] else "plain",
        sections=(
            *section("findings", "Findings", causes),
            *section("results", "Results", _results(found)),
            *section("settle", "What would settle it", settling),
        ),
    )


def of_all(found: Sequence[Audit], *, explain: bool = False) -> Document:
    """The document of one text; of several each as a section, and a line for those without results."""
    if len(found) == 1:
        return document(found[0], explain=explain)
    told = [one for one in found if one.results]
    headline = f"{fmt.counted(len(told), 'text')} with results of a load test"
    each = (nested(document(one, explain=explain), f"text-{at}") for at, one in enumerate(told, 1))
    return Document(title="Audit", headline=(headline, *silent(found)), sections=tuple(each))


def silent(found: Sequence[Audit]) -> tuple[str, ...]:
    """How many of the texts tell no result; nothing where all do."""
    number = sum(not one.results for one in found)
    return (f"{fmt.counted(number, 'text')} without a result of a load test",) if number else ()


def summary(found: Audit) -> str:
    """The answer in a line: what the results are believable for, and what the conclusions are worth."""
    cut = "; only the first 2 million characters were read" if found.document.cut else ""
    if not found.results:
        return f"no result of a load test{cut}"
    beliefs = Counter(one.belief for one in found.results)
    said = ", ".join(f"{count} for {belief}" for belief, count in beliefs.items())
    line = f"{fmt.counted(len(found.results), 'result')}, believable: {said}"
    if found.conclusions:
        verdicts = Counter(VERDICTS[one.verdict] for one in found.conclusions)
        told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        line += f"; {fmt.counted(len(found.conclusions), 'conclusion')}: {told}"
    return line + cut


def _conclusions(found: Sequence[Weight]) -> Table:
    """The worst first; a summary has three that were decided."""
    order = list(VERDICTS)
    lines = [
        TableLine(
            cells=(
                Cell(str(weight.conclusion.line)),
                Cell(fmt.safe(weight.conclusion.sentence, 160)),
                Cell(VERDICTS[weight.verdict], _TONES.get(weight.verdict, "plain")),
                Cell(fmt.safe(weight.why, 400)),
            ),
            detail=weight.verdict == "untold" or at >= _MOST_CONCLUSIONS,
        )
        for at, weight in enumerate(sorted(found, key=lambda one: order.index(one.verdict)))
    ]
    return table("Conclusions", _CONCLUSIONS, lines)


def _causes(found: Audit, *, explain: bool) -> Iterator[FindingGroup]:
    """Each rule that found something, the gravest first."""
    by_code: dict[str, list[Remark]] = {}
    for remark in sorted(found.remarks, key=lambda one: (ORDER.index(one.severity), one.code)):
        by_code.setdefault(remark.code, []).append(remark)
    for code, each in by_code.items():
        rule, severity = each[0].rule, each[0].severity
        lines = sorted({line for one in each for line in (one.line, *one.also)})
        yield FindingGroup(
            code=code,
            severity=severity,
            title=rule.title,
            effect=_AGAINST["nothing" if severity == "note" else rule.takes],
            source=rule.source if explain else "",
            subjects=tuple(_place(found, one) for one in sorted(each, key=lambda one: one.line)),
            meanings=(rule.meaning,) if explain else (),
            remedies=(rule.remedy,),
            places=_lines(lines, _MOST_LINES),
        )


def _place(found: Audit, remark: Remark) -> FindingSubject:
    also = f" (also {_lines(remark.also, 8)})" if remark.also else ""
    name = found.name if len(found.name) <= _MOST_NAME else PurePath(found.name).name
    text, start, length = quoted(found.document.text_at.get(remark.line, ""), remark.quote, _QUOTED)
    return FindingSubject(
        subject=f"{fmt.safe(name)}:{remark.line}{also}",
        evidence=fmt.safe(remark.arithmetic, 400),
        quotation=Quotation(remark.line, text, start, length),
    )


def _lines(lines: Sequence[int], most: int) -> str:
    more = f" and {len(lines) - most} more" if len(lines) > most else ""
    return f"line{'' if len(lines) == 1 else 's'} {', '.join(map(str, lines[:most]))}{more}"


def quoted(text: str, quote: str, width: int) -> tuple[str, int, int]:
    """A line of the text made safe and cut to `width`, and where in it the quote stands: start, length.

    The quote is looked for in the line as it is read; a length of 0 says that it was not found.
    """
    at = text.find(quote) if quote else -1
    start = at - width // 3 if at > width // 2 and len(text) > width else 0
    shown = text[start : start + width]
    whole = fmt.safe(shown, longest=10 * width).rstrip()
    if at < 0:
        return whole, 0, 0
    before = len(fmt.safe(shown[: at - start], longest=10 * width))
    length = len(fmt.safe(shown[at - start : at - start + len(quote)], longest=10 * width))
    return whole, before, min(length, max(len(whole) - before, 1))


def _results(found: Audit) -> Table:
    lines = (
        TableLine(
            (
                Cell(str(one.result.line)),
                Cell(fmt.safe(one.result.label or one.result.tool, 40)),
                Cell(one.belief),
                Cell(", ".join(one.codes)),
            )
        )
        for one in found.results
    )
    return table("", _RESULTS, lines)
