"""R: what a text says against its own figures, and what it leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from assay.audit.document import Reported, ReportedCommand
from assay.audit.evidence import Evidence
from assay.audit.finding import AuditHit, audit_rule, hit_at, number
from assay.audit.lexicon import compiled
from assay.audit.names import aliases, is_name, key_of, turns
from assay.audit.weighing import weighed


@audit_rule("R1")
def other_command(seen: Evidence) -> Iterator[AuditHit]:
    """The output is of another run than the one that the text tells how to make."""
    for result in seen.outputs:
        call = result.command
        if call is None:
            continue
        for name in ("connections", "threads", "duration", "requests"):
            asked = call.figures.get(name)
            told = result.figures.get("asked_duration" if name == "duration" else name)
            if asked is None or told is None:
                continue
            if _apart(result, call, name, asked.value.middle, told.value.middle):
                words = f"the command (line {call.line}) asks for {number(asked.value.middle)} {name}, the "
                words += f"output tells {number(told.value.middle)}"
                yield hit_at(told, words, result.line, severity="error")
                break
        else:
            yield from _elsewhere(result, call)


def _apart(result: Reported, call: ReportedCommand, name: str, asked: float, told: float) -> bool:
    if name == "duration":
        bound = result.tool != "ab" and "requests" not in call.figures
        return bound and abs(asked - told) > max(1.5, 0.05 * asked)
    if name == "requests":
        bound = result.tool in ("ab", "hey", "h2load") and "duration" not in call.figures
        return bound and abs(asked - told) > max(0.01 * asked, 200)
    return asked != told and not (name == "connections" and result.tool == "h2load")


def _elsewhere(result: Reported, call: ReportedCommand) -> Iterator[AuditHit]:
    if result.tool not in ("wrk", "bombardier") or not ("://" in call.url and "://" in result.url):
        return
    try:
        asked, told = urlsplit(call.url), urlsplit(result.url)
        same = asked.path.rstrip("/") == told.path.rstrip("/") and asked.netloc == told.netloc
    except ValueError:
        return
    if not same and not re.search(r"[$<>{}\[\]]|\.\.\.|…", call.url + result.url):
        words = f"the command (line {call.line}) asks {call.url}"
        yield AuditHit(result.line, result.url, words, "error", (result.line,))


@audit_rule("R2")
def other_figure(seen: Evidence) -> Iterator[AuditHit]:
    """One of the two is not of this run, or was copied wrong."""
    raw: dict[str, list[Reported]] = {}
    for result in seen.outputs:
        if "rate" in result.figures and key_of(result.label):
            raw.setdefault(key_of(result.label), []).append(result)
    for grid in seen.grids:
        rated = [row for row in grid.results if "rate" in row.figures]
        pairs = [(row, raw[key_of(row.label)]) for row in rated if key_of(row.label) in raw]
        wrong = [(row, told) for row, told in pairs if not _agrees(row, told)]
        if len(wrong) == len(pairs):
            continue
        for row, told in wrong:
            rate = number(told[0].figures["rate"].value.middle)
            words = f"the output of {row.label!r} (line {told[0].line}) says {rate}/s"
            yield hit_at(row.figures["rate"], words, row.line, severity="error")


def _agrees(row: Reported, told: list[Reported]) -> bool:
    return any(row.figures["rate"].value.widened(0.01).meets(one.figures["rate"].value) for one in told)


_IDLE = compiled("reporting.idle")
_COST = re.compile(r"\bmem(?:ory)?\b|\brss\b|\bram\b|\bcpu\b", re.IGNORECASE)


@audit_rule("R6")
def outside(seen: Evidence) -> Iterator[AuditHit]:
    """What a server uses when nobody asks says nothing of what it uses for the throughput beside it."""
    for table in seen.document.tables if seen.results else ():
        section = seen.sections.at(table.number)
        if section and _IDLE.search(section.title) and any(_COST.search(text) for text in table.head[1:]):
            yield AuditHit(table.number, section.title[:60], "taken while nothing was asked of it")
            continue
        above = "".join(seen.document.text_at.get(table.number - back, "") for back in (1, 2))
        if len(above) < 80 and _IDLE.search(above) and _COST.search(above):
            yield AuditHit(table.number, above[:60], "taken while nothing was asked of it")
            continue
        texts = [(table.number, text) for text in table.head]
        texts += [(row.number, row.cells[0]) for row in table.rows if row.cells]
        heads = " ".join(text for _, text in texts)
        loaded = re.search(r"under load|peak|loaded|max", heads, re.IGNORECASE)
        for line, text in texts:
            found = _IDLE.search(text)
            if found and _COST.search(text) and not loaded:
                yield AuditHit(line, text[:60], "taken while nothing was asked of it")


_AXIS = re.compile(
    r"^\s*y-axis\s+(?:\"[^\"]{0,200}\"\s+"
    r"|\w{1,60}\s+)?(\d{1,12}(?:\.\d{1,6})?)\s*-->\s*(\d{1,12}(?:\.\d{1,6})?)"
)
_BAR = re.compile(r"([█▇■▓▒#=*]{3,200})\s*[|▏▎▍▌▋▊▉]?\s*\(?(\d[\d,]{0,14}(?:\.\d{1,4})?)\s?(k\b)?")


@audit_rule("R7")
def axis(seen: Evidence) -> Iterator[AuditHit]:
    """A bar says its figure by its length. Where the axis begins elsewhere, a difference of a few percent
    looks like a multiple."""
    raw = {line for result in seen.outputs for line in range(result.line, result.last + PAST_OUTPUT)}
    for block in seen.document.blocks:
        if block.kind != "code":
            continue
        bars: list[tuple[int, int, float, str]] = []
        charted = any("xychart" in line.text for line in block.lines)
        for line in block.lines:
            found = _AXIS.match(line.text) if charted else None
            if found and float(found[1]) > 0:
                yield AuditHit(
                    line.number, found[0].strip(), f"the axis begins at {number(float(found[1]))}, not at 0"
                )
            bar = _BAR.search(line.text)
            if not bar and line.text.strip() and len(bars) > 1 and seen.results:
                yield from _crooked(bars)  # another chart may follow in the same listing
                bars = []
            if bar and line.number not in raw:
                figure = float(bar[2].replace(",", "")) * (1e3 if bar[3] else 1)
                bars.append((line.number, len(bar[1]), figure, bar[0]))
        if seen.results:
            yield from _crooked(bars)


PAST_OUTPUT = 30
"""Lines behind an output that may still be its histogram."""


def _crooked(bars: list[tuple[int, int, float, str]]) -> Iterator[AuditHit]:
    if len(bars) < 2:
        return
    _, longest, most, _ = max(bars, key=lambda bar: bar[2])
    for line, length, figure, quote in bars:
        due = longest * figure / most if most else 0
        if figure > 0 and abs(length - due) > max(2.0, 0.25 * due):
            words = f"a bar of {length} signs where {number(due)} would be its share of the longest"
            yield AuditHit(line, quote, f"{words}, {longest}")
            return


@audit_rule("R8")
def against_figures(seen: Evidence) -> Iterator[AuditHit]:
    """The text says more, or other, than what it measured."""
    for weight in weighed(seen):
        if weight.verdict == "contradicted":
            yield hit_at(weight.conclusion, weight.why, severity="error")


_LOAD = compiled("reporting.load")
_CALL = re.compile(
    r"\b\S{0,40}(?:bench|load|stress)\S{0,40}\s.{0,80}"
    r"(?:https?://|--(?:url|host|workers|connections|clients|users|concurrency|requests|duration|rate)\b)",
    re.IGNORECASE,
)
"""The command of a load test of one's own making."""


