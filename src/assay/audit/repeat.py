"""The commands that would settle what a text leaves open."""

from __future__ import annotations

import shlex
from urllib.parse import urlsplit

from assay.audit.document import Reported
from assay.audit.judge import Audit
from assay.audit.names import key_of

_SHARE = 0.7
"""The share of a measured throughput at which times are worth measuring: below capacity, and busy."""


def commands(found: Audit) -> tuple[str, ...]:
    """`assay versus` for what is compared, and `assay load --rate` for its times; empty without results."""
    if not found.results:
        return ()
    sides = compared(found)
    lines = [_versus(sides)] if len(sides) > 1 else []
    of = max(sides or [one.result for one in found.results], key=_rate)
    if _rate(of):
        lines.append(
            f"assay load {shlex.quote(_address(of.url))} --rate {_rounded(_SHARE * _rate(of))} -d "
            f"30s --warm-up 10s"
        )
    elif not lines:
        lines.append(f"assay load {shlex.quote(_address(of.url))} -d 30s --warm-up 10s")
    return tuple(lines)


def compared(found: Audit, most: int = 6) -> list[Reported]:
    """One result of each name that the text compares, at most so many, in their order."""
    sides: dict[str, Reported] = {}
    for a, b in found.evidence.compared():
        for one in (a, b):
            sides.setdefault(key_of(one.label), one)
    return sorted(sides.values(), key=lambda one: (one.line, one.label))[:most]


def _versus(sides: list[Reported]) -> str:
    connections = next((figure for one in sides if (figure := one.get("connections"))), None)
    addresses = [_address(one.url) for one in sides]
    words = ["assay", "versus"]
    if all(one.url for one in sides) and len(set(addresses)) == len(sides):
        words += addresses
    else:
        # The text says how to ask them, not how to start them: that is left to its reader.
        # What is taken from it is quoted twice: `assay versus` hands the word to a shell.
        words += [f"START {shlex.quote(_plain(one.label))} ON {{port}}" for one in sides]
        path = next((urlsplit(_address(one.url)).path for one in sides if one.url), "/")
        words += ["--url", f"http://127.0.0.1:{{port}}{path or '/'}"]
    for one in sides:
        name = _plain(one.label[:30]) or "?"
        words += [f"--name={name}"] if name.startswith("-") else ["--name", name]
    if connections is not None:
        words += ["-c", f"{connections.value.middle:.0f}"]
    return shlex.join(words)


def _address(url: str) -> str:
    """The text's address as a URL; what is none (a flag, a file) cannot come of it."""
    if not url:
        return "http://127.0.0.1:8080/"
    return _plain(url if url.startswith(("http://", "https://")) else f"http://{url}")


def _plain(text: str) -> str:
    """The text without what would move a terminal's cursor, or begin another line."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _rate(result: Reported) -> float:
    figure = result.figures.get("rate")
    return figure.value.middle if figure is not None else 0.0


def _rounded(rate: float) -> str:
    return f"{float(f'{rate:.2g}'):.0f}" if rate >= 10 else f"{rate:.2g}"
