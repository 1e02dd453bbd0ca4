"""G, W, H: how the load was made, and how it was answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from msgspec.structs import replace

from assay.audit.document import Figure, Reported, ReportedCommand
from assay.audit.evidence import Evidence
from assay.audit.finding import AuditHit, audit_rule, hit_at, number, numbered, percent
from assay.audit.interval import Interval, exactly
from assay.audit.lexicon import compiled
from assay.audit.tools import BY_NAME, NAMED
from assay.model.finding import Severity

_LOOPBACK = compiled("load.loopback")


@audit_rule("A1")
def threads(seen: Evidence) -> Iterator[AuditHit]:
    """The client's threads wait for each other's cores: what is measured is the generator, and its waiting is
    in the times."""
    if not seen.facts.cores:
        return
    most = max(seen.facts.cores, key=lambda said: said.number)
    told = [one.figures["threads"] for one in seen.outputs if "threads" in one.figures]
    told += [one.figures["threads"] for one in seen.commands if "threads" in one.figures]
    # How many threads a load has by the words about a table is told of wrk only.
    worded = [row.command.figures for row in seen.rows[:1] if row.command and row.command.tool == "wrk"]
    told += [figures["threads"] for figures in worded if "threads" in figures]
    for figure in told:
        if figure.value.low > most.number:
            yield hit_at(
                figure,
                f"{number(figure.value.middle)} client threads, and the text names {most.quote} "
                f"(line {most.line})",
            )


@audit_rule("G3")
def short_of_rate(seen: Evidence) -> Iterator[AuditHit]:
    """The server or the client did not keep up with the rate: the times are those of an overload, whose
    length sets them."""
    for result in seen.results:
        yield from _dropped(result)
        offered, rate = result.get("offered"), result.get("rate")
        if offered is None or rate is None or offered.value.low <= 0 or result.tool == "hey":
            continue
        failed = result.figures.get("good_share")
        if failed is not None and failed.value.high < 0.99:
            continue
        attack, took = result.figures.get("attack"), result.figures.get("duration")
        if attack is not None and took is not None and result.figures.get("offered") is offered:
            # vegeta's throughput is over the time that it waited for the last answer, too.
            offered = replace(offered, value=offered.value * attack.value / took.value)
        if rate.value.high < 0.99 * offered.value.low:
            lacking = 1 - rate.value.middle / offered.value.middle
            words = f"{number(offered.value.middle)}/s were asked for and {number(rate.value.middle)}/s "
            words += f"answered: {percent(lacking)} are missing"
            yield hit_at(rate, words, result.line, severity="error" if lacking > 0.1 else "warning")


def _dropped(result: Reported) -> Iterator[AuditHit]:
    """What k6 did not even start, for want of users."""
    dropped, begun = (result.figures.get(name) for name in ("dropped", "iterations"))
    if dropped is None or begun is None or dropped.value.low <= 0:
        return
    asked = (dropped.value + begun.value).middle
    lacking = dropped.value.middle / asked
    if lacking > 0.01:
        words = f"{number(dropped.value.middle)} of {number(asked)} iterations were dropped"
        severity: Severity = "error" if lacking > 0.1 else "warning"
        yield hit_at(result.get("rate") or dropped, words, result.line, severity=severity)


@audit_rule("G8")
def connections(seen: Evidence) -> Iterator[AuditHit]:
    """The load was of fewer connections than the text says, often by a limit of open files on the client."""
    for result in seen.outputs:
        missing = result.figures.get("connect_errors")
        if missing is not None and missing.value.low > 0:
            asked = result.get("connections")
            count = missing.value.middle
            of = f"{number(count)} of {numbered(asked.value.middle, 'connection')}" if asked else ""
            quote = f"connect {missing.quote}" if result.tool == "wrk" else missing.quote
            words = f"{of or numbered(count, 'connection')} could not be opened"
            yield AuditHit(missing.line, quote, words, "error", (result.line,))


_CLOSING = compiled("load.closing")


_INSTEAD = re.compile(r"\b(?:instead of|not|never|avoids?|rather than|unlike|than)\s[`\"']?$", re.IGNORECASE)


@audit_rule("A3")
def unkept(seen: Evidence) -> Iterator[AuditHit]:
    """Opening and closing a connection costs more than most answers: that is what was measured, and servers
    differ in it less than in what they are compared for."""
    told: set[int] = set()
    for result in seen.outputs:
        call = result.command
        if result.keep_alive is False or (
            result.keep_alive is None and call is not None and call.keep_alive is False
        ):
            told.update((result.line, call.line if call else 0))
            place = call or result.get("connections") or result.get("rate")
            line, quote = (place.line, place.quote) if place else (result.line, "")
            words = f"{result.tool} opened a connection for each request"
            yield AuditHit(line, quote, words, about=(result.line,))
    labels = {row.line: row.label.lower() for row in seen.rows}
    for each in seen.document.lines if seen.results else ():
        closing = _CLOSING.search(each.text)
        if closing is None or _INSTEAD.search(each.text[: closing.start()]):
            continue
        # "http - no keepalive" may be the name of what is measured.
        if closing[0].lower() not in labels.get(each.number, ""):
            yield AuditHit(each.number, closing[0], "the text says that connections are closed")
    for call in seen.commands:
        if call.keep_alive is False and call.line not in told:
            yield hit_at(call, f"{call.tool} opens a connection for each request")


_TARGET = compiled("load.target")
"""Lines that say where a load goes in reports of ab and Locust, and in vegeta's targets and errors."""


