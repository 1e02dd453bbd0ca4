"""W: what was counted must be the work that was asked for, and equal work where it is compared."""

from __future__ import annotations

import statistics

from assay.core.units import counted
from assay.core.units import share as percent
from assay.core.units import time as duration
from assay.model.measurement import Measurement, Outcome
from assay.verdict.causes import LONGER, cause_of
from assay.verdict.facts import CaseSeen
from assay.verdict.load import Load
from assay.verdict.rule import (
    NONE,
    VOID,
    Effects,
    Hit,
    LoadRule,
    PairRule,
    Threshold,
    Thresholds,
)

HONEST_ERRORS = frozenset({"unexpected_status", "redirect_elsewhere"})
"""An answer that says itself that it failed or leads elsewhere is an error (W2), not a wrong answer (W1)."""


def answers_wrong(load: Load, thresholds: Thresholds) -> Hit | None:
    """W1: wrong answers before, during and after the load."""
    wrong = {"during": _wrong_under_load(load)}
    checked = load.measured.checked
    seen = {"during": checked}
    examples = [outcome.example for outcome in _wrong_outcomes(load) if outcome.example]
    if load.contract is not None:
        contract = load.contract
        wrong |= {"before": contract.before_wrong, "after": contract.after_wrong}
        seen |= {"before": contract.before, "after": contract.after}
        examples += contract.examples
    if any(wrong.values()):
        parts = [f"{wrong[when]:,} of {seen[when]:,} {when}" for when in _WHEN if wrong.get(when)]
        example = f"; for example: {examples[0]}" if examples else ""
        total = sum(wrong.values())
        return Hit(
            "error",
            f"answers that fail the contract: {', '.join(parts)} the load{example}",
            {f"wrong_{when}": float(count) for when, count in wrong.items()},
            gravity=total,
        )
    if (redirects := _only_redirects(load)) is not None:
        return redirects
    if load.contract is None:
        return None  # nobody said what a right answer is
    if checked < min(thresholds["sampled"], load.measured.completed):
        return Hit(
            "note",
            f"only {counted(checked, 'answer')} of {load.measured.completed:,} were checked under load",
            {"checked": float(checked), "limit": thresholds["sampled"]},
            gravity=-checked,
        )
    return None


_WHEN = ("before", "during", "after")


def _only_redirects(load: Load) -> Hit | None:
    """Most answers were redirects, which were neither followed nor asked for in particular."""
    expected = {status for one in load.plan.requests if one.expect for status in one.expect.status}
    if load.plan.redirects or (expected and not {200, 301, 302} <= expected):
        return None
    statuses, completed = load.measured.statuses, load.measured.completed
    redirects = {code: n for code, n in statuses.items() if code.startswith("3") and code != "304"}
    total = sum(redirects.values())
    if not completed or total * 2 < completed:
        return None
    every = "every answer" if total >= completed else f"{total:,} of {completed:,}"
    return Hit(
        "warning",
        f"{every} was a redirect ({', '.join(sorted(redirects))}): what it leads to was not measured",
        {"redirects": float(total)},
        gravity=total,
        remedy="ask for what the redirects lead to, follow them (--follow N), or expect them by their status",
        effects=_REDIRECTS,
    )


_REDIRECTS = Effects(when="most answers are redirects that nobody asked for")


def _wrong_outcomes(load: Load) -> list[Outcome]:
    failed = load.measured.outcomes
    return [outcome for outcome in failed if outcome.origin == "plan" and outcome.kind not in HONEST_ERRORS]


def _wrong_under_load(load: Load) -> int:
    """By the engine's own checks; the contract's count during the load includes honest errors."""
    ours = sum(outcome.count for outcome in _wrong_outcomes(load))
    if load.contract is None:
        return ours
    honest = sum(outcome.count for outcome in load.measured.outcomes if outcome.kind in HONEST_ERRORS)
    return max(ours, load.contract.during_wrong - honest)


W1 = LoadRule(
    code="W1",
    title="wrong answers",
    severities=("error", "warning", "note"),
    effects=(VOID, _REDIRECTS),
    thresholds=(Threshold("sampled", 1000, "count", "answers that must be checked under load"),),
    meaning="The server did not do the work, so how fast it did not do it says nothing.",
    remedy="make the server meet its contract, or correct the contract, then measure again",
    source="MLPerf's accuracy audit (TEST01)",
    example="A server that answers 200 with an empty body when its database pool is exhausted.",
    of_misses=True,
    check=answers_wrong,
)


