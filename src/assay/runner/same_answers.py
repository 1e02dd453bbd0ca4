"""Do candidates answer alike? Each is asked a few times before there is a load; differences are shown.

Answers that vary by themselves (a random quotation, a date) are alike where their lengths overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from assay.core.errors import ServerFailed
from assay.servers import probe
from assay.servers.contract import Contract, Route

ASKED = 5
SAME_LENGTH = 0.02
"""Lengths that differ by less are alike: rule W3 allows as much."""
_SHOWN = 24

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SampledAnswers:
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