_CONFIGURED = re.compile(r"\b(?:url|host|target)\W{1,4}https?://(?:localhost|127\.0\.0\.1)\b", re.IGNORECASE)
"""The address in the configuration of a load test, in a listing that names its tool."""


@audit_rule("A2")
def together(seen: Evidence) -> Iterator[AuditHit]:
    """Client and server take cores from each other: a cheaper server leaves more to the client, and
    differences are squeezed or stretched by that."""
    found = False
    places: tuple[Reported | ReportedCommand, ...] = (*seen.outputs, *seen.commands)
    for one in places:
        if one.url and _LOOPBACK.match(one.url):
            about = (one.line,) if isinstance(one, Reported) else ()
            yield AuditHit(one.line, one.url, "the address is the client's own machine", about=about)
            found = True
    for block in seen.document.blocks if seen.results else ():
        driven = block.kind == "code" and NAMED.search(block.text[:4000]) is not None
        for each in block.lines:
            target = _TARGET.search(each.text) or (_CONFIGURED.search(each.text) if driven else None)
            if target:
                found = True
                yield AuditHit(each.number, target[0].strip(), "the address is the client's own machine")
    said = seen.facts.same_machine
    if said is not None and not found:
        yield hit_at(said, "the text says that both ran on one machine")


_KINDS = ("bad", "bad1", "bad2", "failed", "broken", "timeouts", "errors1", "errors2", "errors")
_WARNING, _ERROR = 0.001, 0.01
_BYTES = 0.02


@audit_rule("W2")
def errors(seen: Evidence) -> Iterator[AuditHit]:
    """A failed request is often the cheapest one: it is counted as throughput, and its time as a fast
    answer."""
    for result in seen.results:
        told = _failures(result)
        if told is not None and told[0] > _WARNING:
            share, figure, words = told
            yield hit_at(figure, words, result.line, severity="error" if share > _ERROR else "warning")


def _failures(result: Reported) -> tuple[float, Figure, str] | None:
    direct = result.figures.get("error_share")
    if direct is not None:
        share = direct.value.low
        return share, direct, f"{percent(share)} of the requests failed"
    good = result.figures.get("good_share")
    if good is not None:
        return 1 - good.value.high, good, f"{percent(1 - good.value.middle)} of the requests failed"
    found = [result.figures[name] for name in _KINDS if name in result.figures]
    uneven = result.figures.get("uneven")
    if uneven is not None and "failed" in result.figures:
        # ab calls an answer failed whose length is not the first one's: a page that changes is no error.
        rest = result.figures["failed"].value.low - (0 if _truncated(result, uneven) else uneven.value.high)
        found = [figure for figure in found if figure is not result.figures["failed"]]
        if rest > 0:
            found.append(replace(result.figures["failed"], value=exactly(rest)))
    found = [figure for figure in found if figure.value.low > 0]
    requests = _requests(result)
    if not found or requests is None:
        return None
    counts = [figure.value.low for figure in found]
    # What some tools call failed are the very answers that they count by their status as well.
    once = result.tool in BY_NAME and BY_NAME[result.tool].failed_once
    failed = max(counts) if once else sum(counts)
    worst = max(found, key=lambda figure: figure.value.low)
    total = max(requests, failed)
    share = failed / total if total else 1.0
    return share, worst, f"{number(failed)} of {number(total)} requests failed: {percent(share)}"


def _truncated(result: Reported, uneven: Figure) -> bool:
    """Whether the uneven answers of ab lack at least half of their bytes: then they did fail."""
    sent, each, requests = (result.figures.get(name) for name in ("document_bytes", "document", "requests"))
    if sent is None or each is None or requests is None:
        return False
    return sent.value.high < each.value.low * (requests.value.low - 0.5 * uneven.value.low)


def _requests(result: Reported) -> float | None:
    told = result.figures.get("launched") or result.get("requests")
    if told is not None:
        return told.value.high
    rate, duration = result.get("rate"), result.get("duration")
    return rate.value.high * duration.value.high if rate is not None and duration is not None else None


@audit_rule("W3")
def unequal(seen: Evidence) -> Iterator[AuditHit]:
    """Who sends more does more: other headers, another encoding, another body. The comparison is one of the
    answers' sizes as well."""
    told: set[int] = set()
    for a, b in seen.certain():
        one, other = _bytes(a), _bytes(b)
        if one is None or other is None or b.line in told or _route(a) != _route(b) or a.line in told:
            continue
        if one[0].widened(_BYTES / 2).meets(other[0].widened(_BYTES / 2)):
            continue
        told.update((a.line, b.line))
        words = f"{number(one[0].middle)} bytes an answer for {a.label!r} (line {one[1].line}), "
        words += f"{number(other[0].middle)} for {b.label!r}"
        yield hit_at(other[1], words, a.line, b.line, severity="error")


def _bytes(result: Reported) -> tuple[Interval, Figure] | None:
    total, requests, each = (result.figures.get(name) for name in ("bytes", "requests", "bytes_each"))
    if each is not None and each.value.low > 0:
        return each.value, each
    transfer, rate = result.figures.get("transfer"), result.figures.get("rate")
    if total is None and transfer is not None and rate is not None and rate.value.low > 0:
        return transfer.value / rate.value, transfer
    if total is None or requests is None or requests.value.low <= 0 or total.value.low <= 0:
        return None
    return total.value / requests.value, total


def _route(result: Reported) -> str:
    """The path of its address: answers of two routes are not the same answer."""
    try:
        return urlsplit(result.url if "://" in result.url else f"http://{result.url}").path.rstrip("/")
    except ValueError:
        return result.url
