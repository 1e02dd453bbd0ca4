"""An audit as Markdown: a comment on a review."""

from __future__ import annotations

import re

from assay.audit.judge import Audit, commands
from assay.core.units import safe
from assay.report.audit.wording import VERDICTS, elsewhere, plural, summary

_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~!@])")


def plain(text: str, longest: int = 400) -> str:
    """Foreign words as they are: nothing in them is Markdown, HTML, a link or a mention."""
    return _SIGNS.sub(r"\\\1", safe(text, longest=longest))


def code(text: str, longest: int = 200) -> str:
    """Foreign words as code, whatever backticks are in them."""
    shown = safe(text, longest=longest).strip()
    most = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (most + 1)
    return f"{fence} {shown} {fence}" if most else f"`{shown}`" if shown else "–"


def page(audits: list[Audit], *, explain: bool) -> str:
    """The audits of several documents, those without results counted in a line."""
    told = [one for one in audits if one.results]
    lines = [part for one in told for part in _document(one, explain=explain)]
    silent = len(audits) - len(told)
    if silent:
        lines.append(f"{plural(silent, 'document')} without a result of a load test.")
    return "\n".join(lines).rstrip() + "\n"


def _document(found: Audit, *, explain: bool) -> list[str]:
    lines = [f"### {plain(summary(found))}", ""]
    for remark in found.remarks:
        lines.append(
            f"- **{remark.code} {remark.title}** ({remark.severity}), line "
            f"{remark.line}{elsewhere(remark.also)}:"
            f" {code(remark.quote or found.document.text_at.get(remark.line, ''))}"
        )
        lines.append(
            f"  {plain(remark.arithmetic)}.{' ' + remark.meaning if explain else ''} *{remark.remedy}*"
        )
    if found.conclusions:
        lines += ["", "| line | conclusion | verdict | why |", "|---|---|---|---|"]
        lines += [
            f"| {one.conclusion.line} | {plain(one.conclusion.sentence, 160)} | "
            f"**{VERDICTS[one.verdict]}** | {plain(one.why)} |"
            for one in found.conclusions
        ]
    settled = commands(found)
    if settled:
        fence = "`" * 3
        lines += [
            "",
            "What would settle it:",
            "",
            f"{fence}sh",
            *(safe(line, longest=2000) for line in settled),
            fence,
        ]
    return [*lines, ""]
