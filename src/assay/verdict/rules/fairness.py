"""W: the same protocol, the same cores, the same care for each server, and no request without an answer.

Requests that are under way at the end must be few and young, as they are in any load. They are no failure yet
and no answer any more: a server that stopped in the middle of a load shows 0 failed requests and times of
those that it answered before.
"""

from __future__ import annotations

from assay.core.units import counted
from assay.core.units import share as percent
from assay.core.units import time as duration
from assay.model.measurement import Stray
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.load import Load, encodings_asked
from assay.verdict.rule import VOID, CaseRule, Effects, Hit, LoadRule, PairRule, Threshold, Thresholds
from assay.verdict.silence import FACTOR, LEAST_NS, patience_ns, silent_ns

PLAIN = frozenset({"", "identity"})


def cache_measured(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """W4: a case that repeats one input beside the case that draws it at random (`same_input_of`)."""
    other = run.find(str(case.case.facts.get("same_input_of", "")))
    if other is None:
        return None
    ratio = run.ratio(case, other)
    if ratio is None or ratio.low is None or ratio.value <= 1 + thresholds["faster"] or ratio.low <= 1:
        return None
    return Hit(
        "warning",
        f"one repeated input is served {percent(ratio.value - 1)} faster than inputs drawn at random",
        {"ratio": ratio.value, "limit": 1 + thresholds["faster"]},
    )


W4 = CaseRule(
    code="W4",
    title="a cache is measured",
    severities=("warning",),
    effects=(Effects("at most", because="a cache answered"),),
    thresholds=(Threshold("faster", 0.10, "share", "how much faster one repeated input may be"),),
    meaning=(
        "The same input again and again is answered from a cache, which no mixed traffic would find as warm."
    ),
    remedy="draw inputs at random from a set as large as real traffic has, or call it a test of the cache",
    source="MLPerf's caching audit (TEST04)",
    example="GET /heroes/1 a million times, with the row in a second-level cache.",
    check=cache_measured,
)


def negotiated_otherwise(load: Load, thresholds: Thresholds) -> Hit | None:
    """W5: encodings that nobody asked for, another HTTP, stray bytes, and connections that were not kept."""
    hit = _answered_otherwise(load)
    if hit is not None:
        return hit
    if load.measured.stray.bytes:
        return _strayed(load.measured.stray, load.ended, thresholds["reopened"])
    return _not_kept(load, thresholds) if load.keep_alive else None


def _answered_otherwise(load: Load) -> Hit | None:
    """Encodings that nobody asked for, and another HTTP."""
    asked, answers, encodings = load.plan, load.measured, encodings_asked(load.plan)
    wanted = "2" if asked.http == "auto" else asked.http
    if asked.http in ("2", "3") and answers.http_versions and set(answers.http_versions) != {wanted}:
        came = ", ".join(f"HTTP/{version}" for version in sorted(answers.http_versions))
        return Hit("error", f"answers came as {came}, though HTTP/{wanted} was asked for")
    foreign = [outcome for outcome in load.measured.outcomes if outcome.kind == "wrong_protocol"]
    if foreign:
        many = counted(sum(outcome.count for outcome in foreign), "request")
        return Hit(
            "error",
            f"HTTP/{wanted} was asked for, and {many} found that the server does not speak it: "
            f"{foreign[0].example}",
            remedy=f"leave --http{wanted} out, or let the server speak it (--http auto takes what it picks)",
        )
    seen = {name for name, count in answers.encodings.items() if count} - PLAIN
    unasked = seen - encodings if "*" not in encodings else set()
    if unasked:
        accepted = ", ".join(sorted(encodings)) or "no encoding"
        return Hit("error", f"answers came as {', '.join(sorted(unasked))}, though {accepted} was asked for")
    older = answers.http_versions.get("1.0", 0)
    if asked.http_version != "1.1" or not older:  # the other way round is the rule: RFC 9110, 2.5
        return None
    if load.follows and older == sum(answers.http_versions.values()):
        closing = " and closes each connection after its answer" if load.closes_each else ""
        flags = f"--http1.0{' --no-keep-alive' if closing else ''}"
        return Hit(
            "warning",
            f"the server speaks HTTP/1.0{closing}; it was followed",
            remedy=f"say that it is meant: {flags}; or let the server speak HTTP/1.1 and keep its "
            "connections, as it should for many requests",
            effects=_FOLLOWED,
        )
    return Hit("error", f"{counted(older, 'answer')} came as HTTP/1.0, though HTTP/1.1 was asked for")


def _not_kept(load: Load, thresholds: Thresholds) -> Hit | None:
    """Connections that had to be opened again, other than after failures."""
    ended, closed = load.measured.requests.completed + load.measured.requests.failed, load.closed_by_server
    share = closed / ended if ended else 0.0
    if share <= thresholds["reopened"]:
        return None
    return Hit(
        "warning" if load.follows else "error",
        f"keep-alive was asked for, but for {counted(ended, 'request')} "
        f"{counted(closed, 'connection')} had to be opened again ({percent(share)})",
        {"reopened": float(closed), "share": share, "limit": thresholds["reopened"]},
        gravity=share,
        remedy=_SAY_THAT_IT_CLOSES if load.follows else "",
        effects=_FOLLOWED if load.follows else VOID,
    )


_FOLLOWED = Effects(when="a load of a command line, to a server that does so in every answer")
_SAY_THAT_IT_CLOSES = (
    "say that it is meant: --no-keep-alive; or let the server keep its connections for many requests"
)


def _strayed(stray: Stray, ended: int, limit: float) -> Hit:
    """W5 of bytes that belong to no answer. A connection that brings them is given up."""
    figures = {"stray_bytes": float(stray.bytes), "stray_connections": float(stray.connections)}
    came = f"{counted(stray.bytes, 'byte')} came on {counted(stray.connections, 'connection')}"
    example = f", for example: {stray.example}" if stray.example else ""
    share = stray.connections / ended if ended else 1.0
    # Servers tell an idle connection that its time is up (408): nobody asked, and it answers nothing.
    if stray.example.startswith("HTTP/1.") and stray.example[8:12] != " 408":
        evidence = f"answers that nobody asked for: {came}{example}; others passed for requests' own"
        return Hit("error", evidence, figures, gravity=1.0)
    evidence = f"bytes that belong to no answer: {came}{example}"
    return Hit("error" if share > limit else "note", evidence, figures, gravity=share)


W5 = LoadRule(
    code="W5",
    title="not the protocol that was asked for",
    severities=("error", "warning", "note"),
    effects=(VOID, _FOLLOWED),
    thresholds=(
        Threshold("reopened", 0.011, "share", "requests that may need a new connection with keep-alive"),
    ),
    meaning=(
        "Another protocol was measured: connections set up again and again, or answers encoded otherwise,"
        " cost CPU."
    ),
    remedy="correct the server's keep-alive and compression settings, or ask for what it does",
    source="ours; a server may close after 100 requests (Apache's default), which the threshold allows",
    example="HTTP/1.0 clients without a Connection header: one handshake for each request.",
    check=negotiated_otherwise,
)


def unequal_means(a: CaseSeen, b: CaseSeen, thresholds: Thresholds) -> Hit | None:
    """W6: cores as seen, workers and pools as the manifests say."""
    if thresholds["allowed"]:
        return None
    differences = [
        f"{what} {ours} against {theirs}"
        for what in ("cores", "workers", "pool")
        if (ours := _given(a, what)) is not None
        and (theirs := _given(b, what)) is not None
        and ours != theirs
    ]
    if not differences:
        return None
    return Hit("warning", f"unequal means: {', '.join(differences)}")


def _given(seen: CaseSeen, what: str) -> str | None:
    if what == "cores":
        cores = {len(load.machine.server_cpus) for load in seen.loads if load.machine.server_cpus}
        return str(next(iter(cores))) if len(cores) == 1 else None
    fact = seen.case.facts.get(what)
    return None if fact is None else str(fact)


W6 = PairRule(
    code="W6",
    title="unequal cores, workers or pools",
    severities=("warning",),
    effects=(Effects(comparison="void"),),
    thresholds=(Threshold("allowed", 0, "count", "1 where the study says that they differ, and why"),),
    meaning=(
        "One server was given more to work with, so the ratio compares the settings as much as the servers."
    ),
    remedy=(
        "give all the same cores, workers and pools, or let the study say that they differ on purpose "
        "(rules.W6)"
    ),
    source="the published heroes study: pools of 3, 20 and 50",
    example="Three database connections for one server, fifty for the other.",
    check=unequal_means,
)


def handicapped(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """W7, from the manifest's facts."""
    facts, found = case.case.facts, []
    if str(facts.get("jit", "")).lower() in ("c1", "interpreted", "off"):
        found.append("a JVM that is limited to its first compiler tier")
    if facts.get("debug") is True:
        found.append("debugging switched on")
    if facts.get("request_log") is True:
        found.append("a log line written for each request")
    return Hit("warning", f"it ran with {', '.join(found)}") if found else None


W7 = CaseRule(
    code="W7",
    title="a handicapped server",
    severities=("warning",),
    effects=(Effects("at least", because="it ran handicapped"),),
    meaning="Nobody runs it in production like this; the figure is that of the setting, not of the server.",
    remedy="start it as its documentation says for production: full JIT, release build, request log off",
    source="the published heroes study: JVMs started through the build tool",
    example="`mvn spring-boot:run` sets -XX:TieredStopAtLevel=1.",
    check=handicapped,
)


def left_unanswered(load: Load, thresholds: Thresholds) -> Hit | None:
    """W8, from the ages of what was under way at the end. Where nothing ended at all W2 says it."""
    waiting = load.waiting
    patience = patience_ns(load, thresholds["silence"], thresholds["factor"])
    if waiting is None or patience is None or not waiting.count:
        return None
    silence = silent_ns(load, patience)
    if silence:
        when = f"in the last {duration(silence)} of {duration(load.measured.measured_ns)}"
        words = f"the server answered nothing {when} ({counted(waiting.count, 'request')} waiting)"
        figures = {"silence_ns": silence, "waiting": float(waiting.count), "limit_ns": patience}
        return Hit("error", words, figures, gravity=1 + silence, effects=_SILENT)
    hanging = waiting.longer_than(patience) if waiting.quiet_ns < patience else 0
    if not hanging:
        return None
    share = hanging / max(1, load.ended)
    return Hit(
        "warning",
        f"{counted(hanging, 'request')} had no answer after {duration(patience)} or more "
        f"(the oldest after {duration(waiting.oldest_ns)}), while others were answered",
        {"hanging": float(hanging), "oldest_ns": float(waiting.oldest_ns), "limit_ns": patience},
        gravity=share,
        effects=_SOME_HANG,
    )


_SILENT = Effects("void", "void", when="nothing was answered any more")
_SOME_HANG = Effects(
    times="at least", because="some requests had no answer", when="some waited while others were answered"
)

W8 = LoadRule(
    code="W8",
    title="requests left without an answer",
    severities=("error", "warning"),
    effects=(_SILENT, _SOME_HANG),
    thresholds=(
        Threshold("silence", LEAST_NS, "ns", "longest time for which requests may wait at the end"),
        Threshold("factor", FACTOR, "ratio", "or so many times the longest answer, if that is more"),
    ),
    meaning=(
        "A load that ends while its requests wait counts them neither as answered nor as failed. They waited "
        "for much longer than any answer took: the server had stopped answering, and the rate is that of the "
        "time before."
    ),
    remedy=(
        "look at the server (did it stop, hang or run out of something?); measure for longer than the "
        "time-out to have such requests fail"
    ),
    source="ours",
    example="A server that is stopped in the middle of a load of 2 s: 5,410/s, and 0 failed.",
    check=left_unanswered,
)
