"""W2 and W3: what was answered."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from assay.audit.document import Figure, Reported
from assay.audit.evidence import Evidence
from assay.audit.finding import AuditHit, AuditRule, number, percent
from assay.audit.interval import Interval

_KINDS = ("bad", "bad1", "bad2", "failed", "broken", "timeouts", "errors1", "errors2", "errors")
_WARNING, _ERROR = 0.001, 0.01
_BYTES = 0.02


def errors(seen: Evidence) -> Iterator[AuditHit]:
    """W2: failures above one in a thousand."""
    for result in seen.results:
        told = _failures(result)
        if told is None:
            continue
        share, figure, words = told
        if share > _WARNING:
            yield AuditHit(
                figure.line,
                figure.quote,
                words,
                "error" if share > _ERROR else "warning",
                (result.line,),
            )


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
            found.append(
                Figure(Interval(rest, rest), result.figures["failed"].line, result.figures["failed"].quote)
            )
    found = [figure for figure in found if figure.value.low > 0]
    requests = _requests(result)
    if not found or requests is None:
        return None
    counts = [figure.value.low for figure in found]
    # What ab calls failed may be the very answers that it counts as non-2xx.
    failed = max(counts) if result.tool == "ab" else sum(counts)
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


W2 = AuditRule(
    code="W2",
    title="errors and time-outs in the throughput",
    takes="everything",
    meaning=(
        "A failed request is often the cheapest one: it is counted as throughput, and its time as a "
        "fast answer."
    ),
    remedy="find out why requests fail, measure again without, and count only right answers",
    source="SPECweb's quality of service; ASP.NET benchmarks #320",
    check=errors,
)


def unequal(seen: Evidence) -> Iterator[AuditHit]:
    """W3: compared answers that differ in length. The first that differs speaks for all of its kind."""
    told: set[int] = set()
    for a, b in seen.compared():
        one, other = _bytes(a), _bytes(b)
        if one is None or other is None or b.line in told or _route(a) != _route(b) or a.line in told:
            continue
        small, large = sorted((one, other), key=lambda each: each[0].middle)
        if small[0].widened(_BYTES / 2).high >= large[0].widened(_BYTES / 2).low:
            continue
        told.update((a.line, b.line))
        where = other[1]
        yield AuditHit(
            where.line,
            where.quote,
            f"{number(one[0].middle)} bytes an answer for {a.label!r} (line {one[1].line}), "
            f"{number(other[0].middle)} for {b.label!r}",
            "error",
            (a.line, b.line),
        )


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


W3 = AuditRule(
    code="W3",
    title="unequal answers",
    takes="comparison",
    meaning=(
        "Who sends more does more: other headers, another encoding, another body. The comparison is one "
        "of the answers' sizes as well."
    ),
    remedy="let all send the same headers and body (assay versus looks before it measures)",
    source="the published petclinic study: 1,525 B (compressed) against 3,041 B (not)",
    check=unequal,
)
