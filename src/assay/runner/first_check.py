"""What is asked of servers before there is a record: whether they answer, and alike.

Answers that vary by themselves (a random quotation, a date) are alike where their lengths overlap.

Candidates are started once and asked, and those that can live side by side end together; servers of a study
are asked while others are still built: whoever waits minutes for a build should not hear only then that
another server answers wrongly.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from assay.core.errors import EXIT_INVALID, AssayError, InputError, ServerFailed
from assay.core.units import rate
from assay.model.design import ComparisonDesign, SearchDesign
from assay.model.plan import Closed, StopAfter
from assay.plan.resolved import ResolvedCase, ResolvedRun
from assay.plan.words.case import expecting, resolve
from assay.runner.bench import Bench, Running
from assay.runner.one_trial import start, tested_routes, wrong_answers
from assay.servers import probe
from assay.servers.build import Prepared
from assay.servers.contract import Contract, Route
from assay.servers.manifest import ServerSpec
from assay.verdict.objective import parse
from assay.verdict.search import range_of

ASKED = 5
SAME_LENGTH = 0.02
"""Lengths that differ by less are alike: rule W3 allows as much."""
_SHOWN = 24

T = TypeVar("T")


class SampledAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """What one candidate answered. Lengths are of the decoded bodies, `head_bytes` of the latest headers."""

    statuses: tuple[int, ...]
    encodings: tuple[str, ...]
    types: tuple[str, ...]
    shortest: int
    longest: int
    body: bytes
    head_bytes: int = 0

    @property
    def only_length(self) -> int | None:
        """The length that every answer had; None where they differ."""
        return self.longest if self.shortest == self.longest else None


def ask(contract: Contract, route: Route, host: str, port: int) -> SampledAnswers:
    """Ask a candidate. ServerFailed (stage "contract") for an answer that is none, or is not right."""
    found: list[probe.Response] = []
    for _ in range(ASKED):
        try:
            response = probe.ask(contract, route, host, port)
        except probe.NoAnswer as error:
            raise ServerFailed("contract", f"{route.method} {route.target}: {error}") from error
        problem = probe.wrong(contract, route, response)
        if problem:
            raise ServerFailed("contract", f"{route.method} {route.target}: {problem}")
        found.append(response)
    lengths = [len(response.body) for response in found]
    return SampledAnswers(
        statuses=_distinct(response.status for response in found),
        encodings=_distinct(response.headers.get("content-encoding", "identity") for response in found),
        types=_distinct(response.headers.get("content-type", "none") for response in found),
        shortest=min(lengths),
        longest=max(lengths),
        body=found[-1].body,
        head_bytes=sum(len(f"{name}: {value}\r\n") for name, value in found[-1].headers.items()),
    )


def differences(a: SampledAnswers, b: SampledAnswers) -> tuple[str, ...]:
    """What differs beyond doubt: "status 200 / 404"; nothing where the two may be compared."""
    found = []
    if a.statuses != b.statuses:
        found.append(f"status {_words(a.statuses)} / {_words(b.statuses)}")
    if a.encodings != b.encodings:
        found.append(f"encoding {_words(a.encodings)} / {_words(b.encodings)}")
    apart = max(a.shortest, b.shortest) - min(a.longest, b.longest)
    if apart > SAME_LENGTH * max(a.longest, b.longest):
        found.append(f"body {_lengths(a)} / {_lengths(b)} bytes")
    return tuple(found)


def aside(a: SampledAnswers, b: SampledAnswers) -> str:
    """Smaller differences that a reader may want to know of: the type, or the bytes, of headers too; empty
    without one."""
    return "; ".join(filter(None, (_of_content(a, b), _of_headers(a, b))))


def _of_headers(a: SampledAnswers, b: SampledAnswers) -> str:
    """What more headers make of the whole answer, from W3's limit on."""
    most = max(one.head_bytes + one.longest for one in (a, b))
    if abs(a.head_bytes - b.head_bytes) <= SAME_LENGTH * most:
        return ""
    return f"headers of {a.head_bytes:,} / {b.head_bytes:,} bytes"


def _of_content(a: SampledAnswers, b: SampledAnswers) -> str:
    if a.types != b.types:
        return f"content type {_words(a.types)} / {_words(b.types)}"
    if a.body == b.body:
        return ""
    at = next(
        (place for place, (one, other) in enumerate(zip(a.body, b.body, strict=False)) if one != other),
        min(len(a.body), len(b.body)),
    )
    return f"bodies differ from byte {at + 1} on: {_cut(a.body, at)} / {_cut(b.body, at)}"


def _distinct(values: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))


def _words(values: Sequence[object]) -> str:
    return " or ".join(map(str, values))


def _lengths(answers: SampledAnswers) -> str:
    same = answers.shortest == answers.longest
    return f"{answers.longest:,}" if same else f"{answers.shortest:,}-{answers.longest:,}"


def _cut(body: bytes, at: int) -> str:
    return repr(body[at : at + _SHOWN].decode(errors="replace"))


_LOOK_NS = 2_000_000_000
_CLOSED_CONNECTIONS = 64


class Unlike(AssayError):
    """The candidates answer differently: a comparison of them would be invalid."""

    exit_code = EXIT_INVALID


def first_look(run: ResolvedRun, bench: Bench) -> ResolvedRun:
    """The run with what had to be seen before its first trial.

    InputError for a command or URL that does not answer rightly, Unlike where the answers differ (unless that
    is allowed).
    """
    match run.design:
        case ComparisonDesign() as comparison:
            return resolve(run.name, _alike(comparison, run, bench), run.split)
        case SearchDesign() as search:
            return resolve(run.name, _ranged(search, run, bench), run.split)
        case _:
            return run


