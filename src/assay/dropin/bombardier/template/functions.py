"""The functions every template has: comparing, counting, and printing as Go's fmt does."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from typing import Any

from assay.dropin.bombardier import golang

_VERB = re.compile(r"%(?P<flags>[-+# 0]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?P<verb>[A-Za-z%])")
_FLOATS = "feEgG"
_WHOLE = "dxXobc"


@dataclass(frozen=True, order=True)
class Duration:
    """A length of time as Go has it."""

    ns: int

    @property
    def methods(self) -> dict[str, object]:
        """Its numbers, by name."""
        return {
            "Hours": self.ns / 3.6e12,
            "Minutes": self.ns / 6e10,
            "Seconds": self.ns / 1e9,
            "Milliseconds": self.ns // 1_000_000,
            "Microseconds": self.ns // 1_000,
            "Nanoseconds": self.ns,
            "String": golang.duration(self.ns),
        }


def truth(value: object) -> bool:
    """Go's: false are false, 0, nil, and what is empty."""
    if isinstance(value, Duration):
        return value.ns != 0
    if isinstance(value, Mapping) and value and callable(next(iter(value.values()))):
        return True
    return bool(value)


def written(value: object) -> str:
    """A value as `%v` writes it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return str(value).lower()
        case str():
            return value
        case int() | float():
            return golang.number(value)
        case Duration(ns):
            return golang.duration(ns)
        case bytes():
            return f"[{' '.join(map(str, value))}]"
        case Mapping():
            pairs = (f"{written(key)}:{written(one)}" for key, one in sorted(value.items()))
            return f"map[{' '.join(pairs)}]"
        case list() | tuple():
            return f"[{' '.join(map(written, value))}]"
        case _:
            return str(value)


def printf(form: object, *values: object) -> str:
    """`fmt.Sprintf`: wrong and missing values are told in the text, as there."""
    left = list(values)

    def one(match: re.Match[str]) -> str:
        verb = match["verb"]
        if verb == "%":
            return "%"
        if not left:
            return f"%!{verb}(MISSING)"
        value = left.pop(0)
        text = _formatted(match, verb, value)
        return f"%!{verb}({_kind(value)}={written(value)})" if text is None else text

    text = _VERB.sub(one, str(form))
    if left:
        extra = ", ".join(f"{_kind(value)}={written(value)}" for value in left)
        text += f"%!(EXTRA {extra})"
    return text


def _formatted(match: re.Match[str], verb: str, value: object) -> str | None:
    flags, width, precision = match["flags"], match["width"], match["precision"]
    dotted = "" if precision is None else f".{precision or 0}"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if verb == "v" and isinstance(value, int | float) and is_number and not dotted:
        return _padded(golang.number(value), flags, width)
    if verb == "v" and isinstance(value, float):
        return f"%{flags}{width}{dotted}g" % value
    if verb in _FLOATS:
        return f"%{flags}{width}{dotted}{verb}" % value if isinstance(value, float) else None
    if verb in _WHOLE and isinstance(value, int) and not isinstance(value, bool):
        return _padded(f"{value:b}", flags, width) if verb == "b" else f"%{flags}{width}{verb}" % value
    if verb == "t":
        return _padded(written(value), flags, width) if isinstance(value, bool) else None
    if verb == "q" and isinstance(value, str):
        return _padded(golang.quoted(value), flags, width)
    if verb == "x" and isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        return _padded(data.hex(), flags, width)
    is_text = verb == "v" or (verb == "s" and not is_number and not isinstance(value, bool))
    if not is_text:
        return None
    text = value.decode("utf-8", "replace") if verb == "s" and isinstance(value, bytes) else written(value)
    return _padded(text if precision is None else text[: int(precision or 0)], flags, width)


def _padded(text: str, flags: str, width: str) -> str:
    places = int(width or 0)
    return text.ljust(places) if "-" in flags else text.rjust(places)


def _kind(value: object) -> str:
    kinds = {bool: "bool", int: "int", float: "float64", str: "string", bytes: "[]uint8", type(None): "<nil>"}
    return kinds.get(type(value), type(value).__name__)


def _equal(first: object, *others: object) -> bool:
    if not others:
        raise ValueError("missing argument for comparison")
    return any(_comparable(first, other) and first == other for other in others)


def _comparable(first: object, second: object) -> bool:
    def kind(value: object) -> str:
        return "number" if isinstance(value, int | float) and not isinstance(value, bool) else _kind(value)

    if kind(first) != kind(second) and None not in (first, second):
        raise ValueError("incompatible types for comparison")
    return True


def _ordered(compare: Callable[[Any, Any], Any]) -> Callable[[object, object], bool]:
    def call(first: object, second: object) -> bool:
        _comparable(first, second)
        if isinstance(first, Duration) and isinstance(second, Duration):
            return bool(compare(first.ns, second.ns))
        if isinstance(first, int | float | str) and isinstance(second, int | float | str):
            return bool(compare(first, second))
        raise ValueError("invalid type for comparison")

    return call


def _length(value: object) -> int:
    if not isinstance(value, Sized):
        raise ValueError(f"len of type {_kind(value)}")
    return len(value.encode()) if isinstance(value, str) else len(value)


def _index(value: object, *keys: object) -> object:
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list | tuple | bytes) and isinstance(key, int):
            if not 0 <= key < len(value):
                raise IndexError(f"index out of range: {key}")
            value = value[key]
        else:
            raise ValueError(f"can't index item of type {_kind(value)}")
    return value


def _print(*values: object) -> str:
    """`fmt.Sprint`: a space only between two values neither of which is a string."""
    text = ""
    for index, value in enumerate(values):
        if index and not isinstance(value, str) and not isinstance(values[index - 1], str):
            text += " "
        text += written(value)
    return text


CORE: dict[str, Callable[..., object]] = {
    "printf": printf,
    "print": _print,
    "println": lambda *values: " ".join(map(written, values)) + "\n",
    "len": _length,
    "index": _index,
    "not": lambda value: not truth(value),
    "eq": _equal,
    "ne": lambda first, second: not _equal(first, second),
    "lt": _ordered(operator.lt),
    "le": _ordered(operator.le),
    "gt": _ordered(operator.gt),
    "ge": _ordered(operator.ge),
    # Evaluated by the template itself: they do not look at all of their values.
    "and": lambda *values: values[-1],
    "or": lambda *values: values[-1],
}
