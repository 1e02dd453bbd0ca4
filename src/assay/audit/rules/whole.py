"""R3, R4, R10: what a text with results leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.document import Reported, TextBlock
from assay.audit.evidence import Evidence
from assay.audit.finding import AuditHit, AuditRule
from assay.audit.names import aliases, turns

_LOAD = re.compile(
    r"\b\d{1,6}k?\s(?:concurrent\s|parallel\s|simultaneous\s|open\s|keep-?alive\s)?(?:connections?"
    r"|clients?|users?|v(?:irtual )?users?|vus?|requests in flight|threads)\b"
    r"|\b(?:concurrency|connections|vus|clients|threads|concurrent(?: users| requests)?)\W{1,4}\d"
    r"|\b\d{1,6}k?\sconcurrent\b",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"\b\S{0,40}(?:bench|load|stress)\S{0,40}\s.{0,80}"
    r"(?:https?://|--(?:url|host|workers|connections|clients|users|concurrency|requests|duration|rate)\b)",
    re.IGNORECASE,
)
"""The command of a load test of one's own making."""


def no_machine(seen: Evidence) -> Iterator[AuditHit]:
    """R3: nowhere a machine."""
    if seen.results and seen.facts.machine is None and seen.facts.whole:
        first = seen.results[0]
        yield AuditHit(
            first.line,
            _quote(seen, first.line),
            "no CPU, number of cores, instance type or model in the whole text",
            "note",
        )


R3 = AuditRule(
    code="R3",
    title="the machine is not named",
    takes="nothing",
    meaning="A figure without its machine compares with nothing, and nobody can repeat it.",
    remedy="name the CPU, the cores that each side had, the memory and the system",
    source="ACM artifact review; ours",
    check=no_machine,
)


def no_versions(seen: Evidence) -> Iterator[AuditHit]:
    """R4: a comparison without any version."""
    pair = next((each for each in seen.compared() if not turns(each[0].label, each[1].label)), None)
    if pair is None or seen.facts.version is not None or not seen.facts.whole or _versioned(seen, pair):
        return
    yield AuditHit(
        pair[0].line,
        pair[0].label,
        f"{pair[0].label!r} against {pair[1].label!r}: no version, commit or date in the whole text",
        "note",
    )


def _versioned(seen: Evidence, pair: tuple[Reported, Reported]) -> bool:
    """Whether what is compared is named with a version of two numbers somewhere: "Kong 3.4"."""
    if any(_NUMBERED.search(row.label) for row in pair):
        return True
    names = [name for name in aliases([row.label for row in pair]) if len(name) > 1]
    if not names:
        return False
    named = re.compile(
        rf"\b(?:{'|'.join(re.escape(name) for name in names)})(?:\.?js)?[\s/:@(=-]{{1,3}}v?\d{{1,3}}\.\d",
        re.IGNORECASE,
    )
    return any(named.search(text) for text in seen.document.text_at.values())


_NUMBERED = re.compile(r"[A-Za-z)][\s/:@(-]{1,3}v?\d{1,3}\.[\dx]")

R4 = AuditRule(
    code="R4",
    title="versions are not named",
    takes="nothing",
    meaning="Software changes: without versions the figures are of something that nobody can install.",
    remedy="name the version of everything compared and of what it runs on, and the date",
    source="ACM artifact review; ours",
    check=no_versions,
)


def no_load(seen: Evidence) -> Iterator[AuditHit]:
    """R10: results, and nowhere what made them."""
    told = [*seen.rows, *(one for one in seen.outputs if one.tool == "figures")]
    if len(told) < len(seen.results) or not told or not seen.facts.whole:
        return
    if seen.commands or seen.facts.tool_named:
        return
    for part in seen.document.parts:
        texts = [line.text for line in part.lines] if isinstance(part, TextBlock) else list(part.head)
        if any(_LOAD.search(text.replace("_", " ")) or _CALL.search(text) for text in texts):
            return
    if any(row.figures.keys() & {"connections", "threads", "offered"} for row in told):
        return
    first = min(told, key=lambda one: one.line)
    yield AuditHit(
        first.line, _quote(seen, first.line), "no tool, no command, no connections in the whole text"
    )


def _quote(seen: Evidence, line: int) -> str:
    return seen.document.text_at.get(line, "").strip()[:60]


R10 = AuditRule(
    code="R10",
    title="the load is not told",
    takes="everything",
    meaning="Throughput and times are answers to a load. Without it they are answers to no question.",
    remedy="show the command, and the raw output",
    source="ACM artifact review; ours",
    check=no_load,
)
