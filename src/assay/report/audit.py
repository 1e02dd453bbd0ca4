"""An audit in each form it is read in: terminal, Markdown, JSON, and SARIF 2.1.0 (OASIS) for code hosts."""

from __future__ import annotations

import hashlib
import json
import os
import re
import textwrap
from collections import Counter
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from rich.text import Text

from assay.audit import AUDIT_RULES
from assay.audit.claims import Verdict, Weight
from assay.audit.document import is_percentile
from assay.audit.finding import Remark
from assay.audit.judge import Audit, Believed, commands
from assay.core.settings import version
from assay.core.units import safe
from assay.report.style import FAINT, HEADING, SEVERITY_MARK, SEVERITY_STYLE

VERDICTS: dict[Verdict, str] = {
    "stands": "stands",
    "direction": "at least in this direction",
    "untold": "cannot be told",
    "contradicted": "contradicted by its own figures",
}


def plural(number: int, noun: str) -> str:
    """1 result, 2 results."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def summary(found: Audit) -> str:
    """The answer in a line: what the results are believable for, and what the conclusions are worth."""
    if not found.results:
        return f"{safe(found.name)}: no result of a load test{_CUT if found.document.cut else ''}"
    beliefs = Counter(one.belief for one in found.results)
    parts = [f"{count} for {belief}" for belief, count in beliefs.items()]
    line = f"{safe(found.name)}: {plural(len(found.results), 'result')}, believable: {', '.join(parts)}"
    if found.conclusions:
        verdicts = Counter(VERDICTS[one.verdict] for one in found.conclusions)
        told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        line += f"; {plural(len(found.conclusions), 'conclusion')}: {told}"
    return line + (_CUT if found.document.cut else "")


_CUT = "; only the first 2 million characters were read"


def elsewhere(also: tuple[int, ...]) -> str:
    """Where the same was found, too: ", and 3 more lines: 12, 40, 61"."""
    if not also:
        return ""
    shown = ", ".join(str(line) for line in also[:8]) + (", …" if len(also) > 8 else "")
    return f" (also line{'' if len(also) == 1 else 's'} {shown})"


def quoted(text: str, quote: str, width: int) -> tuple[str, int, int]:
    """A line of the document made safe and cut to `width`, and where in it the quote stands: start, length.

    The quote is looked for in the line as it is read; a length of 0 says that it was not found.
    """
    at = text.find(quote) if quote else -1
    start = 0
    if at > width // 2 and len(text) > width:
        start = at - width // 3
    shown = text[start : start + width]
    before = safe(shown[: max(at - start, 0)], longest=10 * width) if at >= 0 else ""
    whole = safe(shown, longest=10 * width)
    length = len(safe(shown[at - start : at - start + len(quote)], longest=10 * width)) if at >= 0 else 0
    return (
        whole.rstrip(),
        len(before),
        min(length, max(len(whole.rstrip()) - len(before), 1)) if length else 0,
    )


_WIDTH = 68
"""Columns of the quoted line: with its number, a terminal of 80 holds it."""

_RESULTS = 12
"""Results that are listed; the summary counts all."""


def screen(found: Audit, *, explain: bool) -> Text:
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
    text.append(f"{remark.rule.title}", style)
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
        _wrapped(text, "? ", remark.rule.meaning, FAINT)
    _wrapped(text, "→ ", remark.rule.remedy)
    if explain:
        text.append(f"{'':>7}   ({remark.rule.source}; `assay explain {remark.code}`)\n", FAINT)


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


_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~!@])")


def _plain(text: str, longest: int = 400) -> str:
    """Foreign words as they are: nothing in them is Markdown, HTML, a link or a mention."""
    return _SIGNS.sub(r"\\\1", safe(text, longest=longest))


def _code(text: str, longest: int = 200) -> str:
    """Foreign words as code, whatever backticks are in them."""
    shown = safe(text, longest=longest).strip()
    most = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (most + 1)
    return f"{fence} {shown} {fence}" if most else f"`{shown}`" if shown else "–"


def as_markdown(audits: list[Audit], *, explain: bool) -> str:
    """The audits of several documents, those without results counted in a line."""
    told = [one for one in audits if one.results]
    lines = [part for one in told for part in _section(one, explain=explain)]
    silent = len(audits) - len(told)
    if silent:
        lines.append(f"{plural(silent, 'document')} without a result of a load test.")
    return "\n".join(lines).rstrip() + "\n"


def _section(found: Audit, *, explain: bool) -> list[str]:
    lines = [f"### {_plain(summary(found))}", ""]
    for remark in found.remarks:
        lines.append(
            f"- **{remark.code} {remark.rule.title}** ({remark.severity}), line "
            f"{remark.line}{elsewhere(remark.also)}:"
            f" {_code(remark.quote or found.document.text_at.get(remark.line, ''))}"
        )
        lines.append(
            f"  {_plain(remark.arithmetic)}.{' ' + remark.rule.meaning if explain else ''} "
            f"*{remark.rule.remedy}*"
        )
    if found.conclusions:
        lines += ["", "| line | conclusion | verdict | why |", "|---|---|---|---|"]
        lines += [
            f"| {one.conclusion.line} | {_plain(one.conclusion.sentence, 160)} | "
            f"**{VERDICTS[one.verdict]}** | {_plain(one.why)} |"
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


def as_json(audits: list[Audit]) -> str:
    """The audits of all documents."""
    whole = {"format": 1, "assay": version(), "documents": [_document_json(one) for one in audits]}
    return json.dumps(whole, ensure_ascii=True, indent=2, allow_nan=False)


def _document_json(found: Audit) -> dict[str, Any]:
    return {
        "name": found.name,
        "against": found.against,
        "findings": [_remark_json(one) for one in found.remarks],
        "conclusions": [_conclusion_json(one) for one in found.conclusions],
        "results": [_result_json(one) for one in found.results],
        "commands": list(commands(found)),
    }


def _remark_json(one: Remark) -> dict[str, Any]:
    return {
        "code": one.code,
        "title": one.rule.title,
        "severity": one.severity,
        "line": one.line,
        "also": list(one.also),
        "quote": one.quote,
        "arithmetic": one.arithmetic,
        "meaning": one.rule.meaning,
        "remedy": one.rule.remedy,
        "source": one.rule.source,
        "takes": one.rule.takes,
        "results": list(one.about),
    }


def _conclusion_json(one: Weight) -> dict[str, Any]:
    return {
        "line": one.conclusion.line,
        "sentence": one.conclusion.sentence,
        "better": one.conclusion.better,
        "worse": one.conclusion.worse,
        "verdict": VERDICTS[one.verdict],
        "why": one.why,
        "rests_on": [result.line for result in one.rests_on],
    }


def _result_json(one: Believed) -> dict[str, Any]:
    result = one.result
    told = {name: [figure.value.low, figure.value.high] for name, figure in result.figures.items()}
    return {
        "line": result.line,
        "tool": result.tool,
        "label": result.label,
        "believable_for": one.belief,
        "because": list(one.codes),
        "figures": {name: value for name, value in told.items() if not is_percentile(name)},
        "percentiles_s": {f"{q:g}": told[f"p{q:g}"] for q in sorted(result.percentiles)},
    }


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def as_sarif(audits: list[Audit]) -> str:
    """One run with a result for each finding and each of its lines."""
    codes = list(AUDIT_RULES)
    results = [_sarif_result(one, remark, codes) for one in audits for remark in one.remarks]
    driver = {
        "name": "assay audit",
        "version": version(),
        "rules": [_sarif_rule(code) for code in codes],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=True, indent=2)


def _sarif_rule(code: str) -> dict[str, Any]:
    rule = AUDIT_RULES[code]
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in rule.title.replace("'", "").split() if word.isalnum()),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.meaning},
        "help": {"text": f"{rule.remedy}. Source: {rule.source}."},
    }


def _sarif_result(found: Audit, remark: Remark, codes: list[str]) -> dict[str, Any]:
    locations = [_sarif_location(found, line, remark.quote) for line in (remark.line, *remark.also[:20])]
    told = f"{remark.rule.title}: {safe(remark.arithmetic, longest=400)}. {remark.rule.remedy}."
    mark = hashlib.sha256(
        f"{remark.code}\0{remark.quote}\0{remark.arithmetic}".encode("utf-8", "replace")
    ).hexdigest()
    result: dict[str, Any] = {
        "ruleId": remark.code,
        "ruleIndex": codes.index(remark.code),
        "level": remark.severity,
        "message": {"text": told},
        "locations": locations[:1],
        "partialFingerprints": {"assayAudit/v1": mark[:32]},
    }
    if len(locations) > 1:
        result["relatedLocations"] = locations[1:]
    return result


def _sarif_location(found: Audit, line: int, words: str) -> dict[str, Any]:
    name = "stdin" if found.name == "-" else PurePath(found.name).as_posix()
    region: dict[str, Any] = {"startLine": max(line, 1)}
    _, start, length = quoted(found.document.text_at.get(line, ""), words, 4000)
    if length:
        region |= {"startColumn": start + 1, "endColumn": start + 1 + length}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(os.fsencode(name))}, "region": region}}