def _alike(comparison: ComparisonDesign, run: ResolvedRun, bench: Bench) -> ComparisonDesign:
    """The comparison, with the length that every answer has, if it has one. Candidates that are to be
    interleaved end while others are asked, or what comes next is made."""
    found: dict[str, SampledAnswers] = {}
    together = comparison.interleave is not None and not bench.where.nodes
    for case in run.cases:
        if case.case.role != "control":
            bench.observer.server_preparing(case.case.id, "asking it")
            found[case.case.id] = _started(case, bench, partial(_ask, case))
        if not together:
            bench.warm_pool.only(())
    bench.warm_pool.dismiss_but(())
    bench.expects(sum(isinstance(case.ready, Prepared) for case in run.cases) if together else 1)
    first, *others = found
    for other in others:
        _compare(comparison, bench, (first, found[first]), (other, found[other]))
    lengths = {answers.only_length for answers in found.values()}
    length = lengths.pop() if len(lengths) == 1 else None
    return comparison if length is None else expecting(comparison, length)


def _ranged(search: SearchDesign, run: ResolvedRun, bench: Bench) -> SearchDesign:
    """The search, with the rates that nobody gave, and the length that every answer has, if it has one."""
    [case] = run.cases
    bounds, name = search.bounds, case.case.id
    bench.observer.note(f"{name}: a first look")

    def check(running: Running) -> tuple[SampledAnswers, float]:
        answers = _ask(case, running)
        given = bounds.lowest_per_s and bounds.highest_per_s
        closed_per_s = 0.0 if given else _closed_per_s(case, running.url, bench)
        if running.died() is not None:
            bench.observer.note(f"{name}: it died in a closed loop at saturation")
        return answers, closed_per_s

    answers, closed_per_s = _started(case, bench, check)
    bench.warm_pool.only(())
    found = range_of(
        parse(bounds.objective),
        closed_per_s,
        search.measure_ns,
        resolution=bounds.resolution,
        lowest_per_s=bounds.lowest_per_s or None,
        highest_per_s=bounds.highest_per_s or None,
    )
    lowest, highest = found.lowest_per_s, found.highest_per_s
    bench.observer.note(f"searching from {rate(lowest)} to {rate(highest)} for {found.objective}")
    search = msgspec.structs.replace(search, bounds=found)
    return search if answers.only_length is None else expecting(search, answers.only_length)


def _started(case: ResolvedCase, bench: Bench, look: Callable[[Running], T]) -> T:
    """What a look at the server, started for it, sees; the pool has it then. InputError where it does not
    answer."""
    assert case.ready is not None  # a candidate's server needs no preparation
    try:
        running = start(case, case.ready, bench, case.case.id)
        try:
            return look(running)
        finally:
            bench.warm_pool.keep(case.case.id, running, None)
    except ServerFailed as failed:
        raise InputError(f"{case.case.id}: {failed.reason}") from failed


def _ask(case: ResolvedCase, running: Running) -> SampledAnswers:
    return ask(case.contract, case.routes[0], running.host, running.port)


Asked = tuple[str, SampledAnswers]


def _compare(comparison: ComparisonDesign, bench: Bench, one: Asked, other: Asked) -> None:
    """Refuse answers that differ, and say what differs where that does not matter."""
    names = (one[0], other[0])
    differ = "; ".join(differences(one[1], other[1]))
    if differ and not comparison.unlike_allowed:
        raise Unlike(
            f"{names[0]} and {names[1]} answer differently: {differ}",
            "make them alike, or compare them all the same with --unlike",
        )
    if said := differ or aside(one[1], other[1]):
        bench.observer.note(f"{names[0]} / {names[1]}: {said}")


def _closed_per_s(case: ResolvedCase, url: str, bench: Bench) -> float:
    """What a short closed loop gets in its better moments: only the range of the search rests on it, and
    the server may have died of it."""
    plan = msgspec.structs.replace(
        case.plan,
        url=url,
        load=Closed(connections=_CLOSED_CONNECTIONS),
        stop=StopAfter(ns=_LOOK_NS),
        warmup_max_ns=0,
        cpus=bench.split.client,
    )
    generator = bench.where.generator
    load = generator.start(generator.planned(plan))
    try:
        while not load.wait(0.1):
            pass
    except BaseException:
        load.stop()
        while not load.wait(0.1):
            pass
        raise
    windows = [one.completed / one.length_ns * 1e9 for one in load.result().windows if one.completed]
    return statistics.quantiles(windows, n=10)[-1] if len(windows) > 1 else sum(windows)


def early_look(resolved: ResolvedRun, bench: Bench) -> Callable[[ServerSpec, Prepared], None]:
    """Starts a server, tests its contract and tells what is wrong; its trials will say so again.

    A server that needs a service is left out, as none runs yet, and so is one on another machine.
    """

    def check(spec: ServerSpec, ready: Prepared) -> None:
        if spec.services or bench.where.nodes:
            return
        case = next(case for case in resolved.cases if case.server == spec)
        problem = _problem(case, ready, bench)
        if problem:
            bench.observer.server_failed(spec.name, f"{problem} (seen while others are still built)")

    return check


def _problem(case: ResolvedCase, ready: Prepared, bench: Bench) -> str:
    try:
        running = start(case, ready, bench, f"{case.case.id}-early")
        try:
            asked, wrong = probe.test(case.contract, tested_routes(case), running.host, running.port)
        finally:
            running.stop()
    except ServerFailed as failed:
        return failed.reason
    return wrong_answers(asked, wrong) if wrong else ""