@audit_rule("R3")
def no_machine(seen: Evidence) -> Iterator[AuditHit]:
    """A figure without its machine compares with nothing, and nobody can repeat it."""
    if seen.results and seen.facts.machine is None and seen.facts.whole:
        line = seen.results[0].line
        words = "no CPU, number of cores, instance type or model in the whole text"
        yield AuditHit(line, _quote(seen, line), words, "note")


@audit_rule("R4")
def no_versions(seen: Evidence) -> Iterator[AuditHit]:
    """Software changes: without versions the figures are of something that nobody can install."""
    compared = ((a, b) for a, b in seen.certain() if is_name(a.label) and is_name(b.label))
    pair = next(((a, b) for a, b in compared if not turns(a.label, b.label)), None)
    if pair is None or seen.facts.version is not None or not seen.facts.whole or _versioned(seen, pair):
        return
    words = f"{pair[0].label!r} against {pair[1].label!r}: no version, commit or date in the whole text"
    yield AuditHit(pair[0].line, pair[0].label, words, "note")


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


@audit_rule("R10")
def no_load(seen: Evidence) -> Iterator[AuditHit]:
    """Throughput and times are answers to a load. Without it they are answers to no question."""
    told = [*seen.rows, *(one for one in seen.outputs if one.tool == "figures")]
    if len(told) < len(seen.results) or not told or not seen.facts.whole:
        return
    if seen.commands or seen.facts.tool_named:
        return
    if any(_LOAD.search(text.replace("_", " ")) or _CALL.search(text) for _, text, _ in seen.document.texts):
        return
    if any(row.figures.keys() & {"connections", "threads", "offered"} for row in told):
        return
    line = min(one.line for one in told)
    yield AuditHit(line, _quote(seen, line), "no tool, no command, no connections in the whole text")


def _quote(seen: Evidence, line: int) -> str:
    return seen.document.text_at.get(line, "").strip()[:60]
