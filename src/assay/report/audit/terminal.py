"""An audit on the terminal: each finding with its line and a mark under the words, as compilers do."""

from __future__ import annotations

import textwrap

from rich.text import Text

from assay.audit.finding import Remark
from assay.audit.judge import Audit, commands
from assay.core.units import safe
from assay.report.audit.wording import VERDICTS, elsewhere, quoted, summary
from assay.report.style import FAINT, HEADING, SEVERITY_MARK, SEVERITY_STYLE

_WIDTH = 68
"""Columns of the quoted line: with its number, a terminal of 80 holds it."""

_RESULTS = 12
"""Results that are listed; the summary counts all."""


def shown(found: Audit, *, explain: bool) -> Text:
    """The whole audit of one document; `explain` adds what each finding means and where its rule is from."""
    text = Text()
    for line in textwrap.wrap(summary(found), _WIDTH + 10, break_long_words=False):
        text.append(f"{line}\n", HEADING)
    if not found.results:
        return text
    told: set[str] = set()
    for remark in found.remarks:
        text.append("\n")
        _remark(text, found, remark, explain=explain and remark.code not in told)
        told.add(remark.code)
    _conclusions(text, found)
    _results(text, found)
    return text


def settling(found: Audit) -> str:
    """The commands that would settle what is open, to be written as they are: a command is never wrapped."""
    lines = [f"  {safe(line, longest=2000)}" for line in commands(found)]
    return "\n".join(["what would settle it:", *lines, ""]) if lines else ""


def _remark(text: Text, found: Audit, remark: Remark, *, explain: bool) -> None:
    style = SEVERITY_STYLE[remark.severity]
    text.append(f"{SEVERITY_MARK[remark.severity]} {remark.code} ", style)
    text.append(f"{remark.title}", style)
    text.append(f"  {safe(found.name)}:{remark.line}{elsewhere(remark.also)}\n", FAINT)
    line, start, length = quoted(found.document.text_at.get(remark.line, ""), remark.quote, _WIDTH)
    number = f"{remark.line:>7}"
    text.append(f"{number} | ", FAINT)
    text.append(f"{line}\n")
    if length:
        text.append(" " * len(number) + " | ", FAINT)
        text.append(" " * start + "^" * length + "\n", style)
    _wrapped(text, "= ", safe(remark.arithmetic, longest=400))
    if explain:
        _wrapped(text, "? ", remark.meaning, FAINT)
    _wrapped(text, "→ ", remark.remedy)
    if explain:
        text.append(f"{'':>7}   ({remark.source}; `assay explain {remark.code}`)\n", FAINT)


def _wrapped(text: Text, sign: str, words: str, style: str = "") -> None:
    """A paragraph whose lines hang below its first."""
    lines = textwrap.wrap(words, _WIDTH, break_long_words=False, break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        text.append(f"{'':>7} {sign if not number else ' ' * len(sign)}{line}\n", style)


def _conclusions(text: Text, found: Audit) -> None:
    if not found.conclusions:
        return
    text.append("\nconclusions:\n", HEADING)
    for weight in found.conclusions:
        one = weight.conclusion
        quote = textwrap.wrap(f"“{safe(one.sentence, longest=160)}”", _WIDTH)
        for number, line in enumerate(quote):
            text.append(f"{one.line if not number else '':>7} | {line}\n")
        style = "bold red" if weight.verdict == "contradicted" else HEADING
        text.append(f"{'':>7} = ")
        text.append(f"{VERDICTS[weight.verdict]}\n", style)
        _wrapped(text, "  ", safe(weight.why, longest=400))


def _results(text: Text, found: Audit) -> None:
    text.append("\nresults:\n", HEADING)
    for one in found.results[:_RESULTS]:
        result = one.result
        name = safe(result.label or result.tool, longest=40)
        because = f" ({', '.join(one.codes)})" if one.codes else ""
        text.append(f"{result.line:>7} | {name}: believable for {one.belief}{because}\n")
    if len(found.results) > _RESULTS:
        text.append(f"{'':>7} | and {len(found.results) - _RESULTS} more\n", FAINT)
