"""The load that a text tells: command lines of load-test tools, and words in the place of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.audit.document import Figure, ReportedCommand, TextDocument, TextLine
from assay.audit.facts import Facts, known_tools
from assay.audit.interval import Interval, exactly, time_in, value_of
from assay.audit.lexicon import compiled
from assay.audit.tools import BY_NAME, AuditTool, ToolFlags

_NAMES = sorted(BY_NAME, key=len, reverse=True)
_CALL = re.compile(
    r"(?:^|[\s`$#>|;&('\"/\\])(?P<tool>"
    + "|".join(re.escape(name) for name in _NAMES)
    + r")(?:\.exe)?['\"]?(?:\s+(?:with|using|flags|options|arguments):?)?\s+(?=-\w|--\w|['\"]?https?://|[\w.-]{1,60}:\d|run\s|attack\s)"
)
_WORD = re.compile(r"'([^']{0,1000})'|\"([^\"]{0,1000})\"|([^\s'\"`|;]{1,1000})")
_ENDS = re.compile(r"\s[|;>&#]|`|\s&&")
_ADDRESS = re.compile(r"(?:https?://\S+|[\w.-]{1,80}:\d{2,5}(?:/\S*)?)")
_SENTENCE_SIGNS = re.compile(r"(?<=[\w/])(?:[.,:)]{1,3}|\([^()=]*)$")
"""What is of the sentence around a command."""
_JOINED = re.compile(r"\\\s*$")
_SIEGE_TIME = re.compile(r"(\d{1,6})([SsMmHh]?)")
_SIEGE_UNIT = {"s": 1, "m": 60, "h": 3600, "": 60}


def commands(lines: Iterable[TextLine]) -> Iterator[ReportedCommand]:
    """Every call of a load-test tool among the lines; lines that end in a backslash are one."""
    first: TextLine | None = None
    text = ""
    for line in lines:
        joined = f"{text} {line.text.strip()}" if first is not None else line.text
        first = first or line
        if _JOINED.search(joined) and len(joined) < 4000:
            text = _JOINED.sub("", joined)
            continue
        yield from _calls(joined, first.number)
        first, text = None, ""


def _calls(text: str, number: int) -> Iterator[ReportedCommand]:
    if not any(name in text for name in _NAMES):
        return
    for match in _CALL.finditer(text):
        if text[: match.start("tool")].endswith("assay "):
            continue  # ours, which has other accounting than theirs
        tool = BY_NAME[match["tool"]]
        rest = text[match.end() : match.end() + 2000]
        ends = _ENDS.search(rest)
        rest = rest[: ends.start()] if ends else rest
        command = _command(tool, match["tool"], rest, number, text) if tool.flags is not None else None
        if command is not None:
            yield command


def _command(tool: AuditTool, name: str, rest: str, number: int, text: str) -> ReportedCommand | None:
    flags = tool.flags or ToolFlags()
    words = [next(piece for piece in found.groups() if piece is not None) for found in _WORD.finditer(rest)]
    words = [_SENTENCE_SIGNS.sub("", word) for word in words]
    if flags.subcommand and (not words or words[0] != flags.subcommand):
        return None
    quote = f"{name} {rest}".strip()
    figures: dict[str, Figure] = {}
    keep_alive = flags.alive
    closed = tool.closed is not False
    url = ""
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("-"):
            if _ADDRESS.fullmatch(word) and not url:
                url = word
            continue
        flag, value, taken = _flag(flags, word, words[at] if at < len(words) else "")
        at += taken
        cluster = word[:2] if flag != word and not word.startswith("--") else word
        keep_alive = flags.keep_alive.get(cluster, keep_alive)
        closed = closed and (flag not in flags.opens or value == "0")
        if flag in flags.address:
            url = url or value
        if flag in flags.values:
            key, unit = flags.values[flag]
            interval = _value(value, unit)
            if interval is not None:
                figures.setdefault(key, Figure(interval, number, quote))
    if not url and not figures:
        return None
    if tool.name == "vegeta":
        url = url or next(iter(_ADDRESS.findall(text)), "")
    return ReportedCommand(
        tool=tool.name,
        line=number,
        quote=quote,
        url=url,
        figures=figures,
        keep_alive=keep_alive,
        closed=closed,
    )


def _flag(flags: ToolFlags, word: str, following: str) -> tuple[str, str, int]:
    """The flag, its value, and whether the value was the following word."""
    name, equals, value = word.partition("=")
    if equals:
        return name, value, 0
    if word in flags.values or word in flags.ignored or word in flags.address:
        return word, following, 1
    if not word.startswith("--") and len(word) > 2:
        if word[:2] in flags.values and word[2:3].isdigit():
            return word[:2], word[2:], 0
        # ab's "-kc 100": flags without a value, and one with it at the end.
        last = f"-{word[-1]}"
        if "-k" in flags.keep_alive and word[1] == "k" and last in flags.values:
            return last, following, 1
    return word, "", 0


def _value(text: str, unit: str) -> Interval | None:
    if unit == "siege":
        found = _SIEGE_TIME.fullmatch(text)
        return exactly(float(found[1]) * _SIEGE_UNIT[found[2].lower()]) if found else None
    if unit == "t" and re.fullmatch(r"\d{1,9}", text):
        return exactly(float(text))
    if unit == "s" and not re.fullmatch(r"\d{1,9}s?", text):
        return None
    text = re.sub({"n": "/1?s$", "s": "s$"}.get(unit, "$^"), "", text)
    if not re.fullmatch(r"[\d.,]{1,20}\s?[A-Za-zµ]{0,4}[\d.]{0,6}s?", text):
        return None
    value = value_of(text, unit)
    return exactly(value.middle) if value is not None else None


_COUNTED = compiled("commands.counted")
_LASTED = re.compile(
    r"\bduration\b[^.\d]{0,12}(?P<one>\d{1,4}\s?(?:s|secs?|seconds?|m|min|minutes?)\b)"
    r"|\b(?P<two>\d{1,4}[ -]?(?:s|secs?|seconds?|minutes?)) (?:per (?:run|test|framework|server"
    r"|endpoint|benchmark)|each\b"
    r"|(?:runs?|tests?|benchmark)\b)"
    r"|\bfor (?P<three>\d{1,4}\s?(?:s|secs?|seconds?|minutes?)\b)",
    re.IGNORECASE,
)


_LISTED = re.compile(r"\d[\s,]{0,2}(?:s|or|and|,|-|–|/|to)\s?$", re.IGNORECASE)
_OTHER = re.compile(r"warm|sleep|wait|pause|cool|between|rest", re.IGNORECASE)


def worded(document: TextDocument, told: Facts) -> ReportedCommand | None:
    """The one load that the text names in words for its one tool; None where it names several, or none."""
    tools = known_tools(told)
    if len(tools) != 1:
        return None
    found: dict[str, list[Figure]] = {}
    for number, text, is_code in document.texts:
        for name, figure in _in_words(number, text) if not is_code else ():
            found.setdefault(name, []).append(figure)
    only = {
        name: figures[0] for name, figures in found.items() if len({each.value.low for each in figures}) == 1
    }
    if "connections" not in only and "duration" not in only:
        return None
    first, name = next(iter(only.values())), next(iter(tools))
    closed = BY_NAME[name].closed is not False
    return ReportedCommand(tool=name, line=first.line, quote=first.quote, figures=only, closed=closed)


def _in_words(number: int, text: str) -> Iterator[tuple[str, Figure]]:
    """Every connection, length and pipelining of a line; -1 beside one that is the last of several."""

    def figures_of(name: str, value: float, found: re.Match[str]) -> Iterator[tuple[str, Figure]]:
        yield name, Figure(exactly(value), number, found[0])
        if _LISTED.search(text[max(found.start() - 12, 0) : found.start()]):
            yield name, Figure(exactly(-1.0), number, found[0])  # "2, 8 or 50 connections" is not one load

    for found in _COUNTED.finditer(text):
        name = "threads" if (found["what"] or found["what2"]).lower() == "threads" else "connections"
        yield from figures_of(name, float((found["n"] or found["n2"]).replace(",", "")), found)
    for found in _LASTED.finditer(text):
        length = time_in((found["one"] or found["two"] or found["three"]).replace("-", " "))
        if length is not None and not _OTHER.search(text[max(found.start() - 40, 0) : found.end() + 12]):
            yield from figures_of("duration", round(length.middle, 6), found)
    for found in _PIPELINING.finditer(text):
        yield from figures_of("pipelining", float(found["n"] or found["n2"] or found["n3"]), found)


_PIPELINING = re.compile(
    r"\bpipelin(?:e|es|ed|ing)\b\W{1,6}(?:depth\W{1,3}|factor\W{1,3}|of\s){0,2}(?P<n>\d{1,4})\b"
    r"|\b(?P<n2>\d{1,4})\W{1,3}(?:http\s)?pipelin(?:e|es|ed|ing)\b|\b(?P<n3>\d{1,4}) requests? pipelined",
    re.IGNORECASE,
)
