"""Command lines of load-test tools, in listings and in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.audit.document import TextLine
from assay.audit.interval import Interval, exactly
from assay.audit.reported import Figure, ReportedCommand
from assay.audit.tools import BY_NAME
from assay.audit.tools.pattern import AuditTool, ToolFlags, value_of

_NAMES = sorted(BY_NAME, key=len, reverse=True)
_CUES = tuple(name for name in _NAMES)
_CALL = re.compile(
    r"(?:^|[\s`$#>|;&('\"/\\])(?P<tool>"
    + "|".join(re.escape(name) for name in _NAMES)
    + r")(?:\.exe)?['\"]?(?:\s+(?:with|using|flags|options|arguments):?)?\s+(?=-\w|--\w|['\"]?https?://|[\w.-]{1,60}:\d|run\s|attack\s)"
)
_WORD = re.compile(r"'([^']{0,1000})'|\"([^\"]{0,1000})\"|([^\s'\"`|;]{1,1000})")
_ENDS = re.compile(r"\s[|;>&#]|`|\s&&")
_ADDRESS = re.compile(r"(?:https?://\S+|[\w.-]{1,80}:\d{2,5}(?:/\S*)?)")
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
    if not any(name in text for name in _CUES):
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
    words = [next(piece for piece in found if piece is not None) for found in _split(rest)]
    words = [
        re.sub(r"(?<=[\w/])(?:[.,:)]{1,3}|\([^()=]*)$", "", word) for word in words
    ]  # of the sentence around it
    if tool.name == "k6" and (not words or words[0] != "run"):
        return None
    if tool.name == "vegeta" and (not words or words[0] != "attack"):
        return None
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
        if flag in flags.values:
            key, unit = flags.values[flag]
            interval = _value(value, unit)
            if interval is not None:
                figures.setdefault(key, Figure(interval, number, f"{name} {rest}".strip()))
    if not url and not figures:
        return None
    if tool.name == "vegeta":
        url = url or next(iter(_ADDRESS.findall(text)), "")
    quote = f"{name} {rest}".strip()
    return ReportedCommand(
        tool=tool.name,
        line=number,
        quote=quote,
        url=url,
        figures=figures,
        keep_alive=keep_alive,
        closed=closed,
    )


def _split(rest: str) -> Iterator[tuple[str | None, ...]]:
    for found in _WORD.finditer(rest):
        yield found.groups()


def _flag(flags: ToolFlags, word: str, following: str) -> tuple[str, str, int]:
    """The flag, its value, and whether the value was the following word."""
    name, equals, value = word.partition("=")
    if equals:
        return name, value, 0
    if word in flags.values or word in flags.ignored:
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
    text = (
        text.removesuffix("/s").removesuffix("/1s")
        if unit == "n"
        else text.removesuffix("s")
        if unit == "s"
        else text
    )
    found_value = (
        value_of(text, unit) if re.fullmatch(r"[\d.,]{1,20}\s?[A-Za-zµ]{0,4}[\d.]{0,6}s?", text) else None
    )
    return exactly(found_value.middle) if found_value is not None else None
