"""Values printed in a template as Go's fmt does it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.dropin.bombardier import golang

_VERB = re.compile(r"%(?P<left>-?)(?P<width>\d*)(?:\.(?P<precision>\d+))?(?P<verb>[^0-9.])")
_VERBS = "vsqdf%"


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
    return value.ns != 0 if isinstance(value, Duration) else bool(value)


def written(value: object) -> str:
    """A value as `%v` writes it; `ValueError` for what is none: Go's structs and functions."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return str(value).lower()
        case int() | float():
            return golang.number(value)
        case Duration(ns):
            return golang.duration(ns)
        case Mapping() if any(isinstance(key, str) for key in value):
            raise ValueError("what has fields is not printed here: name one of them")
        case Mapping():
            pairs = (f"{written(key)}:{written(one)}" for key, one in sorted(value.items()))
            return f"map[{' '.join(pairs)}]"
        case bytes() | list() | tuple():
            return f"[{' '.join(map(written, value))}]"
        case _ if callable(value):
            raise ValueError("a function is not printed here")
        case _:
            return str(value)


def check_form(form: str) -> None:
    """Refuse a format with verbs or flags beyond those of `printf`; `ValueError` names the first."""
    for found in re.finditer(r"%[-+# 0]*\d*(?:\.\d*)?(.?)", form, re.DOTALL):
        known = _VERB.fullmatch(found[0])
        if known is None or known["verb"] not in _VERBS or known["width"].startswith("0"):
            raise ValueError(f"printf's {found[0]} is not supported here")


def printf(form: str, *values: object) -> str:
    """`fmt.Sprintf` with %v, %s, %q, %d, %f and %%; `ValueError` where values and verbs do not fit."""
    check_form(form)
    left = list(values)

    def replacement(match: re.Match[str]) -> str:
        verb, width = match["verb"], int(match["width"] or 0)
        if verb == "%":
            return "%"
        if not left:
            raise ValueError(f"%{verb} has no value")
        text = _formatted(verb, match["precision"], left.pop(0))
        return text.ljust(width) if match["left"] else text.rjust(width)

    text = _VERB.sub(replacement, form)
    if left:
        raise ValueError(f"{written(left[0])} has no verb")
    return text


def _formatted(verb: str, precision: str | None, value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = {
        "d": is_number and isinstance(value, int),
        "f": isinstance(value, float),
        "q": isinstance(value, str),
    }
    if not fits.get(verb, True):
        raise ValueError(f"%{verb} cannot print {written(value)}")
    if verb == "q":
        return golang.quoted(str(value))
    if verb == "f" or (verb == "v" and precision and isinstance(value, float)):
        return f"%.{precision or 6}{'f' if verb == 'f' else 'g'}" % value
    text = written(value)
    return text if precision is None or is_number else text[: int(precision)]


def sprint(*values: object) -> str:
    """`fmt.Sprint`: a space only between two values neither of which is a string."""
    text = ""
    for index, value in enumerate(values):
        if index and not isinstance(value, str) and not isinstance(values[index - 1], str):
            text += " "
        text += written(value)
    return text


def equal(first: object, second: object) -> bool:
    """Go's `eq`: of values of the same kind."""
    kinds = {type(value) if not isinstance(value, int | float) else float for value in (first, second)}
    if len(kinds) > 1 and None not in (first, second):
        raise ValueError("incompatible types for comparison")
    return first == second
