"""A template's text as tokens."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_SPACE = " \t\r\n"


class TemplateError(Exception):
    """A template that is wrong, or beyond what is understood; says where and what."""

    def __init__(self, line: int, problem: str) -> None:
        """`line` counts from 1."""
        super().__init__(f"line {line}: {problem}")


@dataclass(frozen=True)
class Token:
    """A piece of a template: `kind` is text, open, close, or what stands in an action."""

    kind: str
    value: object
    line: int


_ACTION = re.compile(
    r"""
    (?P<space>[ \t\r\n]+)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`)
  | (?P<char>'(?:[^'\\\n]|\\.)+')
  | (?P<number>[+-]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+
        |(?:[0-9][0-9_]*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))
  | (?P<variable>\$[A-Za-z0-9_]*)
  | (?P<field>\.[A-Za-z_][A-Za-z0-9_]*)
  | (?P<declare>:=)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<mark>[.|(),=])
    """,
    re.VERBOSE,
)
_END = re.compile(r"[ \t\r\n]-\}\}|\}\}")


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a template; spaces in actions are tokens too, since `.A .B` is not `.A.B`."""
    at, line, trims = 0, 1, False
    while True:
        start = text.find("{{", at)
        piece = text[at:] if start < 0 else text[at:start]
        shown = piece.lstrip(_SPACE) if trims else piece
        if start >= 0 and _trims_before(text, start):
            shown = shown.rstrip(_SPACE)
        if shown:
            yield Token("text", shown, line)
        line += piece.count("\n")
        if start < 0:
            return
        at, trims, found = _action(text, start, line)
        yield from found
        line += text.count("\n", start, at)


def _trims_before(text: str, start: int) -> bool:
    return text[start + 2 : start + 3] == "-" and text[start + 3 : start + 4] in tuple(_SPACE)


def _action(text: str, start: int, line: int) -> tuple[int, bool, list[Token]]:
    """Where an action ends, whether it trims what follows, and its tokens."""
    at = start + (3 if _trims_before(text, start) else 2)
    comment = re.match(r"[ \t\r\n]*/\*", text[at:])
    if comment is not None:
        end = re.compile(r"\*/(?:([ \t\r\n]-)\}\}|\}\})").search(text, at)
        if end is None:
            raise TemplateError(line, "unclosed comment")
        return end.end(), end[1] is not None, []
    found = [Token("open", "{{", line)]
    while True:
        end = _END.match(text, at)
        if end is not None:
            found.append(Token("close", "}}", line))
            return end.end(), len(end[0]) > 2, found
        match = _ACTION.match(text, at)
        if match is None:
            shown = text[at : at + 1]
            raise TemplateError(line, f"unexpected {shown!r} in an action" if shown else "unclosed action")
        found.append(Token(match.lastgroup or "", _value(match, line), line))
        line += match[0].count("\n")
        at = match.end()


def _value(match: re.Match[str], line: int) -> object:
    text = match[0]
    match match.lastgroup:
        case "string" if text.startswith("`"):
            return text[1:-1]
        case "string" | "char":
            return _unescaped(text, line)
        case "number":
            return _number(text, line)
        case "field":
            return text[1:]
        case _:
            return text


def _unescaped(text: str, line: int) -> object:
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise TemplateError(line, f"bad string {text}") from None
    return value if text.startswith('"') else ord(value)


def _number(text: str, line: int) -> object:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise TemplateError(line, f"bad number {text}") from None
