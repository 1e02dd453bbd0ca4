"""TOML files of a known shape: decoded into structs, with errors that name file, line and key."""

from __future__ import annotations

import copy
import difflib
import re
import tomllib
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import msgspec

from assay.core import renamed
from assay.core.errors import InputError, cure_of, reason_of

T = TypeVar("T")
KeyPath = tuple[str | int, ...]
"""Where a value stands: keys and places in lists, from the top."""

_AT = re.compile(r" - at (?P<of_key>`key` in )?`\$(?P<path>.*)`$", re.DOTALL)
_STEP = re.compile(r"\.(?P<key>[^.\[]+)|\[(?P<index>\d+)\]|(?P<any>\[\.\.\.\])")
_WORDS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}


class TomlDocument(msgspec.Struct, Generic[T], frozen=True):
    """A decoded file that still knows on which line each key stands."""

    path: Path
    value: T
    text: str

    def error(self, key: KeyPath, problem: str, remedy: str = "") -> InputError:
        """What is wrong with the value at `key`, as an error that names the line."""
        return _error(self.path, self.text, key, problem, remedy)


def read(path: Path, kind: type[T], name: str) -> TomlDocument[T]:
    """Decode the TOML file at `path`; `name` says what it is ("study", "server manifest").

    Raises InputError in one line: file, line, key, what is wrong and what would be right.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text at byte {error.start}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot read the {name}: {reason_of(error)}", cure_of(error)) from error
    try:
        return TomlDocument(path, _decoded(path, text, kind, name), text)
    except RecursionError:
        raise InputError(f"{path}: its tables and lists are nested too deeply for any {name}") from None


def _decoded(path: Path, text: str, kind: type[T], name: str) -> T:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(path, text, error) from error
    _check_format(path, text, data, kind, name)
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _shape_error(path, text, data, kind, str(error)) from error


def nearest(word: str, known: typing.Iterable[str]) -> str:
    """A remedy for an unknown `word`: the nearest of the known ones, else all of them."""
    choices = sorted(known)
    near = difflib.get_close_matches(word, choices, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known: {', '.join(choices)}" if choices else "none is known"


def _check_format(path: Path, text: str, data: dict[str, Any], kind: type[object], name: str) -> None:
    """A newer file is said to be newer before anything unknown in it is called wrong."""
    reads = next((f.default for f in msgspec.structs.fields(kind) if f.name == "format"), None)  # type: ignore[arg-type]
    given = data.get("format")
    if isinstance(reads, int) and isinstance(given, int) and given > reads:
        problem = f"this {name} is of format {given}; this Assay reads up to {reads}"
        raise _error(path, text, ("format",), problem, "update Assay")


def _error(path: Path, text: str, key: KeyPath, problem: str, remedy: str = "") -> InputError:
    line = line_of(text, key)
    where = f"{path}:{line}" if line else str(path)
    named = _spelled(key)
    return InputError(f"{where}: {named}: {problem}" if named else f"{where}: {problem}", remedy)


def _spelled(key: KeyPath) -> str:
    said = ""
    for step in key:
        said += f"[{step}]" if isinstance(step, int) else f"{'.' if said else ''}{step}"
    return said


def _syntax_error(path: Path, text: str, error: tomllib.TOMLDecodeError) -> InputError:
    said = str(error)
    place = re.search(r" \(at line (\d+), column (\d+)\)$", said)
    if place:
        return InputError(f"{path}:{place[1]}: no valid TOML: {said[: place.start()].lower()}")
    end = text.count("\n") + 1
    return InputError(f"{path}:{end}: no valid TOML: {said.removesuffix(' (at end of document)').lower()}")


def _shape_error(path: Path, text: str, data: dict[str, Any], kind: type[object], said: str) -> InputError:
    """Retell a msgspec error: `Expected `str`, got `int` - at `$.run.command[0]``."""
    at = _AT.search(said)
    key = _named(data, kind, _key_path(at["path"]), said) if at else ()
    problem = said[: at.start()] if at else said
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", problem)
    if unknown:
        known, present = _fields_at(kind, key), renamed.KEYS.get(unknown[1])
        remedy = f"it is called {present!r} now" if present in known else nearest(unknown[1], known)
        return _error(path, text, (*key, unknown[1]), "unknown key", remedy)
    choice = re.fullmatch(r"Invalid enum value (?:'(.*)'|(.*))", problem)
    if choice and at:
        given, choices = choice[1] or choice[2], _choices_at(kind, key, of_key=at["of_key"] is not None)
        where = (*key, given) if at["of_key"] else key
        return _error(path, text, where, f"{given!r} is not known here", nearest(given, choices))
    missing = re.fullmatch(r"Object missing required field `(.*)`", problem)
    if missing:
        return _error(path, text, key, f"the key {missing[1]!r} is missing")
    problem = re.sub(r"`([^`]*)`", lambda found: _in_words(found[1]), problem)
    return _error(path, text, key, problem[:1].lower() + problem[1:])


def _in_words(kinds: str) -> str:
    return " or ".join(_WORDS.get(kind.strip(), kind.strip()) for kind in kinds.split("|"))


def _key_path(spelled: str) -> KeyPath:
    steps: list[str | int] = []
    for found in _STEP.finditer(spelled):
        if found["key"] is not None:
            steps.append(found["key"])
        else:
            steps.append(_SOME_KEY if found["any"] else int(found["index"]))
    return tuple(steps)


_SOME_KEY = "[...]"


def _named(data: dict[str, Any], kind: type[object], key: KeyPath, said: str) -> KeyPath:
    """`key` with the names of the tables' keys, which msgspec does not tell: the one that, alone in its
    table, is found wrong in the same way."""
    if _SOME_KEY not in key:
        return key
    at = key.index(_SOME_KEY)
    for name in _at(data, key[:at]):
        alone = copy.deepcopy(data)
        table = _at(alone, key[:at])
        for other in [other for other in table if other != name]:
            del table[other]
        try:
            msgspec.convert(alone, kind)
        except msgspec.ValidationError as error:
            if str(error) == said:
                return _named(alone, kind, (*key[:at], name, *key[at + 1 :]), said)
    return key


def _at(data: Any, key: KeyPath) -> Any:  # noqa: ANN401 - a step into TOML may lead to anything
    for step in key:
        data = data[step]
    return data


def _fields_at(kind: object, key: KeyPath) -> set[str]:
    """The field names of the structs that may stand at `key` below `kind`."""
    return {
        field.encode_name
        for one in _kinds_at(kind, key)
        if isinstance(one, type) and issubclass(one, msgspec.Struct)
        for field in msgspec.structs.fields(one)
    }


def _choices_at(kind: object, key: KeyPath, *, of_key: bool) -> set[str]:
    """The literals that may stand at `key`, or be keys of the table there."""
    kinds = _kinds_at(kind, key)
    if of_key:
        kinds = [typing.get_args(one)[0] for one in kinds if typing.get_origin(one) is dict]
    return {
        str(choice) for one in kinds if typing.get_origin(one) is Literal for choice in typing.get_args(one)
    }


def _kinds_at(kind: object, key: KeyPath) -> list[object]:
    """The types that may stand at `key` below `kind`."""
    kinds = list(_alternatives(kind))
    for step in key:
        kinds = [below for one in kinds for below in _below(one, step)]
    return kinds


def _below(kind: object, step: str | int) -> Iterator[object]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            if field.encode_name == step:
                yield from _alternatives(field.type)
    elif typing.get_origin(kind) in (tuple, list, dict):
        yield from _alternatives(next(arg for arg in reversed(typing.get_args(kind)) if arg is not ...))


def _alternatives(kind: object) -> Iterator[object]:
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        yield from typing.get_args(kind)
    else:
        yield kind


# --- on which line a key stands -----------------------------------------------------------

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_TOKEN = re.compile(r"""\"{3}|'{3}|"(?:\\.|[^"\\])*"|'[^']*'|\#|[\[\]{}]""")


def line_of(text: str, key: KeyPath) -> int | None:
    """The line (from 1) of the longest beginning of `key` that is found in valid TOML text."""
    places: dict[KeyPath, int] = {}
    for path, line in _places(text):
        places.setdefault(path, line)
    return next((places[key[:n]] for n in range(len(key), 0, -1) if key[:n] in places), None)


def _places(text: str) -> Iterator[tuple[KeyPath, int]]:
    """Every table header and key of valid TOML text with its line. Keys of inline tables are not
    told apart: they stand on (or below) the line of their table's key."""
    table: KeyPath = ()
    counts: dict[KeyPath, int] = {}
    depth, quote = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not depth and not quote:
            header, key = _HEADER.match(line), _KEY.match(line)
            if header:
                table = _table(_parts(header[2]), header[1] == "[[", counts)
                for length in range(len(table), 0, -1):
                    yield table[:length], number
                continue
            if key:
                yield (*table, *_parts(key[1])), number
                line = line[key.end() :]
        depth, quote = _after(line, depth, quote)


def _parts(spelled: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(spelled))


def _table(parts: tuple[str, ...], of_array: bool, counts: dict[KeyPath, int]) -> KeyPath:
    """The path of a header; the tables of an array are numbered, and what follows belongs to the last."""
    path: KeyPath = ()
    for place, part in enumerate(parts):
        path = (*path, part)
        last = place == len(parts) - 1
        if last and of_array:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _after(line: str, depth: int, quote: str) -> tuple[int, str]:
    """The bracket depth and the open multi-line quote after `line`."""
    at = 0
    while at < len(line):
        if quote:
            end = line.find(quote, at)
            if end < 0:
                return depth, quote
            at, quote = end + 3, ""
            continue
        found = _TOKEN.search(line, at)
        if found is None or found[0] == "#":
            return depth, quote
        at = found.end()
        if found[0] in ('"""', "'''"):
            quote = found[0]
        elif found[0] in "[{":
            depth += 1
        elif found[0] in "]}":
            depth -= 1
    return depth, quote