def failures(load: Load, thresholds: Thresholds) -> Hit | None:
    """W2: failed requests as a share of all that ended; none that ended is silence, the worst of failures."""
    failed, ended = load.measured.failed, load.ended
    if load.reached_nothing:
        return None  # G8 says it, and why
    if not failed:
        return None if ended else _silence(load)
    share = failed / ended
    if share <= thresholds["warning"]:
        return None
    kinds = sorted(load.measured.outcomes, key=lambda outcome: -outcome.count)[:3]
    named = ", ".join(f"{outcome.kind.replace('_', ' ')} {outcome.count:,}" for outcome in kinds)
    cause = cause_of(load)
    evidence = f"{failed:,} of {counted(ended, 'request')} failed ({percent(share)})"
    evidence += named and f": {named}"
    return Hit(
        "error" if share > thresholds["error"] else "warning",
        evidence + (f"; {cause.evidence}" if cause is not None and cause.evidence else ""),
        {"share": share, "failed": float(failed), "limit": thresholds["warning"]},
        gravity=share,
        remedy=cause.remedy if cause is not None else "",
        effects=_FAILING if share > thresholds["error"] else _FEW_FAILED,
    )


def _silence(load: Load) -> Hit | None:
    """Requests that were under way for all of the measured time, which ended before any time-out."""
    if not load.measured.requests.in_flight or not load.measured.measured_ns:
        return None
    waiting, cause = load.measured.requests.in_flight, cause_of(load)
    seen = f"; {cause.evidence}" if cause is not None and cause.evidence else ""
    return Hit(
        "error",
        f"no answer came within the measured {duration(load.measured.measured_ns, exact=True)}, and "
        f"{counted(waiting, 'request')} waited for one at its end{seen}",
        {"in_flight": float(waiting)},
        gravity=1.0,
        remedy=cause.remedy if cause is not None else f"{LONGER}, or find out what the server waits for",
    )


_FAILING = Effects("void", "void", when="above 1 %")
_FEW_FAILED = Effects(when="up to 1 %: only right answers are counted")


W2 = LoadRule(
    code="W2",
    title="errors and time-outs",
    severities=("warning", "error"),
    effects=(_FAILING, _FEW_FAILED),
    thresholds=(
        Threshold("warning", 0.001, "share", "share of failed requests above which a load gets a warning"),
        Threshold("error", 0.01, "share", "share above which its figures are invalid"),
    ),
    meaning=(
        "Failures are cheap to produce and are missing from the times. They are not counted as throughput"
        " here, but a server that fails this often was not serving this load."
    ),
    remedy="find the cause (limits, pools, time-outs, overload), or offer a load that the server can carry",
    source="SPECweb's quality of service; ASP.NET benchmarks #320",
    example=(
        "Of 25,000 requests 21,851 failed, and the tool still printed 402/s; the good answers came at 72/s."
    ),
    check=failures,
)


def unequal_bytes(a: CaseSeen, b: CaseSeen, thresholds: Thresholds) -> Hit | None:
    """W3: the bytes of each answer's body, what they are encoded in, and how many more its headers make them.

    Where streams carry them the bodies alone: how short a head becomes is the server's own doing there.
    """
    encodings = _encodings(a), _encodings(b)
    if None not in encodings and encodings[0] != encodings[1]:
        ours, theirs = (", ".join(sorted(seen or ())) or "no encoding" for seen in encodings)
        evidence = f"{a.name} answers with {ours}, {b.name} with {theirs}"
        return Hit("error", evidence, gravity=1.0, effects=_OTHER_ENCODING)
    bodies = _sizes(a, b, content=True)
    if bodies is None:
        return None
    most = thresholds["bytes_difference"] + _cut_off(a) + _cut_off(b)
    figures = {"bytes": bodies[0], "other_bytes": bodies[1], "difference": _apart(*bodies)}
    if figures["difference"] > most:
        return Hit(
            "error",
            f"bodies of {bodies[0]:,.0f} B from {a.name}, of {bodies[1]:,.0f} B from {b.name} "
            f"({percent(figures['difference'])} apart; "
            f"at most {percent(thresholds['bytes_difference'], exact=True)} is equal work)",
            figures,
            gravity=figures["difference"],
            effects=_MORE_BYTES,
        )
    whole = _sizes(a, b, content=False)
    on_streams = any(m.http2 or m.http3 for seen in (a, b) for m in _measurements(seen))
    return None if whole is None or on_streams or _apart(*whole) <= most else _headers_differ(a, b, whole)


