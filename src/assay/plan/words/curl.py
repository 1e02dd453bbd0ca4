"""A command for curl, such as browsers copy it: the flags of a load that it stands for."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from assay.core import urls
from assay.core.errors import InputError
from assay.core.units import counted
from assay.plan.words import load_table, parse
from assay.plan.words.address import full_url
from assay.plan.words.load_requests import RecordedLoad

T = TypeVar("T")


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VALUES = {
    "X": "request", "H": "header", "d": "data", "F": "form", "u": "user", "A": "user-agent", "e": "referer",
    "b": "cookie", "x": "proxy", "m": "max-time", "o": "output", "w": "write-out", "E": "cert",
}  # fmt: skip
_SWITCHES = {
    "G": "get", "I": "head", "k": "insecure", "L": "location", "s": "silent", "S": "show-error",
    "v": "verbose", "i": "include", "f": "fail", "O": "remote-name", "N": "no-buffer", "#": "progress-bar",
    "4": "ipv4", "6": "ipv6", "0": "http1.0",
}  # fmt: skip
"""Long names of letters, with a value and without."""
_SILENT = _listed(
    "silent show-error verbose include fail remote-name no-buffer progress-bar output write-out http1.1 "
    "no-progress-meter fail-with-body globoff path-as-is tcp-nodelay"
)
"""What says nothing of the request, or what Assay does anyway."""
_DATA = _listed("data data-ascii data-raw data-binary data-urlencode json")
_TAKES_VALUE = (
    frozenset(_VALUES.values())
    | _DATA
    | _listed("form-string url oauth2-bearer resolve cacert key unix-socket max-redirs")
)


def _form_string(word: str) -> dict[str, str]:
    name, _, text = word.partition("=")
    return {"name": name, "text": text}


_FLAGS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "request": ("method", str),
    "form": ("form", load_table.form_part),
    "form-string": ("form", _form_string),
    "user": ("user", load_table.basic),
    "oauth2-bearer": ("bearer", load_table.bearer),
    "max-time": ("timeout", parse.time_ns),
    "proxy": ("proxy", load_table.proxy),
    "resolve": ("resolve", load_table.resolution),
    "cacert": ("cacert", parse.readable_file),
    "cert": ("cert", parse.readable_file),
    "key": ("key", parse.readable_file),
    "unix-socket": ("unix_socket", Path),
    "max-redirs": ("follow", parse.whole),
}
"""Options that a flag of ours stands for."""
_SWITCHED: Mapping[str, tuple[str, Any]] = {
    "insecure": ("insecure", True),
    "location": ("follow", 50),
    "ipv4": ("ipv4", True),
    "ipv6": ("ipv6", True),
    "http1.0": ("http1.0", "1.0"),
    "http2": ("http", "auto"),
    "http2-prior-knowledge": ("http2", "2"),
    "http3": ("http3", "3"),
    "http3-only": ("http3", "3"),
    "compressed": ("accept_encoding", "deflate, gzip"),
}
_HEADERS = {"user-agent": "User-Agent", "referer": "Referer", "cookie": "Cookie"}


def read(url: str, command: str, given: Mapping[str, Any]) -> RecordedLoad:
    """The request of a command for curl, with the flags that its options stand for."""
    made, said = _flags(_options(_words(command)))
    urls_said = [value for option, value in said if option == "url"]
    if len(urls_said) != 1:
        raise InputError(f"--curl: the command has {counted(len(urls_said), 'URL')}, not one")
    target, body, types = _sent(urls_said[0], said)
    target = full_url(target)
    if user := urls.parse(target).user:
        made.setdefault("user", load_table.basic(user))
        target = target.replace(f"{user}@", "", 1)
    headers = [_header(option, value) for option, value in said if option in ("header", *_HEADERS)]
    headers = _joined(_joined(given.get("header", ()), headers), types)
    replaced = {"accept_encoding"} if any(name.lower() == "accept-encoding" for name, _ in headers) else set()
    replaced |= set() if target.startswith("https:") else {"insecure"}
    for flags in _INSTEAD:
        replaced |= flags if flags & given.keys() else set()
    found = {flag: one for flag, one in {**made, **body}.items() if flag not in replaced}
    return RecordedLoad(url or target, {**found, **given, "header": headers})


_INSTEAD = (
    frozenset({"user", "bearer", "bearer_file"}),
    frozenset({"body", "body_file", "form", "requests"}),
)
"""Flags one of which, given beside a command, replaces what the command has of them."""


def _flags(options: Iterable[tuple[str, str]]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The values of flags that options stand for, and the options that say something else."""
    made: dict[str, Any] = {}
    said: list[tuple[str, str]] = []
    for option, value in options:
        if option in _SWITCHED:
            made.setdefault(*_SWITCHED[option])
        elif option in _FLAGS:
            flag, reader = _FLAGS[option]
            found = _read(option, value, reader)
            made[flag] = [*made.get(flag, ()), found] if flag == "form" else found
        elif option not in _SILENT:
            said.append((option, value))
    if ("head", "") in said:
        made.setdefault("method", "HEAD")
    return made, said


