"""The figures of evidence apart from its words, so that words stand once for all subjects."""

from __future__ import annotations

import re
from collections.abc import Iterable

from study_pages.schema import Evidence

_UNIT = r"(?:/s(?!\w)| (?:%|ns|µs|ms|s|B|kB|MB|GB)(?![\w/]))?"
_FIGURE = re.compile(rf"(?<![\w/@.-])[−+±]?\d[\d,]*(?:\.\d+)?(?:x\d+)?{_UNIT}(?![\w-])")
_OFTEN = re.compile(r" \(in (?:(every) trial|(\d+ of \d+) trials?)(?:; this is the worst)?\)$")


def of(said: Iterable[tuple[str, str]]) -> tuple[Evidence, ...]:
    """(subject, evidence) of one group of findings as its words, each with the figures of its subjects."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for subject, text in said:
        words, about = split(subject, text)
        found.setdefault(words, []).append(about)
    return tuple(folded(words, about) for words, about in found.items())


def split(subject: str, text: str) -> tuple[str, tuple[str, ...]]:
    """The words of one piece of evidence, and (subject, trials, figures…)."""
    often = _OFTEN.search(text)
    trials = "" if often is None else "all" if often[1] else often[2]
    bare = _OFTEN.sub("", text).replace("{", "(").replace("}", ")")
    first, against, second = subject.partition(" against ")
    if against:
        bare = re.sub(rf"from {re.escape(first)}(?=[, ])", "from the first", bare)
        bare = re.sub(rf"from {re.escape(second)}(?=[, ]|$)", "from the second", bare)
    bare = re.sub(r"(\d+ of \d+) trial(?!s)", r"\1 trials", bare)
    bare = re.sub("swings? by itself", "swing by themselves", bare)
    return _FIGURE.sub("{}", bare), (subject, trials, *_FIGURE.findall(bare))


def folded(words: str, about: list[tuple[str, ...]]) -> Evidence:
    """The figures that all of several subjects share stand in the words."""
    shared = [len(about) > 1 and len(set(column)) == 1 for column in zip(*about, strict=True)][2:]
    figures = iter(zip(shared, about[0][2:], strict=True))

    def kept(_: re.Match[str]) -> str:
        same, figure = next(figures)
        return figure if same else "{}"

    kept_words = re.sub(r"\{\}", kept, words)
    rows = tuple(
        (*one[:2], *(figure for same, figure in zip(shared, one[2:], strict=True) if not same))
        for one in about
    )
    return Evidence(words=kept_words, about=merged(rows))


def merged(rows: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Of a server that has the same figures at several loads one row: "Go (c10, c50)"."""
    found: dict[tuple[str, ...], list[str]] = {}
    for subject, *rest in rows:
        server, load = of_load(subject)
        found.setdefault((server, *rest), []).append(load)
    return tuple(
        (f"{server} ({', '.join(loads)})" if len(loads) > 1 else at(server, loads[0]), *rest)
        for (server, *rest), loads in found.items()
    )


def of_load(subject: str) -> tuple[str, str]:
    """A subject without its load, which two servers share, and the load."""
    servers, loads = zip(*(one.partition("@")[::2] for one in subject.split(" against ")), strict=True)
    return (" against ".join(servers), loads[0]) if len(set(loads)) == 1 else (subject, "")


def at(server: str, load: str) -> str:
    """A subject with its load, as the record names it."""
    return " against ".join(f"{one}@{load}" for one in server.split(" against ")) if load else server