def _headers_differ(a: CaseSeen, b: CaseSeen, whole: tuple[float, float]) -> Hit:
    """Bodies are alike: what more headers cost is no more than the ratio of all bytes."""
    times = max(whole) / max(1.0, min(whole))
    return Hit(
        "warning",
        f"{whole[0]:,.0f} B an answer from {a.name}, {whole[1]:,.0f} B from {b.name}: bodies are alike, "
        f"headers differ, and may account for a factor of {times:.3g}",
        {"bytes": whole[0], "other_bytes": whole[1], "difference": _apart(*whole), "times": times},
        gravity=_apart(*whole),
        effects=_MORE_HEADERS,
    )


def _apart(one: float, other: float) -> float:
    return abs(one - other) / max(one, other, 1.0)


def _sizes(a: CaseSeen, b: CaseSeen, *, content: bool) -> tuple[float, float] | None:
    """Bytes of an answer of each; None where one of the two had none."""
    answered = [[m for m in _measurements(seen) if m.completed] for seen in (a, b)]
    if not all(answered):
        return None
    one, other = (
        statistics.fmean((m.body_bytes if content else m.bytes_read) / m.completed for m in measurements)
        for measurements in answered
    )
    return one, other


def _cut_off(seen: CaseSeen) -> float:
    """By how much a case's bytes an answer may be off over an emulated network, where few answers are many
    bytes and are long under way: those at the ends of a trial are cut off."""
    if seen.case.emulation is None:
        return 0.0
    measured = [(trial.plan, trial.measurement) for trial in seen.trials if trial.measurement is not None]
    under_way = sum(m.connections.asked * plan.streams for plan, m in measured)
    return under_way / max(1, sum(m.completed for _, m in measured))


def _encodings(seen: CaseSeen) -> frozenset[str] | None:
    """The content encodings of a case's answers; none at all is an empty set, nothing known is None."""
    measurements = _measurements(seen)
    if not measurements:
        return None
    plain = {"", "identity"}
    return frozenset(name for m in measurements for name, count in m.encodings.items() if count) - plain


def _measurements(seen: CaseSeen) -> list[Measurement]:
    return [trial.measurement for trial in seen.trials if trial.measurement is not None]


_OTHER_ENCODING = Effects(comparison="void", when="different encodings")
_MORE_BYTES = Effects(
    comparison="one way",
    because="one sends more bytes",
    when="bodies of other lengths",
    way="who sends more and is faster all the same, is faster",
)
_MORE_HEADERS = Effects(
    comparison="wider",
    because="one sends more headers",
    when="bodies alike, more headers: by the ratio of their bytes, towards who sends more",
)

W3 = PairRule(
    code="W3",
    title="unequal answers",
    severities=("error", "warning", "note"),
    effects=(_OTHER_ENCODING, _MORE_BYTES, _MORE_HEADERS),
    thresholds=(
        Threshold(
            "bytes_difference", 0.02, "share", "allowed difference in bytes of a body, or of an answer"
        ),
    ),
    meaning=(
        "The two servers did not do the same work for each request, so their ratio compares the work, not"
        " the servers. Headers alone cost no more than their share of the bytes."
    ),
    remedy=(
        "let both send the same body and headers, and compress both or neither; or compare them as they are: "
        "assay versus --unlike"
    ),
    of_answers=True,
    source="the published petclinic study: 1,525 B (compressed) against 3,041 B (not)",
    example="redbean deflating every page against Spring sending it plain.",
    check=unequal_bytes,
)


def sent_again(load: Load, thresholds: Thresholds) -> Hit | None:
    """W9: how many, and what part of all."""
    resent = load.measured.resent
    if not resent:
        return None
    share = resent / load.ended if load.ended else 1.0
    many = counted(resent, "request")
    return Hit(
        "note",
        f"{many} ({percent(share)}) were sent again: the server ended the connection, or refused the stream, "
        "without processing them",
        {"resent": float(resent), "share": share},
        gravity=share,
    )


W9 = LoadRule(
    code="W9",
    title="requests sent again",
    severities=("note",),
    effects=(NONE,),
    meaning=(
        "The protocol says that these requests were not processed, so clients send them again and they are "
        "no failures. Each counts once, and its times begin with its first send."
    ),
    remedy=(
        "raise the server's limits of requests and of idle time on a connection, or count such requests as "
        "failed with --no-resend"
    ),
    source="RFC 9113, 8.7; RFC 9114, 5.2; RFC 9112, 9.3.1 and 9.3.2",
    example="nginx ends a connection after 1,000 requests (keepalive_requests), with others under way.",
    check=sent_again,
)