def _joined(first: Iterable[tuple[str, str]], more: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Headers, and those of `more` whose names they do not have."""
    names = {name.lower() for name, _ in first}
    return [*first, *(one for one in more if one[0].lower() not in names)]


def _words(command: str) -> list[str]:
    """The words of a command, also as browsers copy it ($'…', lines that a backslash joins)."""

    def quoted(found: re.Match[str]) -> str:
        text = found[1].encode("latin-1", "backslashreplace").decode("unicode_escape")
        return shlex.quote(text)

    try:
        text = re.sub(r"(?<![\w'\"])\$'((?:[^'\\]|\\.)*)'", quoted, command.replace("\\\r\n", " "))
        words = shlex.split(text.replace("\\\n", " "))
    except ValueError as problem:
        raise InputError(f"--curl: the command cannot be read: {problem}") from None
    if not words or Path(words[0]).name != "curl":
        raise InputError("--curl: it does not begin with curl", "write --curl 'curl -X POST http://…'")
    return words[1:]


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """(long name, value) of each option; a word that is none is the URL. InputError names what is not
    understood."""
    rest = iter(words)
    for word in rest:
        name = word[2:] if word.startswith("--") else ""
        if name in _TAKES_VALUE:
            yield name, _value(word, rest)
        elif name in _SWITCHED or name in _SILENT or name in _SWITCHES.values():
            yield name, ""
        elif name or word == "--":
            raise _not_understood(word)
        elif word.startswith("-") and len(word) > 1:
            yield from _letters(word, rest)
        else:
            yield "url", word


def _letters(word: str, rest: Iterator[str]) -> Iterator[tuple[str, str]]:
    """The options of a word such as -sSL or -XPOST."""
    for place, letter in enumerate(word[1:], 1):
        if letter in _VALUES:
            yield _VALUES[letter], word[place + 1 :] or _value(f"-{letter}", rest)
            return
        if letter not in _SWITCHES:
            raise _not_understood(f"-{letter}")
        yield _SWITCHES[letter], ""


def _value(option: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise InputError(f"--curl: {option} has no value")
    return value


def _not_understood(option: str) -> InputError:
    return InputError(f"--curl: {option} is not understood", "leave it out, or say it with a flag of Assay")


def _read(option: str, value: str, reader: Callable[[str], T]) -> T:
    try:
        return reader(value)
    except argparse.ArgumentTypeError as problem:
        raise InputError(f"--curl: --{option}: {problem}") from None


def _header(option: str, value: str) -> tuple[str, str]:
    if option == "cookie" and "=" not in value:
        raise InputError("--curl: --cookie names a file, which is not read", "write its cookies: -b 'a=b'")
    if option == "header" and re.fullmatch(r"[^:]+:\s*|@.*|[^:]+;", value):
        raise InputError(f"--curl: --header {value!r} is not understood", "write -H 'NAME: VALUE'")
    return _read(option, f"{_HEADERS[option]}: {value}" if option in _HEADERS else value, parse.header)


def _sent(url: str, said: list[tuple[str, str]]) -> tuple[str, dict[str, Any], list[tuple[str, str]]]:
    """The URL, the body by its flag, and the headers that curl adds for it."""
    data = [(option, value) for option, value in said if option in _DATA]
    if not data:
        return url, {}, []
    if len(data) == 1 and data[0][0] == "data-binary" and data[0][1].startswith("@"):
        body = {"body_file": _read("data-binary", data[0][1][1:], parse.readable_file)}
    else:
        joint = "" if data[0][0] == "json" else "&"
        body = {"body": joint.join(_data(option, value) for option, value in data)}
    if any(option == "get" for option, _ in said):
        return f"{url}{'&' if '?' in url else '?'}{body.get('body', '')}", {}, []
    if data[0][0] == "json":
        return url, body, [("Content-Type", "application/json"), ("Accept", "application/json")]
    return url, body, [("Content-Type", "application/x-www-form-urlencoded")]


def _data(option: str, value: str) -> str:
    """What one option for data adds to the body."""
    if option == "data-urlencode":
        from urllib.parse import quote_plus

        name, equals, said = value.partition("=")
        if "@" in value and not equals:
            raise InputError(f"--curl: --data-urlencode {value!r} is not understood", "write NAME=VALUE")
        return f"{name}={quote_plus(said)}" if name and equals else quote_plus(said or name)
    if option == "data-raw" or not value.startswith("@"):
        return value
    path = _read(option, value[1:], parse.readable_file)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except ValueError:
        raise InputError(f"--curl: {path} is not text", "send it by --data-binary") from None
    return text if option in ("json", "data-binary") else re.sub(r"[\r\n\0]", "", text)
