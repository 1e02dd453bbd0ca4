"""A template's tokens as a tree."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.dropin.bombardier.template.lexer import TemplateError, Token, tokens

_UNSUPPORTED = ("define", "template", "block")
_KEYWORDS = ("if", "with", "range", "else", "end", "break", "continue", *_UNSUPPORTED)


@dataclass(frozen=True)
class Text:
    """Text as it is."""

    value: str


@dataclass(frozen=True)
class Operand:
    """The beginning of a term, and the fields that are taken of it.

    `kind` is literal, dot, variable, function, or pipe (in parentheses).
    """

    kind: str
    value: object
    fields: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Pipe:
    """Commands, each given the value of the one before; the last value is kept in `names`."""

    commands: tuple[tuple[Operand, ...], ...]
    names: tuple[str, ...]
    assigns: bool
    line: int


@dataclass(frozen=True)
class Branch:
    """if, with or range."""

    kind: str
    pipe: Pipe
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...]


@dataclass(frozen=True)
class Jump:
    """break or continue."""

    kind: str


Node = Text | Pipe | Branch | Jump


def parse(text: str, functions: frozenset[str]) -> tuple[Node, ...]:
    """Read a template that may call `functions`; `TemplateError` names what is wrong, and its line."""
    reader = _Reader(list(tokens(text)), functions)
    nodes, end = reader.nodes(0)
    if end is not None:
        raise TemplateError(end.line, f"unexpected {{{{{end.value}}}}}")
    return nodes


@dataclass
class _Reader:
    left: list[Token]
    functions: frozenset[str]
    names: list[str] = field(default_factory=lambda: ["$"])
    at: int = 0

    def nodes(self, loops: int) -> tuple[tuple[Node, ...], Token | None]:
        """Read up to an `else` or `end`, which is given too; None at the end of the template."""
        found: list[Node] = []
        while self.at < len(self.left):
            token = self._next()
            if token.kind == "text":
                found.append(Text(str(token.value)))
                continue
            self._skip()
            first = self._peek()
            word = first.value if first.kind == "word" else None
            if word in _UNSUPPORTED:
                raise TemplateError(first.line, f"{{{{{word}}}}} is not supported here")
            if word in ("else", "end"):
                self._next()
                return tuple(found), first
            if word in ("break", "continue"):
                found.append(self._jump(str(word), loops))
            elif word in ("if", "with", "range"):
                self._next()
                found.append(self._branch(str(word), first.line, loops))
            else:
                found.append(self._pipe("close"))
        return tuple(found), None

    def _jump(self, word: str, loops: int) -> Jump:
        token = self._next()
        if not loops:
            raise TemplateError(token.line, f"{{{{{word}}}}} outside of {{{{range}}}}")
        self._close()
        return Jump(word)

    def _branch(self, kind: str, line: int, loops: int) -> Branch:
        known = len(self.names)
        pipe = self._pipe("close")
        inner = loops + (kind == "range")
        body, end = self.nodes(inner)
        otherwise: tuple[Node, ...] = ()
        if end is not None and end.value == "else":
            self._skip()
            again = self._peek()
            if again.kind == "word" and again.value in ("if", "with") and again.value == kind:
                self._next()
                otherwise = (self._branch(str(again.value), again.line, loops),)
                del self.names[known:]
                return Branch(kind, pipe, body, otherwise)
            self._close()
            del self.names[known + len(pipe.names) :]
            otherwise, end = self.nodes(loops)
        if end is None or end.value != "end":
            raise TemplateError(line, f"{{{{{kind}}}}} without its {{{{end}}}}")
        self._close()
        del self.names[known:]
        return Branch(kind, pipe, body, otherwise)

    def _pipe(self, closing: str) -> Pipe:
        self._skip()
        line = self._peek().line
        names, assigns = self._declared()
        commands: list[tuple[Operand, ...]] = []
        while True:
            operands = self._command(closing)
            if not operands:
                raise TemplateError(line, "a value is missing")
            commands.append(operands)
            if self._next().value != "|":
                return Pipe(tuple(commands), names, assigns, line)

    def _declared(self) -> tuple[tuple[str, ...], bool]:
        """The variables before ":=" or "=", where there are any."""
        start, names = self.at, []
        while self._peek().kind == "variable":
            names.append(str(self._next().value))
            self._skip()
            if self._peek().value != ",":
                break
            self._next()
            self._skip()
        sign = self._peek()
        if not names or sign.value not in (":=", "="):
            self.at = start
            return (), False
        self._next()
        self._skip()
        if sign.value == ":=":
            self.names += names
        for name in names:
            self._known(name, sign.line)
        return tuple(names), sign.value == "="

    def _command(self, closing: str) -> tuple[Operand, ...]:
        operands: list[Operand] = []
        while True:
            self._skip()
            token = self._peek()
            ends = token.value == ")" if closing == ")" else token.kind == "close"
            if ends or token.value == "|":
                return tuple(operands)
            operands.append(self._operand())

    def _operand(self) -> Operand:
        token = self._next()
        kind, value = token.kind, token.value
        if kind in ("string", "number", "char"):
            return Operand("literal", value, (), token.line)
        if kind == "field":
            return Operand("dot", None, (str(value), *self._fields()), token.line)
        if value == ".":
            return Operand("dot", None, (), token.line)
        if kind == "variable":
            self._known(str(value), token.line)
            return Operand("variable", value, self._fields(), token.line)
        if value == "(":
            pipe = self._pipe(")")
            return Operand("pipe", pipe, self._fields(), token.line)
        if kind == "word":
            return self._named(str(value), token.line)
        raise TemplateError(token.line, f"unexpected {str(value)!r} in an action")

    def _named(self, word: str, line: int) -> Operand:
        constants: dict[str, object] = {"true": True, "false": False, "nil": None}
        if word in constants:
            return Operand("literal", constants[word], (), line)
        if word in _KEYWORDS:
            raise TemplateError(line, f"unexpected {word!r} in an action")
        if word not in self.functions:
            raise TemplateError(line, f"function {word!r} is not supported here")
        return Operand("function", word, (), line)

    def _fields(self) -> tuple[str, ...]:
        found: list[str] = []
        while self._peek().kind == "field":
            found.append(str(self._next().value))
        return tuple(found)

    def _known(self, name: str, line: int) -> None:
        if name not in self.names:
            raise TemplateError(line, f"undefined variable {name}")

    def _peek(self) -> Token:
        if self.at >= len(self.left):
            raise TemplateError(self.left[-1].line if self.left else 1, "unclosed action")
        return self.left[self.at]

    def _next(self) -> Token:
        token = self._peek()
        self.at += 1
        return token

    def _skip(self) -> None:
        while self._peek().kind == "space":
            self.at += 1

    def _close(self) -> None:
        self._skip()
        token = self._next()
        if token.kind != "close":
            raise TemplateError(token.line, f"unexpected {str(token.value)!r} in an action")
