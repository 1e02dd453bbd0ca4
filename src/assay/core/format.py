"""Text as it may be shown; and, handed on, how quantities are written (`assay.core.units`)."""

from __future__ import annotations

import re

from assay.core.units import (
    UNKNOWN,
    WIDE,
    between,
    count,
    counted,
    distance,
    end,
    half_width,
    known_rate,
    known_time,
    plus_minus,
    rate,
    ratio,
    share,
    signed_share,
    significant,
    size,
    span,
    tells,
    time,
    times,
    value_of,
)

__all__ = [
    "UNKNOWN",
    "WIDE",
    "as_json",
    "between",
    "count",
    "counted",
    "distance",
    "end",
    "half_width",
    "known_rate",
    "known_time",
    "plus_minus",
    "rate",
    "ratio",
    "safe",
    "share",
    "signed_share",
    "significant",
    "size",
    "span",
    "tells",
    "time",
    "times",
    "value_of",
    "visible",
]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
_BUT_LINES = re.compile(rf"(?![\t\n]){_CONTROL.pattern}")
_LONGEST_TEXT = 300


def visible(text: str, *, lines: bool = False) -> str:
    """Show control and direction-changing characters as escapes; with `lines` all but tabs and line ends.

    Text that came from a server or a file could otherwise move the cursor, recolour the screen, or turn
    round what stands beside it. Every form of a report passes through here.
    """
    hidden = _BUT_LINES if lines else _CONTROL
    return hidden.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def safe(text: str, longest: int = _LONGEST_TEXT) -> str:
    """Make text that came from a server or a file fit for a line: visible, and cut in the middle if long."""
    shown = visible(text)
    if len(shown) <= longest:
        return shown
    head = longest * 2 // 3
    return f"{shown[:head]} … {shown[-(longest - head - 3) :]}"


def as_json(value: object) -> str:
    """A value as the verbs print it for programs: indented, for people look at it too."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
